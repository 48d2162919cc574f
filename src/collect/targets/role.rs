//! What a target is for: which clusters keep data or WAL on it, and the links that let rules about one ask for facts
//! about the other. A cluster is looked up on the side of its WAL, because that is where a commit waits.

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

/// Records what the target is for.
pub fn put(place: &Place, homes: &[Home], facts: &mut FactSet) {
    let subject = place.subject();
    let here = place.base.as_ref().map(|base| file_system(facts, base));
    let (mut any_data, mut any_wal) = (false, false);
    let mut users = Vec::new();
    for home in homes {
        let spots = [&home.data, &home.wal];
        let meets = spots.into_iter().flatten().any(|spot| spot.is_on(here.as_ref()) && spot.meets(place));
        if !meets {
            continue;
        }
        let [data, wal] = spots.map(|spot| spot.as_ref().is_some_and(|spot| spot.is_on(here.as_ref())));
        any_data |= data;
        any_wal |= wal;
        users.push(&home.cluster);
        if wal {
            facts.link(&home.cluster, &subject);
        }
    }
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
    if let [cluster] = users.as_slice() {
        facts.link(&subject, cluster);
    }
}
