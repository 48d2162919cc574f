//! Examples for every host that the given conditions distinguish: each fact with each distinct
//! value, and unknown.
//!
//! With too many combinations, the rule's own examples are used instead, with each pair of facts
//! changed.

use std::collections::BTreeMap;

use crate::facts::{KeyInfo, Reading, Source, Value};
use crate::rules::deciding_facts::representative_values;
use crate::rules::model::{
    Condition, ExampleFact, ExampleStack, ExpectedOutcome, FactTest, Rule, RuleExample,
    StackElementKind,
};

const MOST: usize = 60_000;

/// The element of the stack to which a fact belongs; `None` for the subject and its links.
type StackPosition = Option<(StackElementKind, usize)>;

pub struct FactWithPossibleReadings {
    pub info: &'static KeyInfo,
    place: StackPosition,
    pub readings: Vec<Reading<Value>>,
}

impl FactWithPossibleReadings {
    pub fn of_rule_subject(info: &'static KeyInfo, readings: Vec<Reading<Value>>) -> Self {
        Self {
            info,
            place: None,
            readings,
        }
    }

    /// The fact without its unknown readings. These come last, so the known readings keep their
    /// indices.
    pub fn without_unknown_readings(&self) -> Self {
        let known = self
            .readings
            .iter()
            .filter(|reading| reading.is_known())
            .cloned();
        Self {
            readings: known.collect(),
            ..*self
        }
    }
}

/// All fact tests in the conditions, each with its innermost quantifier if that quantifier covers
/// the fact's scope.
pub fn tests_with_innermost_quantifier<'c>(
    conds: &[&'c Condition],
) -> Vec<(&'c FactTest, Option<StackElementKind>)> {
    fn collect_tests_with_quantifier<'c>(
        cond: &'c Condition,
        within: Option<StackElementKind>,
        found: &mut Vec<(&'c FactTest, Option<StackElementKind>)>,
    ) {
        match cond {
            Condition::All(kids) | Condition::Any(kids) => {
                kids.iter()
                    .for_each(|kid| collect_tests_with_quantifier(kid, within, found));
            }
            Condition::Not(kid) => collect_tests_with_quantifier(kid, within, found),
            Condition::Every(relation, kid) | Condition::Some(relation, kid) => {
                collect_tests_with_quantifier(kid, Some(*relation), found);
            }
            Condition::Fact(test) => {
                found.push((
                    test,
                    within.filter(|relation| relation.scope() == test.fact.scope),
                ));
            }
        }
    }
    let mut found = Vec::new();
    for cond in conds {
        collect_tests_with_quantifier(cond, None, &mut found);
    }
    found
}

pub fn distinct_fact_values(conds: &[&Condition]) -> BTreeMap<&'static str, Vec<Value>> {
    let mut tests: BTreeMap<&'static str, Vec<&FactTest>> = BTreeMap::new();
    for (test, _) in tests_with_innermost_quantifier(conds) {
        tests.entry(test.fact.name).or_default().push(test);
    }
    tests
        .into_iter()
        .map(|(fact, tests)| {
            (
                fact,
                representative_values::values_with_distinct_test_results(&tests),
            )
        })
        .collect()
}

/// The facts that the conditions test, each with its possible readings. A fact within a quantifier
/// appears `elements` times, once for each element of the stack. `read` gives the readings that are
/// tried for a value.
pub fn tested_facts_with_readings(
    conds: &[&Condition],
    elements: usize,
    read: impl Fn(&Value) -> Vec<Reading<Value>>,
) -> Vec<FactWithPossibleReadings> {
    let values = distinct_fact_values(conds);
    let mut slots: Vec<FactWithPossibleReadings> = Vec::new();
    for (test, within) in tests_with_innermost_quantifier(conds) {
        let places: Vec<StackPosition> = match within {
            Some(relation) => (0..elements)
                .map(|element| Some((relation, element)))
                .collect(),
            None => vec![None],
        };
        for place in places {
            if slots
                .iter()
                .any(|slot| slot.info.name == test.fact.name && slot.place == place)
            {
                continue;
            }
            let known = values
                .get(test.fact.name)
                .into_iter()
                .flatten()
                .flat_map(&read);
            slots.push(FactWithPossibleReadings {
                info: test.fact,
                place,
                readings: known.chain([denied_reading()]).collect(),
            });
        }
    }
    slots
}

pub fn observed_readings(value: &Value) -> Vec<Reading<Value>> {
    vec![Reading::known(value.clone(), Source::from_file("/a/file"))]
}

