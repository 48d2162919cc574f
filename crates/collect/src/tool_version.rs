use super::collector::Request;
use super::host_readings::{error_reading, programs_disabled_reading};
use crate::facts::{Reading, Remedy, Source};
use crate::host::{Host, Tool};
use crate::text::display_safe;
use crate::version::Version;

pub fn query_version(
    host: &dyn Host,
    request: &Request,
    tool: Tool,
    argument: &str,
) -> Reading<Version> {
    if request.without_programs {
        return programs_disabled_reading();
    }
    let argv = format!("{} {argument}", tool.name());
    match host.run_tool(tool, &[argument]) {
        Ok(answer) => first_version(&answer).map_or_else(
            || Reading::malformed(format!("`{argv}` printed no version")),
            |version| Reading::known(version, Source::Command { argv: argv.clone() }),
        ),
        // Rules need the version of e2fsprogs, so the remedy is to install it. Other tools may be
        // missing.
        Err(miss) if miss.is_absent() && tool == Tool::Mke2fs => {
            error_reading(&miss, &argv).with_remedy(Remedy::Install(tool.package().to_owned()))
        }
        Err(miss) => error_reading(&miss, &argv),
    }
}

/// The first dotted number, which is the version in the output of every tool run here.
fn first_version(answer: &[u8]) -> Option<Version> {
    answer
        .split(u8::is_ascii_whitespace)
        .filter_map(|word| Version::parse(&display_safe(word)))
        .find(|version| version.number_count() >= 2)
}

pub fn unneeded_version_reading() -> Reading<Version> {
    Reading::absent("the version is not relevant on this host")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn version_is_found_after_any_words(words in "[a-zA-Z, ()-]{0,40}", behind in "[ -~]{0,20}") {
            let version = first_version(format!("{words} 6.1.0\n{behind}").as_bytes());
            prop_assert_eq!(version, Version::parse("6.1.0"));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            if let Some(version) = first_version(&bytes) {
                prop_assert!(!version.to_string().chars().any(crate::text::is_display_unsafe));
            }
        }
    }
}
