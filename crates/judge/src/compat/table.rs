//! The option table as values, and the lookup of rows. It is compiled in.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Effect;
use super::support_range::{EffectChange, SupportRange};
use super::value_syntax::{CountedPart, Number, OptionSyntax, Size};
use crate::toml_table::parse;

/// Options of ext4, XFS and btrfs.
pub const OPTIONS: &str = include_str!("../../rules/tables/validity.toml");
/// Features that kernels are built with.
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
pub struct RevokedOptions {
    /// The file systems.
    of: Vec<String>,
    /// The options, as named in rows.
    words: Vec<String>,
    /// The options that revoke them; by default they revoke each other.
    by: Option<Vec<String>>,
    /// Exceptions among those.
    #[serde(default)]
    but: Vec<String>,
    /// The option that remains in force nevertheless.
    leaves: Option<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who read the table"))]
    source: String,
}

/// Options that a remount reverts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemountInverse {
    /// The file systems.
    of: Vec<String>,
    /// The options, as named in rows.
    words: Vec<String>,
    /// The option of the remount; `None` if they need an unmount.
    pub by: Option<String>,
    /// Whether no remount sets them again.
    #[serde(default)]
    pub one_way: bool,
    /// Options that the next mount needs once.
    #[serde(default)]
    pub with: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who read the table"))]
    source: String,
}

/// Options that a kernel refuses next to others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptionConflict {
    /// The file systems.
    of: Vec<String>,
    /// The options, if they remain in effect.
    words: Vec<String>,
    /// The options next to which they are refused, in any order.
    beside: Vec<String>,
    /// Default values among those, which kernels treat as not set.
    #[serde(default)]
    but: Vec<String>,
    steps: Vec<EffectChange>,
    because: String,
    source: String,
    #[serde(skip)]
    pub support: SupportRange,
}

/// The effect of an option while the file system is mounted with another one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CombinedEffect {
    pub option: String,
    pub is: Effect,
    pub because: String,
}

/// A value that is neither a number nor a size nor a fixed word.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ValueType {
    Text,
}

/// When tests mount with an option, if not whenever it is accepted.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MountTest {
    Never,
}

