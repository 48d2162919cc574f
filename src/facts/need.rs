//! A fact that is missing, and what would supply it.

use serde::Serialize;

use super::{Reading, Remedy, Subject, Value, Why};

/// A fact that would settle something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Need {
    /// What it is about.
    pub subject: Subject,
    /// The fact's name.
    pub fact: String,
    /// Why it is not known.
    pub why: Why,
    /// What happened when it was read.
    pub detail: String,
    /// What would supply it.
    #[serde(rename = "fix", skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
}

impl Need {
    /// The need for a fact whose reading is unknown; `None` for a known one.
    pub fn from_reading(subject: &Subject, fact: &str, reading: &Reading<Value>) -> Option<Self> {
        match reading {
            Reading::Known { .. } => None,
            Reading::Unknown { why, detail, remedy } => Some(Self {
                subject: subject.clone(),
                fact: fact.to_owned(),
                why: *why,
                detail: detail.clone(),
                remedy: remedy.clone(),
            }),
        }
    }
}
