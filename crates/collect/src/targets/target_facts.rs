use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{ProspectiveTarget, unknown_disks_reading};
use crate::facts::catalog::target::{self, InodeFlag};
use crate::facts::catalog::{device, mount};
use crate::facts::{FactSet, Reading, Scope, Source, Subject};
use crate::host::Host;
use crate::host_readings::{file_reading, syscall_reading};
use crate::text::display_path;

const INODE_FLAGS: [(u32, InodeFlag); 3] = [
    (0x0080_0000, InodeFlag::Nocow),
    (0x8, InodeFlag::Sync),
    (0x4000, InodeFlag::JournalData),
];

pub struct DirectoryProperties {
    empty: Reading<bool>,
    flags: Reading<Vec<InodeFlag>>,
}

/// A directory that is still to be created counts as empty and inherits its parent's inode flags.
/// `None` if the target has no readable directory.
pub fn read_directory_properties(
    host: &dyn Host,
    place: &ProspectiveTarget,
) -> Option<DirectoryProperties> {
    let existing = place.existing.as_ref()?;
    let created = place
        .kind
        .value()
        .is_some_and(|kind| kind.is_to_be_created());
    let empty = if created {
        let call = format!("stat {}", place.subject().name());
        Reading::known(true, Source::from_system_call(call))
    } else {
        // An empty `lost+found` does not count.
        file_reading(host.is_directory_empty(existing), &display_path(existing))
    };
    let flags = inode_flags(host, existing);
    Some(DirectoryProperties { empty, flags })
}

/// Records the facts of the target, and links the target to its mount or device. `wal` holds the
/// WAL and redo directories on the target's file system.
pub fn record_target_facts(
    host: &dyn Host,
    place: &ProspectiveTarget,
    look: Option<DirectoryProperties>,
    wal: &[PathBuf],
    swapping: Option<&BTreeSet<Subject>>,
    facts: &mut FactSet,
) {
    let subject = place.subject();
    let resolved = Source::from_system_call(format!("realpath {}", subject.name()));
    facts.insert_known(&subject, &target::PATH, subject.name().to_owned(), resolved);
    facts.insert(&subject, &target::KIND, place.kind.clone());
    if let Some(base) = &place.base {
        facts.add_layer_below(&subject, base);
        facts.set_fact_link(&subject, base);
        if base.scope() == Scope::Device {
            facts.mark_scope_inapplicable(&subject, Scope::Mount);
        } else if facts
            .value(base, &mount::CLASS)
            .is_some_and(mount::MountClass::is_without_local_storage)
        {
            facts.mark_scope_inapplicable(&subject, Scope::Device);
        }
        if let Some(device) = facts.applicable_subject(base, Scope::Device) {
            facts.set_fact_link(&subject, &device);
        }
    }
    facts.insert(
        &subject,
        &target::SWAP_BESIDE,
        target_disks_with_swap(facts, &subject, swapping),
    );
    let io_error = match &place.kind {
        _ if place.io_error => Reading::known(
            true,
            Source::from_system_call(format!("stat {}", subject.name())),
        ),
        kind => kind.clone().map(|_| false),
    };
    facts.insert(&subject, &target::IO_ERROR, io_error);
    if !place.kind.is_known() {
        let empty = place.kind.clone().into_unknown_reading();
        facts.insert(&subject, &target::EMPTY, empty);
        let flags = place.kind.clone().into_unknown_reading();
        facts.insert(&subject, &target::FLAGS, flags);
    }
    if let Some(DirectoryProperties { empty, flags }) = look {
        facts.insert(&subject, &target::EMPTY, empty);
        facts.insert(&subject, &target::FLAGS, flags);
        let flags = facts.get(&subject, &target::FLAGS);
        if let Some(nocow) = btrfs_nocow(host, facts, place, wal, &flags) {
            facts.insert(&subject, &target::NOCOW, nocow);
        }
    }
}

/// The directory's inode flags, which new directories in it inherit.
fn inode_flags(host: &dyn Host, directory: &Path) -> Reading<Vec<InodeFlag>> {
    let call = format!("FS_IOC_GETFLAGS {}", display_path(directory));
    syscall_reading(host.inode_flags(directory), &call).map(|bits| {
        let set = INODE_FLAGS.iter().filter(|(bit, _)| bits & bit != 0);
        set.map(|(_, flag)| *flag).collect()
    })
}

/// Whether btrfs overwrites new files in place. `None` on other file systems; unknown if this
/// differs between the directories of WAL and data.
fn btrfs_nocow(
    host: &dyn Host,
    facts: &FactSet,
    place: &ProspectiveTarget,
    wal: &[PathBuf],
    flags: &Reading<Vec<InodeFlag>>,
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
    let has_flag = |flags: Vec<InodeFlag>| flags.iter().any(|flag| flag.is_nocow());
    let by_flag = flags.clone().map(has_flag);
    for directory in wal {
        let of_wal = self::inode_flags(host, directory).map(has_flag);
        if of_wal.value() != by_flag.value() && of_wal.is_known() && by_flag.is_known() {
            let (data, wal) = (place.subject(), display_path(directory));
            let detail = format!("only one of {} and {wal} has the flag +C", data.name());
            return Some(Reading::ambiguous(detail));
        }
    }
    Some(if by_flag.value() == Some(&false) && !by_mount.is_known() {
        by_mount
    } else {
        by_flag
    })
}

/// The disks below all swap devices; several paths to one disk count once. `None` if swap was not
/// read.
pub fn swap_disks(facts: &FactSet) -> Option<BTreeSet<Subject>> {
    let known = facts.known_values_by_subject(&device::SWAP);
    let swapping = known
        .iter()
        .filter(|(_, swap)| *swap)
        .flat_map(|(device, _)| facts.distinct_bottom_disks(device));
    (!known.is_empty()).then(|| swapping.collect())
}

fn target_disks_with_swap(
    facts: &FactSet,
    target: &Subject,
    swapping: Option<&BTreeSet<Subject>>,
) -> Reading<Vec<String>> {
    if facts.is_scope_inapplicable(target, Scope::Device) {
        return Reading::known(Vec::new(), Source::derived_from([mount::CLASS.name()]));
    }
    let disks = facts.distinct_bottom_disks(target);
    if disks.is_empty() {
        return unknown_disks_reading(target);
    }
    let Some(swapping) = swapping else {
        return Reading::uncollected("the swap devices are unknown");
    };
    let both = disks
        .iter()
        .filter(|disk| swapping.contains(disk))
        .map(|disk| disk.name().to_owned());
    Reading::known(both.collect(), Source::derived_from(["device.swap"]))
}
