//! Rules: conditions over facts, with advice, as data in `rules/*.toml`. Conditions are true, false
//! or unknown, and each rule carries its own examples.
//!
//! Advice that can lose data is blocked unless every deciding fact was observed on this host.

mod diagnostic;
pub mod published_evidence {
    //! Each measurement needs a caveat, because it need not hold for this host.

    use schemars::JsonSchema;
    use serde::Serialize;

    /// A published measurement for or against a rule.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
    pub struct PublishedMeasurement {
        /// The authors of the measurement, and where to read it.
        pub source: String,
        /// The year of the measurement or, if unknown, of its publication.
        pub year: u16,
        /// The kernel of the measured host; absent if the source does not state it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub kernel: Option<String>,
        /// The hardware of the measured host; absent if the source does not state it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub hardware: Option<String>,
        /// The measured quantity, with the figures.
        #[serde(rename = "text")]
        pub text: String,
        /// Limits of the measurement, such as other hardware or a small number of runs.
        pub caveat: String,
        /// Later evidence against the result.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub contradicted_by: Option<String>,
    }

    impl PublishedMeasurement {
        pub(crate) fn year_kernel_and_hardware_text(&self) -> String {
            let kernel = self
                .kernel
                .as_ref()
                .map_or("kernel not stated".to_owned(), |kernel| {
                    format!("Linux {kernel}")
                });
            let hardware = self.hardware.as_deref().unwrap_or("hardware not stated");
            format!("{}, {kernel}, {hardware}", self.year)
        }

        pub fn measurement_lines(&self) -> Vec<String> {
            let mut lines = vec![
                self.text.clone(),
                format!("measured: {}", self.year_kernel_and_hardware_text()),
                format!("caveat: {}", self.caveat),
            ];
            lines.extend(
                self.contradicted_by
                    .as_ref()
                    .map(|by| format!("contradicted by: {by}")),
            );
            lines.push(format!("source: {}", self.source));
            lines
        }
    }
}
mod advise;
mod bound_condition;
mod deciding_facts;
mod evaluate;
pub mod examples;
pub mod explain;
mod finding;
mod load;
pub mod model;
pub mod rule_pack;
mod rule_set;
mod template;

// Rules compiled into walwise: every file directly in `rules/` (`build.rs`).
mod builtin {
    use super::RuleFile;

    /// Path and contents of each file, sorted by path: `("rules/mount.toml", "[[rule]] …")`.
    const FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/rules.rs"));

    pub fn builtin_file_names_and_texts() -> impl Iterator<Item = (&'static str, &'static str)> {
        FILES.iter().copied()
    }

    pub fn builtin_files() -> Vec<RuleFile> {
        builtin_file_names_and_texts()
            .map(|(name, text)| RuleFile {
                name: name.to_owned(),
                text: text.to_owned(),
            })
            .collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::rules::{RuleSet, examples};

        #[test]
        fn builtin_rules_parse_and_pass_their_examples() {
            let (set, mistakes) = RuleSet::parse_as_builtin(&builtin_files());
            let mistakes: Vec<String> = mistakes.iter().map(|file| file.render(false)).collect();
            assert!(mistakes.is_empty(), "{}", mistakes.join("\n\n"));
            let failures: Vec<String> = examples::failures_of_rule_examples(set.rules())
                .iter()
                .map(ToString::to_string)
                .collect();
            assert!(failures.is_empty(), "{}", failures.join("\n"));
        }
    }
}

#[cfg(test)]
mod tests;

use std::ops::Range;

