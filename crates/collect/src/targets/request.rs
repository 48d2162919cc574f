//! The requested target: a directory, existing or not, a mount point, or a block device. The other
//! directories of a server whose data is on it are targets, too.
//!
//! A path that cannot be a target is dropped with a warning. A name below /dev means a device, so a
//! missing one is an error, never a directory to be created.

use std::path::{Component, Path, PathBuf};

use super::directory_roles::{self, ServerDirectories};
use super::suggest_path;
use super::{ProspectiveTarget, device_by_node_path, mount_of_real_path};
use crate::facts::catalog::device;
use crate::facts::catalog::mount::{self, MountClass};
use crate::facts::catalog::target::TargetKind;
use crate::facts::{FactSet, Note, Reading, Remedy, Scope, Source, Subject};
use crate::host::{Host, HostError, HostErrorKind, Stat, path_from_bytes};
use crate::host_readings::error_reading;
use crate::path_lookup::{device_of_node, mount_mismatch_reason};
use crate::text::{decode_display_safe, display_path};

pub fn resolve_requested_targets(
    host: &dyn Host,
    path: &Path,
    new: bool,
    homes: &[ServerDirectories],
    facts: &mut FactSet,
) -> Vec<ProspectiveTarget> {
    // A path that does not answer is queried only once, because each further query could take as
    // long.
    let seen = host.stat(path);
    if let Some(mistake) = unusable_target_note(host, path, &seen, new, facts) {
        facts.add_note_once(mistake);
        return Vec::new();
    }
    let mut places = Vec::from_iter(target_from_stat(host, path, seen, facts));
    let elsewhere: Vec<_> = places
        .iter()
        .flat_map(|place| directory_roles::directories_on_other_file_systems(place, homes, facts))
        .collect();
    for directory in elsewhere {
        places.extend(self::target_at_path(host, &directory, facts));
    }
    places
}

pub fn unusable_target_note(
    host: &dyn Host,
    path: &Path,
    seen: &Result<Stat, HostError>,
    new: bool,
    facts: &FactSet,
) -> Option<Note> {
    let shown = display_path(path);
    match seen {
        Ok(stat) => return unsuitable_file_type_note(*stat, &shown),
        // A path that exists or is to be created is correct, even if it cannot be read. A dangling
        // link gets its own note later.
        Err(miss) if !miss.is_absent() || new || host.link_target(path).is_ok() => {
            return None;
        }
        Err(_) => {}
    }
    let meant = suggest_path(host, path, facts);
    let meant = meant
        .map(|meant| format!("; did you mean {}?", display_path(&meant)))
        .unwrap_or_default();
    let new = if is_device_node_path(path) {
        ""
    } else {
        "; add --new to `walwise check` for a directory that does not exist yet"
    };
    Some(format!("{shown} does not exist{meant}{new}").into())
}

/// `None`, with a warning, if the path cannot be a target.
pub fn target_at_path(
    host: &dyn Host,
    path: &Path,
    facts: &mut FactSet,
) -> Option<ProspectiveTarget> {
    target_from_stat(host, path, host.stat(path), facts)
}

fn target_from_stat(
    host: &dyn Host,
    path: &Path,
    seen: Result<Stat, HostError>,
    facts: &mut FactSet,
) -> Option<ProspectiveTarget> {
    let shown = display_path(path);
    match seen {
        Ok(stat) if stat.is_block_device() => device_target(host, path, stat, facts),
        Ok(stat) if stat.is_dir() => {
            let real = host.real_path(path).unwrap_or_else(|_| path.to_owned());
            // If the real path is another directory now, the path changed in the meantime, so the
            // original path is kept.
            let seen = if real == path {
                Some(stat)
            } else {
                host.stat(&real).ok()
            };
            let same = seen.is_some_and(|seen| seen.file_id() == stat.file_id());
            let kind = Reading::known(
                TargetKind::Directory,
                Source::from_system_call(format!("stat {shown}")),
            );
            let real = if same { real } else { path.to_owned() };
            let place = directory_target(facts, real, kind);
            Some(if same {
                with_verified_mount(facts, place, stat)
            } else {
                let detail = format!("{shown} resolves to another directory");
                into_malformed_target(place, detail)
            })
        }
        Ok(stat) => {
            if let Some(note) = unsuitable_file_type_note(stat, &shown) {
                facts.add_note_once(note);
            }
            None
        }
        Err(miss) if miss.is_absent() => planned_directory_target(host, path, facts),
        Err(_) if device_by_node_path(facts, &shown).is_some() => {
            device_target_from_facts(facts, path)
        }
        Err(miss) if is_device_node_path(path) => {
            let reason = host_error_detail(&miss);
            facts.add_note_once(format!("{shown}: unknown device: {reason}"));
            None
        }
        Err(miss) => Some(assumed_directory_target(path, &miss, facts)),
    }
}

