//! The targets of a run without a requested one: directories of database servers, data file
//! systems, blank devices. Network and FUSE file systems are left alone unless a cluster is on one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::directory_roles::ServerDirectories;
use super::request;
use super::{ProspectiveTarget, file_system_identity};
use crate::facts::catalog::target::TargetKind;
use crate::facts::catalog::{device, mount};
use crate::facts::{FactSet, Key, Reading, Scope, Source, Subject};
use crate::host::{Host, HostError, Stat, path_from_bytes};
use crate::parallel;
use crate::text::{decode_display_safe, display_path};

const NEVER_FOR_DATA: [&str; 10] = [
    "squashfs", "iso9660", "udf", "vfat", "exfat", "msdos", "ntfs", "ntfs3", "erofs", "cramfs",
];

/// Mount points of the operating system and of container engines. Mounts below them are left out
/// too.
const SYSTEM_MOUNT_POINTS: [&str; 17] = [
    "/boot",
    "/efi",
    "/usr",
    "/dev",
    "/proc",
    "/sys",
    "/run",
    "/etc",
    "/snap",
    "/var/cache",
    "/var/log",
    "/var/snap",
    "/var/lib/containerd",
    "/var/lib/containers",
    "/var/lib/docker",
    "/var/lib/kubelet",
    "/var/lib/snapd",
];

/// Mount points that are never targets. Mounts below them can be, because somebody mounted those on
/// purpose.
const TEMPORARY_MOUNT_POINTS: [&str; 2] = ["/tmp", "/var/tmp"];

pub fn discover_targets(
    host: &dyn Host,
    homes: &[ServerDirectories],
    facts: &mut FactSet,
) -> Vec<ProspectiveTarget> {
    let mut places: Vec<ProspectiveTarget> = Vec::new();
    for spot in homes
        .iter()
        .flat_map(ServerDirectories::first_directory_per_file_system)
    {
        places.extend(request::target_at_path(host, &spot.path, facts));
    }
    let used: BTreeSet<Subject> = places
        .iter()
        .filter_map(|place| Some(file_system_identity(facts, place.base.as_ref()?)))
        .collect();
    places.extend(data_mount_targets_without_server(host, facts, &used));
    places.extend(free_device_targets(facts));
    if places.is_empty() {
        places.extend(request::target_at_path(host, Path::new("/"), facts));
    }
    let mut seen = BTreeSet::new();
    places.retain(|place| seen.insert(place.subject()));
    places
}

fn path_from_fact(facts: &FactSet, subject: &Subject, key: &Key<String>) -> Option<PathBuf> {
    facts
        .value(subject, key)
        .map(|text| path_from_bytes(decode_display_safe(&text)))
}

struct MountCandidate<'f> {
    mount: &'f Subject,
    file_system: Subject,
    point: PathBuf,
    /// True if only part of the file system is mounted, as by a bind mount.
    is_partial: bool,
    /// The answer of stat(2) for the mount point; `None` for a mount that cannot be a target.
    stat: Option<Result<Stat, HostError>>,
}

impl MountCandidate<'_> {
    /// Complete file systems precede partial ones, then short paths precede long ones.
    fn sort_key(&self) -> impl Ord + '_ {
        (
            self.is_partial,
            self.point.as_os_str().len(),
            &self.point,
            self.mount,
        )
    }
}

fn data_mount_targets_without_server(
    host: &dyn Host,
    facts: &FactSet,
    used: &BTreeSet<Subject>,
) -> Vec<ProspectiveTarget> {
    let mounts: Vec<&Subject> = facts.subjects_of_scope(Scope::Mount).collect();
    let candidates =
        parallel::map_items(&mounts, |mount| mount_candidate(host, facts, used, mount));
    let mut best: BTreeMap<Subject, MountCandidate<'_>> = BTreeMap::new();
    let mut system: BTreeSet<Subject> = BTreeSet::new();
    for one in candidates.into_iter().flatten() {
        // The root's file system is never a target, whatever other mount points it has.
        if one.point == Path::new("/") {
            system.insert(one.file_system);
        } else if one.stat.is_some()
            && best
                .get(&one.file_system)
                .is_none_or(|known| one.sort_key() < known.sort_key())
        {
            best.insert(one.file_system.clone(), one);
        }
    }
    let best = best
        .into_values()
        .filter(|one| !system.contains(&one.file_system));
    best.filter_map(|one| {
        Some(match one.stat? {
            Err(miss) => request::unreadable_target(facts, one.point, &miss),
            Ok(_) => ProspectiveTarget {
                kind: Reading::known(
                    TargetKind::Directory,
                    Source::from_system_call(format!("stat {}", display_path(&one.point))),
                ),
                existing: Some(one.point.clone()),
                base: Some(one.mount.clone()),
                io_error: false,
                path: one.point,
            },
        })
    })
    .collect()
}

fn mount_candidate<'f>(
    host: &dyn Host,
    facts: &FactSet,
    used: &BTreeSet<Subject>,
    mount: &'f Subject,
) -> Option<MountCandidate<'f>> {
    let of = file_system_identity(facts, mount);
    let point = path_from_fact(facts, mount, &mount::POINT)?;
    let wanted = point != Path::new("/")
        && !used.contains(&of)
        && may_hold_data(facts, mount, &point)
        && facts.value(mount, &mount::IN_SIGHT) == Some(true);
    let seen = wanted.then(|| host.stat(&point)).filter(|seen| match seen {
        Ok(stat) => stat.is_dir(),
        // A mount point with an I/O error holds data that can no longer be read, so it is reported.
        Err(miss) => miss.is_eio(),
    });
    let is_partial = facts
        .value(mount, &mount::ROOT)
        .is_none_or(|root| root != "/");
    Some(MountCandidate {
        mount,
        file_system: of,
        point,
        is_partial,
        stat: seen,
    })
}

fn may_hold_data(facts: &FactSet, subject: &Subject, point: &Path) -> bool {
    let class = facts.value(subject, &mount::CLASS);
    let fstype = facts.value(subject, &mount::FSTYPE).unwrap_or_default();
    class.is_some_and(|class| class.is_block() || class.is_zfs())
        && !NEVER_FOR_DATA.contains(&fstype.as_str())
        && facts.value(subject, &mount::READ_ONLY) != Some(true)
        && !SYSTEM_MOUNT_POINTS
            .iter()
            .any(|system| point.starts_with(system))
        && !TEMPORARY_MOUNT_POINTS
            .iter()
            .any(|passing| point == Path::new(passing))
}

fn free_device_targets(facts: &FactSet) -> Vec<ProspectiveTarget> {
    let place = |subject: Subject| {
        if facts.value(&subject, &device::READ_ONLY) == Some(true) {
            return None;
        }
        Some(ProspectiveTarget {
            path: path_from_fact(facts, &subject, &device::PATH)?,
            kind: facts
                .get(&subject, &device::CONTENT)
                .map(|_| TargetKind::Device),
            existing: None,
            base: Some(subject),
            io_error: false,
        })
    };
    facts
        .subjects_where(&device::CONTENT, |content| content.allows_new_filesystem())
        .into_iter()
        .filter_map(place)
        .collect()
}
