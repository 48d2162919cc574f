//! The facts of one layer with the evidence of the verdict: in groups, or as a flat list of
//! matches; each unfolds.

use ratatui::text::{Line, Span};

use super::fact::{FactLine, FactState};
use super::groups::{self, DisplayGroup};
use super::layer::StackNode;
use crate::durability::Evidence;
use crate::facts::{MissingFact, Reading, Scope, Subject, catalog};
use crate::report::Report;
use crate::report::view::target::heading_with_reservations;
use crate::report::view::wording;
use crate::tui::data::Data;
use crate::tui::page::{Block, EnterEffect, PageState};
use crate::tui::raw_answers::RawAnswers;
use crate::tui::screen::details::Details;
use crate::tui::theme::{TextRole, Theme};
use crate::tui::widgets::columns::{self, StyledText};

/// Everything about a layer.
pub struct LayerDetails<'a> {
    subject: &'a Subject,
    /// Includes facts known to be unknown.
    known: Vec<FactLine<'a>>,
    evidence: Vec<&'a Evidence>,
    /// Only for the target.
    verdict: Option<String>,
    data: &'a Data,
    report: &'a Report,
}

impl<'a> LayerDetails<'a> {
    /// Collects facts and evidence of a layer. The target also gets the verdict, and evidence about
    /// subjects that are not shown.
    pub fn new(data: &'a Data, report: &'a Report, subject: &'a Subject, is_top: bool) -> Self {
        let mut known: Vec<FactLine<'a>> = report
            .facts
            .rows_of(subject)
            .map(|row| fact_line(subject, row.fact, row.reading))
            .collect();
        // A fact that was never collected has no row, but may be needed.
        for (need, _) in data
            .focus
            .needs
            .iter()
            .filter(|(need, _)| need.subject == *subject)
        {
            if !known.iter().any(|fact| fact.name == need.fact) {
                known.push(FactLine {
                    name: &need.fact,
                    state: FactState::Unknown(Box::new(need.clone()), true),
                });
            }
        }
        let concerned = |of: &Subject| of.scope() == Scope::Host || data.focus.related.contains(of);
        let about =
            |piece: &&Evidence| piece.subject == *subject || is_top && !concerned(&piece.subject);
        let mut evidence: Vec<&Evidence> = Vec::new();
        let paths = data
            .verdict()
            .into_iter()
            .flat_map(|verdict| &verdict.paths);
        for piece in paths.flat_map(|path| &path.evidence).filter(about) {
            if !evidence.contains(&piece) {
                evidence.push(piece);
            }
        }
        let verdict = data.verdict().filter(|_| is_top);
        let verdict = verdict.map(|verdict| {
            let more = [&verdict.second_fault, &verdict.host_loss].map(String::as_str);
            let says = std::iter::once(verdict.sentence.as_str())
                .chain(more)
                .filter(|says| !says.is_empty());
            format!(
                "{}: {}",
                heading_with_reservations(verdict),
                says.collect::<Vec<_>>().join(" ")
            )
        });
        Self {
            subject,
            known,
            evidence,
            verdict,
            data,
            report,
        }
    }

    /// Number of facts that are unknown but could be read.
    pub fn gaps(&self) -> usize {
        self.known.iter().filter(|fact| fact.is_gap()).count()
    }

