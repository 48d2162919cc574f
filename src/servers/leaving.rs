//! The names of servers' programs, and what may leave a configuration file, a command line or a server: what the host
//! filters by.
//!
//! The releases and values of settings are left to [`super::table`].

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::facts::{Area, Choice, ServerKind};
use crate::rows::{TableErrors, read, rows};

/// The table, compiled in.
pub const TEXT: &str = include_str!("../../rules/tables/leaving.toml");

/// The part of a setting that may leave a configuration file, a command line or a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Leave {
    #[default]
    Value,
    /// Its value; the bare name switches it on.
    Switch,
    /// The shape of its value alone.
    Shape,
}

#[derive(Debug, Default)]
pub struct LeavingTable {
    /// The names of servers' programs, and the area of each.
    pub programs: BTreeMap<String, Area>,
    /// The settings that may leave, by area and name.
    pub settings: BTreeMap<Area, BTreeMap<String, Leave>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProgram {
    of: String,
    names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLeaves {
    of: String,
    names: Vec<String>,
    #[serde(default)]
    what: Leave,
}

/// Parses a table; the error lists all mistakes.
pub fn load(text: &str) -> Result<LeavingTable, Vec<String>> {
    let mut table = LeavingTable::default();
    read(text, &["program", "leaves"], |document, problems| {
        for (place, raw) in rows::<RawProgram>(document, "program", problems) {
            if let Some(area) = area(&place, &raw.of, problems) {
                table.programs.extend(raw.names.into_iter().map(|name| (name, area)));
            }
        }
        for (place, raw) in rows::<RawLeaves>(document, "leaves", problems) {
            leaves(&mut table, &place, raw, problems);
        }
    })?;
    Ok(table)
}

/// Parts of the names of settings that hold or name a secret, a program or another host.
const TREACHEROUS: [&str; 11] =
    ["auth", "cert", "command", "conninfo", "host", "key", "passphrase", "password", "secret", "ssl", "user"];

/// The area of a server that a row names.
fn area(place: &str, of: &str, problems: &mut TableErrors) -> Option<Area> {
    let kind = ServerKind::from_word(of);
    if kind.is_none() {
        problems.add(place, format!("`{of}` is no server"));
    }
    kind.map(ServerKind::area)
}

/// Parses the settings that may leave. One that is named like a secret may not, whoever lists it here.
fn leaves(table: &mut LeavingTable, place: &str, raw: RawLeaves, problems: &mut TableErrors) {
    let Some(area) = area(place, &raw.of, problems) else { return };
    let list = table.settings.entry(area).or_default();
    for name in raw.names {
        if TREACHEROUS.iter().any(|word| name.contains(word)) {
            problems.add(place, format!("`{name}` may hold a secret"));
        } else if list.insert(name.clone(), raw.what).is_some() {
            problems.add(place, format!("`{name}` stands there twice"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_loads() {
        let table = load(TEXT).unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
        assert!(Area::ALL.iter().all(|area| table.programs.values().any(|of| of == area)));
        assert!(table.settings.values().all(|settings| settings.len() > 20));
    }

    #[test]
    fn everything_wrong_is_said_at_once() {
        let problems = load(
            r#"
            [[program]]
            of = "db2"
            names = ["db2sysc"]
            [[leaves]]
            of = "oracle"
            names = ["port"]
            [[leaves]]
            of = "postgres"
            names = ["port", "port", "primary_conninfo", "ssl_passphrase_command"]
            [[surprise]]
            "#,
        )
        .unwrap_err();
        let all = problems.join("\n");
        for expected in [
            "`db2` is no server",
            "`oracle` is no server",
            "`port` stands there twice",
            "`primary_conninfo` may hold a secret",
            "`ssl_passphrase_command` may hold a secret",
            "surprise: no such table",
        ] {
            assert!(all.contains(expected), "{expected} is not in:\n{all}");
        }
    }
}
