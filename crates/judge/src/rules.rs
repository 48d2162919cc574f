//! Rules: conditions over facts, with advice. They are data (`rules/*.toml`), three-valued, and
//! carry their own examples.
//!
//! This layer reads no machine and prints nothing: facts go in, findings come out, and every
//! sub-condition is kept as a trace. Advice that can lose data is held back unless every fact that
//! decides it was observed on this machine.

mod diagnostic;
pub mod evidence {
    //! Published measurements that support or contradict a rule: figures with the machine they come
    //! from.
    //!
    //! A caveat is required. A measurement of another machine is no measurement of this one, and
    //! figures without their limits have kept bad advice alive.

    use serde::Serialize;

    /// A measurement that was published.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct Study {
        /// Who measured, and where it can be read.
        pub source: String,
        /// When it was measured, or else published.
        pub year: u16,
        /// Of which kernel; absent when the source does not say.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub kernel: Option<String>,
        /// On what; absent when the source does not say.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub hardware: Option<String>,
        /// What was measured, with its figures.
        #[serde(rename = "text")]
        pub says: String,
        /// What limits it.
        pub caveat: String,
        /// What has shown since that it does not hold, or holds no longer.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub contradicted_by: Option<String>,
    }

    impl Study {
        /// The date, and the machine.
        pub fn setting(&self) -> String {
            let kernel = self
                .kernel
                .as_ref()
                .map_or("kernel not given".to_owned(), |kernel| {
                    format!("Linux {kernel}")
                });
            let hardware = self.hardware.as_deref().unwrap_or("hardware not given");
            format!("{}, {kernel}, {hardware}", self.year)
        }

        /// One line each: the result, its date and machine, its limits, later contradictions, and
        /// the source.
        pub fn lines(&self) -> Vec<String> {
            let mut lines = vec![
                self.says.clone(),
                format!("measured: {}", self.setting()),
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

    /// A rule file.
    #[derive(Clone, Debug, Serialize, Deserialize)]
    pub struct RuleFile {
        /// Its name as the user knows it.
        pub name: String,
        /// What it contains.
        pub text: String,
    }

    /// A rule file of the user's.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct UserFile {
        /// Its name as the user knows it.
        pub file: String,
        /// SHA-256 of what it contains, with whatever mistakes.
        pub sha256: String,
    }

    impl UserFile {
        /// The entry of a file.
        pub fn from_file(file: &RuleFile) -> Self {
            Self {
                file: file.name.clone(),
                sha256: sha256(file.text.as_bytes()),
            }
        }

        /// The name under which it counts.
        pub(super) fn counts_as(&self) -> String {
            format!(
                "user/{}",
                self.file.rsplit('/').next().unwrap_or(&self.file)
            )
        }
    }

    /// The SHA-256 of some bytes, in hexadecimal.
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
mod builtin;
pub mod explain;
mod finding;
mod ground;
pub mod model;
mod needs;
mod own;
mod template;
mod others {
    //! Statements of files about rules elsewhere, and their effect: rules that are off, and rules
    //! with another level.
    //!
    //! A statement may have a last day. After it the rule is as it was written, and every report
    //! says so.
    //!
    //! Only critical, warning and advice are degrees of one scale and can be given and changed. An
    //! option stays an option whatever a file says: advice that can lose data exists in options
    //! alone, and at any other level it would enter plans.

    use jiff::civil::Date;
    use serde::Serialize;

    use super::Level;
    use crate::facts::note::RulesNote;

    /// The levels that can be given, and those of rules to which another can be given.
    pub const GIVEN: [Level; 3] = [Level::Advice, Level::Warning, Level::Critical];

    /// A rule that was switched off.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct Off {
        /// The rule's id.
        pub rule: String,
        /// Why.
        pub because: String,
        /// The last day on which this holds, in UTC; without one it holds until somebody takes it
        /// out.
        #[cfg_attr(any(test, feature = "testing"), schemars(with = "Option<String>"))]
        pub until: Option<Date>,
        /// The file that says so.
        pub file: String,
        /// The line in it, counted from one.
        pub line: usize,
    }

    /// A rule to which another level was given.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct Override {
        /// The rule's id.
        pub rule: String,
        /// The level that was given to it.
        pub level: Level,
        /// Its level as it was written.
        pub was: Level,
        /// Why.
        pub because: String,
        /// The last day on which this holds, in UTC; without one it holds until somebody takes it
        /// out.
        #[cfg_attr(any(test, feature = "testing"), schemars(with = "Option<String>"))]
        pub until: Option<Date>,
        /// The file that says so.
        pub file: String,
        /// The line in it, counted from one.
        pub line: usize,
    }

    impl Off {
        /// What is to be said of it.
        pub fn note(&self) -> RulesNote {
            let Self {
                rule,
                because,
                until,
                file,
                line,
            } = self.clone();
            RulesNote::Off {
                rule,
                because,
                until,
                file,
                line,
            }
        }
    }

    impl Override {
        /// What is to be said of it; `idle` is whether nothing on the machine is what the rule is
        /// about.
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
            let (was, level) = (was.word(), level.word());
            RulesNote::Level {
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

    /// A statement about a rule whose last day has passed: the rule is as it was written.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct Expired {
        /// The rule's id.
        pub rule: String,
        /// The statement's last day, in UTC.
        #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
        pub until: Date,
        /// The reason that it gave.
        pub because: String,
        /// The file that says so.
        pub file: String,
        /// The line in it, counted from one.
        pub line: usize,
    }

    impl Expired {
        /// The expired form of a statement about a rule, if its last day is before `today`.
        pub(super) fn from_off(off: &Off, today: Date) -> Option<Self> {
            let Off {
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

        /// The same of a level.
        pub(super) fn from_override(given: &Override, today: Date) -> Option<Self> {
            let Override {
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

        /// What is to be said of it.
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
mod load;
pub mod pack;
pub mod reference;
mod set;
mod test;
#[cfg(test)]
mod tests;

use crate::text::suggest;

pub use advise::Circumstances;
pub use builtin::shipped;
pub use evaluate::{Evaluation, Tally, all_subjects, evaluate, evaluate_one, subjects};
pub use evidence::Study;
pub use file::RuleFile;
pub use finding::{
    Advice, Basis, Change, Confidence, Finding, HeldBack, Level, Mending, Outcome, Reach, Risk,
    Seen, Trace,
};
pub use model::{Rule, RuleExamples};
pub use others::{Expired, Off, Override};
pub use own::OwnCommand;
pub use pack::Pack;
pub use set::RuleSet;
pub use template::Template;
