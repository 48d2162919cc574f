use std::collections::BTreeSet;

use proptest::prelude::*;

use super::arbitrary::{
    self, RandomHost, arbitrary_host, facts_of_every_kind, facts_with_few_values, test_target,
};
use crate::facts::{Reading, Source, Value, ValueKind};
use crate::rules::bound_condition::{self, BoundCondition, SubjectContext};
use crate::rules::model::{AdviceSpec, Author, ChangeSpec, Condition, Rule};
use crate::rules::{
    Change, EffectScope, EvaluationOptions, Finding, Level, Outcome, Risk, evaluate_rule,
};
use crate::settings;
use crate::ternary::Ternary;

fn condition_truth(cond: &Condition, world: &RandomHost) -> Ternary {
    BoundCondition::new(cond, &world.to_fact_set(), &test_target()).truth()
}

fn denied_reading() -> Reading<Value> {
    Reading::denied("x")
}

fn rule_that_can_lose_data(when: Condition) -> Rule {
    let mut rule = super::good_rule_set()
        .find("mount.barrier-option")
        .unwrap()
        .clone();
    rule.when = when;
    rule.level = Level::Optional;
    rule.advise = vec![AdviceSpec {
        user_commands: Vec::new(),
        setting: settings::find_by_name("mount.options").unwrap(),
        change: ChangeSpec::Fixed(Change::Add(vec!["nobarrier".to_owned()])),
        when: None,
        reach: EffectScope::WholeFilesystem,
        risk: Risk::DataLossIfWrong,
        rank: None,
        tradeoff: None,
        apply: Vec::new(),
        verify: Vec::new(),
        undo: Vec::new(),
    }];
    rule
}

fn evaluate_on_random_host(rule: &Rule, world: &RandomHost, live: bool) -> Finding {
    evaluate_rule(
        rule,
        &world.to_fact_set(),
        &test_target(),
        EvaluationOptions { live, traced: true },
    )
}

fn enumerate_values(kind: ValueKind) -> Vec<Value> {
    match kind {
        ValueKind::Bool => vec![Value::Bool(true), Value::Bool(false)],
        ValueKind::Choice(words) => words
            .iter()
            .map(|word| Value::Text((*word).to_owned()))
            .collect(),
        _ => panic!("too many values"),
    }
}

fn can_be_decided_by_facts(cond: &Condition, world: &RandomHost, learn: &[usize]) -> bool {
    let Some((first, rest)) = learn.split_first() else {
        return condition_truth(cond, world) != Ternary::Unknown;
    };
    let kind = world.facts[*first].1.kind;
    enumerate_values(kind).into_iter().any(|value| {
        can_be_decided_by_facts(
            cond,
            &world.with_reading(*first, Reading::known(value, Source::Assumed)),
            rest,
        )
    })
}

fn deciding_sets_by_brute_force(
    cond: &Condition,
    world: &RandomHost,
) -> BTreeSet<BTreeSet<(String, String)>> {
    let unknown: Vec<usize> = (0..world.facts.len())
        .filter(|index| !world.facts[*index].2.is_known())
        .collect();
    let mut sets: Vec<Vec<usize>> = (0u32..1 << unknown.len())
        .map(|bits| {
            (0..unknown.len())
                .filter(|i| bits >> i & 1 == 1)
                .map(|i| unknown[i])
                .collect()
        })
        .collect();
    sets.sort_by_key(Vec::len);
    let mut smallest: Vec<Vec<usize>> = Vec::new();
    for set in sets {
        let larger = smallest
            .iter()
            .any(|small| small.iter().all(|index| set.contains(index)));
        if !larger && can_be_decided_by_facts(cond, world, &set) {
            smallest.push(set);
        }
    }
    let named = |set: &Vec<usize>| {
        let name = |index: &usize| {
            (
                world.facts[*index].0.to_string(),
                world.facts[*index].1.name.to_owned(),
            )
        };
        set.iter().map(name).collect()
    };
    smallest.iter().map(named).collect()
}

