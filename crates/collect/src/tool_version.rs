//! The version that a program of the system tells of itself.
//!
//! Which programs are asked is left to the collectors. mke2fs and mdadm print their version on
//! standard error, which [`Host::run`] joins to standard output.

use super::collector::Request;
use super::refusal::{not_run, refused};
use crate::facts::{Reading, Remedy, Source, Why};
use crate::host::{Host, MissKind, Tool};
use crate::text::safe;
use crate::version::Version;

/// The version that a program prints with this argument; with `without_programs` it is not run.
pub fn version(host: &dyn Host, request: &Request, tool: Tool, argument: &str) -> Reading<Version> {
    if request.without_programs {
        return not_run();
    }
    let argv = format!("{} {argument}", tool.name());
    match host.run(tool, &[argument]) {
        Ok(answer) => first_version(&answer).map_or_else(
            || Reading::unknown(Why::Malformed, format!("`{argv}` names no version")),
            |version| Reading::known(version, Source::Command { argv: argv.clone() }),
        ),
        // Rules ask for the version of e2fsprogs; that the others are not installed is worth
        // knowing and no gap.
        Err(miss) if miss.kind == MissKind::Absent && tool == Tool::Mke2fs => {
            refused(&miss, &argv).or_try(Remedy::Install(tool.package().to_owned()))
        }
        Err(miss) => refused(&miss, &argv),
    }
}

/// The first word that is a version with at least two numbers: each tool puts its own name, and
/// nothing with a dot and digits, before it.
fn first_version(answer: &[u8]) -> Option<Version> {
    let text = safe(
        &answer
            .iter()
            .map(|b| if b.is_ascii_whitespace() { b' ' } else { *b })
            .collect::<Vec<_>>(),
    );
    text.split(' ')
        .filter_map(Version::parse)
        .find(|version| version.depth() >= 2)
}

/// The version of a program that no judgement on this machine asks for.
pub fn not_needed() -> Reading<Version> {
    Reading::unknown(Why::Absent, "nothing in sight needs it")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_version_is_found_behind_any_words(words in "[a-zA-Z, ()-]{0,40}", behind in "[ -~]{0,20}") {
            let version = first_version(format!("{words} 6.1.0\n{behind}").as_bytes());
            prop_assert_eq!(version, Version::parse("6.1.0"));
        }

        #[test]
        fn any_bytes_do_no_harm(bytes: Vec<u8>) {
            if let Some(version) = first_version(&bytes) {
                prop_assert!(!version.to_string().chars().any(crate::text::is_treacherous));
            }
        }
    }
}
