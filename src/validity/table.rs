//! The table as values, and finding a row in it. It is compiled in; [`super::load`] reads it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::Effect;
use super::life::Life;
use crate::version::Version;

/// What the value of an option must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Anything.
    Any,
    /// A whole number in this range.
    Number(u64, u64),
    /// A number that may end in k, m, g or t.
    Size,
    /// One of these.
    Words(Vec<String>),
}

/// What holds instead while the file system is mounted with an option.
#[derive(Clone, Debug)]
pub struct InForce {
    /// The option it is mounted with.
    pub option: String,
    /// What becomes of the row's option then.
    pub is: Effect,
    /// Why.
    pub because: String,
}

/// A row: options that share their life.
#[derive(Clone, Debug)]
pub struct Row {
    /// When it has which effect.
    pub life: Life,
    /// What its value must be.
    pub form: Form,
    /// A value for tests.
    pub example: Option<String>,
    /// Without one of these beside it, it is refused.
    pub needs_any: Vec<String>,
    /// What holds while something is in force.
    pub in_force: Vec<InForce>,
    /// Other words that a kernel shows in force only where it takes these options, too.
    pub shown_as: Vec<String>,
    /// Whether it is refused for ext3.
    pub not_on_ext3: bool,
    /// Why, where a step does not say.
    pub because: String,
    /// Who says so.
    pub source: String,
}

/// A feature of a file system that is chosen when it is made.
#[derive(Clone, Debug)]
pub struct Feature {
    /// Of which file system.
    pub of: String,
    /// Its name.
    pub name: String,
    /// The tool that knows it.
    pub tool: Version,
    /// The tool from which on its option for features takes it, where that is a later one.
    pub told: Option<Version>,
    /// The tool that sets it unasked.
    pub default: Option<Version>,
    /// The tool from which on it should be used.
    pub advised: Option<Version>,
    /// The kernel that mounts it.
    pub kernel: Version,
    /// The same of vendors that carried it into an older one.
    pub vendors: BTreeMap<String, Version>,
    /// Whether a kernel of the right number can still be built without it.
    pub by_build: bool,
    /// Whether other features that are set unasked need it, so that it cannot be left out alone.
    pub needed: bool,
    /// Why the later tool.
    pub because: String,
    /// Who says so.
    pub source: String,
}

/// The whole table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// All rows of options.
    pub rows: Vec<Row>,
    /// Which row an option of something is in, by (what takes it, its name as written in the table).
    pub names: BTreeMap<(String, String), usize>,
    /// Features of file systems.
    pub features: Vec<Feature>,
}

/// The table that walwise brings. Should it not load, which a test excludes, everything in it is unknown.
pub fn table() -> &'static Table {
    static TABLE: LazyLock<Table> =
        LazyLock::new(|| super::load::load(super::load::TEXT).unwrap_or_default());
    &TABLE
}

/// The name of an option without its value.
pub fn key(option: &str) -> &str {
    option.split('=').next().unwrap_or(option)
}

impl Table {
    /// The row of an option: as it is, by its key, or by its beginning; with the value, where it has one.
    pub fn find<'t, 'o>(&'t self, of: &str, option: &'o str) -> Option<(&'t Row, Option<&'o str>)> {
        let named = |name: &str| {
            self.names.get(&(of.to_owned(), name.to_owned())).and_then(|index| self.rows.get(*index))
        };
        if let Some(row) = named(option) {
            return Some((row, None));
        }
        if let Some((key, value)) = option.split_once('=')
            && let Some(row) = named(&format!("{key}="))
        {
            return Some((row, Some(value)));
        }
        let stars = self.names.iter().filter(|((owner, name), _)| owner == of && name.ends_with('*'));
        let mut matching = stars.filter(|((_, name), _)| option.starts_with(name.trim_end_matches('*')));
        matching.next().and_then(|(_, index)| self.rows.get(*index)).map(|row| (row, None))
    }

    /// Whether something has an option of this key, with whatever value.
    pub fn has_key(&self, of: &str, option: &str) -> bool {
        self.names.keys().any(|(owner, name)| owner == of && key(name) == key(option))
    }
}
