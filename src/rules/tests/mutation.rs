//! That the examples of the rules hold every condition in place: a rule that lost one part of an *all* is found out.
//!
//! For rules that advise what can lose data, and for critical ones, each such loss must be caught. The surprise: a part that
//! nothing misses is either not tried by an example or not needed, and only a person can say which.

use crate::rules::model::{Cond, Rule};
use crate::rules::{Level, Risk, RuleSet, examples};

/// The condition, once for each part of an *all* in it, without that part; with what is left out.
fn without_one(cond: &Cond) -> Vec<(String, Cond)> {
    let mut mutants = Vec::new();
    let within = |kids: &[Cond], build: fn(Vec<Cond>) -> Cond, mutants: &mut Vec<(String, Cond)>| {
        for (at, kid) in kids.iter().enumerate() {
            for (lost, mutant) in without_one(kid) {
                let mut kids = kids.to_vec();
                kids[at] = mutant;
                mutants.push((lost, build(kids)));
            }
        }
    };
    match cond {
        Cond::All(kids) => {
            within(kids, Cond::All, &mut mutants);
            for (at, lost) in kids.iter().enumerate().filter(|_| kids.len() > 1) {
                let mut kids = kids.clone();
                kids.remove(at);
                mutants.push((lost.label(), Cond::All(kids)));
            }
        }
        Cond::Any(kids) => within(kids, Cond::Any, &mut mutants),
        Cond::Not(kid) => {
            mutants.extend(without_one(kid).into_iter().map(|(lost, kid)| (lost, Cond::Not(Box::new(kid)))));
        }
        Cond::Every(relation, kid) => mutants.extend(
            without_one(kid).into_iter().map(|(lost, kid)| (lost, Cond::Every(*relation, Box::new(kid)))),
        ),
        Cond::Some(relation, kid) => mutants.extend(
            without_one(kid).into_iter().map(|(lost, kid)| (lost, Cond::Some(*relation, Box::new(kid)))),
        ),
        Cond::Fact(_) => {}
    }
    mutants
}

/// The rule with one part lost, of its condition or of that of its advice.
fn mutants(rule: &Rule) -> Vec<(String, Rule)> {
    let whole = without_one(&rule.when).into_iter();
    let mut all: Vec<(String, Rule)> =
        whole.map(|(lost, when)| (lost, Rule { when, ..rule.clone() })).collect();
    for (at, advice) in rule.advise.iter().enumerate() {
        let Some(when) = &advice.when else { continue };
        let parts = without_one(when).into_iter().map(|(lost, when)| (lost, Some(when)));
        for (lost, when) in parts.chain([("the whole condition".to_owned(), None)]) {
            let mut mutant = rule.clone();
            mutant.advise[at].when = when;
            all.push((format!("{lost}, of the advice on {}", advice.setting.name), mutant));
        }
    }
    all
}

#[test]
fn a_safety_rule_that_loses_a_condition_is_found_out() {
    let set = RuleSet::builtin();
    let (mut made, mut survivors) = (0, Vec::new());
    for rule in set.rules() {
        let can_lose = rule.advise.iter().any(|advice| advice.risk == Risk::DataLossIfWrong);
        if !can_lose && rule.level != Level::Critical {
            continue;
        }
        for (lost, mutant) in mutants(rule) {
            made += 1;
            if examples::run(std::slice::from_ref(&mutant)).is_empty() {
                survivors.push(format!("{}: nothing misses `{lost}`", rule.id));
            }
        }
    }
    assert!(made > 50, "{made}");
    assert!(survivors.is_empty(), "{} of {made}:\n{}", survivors.len(), survivors.join("\n"));
}
