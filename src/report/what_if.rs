//! The differences under assumed facts: a part of the report of the real machine, which stays unchanged.
//!
//! Plans, exports and the exit code are those of the observed machine. Advice that can lose data is only named as
//! *would be offered*, without commands, because it requires observed facts.

use std::collections::BTreeSet;

use super::difference::{Kept, difference};
use super::model::Report;
use super::model::difference::Class;
use super::model::what_if::{Assumed, StepChange, WhatIf, WouldBeOffered};
use crate::facts::{Subject, catalog};
use crate::rules::{Finding, Risk};

/// Whether this fact can be assumed at all: conclusions change only through the facts they follow from.
pub fn can_be_assumed(fact: &str) -> bool {
    !catalog::find(fact).is_some_and(|key| key.is_judged)
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
