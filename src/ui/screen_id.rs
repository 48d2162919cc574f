//! The screens by their names: tabs and keys. What each of them shows is in [`super::screen`].

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
}
