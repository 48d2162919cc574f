//! The role of a target: what database servers keep on it, and the links by which rules on one use
//! facts of the other.
//!
//! A server is linked to the mount of its WAL or redo log, because a commit waits there. All
//! directories of a server on one file system are one target, since a verdict is about a file
//! system. While directories of any server are unknown, no directory is known to be unused.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::PathBuf;

use super::prospect::{ProspectiveTarget, file_system, mount_of_real_path};
use crate::facts::catalog::target::{self, Role};
use crate::facts::{DirectorySpec, FactSet, Reading, Scope, Source, Subject, UnknownReason, Value};
use crate::host::{path_bytes, path_from_bytes};
use crate::text::{display_safe, original_bytes};

pub struct ServerDirectories {
    cluster: Subject,
    directories: Vec<ServerDirectory>,
    /// Why some of its directories are unknown.
    unknown_reason: Option<Reading<Infallible>>,
}

#[derive(Clone)]
pub struct ServerDirectory {
    role: Role,
    pub path: PathBuf,
    mount: Option<Subject>,
    file_system: Option<Subject>,
}

impl ServerDirectory {
    fn find(facts: &FactSet, role: Role, path: &str) -> Self {
        let path = path_from_bytes(original_bytes(path));
        let mount = mount_of_real_path(facts, &path);
        Self {
            role,
            file_system: mount.as_ref().map(|mount| file_system(facts, mount)),
            mount,
            path,
        }
    }

    fn is_on(&self, file_system: Option<&Subject>) -> bool {
        self.file_system.is_some() && self.file_system.as_ref() == file_system
    }

    /// Whether one directory is or contains the other.
    fn overlaps(&self, place: &ProspectiveTarget) -> bool {
        self.path.starts_with(&place.path) || place.path.starts_with(&self.path)
    }

    fn is_log(&self) -> bool {
        self.role.is_wal() || self.role.is_redo()
    }
}

impl ServerDirectories {
    fn find(facts: &FactSet, cluster: Subject) -> Self {
        let (mut spots, mut hidden) = (Vec::new(), None);
        for DirectorySpec {
            role,
            key,
            optional,
        } in facts.database(&cluster).directories
        {
            match facts.reading(&cluster, key.id) {
                Reading::Known {
                    value: Value::Text(path),
                    ..
                } => {
                    spots.push(ServerDirectory::find(facts, *role, path));
                }
                Reading::Known {
                    value: Value::List(paths),
                    ..
                } => {
                    spots.extend(
                        paths
                            .iter()
                            .map(|path| ServerDirectory::find(facts, *role, path)),
                    );
                }
                Reading::Known { .. } => {}
                Reading::Unknown {
                    why: UnknownReason::Absent,
                    ..
                } if *optional => {}
                Reading::Unknown {
                    why,
                    detail,
                    remedy,
                } => {
                    let (why, detail, remedy) = (*why, detail.clone(), remedy.clone());
                    hidden.get_or_insert(Reading::Unknown {
                        why,
                        detail,
                        remedy,
                    });
                }
            }
        }
        Self {
            cluster,
            directories: spots,
            unknown_reason: hidden,
        }
    }

    fn log(&self) -> Option<&ServerDirectory> {
        self.directories.iter().find(|spot| spot.is_log())
    }

    /// The first directory on each file system, data first.
    pub fn one_per_file_system(&self) -> Vec<&ServerDirectory> {
        let mut seen = BTreeSet::new();
        self.directories
            .iter()
            .filter(|spot| seen.insert(spot.file_system.clone()))
            .collect()
    }
}

/// All servers; links each to the mount of its log.
pub fn server_directories(facts: &mut FactSet) -> Vec<ServerDirectories> {
    let clusters: Vec<Subject> = facts.subjects(Scope::Cluster).cloned().collect();
    let homes: Vec<ServerDirectories> = clusters
        .into_iter()
        .map(|cluster| ServerDirectories::find(facts, cluster))
        .collect();
    for home in &homes {
        let log = home.log();
        let rest = home.directories.iter().filter(|spot| !spot.is_log());
        for mount in log
            .into_iter()
            .chain(rest)
            .filter_map(|spot| spot.mount.as_ref())
        {
            facts.add_edge(&home.cluster, mount);
        }
        if let Some(mount) = log.and_then(|spot| spot.mount.as_ref()) {
            facts.link(&home.cluster, mount);
            if let Some(device) = facts.resolve(mount, Scope::Device) {
                facts.link(&home.cluster, &device);
            }
        }
    }
    homes
}

