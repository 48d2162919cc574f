//! The order in which targets are shown: the most urgent one first.

use std::collections::BTreeSet;

use crate::facts::{Scope, Subject};
use crate::report::{Report, Urgency};
use crate::rules::{Level, Outcome};

/// Positions of the report's targets, worst first, and in the report's order among equals.
pub fn worst_first(report: &Report) -> Vec<usize> {
    let critical = critical(report);
    let mut order: Vec<(Urgency, usize)> = report
        .targets
        .iter()
        .enumerate()
        .map(|(at, target)| {
            let has_critical = || target.subjects.iter().any(|subject| critical.contains(subject));
            (report.urgency(target, has_critical), at)
        })
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, at)| at).collect()
}

/// The subjects of critical findings, without the host, which would make all targets equal.
fn critical(report: &Report) -> BTreeSet<&Subject> {
    report
        .findings
        .iter()
        .filter(|finding| finding.level == Level::Critical && finding.outcome == Outcome::Applies)
        .map(|finding| &finding.subject)
        .filter(|subject| subject.scope() != Scope::Host)
        .collect()
}
