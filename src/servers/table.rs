//! The settings of database servers as values. The table is compiled in; [`super::load`] reads it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::facts::ServerKind;
use crate::version::Version;

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

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueSyntax {
    Anything,
    Switch,
    /// One of the words that the table lists.
    Words,
    /// A number, with or without a unit.
    Size,
    /// A number in this range.
    Number(f64, f64),
}

impl ValueSyntax {
    /// Whether the table lists its words.
    pub fn is_words(self) -> bool {
        matches!(self, Self::Words)
    }
}

/// Values, each from a release on, in ascending order.
pub type ByRelease<T> = Vec<(Version, T)>;

pub type Defaults = ByRelease<String>;

#[derive(Clone, Debug)]
pub struct Postgres {
    /// The releases that introduced it.
    pub since: Vec<Version>,
    /// The release that removed it.
    pub removed: Option<Version>,
    pub instead: String,
    /// Its default by release.
    pub default: Defaults,
    /// The action by which a new value takes effect.
    pub changed_by: ChangedBy,
    pub takes: ValueSyntax,
    /// The fact that holds it, where it is read.
    pub fact: Option<String>,
    /// The unit of a size without one, in bytes, by release.
    pub unit: ByRelease<u64>,
    pub source: String,
}

/// A value of a PostgreSQL setting that takes words.
#[derive(Clone, Debug)]
pub struct PostgresValue {
    /// The release that introduced it; `None` if it is as old as the setting.
    pub since: Option<Version>,
    /// Its effect on Linux from then on.
    pub is: OnLinux,
    pub because: String,
    pub source: String,
}

/// The effect of a value on Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnLinux {
    Taken,
    /// The server refuses to start with it.
    Refused,
    /// Depends on how the server was built.
    Unknown,
}

impl OnLinux {
    /// Whether the server accepts it.
    pub fn is_taken(self) -> bool {
        matches!(self, Self::Taken)
    }
}

/// Values that give up durability.
#[derive(Clone, Debug)]
pub struct Losing {
    /// Values that give it up.
    pub values: Vec<String>,
    /// Where most values do: the only ones that do not.
    pub keeps: Option<Vec<String>>,
}

/// A setting of MySQL or MariaDB, for some or all of its values.
#[derive(Clone, Debug)]
pub struct Mysql {
    /// The server it belongs to.
    pub of: ServerKind,
    pub name: String,
    /// The values that this row is about; empty, without a range, for all.
    pub values: Vec<String>,
    /// The numbers that this row is about.
    pub range: Option<[f64; 2]>,
    /// The release that introduced it.
    pub since: Version,
    /// The release that deprecated it.
    pub deprecated: Option<Version>,
    /// The release that removed it.
    pub removed: Option<Version>,
    pub instead: String,
    /// Its default by release.
    pub default: Defaults,
    /// The release from which on SET GLOBAL changes it.
    pub dynamic: Option<Version>,
    /// The release from which on SET GLOBAL may change it, where some minor releases before `dynamic` do.
    pub perhaps_dynamic: Option<Version>,
    pub because: String,
    pub source: String,
}

#[derive(Clone, Debug, Default)]
pub struct ServerTable {
    /// PostgreSQL settings by name.
    pub postgres: BTreeMap<String, Postgres>,
    /// Values of PostgreSQL settings, by setting and value.
    pub values: BTreeMap<(String, String), PostgresValue>,
    /// Names of the settings that are read into facts, in the order of the table.
    pub read: Vec<String>,
    /// Settings of MySQL and MariaDB.
    pub mysql: Vec<Mysql>,
    /// Values that lose data, by the name of the setting in rules.
    pub losing: BTreeMap<String, Losing>,
}

/// The default in a release.
pub fn default_in<'t>(defaults: &'t Defaults, server: &Version) -> Option<&'t str> {
    value_in(defaults, server).map(String::as_str)
}

/// The value in a release.
pub fn value_in<'t, T>(values: &'t ByRelease<T>, server: &Version) -> Option<&'t T> {
    values.iter().rev().find(|(from, _)| server >= from).map(|(_, value)| value)
}
