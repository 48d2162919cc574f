//! The screens: each turns the data into a page. They do not know each other; another one is opened by its name.

mod details;
mod export;
mod price;
mod probe;
mod rules;
mod step;
mod storage;
mod unknown;
mod what_if;
mod advice;
mod overview;

#[cfg(test)]
pub use advice::step_key;

use ratatui::text::Line;

use super::model::Data;
use super::page::{Page, PageState};
use super::theme::{TextRole, Theme};

/// So many things to do, or missing facts, are shown before the rest is only counted.
const MOST: usize = 8;

/// Which screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScreenId {
    /// The answer, what to do first, the price of a commit, what is not known.
    Overview,
    /// The stack, layer by layer, with every fact of it.
    Storage,
    /// What a commit costs, while it is measured and afterwards.
    Probe,
    /// The plan with its reasons, and what cannot be decided.
    Advice,
    /// Every rule with what it came to and why.
    Rules,
    /// The report as a document: seen before, saved, copied.
    Export,
}

impl ScreenId {
    /// All of them, in the order of their tabs and digits.
    pub const ALL: [Self; 6] =
        [Self::Overview, Self::Storage, Self::Probe, Self::Advice, Self::Rules, Self::Export];

    /// Its name on the tab.
    pub fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Storage => "Storage",
            Self::Probe => "Probe",
            Self::Advice => "Advice",
            Self::Rules => "Rules",
            Self::Export => "Export",
        }
    }

    /// The key that opens it.
    pub fn digit(self) -> &'static str {
        match self {
            Self::Overview => "1",
            Self::Storage => "2",
            Self::Probe => "3",
            Self::Advice => "4",
            Self::Rules => "5",
            Self::Export => "6",
        }
    }

    /// Whether it has so much that one has to look for things; it then looks in more than it shows.
    pub fn has_much(self) -> bool {
        matches!(self, Self::Storage | Self::Rules)
    }

    /// Whether it can show only what is unknown.
    pub fn has_unknowns(self) -> bool {
        self == Self::Storage
    }

    /// What it shows in so many columns.
    pub fn page(self, data: &Data, state: &PageState, room: usize) -> Page {
        let mut page = match self {
            Self::Overview => overview::page(data, state, room),
            Self::Storage => storage::page(data, state, room),
            Self::Probe => probe::page(data, state, room),
            Self::Advice => advice::page(data, state, room),
            Self::Rules => rules::page(data, state, room),
            Self::Export => export::page(data, state, room),
        };
        if !self.has_much() && data.complete && state.is_searching() {
            page.find(|said| state.passes(said));
            if page.blocks.is_empty() {
                page.text(vec![Line::styled("Nothing has these words.", data.theme.style(TextRole::Dim))]);
            }
        }
        page
    }
}

/// How many were left out of a list.
fn rest(page: &mut Page, theme: Theme, all: usize, what: &str) {
    let advice = ScreenId::Advice.digit();
    let left = all.saturating_sub(MOST);
    if left > 0 {
        page.text(vec![Line::styled(
            format!("and {left} more: {advice} {what}"),
            theme.style(TextRole::Dim),
        )]);
    }
}
