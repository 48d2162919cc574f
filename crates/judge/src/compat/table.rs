//! Option tables, which are compiled in, and the lookup of their rows.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Effect;
use super::support_range::{EffectChange, SupportRange};
use super::value_syntax::{NumberSyntax, OptionSyntax, SizeSyntax, UsedSizePart};
use crate::toml_table::parse_without_verification_stamps;

/// Mount options of ext4, XFS and btrfs.
pub const OPTIONS: &str = include_str!("../../rules/tables/validity.toml");
/// File systems, block drivers and other features that kernels are built with.
pub const SYSTEMS: &str = include_str!("../../rules/tables/systems.toml");
/// Both files, parsed as one table.
const TEXT: &str = concat!(
    include_str!("../../rules/tables/validity.toml"),
    "\n",
    include_str!("../../rules/tables/systems.toml")
);

/// Options that another option of the line revokes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevokedOptions {
    of: Vec<String>,
    /// Names of the revoked options, as in the rows.
    words: Vec<String>,
    /// Options that revoke `words`; by default `words` revoke each other.
    by: Option<Vec<String>>,
    /// Exceptions among the revoking options.
    #[serde(default)]
    but: Vec<String>,
    /// Option that remains in force after the revocation.
    leaves: Option<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who read the table"))]
    source: String,
}

/// How a remount reverts options.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemountInverse {
    of: Vec<String>,
    /// Names of the reverted options, as in the rows.
    words: Vec<String>,
    /// Option of the remount; `None` if only an unmount reverts `words`.
    pub by: Option<String>,
    /// Whether no later remount can set `words` again.
    #[serde(default)]
    pub one_way: bool,
    /// Options that the next mount needs, for that one mount, to revert `words`.
    #[serde(default)]
    pub with: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for those who read the table"))]
    source: String,
}

/// Options that a kernel refuses next to others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptionConflict {
    of: Vec<String>,
    /// Options that are refused, provided that they are in effect.
    words: Vec<String>,
    /// Options next to which `words` are refused, in any order on the line.
    beside: Vec<String>,
    /// Options among `beside` that only state the default, which kernels treat as not set.
    #[serde(default)]
    but: Vec<String>,
    steps: Vec<EffectChange>,
    because: String,
    source: String,
    #[serde(skip)]
    pub support: SupportRange,
}

/// Effect of an option while the file system is mounted with another option.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CombinedEffect {
    pub option: String,
    pub is: Effect,
    pub because: String,
}

/// Marks an option whose value is free text.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FreeTextMarker {
    Text,
}

/// Marks an option that the tests with real mounts leave out.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MountTestException {
    Never,
}

/// A row of the table: options that share one history of support.
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
    counts: UsedSizePart,
    #[serde(default)]
    size: bool,
    takes: Option<FreeTextMarker>,
    words: Option<Vec<String>>,
    #[serde(skip)]
    pub syntax: OptionSyntax,
    #[serde(rename = "try")]
    pub example: Option<String>,
    /// Options of which one must be on the same line.
    #[serde(default)]
    pub needs_any: Vec<String>,
    /// Effect on a line without any of `needs_any`: refused, or unknown if the file system decides.
    #[serde(default = "refused")]
    pub without: Effect,
    /// Effects that depend on options in force.
    #[serde(default)]
    pub in_force: Vec<CombinedEffect>,
    /// Words in /proc/self/mountinfo that also prove that the kernel accepts the options.
    #[serde(default)]
    pub shown_as: Vec<String>,
    #[serde(default)]
    pub not_on_ext3: bool,
    #[serde(rename = "tried")]
    pub mount_test: Option<MountTestException>,
    /// Reason for the steps without a `because` of their own.
    #[serde(default)]
    pub because: String,
    pub source: String,
}

fn refused() -> Effect {
    Effect::Refused
}

/// Every kernel accepts numbers up to `INT_MAX`; some accept numbers up to `UINT_MAX`.
const INT_MAX: u64 = 0x7fff_ffff;
const UINT_MAX: u64 = 0xffff_ffff;