    /// The facts that match the search, by their own text or the layer's.
    fn matching_facts<'s>(
        &'s self,
        state: &'s PageState,
        layer: &'s str,
    ) -> impl Iterator<Item = &'s FactLine<'a>> {
        self.known.iter().filter(move |fact| {
            (!state.only_unknown || fact.is_gap())
                && state.passes(&format!("{layer} {}", fact.search_text()))
        })
    }

    /// Names of the matching facts, and matching evidence.
    pub fn matching_names<'s>(
        &'s self,
        state: &'s PageState,
        layer: &'s str,
    ) -> impl Iterator<Item = &'s str> {
        let evidence = self.evidence(state, layer).map(|piece| piece.text.as_str());
        self.matching_facts(state, layer)
            .map(|fact| fact.name)
            .chain(evidence)
    }

    fn evidence<'s>(
        &'s self,
        state: &'s PageState,
        layer: &'s str,
    ) -> impl Iterator<Item = &'s Evidence> {
        let wanted = move |piece: &&Evidence| {
            let said = format!(
                "{layer} {} {} {}",
                piece.layer.as_str(),
                piece.text,
                piece.source
            );
            !state.only_unknown && state.passes(&said)
        };
        self.evidence.iter().copied().filter(wanted)
    }

    /// Verdict, evidence and facts. `state` has the search, `place` the unfolded blocks.
    pub fn blocks(
        &self,
        layer: &StackNode<'_>,
        state: &PageState,
        place: &PageState,
        theme: Theme,
        room: usize,
    ) -> Vec<Block> {
        let said = layer.search_text();
        let mut blocks = Vec::new();
        let mut details = Details::new(theme, room);
        if let Some(verdict) = self
            .verdict
            .as_ref()
            .filter(|verdict| !state.only_unknown && state.passes(verdict))
        {
            details.paragraph(verdict);
        }
        for piece in self.evidence(state, &said) {
            let source = if piece.source.is_empty() {
                String::new()
            } else {
                format!(" ({})", piece.source)
            };
            let says = format!("{}: {}{source}", piece.standing.as_str(), piece.text);
            details.field(piece.layer.as_str(), &says);
        }
        if !details.lines.is_empty() {
            blocks.push(Block::text(details.lines));
        }
        let facts: Vec<&FactLine<'_>> = self.matching_facts(state, &said).collect();
        if state.only_unknown || state.is_searching() || state.with_sources {
            blocks.extend(self.fact_blocks(&facts, groups::full_cells, place, room));
        } else {
            blocks.extend(self.group_blocks(&facts, place, room));
        }
        blocks
    }

    /// The facts in groups, deciding ones first.
    fn group_blocks(&self, facts: &[&FactLine<'_>], place: &PageState, room: usize) -> Vec<Block> {
        let theme = self.data.theme;
        let decides = groups::deciding_facts(self.data, self.report, self.subject);
        let mut blocks = Vec::new();
        // If all groups would be folded, none is.
        let folds = facts
            .iter()
            .any(|fact| !DisplayGroup::for_fact(fact.name, &decides).is_folded());
        for group in DisplayGroup::ALL {
            let of_group: Vec<&FactLine<'_>> = facts
                .iter()
                .copied()
                .filter(|fact| DisplayGroup::for_fact(fact.name, &decides) == group)
                .collect();
            if of_group.is_empty() {
                continue;
            }
            let heading = Span::styled(group.title(), theme.style(TextRole::Heading));
            let key = format!("group {} {}", self.subject, group.title());
            let is_folded = folds && group.is_folded();
            let is_open = !is_folded || place.is_unfolded(&key);
            if is_folded {
                let says = format!("   {}", wording::count_noun(of_group.len(), "fact"));
                let line = Line::from(vec![
                    heading,
                    Span::styled(says, theme.style(TextRole::Dim)),
                ]);
                blocks.push(Block::item(key, EnterEffect::Unfold, vec![line]));
            } else {
                blocks.push(Block::text(vec![Line::default(), Line::from(heading)]));
            }
            if is_open {
                blocks.extend(self.fact_blocks(&of_group, groups::short_cells, place, room));
            }
        }
        blocks
    }

    /// Facts as rows, with details where unfolded.
    fn fact_blocks(
        &self,
        facts: &[&FactLine<'_>],
        cells: fn(&FactLine<'_>, Theme) -> Vec<StyledText>,
        place: &PageState,
        room: usize,
    ) -> Vec<Block> {
        let theme = self.data.theme;
        let rows: Vec<Vec<StyledText>> = facts.iter().map(|fact| cells(fact, theme)).collect();
        let block = |(mut lines, fact): (Vec<Line<'static>>, &&FactLine<'_>)| {
            let key = format!("fact {} {}", self.subject, fact.name);
            if place.is_unfolded(&key) {
                lines.extend(fact_details(
                    fact,
                    &self.data.raw,
                    theme,
                    room.saturating_sub(2),
                ));
            }
            let mut block = Block::item(key, EnterEffect::Unfold, lines).with_issue(fact.is_gap());
            block.fact = Some((self.subject.clone(), fact.name.to_owned()));
            block
        };
        columns::wrapped_rows(&rows, &groups::COLUMNS, room)
            .into_iter()
            .zip(facts)
            .map(block)
            .collect()
    }
}

fn fact_line<'a>(
    subject: &Subject,
    name: &'a str,
    reading: &Reading<crate::facts::Value>,
) -> FactLine<'a> {
    let said = match reading {
        Reading::Known { value, source } => {
            FactState::Known(catalog::format_value(name, value), source.to_string())
        }
        Reading::Unknown {
            why,
            detail,
            remedy,
        } => {
            let need = MissingFact {
                subject: subject.clone(),
                fact: name.to_owned(),
                why: *why,
                detail: detail.clone(),
                remedy: remedy.clone(),
            };
            FactState::Unknown(Box::new(need), reading.is_gap())
        }
    };
    FactLine { name, state: said }
}

fn fact_details(
    fact: &FactLine<'_>,
    raw: &RawAnswers,
    theme: Theme,
    room: usize,
) -> Vec<Line<'static>> {
    let mut details = Details::new(theme, room);
    details.field("fact", fact.name);
    match &fact.state {
        FactState::Known(value, source) => {
            details.field("value", value);
            details.field("source", source);
            details.commands("reads", raw.lines(source, value));
        }
        FactState::Unknown(need, _) => {
            details.field("why", &wording::need_reason(need));
            if let Some(remedy) = &need.remedy {
                details.field("fix", &remedy.to_string());
            }
        }
    }
    if let Some(info) = catalog::find(fact.name) {
        details.field("means", info.doc.trim());
    }
    details.gap();
    details.indented()
}

/// Indented, as the content of a layer.
pub fn indented(mut block: Block) -> Block {
    block.lines = crate::tui::screen::details::indented(block.lines);
    block
}
