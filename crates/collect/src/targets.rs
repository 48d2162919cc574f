//! The targets of advice: the requested directory or device, or everything found that a database
//! uses or could use.
//!
//! Each target is joined with its mount and its cluster, and its directory's own properties are
//! read. A mounted device stands for its mount point, and a data directory includes its WAL. A
//! directory that does not exist yet is described by its nearest existing parent.

mod directory_roles;
mod discovery;
mod request;
mod target_facts;

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use self::directory_roles::ServerDirectories;
use super::collector::Request;
use crate::facts::catalog::target::{self, TargetKind};
use crate::facts::catalog::{device, mount};
use crate::facts::{Choice, FactSet, Key, Note, Reading, Scope, ServerArea, Source, Subject};
use crate::host::{Host, path_bytes, path_from_bytes};
use crate::parallel;
use crate::path_lookup::mount_of_path;
use crate::text::suggest::edit_distance;
use crate::text::{decode_display_safe, display_path, display_safe};

pub fn unusable_request_note(host: &dyn Host, request: &Request) -> Option<Note> {
    let path = request.target.as_deref()?;
    request::unusable_target_note(
        host,
        path,
        &host.stat(path),
        request.allow_missing,
        &FactSet::default(),
    )
}

pub fn collect_facts(host: &dyn Host, request: &Request, facts: &mut FactSet) {
    let homes = directory_roles::find_and_link_server_directories(facts);
    let places = match &request.target {
        Some(path) => {
            request::resolve_requested_targets(host, path, request.allow_missing, &homes, facts)
        }
        None => discovery::discover_targets(host, &homes, facts),
    };
    let swapping = target_facts::swap_disks(facts);
    let looks = parallel::map_items(&places, |place| {
        target_facts::read_directory_properties(host, place)
    });
    for (place, look) in places.iter().zip(looks) {
        let wal = directory_roles::record_roles_and_list_log_directories(place, &homes, facts);
        target_facts::record_target_facts(host, place, look, &wal, swapping.as_ref(), facts);
    }
    record_shared_storage(&places, facts);
}

/// Makes all queries that a capture needs, so that any target can be requested from it later.
/// Network and FUSE file systems are skipped unless a database is on one.
pub fn query_everything_for_any_target(host: &dyn Host, facts: &FactSet) {
    let mut facts = facts.clone();
    let local = |mount: &&Subject| {
        let class = facts.value(mount, &mount::CLASS);
        class.is_some_and(|class| class.is_block() || class.is_zfs())
            && facts.value(mount, &mount::IN_SIGHT) == Some(true)
    };
    let points = facts.subjects_of_scope(Scope::Mount).filter(local);
    let points = points.filter_map(|mount| facts.value(mount, &mount::POINT));
    let mut paths: BTreeSet<PathBuf> = points
        .map(|point| path_from_bytes(decode_display_safe(&point)))
        .collect();
    let homes = directory_roles::find_and_link_server_directories(&mut facts);
    paths.extend(
        homes
            .iter()
            .flat_map(ServerDirectories::first_directory_per_file_system)
            .map(|spot| spot.path.clone()),
    );
    for path in paths {
        // Only the queries matter here, because the host records the answers.
        if let Some(place) = request::target_at_path(host, &path, &mut facts) {
            let _ = target_facts::read_directory_properties(host, &place);
        }
    }
}

#[cfg(test)]
mod tests;

// Resources shared by database targets: disks, a file system, a thin pool.
//
// Only targets of servers are compared, so the cost does not grow with the number of mounts.
// Two volumes of one thin pool fill up together although each shows free space.

struct ServerTargetStorage {
    subject: Subject,
    file_system: Option<Subject>,
    disks: BTreeSet<Subject>,
    pools: BTreeSet<Subject>,
}

fn record_shared_storage(places: &[ProspectiveTarget], facts: &mut FactSet) {
    let all: Vec<ServerTargetStorage> = places
        .iter()
        .filter_map(|place| storage_of_server_target(facts, place))
        .collect();
    for of in &all {
        let named = |with: &dyn Fn(&ServerTargetStorage) -> bool| -> Vec<String> {
            all.iter()
                .filter(|other| other.subject != of.subject && with(other))
                .map(|other| other.subject.name().to_owned())
                .collect()
        };
        let same_fs = |other: &ServerTargetStorage| {
            of.file_system.is_some() && of.file_system == other.file_system
        };
        let has_disks = !of.disks.is_empty();
        let shared = [
            (
                &target::SHARES_DISK,
                named(&|other| !of.disks.is_disjoint(&other.disks)),
                has_disks,
            ),
            (
                &target::SHARES_FILE_SYSTEM,
                named(&same_fs),
                of.file_system.is_some(),
            ),
            (
                &target::SHARES_THIN_POOL,
                named(&|other| !of.pools.is_disjoint(&other.pools) && !same_fs(other)),
                has_disks,
            ),
        ];
        for (key, names, is_seen) in shared {
            let reading = if is_seen {
                Reading::known(names, Source::derived_from(["target.roles"]))
            } else {
                unknown_disks_reading(&of.subject)
            };
            facts.insert(&of.subject, key, reading);
        }
    }
}

fn unknown_disks_reading<T>(target: &Subject) -> Reading<T> {
    Reading::absent(format!(
        "the underlying block devices of {} are unknown",
        target.name()
    ))
}

