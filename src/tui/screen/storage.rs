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

use super::PageContext;
use super::detail_lines::DetailLines;
use crate::facts::catalog::target;
use crate::facts::{Scope, Subject};
use crate::report::view::flush_path::is_hop_unremarkable;
use crate::report::view::target::{evidence_sections, server_directories_section};
use crate::report::view::wording;
use crate::tui::page::{Page, PageBlock, RowDetails};
use crate::tui::theme::DIM;
use layer::StackNode;
use layer_details::LayerDetails;

pub fn layer_block_key(layer: &Subject) -> String {
    format!("layer {layer}")
}

impl PageContext<'_> {
    pub fn storage_page(&self) -> Page {
        let mut page = Page::default();
        let (stack, beside) = (self.target_stack_nodes(), self.related_subject_nodes());
        self.push_stack_tree(&mut page, &stack);
        self.push_disk_sharing(&mut page);
        self.push_related_subjects(&mut page, &beside);
        if !self.is_filtering() {
            for section in self
                .data
                .target_verdict()
                .into_iter()
                .flat_map(evidence_sections)
            {
                self.section_renderer().push_section(&mut page, &section);
            }
        }
        if page.selectable_blocks().next().is_none() {
            let said = if self.state.only_unknown {
                "No unknown facts."
            } else {
                "No matches."
            };
            page.push_text_block(vec![Line::styled(said, DIM)]);
        }
        page
    }

    pub fn push_subject_fact_details(
        &self,
        details: &mut DetailLines,
        subject: &Subject,
        fact: &str,
    ) {
        LayerDetails::new(self, subject).push_named_fact_details(details, fact);
    }

    /// Adds the details of a layer and returns its title.
    pub fn push_layer_details(&self, page: &mut Page, subject: &Subject) -> String {
        let (stack, beside) = (self.target_stack_nodes(), self.related_subject_nodes());
        let mut layers = stack.iter().chain(&beside);
        let Some(layer) = layers.find(|layer| layer.subject == subject) else {
            return String::new();
        };
        let mut details = DetailLines::new(self.room.columns);
        for says in layer.description_lines() {
            details.push_paragraph(says);
        }
        page.push_text_block(details.lines);
        let facts = LayerDetails::new(self, subject);
        page.blocks.extend(facts.detail_blocks(layer));
        layer.title()
    }
}

impl<'a> PageContext<'a> {
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
        if let Some(section) = server_directories_section(summary) {
            self.section_renderer().push_section(page, &section);
        }
        let mut details = DetailLines::new(self.room.columns);
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
        let shown: Vec<(&StackNode<'a>, LayerDetails<'_>)> = layers
            .iter()
            .map(|layer| (layer, LayerDetails::new(self, layer.subject)))
            .filter(|(layer, facts)| !self.is_filtering() || facts.has_match(&layer.search_text()))
            .collect();
        let gaps: Vec<usize> = shown
            .iter()
            .map(|(_, facts)| facts.count_readable_unknowns())
            .collect();
        let rows: Vec<&StackNode<'a>> = shown.iter().map(|(layer, _)| *layer).collect();
        let drawn = layer::layer_lines(&rows, &gaps, self.room.columns);
        for ((layer, facts), lines) in shown.iter().zip(drawn) {
            let details = RowDetails::Layer(layer.subject.clone());
            page.blocks.push(
                PageBlock::new_row(layer.key(), details, lines)
                    .with_issue(self.layer_has_issue(layer.subject)),
            );
            if self.is_filtering() {
                let facts = facts.matching_fact_blocks(layer);
                page.blocks.extend(facts);
            }
        }
    }
}
