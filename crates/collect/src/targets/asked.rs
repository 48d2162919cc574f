//! The target that was asked for: a directory, existing or not, a mount point, or a block device;
//! and the other directories of the server whose data it holds.
//!
//! A path that cannot be a target is dropped with a warning. A name below /dev is a device, so a
//! missing one is a mistake and never a directory to be created.

use std::path::{Component, Path, PathBuf};

use super::mistyped;
use super::prospect::{ProspectiveTarget, device_of, mount_over};
use super::role::{self, ServerDirectories};
use crate::facts::catalog::device;
use crate::facts::catalog::mount::{self, MountClass};
use crate::facts::catalog::target::TargetKind;
use crate::facts::note::TargetNote;
use crate::facts::{FactSet, Reading, Remedy, Scope, Source, Subject, Why};
use crate::host::{Host, Miss, MissKind, Stat, path_bytes, path_of};
use crate::lookup::{device_of_node, misplaced};
use crate::refusal::refused;
use crate::text::{raw, safe};

/// The place that a path means, and what the servers on it keep on other file systems.
pub fn places(
    host: &dyn Host,
    path: &Path,
    new: bool,
    homes: &[ServerDirectories],
    facts: &mut FactSet,
) -> Vec<ProspectiveTarget> {
    // A place that does not answer is asked once: each question could take as long as the first.
    let seen = host.stat(path);
    if let Some(mistake) = mistake(host, path, &seen, new, facts) {
        facts.warn(mistake);
        return Vec::new();
    }
    let mut places = Vec::from_iter(seen_place(host, path, seen, facts));
    let elsewhere: Vec<_> = places
        .iter()
        .flat_map(|place| role::elsewhere(place, homes, facts))
        .collect();
    for directory in elsewhere {
        places.extend(self::place(host, &directory, facts));
    }
    places
}

/// The error in a target that was named: it cannot be a target, or it does not exist and another
/// may have been meant.
pub fn mistake(
    host: &dyn Host,
    path: &Path,
    seen: &Result<Stat, Miss>,
    new: bool,
    facts: &FactSet,
) -> Option<TargetNote> {
    let shown = safe(path_bytes(path));
    match seen {
        Ok(stat) => return unfit(*stat, &shown),
        // A link that leads nowhere says more of itself.
        Err(miss) if miss.kind != MissKind::Absent || new || host.link(path).is_ok() => {
            return None;
        }
        Err(_) => {}
    }
    let meant = mistyped::meant(host, path, facts);
    let meant = meant.map(|meant| safe(path_bytes(&meant)));
    Some(TargetNote::Absence {
        path: shown,
        meant,
        new: !names_a_device(path),
    })
}

/// The place that a path means; `None`, with a warning, where it cannot be a target.
pub fn place(host: &dyn Host, path: &Path, facts: &mut FactSet) -> Option<ProspectiveTarget> {
    seen_place(host, path, host.stat(path), facts)
}

fn seen_place(
    host: &dyn Host,
    path: &Path,
    seen: Result<Stat, Miss>,
    facts: &mut FactSet,
) -> Option<ProspectiveTarget> {
    let shown = safe(path_bytes(path));
    match seen {
        Ok(stat) if stat.is_block() => device(host, path, stat, facts),
        Ok(stat) if stat.is_dir() => {
            let real = host.real_path(path).unwrap_or_else(|_| path.to_owned());
            // A path that leads elsewhere is not the one that was followed.
            let seen = if real == path {
                Some(stat)
            } else {
                host.stat(&real).ok()
            };
            let same = seen.is_some_and(|seen| {
                (seen.major, seen.minor, seen.inode) == (stat.major, stat.minor, stat.inode)
            });
            let kind = Reading::known(TargetKind::Directory, Source::call(format!("stat {shown}")));
            let real = if same { real } else { path.to_owned() };
            let place = placed(facts, directory(facts, real, kind), stat);
            let detail = format!("the real path of {shown} is another directory");
            Some(if same { place } else { nowhere(place, detail) })
        }
        Ok(stat) => {
            if let Some(note) = unfit(stat, &shown) {
                facts.warn(note);
            }
            None
        }
        Err(miss) if miss.kind == MissKind::Absent => created(host, path, facts),
        Err(miss) if device_of(facts, &shown).is_some() => known_device(facts, path, &miss),
        Err(miss) if names_a_device(path) => {
            facts.warn(TargetNote::StrangeDevice {
                path: shown,
                reason: reason(&miss),
            });
            None
        }
        Err(miss) => {
            facts.warn(TargetNote::PathAsNamed {
                path: shown,
                reason: reason(&miss),
            });
            Some(unseen(facts, lexical(path), &miss))
        }
    }
}

