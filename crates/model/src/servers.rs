//! Tables of database servers' settings, compiled into walwise. `rules/tables/servers.toml` holds
//! releases, defaults and values of each setting, and the values that lose data.
//! `rules/tables/leaving.toml` lists the settings that walwise may read from a configuration file.
//!
//! Host, collectors and rules use both tables. A user's rules (`--rules`) never extend them,
//! because a longer list could disclose secrets.

mod redaction_policy;
mod release;
mod table;
mod units {
    //! Sizes and times as PostgreSQL writes them (guc.c): a whole number with the largest unit that
    //! divides the value.

    /// Formats a size: `16GB`, `96MB`, `80kB`, or `512` if no unit divides the size.
    pub fn format_postgres_size(bytes: u64) -> String {
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

    /// Formats a size for an option file of MySQL: `4G`, `100M`, `80K`, or `512` if no unit divides
    /// the size.
    pub fn format_mysql_size(bytes: u64) -> String {
        let size = format_postgres_size(bytes);
        size.strip_suffix('B')
            .map_or(size.clone(), str::to_uppercase)
    }

    /// Formats a duration: `5min`, `90s`, `1d`.
    pub fn format_postgres_time(micros: f64) -> String {
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
            let sizes = [1 << 40, 16 << 30, 1536 << 20, 80 << 10, 512, 0].map(format_postgres_size);
            assert_eq!(sizes, ["1TB", "16GB", "1536MB", "80kB", "512", "0"]);
            let times = [86_400e6, 5400e6, 300e6, 90e6, 250e3, 7.0].map(format_postgres_time);
            assert_eq!(times, ["1d", "90min", "5min", "90s", "250ms", "7us"]);
        }
    }
}

use std::collections::BTreeMap;
use std::sync::{LazyLock, Once};

use crate::facts::Choice;
pub use crate::facts::ServerArea;
use crate::parallel;
use crate::toml_table;
pub use redaction_policy::{Exposure, POLICY_TOML as LEAVING};
pub use release::{MysqlDefault, SettingChangeStatement, client_program, has_set_persist};
pub use table::{
    ChangedBy, LinuxAcceptance, MysqlSetting, PostgresSetting, SERVERS_TOML, UnsafeValues,
    ValueSyntax, value_in_release,
};
pub(crate) use units::format_mysql_size;
pub use units::{format_postgres_size, format_postgres_time};

/// The table of settings. A table that cannot be parsed counts as empty; a test rules that out.
pub fn server_table() -> &'static table::ServerTable {
    static SERVERS: LazyLock<table::ServerTable> = LazyLock::new(|| {
        toml_table::parse_without_verification_stamps(SERVERS_TOML).unwrap_or_default()
    });
    &SERVERS
}

/// Starts to parse the table of settings in the background. The table is needed last, when no other
/// work is left to hide the delay.
pub fn preload_table() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| parallel::spawn_detached(|| _ = server_table()));
}

/// The policy about settings that may leave a configuration file: a separate table, because every
/// reading subprocess parses it. If parsing fails, which a test rules out, no setting may leave.
fn embedded_redaction_policy() -> &'static redaction_policy::RedactionPolicy {
    static LEAVING: LazyLock<redaction_policy::RedactionPolicy> = LazyLock::new(|| {
        redaction_policy::parse_policy(redaction_policy::POLICY_TOML).unwrap_or_default()
    });
    &LEAVING
}

/// The static name and the area of a server program; `None` if the program is not a database
/// server.
pub fn find_server_program(name: &[u8]) -> Option<(&'static str, ServerArea)> {
    let name = std::str::from_utf8(name).ok()?;
    embedded_redaction_policy()
        .programs
        .get_key_value(name)
        .map(|(name, area)| (name.as_str(), *area))
}

/// The areas that a program of this name may belong to: all of them for an unknown name.
pub fn program_areas(name: &[u8]) -> Vec<ServerArea> {
    find_server_program(name).map_or_else(|| ServerArea::ALL.to_vec(), |(_, area)| vec![area])
}

/// The settings of an area that may leave a configuration file, by name.
pub fn exposed_settings(of: ServerArea) -> &'static BTreeMap<String, Exposure> {
    static NONE: BTreeMap<String, Exposure> = BTreeMap::new();
    embedded_redaction_policy()
        .settings
        .get(&of)
        .unwrap_or(&NONE)
}

/// The values of a setting that give up durability, by its name in rules (`pg.fsync`).
pub fn unsafe_values(name: &str) -> Option<&'static UnsafeValues> {
    server_table()
        .loses
        .iter()
        .find(|row| row.names.iter().any(|own| own == name))
}
