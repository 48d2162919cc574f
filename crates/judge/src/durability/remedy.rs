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

/// The fix for a cause, or the reason why nothing on this host helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictRemedy {
    /// Whether the fix can be made on this host.
    pub here: bool,
    /// One or more sentences.
    pub text: String,
}

impl VerdictRemedy {
    pub fn new(text: String) -> Self {
        Self { here: true, text }
    }

    pub(crate) fn set_setting(server: &Subject, setting: &str, value: &str) -> Self {
        let server = server.name();
        Self::new(match setting {
            // The remedy includes `sync`, because writes made while fsync was off may exist only
            // in the kernel's memory.
            "fsync" => format!(
                "Set fsync = {value} for the server on {server}, reload it, then run `sync`."
            ),
            _ => format!("Set {setting} = {value} for the server on {server}."),
        })
    }

    pub(crate) fn enable_barriers(mount: &Subject) -> Self {
        Self::new(format!("Remount {} with barriers on.", mount.name()))
    }

    pub(crate) fn add_journal(mount: &Subject) -> Self {
        Self::new(match mount.name() {
            ROOT => "From a rescue system, run `e2fsck -f DEVICE` and `tune2fs -O has_journal DEVICE` on the device of /.".to_owned(),
            point => format!("Unmount {point}, run `e2fsck -f DEVICE`, then `tune2fs -O has_journal DEVICE`."),
        })
    }

    /// Mount an ext3 or ext4 file system without the option that skips loading the journal.
    pub(crate) fn load_journal(mount: &Subject) -> Self {
        Self::new(match mount.name() {
            ROOT => "Remove norecovery from rootflags= and from the line for / in /etc/fstab, then reboot.".to_owned(),
            point => format!("Unmount {point}, then mount it without norecovery, so that its journal is loaded."),
        })
    }

    pub(crate) fn move_out_of_memory(what: &Subject) -> Self {
        Self::new(format!(
            "Move the data from {}, which is stored in memory, to a file system on a disk.",
            what.name()
        ))
    }

    pub(crate) fn write_back_queue(device: &Subject) -> Self {
        Self::new(format!(
            "Set queue/write_cache of {} to `write back`, and remove the setting that overrides it (udev rule, tuned, rc.local).",
            device.name()
        ))
    }

    pub(crate) fn replace_disk(disk: &Subject) -> Self {
        Self::new(format!(
            "Copy the data from {}, then replace the disk.",
            disk.name()
        ))
    }

    pub(crate) fn restore_array(array: &Subject) -> Self {
        Self::new(format!(
            "Reattach the missing members of {} (`mdadm ARRAY --re-add DEVICE`, `zpool online POOL DEVICE`), or restore the data from a backup.",
            array.name()
        ))
    }

    pub(crate) fn repair_mapping(device: &Subject) -> Self {
        Self::new(format!(
            "Repair {} (LVM: `lvconvert --repair VG/LV`), or restore the data from a backup.",
            device.name()
        ))
    }

    pub(crate) fn rebuild_array(array: &Subject) -> Self {
        Self::new(format!(
            "Replace the missing member of {}, and let the array rebuild before doing anything else.",
            array.name()
        ))
    }

    /// Find the layer that loses flushes; nothing on this host shows which one it is.
    pub(crate) fn find_lost_flushes(target: &Subject) -> Self {
        Self {
            here: false,
            text: format!(
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
    distinct.sort_by_key(|mend| !mend.here);
    let here = distinct.first()?.here;
    let more = distinct.len().saturating_sub(MAX_REMEDIES);
    let most = distinct.iter().take(MAX_REMEDIES);
    let mut says: Vec<String> = most.map(|mend| mend.text.clone()).collect();
    if more > 0 {
        says.push(format!("Further causes listed in the evidence: {more}."));
    }
    Some((here, says.join(" ")))
}

const MAX_REMEDIES: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_file_system_remedy_never_unmounts() {
        for remedy in [VerdictRemedy::add_journal, VerdictRemedy::load_journal] {
            let [root, data] = ["/", "/data"].map(|point| remedy(&Subject::mount(point)).text);
            assert!(!root.contains("nmount"), "{root}");
            assert!(data.starts_with("Unmount /data, "), "{data}");
        }
    }
}
