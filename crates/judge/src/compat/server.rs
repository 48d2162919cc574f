//! Settings and values of PostgreSQL, MySQL and MariaDB by release, because a server refuses to
//! start with an unknown one. Values that depend on build options are unknown.

use super::{Effect, Support};
use crate::facts::ServerKind;
use crate::servers::{LinuxAcceptance, MysqlSettingRow, ValueSyntax, server_settings_table};
use crate::ternary::Ternary;
use crate::version::Version;

#[cfg(any(test, feature = "testing"))]
pub use crate::servers::SettingChangeAction;

#[cfg(any(test, feature = "testing"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerReleaseSetting {
    pub name: &'static str,
    /// The default value in the syntax of configuration files; `None` if it depends on the host or
    /// on other settings.
    pub default: Option<&'static str>,
    pub changed_by: SettingChangeAction,
}

/// `server` may lack the minor release, as in `PG_VERSION`; a setting introduced by a minor release
/// is then unknown.
pub fn postgres_setting_support(name: &str, server: &Version) -> Support {
    let Some(setting) = server_settings_table().find_postgres_setting(name) else {
        return Support::unknown(format!("The setting {name} is not in walwise's tables."));
    };
    let ruling = |effect, because: String| Support::new(effect, because, &setting.source);
    if setting.removed.as_ref().is_some_and(|from| server >= from) {
        let instead = &setting.instead;
        return ruling(
            Effect::Refused,
            format!(
                "PostgreSQL {server} no longer has the setting and would not start; use {instead}."
            ),
        );
    }
    // The table is not consulted for older servers, because its rows were compared only with
    // PostgreSQL 9.4 and later.
    if server.first_numbers() < [9, 4] {
        return Support::unknown(format!("PostgreSQL {server} predates walwise's tables."));
    }
    match setting.exists_in(server) {
        Ternary::True => ruling(Effect::Ok, String::new()),
        Ternary::Unknown => Support::unknown(format!(
            "The setting was added in a minor release of PostgreSQL {server}; this server's minor release is unknown."
        )),
        Ternary::False => ruling(
            Effect::Refused,
            format!("PostgreSQL {server} does not have the setting and would not start."),
        ),
    }
}

pub fn postgres_assignment_support(name: &str, value: &str, server: &Version) -> Support {
    let known = postgres_setting_support(name, server);
    let Some(setting) = server_settings_table()
        .find_postgres_setting(name)
        .filter(|_| known.effect.is_ok())
    else {
        return known;
    };
    let refused = |what: &str| {
        Support::new(
            Effect::Refused,
            format!("PostgreSQL accepts only {what} for {name}."),
            &setting.source,
        )
    };
    match (setting.takes, setting.range) {
        (None, None) => known,
        (Some(ValueSyntax::Switch), _) if ["on", "off"].contains(&value) => known,
        (Some(ValueSyntax::Switch), _) => Support::unknown(format!("{name} must be on or off.")),
        (Some(ValueSyntax::Size), _) if is_postgres_size(value) => known,
        (Some(ValueSyntax::Size), _) => {
            refused("a whole number, optionally with the unit B, kB, MB, GB or TB")
        }
        (Some(ValueSyntax::Words), _) => postgres_enum_value_support(name, value, server),
        (None, Some([low, high])) => match value.parse::<f64>() {
            Ok(number) if (low..=high).contains(&number) => known,
            _ if high > 1e15 => refused(&format!("a number of at least {low}")),
            _ => refused(&format!("a number from {low} to {high}")),
        },
    }
}

fn postgres_enum_value_support(name: &str, value: &str, server: &Version) -> Support {
    let mut values = server_settings_table().postgres_value.iter();
    let Some(found) = values.find(|row| row.of == name && row.names.iter().any(|own| own == value))
    else {
        return Support::unknown(format!(
            "{name} = {value} is not in walwise's tables for PostgreSQL {server}."
        ));
    };
    match &found.since {
        Some(since) if server < since => Support::new(
            Effect::Refused,
            format!("PostgreSQL {server} does not accept {value} and would not start."),
            &found.source,
        ),
        _ => Support::new(
            match found.is {
                LinuxAcceptance::Taken => Effect::Ok,
                LinuxAcceptance::Refused => Effect::Refused,
                LinuxAcceptance::Unknown => Effect::Unknown,
            },
            found.because.clone(),
            &found.source,
        ),
    }
}

