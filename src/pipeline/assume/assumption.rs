//! An assumed fact, as a value.

use crate::facts::{KeyInfo, Subject, Value};

/// An assumed fact.
#[derive(Clone, Debug)]
pub struct Assumption {
    /// What it is about.
    pub subject: Subject,
    /// Which fact.
    pub key: &'static KeyInfo,
    /// Its assumed value.
    pub value: Value,
}
