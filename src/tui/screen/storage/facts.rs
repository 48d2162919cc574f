//! The facts of one layer, and what the verdict rests on of it: in groups, or as a list of what was
//! looked for; each unfolds.

use ratatui::text::{Line, Span};

use super::fact::{FactLine, FactState};
use super::groups::{self, DisplayGroup};
use super::layer::StackNode;
use crate::durability::Evidence;
use crate::facts::{Need, Reading, Scope, Subject, catalog};
use crate::report::Report;
use crate::report::telling::target::heading;
use crate::report::telling::words as told;
use crate::tui::data::Data;
use crate::tui::page::{Block, Enter, PageState};
use crate::tui::raw::Raw;
use crate::tui::screen::details::Details;
use crate::tui::theme::{TextRole, Theme};
use crate::tui::widgets::columns::{self, StyledText};

/// All that is known of a layer.
pub struct LayerDetails<'a> {
    subject: &'a Subject,
    /// Also what is known to be unknown.
    known: Vec<FactLine<'a>>,
    evidence: Vec<&'a Evidence>,
    /// For the target, the verdict.
    verdict: Option<String>,
    data: &'a Data,
    report: &'a Report,
}

impl<'a> LayerDetails<'a> {
    /// What is known of it; of the target also the verdict, and evidence about what is not shown
    /// here.
    pub fn new(data: &'a Data, report: &'a Report, subject: &'a Subject, is_top: bool) -> Self {
        let mut known: Vec<FactLine<'a>> = report
            .facts
            .rows_of(subject)
            .map(|row| fact(subject, row.fact, row.reading))
            .collect();
        // What nobody asked for has no row, and may still be what is missing.
        for (need, _) in data
            .focus
            .needs
            .iter()
            .filter(|(need, _)| need.subject == *subject)
        {
            if !known.iter().any(|fact| fact.name == need.fact) {
                known.push(FactLine {
                    name: &need.fact,
                    said: FactState::Unknown(Box::new(need.clone()), true),
                });
            }
        }
        let concerned =
            |of: &Subject| of.scope() == Scope::Host || data.focus.concerned.contains(of);
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
                heading(verdict),
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

    /// How many of them are unknown and could be known.
    pub fn gaps(&self) -> usize {
        self.known.iter().filter(|fact| fact.is_gap()).count()
    }

    /// The facts that are looked for in what is said of a layer and of them.
    fn looked_for<'s>(
        &'s self,
        state: &'s PageState,
        layer: &'s str,
    ) -> impl Iterator<Item = &'s FactLine<'a>> {
        self.known.iter().filter(move |fact| {
            (!state.only_unknown || fact.is_gap())
                && state.passes(&format!("{layer} {}", fact.text()))
        })
    }

    /// Names of the facts that are looked for.
    pub fn found<'s>(
        &'s self,
        state: &'s PageState,
        layer: &'s str,
    ) -> impl Iterator<Item = &'s str> {
        let evidence = self.evidence(state, layer).map(|piece| piece.says.as_str());
        self.looked_for(state, layer)
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
                piece.layer.word(),
                piece.says,
                piece.source
            );
            !state.only_unknown && state.passes(&said)
        };
        self.evidence.iter().copied().filter(wanted)
    }

    /// The verdict, the evidence, then the facts, as the user wants to see them: `state` says what
    /// is looked for, `place` what is unfolded.
    pub fn blocks(
        &self,
        layer: &StackNode<'_>,
        state: &PageState,
        place: &PageState,
        theme: Theme,
        room: usize,
    ) -> Vec<Block> {
        let said = layer.said();
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
            let says = format!("{}: {}{source}", piece.standing.word(), piece.says);
            details.field(piece.layer.word(), &says);
        }
        if !details.lines.is_empty() {
            blocks.push(Block::text(details.lines));
        }
        let facts: Vec<&FactLine<'_>> = self.looked_for(state, &said).collect();
        if state.only_unknown || state.is_searching() || state.with_sources {
            blocks.extend(self.rows(&facts, groups::in_full, place, room));
        } else {
            blocks.extend(self.grouped(&facts, place, room));
        }
        blocks
    }

    /// The facts in groups, those that decide something first.
    fn grouped(&self, facts: &[&FactLine<'_>], place: &PageState, room: usize) -> Vec<Block> {
        let theme = self.data.theme;
        let decides = groups::deciding(self.data, self.report, self.subject);
        let mut blocks = Vec::new();
        // Where there is nothing but what is folded, nothing is.
        let folds = facts
            .iter()
            .any(|fact| !DisplayGroup::of(fact.name, &decides).is_folded());
        for group in DisplayGroup::ALL {
            let of_group: Vec<&FactLine<'_>> = facts
                .iter()
                .copied()
                .filter(|fact| DisplayGroup::of(fact.name, &decides) == group)
                .collect();
            if of_group.is_empty() {
                continue;
            }
            let heading = Span::styled(group.title(), theme.style(TextRole::Heading));
            let key = format!("group {} {}", self.subject, group.title());
            let is_folded = folds && group.is_folded();
            let is_open = !is_folded || place.is_unfolded(&key);
            if is_folded {
                let says = format!("   {}", told::count(of_group.len(), "fact"));
                let line = Line::from(vec![
                    heading,
                    Span::styled(says, theme.style(TextRole::Dim)),
                ]);
                blocks.push(Block::item(key, Enter::Unfold, vec![line]));
            } else {
                blocks.push(Block::text(vec![Line::default(), Line::from(heading)]));
            }
            if is_open {
                blocks.extend(self.rows(&of_group, groups::in_short, place, room));
            }
        }
        blocks
    }

    /// Facts in columns, each with all of it beneath where it is opened.
    fn rows(
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
                lines.extend(beneath(fact, &self.data.raw, theme, room.saturating_sub(2)));
            }
            let mut block = Block::item(key, Enter::Unfold, lines).amiss(fact.is_gap());
            block.fact = Some((self.subject.clone(), fact.name.to_owned()));
            block
        };
        columns::wrapped(&rows, &groups::SHAPE, room)
            .into_iter()
            .zip(facts)
            .map(block)
            .collect()
    }
}

fn fact<'a>(
    subject: &Subject,
    name: &'a str,
    reading: &Reading<crate::facts::Value>,
) -> FactLine<'a> {
    let said = match reading {
        Reading::Known { value, source } => {
            FactState::Known(catalog::show(name, value), source.to_string())
        }
        Reading::Unknown {
            why,
            detail,
            remedy,
        } => {
            let need = Need {
                subject: subject.clone(),
                fact: name.to_owned(),
                why: *why,
                detail: detail.clone(),
                remedy: remedy.clone(),
            };
            FactState::Unknown(Box::new(need), reading.is_gap())
        }
    };
    FactLine { name, said }
}

fn beneath(fact: &FactLine<'_>, raw: &Raw, theme: Theme, room: usize) -> Vec<Line<'static>> {
    let mut details = Details::new(theme, room);
    details.field("fact", fact.name);
    match &fact.said {
        FactState::Known(value, source) => {
            details.field("value", value);
            details.field("source", source);
            details.commands("reads", raw.lines(source, value));
        }
        FactState::Unknown(need, _) => {
            details.field("why", &told::reason(need));
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

/// A block a little to the right, as what stands beneath a layer.
pub fn indented(mut block: Block) -> Block {
    block.lines = crate::tui::screen::details::indented(block.lines);
    block
}
