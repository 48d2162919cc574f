//! The settings that walwise can give advice about. Rules use only settings of this list, so that a
//! plan can combine the advice of several rules about one setting.
//!
//! Each setting names the fact with its current value. The options used to create a file system
//! have no such fact, because nothing stores them. Code that acts on a setting matches its
//! [`SettingKind`], never its name.
#![warn(clippy::wildcard_enum_match_arm)]

mod filesystem;
mod kind;

use std::fmt;
use std::sync::LazyLock;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::facts::catalog::{self, device};
use crate::facts::{ConfigFileSyntax, Key, KeyInfo, Scope, ServerArea, Value, ValueKind};
use crate::{servers, toml_table};

pub use filesystem::NewFilesystem;
pub use kind::{PresentOrBootMount, SettingKind};

/// A row of `settings.toml`. Settings are ordered by name, because each has its own.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    pub name: &'static str,
    pub kind: SettingKind,
    pub doc: &'static str,
    #[serde(default)]
    pub shape: ValueShape,
    pub scope: Scope,
    /// The fact with the current value; `None` if no fact holds the value.
    #[serde(default, rename = "fact", deserialize_with = "fact_by_name")]
    pub current: Option<&'static KeyInfo>,
    /// Empty for server settings, whose unsafe values are in `servers.toml`.
    #[serde(default, rename = "unsafe")]
    unsafe_values: Vec<&'static str>,
}

impl Setting {
    /// Values, or options to add, that give up durability. No rule may advise such a value without
    /// `Risk::DataLossIfWrong`.
    pub fn unsafe_values(&self) -> impl Iterator<Item = &str> {
        let table = servers::find_unsafe_values(self.name)
            .map(|losing| losing.values.as_slice())
            .unwrap_or_default();
        self.unsafe_values
            .iter()
            .copied()
            .chain(table.iter().map(String::as_str))
    }

    /// Words are compared without regard to case, numbers by value. If the safe values of a setting
    /// are listed, every other value can lose data.
    pub fn can_lose_data(&self, values: &[String]) -> bool {
        let keeping =
            servers::find_unsafe_values(self.name).and_then(|losing| losing.keeps.as_ref());
        values.iter().any(|value| {
            let parts = match self.shape {
                ValueShape::Single => vec![value.as_str()],
                ValueShape::Options => value.split(',').collect(),
            };
            let mut parts = parts
                .into_iter()
                .map(|part| (part.trim(), normalise_value_number(part.trim())));
            parts.any(|(part, plain)| {
                // An option is also compared without its value: an option that is listed without a
                // value is unsafe with any value.
                let bare = part.split('=').next().unwrap_or(part);
                let loses = |word: &&str| {
                    [part, plain.as_str(), bare]
                        .iter()
                        .any(|one| word.eq_ignore_ascii_case(one))
                };
                let keeps = |words: &Vec<String>| words.contains(&plain);
                self.unsafe_values().any(|word| loses(&word))
                    || keeping.is_some_and(|words| !keeps(words))
            })
        })
    }

    /// Whether removing these options can lose data: because `^has_journal` is an unsafe value, the
    /// removal of `has_journal` can lose data.
    pub fn can_removal_lose_data(&self, removed: &[String]) -> bool {
        removed.iter().any(|one| {
            self.unsafe_values()
                .any(|word| word.strip_prefix('^') == Some(one.as_str()))
        })
    }

    /// Whether the value parses as a value of the setting's `current` fact. Always true for text,
    /// versions and lists, and for a setting without such a fact.
    pub fn is_valid_value(&self, value: &str) -> bool {
        let number = |value: &str| {
            normalise_value_number(value)
                .parse::<f64>()
                .is_ok_and(f64::is_finite)
        };
        let any_case = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(value));
        match self.current.map(|fact| fact.kind) {
            Some(ValueKind::Bool) => any_case(ON) || any_case(OFF),
            Some(ValueKind::Choice(words)) => any_case(words),
            Some(ValueKind::Count) => normalise_value_number(value).parse::<u64>().is_ok(),
            Some(ValueKind::Number) => number(value),
            Some(ValueKind::Bytes | ValueKind::Micros) => number(
                value
                    .trim_end_matches(|c: char| c.is_ascii_alphabetic())
                    .trim_end(),
            ),
            Some(
                ValueKind::Text | ValueKind::Version | ValueKind::List | ValueKind::Choices(_),
            )
            | None => true,
        }
    }

    pub fn format_config_value(&self, value: &Value) -> String {
        let is_measure = self.kind.server_area().is_some_and(|area| {
            matches!(
                area.database_profile().syntax,
                ConfigFileSyntax::PostgresConf
            )
        });
        match (value, self.current.map(|fact| fact.kind)) {
            (Value::Bool(true), _) => "on".to_owned(),
            (Value::Bool(false), _) => "off".to_owned(),
            (Value::Whole(bytes), Some(ValueKind::Bytes)) if is_measure => {
                servers::format_postgres_size(*bytes)
            }
            (Value::Number(micros), Some(ValueKind::Micros)) if is_measure => {
                servers::format_postgres_time(*micros)
            }
            (value, _) => value.to_string(),
        }
    }

    /// The value with its unit: sizes of MySQL as in option files (`4G`), I/O timeouts with `ms`.
    /// All other values stay as they are.
    pub fn format_with_unit(&self, value: &str) -> String {
        let bytes = value.parse().ok().filter(|_| {
            self.kind.server_area() == Some(ServerArea::Mysql)
                && self
                    .current
                    .is_some_and(|fact| fact.kind == ValueKind::Bytes)
        });
        match bytes {
            Some(bytes) => servers::format_mysql_size(bytes),
            None if self
                .current
                .is_some_and(|fact| fact.id == device::IO_TIMEOUT_MS.id()) =>
            {
                format!("{value} ms")
            }
            None => value.to_owned(),
        }
    }

    /// The name that the server or the kernel uses: `wal_sync_method` for `pg.wal_sync_method`.
    pub fn name_without_area(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, own)| own)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueShape {
    /// One value; rules use `set`, `set_from` and `keep`.
    #[default]
    Single,
    /// A list of options; rules use `add`, `remove` and `keep`.
    Options,
}

