//! What becomes of an option, and what the table says of it.

use serde::{Deserialize, Serialize};

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It is accepted and heeded.
    Ok,
    /// It is accepted, and things would be the same without it.
    #[serde(rename = "default anyway")]
    DefaultAnyway,
    /// It is accepted and ignored.
    #[serde(rename = "no effect")]
    NoEffect,
    /// It is accepted with a warning, and will go.
    Deprecated,
    /// It is refused: the mount fails, the server does not start, the tool stops.
    Refused,
    /// It cannot be said.
    Unknown,
}

impl Effect {
    /// Whether it is accepted and heeded.
    pub fn is_ok(self) -> bool {
        matches!(self, Self::Ok)
    }

    /// Whether it is refused.
    pub fn is_refused(self) -> bool {
        matches!(self, Self::Refused)
    }

    /// Whether the ruling is unknown.
    pub fn is_unknown(self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// Whether it is accepted without objection.
    pub fn is_right(self) -> bool {
        matches!(self, Self::Ok | Self::DefaultAnyway)
    }

    /// Whether the ruling deserves a remark.
    pub fn is_wrong(self) -> bool {
        matches!(self, Self::NoEffect | Self::Deprecated | Self::Refused)
    }

    /// The word in JSON and on screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::DefaultAnyway => "default anyway",
            Self::NoEffect => "no effect",
            Self::Deprecated => "deprecated",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }
}

/// What the table says of an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ruling {
    /// What becomes of it.
    pub effect: Effect,
    /// Why, or why it cannot be said; a sentence, empty where there is nothing to say.
    pub because: String,
    /// The public source.
    pub source: String,
}

impl Ruling {
    /// The ruling on an unknown option, with the reason.
    pub fn unknown(because: impl Into<String>) -> Self {
        Self { effect: Effect::Unknown, because: because.into(), source: String::new() }
    }

    /// The ruling on an accepted option, without a remark.
    pub fn ok(source: impl Into<String>) -> Self {
        Self { effect: Effect::Ok, because: String::new(), source: source.into() }
    }

    /// The ruling on an option that this very kernel shows in force.
    pub fn seen(effect: Effect) -> Self {
        let because = "This kernel has the file system mounted with it now.".to_owned();
        Self { effect, because, source: "/proc/self/mountinfo".to_owned() }
    }
}
