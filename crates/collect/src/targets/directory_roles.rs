//! The role of a target: the files that database servers keep on it. Links let rules on a server
//! use facts of a mount, and vice versa.
//!
//! A server is linked to the mount of its WAL or redo log, because a commit waits there. All
//! directories of a server on one file system are one target, since a verdict is about a file
//! system. While directories of any server are unknown, no directory is known to be unused.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::PathBuf;
use std::slice;

use super::{ProspectiveTarget, file_system_identity, mount_of_real_path};
use crate::facts::catalog::target::{self, DirectoryRole};
use crate::facts::{DirectorySpec, FactSet, Reading, Scope, Source, Subject, Value};
use crate::host::path_from_bytes;
use crate::text::{decode_display_safe, display_path};

pub struct ServerDirectories {
    cluster: Subject,
    directories: Vec<ServerDirectory>,
    unknown_reason: Option<Reading<Infallible>>,
}

#[derive(Clone)]
pub struct ServerDirectory {
    role: DirectoryRole,
    pub path: PathBuf,
    mount: Option<Subject>,
    file_system: Option<Subject>,
}

impl ServerDirectory {
    fn holds_wal_or_redo(&self) -> bool {
        self.role.is_wal() || self.role.is_redo()
    }
}

impl ServerDirectories {
    fn from_facts(facts: &FactSet, cluster: Subject) -> Self {
        let (mut spots, mut hidden) = (Vec::new(), None);
        for DirectorySpec {
            role,
            key,
            optional,
        } in facts.database_profile_or_postgres(&cluster).directories
        {
            let paths = match facts.reading(&cluster, key.id) {
                Reading::Known {
                    value: Value::Text(path),
                    ..
                } => slice::from_ref(path),
                Reading::Known {
                    value: Value::List(paths),
                    ..
                } => paths,
                Reading::Known { .. } => &[],
                unknown @ Reading::Unknown { .. } => {
                    if !(*optional && unknown.is_absent()) {
                        hidden.get_or_insert_with(|| unknown.clone().into_unknown_reading());
                    }
                    &[]
                }
            };
            spots.extend(paths.iter().map(|path| {
                let path = path_from_bytes(decode_display_safe(path));
                let mount = mount_of_real_path(facts, &path);
                let file_system = mount.as_ref();
                ServerDirectory {
                    role: *role,
                    file_system: file_system.map(|mount| file_system_identity(facts, mount)),
                    mount,
                    path,
                }
            }));
        }
        Self {
            cluster,
            directories: spots,
            unknown_reason: hidden,
        }
    }

    fn wal_or_redo_directory(&self) -> Option<&ServerDirectory> {
        self.directories
            .iter()
            .find(|spot| spot.holds_wal_or_redo())
    }

    /// The data directory precedes all others.
    pub fn first_directory_per_file_system(&self) -> Vec<&ServerDirectory> {
        let mut seen = BTreeSet::new();
        self.directories
            .iter()
            .filter(|spot| seen.insert(spot.file_system.clone()))
            .collect()
    }
}

/// Links each server to the mount and the device of its WAL or redo log, and returns the
/// directories of each server.
pub fn find_and_link_server_directories(facts: &mut FactSet) -> Vec<ServerDirectories> {
    let clusters: Vec<Subject> = facts.subjects_of_scope(Scope::Cluster).cloned().collect();
    let homes: Vec<ServerDirectories> = clusters
        .into_iter()
        .map(|cluster| ServerDirectories::from_facts(facts, cluster))
        .collect();
    for home in &homes {
        let log = home.wal_or_redo_directory();
        let rest = home
            .directories
            .iter()
            .filter(|spot| !spot.holds_wal_or_redo());
        for mount in log
            .into_iter()
            .chain(rest)
            .filter_map(|spot| spot.mount.as_ref())
        {
            facts.add_layer_below(&home.cluster, mount);
        }
        if let Some(mount) = log.and_then(|spot| spot.mount.as_ref()) {
            facts.set_fact_link(&home.cluster, mount);
            if let Some(device) = facts.applicable_subject(mount, Scope::Device) {
                facts.set_fact_link(&home.cluster, &device);
            }
        }
    }
    homes
}