fn unsuitable_file_type_note(stat: Stat, shown: &str) -> Option<Note> {
    let flaw = match (stat.is_dir() || stat.is_block_device(), stat.is_file()) {
        (true, _) => return None,
        (false, true) => "is a file; specify its directory as the target",
        (false, false) => {
            "is neither a block device nor a directory; specify the data directory or its disk"
        }
    };
    Some(format!("{shown} {flaw}").into())
}

/// The target for a path that may be a directory, although it cannot be read.
fn assumed_directory_target(
    path: &Path,
    miss: &HostError,
    facts: &mut FactSet,
) -> ProspectiveTarget {
    facts.add_note_once(format!(
        "{}: {}; assumed to be a directory",
        display_path(path),
        host_error_detail(miss)
    ));
    unreadable_target(facts, normalise_path(path), miss)
}

fn host_error_detail(miss: &HostError) -> String {
    if miss.detail.is_empty() {
        "the path cannot be read".to_owned()
    } else {
        miss.detail.clone()
    }
}

fn directory_target(
    facts: &FactSet,
    path: PathBuf,
    kind: Reading<TargetKind>,
) -> ProspectiveTarget {
    let base = mount_of_real_path(facts, &path);
    ProspectiveTarget {
        existing: Some(path.clone()),
        kind,
        base,
        path,
        io_error: false,
    }
}

/// Keeps the target's mount only if stat(2) of the path reports the device of that mount.
fn with_verified_mount(facts: &FactSet, place: ProspectiveTarget, stat: Stat) -> ProspectiveTarget {
    match place
        .base
        .as_ref()
        .and_then(|mount| mount_mismatch_reason(facts, mount, stat))
    {
        Some(detail) => into_malformed_target(place, detail),
        None => place,
    }
}

fn into_malformed_target(place: ProspectiveTarget, detail: String) -> ProspectiveTarget {
    let kind = Reading::malformed(detail);
    ProspectiveTarget {
        base: None,
        existing: None,
        kind,
        ..place
    }
}

/// No further query is made, since each could take as long as the first.
pub fn unreadable_target(facts: &FactSet, path: PathBuf, miss: &HostError) -> ProspectiveTarget {
    let io_error = miss.is_eio();
    let kind = error_reading(miss, &display_path(&path));
    let kind = if io_error {
        kind.with_remedy(Remedy::Do(REPAIR_REMEDY.to_owned()))
    } else {
        kind
    };
    let place = ProspectiveTarget {
        existing: None,
        io_error,
        ..directory_target(facts, path, kind)
    };
    // Local disks do not time out, so the path must be on another mount than the mount table shows.
    let is_local = place
        .base
        .as_ref()
        .and_then(|mount| facts.value(mount, &mount::CLASS))
        .is_some_and(MountClass::is_block);
    if miss.kind == HostErrorKind::TimedOut && is_local {
        ProspectiveTarget {
            base: None,
            ..place
        }
    } else {
        place
    }
}

const REPAIR_REMEDY: &str = "find the cause in the kernel log (`dmesg -T`), then unmount and repair the file system before you use it again";

/// Whether a path means a device: below /dev, but not below /dev/shm (`shm_overview(7)`).
fn is_device_node_path(path: &Path) -> bool {
    let path = normalise_path(path);
    path.starts_with("/dev") && !path.starts_with("/dev/shm")
}

