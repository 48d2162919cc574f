//! What a target is for: which clusters keep data or WAL on it, and the links that let rules about one ask for facts
//! about the other. A cluster is looked up on the side of its WAL, because that is where a commit waits.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::found::path;
use super::{Place, file_system, mount_over};
use crate::facts::catalog::{postgres, target};
use crate::facts::{FactSet, Reading, Scope, Source, Subject};

/// Where a cluster keeps its things, as far as known.
pub struct Home {
    cluster: Subject,
    data: Option<Spot>,
    wal: Option<Spot>,
}

struct Spot {
    path: PathBuf,
    mount: Option<Subject>,
    file_system: Option<Subject>,
}

impl Spot {
    fn find(facts: &FactSet, path: Option<PathBuf>) -> Option<Self> {
        let path = path?;
        let mount = mount_over(facts, &path);
        Some(Self { file_system: mount.as_ref().map(|mount| file_system(facts, mount)), mount, path })
    }

    fn is_on(&self, file_system: Option<&Subject>) -> bool {
        self.file_system.is_some() && self.file_system.as_ref() == file_system
    }

    /// Whether one of the two directories is the other or lies in it.
    fn meets(&self, place: &Place) -> bool {
        self.path.starts_with(&place.path) || place.path.starts_with(&self.path)
    }
}

impl Home {
    /// Why it is not known where the cluster keeps everything, when it is not: then no directory is known to be unused.
    fn hidden(&self, facts: &FactSet) -> Option<Reading<String>> {
        let keys = [&postgres::DATA, &postgres::WAL];
        keys.into_iter().map(|key| facts.get(&self.cluster, key)).find(|reading| !reading.is_known())
    }
}

/// All clusters, linked to the mounts of their WAL.
pub fn homes(facts: &mut FactSet) -> Vec<Home> {
    let clusters: Vec<Subject> = facts.subjects(Scope::Cluster).cloned().collect();
    let mut homes = Vec::new();
    for cluster in clusters {
        let data = Spot::find(facts, path(facts, &cluster, &postgres::DATA));
        let wal = Spot::find(facts, path(facts, &cluster, &postgres::WAL));
        for spot in [&wal, &data].into_iter().flatten() {
            if let Some(mount) = &spot.mount {
                facts.stand(&cluster, mount);
            }
        }
        if let Some(mount) = wal.as_ref().and_then(|spot| spot.mount.as_ref()) {
            facts.link(&cluster, mount);
            if let Some(device) = facts.resolve(mount, Scope::Device) {
                facts.link(&cluster, &device);
            }
        }
        homes.push(Home { cluster, data, wal });
    }
    homes
}

/// The clusters that use a place, each with its data and its WAL directory as far as they lie on its file system.
fn users<'h>(
    place: &Place,
    homes: &'h [Home],
    facts: &FactSet,
) -> Vec<(&'h Home, Option<&'h Spot>, Option<&'h Spot>)> {
    let here = place.base.as_ref().map(|base| file_system(facts, base));
    let on_it = |spot: &'h Option<Spot>| spot.as_ref().filter(|spot| spot.is_on(here.as_ref()));
    let spots = homes.iter().map(|home| (home, on_it(&home.data), on_it(&home.wal)));
    spots.filter(|(_, data, wal)| [data, wal].into_iter().flatten().any(|spot| spot.meets(place))).collect()
}

/// The WAL directories of the clusters on a place that lie on another file system: that is where their commits wait.
pub fn wal_elsewhere(place: &Place, homes: &[Home], facts: &FactSet) -> BTreeSet<PathBuf> {
    let users = users(place, homes, facts).into_iter();
    users
        .filter_map(|(home, _, wal)| home.wal.as_ref().filter(|_| wal.is_none()))
        .map(|spot| spot.path.clone())
        .collect()
}

/// Records what the target is for; the answer is the WAL directories that lie on its file system.
pub fn put(place: &Place, homes: &[Home], facts: &mut FactSet) -> Vec<PathBuf> {
    let subject = place.subject();
    let users = users(place, homes, facts);
    let any_data = users.iter().any(|(_, data, _)| data.is_some());
    let with_wal: Vec<_> = users.iter().filter_map(|(home, _, wal)| Some((*home, (*wal)?))).collect();
    for (home, _) in &with_wal {
        facts.link(&home.cluster, &subject);
    }
    let any_wal = !with_wal.is_empty();
    let known = |role: &str| {
        Reading::known(role.to_owned(), Source::derived(["pg.data_directory", "pg.wal_directory"]))
    };
    let role = match (any_data, any_wal) {
        (true, true) => known("data and wal"),
        (true, false) => known("data"),
        (false, true) => known("wal"),
        (false, false) => match homes.iter().find_map(|home| home.hidden(facts)) {
            Some(hidden) if place.kind.value().is_none_or(|kind| kind != "device") => hidden,
            _ => known("unused"),
        },
    };
    facts.put(&subject, &target::ROLE, role);
    if let [(home, ..)] = users.as_slice() {
        facts.link(&subject, &home.cluster);
    }
    with_wal.into_iter().map(|(_, spot)| spot.path.clone()).collect()
}
