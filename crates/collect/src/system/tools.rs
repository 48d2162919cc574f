//! Versions of the tools that create file systems and arrays, which limit what can be advised.
//!
//! Only tools that this host needs are run, one after the other. Parallel runs would delay the
//! version query of a server's program, which runs at the same time and takes longest.

use crate::collector::Request;
use crate::facts::catalog::device::{self, ContentState};
use crate::facts::catalog::{host, mount};
use crate::facts::{FactSet, Key, Reading, Scope, UnknownReason};
use crate::host::{Host, Tool};
use crate::tool_version::{query_version, unneeded_version_reading};
use crate::version::Version;

/// The fact, the tool with its argument, and whether this host needs the tool.
type ToolRow = (
    &'static Key<Version>,
    Tool,
    &'static str,
    fn(&FactSet) -> bool,
);

const TOOLS: &[ToolRow] = &[
    (&host::E2FSPROGS, Tool::Mke2fs, "-V", |facts| {
        facts.subjects_of_scope(Scope::Device).next().is_some()
    }),
    (&host::XFSPROGS, Tool::MkfsXfs, "-V", |facts| {
        is_mounted_or_could_be_created(facts, "xfs")
    }),
    (&host::BTRFSPROGS, Tool::MkfsBtrfs, "--version", |facts| {
        is_mounted_or_could_be_created(facts, "btrfs")
    }),
    (&host::MDADM, Tool::Mdadm, "--version", |facts| {
        !facts
            .subjects_where(&device::KIND, |kind| kind.is_md())
            .is_empty()
    }),
];

/// Whether a file system of the type is mounted, or could be created on a free disk.
fn is_mounted_or_could_be_created(facts: &FactSet, fstype: &str) -> bool {
    let mounted = facts.subjects_where(&mount::FSTYPE, |mounted| mounted == fstype);
    let mut devices = facts.subjects_of_scope(Scope::Device);
    !mounted.is_empty() || devices.any(|disk| may_be_free(&facts.get(disk, &device::CONTENT)))
}

/// Whether a file system could be created on a device. True if the device could not be read; false
/// if it is of a kind that walwise never reads.
fn may_be_free(content: &Reading<ContentState>) -> bool {
    match content {
        Reading::Known { value, .. } => value.allows_new_filesystem(),
        Reading::Unknown {
            why: UnknownReason::NotCollected | UnknownReason::Absent,
            ..
        } => false,
        Reading::Unknown {
            why:
                UnknownReason::Denied
                | UnknownReason::TimedOut
                | UnknownReason::Malformed
                | UnknownReason::Ambiguous,
            ..
        } => true,
    }
}

pub const ID: &str = "tools";

/// Whether the tool of each row is needed.
pub struct ToolVersionQueries(Vec<bool>);

impl ToolVersionQueries {
    pub fn from_facts(facts: &FactSet) -> Self {
        let needed = TOOLS.iter().map(|(.., is_needed)| is_needed(facts));
        Self(needed.collect())
    }

