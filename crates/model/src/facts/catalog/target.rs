//! Facts about targets, the directories and devices that walwise gives advice for.

facts! {
    /// Path of the target: a directory or a block device.
    PATH: String = Target "target.path";
    /// Kind of target: an existing `directory`, one that is to be `created`, or a block `device`.
    KIND: TargetKind = Target "target.kind", mark_concluded;
    /// Kinds of database files on the target's file system: `data`, `wal`, `tablespace`, `redo`,
    /// `binlog`, `doublewrite`, `undo`; empty if there are none.
    ROLES: Vec<DirectoryRole> = Target "target.roles", mark_concluded;
    /// Directories of database servers on the target's file system, each after its role, such as
    /// `wal /srv/fast/wal`.
    DIRECTORIES: Vec<String> = Target "target.directories", mark_concluded;
    /// Data directories of the database servers that use the target.
    CLUSTERS: Vec<String> = Target "target.clusters", mark_concluded;
    /// Whether access to the target fails with an I/O error, as after a shutdown of XFS
    /// (`xfs_vn_getattr` in fs/xfs/xfs_iops.c) or on a disk that is gone.
    IO_ERROR: bool = Target "target.io_error";
    /// Whether the target directory has no entries other than an empty `lost+found`.
    EMPTY: bool = Target "target.empty", mark_drifting;
    /// Inode flags of the directory: `nocow` (+C), `sync` (+S), `journal-data` (+j), from
    /// FS_IOC_GETFLAGS (ioctl_iflags(2)).
    FLAGS: Vec<InodeFlag> = Target "target.flags", mark_affects_latency;
    /// Whether btrfs overwrites new files of the directory in place (+C on the directory, or the
    /// mount option).
    NOCOW: bool = Target "target.nocow", mark_affects_latency;
    /// Other targets of database servers that share a disk with this target.
    SHARES_DISK: Vec<String> = Target "target.shares_disk_with", mark_concluded;
    /// Other targets of database servers on the same file system, and so with the same journal.
    SHARES_FILE_SYSTEM: Vec<String> = Target "target.shares_filesystem_with", mark_concluded;
    /// Other targets of database servers with their own file system in the same thin pool
    /// (device-mapper uuid `…-tpool`).
    SHARES_THIN_POOL: Vec<String> = Target "target.shares_thin_pool_with", mark_concluded;
    /// Disks of the target that also hold swap.
    SWAP_BESIDE: Vec<String> = Target "target.swap_beside", mark_concluded;
    /// The durability verdict: whether commits survive a power failure, according to the evidence.
    VERDICT: VerdictKind = Target "target.verdict", mark_judged;
    /// State of redundancy below the target: `whole` if nothing is missing, `none` without
    /// redundancy.
    REDUNDANCY: RedundancyState = Target "target.redundancy", mark_judged;
    /// State of the write caches of the target's disks; the worst, if the disks differ.
    CACHE: CacheVolatility = Target "target.cache", mark_judged;
    /// Whether flushes from the file system reach the disks.
    FLUSH: FlushDelivery = Target "target.flush", mark_judged;
    /// The fix for a verdict of *at risk* or *contradictory*, for each deciding cause.
    REMEDY: String = Target "target.remedy", mark_judged;
    /// Reason why a verdict of *at risk* or *contradictory* cannot be fixed on this host, and where
    /// to fix it.
    NO_REMEDY: String = Target "target.no_remedy", mark_judged;
    /// Causes of suppressed flushes: `mount option`, `queue override`, `file system`, `server
    /// setting`.
    SUPPRESSED_BY: Vec<FlushSuppressor> = Target "target.flush_suppressed_by", mark_judged;
    /// Atomicity of page writes on power failure: `whole` if the file system never overwrites pages
    /// in place; `documented` if every link of the provider's documented chain holds; otherwise
    /// `unknown` or `broken`.
    PAGE_WRITES: PageAtomicity = Target "target.page_writes", mark_judged;
    /// First broken link of the chain that makes page writes atomic, or the first unknown link if
    /// none is broken.
    PAGE_LINK: String = Target "target.page_link", mark_judged;
    /// Every link of the chain that makes page writes atomic, from the page down to the device,
    /// with its result.
    PAGE_LINKS: Vec<String> = Target "target.page_links", mark_judged;
    /// Databases and roles of the target's server whose commits may be lost, even though commits
    /// with the server's default are safe.
    COMMIT_OFF_FOR: Vec<String> = Target "target.commit_off_for", mark_judged;
    /// Whether walwise may advise removing flushes: every condition of this interlock must be known
    /// to hold.
    FLUSH_REMOVAL_ALLOWED: bool = Target "target.flush_removal_allowed", mark_judged;
}

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::CacheVolatility;

