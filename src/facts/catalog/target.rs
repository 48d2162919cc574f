//! The targets of advice, and the conclusions about them.

facts! {
    /// The directory, or the block device.
    PATH: String = Target "target.path" ValueKind::Text;
    /// What it is: an existing `directory`, one that is to be `created`, or a block `device`.
    KIND: TargetKind = Target "target.kind", concluded;
    /// What database servers keep on its file system: `data`, `wal`, `tablespace`, `redo`, `binlog`, `doublewrite`, `undo`; none of them when it is unused.
    ROLES: Vec<Role> = Target "target.roles" ValueKind::Choices(Role::WORDS), concluded;
    /// The directories that those are, each behind its word, such as `wal /srv/fast/wal`.
    DIRECTORIES: Vec<String> = Target "target.directories" ValueKind::List, concluded;
    /// The data directories of the database servers that keep something here.
    CLUSTERS: Vec<String> = Target "target.clusters" ValueKind::List, concluded;
    /// Whether looking at it ends in an I/O error, as on an XFS that has shut itself down (`xfs_vn_getattr` in fs/xfs/xfs_iops.c) or a disk that is gone.
    IO_ERROR: bool = Target "target.io_error" ValueKind::Bool;
    /// Whether the directory has nothing in it.
    EMPTY: bool = Target "target.empty" ValueKind::Bool, drifting;
    /// Inode flags of the directory: `nocow` (+C), `sync` (+S), `journal-data` (+j), from FS_IOC_GETFLAGS (ioctl_iflags(2)).
    FLAGS: Vec<Attribute> = Target "target.flags" ValueKind::Choices(Attribute::WORDS), prices;
    /// Whether new files in it are overwritten in place on btrfs (+C on the directory, or the mount option).
    NOCOW: bool = Target "target.nocow" ValueKind::Bool, prices;
    /// Other targets of database servers with a disk at the bottom that this one has too.
    SHARES_DISK: Vec<String> = Target "target.shares_disk_with" ValueKind::List, concluded;
    /// Other targets of database servers on the same file system, and so with the same journal.
    SHARES_FILE_SYSTEM: Vec<String> = Target "target.shares_filesystem_with" ValueKind::List, concluded;
    /// Other targets of database servers with a file system of their own in the same thin pool (device-mapper uuid `…-tpool`).
    SHARES_THIN_POOL: Vec<String> = Target "target.shares_thin_pool_with" ValueKind::List, concluded;
    /// For a log: the data of the same server that lies on faster disks than it.
    SLOWER_THAN: Vec<String> = Target "target.slower_than" ValueKind::List, concluded;
    /// Disks at the bottom that also hold swap.
    SWAP_BESIDE: Vec<String> = Target "target.swap_beside" ValueKind::List, concluded;
    /// The durability verdict.
    VERDICT: Standing = Target "target.verdict", judged;
    /// State of the redundancy beneath the target: `whole` where nothing is missing, `none` where there are none.
    REDUNDANCY: Redundancy = Target "target.redundancy", judged;
    /// The caches of the disks, joined: the worst governs.
    CACHE: Cache = Target "target.cache", judged;
    /// What happens to a flush on its way down.
    FLUSH: Flush = Target "target.flush", judged;
    /// Where the verdict is *at risk* or *contradictory*: what mends that, by the causes that decide.
    REMEDY: String = Target "target.remedy" ValueKind::Text, judged;
    /// The same where nothing on this machine mends it: why, and where it is to be changed.
    NO_REMEDY: String = Target "target.no_remedy" ValueKind::Text, judged;
    /// What suppresses flushes: `mount option`, `queue override`, `file system`, `server setting`.
    SUPPRESSED_BY: Vec<Suppressor> = Target "target.flush_suppressed_by" ValueKind::Choices(Suppressor::WORDS), judged;
    /// What becomes of a server's page on its way to the device when the power fails: `whole` on a file system that never overwrites one, `documented` where every link of the provider's documented chain holds, `unknown`, `broken`.
    PAGE_WRITES: PageWrites = Target "target.page_writes", judged;
    /// The first link of that chain that is broken, or else unknown.
    PAGE_LINK: String = Target "target.page_link" ValueKind::Text, judged;
    /// Every link of that chain in order, from the page down to the device, with what it comes to.
    PAGE_LINKS: Vec<String> = Target "target.page_links" ValueKind::List, judged;
    /// Databases and roles of its server whose commits may be lost, though the server's default keeps them.
    COMMIT_OFF_FOR: Vec<String> = Target "target.commit_off_for" ValueKind::List, judged;
    /// Whether advice that removes flushes could be given at all: the interlock of the durability verdict, every condition of which must be known to hold.
    INTERLOCK: bool = Target "target.flush_removal_allowed" ValueKind::Bool, judged;
}

mod page;
mod place;
mod verdict;

pub use page::PageWrites;
pub use place::{Attribute, Role, TargetKind};
pub use verdict::{Flush, Redundancy, Standing, Suppressor};

use super::device::Cache;
use crate::facts::Choice;
