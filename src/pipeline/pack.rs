//! The rules and tables that come with walwise as one pack, and its identity in a run.

use std::sync::LazyLock;

use super::upgrade::DISTRIBUTIONS;
use crate::rules::pack::{self, Pack, Sums};
use crate::rules::{self, RuleSet};
use crate::validity;

/// The files that come with walwise: names and texts.
pub fn shipped() -> impl Iterator<Item = (&'static str, &'static str)> {
    let tables = validity::TABLES.iter().copied();
    let distributions = ("rules/tables/distributions.toml", DISTRIBUTIONS);
    rules::shipped().chain(tables).chain([distributions])
}

/// Their sums; the same in every run.
static SHIPPED: LazyLock<Sums> = LazyLock::new(|| pack::sums(shipped()));

/// The identity of a run's rules and tables.
pub fn pack(rules: &RuleSet) -> Pack {
    Pack::new(rules, env!("CARGO_PKG_VERSION"), &SHIPPED)
}

/// The fingerprint of the files that come with walwise.
pub fn shipped_fingerprint() -> String {
    pack::fingerprint(&SHIPPED)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever opened a source says so; of everything else it is said that nobody did.
    #[test]
    fn every_entry_says_when_it_was_checked() {
        for (name, text) in shipped() {
            let document: toml::Table = toml::from_str(text).unwrap();
            let rows = document
                .iter()
                .flat_map(|(kind, rows)| rows.as_array().unwrap().iter().map(move |row| (kind, row)));
            for (kind, row) in rows {
                let stamp = row.get("checked").and_then(toml::Value::as_str);
                let stamp = stamp.unwrap_or_else(|| panic!("{name}: [[{kind}]] without a stamp: {row}"));
                assert!(crate::checked::SourceCheck::parse(stamp).is_ok(), "{name}: {stamp}");
            }
        }
    }

    /// A table that is not listed would not count, and two packs with different rulings would look the same.
    #[test]
    fn every_rule_file_and_table_of_the_directory_counts() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut there = Vec::new();
        for directory in ["rules", "rules/tables"] {
            for entry in std::fs::read_dir(root.join(directory)).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "toml") {
                    there.push(format!("{directory}/{}", path.file_name().unwrap().display()));
                }
            }
        }
        there.sort();
        let mut counted: Vec<&str> = SHIPPED.iter().map(|(name, _)| name.as_str()).collect();
        counted.sort_unstable();
        assert_eq!(counted, there);
    }
}
