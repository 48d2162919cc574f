//! What would mend a cause that speaks against a commit, each cause by its type; and what a piece of evidence comes to, which
//! cannot speak against a commit without it.
//!
//! It decides nothing. The surprise: some causes nothing on this machine mends, and those say where it is to be done.

use super::Standing;
use crate::facts::Subject;

/// What a piece of evidence comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bears {
    /// Nothing speaks against a commit.
    Durable,
    /// It does not show whether one survives.
    Unproven,
    /// One may be lost, until this is mended.
    AtRisk(Mend),
    /// It disagrees with another layer, until this is mended.
    Contradictory(Mend),
}

impl Bears {
    /// Its word, and what would mend it.
    pub fn parts(self) -> (Standing, Option<Mend>) {
        match self {
            Self::Durable => (Standing::Durable, None),
            Self::Unproven => (Standing::Unproven, None),
            Self::AtRisk(mend) => (Standing::AtRisk, Some(mend)),
            Self::Contradictory(mend) => (Standing::Contradictory, Some(mend)),
        }
    }

    /// Whether nothing speaks against a commit.
    pub fn is_durable(&self) -> bool {
        match self {
            Self::Durable => true,
            Self::Unproven | Self::AtRisk(_) | Self::Contradictory(_) => false,
        }
    }
}

/// What would mend a cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mend {
    /// A setting of a server gets this value.
    Set {
        /// The setting as the server calls it.
        setting: &'static str,
        /// Its value.
        value: &'static str,
        /// The server.
        server: Subject,
    },
    /// A setting of a server is left to its default.
    LeaveOut {
        /// The setting as the server calls it.
        setting: &'static str,
        /// The server.
        server: Subject,
    },
    /// A server starts without a library.
    Unload {
        /// The library.
        library: String,
        /// The server.
        server: Subject,
    },
    /// A file system sends flushes again.
    Barriers(Subject),
    /// A file system of the ext family gets a journal.
    Journal(Subject),
    /// A file system of the ext family that never has a journal gives way to one that has.
    JournalLess(Subject),
    /// What lies in memory goes to a disk.
    OutOfMemory(Subject),
    /// An overlay is mounted without `volatile`.
    Overlay(Subject),
    /// A dataset of ZFS obeys flushes again.
    ZfsSync(Subject),
    /// ZFS flushes its disks again.
    ZfsFlush,
    /// A queue says write back again.
    Queue(Subject),
    /// A controller's battery is replaced.
    Battery(Subject),
    /// The caches of a volume's member disks are switched off.
    MemberCaches(Subject),
    /// The data goes to a disk that outlives its machine.
    LastingDisk(Subject),
    /// A disk is replaced, because what keeps its memory alive has failed.
    Replace(Subject),
    /// An array that has failed gets its members back, and its data from a backup.
    Restore(Subject),
    /// An array gets the member that it lacks.
    Rebuild(Subject),
    /// Flushes are lost where nothing on this machine shows it.
    LostBelow(Subject),
}

impl Mend {
    /// Whether it can be done on this machine.
    pub fn is_here(&self) -> bool {
        match self {
            Self::LostBelow(_) => false,
            Self::Set { .. }
            | Self::LeaveOut { .. }
            | Self::Unload { .. }
            | Self::Barriers(_)
            | Self::Journal(_)
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
            | Self::Rebuild(_) => true,
        }
    }

    /// In a sentence for people.
    pub fn sentence(&self) -> String {
        match self {
            // What was written while it was off is in the kernel alone.
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
                "Take {setting} out of the option files of the server on {}, and restart it.",
                server.name()
            ),
            Self::Unload { library, server } => {
                format!("Start the server on {} without {library}.", server.name())
            }
            Self::Barriers(mount) => {
                format!("Mount {} without the option that turns barriers off.", mount.name())
            }
            Self::Journal(mount) => {
                format!(
                    "Unmount {}, run e2fsck -f, then give it a journal: tune2fs -O has_journal.",
                    mount.name()
                )
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
                    "Write `write back` into queue/write_cache of {}, and end what overrides it.",
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
            Self::Rebuild(array) => {
                format!(
                    "Replace the member that {} lacks, and let it rebuild before anything else.",
                    array.name()
                )
            }
            Self::LostBelow(target) => format!(
                "None is known: something between the server and the disks of {} loses flushes; check each layer, its disks, \
                 its controller and the hypervisor.",
                target.name()
            ),
        }
    }
}

/// The remedies of all that decides, those for this machine first: whether there is one here, and the sentences.
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
    let mut says: Vec<String> = distinct.iter().take(MOST).map(|mend| mend.sentence()).collect();
    if more > 0 {
        says.push(format!("{more} more causes are in the evidence."));
    }
    Some((here, says.join(" ")))
}

/// How many remedies are told.
const MOST: usize = 3;