/// Whether the value is a whole number with or without a size unit of PostgreSQL (guc.c).
fn is_postgres_size(value: &str) -> bool {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = value.strip_prefix(digits).unwrap_or_default();
    ["", "B", "kB", "MB", "GB", "TB"].contains(&unit) && digits.parse::<u64>().is_ok()
}

pub fn mysql_assignment_support(
    name: &str,
    value: &str,
    product: ServerKind,
    server: &Version,
) -> Support {
    let mut known = server_settings_table()
        .mysql_setting_rows(name, product)
        .peekable();
    if known.peek().is_none() {
        return Support::unknown(format!(
            "The setting {name} is not in walwise's tables for {product}."
        ));
    }
    let about: Vec<&MysqlSettingRow> = known.filter(|row| row.is_value_in_row(value)).collect();
    // Several rows match if a setting was removed and returned in a later release. The last row
    // that begins at or before the server's release counts.
    let Some(row) = about
        .iter()
        .rfind(|row| *server >= row.since)
        .or(about.first())
    else {
        return Support::unknown(format!(
            "{name} = {value} is not in walwise's tables for {product}."
        ));
    };
    let ruling = |effect, because: String| Support::new(effect, because, &row.source);
    let base = server.numeric_part();
    if *server < row.since {
        ruling(
            Effect::Refused,
            format!("{product} {base} does not accept this setting and would not start."),
        )
    } else if row.removed.as_ref().is_some_and(|from| server >= from) {
        let instead = &row.instead;
        ruling(
            Effect::Refused,
            format!(
                "{product} {base} no longer accepts this setting and would not start; use {instead}."
            ),
        )
    } else if row.deprecated.as_ref().is_some_and(|from| server >= from) {
        ruling(
            Effect::Deprecated,
            format!("{} Use {} instead.", row.because, row.instead),
        )
    } else {
        ruling(Effect::Ok, String::new())
    }
}

#[cfg(any(test, feature = "testing"))]
pub fn settings_of_server_release(of: ServerKind, server: &Version) -> Vec<ServerReleaseSetting> {
    use crate::servers::newest_value_up_to_release;
    let mut settings: Vec<ServerReleaseSetting> = Vec::new();
    let mut add = |names: &'static [String], defaults, changed_by| {
        let default = newest_value_up_to_release(defaults, server).map(String::as_str);
        for name in names {
            if !settings.iter().any(|one| one.name == name) {
                settings.push(ServerReleaseSetting {
                    name,
                    default,
                    changed_by,
                });
            }
        }
    };
    if of.is_postgres() {
        for row in &server_settings_table().postgres {
            if row.exists_in(server) == Ternary::True {
                add(&row.names, &row.default, row.changed_by);
            }
        }
    }
    for row in server_settings_table()
        .mysql
        .iter()
        .filter(|row| row.of == of && *server >= row.since)
    {
        if row.removed.as_ref().is_none_or(|from| server < from) {
            let changed_by = if row.is_dynamic(server) {
                SettingChangeAction::Statement
            } else {
                SettingChangeAction::Restart
            };
            add(&row.names, &row.default, changed_by);
        }
    }
    settings
}

/// Whether every PostgreSQL release since 9.4 accepts the value.
pub(super) fn every_postgres_accepts(name: &str, value: &str) -> bool {
    let Some(oldest) = Version::parse("9.4") else {
        return false;
    };
    server_settings_table()
        .find_postgres_setting(name)
        .is_some_and(|setting| setting.removed.is_none())
        && postgres_assignment_support(name, value, &oldest)
            .effect
            .is_ok()
}

#[cfg(test)]
mod tests {
    //! The expected values come from the public documentation of each release.

    use super::*;
    use crate::facts::Choice;
    use crate::version::Version;

