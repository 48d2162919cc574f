//! The settings of database servers as values, with their table, which is compiled in.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::facts::ServerKind;
use crate::version::Version;

/// The table, compiled in.
pub const SERVERS_TOML: &str = include_str!("../../tables/servers.toml");

/// The action by which a new value takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangedBy {
    /// A statement, immediately and for all sessions.
    Statement,
    /// A statement for one session, a reload for all.
    Session,
    Reload,
    Restart,
    /// None: it is chosen when the cluster is created.
    Initdb,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueSyntax {
    Switch,
    /// One of the words that the table lists.
    Words,
    /// A number, with or without a unit.
    Size,
}

/// Values, each from a release on.
pub type ByRelease<T> = BTreeMap<Version, T>;

/// Settings of PostgreSQL.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostgresSetting {
    pub names: Vec<String>,
    /// The releases that introduced them.
    pub since: Vec<Version>,
    /// The release that removed them.
    pub removed: Option<Version>,
    #[serde(default)]
    pub instead: String,
    /// Their default by release.
    #[serde(default)]
    pub default: ByRelease<String>,
    /// The action by which a new value takes effect.
    #[serde(rename = "change")]
    pub changed_by: ChangedBy,
    /// The values that they take; any without it and without a range.
    pub takes: Option<ValueSyntax>,
    /// The numbers that they take.
    pub range: Option<[f64; 2]>,
    /// Whether they are read into facts.
    #[serde(default)]
    pub read: bool,
    /// The fact that holds it, where that is not `pg.NAME`.
    pub fact: Option<String>,
    /// The unit of a size without one, in bytes, by release.
    #[serde(default)]
    pub unit: ByRelease<u64>,
    pub source: String,
}

/// Values of a PostgreSQL setting that takes words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostgresValue {
    /// The setting.
    pub of: String,
    pub names: Vec<String>,
    /// The release that introduced them; `None` if they are as old as the setting.
    pub since: Option<Version>,
    /// Their effect on Linux from then on.
    #[serde(default)]
    pub is: LinuxSupport,
    #[serde(default)]
    pub because: String,
    pub source: String,
}

/// The effect of a value on Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinuxSupport {
    #[default]
    Taken,
    /// The server refuses to start with it.
    Refused,
    /// Depends on how the server was built.
    Unknown,
}

/// Settings and their values that give up durability.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnsafeValues {
    /// The settings, by their names in rules.
    pub names: Vec<String>,
    /// Values that give it up.
    pub values: Vec<String>,
    /// Where most values do: the only ones that do not.
    pub keeps: Option<Vec<String>>,
}

/// Settings of MySQL or MariaDB, for some or all of their values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MysqlSetting {
    /// The server they belong to.
    pub of: ServerKind,
    pub names: Vec<String>,
    /// The values that this row is about; empty, without a range, for all.
    #[serde(default)]
    pub values: Vec<String>,
    /// The numbers that this row is about.
    pub range: Option<[f64; 2]>,
    /// The release that introduced them.
    pub since: Version,
    /// The release that deprecated them.
    pub deprecated: Option<Version>,
    /// The release that removed them.
    pub removed: Option<Version>,
    #[serde(default)]
    pub instead: String,
    /// Their default by release.
    #[serde(default)]
    pub default: ByRelease<String>,
    /// The release from which on SET GLOBAL changes them.
    pub dynamic: Option<Version>,
    /// The release from which on SET GLOBAL may change them, where some minor releases before
    /// `dynamic` do.
    pub perhaps_dynamic: Option<Version>,
    #[serde(default)]
    pub because: String,
    pub source: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerTable {
    pub postgres: Vec<PostgresSetting>,
    pub postgres_value: Vec<PostgresValue>,
    pub mysql: Vec<MysqlSetting>,
    /// Values that lose data.
    pub loses: Vec<UnsafeValues>,
}

impl ServerTable {
    /// The row of a setting of PostgreSQL.
    pub fn postgres(&self, name: &str) -> Option<&PostgresSetting> {
        self.postgres
            .iter()
            .find(|row| row.names.iter().any(|own| own == name))
    }

    /// The rows of a setting of MySQL or MariaDB.
    pub fn mysql(&self, name: &str, of: ServerKind) -> impl Iterator<Item = &MysqlSetting> {
        self.mysql
            .iter()
            .filter(move |row| row.of == of && row.names.iter().any(|own| own == name))
    }
}

/// The value in a release.
pub fn value_in<'t, T>(values: &'t ByRelease<T>, server: &Version) -> Option<&'t T> {
    values.range(..=server).next_back().map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::facts::area;
    use crate::toml_table::parse;

    /// Every name once, every row with its source and reasons, and words for every setting that
    /// takes them.
    #[test]
    fn the_table_is_sound() {
        let servers: ServerTable = parse(SERVERS_TOML).unwrap();
        assert!(
            servers.postgres.len() > 25
                && servers.mysql.len() > 25
                && servers.postgres_value.len() > 5
        );
        let mut seen = BTreeSet::new();
        for row in &servers.postgres {
            let names = &row.names;
            assert!(!row.source.is_empty() && !row.since.is_empty(), "{names:?}");
            assert!(
                row.removed.is_none() || !row.instead.is_empty(),
                "{names:?}: say what there is instead"
            );
            assert!(
                row.takes.is_none() || row.range.is_none(),
                "{names:?}: a range is for a number alone"
            );
            for name in names {
                assert!(seen.insert(name), "{name} twice");
                let words = servers.postgres_value.iter().any(|value| value.of == *name);
                assert_eq!(row.takes == Some(ValueSyntax::Words), words, "{name}");
            }
        }
        let mut seen = BTreeSet::new();
        for row in &servers.postgres_value {
            assert!(
                servers.postgres(&row.of).is_some() && !row.source.is_empty(),
                "{row:?}"
            );
            assert!(
                row.is == LinuxSupport::Taken || !row.because.is_empty(),
                "{row:?}: say why"
            );
            for name in &row.names {
                assert!(seen.insert((&row.of, name)), "{name} of {} twice", row.of);
            }
        }
        for row in &servers.mysql {
            let goes = row.deprecated.is_some() || row.removed.is_some();
            assert!(!row.source.is_empty() && !row.of.is_postgres(), "{row:?}");
            assert!(
                row.deprecated.is_none() || !row.because.is_empty(),
                "{row:?}: say why it is deprecated"
            );
            assert!(
                !goes || !row.instead.is_empty(),
                "{row:?}: say what there is instead"
            );
            assert!(
                row.range.is_none() || row.values.is_empty(),
                "{row:?}: numbers or words, not both"
            );
        }
        let mut seen = BTreeSet::new();
        for name in servers.loses.iter().flat_map(|row| &row.names) {
            assert!(area(name).is_some() && seen.insert(name), "{name}");
        }
    }
}