impl OptionEntry {
    fn declared_syntax(&self) -> OptionSyntax {
        let [low, high] = self.range.unwrap_or([0, INT_MAX]);
        let (counts, also) = (self.counts, self.also.clone());
        match &self.words {
            Some(words) => OptionSyntax::Words(words.clone()),
            None if self.number => OptionSyntax::Number(NumberSyntax {
                low,
                high,
                highest_accepted: self.perhaps.unwrap_or(if self.range.is_some() {
                    high
                } else {
                    UINT_MAX
                }),
                also,
                power_of_two: matches!(counts, UsedSizePart::PowerOfTwo),
            }),
            None if self.size => OptionSyntax::Size(SizeSyntax {
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
    /// Index into `options` by file system or component (`vfs`, `md`) and option name.
    #[serde(skip)]
    pub names: BTreeMap<(String, String), usize>,
    undone: Vec<RevokedOptions>,
    inverse: Vec<RemountInverse>,
    conflict: Vec<OptionConflict>,
    /// Not used here: a build script reads the section for redaction.
    #[serde(rename = "filter")]
    _filter: Vec<IgnoredAny>,
}

/// If the compiled-in text does not parse, the table is empty and every option unknown; a test
/// checks that the text parses.
pub fn option_table() -> &'static OptionTable {
    static TABLE: LazyLock<OptionTable> = LazyLock::new(|| load_table().unwrap_or_default());
    &TABLE
}

fn load_table() -> Result<OptionTable, toml::de::Error> {
    let mut table: OptionTable = parse_without_verification_stamps(TEXT)?;
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

/// Strips the value: `commit` for `commit=30`.
pub fn option_key(option: &str) -> &str {
    option.split('=').next().unwrap_or(option)
}

/// A row for `vfs` covers every file system.
fn covers_file_system(row: &[String], of: &str) -> bool {
    row.iter().any(|name| name == of || name == "vfs")
}

/// A name that ends in `=` matches the option with any value; any other name must equal the whole
/// option.
fn matches_any_name(names: &[String], option: &str) -> bool {
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

    /// Finds the row by whole text, by key or by prefix (`name*`), and splits off the value.
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
        // `commit=` lacks the value, so it must not match the table name `commit=`.
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

    /// The options without revoked ones. A revoked option is replaced if its revocation leaves
    /// another option in force.
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
                .is_some_and(|option| matches_any_name(&row.words, option))
                && others.any(|other| {
                    matches_any_name(row.by.as_ref().unwrap_or(&row.words), other)
                        && !matches_any_name(&row.but, other)
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

    /// `None` if the table has no row for the option.
    pub fn find_remount_inverse(&self, of: &str, option: &str) -> Option<&RemountInverse> {
        self.inverse
            .iter()
            .find(|row| covers_file_system(&row.of, of) && matches_any_name(&row.words, option))
    }

    /// Options of the line next to which `option` is refused.
    pub fn conflicts<'t>(
        &'t self,
        of: &str,
        option: &str,
        beside: &[String],
    ) -> impl Iterator<Item = (&'t OptionConflict, String)> {
        // The last of several values on the line decides whether the default is set.
        let last = |of: &String| {
            beside
                .iter()
                .rev()
                .find(|other| option_key(other) == option_key(of))
                .cloned()
        };
        let is_default = |row: &OptionConflict, other: &String| {
            last(other).is_some_and(|last| matches_any_name(&row.but, &last))
        };
        let refuses = |row: &OptionConflict, other: &String| {
            matches_any_name(&row.beside, other) && !is_default(row, other)
        };
        let met = |row: &OptionConflict| beside.iter().find(|other| refuses(row, other)).cloned();
        let of_option = self.conflict.iter().filter(move |row| {
            covers_file_system(&row.of, of) && matches_any_name(&row.words, option)
        });
        let found: Vec<(&OptionConflict, String)> =
            of_option.filter_map(|row| Some((row, met(row)?))).collect();
        found.into_iter()
    }

    /// Whether the component has an option with this key, whatever the value.
    pub fn has_option_key(&self, of: &str, option: &str) -> bool {
        self.names
            .keys()
            .any(|(owner, name)| owner == of && option_key(name) == option_key(option))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::mount_options_support;
    use crate::compat::support_range::vendor_release_number;
    use crate::version::Version;

    /// Checks that every row has a source, every value one syntax, every name one row, and that
    /// steps are sorted and give reasons.
    #[test]
    fn the_option_tables_are_consistent() {
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
                let from =
                    |step: &EffectChange| (step.from.clone(), vendor_release_number(&step.from));
                assert!(
                    steps.is_sorted_by(|a, b| from(a) < from(b)),
                    "{names:?}: {steps:?}"
                );
                for step in steps {
                    assert!(
                        !step.because.is_empty() || !step.is.needs_remark(),
                        "{names:?}: {step:?}: say why"
                    );
                }
            }
        }
    }

    /// Tried on a loop device under Linux 6.18: the default of `commit` is 5 s, 0 means the
    /// default, and ext4 compares the last value of the line.
    #[test]
    fn default_values_are_accepted_next_to_noload() {
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
            let rulings = mount_options_support("ext4", &options, &[], &kernel, "mainline");
            assert_eq!(rulings.last().unwrap().effect, expect, "{line}");
        }
    }
}
