//! What a setting is to those who act on it, so that plans, outputs and the guard decide by a closed list instead of names.

use crate::facts::Area;

/// What a setting is to those who act on it: who takes its value, where that is written, and how its words go together.
/// A single setting has a kind of its own where something is done with no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// The type of a file system.
    Filesystem,
    /// Options for mkfs as they are written.
    MkfsOptions,
    /// Features for mkfs, by name.
    MkfsFeatures,
    /// Options of what is mounted.
    MountOptions,
    /// Options of what the next boot will mount.
    BootOptions,
    /// ext4's fast commits.
    FastCommit,
    /// Inode flags of a directory: `+C`, `-C`.
    DirectoryFlags,
    /// What tells the device which blocks are free.
    Trim,
    /// The I/O scheduler, an attribute of a disk's queue in sysfs.
    Scheduler,
    /// Another attribute of that queue.
    Queue,
    /// Where the database's files lie.
    Placement,
    /// A line of postgresql.conf.
    Postgres,
    /// What is chosen when a PostgreSQL cluster is made.
    InitDb,
    /// A line of MySQL's or MariaDB's option files.
    Mysql,
    /// What no kernel, tool or server is told in so many words.
    Other,
}

impl SettingKind {
    /// Whether its value is the type of a file system.
    pub fn is_filesystem(self) -> bool {
        match self {
            Self::Filesystem => true,
            Self::MkfsOptions
            | Self::MkfsFeatures
            | Self::MountOptions
            | Self::BootOptions
            | Self::FastCommit
            | Self::DirectoryFlags
            | Self::Trim
            | Self::Scheduler
            | Self::Queue
            | Self::Placement
            | Self::Postgres
            | Self::InitDb
            | Self::Mysql
            | Self::Other => false,
        }
    }

    /// Whether it is a list in which each word is one option, rather than a piece of a command line.
    pub fn is_list_of_words(self) -> bool {
        match self {
            Self::MkfsFeatures | Self::MountOptions | Self::BootOptions | Self::DirectoryFlags => true,
            Self::Filesystem
            | Self::MkfsOptions
            | Self::FastCommit
            | Self::Trim
            | Self::Scheduler
            | Self::Queue
            | Self::Placement
            | Self::Postgres
            | Self::InitDb
            | Self::Mysql
            | Self::Other => false,
        }
    }

    /// Whether mkfs is told of it.
    pub fn is_of_mkfs(self) -> bool {
        match self {
            Self::MkfsOptions | Self::MkfsFeatures => true,
            Self::Filesystem
            | Self::MountOptions
            | Self::BootOptions
            | Self::FastCommit
            | Self::DirectoryFlags
            | Self::Trim
            | Self::Scheduler
            | Self::Queue
            | Self::Placement
            | Self::Postgres
            | Self::InitDb
            | Self::Mysql
            | Self::Other => false,
        }
    }

    /// Whether it is an attribute of a disk's queue, by its own name (Documentation/ABI/stable/sysfs-block of the kernel).
    pub fn is_of_queue(self) -> bool {
        match self {
            Self::Scheduler | Self::Queue => true,
            Self::Filesystem
            | Self::MkfsOptions
            | Self::MkfsFeatures
            | Self::MountOptions
            | Self::BootOptions
            | Self::FastCommit
            | Self::DirectoryFlags
            | Self::Trim
            | Self::Placement
            | Self::Postgres
            | Self::InitDb
            | Self::Mysql
            | Self::Other => false,
        }
    }

    /// For options to mount with: of which mount.
    pub fn mount(self) -> Option<Mounting> {
        match self {
            Self::MountOptions => Some(Mounting::Now),
            Self::BootOptions => Some(Mounting::AtBoot),
            Self::Filesystem
            | Self::MkfsOptions
            | Self::MkfsFeatures
            | Self::FastCommit
            | Self::DirectoryFlags
            | Self::Trim
            | Self::Scheduler
            | Self::Queue
            | Self::Placement
            | Self::Postgres
            | Self::InitDb
            | Self::Mysql
            | Self::Other => None,
        }
    }

    /// For what a database server is told: its area.
    pub fn area(self) -> Option<Area> {
        match self {
            Self::Postgres | Self::InitDb => Some(Area::Pg),
            Self::Mysql => Some(Area::Mysql),
            Self::Filesystem
            | Self::MkfsOptions
            | Self::MkfsFeatures
            | Self::MountOptions
            | Self::BootOptions
            | Self::FastCommit
            | Self::DirectoryFlags
            | Self::Trim
            | Self::Scheduler
            | Self::Queue
            | Self::Placement
            | Self::Other => None,
        }
    }
}

/// Of which mount options are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mounting {
    /// What is mounted.
    Now,
    /// What the next boot will mount.
    AtBoot,
}
