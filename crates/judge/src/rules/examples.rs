//! Runs the examples of rules, which are their tests.
//!
//! An example becomes a small set of facts: the rule's subject, one linked subject per scope, and
//! the listed stack. Linked subjects are not in the stack.

use std::fmt;

use super::advise::EvaluationOptions;
use super::evaluate::evaluate_rule;
use super::model::{ExampleFact, ExampleStack, Rule, RuleExample};
use super::{Finding, explain};
use crate::facts::{FactSet, Scope, Subject};
use crate::text::page_layout::TextPage;

/// An example whose outcome or advised settings differ from the stated ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleFailure {
    pub rule: String,
    /// Place of the example: `file:line`.
    pub place: String,
    pub example: String,
    pub problem: String,
    pub trace: String,
}

impl fmt::Display for ExampleFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: rule {}, example “{}”",
            self.place, self.rule, self.example
        )?;
        writeln!(f, "  {}", self.problem)?;
        f.write_str(&self.trace)
    }
}

pub fn failures_of_rule_examples(rules: &[Rule]) -> Vec<ExampleFailure> {
    let of_rule = |rule| {
        let rule: &Rule = rule;
        rule.examples
            .iter()
            .filter_map(move |example| failure_of_example(rule, example))
    };
    rules.iter().flat_map(of_rule).collect()
}

fn failure_of_example(rule: &Rule, example: &RuleExample) -> Option<ExampleFailure> {
    let finding = evaluate_rule_on_example(rule, example);
    expectation_mismatch(&finding, example).map(|problem| ExampleFailure {
        rule: rule.id.clone(),
        place: format!("{}:{}", rule.file, example.line),
        example: example.name.clone(),
        problem,
        trace: trace_text(&finding),
    })
}

fn trace_text(finding: &Finding) -> String {
    let mut page = TextPage::default();
    if let Some(trace) = &finding.trace {
        explain::write_trace(&mut page, 2, trace);
    }
    page.into_text()
}

pub(super) fn evaluate_rule_on_example(rule: &Rule, example: &RuleExample) -> Finding {
    let (subject, facts) = example_subject_and_facts(rule, example);
    evaluate_rule(
        rule,
        &facts,
        &subject,
        EvaluationOptions {
            live: true,
            traced: true,
        },
    )
}

pub(super) fn example_subject_and_facts(rule: &Rule, example: &RuleExample) -> (Subject, FactSet) {
    let subject = subject_of_scope(rule.scope, "example");
    let facts = example_facts(example, &subject);
    (subject, facts)
}

fn expectation_mismatch(finding: &Finding, example: &RuleExample) -> Option<String> {
    let (expected, found) = (example.expect.as_str(), finding.outcome.as_str());
    if found != expected {
        return Some(format!("expected “{expected}”, got “{found}”"));
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

fn subject_of_scope(scope: Scope, name: &str) -> Subject {
    match scope {
        Scope::Host => Subject::host(),
        Scope::Device => Subject::device(name),
        Scope::Mount => Subject::mount(name),
        Scope::Boot => Subject::boot(name),
        Scope::Cluster => Subject::cluster(name),
        Scope::Target => Subject::target(name),
    }
}

fn example_facts(example: &RuleExample, about: &Subject) -> FactSet {
    let mut set = FactSet::default();
    set.add_subject(about);
    for (fact, reading) in &example.facts {
        let of = if fact.scope == about.scope() {
            about.clone()
        } else {
            subject_of_scope(fact.scope, "linked")
        };
        set.set_fact_link(about, &of);
        set.insert_untyped_value(&of, fact, reading.clone());
    }
    if let Some(stack) = &example.stack {
        insert_example_stack(&mut set, about, stack);
    }
    set
}

fn insert_example_stack(set: &mut FactSet, about: &Subject, stack: &ExampleStack) {
    let mut bottom = about.clone();
    let above = [
        ("mount", Scope::Mount, &stack.mounts),
        ("layer", Scope::Device, &stack.layers),
    ];
    for (kind, scope, elements) in above {
        for (index, given) in elements.iter().enumerate() {
            let next = add_stack_element(
                set,
                subject_of_scope(scope, &format!("{kind} {}", index + 1)),
                given,
            );
            set.add_layer_below(&bottom, &next);
            bottom = next;
        }
    }
    for (index, given) in stack.leaves.iter().enumerate() {
        let leaf = add_stack_element(set, Subject::device(format!("leaf {}", index + 1)), given);
        set.add_layer_below(&bottom, &leaf);
    }
    // A listed stack is complete. If it lists no disk, its last file system gets a disk without
    // known facts.
    if stack.leaves.is_empty() && bottom.scope() == Scope::Mount {
        let disk = add_stack_element(set, Subject::device("disk"), &[]);
        set.add_layer_below(&bottom, &disk);
    }
}

fn add_stack_element(set: &mut FactSet, element: Subject, given: &[ExampleFact]) -> Subject {
    set.add_subject(&element);
    for (fact, reading) in given {
        set.insert_untyped_value(&element, fact, reading.clone());
    }
    element
}
