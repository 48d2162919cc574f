//! Collectors: they read the host and record facts, one module for each kind of thing. A collector
//! cannot fail; it leaves facts unknown, with a reason.
//!
//! Shared code is in this file; `stack` and `targets` join what the modules of storage, file
//! systems, system and databases found.
//!
//! Collectors read only through [`crate::host`]; verdicts are left to `durability`, `validity` and
//! `rules`. Later collectors use the facts of earlier ones; database servers are read concurrently
//! with storage.

use walwise_model::{bounds, drivers, escape, facts, parallel, servers, ternary, text, version};
use walwise_sys::host;

mod collector {
    //! The interface of a collector: its request, its progress steps, and how it describes many
    //! subjects in parallel.

    use std::path::PathBuf;

    use crate::facts::{FactSet, Subject};
    use crate::host::Host;
    use crate::parallel;

    #[derive(Clone, Debug, Default)]
    pub struct Request {
        /// TARGET: a directory, mount point or block device; `None` for everything found.
        pub target: Option<PathBuf>,
        /// Whether the target may be missing because it is still to be created; otherwise a missing
        /// directory is an error.
        pub allow_missing: bool,
        /// The option file of a MySQL or MariaDB server that does not run (`--defaults-file`),
        /// absolute.
        pub mysql_defaults: Option<PathBuf>,
        /// The configuration of a PostgreSQL server that does not run (`config_file`), absolute.
        pub postgres_config: Option<PathBuf>,
        /// Whether running programs is forbidden (tool versions, answers of disks and controllers).
        pub without_programs: bool,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CollectStep {
        /// What it reads, such as `mounts`.
        Reads(&'static str),
        /// It waits for programs and for other threads that read this; the caller has time to draw.
        Waits(&'static str),
    }

    impl CollectStep {
        /// For progress displays.
        pub fn name(self) -> &'static str {
            match self {
                Self::Reads(name) | Self::Waits(name) => name,
            }
        }
    }

    /// Reads one area of the machine.
    #[derive(Clone, Copy)]
    pub struct Collector {
        /// For progress displays, such as `mounts`.
        pub id: &'static str,
        pub run: fn(&dyn Host, &Request, &mut FactSet),
    }

    /// Describes many subjects in parallel. `describe` may record facts only about its own
    /// subjects; it may look up others and the host.
    pub fn describe_all<T: Sync>(
        things: &[T],
        subject: impl Fn(&T) -> &Subject + Sync,
        facts: &mut FactSet,
        describe: impl Fn(&[T], &mut FactSet) + Sync,
    ) {
        let known = &*facts;
        let parts = parallel::map_chunks(things, |piece| {
            let mut part = known.subset(piece.iter().map(&subject));
            describe(piece, &mut part);
            (piece, part)
        });
        for (piece, part) in parts {
            facts.merge_subset(part, piece.iter().map(&subject));
        }
    }
}
mod refusal {
    //! Unknown readings for questions that the host refused and programs that must not run.

    use crate::facts::{Reading, Remedy, UnknownReason};
    use crate::host::{HostError, HostErrorKind};

    /// A host error as an unknown reading; `what` is the object of the question, such as a path.
    pub fn error_reading<T>(miss: &HostError, what: &str) -> Reading<T> {
        let why = match miss.kind {
            HostErrorKind::Absent => UnknownReason::Absent,
            HostErrorKind::Denied => UnknownReason::Denied,
            HostErrorKind::TimedOut => UnknownReason::TimedOut,
            HostErrorKind::NotCollected => UnknownReason::NotCollected,
            HostErrorKind::Failed => UnknownReason::Malformed,
        };
        let detail = if miss.detail.is_empty() {
            what.to_owned()
        } else {
            format!("{what}: {}", miss.detail)
        };
        let reading = Reading::unknown(why, detail);
        if why == UnknownReason::Denied {
            reading.with_remedy(Remedy::RunAsRoot)
        } else {
            reading
        }
    }

    /// The reading of a fact that needs a program, in a run without programs.
    pub fn programs_disabled<T>() -> Reading<T> {
        Reading::unknown(
            UnknownReason::NotCollected,
            "programs are disabled in this run",
        )
    }
}
mod tool_version;
mod attribute {
    //! Attribute files of sysfs and procfs as readings: one value per file, with the file as
    //! source.
    //!
    //! Only the type of a value is known here (text, number, flag, choice), not its meaning. An
    //! empty attribute is malformed, unless it may be blank; so is a truncated or binary one
    //! ([`Host::attribute`]).

    use std::path::Path;

    use super::refusal::error_reading;
    use crate::facts::{Choice, Reading, Source, UnknownReason};
    use crate::host::{Host, path_bytes};
    use crate::text::display_safe;

    /// Trimmed and display-safe; an empty attribute is malformed.
    pub fn text(host: &dyn Host, path: &Path) -> Reading<String> {
        let shown = display_safe(path_bytes(path));
        match host.attribute(path) {
            Ok(text) if text.is_empty() => {
                Reading::unknown(UnknownReason::Malformed, format!("{shown} is empty"))
            }
            Ok(text) => Reading::known(text, Source::file(shown)),
            Err(miss) => error_reading(&miss, &shown),
        }
    }

