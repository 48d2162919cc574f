//! Settings of PostgreSQL, MySQL and MariaDB by release, and the values of `wal_sync_method` on Linux. A server refuses to
//! start with a setting or a value that it does not know.

use super::table::table;
use super::{Effect, Ruling};
use crate::version::Version;

/// What a server makes of a value of `wal_sync_method` on Linux. The same in every supported release so far.
pub fn wal_sync_method(method: &str, server: &Version) -> Ruling {
    match table().methods.get(method) {
        Some(found) => {
            Ruling { effect: found.is, because: found.because.clone(), source: found.source.clone() }
        }
        None => Ruling::unknown(format!(
            "The table does not know the wal_sync_method {method} of PostgreSQL {server}."
        )),
    }
}

/// Whether a server knows a setting. The version may lack its minor release, as in `PG_VERSION`; then a setting that a
/// minor release brought is unknown.
pub fn postgres_setting(name: &str, server: &Version) -> Ruling {
    let Some(setting) = table().postgres.get(name) else {
        return Ruling::unknown(format!("The table does not know the setting {name}."));
    };
    let ruling = |effect, because: String| Ruling { effect, because, source: setting.source.clone() };
    let (line, minor) = line(server);
    let newest = setting.since.iter().max();
    if newest.is_some_and(|newest| line >= self::line(newest).0)
        && newest.is_some_and(|newest| server >= newest)
    {
        return ruling(Effect::Ok, String::new());
    }
    match setting.since.iter().map(self::line).find(|(known, _)| *known == line) {
        Some((_, from)) => match (minor, from) {
            (_, None) => ruling(Effect::Ok, String::new()),
            (None, Some(_)) => Ruling::unknown(format!("A minor release of PostgreSQL {server} brought it.")),
            (Some(minor), Some(from)) if minor >= from => ruling(Effect::Ok, String::new()),
            _ => {
                ruling(Effect::Refused, format!("PostgreSQL {server} does not know it and would not start."))
            }
        },
        None => ruling(Effect::Refused, format!("PostgreSQL {server} does not know it and would not start.")),
    }
}

/// What MySQL or MariaDB (`line` is `mysql` or `mariadb`) makes of a setting with this value.
pub fn mysql_setting(name: &str, value: &str, line: &str, server: &Version) -> Ruling {
    let all = &table().mysql;
    let known: Vec<_> = all.iter().filter(|row| row.of == line && row.name == name).collect();
    if known.is_empty() {
        return Ruling::unknown(format!("The table does not know the setting {name} of {line}."));
    }
    let Some(row) =
        known.iter().find(|row| row.values.is_empty() || row.values.iter().any(|one| one == value))
    else {
        return Ruling::unknown(format!("The table does not know {name} = {value} of {line}."));
    };
    let ruling = |effect, because: String| Ruling { effect, because, source: row.source.clone() };
    if *server < row.since {
        ruling(Effect::Refused, format!("{line} {} does not know it and would not start.", server.base()))
    } else if row.deprecated.as_ref().is_some_and(|from| server >= from) {
        ruling(Effect::Deprecated, row.because.clone())
    } else {
        ruling(Effect::Ok, String::new())
    }
}

/// Whether every release that the table covers knows a setting.
pub(super) fn always(name: &str) -> bool {
    let oldest = Version::parse("9.4");
    table().postgres.get(name).zip(oldest).is_some_and(|(setting, oldest)| setting.since == [oldest])
}

/// The major release (9.6, 10, 18) and, where it is told, the minor one.
fn line(version: &Version) -> ((u64, u64), Option<u64>) {
    let major_numbers = if version.number(0) >= 10 { 1 } else { 2 };
    let second = if major_numbers == 2 { version.number(1) } else { 0 };
    let minor = (version.depth() > major_numbers).then(|| version.number(major_numbers));
    ((version.number(0), second), minor)
}