pub fn denied_reading() -> Reading<Value> {
    Reading::denied("not read")
}

pub fn combination_count(slots: &[FactWithPossibleReadings]) -> usize {
    slots.iter().fold(1, |product, slot| {
        product.saturating_mul(slot.readings.len())
    })
}

/// Visits every combination of readings until `visit` returns false. `visit` gets, for each slot,
/// the index of one of the slot's readings.
pub fn for_each_combination(
    slots: &[FactWithPossibleReadings],
    mut visit: impl FnMut(&[usize]) -> bool,
) -> bool {
    let mut chosen = vec![0; slots.len()];
    loop {
        if !visit(&chosen) {
            return false;
        }
        let Some(place) = (0..slots.len()).find(|&i| chosen[i] + 1 < slots[i].readings.len())
        else {
            return true;
        };
        chosen[place] += 1;
        chosen[..place].fill(0);
    }
}

pub fn example_of_combination(slots: &[FactWithPossibleReadings], chosen: &[usize]) -> RuleExample {
    let mut example = RuleExample {
        name: String::new(),
        facts: Vec::new(),
        stack: None,
        expect: ExpectedOutcome::Applies,
        advise: None,
        line: 0,
    };
    for (slot, &choice) in slots.iter().zip(chosen) {
        let given: ExampleFact = (slot.info, slot.readings[choice].clone());
        let Some((relation, element)) = slot.place else {
            example.facts.push(given);
            continue;
        };
        let elements = stack_elements_mut(example.stack.get_or_insert_default(), relation);
        elements.resize(elements.len().max(element + 1), Vec::new());
        elements[element].push(given);
    }
    example
}

fn stack_elements_mut(
    stack: &mut ExampleStack,
    relation: StackElementKind,
) -> &mut Vec<Vec<ExampleFact>> {
    match relation {
        StackElementKind::Leaf => &mut stack.leaves,
        StackElementKind::Layer => &mut stack.layers,
        StackElementKind::Mount => &mut stack.mounts,
    }
}

/// Visits the hosts that the conditions distinguish, with one and two elements per quantifier,
/// until `visit` returns false. If there are too many, visits the rule's examples with each pair of
/// facts changed.
pub fn visit_distinct_hosts(
    conds: &[&Condition],
    rule: &Rule,
    mut visit: impl FnMut(&RuleExample) -> bool,
) -> bool {
    let quantified = tests_with_innermost_quantifier(conds)
        .iter()
        .any(|(_, within)| within.is_some());
    for elements in 1..=(if quantified { 2 } else { 1 }) {
        let slots = tested_facts_with_readings(conds, elements, observed_readings);
        let fine = if combination_count(&slots) <= MOST {
            for_each_combination(&slots, |chosen| {
                visit(&example_of_combination(&slots, chosen))
            })
        } else {
            rule.examples
                .iter()
                .all(|example| visit_examples_with_changed_pairs(example, conds, &mut visit))
        };
        if !fine {
            return false;
        }
    }
    true
}

fn visit_examples_with_changed_pairs(
    example: &RuleExample,
    conds: &[&Condition],
    visit: &mut impl FnMut(&RuleExample) -> bool,
) -> bool {
    let values = distinct_fact_values(conds);
    let readings = |(info, _): &ExampleFact| -> Vec<Reading<Value>> {
        values
            .get(info.name)
            .into_iter()
            .flatten()
            .flat_map(observed_readings)
            .chain([denied_reading()])
            .collect()
    };
    let given = given_facts_mut(&mut example.clone()).len();
    for first in 0..given {
        for second in first..given {
            for a in readings(&*given_facts_mut(&mut example.clone())[first]) {
                for b in readings(&*given_facts_mut(&mut example.clone())[second]) {
                    let mut other = example.clone();
                    let mut givens = given_facts_mut(&mut other);
                    givens[first].1 = a.clone();
                    givens[second].1 = b;
                    if !visit(&other) {
                        return false;
                    }
                }
            }
        }
    }
    true
}

pub fn given_facts_mut(example: &mut RuleExample) -> Vec<&mut ExampleFact> {
    let mut given: Vec<&mut ExampleFact> = example.facts.iter_mut().collect();
    if let Some(stack) = &mut example.stack {
        for elements in [&mut stack.leaves, &mut stack.layers, &mut stack.mounts] {
            given.extend(elements.iter_mut().flatten());
        }
    }
    given
}