const SETTINGS_TOML: &str = include_str!("settings/settings.toml");

/// If the compiled-in text does not parse, the list is empty; a test checks that the text parses.
pub static ALL: LazyLock<Vec<Setting>> =
    LazyLock::new(|| toml_table::parse_rows(SETTINGS_TOML).unwrap_or_default());

fn fact_by_name<'t, D: Deserializer<'t>>(input: D) -> Result<Option<&'static KeyInfo>, D::Error> {
    let name = <&str>::deserialize(input)?;
    let fact = catalog::find_by_name(name);
    fact.map(Some)
        .ok_or_else(|| D::Error::custom(format!("`{name}` is not a fact")))
}
/// The setting with the name of the fact.
pub fn find_by_fact<T>(fact: &Key<T>) -> Option<&'static Setting> {
    find_by_name(fact.name())
}

pub fn find_by_name(name: &str) -> Option<&'static Setting> {
    ALL.iter().find(|setting| setting.name == name)
}

/// Normalises a whole number, alone or after `=`: `00`, `+0` and `0x0` become `0`.
fn normalise_value_number(value: &str) -> String {
    let (before, number) = match value.split_once('=') {
        Some((key, number)) => (format!("{key}="), number),
        None => (String::new(), value),
    };
    let unsigned = number.strip_prefix('+').unwrap_or(number);
    let hex = unsigned
        .strip_prefix("0x")
        .or_else(|| unsigned.strip_prefix("0X"));
    let read = match hex {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => unsigned.parse().ok(),
    };
    read.map_or_else(|| value.to_owned(), |number| format!("{before}{number}"))
}

const OFF: &[&str] = &["off", "false", "no", "0"];
const ON: &[&str] = &["on", "true", "yes", "1"];

#[cfg(test)]
mod tests {
    use SettingKind::{
        BootOptions, DirectoryFlags, FastCommit, Filesystem, InitDb, MkfsFeatures, MkfsOptions,
        MountOptions, Mysql, Other, Placement, Postgres, Queue, Scheduler, Trim,
    };

    use super::*;

    #[test]
    fn setting_kinds_match_their_area() {
        for setting in ALL.iter() {
            assert_eq!(
                crate::facts::server_area_of_name(setting.name),
                setting.kind.server_area(),
                "{}",
                setting.name
            );
            let area = match setting.kind {
                Postgres | InitDb | Mysql => continue,
                Scheduler | Queue => "block",
                MkfsOptions | MkfsFeatures => "mkfs",
                Filesystem | MountOptions | BootOptions | FastCommit | DirectoryFlags | Trim
                | Placement | Other => {
                    assert!(
                        !["block.", "mkfs."]
                            .iter()
                            .any(|area| setting.name.starts_with(area))
                    );
                    continue;
                }
            };
            assert_eq!(
                setting.name,
                format!("{area}.{}", setting.name_without_area())
            );
        }
    }

    #[test]
    fn table_parses_and_scopes_match_facts() {
        let rows: Vec<Setting> = toml_table::parse_rows(SETTINGS_TOML).unwrap();
        assert!(rows == *ALL && rows.len() > 50);
        for setting in ALL.iter() {
            let fact_scope = setting.current.map_or(setting.scope, |fact| fact.scope);
            assert_eq!(fact_scope, setting.scope, "{}", setting.name);
        }
        let unsafe_values = |name| &find_by_name(name).unwrap().unsafe_values;
        assert_eq!(
            unsafe_values("mount.options"),
            unsafe_values("boot.options")
        );
        assert_eq!(unsafe_values("zfs.no_cache_flush"), ON);
    }

    #[test]
    fn names_are_unique_and_current_values_are_facts() {
        let mut seen = std::collections::BTreeSet::new();
        for name in servers::server_settings_table()
            .loses
            .iter()
            .flat_map(|row| &row.names)
        {
            assert!(
                find_by_name(name).is_some_and(|setting| setting.unsafe_values().next().is_some()),
                "{name}"
            );
        }
        for setting in ALL.iter() {
            assert!(seen.insert(setting.name), "{} twice", setting.name);
            assert!(
                setting.doc.ends_with('.'),
                "{}: a sentence, please",
                setting.name
            );
            if let Some(fact) = setting.current {
                assert!(
                    crate::facts::catalog::find_by_name(fact.name).is_some(),
                    "{}",
                    fact.name
                );
            }
        }
    }
}
