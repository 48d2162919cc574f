//! Finds the facts that would decide an undecided condition: the smallest sets of unknown facts. A
//! set counts only if one value per fact can give all tests of that fact the needed results.
//!
//! The search is complete up to limits of values, words and sets. Beyond a limit a set may be
//! missing, but no set is wrong.

pub(super) mod representative_values {
    //! Representative values of a fact. Within the limits below, any other value gives the same
    //! test results as one of these.

    use std::collections::BTreeSet;

    use crate::facts::{Source, Value, ValueKind};
    use crate::rules::model::{FactTest, TestOperator};
    use crate::ternary::Ternary;
    use crate::version::Version;

    /// Largest number of values of a fact. `ValueSet` has 64 bits, one of which means that the fact
    /// stays unknown.
    const MAX_OPTIONS: usize = 63;
    /// Longest list of words for which every combination is tried.
    const MAX_WORDS: usize = 8;

    pub(super) fn hypothetical_source() -> Source {
        Source::from_file("hypothetical value")
    }

    /// One value of a fact for each combination of results that the tests can have, at most
    /// `MAX_OPTIONS`. All tests must be of the same fact.
    pub(in crate::rules) fn values_with_distinct_test_results(tests: &[&FactTest]) -> Vec<Value> {
        let Some(first) = tests.first() else {
            return Vec::new();
        };
        let mut answers: Vec<Vec<Ternary>> = Vec::new();
        let mut values = Vec::new();
        for value in candidate_values(first.fact.kind, tests) {
            let answer: Vec<Ternary> = tests
                .iter()
                .map(|test| test.truth_for_value(&value))
                .collect();
            if !answers.contains(&answer) && values.len() < MAX_OPTIONS {
                answers.push(answer);
                values.push(value);
            }
        }
        values
    }

    fn candidate_values(kind: ValueKind, tests: &[&FactTest]) -> Vec<Value> {
        let mentioned = || tests.iter().flat_map(|test| mentioned_values(&test.op));
        match kind {
            ValueKind::Bool => vec![Value::Bool(true), Value::Bool(false)],
            ValueKind::Choice(words) => words
                .iter()
                .map(|word| Value::Text((*word).to_owned()))
                .collect(),
            ValueKind::Text => {
                let words: BTreeSet<String> = mentioned().map(|value| value.to_string()).collect();
                let fragments = text_fragments(tests);
                let all = || words.iter().chain(&fragments);
                // A text that matches none of the fragments is built from a letter that no fragment
                // contains.
                let strange = ('a'..='z')
                    .chain(['?'])
                    .find(|c| !all().any(|one| one.contains(*c)))
                    .unwrap_or('?');
                let other =
                    std::iter::repeat_n(strange, 1 + all().map(String::len).max().unwrap_or(0))
                        .collect();
                let written = words
                    .iter()
                    .cloned()
                    .chain(fragments_and_their_combinations(&fragments, strange));
                written.chain([other]).map(Value::Text).collect()
            }
            ValueKind::Count | ValueKind::Bytes => {
                let near = mentioned().filter_map(|value| match value {
                    Value::Whole(number) => {
                        Some([number.saturating_sub(1), number, number.saturating_add(1)])
                    }
                    _ => None,
                });
                [0].into_iter()
                    .chain(near.flatten())
                    .map(Value::Whole)
                    .collect()
            }
            ValueKind::Micros | ValueKind::Number => {
                let near = mentioned().filter_map(|value| match value {
                    Value::Number(number) => Some([number.next_down(), number, number.next_up()]),
                    _ => None,
                });
                [0.0]
                    .into_iter()
                    .chain(near.flatten())
                    .map(Value::Number)
                    .collect()
            }
            ValueKind::Version => candidate_versions(tests)
                .into_iter()
                .map(Value::Version)
                .collect(),
            ValueKind::List | ValueKind::Choices(_) => candidate_lists(tests)
                .into_iter()
                .map(Value::List)
                .collect(),
        }
    }

    fn mentioned_values(op: &TestOperator) -> Vec<Value> {
        match op {
            TestOperator::Is(value) | TestOperator::AtLeast(value) => {
                vec![value.clone()]
            }
            TestOperator::In(values) => values.clone(),
            TestOperator::FixedIn(versions) => {
                versions.iter().cloned().map(Value::Version).collect()
            }
            TestOperator::InRange(range) => range
                .all_listed_versions()
                .cloned()
                .map(Value::Version)
                .collect(),
            TestOperator::BuildAtLeast(version) => {
                vec![Value::Version(version.clone())]
            }
            TestOperator::Has(_)
            | TestOperator::HasAny(_)
            | TestOperator::HasOption(_)
            | TestOperator::StartsWith(_)
            | TestOperator::EndsWith(_)
            | TestOperator::Contains(_)
            | TestOperator::Known
            | TestOperator::Exists => Vec::new(),
        }
    }

