//! Storage: the stack beneath the target as a tree, what else is concerned, and every fact of each
//! with its value and its source, or why there is none and what would help.
//!
//! The facts stand in a pane beside the tree where there is room for one, else beneath what is
//! unfolded. The surprise: while something is looked for, everything that has it is unfolded where
//! there is no pane.

mod layer;
mod fact {
    //! One fact of a layer, as the screen needs it: its value with its source, or why there is
    //! none.

    use crate::facts::Need;
    use crate::report::telling::words as told;

    /// What is known of one fact.
    pub enum FactState {
        /// Its value, and where it was read.
        Known(String, String),
        /// Why it is not known; and whether it could be.
        Unknown(Box<Need>, bool),
    }

    pub struct FactLine<'a> {
        pub name: &'a str,
        pub said: FactState,
    }

    impl FactLine<'_> {
        /// All that is said of it, to look for something in.
        pub fn text(&self) -> String {
            match &self.said {
                FactState::Known(value, source) => format!("{} {value} {source}", self.name),
                FactState::Unknown(need, _) => {
                    let remedy = need
                        .remedy
                        .as_ref()
                        .map(ToString::to_string)
                        .unwrap_or_default();
                    format!("{} unknown {} {remedy}", self.name, told::reason(need))
                }
            }
        }

        /// Whether it is unknown and could be known.
        pub fn is_gap(&self) -> bool {
            matches!(self.said, FactState::Unknown(_, true))
        }
    }
}
mod facts;
mod groups;

use ratatui::text::Line;

use super::details::Details;
use super::rest::no_target_page;
use super::sections::SectionView;
use crate::facts::catalog::target;
use crate::facts::{Scope, Subject, Value};
use crate::report::Report;
use crate::report::telling::flush::is_well;
use crate::report::telling::target::kept_here;
use crate::report::telling::words as told;
use crate::tui::data::Data;
use crate::tui::page::{Block, Enter, Page, PageState, Pane};
use crate::tui::theme::{TextRole, Theme};
use crate::tui::widgets::text;
use facts::LayerDetails;
use layer::StackNode;

/// Columns of a page from which on there is room for a pane: a terminal of 100.
const WIDE: usize = 96;

/// The name of a layer on this page.
pub fn layer_key(layer: &Subject) -> String {
    format!("layer {layer}")
}

