//! Parses the TOML tables that are compiled into walwise. A row may carry a verification stamp,
//! which is removed before deserialisation.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::de::{DeTable, DeValue, Error, ValueDeserializer};

/// The field that holds the verification stamp of a row ([`crate::provenance`]).
pub const CHECKED: &str = "checked";

/// Deserialises a document whose top-level keys are arrays of rows, without the stamps of the rows.
pub fn parse_ignoring_verification_stamps<'t, T: Deserialize<'t>>(
    text: &'t str,
) -> Result<T, Error> {
    let mut document = DeTable::parse(text)?;
    for (_, kind) in document.get_mut().iter_mut() {
        let DeValue::Array(rows) = kind.get_mut() else {
            continue;
        };
        for row in rows.iter_mut() {
            if let DeValue::Table(fields) = row.get_mut() {
                fields.remove(CHECKED);
            }
        }
    }
    let span = document.span();
    let document = toml::Spanned::new(span, DeValue::Table(document.into_inner()));
    T::deserialize(ValueDeserializer::from(document))
}

/// The rows of a document that has rows of one kind.
pub fn parse_rows<'t, T: Deserialize<'t>>(text: &'t str) -> Result<Vec<T>, Error> {
    let kinds: BTreeMap<String, Vec<T>> = parse_ignoring_verification_stamps(text)?;
    Ok(kinds.into_values().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Version;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct TestedRows {
        row: Vec<TestedRow>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct TestedRow {
        since: Version,
    }

    #[test]
    fn stamps_are_dropped_and_unknown_fields_rejected() {
        let rows: TestedRows = parse_ignoring_verification_stamps(
            "[[row]]\nsince = \"6.1\"\nchecked = \"2026-11-23 against x\"\n",
        )
        .unwrap();
        assert_eq!(
            rows.row.first().unwrap().since,
            Version::parse("6.1").unwrap()
        );
        for (text, says) in [
            ("[[", "unquoted keys"),
            ("row = 1", "invalid type"),
            ("[[row]]\nsince = \"soon\"", "`soon` is not a version"),
            (
                "[[row]]\nsince = \"6.1\"\nsurprise = 1",
                "unknown field `surprise`",
            ),
            (
                "[[row]]\nsince = \"6.1\"\n[[surprise]]",
                "unknown field `surprise`",
            ),
        ] {
            let error = parse_ignoring_verification_stamps::<TestedRows>(text)
                .unwrap_err()
                .to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