use jiff::civil::Date;
use load::UserEntry;
use model::{Condition, FactTest, TestOperator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::facts::{Note, Reading, Value, choice};
use crate::ternary::Ternary;
use crate::text::suggest;
use crate::version::Version;
use walwise_model::text::JoinText;

pub use advise::EvaluationOptions;
pub use builtin::builtin_file_names_and_texts;
pub use evaluate::{
    Evaluation, RuleOutcomeCounts, evaluate_rule, evaluate_rules, rule_subjects,
    subjects_in_scope_order,
};
pub use finding::{
    Advice, AdviceBasis, BlockedAdvice, Change, ConditionTrace, Confidence, EffectScope, Finding,
    FixOrReason, Level, Observation, Outcome, Risk,
};
pub use model::{ChangeEffect, ExampleLoading, Rule};
pub use published_evidence::PublishedMeasurement;
pub use rule_pack::Pack;
pub use rule_set::RuleSet;
pub use template::Template;

/// The levels that a user's rule file can assign and replace. Rules whose advice can lose data have
/// the level *optional*; another level would put that advice into plans.
const ADJUSTABLE_LEVELS: [Level; 3] = [Level::Advice, Level::Warning, Level::Critical];

/// A rule that a user's rule file disables, with the reason and the last day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DisabledRule {
    /// Id of the disabled rule: `area.name`.
    pub rule: String,
    /// The reason given in the file.
    pub because: String,
    /// The last day on which the rule is disabled, in UTC; `null` if there is none.
    #[schemars(with = "Option<String>")]
    pub until: Option<Date>,
    /// The rule file that disables the rule, as the user named it.
    pub file: String,
    /// The line that disables the rule, counted from one.
    pub line: usize,
}

/// A rule whose level a user's rule file changes, with the reason and the last day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LevelOverride {
    /// Id of the rule: `area.name`.
    pub rule: String,
    /// The level that the user's file assigns.
    pub level: Level,
    /// The level in the rule's own file.
    pub was: Level,
    /// The reason given in the file.
    pub because: String,
    /// The last day on which the change holds, in UTC; `null` if there is none.
    #[schemars(with = "Option<String>")]
    pub until: Option<Date>,
    /// The rule file that changes the level, as the user named it.
    pub file: String,
    /// The line that changes the level, counted from one.
    pub line: usize,
}

impl DisabledRule {
    pub fn to_disabled_note(&self) -> Note {
        let Self {
            rule,
            because,
            until,
            file,
            line,
        } = self;
        let until = until_clause(*until);
        format!("rule {rule} is switched off{until}: {because} ({file}:{line})").into()
    }
}

impl LevelOverride {
    /// `idle` means that the host has no subject for the rule.
    pub fn to_level_changed_note(&self, idle: bool) -> Note {
        let Self {
            rule,
            level,
            was,
            because,
            until,
            file,
            line,
        } = self;
        let how = if level < was { "lowered" } else { "raised" };
        let (was, level) = (was.as_str(), level.as_str());
        let until = until_clause(*until);
        let idle = if idle { "; not applicable here" } else { "" };
        format!(
            "rule {rule} is {how} from {was} to {level}{until}: {because} ({file}:{line}){idle}"
        )
        .into()
    }
}

fn until_clause(until: Option<Date>) -> String {
    until
        .map(|day| format!(", until {day}"))
        .unwrap_or_default()
}

/// An `[[off]]` or `[[override]]` entry past its last day; the rule applies unchanged again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExpiredRuleOverride {
    /// Id of the rule: `area.name`.
    pub rule: String,
    /// The last day on which the entry was in force, in UTC.
    #[schemars(with = "String")]
    pub until: Date,
    /// The reason given in the file.
    pub because: String,
    /// The rule file with the entry, as the user named it.
    pub file: String,
    /// The line of the entry, counted from one.
    pub line: usize,
}

impl ExpiredRuleOverride {
    fn from_entry_if_expired(entry: &UserEntry, today: Date) -> Option<Self> {
        Some(Self {
            rule: entry.rule.clone(),
            until: entry.until.filter(|last| *last < today)?,
            because: entry.because.clone(),
            file: entry.file.clone(),
            line: entry.line,
        })
    }

