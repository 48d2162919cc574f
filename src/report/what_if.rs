//! The differences under assumed facts: a part of the report of the real machine, which stays unchanged.
//!
//! Plans, exports and the exit code are those of the observed machine. Advice that can lose data is only named as
//! *would be offered*, without commands, because it requires observed facts.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::Report;
use super::difference::{Class, Difference, Kept, difference};
use crate::facts::{Reading, Subject, Value, catalog};
use crate::rules::{Finding, Risk};

/// Whether this fact can be assumed at all: conclusions change only through the facts they follow from.
pub fn can_be_assumed(fact: &str) -> bool {
    !catalog::find(fact).is_some_and(|key| key.supposing.is_judged())
}

/// What would be different, and because of what.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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

/// A fact that is assumed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct WouldBeOffered {
    /// The rule that would give it.
    pub rule: String,
    /// On what.
    pub subject: Subject,
    /// The setting and what it would be.
    pub advice: String,
    /// What it would cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
}

impl WhatIf {
    /// The differences between the real machine and the assumed one; `pretended` is the assumed one as if the
    /// assumptions had been observed.
    pub fn new(assumed: Vec<Assumed>, real: &Report, supposed: &Report, pretended: &Report) -> Self {
        let mut difference = difference(&Kept::from_report(real), &Kept::from_report(supposed));
        difference.findings.retain(|finding| finding.class != Class::Same);
        let (before, now) = (steps(real), steps(supposed));
        let gone = before.difference(&now).map(|step| change(step, false));
        let mut steps: Vec<StepChange> = now.difference(&before).map(|step| change(step, true)).collect();
        steps.extend(gone);
        steps.sort();
        let given = dangerous(real);
        let mut would_be_offered = dangerous(pretended);
        would_be_offered.retain(|offer| !given.contains(offer));
        Self { assumed, difference, steps, would_be_offered }
    }

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

/// Every step by target, subject and change.
fn steps(report: &Report) -> BTreeSet<(Subject, Subject, String)> {
    let plans = report.plans.iter();
    let steps = plans.flat_map(|plan| plan.steps.iter().map(move |step| (&plan.target, step)));
    steps
        .map(|(target, step)| {
            let advice = format!("{}: {}", step.advice.setting, step.advice.change.words());
            (target.clone(), step.subject.clone(), advice)
        })
        .collect()
}

fn change((target, subject, advice): &(Subject, Subject, String), comes: bool) -> StepChange {
    StepChange { target: target.clone(), comes, subject: subject.clone(), advice: advice.clone() }
}

/// Everything in a report that can lose data.
fn dangerous(report: &Report) -> Vec<WouldBeOffered> {
    let of = |finding: &Finding| {
        let risky = finding.advice.iter().filter(|advice| advice.risk == Risk::DataLossIfWrong);
        let offers = risky.map(|advice| WouldBeOffered {
            rule: finding.rule.clone(),
            subject: finding.subject.clone(),
            advice: format!("{}: {}", advice.setting, advice.change.words()),
            price: advice.price.clone(),
        });
        offers.collect::<Vec<_>>()
    };
    let mut all: Vec<WouldBeOffered> = report.findings.iter().flat_map(of).collect();
    all.sort();
    all
}
