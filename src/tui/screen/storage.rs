//! The stack below the target as a tree, related subjects, and all facts. A known fact is shown
//! with value and source, an unknown fact with a reason and a remedy.
//!
//! With enough columns, a pane at the right of the tree shows the facts; otherwise they appear
//! below the unfolded layer. A filter without a pane unfolds every layer with a match.

mod layer;
mod fact_line {

    use crate::facts::MissingFact;
    use crate::report::view::wording;

    pub enum FactState {
        Known(String, String),
        /// The flag is true if the fact could be read, but was not.
        Unknown(Box<MissingFact>, bool),
    }

    pub struct FactLine<'a> {
        pub name: &'a str,
        pub state: FactState,
    }

    impl FactLine<'_> {
        pub fn search_text(&self) -> String {
            match &self.state {
                FactState::Known(value, source) => format!("{} {value} {source}", self.name),
                FactState::Unknown(need, _) => {
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
            matches!(self.state, FactState::Unknown(_, true))
        }
    }
}
mod fact_groups;
mod layer_details;

use ratatui::text::Line;

use super::detail_lines::DetailLines;
use super::sections::SectionView;
use super::shared_page_parts::no_target_page;
use crate::facts::catalog::target;
use crate::facts::{Scope, Subject, Value};
use crate::report::Report;
use crate::report::view::flush_path::needs_no_remark;
use crate::report::view::target::directories_section;
use crate::report::view::wording;
use crate::tui::data::Data;
use crate::tui::page::{Block, EnterEffect, Page, PageState, Pane};
use crate::tui::theme::{TextRole, Theme};
use crate::tui::widgets::text;
use layer::StackNode;
use layer_details::LayerDetails;

/// Columns that a terminal of 100 columns leaves for the page.
const PANE_MIN_WIDTH: usize = 96;

pub fn layer_key(layer: &Subject) -> String {
    format!("layer {layer}")
}

pub fn storage_page(data: &Data, state: &PageState, room: usize) -> Page {
    let Some((report, target)) = data.chosen_target() else {
        return no_target_page(data, "show");
    };
    let mut page = Page::default();
    let columns = if room >= PANE_MIN_WIDTH {
        room.saturating_mul(9) / 20
    } else {
        0
    };
    let left = room.saturating_sub(columns);
    let view = StoragePage {
        data,
        report,
        target,
        state,
        room: left,
        theme: data.theme,
        has_pane: columns > 0,
    };
    let (stack, beside) = (view.visible_stack(), view.related_nodes());
    view.push_stack_tree(&mut page, &stack);
    view.push_disk_sharing(&mut page);
    view.push_related_subjects(&mut page, &beside);
    if page.selectable_blocks().next().is_none() {
        let said = if state.only_unknown {
            "No unknown facts."
        } else {
            "No matches."
        };
        page.push_text(vec![Line::styled(
            said,
            data.theme.role_style(TextRole::Dim),
        )]);
    }
    if columns > 0 {
        let selected = page
            .main_page_selection(state)
            .and_then(|block| block.key.clone());
        let layers = || stack.iter().chain(&beside);
        let chosen = layers().find(|layer| Some(layer.key()) == selected);
        let width = u16::try_from(columns).unwrap_or(u16::MAX);
        let inner = chosen
            .map(|layer| view.layer_page(layer, Pane::content_width(width)))
            .unwrap_or_default();
        page.pane = Some(Pane {
            page: Box::new(inner),
            width,
        });
    }
    page
}

struct StoragePage<'a> {
    data: &'a Data,
    report: &'a Report,
    target: &'a Subject,
    state: &'a PageState,
    room: usize,
    theme: Theme,
    has_pane: bool,
}

impl<'a> StoragePage<'a> {
    fn is_filtering(&self) -> bool {
        self.state.only_unknown || self.state.has_filter_text()
    }

    fn visible_stack(&self) -> Vec<StackNode<'a>> {
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

