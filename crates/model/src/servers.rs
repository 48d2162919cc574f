//! Settings of PostgreSQL, MySQL and MariaDB, from `rules/tables/servers.toml`: releases, default,
//! values and the fact of each, and the values that lose data. What may leave a configuration file
//! is in `rules/tables/leaving.toml`.
//!
//! Host, collectors and rules use the two tables. A user's table (`--rules`) is never merged into
//! them, because a longer list would let secrets out.

mod redaction_policy;
mod release;
mod table;
mod spelling {
    //! Sizes and times as PostgreSQL writes them (guc.c): a whole number with the largest unit that
    //! leaves one.

    /// A size: `16GB`, `96MB`, `80kB`, and `512` where nothing larger divides it.
    pub fn postgres_size(bytes: u64) -> String {
        const UNITS: [(u64, &str); 4] = [
            (1 << 40, "TB"),
            (1 << 30, "GB"),
            (1 << 20, "MB"),
            (1 << 10, "kB"),
        ];
        let fits = |unit: &u64| bytes > 0 && bytes.is_multiple_of(*unit);
        match UNITS.iter().find(|(unit, _)| fits(unit)) {
            Some((unit, name)) => format!("{}{name}", bytes / unit),
            None => bytes.to_string(),
        }
    }

    /// A size as an option file of MySQL has it: `4G`, `100M`, `80K`, and `512` where nothing
    /// larger divides it.
    pub fn mysql_size(bytes: u64) -> String {
        let size = postgres_size(bytes);
        size.strip_suffix('B')
            .map_or(size.clone(), str::to_uppercase)
    }

    /// A time: `5min`, `90s`, `1d`.
    pub fn postgres_time(micros: f64) -> String {
        const UNITS: [(f64, &str); 5] = [
            (86_400e6, "d"),
            (3600e6, "h"),
            (60e6, "min"),
            (1e6, "s"),
            (1e3, "ms"),
        ];
        let fits = |unit: f64| micros >= unit && (micros / unit).fract() == 0.0;
        match UNITS.iter().find(|(unit, _)| fits(*unit)) {
            Some((unit, name)) => format!("{}{name}", micros / unit),
            None => format!("{micros}us"),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn whole_numbers_have_the_largest_unit() {
            let sizes = [1 << 40, 16 << 30, 1536 << 20, 80 << 10, 512, 0].map(postgres_size);
            assert_eq!(sizes, ["1TB", "16GB", "1536MB", "80kB", "512", "0"]);
            let times = [86_400e6, 5400e6, 300e6, 90e6, 250e3, 7.0].map(postgres_time);
            assert_eq!(times, ["1d", "90min", "5min", "90s", "250ms", "7us"]);
        }
    }
}

use std::collections::BTreeMap;
use std::sync::{LazyLock, Once};

pub use crate::facts::Area;
use crate::facts::Choice;
use crate::parallel;
use crate::toml_table;
pub use redaction_policy::{Exposure, POLICY_TOML as LEAVING};
pub use release::{ReleaseDefault, Statement, client_program, has_persist};
pub(crate) use spelling::mysql_size;
pub use spelling::{postgres_size, postgres_time};
pub use table::{
    ChangedBy, LinuxSupport, MysqlSetting, PostgresSetting, SERVERS_TOML, UnsafeValues,
    ValueSyntax, value_in,
};

/// The table of settings, compiled in. If it does not load, which a test excludes, everything in it
/// is unknown.
pub fn server_table() -> &'static table::ServerTable {
    static SERVERS: LazyLock<table::ServerTable> =
        LazyLock::new(|| toml_table::parse(SERVERS_TOML).unwrap_or_default());
    &SERVERS
}

/// Starts to parse the table of settings in the background. It is needed last, when no other work
/// is left.
pub fn preload_table() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| parallel::spawn_detached(|| _ = server_table()));
}

/// What may leave, compiled in. It is a separate table, because each reading child parses it. If it
/// does not load, which a test excludes, nothing may leave.
fn policy() -> &'static redaction_policy::RedactionPolicy {
    static LEAVING: LazyLock<redaction_policy::RedactionPolicy> = LazyLock::new(|| {
        redaction_policy::parse_policy(redaction_policy::POLICY_TOML).unwrap_or_default()
    });
    &LEAVING
}

/// The name of a server program, and the area of its settings; `None` for any other program.
pub fn server_program(name: &[u8]) -> Option<(&'static str, Area)> {
    let name = std::str::from_utf8(name).ok()?;
    policy()
        .programs
        .get_key_value(name)
        .map(|(name, area)| (name.as_str(), *area))
}

/// The areas that a program of this name may belong to: all of them for an unknown name.
pub fn program_areas(name: &[u8]) -> Vec<Area> {
    server_program(name).map_or_else(|| Area::ALL.to_vec(), |(_, area)| vec![area])
}

/// The settings of an area's servers that may leave, by name.
pub fn exposed_settings(of: Area) -> &'static BTreeMap<String, Exposure> {
    static NONE: BTreeMap<String, Exposure> = BTreeMap::new();
    policy().settings.get(&of).unwrap_or(&NONE)
}

/// The values of a setting that give up durability, by its name in rules (`pg.fsync`).
pub fn unsafe_values(name: &str) -> Option<&'static UnsafeValues> {
    server_table()
        .loses
        .iter()
        .find(|row| row.names.iter().any(|own| own == name))
}
