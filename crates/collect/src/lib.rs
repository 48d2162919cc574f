//! Collectors, which read the host and record facts, one module for each kind of object. A
//! collector cannot fail; a fact that it could not read is unknown, with a reason.
//!
//! Collectors read only through [`crate::host`]. Later collectors use the facts of earlier ones;
//! database servers are read concurrently with storage. The modules `storage_stack` and `targets`
//! combine the facts of other collectors.

use walwise_model::{
    escape, facts, limits, parallel, scsi_drivers, servers, ternary, text, version,
};
use walwise_sys::host;

mod collector {
    use std::path::PathBuf;

    use crate::facts::{FactSet, Subject};
    use crate::host::Host;
    use crate::parallel;

    #[derive(Clone, Debug, Default)]
    pub struct Request {
        /// The requested directory, mount point or block device; `None` means everything that is
        /// found.
        pub target: Option<PathBuf>,
        /// True if the target may still have to be created; otherwise a missing directory is an
        /// error.
        pub allow_missing: bool,
        /// The absolute path of the option file (`--defaults-file`) of a stopped MySQL or MariaDB
        /// server.
        pub mysql_defaults: Option<PathBuf>,
        /// The absolute path of the configuration (`config_file`) of a stopped PostgreSQL server.
        pub postgres_config: Option<PathBuf>,
        /// True if no program may run, so that tool versions and answers of disks and controllers
        /// are missing.
        pub without_programs: bool,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CollectStep {
        Reads(&'static str),
        /// The collectors wait for programs or other threads, so the caller has time to draw the
        /// screen.
        Waits(&'static str),
    }

    impl CollectStep {
        pub fn name(self) -> &'static str {
            match self {
                Self::Reads(name) | Self::Waits(name) => name,
            }
        }
    }

    pub type CollectFn = fn(&dyn Host, &Request, &mut FactSet);

    /// `describe` gets the facts of the host, of the given subjects and of everything directly
    /// below them. It may record facts of the given subjects only.
    pub fn insert_subject_facts_in_parallel<T: Sync>(
        things: &[T],
        subject: impl Fn(&T) -> &Subject + Sync,
        facts: &mut FactSet,
        describe: impl Fn(&[T], &mut FactSet) + Sync,
    ) {
        let known = &*facts;
        let parts = parallel::map_chunks(things, |piece| {
            let mut part = known.subset_with_layers_below(piece.iter().map(&subject));
            describe(piece, &mut part);
            (piece, part)
        });
        for (piece, part) in parts {
            facts.merge_subset(part, piece.iter().map(&subject));
        }
    }
}
mod host_readings {
    use crate::collector::Request;
    use crate::escape::shell;
    use crate::facts::{Reading, Remedy, Source, UnknownReason};
    use crate::host::{Host, HostError, HostErrorKind, Tool};

    /// `what` names the object of the query, such as a path.
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

    pub fn file_reading<T>(answer: Result<T, HostError>, path: &str) -> Reading<T> {
        result_reading(answer, path, Source::from_file(path))
    }

    /// `call` names the system call with its argument, such as `statfs /srv`.
    pub fn syscall_reading<T>(answer: Result<T, HostError>, call: &str) -> Reading<T> {
        result_reading(answer, call, Source::from_system_call(call))
    }

    /// If the program is missing, the remedy is to install its package.
    pub fn tool_reading<T>(answer: Result<T, HostError>, tool: Tool, argv: &str) -> Reading<T> {
        let is_missing = answer.as_ref().is_err_and(HostError::is_absent);
        let source = Source::Command {
            argv: argv.to_owned(),
        };
        let reading = result_reading(answer, argv, source);
        if is_missing {
            reading.with_remedy(Remedy::Install(tool.package().to_owned()))
        } else {
            reading
        }
    }

    fn result_reading<T>(answer: Result<T, HostError>, what: &str, source: Source) -> Reading<T> {
        match answer {
            Ok(value) => Reading::known(value, source),
            Err(miss) => error_reading(&miss, what),
        }
    }

    /// The output of a program, unless no program may run.
    pub fn query_tool(
        host: &dyn Host,
        request: &Request,
        tool: Tool,
        arguments: &[&str],
    ) -> Reading<Vec<u8>> {
        if request.without_programs {
            return programs_disabled_reading();
        }
        let argv = shell::format_command_line(&tool.name(), arguments);
        tool_reading(host.run_tool(tool, arguments), tool, &argv)
    }

