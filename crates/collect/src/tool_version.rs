//! Versions of installed programs, from their own output.
//!
//! Which programs are run is left to the collectors. mke2fs and mdadm print their version on
//! standard error, which [`Host::run`] joins to standard output.

use super::collector::Request;
use super::refusal::{error_reading, programs_disabled};
use crate::facts::{Reading, Remedy, Source, UnknownReason};
use crate::host::{Host, HostErrorKind, Tool};
use crate::text::display_safe;
use crate::version::Version;

/// Runs the tool with `argument`, unless the request forbids programs.
pub fn version(host: &dyn Host, request: &Request, tool: Tool, argument: &str) -> Reading<Version> {
    if request.without_programs {
        return programs_disabled();
    }
    let argv = format!("{} {argument}", tool.name());
    match host.run(tool, &[argument]) {
        Ok(answer) => first_version(&answer).map_or_else(
            || {
                Reading::unknown(
                    UnknownReason::Malformed,
                    format!("`{argv}` printed no version"),
                )
            },
            |version| Reading::known(version, Source::Command { argv: argv.clone() }),
        ),
        // Rules need the version of e2fsprogs, so its absence is a gap; other tools may be missing.
        Err(miss) if miss.kind == HostErrorKind::Absent && tool == Tool::Mke2fs => {
            error_reading(&miss, &argv).with_remedy(Remedy::Install(tool.package().to_owned()))
        }
        Err(miss) => error_reading(&miss, &argv),
    }
}

/// The first word with at least two version numbers: no tool prints a dotted number before its
/// version.
fn first_version(answer: &[u8]) -> Option<Version> {
    let text = display_safe(
        &answer
            .iter()
            .map(|b| if b.is_ascii_whitespace() { b' ' } else { *b })
            .collect::<Vec<_>>(),
    );
    text.split(' ')
        .filter_map(Version::parse)
        .find(|version| version.number_count() >= 2)
}

/// For a tool that no rule needs on this host.
pub fn unneeded_version() -> Reading<Version> {
    Reading::unknown(UnknownReason::Absent, "nothing on this host needs it")
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
                prop_assert!(!version.to_string().chars().any(crate::text::is_display_unsafe));
            }
        }
    }
}
