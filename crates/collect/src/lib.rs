//! Collectors: host → facts, a room for each kind of thing. A collector cannot fail; it leaves
//! facts unknown, with a reason.
//!
//! What all collectors share stands beside the rooms of storage, file systems, system and
//! databases, with the stack and the targets that join them. The list of collectors is here, and
//! nobody below knows it.
//!
//! They read through [`crate::host`] alone; judgement is left to `durability`, `validity` and
//! `rules`. Later collectors look up what earlier ones found; database servers are read
//! concurrently with storage. An unreadable fact is put into the set too, as unknown.

use walwise_model::{bounds, drivers, facts, quote, servers, text, truth, version, workers};
use walwise_sys::host;

mod collector {
    //! What a collector is: what a run asks of it, how it is started, and how it describes many
    //! things at once.
    //!
    //! The list of all collectors is left to [`super`], which alone knows them.

    use std::path::PathBuf;

    use crate::facts::{FactSet, Subject};
    use crate::host::Host;
    use crate::workers;

    #[derive(Clone, Debug, Default)]
    pub struct Request {
        /// The directory, mount point or block device asked for; `None` for everything found.
        pub target: Option<PathBuf>,
        /// Whether the target may be a directory still to be created; otherwise a missing directory
        /// is a mistake.
        pub new: bool,
        /// The option file of a MySQL or MariaDB server that does not run (`--defaults-file`),
        /// absolute.
        pub mysql_defaults: Option<PathBuf>,
        /// The configuration of a PostgreSQL server that does not run (`config_file`), absolute.
        pub postgres_config: Option<PathBuf>,
        /// Whether no programs may be run (versions of tools, what disks and controllers say).
        pub without_programs: bool,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CollectStep {
        /// It reads this: `mounts`, `block devices`.
        Reads(&'static str),
        /// It waits for programs, and for other threads that read this. Whoever hears it has time.
        Waits(&'static str),
    }

    impl CollectStep {
        /// What is read, for people.
        pub fn name(self) -> &'static str {
            match self {
                Self::Reads(name) | Self::Waits(name) => name,
            }
        }
    }

    /// Reads one area of the machine.
    #[derive(Clone, Copy)]
    pub struct Collector {
        /// What is being read, for progress: `mounts`, `block devices`.
        pub id: &'static str,
        pub run: fn(&dyn Host, &Request, &mut FactSet),
    }

    /// Describes these subjects, on all processors where there are many. `describe` may put facts
    /// only about its own subjects; of others it may look up what they stand on, and the host.
    pub fn describe_all<T: Sync>(
        things: &[T],
        subject: impl Fn(&T) -> &Subject + Sync,
        facts: &mut FactSet,
        describe: impl Fn(&[T], &mut FactSet) + Sync,
    ) {
        let known = &*facts;
        let parts = workers::in_pieces(things, |piece| {
            let mut part = known.part(piece.iter().map(&subject));
            describe(piece, &mut part);
            (piece, part)
        });
        for (piece, part) in parts {
            facts.put_back(part, piece.iter().map(&subject));
        }
    }
}
mod refusal {
    //! What was not answered, as a reading: a question that the host refused, and a program that
    //! may not be run.

    use crate::facts::{Reading, Remedy, Why};
    use crate::host::{Miss, MissKind};

    /// A refusal as a reading. `what` says what was asked, such as a path.
    pub fn refused<T>(miss: &Miss, what: &str) -> Reading<T> {
        let why = match miss.kind {
            MissKind::Absent => Why::Absent,
            MissKind::Denied => Why::Denied,
            MissKind::TimedOut => Why::TimedOut,
            MissKind::NotCollected => Why::NotCollected,
            MissKind::Failed => Why::Malformed,
        };
        let detail = if miss.detail.is_empty() {
            what.to_owned()
        } else {
            format!("{what}: {}", miss.detail)
        };
        let reading = Reading::unknown(why, detail);
        if why == Why::Denied {
            reading.or_try(Remedy::RunAsRoot)
        } else {
            reading
        }
    }

