//! Every host that some conditions distinguish, as examples: each fact with each distinguished
//! value, and unknown. With too many combinations, the rule's own examples with every two facts
//! changed are used.

use std::collections::BTreeMap;

use crate::facts::{KeyInfo, Reading, Source, UnknownReason, Value};
use crate::rules::model::{
    Condition, Example, ExampleFact, ExampleStack, ExpectedOutcome, Relation, Rule, Test,
};
use crate::rules::needs::domain;

/// The largest number of combinations visited.
const MOST: usize = 60_000;

/// The place of a fact: the subject and its links, or an element of its stack.
type Place = Option<(Relation, usize)>;

/// A fact with its possible readings.
pub struct Slot {
    pub info: &'static KeyInfo,
    place: Place,
    pub readings: Vec<Reading<Value>>,
}

impl Slot {
    /// A fact of the subject or of what it is linked to.
    pub fn of_subject(info: &'static KeyInfo, readings: Vec<Reading<Value>>) -> Self {
        Self {
            info,
            place: None,
            readings,
        }
    }

    /// Without the unknown readings, which are last.
    pub fn only_known(&self) -> Self {
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

/// The facts in conditions, each with its place.
pub fn condition_facts<'c>(conds: &[&'c Condition]) -> Vec<(&'c Test, Option<Relation>)> {
    fn walk<'c>(
        cond: &'c Condition,
        within: Option<Relation>,
        found: &mut Vec<(&'c Test, Option<Relation>)>,
    ) {
        match cond {
            Condition::All(kids) | Condition::Any(kids) => {
                kids.iter().for_each(|kid| walk(kid, within, found));
            }
            Condition::Not(kid) => walk(kid, within, found),
            Condition::Every(relation, kid) | Condition::Some(relation, kid) => {
                walk(kid, Some(*relation), found);
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
        walk(cond, None, &mut found);
    }
    found
}

/// The values of each fact that some conditions distinguish.
pub fn values(conds: &[&Condition]) -> BTreeMap<&'static str, Vec<Value>> {
    let mut tests: BTreeMap<&'static str, Vec<&Test>> = BTreeMap::new();
    for (test, _) in condition_facts(conds) {
        tests.entry(test.fact.name).or_default().push(test);
    }
    tests
        .into_iter()
        .map(|(fact, tests)| (fact, domain::distinct_values(&tests)))
        .collect()
}

/// One slot per fact, with so many elements per quantifier, and the readings that `read` makes of
/// each value.
pub fn slots(
    conds: &[&Condition],
    elements: usize,
    read: impl Fn(&Value) -> Vec<Reading<Value>>,
) -> Vec<Slot> {
    let values = values(conds);
    let mut slots: Vec<Slot> = Vec::new();
    for (test, within) in condition_facts(conds) {
        let places: Vec<Place> = match within {
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
            slots.push(Slot {
                info: test.fact,
                place,
                readings: known.chain([unknown()]).collect(),
            });
        }
    }
    slots
}

pub fn observed_reading(value: &Value) -> Vec<Reading<Value>> {
    vec![Reading::known(value.clone(), Source::file("/a/file"))]
}

pub fn unknown() -> Reading<Value> {
    Reading::unknown(UnknownReason::Denied, "not read")
}

/// [`usize::MAX`] for more than can be counted.
pub fn combinations(slots: &[Slot]) -> usize {
    slots.iter().fold(1, |product, slot| {
        product.saturating_mul(slot.readings.len())
    })
}

/// Visits combinations, as an index of readings per slot, until one is rejected.
pub fn each(slots: &[Slot], mut visit: impl FnMut(&[usize]) -> bool) -> bool {
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

/// The example host of one combination.
pub fn machine(slots: &[Slot], chosen: &[usize]) -> Example {
    let mut example = Example {
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
        let elements = stack_slots(example.stack.get_or_insert_default(), relation);
        elements.resize(elements.len().max(element + 1), Vec::new());
        elements[element].push(given);
    }
    example
}

fn stack_slots(stack: &mut ExampleStack, relation: Relation) -> &mut Vec<Vec<ExampleFact>> {
    match relation {
        Relation::Leaf => &mut stack.leaves,
        Relation::Layer => &mut stack.layers,
        Relation::Mount => &mut stack.mounts,
    }
}

/// Visits the hosts that these conditions distinguish, with one and two elements per quantifier, or
/// the examples with every two facts changed if there are too many. Ends when one is rejected.
pub fn visit(conds: &[&Condition], rule: &Rule, mut visit: impl FnMut(&Example) -> bool) -> bool {
    let quantified = condition_facts(conds)
        .iter()
        .any(|(_, within)| within.is_some());
    for elements in 1..=(if quantified { 2 } else { 1 }) {
        let slots = slots(conds, elements, observed_reading);
        let fine = if combinations(&slots) <= MOST {
            each(&slots, |chosen| visit(&machine(&slots, chosen)))
        } else {
            rule.examples
                .iter()
                .all(|example| examples_around(example, conds, &mut visit))
        };
        if !fine {
            return false;
        }
    }
    true
}

/// The example with every two facts changed.
fn examples_around(
    example: &Example,
    conds: &[&Condition],
    visit: &mut impl FnMut(&Example) -> bool,
) -> bool {
    let values = values(conds);
    let readings = |(info, _): &ExampleFact| -> Vec<Reading<Value>> {
        values
            .get(info.name)
            .into_iter()
            .flatten()
            .flat_map(observed_reading)
            .chain([unknown()])
            .collect()
    };
    let given = givens(&mut example.clone()).len();
    for first in 0..given {
        for second in first..given {
            for a in readings(&*givens(&mut example.clone())[first]) {
                for b in readings(&*givens(&mut example.clone())[second]) {
                    let mut other = example.clone();
                    let mut givens = givens(&mut other);
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

/// Every fact that an example gives.
pub fn givens(example: &mut Example) -> Vec<&mut ExampleFact> {
    let mut given: Vec<&mut ExampleFact> = example.facts.iter_mut().collect();
    if let Some(stack) = &mut example.stack {
        for elements in [&mut stack.leaves, &mut stack.layers, &mut stack.mounts] {
            given.extend(elements.iter_mut().flatten());
        }
    }
    given
}
