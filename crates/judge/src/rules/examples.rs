//! Runs the examples of rules, which are their tests.
//!
//! An example becomes a small fact set: the rule's subject, one linked subject for every scope of
//! its facts, and the stack it lists. The linked subjects are not part of the stack, so quantifiers
//! find exactly the elements that the example lists (and the subject itself, where it is a device
//! or a mount).

use std::fmt;

use super::advise::Circumstances;
use super::evaluate::evaluate_one;
use super::explain;
use super::model::{Example, ExampleStack, Expect, Given, Rule};
use super::{Finding, Outcome};
use crate::facts::{FactSet, Scope, Subject};
use crate::text::page::TextBuilder;

/// An example with another outcome than it states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub rule: String,
    /// Where the example stands: `file:line`.
    pub place: String,
    pub example: String,
    pub problem: String,
    /// The condition with the readings, as lines.
    pub trace: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} of {}: “{}”", self.place, self.rule, self.example)?;
        writeln!(f, "  {}", self.problem)?;
        f.write_str(&self.trace)
    }
}

/// Runs the examples of all these rules; an empty list is success.
pub fn run(rules: &[Rule]) -> Vec<Failure> {
    let of_rule = |rule| {
        let rule: &Rule = rule;
        rule.examples
            .iter()
            .filter_map(move |example| run_one(rule, example))
    };
    rules.iter().flat_map(of_rule).collect()
}

fn run_one(rule: &Rule, example: &Example) -> Option<Failure> {
    let finding = finding(rule, example);
    problem(&finding, example).map(|problem| Failure {
        rule: rule.id.clone(),
        place: format!("{}:{}", rule.file, example.line),
        example: example.name.clone(),
        problem,
        trace: drawn(&finding),
    })
}

/// The trace of a finding as text.
fn drawn(finding: &Finding) -> String {
    let mut page = TextBuilder::default();
    if let Some(trace) = &finding.trace {
        explain::lines(&mut page, 2, trace);
    }
    page.finish()
}

/// The finding of the rule on an example.
pub(super) fn finding(rule: &Rule, example: &Example) -> Finding {
    let (subject, facts) = machine(rule, example);
    evaluate_one(
        rule,
        &facts,
        &subject,
        Circumstances {
            live: true,
            traced: true,
        },
    )
}

/// The machine of an example: the rule's subject, and all facts.
pub(super) fn machine(rule: &Rule, example: &Example) -> (Subject, FactSet) {
    let subject = subject(rule.scope, "example");
    let facts = facts(example, &subject);
    (subject, facts)
}

fn problem(finding: &Finding, example: &Example) -> Option<String> {
    let outcome = match finding.outcome {
        Outcome::Applies => Expect::Applies,
        Outcome::DoesNotApply => Expect::DoesNotApply,
        Outcome::Undecided { .. } => Expect::Undecided,
    };
    if outcome != example.expect {
        return Some(format!(
            "expected “{}”, came out as “{}”",
            example.expect.word(),
            outcome.word()
        ));
    }
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names.dedup();
        names
    };
    let wanted = sorted(example.advise.clone()?);
    let advised = sorted(
        finding
            .advice
            .iter()
            .map(|advice| advice.setting.name.to_owned())
            .collect(),
    );
    (wanted != advised).then(|| {
        format!(
            "expected advice on [{}], got [{}]",
            wanted.join(", "),
            advised.join(", ")
        )
    })
}

fn subject(scope: Scope, name: &str) -> Subject {
    match scope {
        Scope::Host => Subject::host(),
        Scope::Device => Subject::device(name),
        Scope::Mount => Subject::mount(name),
        Scope::Boot => Subject::boot(name),
        Scope::Cluster => Subject::cluster(name),
        Scope::Target => Subject::target(name),
    }
}

/// The facts that an example gives this subject.
fn facts(example: &Example, about: &Subject) -> FactSet {
    let mut set = FactSet::default();
    set.mention(about);
    for (fact, reading) in &example.facts {
        let of = if fact.scope == about.scope() {
            about.clone()
        } else {
            subject(fact.scope, "linked")
        };
        set.link(about, &of);
        set.put_value(&of, fact, reading.clone());
    }
    if let Some(stack) = &example.stack {
        build(&mut set, about, stack);
    }
    set
}

/// Stacks the subject on its file systems, those on the layers, and those on the disks, in
/// sequence.
fn build(set: &mut FactSet, about: &Subject, stack: &ExampleStack) {
    let mut bottom = about.clone();
    let above = [
        ("mount", Scope::Mount, &stack.mounts),
        ("layer", Scope::Device, &stack.layers),
    ];
    for (kind, scope, elements) in above {
        for (index, given) in elements.iter().enumerate() {
            let next = element(set, subject(scope, &format!("{kind} {}", index + 1)), given);
            set.stand(&bottom, &next);
            bottom = next;
        }
    }
    for (index, given) in stack.leaves.iter().enumerate() {
        let leaf = element(set, Subject::device(format!("leaf {}", index + 1)), given);
        set.stand(&bottom, &leaf);
    }
    // A stack that is listed is complete: its last file system stands on a disk without any known
    // fact.
    if stack.leaves.is_empty() && bottom.scope() == Scope::Mount {
        let disk = element(set, Subject::device("disk"), &[]);
        set.stand(&bottom, &disk);
    }
}

fn element(set: &mut FactSet, element: Subject, given: &[Given]) -> Subject {
    set.mention(&element);
    for (fact, reading) in given {
        set.put_value(&element, fact, reading.clone());
    }
    element
}
