//! Statements of files about rules elsewhere, and their effect: rules that are off, and rules with another level.
//!
//! Only critical, warning and advice are degrees of one scale and can be given and changed. An option stays an option
//! whatever a file says: advice that can lose data exists in options alone, and at any other level it would enter
//! plans.

use schemars::JsonSchema;
use serde::Serialize;

use super::Level;
use crate::facts::note::RulesNote;

/// The levels that can be given, and those of rules to which another can be given.
pub const GIVEN: [Level; 3] = [Level::Advice, Level::Warning, Level::Critical];

/// A rule that was switched off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Off {
    /// The rule's id.
    pub rule: String,
    /// Why.
    pub because: String,
    /// The file that says so.
    pub file: String,
    /// The line in it, counted from one.
    pub line: usize,
}

/// A rule to which another level was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Override {
    /// The rule's id.
    pub rule: String,
    /// The level that was given to it.
    pub level: Level,
    /// Its level as it was written.
    pub was: Level,
    /// Why.
    pub because: String,
    /// The file that says so.
    pub file: String,
    /// The line in it, counted from one.
    pub line: usize,
}

impl Off {
    /// What is to be said of it.
    pub fn note(&self) -> RulesNote {
        let Self { rule, because, file, line } = self.clone();
        RulesNote::Off { rule, because, file, line }
    }
}

impl Override {
    /// What is to be said of it; `idle` is whether nothing on the machine is what the rule is about.
    pub fn note(&self, idle: bool) -> RulesNote {
        let Self { rule, level, was, because, file, line } = self.clone();
        let lower = level < was;
        RulesNote::Level { rule, was: was.word(), level: level.word(), lower, because, file, line, idle }
    }
}
