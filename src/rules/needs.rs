//! What would decide a condition that cannot be decided: the smallest sets of unknown facts.
//!
//! For either answer it collects the *ways* to it, each a demand on some facts; a fact that stands in several tests must
//! meet all demands with one value, so a way that wants two values of it is none. Sets are exact up to [`MOST_WAYS`]
//! ways per sub-condition; beyond, those that ask for the most facts are dropped, and a set may be missing, never wrong.
//! The surprise: learning a fact also answers `known = false`, which is why not knowing is one of a fact's options.

pub(super) mod domain;

use std::collections::BTreeMap;

use super::Seen;
use super::ground::{Ground, Node};
use super::model::Test;
use crate::facts::{Need, Reading, Subject, Value, catalog};
use crate::truth::Truth;

/// How many ways to one answer are pursued for one sub-condition.
const MOST_WAYS: usize = 128;

/// Conditions joined at once beyond which only the best way of each is pursued: a stack of ten thousand layers has as many
/// conditions, and all ways of all of them would be copied for each.
const WIDE: usize = 64;

/// The smallest sets of missing facts of which each alone could decide it: no set contains another. Fewest facts first;
/// among equals, those with a remedy first.
pub(super) fn needs(ground: &Ground<'_>) -> Vec<Vec<Need>> {
    let unknowns = Unknowns::of(ground);
    let answers = [true, false].map(|wanted| unknowns.ways(ground, wanted));
    let mut sets: Vec<Vec<usize>> = answers.iter().flatten().map(Way::to_learn).collect();
    sets.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    let mut smallest: Vec<Vec<usize>> = Vec::new();
    for set in sets {
        if !smallest.iter().any(|small| small.iter().all(|slot| set.binary_search(slot).is_ok())) {
            smallest.push(set);
        }
    }
    let mut needs: Vec<Vec<Need>> = smallest.iter().filter_map(|set| unknowns.named(set)).collect();
    let without_remedy = |set: &[Need]| set.iter().filter(|need| need.remedy.is_none()).count();
    needs.sort_by_cached_key(|set| (set.len(), without_remedy(set), set.clone()));
    needs
}

/// The unknown facts of a condition.
struct Unknowns<'g> {
    slots: Vec<Slot<'g>>,
    places: BTreeMap<(&'g Subject, &'g str), usize>,
}

/// One unknown fact.
struct Slot<'g> {
    seen: &'g Seen,
    /// The values that its tests tell apart, after the option that it stays unknown.
    options: Vec<Reading<Value>>,
}

/// Demands on facts: by slot, which of its options would do, as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Way(BTreeMap<usize, u64>);

/// The option that a fact stays unknown.
const UNLEARNT: u64 = 1;

impl Way {
    /// The facts that must be learnt.
    fn to_learn(&self) -> Vec<usize> {
        self.0.iter().filter(|(_, options)| **options & UNLEARNT == 0).map(|(slot, _)| *slot).collect()
    }

    /// Both ways at once, where one value can meet both.
    fn with(mut self, other: &Self) -> Option<Self> {
        for (slot, options) in &other.0 {
            let joined = self.0.entry(*slot).or_insert(u64::MAX);
            *joined &= options;
            if *joined == 0 {
                return None;
            }
        }
        Some(self)
    }

    /// Whether everything that goes this other way goes this way too.
    fn covers(&self, other: &Self) -> bool {
        let within = |(slot, options): (&usize, &u64)| other.0.get(slot).is_some_and(|o| o & !options == 0);
        self.0.iter().all(within)
    }
}

impl<'g> Unknowns<'g> {
    fn of(ground: &'g Ground<'_>) -> Self {
        let mut tests: BTreeMap<(&Subject, &str), (&Seen, Vec<&Test>)> = BTreeMap::new();
        collect(ground, &mut tests);
        let places = tests.keys().enumerate().map(|(slot, key)| (*key, slot)).collect();
        let slots = tests.into_values().map(|(seen, tests)| {
            let known =
                domain::values(&tests).into_iter().map(|value| Reading::known(value, domain::learnt()));
            Slot { seen, options: [Reading::clone(&seen.reading)].into_iter().chain(known).collect() }
        });
        Self { slots: slots.collect(), places }
    }

