//! The targets of advice, and the conclusions about them.

facts! {
    /// The directory, or the block device.
    PATH: String = Target "target.path" ValueKind::Text;
    /// Kind of target: an existing `directory`, one that is to be `created`, or a block `device`.
    KIND: TargetKind = Target "target.kind", concluded;
    /// What database servers keep on its file system: `data`, `wal`, `tablespace`, `redo`,
    /// `binlog`, `doublewrite`, `undo`; empty when unused.
    ROLES: Vec<Role> = Target "target.roles" ValueKind::Choices(Role::WORDS), concluded;
    /// Those directories, each after its role, such as `wal /srv/fast/wal`.
    DIRECTORIES: Vec<String> = Target "target.directories" ValueKind::List, concluded;
    /// Data directories of the database servers that use it.
    CLUSTERS: Vec<String> = Target "target.clusters" ValueKind::List, concluded;
    /// Whether accessing it fails with an I/O error, as on an XFS that has shut itself down
    /// (`xfs_vn_getattr` in fs/xfs/xfs_iops.c) or a disk that is gone.
    IO_ERROR: bool = Target "target.io_error" ValueKind::Bool;
    /// Whether the directory is empty.
    EMPTY: bool = Target "target.empty" ValueKind::Bool, drifting;
    /// Inode flags of the directory: `nocow` (+C), `sync` (+S), `journal-data` (+j), from
    /// FS_IOC_GETFLAGS (ioctl_iflags(2)).
    FLAGS: Vec<Attribute> = Target "target.flags" ValueKind::Choices(Attribute::WORDS), affects_latency;
    /// Whether new files in it are overwritten in place on btrfs (+C on the directory, or the mount
    /// option).
    NOCOW: bool = Target "target.nocow" ValueKind::Bool, affects_latency;
    /// Other targets of database servers that share a disk with it.
    SHARES_DISK: Vec<String> = Target "target.shares_disk_with" ValueKind::List, concluded;
    /// Other targets of database servers on the same file system, and so with the same journal.
    SHARES_FILE_SYSTEM: Vec<String> = Target "target.shares_filesystem_with" ValueKind::List, concluded;
    /// Other targets of database servers with their own file system in the same thin pool
    /// (device-mapper uuid `…-tpool`).
    SHARES_THIN_POOL: Vec<String> = Target "target.shares_thin_pool_with" ValueKind::List, concluded;
    /// For a log: data of the same server that is on faster disks.
    SLOWER_THAN: Vec<String> = Target "target.slower_than" ValueKind::List, concluded;
    /// Its disks that also hold swap.
    SWAP_BESIDE: Vec<String> = Target "target.swap_beside" ValueKind::List, concluded;
    /// The durability verdict.
    VERDICT: VerdictKind = Target "target.verdict", judged;
    /// Redundancy below the target: `whole` where nothing is missing, `none` where there is none.
    REDUNDANCY: Redundancy = Target "target.redundancy", judged;
    /// Cache of its disks; the worst one counts.
    CACHE: Cache = Target "target.cache", judged;
    /// What happens to a flush on its way to the disks.
    FLUSH: Flush = Target "target.flush", judged;
    /// Where the verdict is *at risk* or *contradictory*: the fix, by the deciding causes.
    REMEDY: String = Target "target.remedy" ValueKind::Text, judged;
    /// Where nothing on this host fixes that: why, and where to change it.
    NO_REMEDY: String = Target "target.no_remedy" ValueKind::Text, judged;
    /// What suppresses flushes: `mount option`, `queue override`, `file system`, `server setting`.
    SUPPRESSED_BY: Vec<Suppressor> = Target "target.flush_suppressed_by" ValueKind::Choices(Suppressor::WORDS), judged;
    /// What happens to a server's page on power failure: `whole` on a file system that never
    /// overwrites one, `documented` where every link of the provider's documented chain holds,
    /// `unknown`, `broken`.
    PAGE_WRITES: PageWrites = Target "target.page_writes", judged;
    /// First link of that chain that is broken, or otherwise unknown.
    PAGE_LINK: String = Target "target.page_link" ValueKind::Text, judged;
    /// Every link of that chain in order, from the page down to the device, with its result.
    PAGE_LINKS: Vec<String> = Target "target.page_links" ValueKind::List, judged;
    /// Databases and roles of its server whose commits may be lost, though the server's default
    /// keeps them.
    COMMIT_OFF_FOR: Vec<String> = Target "target.commit_off_for" ValueKind::List, judged;
    /// Whether advice that removes flushes may be given: the interlock of the durability verdict,
    /// all of whose conditions must be known to hold.
    INTERLOCK: bool = Target "target.flush_removal_allowed" ValueKind::Bool, judged;
}

mod page_writes {
    //! The conclusion about the pages that a server overwrites on a target.

    use crate::facts::choice;

    choice! {
        /// What happens to a page on its way to the device when the power fails.
        pub enum PageWrites {
            /// The file system never overwrites a page in place.
            Whole = "whole",
            /// The provider documents that it is written whole or not at all, and every link of the
            /// documented setup was read and holds.
            Documented = "documented",
            /// No link is known to be broken, and not every one is known.
            Unknown = "unknown",
            /// A link is broken, so that half a page can be left.
            Broken = "broken",
        }
    }
}
mod kind {
    //! The kind of a target, its use by a server, and the flags that new files there inherit.

