//! Settings of PostgreSQL, MySQL and MariaDB, as data in `rules/tables/servers.toml`, which is compiled in. A row has
//! its releases, default and values, and the fact that holds it. Further tables list the values that lose data, and the
//! parts that may leave a configuration file.
//!
//! The host filters by this table, the collectors read by it, and rules and advice are checked against it. A user's
//! table (`--rules`) is never read into it, because a longer list would let secrets out.

mod load;
mod release;
mod table;

use std::sync::LazyLock;

pub use load::TEXT;
pub use release::ReleaseDefault;
pub use table::{ChangedBy, Leave, Losing, Mysql, OnLinux, Postgres, ValueSyntax, default_in};

/// The table compiled into walwise. If it does not load, which a test excludes, everything in it is unknown and nothing
/// may leave.
pub fn servers() -> &'static table::ServerTable {
    static SERVERS: LazyLock<table::ServerTable> = LazyLock::new(|| load::load(TEXT).unwrap_or_default());
    &SERVERS
}

/// The settings that may leave, by name. Both servers of MySQL's line share one list, as they share their files.
pub fn leaving(of: Leaving) -> &'static std::collections::BTreeMap<String, Leave> {
    match of {
        Leaving::Postgres => &servers().postgres_leave,
        Leaving::Mysql => &servers().mysql_leave,
    }
}

/// The server whose settings leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// PostgreSQL's.
    Postgres,
    /// MySQL's and MariaDB's.
    Mysql,
}

/// The values of a setting that give up durability, by its name in rules (`pg.fsync`).
pub fn losing(name: &str) -> Option<&'static Losing> {
    servers().losing.get(name)
}