    pub fn to_expired_note(&self) -> Note {
        let Self {
            rule,
            until,
            because,
            file,
            line,
        } = self;
        format!(
            "rule {rule} applies unchanged again, because the entry {file}:{line} expired after {until} ({because}); renew the entry or remove it"
        )
        .into()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RuleFile {
    /// Display-safe path of a user's file, or name of a built-in file.
    pub name: String,
    pub text: String,
}

/// A user's rule file that was read for the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UserRuleFile {
    /// The file's name, as the user gave it.
    pub file: String,
    /// SHA-256 of the file's contents, including entries with errors.
    pub sha256: String,
}

impl UserRuleFile {
    pub fn from_file(file: &RuleFile) -> Self {
        Self {
            file: file.name.clone(),
            sha256: sha256_hex(file.text.as_bytes()),
        }
    }

    fn name_in_pack_fingerprint(&self) -> String {
        format!(
            "user/{}",
            self.file.rsplit('/').next().unwrap_or(&self.file)
        )
    }
}

fn sha256_hex(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

choice! {
    /// The purpose of a user's command.
    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum CommandPurpose {
        /// The command makes the advised change.
        Apply = "apply",
        /// The command shows whether the change was made.
        Verify = "verify",
        /// The command reverts the change.
        Undo = "undo",
    }
}

/// The command is not a [`ShellCommand`](crate::escape::ShellCommand), so that no script or export
/// can contain a command that walwise has not checked.
#[derive(Clone, Debug)]
pub struct UserCommandSpec {
    pub purpose: CommandPurpose,
    pub command: Template,
}

/// A command of a user's rule, which walwise does not check and never puts into a script or an
/// export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UserCommand {
    /// Whether the command makes, verifies or reverts the change.
    pub purpose: CommandPurpose,
    /// The command, with the facts of the subject filled in.
    pub command: String,
    /// Display-safe path of the rule file with the command.
    pub file: String,
    /// The first line of the rule, counted from one.
    pub line: usize,
}

impl UserCommand {
    pub fn unchecked_origin_sentence(&self) -> String {
        let Self { file, line, .. } = self;
        format!("your own command from {file}:{line}; walwise has not checked it")
    }
}

/// Words in commands that destroy data or make it unsafe. Only `walwise rules check` warns about
/// these words, because the list cannot be complete.
const DESTRUCTIVE_WORDS: [&str; 40] = [
    "--zero-superblock",
    "-delete",
    "^has_journal",
    "barrier=0",
    "blkdiscard",
    "create-md",
    "data=writeback",
    "dd",
    "delete",
    "destroy",
    "drop",
    "dropdb",
    "eatmydata",
    "erase",
    "fdisk",
    "format",
    "fsync=off",
    "full_page_writes=off",
    "invalidate",
    "labelclear",
    "luksformat",
    "lvremove",
    "mke2fs",
    "mkfs",
    "mkswap",
    "nobarrier",
    "nodatacow",
    "parted",
    "pg_dropcluster",
    "pg_resetwal",
    "pvremove",
    "rm",
    "sanitize",
    "sfdisk",
    "sgdisk",
    "shred",
    "sync=disabled",
    "truncate",
    "vgremove",
    "wipefs",
];

/// The byte range of the first match. Parts of longer words do not count, and case does not matter.
fn destructive_word_range(command: &str) -> Option<Range<usize>> {
    let lower = command.to_ascii_lowercase();
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_part = |(at, word): &(usize, &str)| {
        let (before, rest) = lower.split_at_checked(*at).unwrap_or_default();
        let goes_on = rest
            .strip_prefix(word)
            .is_some_and(|after| after.starts_with(in_word));
        goes_on
            || before.ends_with(in_word) && word.starts_with(|c: char| c.is_ascii_alphanumeric())
    };
    let found = DESTRUCTIVE_WORDS
        .iter()
        .flat_map(|word| lower.match_indices(*word))
        .filter(|found| !is_part(found));
    found
        .map(|(at, word)| at..at + word.len())
        .min_by_key(|range| range.start)
}

impl Condition {
    pub(crate) fn node_label(&self) -> String {
        match self {
            Self::All(_) => "all of".to_owned(),
            Self::Any(_) => "any of".to_owned(),
            Self::Not(_) => "not".to_owned(),
            Self::Every(relation, _) => format!("every {}", relation.as_str()),
            Self::Some(relation, _) => format!("some {}", relation.as_str()),
            Self::Fact(test) => test.test_label(),
        }
    }
}

impl FactTest {
    /// Without a value, the result is unknown. Exceptions are tests of `known`, and tests of
    /// `exists` for an absent fact.
    pub(crate) fn truth_for_reading(&self, reading: &Reading<Value>) -> Ternary {
        self.negate_if_negated(match (&self.op, reading.value()) {
            (TestOperator::Known, value) => value.is_some().into(),
            (TestOperator::Exists, None) if reading.is_absent() => Ternary::False,
            (_, None) => Ternary::Unknown,
            (op, Some(value)) => op.truth_for_value(value),
        })
    }