    pub fn programs_disabled_reading<T>() -> Reading<T> {
        Reading::unknown(
            UnknownReason::NotCollected,
            "--no-programs is set, so walwise ran no program",
        )
    }
}
mod tool_version;
mod attribute {
    //! Attribute files of sysfs and procfs as readings: one value per file, with the file as
    //! source.
    //!
    //! A truncated or binary attribute is malformed ([`Host::read_attribute`]); so is an empty one,
    //! except in [`read_text_or_blank`].

    use std::path::Path;

    use super::host_readings::{error_reading, file_reading};
    use crate::facts::{Choice, Reading, Source, UnknownReason, Value, ValueKind};
    use crate::host::Host;
    use crate::text::display_path;

    /// The text is trimmed and display-safe; an empty attribute is malformed.
    pub fn read_text(host: &dyn Host, path: &Path) -> Reading<String> {
        let shown = display_path(path);
        match host.read_attribute(path) {
            Ok(text) if text.is_empty() => Reading::malformed(format!("{shown} is empty")),
            Ok(text) => Reading::known(text, Source::from_file(shown)),
            Err(miss) => error_reading(&miss, &shown),
        }
    }

    /// For attributes that may be blank, such as the vendor of a SCSI device.
    pub fn read_text_or_blank(host: &dyn Host, path: &Path) -> Reading<String> {
        let shown = display_path(path);
        file_reading(host.read_attribute(path), &shown)
    }

    /// For attributes that every device of a kind has.
    pub fn malformed_if_absent(reading: Reading<String>) -> Reading<String> {
        match reading {
            Reading::Unknown {
                why: UnknownReason::Absent,
                detail,
                ..
            } => Reading::malformed(format!(
                "{detail}, even though every device of this kind has this attribute"
            )),
            reading => reading,
        }
    }

    pub fn read_number(host: &dyn Host, path: &Path) -> Reading<u64> {
        read_text(host, path).and_then(|text| {
            text.parse()
                .map_err(|_| format!("`{text}` is not a number"))
        })
    }

    /// Contents other than `0` and `1` are malformed.
    pub fn read_flag(host: &dyn Host, path: &Path) -> Reading<bool> {
        read_text(host, path).and_then(|text| match text.as_str() {
            "0" => Ok(false),
            "1" => Ok(true),
            _ => Err(format!("`{text}` is neither 0 nor 1")),
        })
    }

    /// A flag, number or text, by the kind of the fact. The fact set checks the words of a choice.
    pub fn read_value(host: &dyn Host, path: &Path, kind: ValueKind) -> Reading<Value> {
        match kind {
            ValueKind::Bool => read_flag(host, path).map(Value::Bool),
            ValueKind::Count | ValueKind::Bytes | ValueKind::Micros | ValueKind::Number => {
                read_number(host, path).map(Value::Whole)
            }
            ValueKind::Text
            | ValueKind::Choice(_)
            | ValueKind::Version
            | ValueKind::List
            | ValueKind::Choices(_) => read_text(host, path).map(Value::Text),
        }
    }

    pub fn read_choice<T: Choice>(host: &dyn Host, path: &Path) -> Reading<T> {
        read_text(host, path).and_then(|text| T::parse_word(&text))
    }

    /// The word in brackets, which is the one in use.
    pub fn bracketed_value(text: &str) -> Option<&str> {
        let (_, rest) = text.split_once('[')?;
        Some(rest.split_once(']')?.0)
    }

    #[cfg(test)]
    mod tests {
        use proptest::prelude::*;

        use super::*;
        use crate::facts::catalog::device::QueueWriteCache;
        use crate::host::Question;
        use crate::testing::FakeHost;

