//! The remedies of causes that endanger a commit, each cause by its type; and the weight of a piece
//! of evidence, which cannot endanger a commit without a remedy.
//!
//! Decisions are left to [`super::join`]. Some causes cannot be mended on this machine; their
//! remedies name the place.

use crate::facts::Subject;
use crate::facts::catalog::target::Standing;

/// The weight of a piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bears {
    /// Nothing endangers a commit.
    Durable,
    /// Whether a commit survives is unknown.
    Unproven,
    /// A commit may be lost, until this is mended.
    AtRisk(Mend),
    /// It contradicts another layer, until this is mended.
    Contradictory(Mend),
}

impl Bears {
    /// The standing, and the remedy.
    pub fn parts(self) -> (Standing, Option<Mend>) {
        match self {
            Self::Durable => (Standing::Durable, None),
            Self::Unproven => (Standing::Unproven, None),
            Self::AtRisk(mend) => (Standing::AtRisk, Some(mend)),
            Self::Contradictory(mend) => (Standing::Contradictory, Some(mend)),
        }
    }

    /// Whether nothing endangers a commit.
    pub fn is_durable(&self) -> bool {
        matches!(self, Self::Durable)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mend {
    /// Give this value to a setting of a server.
    Set {
        /// The setting's name in the server.
        setting: &'static str,
        value: &'static str,
        server: Subject,
    },
    /// Leave a setting of a server to its default.
    LeaveOut {
        /// The setting's name in the server.
        setting: &'static str,
        server: Subject,
    },
    /// Start a server without a preloaded library.
    Unload { library: String, server: Subject },
    /// Make a file system send flushes again.
    Barriers(Subject),
    /// Give a file system of the ext family a journal.
    Journal(Subject),
    /// Mount a file system of the ext family so that it loads its journal.
    Recovery(Subject),
    /// Replace an ext file system that cannot have a journal by one that can.
    JournalLess(Subject),
    /// Move data from memory to a disk.
    OutOfMemory(Subject),
    /// Mount an overlay without `volatile`.
    Overlay(Subject),
    /// Make a ZFS dataset obey flushes again.
    ZfsSync(Subject),
    /// Make ZFS flush its disks again.
    ZfsFlush,
    /// Set a queue to write back again.
    Queue(Subject),
    /// Replace a controller's battery.
    Battery(Subject),
    /// Switch off the caches of a volume's member disks.
    MemberCaches(Subject),
    /// Move the data to a disk that outlives its machine.
    LastingDisk(Subject),
    /// Replace a disk whose memory backup has failed.
    Replace(Subject),
    /// Restore a failed array: its members, and the data from a backup.
    Restore(Subject),
    /// Repair a mapped device that has failed, or restore its data from a backup.
    Repair(Subject),
    /// Restore the files of a ZFS pool that are damaged.
    Damaged(Subject),
    /// Add the missing member to an array.
    Rebuild(Subject),
    Rule {
        /// Whether it can be done on this machine.
        here: bool,
        /// The remedy as a sentence.
        text: String,
    },
    /// Find the layer that loses flushes; nothing on this machine shows it.
    LostBelow(Subject),
}

impl Mend {
    /// Whether it can be done on this machine.
    pub fn is_here(&self) -> bool {
        match self {
            Self::LostBelow(_) => false,
            Self::Rule { here, .. } => *here,
            Self::Set { .. }
            | Self::LeaveOut { .. }
            | Self::Unload { .. }
            | Self::Barriers(_)
            | Self::Journal(_)
            | Self::Recovery(_)
            | Self::JournalLess(_)
            | Self::OutOfMemory(_)
            | Self::Overlay(_)
            | Self::ZfsSync(_)
            | Self::ZfsFlush
            | Self::Queue(_)
            | Self::Battery(_)
            | Self::MemberCaches(_)
            | Self::LastingDisk(_)
            | Self::Replace(_)
            | Self::Restore(_)
            | Self::Repair(_)
            | Self::Damaged(_)
            | Self::Rebuild(_) => true,
        }
    }

    /// The remedy as a sentence.
    pub fn sentence(&self) -> String {
        match self {
            // Writes made while it was off exist only in the kernel's memory.
            Self::Set { setting: "fsync", value, server } => {
                format!(
                    "Set fsync = {value} for the server on {}, reload it, then run `sync`.",
                    server.name()
                )
            }
            Self::Set { setting, value, server } => {
                format!("Set {setting} = {value} for the server on {}.", server.name())
            }
            Self::LeaveOut { setting, server } => format!(
                "Remove {setting} from the option files of the server on {}, and restart it.",
                server.name()
            ),
            Self::Unload { library, server } => {
                format!("Start the server on {} without {library}.", server.name())
            }
            Self::Barriers(mount) => {
                format!("Mount {} without the option that turns barriers off.", mount.name())
            }
            Self::Journal(mount) if mount.name() == ROOT => {
                "From a rescue system, run e2fsck -f on the device of /, then tune2fs -O has_journal."
                    .to_owned()
            }
            Self::Journal(mount) => {
                format!("Unmount {}, run e2fsck -f, then tune2fs -O has_journal.", mount.name())
            }
            Self::Recovery(mount) if mount.name() == ROOT => {
                "Boot without norecovery in rootflags= and in the line of / in /etc/fstab.".to_owned()
            }
            Self::Recovery(mount) => {
                format!("Unmount {}, and mount it without norecovery, which loads its journal.", mount.name())
            }
            Self::JournalLess(mount) => {
                format!("Move the data from {} to a file system with a journal.", mount.name())
            }
            Self::OutOfMemory(what) => {
                format!("Move the data from {}, which is memory, to a file system on a disk.", what.name())
            }
            Self::Overlay(mount) => format!(
                "Mount the overlay {} without volatile, or keep the data on a volume beside it.",
                mount.name()
            ),
            Self::ZfsSync(mount) => format!("Set sync=standard for the dataset at {}.", mount.name()),
            Self::ZfsFlush => "Set zfs_nocacheflush and zil_nocacheflush of the ZFS module to 0.".to_owned(),
            Self::Queue(device) => {
                format!(
                    "Write `write back` into queue/write_cache of {}, and stop what overrides it.",
                    device.name()
                )
            }
            Self::Battery(disk) => format!(
                "Replace the battery of the controller of {}, and set its cache to write through until then.",
                disk.name()
            ),
            Self::MemberCaches(disk) => format!(
                "Switch off the caches of the disks behind {} with the controller's tool.",
                disk.name()
            ),
            Self::LastingDisk(disk) => {
                format!("Move the data from {} to a disk that outlives its machine.", disk.name())
            }
            Self::Replace(disk) => format!("Copy the data away from {} and replace it.", disk.name()),
            Self::Restore(array) => format!(
                "Bring back the members that {} lacks, or restore the data from a backup.",
                array.name()
            ),
            Self::Repair(device) => format!(
                "Repair {} (for volumes of LVM: lvconvert --repair), or restore the data from a backup.",
                device.name()
            ),
            Self::Damaged(mount) => format!(
                "Restore from a backup what `zpool status -v` lists for the pool of {}, then run zpool scrub.",
                mount.name()
            ),
            Self::Rebuild(array) => {
                format!(
                    "Replace the member that {} lacks, and let it rebuild before anything else.",
                    array.name()
                )
            }
            Self::Rule { text, .. } => text.clone(),
            Self::LostBelow(target) => format!(
                "None is known: something between the server and the disks of {} loses flushes; check each layer, its disks, \
                 its controller and the hypervisor.",
                target.name()
            ),
        }
    }
}

/// The mount of the root file system, which cannot be unmounted while the system runs.
const ROOT: &str = "/";

/// The remedies of everything that decides, those for this machine first: whether there is one
/// here, and the sentences.
pub fn told(mends: &[&Mend]) -> Option<(bool, String)> {
    let mut distinct: Vec<&Mend> = Vec::new();
    for mend in mends {
        if !distinct.contains(mend) {
            distinct.push(mend);
        }
    }
    distinct.sort_by_key(|mend| !mend.is_here());
    let here = distinct.first()?.is_here();
    let more = distinct.len().saturating_sub(MOST);
    let mut says: Vec<String> = distinct
        .iter()
        .take(MOST)
        .map(|mend| mend.sentence())
        .collect();
    if more > 0 {
        says.push(format!("{more} more causes are in the evidence."));
    }
    Some((here, says.join(" ")))
}

/// The largest number of remedies that are named.
const MOST: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_to_unmount_the_root_file_system() {
        for remedy in [Mend::Journal, Mend::Recovery] {
            let [root, data] = ["/", "/data"].map(|point| remedy(Subject::mount(point)).sentence());
            assert!(!root.contains("nmount"), "{root}");
            assert!(data.starts_with("Unmount /data, "), "{data}");
        }
    }
}