    /// Like [`text`], but blank is a value: a SCSI device may leave its vendor blank.
    pub fn text_or_blank(host: &dyn Host, path: &Path) -> Reading<String> {
        let shown = display_safe(path_bytes(path));
        match host.attribute(path) {
            Ok(text) => Reading::known(text, Source::file(shown)),
            Err(miss) => error_reading(&miss, &shown),
        }
    }

    /// Turns *absent* into *malformed* for an attribute that every device of this kind has.
    pub fn required(reading: Reading<String>) -> Reading<String> {
        match reading {
            Reading::Unknown {
                why: UnknownReason::Absent,
                detail,
                ..
            } => Reading::unknown(
                UnknownReason::Malformed,
                format!("{detail}, although every device of this kind has it"),
            ),
            reading => reading,
        }
    }

    /// An unsigned decimal integer; anything else is malformed.
    pub fn number(host: &dyn Host, path: &Path) -> Reading<u64> {
        text(host, path).and_then(|text| {
            text.parse()
                .map_err(|_| format!("`{text}` is not a number"))
        })
    }

    /// `0` or `1`; anything else is malformed.
    pub fn flag(host: &dyn Host, path: &Path) -> Reading<bool> {
        text(host, path).and_then(|text| match text.as_str() {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(format!("`{text}` is neither 0 nor 1")),
        })
    }

    /// A word of `T`; any other word is malformed.
    pub fn choice<T: Choice>(host: &dyn Host, path: &Path) -> Reading<T> {
        text(host, path).and_then(|text| T::parse_word(&text))
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;
        use crate::facts::catalog::device::WriteCache;
        use crate::host::Question;
        use crate::testing::FakeHost;

        proptest! {
            /// Any attribute file gives its value or an unknown reading, whatever its bytes.
            #[test]
            fn any_attribute_is_a_value_or_unknown(bytes: Vec<u8>, count: u64, blank in "[ \t]{0,3}") {
                let path = Path::new("/sys/x");
                let with = |text: &[u8]| FakeHost::default().answer(Question::Read(path.into()), text);
                let noise = with(&bytes);
                let shown = text(&noise, path);
                let line = bytes.strip_suffix(b"\n").unwrap_or_default();
                let printed = str::from_utf8(line).is_ok_and(|line| !line.chars().any(|c| c.is_control() && c != '\t'));
                prop_assert_eq!(shown.is_known(), printed && !line.trim_ascii().is_empty());
                prop_assert!(shown.value().is_none_or(|text| !text.chars().any(crate::text::is_display_unsafe)));
                prop_assert_eq!(choice::<WriteCache>(&noise, path).is_known(), shown.value().is_some_and(|word| WriteCache::from_word(word).is_some()));
                let plain = with(format!("{blank}{count}{blank}\n").as_bytes());
                prop_assert_eq!(number(&plain, path).value().copied(), Some(count));
                prop_assert_eq!(flag(&plain, path).value().copied(), match count { 0 => Some(false), 1 => Some(true), _ => None });
            }
        }
    }
}
pub mod mountinfo;
mod visibility;
mod lookup {
    //! Lookups in the facts of earlier collectors: the mount of a path, the device of a node.
    //!
    //! A lookup follows at most one link and records nothing. The layers of devices are left to
    //! [`super::stack`].

    use std::collections::BTreeMap;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use super::visibility;
    use crate::facts::catalog::mount;
    use crate::facts::{FactSet, Subject};
    use crate::host::{Host, Stat, path_bytes};
    use crate::text::{display_safe, original_bytes};

    /// Visible mounts by mount point, for many lookups.
    pub struct MountPoints(BTreeMap<Vec<u8>, Subject>);

    impl MountPoints {
        pub fn from_facts(facts: &FactSet) -> Self {
            let point = |subject: Subject| {
                Some((
                    original_bytes(&facts.value(&subject, &mount::POINT)?),
                    subject,
                ))
            };
            Self(
                facts
                    .subjects_where(&mount::IN_SIGHT, |seen| *seen)
                    .into_iter()
                    .filter_map(point)
                    .collect(),
            )
        }

        /// The mount of an absolute path with its links resolved ([`Host::real_path`]), by the
        /// longest matching mount point; the path need not exist.
        pub fn mount_for(&self, path: &[u8]) -> Option<&Subject> {
            let path = if path.len() > 1 {
                path.strip_suffix(b"/").unwrap_or(path)
            } else {
                path
            };
            self.0.get(path).or_else(|| {
                let above: Vec<&[u8]> = visibility::ancestors(path).collect();
                above
                    .into_iter()
                    .rev()
                    .find_map(|directory| self.0.get(directory))
            })
        }