    /// The ways for a condition to come out as wanted.
    fn ways(&self, ground: &Ground<'_>, wanted: bool) -> Vec<Way> {
        match (&ground.node, wanted) {
            (Node::Blind, _) => Vec::new(),
            (Node::Not(kid), wanted) => self.ways(kid, !wanted),
            (Node::Test(test, seen), wanted) => self.ways_of_test(test, seen, wanted),
            (Node::All(kids), true) | (Node::Any(kids), false) => {
                let Some((first, rest)) = kids.split_first() else { return Vec::new() };
                let most = if kids.len() > WIDE { 1 } else { MOST_WAYS };
                let ways = |kid: &Ground<'_>| {
                    let mut ways = self.ways(kid, wanted);
                    ways.truncate(most);
                    ways
                };
                // One way each is the rule, and the stack can be wide: then nothing is copied.
                let join = |so_far: Vec<Way>, kid: &Ground<'_>| match ways(kid).as_slice() {
                    [only] => so_far.into_iter().filter_map(|way| way.with(only)).collect(),
                    more => {
                        let each =
                            |way: &Way| more.iter().filter_map(|other| way.clone().with(other)).collect();
                        fewest(so_far.iter().flat_map(|way| -> Vec<Way> { each(way) }).collect())
                    }
                };
                rest.iter().fold(ways(first), join)
            }
            (Node::All(kids), false) | (Node::Any(kids), true) => {
                fewest(kids.iter().flat_map(|kid| self.ways(kid, wanted)).collect())
            }
        }
    }

    fn ways_of_test(&self, test: &Test, seen: &Seen, wanted: bool) -> Vec<Way> {
        let wanted = Truth::from(wanted);
        let Some(slot) = self.places.get(&(&seen.subject, seen.fact)) else {
            return if test.holds(&seen.reading) == wanted { vec![Way::default()] } else { Vec::new() };
        };
        let options = self.slots.get(*slot).map(|slot| slot.options.as_slice()).unwrap_or_default();
        let fitting = options.iter().enumerate().filter(|(_, option)| test.holds(option) == wanted);
        let fitting = fitting.fold(0u64, |bits, (index, _)| bits | 1 << index);
        if fitting == 0 { Vec::new() } else { vec![Way(BTreeMap::from([(*slot, fitting)]))] }
    }

    /// The set by name; `None` for an empty one.
    fn named(&self, set: &[usize]) -> Option<Vec<Need>> {
        let need = |slot: &usize| {
            let seen = self.slots.get(*slot)?.seen;
            Need::of(&seen.subject, catalog::find(seen.fact)?, &seen.reading)
        };
        let needs: Vec<Need> = set.iter().filter_map(need).collect();
        (!needs.is_empty()).then_some(needs)
    }
}

/// The tests of each unknown fact.
fn collect<'g>(
    ground: &'g Ground<'_>,
    tests: &mut BTreeMap<(&'g Subject, &'g str), (&'g Seen, Vec<&'g Test>)>,
) {
    if let Node::Test(test, seen) = &ground.node
        && !seen.reading.is_known()
    {
        let (_, tests) = tests.entry((&seen.subject, seen.fact)).or_insert((seen, Vec::new()));
        tests.push(test);
    }
    ground.kids().iter().for_each(|kid| collect(kid, tests));
}

/// Without those that another covers, and not too many.
fn fewest(mut ways: Vec<Way>) -> Vec<Way> {
    ways.sort_by_cached_key(|way| way.0.len());
    let mut kept: Vec<Way> = Vec::new();
    for way in ways {
        if kept.len() >= MOST_WAYS {
            break;
        }
        if !kept.iter().any(|other| other.covers(&way)) {
            kept.push(way);
        }
    }
    kept
}
