//! Whether a release of a server has a setting, and its default in that release.
//!
//! The table begins with a release of each server; a setting that is as old as the table is older
//! in fact.

use super::table::{MysqlSetting, PostgresSetting, ServerTable, value_in};
use crate::facts::ServerKind;
use crate::ternary::Ternary;
use crate::version::Version;

impl PostgresSetting {
    /// Whether this release has it. The version may lack its minor release, as in `PG_VERSION`; the
    /// answer for a setting of a minor release is then unknown.
    pub fn exists_in(&self, server: &Version) -> Ternary {
        if self.removed.as_ref().is_some_and(|from| server >= from) {
            return Ternary::False;
        }
        let (line, minor) = release_line(server);
        let newest = self.since.iter().max();
        if newest.is_some_and(|newest| line >= self::release_line(newest).0 && server >= newest) {
            return Ternary::True;
        }
        match self
            .since
            .iter()
            .map(self::release_line)
            .find(|(known, _)| *known == line)
        {
            Some((_, from)) => match (minor, from) {
                (_, None) => Ternary::True,
                (None, Some(_)) => Ternary::Unknown,
                (Some(minor), Some(from)) => Ternary::from(minor >= from),
            },
            None => Ternary::False,
        }
    }

    /// Whether it is as old as the table: then every release before the table has it too.
    pub fn is_old(&self) -> bool {
        self.since
            .iter()
            .any(|since| release_line(since) == (ServerKind::Postgres.oldest_release(), None))
    }

    /// Whether its fact can be read from this release.
    pub fn is_readable_in(&self, server: &Version) -> Ternary {
        if self.is_old() && release_line(server).0 < ServerKind::Postgres.oldest_release() {
            Ternary::True
        } else {
            self.exists_in(server)
        }
    }

    /// Its default in this release.
    pub fn default_in(&self, server: &Version) -> Option<&str> {
        let oldest = self.default.values().next()?;
        Some(value_in(&self.default, server).unwrap_or(oldest))
    }

    /// The unit of a size without one in this release, in bytes; `None` where it depends on an
    /// unknown release.
    pub fn size_unit(&self, server: Option<&Version>) -> Option<u64> {
        match server {
            _ if self.unit.len() == 1 => self.unit.values().next().copied(),
            Some(server) => value_in(&self.unit, server).copied(),
            None => None,
        }
    }
}

/// The default of a MySQL or MariaDB setting in a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseDefault<'t> {
    Fixed(&'t str),
    /// A value that the server computes.
    Computed,
    /// None: this release does not have the setting.
    Absent,
}

impl ReleaseDefault<'_> {
    /// Whether the release does not have the setting.
    pub fn is_absent(self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl ServerTable {
    /// The default of a setting of MySQL or MariaDB.
    pub fn mysql_default(
        &self,
        name: &str,
        of: ServerKind,
        server: &Version,
    ) -> ReleaseDefault<'_> {
        // A setting that went and came back may have another default, or none that is fixed.
        let here: Vec<&MysqlSetting> = self
            .mysql(name, of)
            .filter(|row| row.exists_in(server))
            .collect();
        let rows = || here.iter();
        if here.is_empty() {
            return ReleaseDefault::Absent;
        }
        let oldest = || rows().find_map(|row| row.default.values().next());
        let fixed = rows()
            .find_map(|row| value_in(&row.default, server))
            .or_else(oldest);
        fixed.map_or(ReleaseDefault::Computed, |value| {
            ReleaseDefault::Fixed(value)
        })
    }

    /// Whether SET GLOBAL may change a setting of MySQL or MariaDB at run time; for an unknown
    /// server whether it does in any release.
    pub fn may_be_dynamic(&self, name: &str, server: Option<(ServerKind, &Version)>) -> bool {
        let moves = |row: &MysqlSetting| match (
            row.perhaps_dynamic.as_ref().or(row.dynamic.as_ref()),
            server,
        ) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(from), Some((of, version))) => {
                row.of == of && (version >= from || (row.is_old() && *from == row.since))
            }
        };
        self.mysql
            .iter()
            .filter(|row| row.names.iter().any(|own| own == name))
            .any(moves)
    }
}