choice! {
    /// Whether a power failure can tear a page that is being written. The links are listed in
    /// `target.page_links`.
    pub enum PageAtomicity {
        /// The file system never overwrites a page in place.
        Whole = "whole",
        /// The provider documents that writes of a page are atomic, and every link was read and
        /// holds.
        Documented = "documented",
        /// No link is known to be broken, but some link is unknown.
        Unknown = "unknown",
        /// A link is broken, so a power failure can tear a page.
        Broken = "broken",
    }

    pub enum TargetKind {
        Directory = "directory" is_directory,
        Created = "created" is_to_be_created,
        Device = "device" is_device,
    }

    /// The kind of files that a database server keeps in a directory.
    pub enum DirectoryRole {
        Data = "data" is_data,
        Wal = "wal"
            /// Whether the role is PostgreSQL's WAL, which a commit waits for.
            is_wal,
        Tablespace = "tablespace",
        Redo = "redo"
            /// Whether the role is InnoDB's redo log, which a commit waits for.
            is_redo,
        Binlog = "binlog" is_binlog,
        Doublewrite = "doublewrite",
        Undo = "undo",
    }

    /// An inode flag that new files inherit.
    pub enum InodeFlag {
        Nocow = "nocow" is_nocow,
        Sync = "sync",
        JournalData = "journal-data",
    }

    /// The durability verdicts, worst first.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum VerdictKind {
        /// A committed transaction may be lost.
        AtRisk = "at risk" is_at_risk,
        /// Layers in the stack contradict each other.
        Contradictory = "contradictory",
        /// A fact that the verdict needs is unknown.
        Unproven = "unproven" is_unproven,
        /// A needed fact is unknown, but every commit survived the drills. Advice that
        /// *unproven* blocks stays blocked.
        ProvenByDrill = "proven by drill" is_proven_by_drill,
        /// A committed transaction survives a power failure, and the report names the evidence.
        Durable = "durable"
            /// Whether facts prove that a commit survives a power failure; false if only
            /// drills show it.
            is_durable,
    }
}

impl VerdictKind {
    /// Whether a commit survives a power failure, by evidence or by drill. Redundancy is not
    /// considered.
    pub fn commit_survives(self) -> bool {
        matches!(self, Self::Durable | Self::ProvenByDrill)
    }
}

choice! {
    pub enum FlushDelivery {
        Sent = "sent",
        NotNeeded = "not needed",
        Suppressed = "suppressed"
            /// Whether flushes are needed but none reaches the disks.
            is_suppressed,
        Unknown = "unknown",
    }

    pub enum FlushSuppressor {
        FileSystem = "file system", MountOption = "mount option", QueueOverride = "queue override",
        ServerSetting = "server setting",
    }

    /// Redundancy of the data below a target: whether copies or parity survive the failure of one
    /// more component, worst first. The verdict covers power failure only.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum RedundancyState {
        /// More members are missing than the array can lose, or the array does not run.
        Failed = "failed",
        /// A member or a copy is missing.
        Degraded = "degraded",
        /// Nothing is missing, but a member has failed: a spare, or one that a spare replaced.
        FailedMember = "failed member",
        /// A power failure can leave parity wrong, so that losing a disk afterwards loses data.
        WriteHole = "write hole open",
        /// There are copies or parity, but their state was not read.
        Unknown = "unknown",
        /// Nothing is missing.
        Whole = "whole",
        /// There are neither copies nor parity on this host.
        None = "none",
    }
}

impl RedundancyState {
    /// Words that a heading appends to the verdict; `None` if no defect is known.
    pub fn verdict_suffix(self) -> Option<&'static str> {
        match self {
            Self::Failed => Some("failed"),
            Self::Degraded => Some("degraded"),
            Self::FailedMember => Some("with a failed member"),
            Self::WriteHole => Some("with an open write hole"),
            Self::Unknown | Self::Whole | Self::None => None,
        }
    }
}
