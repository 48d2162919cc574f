const DIGITS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

macro_rules! screens {
    ($($(#[$doc:meta])* $screen:ident)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
        pub enum ScreenId {
            $($(#[$doc])* $screen,)*
        }

        impl ScreenId {
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
    #[default]
    Overview
    Storage
    Probe
    Advice
    Rules
    Export
    Changes
}

impl ScreenId {
    pub fn digit_key(self) -> &'static str {
        let mut tabs = Self::ALL.into_iter().zip(DIGITS);
        tabs.find_map(|(screen, digit)| (screen == self).then_some(digit))
            .unwrap_or_default()
    }

    /// Whether the screen applies the filter itself: its filter also searches text that the rows
    /// omit.
    pub fn has_own_filter(self) -> bool {
        matches!(self, Self::Storage | Self::Rules | Self::Export)
    }

    pub fn can_hide_known_facts(self) -> bool {
        self == Self::Storage
    }
}
