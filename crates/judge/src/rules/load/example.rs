use super::condition::{self, FactVisibility};
use super::fields::{
    CheckedTable, SpannedText, SpannedValue, TableSchema, display_safe_name, toml_type_name,
};
use super::{advice, value};
use crate::facts::{Choice, KeyInfo, Reading, Scope, Source, UnknownReason, Value, ValueKind};
use crate::rules::diagnostic::DiagnosticCollector;
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

pub(super) fn parse_example(
    item: SpannedValue<'_>,
    sight: &FactVisibility,
    problems: &DiagnosticCollector,
) -> Option<RuleExample> {
    let before = problems.mistake_count();
    let fields = CheckedTable::from_item(item, &EXAMPLE_SCHEMA, problems)?;
    let name = fields.parse_text_field("name");
    let facts = fields
        .get("facts")
        .map(|item| parse_facts(item, sight, problems))
        .unwrap_or_default();
    let stack = parse_stack(&fields);
    let expect = fields.parse_choice("expect", ExpectedOutcome::ALL);
    let advise = fields.parse_text_list("advise");
    for name in advise.iter().flatten() {
        advice::find_setting(name, problems);
    }
    if problems.mistake_count() > before {
        return None;
    }
    Some(RuleExample {
        name: name?.text,
        facts,
        stack,
        expect: expect?,
        advise: advise.map(|names| names.into_iter().map(|name| name.text).collect()),
        line: problems.line_of_offset(item.span().start),
    })
}

/// The reading of the fact that a generated example leaves unknown.
pub(super) fn denied_example_reading() -> Reading<Value> {
    Reading::denied("specified by the example")
}

/// Facts of `other` replace those of the same name, and the rest of `other` is added.
pub(super) fn facts_with_replaced_readings(
    facts: &[ExampleFact],
    other: &[ExampleFact],
) -> Vec<ExampleFact> {
    let kept = facts
        .iter()
        .filter(|(key, _)| !other.iter().any(|(new, _)| new.name == key.name));
    kept.chain(other).cloned().collect()
}

pub(super) fn parse_facts(
    item: SpannedValue<'_>,
    sight: &FactVisibility,
    problems: &DiagnosticCollector,
) -> Vec<ExampleFact> {
    parse_fact_readings(item, problems, |name| {
        condition::find_visible_fact(&name.text, &name.span, sight, problems)
    })
}

/// `find` looks up a fact that the example may state.
fn parse_fact_readings(
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
    find: impl Fn(&SpannedText) -> Option<&'static KeyInfo>,
) -> Vec<ExampleFact> {
    let Some(table) = item.get_ref().as_table() else {
        problems.report_mistake(
            item,
            format!("facts must be a table, found {}", toml_type_name(item)),
            "{ \"mount.fstype\" = \"ext4\" }",
        );
        return Vec::new();
    };
    let read = table.iter().filter_map(|(key, item)| {
        let fact = find(&SpannedText {
            text: display_safe_name(key.get_ref()),
            span: key.span(),
        })?;
        Some((fact, parse_reading(fact, item, problems)?))
    });
    read.collect()
}

pub(super) fn parse_stack(fields: &CheckedTable<'_>) -> Option<ExampleStack> {
    let listed = ["leaves", "layers", "mounts"]
        .iter()
        .any(|key| fields.get(key).is_some());
    let problems = fields.problems;
    let of = |key: &str, scope: Scope| -> Vec<Vec<ExampleFact>> {
        let find = |name: &SpannedText| {
            let fact = condition::find_fact(&name.text, &name.span, problems)?;
            if fact.scope == scope {
                return Some(fact);
            }
            problems.report_mistake(
                name,
                format!(
                    "{} is a fact of a {}, not of a {scope}",
                    fact.name, fact.scope
                ),
                format!("list only facts of a {scope} here; list other facts in `facts`"),
            );
            None
        };
        let elements = fields.parse_list_field(key).iter();
        elements
            .map(|item| parse_fact_readings(item, problems, find))
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
pub(super) fn parse_reading(
    fact: &KeyInfo,
    item: SpannedValue<'_>,
    problems: &DiagnosticCollector,
) -> Option<Reading<Value>> {
    if let Some(word) = item.get_ref().as_str().filter(|text| text.starts_with('?')) {
        let why = UNKNOWN_READINGS.iter().find(|(name, _)| *name == word);
        if why.is_none() {
            problems.report_unknown_word(
                item,
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
    let mut value = value::parse_value(fact, item, problems)?;
    if let (ValueKind::Version, Value::Version(version)) = (fact.kind, &value)
        && version.vendor_tail().ends_with(" backports")
    {
        value = Value::Version(version.clone().with_backports(true));
    }
    Some(Reading::known(value, Source::from_file("the example")))
}
