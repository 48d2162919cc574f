use ratatui::text::{Line, Span};

use super::fact_entry::{FactEntry, FactEntryState};
use super::fact_groups;
use super::layer::StackNode;
use crate::durability::Evidence;
use crate::facts::{Choice, FactGroup, MissingFact, Reading, Subject, catalog};
use crate::report::view::target::verdict_text_with_reservations;
use crate::report::view::wording;
use crate::text::JoinText;
use crate::tui::page::{PageBlock, RowDetails, SelectionState};
use crate::tui::raw_answers::RawAnswerCache;
use crate::tui::screen::PageContext;
use crate::tui::screen::detail_lines::DetailLines;
use crate::tui::theme::{BOLD, DIM};
use crate::tui::widgets::columns::{self, StyledText};

pub struct LayerDetails<'a> {
    subject: &'a Subject,
    known: Vec<FactEntry<'a>>,
    evidence: Vec<&'a Evidence>,
    /// `None` for layers below the target.
    verdict: Option<String>,
    context: &'a PageContext<'a>,
}

impl<'a> LayerDetails<'a> {
    /// The details of the target also contain the verdict, and evidence about subjects that the
    /// screen does not show.
    pub fn new(context: &'a PageContext<'a>, subject: &'a Subject) -> Self {
        let PageContext { data, report, .. } = *context;
        let is_top = subject == context.target;
        let mut known: Vec<FactEntry<'a>> = report
            .facts
            .rows_of(subject)
            .map(|row| new_fact_entry(subject, row.fact, row.reading))
            .collect();
        // A fact that no collector read has no row in the report, but a rule may need the fact.
        for (need, _) in data
            .focus
            .needs
            .iter()
            .filter(|(need, _)| need.subject == *subject)
        {
            if !known.iter().any(|fact| fact.name == need.fact) {
                known.push(FactEntry {
                    name: &need.fact,
                    state: FactEntryState::Unknown(Box::new(need.clone()), true),
                });
            }
        }
        let concerned = |of: &Subject| data.focus.concerns_target(of);
        let about =
            |piece: &&Evidence| piece.subject == *subject || is_top && !concerned(&piece.subject);
        let mut evidence: Vec<&Evidence> = Vec::new();
        let paths = data
            .target_verdict()
            .into_iter()
            .flat_map(|verdict| &verdict.paths);
        for piece in paths.flat_map(|path| &path.evidence).filter(about) {
            if !evidence.contains(&piece) {
                evidence.push(piece);
            }
        }
        let verdict = data.target_verdict().filter(|_| is_top);
        let verdict = verdict.map(|verdict| {
            let more = [&verdict.second_fault, &verdict.host_loss].map(String::as_str);
            let says = std::iter::once(verdict.sentence.as_str())
                .chain(more)
                .filter(|says| !says.is_empty());
            format!(
                "{}: {}",
                verdict_text_with_reservations(verdict),
                says.join_with(" ")
            )
        });
        Self {
            subject,
            known,
            evidence,
            verdict,
            context,
        }
    }

    pub fn count_readable_unknowns(&self) -> usize {
        self.known
            .iter()
            .filter(|fact| fact.is_unknown_but_readable())
            .count()
    }