    fn truth_for_value(&self, value: &Value) -> Ternary {
        self.negate_if_negated(self.op.truth_for_value(value))
    }

    fn negate_if_negated(&self, truth: Ternary) -> Ternary {
        if self.negated { !truth } else { truth }
    }

    pub(crate) fn test_label(&self) -> String {
        let show = |value: &Value| self.fact.format_value(value);
        let shown = |values: &[Value]| values.iter().map(show).join_with(", ");
        let listed = |versions: &[Version]| versions.iter().map(Version::to_string).join_with(", ");
        let (holds, fails, operand) = match &self.op {
            TestOperator::Is(value) => ("is", "is not", show(value)),
            TestOperator::In(values) => match values.as_slice() {
                [one] => ("is one of", "is not", show(one)),
                _ => ("is one of", "is none of", shown(values)),
            },
            TestOperator::Has(word) => ("has", "lacks", word.clone()),
            TestOperator::HasOption(option) => {
                ("has the option", "lacks the option", option.clone())
            }
            TestOperator::HasAny(words) => ("has one of", "has none of", words.join(", ")),
            TestOperator::AtLeast(value) => ("is at least", "is below", show(value)),
            TestOperator::FixedIn(lines) => {
                let (holds, fails) = ("includes the fix from", "lacks the fix from");
                (holds, fails, listed(lines))
            }
            TestOperator::InRange(range) => {
                let list = |versions: &[Version]| match versions.split_last() {
                    Some((last, [])) => last.to_string(),
                    Some((last, others)) => format!("{} or {last}", listed(others)),
                    None => String::new(),
                };
                let from = match range.from.as_slice() {
                    [] => "any release".to_owned(),
                    from => format!("{} or later", list(from)),
                };
                let affected = format!("{from} without the fix from {}", list(&range.fixed));
                ("is", "is not", affected)
            }
            TestOperator::BuildAtLeast(least) => {
                ("is at least build", "is below build", least.to_string())
            }
            TestOperator::StartsWith(text) => ("starts with", "does not start with", text.clone()),
            TestOperator::EndsWith(text) => ("ends with", "does not end with", text.clone()),
            TestOperator::Contains(text) => ("contains", "does not contain", text.clone()),
            TestOperator::Known => return self.label_without_operand("is known", "is not known"),
            TestOperator::Exists => return self.label_without_operand("exists", "does not exist"),
        };
        format!("{} {operand}", self.label_without_operand(holds, fails))
    }

