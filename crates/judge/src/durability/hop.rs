//! The flush path as a value: the hops of a commit from the server to the disks, with the state of
//! its flush at each. It is built in `flush_path` and drawn by reports and screens.

use serde::{Serialize, Serializer};

use super::VerdictKind;
use crate::facts::catalog::target::Flush;
use crate::facts::{Choice, Subject, choice};

choice! {
    /// What happens to a commit's flush at a hop.
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
        /// Whether it gets through is unknown.
        Unknown = "unknown",
        /// Not visible from where walwise runs.
        Unseen = "unseen",
        /// Two sources contradict each other.
        Disagrees = "DISAGREES",
        /// Dropped above something that needs it.
        Dropped = "DROPPED",
        /// The commit is lost here: memory or a volatile cache that no flush reaches, or damage
        /// that no flush prevents.
        LostHere = "LOST HERE",
    }
}

impl FlushState {
    /// Whether a commit may be lost here, as far as is known.
    pub fn loses(self) -> bool {
        matches!(self, Self::Disagrees | Self::LostHere)
    }

    pub fn is_dropped(self) -> bool {
        matches!(self, Self::Dropped)
    }

    /// Whether nothing needs an explanation here.
    pub fn is_sound(self) -> bool {
        matches!(
            self,
            Self::Passed | Self::FlushSent | Self::NoCache | Self::NotJudged
        )
    }
}

choice! {
    /// The kind of a hop.
    #[derive(Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum HopKind {
        /// The commit, where the path begins.
        Commit = "commit",
        /// A database server, or the place of a future one.
        Server = "server",
        FileSystem = "file system",
        /// A block device on top of others.
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

/// A hop of a flush path; several similar ones are merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct FlushHop {
    /// The kind of hop.
    pub kind: HopKind,
    /// What it consists of: hops of one rank, kind and state are merged. Empty for the commit, a
    /// future server and what lies beyond.
    pub subjects: Vec<Subject>,
    /// Its short name: `commit`, `PostgreSQL`, `ext4`, `sda sdb`, `196 disks`.
    pub name: String,
    /// A description without its name: `/data · rw,noatime`. Filled in by the report.
    #[serde(rename = "text")]
    pub text: String,
    /// What happens to the flush here.
    #[serde(rename = "flush")]
    pub state: FlushState,
    /// The deciding evidence, a clause without full stop; empty if there is none.
    pub because: String,
    /// The source of that evidence; empty if it could not be read.
    pub source: String,
    /// The worst verdict of its evidence.
    pub standing: VerdictKind,
    /// Its distance from the commit (0) along the longest path.
    pub rank: u32,
    /// The state of the flush when it arrives here; *suppressed* means that none arrives.
    #[serde(serialize_with = "serialize_choice")]
    #[cfg_attr(any(test, feature = "testing"), schemars(with = "String"))]
    pub arrival: Flush,
}

fn serialize_choice<T: Choice, S: Serializer>(
    choice: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(choice.as_str())
}
