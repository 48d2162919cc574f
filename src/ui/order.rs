//! In which order targets are shown: the one that needs somebody most first. What makes it so is decided elsewhere; this
//! only compares.

use std::collections::BTreeSet;

use crate::durability::Standing;
use crate::facts::{Scope, Subject};
use crate::report::{Report, TargetSummary};
use crate::rules::{Level, Outcome};

/// How much a target needs somebody, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    AtRisk,
    Contradictory,
    Critical,
    Unproven,
    Durable,
    /// A directory that does not exist yet.
    Unmade,
    BlankDisk,
}

/// Positions of the report's targets, worst first, and as in the report where none is worse.
pub fn worst_first(report: &Report) -> Vec<usize> {
    let critical = critical(report);
    let mut order: Vec<(Urgency, usize)> = report
        .targets
        .iter()
        .enumerate()
        .map(|(at, target)| (urgency(report, target, &critical), at))
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, at)| at).collect()
}

/// What critical findings are about, apart from the host, which would make every target the same.
fn critical(report: &Report) -> BTreeSet<&Subject> {
    report
        .findings
        .iter()
        .filter(|finding| finding.level == Level::Critical && finding.outcome == Outcome::Applies)
        .map(|finding| &finding.subject)
        .filter(|subject| subject.scope() != Scope::Host)
        .collect()
}

fn urgency(report: &Report, target: &TargetSummary, critical: &BTreeSet<&Subject>) -> Urgency {
    if target.kind == "device" {
        return Urgency::BlankDisk;
    }
    let standing = report.verdict(&target.target).map(|verdict| verdict.standing);
    match standing {
        Some(Standing::AtRisk) => Urgency::AtRisk,
        Some(Standing::Contradictory) => Urgency::Contradictory,
        _ if target.subjects.iter().any(|subject| critical.contains(subject)) => Urgency::Critical,
        Some(Standing::Unproven) => Urgency::Unproven,
        Some(Standing::Durable) => Urgency::Durable,
        None => Urgency::Unmade,
    }
}
