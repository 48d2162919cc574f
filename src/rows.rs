//! Reads a table of rows in TOML and reports all its mistakes at once, each with its row.
//!
//! The meaning of a row is left to the owner of the table.

use serde::de::DeserializeOwned;

use crate::version::Version;

/// The mistakes in a table.
#[derive(Default)]
pub struct Problems(Vec<String>);

impl Problems {
    /// Adds a mistake in a row.
    pub fn add(&mut self, place: &str, what: impl std::fmt::Display) {
        self.0.push(format!("{place}: {what}"));
    }

    /// Reads a version.
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
    mut put: impl FnMut(&toml::Table, &mut Problems),
) -> Result<(), Vec<String>> {
    let document: toml::Table = match text.parse() {
        Ok(document) => document,
        Err(error) => return Err(vec![error.to_string()]),
    };
    let mut problems = Problems::default();
    for name in document.keys().filter(|name| !kinds.contains(&name.as_str())) {
        problems.add(name, "no such table");
    }
    put(&document, &mut problems);
    if problems.0.is_empty() { Ok(()) } else { Err(problems.0) }
}

/// The readable rows of one kind; the others become problems.
pub fn rows<T: DeserializeOwned>(
    document: &toml::Table,
    kind: &str,
    problems: &mut Problems,
) -> Vec<(String, T)> {
    let Some(found) = document.get(kind) else { return Vec::new() };
    let Some(found) = found.as_array() else {
        problems.add(kind, format!("write [[{kind}]]"));
        return Vec::new();
    };
    let mut read = Vec::new();
    for (index, row) in found.iter().enumerate() {
        let first = row
            .get("names")
            .or_else(|| row.get("words"))
            .and_then(|names| names.as_array()?.first()?.as_str());
        let name = first.or_else(|| row.get("feature")?.as_str()).unwrap_or("?");
        let place = format!("{kind} {} ({name})", index + 1);
        match row.clone().try_into() {
            Ok(raw) => read.push((place, raw)),
            Err(error) => problems.add(&place, error.to_string().trim()),
        }
    }
    read
}
