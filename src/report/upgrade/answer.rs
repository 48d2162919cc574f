//! What becomes of something that the next boot needs: the one scale on which needs and what they stand on are told.

use schemars::JsonSchema;
use serde::Serialize;

/// What becomes of something that the next boot needs, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It works as it is.
    Works,
    /// It works, and something that is written there does nothing any more.
    WorksAndLoses,
    /// It cannot be told before it is tried.
    CannotBeTold,
    /// It will not mount, or the machine will not boot.
    Fails,
}

impl Answer {
    /// Whether it works as it is.
    pub fn is_works(self) -> bool {
        match self {
            Self::Works => true,
            Self::WorksAndLoses | Self::CannotBeTold | Self::Fails => false,
        }
    }
}
