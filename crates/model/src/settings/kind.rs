use serde::Deserialize;

use crate::facts::ServerArea;

/// The kinds of settings, which differ in how their values are checked, written or applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingKind {
    Filesystem,
    /// Options in the syntax of mkfs, such as `-m 1`.
    MkfsOptions,
    /// Names of file system features for mkfs, such as `^has_journal`.
    MkfsFeatures,
    MountOptions,
    BootOptions,
    FastCommit,
    /// Inode flags of a directory: `+C`, `-C`.
    DirectoryFlags,
    Trim,
    /// The I/O scheduler, an attribute of a disk's queue in sysfs.
    Scheduler,
    /// An attribute of a disk's queue in sysfs, except the I/O scheduler.
    Queue,
    Placement,
    Postgres,
    /// A choice made when a PostgreSQL cluster is created.
    InitDb,
    /// A line of MySQL's or MariaDB's option files.
    Mysql,
    /// A setting that is not passed literally to any kernel, tool or server.
    Other,
}

impl SettingKind {
    pub fn is_filesystem(self) -> bool {
        matches!(self, Self::Filesystem)
    }

    pub fn is_placement(self) -> bool {
        matches!(self, Self::Placement)
    }

    /// Whether the value is a list in which each word is one option, rather than a part of a
    /// command line.
    pub fn is_list_of_words(self) -> bool {
        matches!(
            self,
            Self::MkfsFeatures | Self::MountOptions | Self::BootOptions | Self::DirectoryFlags
        )
    }

    pub fn is_mkfs(self) -> bool {
        matches!(self, Self::MkfsOptions | Self::MkfsFeatures)
    }

    /// Whether the setting is an attribute of a disk's queue and has the same name in sysfs
    /// (Documentation/ABI/stable/sysfs-block of the kernel).
    pub fn is_queue_attribute(self) -> bool {
        matches!(self, Self::Scheduler | Self::Queue)
    }

    pub fn present_or_boot_mount(self) -> Option<PresentOrBootMount> {
        if self == Self::MountOptions {
            Some(PresentOrBootMount::Now)
        } else {
            (self == Self::BootOptions).then_some(PresentOrBootMount::AtBoot)
        }
    }

    pub fn server_area(self) -> Option<ServerArea> {
        if self == Self::Mysql {
            Some(ServerArea::Mysql)
        } else {
            matches!(self, Self::Postgres | Self::InitDb).then_some(ServerArea::Pg)
        }
    }
}

/// Whether options belong to the present mount or to a mount of the next boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresentOrBootMount {
    Now,
    AtBoot,
}
