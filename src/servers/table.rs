//! The settings of database servers as values. The table is compiled in; [`super::load`] reads it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::facts::catalog::cluster::ServerKind;
use crate::version::Version;

/// What makes a new value hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangedBy {
    /// A statement, at once and for everybody.
    Statement,
    /// A statement for one session, a reload for everybody.
    Session,
    /// A reload.
    Reload,
    /// A restart.
    Restart,
    /// Nothing: it is chosen when the cluster is made.
    Initdb,
}

/// What a value must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Takes {
    /// Anything.
    Anything,
    /// `on` or `off`.
    Switch,
    /// One of the words that the table lists.
    Words,
    /// A number, with a unit or without.
    Size,
    /// A number in this range.
    Number(f64, f64),
}

impl Takes {
    /// Whether the table lists its words.
    pub fn is_words(self) -> bool {
        match self {
            Self::Words => true,
            Self::Anything | Self::Switch | Self::Size | Self::Number(..) => false,
        }
    }
}

/// What holds when nothing sets a setting, each from a release on, in ascending order.
pub type Defaults = Vec<(Version, String)>;

/// A PostgreSQL setting.
#[derive(Clone, Debug)]
pub struct Postgres {
    /// The releases that brought it.
    pub since: Vec<Version>,
    /// The release that took it away.
    pub removed: Option<Version>,
    /// What there is in its place then.
    pub instead: String,
    /// What holds when nothing sets it.
    pub default: Defaults,
    /// What makes a new value hold.
    pub changed_by: ChangedBy,
    /// What a value must be.
    pub takes: Takes,
    /// The fact that holds it, where it is read.
    pub fact: Option<String>,
    /// The release from which on it is counted in the unit of today; of older ones it is not read.
    pub counts: Option<Version>,
    /// So many bytes is one of what a size without a unit counts.
    pub unit: u64,
    /// Who says so.
    pub source: String,
}

/// A value of a PostgreSQL setting that takes words.
#[derive(Clone, Debug)]
pub struct PostgresValue {
    /// The release that brought it; where there is none, as old as the setting.
    pub since: Option<Version>,
    /// What becomes of it on Linux from then on.
    pub is: OnLinux,
    /// Why.
    pub because: String,
    /// Who says so.
    pub source: String,
}

/// What becomes of a value on Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnLinux {
    /// The server runs with it.
    Taken,
    /// It does not start with it.
    Refused,
    /// That hangs on how the server was built.
    Unknown,
}

impl OnLinux {
    /// Whether the server runs with it.
    pub fn is_taken(self) -> bool {
        match self {
            Self::Taken => true,
            Self::Refused | Self::Unknown => false,
        }
    }
}

/// What of a setting may leave a configuration file, a command line or a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Leave {
    /// Its value.
    #[default]
    Value,
    /// Its value; the bare name switches it on.
    Switch,
    /// The shape of its value alone.
    Shape,
}

/// Values that give up what a power failure would leave.
#[derive(Clone, Debug)]
pub struct Losing {
    /// These do.
    pub values: Vec<String>,
    /// Only these do not, where most do.
    pub keeps: Option<Vec<String>>,
}

/// A setting of MySQL or MariaDB, with some of its values or all.
#[derive(Clone, Debug)]
pub struct Mysql {
    /// Of which of the two.
    pub of: ServerKind,
    /// Its name.
    pub name: String,
    /// The values that this is about; any where there are none, and no range.
    pub values: Vec<String>,
    /// The numbers that this is about.
    pub range: Option<[f64; 2]>,
    /// The release that brought it.
    pub since: Version,
    /// The release that warns of it.
    pub deprecated: Option<Version>,
    /// The release that took it away.
    pub removed: Option<Version>,
    /// What there is in its place.
    pub instead: String,
    /// What holds when nothing sets it.
    pub default: Defaults,
    /// The release from which on SET GLOBAL changes it.
    pub dynamic: Option<Version>,
    /// Why it is on its way out.
    pub because: String,
    /// Who says so.
    pub source: String,
}

/// The whole table.
#[derive(Clone, Debug, Default)]
pub struct Servers {
    /// PostgreSQL settings by name.
    pub postgres: BTreeMap<String, Postgres>,
    /// Values of PostgreSQL settings, by setting and value.
    pub values: BTreeMap<(String, String), PostgresValue>,
    /// Names of those that are read into facts, in the order of the table.
    pub read: Vec<String>,
    /// Settings of MySQL and MariaDB.
    pub mysql: Vec<Mysql>,
    /// What may leave of PostgreSQL's settings, by name.
    pub postgres_leave: BTreeMap<String, Leave>,
    /// What may leave of MySQL's and MariaDB's settings, by name.
    pub mysql_leave: BTreeMap<String, Leave>,
    /// Values that lose data, by the name of the setting in rules.
    pub losing: BTreeMap<String, Losing>,
}

/// The table that walwise brings. Should it not load, which a test excludes, everything in it is unknown and nothing may leave.
pub fn servers() -> &'static Servers {
    static SERVERS: LazyLock<Servers> =
        LazyLock::new(|| super::load::load(super::load::TEXT).unwrap_or_default());
    &SERVERS
}

/// What holds in a release when nothing sets it.
pub fn default_in<'t>(defaults: &'t Defaults, server: &Version) -> Option<&'t str> {
    defaults.iter().rev().find(|(from, _)| server >= from).map(|(_, value)| value.as_str())
}