fn planned_directory_target(
    host: &dyn Host,
    path: &Path,
    facts: &mut FactSet,
) -> Option<ProspectiveTarget> {
    let shown = display_path(path);
    if let Ok(to) = host.link_target(path) {
        let to = display_path(&to);
        facts.add_note_once(format!("{shown} is a link to {to}, which does not exist"));
        return None;
    }
    for parent in path.ancestors().skip(1) {
        match host.stat(parent) {
            Ok(stat) if stat.is_dir() => {
                let real = host.real_path(parent).unwrap_or_else(|_| parent.to_owned());
                let rest = path.strip_prefix(parent).unwrap_or(Path::new(""));
                let place = normalise_path(&real.join(rest));
                if is_device_node_path(&place) {
                    facts.add_note_once(format!("{shown}: no such device"));
                    return None;
                }
                let kind = Reading::known(
                    TargetKind::Created,
                    Source::from_system_call(format!("stat {shown}")),
                );
                let place = ProspectiveTarget {
                    path: place,
                    ..directory_target(facts, real, kind)
                };
                return Some(with_verified_mount(facts, place, stat));
            }
            Ok(_) => {
                let parent = display_path(parent);
                facts.add_note_once(format!(
                    "{shown} cannot be created as a directory: {parent} is a file"
                ));
                return None;
            }
            Err(miss) if miss.is_absent() => {}
            Err(miss) => return Some(assumed_directory_target(path, &miss, facts)),
        }
    }
    facts.add_note_once(format!(
        "{shown} does not exist, nor does any directory above it"
    ));
    None
}

fn device_target(
    host: &dyn Host,
    path: &Path,
    stat: Stat,
    facts: &mut FactSet,
) -> Option<ProspectiveTarget> {
    let shown = display_path(path);
    let real = host.real_path(path).unwrap_or_else(|_| path.to_owned());
    let subject = device_of_node(host, stat, facts)
        .or_else(|| device_by_node_path(facts, &display_path(&real)))
        .or_else(|| device_by_node_path(facts, &shown));
    let Some(subject) = subject else {
        facts.add_note_once(format!(
            "{shown} is a block device that /sys/dev/block does not list"
        ));
        return None;
    };
    device_or_mount_target(
        facts,
        real,
        subject,
        Source::from_system_call(format!("stat {shown}")),
    )
}

/// The target for a device whose node could not be queried, for example in a capture.
fn device_target_from_facts(facts: &mut FactSet, path: &Path) -> Option<ProspectiveTarget> {
    let subject = device_by_node_path(facts, &display_path(path))?;
    let source = facts.get(&subject, &device::PATH).source()?.clone();
    device_or_mount_target(facts, path.to_owned(), subject, source)
}

fn device_or_mount_target(
    facts: &mut FactSet,
    path: PathBuf,
    subject: Subject,
    source: Source,
) -> Option<ProspectiveTarget> {
    let Some(mount) = mount_of_device(facts, &subject) else {
        let kind = Reading::known(TargetKind::Device, source);
        return Some(ProspectiveTarget {
            path,
            kind,
            existing: None,
            base: Some(subject),
            io_error: false,
        });
    };
    let point = facts.value(&mount, &mount::POINT)?;
    facts.add_note_once(format!(
        "{} is mounted on {point}; the target is this directory",
        display_path(&path)
    ));
    let kind = Reading::known(TargetKind::Directory, source);
    let mut place = directory_target(facts, path_from_bytes(decode_display_safe(&point)), kind);
    place.base = Some(mount);
    Some(place)
}

fn mount_of_device(facts: &FactSet, device: &Subject) -> Option<Subject> {
    let of_device = |mount: &&Subject| {
        facts.applicable_subject(mount, Scope::Device).as_ref() == Some(device)
            || facts.layers_directly_below(mount).contains(device)
    };
    let in_sight = |mount: &&Subject| facts.value(mount, &mount::IN_SIGHT) == Some(true);
    let mounts = facts.subjects_of_scope(Scope::Mount);
    let mounts = mounts.filter(of_device).filter(in_sight);
    let best = mounts.min_by_key(|mount| {
        let whole = facts
            .value(mount, &mount::ROOT)
            .is_some_and(|root| root == "/");
        (!whole, mount.name().len())
    });
    best.cloned()
}

/// Removes `.` and `..` without resolving links, for paths that do not exist.
fn normalise_path(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    out
}
