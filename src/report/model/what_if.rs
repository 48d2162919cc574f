//! What would be different under assumed facts, as a part of the report of the real machine. It is found in
//! [`crate::report::what_if`].

use serde::Serialize;

use super::difference::Difference;
use crate::facts::{Reading, Subject, Value};

/// What would be different, and because of what.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WhatIf {
    /// What is assumed.
    pub assumed: Vec<Assumed>,
    /// What is different then; `before` is the machine as it is. Values of *now* are assumed, or follow from what is.
    pub difference: Difference,
    /// Steps of plans that come or go.
    pub steps: Vec<StepChange>,
    /// Advice that can lose data, and would be offered if what is assumed had been seen and measured on this machine.
    pub would_be_offered: Vec<WouldBeOffered>,
}

impl WhatIf {
    /// Whether nothing differs.
    pub fn changes_nothing(&self) -> bool {
        let assumed = |subject: &Subject, fact: &str| {
            self.assumed.iter().any(|one| one.subject == *subject && one.fact == fact)
        };
        let Difference { gone, appeared, verdicts, findings, facts, .. } = &self.difference;
        gone.is_empty()
            && appeared.is_empty()
            && verdicts.is_empty()
            && findings.is_empty()
            && facts.iter().all(|change| assumed(&change.subject, change.fact))
            && self.steps.is_empty()
            && self.would_be_offered.is_empty()
    }
}

/// A fact that is assumed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Assumed {
    /// What it is about.
    pub subject: Subject,
    /// Its name.
    pub fact: String,
    /// What it is assumed to be.
    pub value: Value,
    /// What is known of it.
    pub really: Reading<Value>,
}

impl Assumed {
    /// *stated* for an unknown fact, else *assumed*; neither opens anything that can lose data.
    pub fn word(&self) -> &'static str {
        if self.really.is_known() { "assumed" } else { "stated" }
    }
}

/// A step of a plan that only one of both has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StepChange {
    /// Of whose plan.
    pub target: Subject,
    /// Whether it is in the plan then; it is in the real one otherwise.
    pub comes: bool,
    /// On what.
    pub subject: Subject,
    /// The setting and what to do to it.
    pub advice: String,
}

/// Advice that can lose data and is not given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WouldBeOffered {
    /// The rule that would give it.
    pub rule: String,
    /// On what.
    pub subject: Subject,
    /// The setting and what it would be.
    pub advice: String,
    /// What it would cost.
    #[serde(rename = "tradeoff", skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
}
