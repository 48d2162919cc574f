//! Collectors: host → facts, one file per area. A collector cannot fail; it leaves facts unknown, with a reason.
//!
//! They read through [`crate::host`] alone; judgement is left to `durability`, `validity` and `rules`. Later collectors
//! look up what earlier ones found; database servers are read concurrently with storage. An unreadable fact is put into
//! the set too, as unknown.

pub mod attribute;
mod barrier;
mod bcachefs;
mod behalf;
mod block;
mod boot;
mod btrfs;
mod conf;
mod databases;
mod ext4;
mod fstype;
mod inside;
mod kernel;
pub mod mountinfo;
pub mod mounts;
mod mysql;
mod named;
mod os;
mod postgres;
mod servers;
mod sight;
pub mod stack;
mod start;
mod stripe;
mod superblocks;
mod targets;
#[cfg(test)]
mod testing;
mod tools;
mod wal_room;
mod xfs;
mod zfs;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

pub use block::device::is_of_whole_disk;
pub use btrfs::PROFILES as BTRFS_PROFILES;
pub use databases::unusable;
pub use kernel::{kernel_named, vendor_of};
pub use targets::{ask_of_all, mistake};

use crate::facts::catalog::mount::MountClass;
use crate::facts::note::{RunNote, StorageNote};
use crate::facts::{FactSet, Reading, Remedy, Subject, Why};
use crate::host::{Host, Miss, MissKind};
use crate::workers;

/// The class of a file system by its type alone.
pub fn class_of(fstype: &str) -> MountClass {
    fstype::class(fstype, 0)
}

/// The request of a run.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The directory, mount point or block device asked for; `None` for everything found.
    pub target: Option<PathBuf>,
    /// Whether the target may be a directory still to be created; otherwise a missing directory is a mistake.
    pub new: bool,
    /// The option file of a MySQL or MariaDB server that does not run (`--defaults-file`), absolute.
    pub mysql_defaults: Option<PathBuf>,
    /// The configuration of a PostgreSQL server that does not run (`config_file`), absolute.
    pub postgres_config: Option<PathBuf>,
    /// Whether no programs may be run (versions of tools, what disks and controllers say).
    pub without_programs: bool,
}

/// Reads one area of the machine.
#[derive(Clone, Copy)]
pub struct Collector {
    /// What is being read, for progress: `mounts`, `block devices`.
    pub id: &'static str,
    /// Reads it.
    pub run: fn(&dyn Host, &Request, &mut FactSet),
}

/// Collectors of the machine and its storage, in the order in which they run.
const STORAGE: &[Collector] = &[
    kernel::COLLECTOR,
    mounts::COLLECTOR,
    os::COLLECTOR,
    block::device::COLLECTOR,
    block::mappings::COLLECTOR,
    stack::COLLECTOR,
    zfs::COLLECTOR,
    btrfs::COLLECTOR,
    bcachefs::COLLECTOR,
    ext4::COLLECTOR,
    xfs::COLLECTOR,
    stripe::COLLECTOR,
    barrier::COLLECTOR,
    block::swap::COLLECTOR,
    block::content::COLLECTOR,
    block::controller::COLLECTOR,
    block::drive::COLLECTOR,
    tools::COLLECTOR,
];

/// Collectors that need both storage and database servers.
const UPON_BOTH: &[Collector] =
    &[boot::COLLECTOR, block::trim::COLLECTOR, targets::COLLECTOR, wal_room::COLLECTOR];

/// Runs all collectors; `progress` hears the name of each before it runs and may look at what is known so far.
pub fn run_all(
    host: &dyn Host,
    request: &Request,
    progress: &mut dyn FnMut(&'static str, &FactSet),
) -> FactSet {
    run_upon(FactSet::default(), host, request, progress)
}

/// The same on top of assumed facts, so that later collectors find those where they look.
pub fn run_upon(
    mut facts: FactSet,
    host: &dyn Host,
    request: &Request,
    progress: &mut dyn FnMut(&'static str, &FactSet),
) -> FactSet {
    let storage = || {
        run_in_turn(STORAGE, host, request, &mut facts, progress);
        progress(databases::ID, &facts);
    };
    let ((), found) = workers::beside(storage, || databases::look(host, request));
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
    progress: &mut dyn FnMut(&'static str, &FactSet),
) {
    for collector in collectors {
        progress(collector.id, facts);
        (collector.run)(host, request, facts);
    }
}

/// Describes these subjects, on all processors where there are many. `describe` may put facts only about its own
/// subjects; of others it may look up what they stand on, and the host.
fn describe_all<T: Sync>(
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

/// The reading for file systems of a type that spans devices, where their members are unknown.
fn no_members(directory: &'static str, miss: &Miss, fstype: &'static str) -> StorageNote {
    StorageNote::NoMembers { directory, reason: miss.to_string(), fstype }
}

/// A refusal as a reading. `what` says what was asked, such as a path.
pub fn refused<T>(miss: &Miss, what: &str) -> Reading<T> {
    let why = match miss.kind {
        MissKind::Absent => Why::Absent,
        MissKind::Denied => Why::Denied,
        MissKind::TimedOut => Why::TimedOut,
        MissKind::NotCollected => Why::NotCollected,
        MissKind::Failed => Why::Malformed,
    };
    let detail = if miss.detail.is_empty() { what.to_owned() } else { format!("{what}: {}", miss.detail) };
    let reading = Reading::unknown(why, detail);
    if why == Why::Denied { reading.or_try(Remedy::RunAsRoot) } else { reading }
}

/// A path from bytes.
fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}
