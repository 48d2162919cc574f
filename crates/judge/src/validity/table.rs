//! The table of options as values, and the lookup of rows. It is compiled in.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Effect;
use super::form::{Counts, Form, Number, Size};
use super::life::{EffectChange, Life};
use crate::rows::read;

/// Options of the three file systems that are advised, compiled in.
pub const OPTIONS: &str = include_str!("../../rules/tables/validity.toml");
/// Features that kernels are built with, compiled in.
pub const SYSTEMS: &str = include_str!("../../rules/tables/systems.toml");
/// Both, which form one table.
const TEXT: &str = concat!(
    include_str!("../../rules/tables/validity.toml"),
    "\n",
    include_str!("../../rules/tables/systems.toml")
);

/// Options that a later one of the same line revokes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undone {
    /// The file systems it is about.
    of: Vec<String>,
    /// The options, by their names in rows.
    words: Vec<String>,
    /// The options that revoke them; they themselves without it.
    by: Option<Vec<String>>,
    /// Exceptions among those.
    #[serde(default)]
    but: Vec<String>,
    /// The option that remains in force nevertheless.
    leaves: Option<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who read the table"))]
    source: String,
}

/// Options that a remount takes back.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inverse {
    /// The file systems it is about.
    of: Vec<String>,
    /// The options, by their names in rows.
    words: Vec<String>,
    /// The option of the remount; `None` where they need an unmount.
    pub by: Option<String>,
    /// Whether no remount brings them back.
    #[serde(default)]
    pub one_way: bool,
    /// Options that the next mount needs once.
    #[serde(default)]
    pub with: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who read the table"))]
    source: String,
}

/// Options that a kernel refuses beside others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptionConflict {
    /// The file systems it is about.
    of: Vec<String>,
    /// The options, where they remain in effect.
    words: Vec<String>,
    /// The options beside which they are refused, in any order.
    beside: Vec<String>,
    /// Those of them that are the default, which no kernel tells from an option that is not set.
    #[serde(default)]
    but: Vec<String>,
    steps: Vec<EffectChange>,
    because: String,
    source: String,
    /// The kernels that refuse them.
    #[serde(skip)]
    pub life: Life,
}

/// The effect of an option while the file system is mounted with another one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CombinedEffect {
    pub option: String,
    /// The effect of the row's option.
    pub is: Effect,
    pub because: String,
}

/// A value that is neither a number nor a size nor a fixed word.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ValueType {
    Text,
}

/// When tests mount with an option, where that is not whenever it is taken.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MountTest {
    Never,
}

/// A row: options that share their life.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptionEntry {
    of: Vec<String>,
    names: Vec<String>,
    steps: Vec<EffectChange>,
    #[serde(default)]
    vendors: BTreeMap<String, Vec<EffectChange>>,
    #[serde(skip)]
    pub life: Life,
    #[serde(default)]
    number: bool,
    range: Option<[u64; 2]>,
    perhaps: Option<u64>,
    #[serde(default)]
    also: Vec<u64>,
    #[serde(default)]
    counts: Counts,
    #[serde(default)]
    size: bool,
    takes: Option<ValueType>,
    words: Option<Vec<String>>,
    /// The form of its value.
    #[serde(skip)]
    pub form: Form,
    #[serde(rename = "try")]
    pub example: Option<String>,
    /// Options of which one must stand beside it.
    #[serde(default)]
    pub needs_any: Vec<String>,
    /// The effect without any of these: refused, or unknown where the file system decides, also if
    /// none is named.
    #[serde(default = "refused")]
    pub without: Effect,
    /// Effects that depend on options in force.
    #[serde(default)]
    pub in_force: Vec<CombinedEffect>,
    /// Other words in mountinfo that prove that the kernel accepts these options too.
    #[serde(default)]
    pub shown_as: Vec<String>,
    /// Whether it is refused for ext3.
    #[serde(default)]
    pub not_on_ext3: bool,
    #[serde(rename = "tried")]
    pub mount_test: Option<MountTest>,
    /// The reason, for steps without one of their own.
    #[serde(default)]
    pub because: String,
    pub source: String,
}

fn refused() -> Effect {
    Effect::Refused
}

