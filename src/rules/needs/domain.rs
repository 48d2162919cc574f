//! The values of a fact that its tests distinguish: a sufficient set, so that any other value gives the same results as
//! one of these.

use std::collections::BTreeSet;

use crate::facts::{Source, Value, ValueKind};
use crate::rules::model::{Op, Test};
use crate::truth::Truth;
use crate::version::Version;

/// One bit of a word is reserved for "not known".
const MOST_OPTIONS: usize = 63;
/// The largest number of words in a list for which every combination is tried.
const MOST_WORDS: usize = 8;

/// The source of a value that might be learnt.
pub(super) fn learnt() -> Source {
    Source::file("what is still to be read")
}

/// The values that the tests (all of one fact) distinguish, each once.
pub(in crate::rules) fn values(tests: &[&Test]) -> Vec<Value> {
    let Some(first) = tests.first() else { return Vec::new() };
    let mut answers: Vec<Vec<Truth>> = Vec::new();
    let mut values = Vec::new();
    for value in candidates(first.fact.kind, tests) {
        let answer: Vec<Truth> = tests.iter().map(|test| test.op.holds(&value)).collect();
        if !answers.contains(&answer) && values.len() < MOST_OPTIONS {
            answers.push(answer);
            values.push(value);
        }
    }
    values
}

fn candidates(kind: ValueKind, tests: &[&Test]) -> Vec<Value> {
    let mentioned = || tests.iter().flat_map(|test| mentioned(&test.op));
    match kind {
        ValueKind::Bool => vec![Value::Bool(true), Value::Bool(false)],
        ValueKind::Choice(words) => words.iter().map(|word| Value::Text((*word).to_owned())).collect(),
        ValueKind::Text => {
            let words: BTreeSet<String> = mentioned().map(|value| value.to_string()).collect();
            let fragments = fragments(tests);
            let all = || words.iter().chain(&fragments);
            // A text that begins with, ends with and contains none of the fragments.
            let strange =
                ('a'..='z').chain(['?']).find(|c| !all().any(|one| one.contains(*c))).unwrap_or('?');
            let other = std::iter::repeat_n(strange, 1 + all().map(String::len).max().unwrap_or(0)).collect();
            let written = words.iter().cloned().chain(joined(&fragments, strange));
            written.chain([other]).map(Value::Text).collect()
        }
        ValueKind::Count | ValueKind::Bytes => {
            let near = mentioned().filter_map(|value| match value {
                Value::Whole(number) => Some([number.saturating_sub(1), number, number.saturating_add(1)]),
                _ => None,
            });
            [0].into_iter().chain(near.flatten()).map(Value::Whole).collect()
        }
        ValueKind::Micros | ValueKind::Number => {
            let numbers = mentioned().filter_map(|value| match value {
                Value::Number(number) => Some(number),
                _ => None,
            });
            around(numbers.collect()).into_iter().map(Value::Number).collect()
        }
        ValueKind::Version => versions(tests).into_iter().map(Value::Version).collect(),
        ValueKind::List | ValueKind::Choices(_) => lists(tests).into_iter().map(Value::List).collect(),
    }
}

/// The values that a test names.
fn mentioned(op: &Op) -> Vec<Value> {
    match op {
        Op::Is(value) | Op::IsNot(value) | Op::AtLeast(value) | Op::Below(value) => vec![value.clone()],
        Op::In(values) | Op::NotIn(values) => values.clone(),
        Op::FixedIn(versions) => versions.iter().cloned().map(Value::Version).collect(),
        Op::InRange(range) => range.mentioned().cloned().map(Value::Version).collect(),
        Op::BuildAtLeast(version) | Op::BuildBelow(version) => vec![Value::Version(version.clone())],
        Op::Has(_)
        | Op::Lacks(_)
        | Op::HasAny(_)
        | Op::HasOption(_)
        | Op::LacksOption(_)
        | Op::StartsWith(_)
        | Op::EndsWith(_)
        | Op::Contains(_)
        | Op::Known(_)
        | Op::Exists(_) => Vec::new(),
    }
}