    use crate::facts::choice;

    choice! {
        /// What advice is for.
        pub enum TargetKind { Directory = "directory", Created = "created", Device = "device" }
    }

    impl TargetKind {
        pub fn is_device(self) -> bool {
            matches!(self, Self::Device)
        }

        /// Whether it is an existing directory.
        pub fn is_directory(self) -> bool {
            matches!(self, Self::Directory)
        }

        /// Whether it is a directory that does not exist yet.
        pub fn is_created(self) -> bool {
            matches!(self, Self::Created)
        }
    }

    choice! {
        /// What a database server keeps in a directory.
        pub enum Role {
            Data = "data",
            Wal = "wal",
            Tablespace = "tablespace",
            Redo = "redo",
            Binlog = "binlog",
            Doublewrite = "doublewrite",
            Undo = "undo",
        }
    }

    impl Role {
        pub fn is_data(self) -> bool {
            matches!(self, Self::Data)
        }

        /// Whether it is the log that a commit of PostgreSQL waits for.
        pub fn is_wal(self) -> bool {
            matches!(self, Self::Wal)
        }

        /// Whether it is the binary log of MySQL or MariaDB.
        pub fn is_binlog(self) -> bool {
            matches!(self, Self::Binlog)
        }

        /// Whether it is the log that a commit of InnoDB waits for.
        pub fn is_redo(self) -> bool {
            matches!(self, Self::Redo)
        }
    }

    choice! {
        /// An inode flag that new files inherit.
        pub enum Attribute { Nocow = "nocow", Sync = "sync", JournalData = "journal-data" }
    }

    impl Attribute {
        pub fn is_nocow(self) -> bool {
            matches!(self, Self::Nocow)
        }
    }
}
mod verdict {
    //! The conclusions about a target: the verdict, and what happens to its flushes.

    use serde::{Deserialize, Serialize};

    use crate::facts::choice;

    choice! {
        /// The verdicts, worst first.
        #[derive(Serialize, Deserialize)]
        #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum VerdictKind {
            /// A committed transaction may be lost.
            AtRisk = "at risk",
            /// The layers disagree.
            Contradictory = "contradictory",
            /// Something needed is not known.
            Unproven = "unproven",
            /// The same, but it survived every drill. It unlocks nothing that *unproven* keeps
            /// locked.
            ProvenByDrill = "proven by drill",
            /// It survives, and the evidence is named.
            Durable = "durable",
        }
    }

    impl VerdictKind {
        /// Whether the evidence shows that a commit survives.
        pub fn is_durable(self) -> bool {
            matches!(self, Self::Durable)
        }

        /// Whether a commit survives by evidence or by drill, so that missing redundancy is only a
        /// reservation.
        pub fn survives(self) -> bool {
            matches!(self, Self::Durable | Self::ProvenByDrill)
        }

        pub fn is_at_risk(self) -> bool {
            matches!(self, Self::AtRisk)
        }

        /// Whether something needed is not known, and nothing speaks against it.
        pub fn is_unproven(self) -> bool {
            matches!(self, Self::Unproven)
        }

        pub fn is_proven_by_drill(self) -> bool {
            matches!(self, Self::ProvenByDrill)
        }
    }

    choice! {
        /// What happens to a flush on its way to the disks.
        pub enum Flush { Sent = "sent", NotNeeded = "not needed", Suppressed = "suppressed", Unknown = "unknown" }
    }

    impl Flush {
        /// Whether no flush arrives although some are sent.
        pub fn is_suppressed(self) -> bool {
            matches!(self, Self::Suppressed)
        }
    }

    choice! {
        /// What suppresses flushes.
        pub enum Suppressor {
            FileSystem = "file system", MountOption = "mount option", QueueOverride = "queue override",
            ServerSetting = "server setting",
        }
    }

    choice! {
        /// What copies and parity below a target are worth when one more thing fails, worst first.
        /// The verdict covers power failure alone.
        #[derive(Serialize, Deserialize)]
        #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum Redundancy {
            /// More is missing than it can lose, or it does not run.
            Failed = "failed",
            /// Something is missing.
            Degraded = "degraded",
            /// Nothing is missing, but a member has failed: a spare, or one that a spare replaced.
            FailedMember = "failed member",
            /// A power failure can leave parity wrong, so that losing a disk afterwards loses data.
            WriteHole = "write hole open",
            /// There are copies or parity, but their state was not read.
            Unknown = "unknown",
            /// Nothing is missing.
            Whole = "whole",
            /// There are neither copies nor parity on this machine.
            None = "none",
        }
    }

    impl Redundancy {
        /// Addition to the verdict in a heading; `None` if nothing is known to be missing.
        pub fn heading(self) -> Option<&'static str> {
            match self {
                Self::Failed => Some("failed"),
                Self::Degraded => Some("degraded"),
                Self::FailedMember => Some("with a failed member"),
                Self::WriteHole => Some("with its write hole open"),
                Self::Unknown | Self::Whole | Self::None => None,
            }
        }
    }
}

pub use kind::{Attribute, Role, TargetKind};
pub use page_writes::PageWrites;
pub use verdict::{Flush, Redundancy, Suppressor, VerdictKind};

use super::device::Cache;
use crate::facts::Choice;