/// Why an existing path cannot be a target.
fn unfit(stat: Stat, shown: &str) -> Option<TargetNote> {
    let path = || shown.to_owned();
    match (stat.is_dir() || stat.is_block(), stat.is_file()) {
        (true, _) => None,
        (false, true) => Some(TargetNote::File { path: path() }),
        (false, false) => Some(TargetNote::NoPlace { path: path() }),
    }
}

fn reason(miss: &Miss) -> String {
    if miss.detail.is_empty() {
        "it cannot be looked at".to_owned()
    } else {
        miss.detail.clone()
    }
}

fn directory(facts: &FactSet, path: PathBuf, kind: Reading<TargetKind>) -> ProspectiveTarget {
    let base = mount_over(facts, &path);
    ProspectiveTarget {
        existing: Some(path.clone()),
        kind,
        base,
        path,
        io_error: false,
    }
}

/// The place, on its mount where stat(2) agrees with it; else on no mount that is known.
fn placed(facts: &FactSet, place: ProspectiveTarget, stat: Stat) -> ProspectiveTarget {
    match place
        .base
        .as_ref()
        .and_then(|mount| misplaced(facts, mount, stat))
    {
        Some(detail) => nowhere(place, detail),
        None => place,
    }
}

/// A place whose answers contradict each other: it is on no mount that is known.
fn nowhere(place: ProspectiveTarget, detail: String) -> ProspectiveTarget {
    let kind = Reading::unknown(Why::Malformed, detail);
    ProspectiveTarget {
        base: None,
        existing: None,
        kind,
        ..place
    }
}

/// A place that could not be looked at. It is asked nothing more, since each question could take as
/// long as the first.
pub fn unseen(facts: &FactSet, path: PathBuf, miss: &Miss) -> ProspectiveTarget {
    let io_error = miss.is_io_error();
    let kind = refused(miss, &safe(path_bytes(&path)));
    let kind = if io_error {
        kind.or_try(Remedy::Do(SEE_WHY.to_owned()))
    } else {
        kind
    };
    let place = ProspectiveTarget {
        existing: None,
        io_error,
        ..directory(facts, path, kind)
    };
    // What hangs is no disk of this machine, so a mount of one is not what it lies on.
    let is_local = place
        .base
        .as_ref()
        .and_then(|mount| facts.value(mount, &mount::CLASS))
        .is_some_and(MountClass::is_block);
    if miss.kind == MissKind::TimedOut && is_local {
        ProspectiveTarget {
            base: None,
            ..place
        }
    } else {
        place
    }
}

const SEE_WHY: &str = "find the reason in the kernel log (dmesg -T), unmount the file system, and repair it before it is used again";

/// Whether only a device is meant by this path. Memory is shared in files below /dev/shm
/// (`shm_overview(7)`).
fn names_a_device(path: &Path) -> bool {
    let path = lexical(path);
    path.starts_with("/dev") && !path.starts_with("/dev/shm")
}

