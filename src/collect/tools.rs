//! Versions of the tools that make and mount file systems: what they are decides which options can be advised.
//!
//! They are asked side by side, so that together they cost no more than the slowest; with `without_programs` nothing is
//! run. The surprise: mke2fs and mdadm answer on standard error, which [`Host::run`] joins to the rest.

use std::thread;

use super::{Collector, Request, refused};
use crate::facts::catalog::host as machine;
use crate::facts::{FactSet, Key, Reading, Remedy, Source, Subject, Why};
use crate::host::{Host, MissKind, Tool};
use crate::text::safe;
use crate::version::Version;

/// Asks the tools for their versions.
pub const COLLECTOR: Collector = Collector { id: "tool versions", run };

const TOOLS: &[(&Key<Version>, Tool, &str)] = &[
    (&machine::E2FSPROGS, Tool::Mke2fs, "-V"),
    (&machine::XFSPROGS, Tool::MkfsXfs, "-V"),
    (&machine::BTRFSPROGS, Tool::MkfsBtrfs, "--version"),
    (&machine::MDADM, Tool::Mdadm, "--version"),
    (&machine::UTIL_LINUX, Tool::Mount, "--version"),
];

fn run(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let readings: Vec<Reading<Version>> = if request.without_programs {
        TOOLS.iter().map(|_| not_run()).collect()
    } else {
        thread::scope(|scope| {
            let ask = |&(_, tool, argument): &(_, Tool, &'static str)| {
                scope.spawn(move || version(host, tool, argument))
            };
            let asked: Vec<_> = TOOLS.iter().map(ask).collect();
            let gone = |_| Reading::unknown(Why::Malformed, "reading the tool's answer failed");
            asked.into_iter().map(|thread| thread.join().unwrap_or_else(gone)).collect()
        })
    };
    for ((key, ..), reading) in TOOLS.iter().zip(readings) {
        facts.put(&Subject::host(), key, reading);
    }
}

/// The reading of what only a program could say, in a run without programs.
pub fn not_run<T>() -> Reading<T> {
    Reading::unknown(Why::NotCollected, "this run starts no programs")
}

fn version(host: &dyn Host, tool: Tool, argument: &str) -> Reading<Version> {
    let argv = format!("{} {argument}", tool.name());
    match host.run(tool, &[argument]) {
        Ok(answer) => first_version(&answer).map_or_else(
            || Reading::unknown(Why::Malformed, format!("`{argv}` names no version")),
            |version| Reading::known(version, Source::Command { argv: argv.clone() }),
        ),
        // Rules ask for the version of e2fsprogs; that the others are not installed is worth knowing and no gap.
        Err(miss) if miss.kind == MissKind::Absent && tool == Tool::Mke2fs => {
            refused(&miss, &argv).or_try(Remedy::Install(tool.package().to_owned()))
        }
        Err(miss) => refused(&miss, &argv),
    }
}

/// The first word that is a version with at least two numbers: each tool puts its own name, and nothing with a dot and
/// digits, before it.
fn first_version(answer: &[u8]) -> Option<Version> {
    let text =
        safe(&answer.iter().map(|b| if b.is_ascii_whitespace() { b' ' } else { *b }).collect::<Vec<_>>());
    text.split(' ').filter_map(Version::parse).find(|version| version.depth() >= 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collect::testing::Fake;
    use crate::host::Question;

    const ANSWERS: &[(Tool, &str, &str, &str)] = &[
        (Tool::Mke2fs, "-V", "mke2fs 1.47.0 (5-Feb-2023)\n\tUsing EXT2FS Library version 1.47.0\n", "1.47.0"),
        (Tool::MkfsXfs, "-V", "mkfs.xfs version 6.1.0\n", "6.1.0"),
        (Tool::MkfsBtrfs, "--version", "mkfs.btrfs, part of btrfs-progs v6.2\n+EXPERIMENTAL\n", "6.2"),
        (Tool::Mdadm, "--version", "mdadm - v4.2 - 2021-12-30 - Debian 4.2-5\n", "4.2"),
        (
            Tool::Mount,
            "--version",
            "mount from util-linux 2.38.1 (libmount 2.38.1: selinux, btrfs)\n",
            "2.38.1",
        ),
    ];

    fn collect(host: &Fake, without_programs: bool) -> FactSet {
        let mut facts = FactSet::default();
        run(host, &Request { without_programs, ..Request::default() }, &mut facts);
        facts
    }

    #[test]
    fn every_tool_is_understood() {
        let add = |fake: Fake, (tool, argument, answer, _): &(Tool, &str, &str, &str)| {
            fake.answer(Question::Run(*tool, vec![(*argument).to_owned()]), answer)
        };
        let host = ANSWERS.iter().fold(Fake::default(), add);
        let facts = collect(&host, false);
        for ((key, ..), (.., expect)) in TOOLS.iter().zip(ANSWERS) {
            assert_eq!(facts.value(&Subject::host(), key).unwrap().to_string(), *expect);
        }
    }

    #[test]
    fn a_missing_tool_names_its_package_and_none_is_run_unasked() {
        let host = Fake::default();
        let reading = collect(&host, false).get(&Subject::host(), &machine::E2FSPROGS);
        assert!(
            matches!(reading, Reading::Unknown { remedy: Some(Remedy::Install(ref name)), .. } if name == "e2fsprogs")
        );
        let host = Fake::default();
        let reading = collect(&host, true).get(&Subject::host(), &machine::E2FSPROGS);
        assert!(matches!(reading, Reading::Unknown { why: Why::NotCollected, .. }));
        assert!(host.asked().is_empty());
    }

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