    fn text_fragments(tests: &[&FactTest]) -> BTreeSet<String> {
        let one = |test: &&FactTest| match &test.op {
            TestOperator::StartsWith(part)
            | TestOperator::EndsWith(part)
            | TestOperator::Contains(part) => Some(part.clone()),
            _ => None,
        };
        tests.iter().filter_map(one).collect()
    }

    fn fragments_and_their_combinations(
        fragments: &BTreeSet<String>,
        strange: char,
    ) -> Vec<String> {
        let one = fragments.iter().flat_map(|part| {
            [
                part.clone(),
                format!("{part}{strange}"),
                format!("{strange}{part}"),
                format!("{strange}{part}{strange}"),
            ]
        });
        let few: Vec<&String> = fragments.iter().take(MAX_WORDS).collect();
        let two = few
            .iter()
            .flat_map(|a| few.iter().map(move |b| format!("{a}{strange}{b}")));
        one.chain(two).collect()
    }

    fn candidate_versions(tests: &[&FactTest]) -> Vec<Version> {
        let mut versions: Vec<Version> = Version::parse("0").into_iter().collect();
        for value in tests.iter().flat_map(|test| mentioned_values(&test.op)) {
            let Value::Version(version) = value else {
                continue;
            };
            versions.extend(Version::parse(&format!(
                "{}.0.0.0.1",
                version.numeric_part()
            )));
            if let Some(level) = version.number(2).checked_sub(1) {
                versions.extend(Version::parse(&format!(
                    "{}.{}.{level}",
                    version.number(0),
                    version.number(1)
                )));
            }
            if let Some((_, vendor)) = version.build_numbers_and_vendor() {
                versions.extend(Version::parse(&format!(
                    "{}-0-{vendor}",
                    version.numeric_part()
                )));
            }
            versions.push(version);
        }
        // A fragment is tried at the beginning of a version and in its tail.
        let fragments = text_fragments(tests);
        let one = fragments
            .iter()
            .flat_map(|part| [part.clone(), format!("0-{part}"), format!("0-{part}-x")]);
        let few: Vec<&String> = fragments.iter().take(MAX_WORDS).collect();
        let two = few.iter().flat_map(|a| {
            few.iter()
                .flat_map(move |b| [format!("{a}-{b}"), format!("0-{a}-{b}")])
        });
        versions.extend(one.chain(two).filter_map(|text| Version::parse(&text)));
        versions
    }

    /// Every combination of the mentioned words and one other word. With more than `MAX_WORDS`
    /// words: the mentioned lists, the empty list, each word alone, and all words.
    fn candidate_lists(tests: &[&FactTest]) -> Vec<Vec<String>> {
        let mut words: BTreeSet<String> = BTreeSet::new();
        let mut lists = vec![Vec::new()];
        for test in tests {
            match &test.op {
                TestOperator::Has(word) => words.extend([word.clone()]),
                TestOperator::HasOption(option) => {
                    words.extend([format!("{option}=")]);
                }
                TestOperator::HasAny(more) => words.extend(more.iter().cloned()),
                TestOperator::Is(Value::List(list)) => {
                    words.extend(list.iter().cloned());
                    lists.push(list.clone());
                }
                _ => {}
            }
        }
        words.insert(format!("?{}", words.iter().cloned().collect::<String>()));
        if words.len() > MAX_WORDS {
            lists.extend(words.iter().map(|word| vec![word.clone()]));
            lists.push(words.into_iter().collect());
            return lists;
        }
        for word in words {
            let with = |list: &Vec<String>| [list.as_slice(), std::slice::from_ref(&word)].concat();
            let more: Vec<Vec<String>> = lists.iter().map(with).collect();
            lists.extend(more);
        }
        lists
    }
}

use std::collections::BTreeMap;

use super::Observation;
use super::bound_condition::{BoundCondition, ConditionNode};
use super::model::{Condition, FactTest};
use crate::facts::{MissingFact, Reading, Subject, Value};
use crate::ternary::Ternary;

