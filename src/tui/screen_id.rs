//! The screens by their names: tabs and keys. What each of them shows is in [`super::screen`].

/// The keys that open screens, in the order of the tabs.
const DIGITS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// The choice and the list of all, in the order of their tabs, from one row each.
macro_rules! screens {
    ($($(#[$doc:meta])* $screen:ident)*) => {
        /// Which screen.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ScreenId {
            $($(#[$doc])* $screen,)*
        }

        impl ScreenId {
            /// All of them, in the order of their tabs and digits.
            pub const ALL: [Self; [$(Self::$screen),*].len()] = [$(Self::$screen),*];

            /// Its name on the tab.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$screen => stringify!($screen),)*
                }
            }
        }
    };
}

screens! {
    /// The answer, what to do first, the price of a commit, what is not known.
    Overview
    /// The stack, layer by layer, with every fact of it.
    Storage
    /// What a commit costs, while it is measured and afterwards.
    Probe
    /// The plan with its reasons, and what cannot be decided.
    Advice
    /// Every rule with what it came to and why.
    Rules
    /// The report as a document: seen before, saved, copied.
    Export
}

impl ScreenId {
    /// The key that opens it.
    pub fn digit(self) -> &'static str {
        let mut tabs = Self::ALL.into_iter().zip(DIGITS);
        tabs.find_map(|(screen, digit)| (screen == self).then_some(digit))
            .unwrap_or_default()
    }

    /// Whether it has so much that one has to look for things; it then looks in more than it shows.
    pub fn has_much(self) -> bool {
        matches!(self, Self::Storage | Self::Rules)
    }

    /// Whether it shows something else when another line is selected, as a pane beside its list
    /// does.
    pub fn follows_selection(self) -> bool {
        self == Self::Storage
    }

    /// Whether it can show only what is unknown.
    pub fn has_unknowns(self) -> bool {
        self == Self::Storage
    }
}