/// A row: options with the same history.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptionEntry {
    of: Vec<String>,
    names: Vec<String>,
    steps: Vec<EffectChange>,
    #[serde(default)]
    vendors: BTreeMap<String, Vec<EffectChange>>,
    #[serde(skip)]
    pub support: SupportRange,
    #[serde(default)]
    number: bool,
    range: Option<[u64; 2]>,
    perhaps: Option<u64>,
    #[serde(default)]
    also: Vec<u64>,
    #[serde(default)]
    counts: CountedPart,
    #[serde(default)]
    size: bool,
    takes: Option<ValueType>,
    words: Option<Vec<String>>,
    #[serde(skip)]
    pub syntax: OptionSyntax,
    #[serde(rename = "try")]
    pub example: Option<String>,
    /// Options of which one must be on the same line.
    #[serde(default)]
    pub needs_any: Vec<String>,
    /// The effect without any of these: refused, or unknown if the file system decides.
    #[serde(default = "refused")]
    pub without: Effect,
    /// Effects that depend on options in force.
    #[serde(default)]
    pub in_force: Vec<CombinedEffect>,
    /// Other words in mountinfo that prove that the kernel accepts these options too.
    #[serde(default)]
    pub shown_as: Vec<String>,
    #[serde(default)]
    pub not_on_ext3: bool,
    #[serde(rename = "tried")]
    pub mount_test: Option<MountTest>,
    /// The reason for steps without their own.
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
    fn declared_syntax(&self) -> OptionSyntax {
        let [low, high] = self.range.unwrap_or([0, INT_MAX]);
        let (counts, also) = (self.counts, self.also.clone());
        match &self.words {
            Some(words) => OptionSyntax::Words(words.clone()),
            None if self.number => OptionSyntax::Number(Number {
                low,
                high,
                highest_accepted: self.perhaps.unwrap_or(if self.range.is_some() {
                    high
                } else {
                    UINT_MAX
                }),
                also,
                power_of_two: matches!(counts, CountedPart::PowerOfTwo),
            }),
            None if self.size => OptionSyntax::Size(Size {
                low,
                high,
                also,
                counts,
            }),
            None if self.takes.is_some() => OptionSyntax::Text,
            None => OptionSyntax::Any,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptionTable {
    options: Vec<OptionEntry>,
    /// Row index by (file system or component, option name).
    #[serde(skip)]
    pub names: BTreeMap<(String, String), usize>,
    undone: Vec<RevokedOptions>,
    inverse: Vec<RemountInverse>,
    conflict: Vec<OptionConflict>,
    /// Not used here: build.rs reads it for redaction.
    #[serde(rename = "filter")]
    _filter: Vec<IgnoredAny>,
}

/// If it does not load, which a test excludes, every option is unknown.
pub fn option_table() -> &'static OptionTable {
    static TABLE: LazyLock<OptionTable> = LazyLock::new(|| load_table().unwrap_or_default());
    &TABLE
}

fn load_table() -> Result<OptionTable, toml::de::Error> {
    let mut table: OptionTable = parse(TEXT)?;
    for (index, row) in table.options.iter_mut().enumerate() {
        row.syntax = row.declared_syntax();
        row.support = SupportRange::new(
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
        row.support = SupportRange::new(
            take(&mut row.steps),
            BTreeMap::new(),
            &row.because,
            &row.source,
        );
    }
    Ok(table)
}

/// An option without its value.
pub fn option_key(option: &str) -> &str {
    option.split('=').next().unwrap_or(option)
}

/// Whether a row is about a file system, or about all.
fn covers_file_system(row: &[String], of: &str) -> bool {
    row.iter().any(|name| name == of || name == "vfs")
}

/// Literally, or by key if the name ends in `=`.
fn is_named_in(names: &[String], option: &str) -> bool {
    names.iter().any(|name| match name.strip_suffix('=') {
        Some(start) => option
            .strip_prefix(start)
            .is_some_and(|rest| rest.starts_with('=')),
        None => name == option,
    })
}

impl OptionTable {
    pub fn row(&self, index: usize) -> Option<&OptionEntry> {
        self.options.get(index)
    }

    /// The row of an option, by text, key or prefix, with its value if it has one.
    pub fn find_row<'t, 'o>(
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

    /// The options of a line that no other one revokes, and what remains of revoked ones.
    pub fn options_in_effect(&self, of: &str, options: &[String]) -> Vec<String> {
        let rows: Vec<&RevokedOptions> = self
            .undone
            .iter()
            .filter(|row| covers_file_system(&row.of, of))
            .collect();
        let taken_back = |row: &RevokedOptions, at: usize, options: &[String]| {
            let mut others = options.iter().skip(at + 1);
            options
                .get(at)
                .is_some_and(|option| is_named_in(&row.words, option))
                && others.any(|other| {
                    is_named_in(row.by.as_ref().unwrap_or(&row.words), other)
                        && !is_named_in(&row.but, other)
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

    /// How a remount reverts an option; `None` if that needs an unmount.
    pub fn inverse(&self, of: &str, option: &str) -> Option<&RemountInverse> {
        self.inverse
            .iter()
            .find(|row| covers_file_system(&row.of, of) && is_named_in(&row.words, option))
    }

    /// The options of a line next to which an option is refused.
    pub fn conflicts<'t>(
        &'t self,
        of: &str,
        option: &str,
        beside: &[String],
    ) -> impl Iterator<Item = (&'t OptionConflict, String)> {
        // Whether a value is the default depends on the last one on the line.
        let last = |of: &String| {
            beside
                .iter()
                .rev()
                .find(|other| option_key(other) == option_key(of))
                .cloned()
        };
        let is_default = |row: &OptionConflict, other: &String| {
            last(other).is_some_and(|last| is_named_in(&row.but, &last))
        };
        let refuses = |row: &OptionConflict, other: &String| {
            is_named_in(&row.beside, other) && !is_default(row, other)
        };
        let met = |row: &OptionConflict| beside.iter().find(|other| refuses(row, other)).cloned();
        let of_option = self
            .conflict
            .iter()
            .filter(move |row| covers_file_system(&row.of, of) && is_named_in(&row.words, option));
        let found: Vec<(&OptionConflict, String)> =
            of_option.filter_map(|row| Some((row, met(row)?))).collect();
        found.into_iter()
    }

    /// Whether a component has an option with this key, whatever its value.
    pub fn has_key(&self, of: &str, option: &str) -> bool {
        self.names
            .keys()
            .any(|(owner, name)| owner == of && option_key(name) == option_key(option))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::mount_options;
    use crate::compat::support_range::vendor_release;
    use crate::version::Version;

    /// Every row has a source, every value one syntax, every name one row, and every list of steps
    /// its order and reasons.
    #[test]
    fn the_table_is_sound() {
        let table = load_table().unwrap();
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
        let lives = table.options.iter().map(|row| (&row.names, &row.support));
        for (names, life) in
            lives.chain(table.conflict.iter().map(|row| (&row.words, &row.support)))
        {
            for steps in life.vendors.values().chain([&life.steps]) {
                assert!(!steps.is_empty(), "{names:?}");
                let from = |step: &EffectChange| (step.from.clone(), vendor_release(&step.from));
                assert!(
                    steps.is_sorted_by(|a, b| from(a) < from(b)),
                    "{names:?}: {steps:?}"
                );
                for step in steps {
                    assert!(
                        !step.because.is_empty() || !step.is.deserves_remark(),
                        "{names:?}: {step:?}: say why"
                    );
                }
            }
        }
    }

    /// Tried on a loop device under Linux 6.18: the default of `commit` is five seconds, zero means
    /// the default, and ext4 compares the final value.
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