    pub fn query_versions(&self, host: &dyn Host, request: &Request) -> FactSet {
        let mut facts = FactSet::default();
        for ((key, tool, argument, _), is_needed) in TOOLS.iter().zip(&self.0) {
            let version = if *is_needed {
                query_version(host, request, *tool, argument)
            } else {
                unneeded_version_reading()
            };
            facts.insert_host(key, version);
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Subject;
    use crate::facts::{FactValue, Remedy, Source};
    use crate::host::Question;
    use crate::testing::FakeHost;

    const ANSWERS: &[(Tool, &str, &str, &str)] = &[
        (
            Tool::Mke2fs,
            "-V",
            "mke2fs 1.47.0 (5-Feb-2023)\n\tUsing EXT2FS Library version 1.47.0\n",
            "1.47.0",
        ),
        (Tool::MkfsXfs, "-V", "mkfs.xfs version 6.1.0\n", "6.1.0"),
        (
            Tool::MkfsBtrfs,
            "--version",
            "mkfs.btrfs, part of btrfs-progs v6.2\n+EXPERIMENTAL\n",
            "6.2",
        ),
        (
            Tool::Mdadm,
            "--version",
            "mdadm - v4.2 - 2021-12-30 - Debian 4.2-5\n",
            "4.2",
        ),
    ];

    fn facts_with_array() -> FactSet {
        let mut facts = FactSet::default();
        let array = Subject::device("md0");
        facts.insert_known(
            &array,
            &device::KIND,
            device::DeviceKind::Md,
            Source::Assumed,
        );
        facts.insert_known(
            &array,
            &device::CONTENT,
            ContentState::Blank,
            Source::Assumed,
        );
        facts
    }

    fn query_versions_with_array(host: &FakeHost, without_programs: bool) -> FactSet {
        ToolVersionQueries::from_facts(&facts_with_array()).query_versions(
            host,
            &Request {
                without_programs,
                ..Request::default()
            },
        )
    }

    #[test]
    fn every_tool_version_is_parsed() {
        let add = |fake: FakeHost, (tool, argument, answer, _): &(Tool, &str, &str, &str)| {
            fake.with_answer(Question::Run(*tool, vec![(*argument).to_owned()]), answer)
        };
        let host = ANSWERS.iter().fold(FakeHost::default(), add);
        let facts = query_versions_with_array(&host, false);
        for ((key, ..), (.., expect)) in TOOLS.iter().zip(ANSWERS) {
            assert_eq!(facts.host_value(key).unwrap().to_string(), *expect);
        }
    }

    #[test]
    fn missing_and_disabled_tools_are_unknown() {
        let host = FakeHost::default();
        let reading =
            query_versions_with_array(&host, false).get(&Subject::host(), &host::E2FSPROGS);
        assert!(
            matches!(reading, Reading::Unknown { remedy: Some(Remedy::Install(ref name)), .. } if name == "e2fsprogs")
        );
        let host = FakeHost::default();
        let reading =
            query_versions_with_array(&host, true).get(&Subject::host(), &host::E2FSPROGS);
        assert!(matches!(
            reading,
            Reading::Unknown {
                why: UnknownReason::NotCollected,
                ..
            }
        ));
        assert!(host.asked_questions().is_empty());
    }

    fn tools_run_with_fact<T: FactValue>(subject: &Subject, key: &Key<T>, value: T) -> Vec<Tool> {
        let mut facts = FactSet::default();
        facts.insert_known(subject, key, value, Source::Assumed);
        tools_run_for(&facts)
    }

    fn tools_run_for(facts: &FactSet) -> Vec<Tool> {
        let host = FakeHost::default();
        ToolVersionQueries::from_facts(facts).query_versions(&host, &Request::default());
        let mut asked: Vec<Tool> = host
            .asked_questions()
            .iter()
            .filter_map(|question| match question {
                Question::Run(tool, _) => Some(*tool),
                _ => None,
            })
            .collect();
        asked.sort();
        asked
    }

    #[test]
    fn only_needed_tools_are_run() {
        let disk = Subject::device("sda");
        let all = [Tool::Mke2fs, Tool::MkfsXfs, Tool::MkfsBtrfs];
        assert_eq!(
            tools_run_with_fact(&disk, &device::KIND, device::DeviceKind::Disk),
            [Tool::Mke2fs]
        );
        assert_eq!(
            tools_run_with_fact(&disk, &device::CONTENT, ContentState::Holds),
            [Tool::Mke2fs]
        );
        for content in [ContentState::Free, ContentState::Blank] {
            assert_eq!(
                tools_run_with_fact(&disk, &device::CONTENT, content),
                all,
                "any may be made on it"
            );
        }
        for (why, tools) in [
            (UnknownReason::Denied, &all[..]),
            (UnknownReason::TimedOut, &all),
            (UnknownReason::NotCollected, &all[..1]),
        ] {
            let mut facts = FactSet::default();
            facts.insert(&disk, &device::CONTENT, Reading::unknown(why, "x"));
            assert_eq!(
                tools_run_for(&facts),
                tools,
                "{why:?}: root may see that it is free"
            );
        }
        for (fstype, tool) in [
            ("xfs", &all[1..2]),
            ("btrfs", &all[2..]),
            ("ext4", &[]),
            ("tmpfs", &[]),
        ] {
            assert_eq!(
                tools_run_with_fact(&Subject::mount("/srv"), &mount::FSTYPE, fstype.to_owned()),
                tool,
                "{fstype}"
            );
        }
    }
}