    fn test_version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    use Effect::{Deprecated, Refused, Unknown};
    use SettingChangeAction::{Reload, Restart, Statement};

    #[test]
    fn settings_of_postgres_by_release() {
        for (name, server, expect) in [
            ("commit_delay", "9.6.24", Effect::Ok),
            ("wal_init_zero", "12", Effect::Ok),
            ("wal_recycle", "16.4 (Debian 16.4-1)", Effect::Ok),
            ("wal_recycle", "11.22", Refused),
            ("debug_io_direct", "15.20", Refused),
            ("debug_io_direct", "16", Effect::Ok),
            ("file_extend_method", "15.20", Refused),
            ("file_extend_method", "16.11", Refused),
            ("file_extend_method", "16.12", Effect::Ok),
            ("file_extend_method", "17.7", Refused),
            ("file_extend_method", "17.8", Effect::Ok),
            ("file_extend_method", "18.2", Effect::Ok),
            ("file_extend_method", "18", Unknown),
            ("file_extend_method", "19beta3", Effect::Ok),
            ("file_extend_method", "20.1", Effect::Ok),
            ("data_sync_retry", "9.6.11", Refused),
            ("data_sync_retry", "9.6.12", Effect::Ok),
            ("data_sync_retry", "11.1", Refused),
            ("data_sync_retry", "13.1", Effect::Ok),
            ("io_method", "17.8", Refused),
            ("make_it_fast", "17.8", Unknown),
        ] {
            assert_eq!(
                postgres_setting_support(name, &test_version(server)).effect,
                expect,
                "{name} on {server}"
            );
        }
    }

    #[test]
    fn values_of_postgres_by_release() {
        for (name, value, server, expect) in [
            ("wal_sync_method", "fdatasync", "17.8", Effect::Ok),
            ("wal_sync_method", "fsync", "12.1", Effect::Ok),
            ("wal_sync_method", "open_datasync", "19", Effect::Ok),
            ("wal_sync_method", "open_sync", "15.20", Effect::Ok),
            ("wal_sync_method", "fsync_writethrough", "17.8", Refused),
            ("wal_sync_method", "O_DIRECT", "17.8", Unknown),
            ("wal_level", "hot_standby", "18", Effect::Ok),
            ("wal_level", "archive", "9.6", Effect::Ok),
            ("wal_level", "replica", "9.5", Refused),
            ("wal_compression", "on", "14.1", Effect::Ok),
            ("wal_compression", "pglz", "14.1", Refused),
            ("wal_compression", "pglz", "15", Effect::Ok),
            ("wal_compression", "lz4", "14.1", Refused),
            // Unknown, because support for lz4 is a build option of the server.
            ("wal_compression", "lz4", "15.20", Unknown),
            ("io_method", "io_uring", "18.2", Unknown),
            ("io_method", "worker", "18", Effect::Ok),
            ("io_method", "worker", "17.8", Refused),
            ("recovery_init_sync_method", "fsync", "13.20", Refused),
            ("recovery_init_sync_method", "fsync", "14", Effect::Ok),
            ("synchronous_commit", "sometimes", "16.1", Unknown),
            ("fsync", "on", "16.1", Effect::Ok),
            ("fsync", "maybe", "16.1", Unknown),
            ("commit_delay", "100000", "16.1", Effect::Ok),
            ("commit_delay", "100001", "16.1", Refused),
            ("commit_delay", "1ms", "16.1", Refused),
            ("checkpoint_completion_target", "0.9", "16.1", Effect::Ok),
            ("checkpoint_completion_target", "90", "16.1", Refused),
            ("checkpoint_flush_after", "256kB", "16.1", Effect::Ok),
            ("checkpoint_flush_after", "a quarter", "16.1", Refused),
            ("checkpoint_segments", "3", "9.4.1", Effect::Ok),
            ("checkpoint_segments", "3", "9.5", Refused),
            ("wal_keep_segments", "3", "12.9", Effect::Ok),
            ("wal_keep_segments", "3", "13", Refused),
            ("stats_temp_directory", "/run/pg", "14.1", Effect::Ok),
            ("stats_temp_directory", "/run/pg", "15", Refused),
        ] {
            let ruling = postgres_assignment_support(name, value, &test_version(server));
            assert_eq!(
                ruling.effect, expect,
                "{name} = {value} on {server}: {}",
                ruling.because
            );
            assert!(
                expect == Effect::Ok || !ruling.because.is_empty(),
                "{name} = {value}"
            );
        }
        assert!(
            postgres_assignment_support("wal_keep_segments", "3", &test_version("13"))
                .because
                .contains("wal_keep_size")
        );
    }

