//! Settings of PostgreSQL, MySQL and MariaDB, as data in `rules/tables/servers.toml`, which is compiled in. A row has
//! its releases, default and values, and the fact that holds it. Further tables list the values that lose data, and the
//! parts that may leave a configuration file.
//!
//! The host filters by this table, the collectors read by it, and rules and advice are checked against it. A user's
//! table (`--rules`) is never read into it, because a longer list would let secrets out.

mod table;
mod load;
mod release;
mod spelling;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub use crate::facts::Area;
pub use load::TEXT;
pub use release::ReleaseDefault;
pub use spelling::{postgres_size, postgres_time};
pub use table::{ChangedBy, Leave, Losing, Mysql, OnLinux, Postgres, ValueSyntax, default_in};

/// The table compiled into walwise. If it does not load, which a test excludes, everything in it is unknown and nothing
/// may leave.
pub fn servers() -> &'static table::ServerTable {
    static SERVERS: LazyLock<table::ServerTable> = LazyLock::new(|| load::load(TEXT).unwrap_or_default());
    &SERVERS
}

/// The names of servers' programs.
pub fn programs() -> &'static [String] {
    &servers().programs
}

/// The settings of servers of an area that may leave, by name.
pub fn leaving(of: Area) -> &'static BTreeMap<String, Leave> {
    static NONE: BTreeMap<String, Leave> = BTreeMap::new();
    servers().leave.get(&of).unwrap_or(&NONE)
}

/// The values of a setting that give up durability, by its name in rules (`pg.fsync`).
pub fn losing(name: &str) -> Option<&'static Losing> {
    servers().losing.get(name)
}
