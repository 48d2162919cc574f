//! Collectors: host → facts, a room for each kind of thing. A collector cannot fail; it leaves facts unknown, with a
//! reason.
//!
//! The modules stand from the bottom up: what all collectors share, then the rooms of storage, file systems, system and
//! databases, with the stack and the targets that join them. The list of collectors is here, and nobody below knows it.
//!
//! They read through [`crate::host`] alone; judgement is left to `durability`, `validity` and `rules`. Later collectors
//! look up what earlier ones found; database servers are read concurrently with storage. An unreadable fact is put into
//! the set too, as unknown.

mod collector;
mod refusal;
mod tool_version;
mod attribute;
pub mod mountinfo;
mod sight;
mod lookup;
mod storage;
mod filesystems;
mod stack;
mod system;
mod databases;
mod targets;
#[cfg(test)]
mod states;
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
use crate::workers;

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

/// Collectors of the next boot, which need storage. They read units, as the search for database servers does.
const NEXT_BOOT: &[Collector] = &[boot::COLLECTOR, trim::COLLECTOR];

/// Collectors that need both storage and database servers.
const UPON_BOTH: &[Collector] = &[targets::COLLECTOR, wal_room::COLLECTOR];

/// Runs all collectors; `progress` hears of each before it runs and may look at what is known so far.
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
