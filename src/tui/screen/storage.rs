//! The stack below the target as a tree, related subjects, and all facts. A known fact is shown
//! with value and source, an unknown fact with a reason and a remedy.

mod layer;
mod fact_entry {

    use crate::facts::MissingFact;
    use crate::report::view::wording;

    pub enum FactEntryState {
        Known(String, String),
        /// The flag is true for a fact that is readable on this host, but was not read.
        Unknown(Box<MissingFact>, bool),
    }

    pub struct FactEntry<'a> {
        pub name: &'a str,
        pub state: FactEntryState,
    }

    impl FactEntry<'_> {
        pub fn search_text(&self) -> String {
            match &self.state {
                FactEntryState::Known(value, source) => format!("{} {value} {source}", self.name),
                FactEntryState::Unknown(need, _) => {
                    let remedy = need
                        .remedy
                        .as_ref()
                        .map(ToString::to_string)
                        .unwrap_or_default();
                    format!(
                        "{} unknown {} {remedy}",
                        self.name,
                        wording::missing_fact_reason(need)
                    )
                }
            }
        }

        pub fn is_unknown_but_readable(&self) -> bool {
            matches!(self.state, FactEntryState::Unknown(_, true))
        }
    }
}
mod fact_groups;
mod layer_details;

use ratatui::text::Line;

use super::detail_lines::DetailLines;
use super::sections::SectionRenderer;
use super::shared_page_parts::no_target_page;
use crate::facts::catalog::target;
use crate::facts::{Scope, Subject};
use crate::report::Report;
use crate::report::view::flush_path::is_hop_unremarkable;
use crate::report::view::target::{evidence_sections, server_directories_section};
use crate::report::view::wording;
use crate::tui::page::{Page, PageBlock, PageState, RowDetails};
use crate::tui::screen_data::ScreenData;
use crate::tui::theme::DIM;
use layer::StackNode;
use layer_details::LayerDetails;

pub fn layer_block_key(layer: &Subject) -> String {
    format!("layer {layer}")
}

pub fn storage_page(data: &ScreenData, state: &PageState, room: usize) -> Page {
    let Some((report, target)) = data.report_and_chosen_target() else {
        return no_target_page(data, "show");
    };
    let mut page = Page::default();
    let view = StoragePageBuilder {
        data,
        report,
        target,
        state,
        room,
    };
    let (stack, beside) = (view.target_stack_nodes(), view.related_subject_nodes());
    view.push_stack_tree(&mut page, &stack);
    view.push_disk_sharing(&mut page);
    view.push_related_subjects(&mut page, &beside);
    view.push_verdict_evidence(&mut page);
    if page.selectable_blocks().next().is_none() {
        let said = if state.only_unknown {
            "No unknown facts."
        } else {
            "No matches."
        };
        page.push_text_block(vec![Line::styled(said, DIM)]);
    }
    page
}

pub fn push_subject_fact_details(
    details: &mut DetailLines,
    data: &ScreenData,
    report: &Report,
    subject: &Subject,
    fact: &str,
) {
    let layer = LayerDetails::new(data, report, subject, false);
    layer.push_named_fact_details(details, fact);
}

/// Adds the details of a layer and returns its title.
pub fn push_layer_details(
    page: &mut Page,
    data: &ScreenData,
    subject: &Subject,
    state: &PageState,
    room: usize,
) -> String {
    let Some((report, target)) = data.report_and_chosen_target() else {
        return String::new();
    };
    let view = StoragePageBuilder {
        data,
        report,
        target,
        state,
        room,
    };
    let (stack, beside) = (view.target_stack_nodes(), view.related_subject_nodes());
    let chosen = stack
        .iter()
        .chain(&beside)
        .find(|layer| layer.subject == subject);
    let Some(layer) = chosen else {
        return String::new();
    };
    let mut details = DetailLines::new(room);
    for says in layer.description_lines() {
        details.push_paragraph(says);
    }
    page.push_text_block(details.lines);
    let facts = view.layer_details(layer);
    page.blocks.extend(facts.detail_blocks(layer, state, room));
    layer.title()
}

struct StoragePageBuilder<'a> {
    data: &'a ScreenData,
    report: &'a Report,
    target: &'a Subject,
    state: &'a PageState,
    room: usize,
}

impl<'a> StoragePageBuilder<'a> {
    fn is_filtering(&self) -> bool {
        self.state.only_unknown || self.state.has_filter_text()
    }

