//! The names of server programs, and the settings that may leave a configuration file, a command
//! line or a server. The host filters its answers by this policy.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::facts::{ServerArea, ServerKind};
use crate::toml_table::parse_without_verification_stamps;

pub const POLICY_TOML: &str = include_str!("../../tables/leaving.toml");

/// The part of a setting that may leave a configuration file, a command line or a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exposure {
    #[default]
    Value,
    /// The value; the bare name means on.
    Switch,
    /// Only the shape of the value.
    Shape,
}

#[derive(Debug, Default)]
pub struct RedactionPolicy {
    /// The area of each server program, by program name.
    pub programs: BTreeMap<String, ServerArea>,
    /// The settings that may leave, by area and name.
    pub settings: BTreeMap<ServerArea, BTreeMap<String, Exposure>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyRows {
    program: Vec<NamedRow>,
    leaves: Vec<NamedRow>,
}

/// A row of programs or of settings; `what` applies to settings only.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedRow {
    of: ServerKind,
    names: Vec<String>,
    #[serde(default)]
    what: Exposure,
}

/// Parses the policy and drops every setting that may hold a secret.
pub fn parse_policy(text: &str) -> Result<RedactionPolicy, toml::de::Error> {
    let rows: PolicyRows = parse_without_verification_stamps(text)?;
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

/// Parts of names of settings whose values hold or name a secret, a program or another host.
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

/// Whether the name of a setting suggests a secret. Such a setting must not leave, even if a table
/// lists the name.
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
            ServerArea::ALL
                .iter()
                .all(|area| table.programs.values().any(|of| of == area))
        );
        assert!(table.settings.values().all(|settings| settings.len() > 20));
        let rows: PolicyRows = parse_without_verification_stamps(POLICY_TOML).unwrap();
        let listed: usize = rows.leaves.iter().map(|row| row.names.len()).sum();
        assert_eq!(
            table.settings.values().map(BTreeMap::len).sum::<usize>(),
            listed,
            "one stands there twice"
        );
    }

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
