//! Entries of the pack. A row with several names, such as ten mount options, is one entry. A
//! comparison counts each name separately, so that a name can move to another row without changing
//! the others.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Value;
use toml::de::{DeTable, ValueDeserializer};

use walwise_model::provenance::VerificationStamp;
use walwise_model::text::line_index::LineIndex;
use walwise_model::toml_table::CHECKED;

pub struct PackEntry {
    pub file: String,
    /// The line where the entry begins, from 1.
    pub line: usize,
    /// The word in double brackets above the entry, such as `rule` or `options`.
    pub kind: String,
    /// One or more names: the id of a rule, or words such as `ext4 nobarrier`.
    pub names: Vec<String>,
    /// When the entry was checked, and against which source; `None` in old packs.
    pub checked: Option<VerificationStamp>,
    /// All fields except those with the names and the stamp.
    pub fields: BTreeMap<String, Value>,
}

/// Fields that name a row, by priority.
const NAMING_FIELDS: [&str; 6] = ["id", "names", "words", "feature", "version", "releases"];
/// The field with the owner of the names, such as a file system.
const OWNER_FIELD: &str = "of";

/// Parses the entries of files, given as name and text; the error names the file.
pub fn parse_entries<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f str)>,
) -> Result<Vec<PackEntry>, String> {
    let mut all = Vec::new();
    for (name, text) in files {
        all.extend(parse_file_entries(name, text)?);
    }
    Ok(all)
}

fn parse_file_entries(file: &str, text: &str) -> Result<Vec<PackEntry>, String> {
    let document = DeTable::parse(text).map_err(|error| format!("{file}: {}", error.message()))?;
    let lines = LineIndex::new(text);
    let mut found = Vec::new();
    for (kind, rows) in document.get_ref() {
        let kind = kind.get_ref();
        let rows = rows
            .get_ref()
            .as_array()
            .ok_or_else(|| format!("{file}: write each entry as [[{kind}]]"))?;
        for row in rows {
            let read = BTreeMap::<String, Value>::deserialize(ValueDeserializer::from(row.clone()));
            let fields = read.map_err(|error| format!("{file}: {}", error.message()))?;
            found.push(entry_from_row(
                file,
                lines.line_number(row.span().start),
                kind,
                fields,
            ));
        }
    }
    found.sort_by_key(|entry| entry.line);
    Ok(found)
}

fn entry_from_row(
    file: &str,
    line: usize,
    kind: &str,
    mut fields: BTreeMap<String, Value>,
) -> PackEntry {
    let stamp = fields.remove(CHECKED);
    let stamp = stamp
        .as_ref()
        .and_then(Value::as_str)
        .map(VerificationStamp::parse);
    let checked = stamp.and_then(Result::ok);
    let owners = fields
        .remove(OWNER_FIELD)
        .map(|value| collect_strings(&value))
        .unwrap_or_default();
    let naming = NAMING_FIELDS
        .iter()
        .find(|name| fields.contains_key(**name));
    let own = naming
        .and_then(|name| fields.remove(*name))
        .map(|value| collect_strings(&value))
        .unwrap_or_default();
    let names = match (owners.is_empty(), own.is_empty()) {
        (true, _) => own,
        (false, true) => owners,
        (false, false) => owners
            .iter()
            .flat_map(|of| own.iter().map(move |name| format!("{of} {name}")))
            .collect(),
    };
    PackEntry {
        file: file.to_owned(),
        line,
        kind: kind.to_owned(),
        names,
        checked,
        fields,
    }
}

fn collect_strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(collect_strings).collect(),
        Value::Table(table) => table
            .iter()
            .map(|(key, value)| format!("{key} = {}", display_value(value)))
            .collect(),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {
            vec![display_value(value)]
        }
    }
}

pub fn display_value(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_their_names_line_and_stamp() {
        let text = "# first\n[[options]]\nof = [\"ext4\", \"xfs\"]\nnames = [\"a\", \"b\"]\nsource = \"s\"\n\
                    checked = \"2026-11-23 against mount(8)\"\n\n[[rule]]\nid = \"x.y\"\nrefs = []\n";
        let found = parse_entries([("f.toml", text)]).unwrap();
        let told: Vec<_> = found
            .iter()
            .map(|one| (one.line, one.kind.as_str(), one.names.join(", ")))
            .collect();
        assert_eq!(
            told,
            [
                (2, "options", "ext4 a, ext4 b, xfs a, xfs b".to_owned()),
                (8, "rule", "x.y".to_owned())
            ]
        );
        let stamps = found.iter().map(|one| one.checked.as_ref());
        let stamps = stamps.map(|stamp| stamp.map(ToString::to_string));
        assert!(stamps.eq([Some("2026-11-23 against mount(8)".to_owned()), None]));
        assert_eq!(found[0].fields.keys().collect::<Vec<_>>(), ["source"]);
    }

    #[test]
    fn malformed_rows_are_rejected() {
        for text in [
            "[rule]\nid = \"a.b\"\n",
            "rule = 1\n",
            "rule = [1]\n",
            "[[rule]\n",
        ] {
            assert!(
                parse_entries([("f.toml", text)]).is_err_and(|why| why.starts_with("f.toml: ")),
                "{text}"
            );
        }
    }
}