        /// The mount of a data file. A path in /dev that is not a known device counts as no file:
        /// its device is gone. Only a mount below /dev, such as /dev/shm, holds files.
        pub fn mount_for_file(&self, path: &[u8]) -> Option<&Subject> {
            self.mount_for(path)
                .filter(|mount| !path.starts_with(b"/dev/") || mount.name().starts_with("/dev/"))
        }
    }

    /// For a single path; see [`MountPoints::mount_for`].
    pub fn mount_of_path(facts: &FactSet, path: &[u8]) -> Option<Subject> {
        MountPoints::from_facts(facts).mount_for(path).cloned()
    }

    /// Why a file cannot be on the mount that its path names: stat(2) reports another device, so
    /// the table is incomplete or the path is wrong. Files of btrfs have a device number per
    /// subvolume (fs/btrfs/inode.c, `btrfs_getattr`).
    pub fn mount_mismatch(facts: &FactSet, mount: &Subject, seen: Stat) -> Option<String> {
        let devno = facts.value(mount, &mount::DEVNO)?;
        let found = format!("{}:{}", seen.major, seen.minor);
        let is_anonymous = seen.major == 0
            && facts
                .value(mount, &mount::FSTYPE)
                .is_some_and(|fstype| fstype == "btrfs");
        (found != devno && !is_anonymous).then(|| {
            format!("it is on device {found}, but {mount}, the mount of its path, is {devno}")
        })
    }

    /// By the device number of the node.
    pub fn device_of_node(host: &dyn Host, node: Stat, facts: &FactSet) -> Option<Subject> {
        let link = format!("/sys/dev/block/{}:{}", node.node_major, node.node_minor);
        let link = host.link(Path::new(&link)).ok()?;
        // sysfs writes `/` in device names as `!`; subjects use the name in sysfs.
        let subject = Subject::device(display_safe(path_bytes(Path::new(link.file_name()?))));
        facts.contains(&subject).then_some(subject)
    }

    /// The device of a node's path; links are followed only if the name is not a device's.
    pub fn device_of_path(host: &dyn Host, path: &[u8], facts: &FactSet) -> Option<Subject> {
        let named = |path: &[u8]| {
            let name: Vec<u8> = path
                .strip_prefix(b"/dev/")?
                .iter()
                .map(|b| if *b == b'/' { b'!' } else { *b })
                .collect();
            Some(Subject::device(display_safe(&name))).filter(|subject| facts.contains(subject))
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
mod state_coverage;
mod storage;
mod system;
mod targets;
#[cfg(test)]
mod testing;

pub use self::collector::{CollectStep, Request};
pub use self::databases::config_argument_error;
pub use self::system::kernel::vendor_of;
pub use self::targets::{query_all_targets, request_error};

use self::collector::Collector;
use self::databases::wal_room;
use self::filesystems::{barrier, bcachefs, btrfs, ext4, mounts, stripe, xfs, zfs};
use self::storage::{block, content, controller, drbd, drive, mappings, swap, trim};
use self::system::tools::{self, ToolSelection};
use self::system::{boot, kernel, os};
use crate::facts::FactSet;
use crate::facts::note::RunNote;
use crate::host::{CachingHost, Host};

/// In the order in which they run: each may use facts of those before it.
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

/// They need storage, and read units as the search for database servers does.
const NEXT_BOOT: &[Collector] = &[boot::COLLECTOR, trim::COLLECTOR];

/// Collectors that need both storage and database servers.
const AFTER_STORAGE_AND_SERVERS: &[Collector] = &[targets::COLLECTOR, wal_room::COLLECTOR];

/// Runs all collectors. `progress` is called before each, with the facts so far.
pub fn run_all(
    host: &dyn Host,
    request: &Request,
    progress: &mut dyn FnMut(CollectStep, &FactSet),
) -> FactSet {
    run_with_assumed(FactSet::default(), host, request, progress)
}

/// Starts from assumed facts, so that later collectors use them.
pub fn run_with_assumed(
    mut facts: FactSet,
    host: &dyn Host,
    request: &Request,
    progress: &mut dyn FnMut(CollectStep, &FactSet),
) -> FactSet {
    // Here several collectors ask the same few questions; storage asks too many to cache.
    let once = CachingHost::new(host);
    let storage = || {
        run_in_turn(STORAGE, host, request, &mut facts, progress);
        progress(CollectStep::Reads(tools::ID), &facts);
        let tools = ToolSelection::from_facts(&facts);
        let next_boot = || {
            run_in_turn(NEXT_BOOT, &once, request, &mut facts, progress);
            progress(CollectStep::Waits(databases::ID), &facts);
        };
        let ((), versions) = parallel::join(next_boot, || tools.query_versions(host, request));
        facts.merge(versions);
    };
    let ((), found) = parallel::join(storage, || databases::collect(&once, request));
    facts.merge(found);
    run_in_turn(
        AFTER_STORAGE_AND_SERVERS,
        host,
        request,
        &mut facts,
        progress,
    );
    for sentence in host.notes() {
        facts.add_note(RunNote::HostIncident { sentence });
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
