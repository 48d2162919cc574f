//! The screens: each turns what is known into a page. They do not know each other; opening another one is asked for by name.

mod advice;
mod details;
mod export;
mod overview;
mod price;
mod probe;

use super::model::Data;
use super::page::{Page, PageState};

/// Which screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScreenId {
    /// The answer, what to do first, the price of a commit, what is not known.
    Overview,
    /// What a commit costs, while it is measured and afterwards.
    Probe,
    /// The plan with its reasons, and what cannot be decided.
    Advice,
    /// The report as a document: seen before, saved, copied.
    Export,
}

impl ScreenId {
    /// All of them, in the order of their tabs and digits.
    pub const ALL: [Self; 4] = [Self::Overview, Self::Probe, Self::Advice, Self::Export];

    /// Its name on the tab.
    pub fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Probe => "Probe",
            Self::Advice => "Advice",
            Self::Export => "Export",
        }
    }

    /// The key that opens it.
    pub fn digit(self) -> &'static str {
        match self {
            Self::Overview => "1",
            Self::Probe => "2",
            Self::Advice => "3",
            Self::Export => "6",
        }
    }

    /// What it shows in so many columns.
    pub fn page(self, data: &Data, state: &PageState, room: usize) -> Page {
        match self {
            Self::Overview => overview::page(data, state, room),
            Self::Probe => probe::page(data, room),
            Self::Advice => advice::page(data, state, room),
            Self::Export => export::page(data, state, room),
        }
    }
}
