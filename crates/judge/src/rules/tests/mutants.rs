//! Mutation score of the built-in rules: the examples or the safety enumeration should notice a
//! condition that is changed in one place.
//!
//! `cargo test -p walwise-judge --lib mutants -- --ignored --nocapture` prints the score. For
//! safety rules every dropped conjunct must be noticed.

use std::collections::BTreeMap;
use std::{fmt, slice};

use super::{distinct_hosts, safety};
use crate::facts::Value;
use crate::rules::bound_condition::BoundCondition;
use crate::rules::model::{ChangeSpec, Condition, FactTest, Rule, TestOperator};
use crate::rules::{Level, Risk, RuleSet, builtin, examples};
use crate::ternary::Ternary;
use crate::version::{AffectedReleases, Version};
use walwise_model::text::JoinText;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MutationKind {
    DroppedConjunct,
    DroppedAlternative,
    DroppedWord,
    Negated,
    Swapped,
    MovedBoundary,
}

impl fmt::Display for MutationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::DroppedConjunct => "a conjunct dropped",
            Self::DroppedAlternative => "an alternative dropped",
            Self::DroppedWord => "a word of a list dropped",
            Self::Negated => "a test negated",
            Self::Swapped => "all and any, every and some swapped",
            Self::MovedBoundary => "a boundary moved",
        })
    }
}

type ConditionVariant = (MutationKind, String, Condition);

fn mutated_conditions(cond: &Condition) -> Vec<ConditionVariant> {
    match cond {
        Condition::All(kids) => {
            let swapped = (
                MutationKind::Swapped,
                "any for all".to_owned(),
                Condition::Any(kids.clone()),
            );
            let mut all = variants_of_operands(kids, MutationKind::DroppedConjunct, Condition::All);
            all.extend((kids.len() > 1).then_some(swapped));
            all
        }
        Condition::Any(kids) => {
            let swapped = (
                MutationKind::Swapped,
                "all for any".to_owned(),
                Condition::All(kids.clone()),
            );
            let mut all =
                variants_of_operands(kids, MutationKind::DroppedAlternative, Condition::Any);
            all.extend((kids.len() > 1).then_some(swapped));
            all
        }
        Condition::Not(kid) => {
            let mut all = mutations_within_operand(kid, |kid| Condition::Not(Box::new(kid)));
            all.push((
                MutationKind::Negated,
                format!("not: {}", condition_text(kid)),
                (**kid).clone(),
            ));
            all
        }
        Condition::Every(relation, kid) => {
            let swapped = Condition::Some(*relation, kid.clone());
            let mut all =
                mutations_within_operand(kid, |kid| Condition::Every(*relation, Box::new(kid)));
            all.push((
                MutationKind::Swapped,
                format!("some {} for every", relation.as_str()),
                swapped,
            ));
            all
        }
        Condition::Some(relation, kid) => {
            let swapped = Condition::Every(*relation, kid.clone());
            let mut all =
                mutations_within_operand(kid, |kid| Condition::Some(*relation, Box::new(kid)));
            all.push((
                MutationKind::Swapped,
                format!("every {} for some", relation.as_str()),
                swapped,
            ));
            all
        }
        Condition::Fact(test) => {
            let mut all: Vec<ConditionVariant> = mutated_tests(test);
            all.push((
                MutationKind::Negated,
                test.test_label(),
                Condition::Not(Box::new(cond.clone())),
            ));
            all
        }
    }
}

fn variants_of_operands(
    kids: &[Condition],
    dropped: MutationKind,
    make: fn(Vec<Condition>) -> Condition,
) -> Vec<ConditionVariant> {
    let mut all = Vec::new();
    for (index, kid) in kids.iter().enumerate() {
        if kids.len() > 1 {
            let mut others = kids.to_vec();
            others.remove(index);
            all.push((dropped, condition_text(kid), make(others)));
        }
        all.extend(mutations_within_operand(kid, |kid| {
            let mut others = kids.to_vec();
            others[index] = kid;
            make(others)
        }));
    }
    all
}

fn mutations_within_operand(
    kid: &Condition,
    make: impl Fn(Condition) -> Condition,
) -> Vec<ConditionVariant> {
    mutated_conditions(kid)
        .into_iter()
        .map(|(kind, what, kid)| (kind, what, make(kid)))
        .collect()
}

fn condition_text(cond: &Condition) -> String {
    let all = |kids: &[Condition]| kids.iter().map(condition_text).join_with("; ");
    match cond {
        Condition::All(kids) | Condition::Any(kids) => {
            format!("{} ({})", cond.node_label(), all(kids))
        }
        Condition::Not(kid) | Condition::Every(_, kid) | Condition::Some(_, kid) => {
            format!("{} ({})", cond.node_label(), condition_text(kid))
        }
        Condition::Fact(test) => test.test_label(),
    }
}

