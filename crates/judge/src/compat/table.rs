use std::collections::BTreeMap;
use std::mem::take;
use std::sync::LazyLock;

use serde::Deserialize;

use super::Effect;
use super::support_timeline::{EffectFromKernel, SupportTimeline};
use super::value_syntax::{INT_MAX, NumberSyntax, OptionSyntax, SizeConstraint};
use crate::toml_table::parse_ignoring_verification_stamps;

pub const OPTIONS: &str = include_str!("../../rules/tables/validity.toml");
pub const SYSTEMS: &str = include_str!("../../rules/tables/systems.toml");
const TEXT: &str = concat!(
    include_str!("../../rules/tables/validity.toml"),
    "\n",
    include_str!("../../rules/tables/systems.toml")
);

#[derive(Debug, Deserialize)]
#[cfg_attr(test, serde(deny_unknown_fields))]
pub struct OptionRevocation {
    of: Vec<String>,
    /// Revoked options, spelled as in `names` of `[[options]]`.
    words: Vec<String>,
    /// Options that revoke `words`; by default `words` revoke each other.
    by: Option<Vec<String>>,
    /// Exceptions from `by`: options that do not revoke `words`.
    #[serde(default)]
    but: Vec<String>,
    /// Option that remains in force after the revocation.
    leaves: Option<String>,
    #[cfg(test)]
    source: String,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, serde(deny_unknown_fields))]
pub struct RemountInverse {
    of: Vec<String>,
    words: Vec<String>,
    /// The option with which a remount reverts `words`; `None` if only an unmount does.
    pub by: Option<String>,
    /// Whether no later remount can set `words` again.
    #[serde(default)]
    pub one_way: bool,
    /// Options that the next mount needs, once, to revert `words`.
    #[serde(default)]
    pub with: Vec<String>,
    #[cfg(test)]
    source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptionConflict {
    of: Vec<String>,
    /// Options that the kernel refuses next to `beside`, if both are in effect.
    words: Vec<String>,
    /// Options next to which `words` are refused, in any order on the line.
    beside: Vec<String>,
    /// Options among `beside` that only state the default, which kernels treat as not set.
    #[serde(default)]
    but: Vec<String>,
    steps: Vec<EffectFromKernel>,
    because: String,
    source: String,
    #[serde(skip)]
    pub support: SupportTimeline,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectWhileInForce {
    pub option: String,
    pub is: Effect,
    pub because: String,
}

/// `takes = "text"` marks an option whose value is free text.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FreeTextMarker {
    Text,
}

/// `tried = "never"` marks an option that the tests with real mounts leave out.
#[cfg(any(test, feature = "testing"))]
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MountTestException {
    Never,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, serde(deny_unknown_fields))]
pub struct OptionEntry {
    of: Vec<String>,
    names: Vec<String>,
    steps: Vec<EffectFromKernel>,
    #[serde(default)]
    vendors: BTreeMap<String, Vec<EffectFromKernel>>,
    #[serde(skip)]
    pub support: SupportTimeline,
    #[serde(default)]
    number: bool,
    range: Option<[u64; 2]>,
    perhaps: Option<u64>,
    #[serde(default)]
    also: Vec<u64>,
    #[serde(default)]
    counts: SizeConstraint,
    #[serde(default)]
    size: bool,
    takes: Option<FreeTextMarker>,
    words: Option<Vec<String>>,
    #[cfg(any(test, feature = "testing"))]
    #[serde(rename = "try")]
    pub example: Option<String>,
    /// Options of which one must be on the same line; otherwise `without` is the effect.
    #[serde(default)]
    pub needs_any: Vec<String>,
    /// Effect on a line without any of `needs_any`: refused, or unknown if the file system decides.
    #[serde(default = "refused_by_default")]
    pub without: Effect,
    #[serde(default)]
    pub in_force: Vec<EffectWhileInForce>,
    /// Words in /proc/self/mountinfo that also prove that the kernel accepts the options.
    #[serde(default)]
    pub shown_as: Vec<String>,
    #[serde(default)]
    pub not_on_ext3: bool,
    #[cfg(any(test, feature = "testing"))]
    #[serde(rename = "tried")]
    pub mount_test: Option<MountTestException>,
    #[serde(default)]
    pub because: String,
    pub source: String,
}

fn refused_by_default() -> Effect {
    Effect::Refused
}

/// Some kernels accept option values up to this number.
const UINT_MAX: u64 = 0xffff_ffff;

impl OptionEntry {
    pub fn syntax(&self) -> OptionSyntax<'_> {
        let [low, high] = self.range.unwrap_or([0, INT_MAX]);
        let highest_accepted = match self.range {
            Some(_) => high,
            None => UINT_MAX,
        };
        let number = NumberSyntax {
            low,
            high,
            highest_accepted: self.perhaps.unwrap_or(highest_accepted),
            also: &self.also,
            counts: self.counts,
        };
        match &self.words {
            Some(words) => OptionSyntax::Words(words),
            None if self.number => OptionSyntax::Number(number),
            None if self.size => OptionSyntax::Size(number),
            None if self.takes.is_some() => OptionSyntax::Text,
            None => OptionSyntax::Any,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, serde(deny_unknown_fields))]