        proptest! {
            #[test]
            fn arbitrary_attributes_are_values_or_unknown(bytes: Vec<u8>, count: u64, blank in "[ \t]{0,3}") {
                let path = Path::new("/sys/x");
                let with = |text: &[u8]| FakeHost::default().with_answer(Question::Read(path.into()), text);
                let noise = with(&bytes);
                let shown = read_text(&noise, path);
                let line = bytes.strip_suffix(b"\n").unwrap_or_default();
                let printed = str::from_utf8(line).is_ok_and(|line| !line.chars().any(|c| c.is_control() && c != '\t'));
                prop_assert_eq!(shown.is_known(), printed && !line.trim_ascii().is_empty());
                prop_assert!(shown.value().is_none_or(|text| !text.chars().any(crate::text::is_display_unsafe)));
                prop_assert_eq!(read_choice::<QueueWriteCache>(&noise, path).is_known(), shown.value().is_some_and(|word| QueueWriteCache::from_word(word).is_some()));
                let plain = with(format!("{blank}{count}{blank}\n").as_bytes());
                prop_assert_eq!(read_number(&plain, path).value().copied(), Some(count));
                prop_assert_eq!(read_flag(&plain, path).value().copied(), match count { 0 => Some(false), 1 => Some(true), _ => None });
            }
        }
    }
}
pub mod mountinfo;
mod visibility;
mod path_lookup {
    use std::collections::BTreeMap;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use super::visibility;
    use crate::facts::catalog::mount;
    use crate::facts::{FactSet, Subject};
    use crate::host::{Host, Stat, path_bytes};
    use crate::text::{decode_display_safe, display_path, display_safe};

    pub struct VisibleMountPoints(BTreeMap<Vec<u8>, Subject>);

