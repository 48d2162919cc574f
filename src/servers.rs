//! Settings of PostgreSQL, MySQL and MariaDB, as data in `rules/tables/servers.toml`, which is compiled in: which release has
//! them, their defaults and values, which facts hold them, which values lose data, and what of them may leave a
//! configuration file.
//!
//! The host filters by it, the collectors read by it, and rules and advice are checked against it. The surprise: nothing that a
//! person brings (`--rules`) is ever read into it, because a longer list here would let secrets out.

mod load;
mod release;
mod table;

pub use load::TEXT;
pub use table::{ChangedBy, Leave, Losing, Mysql, OnLinux, Postgres, Takes, default_in, servers};

/// What of settings may leave, by name. Both servers of MySQL's line share one list, as they share their files.
pub fn leaving(of: Leaving) -> &'static std::collections::BTreeMap<String, Leave> {
    match of {
        Leaving::Postgres => &servers().postgres_leave,
        Leaving::Mysql => &servers().mysql_leave,
    }
}

/// Whose settings leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// PostgreSQL's.
    Postgres,
    /// MySQL's and MariaDB's.
    Mysql,
}

/// The values of a setting that give up what a power failure would leave, by its name in rules (`pg.fsync`).
pub fn losing(name: &str) -> Option<&'static Losing> {
    servers().losing.get(name)
}