    #[test]
    fn unknown_version_allows_only_universal_values() {
        assert!(
            every_postgres_accepts("wal_sync_method", "open_datasync")
                && every_postgres_accepts("data_checksums", "on")
        );
        for (name, value) in [
            ("wal_sync_method", "fsync_writethrough"),
            ("wal_compression", "on"),
            ("wal_keep_segments", "1"),
            ("fsync", "perhaps"),
        ] {
            assert!(!every_postgres_accepts(name, value), "{name} = {value}");
        }
    }

    #[test]
    fn defaults_and_changed_by_depend_on_release() {
        let told = |of: &str, name: &str, server: &str| {
            let all = settings_of_server_release(
                ServerKind::from_word(of).unwrap(),
                &test_version(server),
            );
            let mut named = all.iter().filter(|one| one.name == name);
            let found = named.next().map(|one| (one.default, one.changed_by));
            assert!(named.next().is_none(), "{name} twice");
            found
        };
        for (of, name, server, expect) in [
            (
                "postgres",
                "checkpoint_completion_target",
                "13.9",
                Some((Some("0.5"), Reload)),
            ),
            (
                "postgres",
                "checkpoint_completion_target",
                "14",
                Some((Some("0.9"), Reload)),
            ),
            ("postgres", "debug_io_direct", "15.20", None),
            ("postgres", "wal_keep_segments", "13", None),
            (
                "mysql",
                "innodb_doublewrite",
                "8.0.29",
                Some((Some("on"), Restart)),
            ),
            (
                "mysql",
                "innodb_doublewrite",
                "8.0.30",
                Some((Some("on"), Restart)),
            ),
            ("postgres", "io_workers", "18.1", Some((Some("3"), Reload))),
            ("postgres", "io_workers", "19", None),
            (
                "postgres",
                "io_min_workers",
                "19",
                Some((Some("2"), Reload)),
            ),
            (
                "mysql",
                "innodb_io_capacity",
                "8.4.1",
                Some((Some("10000"), Statement)),
            ),
            ("mysql", "innodb_support_xa", "8.0.1", None),
            (
                "mariadb",
                "innodb_flush_method",
                "10.5.9",
                Some((Some("fsync"), Restart)),
            ),
            (
                "mariadb",
                "innodb_flush_method",
                "10.6.1",
                Some((Some("O_DIRECT"), Restart)),
            ),
            ("mariadb", "innodb_data_file_buffering", "10.11.19", None),
            (
                "mariadb",
                "innodb_doublewrite",
                "10.11.19",
                Some((Some("on"), Restart)),
            ),
            (
                "mariadb",
                "innodb_doublewrite",
                "11.4.2",
                Some((Some("on"), Statement)),
            ),
            (
                "mariadb",
                "innodb_log_write_ahead_size",
                "10.6.1",
                Some((Some("8192"), Statement)),
            ),
            ("mariadb", "innodb_log_write_ahead_size", "10.11.8", None),
            (
                "mariadb",
                "innodb_log_write_ahead_size",
                "10.11.19",
                Some((None, Restart)),
            ),
            (
                "mysql",
                "innodb_redo_log_capacity",
                "8.0.30",
                Some((None, Statement)),
            ),
        ] {
            assert_eq!(told(of, name, server), expect, "{of} {server} {name}");
        }
    }