pub fn page(data: &Data, state: &PageState, room: usize) -> Page {
    let Some((report, target)) = data.chosen() else {
        return no_target_page(data, "show");
    };
    let mut page = Page::default();
    let columns = if room >= WIDE {
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
    let (stack, beside) = (view.stack(), view.beside());
    view.tree(&mut page, &stack);
    view.shared(&mut page);
    view.others(&mut page, &beside);
    if page.selectable().next().is_none() {
        let said = if state.only_unknown {
            "Nothing that is unknown."
        } else {
            "No matches."
        };
        page.text(vec![Line::styled(said, data.theme.style(TextRole::Dim))]);
    }
    if columns > 0 {
        let selected = page.main(state).and_then(|block| block.key.clone());
        let layers = || stack.iter().chain(&beside);
        let chosen = layers().find(|layer| Some(layer.key()) == selected);
        let width = u16::try_from(columns).unwrap_or(u16::MAX);
        let inner = chosen
            .map(|layer| view.pane(layer, Pane::room(width)))
            .unwrap_or_default();
        page.pane = Some(Pane {
            page: Box::new(inner),
            width,
        });
    }
    page
}

/// Everything the parts of the page are made from.
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
    /// Whether only some of the facts are wanted.
    fn is_searching(&self) -> bool {
        self.state.only_unknown || self.state.is_searching()
    }

    /// The layers of the stack.
    fn stack(&self) -> Vec<StackNode<'a>> {
        let rows = self
            .report
            .stack(self.target)
            .map(|stack| stack.layers.as_slice())
            .unwrap_or_default();
        let layers = layer::of_stack(rows);
        if self.is_searching() {
            layers.into_iter().map(StackNode::flat).collect()
        } else {
            layers
        }
    }

    /// What else is concerned: boot lines, the server, the host.
    fn beside(&self) -> Vec<StackNode<'a>> {
        let summary = self.report.targets.get(self.data.focus.at);
        let others = summary.into_iter().flat_map(|summary| &summary.subjects);
        let others =
            others.filter(|subject| matches!(subject.scope(), Scope::Boot | Scope::Cluster));
        let host = self.report.facts.subjects(Scope::Host);
        others.chain(host).map(StackNode::other).collect()
    }

    fn facts(&self, of: &StackNode<'a>) -> LayerDetails<'a> {
        let is_top = of.subject == self.target;
        LayerDetails::new(self.data, self.report, of.subject, is_top)
    }

    /// Whether a flush does not get past it as it should, or something was found about it that is
    /// to be looked at.
    fn is_amiss(&self, layer: &Subject) -> bool {
        let path = self
            .data
            .verdict()
            .map(|verdict| verdict.flush_path.as_slice())
            .unwrap_or_default();
        let hop = path.iter().find(|hop| hop.subjects.contains(layer));
        hop.is_some_and(|hop| !is_well(hop)) || self.data.focus.amiss.contains(layer)
    }

    fn tree(&self, page: &mut Page, stack: &[StackNode<'a>]) {
        let aside = match (self.state.only_unknown, self.has_pane) {
            (true, _) => "only what is unknown; u shows everything",
            (false, true) => "from the target down",
            (false, false) => "from the target down; enter shows the facts of a layer",
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

    /// What else lies on the same disks.
    fn shared(&self, page: &mut Page) {
        let Some(summary) = self
            .report
            .targets
            .get(self.data.focus.at)
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
        if let Some(section) = kept_here(summary) {
            view.add(page, &section);
        }
        let mut details = Details::new(self.theme, self.room);
        for says in told::shared(self.report, self.target) {
            details.paragraph(&says);
        }
        if let Some(Value::List(disks)) = self.report.value(self.target, target::SWAP_BESIDE.name())
            && !disks.is_empty()
        {
            details.paragraph(&format!("Swap is on the same disk: {}", disks.join(", ")));
        }
        if !details.lines.is_empty() {
            details.lines.insert(0, Line::default());
            page.text(details.lines);
        }
    }

    fn others(&self, page: &mut Page, others: &[StackNode<'a>]) {
        let before = page.blocks.len();
        page.heading(
            self.theme,
            "Beside it",
            "/etc/fstab and mount units, the server, the host",
        );
        let heading = page.blocks.len();
        self.layers(page, others);
        if page.blocks.len() == heading {
            page.blocks.truncate(before);
        }
    }

    /// Each layer that has something to show, with its facts beneath where they are to be seen
    /// there.
    fn layers(&self, page: &mut Page, layers: &[StackNode<'a>]) {
        let shown: Vec<(&StackNode<'a>, LayerDetails<'a>)> = layers
            .iter()
            .map(|layer| (layer, self.facts(layer)))
            .filter(|(layer, facts)| {
                !self.is_searching() || facts.found(self.state, &layer.said()).next().is_some()
            })
            .collect();
        let gaps: Vec<usize> = shown.iter().map(|(_, facts)| facts.gaps()).collect();
        let rows: Vec<&StackNode<'a>> = shown.iter().map(|(layer, _)| *layer).collect();
        let drawn = layer::lines(&rows, &gaps, self.theme, self.room);
        for ((layer, facts), lines) in shown.iter().zip(drawn) {
            let enter = if self.has_pane {
                Enter::Beside
            } else {
                Enter::Unfold
            };
            let key = layer.key();
            let unfolded = !self.has_pane && (self.is_searching() || self.state.is_unfolded(&key));
            page.blocks
                .push(Block::item(key, enter, lines).amiss(self.is_amiss(layer.subject)));
            if unfolded {
                let room = self.room.saturating_sub(2);
                let blocks = facts.blocks(layer, self.state, self.state, self.theme, room);
                page.blocks.extend(blocks.into_iter().map(facts::indented));
            }
        }
    }

    /// All about the selected layer.
    fn pane(&self, layer: &StackNode<'a>, room: usize) -> Page {
        let mut page = Page::default();
        let title = text::wrap(&layer.title(), room);
        let heading = self.theme.style(TextRole::Heading);
        let mut details = Details::new(self.theme, room);
        details
            .lines
            .extend(title.into_iter().map(|row| Line::styled(row, heading)));
        layer
            .about()
            .into_iter()
            .for_each(|says| details.paragraph(says));
        page.text(details.lines);
        let beside = self.state.beside();
        page.blocks.extend(
            self.facts(layer)
                .blocks(layer, self.state, &beside, self.theme, room),
        );
        page
    }
}
