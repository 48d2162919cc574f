use super::condition::{self, FactVisibility};
use super::fields::{CheckedTable, Item, SpannedText, TableSchema, display_safe_name};
use super::{advice, value};
use crate::facts::{Choice, KeyInfo, Reading, Scope, Source, UnknownReason, Value, ValueKind};
use crate::rules::diagnostic::Place;
use crate::rules::model::{ExampleFact, ExampleStack, ExpectedOutcome, RuleExample};

const EXAMPLE_SCHEMA: TableSchema = TableSchema {
    what: "this example",
    required: &["name", "expect"],
    optional: &["facts", "leaves", "layers", "mounts", "advise"],
};
const UNKNOWN_READINGS: [(&str, UnknownReason); 6] = [
    ("?absent", UnknownReason::Absent),
    ("?denied", UnknownReason::Denied),
    ("?timed-out", UnknownReason::TimedOut),
    ("?malformed", UnknownReason::Malformed),
    ("?ambiguous", UnknownReason::Ambiguous),
    ("?not-collected", UnknownReason::NotCollected),
];

pub(super) fn parse_example(item: Item<'_>, sight: &FactVisibility) -> Option<RuleExample> {
    let fields = CheckedTable::from_item(item, &EXAMPLE_SCHEMA)?;
    let name = fields.parse_text_field("name");
    let facts = fields
        .get("facts")
        .map(|item| parse_facts(item, sight))
        .unwrap_or_default();
    let stack = parse_stack(&fields);
    let expect = fields.parse_choice("expect", ExpectedOutcome::ALL);
    let advise = fields.parse_text_list("advise");
    for name in advise.iter().flatten() {
        advice::find_setting(name);
    }
    if fields.has_mistakes() {
        return None;
    }
    Some(RuleExample {
        name: name?.text,
        facts,
        stack,
        expect: expect?,
        advise: advise.map(|names| names.into_iter().map(|name| name.text).collect()),
        line: fields.first_line,
    })
}

/// An example generated from a row. Facts of `other` replace those of `base` with the same name.
pub(super) fn generated_example(
    name: String,
    base: &RuleExample,
    other: Vec<ExampleFact>,
    expect: ExpectedOutcome,
) -> RuleExample {
    let mut facts = base.facts.clone();
    facts.retain(|(key, _)| other.iter().all(|(new, _)| new.name != key.name));
    facts.extend(other);
    RuleExample {
        name,
        facts,
        expect,
        ..base.clone()
    }
}

/// The generated example in which the fact is unknown.
pub(super) fn example_without_fact(base: &RuleExample, fact: &'static KeyInfo) -> RuleExample {
    let name = format!("{} is not known", fact.name);
    let denied = Reading::denied("specified by the example");
    generated_example(name, base, vec![(fact, denied)], ExpectedOutcome::Undecided)
}

pub(super) fn parse_facts(item: Item<'_>, sight: &FactVisibility) -> Vec<ExampleFact> {
    parse_fact_readings(item, |name| sight.find_fact(&name.text, name))
}

/// `find` looks up a fact that the example may state.
fn parse_fact_readings(
    item: Item<'_>,
    find: impl Fn(&SpannedText<'_>) -> Option<&'static KeyInfo>,
) -> Vec<ExampleFact> {
    let Some(table) = item.value().as_table() else {
        item.report_mistake(
            format!("facts must be a table, found {}", item.type_name()),
            "{ \"mount.fstype\" = \"ext4\" }",
        );
        return Vec::new();
    };
    let read = table.iter().filter_map(|(key, source)| {
        let fact = find(&SpannedText {
            text: display_safe_name(key.get_ref()),
            span: key.span(),
            problems: item.problems,
        })?;
        Some((fact, parse_reading(fact, Item { source, ..item })?))
    });
    read.collect()
}

pub(super) fn parse_stack(fields: &CheckedTable<'_>) -> Option<ExampleStack> {
    let listed = ["leaves", "layers", "mounts"]
        .iter()
        .any(|key| fields.get(key).is_some());
    let of = |key: &str, scope: Scope| -> Vec<Vec<ExampleFact>> {
        let find = |name: &SpannedText<'_>| {
            let fact = condition::find_fact(&name.text, name)?;
            if fact.scope == scope {
                return Some(fact);
            }
            name.report_mistake(
                format!(
                    "{} is a fact of a {}, not of a {scope}",
                    fact.name, fact.scope
                ),
                format!("list only facts of a {scope} here; list other facts in `facts`"),
            );
            None
        };
        let elements = fields.parse_list_field(key).into_iter();
        elements
            .map(|item| parse_fact_readings(item, find))
            .collect()
    };
    let stack = ExampleStack {
        leaves: of("leaves", Scope::Device),
        layers: of("layers", Scope::Device),
        mounts: of("mounts", Scope::Mount),
    };
    listed.then_some(stack)
}

/// Parses a value, or `?reason` for an unknown reading. The suffix ` backports` marks the version
/// of a vendor that backports fixes.
pub(super) fn parse_reading(fact: &KeyInfo, item: Item<'_>) -> Option<Reading<Value>> {
    if let Some(word) = item.value().as_str().filter(|text| text.starts_with('?')) {
        let why = UNKNOWN_READINGS.iter().find(|(name, _)| *name == word);
        if why.is_none() {
            item.report_unknown_word(
                format!(
                    "`{}` is not a reason for an unknown fact",
                    display_safe_name(word)
                ),
                word,
                UNKNOWN_READINGS.iter().map(|(name, _)| *name),
            );
        }
        return why.map(|(_, why)| Reading::unknown(*why, "specified by the example"));
    }
    let mut value = value::parse_value(fact, item)?;
    if let (ValueKind::Version, Value::Version(version)) = (fact.kind, &value)
        && version.vendor_tail().ends_with(" backports")
    {
        value = Value::Version(version.clone().with_backports(true));
    }
    Some(Reading::known(value, Source::from_file("the example")))
}