fn mutated_tests(test: &FactTest) -> Vec<ConditionVariant> {
    let ops: Vec<(MutationKind, String, TestOperator)> = match &test.op {
        TestOperator::In(values) => variants_with_dropped_word(values, TestOperator::In),
        TestOperator::HasAny(words) => variants_with_dropped_word(words, TestOperator::HasAny),
        TestOperator::FixedIn(lines) => variants_with_dropped_word(lines, TestOperator::FixedIn),
        TestOperator::InRange(range) => {
            let fixed = |fixed| {
                TestOperator::InRange(AffectedReleases {
                    fixed,
                    ..range.clone()
                })
            };
            variants_with_dropped_word(&range.fixed, fixed)
        }
        TestOperator::AtLeast(value) => operators_at_neighbour_values(value, TestOperator::AtLeast),
        _ => Vec::new(),
    };
    let cond = |op| {
        Condition::Fact(FactTest {
            fact: test.fact,
            op,
            negated: test.negated,
        })
    };
    ops.into_iter()
        .map(|(kind, what, op)| (kind, format!("{}: {what}", test.test_label()), cond(op)))
        .collect()
}

fn variants_with_dropped_word<T: Clone + fmt::Display>(
    values: &[T],
    op: impl Fn(Vec<T>) -> TestOperator,
) -> Vec<(MutationKind, String, TestOperator)> {
    let without = |index: usize| {
        let mut values = values.to_vec();
        let gone = values.remove(index);
        (
            MutationKind::DroppedWord,
            format!("without {gone}"),
            op(values),
        )
    };
    let least = if values.len() > 1 { 0 } else { values.len() };
    (least..values.len()).map(without).collect()
}

fn operators_at_neighbour_values(
    value: &Value,
    op: fn(Value) -> TestOperator,
) -> Vec<(MutationKind, String, TestOperator)> {
    let others = match value {
        Value::Whole(number) => vec![
            Value::Whole(number.saturating_sub(1)),
            Value::Whole(number + 1),
        ],
        Value::Number(number) => vec![Value::Number(number - 1.0), Value::Number(number + 1.0)],
        Value::Version(version) => neighbour_versions(version)
            .into_iter()
            .map(Value::Version)
            .collect(),
        _ => Vec::new(),
    };
    others
        .into_iter()
        .map(|other| (MutationKind::MovedBoundary, format!("{other}"), op(other)))
        .collect()
}

fn neighbour_versions(version: &Version) -> Vec<Version> {
    let last = version.number_count() - 1;
    let with = |number: u64| {
        let numbers: Vec<String> = (0..last)
            .map(|index| version.number(index))
            .chain([number])
            .map(|number| number.to_string())
            .collect();
        Version::parse(&numbers.join("."))
    };
    let number = version.number(last);
    [number.checked_sub(1), Some(number + 1)]
        .into_iter()
        .flatten()
        .filter_map(with)
        .collect()
}

struct Mutant {
    kind: MutationKind,
    what: String,
    rule: Rule,
}

