//! Reads the table of options and reports all its mistakes at once, each with its row.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::Effect;
use super::form::{Counts, Form, Number, Size};
use super::life::{EffectChange, Life, release};
use super::table::{CombinedEffect, OptionConflict, OptionEntry, Table, Undone};
use crate::rows::{TableErrors, read, rows};

/// Options of the three file systems that are advised, compiled in.
pub const OPTIONS: &str = include_str!("../../rules/tables/validity.toml");
/// Features that kernels are built with, compiled in.
pub const SYSTEMS: &str = include_str!("../../rules/tables/systems.toml");
/// Both, which form one table.
pub const TEXT: &str = concat!(
    include_str!("../../rules/tables/validity.toml"),
    "\n",
    include_str!("../../rules/tables/systems.toml")
);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    from: String,
    is: Effect,
    #[serde(default)]
    because: Option<String>,
    #[serde(default)]
    source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawInForce {
    option: String,
    is: Effect,
    because: String,
}

/// A value that is neither a number nor a size nor a fixed word.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ValueType {
    Text,
}

/// Whether tests mount with an option.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Tried {
    #[default]
    WhereTaken,
    Never,
}

impl Tried {
    fn is_never(&self) -> bool {
        matches!(self, Self::Never)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOptions {
    of: Vec<String>,
    names: Vec<String>,
    steps: Vec<RawStep>,
    #[serde(default)]
    vendors: BTreeMap<String, Vec<RawStep>>,
    #[serde(default)]
    number: bool,
    range: Option<[u64; 2]>,
    perhaps: Option<u64>,
    #[serde(default)]
    also: Vec<u64>,
    #[serde(default)]
    counts: Counts,
    #[serde(default)]
    size: bool,
    takes: Option<ValueType>,
    words: Option<Vec<String>>,
    #[serde(rename = "try")]
    example: Option<String>,
    #[serde(default)]
    needs_any: Vec<String>,
    without: Option<Effect>,
    #[serde(default)]
    in_force: Vec<RawInForce>,
    #[serde(default)]
    shown_as: Vec<String>,
    #[serde(default)]
    not_on_ext3: bool,
    #[serde(default)]
    tried: Tried,
    #[serde(default)]
    because: String,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawUndone {
    of: Vec<String>,
    words: Vec<String>,
    by: Option<Vec<String>>,
    #[serde(default)]
    but: Vec<String>,
    leaves: Option<String>,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawConflict {
    of: Vec<String>,
    words: Vec<String>,
    beside: Vec<String>,
    #[serde(default)]
    but: Vec<String>,
    steps: Vec<RawStep>,
    because: String,
    source: String,
}

/// The table compiled into walwise. If it does not load, which a test excludes, everything in it is unknown.
pub fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| load(TEXT).unwrap_or_default());
    &TABLE
}

/// Parses a table; the error lists all mistakes.
pub fn load(text: &str) -> Result<Table, Vec<String>> {
    let mut table = Table::default();
    read(text, &["options", "undone", "conflict"], |document, problems| {
        for (place, raw) in rows::<RawOptions>(document, "options", problems) {
            options(&mut table, &place, raw, problems);
        }
        for (place, raw) in rows::<RawUndone>(document, "undone", problems) {
            table.undone.extend(undone(&place, raw, problems));
        }
        for (place, raw) in rows::<RawConflict>(document, "conflict", problems) {
            let steps = steps_of(raw.steps, &place, &raw.because, &raw.source, problems);
            let life = Life { steps, vendors: BTreeMap::new() };
            let RawConflict { of, words, beside, but, .. } = raw;
            table.conflicts.push(OptionConflict { of, words, beside, but, life });
        }
    })?;
    Ok(table)
}

fn options(table: &mut Table, place: &str, raw: RawOptions, problems: &mut TableErrors) {
    if raw.source.is_empty() {
        problems.add(place, "a row needs a source");
    }
    let form = form(&raw, place, problems);
    let mut read = |steps: Vec<RawStep>, what: &str| {
        steps_of(steps, &format!("{place}, {what}"), &raw.because, &raw.source, problems)
    };
    let steps = read(raw.steps, "steps");
    let vendors =
        raw.vendors.into_iter().map(|(vendor, steps)| (vendor.clone(), read(steps, &vendor))).collect();
    let index = table.rows.len();
    for of in &raw.of {
        for name in &raw.names {
            let taken = table.names.insert((of.clone(), name.clone()), index);
            if taken.is_some() {
                problems.add(place, format!("`{name}` of {of} stands there twice"));
            }
        }
    }
    let in_force = |raw: RawInForce| CombinedEffect { option: raw.option, is: raw.is, because: raw.because };
    table.rows.push(OptionEntry {
        life: Life { steps, vendors },
        form,
        example: raw.example,
        needs_any: raw.needs_any,
        without: raw.without.unwrap_or(Effect::Refused),
        in_force: raw.in_force.into_iter().map(in_force).collect(),
        shown_as: raw.shown_as,
        not_on_ext3: raw.not_on_ext3,
        untried: raw.tried.is_never(),
        because: raw.because,
        source: raw.source,
    });
}

/// A row about options that revoke others; a source is required.
fn undone(place: &str, raw: RawUndone, problems: &mut TableErrors) -> Option<Undone> {
    if raw.source.is_empty() {
        problems.add(place, "a row needs a source");
        return None;
    }
    let by = raw.by.unwrap_or_else(|| raw.words.clone());
    Some(Undone { of: raw.of, words: raw.words, by, but: raw.but, leaves: raw.leaves })
}

fn form(raw: &RawOptions, place: &str, problems: &mut TableErrors) -> Form {
    let takes_value = raw.names.iter().any(|name| name.ends_with('='));
    let described = raw.number || raw.size || raw.takes.is_some() || raw.words.is_some();
    if described && !takes_value {
        problems.add(place, "no name ends in `=`, so there is no value to describe");
    }
    let bounded = raw.range.is_some() || raw.perhaps.is_some() || !raw.also.is_empty();
    if bounded && !raw.number && !raw.size {
        problems.add(place, "a range belongs to a number or a size");
    }
    let [low, high] = raw.range.unwrap_or([0, INT_MAX]);
    match (&raw.words, raw.number, raw.size, raw.takes.is_some()) {
        (None, false, false, false) => Form::Any,
        (None, false, false, true) => Form::Text,
        (None, true, false, false) => Form::Number(Number {
            low,
            high,
            perhaps: raw.perhaps.unwrap_or(if raw.range.is_some() { high } else { UINT_MAX }),
            also: raw.also.clone(),
            power_of_two: matches!(raw.counts, Counts::PowerOfTwo),
        }),
        (None, false, true, false) => {
            Form::Size(Size { low, high, also: raw.also.clone(), counts: raw.counts })
        }
        (Some(words), false, false, false) => Form::Words(words.clone()),
        _ => {
            problems
                .add(place, "a value is a number, a size, a text or one of some words, not several of these");
            Form::Any
        }
    }
}

/// The largest number that every kernel accepts, and the largest that some accept.
const INT_MAX: u64 = 0x7fff_ffff;
const UINT_MAX: u64 = 0xffff_ffff;

fn steps_of(
    steps: Vec<RawStep>,
    place: &str,
    because: &str,
    source: &str,
    problems: &mut TableErrors,
) -> Vec<EffectChange> {
    if steps.is_empty() {
        problems.add(place, "no step");
    }
    let mut read: Vec<EffectChange> = Vec::new();
    for raw in steps {
        let Some(from) = problems.version(place, &raw.from) else { continue };
        if read.last().is_some_and(|last| (&last.from, release(&last.from)) >= (&from, release(&from))) {
            problems.add(place, format!("`{}` does not come after the step before it", raw.from));
        }
        let because = raw.because.unwrap_or_else(|| because.to_owned());
        if because.is_empty() && raw.is.is_wrong() {
            problems.add(place, format!("from {} it is {}: say why", raw.from, raw.is.word()));
        }
        read.push(EffectChange {
            from,
            is: raw.is,
            because,
            source: raw.source.unwrap_or_else(|| source.to_owned()),
        });
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_loads() {
        let table = load(TEXT).unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
        assert!(table.names.len() > 250, "{}", table.names.len());
    }

    #[test]
    fn everything_wrong_is_said_at_once() {
        let problems = load(
            r#"
            [[options]]
            of = ["xfs"]
            names = ["a"]
            number = true
            source = "s"
            steps = [{ from = "4.19", is = "refused" }, { from = "4.10", is = "ok" }]
            [[options]]
            of = ["xfs"]
            names = ["a", "b"]
            source = ""
            steps = []
            [[options]]
            of = ["xfs"]
            names = ["c"]
            source = "s"
            steps = [{ from = "soon", is = "gone" }]
            [[surprise]]
            "#,
        )
        .unwrap_err();
        let all = problems.join("\n");
        for expected in [
            "there is no value to describe",
            "say why",
            "does not come after",
            "needs a source",
            "no step",
            "`a` of xfs stands there twice",
            "options 3 (c)",
            "surprise: no such table",
        ] {
            assert!(all.contains(expected), "{expected} is not in:\n{all}");
        }
    }

    #[test]
    fn text_that_is_no_toml_is_one_problem() {
        assert_eq!(load("[[").unwrap_err().len(), 1);
    }
}
