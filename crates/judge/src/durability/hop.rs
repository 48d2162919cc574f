//! The flush path as a value: the way of a commit from the server down to the disks, hop by hop,
//! with the fate of its flush at each.
//!
//! It is made in [`super::flush_path`] and drawn by the text, the screens and the readers of the
//! JSON. Edges between single devices are in the stack.

use serde::{Serialize, Serializer};

use super::Standing;
use crate::facts::catalog::target::Flush;
use crate::facts::{Choice, Subject, choice};

choice! {
    /// What becomes of a commit's flush at a hop.
    #[derive(Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum Fate {
        /// It is handed on to the hop below.
        Passed = "passed",
        /// It is handed to the disk's driver, and the disk has to write its cache out.
        FlushSent = "flush sent",
        /// It is answered from a cache that a healthy battery or flash module protects.
        Answered = "answered",
        /// Nothing is held back here, so no flush is needed.
        NoCache = "no cache",
        /// It is not judged: the commit itself, or a server that does not exist yet.
        NotJudged = "not judged",
        /// Whether it gets through is not known.
        Unknown = "unknown",
        /// What becomes of it cannot be seen from where walwise runs.
        Unseen = "unseen",
        /// Two sources contradict each other here.
        Disagrees = "DISAGREES",
        /// It ends here, above something that needs it.
        Dropped = "DROPPED",
        /// The commit is lost here: memory or a volatile cache that no flush reaches, or damage
        /// that no flush prevents.
        LostHere = "LOST HERE",
    }
}

impl Fate {
    /// Whether the place is where a commit may be lost, by what was seen.
    pub fn loses(self) -> bool {
        matches!(self, Self::Disagrees | Self::LostHere)
    }

    /// Whether the flush ends here above something that needs it.
    pub fn is_dropped(self) -> bool {
        matches!(self, Self::Dropped)
    }

    /// Whether the hop is as it should be, so that a short form need not say why.
    pub fn is_sound(self) -> bool {
        matches!(
            self,
            Self::Passed | Self::FlushSent | Self::NoCache | Self::NotJudged
        )
    }
}

choice! {
    /// What a hop is.
    #[derive(Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum HopKind {
        /// The commit, where the way begins.
        Commit = "commit",
        /// A database server, or the place of one that is to come.
        Server = "server",
        /// A mounted file system.
        FileSystem = "file system",
        /// A block device on top of others.
        Layer = "layer",
        /// A disk at the bottom, or what looks like one.
        Disk = "disk",
        /// The disks behind a RAID controller.
        Members = "members",
        /// The hypervisor beneath a guest, or the host around a container.
        Beyond = "beyond",
    }
}

impl HopKind {
    /// Whether it is a disk at the bottom.
    pub fn is_disk(self) -> bool {
        matches!(self, Self::Disk)
    }
}

/// One hop of a flush path, or several alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct FlushHop {
    /// What it is.
    pub kind: HopKind,
    /// What stands here. Hops of one rank with the same kind and the same fate are one; the commit,
    /// a server to come and what lies beyond have none.
    pub subjects: Vec<Subject>,
    /// Its short name: `commit`, `PostgreSQL`, `ext4`, `sda sdb`, `196 disks`.
    pub name: String,
    /// What it is in words, without its name: `/data · rw,noatime`. The report gives them.
    #[serde(rename = "text")]
    pub says: String,
    /// What becomes of the flush here.
    #[serde(rename = "flush")]
    pub fate: Fate,
    /// The evidence that decides this, in a sentence without a full stop; empty where there is
    /// none.
    pub because: String,
    /// Where that was read; empty when it could not be.
    pub source: String,
    /// The worst that is known of it.
    pub standing: Standing,
    /// Its place from the top, the commit's being 0: as far down as the longest way to it.
    pub rank: u32,
    /// What has become of the flush on its way here: *suppressed* is the same as none arrives.
    #[serde(serialize_with = "word")]
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
    pub arrival: Flush,
}

fn word<T: Choice, S: Serializer>(choice: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(choice.word())
}
