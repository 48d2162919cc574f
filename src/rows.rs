//! Reads a table of rows in TOML and reports all its mistakes at once, each with its line and its row.
//!
//! The meaning of a row is left to the owner of the table. Every row may say when it was checked, which its owner does
//! not see.

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::checked::SourceCheck;
use crate::text::lines::Lines;
use crate::version::Version;

/// The mistakes in a table.
#[derive(Default)]
pub struct TableErrors {
    lines: Lines,
    found: Vec<String>,
}

impl TableErrors {
    /// Adds a mistake in a row.
    pub fn add(&mut self, place: &str, what: impl std::fmt::Display) {
        self.found.push(format!("{place}: {what}"));
    }

    /// Where a position is, for people.
    fn place(&self, at: usize, what: &str) -> String {
        format!("line {}: {what}", self.lines.line(at))
    }

    pub fn version(&mut self, place: &str, text: &str) -> Option<Version> {
        let version = Version::parse(text);
        if version.is_none() {
            self.add(place, format!("`{text}` is no version"));
        }
        version
    }
}

/// Parses a text with rows of these kinds only; the error lists all mistakes.
pub fn read(
    text: &str,
    kinds: &[&str],
    put: impl FnOnce(&mut DeTable<'_>, &mut TableErrors),
) -> Result<(), Vec<String>> {
    let mut document = DeTable::parse(text).map_err(|error| vec![error.to_string()])?.into_inner();
    let mut problems = TableErrors { lines: Lines::new(text), found: Vec::new() };
    for name in document.keys().filter(|name| !kinds.contains(&name.get_ref().as_ref())) {
        let place = problems.place(name.span().start, name.get_ref());
        problems.add(&place, "no such table");
    }
    put(&mut document, &mut problems);
    if problems.found.is_empty() { Ok(()) } else { Err(problems.found) }
}

/// Takes the rows of one kind out of a document: the readable ones, each with its place; the others become problems.
pub fn rows<T: DeserializeOwned>(
    document: &mut DeTable<'_>,
    kind: &str,
    problems: &mut TableErrors,
) -> Vec<(String, T)> {
    let Some(found) = document.remove(kind) else { return Vec::new() };
    let start = found.span().start;
    let DeValue::Array(rows) = found.into_inner() else {
        let place = problems.place(start, kind);
        problems.add(&place, format!("write [[{kind}]]"));
        return Vec::new();
    };
    let mut read = Vec::new();
    for (index, mut row) in rows.into_iter().enumerate() {
        let span = row.span();
        let name = format!("{kind} {} ({})", index + 1, name(row.get_ref()).unwrap_or("?"));
        if let DeValue::Table(fields) = row.get_mut()
            && let Some(stamp) = fields.remove(CHECKED)
        {
            let read = stamp.get_ref().as_str().ok_or("write it in quotes").and_then(SourceCheck::parse);
            if let Err(how) = read {
                let place = problems.place(stamp.span().start, &name);
                problems.add(&place, format!("{CHECKED}: {how}"));
            }
        }
        match T::deserialize(ValueDeserializer::from(row)) {
            Ok(raw) => read.push((problems.place(span.start, &name), raw)),
            Err(error) => {
                let at = error.span().unwrap_or(span).start;
                let place = problems.place(at, &name);
                problems.add(&place, error.message());
            }
        }
    }
    read
}

/// The field with the stamp of a row.
pub const CHECKED: &str = "checked";

/// What a row is known by: the first of what it is about.
fn name<'v>(row: &'v DeValue<'_>) -> Option<&'v str> {
    let listed = row.get("names").or_else(|| row.get("words"));
    let first = listed.and_then(|names| names.get_ref().as_array()?.first()?.get_ref().as_str());
    first.or_else(|| row.get("feature")?.get_ref().as_str())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Row {
        names: Vec<String>,
        since: String,
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let text =
            "[[row]]\nnames = [\"a\"]\nsince = \"soon\"\n\n[[row]]\nnames = [\"b\"]\nsince = 1\n\n[other]\n";
        let found = read(text, &["row"], |document, problems| {
            for (place, row) in rows::<Row>(document, "row", problems) {
                assert_eq!(row.names, ["a"]);
                problems.version(&place, &row.since);
            }
        });
        let expected = [
            "line 9: other: no such table",
            "line 7: row 2 (b): invalid type: integer `1`, expected a string",
            "line 1: row 1 (a): `soon` is no version",
        ];
        assert_eq!(found.unwrap_err(), expected);
    }

    #[test]
    fn one_row_where_several_can_be_is_said() {
        let found =
            read("row = 1", &["row"], |document, problems| drop(rows::<Row>(document, "row", problems)));
        assert_eq!(found.unwrap_err(), ["line 1: row: write [[row]]"]);
    }
}
