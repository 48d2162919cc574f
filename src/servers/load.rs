//! Reads the table of servers and reports all its mistakes at once, each with its row.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::table::{
    ByRelease, ChangedBy, Losing, Mysql, OnLinux, Postgres, PostgresValue, ServerTable, ValueSyntax,
};
use crate::facts::ServerKind;
use crate::facts::{Choice, area};
use crate::rows::{TableErrors, read, rows};
use crate::version::Version;

/// The table, compiled in.
pub const TEXT: &str = include_str!("../../rules/tables/servers.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPostgres {
    names: Vec<String>,
    since: Vec<String>,
    removed: Option<String>,
    #[serde(default)]
    instead: String,
    #[serde(default)]
    default: BTreeMap<String, String>,
    change: ChangedBy,
    takes: Option<ValueForm>,
    range: Option<[f64; 2]>,
    #[serde(default)]
    read: bool,
    fact: Option<String>,
    #[serde(default)]
    unit: BTreeMap<String, u64>,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLoses {
    names: Vec<String>,
    values: Vec<String>,
    keeps: Option<Vec<String>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ValueForm {
    Switch,
    Words,
    Size,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawValue {
    of: String,
    names: Vec<String>,
    since: Option<String>,
    is: Option<OnLinux>,
    #[serde(default)]
    because: String,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMysql {
    of: String,
    names: Vec<String>,
    #[serde(default)]
    values: Vec<String>,
    range: Option<[f64; 2]>,
    since: String,
    deprecated: Option<String>,
    removed: Option<String>,
    #[serde(default)]
    instead: String,
    #[serde(default)]
    default: BTreeMap<String, String>,
    dynamic: Option<String>,
    perhaps_dynamic: Option<String>,
    #[serde(default)]
    because: String,
    source: String,
}

/// Parses a table; the error lists all mistakes.
pub fn load(text: &str) -> Result<ServerTable, Vec<String>> {
    let mut servers = ServerTable::default();
    read(text, &["postgres", "postgres_value", "mysql", "loses"], |document, problems| {
        for (place, raw) in rows::<RawPostgres>(document, "postgres", problems) {
            postgres(&mut servers, &place, raw, problems);
        }
        for (place, raw) in rows::<RawValue>(document, "postgres_value", problems) {
            value(&mut servers, &place, raw, problems);
        }
        for (place, raw) in rows::<RawMysql>(document, "mysql", problems) {
            mysql(&mut servers, &place, raw, problems);
        }
        for (place, raw) in rows::<RawLoses>(document, "loses", problems) {
            loses(&mut servers, &place, &raw, problems);
        }
        let wordless = |(name, setting): &(&String, &Postgres)| {
            setting.takes.is_words() && !servers.values.keys().any(|(of, _)| of == *name)
        };
        for (name, _) in servers.postgres.iter().filter(wordless) {
            problems.add("postgres", format!("{name} takes words, and no row says which"));
        }
    })?;
    Ok(servers)
}

/// Parses a row for each of its names.
fn postgres(servers: &mut ServerTable, place: &str, raw: RawPostgres, problems: &mut TableErrors) {
    sourced(place, &raw.source, problems);
    let since: Vec<Version> = raw.since.iter().filter_map(|text| problems.version(place, text)).collect();
    if since.is_empty() {
        problems.add(place, "no release brought it");
    }
    let removed = raw.removed.and_then(|text| problems.version(place, &text));
    if removed.is_some() && raw.instead.is_empty() {
        problems.add(place, "say what there is instead");
    }
    if raw.takes.is_some() && raw.range.is_some() {
        problems.add(place, "a range is for a number alone");
    }
    let takes = match (raw.range, raw.takes) {
        (Some([low, high]), None) => ValueSyntax::Number(low, high),
        (_, None) => ValueSyntax::Anything,
        (_, Some(ValueForm::Switch)) => ValueSyntax::Switch,
        (_, Some(ValueForm::Words)) => ValueSyntax::Words,
        (_, Some(ValueForm::Size)) => ValueSyntax::Size,
    };
    let default = by_release(place, raw.default, problems);
    let unit = by_release(place, raw.unit, problems);
    for name in raw.names {
        if raw.read {
            servers.read.push(name.clone());
        }
        let setting = Postgres {
            since: since.clone(),
            removed: removed.clone(),
            instead: raw.instead.clone(),
            default: default.clone(),
            changed_by: raw.change,
            takes,
            fact: raw.read.then(|| raw.fact.clone().unwrap_or_else(|| format!("pg.{name}"))),
            unit: unit.clone(),
            source: raw.source.clone(),
        };
        if servers.postgres.insert(name.clone(), setting).is_some() {
            problems.add(place, format!("`{name}` stands there twice"));
        }
    }
}

fn value(servers: &mut ServerTable, place: &str, raw: RawValue, problems: &mut TableErrors) {
    sourced(place, &raw.source, problems);
    if servers.postgres.get(&raw.of).is_none_or(|setting| !setting.takes.is_words()) {
        problems.add(place, format!("`{}` is no setting that takes words", raw.of));
    }
    let is = raw.is.unwrap_or(OnLinux::Taken);
    if !is.is_taken() && raw.because.is_empty() {
        problems.add(place, "a value that not every server takes: say why");
    }
    let since = raw.since.and_then(|text| problems.version(place, &text));
    for name in raw.names {
        let value = PostgresValue {
            since: since.clone(),
            is,
            because: raw.because.clone(),
            source: raw.source.clone(),
        };
        if servers.values.insert((raw.of.clone(), name.clone()), value).is_some() {
            problems.add(place, format!("`{name}` stands there twice"));
        }
    }
}

/// Parses a row for each of its names.
fn mysql(servers: &mut ServerTable, place: &str, raw: RawMysql, problems: &mut TableErrors) {
    sourced(place, &raw.source, problems);
    let of = ServerKind::from_word(&raw.of).filter(|of| !of.is_postgres());
    if of.is_none() {
        problems.add(place, format!("`{}` is neither mysql nor mariadb", raw.of));
    }
    if raw.deprecated.is_some() && raw.because.is_empty() {
        problems.add(place, "say why it is deprecated");
    }
    if (raw.deprecated.is_some() || raw.removed.is_some()) && raw.instead.is_empty() {
        problems.add(place, "say what there is instead");
    }
    if raw.range.is_some() && !raw.values.is_empty() {
        problems.add(place, "a value is a number or one of some words, not both");
    }
    let mut version = |text: Option<String>| text.and_then(|text| problems.version(place, &text));
    let (deprecated, removed) = (version(raw.deprecated), version(raw.removed));
    let (dynamic, since) = (version(raw.dynamic), version(Some(raw.since)));
    let perhaps_dynamic = version(raw.perhaps_dynamic);
    let default = by_release(place, raw.default, problems);
    let Some((since, of)) = since.zip(of) else { return };
    for name in raw.names {
        servers.mysql.push(Mysql {
            of,
            name,
            values: raw.values.clone(),
            range: raw.range,
            since: since.clone(),
            deprecated: deprecated.clone(),
            removed: removed.clone(),
            instead: raw.instead.clone(),
            default: default.clone(),
            dynamic: dynamic.clone(),
            perhaps_dynamic: perhaps_dynamic.clone(),
            because: raw.because.clone(),
            source: raw.source.clone(),
        });
    }
}

fn loses(servers: &mut ServerTable, place: &str, raw: &RawLoses, problems: &mut TableErrors) {
    for name in &raw.names {
        if area(name).is_none() {
            problems.add(place, format!("`{name}` is no setting of a server"));
        }
        let losing = Losing { values: raw.values.clone(), keeps: raw.keeps.clone() };
        if servers.losing.insert(name.clone(), losing).is_some() {
            problems.add(place, format!("`{name}` stands there twice"));
        }
    }
}

fn sourced(place: &str, source: &str, problems: &mut TableErrors) {
    if source.is_empty() {
        problems.add(place, "a row needs a source");
    }
}

fn by_release<T>(place: &str, raw: BTreeMap<String, T>, problems: &mut TableErrors) -> ByRelease<T> {
    let read = |(from, value): (String, T)| Some((problems.version(place, &from)?, value));
    let mut values: ByRelease<T> = raw.into_iter().filter_map(read).collect();
    values.sort_by(|(a, _), (b, _)| a.cmp(b));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_loads() {
        let servers = load(TEXT).unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
        assert!(servers.postgres.len() > 35 && servers.mysql.len() > 25 && servers.values.len() > 20);
    }

    #[test]
    fn everything_wrong_is_said_at_once() {
        let problems = load(
            r#"
            [[postgres]]
            names = ["x", "y"]
            since = ["never"]
            removed = "13"
            change = "reload"
            takes = "size"
            range = [0, 1]
            source = ""
            [[postgres]]
            names = ["x"]
            since = ["12"]
            change = "tomorrow"
            source = "s"
            [[postgres]]
            names = ["x", "words"]
            since = ["12"]
            change = "reload"
            takes = "words"
            default = { soon = "on" }
            source = "s"
            [[postgres_value]]
            of = "y"
            names = ["a", "a"]
            is = "refused"
            source = "s"
            [[mysql]]
            of = "oracle"
            names = ["x"]
            values = ["a"]
            range = [0, 1]
            since = "5.7"
            deprecated = "8.0"
            source = "s"
            [[loses]]
            names = ["pg.fsync", "pg.fsync", "mount.options"]
            values = ["off"]
            [[surprise]]
            "#,
        )
        .unwrap_err();
        let all = problems.join("\n");
        for expected in [
            "`never` is no version",
            "no release brought it",
            "say what there is instead",
            "a range is for a number alone",
            "needs a source",
            "postgres 2 (x): unknown variant `tomorrow`",
            "`x` stands there twice",
            "`soon` is no version",
            "words takes words, and no row says which",
            "`y` is no setting that takes words",
            "not every server takes: say why",
            "`a` stands there twice",
            "neither mysql nor mariadb",
            "say why it is deprecated",
            "not both",
            "surprise: no such table",
            "`pg.fsync` stands there twice",
            "`mount.options` is no setting of a server",
        ] {
            assert!(all.contains(expected), "{expected} is not in:\n{all}");
        }
    }
}