/// The servers that use a target, each with its directories on that file system.
fn users<'h>(
    place: &ProspectiveTarget,
    homes: &'h [ServerDirectories],
    facts: &FactSet,
) -> Vec<(&'h ServerDirectories, Vec<&'h ServerDirectory>)> {
    let here = place.base.as_ref().map(|base| file_system(facts, base));
    let on_it = |home: &'h ServerDirectories| {
        home.directories
            .iter()
            .filter(|spot| spot.is_on(here.as_ref()))
            .collect()
    };
    let spots = homes.iter().map(|home| (home, on_it(home)));
    spots
        .filter(|(_, spots): &(_, Vec<&ServerDirectory>)| {
            spots.iter().any(|spot| spot.overlaps(place))
        })
        .collect()
}

/// Directories on other file systems: of a server whose data is on the target all others, of any
/// other server its log, where commits wait.
pub fn related_directories(
    place: &ProspectiveTarget,
    homes: &[ServerDirectories],
    facts: &FactSet,
) -> BTreeSet<PathBuf> {
    let mut paths = BTreeSet::new();
    for (home, here) in users(place, homes, facts) {
        let holds = |test: &dyn Fn(&ServerDirectory) -> bool| here.iter().any(|spot| test(spot));
        let (data, log) = (
            holds(&|spot| spot.role.is_data()),
            holds(&ServerDirectory::is_log),
        );
        let away = |spot: &&ServerDirectory| !holds(&|near| near.file_system == spot.file_system);
        let beside_log = |spot: &ServerDirectory| {
            home.directories
                .iter()
                .any(|log| log.is_log() && log.file_system == spot.file_system)
        };
        let wanted = |spot: &&ServerDirectory| data || (!log && beside_log(spot));
        paths.extend(
            home.one_per_file_system()
                .into_iter()
                .filter(away)
                .filter(wanted)
                .map(|spot| spot.path.clone()),
        );
    }
    paths
}

/// Records the role; returns the log directories on the target's file system.
pub fn record(
    place: &ProspectiveTarget,
    homes: &[ServerDirectories],
    facts: &mut FactSet,
) -> Vec<PathBuf> {
    let subject = place.subject();
    let users = users(place, homes, facts);
    let spots: Vec<&ServerDirectory> = users
        .iter()
        .flat_map(|(_, spots)| spots.iter().copied())
        .collect();
    let concerned: Vec<&ServerDirectories> = match users.as_slice() {
        [] => homes.iter().collect(),
        users => users.iter().map(|(home, _)| *home).collect(),
    };
    let all_kept = concerned
        .iter()
        .flat_map(|home| facts.database(&home.cluster).directories);
    let names: BTreeSet<&str> = all_kept.map(|kept| kept.key.name).collect();
    let source = || Source::derived(names.iter().copied());

    let mut seen = BTreeSet::new();
    let roles: Vec<Role> = spots
        .iter()
        .map(|spot| spot.role)
        .filter(|role| seen.insert(*role))
        .collect();
    let mut directories: Vec<String> = Vec::new();
    for spot in &spots {
        let directory = format!("{} {}", spot.role, display_safe(path_bytes(&spot.path)));
        if !directories.contains(&directory) {
            directories.push(directory);
        }
    }
    let clusters = users
        .iter()
        .map(|(home, _)| home.cluster.name().to_owned())
        .collect();
    let hidden = homes.iter().find_map(|home| home.unknown_reason.clone());
    let is_device = place.kind.value().is_some_and(|kind| kind.is_device());
    if let Some(hidden) = hidden.filter(|_| roles.is_empty() && !is_device) {
        facts.insert(
            &subject,
            &target::ROLES,
            hidden.clone().map(|none| match none {}),
        );
        for list in [&target::DIRECTORIES, &target::CLUSTERS] {
            facts.insert(&subject, list, hidden.clone().map(|none| match none {}));
        }
    } else {
        facts.insert_known(&subject, &target::ROLES, roles, source());
        facts.insert_known(&subject, &target::DIRECTORIES, directories, source());
        facts.insert_known(&subject, &target::CLUSTERS, clusters, source());
    }

    for (home, here) in &users {
        if home
            .log()
            .is_some_and(|log| here.iter().any(|spot| spot.path == log.path))
        {
            facts.link(&home.cluster, &subject);
        }
    }
    if let [(home, ..)] = users.as_slice() {
        facts.link(&subject, &home.cluster);
    }
    spots
        .iter()
        .filter(|spot| spot.is_log())
        .map(|spot| spot.path.clone())
        .collect()
}