    fn label_without_operand(&self, holds: &str, fails: &str) -> String {
        let predicate = if self.negated { fails } else { holds };
        format!("{} {predicate}", self.fact.name)
    }
}

impl TestOperator {
    /// The result for a value; unknown if the type of the value does not fit the test, or if two
    /// versions cannot be compared.
    fn truth_for_value(&self, value: &Value) -> Ternary {
        let has = |words: &[String]| match value {
            Value::List(list) => words.iter().any(|word| list.contains(word)).into(),
            _ => Ternary::Unknown,
        };
        let of_version = |holds: &dyn Fn(&Version) -> Ternary| match value {
            Value::Version(version) => holds(version),
            _ => Ternary::Unknown,
        };
        let written = |holds: &dyn Fn(&str) -> bool| match value {
            Value::Text(text) => holds(text).into(),
            Value::Version(version) => holds(&version.to_string()).into(),
            _ => Ternary::Unknown,
        };
        match self {
            Self::Is(wanted) => are_values_equal(value, wanted),
            Self::In(wanted) => {
                let each: Vec<Ternary> = wanted
                    .iter()
                    .map(|one| are_values_equal(value, one))
                    .collect();
                Ternary::any(each)
            }
            Self::Has(word) => has(std::slice::from_ref(word)),
            Self::HasAny(words) => has(words),
            Self::HasOption(option) => match value {
                Value::List(list) => list
                    .iter()
                    .any(|word| word.split('=').next() == Some(option.as_str()))
                    .into(),
                _ => Ternary::Unknown,
            },
            Self::AtLeast(least) => is_at_least(value, least),
            Self::FixedIn(lines) => of_version(&|version| version.is_fixed_in(lines)),
            Self::InRange(range) => of_version(&|version| range.contains(version)),
            Self::BuildAtLeast(least) => of_version(&|version| version.build_at_least(least)),
            Self::StartsWith(part) => written(&|text| text.starts_with(part.as_str())),
            Self::EndsWith(part) => written(&|text| text.ends_with(part.as_str())),
            Self::Contains(part) => written(&|text| text.contains(part.as_str())),
            Self::Known | Self::Exists => Ternary::True,
        }
    }
}

/// Whether the values are equal; unknown for different types. Lists are compared as sets, and
/// numbers by value.
fn are_values_equal(a: &Value, b: &Value) -> Ternary {
    let within = |a: &[String], b: &[String]| a.iter().all(|word| b.contains(word));
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => (a == b).into(),
        (Value::Text(a), Value::Text(b)) => (a == b).into(),
        (Value::Version(a), Value::Version(b)) => (a == b).into(),
        (Value::List(a), Value::List(b)) => (within(a, b) && within(b, a)).into(),
        _ => compare_numbers(a, b).map_or(Ternary::Unknown, |order| order.is_eq().into()),
    }
}

fn is_at_least(value: &Value, least: &Value) -> Ternary {
    match (value, least) {
        (Value::Version(value), Value::Version(least)) => value.at_least(least),
        _ => compare_numbers(value, least).map_or(Ternary::Unknown, |order| order.is_ge().into()),
    }
}

fn compare_numbers(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    let number = |value: &Value| match value {
        Value::Whole(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        _ => None,
    };
    match (a, b) {
        (Value::Whole(a), Value::Whole(b)) => Some(a.cmp(b)),
        _ => number(a)?.partial_cmp(&number(b)?),
    }
}

#[cfg(test)]
mod destructive_command_tests {
    use super::*;

    #[test]
    fn destructive_words_match_whole_words_in_any_case() {
        for (command, word) in [
            ("/usr/sbin/mkfs.ext4 {device.path}", Some("mkfs")),
            (
                "mount -o remount,nobarrier {mount.point}",
                Some("nobarrier"),
            ),
            ("psql -c 'DROP TABLE a; truncate b'", Some("DROP")),
            (
                "tune2fs -O^has_journal {mount.source}",
                Some("^has_journal"),
            ),
            ("find /srv -delete", Some("-delete")),
            (
                "docker run --rm x; echo 3 > /proc/sys/vm/drop_caches; add",
                None,
            ),
            ("echo ä; rm -r /srv", Some("rm")),
        ] {
            assert_eq!(
                destructive_word_range(command).and_then(|range| command.get(range)),
                word,
                "{command}"
            );
        }
    }
}