    /// The filter searches a fact's text together with that of its layer.
    fn matching_facts<'s>(&'s self, layer: &'s str) -> impl Iterator<Item = &'s FactEntry<'a>> {
        let state = self.context.state;
        self.known.iter().filter(move |fact| {
            (!state.only_unknown || fact.is_unknown_but_readable())
                && state.passes_filter(&format!("{layer} {}", fact.search_text()))
        })
    }

    pub fn has_match(&self, layer: &str) -> bool {
        self.matching_facts(layer).next().is_some()
            || self.matching_evidence(layer).next().is_some()
    }

    fn matching_evidence<'s>(&'s self, layer: &'s str) -> impl Iterator<Item = &'s Evidence> {
        let state = self.context.state;
        let wanted = move |piece: &&Evidence| {
            let said = format!(
                "{layer} {} {} {}",
                piece.layer.as_str(),
                piece.text,
                piece.source
            );
            !state.only_unknown && state.passes_filter(&said)
        };
        self.evidence.iter().copied().filter(wanted)
    }

    pub fn detail_blocks(&self, layer: &StackNode<'_>) -> Vec<PageBlock> {
        let state = self.context.state;
        let place = &state.pane;
        let said = layer.search_text();
        let mut blocks = Vec::new();
        let mut details = DetailLines::new(self.context.room.columns);
        if let Some(verdict) = self
            .verdict
            .as_ref()
            .filter(|verdict| !state.only_unknown && state.passes_filter(verdict))
        {
            details.push_paragraph(verdict);
        }
        for piece in self.matching_evidence(&said) {
            let source = if piece.source.is_empty() {
                String::new()
            } else {
                format!(" ({})", piece.source)
            };
            let says = format!("{}: {}{source}", piece.standing.as_str(), piece.text);
            details.push_field(piece.layer.as_str(), &says);
        }
        if !details.lines.is_empty() {
            blocks.push(PageBlock::new_text(details.lines));
        }
        let facts: Vec<&FactEntry<'_>> = self.matching_facts(&said).collect();
        if state.only_unknown || state.has_filter_text() || state.with_sources {
            blocks.extend(self.fact_blocks(&facts, fact_groups::full_fact_cells, place));
        } else {
            blocks.extend(self.grouped_fact_blocks(&facts, place));
        }
        blocks
    }

    pub fn matching_fact_blocks(&self, layer: &StackNode<'_>) -> Vec<PageBlock> {
        let said = layer.search_text();
        let facts: Vec<&FactEntry<'_>> = self.matching_facts(&said).collect();
        let cells = fact_groups::full_fact_cells;
        let mut blocks = self.fact_blocks(&facts, cells, &SelectionState::default());
        for (block, fact) in blocks.iter_mut().zip(facts) {
            block.details = RowDetails::Fact(self.subject.clone(), fact.name.to_owned());
        }
        blocks
    }

    pub fn push_named_fact_details(&self, details: &mut DetailLines, name: &str) {
        if let Some(fact) = self.known.iter().find(|fact| fact.name == name) {
            push_fact_details(details, fact, &self.context.data.raw);
        }
    }

    fn grouped_fact_blocks(
        &self,
        facts: &[&FactEntry<'_>],
        place: &SelectionState,
    ) -> Vec<PageBlock> {
        let decides = fact_groups::deciding_fact_names(self.context, self.subject);
        let mut blocks = Vec::new();
        let group_of = |fact: &FactEntry<'_>| fact_groups::displayed_group(fact.name, &decides);
        // If all groups would be folded, none is folded.
        let folds = facts
            .iter()
            .any(|fact| !fact_groups::is_folded_by_default(group_of(fact)));
        for &group in FactGroup::ALL {
            let of_group = facts.iter().copied();
            let of_group: Vec<&FactEntry<'_>> =
                of_group.filter(|fact| group_of(fact) == group).collect();
            if of_group.is_empty() {
                continue;
            }
            let heading = Span::styled(fact_groups::fact_group_heading(group), BOLD);
            let key = format!("group {} {}", self.subject, group.as_str());
            let is_folded = folds && fact_groups::is_folded_by_default(group);
            let is_open = !is_folded || place.unfolded.contains(&key);
            if is_folded {
                let says = format!("   {}", wording::count_with_noun(of_group.len(), "fact"));
                let line = Line::from(vec![heading, Span::styled(says, DIM)]);
                blocks.push(PageBlock::new_row(key, RowDetails::Unfold, vec![line]));
            } else {
                blocks.push(PageBlock::new_text(vec![
                    Line::default(),
                    Line::from(heading),
                ]));
            }
            if is_open {
                blocks.extend(self.fact_blocks(&of_group, fact_groups::short_fact_cells, place));
            }
        }
        blocks
    }

    fn fact_blocks(
        &self,
        facts: &[&FactEntry<'_>],
        cells: fn(&FactEntry<'_>) -> Vec<StyledText>,
        place: &SelectionState,
    ) -> Vec<PageBlock> {
        let room = self.context.room.columns;
        let rows: Vec<Vec<StyledText>> = facts.iter().map(|fact| cells(fact)).collect();
        let block = |(mut lines, fact): (Vec<Line<'static>>, &&FactEntry<'_>)| {
            let key = format!("fact {} {}", self.subject, fact.name);
            if place.unfolded.contains(&key) {
                let mut details = DetailLines::new(room.saturating_sub(2));
                push_fact_details(&mut details, fact, &self.context.data.raw);
                details.push_empty_line();
                lines.extend(details.into_indented_lines());
            }
            let mut block = PageBlock::new_row(key, RowDetails::Unfold, lines)
                .with_issue(fact.is_unknown_but_readable());
            block.fact = Some((self.subject.clone(), fact.name.to_owned()));
            block
        };
        columns::wrapped_rows(&rows, &fact_groups::COLUMNS, room)
            .into_iter()
            .zip(facts)
            .map(block)
            .collect()
    }
}

fn new_fact_entry<'a>(
    subject: &Subject,
    name: &'a str,
    reading: &Reading<crate::facts::Value>,
) -> FactEntry<'a> {
    let need = MissingFact::from_unknown_reading(subject, name, reading);
    let state = match (need, reading) {
        (Some(need), _) => FactEntryState::Unknown(Box::new(need), reading.is_fillable_gap()),
        (None, reading) => {
            let value = reading
                .value()
                .map(|value| catalog::format_value(name, value));
            let source = reading.source().map(ToString::to_string);
            FactEntryState::Known(value.unwrap_or_default(), source.unwrap_or_default())
        }
    };
    FactEntry { name, state }
}

fn push_fact_details(details: &mut DetailLines, fact: &FactEntry<'_>, raw: &RawAnswerCache) {
    details.push_field("fact", fact.name);
    match &fact.state {
        FactEntryState::Known(value, source) => {
            details.push_field("value", value);
            details.push_field("source", source);
            details.push_commands("raw text", raw.cached_lines(source, value));
        }
        FactEntryState::Unknown(need, _) => {
            details.push_field("why", &wording::missing_fact_reason(need));
            if let Some(remedy) = &need.remedy {
                details.push_field("fix", &remedy.to_string());
            }
        }
    }
    if let Some(info) = catalog::find_by_name(fact.name) {
        details.push_field("meaning", info.doc.trim());
    }
}
