//! Remedies for causes that endanger a commit. Evidence of such a cause always carries a remedy,
//! because `EvidenceImpact` requires one.

use crate::facts::Subject;
use crate::facts::catalog::target::VerdictKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvidenceImpact {
    Durable,
    Unproven,
    /// A commit may be lost until the remedy is applied.
    AtRisk(VerdictRemedy),
    /// The evidence contradicts another layer until the remedy is applied.
    Contradictory(VerdictRemedy),
}

impl EvidenceImpact {
    pub(crate) fn into_verdict_and_remedy(self) -> (VerdictKind, Option<VerdictRemedy>) {
        match self {
            Self::Durable => (VerdictKind::Durable, None),
            Self::Unproven => (VerdictKind::Unproven, None),
            Self::AtRisk(mend) => (VerdictKind::AtRisk, Some(mend)),
            Self::Contradictory(mend) => (VerdictKind::Contradictory, Some(mend)),
        }
    }

    pub fn is_durable(&self) -> bool {
        matches!(self, Self::Durable)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerdictRemedy {
    SetSetting {
        setting: &'static str,
        value: &'static str,
        server: Subject,
    },
    ResetSetting {
        setting: &'static str,
        server: Subject,
    },
    RemovePreload {
        library: String,
        server: Subject,
    },
    EnableBarriers(Subject),
    AddJournal(Subject),
    /// Mount an ext3 or ext4 file system without the option that skips loading the journal.
    LoadJournal(Subject),
    /// Replace ext2, which cannot have a journal.
    ReplaceFileSystem(Subject),
    MoveOutOfMemory(Subject),
    RemountOverlay(Subject),
    ZfsSync(Subject),
    ZfsFlush,
    WriteBackQueue(Subject),
    ReplaceBattery(Subject),
    DisableMemberCaches(Subject),
    PersistentDisk(Subject),
    ReplaceDisk(Subject),
    RestoreArray(Subject),
    RepairMapping(Subject),
    RestorePoolFiles(Subject),
    RebuildArray(Subject),
    Rule {
        here: bool,
        text: String,
    },
    /// Find the layer that loses flushes; nothing on this host shows which one it is.
    FindLostFlushes(Subject),
}

impl VerdictRemedy {
    pub(crate) fn can_be_applied_on_this_host(&self) -> bool {
        match self {
            Self::FindLostFlushes(_) => false,
            Self::Rule { here, .. } => *here,
            Self::SetSetting { .. }
            | Self::ResetSetting { .. }
            | Self::RemovePreload { .. }
            | Self::EnableBarriers(_)
            | Self::AddJournal(_)
            | Self::LoadJournal(_)
            | Self::ReplaceFileSystem(_)
            | Self::MoveOutOfMemory(_)
            | Self::RemountOverlay(_)
            | Self::ZfsSync(_)
            | Self::ZfsFlush
            | Self::WriteBackQueue(_)
            | Self::ReplaceBattery(_)
            | Self::DisableMemberCaches(_)
            | Self::PersistentDisk(_)
            | Self::ReplaceDisk(_)
            | Self::RestoreArray(_)
            | Self::RepairMapping(_)
            | Self::RestorePoolFiles(_)
            | Self::RebuildArray(_) => true,
        }
    }

    pub fn sentence(&self) -> String {
        match self {
            // The remedy includes `sync`, because writes made while fsync was off may exist only in
            // the kernel's memory.
            Self::SetSetting { setting: "fsync", value, server } => {
                format!(
                    "Set fsync = {value} for the server on {}, reload it, then run `sync`.",
                    server.name()
                )
            }
            Self::SetSetting { setting, value, server } => {
                format!("Set {setting} = {value} for the server on {}.", server.name())
            }
            Self::ResetSetting { setting, server } => format!(
                "Remove {setting} from the option files of the server on {}, and restart it.",
                server.name()
            ),
            Self::RemovePreload { library, server } => {
                format!("Start the server on {} without {library}.", server.name())
            }
            Self::EnableBarriers(mount) => {
                format!("Remount {} with barriers on.", mount.name())
            }
            Self::AddJournal(mount) if mount.name() == ROOT => {
                "From a rescue system, run `e2fsck -f DEVICE` and `tune2fs -O has_journal DEVICE` for the device of /."
                    .to_owned()
            }
            Self::AddJournal(mount) => {
                format!("Unmount {}, run `e2fsck -f DEVICE`, then `tune2fs -O has_journal DEVICE`.", mount.name())
            }
            Self::LoadJournal(mount) if mount.name() == ROOT => {
                "Remove norecovery from rootflags= and from the line for / in /etc/fstab, then reboot.".to_owned()
            }
            Self::LoadJournal(mount) => {
                format!("Unmount {}, then mount it without norecovery, so that its journal is loaded.", mount.name())
            }
            Self::ReplaceFileSystem(mount) => {
                format!("Move the data from {} to a file system with a journal.", mount.name())
            }
            Self::MoveOutOfMemory(what) => {
                format!("Move the data from {}, which is stored in memory, to a file system on a disk.", what.name())
            }
            Self::RemountOverlay(mount) => format!(
                "Mount the overlay {} without volatile, or keep the data on a separate volume.",
                mount.name()
            ),
            Self::ZfsSync(mount) => format!("Set sync=standard for the dataset at {}.", mount.name()),
            Self::ZfsFlush => "Set zfs_nocacheflush and zil_nocacheflush of the ZFS module to 0.".to_owned(),
            Self::WriteBackQueue(device) => {
                format!(
                    "Set queue/write_cache of {} to `write back`, and remove the setting that overrides it (udev rule, tuned, rc.local).",
                    device.name()
                )
            }
            Self::ReplaceBattery(disk) => format!(
                "Replace the battery of the controller of {}, and set its cache to write through until then.",
                disk.name()
            ),
            Self::DisableMemberCaches(disk) => format!(
                "Switch off the write caches of the disks behind {} with the controller's tool.",
                disk.name()
            ),
            Self::PersistentDisk(disk) => {
                format!("Move the data from {} to a persistent disk.", disk.name())
            }
            Self::ReplaceDisk(disk) => format!("Copy the data off {} and replace it.", disk.name()),
            Self::RestoreArray(array) => format!(
                "Reattach the missing members of {} (`mdadm ARRAY --re-add DEVICE`, `zpool online POOL DEVICE`), or restore the data from a backup.",
                array.name()
            ),
            Self::RepairMapping(device) => format!(
                "Repair {} (LVM: `lvconvert --repair VG/LV`), or restore the data from a backup.",
                device.name()
            ),
            Self::RestorePoolFiles(mount) => format!(
                "Restore the files that `zpool status -v` lists for the pool of {}, then run `zpool scrub POOL`.",
                mount.name()
            ),
            Self::RebuildArray(array) => {
                format!(
                    "Replace the missing member of {}, and let the array rebuild before doing anything else.",
                    array.name()
                )
            }
            Self::Rule { text, .. } => text.clone(),
            Self::FindLostFlushes(target) => format!(
                "No fix is known. A layer between the server and the disks of {} loses flushes: \
                 check each layer, the disks, the controller and the hypervisor.",
                target.name()
            ),
        }
    }
}

/// Mount point of the root file system, which cannot be unmounted while the system runs.
const ROOT: &str = "/";

/// Whether the first remedy can be applied on this host, and the sentences of the first
/// `MAX_REMEDIES` remedies. Remedies for this host come first.
pub fn remedies_summary(mends: &[&VerdictRemedy]) -> Option<(bool, String)> {
    let mut distinct: Vec<&VerdictRemedy> = Vec::new();
    for mend in mends {
        if !distinct.contains(mend) {
            distinct.push(mend);
        }
    }
    distinct.sort_by_key(|mend| !mend.can_be_applied_on_this_host());
    let here = distinct.first()?.can_be_applied_on_this_host();
    let more = distinct.len().saturating_sub(MAX_REMEDIES);
    let mut says: Vec<String> = distinct
        .iter()
        .take(MAX_REMEDIES)
        .map(|mend| mend.sentence())
        .collect();
    if more > 0 {
        says.push(format!("{more} more causes are listed in the evidence."));
    }
    Some((here, says.join(" ")))
}

const MAX_REMEDIES: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_file_system_remedy_never_unmounts() {
        for remedy in [VerdictRemedy::AddJournal, VerdictRemedy::LoadJournal] {
            let [root, data] = ["/", "/data"].map(|point| remedy(Subject::mount(point)).sentence());
            assert!(!root.contains("nmount"), "{root}");
            assert!(data.starts_with("Unmount /data, "), "{data}");
        }
    }
}
