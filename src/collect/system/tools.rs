//! Versions of the tools that create and mount file systems, which decide the options that can be advised.
//!
//! Only tools that something in sight needs are asked, two at a time: more at once would hold up a server's program, which is
//! asked meanwhile and takes the longest.
//! With `without_programs` nothing is run. mke2fs and mdadm print their version on standard error, which [`Host::run`]
//! joins to standard output.

use crate::collect::collector::{Collector, Request};
use crate::collect::refusal::{not_run, refused};
use crate::facts::catalog::{device, host as machine};
use crate::facts::{FactSet, Key, Reading, Remedy, Scope, Source, Subject, Why};
use crate::host::{Host, MissKind, Tool};
use crate::text::safe;
use crate::version::Version;
use crate::workers;

/// What a tool is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    /// Creating file systems: any of them may be advised for a device.
    Devices,
    /// Arrays of md.
    Arrays,
    /// The machine as a whole.
    Machine,
}

const TOOLS: &[(&Key<Version>, Tool, &str, For)] = &[
    (&machine::E2FSPROGS, Tool::Mke2fs, "-V", For::Devices),
    (&machine::XFSPROGS, Tool::MkfsXfs, "-V", For::Devices),
    (&machine::BTRFSPROGS, Tool::MkfsBtrfs, "--version", For::Devices),
    (&machine::MDADM, Tool::Mdadm, "--version", For::Arrays),
    (&machine::UTIL_LINUX, Tool::Mount, "--version", For::Machine),
];

impl For {
    fn is_in_sight(self, facts: &FactSet) -> bool {
        match self {
            Self::Devices => facts.subjects(Scope::Device).next().is_some(),
            Self::Arrays => facts.known(&device::KIND).iter().any(|(_, kind)| kind.is_md()),
            Self::Machine => true,
        }
    }
}

/// Asks the tools for their versions.
pub const COLLECTOR: Collector = Collector { id: "tools", run };

fn run(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let known = &*facts;
    let is_asked = |(_, _, _, what): &&(_, Tool, &'static str, For)| {
        !request.without_programs && what.is_in_sight(known)
    };
    let (asked, others): (Vec<_>, Vec<_>) = TOOLS.iter().partition(is_asked);
    let versions = |tools: &[&(_, Tool, &str, _)]| {
        tools.iter().map(|(_, tool, argument, _)| version(host, *tool, argument)).collect::<Vec<_>>()
    };
    let (some, other) = asked.split_at(asked.len() / 2);
    let (readings, more) = workers::beside(|| versions(some), || versions(other));
    for ((key, ..), reading) in asked.iter().zip(readings.into_iter().chain(more)) {
        facts.put(&Subject::host(), key, reading);
    }
    for (key, ..) in others {
        let unasked = if request.without_programs {
            not_run()
        } else {
            Reading::unknown(Why::Absent, "nothing in sight needs it")
        };
        facts.put(&Subject::host(), key, unasked);
    }
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
        facts.know(&Subject::device("md0"), &device::KIND, device::DeviceKind::Md, Source::Assumed);
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

    #[test]
    fn what_nothing_needs_is_not_asked() {
        let asked = |known: &FactSet| {
            let host = Fake::default();
            run(&host, &Request::default(), &mut known.clone());
            host.asked().len()
        };
        let mut known = FactSet::default();
        assert_eq!(asked(&known), 1, "the machine's own");
        known.know(&Subject::device("sda"), &device::KIND, device::DeviceKind::Disk, Source::Assumed);
        assert_eq!(asked(&known), 4, "and what makes file systems");
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