    fn related_nodes(&self) -> Vec<StackNode<'a>> {
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
            .verdict()
            .map(|verdict| verdict.flush_path.as_slice())
            .unwrap_or_default();
        let hop = path.iter().find(|hop| hop.subjects.contains(layer));
        hop.is_some_and(|hop| !needs_no_remark(hop)) || self.data.focus.issues.contains(layer)
    }

    fn push_stack_tree(&self, page: &mut Page, stack: &[StackNode<'a>]) {
        let aside = match (self.state.only_unknown, self.has_pane) {
            (true, _) => "unknown facts only; u shows everything",
            (false, true) => "from the target down",
            (false, false) => "from the target down; enter shows facts",
        };
        page.push_heading(self.theme, "Stack", aside);
        self.push_layers(page, stack);
        let left_out = self
            .report
            .stack(self.target)
            .and_then(|stack| stack.left_out);
        if let Some(count) = left_out {
            let said = format!("{count} more layers are left out.");
            page.push_text(vec![Line::styled(
                said,
                self.theme.role_style(TextRole::Dim),
            )]);
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
        let view = SectionView {
            data: self.data,
            reports: &[],
            state: self.state,
            room: self.room,
        };
        if let Some(section) = directories_section(summary) {
            view.push_section(page, &section);
        }
        let mut details = DetailLines::new(self.theme, self.room);
        for says in wording::sharing_sentences(self.report, self.target) {
            details.push_paragraph(&says);
        }
        if let Some(Value::List(disks)) = self.report.value(self.target, target::SWAP_BESIDE.name())
            && !disks.is_empty()
        {
            details.push_paragraph(&format!("Swap on the same disk: {}", disks.join(", ")));
        }
        if !details.lines.is_empty() {
            details.lines.insert(0, Line::default());
            page.push_text(details.lines);
        }
    }

    fn push_related_subjects(&self, page: &mut Page, others: &[StackNode<'a>]) {
        let before = page.blocks.len();
        page.push_heading(
            self.theme,
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
                !self.is_filtering()
                    || facts
                        .matching_names_and_evidence(self.state, &layer.search_text())
                        .next()
                        .is_some()
            })
            .collect();
        let gaps: Vec<usize> = shown
            .iter()
            .map(|(_, facts)| facts.count_readable_unknowns())
            .collect();
        let rows: Vec<&StackNode<'a>> = shown.iter().map(|(layer, _)| *layer).collect();
        let drawn = layer::layer_lines(&rows, &gaps, self.theme, self.room);
        for ((layer, facts), lines) in shown.iter().zip(drawn) {
            let enter = if self.has_pane {
                EnterEffect::OpenPane
            } else {
                EnterEffect::Unfold
            };
            let key = layer.key();
            let unfolded = !self.has_pane && (self.is_filtering() || self.state.is_unfolded(&key));
            page.blocks.push(
                Block::new_selectable_item(key, enter, lines)
                    .with_issue(self.layer_has_issue(layer.subject)),
            );
            if unfolded {
                let room = self.room.saturating_sub(2);
                let blocks = facts.detail_blocks(layer, self.state, self.state, self.theme, room);
                page.blocks
                    .extend(blocks.into_iter().map(layer_details::indent_block));
            }
        }
    }

    fn layer_page(&self, layer: &StackNode<'a>, room: usize) -> Page {
        let mut page = Page::default();
        let title = text::wrap(&layer.title(), room);
        let heading = self.theme.role_style(TextRole::Heading);
        let mut details = DetailLines::new(self.theme, room);
        details
            .lines
            .extend(title.into_iter().map(|row| Line::styled(row, heading)));
        layer
            .description_lines()
            .into_iter()
            .for_each(|says| details.push_paragraph(says));
        page.push_text(details.lines);
        let beside = self.state.pane_state();
        page.blocks.extend(
            self.layer_details(layer)
                .detail_blocks(layer, self.state, &beside, self.theme, room),
        );
        page
    }
}