    fn target_stack_nodes(&self) -> Vec<StackNode<'a>> {
        let rows = self
            .report
            .stack(self.target)
            .map(|stack| stack.layers.as_slice())
            .unwrap_or_default();
        let layers = layer::stack_nodes(rows);
        if self.is_filtering() {
            layers.into_iter().map(StackNode::without_branch).collect()
        } else {
            layers
        }
    }

    fn related_subject_nodes(&self) -> Vec<StackNode<'a>> {
        let summary = self.report.targets.get(self.data.focus.position);
        let others = summary.into_iter().flat_map(|summary| &summary.subjects);
        let others =
            others.filter(|subject| matches!(subject.scope(), Scope::Boot | Scope::Cluster));
        let host = self.report.facts.subjects_of_scope(Scope::Host);
        others
            .chain(host)
            .map(StackNode::for_related_subject)
            .collect()
    }

    fn layer_details(&self, of: &StackNode<'a>) -> LayerDetails<'a> {
        let is_top = of.subject == self.target;
        LayerDetails::new(self.data, self.report, of.subject, is_top)
    }

    fn layer_has_issue(&self, layer: &Subject) -> bool {
        let path = self
            .data
            .target_verdict()
            .map(|verdict| verdict.flush_path.as_slice())
            .unwrap_or_default();
        let hop = path.iter().find(|hop| hop.subjects.contains(layer));
        hop.is_some_and(|hop| !is_hop_unremarkable(hop)) || self.data.focus.issues.contains(layer)
    }

    fn push_stack_tree(&self, page: &mut Page, stack: &[StackNode<'a>]) {
        let aside = if self.state.only_unknown {
            "only unknown facts; press u to show all facts"
        } else {
            "from the target down"
        };
        page.push_heading("Stack", aside);
        self.push_layers(page, stack);
        let left_out = self
            .report
            .stack(self.target)
            .and_then(|stack| stack.left_out);
        if let Some(count) = left_out {
            let said = format!("{count} more layers are omitted.");
            page.push_text_block(vec![Line::styled(said, DIM)]);
        }
    }

    fn push_disk_sharing(&self, page: &mut Page) {
        let Some(summary) = self
            .report
            .targets
            .get(self.data.focus.position)
            .filter(|_| !self.is_filtering())
        else {
            return;
        };
        let view = SectionRenderer {
            data: self.data,
            room: self.room,
            with_commands: false,
        };
        if let Some(section) = server_directories_section(summary) {
            view.push_section(page, &section);
        }
        let mut details = DetailLines::new(self.room);
        for says in wording::shared_storage_sentences(self.report, self.target) {
            details.push_paragraph(&says);
        }
        if let Some(disks) = self.report.facts.value(self.target, &target::SWAP_BESIDE)
            && !disks.is_empty()
        {
            details.push_paragraph(&format!("Swap on the same disk: {}", disks.join(", ")));
        }
        if !details.lines.is_empty() {
            details.lines.insert(0, Line::default());
            page.push_text_block(details.lines);
        }
    }

    fn push_verdict_evidence(&self, page: &mut Page) {
        let view = SectionRenderer {
            data: self.data,
            room: self.room,
            with_commands: false,
        };
        let verdict = self.data.target_verdict().filter(|_| !self.is_filtering());
        for section in verdict.into_iter().flat_map(evidence_sections) {
            view.push_section(page, &section);
        }
    }

    fn push_related_subjects(&self, page: &mut Page, others: &[StackNode<'a>]) {
        let before = page.blocks.len();
        page.push_heading(
            "Related",
            "/etc/fstab and mount units, the server, the host",
        );
        let heading = page.blocks.len();
        self.push_layers(page, others);
        if page.blocks.len() == heading {
            page.blocks.truncate(before);
        }
    }

    fn push_layers(&self, page: &mut Page, layers: &[StackNode<'a>]) {
        let shown: Vec<(&StackNode<'a>, LayerDetails<'a>)> = layers
            .iter()
            .map(|layer| (layer, self.layer_details(layer)))
            .filter(|(layer, facts)| {
                !self.is_filtering() || facts.has_match(self.state, &layer.search_text())
            })
            .collect();
        let gaps: Vec<usize> = shown
            .iter()
            .map(|(_, facts)| facts.count_readable_unknowns())
            .collect();
        let rows: Vec<&StackNode<'a>> = shown.iter().map(|(layer, _)| *layer).collect();
        let drawn = layer::layer_lines(&rows, &gaps, self.room);
        for ((layer, facts), lines) in shown.iter().zip(drawn) {
            let details = RowDetails::Layer(layer.subject.clone());
            page.blocks.push(
                PageBlock::new_row(layer.key(), details, lines)
                    .with_issue(self.layer_has_issue(layer.subject)),
            );
            if self.is_filtering() {
                let facts = facts.matching_fact_blocks(layer, self.state, self.room);
                page.blocks.extend(facts);
            }
        }
    }
}