    #[test]
    fn mysql_assignments_by_release() {
        for (line, version, name, value, expected) in [
            (
                "mysql",
                "8.0.36",
                "innodb_flush_method",
                "O_DIRECT",
                Effect::Ok,
            ),
            (
                "mysql",
                "8.0.29",
                "innodb_doublewrite",
                "detect_only",
                Refused,
            ),
            (
                "mysql",
                "8.0.30",
                "innodb_doublewrite",
                "detect_only",
                Effect::Ok,
            ),
            (
                "mysql",
                "8.0.36",
                "innodb_flush_log_at_trx_commit",
                "3",
                Unknown,
            ),
            ("mysql", "8.0.36", "innodb_io_capacity", "2000", Effect::Ok),
            ("mysql", "8.0.36", "innodb_io_capacity", "lots", Unknown),
            ("mysql", "8.0.29", "innodb_redo_log_capacity", "1G", Refused),
            (
                "mysql",
                "8.0.30",
                "innodb_redo_log_capacity",
                "1G",
                Effect::Ok,
            ),
            ("mysql", "8.0.29", "innodb_log_file_size", "1G", Effect::Ok),
            ("mysql", "8.0.30", "innodb_log_file_size", "1G", Deprecated),
            ("mysql", "5.7.9", "innodb_support_xa", "on", Effect::Ok),
            ("mysql", "5.7.44", "innodb_support_xa", "on", Deprecated),
            ("mysql", "8.0.36", "innodb_support_xa", "on", Refused),
            (
                "mariadb",
                "10.11.19",
                "innodb_flush_log_at_trx_commit",
                "3",
                Effect::Ok,
            ),
            (
                "mariadb",
                "10.11.19",
                "innodb_flush_method",
                "O_DIRECT",
                Effect::Ok,
            ),
            (
                "mariadb",
                "11.4.2",
                "innodb_flush_method",
                "O_DIRECT",
                Deprecated,
            ),
            ("mariadb", "10.1.48", "sync_binlog", "1", Refused),
            (
                "mariadb",
                "11.4.2",
                "innodb_doublewrite",
                "fast",
                Effect::Ok,
            ),
            ("mariadb", "11.0.5", "innodb_doublewrite", "fast", Refused),
            ("mysql", "8.4.0", "innodb_doublewrite", "fast", Unknown),
            (
                "mariadb",
                "10.7.8",
                "innodb_log_write_ahead_size",
                "8192",
                Effect::Ok,
            ),
            (
                "mariadb",
                "10.11.8",
                "innodb_log_write_ahead_size",
                "4096",
                Refused,
            ),
            (
                "mariadb",
                "10.11.19",
                "innodb_log_write_ahead_size",
                "4096",
                Effect::Ok,
            ),
            (
                "mariadb",
                "10.11.19",
                "innodb_log_write_ahead_size",
                "8192",
                Refused,
            ),
            (
                "mariadb",
                "11.2.1",
                "innodb_log_write_ahead_size",
                "4096",
                Refused,
            ),
            (
                "mariadb",
                "11.4.3",
                "innodb_log_write_ahead_size",
                "4096",
                Effect::Ok,
            ),
            ("mysql", "8.4.0", "innodb_use_fdatasync", "on", Effect::Ok),
            (
                "mariadb",
                "10.5.23",
                "innodb_io_capacity",
                "18446744073709551615",
                Effect::Ok,
            ),
            (
                "mariadb",
                "10.11.19",
                "innodb_io_capacity",
                "18446744073709551615",
                Refused,
            ),
            (
                "mariadb",
                "10.11.19",
                "innodb_io_capacity_max",
                "4294967295",
                Effect::Ok,
            ),
            (
                "mariadb",
                "10.5.23",
                "innodb_checksum_algorithm",
                "none",
                Effect::Ok,
            ),
            (
                "mariadb",
                "10.11.19",
                "innodb_checksum_algorithm",
                "none",
                Refused,
            ),
            ("mariadb", "11.4.2", "innodb_use_fdatasync", "on", Unknown),
        ] {
            let ruling = mysql_assignment_support(
                name,
                value,
                ServerKind::from_word(line).unwrap(),
                &Version::parse(version).unwrap(),
            );
            assert_eq!(
                ruling.effect, expected,
                "{line} {version} {name} = {value}: {}",
                ruling.because
            );
        }
    }
}