fn mutants(rule: &Rule) -> Vec<Mutant> {
    let with = |kind, what, change: &dyn Fn(&mut Rule)| {
        let mut rule = rule.clone();
        change(&mut rule);
        Mutant { kind, what, rule }
    };
    let mut all: Vec<Mutant> = mutated_conditions(&rule.when)
        .into_iter()
        .map(|(kind, what, cond)| with(kind, what, &|rule| rule.when = cond.clone()))
        .collect();
    for (index, spec) in rule.advise.iter().enumerate() {
        let Some(when) = &spec.when else { continue };
        let of = format!("advice on {}", spec.setting.name);
        all.push(with(
            MutationKind::DroppedConjunct,
            format!("{of}: {}", condition_text(when)),
            &|rule| {
                rule.advise[index].when = None;
            },
        ));
        all.extend(
            mutated_conditions(when)
                .into_iter()
                .map(|(kind, what, cond)| {
                    with(kind, format!("{of}: {what}"), &|rule| {
                        rule.advise[index].when = Some(cond.clone());
                    })
                }),
        );
    }
    all
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MutantResult {
    Caught,
    /// Mutant and rule have equal outcomes on every host that was tried.
    TheSame,
    Survived,
}

fn detect_mutant(rule: &Rule, mutant: &Rule) -> MutantResult {
    if !examples::failures_of_rule_examples(slice::from_ref(mutant)).is_empty()
        || safety::check_data_loss_advice_on_all_readings(mutant).is_err()
    {
        MutantResult::Caught
    } else if is_equivalent_mutant(rule, mutant) {
        MutantResult::TheSame
    } else {
        MutantResult::Survived
    }
}

fn is_equivalent_mutant(rule: &Rule, mutant: &Rule) -> bool {
    fn conditions_of_rule(rule: &Rule) -> impl Iterator<Item = &Condition> {
        rule.advise
            .iter()
            .filter_map(|spec| spec.when.as_ref())
            .chain([&rule.when])
    }
    let both: Vec<&Condition> = conditions_of_rule(rule)
        .chain(conditions_of_rule(mutant))
        .collect();
    distinct_hosts::visit_distinct_hosts(&both, rule, |example| {
        let (subject, facts) = examples::example_subject_and_facts(rule, example);
        let truth = |cond: &Condition| BoundCondition::new(cond, &facts, &subject).truth();
        let comes_to = |rule: &Rule| {
            let applies = truth(&rule.when);
            let given = |when: &Option<Condition>| {
                when.as_ref()
                    .is_none_or(|when| truth(when) == Ternary::True)
            };
            let advice = rule
                .advise
                .iter()
                .map(|spec| applies == Ternary::True && given(&spec.when));
            (applies, advice.collect::<Vec<bool>>())
        };
        comes_to(rule) == comes_to(mutant)
    })
}

/// Whether a mistake in the rule can lose data: the rule is critical, or advises a change that can
/// lose data.
fn is_safety_rule(rule: &Rule) -> bool {
    let loses = |change: &ChangeSpec, can_lose: &dyn Fn(&crate::rules::Change) -> bool| match change
    {
        ChangeSpec::Fixed(change) => can_lose(change),
        _ => false,
    };
    rule.level == Level::Critical
        || rule.advise.iter().any(|spec| {
            spec.risk == Risk::DataLossIfWrong
                || loses(&spec.change, &|change| {
                    spec.setting.can_lose_data(change.set_or_added_values())
                })
        })
}

#[derive(Default)]
struct MutantCounts(BTreeMap<MutantResult, usize>);

impl MutantCounts {
    fn count_result(&mut self, fate: MutantResult) {
        *self.0.entry(fate).or_default() += 1;
    }

    fn number_with_result(&self, fate: MutantResult) -> usize {
        self.0.get(&fate).copied().unwrap_or(0)
    }
}

impl fmt::Display for MutantCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (caught, survived, same) = (
            self.number_with_result(MutantResult::Caught),
            self.number_with_result(MutantResult::Survived),
            self.number_with_result(MutantResult::TheSame),
        );
        let share = 100.0 * caught as f64 / (caught + survived).max(1) as f64;
        write!(
            f,
            "{caught:>5} of {:>5} noticed ({share:5.1} %), {same} come to the same",
            caught + survived
        )
    }
}

/// A mutant that was not caught: its kind, its result and its description.
type UncaughtMutant = (MutationKind, MutantResult, String);

/// Covers the safety rules only.
fn safety_mutation_scores_and_survivors()
-> (BTreeMap<MutationKind, MutantCounts>, Vec<UncaughtMutant>) {
    let (set, _) = RuleSet::parse_as_builtin(&builtin::builtin_files());
    let mut scores: BTreeMap<MutationKind, MutantCounts> = BTreeMap::new();
    let mut left = Vec::new();
    for rule in set.rules().iter().filter(|rule| is_safety_rule(rule)) {
        for mutant in mutants(rule) {
            let fate = detect_mutant(rule, &mutant.rule);
            scores.entry(mutant.kind).or_default().count_result(fate);
            if fate != MutantResult::Caught {
                left.push((mutant.kind, fate, format!("{}: {}", rule.id, mutant.what)));
            }
        }
    }
    (scores, left)
}

#[test]
#[ignore = "exhaustive"]
#[expect(clippy::print_stdout, reason = "the score is for people")]
fn dropped_conjuncts_of_safety_rules_are_caught() {
    let (scores, left) = safety_mutation_scores_and_survivors();
    for (kind, score) in &scores {
        println!("  {kind:<36}{score}");
    }
    for (kind, fate, what) in &left {
        println!("{kind}, {fate:?}: {what}");
    }
    let idle: Vec<String> = left
        .into_iter()
        .filter(|(kind, ..)| *kind == MutationKind::DroppedConjunct)
        .map(|(_, fate, what)| match fate {
            MutantResult::TheSame => {
                format!("{what}: the rule comes to the same without it; simplify the rule")
            }
            _ => format!("{what}: no example fails without it; add one"),
        })
        .collect();
    assert!(idle.is_empty(), "{}", idle.join("\n"));
    assert!(scores.contains_key(&MutationKind::DroppedConjunct));
}
