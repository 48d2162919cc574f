//! Rules: conditions over facts, with advice, as data in `rules/*.toml`. Conditions are true, false
//! or unknown, and each rule carries its own examples.
//!
//! Advice that can lose data is blocked unless every deciding fact was observed on this host.

mod diagnostic;
pub mod evidence {
    //! Published measurements for or against a rule.
    //!
    //! Each measurement needs a caveat, because it need not hold for this host.

    use serde::Serialize;

    /// A published measurement for or against a rule.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct Study {
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

    impl Study {
        pub fn setup_text(&self) -> String {
            let kernel = self
                .kernel
                .as_ref()
                .map_or("kernel not given".to_owned(), |kernel| {
                    format!("Linux {kernel}")
                });
            let hardware = self.hardware.as_deref().unwrap_or("hardware not given");
            format!("{}, {kernel}, {hardware}", self.year)
        }

        pub fn lines(&self) -> Vec<String> {
            let mut lines = vec![
                self.text.clone(),
                format!("measured: {}", self.setup_text()),
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
mod rule_file {

    use std::fmt::Write as _;

    use serde::{Deserialize, Serialize};
    use sha2::{Digest as _, Sha256};

    #[derive(Clone, Debug, Serialize, Deserialize)]
    pub struct RuleFile {
        /// Display-safe path of a user's file, or name of a built-in file.
        pub name: String,
        pub text: String,
    }

    /// A user's rule file that was read for the report.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct UserFile {
        /// The file's name, as the user gave it.
        pub file: String,
        /// SHA-256 of the file's contents, mistakes included.
        pub sha256: String,
    }

    impl UserFile {
        pub fn from_file(file: &RuleFile) -> Self {
            Self {
                file: file.name.clone(),
                sha256: sha256(file.text.as_bytes()),
            }
        }

        pub(super) fn fingerprint_name(&self) -> String {
            format!(
                "user/{}",
                self.file.rsplit('/').next().unwrap_or(&self.file)
            )
        }
    }

    pub(super) fn sha256(bytes: &[u8]) -> String {
        Sha256::digest(bytes)
            .iter()
            .fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            })
    }
}
mod advise;
mod bound_condition;
mod builtin;
mod deciding_facts;
pub mod explain;
mod finding;
pub mod model;
mod template;
mod user_commands;
mod user_rule_statements {
    //! Statements of users about rules: disabled rules and changed levels, with an optional last
    //! day.
    //!
    //! Only the levels critical, warning and advice can be given or changed. Rules whose advice can
    //! lose data have the level *optional*; another level would put that advice into plans.

    use jiff::civil::Date;
    use serde::Serialize;

    use super::Level;
    use crate::facts::note::RulesNote;

    /// The levels that a user's rule file can assign. Only a rule that has one of these levels can
    /// get another.
    pub const ADJUSTABLE_LEVELS: [Level; 3] = [Level::Advice, Level::Warning, Level::Critical];

    /// A rule that a user's rule file disables.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct DisabledRule {
        /// Id of the disabled rule: `area.name`.
        pub rule: String,
        /// The reason given in the file.
        pub because: String,
        /// The last day on which the rule is disabled, in UTC; `null` if there is none.
        #[cfg_attr(any(test, feature = "testing"), schemars(with = "Option<String>"))]
        pub until: Option<Date>,
        /// The rule file that disables the rule, as the user named it.
        pub file: String,
        /// The line that disables the rule, counted from one.
        pub line: usize,
    }

    /// A rule whose level a user's rule file changes.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
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
        #[cfg_attr(any(test, feature = "testing"), schemars(with = "Option<String>"))]
        pub until: Option<Date>,
        /// The rule file that changes the level, as the user named it.
        pub file: String,
        /// The line that changes the level, counted from one.
        pub line: usize,
    }

    impl DisabledRule {
        pub fn to_note(&self) -> RulesNote {
            let Self {
                rule,
                because,
                until,
                file,
                line,
            } = self.clone();
            RulesNote::SwitchedOff {
                rule,
                because,
                until,
                file,
                line,
            }
        }
    }

    impl LevelOverride {
        /// The note about this change; `idle` means that the host has no subject for the rule.
        pub fn to_note(&self, idle: bool) -> RulesNote {
            let Self {
                rule,
                level,
                was,
                because,
                until,
                file,
                line,
            } = self.clone();
            let lower = level < was;
            let (was, level) = (was.as_str(), level.as_str());
            RulesNote::LevelChanged {
                rule,
                was,
                level,
                lower,
                because,
                until,
                file,
                line,
                idle,
            }
        }
    }

    /// A disabled rule or a changed level whose last day has passed, so that the rule counts as
    /// written again.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct ExpiredStatement {
        /// Id of the rule: `area.name`.
        pub rule: String,
        /// The last day of the statement about the rule, in UTC.
        #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
        pub until: Date,
        /// The reason given in the file.
        pub because: String,
        /// The rule file with the statement, as the user named it.
        pub file: String,
        /// The line of the statement, counted from one.
        pub line: usize,
    }

    impl ExpiredStatement {
        /// The statement of a disabled rule, if its last day is before `today`; otherwise `None`.
        pub(super) fn from_disabled_rule(off: &DisabledRule, today: Date) -> Option<Self> {
            let DisabledRule {
                rule,
                because,
                until,
                file,
                line,
            } = off.clone();
            Some(Self {
                rule,
                until: until.filter(|last| *last < today)?,
                because,
                file,
                line,
            })
        }

        pub(super) fn from_override(given: &LevelOverride, today: Date) -> Option<Self> {
            let LevelOverride {
                rule,
                because,
                until,
                file,
                line,
                level: _,
                was: _,
            } = given.clone();
            Some(Self {
                rule,
                until: until.filter(|last| *last < today)?,
                because,
                file,
                line,
            })
        }

        pub fn to_note(&self) -> RulesNote {
            let Self {
                rule,
                until,
                because,
                file,
                line,
            } = self.clone();
            RulesNote::Expired {
                rule,
                until,
                because,
                file,
                line,
            }
        }
    }
}
mod evaluate;
pub mod examples;
mod fact_test;
mod load;
pub mod rule_pack;
pub mod rule_reference;
mod rule_set;
#[cfg(test)]
mod tests;

use crate::text::suggest;

pub use advise::EvaluationOptions;
pub use builtin::builtin_sources;
pub use evaluate::{Evaluation, Tally, all_subjects, evaluate_rule, evaluate_rules, rule_subjects};
pub use evidence::Study;
pub use finding::{
    Advice, Basis, BlockedAdvice, Change, Confidence, EffectScope, Finding, Fix, Level,
    Observation, Outcome, Risk, Trace,
};
pub use model::{ChangeEffect, ExampleLoading, Rule};
pub use rule_file::RuleFile;
pub use rule_pack::Pack;
pub use rule_set::RuleSet;
pub use template::Template;
pub use user_commands::UserCommand;
pub use user_rule_statements::{DisabledRule, ExpiredStatement, LevelOverride};