proptest! {
    #[test]
    fn learning_a_fact_never_flips_a_known_result(cond in arbitrary::arbitrary_condition(facts_of_every_kind(), false), world in arbitrary_host(facts_of_every_kind())) {
        let known = condition_truth(&cond, &world);
        for index in 0..world.facts.len() {
            let less = condition_truth(&cond, &world.with_reading(index, denied_reading()));
            prop_assert!(less == Ternary::Unknown || less == known, "without {}", world.facts[index].1.name);
        }
    }

    #[test]
    fn trace_truth_equals_condition_result(cond in arbitrary::arbitrary_condition(facts_of_every_kind(), true), world in arbitrary_host(facts_of_every_kind())) {
        let set = world.to_fact_set();
        let ground = BoundCondition::new(&cond, &set, &test_target());
        prop_assert_eq!(ground.to_trace().truth, ground.truth());
    }

    #[test]
    fn short_circuit_evaluation_equals_full_result(
        cond in arbitrary::arbitrary_condition(facts_of_every_kind(), true),
        world in arbitrary_host(facts_of_every_kind()),
    ) {
        let set = world.to_fact_set();
        let at = test_target();
        prop_assert_eq!(BoundCondition::new(&cond, &set, &at).truth(), bound_condition::evaluate_condition(&cond, &SubjectContext::new(&set, &at)));
    }

    #[test]
    fn needs_are_the_smallest_sets_that_can_decide(cond in arbitrary::arbitrary_condition(facts_with_few_values(), true), world in arbitrary_host(facts_with_few_values())) {
        if let Outcome::Undecided { needs } = evaluate_on_random_host(&rule_that_can_lose_data(cond.clone()), &world, true).outcome {
            let name = |need: &crate::facts::MissingFact| (need.subject.to_string(), need.fact.clone());
            let found: BTreeSet<BTreeSet<_>> = needs.iter().map(|set| set.iter().map(name).collect()).collect();
            prop_assert_eq!(found.len(), needs.len(), "a set twice");
            prop_assert!(needs.is_sorted_by_key(Vec::len));
            prop_assert_eq!(found, deciding_sets_by_brute_force(&cond, &world));
        }
    }

    #[test]
    fn distinct_values_cover_all_test_results(
        (tests, value) in proptest::sample::select(facts_of_every_kind()).prop_flat_map(|info| {
            (proptest::collection::vec(arbitrary::arbitrary_test(info, false), 1..4), arbitrary::arbitrary_value(info))
        })
    ) {
        let reading = Reading::known(value, Source::Assumed);
        let answer: Vec<Ternary> = tests.iter().map(|test| test.truth_for_reading(&reading)).collect();
        let refs: Vec<_> = tests.iter().collect();
        let decided_alike = |other: &Value| {
            let other = Reading::known(other.clone(), Source::Assumed);
            tests.iter().zip(&answer).all(|(test, truth)| *truth == Ternary::Unknown || test.truth_for_reading(&other) == *truth)
        };
        prop_assert!(crate::rules::deciding_facts::representative_values::values_with_distinct_test_results(&refs).iter().any(decided_alike));
    }

    #[test]
    fn data_loss_advice_needs_observed_facts(
        cond in arbitrary::arbitrary_condition(facts_of_every_kind(), true), world in arbitrary_host(facts_of_every_kind()), live: bool
    ) {
        let rule = rule_that_can_lose_data(cond);
        let finding = evaluate_on_random_host(&rule, &world, live);
        prop_assert!(finding.advice.is_empty() || finding.outcome == Outcome::Applies);
        let users = Rule { author: Author::User, ..rule.clone() };
        prop_assert!(evaluate_on_random_host(&users, &world, live).advice.is_empty(), "of a user's rule");
        for index in 0..world.facts.len() {
            let assumed = world.facts[index].2.clone().map(|value| value);
            let assumed = match assumed {
                Reading::Known { value, .. } => Reading::known(value, Source::Assumed),
                unknown @ Reading::Unknown { .. } => unknown,
            };
            for reading in [denied_reading(), assumed] {
                let other = evaluate_on_random_host(&rule, &world.with_reading(index, reading), live);
                prop_assert!(other.advice.is_empty() || !finding.advice.is_empty(), "{:?}", other.trace);
            }
        }
        // The advice must stay the same if all facts that were not observed on this host become
        // unknown.
        let mut seen_only = world.clone();
        for (_, _, reading) in &mut seen_only.facts {
            let here = match reading.source() {
                Some(Source::Probe { .. }) => live,
                Some(Source::Derived { of, assumed }) => !assumed && (live || of[0] != "probe.flush_cost"),
                Some(source) => source.is_evidence(),
                None => false,
            };
            if !here {
                *reading = denied_reading();
            }
        }
        prop_assert_eq!(evaluate_on_random_host(&rule, &seen_only, live).advice.len(), finding.advice.len());
    }
}