    impl VisibleMountPoints {
        pub fn from_facts(facts: &FactSet) -> Self {
            let point = |subject: Subject| {
                Some((
                    decode_display_safe(&facts.value(&subject, &mount::POINT)?),
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

        /// The mount with the longest mount point at or above an absolute path whose links are
        /// resolved ([`Host::real_path`]). The path need not exist.
        pub fn mount_holding_path(&self, path: &[u8]) -> Option<&Subject> {
            let path = if path.len() > 1 {
                path.strip_suffix(b"/").unwrap_or(path)
            } else {
                path
            };
            self.0.get(path).or_else(|| {
                let above: Vec<&[u8]> = visibility::ancestors_from_root(path).collect();
                above
                    .into_iter()
                    .rev()
                    .find_map(|directory| self.0.get(directory))
            })
        }

        /// The mount that holds a data file. A path in /dev counts as a file only on a mount below
        /// /dev, such as /dev/shm; any other path in /dev names a device that is missing.
        pub fn mount_holding_file(&self, path: &[u8]) -> Option<&Subject> {
            self.mount_holding_path(path)
                .filter(|mount| !path.starts_with(b"/dev/") || mount.name().starts_with("/dev/"))
        }
    }

    /// For many paths, [`VisibleMountPoints::mount_holding_path`] is faster.
    pub fn mount_of_path(facts: &FactSet, path: &[u8]) -> Option<Subject> {
        VisibleMountPoints::from_facts(facts)
            .mount_holding_path(path)
            .cloned()
    }

    /// The reason why a file cannot be on `mount`: stat(2) reports another device, so the mount
    /// table is incomplete or the path is wrong. `None` without a contradiction, and for btrfs,
    /// whose files have a device number per subvolume (`btrfs_getattr` in fs/btrfs/inode.c).
    pub fn mount_mismatch_reason(facts: &FactSet, mount: &Subject, seen: Stat) -> Option<String> {
        let devno = facts.value(mount, &mount::DEVNO)?;
        let found = format!("{}:{}", seen.major, seen.minor);
        let is_anonymous = seen.major == 0
            && facts
                .value(mount, &mount::FSTYPE)
                .is_some_and(|fstype| fstype == "btrfs");
        (found != devno && !is_anonymous).then(|| {
            format!("the path is on device {found}, but its mount {mount} is on device {devno}")
        })
    }

    pub fn device_of_node(host: &dyn Host, node: Stat, facts: &FactSet) -> Option<Subject> {
        let link = format!("/sys/dev/block/{}:{}", node.node_major, node.node_minor);
        let link = host.link_target(Path::new(&link)).ok()?;
        // sysfs writes `/` in device names as `!`, and so do the names of subjects.
        let subject = Subject::device(display_path(Path::new(link.file_name()?)));
        facts.contains_subject(&subject).then_some(subject)
    }

    /// The device of a path in /dev; links are followed only if the path's name is not a device's
    /// name.
    pub fn device_of_path(host: &dyn Host, path: &[u8], facts: &FactSet) -> Option<Subject> {
        let named = |path: &[u8]| {
            let name: Vec<u8> = path
                .strip_prefix(b"/dev/")?
                .iter()
                .map(|b| if *b == b'/' { b'!' } else { *b })
                .collect();
            Some(Subject::device(display_safe(&name)))
                .filter(|subject| facts.contains_subject(subject))
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
mod fact_readings;
mod filesystems;
#[cfg(test)]
mod state_coverage;
mod storage;
mod storage_stack;
mod system;
mod targets;
#[cfg(test)]
mod testing;
mod text_table;

pub use self::collector::{CollectStep, Request};
pub use self::databases::config_argument_error;
pub use self::system::kernel::kernel_vendor_of;
pub use self::targets::{query_everything_for_any_target, unusable_request_note};

use self::collector::CollectFn;
use self::databases::log_space;
use self::filesystems::{barrier, bcachefs, btrfs, ext4, mounts, stripe, xfs, zfs};
use self::storage::{block, content, controller, drbd, drive, mappings, swap, trim};
use self::system::tools::{self, ToolVersionQueries};
use self::system::{boot, kernel, os};
use crate::facts::FactSet;
use crate::host::{CachingHost, Host};

/// Collectors with the names of their steps. Each may use the facts of those before it.
const STORAGE: &[(&str, CollectFn)] = &[
    ("kernel", kernel::collect_facts),
    ("mounts", mounts::collect_facts),
    ("operating system", os::collect_facts),
    ("block devices", block::device::collect_facts),
    ("device-mapper targets", mappings::collect_facts),
    ("DRBD", drbd::collect_facts),
    ("storage stack", storage_stack::collect_facts),
    ("ZFS", zfs::collect_facts),
    ("btrfs", btrfs::collect_facts),
    ("bcachefs", bcachefs::collect_facts),
    ("ext4", ext4::collect_facts),
    ("xfs", xfs::collect_facts),
    ("stripes", stripe::collect_facts),
    ("barriers", barrier::collect_facts),
    ("swap", swap::collect_facts),
    ("unused devices", content::collect_facts),
    ("RAID controllers", controller::collect_facts),
    ("disks", drive::collect_facts),
];

/// Collectors that need the facts of storage. They share cached answers with the search for
/// database servers, because both read systemd units.
const NEXT_BOOT: &[(&str, CollectFn)] = &[
    ("boot mounts", boot::collect_facts),
    ("trimming", trim::collect_facts),
];

const AFTER_STORAGE_AND_SERVERS: &[(&str, CollectFn)] = &[
    ("targets", targets::collect_facts),
    ("space for logs", log_space::collect_facts),
];

/// `progress` is called before each collector, with the facts so far.
pub fn run_all_collectors(
    host: &dyn Host,
    request: &Request,
    progress: &mut dyn FnMut(CollectStep, &FactSet),
) -> FactSet {
    run_with_assumed_facts(FactSet::default(), host, request, progress)
}

/// `facts` are assumptions, which override what collectors find. Collectors use the assumed values.
pub fn run_with_assumed_facts(
    mut facts: FactSet,
    host: &dyn Host,
    request: &Request,
    progress: &mut dyn FnMut(CollectStep, &FactSet),
) -> FactSet {
    // The database collector and the collectors of the next boot make the same few queries, so
    // their answers are cached. Storage makes too many queries to cache.
    let once = CachingHost::new(host);
    let storage = || {
        run_collectors_in_turn(STORAGE, host, request, &mut facts, progress);
        progress(CollectStep::Reads(tools::ID), &facts);
        let tools = ToolVersionQueries::from_facts(&facts);
        let next_boot = || {
            run_collectors_in_turn(NEXT_BOOT, &once, request, &mut facts, progress);
            progress(CollectStep::Waits(databases::ID), &facts);
        };
        let ((), versions) =
            parallel::join_in_threads(next_boot, || tools.query_versions(host, request));
        facts.merge(versions);
    };
    let ((), found) = parallel::join_in_threads(storage, || databases::collect(&once, request));
    facts.merge(found);
    run_collectors_in_turn(
        AFTER_STORAGE_AND_SERVERS,
        host,
        request,
        &mut facts,
        progress,
    );
    for sentence in host.run_notes() {
        facts.add_note_once(sentence);
    }
    facts
}

fn run_collectors_in_turn(
    collectors: &[(&'static str, CollectFn)],
    host: &dyn Host,
    request: &Request,
    facts: &mut FactSet,
    progress: &mut dyn FnMut(CollectStep, &FactSet),
) {
    for (name, collect_facts) in collectors {
        progress(CollectStep::Reads(name), facts);
        collect_facts(host, request, facts);
    }
}
