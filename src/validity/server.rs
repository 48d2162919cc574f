//! Settings of PostgreSQL, MySQL and MariaDB by release, with their values, from the table of [`crate::servers`]. A
//! server refuses to start with an unknown setting or value.
//!
//! A value can depend on build options that the version does not reveal; it is then unknown.

#[cfg(test)]
mod tests;

use super::{Effect, Ruling};
use crate::facts::ServerKind;
use crate::servers::{Mysql, OnLinux, ValueSyntax, servers, value_in};
use crate::truth::Truth;
use crate::version::Version;

pub use crate::servers::ChangedBy;

/// A setting that a release of a server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerSetting {
    pub name: &'static str,
    /// The default, as written in a configuration; `None` where it depends on the machine or on other settings.
    pub default: Option<&'static str>,
    /// The action by which a new value takes effect.
    pub changed_by: ChangedBy,
}

/// Whether a server knows a setting. The version may lack its minor release, as in `PG_VERSION`; a setting that came
/// with a minor release is then unknown.
pub fn postgres_setting(name: &str, server: &Version) -> Ruling {
    let Some(setting) = servers().postgres(name) else {
        return Ruling::unknown(format!("The table does not know the setting {name}."));
    };
    let ruling = |effect, because: String| Ruling { effect, because, source: setting.source.clone() };
    if setting.removed.as_ref().is_some_and(|from| server >= from) {
        let instead = &setting.instead;
        return ruling(
            Effect::Refused,
            format!("PostgreSQL {server} does not know it any more and would not start; it has {instead}."),
        );
    }
    match setting.exists(server) {
        Truth::True => ruling(Effect::Ok, String::new()),
        Truth::Unknown => Ruling::unknown(format!("A minor release of PostgreSQL {server} brought it.")),
        Truth::False => {
            ruling(Effect::Refused, format!("PostgreSQL {server} does not know it and would not start."))
        }
    }
}

/// The ruling of PostgreSQL on Linux on a setting with this value.
pub fn postgres_value(name: &str, value: &str, server: &Version) -> Ruling {
    let known = postgres_setting(name, server);
    let Some(setting) = servers().postgres(name).filter(|_| known.effect.is_ok()) else {
        return known;
    };
    let refused = |what: &str| Ruling {
        effect: Effect::Refused,
        because: format!("PostgreSQL takes {what} for {name}."),
        source: setting.source.clone(),
    };
    match (setting.takes, setting.range) {
        (None, None) => known,
        (Some(ValueSyntax::Switch), _) if ["on", "off"].contains(&value) => known,
        (Some(ValueSyntax::Switch), _) => {
            Ruling::unknown(format!("The table knows {name} as a switch that is on or off."))
        }
        (Some(ValueSyntax::Size), _) if is_size(value) => known,
        (Some(ValueSyntax::Size), _) => refused("a number with kB, MB, GB or TB"),
        (Some(ValueSyntax::Words), _) => word(name, value, server),
        (None, Some([low, high])) => match value.parse::<f64>() {
            Ok(number) if (low..=high).contains(&number) => known,
            _ if high > 1e15 => refused(&format!("numbers from {low} on")),
            _ => refused(&format!("numbers from {low} to {high}")),
        },
    }
}

fn word(name: &str, value: &str, server: &Version) -> Ruling {
    let mut values = servers().postgres_value.iter();
    let Some(found) = values.find(|row| row.of == name && row.names.iter().any(|own| own == value)) else {
        return Ruling::unknown(format!("The table does not know {name} = {value} of PostgreSQL {server}."));
    };
    match &found.since {
        Some(since) if server < since => Ruling {
            effect: Effect::Refused,
            because: format!("PostgreSQL {server} does not know {value} and would not start."),
            source: found.source.clone(),
        },
        _ => Ruling {
            effect: match found.is {
                OnLinux::Taken => Effect::Ok,
                OnLinux::Refused => Effect::Refused,
                OnLinux::Unknown => Effect::Unknown,
            },
            because: found.because.clone(),
            source: found.source.clone(),
        },
    }
}

/// Whether this is a number as the server reads sizes (guc.c).
fn is_size(value: &str) -> bool {
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = value.strip_prefix(digits).unwrap_or_default();
    ["", "B", "kB", "MB", "GB", "TB"].contains(&unit) && digits.parse::<u64>().is_ok()
}

/// The ruling of MySQL or MariaDB, according to `line`, on a setting with this value.
pub fn mysql_setting(name: &str, value: &str, line: ServerKind, server: &Version) -> Ruling {
    let mut known = servers().mysql(name, line).peekable();
    if known.peek().is_none() {
        return Ruling::unknown(format!("The table does not know the setting {name} of {line}."));
    }
    let about: Vec<&Mysql> = known.filter(|row| row.is_about(value)).collect();
    // What went may have come back: the last row that the release has reached counts.
    let Some(row) = about.iter().rfind(|row| *server >= row.since).or(about.first()) else {
        return Ruling::unknown(format!("The table does not know {name} = {value} of {line}."));
    };
    let ruling = |effect, because: String| Ruling { effect, because, source: row.source.clone() };
    let base = server.base();
    if *server < row.since {
        ruling(Effect::Refused, format!("{line} {base} does not know it and would not start."))
    } else if row.removed.as_ref().is_some_and(|from| server >= from) {
        let instead = &row.instead;
        ruling(
            Effect::Refused,
            format!("{line} {base} does not know it any more and would not start; it has {instead}."),
        )
    } else if row.deprecated.as_ref().is_some_and(|from| server >= from) {
        ruling(Effect::Deprecated, format!("{} It has {} instead.", row.because, row.instead))
    } else {
        ruling(Effect::Ok, String::new())
    }
}

/// All settings of a server's release in the table, each once.
pub fn server_settings(of: ServerKind, server: &Version) -> Vec<ServerSetting> {
    let mut settings: Vec<ServerSetting> = Vec::new();
    let mut add = |names: &'static [String], defaults, changed_by| {
        let default = value_in(defaults, server).map(String::as_str);
        for name in names {
            if !settings.iter().any(|one| one.name == name) {
                settings.push(ServerSetting { name, default, changed_by });
            }
        }
    };
    if of.is_postgres() {
        for row in &servers().postgres {
            if row.exists(server) == Truth::True {
                add(&row.names, &row.default, row.changed_by);
            }
        }
    }
    for row in servers().mysql.iter().filter(|row| row.of == of && *server >= row.since) {
        if row.removed.as_ref().is_none_or(|from| server < from) {
            let changed_by = if row.is_dynamic(server) { ChangedBy::Statement } else { ChangedBy::Restart };
            add(&row.names, &row.default, changed_by);
        }
    }
    settings
}

/// Whether every release of PostgreSQL in the table accepts a value.
pub(super) fn always(name: &str, value: &str) -> bool {
    let Some(oldest) = Version::parse("9.4") else { return false };
    servers().postgres(name).is_some_and(|setting| setting.removed.is_none())
        && postgres_value(name, value, &oldest).effect.is_ok()
}