/// A directory that is to be created beneath the nearest one that exists.
fn created(host: &dyn Host, path: &Path, facts: &mut FactSet) -> Option<ProspectiveTarget> {
    let shown = safe(path_bytes(path));
    if let Ok(to) = host.link(path) {
        facts.warn(TargetNote::DeadLink {
            path: shown,
            to: safe(path_bytes(&to)),
        });
        return None;
    }
    for parent in path.ancestors().skip(1) {
        match host.stat(parent) {
            Ok(stat) if stat.is_dir() => {
                let real = host.real_path(parent).unwrap_or_else(|_| parent.to_owned());
                let rest = path.strip_prefix(parent).unwrap_or(Path::new(""));
                let place = lexical(&real.join(rest));
                if names_a_device(&place) {
                    facts.warn(TargetNote::NoDevice { path: shown });
                    return None;
                }
                let kind =
                    Reading::known(TargetKind::Created, Source::call(format!("stat {shown}")));
                let base = mount_over(facts, &real);
                let place = ProspectiveTarget {
                    path: place,
                    kind,
                    existing: Some(real),
                    base,
                    io_error: false,
                };
                return Some(placed(facts, place, stat));
            }
            Ok(_) => {
                facts.warn(TargetNote::FileAbove {
                    path: shown,
                    parent: safe(path_bytes(parent)),
                });
                return None;
            }
            Err(miss) if miss.kind == MissKind::Absent => {}
            Err(miss) => {
                facts.warn(TargetNote::PathAsNamed {
                    path: shown,
                    reason: reason(&miss),
                });
                return Some(unseen(facts, lexical(path), &miss));
            }
        }
    }
    facts.warn(TargetNote::NoParent { path: shown });
    None
}

/// A block device; where it is mounted, the directory it is mounted on.
fn device(
    host: &dyn Host,
    path: &Path,
    stat: Stat,
    facts: &mut FactSet,
) -> Option<ProspectiveTarget> {
    let shown = safe(path_bytes(path));
    let real = host.real_path(path).unwrap_or_else(|_| path.to_owned());
    let Some(subject) = device_subject(host, path, &real, stat, facts) else {
        facts.warn(TargetNote::NoKernelDevice { path: shown });
        return None;
    };
    of_device(facts, real, subject, &Source::call(format!("stat {shown}")))
}

/// A device that a capture holds, although nobody looked at its node.
fn known_device(facts: &mut FactSet, path: &Path, miss: &Miss) -> Option<ProspectiveTarget> {
    let shown = safe(path_bytes(path));
    let subject = device_of(facts, &shown)?;
    let Some(source) = facts.get(&subject, &device::PATH).source().cloned() else {
        facts.warn(TargetNote::Refusal {
            path: shown,
            reason: reason(miss),
        });
        return None;
    };
    of_device(facts, path.to_owned(), subject, &source)
}

/// The mount point of a device, or else the device.
fn of_device(
    facts: &mut FactSet,
    path: PathBuf,
    subject: Subject,
    source: &Source,
) -> Option<ProspectiveTarget> {
    let Some(mount) = mounted(facts, &subject) else {
        let kind = Reading::known(TargetKind::Device, source.clone());
        return Some(ProspectiveTarget {
            path,
            kind,
            existing: None,
            base: Some(subject),
            io_error: false,
        });
    };
    let point = facts.value(&mount, &mount::POINT)?;
    facts.warn(TargetNote::MountPoint {
        path: safe(path_bytes(&path)),
        point: point.clone(),
    });
    let kind = Reading::known(TargetKind::Directory, source.clone());
    let mut place = directory(facts, path_of(raw(&point)), kind);
    place.base = Some(mount);
    Some(place)
}

fn device_subject(
    host: &dyn Host,
    path: &Path,
    real: &Path,
    stat: Stat,
    facts: &FactSet,
) -> Option<Subject> {
    device_of_node(host, stat, facts)
        .or_else(|| device_of(facts, &safe(path_bytes(real))))
        .or_else(|| device_of(facts, &safe(path_bytes(path))))
}

/// A mount in sight of the file system on this device.
fn mounted(facts: &FactSet, device: &Subject) -> Option<Subject> {
    let of_device = |mount: &&Subject| {
        facts.resolve(mount, Scope::Device).as_ref() == Some(device)
            || facts.below(mount).contains(device)
    };
    let in_sight = |mount: &&Subject| facts.value(mount, &mount::IN_SIGHT) == Some(true);
    let mut mounts: Vec<&Subject> = facts
        .subjects(Scope::Mount)
        .filter(of_device)
        .filter(in_sight)
        .collect();
    mounts.sort_by_key(|mount| {
        let whole = facts
            .value(mount, &mount::ROOT)
            .is_some_and(|root| root == "/");
        (!whole, mount.name().len())
    });
    mounts.first().copied().cloned()
}

/// The path without `.` and `..`, links not followed: for names that do not exist.
fn lexical(path: &Path) -> PathBuf {
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
