//! The screens: each turns what is known into a page. They do not know each other; opening another one is asked for by name.

mod advice;
mod details;
mod overview;
mod price;
mod probe;
mod step;
mod unknown;
mod what_if;

#[cfg(test)]
pub use advice::step_key;

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
}

impl ScreenId {
    /// All of them, in the order of their tabs and digits.
    pub const ALL: [Self; 3] = [Self::Overview, Self::Probe, Self::Advice];

    /// Its name on the tab.
    pub fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Probe => "Probe",
            Self::Advice => "Advice",
        }
    }

    /// The key that opens it.
    pub fn digit(self) -> &'static str {
        match self {
            Self::Overview => "1",
            Self::Probe => "3",
            Self::Advice => "4",
        }
    }

    /// What it shows in so many columns.
    pub fn page(self, data: &Data, state: &PageState, room: usize) -> Page {
        match self {
            Self::Overview => overview::page(data, state, room),
            Self::Probe => probe::page(data, room),
            Self::Advice => advice::page(data, state, room),
        }
    }
}
