//! Whether the examples of the built-in rules exercise every fact of their conditions.
//!
//! For each fact the outcome of some example must depend on it: without the fact the outcome changes. A fact without
//! such an example is either untested or unnecessary.

use std::collections::BTreeSet;

use super::worlds::givens;
use crate::facts::{Reading, Value, Why};
use crate::rules::model::{Cond, Example, Given, Rule, Test};
use crate::rules::{RuleSet, builtin, examples};

fn tests_of<'a>(cond: &'a Cond, tests: &mut Vec<&'a Test>) {
    match cond {
        Cond::All(kids) | Cond::Any(kids) => kids.iter().for_each(|kid| tests_of(kid, tests)),
        Cond::Not(kid) | Cond::Every(_, kid) | Cond::Some(_, kid) => tests_of(kid, tests),
        Cond::Fact(test) => tests.push(test),
    }
}

/// The example without this fact, once for each place where it is given.
fn without(example: &Example, fact: &str) -> Vec<Example> {
    let mut all = Vec::new();
    for place in 0.. {
        let mut other = example.clone();
        let given = givens(&mut other);
        let known = |given: &&mut Given| given.0.name == fact && given.1.is_known();
        let Some((_, reading)) = given.into_iter().filter(known).nth(place) else { return all };
        *reading = Reading::<Value>::unknown(Why::Denied, "taken away");
        all.push(other);
    }
    all
}

/// Whether the outcome of the example depends on the fact.
fn hangs_on(rule: &Rule, example: &Example, fact: &str) -> bool {
    let truth = |example: &Example| examples::finding(rule, example).trace.map(|trace| trace.truth);
    without(example, fact).iter().any(|less| truth(less) != truth(example))
}

#[test]
fn every_fact_of_a_condition_decides_some_example() {
    let (set, _) = RuleSet::parse(&builtin::files());
    let mut idle = Vec::new();
    for rule in set.rules() {
        let mut tests = Vec::new();
        tests_of(&rule.when, &mut tests);
        let facts: BTreeSet<&str> = tests.iter().map(|test| test.fact.name).collect();
        for fact in facts {
            if !rule.examples.iter().any(|example| hangs_on(rule, example, fact)) {
                idle.push(format!("{}: no example hangs on {fact}", rule.id));
            }
        }
    }
    assert!(idle.is_empty(), "{}", idle.join("\n"));
}

/// Rotation is a hint, and virtual disks and RAID volumes only pretend it (sysfs-block, queue/rotational).
#[test]
fn no_rule_goes_by_the_rotational_flag() {
    let (set, _) = RuleSet::parse(&builtin::files());
    for rule in set.rules() {
        let mut tests = Vec::new();
        tests_of(&rule.when, &mut tests);
        for advice in &rule.advise {
            advice.when.iter().for_each(|when| tests_of(when, &mut tests));
        }
        assert!(tests.iter().all(|test| test.fact.name != "device.rotational"), "{}", rule.id);
    }
}
