//! The screens by name, with tabs and keys. [`super::screen`] builds their pages.

/// In the order of the tabs.
const DIGITS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// Defines the enum and the list of all screens, in tab order, from one row each.
macro_rules! screens {
    ($($(#[$doc:meta])* $screen:ident)*) => {
        /// A screen.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ScreenId {
            $($(#[$doc])* $screen,)*
        }

        impl ScreenId {
            /// In tab order.
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
    /// Verdict, fixes, commit latency, unknown facts.
    Overview
    /// The stack, layer by layer, with every fact.
    Storage
    /// Commit latency, during a measurement and afterwards.
    Probe
    /// The plan with its reasons, and undecided rules.
    Advice
    /// Every rule with its result and trace.
    Rules
    /// The report as a document: previewed, saved, copied.
    Export
}

impl ScreenId {
    pub fn digit(self) -> &'static str {
        let mut tabs = Self::ALL.into_iter().zip(DIGITS);
        tabs.find_map(|(screen, digit)| (screen == self).then_some(digit))
            .unwrap_or_default()
    }

    /// Whether it has so many rows that a search must cover folded ones, too.
    pub fn has_much(self) -> bool {
        matches!(self, Self::Storage | Self::Rules)
    }

    /// Whether its content depends on the selected row, as with a pane.
    pub fn follows_selection(self) -> bool {
        self == Self::Storage
    }

    /// Whether it can show only unknown facts.
    pub fn has_unknowns(self) -> bool {
        self == Self::Storage
    }
}
