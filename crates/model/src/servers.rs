//! Tables of database servers' settings, compiled into walwise. `rules/tables/servers.toml` holds
//! releases, defaults and values of each setting, and the values that lose data.
//! `rules/tables/leaving.toml` lists the settings that walwise may read out of configuration files,
//! command lines and servers.
//!
//! A user's rules (`--rules`) never extend these tables, because a longer list of readable settings
//! could disclose secrets.

mod redaction_policy;
mod release;
mod table;

use std::collections::BTreeMap;
use std::sync::{LazyLock, Once};

use crate::facts::Choice;
use crate::{parallel, toml_table};

pub use crate::facts::ServerArea;
pub use redaction_policy::{POLICY_TOML, ValueExposure};
pub use release::{MysqlDefault, client_program, has_set_persist};
pub use table::{
    LinuxAcceptance, MysqlSettingRow, PostgresSettingRow, SERVERS_TOML, SettingChangeAction,
    UnsafeValues, ValueSyntax, newest_value_up_to_release,
};

/// If the compiled-in text does not parse, the table is empty; a test checks that the text parses.
pub fn server_settings_table() -> &'static table::ServerSettingsTable {
    static SERVERS: LazyLock<table::ServerSettingsTable> = LazyLock::new(|| {
        toml_table::parse_ignoring_verification_stamps(SERVERS_TOML).unwrap_or_default()
    });
    &SERVERS
}

/// Starts to parse the table of settings in the background. A run first needs the table near its
/// end, when nothing else can run in parallel.
pub fn preload_server_settings_table() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| parallel::spawn_detached(|| _ = server_settings_table()));
}

/// The policy in `leaving.toml`. The file is separate from `servers.toml`, because every subprocess
/// that reads files parses it. If the compiled-in text does not parse, no setting may be read out;
/// a test checks that the text parses.
fn embedded_redaction_policy() -> &'static redaction_policy::RedactionPolicy {
    static POLICY: LazyLock<redaction_policy::RedactionPolicy> = LazyLock::new(|| {
        redaction_policy::parse_policy(redaction_policy::POLICY_TOML).unwrap_or_default()
    });
    &POLICY
}

/// Looks up a server program by its file name, such as `mysqld`; `None` for a program that the
/// policy does not list.
pub fn find_server_program(name: &[u8]) -> Option<(&'static str, ServerArea)> {
    let name = str::from_utf8(name).ok()?;
    embedded_redaction_policy()
        .programs
        .get_key_value(name)
        .map(|(name, area)| (name.as_str(), *area))
}

pub fn possible_program_areas(name: &[u8]) -> Vec<ServerArea> {
    find_server_program(name).map_or_else(|| ServerArea::ALL.to_vec(), |(_, area)| vec![area])
}

pub fn settings_safe_to_read(of: ServerArea) -> &'static BTreeMap<String, ValueExposure> {
    static NONE: BTreeMap<String, ValueExposure> = BTreeMap::new();
    embedded_redaction_policy()
        .settings
        .get(&of)
        .unwrap_or(&NONE)
}

pub(crate) fn find_unsafe_values(name: &str) -> Option<&'static UnsafeValues> {
    server_settings_table()
        .loses
        .iter()
        .find(|row| row.names.iter().any(|own| own == name))
}

/// Formats a size as PostgreSQL does (guc.c): a whole number with the largest unit that divides the
/// value.
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

/// Formats a size as in option files of MySQL, which have no `B`: `4G`, `100M`, `80K`.
pub(crate) fn format_mysql_size(bytes: u64) -> String {
    let size = format_postgres_size(bytes);
    size.strip_suffix('B')
        .map_or(size.clone(), str::to_uppercase)
}

/// Formats microseconds as PostgreSQL does (guc.c): a whole number with the largest unit that
/// divides the value.
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
mod units_tests {
    use super::*;

    #[test]
    fn sizes_and_times_use_largest_exact_unit() {
        let sizes = [1 << 40, 16 << 30, 1536 << 20, 80 << 10, 512, 0].map(format_postgres_size);
        assert_eq!(sizes, ["1TB", "16GB", "1536MB", "80kB", "512", "0"]);
        let times = [86_400e6, 5400e6, 300e6, 90e6, 250e3, 7.0].map(format_postgres_time);
        assert_eq!(times, ["1d", "90min", "5min", "90s", "250ms", "7us"]);
    }
}
