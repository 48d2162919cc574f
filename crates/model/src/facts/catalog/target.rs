//! The targets of advice, and the conclusions about them.

facts! {
    /// The directory, or the block device.
    PATH: String = Target "target.path" ValueKind::Text;
    /// What it is: an existing `directory`, one that is to be `created`, or a block `device`.
    KIND: TargetKind = Target "target.kind", concluded;
    /// What database servers keep on its file system: `data`, `wal`, `tablespace`, `redo`,
    /// `binlog`, `doublewrite`, `undo`; none of them when it is unused.
    ROLES: Vec<Role> = Target "target.roles" ValueKind::Choices(Role::WORDS), concluded;
    /// The directories that those are, each behind its word, such as `wal /srv/fast/wal`.
    DIRECTORIES: Vec<String> = Target "target.directories" ValueKind::List, concluded;
    /// The data directories of the database servers that keep something here.
    CLUSTERS: Vec<String> = Target "target.clusters" ValueKind::List, concluded;
    /// Whether looking at it ends in an I/O error, as on an XFS that has shut itself down
    /// (`xfs_vn_getattr` in fs/xfs/xfs_iops.c) or a disk that is gone.
    IO_ERROR: bool = Target "target.io_error" ValueKind::Bool;
    /// Whether the directory has nothing in it.
    EMPTY: bool = Target "target.empty" ValueKind::Bool, drifting;
    /// Inode flags of the directory: `nocow` (+C), `sync` (+S), `journal-data` (+j), from
    /// FS_IOC_GETFLAGS (ioctl_iflags(2)).
    FLAGS: Vec<Attribute> = Target "target.flags" ValueKind::Choices(Attribute::WORDS), prices;
    /// Whether new files in it are overwritten in place on btrfs (+C on the directory, or the mount
    /// option).
    NOCOW: bool = Target "target.nocow" ValueKind::Bool, prices;
    /// Other targets of database servers with a disk at the bottom that this one has too.
    SHARES_DISK: Vec<String> = Target "target.shares_disk_with" ValueKind::List, concluded;
    /// Other targets of database servers on the same file system, and so with the same journal.
    SHARES_FILE_SYSTEM: Vec<String> = Target "target.shares_filesystem_with" ValueKind::List, concluded;
    /// Other targets of database servers with a file system of their own in the same thin pool
    /// (device-mapper uuid `…-tpool`).
    SHARES_THIN_POOL: Vec<String> = Target "target.shares_thin_pool_with" ValueKind::List, concluded;
    /// For a log: the data of the same server that lies on faster disks than it.
    SLOWER_THAN: Vec<String> = Target "target.slower_than" ValueKind::List, concluded;
    /// Disks at the bottom that also hold swap.
    SWAP_BESIDE: Vec<String> = Target "target.swap_beside" ValueKind::List, concluded;
    /// The durability verdict.
    VERDICT: Standing = Target "target.verdict", judged;
    /// State of the redundancy beneath the target: `whole` where nothing is missing, `none` where
    /// there are none.
    REDUNDANCY: Redundancy = Target "target.redundancy", judged;
    /// The caches of the disks, joined: the worst governs.
    CACHE: Cache = Target "target.cache", judged;
    /// What happens to a flush on its way down.
    FLUSH: Flush = Target "target.flush", judged;
    /// Where the verdict is *at risk* or *contradictory*: what mends that, by the causes that
    /// decide.
    REMEDY: String = Target "target.remedy" ValueKind::Text, judged;
    /// The same where nothing on this machine mends it: why, and where it is to be changed.
    NO_REMEDY: String = Target "target.no_remedy" ValueKind::Text, judged;
    /// What suppresses flushes: `mount option`, `queue override`, `file system`, `server setting`.
    SUPPRESSED_BY: Vec<Suppressor> = Target "target.flush_suppressed_by" ValueKind::Choices(Suppressor::WORDS), judged;
    /// What becomes of a server's page on its way to the device when the power fails: `whole` on a
    /// file system that never overwrites one, `documented` where every link of the provider's
    /// documented chain holds, `unknown`, `broken`.
    PAGE_WRITES: PageWrites = Target "target.page_writes", judged;
    /// The first link of that chain that is broken, or else unknown.
    PAGE_LINK: String = Target "target.page_link" ValueKind::Text, judged;
    /// Every link of that chain in order, from the page down to the device, with what it comes to.
    PAGE_LINKS: Vec<String> = Target "target.page_links" ValueKind::List, judged;
    /// Databases and roles of its server whose commits may be lost, though the server's default
    /// keeps them.
    COMMIT_OFF_FOR: Vec<String> = Target "target.commit_off_for" ValueKind::List, judged;
    /// Whether advice that removes flushes could be given at all: the interlock of the durability
    /// verdict, every condition of which must be known to hold.
    INTERLOCK: bool = Target "target.flush_removal_allowed" ValueKind::Bool, judged;
}

