//! Rules: conditions over facts, with advice, as data in `rules/*.toml`. They are three-valued and
//! carry their own examples.
//!
//! Advice that can lose data is blocked unless every deciding fact was observed on this host.

mod diagnostic;
pub mod evidence {
    //! Published measurements for or against a rule.
    //!
    //! The caveat is required: a measurement of another host is none of this one, and figures
    //! without their limits keep bad advice alive.

    use serde::Serialize;

    /// A published measurement.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct Study {
        /// Who measured, and where to read it.
        pub source: String,
        /// The year of the measurement, or else of its publication.
        pub year: u16,
        /// The kernel; absent if the source does not state it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub kernel: Option<String>,
        /// The hardware; absent if the source does not state it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub hardware: Option<String>,
        /// What was measured, with its figures.
        #[serde(rename = "text")]
        pub text: String,
        /// What limits it.
        pub caveat: String,
        /// Later evidence that it does not hold, or no longer.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub contradicted_by: Option<String>,
    }

    impl Study {
        /// Year, kernel and hardware.
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

        /// One line each: result, setup, caveat, later contradictions, source.
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
mod file {
    //! A rule file with its name and contents, and the record of a user's file in a pack.

    use std::fmt::Write as _;

    use serde::{Deserialize, Serialize};
    use sha2::{Digest as _, Sha256};

    #[derive(Clone, Debug, Serialize, Deserialize)]
    pub struct RuleFile {
        /// As the user named it.
        pub name: String,
        pub text: String,
    }

    /// A user's rule file.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct UserFile {
        /// Its name as the user gave it.
        pub file: String,
        /// SHA-256 of its contents, mistakes included.
        pub sha256: String,
    }

    impl UserFile {
        pub fn from_file(file: &RuleFile) -> Self {
            Self {
                file: file.name.clone(),
                sha256: sha256(file.text.as_bytes()),
            }
        }

        /// The name that enters the fingerprint.
        pub(super) fn pack_name(&self) -> String {
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
mod bind;
mod builtin;
pub mod explain;
mod finding;
pub mod model;
mod needs;
mod template;
mod user_commands;
mod overrides {
    //! Statements in one file about rules of another: disabled rules and changed levels, with an
    //! optional last day. Only critical, warning and advice can be given or changed: advice that
    //! can lose data is optional, and any other level would enter plans.

    use jiff::civil::Date;
    use serde::Serialize;

    use super::Level;
    use crate::facts::note::RulesNote;

    /// The levels that a file can assign, and that a rule must have to be reassigned.
    pub const ADJUSTABLE_LEVELS: [Level; 3] = [Level::Advice, Level::Warning, Level::Critical];

    /// A disabled rule.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct DisabledRule {
        /// The rule's id.
        pub rule: String,
        /// The reason.
        pub because: String,
        /// The last day on which it holds, in UTC; `null` means until it is removed.
        #[cfg_attr(any(test, feature = "testing"), schemars(with = "Option<String>"))]
        pub until: Option<Date>,
        /// The file that states it.
        pub file: String,
        /// The line in that file, counted from one.
        pub line: usize,
    }

    /// A rule with another level.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct LevelOverride {
        /// The rule's id.
        pub rule: String,
        /// The level assigned to it.
        pub level: Level,
        /// Its level as written.
        pub was: Level,
        /// The reason.
        pub because: String,
        /// The last day on which it holds, in UTC; `null` means until it is removed.
        #[cfg_attr(any(test, feature = "testing"), schemars(with = "Option<String>"))]
        pub until: Option<Date>,
        /// The file that states it.
        pub file: String,
        /// The line in that file, counted from one.
        pub line: usize,
    }

    impl DisabledRule {
        /// The note in every report.
        pub fn note(&self) -> RulesNote {
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
        /// The note in every report; `idle`: the host has no subject for the rule.
        pub fn note(&self, idle: bool) -> RulesNote {
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

    /// A statement about a rule whose last day has passed: the rule is back to what was written.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct ExpiredStatement {
        /// The rule's id.
        pub rule: String,
        /// The statement's last day, in UTC.
        #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
        pub until: Date,
        /// The reason it gave.
        pub because: String,
        /// The file that states it.
        pub file: String,
        /// The line in that file, counted from one.
        pub line: usize,
    }

    impl ExpiredStatement {
        /// Expired if the last day is before `today`.
        pub(super) fn from_off(off: &DisabledRule, today: Date) -> Option<Self> {
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

        /// Expired if the last day is before `today`.
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

        /// The note in every report.
        pub fn note(&self) -> RulesNote {
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
pub mod pack;
pub mod reference;
mod rule_set;
#[cfg(test)]
mod tests;

use crate::text::suggest;

pub use advise::EvaluationOptions;
pub use builtin::builtin_sources;
pub use evaluate::{Evaluation, Tally, all_subjects, evaluate, evaluate_rule, rule_subjects};
pub use evidence::Study;
pub use file::RuleFile;
pub use finding::{
    Advice, Basis, BlockedAdvice, Change, Confidence, EffectScope, Finding, Fix, Level,
    Observation, Outcome, Risk, Trace,
};
pub use model::{Rule, RuleExamples};
pub use overrides::{DisabledRule, ExpiredStatement, LevelOverride};
pub use pack::Pack;
pub use rule_set::RuleSet;
pub use template::Template;
pub use user_commands::UserCommand;