/// The largest number that every kernel accepts, and the largest that some accept.
const INT_MAX: u64 = 0x7fff_ffff;
const UINT_MAX: u64 = 0xffff_ffff;

impl OptionEntry {
    fn declared_form(&self) -> Form {
        let [low, high] = self.range.unwrap_or([0, INT_MAX]);
        let (counts, also) = (self.counts, self.also.clone());
        match &self.words {
            Some(words) => Form::Words(words.clone()),
            None if self.number => Form::Number(Number {
                low,
                high,
                perhaps: self
                    .perhaps
                    .unwrap_or(if self.range.is_some() { high } else { UINT_MAX }),
                also,
                power_of_two: matches!(counts, Counts::PowerOfTwo),
            }),
            None if self.size => Form::Size(Size {
                low,
                high,
                also,
                counts,
            }),
            None if self.takes.is_some() => Form::Text,
            None => Form::Any,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    options: Vec<OptionEntry>,
    /// Index of an option's row, by (component that accepts it, name in the table).
    #[serde(skip)]
    pub names: BTreeMap<(String, String), usize>,
    /// Options that revoke others.
    undone: Vec<Undone>,
    inverse: Vec<Inverse>,
    /// Options that are refused beside others.
    conflict: Vec<OptionConflict>,
    /// The seam's: build.rs reads it.
    #[serde(rename = "filter")]
    _filter: Vec<IgnoredAny>,
}

/// The table compiled into walwise. If it does not load, which a test excludes, everything in it is
/// unknown.
pub fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| load().unwrap_or_default());
    &TABLE
}

fn load() -> Result<Table, toml::de::Error> {
    let mut table: Table = read(TEXT)?;
    for (index, row) in table.options.iter_mut().enumerate() {
        row.form = row.declared_form();
        row.life = Life::new(
            take(&mut row.steps),
            take(&mut row.vendors),
            &row.because,
            &row.source,
        );
        let named = |of: &String| {
            row.names
                .iter()
                .map(|name| (of.clone(), name.clone()))
                .collect::<Vec<_>>()
        };
        table
            .names
            .extend(row.of.iter().flat_map(named).map(|name| (name, index)));
    }
    for row in &mut table.conflict {
        row.life = Life::new(
            take(&mut row.steps),
            BTreeMap::new(),
            &row.because,
            &row.source,
        );
    }
    Ok(table)
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
        Some(start) => option
            .strip_prefix(start)
            .is_some_and(|rest| rest.starts_with('=')),
        None => name == option,
    })
}

impl Table {
    pub fn row(&self, index: usize) -> Option<&OptionEntry> {
        self.options.get(index)
    }

