//! What is supposed, and the machine that would be: values only. How they are chosen is in [`super::what_if`].

use crate::facts::Subject;
use crate::report::{Report, WhatIf};

/// A fact with an assumed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supposition {
    pub subject: Subject,
    pub fact: &'static str,
    /// Its assumed value, as typed.
    pub value: String,
}

impl Supposition {
    /// Whether it is about this fact of this subject.
    pub fn is_of(&self, subject: &Subject, fact: &str) -> bool {
        self.subject == *subject && self.fact == fact
    }
}

/// A machine that is supposed, beside the real one. Nothing of it enters plans, exports or the exit code.
#[derive(Clone, Debug, PartialEq)]
pub struct Supposed {
    pub suppositions: Vec<Supposition>,
    pub what_if: WhatIf,
    /// Its report, for the reasons of what would be found.
    pub report: Report,
}
