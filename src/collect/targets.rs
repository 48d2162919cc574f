//! The targets of advice: the directory or device that was asked for, or everything found that a database uses or could
//! use.
//!
//! This module places each target on its mount, records which cluster uses it, and reads the directory's own
//! properties. Earlier collectors read mounts, devices and clusters. A mounted device stands for its mount point, a
//! cluster's data directory includes its WAL, and a directory that does not exist yet is described by its nearest
//! existing parent.

mod prospect;
mod describe;
mod mistyped;
mod role;
mod asked;
mod found;
mod shared;

use std::collections::BTreeSet;
use std::path::PathBuf;

use self::role::ServerDirectories;
use super::collector::{Collector, Request};
use crate::facts::catalog::mount;
use crate::facts::note::TargetNote;
use crate::facts::{FactSet, Scope, Subject};
use crate::host::{Host, path_of};
use crate::text::raw;
use crate::workers;

pub const COLLECTOR: Collector = Collector { id: "targets", run };

/// The error in the target that was asked for, as far as it shows before anything is read.
pub fn mistake(host: &dyn Host, request: &Request) -> Option<TargetNote> {
    let path = request.target.as_deref()?;
    asked::mistake(host, path, &host.stat(path), request.new, &FactSet::default())
}

fn run(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let homes = role::homes(facts);
    let places = match &request.target {
        Some(path) => asked::places(host, path, request.new, &homes, facts),
        None => found::places(host, &homes, facts),
    };
    let swapping = describe::swapping_leaves(facts);
    let looks = workers::each(&places, |place| describe::look(host, place));
    for (place, look) in places.iter().zip(looks) {
        let wal = role::put(place, &homes, facts);
        describe::put(host, place, look, &wal, swapping.as_ref(), facts);
    }
    shared::put(&places, facts);
}

/// Asks everything that any later target needs: mount points of disks, and the directories of databases. A file system
/// that other machines or processes serve is left alone, because nobody named it.
pub fn ask_of_all(host: &dyn Host, facts: &FactSet) {
    let mut facts = facts.clone();
    let local = |mount: &&Subject| {
        let class = facts.value(mount, &mount::CLASS);
        class.is_some_and(|class| class.is_block() || class.is_zfs())
            && facts.value(mount, &mount::IN_SIGHT) == Some(true)
    };
    let points = facts.subjects(Scope::Mount).filter(local);
    let points = points.filter_map(|mount| facts.value(mount, &mount::POINT));
    let mut paths: BTreeSet<PathBuf> = points.map(|point| path_of(raw(&point))).collect();
    let homes = role::homes(&mut facts);
    paths.extend(homes.iter().flat_map(ServerDirectories::apart).map(|spot| spot.path.clone()));
    for path in paths {
        let place = asked::place(host, &path, &mut facts);
        if let Some(place) = &place {
            drop(describe::look(host, place));
        }
    }
}

#[cfg(test)]
mod tests;
