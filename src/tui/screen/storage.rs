//! Storage: the stack below the target as a tree, related subjects, and every fact of each with
//! value and source, or the reason and remedy.
//!
//! Facts are in a pane beside the tree if there is room, else below the unfolded layer. During a
//! search without a pane, every layer with a match is unfolded.

mod layer;
mod fact {
    //! One fact of a layer: its value and source, or why it is unknown.

    use crate::facts::MissingFact;
    use crate::report::view::wording;

    pub enum FactState {
        /// The value, and its source.
        Known(String, String),
        /// The reason, and whether the fact is a gap.
        Unknown(Box<MissingFact>, bool),
    }

    pub struct FactLine<'a> {
        pub name: &'a str,
        pub state: FactState,
    }

    impl FactLine<'_> {
        /// Its text, for searches.
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
                        wording::need_reason(need)
                    )
                }
            }
        }

        /// Whether it is unknown but could be read.
        pub fn is_gap(&self) -> bool {
            matches!(self.state, FactState::Unknown(_, true))
        }
    }
}
mod facts;
mod groups;

use ratatui::text::Line;

use super::details::Details;
use super::list_limits::no_target_page;
use super::sections::SectionView;
use crate::facts::catalog::target;
use crate::facts::{Scope, Subject, Value};
use crate::report::Report;
use crate::report::view::flush::needs_no_remark;
use crate::report::view::target::directories_section;
use crate::report::view::wording;
use crate::tui::data::Data;
use crate::tui::page::{Block, EnterEffect, Page, PageState, Pane};
use crate::tui::theme::{TextRole, Theme};
use crate::tui::widgets::text;
use facts::LayerDetails;
use layer::StackNode;

/// The width of a page with a pane: a terminal of 100 columns.
const PANE_MIN_WIDTH: usize = 96;

/// The block name of a layer.
pub fn layer_key(layer: &Subject) -> String {
    format!("layer {layer}")
}

pub fn page(data: &Data, state: &PageState, room: usize) -> Page {
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
    let view = LayerDiagram {
        data,
        report,
        target,
        state,
        room: left,
        theme: data.theme,
        has_pane: columns > 0,
    };
    let (stack, beside) = (view.stack(), view.related_nodes());
    view.push_tree(&mut page, &stack);
    view.push_shared(&mut page);
    view.push_related(&mut page, &beside);
    if page.selectable().next().is_none() {
        let said = if state.only_unknown {
            "No unknown facts."
        } else {
            "No matches."
        };
        page.text(vec![Line::styled(said, data.theme.style(TextRole::Dim))]);
    }
    if columns > 0 {
        let selected = page
            .main_selection(state)
            .and_then(|block| block.key.clone());
        let layers = || stack.iter().chain(&beside);
        let chosen = layers().find(|layer| Some(layer.key()) == selected);
        let width = u16::try_from(columns).unwrap_or(u16::MAX);
        let inner = chosen
            .map(|layer| view.pane(layer, Pane::content_width(width)))
            .unwrap_or_default();
        page.pane = Some(Pane {
            page: Box::new(inner),
            width,
        });
    }
    page
}

/// The inputs of all parts of the page.
struct LayerDiagram<'a> {
    data: &'a Data,
    report: &'a Report,
    target: &'a Subject,
    state: &'a PageState,
    room: usize,
    theme: Theme,
    has_pane: bool,
}

impl<'a> LayerDiagram<'a> {
    /// Whether only some facts are shown.
    fn is_searching(&self) -> bool {
        self.state.only_unknown || self.state.is_searching()
    }

