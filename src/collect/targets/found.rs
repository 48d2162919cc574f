//! The targets of a run that asked for none: where database servers keep things, file systems made for data, and blank
//! devices. Network and FUSE file systems are not touched here unless a cluster lives on one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::role::Home;
use super::{Place, asked, file_system};
use crate::collect::path_of;
use crate::facts::catalog::{device, mount};
use crate::facts::{FactSet, Key, Reading, Scope, Source, Subject};
use crate::host::{Host, path_bytes};
use crate::text::{raw, safe};

/// File systems that nobody keeps a database on.
const NEVER: [&str; 10] =
    ["squashfs", "iso9660", "udf", "vfat", "exfat", "msdos", "ntfs", "ntfs3", "erofs", "cramfs"];

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

/// Mount points for what need not last; a file system mounted beneath one was put there by somebody who means it.
const PASSING: [&str; 2] = ["/tmp", "/var/tmp"];

/// Everything worth advice, each once.
pub fn places(host: &dyn Host, homes: &[Home], facts: &mut FactSet) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for spot in homes.iter().flat_map(Home::apart) {
        places.extend(asked::place(host, &spot.path, facts));
    }
    let used: BTreeSet<Subject> =
        places.iter().filter_map(|place| Some(file_system(facts, place.base.as_ref()?))).collect();
    places.extend(data_mounts(host, facts, &used));
    places.extend(blank_devices(facts));
    if places.is_empty() {
        places.extend(asked::place(host, Path::new("/"), facts));
    }
    let mut seen = BTreeSet::new();
    places.retain(|place| seen.insert(place.subject()));
    places
}

/// A path that is a fact.
fn path(facts: &FactSet, subject: &Subject, key: &Key<String>) -> Option<PathBuf> {
    facts.value(subject, key).map(|text| path_of(raw(&text)))
}

/// One mount point of each file system that is there for data and that no cluster uses yet.
fn data_mounts(host: &dyn Host, facts: &FactSet, used: &BTreeSet<Subject>) -> Vec<Place> {
    let mut best: BTreeMap<Subject, (bool, usize, PathBuf, &Subject)> = BTreeMap::new();
    let mut system: BTreeSet<Subject> = BTreeSet::new();
    for subject in facts.subjects(Scope::Mount) {
        let of = file_system(facts, subject);
        let Some(point) = path(facts, subject, &mount::POINT) else { continue };
        if point == Path::new("/") {
            system.insert(of);
            continue;
        }
        if used.contains(&of)
            || !for_data(facts, subject, &point)
            || facts.value(subject, &mount::IN_SIGHT) != Some(true)
        {
            continue;
        }
        match host.stat(&point) {
            Ok(stat) if stat.is_dir() => {}
            // Somebody's data lies on it, and cannot be read any more.
            Err(miss) if miss.is_io_error() => {}
            _ => continue,
        }
        let part = facts.value(subject, &mount::ROOT).is_none_or(|root| root != "/");
        let candidate = (part, point.as_os_str().len(), point, subject);
        let known = best.entry(of).or_insert_with(|| candidate.clone());
        if candidate < *known {
            *known = candidate;
        }
    }
    let best = best.into_iter().filter(|(of, _)| !system.contains(of));
    best.map(|(_, (_, _, path, mount))| match host.stat(&path) {
        Err(miss) => asked::unseen(facts, path, &miss),
        Ok(_) => Place {
            kind: Reading::known(
                "directory".to_owned(),
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

fn for_data(facts: &FactSet, subject: &Subject, point: &Path) -> bool {
    let class = facts.value(subject, &mount::CLASS);
    let fstype = facts.value(subject, &mount::FSTYPE).unwrap_or_default();
    class.is_some_and(|class| matches!(class.as_str(), "block" | "zfs"))
        && !NEVER.contains(&fstype.as_str())
        && facts.value(subject, &mount::READ_ONLY) != Some(true)
        && !SYSTEM.iter().any(|system| point.starts_with(system))
        && !PASSING.iter().any(|passing| point == Path::new(passing))
}

/// Devices of which it is proven that nothing is on them.
fn blank_devices(facts: &FactSet) -> Vec<Place> {
    let place = |subject: &Subject| {
        let reading = facts.get(subject, &device::BLANK);
        let source = reading.source().filter(|_| reading.value() == Some(&true))?;
        Some(Place {
            path: path(facts, subject, &device::PATH)?,
            kind: Reading::known("device".to_owned(), source.clone()),
            existing: None,
            base: Some(subject.clone()),
            io_error: false,
        })
    };
    facts.subjects(Scope::Device).filter_map(place).collect()
}