    /// The row of an option: by the literal text, by its key, or by its prefix; with the value,
    /// where it has one.
    pub fn find<'t, 'o>(
        &'t self,
        of: &str,
        option: &'o str,
    ) -> Option<(&'t OptionEntry, Option<&'o str>)> {
        let named = |name: &str| {
            self.names
                .get(&(of.to_owned(), name.to_owned()))
                .and_then(|index| self.row(*index))
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
        let stars = self
            .names
            .iter()
            .filter(|((owner, name), _)| owner == of && name.ends_with('*'));
        let mut matching =
            stars.filter(|((_, name), _)| option.starts_with(name.trim_end_matches('*')));
        matching
            .next()
            .and_then(|(_, index)| self.row(*index))
            .map(|row| (row, None))
    }

    /// The options of a line that remain in effect: those that no other one revokes, and what
    /// remains of the revoked ones.
    pub fn holding(&self, of: &str, options: &[String]) -> Vec<String> {
        let rows: Vec<&Undone> = self
            .undone
            .iter()
            .filter(|row| is_of(&row.of, of))
            .collect();
        let taken_back = |row: &Undone, at: usize, options: &[String]| {
            let mut others = options.iter().skip(at + 1);
            options
                .get(at)
                .is_some_and(|option| named(&row.words, option))
                && others.any(|other| {
                    named(row.by.as_ref().unwrap_or(&row.words), other) && !named(&row.but, other)
                })
        };
        let mut left = options.to_vec();
        for (at, option) in left.iter_mut().enumerate() {
            let row = rows
                .iter()
                .find(|row| row.leaves.is_some() && taken_back(row, at, options));
            if let Some(leaves) = row.and_then(|row| row.leaves.as_ref()) {
                option.clone_from(leaves);
            }
        }
        let holds = |at: &usize| !rows.iter().any(|row| taken_back(row, *at, &left));
        (0..left.len())
            .filter(holds)
            .filter_map(|at| left.get(at).cloned())
            .collect()
    }

    /// How an option in force is taken back; `None` where only an unmount does it.
    pub fn inverse(&self, of: &str, option: &str) -> Option<&Inverse> {
        self.inverse
            .iter()
            .find(|row| is_of(&row.of, of) && named(&row.words, option))
    }

    /// The options of a line beside which an option is refused.
    pub fn conflicts<'t>(
        &'t self,
        of: &str,
        option: &str,
        beside: &[String],
    ) -> impl Iterator<Item = (&'t OptionConflict, String)> {
        // A default is told from a value by what the line comes to: its last one.
        let last = |of: &String| {
            beside
                .iter()
                .rev()
                .find(|other| key(other) == key(of))
                .cloned()
        };
        let is_default = |row: &OptionConflict, other: &String| {
            last(other).is_some_and(|last| named(&row.but, &last))
        };
        let refuses = |row: &OptionConflict, other: &String| {
            named(&row.beside, other) && !is_default(row, other)
        };
        let met = |row: &OptionConflict| beside.iter().find(|other| refuses(row, other)).cloned();
        let of_option = self
            .conflict
            .iter()
            .filter(move |row| is_of(&row.of, of) && named(&row.words, option));
        let found: Vec<(&OptionConflict, String)> =
            of_option.filter_map(|row| Some((row, met(row)?))).collect();
        found.into_iter()
    }

    /// Whether a component has an option with this key, whatever its value.
    pub fn has_key(&self, of: &str, option: &str) -> bool {
        self.names
            .keys()
            .any(|(owner, name)| owner == of && key(name) == key(option))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validity::life::release;
    use crate::validity::mount_options;
    use crate::version::Version;

    /// Every row has a source, every value one form, every name one row, and every list of steps
    /// its order and reasons.
    #[test]
    fn the_table_is_sound() {
        let table = load().unwrap();
        assert!(table.names.len() > 250, "{}", table.names.len());
        let listed: usize = table
            .options
            .iter()
            .map(|row| row.of.len() * row.names.len())
            .sum();
        assert_eq!(table.names.len(), listed, "one stands there twice");
        for row in &table.options {
            let forms = [
                row.number,
                row.size,
                row.takes.is_some(),
                row.words.is_some(),
            ];
            let forms = forms.into_iter().filter(|form| *form).count();
            let takes_value = row.names.iter().any(|name| name.ends_with('='));
            assert!(forms <= 1 && (forms == 0 || takes_value), "{:?}", row.names);
            let bounded = row.range.is_some() || row.perhaps.is_some() || !row.also.is_empty();
            assert!(!bounded || row.number || row.size, "{:?}", row.names);
        }
        assert!(table.options.iter().all(|row| !row.source.is_empty()));
        assert!(table.undone.iter().all(|row| !row.source.is_empty()));
        assert!(table.inverse.iter().all(|row| !row.source.is_empty()));
        let lives = table.options.iter().map(|row| (&row.names, &row.life));
        for (names, life) in lives.chain(table.conflict.iter().map(|row| (&row.words, &row.life))) {
            for steps in life.vendors.values().chain([&life.steps]) {
                assert!(!steps.is_empty(), "{names:?}");
                let from = |step: &EffectChange| (step.from.clone(), release(&step.from));
                assert!(
                    steps.is_sorted_by(|a, b| from(a) < from(b)),
                    "{names:?}: {steps:?}"
                );
                for step in steps {
                    assert!(
                        !step.because.is_empty() || !step.is.is_wrong(),
                        "{names:?}: {step:?}: say why"
                    );
                }
            }
        }
    }

    /// Tried on a loop device under Linux 6.18: the default of `commit` is five seconds, zero means
    /// the default, and ext4 compares what the line comes to.
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