    fn stack(&self) -> Vec<StackNode<'a>> {
        let rows = self
            .report
            .stack(self.target)
            .map(|stack| stack.layers.as_slice())
            .unwrap_or_default();
        let layers = layer::stack_nodes(rows);
        if self.is_searching() {
            layers.into_iter().map(StackNode::flat).collect()
        } else {
            layers
        }
    }

    /// Subjects outside the stack: boot settings, the server, the host.
    fn related_nodes(&self) -> Vec<StackNode<'a>> {
        let summary = self.report.targets.get(self.data.focus.position);
        let others = summary.into_iter().flat_map(|summary| &summary.subjects);
        let others =
            others.filter(|subject| matches!(subject.scope(), Scope::Boot | Scope::Cluster));
        let host = self.report.facts.subjects(Scope::Host);
        others.chain(host).map(StackNode::related).collect()
    }

    fn facts(&self, of: &StackNode<'a>) -> LayerDetails<'a> {
        let is_top = of.subject == self.target;
        LayerDetails::new(self.data, self.report, of.subject, is_top)
    }

    /// Whether flushes have a problem at this layer, or it has a finding of level warning or above.
    fn has_issue(&self, layer: &Subject) -> bool {
        let path = self
            .data
            .verdict()
            .map(|verdict| verdict.flush_path.as_slice())
            .unwrap_or_default();
        let hop = path.iter().find(|hop| hop.subjects.contains(layer));
        hop.is_some_and(|hop| !needs_no_remark(hop)) || self.data.focus.issues.contains(layer)
    }

    fn push_tree(&self, page: &mut Page, stack: &[StackNode<'a>]) {
        let aside = match (self.state.only_unknown, self.has_pane) {
            (true, _) => "unknown facts only; u shows everything",
            (false, true) => "from the target down",
            (false, false) => "from the target down; enter shows facts",
        };
        page.heading(self.theme, "Stack", aside);
        self.layers(page, stack);
        let left_out = self
            .report
            .stack(self.target)
            .and_then(|stack| stack.left_out);
        if let Some(count) = left_out {
            let said = format!("{count} more layers are left out.");
            page.text(vec![Line::styled(said, self.theme.style(TextRole::Dim))]);
        }
    }

    /// What else uses the same disks.
    fn push_shared(&self, page: &mut Page) {
        let Some(summary) = self
            .report
            .targets
            .get(self.data.focus.position)
            .filter(|_| !self.is_searching())
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
            view.add(page, &section);
        }
        let mut details = Details::new(self.theme, self.room);
        for says in wording::shared_with(self.report, self.target) {
            details.paragraph(&says);
        }
        if let Some(Value::List(disks)) = self.report.value(self.target, target::SWAP_BESIDE.name())
            && !disks.is_empty()
        {
            details.paragraph(&format!("Swap on the same disk: {}", disks.join(", ")));
        }
        if !details.lines.is_empty() {
            details.lines.insert(0, Line::default());
            page.text(details.lines);
        }
    }

    fn push_related(&self, page: &mut Page, others: &[StackNode<'a>]) {
        let before = page.blocks.len();
        page.heading(
            self.theme,
            "Related",
            "/etc/fstab and mount units, the server, the host",
        );
        let heading = page.blocks.len();
        self.layers(page, others);
        if page.blocks.len() == heading {
            page.blocks.truncate(before);
        }
    }

    /// Each layer with something to show, with its facts below if there is no pane.
    fn layers(&self, page: &mut Page, layers: &[StackNode<'a>]) {
        let shown: Vec<(&StackNode<'a>, LayerDetails<'a>)> = layers
            .iter()
            .map(|layer| (layer, self.facts(layer)))
            .filter(|(layer, facts)| {
                !self.is_searching()
                    || facts
                        .matching_names(self.state, &layer.search_text())
                        .next()
                        .is_some()
            })
            .collect();
        let gaps: Vec<usize> = shown.iter().map(|(_, facts)| facts.gaps()).collect();
        let rows: Vec<&StackNode<'a>> = shown.iter().map(|(layer, _)| *layer).collect();
        let drawn = layer::lines(&rows, &gaps, self.theme, self.room);
        for ((layer, facts), lines) in shown.iter().zip(drawn) {
            let enter = if self.has_pane {
                EnterEffect::OpenPane
            } else {
                EnterEffect::Unfold
            };
            let key = layer.key();
            let unfolded = !self.has_pane && (self.is_searching() || self.state.is_unfolded(&key));
            page.blocks
                .push(Block::item(key, enter, lines).with_issue(self.has_issue(layer.subject)));
            if unfolded {
                let room = self.room.saturating_sub(2);
                let blocks = facts.blocks(layer, self.state, self.state, self.theme, room);
                page.blocks.extend(blocks.into_iter().map(facts::indented));
            }
        }
    }

    /// Everything about the selected layer.
    fn pane(&self, layer: &StackNode<'a>, room: usize) -> Page {
        let mut page = Page::default();
        let title = text::wrap(&layer.title(), room);
        let heading = self.theme.style(TextRole::Heading);
        let mut details = Details::new(self.theme, room);
        details
            .lines
            .extend(title.into_iter().map(|row| Line::styled(row, heading)));
        layer
            .description_lines()
            .into_iter()
            .for_each(|says| details.paragraph(says));
        page.text(details.lines);
        let beside = self.state.pane_state();
        page.blocks.extend(
            self.facts(layer)
                .blocks(layer, self.state, &beside, self.theme, room),
        );
        page
    }
}
