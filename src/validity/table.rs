//! The table as values, and finding a row in it. It is compiled in; [`super::load`] reads it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::Effect;
use super::form::Form;
use super::life::Life;
use crate::version::Version;

/// An option that a later one of the same line takes back.
#[derive(Clone, Debug)]
pub struct Undone {
    /// Of which file systems.
    pub of: Vec<String>,
    /// The options, as rows name them.
    pub words: Vec<String>,
    /// What takes them back.
    pub by: Vec<String>,
    /// What does not, although it is among these.
    pub but: Vec<String>,
    /// What is in force of them all the same.
    pub leaves: Option<String>,
}

/// Options that a kernel refuses beside others.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// Of which file systems.
    pub of: Vec<String>,
    /// The options, where they hold.
    pub words: Vec<String>,
    /// What they are refused beside, wherever it stands.
    pub beside: Vec<String>,
    /// From which kernel on.
    pub life: Life,
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
    /// Whether no test mounts with it.
    pub untried: bool,
    /// Why, where a step does not say.
    pub because: String,
    /// Who says so.
    pub source: String,
}

/// What a kernel does with a file system that has a feature which it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureKind {
    /// It mounts it and takes no notice.
    Compatible,
    /// It mounts it for reading only.
    ReadOnly,
    /// It does not mount it.
    Incompatible,
}

/// A feature of a file system that is chosen when it is made.
#[derive(Clone, Debug)]
pub struct Feature {
    /// Of which file system.
    pub of: String,
    /// Its name.
    pub name: String,
    /// Its name in the superblock, where that is another one.
    pub on_disk: String,
    /// The tool that knows it.
    pub tool: Version,
    /// The tool from which on its option for features takes it, where that is a later one.
    pub told: Option<Version>,
    /// The tool that sets it unasked.
    pub default: Option<Version>,
    /// The tool from which on it should be used.
    pub advised: Option<Version>,
    /// What a kernel that does not know it does with the file system.
    pub kind: FeatureKind,
    /// The kernel that knows it.
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
    /// Features of file systems that are chosen when one is made.
    pub features: Vec<Feature>,
    /// Features that are found on file systems besides those.
    pub present: Vec<Feature>,
    /// What takes what back.
    pub undone: Vec<Undone>,
    /// What is refused beside what.
    pub conflicts: Vec<Conflict>,
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

/// Whether a row of these is one of a file system: its own, or of every one.
fn is_of(row: &[String], of: &str) -> bool {
    row.iter().any(|name| name == of || name == "vfs")
}

/// Whether an option is among these names: as it is, or by its key where the name ends in `=`.
fn named(names: &[String], option: &str) -> bool {
    names.iter().any(|name| match name.strip_suffix('=') {
        Some(start) => option.strip_prefix(start).is_some_and(|rest| rest.starts_with('=')),
        None => name == option,
    })
}

impl Table {
    /// The row of an option: as it is, by its key, or by its beginning; with the value, where it has one.
    pub fn find<'t, 'o>(&'t self, of: &str, option: &'o str) -> Option<(&'t Row, Option<&'o str>)> {
        let named = |name: &str| {
            self.names.get(&(of.to_owned(), name.to_owned())).and_then(|index| self.rows.get(*index))
        };
        // `commit=` is the option without a value, and no name.
        if !option.ends_with('=')
            && let Some(row) = named(option)
        {
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

    /// The options of a line that hold when all of it is read: those that no other one takes back, and what is left of those.
    pub fn holding(&self, of: &str, options: &[String]) -> Vec<String> {
        let rows: Vec<&Undone> = self.undone.iter().filter(|row| is_of(&row.of, of)).collect();
        let taken_back = |row: &Undone, at: usize, options: &[String]| {
            let mut others = options.iter().skip(at + 1);
            options.get(at).is_some_and(|option| named(&row.words, option))
                && others.any(|other| named(&row.by, other) && !named(&row.but, other))
        };
        let mut left = options.to_vec();
        for (at, option) in left.iter_mut().enumerate() {
            let row = rows.iter().find(|row| row.leaves.is_some() && taken_back(row, at, options));
            if let Some(leaves) = row.and_then(|row| row.leaves.as_ref()) {
                option.clone_from(leaves);
            }
        }
        let holds = |at: &usize| !rows.iter().any(|row| taken_back(row, *at, &left));
        (0..left.len()).filter(holds).filter_map(|at| left.get(at).cloned()).collect()
    }

    /// What an option of a line is refused beside.
    pub fn conflicts<'t>(
        &'t self,
        of: &str,
        option: &str,
        beside: &[String],
    ) -> impl Iterator<Item = (&'t Conflict, String)> {
        let met = |row: &Conflict| beside.iter().find(|other| named(&row.beside, other)).cloned();
        let of_option =
            self.conflicts.iter().filter(move |row| is_of(&row.of, of) && named(&row.words, option));
        let found: Vec<(&Conflict, String)> = of_option.filter_map(|row| Some((row, met(row)?))).collect();
        found.into_iter()
    }

    /// Whether something has an option of this key, with whatever value.
    pub fn has_key(&self, of: &str, option: &str) -> bool {
        self.names.keys().any(|(owner, name)| owner == of && key(name) == key(option))
    }
}
