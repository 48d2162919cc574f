//! The durability verdict: a transaction was reported committed and the power fails; does it survive?
//!
//! Evidence of four layers (database, belief, claim, measurement) is joined along every path from the target to every
//! disk, and the worst on any path wins. Facts go in, facts and a [`Verdict`] come out; nothing is read here. Belief is
//! usually a copy of claim, so their agreement is no second proof. A measurement can only lower a verdict.
#![warn(clippy::wildcard_enum_match_arm)]

mod ask;
mod mend;
mod route;
mod hop;
mod verdict;
mod controller;
mod claim;
mod cap;
mod belief;
mod page;
mod database;
mod drilled;
mod measured;
mod redundancy;
mod flush_path;
mod join;
mod facts;
mod interlock;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use cap::{Cap, Caps};
pub use hop::{Fate, FlushHop, HopKind};
pub use mend::{Bears, Mend};
pub use verdict::{Evidence, Layer, Path, Standing, UndecidedCap, Verdict};

use crate::bounds::ROUTES;
use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::note::StorageNote;
use crate::facts::{FactSet, Scope, Subject};
use crate::workers;
use claim::Leaf;

/// Judges every target that is a directory and puts the conclusions into the facts: `device.cache` of every disk at a
/// bottom, and `target.verdict`, `.redundancy`, `.cache`, `.flush`, `.flush_suppressed_by`, `.commit_off_for`,
/// `.page_writes` with its links, and `.flush_removal_allowed`. `live` is whether the facts are of this machine; measurements of another one open no
/// interlock. `caps` are the rules that lower a verdict.
pub fn judge(facts: &mut FactSet, live: bool, caps: &Caps) -> Vec<Verdict> {
    let bottoms: BTreeSet<Subject> = {
        let disks = facts.subjects(Scope::Device).filter(|device| is_bottom(facts, device)).cloned();
        disks.chain(facts.subjects(Scope::Target).flat_map(|top| facts.leaves(top))).collect()
    };
    let bottoms: Vec<Subject> = bottoms.into_iter().collect();
    let leaves = workers::each(&bottoms, |disk| claim::leaf(facts, disk));
    let disks: BTreeMap<Subject, Leaf> = bottoms.into_iter().zip(leaves).collect();
    for (disk, leaf) in &disks {
        facts::put_disk(facts, disk, leaf);
    }

    let is_directory = |of: &&Subject| !facts.value(of, &target::KIND).is_some_and(TargetKind::is_device);
    let targets: Vec<Subject> = facts.subjects(Scope::Target).filter(is_directory).cloned().collect();
    let judged = workers::each(&targets, |of| {
        let found = join::judge(facts, of, &disks, caps);
        let below: Vec<_> =
            facts.leaves(of).into_iter().filter_map(|disk| disks.get_key_value(&disk)).collect();
        let interlock = interlock::judge(facts, of, &found, &below, live);
        (found, interlock, pages(facts, of))
    });
    let mut verdicts = Vec::new();
    for (of, (found, interlock, pages)) in targets.iter().zip(judged) {
        facts::put_target(facts, of, &found, interlock);
        facts::put_pages(facts, of, pages);
        if found.merged {
            facts.warn(StorageNote::RoutesBeyondBound { target: of.clone(), most: ROUTES });
        }
        verdicts.push(found.verdict);
    }
    verdicts
}

/// The conclusions about the pages that servers keep on a target.
fn pages(facts: &FactSet, of: &Subject) -> page::PageConclusion {
    if database::may_tear(&mut ask::Ask::new(facts), of) {
        page::conclude(facts, of, &database::clusters(facts, of))
    } else {
        page::PageConclusion::elsewhere()
    }
}

/// Whether a device is a disk at the bottom of its stack.
fn is_bottom(facts: &FactSet, device: &Subject) -> bool {
    let may_be = |kind: DeviceKind| {
        matches!(kind, DeviceKind::Disk | DeviceKind::Zram | DeviceKind::Ram | DeviceKind::Zvol)
    };
    facts.below(device).is_empty() && facts.value(device, &device::KIND).is_some_and(may_be)
}
