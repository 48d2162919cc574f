//! Whether a release of a server has a setting, and which default that release has.
//!
//! The table begins with the oldest supported release of each server. A setting of that release
//! is assumed to exist in all earlier releases, too.

use super::table::{
    MysqlSettingRow, PostgresSettingRow, ServerSettingsTable, newest_value_up_to_release,
};
use crate::escape::mysql::parse_mysql_size;
use crate::facts::ServerKind;
use crate::ternary::Ternary;
use crate::version::Version;

impl PostgresSettingRow {
    /// Whether the release has the setting. Unknown if the setting came with a minor release and
    /// `server` has no minor number, as in `PG_VERSION`.
    pub fn exists_in(&self, server: &Version) -> Ternary {
        if self.removed.as_ref().is_some_and(|from| server >= from) {
            return Ternary::False;
        }
        let (line, minor) = major_and_minor(server);
        if self
            .since
            .iter()
            .max()
            .is_some_and(|newest| server >= newest)
        {
            return Ternary::True;
        }
        let mut lines = self.since.iter().map(major_and_minor);
        match lines.find(|(known, _)| *known == line) {
            Some((_, from)) => match (minor, from) {
                (_, None) => Ternary::True,
                (None, Some(_)) => Ternary::Unknown,
                (Some(minor), Some(from)) => Ternary::from(minor >= from),
            },
            None => Ternary::False,
        }
    }

    /// Whether the setting is as old as the oldest release in the table, so that all earlier
    /// releases are assumed to have it too.
    pub fn is_as_old_as_table(&self) -> bool {
        self.since.iter().any(|since| {
            major_and_minor(since) == (ServerKind::Postgres.oldest_listed_release(), None)
        })
    }

    /// Like [`Self::exists_in`], but true for a release older than the table if the setting
    /// predates the table.
    pub fn exists_or_is_assumed_in(&self, server: &Version) -> Ternary {
        if self.is_as_old_as_table()
            && major_and_minor(server).0 < ServerKind::Postgres.oldest_listed_release()
        {
            Ternary::True
        } else {
            self.exists_in(server)
        }
    }

    /// A release before the first listed default has that default, too. `None` if no default is
    /// listed.
    pub fn default_in(&self, server: &Version) -> Option<&str> {
        let oldest = self.default.values().next()?;
        Some(newest_value_up_to_release(&self.default, server).unwrap_or(oldest))
    }

    /// The unit, in bytes, of a size that is written without a unit. `None` if no unit is listed,
    /// or if the unit depends on a release that is unknown or not listed.
    pub fn bytes_of_implied_unit(&self, server: Option<&Version>) -> Option<u64> {
        match server {
            _ if self.unit.len() == 1 => self.unit.values().next().copied(),
            Some(server) => newest_value_up_to_release(&self.unit, server).copied(),
            None => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MysqlDefault<'t> {
    Fixed(&'t str),
    /// The server computes the value at its start.
    Computed,
    Absent,
}

impl MysqlDefault<'_> {
    pub fn is_absent(self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl ServerSettingsTable {
    pub fn mysql_default(&self, name: &str, of: ServerKind, server: &Version) -> MysqlDefault<'_> {
        // Rows of other releases are ignored: a setting that was removed and came back may have
        // another default, or no fixed one.
        let here: Vec<&MysqlSettingRow> = self
            .mysql_setting_rows(name, of)
            .filter(|row| row.exists_in(server))
            .collect();
        let rows = || here.iter();
        if here.is_empty() {
            return MysqlDefault::Absent;
        }
        let oldest = || rows().find_map(|row| row.default.values().next());
        let fixed = rows()
            .find_map(|row| newest_value_up_to_release(&row.default, server))
            .or_else(oldest);
        fixed.map_or(MysqlDefault::Computed, |value| MysqlDefault::Fixed(value))
    }

    /// Whether a statement can change the setting of a running server to the value; false if the
    /// release accepts the value only at a restart.
    pub fn is_dynamic_value(
        &self,
        name: &str,
        value: &str,
        of: ServerKind,
        server: &Version,
    ) -> bool {
        self.mysql_setting_rows(name, of)
            .filter(|row| row.is_value_in_row(value) && row.exists_in(server))
            .any(|row| row.is_dynamic(server))
    }

    /// Whether SET GLOBAL may change the setting, at least to some of its values. Without `server`,
    /// true if it may do so in any release of any product.
    pub fn may_be_dynamic(&self, name: &str, server: Option<(ServerKind, &Version)>) -> bool {
        let moves = |row: &MysqlSettingRow| match (
            row.perhaps_dynamic.as_ref().or(row.dynamic.as_ref()),
            server,
        ) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(from), Some((of, version))) => row.of == of && row.is_reached(from, version),
        };
        self.mysql
            .iter()
            .filter(|row| row.names.iter().any(|own| own == name))
            .any(moves)
    }
}

/// Whether the server has the statement SET PERSIST: MySQL since 8.0 (manual, *Persisted System
/// Variables*), MariaDB never.
pub fn has_set_persist(of: ServerKind, server: &Version) -> bool {
    match of {
        ServerKind::Mysql => server.number(0) >= 8,
        ServerKind::Mariadb | ServerKind::Postgres => false,
    }
}

/// MariaDB's client was called `mysql` before 10.5 (MariaDB 10.5 release notes); an unknown
/// version is assumed to be 10.5 or later.
pub fn client_program(of: ServerKind, server: Option<&Version>) -> &'static str {
    match of {
        ServerKind::Postgres => "psql",
        ServerKind::Mysql => "mysql",
        ServerKind::Mariadb if server.is_some_and(|v| v.first_numbers() < [10, 5]) => "mysql",
        ServerKind::Mariadb => "mariadb",
    }
}

impl MysqlSettingRow {
    pub fn is_value_in_row(&self, value: &str) -> bool {
        match self.range {
            Some([low, high]) => parse_mysql_size(value)
                .map(|size| size as f64)
                .or_else(|| value.parse().ok())
                .is_some_and(|number| (low..=high).contains(&number)),
            None => self.values.is_empty() || self.values.iter().any(|one| one == value),
        }
    }

    /// Whether SET GLOBAL can change the setting in a release that has the setting.
    pub fn is_dynamic(&self, server: &Version) -> bool {
        let dynamic = self.dynamic.as_ref();
        dynamic.is_some_and(|from| self.is_reached(from, server))
    }

    /// Whether `server` is `from` or later. A release that the table lists for the setting's first
    /// release counts for earlier releases, too, if the setting is as old as the table.
    fn is_reached(&self, from: &Version, server: &Version) -> bool {
        server >= from || (self.is_as_old_as_table() && *from == self.since)
    }

    fn exists_in(&self, server: &Version) -> bool {
        (self.is_as_old_as_table() || *server >= self.since)
            && self.removed.as_ref().is_none_or(|from| server < from)
    }

    /// Whether the setting is as old as the oldest release in the table, so that all earlier
    /// releases are assumed to have it too.
    fn is_as_old_as_table(&self) -> bool {
        self.since.number_count() <= 2
            && self.since.first_numbers() <= self.of.oldest_listed_release()
    }
}

/// The major release, such as `[9, 6]` or `[18, 0]`, and the minor number if the version has one.
fn major_and_minor(version: &Version) -> ([u64; 2], Option<u64>) {
    let major_numbers = if version.number(0) >= 10 { 1 } else { 2 };
    let second = if major_numbers == 2 {
        version.number(1)
    } else {
        0
    };
    let minor = (version.number_count() > major_numbers).then(|| version.number(major_numbers));
    ([version.number(0), second], minor)
}