fn storage_of_server_target(
    facts: &FactSet,
    place: &ProspectiveTarget,
) -> Option<ServerTargetStorage> {
    let subject = place.subject();
    if facts.value(&subject, &target::CLUSTERS)?.is_empty() {
        return None;
    }
    let is_pool = |of: &&Subject| {
        facts
            .value(of, &device::DM_UUID)
            .is_some_and(|uuid| uuid.ends_with("-tpool"))
    };
    let stack = facts.layers_below(&subject);
    Some(ServerTargetStorage {
        file_system: place
            .base
            .as_ref()
            .filter(|base| base.scope() == Scope::Mount)
            .map(|base| file_system_identity(facts, base)),
        disks: facts.distinct_bottom_disks(&subject).into_iter().collect(),
        pools: stack.iter().filter(is_pool).cloned().collect(),
        subject,
    })
}

#[derive(Clone, Debug)]
struct ProspectiveTarget {
    /// The directory's path, with links resolved if possible, or the path of the device node.
    pub path: PathBuf,
    pub kind: Reading<TargetKind>,
    /// The nearest existing directory: the target itself unless it is still to be created.
    /// `None` for a device or an unreadable directory.
    pub existing: Option<PathBuf>,
    /// The mount below the target, or the device itself.
    pub base: Option<Subject>,
    pub io_error: bool,
}

impl ProspectiveTarget {
    pub fn subject(&self) -> Subject {
        Subject::target(display_path(&self.path))
    }
}

fn mount_of_real_path(facts: &FactSet, path: &Path) -> Option<Subject> {
    mount_of_path(facts, path_bytes(path))
}

/// One subject for all mounts of a file system: the device if there is one, else the mount. A
/// bind mount is a subject of its own, and btrfs has a device number per subvolume. Neither a
/// mount point nor a device number therefore identifies a file system.
fn file_system_identity(facts: &FactSet, mount: &Subject) -> Subject {
    facts
        .applicable_subject(mount, Scope::Device)
        .unwrap_or_else(|| mount.clone())
}

fn device_by_node_path(facts: &FactSet, node: &str) -> Option<Subject> {
    facts
        .subjects_where(&device::PATH, |path| path == node)
        .into_iter()
        .next()
}

// Suggestions for a missing target: a path with similar names, a device, a mount point, or a
// server's directory.
//
// Paths are compared name by name, each with the entries of one directory, because most
// mistypings are in one name.

/// The largest number of directories followed per level, those with the most similar names
/// first.
const MAX_BRANCHES: usize = 3;

fn suggest_path(host: &dyn Host, path: &Path, facts: &FactSet) -> Option<PathBuf> {
    let written = display_path(path);
    // `check sda` looks for sda in the working directory, but the user means /dev/sda, so a
    // known device of that name comes first.
    let name = path.file_name().map(|name| display_safe(name.as_bytes()));
    let known = known_target_paths(facts);
    let devices = known
        .iter()
        .filter(|known| known.strip_prefix("/dev/") == Some(name.as_deref().unwrap_or_default()))
        .map(|known| (0, known.clone()));
    let typos = known
        .iter()
        .filter_map(|known| Some((edit_distance_if_typo(&written, known)?, known.clone())));
    let beneath = find_similar_paths(host, path)
        .into_iter()
        .map(|(far, path)| (far, display_path(&path)));
    let near: BTreeSet<(usize, String)> = devices.chain(typos).chain(beneath).collect();
    // A mount point covered by a later mount is listed but cannot be reached, so it is not
    // suggested.
    let is_gone = |near: &PathBuf| host.stat(near).is_err_and(|miss| miss.is_absent());
    near.into_iter()
        .map(|(_, near)| path_from_bytes(decode_display_safe(&near)))
        .find(|near| !is_gone(near))
}

fn known_target_paths(facts: &FactSet) -> BTreeSet<String> {
    let all = |key: &'static Key<String>| {
        facts
            .known_values_by_subject(key)
            .into_iter()
            .map(|(_, path)| path)
    };
    let mappings = all(&device::DM_NAME).map(|name| format!("/dev/mapper/{name}"));
    let data = ServerArea::ALL
        .iter()
        .map(|area| area.database_profile().data_directory);
    [&device::PATH, &mount::POINT]
        .into_iter()
        .chain(data)
        .flat_map(all)
        .chain(mappings)
        .collect()
}

/// The edit distance of two words; `None` if too large to be a mistyping. One edit per three
/// letters is allowed, at least 1 and at most 4.
fn edit_distance_if_typo(one: &str, other: &str) -> Option<usize> {
    let far = edit_distance(one, other);
    let letters = one.chars().count().max(other.chars().count());
    (far <= (letters / 3).clamp(1, 4)).then_some(far)
}

fn find_similar_paths(host: &dyn Host, path: &Path) -> Vec<(usize, PathBuf)> {
    let mut open = vec![(0, PathBuf::from("/"))];
    for part in path.components() {
        let Component::Normal(name) = part else {
            continue;
        };
        let word = display_safe(name.as_bytes());
        let mut next: Vec<(usize, PathBuf)> = Vec::new();
        for (far, place) in &open {
            let exact = place.join(name);
            if host.stat(&exact).is_ok() {
                next.push((*far, exact));
                continue;
            }
            let names = host.list_directory(place).unwrap_or_default();
            let near = names.iter().filter_map(|other| {
                Some((
                    edit_distance_if_typo(&word, &display_safe(other.as_bytes()))?,
                    other,
                ))
            });
            next.extend(near.map(|(slips, other)| (far + slips, place.join(other))));
        }
        next.sort();
        next.truncate(MAX_BRANCHES);
        open = next;
    }
    open
}
