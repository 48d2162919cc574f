//! Keeps a report readable if a stack has more layers than any real one.
//!
//! Layers beyond the limit lose their facts and all findings that do not apply. Findings that apply
//! stay. Enough undecided findings stay to leave every exit code unchanged.

use std::collections::{BTreeMap, BTreeSet};

use super::{Report, Stack};
use walwise_judge::rules::{ConditionTrace, Finding, Outcome};
use walwise_model::facts::{Note, Subject};

/// The number of layers shown for a stack. A deeper layer is shown only if it is among the first
/// `MAX_LAYERS` layers that decide the verdict.
const MAX_LAYERS: usize = 128;

/// Limit on the sub-conditions of a condition, on a finding's alternative sets of missing facts,
/// and on a rule's undecided findings about removed layers.
const MAX_CHILDREN: usize = MAX_LAYERS;

pub fn remove_excess_layers(report: &mut Report) {
    let (mut hidden, mut shown) = (BTreeSet::new(), BTreeSet::new());
    for stack in &mut report.stacks {
        let left_out = take_excess_layers(stack);
        if !left_out.is_empty() {
            let hidden = left_out.len();
            report.warnings.push(Note::from(format!(
                "the stack below {} has {} layers; this report omits the facts of {hidden} of them, and most rules that are undecided or do not apply to them",
                stack.target.name(),
                stack.layers.len() + hidden
            )));
        }
        hidden.extend(left_out);
        shown.extend(stack.layers.iter().map(|layer| layer.subject.clone()));
    }
    hidden.retain(|subject| !shown.contains(subject));
    if hidden.is_empty() {
        return;
    }
    for subject in &hidden {
        report.facts.remove_facts(subject);
    }
    for tally in &mut report.rules {
        tally
            .does_not_apply
            .retain(|subject| !hidden.contains(subject));
    }
    let mut undecided: BTreeMap<String, usize> = BTreeMap::new();
    report.findings.retain(|finding| match finding.outcome {
        _ if !hidden.contains(&finding.subject) => true,
        Outcome::Applies => true,
        Outcome::DoesNotApply => false,
        Outcome::Undecided { .. } => {
            let count = undecided.entry(finding.rule.clone()).or_default();
            *count += 1;
            *count <= MAX_CHILDREN
        }
    });
    for Finding { trace, outcome, .. } in &mut report.findings {
        if let Some(trace) = trace {
            prune_trace(trace);
        }
        if let Outcome::Undecided { needs } = outcome {
            needs.truncate(MAX_CHILDREN);
        }
    }
}

fn take_excess_layers(stack: &mut Stack) -> Vec<Subject> {
    let (mut weakest, mut left_out) = (0, Vec::new());
    let mut at = 0;
    stack.layers.retain(|layer| {
        at += 1;
        weakest += usize::from(layer.weakest);
        let stays = at <= MAX_LAYERS || layer.weakest && weakest <= MAX_LAYERS;
        if !stays {
            left_out.push(layer.subject.clone());
        }
        stays
    });
    stack.left_out = Some(left_out.len()).filter(|count| *count > 0);
    left_out
}

fn prune_trace(trace: &mut ConditionTrace) {
    let truth = trace.truth;
    if trace.kids.len() > MAX_CHILDREN {
        let more = trace.kids.len() - MAX_CHILDREN;
        // The sort is stable, so the sub-conditions that decide the condition keep their order.
        trace.kids.sort_by_key(|kid| kid.truth != truth);
        trace.kids.truncate(MAX_CHILDREN);
        let label = format!("{more} more conditions are omitted from this report");
        trace.kids.push(ConditionTrace {
            label,
            truth,
            seen: None,
            kids: Vec::new(),
        });
    }
    for kid in &mut trace.kids {
        prune_trace(kid);
    }
}
