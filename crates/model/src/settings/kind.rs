//! The kinds of settings, so that plans, outputs and the guard decide by a closed list instead of
//! names.

use crate::facts::Area;

/// The kind of a setting for code that acts on it: who accepts its value, where that is written,
/// and how its words combine. A setting that is handled like no other has its own kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// The type of a file system.
    Filesystem,
    /// Literal options for mkfs.
    MkfsOptions,
    /// Features for mkfs, by name.
    MkfsFeatures,
    /// Options of a present mount.
    MountOptions,
    /// Options of a mount at the next boot.
    BootOptions,
    FastCommit,
    /// Inode flags of a directory: `+C`, `-C`.
    DirectoryFlags,
    /// How the device learns about free blocks.
    Trim,
    /// The I/O scheduler, an attribute of a disk's queue in sysfs.
    Scheduler,
    /// Another attribute of that queue.
    Queue,
    /// The place of the database's files.
    Placement,
    /// A line of postgresql.conf.
    Postgres,
    /// A choice made when a PostgreSQL cluster is created.
    InitDb,
    /// A line of MySQL's or MariaDB's option files.
    Mysql,
    /// A setting that is not passed literally to any kernel, tool or server.
    Other,
}

impl SettingKind {
    /// Whether its value is the type of a file system.
    pub fn is_filesystem(self) -> bool {
        matches!(self, Self::Filesystem)
    }

    pub fn is_placement(self) -> bool {
        matches!(self, Self::Placement)
    }

    /// Whether it is a list in which each word is one option, rather than a piece of a command
    /// line.
    pub fn is_list_of_words(self) -> bool {
        matches!(
            self,
            Self::MkfsFeatures | Self::MountOptions | Self::BootOptions | Self::DirectoryFlags
        )
    }

    /// Whether it is passed to mkfs.
    pub fn is_mkfs(self) -> bool {
        matches!(self, Self::MkfsOptions | Self::MkfsFeatures)
    }

    /// Whether it is an attribute of a disk's queue, by its own name
    /// (Documentation/ABI/stable/sysfs-block of the kernel).
    pub fn is_queue(self) -> bool {
        matches!(self, Self::Scheduler | Self::Queue)
    }

    /// The mount that an option is for; `None` for other settings.
    pub fn mount(self) -> Option<MountTime> {
        match self {
            Self::MountOptions => Some(MountTime::Now),
            Self::BootOptions => Some(MountTime::AtBoot),
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

    /// The area of a server's setting; `None` for other settings.
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

/// The mount that options belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountTime {
    Now,
    /// The one at the next boot.
    AtBoot,
}
