//! The table of options as values, and the lookup of rows. It is compiled in; [`super::load`] parses it.

use std::collections::BTreeMap;

use super::Effect;
use super::form::Form;
use super::life::Life;

/// Options that a later one of the same line revokes.
#[derive(Clone, Debug)]
pub struct Undone {
    /// The file systems it is about.
    pub of: Vec<String>,
    /// The options, by their names in rows.
    pub words: Vec<String>,
    /// The options that revoke them.
    pub by: Vec<String>,
    /// Exceptions among those.
    pub but: Vec<String>,
    /// The option that remains in force nevertheless.
    pub leaves: Option<String>,
}

/// Options that a kernel refuses beside others.
#[derive(Clone, Debug)]
pub struct OptionConflict {
    /// The file systems it is about.
    pub of: Vec<String>,
    /// The options, where they remain in effect.
    pub words: Vec<String>,
    /// The options beside which they are refused, in any order.
    pub beside: Vec<String>,
    /// Those of them that are the default, which no kernel tells from an option that is not set.
    pub but: Vec<String>,
    /// The kernels that refuse them.
    pub life: Life,
}

/// The effect of an option while the file system is mounted with another one.
#[derive(Clone, Debug)]
pub struct CombinedEffect {
    pub option: String,
    /// The effect of the row's option.
    pub is: Effect,
    pub because: String,
}

/// A row: options that share their life.
#[derive(Clone, Debug)]
pub struct OptionEntry {
    pub life: Life,
    pub form: Form,
    pub example: Option<String>,
    /// Options of which one must stand beside it.
    pub needs_any: Vec<String>,
    /// The effect without any of these: refused, or unknown where the file system decides, also if none is named.
    pub without: Effect,
    /// Effects that depend on options in force.
    pub in_force: Vec<CombinedEffect>,
    /// Other words in mountinfo that prove that the kernel accepts these options too.
    pub shown_as: Vec<String>,
    /// Whether it is refused for ext3.
    pub not_on_ext3: bool,
    /// Whether no test mounts with it.
    pub untried: bool,
    /// The reason, for steps without one of their own.
    pub because: String,
    pub source: String,
}

#[derive(Clone, Debug, Default)]
pub struct Table {
    pub rows: Vec<OptionEntry>,
    /// Index of an option's row, by (component that accepts it, name in the table).
    pub names: BTreeMap<(String, String), usize>,
    /// Options that revoke others.
    pub undone: Vec<Undone>,
    /// Options that are refused beside others.
    pub conflicts: Vec<OptionConflict>,
}

/// The name of an option without its value.
pub fn key(option: &str) -> &str {
    option.split('=').next().unwrap_or(option)
}

/// Whether a row belongs to a file system: to it alone, or to every one.
fn is_of(row: &[String], of: &str) -> bool {
    row.iter().any(|name| name == of || name == "vfs")
}

/// Whether an option is among these names: literally, or by its key where the name ends in `=`.
fn named(names: &[String], option: &str) -> bool {
    names.iter().any(|name| match name.strip_suffix('=') {
        Some(start) => option.strip_prefix(start).is_some_and(|rest| rest.starts_with('=')),
        None => name == option,
    })
}

impl Table {
    /// The row of an option: by the literal text, by its key, or by its prefix; with the value, where it has one.
    pub fn find<'t, 'o>(&'t self, of: &str, option: &'o str) -> Option<(&'t OptionEntry, Option<&'o str>)> {
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

    /// The options of a line that remain in effect: those that no other one revokes, and what remains of the revoked
    /// ones.
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

    /// The options of a line beside which an option is refused.
    pub fn conflicts<'t>(
        &'t self,
        of: &str,
        option: &str,
        beside: &[String],
    ) -> impl Iterator<Item = (&'t OptionConflict, String)> {
        // A default is told from a value by what the line comes to: its last one.
        let last = |of: &String| beside.iter().rev().find(|other| key(other) == key(of)).cloned();
        let is_default =
            |row: &OptionConflict, other: &String| last(other).is_some_and(|last| named(&row.but, &last));
        let refuses =
            |row: &OptionConflict, other: &String| named(&row.beside, other) && !is_default(row, other);
        let met = |row: &OptionConflict| beside.iter().find(|other| refuses(row, other)).cloned();
        let of_option =
            self.conflicts.iter().filter(move |row| is_of(&row.of, of) && named(&row.words, option));
        let found: Vec<(&OptionConflict, String)> =
            of_option.filter_map(|row| Some((row, met(row)?))).collect();
        found.into_iter()
    }

    /// Whether a component has an option with this key, whatever its value.
    pub fn has_key(&self, of: &str, option: &str) -> bool {
        self.names.keys().any(|(owner, name)| owner == of && key(name) == key(option))
    }
}

#[cfg(test)]
mod tests {
    use crate::validity::{Effect, mount_options};
    use crate::version::Version;

    /// Tried on a loop device under Linux 6.18: the default of `commit` is five seconds, zero means the default, and
    /// ext4 compares what the line comes to.
    #[test]
    fn a_default_beside_a_journal_that_is_not_loaded_is_taken() {
        for (line, expect) in [
            ("ro,commit=5,noload", Effect::Ok),
            ("ro,commit=0,norecovery", Effect::Ok),
            ("ro,commit=30,commit=5,norecovery", Effect::Ok),
            ("ro,commit=5,commit=30,norecovery", Effect::Refused),
            ("ro,commit=6,noload", Effect::Refused),
            ("ro,data=ordered,noload", Effect::Refused),
            ("ro,journal_async_commit,noload", Effect::Refused),
        ] {
            let options: Vec<String> = line.split(',').map(str::to_owned).collect();
            let kernel = Version::parse("6.18").unwrap();
            let rulings = mount_options("ext4", &options, &[], &kernel, "mainline");
            assert_eq!(rulings.last().unwrap().effect, expect, "{line}");
        }
    }
}
