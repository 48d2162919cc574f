//! The targets of a run that asked for none: the directories of database servers, data file
//! systems, and blank devices.
//!
//! Network and FUSE file systems are not touched here unless a cluster lives on one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::asked;
use super::prospect::{ProspectiveTarget, file_system};
use super::role::ServerDirectories;
use crate::facts::catalog::target::TargetKind;
use crate::facts::catalog::{device, mount};
use crate::facts::{FactSet, Key, Reading, Scope, Source, Subject};
use crate::host::{Host, Miss, Stat, path_bytes, path_of};
use crate::text::{raw, safe};
use crate::workers;

/// File systems that never hold a database.
const NEVER: [&str; 10] = [
    "squashfs", "iso9660", "udf", "vfat", "exfat", "msdos", "ntfs", "ntfs3", "erofs", "cramfs",
];

/// Mount points of the operating system and of container engines, with everything beneath them.
const SYSTEM: [&str; 17] = [
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

/// Mount points for temporary files; a file system mounted below one was put there on purpose.
const PASSING: [&str; 2] = ["/tmp", "/var/tmp"];

/// Every place worth advising on, each once.
pub fn places(
    host: &dyn Host,
    homes: &[ServerDirectories],
    facts: &mut FactSet,
) -> Vec<ProspectiveTarget> {
    let mut places: Vec<ProspectiveTarget> = Vec::new();
    for spot in homes.iter().flat_map(ServerDirectories::apart) {
        places.extend(asked::place(host, &spot.path, facts));
    }
    let used: BTreeSet<Subject> = places
        .iter()
        .filter_map(|place| Some(file_system(facts, place.base.as_ref()?)))
        .collect();
    places.extend(data_mounts(host, facts, &used));
    places.extend(free_devices(facts));
    if places.is_empty() {
        places.extend(asked::place(host, Path::new("/"), facts));
    }
    let mut seen = BTreeSet::new();
    places.retain(|place| seen.insert(place.subject()));
    places
}

fn path(facts: &FactSet, subject: &Subject, key: &Key<String>) -> Option<PathBuf> {
    facts.value(subject, key).map(|text| path_of(raw(&text)))
}

/// A candidate for the mount that represents its file system.
struct MountCandidate<'f> {
    mount: &'f Subject,
    /// The file system, as [`file_system`] names it.
    of: Subject,
    point: PathBuf,
    /// Whether it shows only a part of the file system, as a bind mount may.
    part: bool,
    /// stat(2) of a mount point that could hold data.
    seen: Option<Result<Stat, Miss>>,
}

impl MountCandidate<'_> {
    /// The sort key, best first: the whole file system, then the shortest path.
    fn rank(&self) -> impl Ord + '_ {
        (
            self.part,
            self.point.as_os_str().len(),
            &self.point,
            self.mount,
        )
    }
}

/// One mount point of each data file system that no cluster uses yet.
fn data_mounts(
    host: &dyn Host,
    facts: &FactSet,
    used: &BTreeSet<Subject>,
) -> Vec<ProspectiveTarget> {
    let mounts: Vec<&Subject> = facts.subjects(Scope::Mount).collect();
    let candidates = workers::each(&mounts, |mount| candidate(host, facts, used, mount));
    let mut best: BTreeMap<Subject, MountCandidate<'_>> = BTreeMap::new();
    let mut system: BTreeSet<Subject> = BTreeSet::new();
    for one in candidates.into_iter().flatten() {
        if one.point == Path::new("/") {
            system.insert(one.of);
        } else if one.seen.is_some()
            && best
                .get(&one.of)
                .is_none_or(|known| one.rank() < known.rank())
        {
            best.insert(one.of.clone(), one);
        }
    }
    let best = best.into_values().filter(|one| !system.contains(&one.of));
    best.filter_map(
        |MountCandidate {
             mount,
             point: path,
             seen,
             ..
         }| Some((mount, path, seen?)),
    )
    .map(|(mount, path, seen)| match seen {
        Err(miss) => asked::unseen(facts, path, &miss),
        Ok(_) => ProspectiveTarget {
            kind: Reading::known(
                TargetKind::Directory,
                Source::call(format!("stat {}", safe(path_bytes(&path)))),
            ),
            existing: Some(path.clone()),
            base: Some(mount.clone()),
            io_error: false,
            path,
        },
    })
    .collect()
}

fn candidate<'f>(
    host: &dyn Host,
    facts: &FactSet,
    used: &BTreeSet<Subject>,
    mount: &'f Subject,
) -> Option<MountCandidate<'f>> {
    let of = file_system(facts, mount);
    let point = path(facts, mount, &mount::POINT)?;
    let wanted = point != Path::new("/")
        && !used.contains(&of)
        && for_data(facts, mount, &point)
        && facts.value(mount, &mount::IN_SIGHT) == Some(true);
    let seen = wanted.then(|| host.stat(&point)).filter(|seen| match seen {
        Ok(stat) => stat.is_dir(),
        // It holds data that cannot be read any more.
        Err(miss) => miss.is_io_error(),
    });
    let part = facts
        .value(mount, &mount::ROOT)
        .is_none_or(|root| root != "/");
    Some(MountCandidate {
        mount,
        of,
        point,
        part,
        seen,
    })
}

fn for_data(facts: &FactSet, subject: &Subject, point: &Path) -> bool {
    let class = facts.value(subject, &mount::CLASS);
    let fstype = facts.value(subject, &mount::FSTYPE).unwrap_or_default();
    class.is_some_and(|class| class.is_block() || class.is_zfs())
        && !NEVER.contains(&fstype.as_str())
        && facts.value(subject, &mount::READ_ONLY) != Some(true)
        && !SYSTEM.iter().any(|system| point.starts_with(system))
        && !PASSING.iter().any(|passing| point == Path::new(passing))
}

/// Writable devices that nobody uses and that hold nothing.
fn free_devices(facts: &FactSet) -> Vec<ProspectiveTarget> {
    let place = |subject: Subject| {
        if facts.value(&subject, &device::READ_ONLY) == Some(true) {
            return None;
        }
        Some(ProspectiveTarget {
            path: path(facts, &subject, &device::PATH)?,
            kind: facts
                .get(&subject, &device::CONTENT)
                .map(|_| TargetKind::Device),
            existing: None,
            base: Some(subject),
            io_error: false,
        })
    };
    facts
        .which(&device::CONTENT, |content| content.may_be_given())
        .into_iter()
        .filter_map(place)
        .collect()
}
