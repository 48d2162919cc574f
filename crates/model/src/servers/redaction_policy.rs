//! The names of servers' programs, and what may leave a configuration file, a command line or a
//! server: what the host filters by.
//!
//! The releases and values of settings are left to [`super::table`].

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::facts::{Area, ServerKind};
use crate::toml_table::parse;

/// The table, compiled in.
pub const POLICY_TOML: &str = include_str!("../../tables/leaving.toml");

/// The part of a setting that may leave a configuration file, a command line or a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exposure {
    #[default]
    Value,
    /// Its value; the bare name switches it on.
    Switch,
    /// The shape of its value alone.
    Shape,
}

#[derive(Debug, Default)]
pub struct RedactionPolicy {
    /// The names of servers' programs, and the area of each.
    pub programs: BTreeMap<String, Area>,
    /// The settings that may leave, by area and name.
    pub settings: BTreeMap<Area, BTreeMap<String, Exposure>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyRows {
    program: Vec<NamedRow>,
    leaves: Vec<NamedRow>,
}

/// Programs, or settings with what may leave of each.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedRow {
    of: ServerKind,
    names: Vec<String>,
    #[serde(default)]
    what: Exposure,
}

/// Parses a table.
pub fn parse_policy(text: &str) -> Result<RedactionPolicy, toml::de::Error> {
    let rows: PolicyRows = parse(text)?;
    let mut table = RedactionPolicy::default();
    for NamedRow { of, names, .. } in rows.program {
        table
            .programs
            .extend(names.into_iter().map(|name| (name, of.area())));
    }
    for NamedRow { of, names, what } in rows.leaves {
        let list = table.settings.entry(of.area()).or_default();
        let names = names.into_iter().filter(|name| !may_hold_secret(name));
        list.extend(names.map(|name| (name, what)));
    }
    Ok(table)
}

/// Parts of the names of settings that hold or name a secret, a program or another host.
const SECRET_NAME_PARTS: [&str; 11] = [
    "auth",
    "cert",
    "command",
    "conninfo",
    "host",
    "key",
    "passphrase",
    "password",
    "secret",
    "ssl",
    "user",
];

/// Whether a setting is named like a secret: it may not leave, whoever lists it.
fn may_hold_secret(name: &str) -> bool {
    SECRET_NAME_PARTS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Choice;

    #[test]
    fn the_table_loads() {
        let table = parse_policy(POLICY_TOML).unwrap();
        assert!(
            Area::ALL
                .iter()
                .all(|area| table.programs.values().any(|of| of == area))
        );
        assert!(table.settings.values().all(|settings| settings.len() > 20));
        let rows: PolicyRows = parse(POLICY_TOML).unwrap();
        let listed: usize = rows.leaves.iter().map(|row| row.names.len()).sum();
        assert_eq!(
            table.settings.values().map(BTreeMap::len).sum::<usize>(),
            listed,
            "one stands there twice"
        );
    }

    /// A setting that is named like a secret may not leave, whoever lists it here.
    #[test]
    fn a_listed_secret_stays() {
        let rows = "[[program]]\nof = \"postgres\"\nnames = [\"postgres\"]\n[[leaves]]\nof = \"postgres\"\nnames = [\"port\", \"primary_conninfo\", \"ssl_passphrase_command\"]\n";
        let table = parse_policy(rows).unwrap();
        assert_eq!(
            table
                .settings
                .values()
                .flat_map(BTreeMap::keys)
                .collect::<Vec<_>>(),
            ["port"]
        );
    }

    #[test]
    fn nothing_that_may_hold_a_secret_leaves() {
        for name in parse_policy(POLICY_TOML)
            .unwrap()
            .settings
            .values()
            .flat_map(BTreeMap::keys)
        {
            assert!(!may_hold_secret(name), "`{name}` may hold a secret");
        }
    }
}
