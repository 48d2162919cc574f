//! The types of rows in `rules/tables/servers.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::facts::ServerKind;
use crate::version::Version;

pub const SERVERS_TOML: &str = include_str!("../../tables/servers.toml");

/// The action by which a new value takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingChangeAction {
    /// An SQL statement changes the value immediately, for all sessions.
    Statement,
    /// An SQL statement changes the value for one session, a reload for all sessions.
    Session,
    Reload,
    Restart,
    /// No action changes the value, which is chosen when the cluster is created.
    Initdb,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueSyntax {
    Switch,
    /// One of the words in the [`PostgresEnumValues`] rows of the setting.
    Words,
    /// A number, with or without a unit.
    Size,
}

/// Values, by the first release that has each value.
pub type ByRelease<T> = BTreeMap<Version, T>;

/// A row of `servers.toml`: one or more PostgreSQL settings with equal releases, defaults and
/// syntax.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostgresSettingRow {
    pub names: Vec<String>,
    /// First releases with the settings: several if minor releases of older lines got the settings
    /// as well.
    pub since: Vec<Version>,
    pub removed: Option<Version>,
    #[serde(default)]
    pub instead: String,
    #[serde(default)]
    pub default: ByRelease<String>,
    #[serde(rename = "change")]
    pub changed_by: SettingChangeAction,
    /// Syntax of accepted values; without `takes` and `range`, any value is accepted.
    pub takes: Option<ValueSyntax>,
    /// Lowest and highest number that the server accepts.
    pub range: Option<[f64; 2]>,
    /// Whether collectors read the settings into facts.
    #[serde(default)]
    pub read: bool,
    /// The fact that holds the value, if not `pg.NAME`.
    pub fact: Option<String>,
    /// The unit of a size written without a unit, in bytes, by the first release with that unit.
    #[serde(default)]
    pub unit: ByRelease<u64>,
    pub source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostgresEnumValues {
    pub of: String,
    pub names: Vec<String>,
    /// Release that introduced the values; `None` if they are as old as the setting.
    pub since: Option<Version>,
    #[serde(default)]
    pub is: LinuxAcceptance,
    #[serde(default)]
    pub because: String,
    pub source: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinuxAcceptance {
    #[default]
    Taken,
    /// The server refuses to start with the value.
    Refused,
    /// Acceptance depends on how the server was built.
    Unknown,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnsafeValues {
    pub names: Vec<String>,
    pub values: Vec<String>,
    /// The only values that keep durability; listed for settings of which most values lose it.
    pub keeps: Option<Vec<String>>,
}

/// A row of `servers.toml`: one or more MySQL or MariaDB settings with equal properties, for all
/// values or for those in `values` and `range`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MysqlSettingRow {
    pub of: ServerKind,
    pub names: Vec<String>,
    /// Values that the row covers; without `values` and `range`, it covers all.
    #[serde(default)]
    pub values: Vec<String>,
    /// Lowest and highest number that the row covers.
    pub range: Option<[f64; 2]>,
    pub since: Version,
    pub deprecated: Option<Version>,
    pub removed: Option<Version>,
    #[serde(default)]
    pub instead: String,
    #[serde(default)]
    pub default: ByRelease<String>,
    /// First release in which SET GLOBAL can change the settings.
    pub dynamic: Option<Version>,
    /// First release in which SET GLOBAL may change the settings, if some minor releases before
    /// `dynamic` allow that.
    pub perhaps_dynamic: Option<Version>,
    #[serde(default)]
    pub because: String,
    pub source: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSettingsTable {
    pub postgres: Vec<PostgresSettingRow>,
    pub postgres_value: Vec<PostgresEnumValues>,
    pub mysql: Vec<MysqlSettingRow>,
    pub loses: Vec<UnsafeValues>,
}

impl ServerSettingsTable {
    pub fn find_postgres_setting(&self, name: &str) -> Option<&PostgresSettingRow> {
        self.postgres
            .iter()
            .find(|row| row.names.iter().any(|own| own == name))
    }

    /// The rows about a setting: several if some of its values have separate rows.
    pub fn mysql_setting_rows(
        &self,
        name: &str,
        of: ServerKind,
    ) -> impl Iterator<Item = &MysqlSettingRow> {
        self.mysql
            .iter()
            .filter(move |row| row.of == of && row.names.iter().any(|own| own == name))
    }
}

/// The value of the newest entry that is not later than the release. `None` for a release before
/// the first entry.
pub fn newest_value_up_to_release<'t, T>(
    values: &'t ByRelease<T>,
    server: &Version,
) -> Option<&'t T> {
    values.range(..=server).next_back().map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::facts::server_area_of_name;
    use crate::toml_table::parse_ignoring_verification_stamps;

    #[test]
    fn server_table_is_consistent() {
        let servers: ServerSettingsTable =
            parse_ignoring_verification_stamps(SERVERS_TOML).unwrap();
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
                servers.find_postgres_setting(&row.of).is_some() && !row.source.is_empty(),
                "{row:?}"
            );
            assert!(
                row.is == LinuxAcceptance::Taken || !row.because.is_empty(),
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
            assert!(
                server_area_of_name(name).is_some() && seen.insert(name),
                "{name}"
            );
        }
    }
}
