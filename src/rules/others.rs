//! Statements of files about rules elsewhere, and their effect: rules that are off, and rules with another level.
//!
//! A statement may have a last day. After it the rule is as it was written, and every report says so.
//!
//! Only critical, warning and advice are degrees of one scale and can be given and changed. An option stays an option
//! whatever a file says: advice that can lose data exists in options alone, and at any other level it would enter
//! plans.

use jiff::civil::Date;
use serde::Serialize;

use super::Level;
use crate::facts::note::RulesNote;

/// The levels that can be given, and those of rules to which another can be given.
pub const GIVEN: [Level; 3] = [Level::Advice, Level::Warning, Level::Critical];

/// A rule that was switched off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Off {
    /// The rule's id.
    pub rule: String,
    /// Why.
    pub because: String,
    /// The last day on which this holds, in UTC; without one it holds until somebody takes it out.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub until: Option<Date>,
    /// The file that says so.
    pub file: String,
    /// The line in it, counted from one.
    pub line: usize,
}

/// A rule to which another level was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Override {
    /// The rule's id.
    pub rule: String,
    /// The level that was given to it.
    pub level: Level,
    /// Its level as it was written.
    pub was: Level,
    /// Why.
    pub because: String,
    /// The last day on which this holds, in UTC; without one it holds until somebody takes it out.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub until: Option<Date>,
    /// The file that says so.
    pub file: String,
    /// The line in it, counted from one.
    pub line: usize,
}

impl Off {
    /// What is to be said of it.
    pub fn note(&self) -> RulesNote {
        let Self { rule, because, until, file, line } = self.clone();
        RulesNote::Off { rule, because, until, file, line }
    }
}

impl Override {
    /// What is to be said of it; `idle` is whether nothing on the machine is what the rule is about.
    pub fn note(&self, idle: bool) -> RulesNote {
        let Self { rule, level, was, because, until, file, line } = self.clone();
        let lower = level < was;
        let (was, level) = (was.word(), level.word());
        RulesNote::Level { rule, was, level, lower, because, until, file, line, idle }
    }
}

/// A statement about a rule whose last day has passed: the rule is as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Expired {
    /// The rule's id.
    pub rule: String,
    /// The statement's last day, in UTC.
    #[cfg_attr(test, schemars(with = "String"))]
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
        let Off { rule, because, until, file, line } = off.clone();
        Some(Self { rule, until: until.filter(|last| *last < today)?, because, file, line })
    }

    /// The same of a level.
    pub(super) fn from_override(given: &Override, today: Date) -> Option<Self> {
        let Override { rule, because, until, file, line, level: _, was: _ } = given.clone();
        Some(Self { rule, until: until.filter(|last| *last < today)?, because, file, line })
    }

    /// What is to be said of it.
    pub fn note(&self) -> RulesNote {
        let Self { rule, until, because, file, line } = self.clone();
        RulesNote::Expired { rule, until, because, file, line }
    }
}
