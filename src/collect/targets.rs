//! The targets of advice: the directory or device that was asked for, or everything found that a database uses or could
//! use.
//!
//! This module places each target on its mount, records which cluster uses it, and reads the directory's own
//! properties. Earlier collectors read mounts, devices and clusters. A mounted device stands for its mount point, a
//! cluster's data directory includes its WAL, and a directory that does not exist yet is described by its nearest
//! existing parent.

mod describe;
mod mistyped;
mod role;
mod asked;
mod found;
mod shared;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use self::role::ServerDirectories;
use super::collector::{Collector, Request};
use super::lookup::mount_of;
use crate::facts::catalog::target::TargetKind;
use crate::facts::catalog::{device, mount};
use crate::facts::note::TargetNote;
use crate::facts::{FactSet, Reading, Scope, Subject};
use crate::host::{Host, path_bytes, path_of};
use crate::text::{raw, safe};
use crate::workers;

/// Reads the targets.
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

/// Something that will be a target.
#[derive(Clone, Debug)]
struct ProspectiveTarget {
    /// The real path of the directory, or the device node.
    path: PathBuf,
    kind: Reading<TargetKind>,
    /// The nearest directory that exists: the target itself unless it is to be created. `None` for a device.
    existing: Option<PathBuf>,
    /// The mount it lies on, or the device it is.
    base: Option<Subject>,
    /// Whether looking at it failed with an I/O error.
    io_error: bool,
}

impl ProspectiveTarget {
    fn subject(&self) -> Subject {
        Subject::target(safe(path_bytes(&self.path)))
    }
}

/// The mount that a real path lies on.
fn mount_over(facts: &FactSet, path: &Path) -> Option<Subject> {
    mount_of(facts, path_bytes(path))
}

/// The file system that a mount belongs to: two mounts of one file system have the same. It is the device where there is
/// one, since btrfs has a device number for each subvolume and a bind mount a subject for each point.
fn file_system(facts: &FactSet, mount: &Subject) -> Subject {
    facts.resolve(mount, Scope::Device).unwrap_or_else(|| mount.clone())
}

/// The block device with this node.
fn device_of(facts: &FactSet, node: &str) -> Option<Subject> {
    facts.which(&device::PATH, |path| path == node).into_iter().next()
}

#[cfg(test)]
mod tests;
