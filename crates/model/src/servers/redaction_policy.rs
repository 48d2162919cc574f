//! The names of database server programs, and the settings whose values walwise may read out of a
//! configuration file, a command line or a server. The host filters its answers by this policy.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::facts::{ServerArea, ServerKind};
use crate::toml_table::parse_ignoring_verification_stamps;

pub const POLICY_TOML: &str = include_str!("../../tables/leaving.toml");

/// The part of a setting's value that walwise may read out of a configuration file, a command line
/// or a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueExposure {
    #[default]
    Value,
    /// The full value may be read; a setting written without a value means `1`.
    Switch,
    /// The value may be read with every name in it replaced, so that only its structure remains.
    Shape,
}

#[derive(Debug, Default)]
pub struct RedactionPolicy {
    pub programs: BTreeMap<String, ServerArea>,
    pub settings: BTreeMap<ServerArea, BTreeMap<String, ValueExposure>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyRows {
    program: Vec<PolicyRow>,
    leaves: Vec<PolicyRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyRow {
    of: ServerKind,
    names: Vec<String>,
    #[serde(default)]
    what: ValueExposure,
}

/// Drops settings whose names contain one of [`SECRET_NAME_PARTS`], even if the text lists them.
pub fn parse_policy(text: &str) -> Result<RedactionPolicy, toml::de::Error> {
    let rows: PolicyRows = parse_ignoring_verification_stamps(text)?;
    let mut table = RedactionPolicy::default();
    for PolicyRow { of, names, .. } in rows.program {
        table
            .programs
            .extend(names.into_iter().map(|name| (name, of.server_area())));
    }
    for PolicyRow { of, names, what } in rows.leaves {
        let list = table.settings.entry(of.server_area()).or_default();
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

fn may_hold_secret(name: &str) -> bool {
    SECRET_NAME_PARTS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Choice;

    #[test]
    fn embedded_redaction_policy_parses() {
        let table = parse_policy(POLICY_TOML).unwrap();
        assert!(
            ServerArea::ALL
                .iter()
                .all(|area| table.programs.values().any(|of| of == area))
        );
        assert!(table.settings.values().all(|settings| settings.len() > 20));
        let rows: PolicyRows = parse_ignoring_verification_stamps(POLICY_TOML).unwrap();
        let listed: usize = rows.leaves.iter().map(|row| row.names.len()).sum();
        assert_eq!(
            table.settings.values().map(BTreeMap::len).sum::<usize>(),
            listed,
            "one stands there twice"
        );
    }

    #[test]
    fn listed_secret_setting_is_dropped() {
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
    fn policy_exposes_no_secret_settings() {
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
