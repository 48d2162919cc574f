//! The targets of advice: the directory or device that was asked for, or everything found that a
//! database uses or could use.
//!
//! This module places each target on its mount, records which cluster uses it, and reads the
//! directory's own properties. Earlier collectors read mounts, devices and clusters. A mounted
//! device stands for its mount point, a cluster's data directory includes its WAL, and a directory
//! that does not exist yet is described by its nearest existing parent.

mod prospect {
    //! Something that will be a target, and what it stands on by its path.
    //!
    //! Which places become targets is left to [`super::asked`] and [`super::found`].

    use std::path::{Path, PathBuf};

    use crate::facts::catalog::device;
    use crate::facts::catalog::target::TargetKind;
    use crate::facts::{FactSet, Reading, Scope, Subject};
    use crate::host::path_bytes;
    use crate::lookup::mount_of;
    use crate::text::safe;

    /// Something that will be a target.
    #[derive(Clone, Debug)]
    pub struct ProspectiveTarget {
        /// The real path of the directory, or the device node.
        pub path: PathBuf,
        pub kind: Reading<TargetKind>,
        /// The nearest directory that exists: the target itself unless it is to be created. `None`
        /// for a device.
        pub existing: Option<PathBuf>,
        /// The mount it lies on, or the device it is.
        pub base: Option<Subject>,
        /// Whether looking at it failed with an I/O error.
        pub io_error: bool,
    }

    impl ProspectiveTarget {
        pub fn subject(&self) -> Subject {
            Subject::target(safe(path_bytes(&self.path)))
        }
    }

    /// The mount that a real path lies on.
    pub fn mount_over(facts: &FactSet, path: &Path) -> Option<Subject> {
        mount_of(facts, path_bytes(path))
    }

    /// The file system that a mount belongs to: two mounts of one file system have the same. It is
    /// the device where there is one, since btrfs has a device number for each subvolume and a bind
    /// mount a subject for each point.
    pub fn file_system(facts: &FactSet, mount: &Subject) -> Subject {
        facts
            .resolve(mount, Scope::Device)
            .unwrap_or_else(|| mount.clone())
    }

    /// The block device with this node.
    pub fn device_of(facts: &FactSet, node: &str) -> Option<Subject> {
        facts
            .which(&device::PATH, |path| path == node)
            .into_iter()
            .next()
    }
}
mod describe;
mod mistyped {
    //! Suggestions for a target that does not exist: a neighbour in its nearest existing directory,
    //! a device, a mount point, or a server's directory.
    //!
    //! Each name is compared within its own directory, because a slip is one in a word and not in a
    //! path.