    /// The reading of a fact that only a program can tell, in a run without programs.
    pub fn not_run<T>() -> Reading<T> {
        Reading::unknown(Why::NotCollected, "this run starts no programs")
    }
}
mod tool_version;
mod attribute {
    //! Attribute files of sysfs and procfs as readings: one value per file, with the file as its
    //! source.
    //!
    //! This module knows the shapes of a value (text, number, flag, one of a few words) and nothing
    //! of its meaning. An empty attribute is malformed, unless it may be blank; so is one that is
    //! cut or no text ([`Host::attribute`]).

    use std::path::Path;

    use super::refusal::refused;
    use crate::facts::{Choice, Reading, Source, Why};
    use crate::host::{Host, path_bytes};
    use crate::text::safe;

    /// The text of an attribute, trimmed and display-safe.
    pub fn text(host: &dyn Host, path: &Path) -> Reading<String> {
        let shown = safe(path_bytes(path));
        match host.attribute(path) {
            Ok(text) if text.is_empty() => {
                Reading::unknown(Why::Malformed, format!("{shown} is empty"))
            }
            Ok(text) => Reading::known(text, Source::file(shown)),
            Err(miss) => refused(&miss, &shown),
        }
    }

    /// The same of an attribute that may hold nothing but blanks: a device of SCSI may leave its
    /// vendor blank.
    pub fn blank(host: &dyn Host, path: &Path) -> Reading<String> {
        let shown = safe(path_bytes(path));
        match host.attribute(path) {
            Ok(text) => Reading::known(text, Source::file(shown)),
            Err(miss) => refused(&miss, &shown),
        }
    }

    /// The text of an attribute that every device of this kind has: where it is missing, the device
    /// was not read whole.
    pub fn certain(reading: Reading<String>) -> Reading<String> {
        match reading {
            Reading::Unknown {
                why: Why::Absent,
                detail,
                ..
            } => Reading::unknown(
                Why::Malformed,
                format!("{detail}; every device of this kind has it"),
            ),
            reading => reading,
        }
    }

    /// A whole decimal number; anything else is malformed.
    pub fn number(host: &dyn Host, path: &Path) -> Reading<u64> {
        text(host, path).and_then(|text| text.parse().map_err(|_| format!("`{text}` is no number")))
    }

    /// A flag, `0` or `1`; anything else is malformed.
    pub fn flag(host: &dyn Host, path: &Path) -> Reading<bool> {
        text(host, path).and_then(|text| match text.as_str() {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(format!("`{text}` is neither 0 nor 1")),
        })
    }

    /// One word of a choice; any other word is malformed.
    pub fn choice<T: Choice>(host: &dyn Host, path: &Path) -> Reading<T> {
        text(host, path).and_then(|text| T::read(&text))
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;
        use crate::facts::catalog::device::WriteCache;
        use crate::host::Question;
        use crate::testing::Fake;

        proptest! {
            /// An attribute is what it says, or unknown; whatever is around it, and whatever it
            /// holds.
            #[test]
            fn any_attribute_is_a_value_or_unknown(bytes: Vec<u8>, count: u64, blank in "[ \t]{0,3}") {
                let path = Path::new("/sys/x");
                let with = |text: &[u8]| Fake::default().answer(Question::Read(path.into()), text);
                let noise = with(&bytes);
                let shown = text(&noise, path);
                let line = bytes.strip_suffix(b"\n").unwrap_or_default();
                let printed = str::from_utf8(line).is_ok_and(|line| !line.chars().any(|c| c.is_control() && c != '\t'));
                prop_assert_eq!(shown.is_known(), printed && !line.trim_ascii().is_empty());
                prop_assert!(shown.value().is_none_or(|text| !text.chars().any(crate::text::is_treacherous)));
                prop_assert_eq!(choice::<WriteCache>(&noise, path).is_known(), shown.value().is_some_and(|word| WriteCache::from_word(word).is_some()));
                let plain = with(format!("{blank}{count}{blank}\n").as_bytes());
                prop_assert_eq!(number(&plain, path).value().copied(), Some(count));
                prop_assert_eq!(flag(&plain, path).value().copied(), match count { 0 => Some(false), 1 => Some(true), _ => None });
            }
        }
    }
}
pub mod mountinfo;
mod sight;
mod lookup {
    //! What earlier collectors found, by the names that files and tools use: the mount over a path,
    //! the device of a node.
    //!
    //! Looking up reads a link at most, and puts no fact. Who stands on whom is left to
    //! [`super::stack`].