fn server_directories_on_target<'h>(
    place: &ProspectiveTarget,
    homes: &'h [ServerDirectories],
    facts: &FactSet,
) -> Vec<(&'h ServerDirectories, Vec<&'h ServerDirectory>)> {
    let here = place
        .base
        .as_ref()
        .map(|base| file_system_identity(facts, base));
    let users = homes.iter().map(|home| {
        let spots = home.directories.iter();
        let spots = spots.filter(|spot| here.is_some() && spot.file_system == here);
        (home, spots.collect())
    });
    let overlaps = |spot: &&ServerDirectory| {
        spot.path.starts_with(&place.path) || place.path.starts_with(&spot.path)
    };
    users
        .filter(|(_, spots): &(_, Vec<&ServerDirectory>)| spots.iter().any(overlaps))
        .collect()
}

/// Directories of the servers that use the target, one on each other file system. If the target
/// holds a server's data, all file systems of that server are included. If it holds neither data
/// nor log, only the log's file system is included, because commits wait there.
pub fn directories_on_other_file_systems(
    place: &ProspectiveTarget,
    homes: &[ServerDirectories],
    facts: &FactSet,
) -> BTreeSet<PathBuf> {
    let mut paths = BTreeSet::new();
    for (home, here) in server_directories_on_target(place, homes, facts) {
        let data = here.iter().any(|spot| spot.role.is_data());
        let log = here.iter().any(|spot| spot.holds_wal_or_redo());
        let is_wanted = |spot: &&ServerDirectory| {
            let on_same = |other: &ServerDirectory| other.file_system == spot.file_system;
            let mut logs = home
                .directories
                .iter()
                .filter(|spot| spot.holds_wal_or_redo());
            !here.iter().any(|near| on_same(near)) && (data || !log && logs.any(on_same))
        };
        let first = home.first_directory_per_file_system().into_iter();
        paths.extend(first.filter(is_wanted).map(|spot| spot.path.clone()));
    }
    paths
}

pub fn record_roles_and_list_log_directories(
    place: &ProspectiveTarget,
    homes: &[ServerDirectories],
    facts: &mut FactSet,
) -> Vec<PathBuf> {
    let subject = place.subject();
    let users = server_directories_on_target(place, homes, facts);
    let spots: Vec<&ServerDirectory> = users
        .iter()
        .flat_map(|(_, spots)| spots.iter().copied())
        .collect();
    let concerned: Vec<&ServerDirectories> = match users.as_slice() {
        [] => homes.iter().collect(),
        users => users.iter().map(|(home, _)| *home).collect(),
    };
    let all_kept = concerned.iter().flat_map(|home| {
        facts
            .database_profile_or_postgres(&home.cluster)
            .directories
    });
    let names: BTreeSet<&str> = all_kept.map(|kept| kept.key.name).collect();

    let mut seen = BTreeSet::new();
    let roles: Vec<DirectoryRole> = spots
        .iter()
        .map(|spot| spot.role)
        .filter(|role| seen.insert(*role))
        .collect();
    let mut seen = BTreeSet::new();
    let directories = spots
        .iter()
        .map(|spot| format!("{} {}", spot.role, display_path(&spot.path)))
        .filter(|directory| seen.insert(directory.clone()))
        .collect();
    let clusters = users
        .iter()
        .map(|(home, _)| home.cluster.name().to_owned())
        .collect();
    let hidden = homes.iter().find_map(|home| home.unknown_reason.clone());
    let is_device = place.kind.value().is_some_and(|kind| kind.is_device());
    let known: Reading<()> = hidden
        .filter(|_| roles.is_empty() && !is_device)
        .map_or_else(
            || Reading::known((), Source::derived_from(names)),
            Reading::into_unknown_reading,
        );
    facts.insert(&subject, &target::ROLES, known.clone().map(|()| roles));
    let directories = known.clone().map(|()| directories);
    facts.insert(&subject, &target::DIRECTORIES, directories);
    facts.insert(&subject, &target::CLUSTERS, known.map(|()| clusters));

    for (home, here) in &users {
        if home
            .wal_or_redo_directory()
            .is_some_and(|log| here.iter().any(|spot| spot.path == log.path))
        {
            facts.set_fact_link(&home.cluster, &subject);
        }
    }
    if let [(home, ..)] = users.as_slice() {
        facts.set_fact_link(&subject, &home.cluster);
    }
    spots
        .iter()
        .filter(|spot| spot.holds_wal_or_redo())
        .map(|spot| spot.path.clone())
        .collect()
}
