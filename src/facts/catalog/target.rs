//! What advice is for, and what is concluded of it.

facts! {
    /// The directory, or the device of a blank disk.
    PATH: String = Target "target.path" Kind::Text;
    /// What it is: an existing `directory`, one that is to be `created`, or a blank `device`.
    KIND: TargetKind = Target "target.kind", concluded;
    /// What database servers keep on its file system: `data`, `wal`, `tablespace`, `redo`, `binlog`, `doublewrite`, `undo`; none of them when it is unused.
    ROLES: Vec<Role> = Target "target.roles" Kind::List, concluded;
    /// The directories that those are, each behind its word, such as `wal /srv/fast/wal`.
    DIRECTORIES: Vec<String> = Target "target.directories" Kind::List, concluded;
    /// The data directories of the database servers that keep something here.
    CLUSTERS: Vec<String> = Target "target.clusters" Kind::List, concluded;
    /// Whether looking at it ends in an I/O error, as on an XFS that has shut itself down (`xfs_vn_getattr` in fs/xfs/xfs_iops.c) or a disk that is gone.
    IO_ERROR: bool = Target "target.io_error" Kind::Bool;
    /// Whether the directory has nothing in it.
    EMPTY: bool = Target "target.empty" Kind::Bool, drifting;
    /// Inode flags of the directory: `nocow` (+C), `sync` (+S), `journal-data` (+j), from FS_IOC_GETFLAGS (ioctl_iflags(2)).
    FLAGS: Vec<Attribute> = Target "target.flags" Kind::List, prices;
    /// Whether new files in it are overwritten in place on btrfs (+C on the directory, or the mount option).
    NOCOW: bool = Target "target.nocow" Kind::Bool, prices;
    /// Other targets of database servers with a disk at the bottom that this one has too.
    SHARES_DISK: Vec<String> = Target "target.shares_disk_with" Kind::List, concluded;
    /// Other targets of database servers on the same file system, and so with the same journal.
    SHARES_FILE_SYSTEM: Vec<String> = Target "target.shares_filesystem_with" Kind::List, concluded;
    /// Other targets of database servers with a file system of their own in the same thin pool (device-mapper uuid `…-tpool`).
    SHARES_THIN_POOL: Vec<String> = Target "target.shares_thin_pool_with" Kind::List, concluded;
    /// For a log: the data of the same server that lies on faster disks than it.
    SLOWER_THAN: Vec<String> = Target "target.slower_than" Kind::List, concluded;
    /// Disks at the bottom that also hold swap.
    SWAP_BESIDE: Vec<String> = Target "target.swap_beside" Kind::List, concluded;
    /// The durability verdict.
    VERDICT: String = Target "target.verdict"
        Kind::Choice(&["durable", "proven by drill", "unproven", "contradictory", "at risk"]), concluded;
    /// The caches of the disks, joined: the worst governs.
    CACHE: String = Target "target.cache"
        Kind::Choice(&["none", "protected", "volatile", "unknown", "contradictory"]), concluded;
    /// What happens to a flush on its way down.
    FLUSH: String = Target "target.flush" Kind::Choice(&["sent", "not needed", "suppressed", "unknown"]), concluded;
    /// What suppresses flushes: `mount option`, `queue override`, `file system`, `server setting`.
    SUPPRESSED_BY: Vec<String> = Target "target.flush_suppressed_by" Kind::List, concluded;
    /// Whether advice that removes flushes could be given at all: the interlock of the durability verdict, every condition of which must be known to hold.
    INTERLOCK: bool = Target "target.flush_removal_allowed" Kind::Bool, concluded;
}

choice! {
    /// What advice is for.
    pub enum TargetKind { Directory = "directory", Created = "created", Device = "device" }
}

impl TargetKind {
    /// Whether it is a blank disk.
    pub fn is_device(self) -> bool {
        match self {
            Self::Device => true,
            Self::Directory | Self::Created => false,
        }
    }

    /// Whether it is a directory that is there.
    pub fn is_directory(self) -> bool {
        match self {
            Self::Directory => true,
            Self::Created | Self::Device => false,
        }
    }

    /// Whether it is a directory that is still to be made.
    pub fn is_created(self) -> bool {
        match self {
            Self::Created => true,
            Self::Directory | Self::Device => false,
        }
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
        match self {
            Self::Data => true,
            Self::Wal | Self::Tablespace | Self::Redo | Self::Binlog | Self::Doublewrite | Self::Undo => {
                false
            }
        }
    }

    /// Whether it is the log that a commit of PostgreSQL waits for.
    pub fn is_wal(self) -> bool {
        match self {
            Self::Wal => true,
            Self::Data | Self::Tablespace | Self::Redo | Self::Binlog | Self::Doublewrite | Self::Undo => {
                false
            }
        }
    }

    /// Whether it is the log that a commit of InnoDB waits for.
    pub fn is_redo(self) -> bool {
        match self {
            Self::Redo => true,
            Self::Data | Self::Wal | Self::Tablespace | Self::Binlog | Self::Doublewrite | Self::Undo => {
                false
            }
        }
    }
}

choice! {
    /// An inode flag that new files inherit.
    pub enum Attribute { Nocow = "nocow", Sync = "sync", JournalData = "journal-data" }
}

impl Attribute {
    /// Whether it is the one that overwrites in place.
    pub fn is_nocow(self) -> bool {
        match self {
            Self::Nocow => true,
            Self::Sync | Self::JournalData => false,
        }
    }
}

use crate::facts::choice;