    use std::collections::BTreeSet;
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Component, Path, PathBuf};

    use crate::facts::catalog::{device, mount};
    use crate::facts::{Area, Choice, FactSet, Key};
    use crate::host::{Host, MissKind, path_bytes, path_of};
    use crate::text::suggest::distance;
    use crate::text::{raw, safe};

    /// The number of directories followed at each level: the nearest ones.
    const WIDEST: usize = 3;

    /// The nearest path that exists and that this may have been meant for.
    pub fn meant(host: &dyn Host, path: &Path, facts: &FactSet) -> Option<PathBuf> {
        let written = safe(path_bytes(path));
        let mut near: BTreeSet<(usize, String)> = BTreeSet::new();
        // A bare name of a device: `check sda` from whatever directory.
        let name = path
            .file_name()
            .map(|name| safe(name.as_bytes()))
            .unwrap_or_default();
        let known = known(facts);
        near.extend(
            known
                .iter()
                .filter(|known| known.strip_prefix("/dev/") == Some(&name))
                .map(|known| (0, known.clone())),
        );
        near.extend(
            known
                .iter()
                .filter_map(|known| is_near(&written, known).map(|far| (far, known.clone()))),
        );
        let beneath = walk(host, path)
            .into_iter()
            .map(|(far, path)| (far, safe(path_bytes(&path))));
        near.extend(beneath);
        // A mount point below a later mount stands in the kernel's table and cannot be reached.
        let is_gone = |near: &PathBuf| {
            host.stat(near)
                .is_err_and(|miss| miss.kind == MissKind::Absent)
        };
        near.into_iter()
            .map(|(_, near)| path_of(raw(&near)))
            .find(|near| !is_gone(near))
    }

    /// Devices, mount points and directories of servers.
    fn known(facts: &FactSet) -> BTreeSet<String> {
        let all = |key: &'static Key<String>| facts.known(key).into_iter().map(|(_, path)| path);
        let mappings = all(&device::DM_NAME).map(|name| format!("/dev/mapper/{name}"));
        let data = Area::ALL.iter().map(|area| area.database().data);
        [&device::PATH, &mount::POINT]
            .into_iter()
            .chain(data)
            .flat_map(all)
            .chain(mappings)
            .collect()
    }

    /// The distance of two words that are near enough to be confused: one slip in three letters, at
    /// most 4; `None` for others.
    fn is_near(one: &str, other: &str) -> Option<usize> {
        let far = distance(one, other);
        let letters = one.chars().count().max(other.chars().count());
        (far <= (letters / 3).clamp(1, 4)).then_some(far)
    }

    /// Existing paths whose names differ only by slips, each with their sum.
    fn walk(host: &dyn Host, path: &Path) -> Vec<(usize, PathBuf)> {
        let mut open = vec![(0, PathBuf::from("/"))];
        for part in path.components() {
            let Component::Normal(name) = part else {
                continue;
            };
            let word = safe(name.as_bytes());
            let mut next: Vec<(usize, PathBuf)> = Vec::new();
            for (far, place) in &open {
                let exact = place.join(name);
                if host.stat(&exact).is_ok() {
                    next.push((*far, exact));
                    continue;
                }
                let names = host.list(place).unwrap_or_default();
                let near = names
                    .iter()
                    .filter_map(|other| Some((is_near(&word, &safe(other.as_bytes()))?, other)));
                next.extend(near.map(|(slips, other)| (far + slips, place.join(other))));
            }
            next.sort();
            next.truncate(WIDEST);
            open = next;
        }
        open
    }
}
mod asked;
mod found;
mod role;
mod shared {
    //! Resources that database targets share (disks, a file system, a thin pool), and logs on
    //! slower disks than their data.
    //!
    //! Only targets that a server uses are compared, so the cost does not grow with the number of
    //! mounts. Two volumes of one thin pool run full together although each shows free space.

    use std::collections::BTreeSet;

    use super::prospect::{ProspectiveTarget, file_system};
    use crate::facts::catalog::device::{self, Medium};
    use crate::facts::catalog::target::{self, Role};
    use crate::facts::{FactSet, Reading, Scope, Source, Subject, Why};

    /// The compared properties of a target.
    struct One {
        subject: Subject,
        roles: Vec<Role>,
        clusters: BTreeSet<String>,
        file_system: Option<Subject>,
        disks: BTreeSet<Subject>,
        pools: BTreeSet<Subject>,
    }