/// A statement that changes a setting of a running server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Until the server stops (SET GLOBAL).
    Global,
    /// For good (SET PERSIST).
    Persist,
}

impl ServerTable {
    /// The statement by which this release gives a setting of MySQL or MariaDB this value at once;
    /// `None` where only a restart does.
    pub fn statement(
        &self,
        name: &str,
        value: &str,
        of: ServerKind,
        server: &Version,
    ) -> Option<Statement> {
        let rows = self.mysql(name, of).filter(|row| row.covers_value(value));
        let is_dynamic = rows
            .filter(|row| row.exists_in(server))
            .any(|row| row.is_dynamic(server));
        is_dynamic.then(|| {
            if has_persist(of, server) {
                Statement::Persist
            } else {
                Statement::Global
            }
        })
    }
}

/// Whether a release has SET PERSIST (MySQL 8.0 manual, Persisted System Variables); MariaDB does
/// not.
pub fn has_persist(of: ServerKind, server: &Version) -> bool {
    match of {
        ServerKind::Mysql => server.number(0) >= 8,
        ServerKind::Mariadb | ServerKind::Postgres => false,
    }
}

/// The command-line client of a release. MariaDB's had the name of MySQL's before 10.5 (MariaDB
/// 10.5 release notes); for an unknown release it is today's.
pub fn client_program(of: ServerKind, server: Option<&Version>) -> &'static str {
    match of {
        ServerKind::Postgres => "psql",
        ServerKind::Mysql => "mysql",
        ServerKind::Mariadb if server.is_some_and(|v| (v.number(0), v.number(1)) < (10, 5)) => {
            "mysql"
        }
        ServerKind::Mariadb => "mariadb",
    }
}

/// A number, with a unit as option files take it (my_getopt).
fn parse_number(value: &str) -> Option<f64> {
    const UNITS: [char; 6] = ['k', 'm', 'g', 't', 'p', 'e'];
    let Some(unit) = value.chars().next_back().filter(char::is_ascii_alphabetic) else {
        return value.parse().ok();
    };
    let power = UNITS
        .iter()
        .position(|one| one.eq_ignore_ascii_case(&unit))?;
    let number: u64 = value.strip_suffix(unit)?.parse().ok()?;
    Some(
        UNITS
            .iter()
            .take(power + 1)
            .fold(number as f64, |number, _| number * 1024.0),
    )
}

impl MysqlSetting {
    pub fn covers_value(&self, value: &str) -> bool {
        match self.range {
            Some([low, high]) => {
                parse_number(value).is_some_and(|number| (low..=high).contains(&number))
            }
            None => self.values.is_empty() || self.values.iter().any(|one| one == value),
        }
    }

    /// Whether SET GLOBAL changes it in this release, in which it exists.
    pub fn is_dynamic(&self, server: &Version) -> bool {
        let dynamic = self.dynamic.as_ref();
        dynamic.is_some_and(|from| server >= from || (self.is_old() && *from == self.since))
    }

    fn exists_in(&self, server: &Version) -> bool {
        (self.is_old() || *server >= self.since)
            && self.removed.as_ref().is_none_or(|from| server < from)
    }

    /// Whether it is as old as the table: then every release before the table has it too.
    fn is_old(&self) -> bool {
        self.since.number_count() <= 2
            && (self.since.number(0), self.since.number(1)) <= self.of.oldest_release()
    }
}

/// The major release (9.6, 10, 18) and, where it is known, the minor one.
fn release_line(version: &Version) -> ((u64, u64), Option<u64>) {
    let major_numbers = if version.number(0) >= 10 { 1 } else { 2 };
    let second = if major_numbers == 2 {
        version.number(1)
    } else {
        0
    };
    let minor = (version.number_count() > major_numbers).then(|| version.number(major_numbers));
    ((version.number(0), second), minor)
}
