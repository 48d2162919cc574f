//! Keeps a report readable where a stack is larger than any that somebody built.
//!
//! Of the layers that are too many it leaves out what nobody would look for: facts, where rules do not apply, and their
//! part in explanations. Findings that apply stay, and so many of each rule's undecided ones that no exit code changes;
//! what is left out is counted. The surprise: layers that decide the verdict stay however deep they lie.

use std::collections::{BTreeMap, BTreeSet};

use super::{Report, Stack};
use crate::facts::note::RunNote;
use crate::facts::{Note, Subject};
use crate::rules::{Finding, Outcome, Trace};

/// How many layers of a stack are shown; besides these as many again that decide the verdict.
const LAYERS: usize = 128;

/// How many sub-conditions of one condition are shown, and how many ways to settle an undecided one.
const KIDS: usize = LAYERS;

/// Leaves out what is too much, and says so.
pub fn bound(report: &mut Report) {
    let (mut hidden, mut shown) = (BTreeSet::new(), BTreeSet::new());
    for stack in &mut report.stacks {
        let left_out = shorten(stack);
        if !left_out.is_empty() {
            report.warnings.push(Note::from(RunNote::LayersBeyondBound {
                target: stack.target.name().to_owned(),
                layers: stack.layers.len() + left_out.len(),
                hidden: left_out.len(),
            }));
        }
        hidden.extend(left_out);
        shown.extend(stack.layers.iter().map(|layer| layer.subject.clone()));
    }
    hidden.retain(|subject| !shown.contains(subject));
    if hidden.is_empty() {
        return;
    }
    for subject in &hidden {
        report.facts.forget(subject);
    }
    for tally in &mut report.rules {
        tally.does_not_apply.retain(|subject| !hidden.contains(subject));
    }
    let mut undecided: BTreeMap<String, usize> = BTreeMap::new();
    report.findings.retain(|finding| match finding.outcome {
        _ if !hidden.contains(&finding.subject) => true,
        Outcome::Applies => true,
        Outcome::DoesNotApply => false,
        Outcome::Undecided { .. } => {
            let count = undecided.entry(finding.rule.clone()).or_default();
            *count += 1;
            *count <= KIDS
        }
    });
    for Finding { trace, outcome, .. } in &mut report.findings {
        trace.iter_mut().for_each(prune);
        if let Outcome::Undecided { needs } = outcome {
            needs.truncate(KIDS);
        }
    }
}

/// Takes the layers out of a stack that are too many, and returns them.
fn shorten(stack: &mut Stack) -> Vec<Subject> {
    let (mut weakest, mut left_out) = (0, Vec::new());
    let mut at = 0;
    stack.layers.retain(|layer| {
        at += 1;
        weakest += usize::from(layer.weakest);
        let stays = at <= LAYERS || layer.weakest && weakest <= LAYERS;
        if !stays {
            left_out.push(layer.subject.clone());
        }
        stays
    });
    stack.left_out = Some(left_out.len()).filter(|count| *count > 0);
    left_out
}

/// Keeps of each condition the sub-conditions that make it what it is, then others, up to a number.
fn prune(trace: &mut Trace) {
    let truth = trace.truth;
    if trace.kids.len() > KIDS {
        let more = trace.kids.len() - KIDS;
        // Stable: those that decide keep their order among themselves.
        trace.kids.sort_by_key(|kid| kid.truth != truth);
        trace.kids.truncate(KIDS);
        let label = format!("{more} more are left out of this report");
        trace.kids.push(Trace { label, truth, seen: None, kids: Vec::new() });
    }
    for kid in &mut trace.kids {
        prune(kid);
    }
}