    /// Records the resources that the targets of servers share.
    pub fn put(places: &[ProspectiveTarget], facts: &mut FactSet) {
        let all: Vec<One> = places
            .iter()
            .filter_map(|place| one(facts, place))
            .collect();
        for of in &all {
            let others = || all.iter().filter(|other| other.subject != of.subject);
            let named = |with: &dyn Fn(&One) -> bool| -> Vec<String> {
                others()
                    .filter(|other| with(other))
                    .map(|other| other.subject.name().to_owned())
                    .collect()
            };
            let same_fs =
                |other: &One| of.file_system.is_some() && of.file_system == other.file_system;
            let disks = named(&|other| !of.disks.is_disjoint(&other.disks));
            let systems = named(&same_fs);
            let pools = named(&|other| !of.pools.is_disjoint(&other.pools) && !same_fs(other));
            let source = || Source::derived(["target.roles"]);
            let unseen = || {
                Reading::unknown(
                    Why::Absent,
                    format!("a block device under {}", of.subject.name()),
                )
            };
            let known = |found: Vec<String>, seen: bool| {
                if seen {
                    Reading::known(found, source())
                } else {
                    unseen()
                }
            };
            facts.put(
                &of.subject,
                &target::SHARES_DISK,
                known(disks, !of.disks.is_empty()),
            );
            facts.put(
                &of.subject,
                &target::SHARES_FILE_SYSTEM,
                known(systems, of.file_system.is_some()),
            );
            facts.put(
                &of.subject,
                &target::SHARES_THIN_POOL,
                known(pools, !of.disks.is_empty()),
            );
            let data = others().filter(|other| {
                holds(other, Role::is_data) && !of.clusters.is_disjoint(&other.clusters)
            });
            let data: Vec<&One> = data.collect();
            if holds(of, is_log) {
                let slower = slower(facts, of, &data);
                facts.put(&of.subject, &target::SLOWER_THAN, slower);
            }
        }
    }

    fn one(facts: &FactSet, place: &ProspectiveTarget) -> Option<One> {
        let subject = place.subject();
        let clusters: BTreeSet<String> = facts
            .value(&subject, &target::CLUSTERS)?
            .into_iter()
            .collect();
        if clusters.is_empty() {
            return None;
        }
        let is_pool = |of: &&Subject| {
            facts
                .value(of, &device::DM_UUID)
                .is_some_and(|uuid| uuid.ends_with("-tpool"))
        };
        let stack = facts.stack(&subject);
        Some(One {
            roles: facts.value(&subject, &target::ROLES).unwrap_or_default(),
            clusters,
            file_system: place
                .base
                .as_ref()
                .filter(|base| base.scope() == Scope::Mount)
                .map(|base| file_system(facts, base)),
            disks: facts.disks(&subject).into_iter().collect(),
            pools: stack.iter().filter(is_pool).cloned().collect(),
            subject,
        })
    }

    fn holds(one: &One, so: fn(Role) -> bool) -> bool {
        one.roles.iter().any(|role| so(*role))
    }

    /// Whether a commit can wait for it.
    fn is_log(role: Role) -> bool {
        matches!(role, Role::Wal | Role::Redo | Role::Binlog)
    }

    /// The data of the same server that lies on flash while this log waits for platters.
    fn slower(facts: &FactSet, log: &One, data: &[&One]) -> Reading<Vec<String>> {
        let media = |one: &One| -> Option<BTreeSet<Medium>> {
            let media: Option<BTreeSet<Medium>> = one
                .disks
                .iter()
                .map(|disk| facts.value(disk, &device::MEDIUM))
                .collect();
            media.filter(|media| !media.is_empty())
        };
        let unknown = |of: &One| {
            Reading::unknown(Why::Absent, format!("the medium of {}", of.subject.name()))
        };
        let Some(own) = media(log) else {
            return unknown(log);
        };
        let mut slower = Vec::new();
        for one in data {
            let Some(theirs) = media(one) else {
                return unknown(one);
            };
            if own.iter().any(|medium| medium.turns())
                && !theirs.iter().any(|medium| medium.turns())
            {
                slower.push(one.subject.name().to_owned());
            }
        }
        Reading::known(slower, Source::derived(["device.medium"]))
    }
}

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
    asked::mistake(
        host,
        path,
        &host.stat(path),
        request.new,
        &FactSet::default(),
    )
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

/// Asks everything that any later target needs: mount points of disks, and the directories of
/// databases. A file system that other machines or processes serve is left alone, because nobody
/// named it.
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
    paths.extend(
        homes
            .iter()
            .flat_map(ServerDirectories::apart)
            .map(|spot| spot.path.clone()),
    );
    for path in paths {
        let place = asked::place(host, &path, &mut facts);
        if let Some(place) = &place {
            drop(describe::look(host, place));
        }
    }
}

#[cfg(test)]
mod tests;
