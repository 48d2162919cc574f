//! Remedies for causes that endanger a commit. Evidence of such a cause always carries a remedy,
//! because `EvidenceImpact` requires one.

use crate::facts::catalog::target::VerdictKind;
use crate::rules::FixOrReason;

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

/// The fix for a cause, or the reason why nothing on this host helps.
pub type VerdictRemedy = FixOrReason;

impl VerdictRemedy {
    pub fn new(text: String) -> Self {
        Self { here: true, text }
    }

    pub(crate) fn set_setting(server: &str, setting: &str, value: &str) -> Self {
        Self::new(match setting {
            // The remedy includes `sync`, because writes made while fsync was off may exist only
            // in the kernel's memory.
            "fsync" => format!(
                "Set fsync = {value} for the server on {server}, reload it, then run `sync`."
            ),
            _ => format!("Set {setting} = {value} for the server on {server}."),
        })
    }

    pub(crate) fn enable_barriers(mount: &str) -> Self {
        Self::new(format!("Remount {mount} with barriers on."))
    }

    pub(crate) fn add_journal(mount: &str) -> Self {
        Self::new(match mount {
            ROOT => "From a rescue system, run `e2fsck -f DEVICE` and `tune2fs -O has_journal DEVICE` on the device of /.".to_owned(),
            point => format!("Unmount {point}, run `e2fsck -f DEVICE`, then `tune2fs -O has_journal DEVICE`."),
        })
    }

    /// Mount an ext3 or ext4 file system without the option that skips loading the journal.
    pub(crate) fn load_journal(mount: &str) -> Self {
        Self::new(match mount {
            ROOT => "Remove norecovery from rootflags= and from the line for / in /etc/fstab, then reboot.".to_owned(),
            point => format!("Unmount {point}, then mount it without norecovery, so that its journal is loaded."),
        })
    }

    pub(crate) fn move_out_of_memory(name: &str) -> Self {
        Self::new(format!(
            "Move the data from {name}, which is stored in memory, to a file system on a disk."
        ))
    }

    pub(crate) fn write_back_queue(device: &str) -> Self {
        Self::new(format!(
            "Set queue/write_cache of {device} to `write back`, and remove the setting that overrides it (udev rule, tuned, rc.local)."
        ))
    }

    pub(crate) fn replace_disk(disk: &str) -> Self {
        Self::new(format!("Copy the data from {disk}, then replace the disk."))
    }

    pub(crate) fn restore_array(array: &str) -> Self {
        Self::new(format!(
            "Reattach the missing members of {array} (`mdadm ARRAY --re-add DEVICE`, `zpool online POOL DEVICE`), or restore the data from a backup."
        ))
    }

    pub(crate) fn repair_mapping(device: &str) -> Self {
        Self::new(format!(
            "Repair {device} (LVM: `lvconvert --repair VG/LV`), or restore the data from a backup."
        ))
    }

    pub(crate) fn rebuild_array(array: &str) -> Self {
        Self::new(format!(
            "Replace the missing member of {array}, and let the array rebuild before doing anything else."
        ))
    }

    /// Find the layer that loses flushes; nothing on this host shows which one it is.
    pub(crate) fn find_lost_flushes(target: &str) -> Self {
        Self {
            here: false,
            text: format!(
                "No fix is known. A layer between the server and the disks of {target} loses flushes: \
                 check each layer, the disks, the controller and the hypervisor."
            ),
        }
    }
}

/// Mount point of the root file system, which cannot be unmounted while the system runs.
const ROOT: &str = "/";

/// The first `MAX_REMEDIES` remedies as one, which is for this host if the first remedy is. Remedies
/// for this host come first.
pub fn joined_remedy(remedies: &[&VerdictRemedy]) -> Option<VerdictRemedy> {
    let mut distinct: Vec<&VerdictRemedy> = Vec::new();
    for remedy in remedies {
        if !distinct.contains(remedy) {
            distinct.push(remedy);
        }
    }
    distinct.sort_by_key(|remedy| !remedy.here);
    let here = distinct.first()?.here;
    let more = distinct.len().saturating_sub(MAX_REMEDIES);
    let most = distinct.iter().take(MAX_REMEDIES);
    let mut sentences: Vec<String> = most.map(|remedy| remedy.text.clone()).collect();
    if more > 0 {
        sentences.push(format!("Further causes listed in the evidence: {more}."));
    }
    let text = sentences.join(" ");
    Some(VerdictRemedy { here, text })
}

const MAX_REMEDIES: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_file_system_remedy_never_unmounts() {
        for remedy in [VerdictRemedy::add_journal, VerdictRemedy::load_journal] {
            let [root, data] = ["/", "/data"].map(|point| remedy(point).text);
            assert!(!root.contains("nmount"), "{root}");
            assert!(data.starts_with("Unmount /data, "), "{data}");
        }
    }
}
