//! Settings of PostgreSQL, MySQL and MariaDB, as data in `rules/tables/servers.toml`, which is compiled in. A row has
//! its releases, default and values, and the fact that holds it; another table lists the values that lose data. The parts
//! that may leave a configuration file are in `rules/tables/leaving.toml`.
//!
//! The host filters by what may leave, the collectors read by the settings, and rules and advice are checked against
//! them. A user's table (`--rules`) is never read into either, because a longer list would let secrets out.

mod leaving;
mod table;
mod release;
mod spelling;

use std::collections::BTreeMap;
use std::sync::{LazyLock, Once};

pub use crate::facts::Area;
use crate::facts::Choice;
use crate::rows;
use crate::workers;
pub use leaving::{Leave, TEXT as LEAVING};
pub use release::{ReleaseDefault, Statement, client, has_persist};
pub use spelling::{mysql_size, postgres_size, postgres_time};
pub use table::{ChangedBy, Losing, Mysql, OnLinux, Postgres, TEXT, ValueSyntax, value_in};

/// The table of settings, compiled in. If it does not load, which a test excludes, everything in it is unknown.
pub fn servers() -> &'static table::ServerTable {
    static SERVERS: LazyLock<table::ServerTable> = LazyLock::new(|| rows::read(TEXT).unwrap_or_default());
    &SERVERS
}

/// Begins to read the table of settings. It is needed last, when nobody else has work left.
pub fn read_ahead() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| workers::ahead(|| _ = servers()));
}

/// What may leave, compiled in. It is a table of its own because each child that reads for somebody parses it. If it does
/// not load, which a test excludes, nothing may leave.
fn may_leave() -> &'static leaving::LeavingTable {
    static LEAVING: LazyLock<leaving::LeavingTable> =
        LazyLock::new(|| leaving::load(leaving::TEXT).unwrap_or_default());
    &LEAVING
}

/// The server's program of this name, and the area of its settings; `None` for any other program.
pub fn program(name: &[u8]) -> Option<(&'static str, Area)> {
    let name = std::str::from_utf8(name).ok()?;
    may_leave().programs.get_key_value(name).map(|(name, area)| (name.as_str(), *area))
}

/// The areas of the servers that a program of this name may be: all of them where the name is unknown.
pub fn areas_of(name: &[u8]) -> Vec<Area> {
    program(name).map_or_else(|| Area::ALL.to_vec(), |(_, area)| vec![area])
}

/// The settings of servers of an area that may leave, by name.
pub fn leaving(of: Area) -> &'static BTreeMap<String, Leave> {
    static NONE: BTreeMap<String, Leave> = BTreeMap::new();
    may_leave().settings.get(&of).unwrap_or(&NONE)
}

/// The values of a setting that give up durability, by its name in rules (`pg.fsync`).
pub fn losing(name: &str) -> Option<&'static Losing> {
    servers().loses.iter().find(|row| row.names.iter().any(|own| own == name))
}
