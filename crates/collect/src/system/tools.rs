//! Versions of the tools that create file systems and arrays, which decide what can be advised.
//!
//! Only tools that something in sight needs are asked, one after the other: at once they would hold
//! up a server's program, which is asked meanwhile and takes the longest.

use crate::collector::Request;
use crate::facts::catalog::device::{self, Content};
use crate::facts::catalog::{host as machine, mount};
use crate::facts::{FactSet, Key, Reading, Scope, Subject, Why};
use crate::host::{Host, Tool};
use crate::tool_version::{not_needed, version};
use crate::version::Version;

/// What a tool is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    /// Any machine with disks.
    Devices,
    /// File systems of this type: those that are mounted, and one that a disk may get which is free
    /// as far as we can see.
    FileSystem(&'static str),
    Arrays,
}

/// The fact, the tool, the argument that makes it tell its version, and what it is needed for.
type ToolRow = (&'static Key<Version>, Tool, &'static str, For);

const TOOLS: &[ToolRow] = &[
    (&machine::E2FSPROGS, Tool::Mke2fs, "-V", For::Devices),
    (
        &machine::XFSPROGS,
        Tool::MkfsXfs,
        "-V",
        For::FileSystem("xfs"),
    ),
    (
        &machine::BTRFSPROGS,
        Tool::MkfsBtrfs,
        "--version",
        For::FileSystem("btrfs"),
    ),
    (&machine::MDADM, Tool::Mdadm, "--version", For::Arrays),
];

impl For {
    fn is_in_sight(self, facts: &FactSet) -> bool {
        match self {
            Self::Devices => facts.subjects(Scope::Device).next().is_some(),
            Self::FileSystem(fstype) => {
                !facts
                    .which(&mount::FSTYPE, |mounted| mounted == fstype)
                    .is_empty()
                    || facts
                        .subjects(Scope::Device)
                        .any(|disk| may_be_free(&facts.get(disk, &device::CONTENT)))
            }
            Self::Arrays => facts
                .known(&device::KIND)
                .iter()
                .any(|(_, kind)| kind.is_md()),
        }
    }
}

/// Whether nothing forbids making a file system on a device. What could not be read may be empty.
fn may_be_free(content: &Reading<Content>) -> bool {
    match content {
        Reading::Known { value, .. } => value.may_be_given(),
        Reading::Unknown {
            why: Why::NotCollected | Why::Absent,
            ..
        } => false,
        Reading::Unknown {
            why: Why::Denied | Why::TimedOut | Why::Malformed | Why::Ambiguous,
            ..
        } => true,
    }
}

/// The name of this step, for progress.
pub const ID: &str = "tools";

/// The tools, by whether something in sight needs them.
pub struct ToolNeed {
    needed: Vec<&'static ToolRow>,
    others: Vec<&'static ToolRow>,
}

impl ToolNeed {
    /// By what is known of disks and mounts.
    pub fn of(facts: &FactSet) -> Self {
        let (needed, others) = TOOLS
            .iter()
            .partition(|(_, _, _, what)| what.is_in_sight(facts));
        Self { needed, others }
    }

    /// Facts about the tools, of which the needed ones are asked.
    pub fn look(&self, host: &dyn Host, request: &Request) -> FactSet {
        let mut facts = FactSet::default();
        for (key, tool, argument, _) in &self.needed {
            facts.put(
                &Subject::host(),
                key,
                version(host, request, *tool, argument),
            );
        }
        for (key, ..) in &self.others {
            facts.put(&Subject::host(), key, not_needed());
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{FactValue, Remedy, Source};
    use crate::host::Question;
    use crate::testing::Fake;

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

    /// A machine with an array that is free, so that every tool is in sight.
    fn machine() -> FactSet {
        let mut facts = FactSet::default();
        let array = Subject::device("md0");
        facts.know(
            &array,
            &device::KIND,
            device::DeviceKind::Md,
            Source::Assumed,
        );
        facts.know(&array, &device::CONTENT, Content::Blank, Source::Assumed);
        facts
    }

    fn collect(host: &Fake, without_programs: bool) -> FactSet {
        ToolNeed::of(&machine()).look(
            host,
            &Request {
                without_programs,
                ..Request::default()
            },
        )
    }

    #[test]
    fn every_tool_is_understood() {
        let add = |fake: Fake, (tool, argument, answer, _): &(Tool, &str, &str, &str)| {
            fake.answer(Question::Run(*tool, vec![(*argument).to_owned()]), answer)
        };
        let host = ANSWERS.iter().fold(Fake::default(), add);
        let facts = collect(&host, false);
        for ((key, ..), (.., expect)) in TOOLS.iter().zip(ANSWERS) {
            assert_eq!(
                facts.value(&Subject::host(), key).unwrap().to_string(),
                *expect
            );
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
        assert!(matches!(
            reading,
            Reading::Unknown {
                why: Why::NotCollected,
                ..
            }
        ));
        assert!(host.asked().is_empty());
    }

    /// The tools that are asked where this is known.
    fn asked<T: FactValue>(subject: &Subject, key: &Key<T>, value: T) -> Vec<Tool> {
        let mut facts = FactSet::default();
        facts.know(subject, key, value, Source::Assumed);
        asked_by(&facts)
    }

    fn asked_by(facts: &FactSet) -> Vec<Tool> {
        let host = Fake::default();
        ToolNeed::of(facts).look(&host, &Request::default());
        let mut asked: Vec<Tool> = host
            .asked()
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
    fn what_nothing_needs_is_not_asked() {
        let disk = Subject::device("sda");
        let all = [Tool::Mke2fs, Tool::MkfsXfs, Tool::MkfsBtrfs];
        assert_eq!(
            asked(&disk, &device::KIND, device::DeviceKind::Disk),
            [Tool::Mke2fs]
        );
        assert_eq!(
            asked(&disk, &device::CONTENT, Content::Holds),
            [Tool::Mke2fs]
        );
        for content in [Content::Free, Content::Blank] {
            assert_eq!(
                asked(&disk, &device::CONTENT, content),
                all,
                "any may be made on it"
            );
        }
        for (why, tools) in [
            (Why::Denied, &all[..]),
            (Why::TimedOut, &all),
            (Why::NotCollected, &all[..1]),
        ] {
            let mut facts = FactSet::default();
            facts.put(&disk, &device::CONTENT, Reading::unknown(why, "x"));
            assert_eq!(
                asked_by(&facts),
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
                asked(&Subject::mount("/srv"), &mount::FSTYPE, fstype.to_owned()),
                tool,
                "{fstype}"
            );
        }
    }
}