const MAX_CONSTRAINT_SETS: usize = 128;

/// If more conditions than this are joined, only the first constraint set of each is used. A stack
/// of ten thousand layers would otherwise copy all sets for each layer.
const MANY_CONDITIONS: usize = 64;

/// The smallest sets of facts that would decide the condition. No set contains another. Sets with
/// the fewest facts come first, then sets whose facts have a remedy.
pub(super) fn smallest_deciding_fact_sets(
    condition: &BoundCondition<'_>,
    domains: &ValuesByTestResult<'_>,
) -> Vec<Vec<MissingFact>> {
    let answers = [true, false].map(|wanted| constraints_giving_result(condition, domains, wanted));
    let mut sets: Vec<BTreeMap<UnknownFact<'_>, &Observation>> = answers
        .iter()
        .flatten()
        .map(FactConstraints::required_facts)
        .collect();
    sets.sort_by(|a, b| {
        let by_count = a.len().cmp(&b.len());
        by_count.then_with(|| a.keys().cmp(b.keys()))
    });
    let mut smallest: Vec<BTreeMap<UnknownFact<'_>, &Observation>> = Vec::new();
    for set in sets {
        let contains =
            |small: &BTreeMap<UnknownFact<'_>, _>| small.keys().all(|fact| set.contains_key(fact));
        if !smallest.iter().any(contains) {
            smallest.push(set);
        }
    }
    let mut needs = Vec::with_capacity(smallest.len());
    needs.extend(smallest.iter().filter_map(missing_facts));
    let without_remedy =
        |set: &[MissingFact]| set.iter().filter(|need| need.remedy.is_none()).count();
    let weight = |set: &[MissingFact]| (set.len(), without_remedy(set));
    needs.sort_by(|a, b| weight(a).cmp(&weight(b)).then_with(|| a.cmp(b)));
    needs
}

/// For each test, the values that satisfy the test and those that fail it, computed once for all
/// subjects.
pub(super) struct ValuesByTestResult<'c>(Vec<(&'c FactTest, [ValueSet; 2])>);

/// Possible readings of a fact as a bit set. Bit 0 means that the fact stays unknown; each other
/// bit is one of its distinct values.
type ValueSet = u64;

/// The fact stays unknown. Tests of `known` and `exists` can still have a result.
const STAYS_UNKNOWN: ValueSet = 1;

impl<'c> ValuesByTestResult<'c> {
    pub fn new(cond: &'c Condition) -> Self {
        let mut by_fact: BTreeMap<&str, Vec<&FactTest>> = BTreeMap::new();
        cond.for_each_test(&mut |test| by_fact.entry(test.fact.name).or_default().push(test));
        let of_fact = |tests: Vec<&'c FactTest>| {
            let values = representative_values::values_with_distinct_test_results(&tests)
                .into_iter()
                .map(|value| Reading::known(value, representative_values::hypothetical_source()));
            let values: Vec<Reading<Value>> = values.collect();
            let fitting = |test: &FactTest, answer: Ternary| {
                let options = (1..)
                    .zip(&values)
                    .filter(|(_, value)| test.truth_for_reading(value) == answer);
                options.fold(0, |bits: ValueSet, (option, _)| bits | 1 << option)
            };
            let each = |test| {
                (
                    test,
                    [true, false].map(|answer| fitting(test, answer.into())),
                )
            };
            tests.into_iter().map(each).collect::<Vec<_>>()
        };
        Self(by_fact.into_values().flat_map(of_fact).collect())
    }

    fn values_giving_result(&self, test: &FactTest, wanted: bool) -> ValueSet {
        let is_it = |known: &FactTest| {
            (known.fact.id, known.negated) == (test.fact.id, test.negated) && known.op == test.op
        };
        let found = self.0.iter().find(|(known, _)| is_it(known));
        found.map_or(
            0,
            |(_, [holds, fails])| if wanted { *holds } else { *fails },
        )
    }
}

type UnknownFact<'g> = (&'g Subject, &'static str);

