//! The facts of one target that come from its directory or from its place in the stack.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::prospect::ProspectiveTarget;
use crate::facts::catalog::target::{self, Attribute};
use crate::facts::catalog::{device, mount};
use crate::facts::{FactSet, Reading, Scope, Source, Subject, Why};
use crate::host::{Host, path_bytes};
use crate::refusal::refused;
use crate::text::safe;

/// Inode flags by their names here, from linux/fs.h.
const FLAGS: [(u32, Attribute); 3] = [
    (0x0080_0000, Attribute::Nocow),
    (0x8, Attribute::Sync),
    (0x4000, Attribute::JournalData),
];

/// The properties of a directory that exists.
pub struct DirectoryProperties {
    empty: Reading<bool>,
    flags: Reading<Vec<Attribute>>,
}

/// Looks at a target, where there is a directory to look at.
pub fn look(host: &dyn Host, place: &ProspectiveTarget) -> Option<DirectoryProperties> {
    let existing = place.existing.as_ref()?;
    let created = place.kind.value().is_some_and(|kind| kind.is_created());
    let empty = if created {
        Reading::known(
            true,
            Source::call(format!("stat {}", place.subject().name())),
        )
    } else {
        empty(host, existing)
    };
    Some(DirectoryProperties {
        empty,
        flags: flags(host, existing),
    })
}

/// Records everything but the role of the target. `wal` are the WAL directories on its file system.
pub fn put(
    host: &dyn Host,
    place: &ProspectiveTarget,
    look: Option<DirectoryProperties>,
    wal: &[PathBuf],
    swapping: Option<&BTreeSet<Subject>>,
    facts: &mut FactSet,
) {
    let subject = place.subject();
    let resolved = Source::call(format!("realpath {}", subject.name()));
    facts.know(&subject, &target::PATH, subject.name().to_owned(), resolved);
    facts.put(&subject, &target::KIND, place.kind.clone());
    if let Some(base) = &place.base {
        facts.stand(&subject, base);
        facts.link(&subject, base);
        if base.scope() == Scope::Device {
            facts.rule_out(&subject, Scope::Mount);
        } else if diskless(facts, base) {
            facts.rule_out(&subject, Scope::Device);
        }
        if let Some(device) = facts.resolve(base, Scope::Device) {
            facts.link(&subject, &device);
        }
    }
    facts.put(
        &subject,
        &target::SWAP_BESIDE,
        swap_beside(facts, &subject, swapping),
    );
    let io_error = match &place.kind {
        _ if place.io_error => {
            Reading::known(true, Source::call(format!("stat {}", subject.name())))
        }
        kind => kind.clone().map(|_| false),
    };
    facts.put(&subject, &target::IO_ERROR, io_error);
    if let Reading::Unknown {
        why,
        detail,
        remedy,
    } = &place.kind
    {
        let (why, detail, remedy) = (*why, detail.clone(), remedy.clone());
        facts.put(
            &subject,
            &target::EMPTY,
            Reading::Unknown {
                why,
                detail: detail.clone(),
                remedy: remedy.clone(),
            },
        );
        facts.put(
            &subject,
            &target::FLAGS,
            Reading::Unknown {
                why,
                detail,
                remedy,
            },
        );
    }
    if let Some(DirectoryProperties { empty, flags }) = look {
        facts.put(&subject, &target::EMPTY, empty);
        facts.put(&subject, &target::FLAGS, flags);
        let flags = facts.get(&subject, &target::FLAGS);
        if let Some(nocow) = nocow(host, facts, place, wal, &flags) {
            facts.put(&subject, &target::NOCOW, nocow);
        }
    }
}

/// Whether a file system has no block device of this machine beneath it, by its kind.
fn diskless(facts: &FactSet, base: &Subject) -> bool {
    facts
        .value(base, &mount::CLASS)
        .is_some_and(mount::MountClass::is_diskless)
}

/// Whether the directory is empty; an empty `lost+found` does not count.
fn empty(host: &dyn Host, directory: &Path) -> Reading<bool> {
    let shown = safe(path_bytes(directory));
    match host.is_empty(directory) {
        Ok(nothing) => Reading::known(nothing, Source::file(shown)),
        Err(miss) => refused(&miss, &shown),
    }
}

/// Inode flags; a directory that is to be created inherits them from the one it is created in.
fn flags(host: &dyn Host, directory: &Path) -> Reading<Vec<Attribute>> {
    let call = format!("FS_IOC_GETFLAGS {}", safe(path_bytes(directory)));
    match host.flags(directory) {
        Ok(bits) => {
            let set = FLAGS
                .iter()
                .filter(|(bit, _)| bits & bit != 0)
                .map(|(_, flag)| *flag);
            Reading::known(set.collect(), Source::call(call))
        }
        Err(miss) => refused(&miss, &call),
    }
}

/// Whether btrfs overwrites new files in place; nothing to say on any other file system, and
/// nothing certain when the directory of the WAL differs from that of the data.
fn nocow(
    host: &dyn Host,
    facts: &FactSet,
    place: &ProspectiveTarget,
    wal: &[PathBuf],
    flags: &Reading<Vec<Attribute>>,
) -> Option<Reading<bool>> {
    let base = place
        .base
        .as_ref()
        .filter(|base| base.scope() == Scope::Mount)?;
    if facts.value(base, &mount::FSTYPE)? != "btrfs" {
        return None;
    }
    let by_mount = facts.get(base, &mount::BTRFS_NODATACOW);
    if by_mount.value() == Some(&true) {
        return Some(by_mount);
    }
    let has_flag = |flags: Vec<Attribute>| flags.iter().any(|flag| flag.is_nocow());
    let by_flag = flags.clone().map(has_flag);
    for directory in wal {
        let of_wal = self::flags(host, directory).map(has_flag);
        if of_wal.value() != by_flag.value() && of_wal.is_known() && by_flag.is_known() {
            let (data, wal) = (place.subject(), safe(path_bytes(directory)));
            let detail = format!(
                "one of {} and {wal} has the flag +C, the other has not",
                data.name()
            );
            return Some(Reading::unknown(Why::Ambiguous, detail));
        }
    }
    Some(if by_flag.value() == Some(&false) && !by_mount.is_known() {
        by_mount
    } else {
        by_flag
    })
}

/// The disks at the bottom of every device that holds swap, several paths to one as one; `None`
/// where that was not read.
pub fn swapping_leaves(facts: &FactSet) -> Option<BTreeSet<Subject>> {
    let known = facts.known(&device::SWAP);
    let swapping = known
        .iter()
        .filter(|(_, swap)| *swap)
        .flat_map(|(device, _)| facts.disks(device));
    (!known.is_empty()).then(|| swapping.collect())
}

fn swap_beside(
    facts: &FactSet,
    target: &Subject,
    swapping: Option<&BTreeSet<Subject>>,
) -> Reading<Vec<String>> {
    if facts.lacks(target, Scope::Device) {
        return Reading::known(Vec::new(), Source::derived([mount::CLASS.name()]));
    }
    let disks = facts.disks(target);
    if disks.is_empty() {
        return Reading::unknown(
            Why::Absent,
            format!("a block device under {}", target.name()),
        );
    }
    let Some(swapping) = swapping else {
        return Reading::unknown(Why::NotCollected, "which devices hold swap");
    };
    let both = disks
        .iter()
        .filter(|disk| swapping.contains(disk))
        .map(|disk| disk.name().to_owned());
    Reading::known(both.collect(), Source::derived(["device.swap"]))
}