pub struct OptionTable {
    options: Vec<OptionEntry>,
    #[serde(skip)]
    pub names: BTreeMap<(String, String), usize>,
    undone: Vec<OptionRevocation>,
    inverse: Vec<RemountInverse>,
    conflict: Vec<OptionConflict>,
    /// Not used here: the build script of crates/sys reads this section to redact values.
    #[cfg(test)]
    #[serde(rename = "filter")]
    _filter: Vec<serde::de::IgnoredAny>,
}

/// If the compiled-in text does not parse, the table is empty and every option is unknown; a test
/// checks that the text parses.
pub fn option_table() -> &'static OptionTable {
    static TABLE: LazyLock<OptionTable> = LazyLock::new(|| load_table().unwrap_or_default());
    &TABLE
}

fn load_table() -> Result<OptionTable, toml::de::Error> {
    let mut table: OptionTable = parse_ignoring_verification_stamps(TEXT)?;
    for (index, row) in table.options.iter_mut().enumerate() {
        row.support = SupportTimeline::new(
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
        row.support = SupportTimeline::new(
            take(&mut row.steps),
            BTreeMap::new(),
            &row.because,
            &row.source,
        );
    }
    Ok(table)
}

/// The option without its value: `commit` for `commit=30`.
pub fn option_without_value(option: &str) -> &str {
    option.split('=').next().unwrap_or(option)
}

/// A row for `vfs` covers every file system.
fn covers_file_system(row: &[String], of: &str) -> bool {
    row.iter().any(|name| name == of || name == "vfs")
}

/// A name that ends in `=` matches the option with any value; any other name must equal the
/// complete option.
fn matches_any_name(names: &[String], option: &str) -> bool {
    names.iter().any(|name| match name.strip_suffix('=') {
        Some(start) => option
            .strip_prefix(start)
            .is_some_and(|rest| rest.starts_with('=')),
        None => name == option,
    })
}

impl OptionTable {
    pub fn get(&self, index: usize) -> Option<&OptionEntry> {
        self.options.get(index)
    }

    /// Finds an option's row by its complete text, by its key or by a prefix (`name*`), and splits
    /// off the value.
    pub fn find_row<'t, 'o>(
        &'t self,
        of: &str,
        option: &'o str,
    ) -> Option<(&'t OptionEntry, Option<&'o str>)> {
        let named = |name: &str| {
            self.names
                .get(&(of.to_owned(), name.to_owned()))
                .and_then(|index| self.get(*index))
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
            .and_then(|(_, index)| self.get(*index))
            .map(|row| (row, None))
    }

    /// Revoked options are left out. If a revocation leaves another option in force, that one takes
    /// the place of the revoked one.
    pub fn options_in_effect(&self, of: &str, options: &[String]) -> Vec<String> {
        let rows: Vec<&OptionRevocation> = self
            .undone
            .iter()
            .filter(|row| covers_file_system(&row.of, of))
            .collect();
        let taken_back = |row: &OptionRevocation, at: usize, options: &[String]| {
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

    pub fn find_remount_inverse(&self, of: &str, option: &str) -> Option<&RemountInverse> {
        self.inverse
            .iter()
            .find(|row| covers_file_system(&row.of, of) && matches_any_name(&row.words, option))
    }

    pub fn conflicts<'t>(
        &'t self,
        of: &str,
        option: &str,
        beside: &[String],
    ) -> impl Iterator<Item = (&'t OptionConflict, String)> {
        // If an option occurs several times, its last value decides whether the option states the
        // default.
        let last = |of: &String| {
            beside
                .iter()
                .rev()
                .find(|other| option_without_value(other) == option_without_value(of))
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

    pub fn has_option_of_same_name(&self, of: &str, option: &str) -> bool {
        self.names.keys().any(|(owner, name)| {
            owner == of && option_without_value(name) == option_without_value(option)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::mount_options_support;
    use crate::compat::support_timeline::vendor_release_number;
    use crate::version::Version;

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
                let from = |step: &EffectFromKernel| {
                    (step.from.clone(), vendor_release_number(&step.from))
                };
                assert!(
                    steps.is_sorted_by(|a, b| from(a) < from(b)),
                    "{names:?}: {steps:?}"
                );
                for step in steps {
                    assert!(
                        !step.because.is_empty()
                            || !matches!(
                                step.is,
                                Effect::NoEffect | Effect::Deprecated | Effect::Refused
                            ),
                        "{names:?}: {step:?}: say why"
                    );
                }
            }
        }
    }

    /// The expected results come from mounts of a loop device under Linux 6.18. The default of
    /// `commit` is 5 s, and 0 means the default; ext4 compares the last value of the line.
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