/// The acceptable values of some unknown facts.
#[derive(Clone, Debug, Default)]
struct FactConstraints<'g>(BTreeMap<UnknownFact<'g>, (ValueSet, &'g Observation)>);

impl<'g> FactConstraints<'g> {
    fn required_facts(&self) -> BTreeMap<UnknownFact<'g>, &'g Observation> {
        self.0
            .iter()
            .filter(|(_, (options, _))| options & STAYS_UNKNOWN == 0)
            .map(|(fact, (_, seen))| (*fact, *seen))
            .collect()
    }

    /// `None` if a fact has no value that meets both constraints.
    fn intersect_constraints(mut self, other: &Self) -> Option<Self> {
        for (fact, (options, seen)) in &other.0 {
            let (joined, _) = self.0.entry(*fact).or_insert((*options, *seen));
            *joined &= options;
            if *joined == 0 {
                return None;
            }
        }
        Some(self)
    }

    /// Whether all values that meet the constraints of `other` meet these too.
    fn is_implied_by(&self, other: &Self) -> bool {
        self.0.iter().all(|(fact, (ours, _))| {
            let theirs = other.0.get(fact);
            theirs.is_some_and(|(theirs, _)| theirs & !ours == 0)
        })
    }
}

fn constraints_giving_result<'g>(
    condition: &'g BoundCondition<'_>,
    domains: &ValuesByTestResult<'_>,
    wanted: bool,
) -> Vec<FactConstraints<'g>> {
    match (&condition.node, wanted) {
        (ConditionNode::Undecidable, _) => Vec::new(),
        (ConditionNode::Not(kid), wanted) => constraints_giving_result(kid, domains, !wanted),
        (ConditionNode::Test(test, seen), wanted) => {
            let as_it_is = test.truth_for_reading(&seen.reading) == Ternary::from(wanted);
            if seen.reading.is_known() {
                return as_it_is
                    .then(FactConstraints::default)
                    .into_iter()
                    .collect();
            }
            let fitting = domains.values_giving_result(test, wanted)
                | if as_it_is { STAYS_UNKNOWN } else { 0 };
            let fact = (&seen.subject, seen.fact);
            let constraint = FactConstraints(BTreeMap::from([(fact, (fitting, seen))]));
            (fitting != 0).then_some(constraint).into_iter().collect()
        }
        (ConditionNode::All(kids), true) | (ConditionNode::Any(kids), false) => {
            let Some((first, rest)) = kids.split_first() else {
                return Vec::new();
            };
            let most = if kids.len() > MANY_CONDITIONS {
                1
            } else {
                MAX_CONSTRAINT_SETS
            };
            let ways = |kid: &'g BoundCondition<'_>| {
                let mut ways = constraints_giving_result(kid, domains, wanted);
                ways.truncate(most);
                ways
            };
            // Most children have a single constraint set, which is joined without a copy, even in
            // a wide stack.
            let join =
                |so_far: Vec<FactConstraints<'g>>, kid: &'g BoundCondition<'_>| match ways(kid)
                    .as_slice()
                {
                    [only] if only.0.is_empty() => so_far,
                    [only] => so_far
                        .into_iter()
                        .filter_map(|way| way.intersect_constraints(only))
                        .collect(),
                    more => {
                        let pairs = so_far
                            .iter()
                            .flat_map(|way| more.iter().map(move |other| (way, other)));
                        minimal_constraint_sets(
                            pairs
                                .filter_map(|(way, other)| way.clone().intersect_constraints(other))
                                .collect(),
                        )
                    }
                };
            rest.iter().fold(ways(first), join)
        }
        (ConditionNode::All(kids), false) | (ConditionNode::Any(kids), true) => {
            minimal_constraint_sets(
                kids.iter()
                    .flat_map(|kid| constraints_giving_result(kid, domains, wanted))
                    .collect(),
            )
        }
    }
}

fn missing_facts(set: &BTreeMap<UnknownFact<'_>, &Observation>) -> Option<Vec<MissingFact>> {
    let need = |seen: &&Observation| {
        MissingFact::from_unknown_reading(&seen.subject, seen.fact, &seen.reading)
    };
    let mut needs = Vec::with_capacity(set.len());
    needs.extend(set.values().filter_map(need));
    (!needs.is_empty()).then_some(needs)
}

fn minimal_constraint_sets(mut ways: Vec<FactConstraints<'_>>) -> Vec<FactConstraints<'_>> {
    if ways.len() < 2 {
        return ways;
    }
    ways.sort_by_cached_key(|way| way.0.len());
    let mut kept: Vec<FactConstraints<'_>> = Vec::new();
    for way in ways {
        if kept.len() >= MAX_CONSTRAINT_SETS {
            break;
        }
        if !kept.iter().any(|other| other.is_implied_by(&way)) {
            kept.push(way);
        }
    }
    kept
}
