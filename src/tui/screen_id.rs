//! Names, tabs and keys of the screens. [`super::screen`] builds the pages.

const DIGITS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// Defines the enum and the list of all screens from one row per screen, in tab order.
macro_rules! screens {
    ($($(#[$doc:meta])* $screen:ident)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ScreenId {
            $($(#[$doc])* $screen,)*
        }

        impl ScreenId {
            /// In tab order.
            pub const ALL: [Self; [$(Self::$screen),*].len()] = [$(Self::$screen),*];

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
    /// Stack below the target, layer by layer, with every fact.
    Storage
    /// Commit latency, during a measurement and afterwards.
    Probe
    /// Plan with its reasons, and undecided rules.
    Advice
    /// Every rule with its result and trace.
    Rules
    /// Report as a document to preview, save or copy.
    Export
}

impl ScreenId {
    pub fn digit(self) -> &'static str {
        let mut tabs = Self::ALL.into_iter().zip(DIGITS);
        tabs.find_map(|(screen, digit)| (screen == self).then_some(digit))
            .unwrap_or_default()
    }

    /// True for screens with so many rows that a filter must also find folded rows.
    pub fn has_many_rows(self) -> bool {
        matches!(self, Self::Storage | Self::Rules)
    }

    /// True if the selected row determines other parts of the page, such as the pane.
    pub fn depends_on_selection(self) -> bool {
        self == Self::Storage
    }

    /// True if the screen can hide all facts except unknown ones.
    pub fn can_hide_known_facts(self) -> bool {
        self == Self::Storage
    }
}
