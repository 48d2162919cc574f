//! Identity of the rules and tables behind a report: a version, and a fingerprint that changes with
//! any edit.
//!
//! The fingerprint can be reproduced: it is the SHA-256 of the output of `sha256sum` for the files,
//! sorted by name. Users' files count by base name, so their directory does not matter.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::rule_set::RuleSet;
use super::{DisabledRule, ExpiredRuleOverride, LevelOverride, UserRuleFile, sha256_hex};

/// The rules and tables in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pack {
    /// The version of walwise and of the rules that it ships.
    pub version: String,
    /// SHA-256 of all rules and tables in force, users' files included. Reports with equal values
    /// come from the same rules.
    pub sha256: String,
    /// SHA-256 of the rules and tables that come with walwise.
    pub shipped_sha256: String,
    /// Rule files of the user, with their SHA-256.
    pub user_files: Vec<UserRuleFile>,
    /// Rules to which a user's file gives another level.
    pub overrides: Vec<LevelOverride>,
    /// Rules that a user's file disables.
    pub off: Vec<DisabledRule>,
    /// Entries of users' files whose last day has passed.
    pub expired: Vec<ExpiredRuleOverride>,
}

/// File names, each with the SHA-256 of the contents.
pub type FileSums = Vec<(String, String)>;

pub fn sha256_by_file_name<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> FileSums {
    files
        .into_iter()
        .map(|(name, text)| (name.to_owned(), sha256_hex(text.as_bytes())))
        .collect()
}

impl Pack {
    pub fn new(rules: &RuleSet, version: &str, shipped: &FileSums) -> Self {
        let users = rules
            .user_files()
            .iter()
            .map(|file| (file.name_in_pack_fingerprint(), file.sha256.clone()));
        let all: FileSums = shipped.iter().cloned().chain(users).collect();
        Self {
            version: version.to_owned(),
            sha256: fingerprint(&all),
            shipped_sha256: fingerprint(shipped),
            user_files: rules.user_files().to_vec(),
            overrides: rules.level_overrides().to_vec(),
            off: rules.disabled_rules().to_vec(),
            expired: rules.expired_overrides().to_vec(),
        }
    }

    /// The pack in a few words: `pack 0.1.0, 3f2a9c81d04e`.
    pub fn version_and_short_fingerprint(&self) -> String {
        let sum = self.sha256.get(..12).unwrap_or(&self.sha256);
        let own = match self.user_files.len() {
            0 => String::new(),
            1 => ", with a file of your own".to_owned(),
            count => format!(", with {count} files of your own"),
        };
        format!("pack {}, {sum}{own}", self.version)
    }

    /// The rule's level without users' files; `None` if no file changes it.
    pub fn level_before_override(&self, rule: &str) -> Option<super::Level> {
        self.overrides
            .iter()
            .find(|given| given.rule == rule)
            .map(|given| given.was)
    }
}

pub fn fingerprint(sums: &FileSums) -> String {
    let mut lines: Vec<(&str, &str)> = sums
        .iter()
        .map(|(name, sum)| (name.as_str(), sum.as_str()))
        .collect();
    lines.sort_unstable();
    let mut text = String::new();
    for (name, sum) in lines {
        let _ = writeln!(text, "{sum}  {name}");
    }
    sha256_hex(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{ExampleLoading, RuleFile};

    /// The input and its sum are the example of FIPS 180-4.
    #[test]
    fn sha256_matches_fips_example() {
        assert_eq!(
            sha256_hex(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn fingerprint_depends_on_base_names_and_contents() {
        let shipped = sha256_by_file_name([("rules/a.toml", "a"), ("rules/b.toml", "b")]);
        let with = |name: &str, text: &str| {
            let file = RuleFile {
                name: name.to_owned(),
                text: text.to_owned(),
            };
            Pack::new(
                &RuleSet::builtin_and_user_files(
                    &[file],
                    ExampleLoading::Skipped,
                    jiff::civil::Date::MIN,
                )
                .0,
                "1",
                &shipped,
            )
            .sha256
        };
        let none = Pack::new(&RuleSet::default(), "1", &shipped);
        assert_eq!(none.sha256, none.shipped_sha256);
        assert_eq!(
            with("/etc/walwise/rules.d/x.toml", "# x"),
            with("elsewhere/x.toml", "# x")
        );
        let mut all = vec![
            none.sha256,
            with("x.toml", "# x"),
            with("y.toml", "# x"),
            with("x.toml", "# y"),
        ];
        for other in [
            [("rules/a.toml", "a"), ("rules/b.toml", "B")],
            [("rules/a.toml", "b"), ("rules/b.toml", "a")],
        ] {
            all.push(fingerprint(&sha256_by_file_name(other)));
        }
        let different: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(different.len(), all.len(), "{all:?}");
    }
}