/// The pieces of texts that tests name.
fn fragments(tests: &[&Test]) -> BTreeSet<String> {
    let one = |test: &&Test| match &test.op {
        Op::StartsWith(part) | Op::EndsWith(part) | Op::Contains(part) => Some(part.clone()),
        _ => None,
    };
    tests.iter().filter_map(one).collect()
}

/// Texts with one or two pieces, at the beginning, at the end, and around a text that contains none.
fn joined(fragments: &BTreeSet<String>, strange: char) -> Vec<String> {
    let one = fragments.iter().flat_map(|part| {
        [
            part.clone(),
            format!("{part}{strange}"),
            format!("{strange}{part}"),
            format!("{strange}{part}{strange}"),
        ]
    });
    let few: Vec<&String> = fragments.iter().take(MOST_WORDS).collect();
    let two = few.iter().flat_map(|a| few.iter().map(move |b| format!("{a}{strange}{b}")));
    one.chain(two).collect()
}

/// The numbers, one between each two neighbours, and one on either side.
fn around(mut numbers: Vec<f64>) -> Vec<f64> {
    numbers.sort_by(f64::total_cmp);
    let between = numbers.windows(2).filter_map(|pair| match pair {
        [a, b] => Some(f64::midpoint(*a, *b)),
        _ => None,
    });
    let below = numbers.first().map_or(0.0, |number| number - 1.0);
    let above = numbers.last().map_or(0.0, |number| number + 1.0);
    [below, above].into_iter().chain(between).chain(numbers.iter().copied()).collect()
}

/// The versions, one just above each, the one just before a fix in its line, and one below all.
fn versions(tests: &[&Test]) -> Vec<Version> {
    let mut versions: Vec<Version> = Version::parse("0").into_iter().collect();
    for value in tests.iter().flat_map(|test| mentioned(&test.op)) {
        let Value::Version(version) = value else { continue };
        versions.extend(Version::parse(&format!("{}.0.0.0.1", version.base())));
        if let Some(level) = version.number(2).checked_sub(1) {
            versions.extend(Version::parse(&format!("{}.{}.{level}", version.number(0), version.number(1))));
        }
        if let Some((_, vendor)) = version.build() {
            versions.extend(Version::parse(&format!("{}-0-{vendor}", version.base())));
        }
        versions.push(version);
    }
    // A piece of a version stands in its tail, or begins it.
    let fragments = fragments(tests);
    let one = fragments.iter().flat_map(|part| [part.clone(), format!("0-{part}"), format!("0-{part}-x")]);
    let few: Vec<&String> = fragments.iter().take(MOST_WORDS).collect();
    let two =
        few.iter().flat_map(|a| few.iter().flat_map(move |b| [format!("{a}-{b}"), format!("0-{a}-{b}")]));
    versions.extend(one.chain(two).filter_map(|text| Version::parse(&text)));
    versions
}

/// Every combination of the words that tests name and of one that none names; for many words only none, each and all.
fn lists(tests: &[&Test]) -> Vec<Vec<String>> {
    let mut words: BTreeSet<String> = BTreeSet::new();
    let mut lists = vec![Vec::new()];
    for test in tests {
        match &test.op {
            Op::Has(word) | Op::Lacks(word) => words.extend([word.clone()]),
            Op::HasOption(option) | Op::LacksOption(option) => words.extend([format!("{option}=")]),
            Op::HasAny(more) => words.extend(more.iter().cloned()),
            Op::Is(Value::List(list)) | Op::IsNot(Value::List(list)) => {
                words.extend(list.iter().cloned());
                lists.push(list.clone());
            }
            _ => {}
        }
    }
    words.insert(format!("?{}", words.iter().cloned().collect::<String>()));
    if words.len() > MOST_WORDS {
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