    use std::collections::BTreeMap;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use super::sight;
    use crate::facts::catalog::mount;
    use crate::facts::{FactSet, Subject};
    use crate::host::{Host, Stat, path_bytes};
    use crate::text::{raw, safe};

    /// The mounts in sight by mount point, for looking up many paths.
    pub struct Points(BTreeMap<Vec<u8>, Subject>);

    impl Points {
        /// The mounts in sight in a set of facts.
        pub fn from_facts(facts: &FactSet) -> Self {
            let point =
                |subject: Subject| Some((raw(&facts.value(&subject, &mount::POINT)?), subject));
            Self(
                facts
                    .which(&mount::IN_SIGHT, |seen| *seen)
                    .into_iter()
                    .filter_map(point)
                    .collect(),
            )
        }

        /// The mount that a path lies on, by the longest mount point that holds it. The path is
        /// absolute, with its links followed ([`Host::real_path`]); it need not exist.
        pub fn over(&self, path: &[u8]) -> Option<&Subject> {
            let path = if path.len() > 1 {
                path.strip_suffix(b"/").unwrap_or(path)
            } else {
                path
            };
            self.0.get(path).or_else(|| {
                let above: Vec<&[u8]> = sight::ancestors(path).collect();
                above
                    .into_iter()
                    .rev()
                    .find_map(|directory| self.0.get(directory))
            })
        }

        /// The mount that a file with data lies on. A path in /dev that is no known device is no
        /// file: the device is gone, and what is written to it is not kept in /dev. Only a mount
        /// below that, such as /dev/shm, holds files.
        pub fn over_file(&self, path: &[u8]) -> Option<&Subject> {
            self.over(path)
                .filter(|mount| !path.starts_with(b"/dev/") || mount.name().starts_with("/dev/"))
        }
    }

    /// The mount in sight that one path lies on: see [`Points::over`].
    pub fn mount_of(facts: &FactSet, path: &[u8]) -> Option<Subject> {
        Points::from_facts(facts).over(path).cloned()
    }

    /// Why a file cannot lie on a mount that its path names: the kernel says that it is on another
    /// device, so the table was not read whole, or the path is not the file's. A file of btrfs has
    /// a number of its subvolume alone (fs/btrfs/inode.c, `btrfs_getattr`).
    pub fn misplaced(facts: &FactSet, mount: &Subject, seen: Stat) -> Option<String> {
        let devno = facts.value(mount, &mount::DEVNO)?;
        let found = format!("{}:{}", seen.major, seen.minor);
        let is_anonymous = seen.major == 0
            && facts
                .value(mount, &mount::FSTYPE)
                .is_some_and(|fstype| fstype == "btrfs");
        (found != devno && !is_anonymous).then(|| {
            format!("it lies on device {found}, and {mount}, which its path names, is {devno}")
        })
    }

    /// The device with the numbers of this node.
    pub fn device_of_node(host: &dyn Host, node: Stat, facts: &FactSet) -> Option<Subject> {
        let link = format!("/sys/dev/block/{}:{}", node.node_major, node.node_minor);
        let link = host.link(Path::new(&link)).ok()?;
        // sysfs writes a slash in a device's name as an exclamation mark; the subject is the name
        // in sysfs.
        let subject = Subject::device(safe(path_bytes(Path::new(link.file_name()?))));
        facts.contains(&subject).then_some(subject)
    }

