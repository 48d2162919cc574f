use serde::{Serialize, Serializer};

use super::VerdictKind;
use crate::facts::catalog::target::FlushDelivery;
use crate::facts::{Choice, Subject, choice};

choice! {
    /// What happens to a commit's flush at one hop: at a server, file system, layer or disk.
    #[derive(Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum FlushState {
        /// Passed on to the hop below.
        Passed = "passed",
        /// Sent to the disk's driver; the disk has to write out its cache.
        FlushSent = "flush sent",
        /// Answered from a cache that a healthy battery or flash module protects.
        Answered = "answered",
        /// Nothing is cached here, so no flush is needed.
        NoCache = "no cache",
        /// Not judged: the commit itself, or a server that does not exist yet.
        NotJudged = "not judged",
        /// It is unknown whether the flush reaches the hop below.
        Unknown = "unknown",
        /// Not visible from where walwise runs.
        Unseen = "unseen",
        /// Two sources contradict each other.
        Disagrees = "DISAGREES",
        /// Dropped, although something below needs the flush.
        Dropped = "DROPPED",
        /// The commit is lost here: in memory or a volatile cache that no flush reaches, or by
        /// damage that a flush cannot prevent.
        LostHere = "LOST HERE",
    }
}

impl FlushState {
    pub fn may_lose_commit(self) -> bool {
        matches!(self, Self::Disagrees | Self::LostHere)
    }

    pub fn is_dropped(self) -> bool {
        matches!(self, Self::Dropped)
    }

    pub fn needs_no_explanation(self) -> bool {
        matches!(
            self,
            Self::Passed | Self::FlushSent | Self::NoCache | Self::NotJudged
        )
    }
}

choice! {
    /// The place in the storage stack that a hop stands for.
    #[derive(Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum HopKind {
        /// The commit, where the path begins.
        Commit = "commit",
        /// A database server, or the place of a future one.
        Server = "server",
        FileSystem = "file system",
        /// A block device on top of other block devices.
        Layer = "layer",
        /// A disk at the bottom of the stack.
        Disk = "disk",
        Members = "members",
        /// The hypervisor below a guest, or the host around a container.
        Beyond = "beyond",
    }
}

impl HopKind {
    pub fn is_disk(self) -> bool {
        matches!(self, Self::Disk)
    }
}

/// A hop of a flush path, possibly merged from several similar ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct FlushHop {
    /// The kind of place: a server, file system, layer, disk, or one of the others.
    pub kind: HopKind,
    /// The subjects that the hop stands for: subjects of equal rank, kind and state share one hop.
    /// Empty for the commit, a future server, and a hypervisor or outer host.
    pub subjects: Vec<Subject>,
    /// Short name: `commit`, `PostgreSQL`, `ext4`, `sda sdb`, `196 disks`.
    pub name: String,
    /// A description without the name: `/data · rw,noatime`. Filled in by the report.
    #[serde(rename = "text")]
    pub text: String,
    /// What happens to the flush at this hop.
    #[serde(rename = "flush")]
    pub state: FlushState,
    /// The deciding evidence, a clause without full stop; empty if there is none.
    pub because: String,
    /// The source of the deciding evidence; empty if that source could not be read.
    pub source: String,
    /// The worst verdict among the hop's evidence.
    pub standing: VerdictKind,
    /// Distance in hops from the commit (0) along the longest path.
    pub rank: u32,
    /// What has happened to the flush before it arrives here; *suppressed* means that none arrives.
    #[serde(serialize_with = "serialize_choice")]
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
    pub arrival: FlushDelivery,
}

fn serialize_choice<T: Choice, S: Serializer>(
    choice: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(choice.as_str())
}
