//! The examples of a rule, which are its tests.

use super::advice;
use super::cond::{self, Sight};
use super::fields::{CheckedTable, SpannedValue, TableSchema, Text, found, shown};
use super::value;
use crate::facts::{KeyInfo, Reading, Scope, Source, Value, ValueKind, Why};
use crate::rules::diagnostic::Diagnostics;
use crate::rules::model::{Example, ExampleStack, Expect, Given};

const EXAMPLE: TableSchema = TableSchema {
    what: "this example",
    required: &["name", "expect"],
    optional: &["facts", "leaves", "layers", "mounts", "advise"],
};
/// The notations of unknown readings.
const UNKNOWN: [(&str, Why); 6] = [
    ("?absent", Why::Absent),
    ("?denied", Why::Denied),
    ("?timed-out", Why::TimedOut),
    ("?malformed", Why::Malformed),
    ("?ambiguous", Why::Ambiguous),
    ("?not-collected", Why::NotCollected),
];

pub(super) fn example(
    item: SpannedValue<'_>,
    sight: &Sight,
    problems: &mut Diagnostics,
) -> Option<Example> {
    let before = problems.count();
    let fields = CheckedTable::open(item, &EXAMPLE, problems)?;
    let name = fields.text("name", problems);
    let facts = fields
        .get("facts")
        .map(|item| facts(item, sight, problems))
        .unwrap_or_default();
    let stack = stack(&fields, problems);
    let expect = fields.word("expect", &Expect::ALL, Expect::word, problems);
    let advise = fields.texts("advise", problems);
    for name in advise.iter().flatten() {
        advice::setting(name, problems);
    }
    if problems.count() > before {
        return None;
    }
    Some(Example {
        name: name?.text,
        facts,
        stack,
        expect: expect?,
        advise: advise.map(|names| names.into_iter().map(|name| name.text).collect()),
        line: problems.line(item.span().start),
    })
}

/// Facts that a subject sees, with their readings.
pub(super) fn facts(
    item: SpannedValue<'_>,
    sight: &Sight,
    problems: &mut Diagnostics,
) -> Vec<Given> {
    let named = given(item, problems, |name, problems| {
        cond::named(&name.text, &name.span, sight, problems)
    });
    values(named, problems)
}

type FactAssignments<'a> = Vec<(&'static KeyInfo, SpannedValue<'a>)>;

/// The facts of a table whose names `find` accepts.
fn given<'a>(
    item: SpannedValue<'a>,
    problems: &mut Diagnostics,
    mut find: impl FnMut(&Text, &mut Diagnostics) -> Option<&'static KeyInfo>,
) -> FactAssignments<'a> {
    let Some(table) = item.get_ref().as_table() else {
        problems.report(
            item,
            format!("facts are a table, found {}", found(item)),
            "{ \"mount.fstype\" = \"ext4\" }",
        );
        return Vec::new();
    };
    let mut named = Vec::new();
    for (key, item) in table {
        let name = Text {
            text: shown(key.get_ref()),
            span: key.span(),
        };
        named.extend(find(&name, problems).map(|fact| (fact, item)));
    }
    named
}

fn values(named: FactAssignments<'_>, problems: &mut Diagnostics) -> Vec<Given> {
    let read = named
        .into_iter()
        .filter_map(|(fact, item)| Some((fact, reading(fact, item, problems)?)));
    read.collect()
}

fn stack(fields: &CheckedTable<'_>, problems: &mut Diagnostics) -> Option<ExampleStack> {
    let listed = ["leaves", "layers", "mounts"]
        .iter()
        .any(|key| fields.get(key).is_some());
    let mut of = |key: &str, scope: Scope| -> Vec<Vec<Given>> {
        let mut elements = Vec::new();
        for item in fields.tables(key, problems) {
            let named = given(item, problems, |name, problems| {
                let fact = cond::find(&name.text, &name.span, problems)?;
                if fact.scope == scope {
                    return Some(fact);
                }
                problems.report(
                    name,
                    format!(
                        "{} is a fact of a {}, not of a {scope}",
                        fact.name, fact.scope
                    ),
                    format!("name facts of a {scope} here, and the others in `facts`"),
                );
                None
            });
            elements.push(values(named, problems));
        }
        elements
    };
    let stack = ExampleStack {
        leaves: of("leaves", Scope::Device),
        layers: of("layers", Scope::Device),
        mounts: of("mounts", Scope::Mount),
    };
    listed.then_some(stack)
}

/// A value, or `?why` for an unknown reading. A version that ends in ` backports` is of a vendor
/// that backports.
pub(super) fn reading(
    fact: &KeyInfo,
    item: SpannedValue<'_>,
    problems: &mut Diagnostics,
) -> Option<Reading<Value>> {
    if let Some(word) = item.get_ref().as_str().filter(|text| text.starts_with('?')) {
        let why = UNKNOWN.iter().find(|(name, _)| *name == word);
        if why.is_none() {
            problems.unknown(
                item,
                format!("`{}` is no way of being unknown", shown(word)),
                word,
                UNKNOWN.iter().map(|(name, _)| *name),
            );
        }
        return why.map(|(_, why)| Reading::unknown(*why, "the example says so"));
    }
    let mut value = value::value(fact, item, problems)?;
    if let (ValueKind::Version, Value::Version(version)) = (fact.kind, &value)
        && version.tail().ends_with(" backports")
    {
        value = Value::Version(version.clone().with_backports(true));
    }
    Some(Reading::known(value, Source::file("the example")))
}