    /// The device whose node this path is, links followed where the name alone does not tell.
    pub fn device_at(host: &dyn Host, path: &[u8], facts: &FactSet) -> Option<Subject> {
        let named = |path: &[u8]| {
            let name: Vec<u8> = path
                .strip_prefix(b"/dev/")?
                .iter()
                .map(|b| if *b == b'/' { b'!' } else { *b })
                .collect();
            Some(Subject::device(safe(&name))).filter(|subject| facts.contains(subject))
        };
        if !path.starts_with(b"/dev/") {
            return None;
        }
        named(path).or_else(|| {
            named(path_bytes(
                &host.real_path(Path::new(OsStr::from_bytes(path))).ok()?,
            ))
        })
    }
}
mod databases;
mod filesystems;
mod stack;
#[cfg(test)]
mod states;
mod storage;
mod system;
mod targets;
#[cfg(test)]
mod testing;

pub use self::collector::{CollectStep, Request};
pub use self::databases::unusable;
pub use self::system::kernel::vendor_of;
pub use self::targets::{ask_of_all, mistake};

use self::collector::Collector;
use self::databases::wal_room;
use self::filesystems::{barrier, bcachefs, btrfs, ext4, mounts, stripe, xfs, zfs};
use self::storage::{block, content, controller, drbd, drive, mappings, swap, trim};
use self::system::tools::{self, ToolNeed};
use self::system::{boot, kernel, os};
use crate::facts::FactSet;
use crate::facts::note::RunNote;
use crate::host::{Host, RememberingHost};

/// Collectors of the machine and its storage, in the order in which they run.
const STORAGE: &[Collector] = &[
    kernel::COLLECTOR,
    mounts::COLLECTOR,
    os::COLLECTOR,
    block::device::COLLECTOR,
    mappings::COLLECTOR,
    drbd::COLLECTOR,
    stack::COLLECTOR,
    zfs::COLLECTOR,
    btrfs::COLLECTOR,
    bcachefs::COLLECTOR,
    ext4::COLLECTOR,
    xfs::COLLECTOR,
    stripe::COLLECTOR,
    barrier::COLLECTOR,
    swap::COLLECTOR,
    content::COLLECTOR,
    controller::COLLECTOR,
    drive::COLLECTOR,
];

/// Collectors of the next boot, which need storage. They read units, as the search for database
/// servers does.
const NEXT_BOOT: &[Collector] = &[boot::COLLECTOR, trim::COLLECTOR];

/// Collectors that need both storage and database servers.
const UPON_BOTH: &[Collector] = &[targets::COLLECTOR, wal_room::COLLECTOR];

/// Runs all collectors; `progress` hears of each before it runs and may look at what is known so
/// far.
pub fn run_all(
    host: &dyn Host,
    request: &Request,
    progress: &mut dyn FnMut(CollectStep, &FactSet),
) -> FactSet {
    run_upon(FactSet::default(), host, request, progress)
}

/// The same on top of assumed facts, so that later collectors find those where they look.
pub fn run_upon(
    mut facts: FactSet,
    host: &dyn Host,
    request: &Request,
    progress: &mut dyn FnMut(CollectStep, &FactSet),
) -> FactSet {
    // Of these few questions several lead to one answer; storage asks too many to remember them.
    let once = RememberingHost::new(host);
    let storage = || {
        run_in_turn(STORAGE, host, request, &mut facts, progress);
        progress(CollectStep::Reads(tools::ID), &facts);
        let tools = ToolNeed::of(&facts);
        let next_boot = || {
            run_in_turn(NEXT_BOOT, &once, request, &mut facts, progress);
            progress(CollectStep::Waits(databases::ID), &facts);
        };
        let ((), versions) = workers::beside(next_boot, || tools.look(host, request));
        facts.merge(versions);
    };
    let ((), found) = workers::beside(storage, || databases::look(&once, request));
    facts.merge(found);
    run_in_turn(UPON_BOTH, host, request, &mut facts, progress);
    for sentence in host.notes() {
        facts.warn(RunNote::Answers { sentence });
    }
    facts
}

fn run_in_turn(
    collectors: &[Collector],
    host: &dyn Host,
    request: &Request,
    facts: &mut FactSet,
    progress: &mut dyn FnMut(CollectStep, &FactSet),
) {
    for collector in collectors {
        progress(CollectStep::Reads(collector.id), facts);
        (collector.run)(host, request, facts);
    }
}