mod page {
    //! The conclusion about the pages that a server overwrites on a target.

    use crate::facts::choice;

    choice! {
        /// What becomes of a page on its way to the device when the power fails.
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
mod place {
    //! The kind of a target, its use by a server, and the flags that new files there inherit.

    use crate::facts::choice;

    choice! {
        /// What advice is for.
        pub enum TargetKind { Directory = "directory", Created = "created", Device = "device" }
    }

    impl TargetKind {
        /// Whether it is a block device.
        pub fn is_device(self) -> bool {
            matches!(self, Self::Device)
        }

        /// Whether it is a directory that is there.
        pub fn is_directory(self) -> bool {
            matches!(self, Self::Directory)
        }

        /// Whether it is a directory that is still to be made.
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
        /// Whether it is a server's data.
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
        /// Whether it is the one that overwrites in place.
        pub fn is_nocow(self) -> bool {
            matches!(self, Self::Nocow)
        }
    }
}
mod verdict {
    //! The conclusions about a target: the verdict, and the fate of its flushes.

    use serde::{Deserialize, Serialize};

    use crate::facts::choice;

    choice! {
        /// The verdicts, worst first.
        #[derive(Serialize, Deserialize)]
        #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum Standing {
            /// A committed transaction may be lost.
            AtRisk = "at risk",
            /// The layers disagree.
            Contradictory = "contradictory",
            /// Something needed is not known.
            Unproven = "unproven",
            /// The same, but it survived every power cut that was tried. It opens nothing that
            /// *unproven* keeps shut.
            ProvenByDrill = "proven by drill",
            /// It survives, and the evidence is named.
            Durable = "durable",
        }
    }

    impl Standing {
        /// Whether the evidence shows that a commit survives.
        pub fn is_durable(self) -> bool {
            matches!(self, Self::Durable)
        }

        /// Whether a commit survives by what was seen or tried, so that what is missing of the
        /// copies is a *but*.
        pub fn survives(self) -> bool {
            matches!(self, Self::Durable | Self::ProvenByDrill)
        }

        /// Whether a committed transaction may be lost by what was seen.
        pub fn is_at_risk(self) -> bool {
            matches!(self, Self::AtRisk)
        }

        /// Whether something needed is not known, and nothing speaks against it.
        pub fn is_unproven(self) -> bool {
            matches!(self, Self::Unproven)
        }

        /// Whether it rests on power cuts that were tried.
        pub fn is_proven_by_drill(self) -> bool {
            matches!(self, Self::ProvenByDrill)
        }
    }

    choice! {
        /// What happens to a flush on its way to the disks.
        pub enum Flush { Sent = "sent", NotNeeded = "not needed", Suppressed = "suppressed", Unknown = "unknown" }
    }

    impl Flush {
        /// Whether none arrives although some are asked for.
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
        /// What the copies and the parity beneath a target are worth when one more thing fails,
        /// worst first. The verdict is about a power failure alone.
        #[derive(Serialize, Deserialize)]
        #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum Redundancy {
            /// More is missing than can be done without, or it does not run.
            Failed = "failed",
            /// Something is missing.
            Degraded = "degraded",
            /// Nothing is missing, and a member has failed: a spare, or one that a spare stands in
            /// for.
            FailedMember = "failed member",
            /// Parity that a power failure can leave wrong, so that a disk lost after it takes data
            /// with it.
            WriteHole = "write hole open",
            /// There are copies or parity, and what they are worth was not read.
            Unknown = "unknown",
            /// Nothing is missing.
            Whole = "whole",
            /// There are neither copies nor parity on this machine.
            None = "none",
        }
    }

    impl Redundancy {
        /// What a heading adds to the verdict; nothing where nothing is known to be missing.
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

pub use page::PageWrites;
pub use place::{Attribute, Role, TargetKind};
pub use verdict::{Flush, Redundancy, Standing, Suppressor};

use super::device::Cache;
use crate::facts::Choice;
