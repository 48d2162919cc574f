//! The parts of a script for advice outside all targets: for the host as a whole, and for other subjects.
//!
//! Every command is a comment, as for mounted file systems. If one target was asked for, advice about other subjects is
//! omitted; the text only counts it.

use std::collections::BTreeSet;

use super::existing;
use crate::facts::{Scope, Subject};
use crate::quote::comment;
use crate::report::{Report, Step};
use crate::rules::{Advice, Finding, Level, Outcome};

/// A part for the host and one for the rest, each only where there is advice.
pub fn parts(report: &Report) -> Vec<String> {
    let known: BTreeSet<&Subject> = report.targets.iter().flat_map(|target| &target.subjects).collect();
    let advised = |finding: &&Finding| match finding.outcome {
        Outcome::Applies => finding.level > Level::Option && !known.contains(&finding.subject),
        Outcome::DoesNotApply | Outcome::Undecided { .. } => false,
    };
    let (host, beside): (Vec<&Finding>, Vec<&Finding>) =
        report.findings.iter().filter(advised).partition(|finding| finding.subject.scope() == Scope::Host);
    let beside = if report.asked.is_none() { beside } else { Vec::new() };
    let parts = [part("this host", &host), part("elsewhere on this host", &beside)];
    parts.into_iter().flatten().collect()
}

fn part(title: &str, findings: &[&Finding]) -> Option<String> {
    let steps = findings.iter().flat_map(|finding| finding.advice.iter().map(|advice| step(finding, advice)));
    let steps: Vec<Step> = steps.filter(|step| !step.keeps()).collect();
    let told: String = (1..).zip(&steps).map(|(number, step)| existing::one(number, step)).collect();
    (!steps.is_empty()).then(|| {
        format!(
            "\n# ==== {} ====\n# Remove the # before the commands that you want to run.\n{told}",
            comment::inline(title)
        )
    })
}

/// Advice of no plan as a step of its own.
fn step(finding: &Finding, advice: &Advice) -> Step {
    Step {
        basis: finding.basis,
        subject: finding.subject.clone(),
        level: finding.level,
        confidence: finding.confidence,
        rules: vec![finding.rule.clone()],
        title: finding.title.clone(),
        advice: advice.clone(),
        result: None,
        alternatives: Vec::new(),
    }
}
