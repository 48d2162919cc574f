use crate::facts::ServerArea;

/// The kind of a setting, for code that acts on settings: who accepts the value, where the value is
/// written, and how words combine. A setting with special handling has a kind of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
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
    Trim,
    /// The I/O scheduler, an attribute of a disk's queue in sysfs.
    Scheduler,
    /// Any other attribute of a disk's queue in sysfs.
    Queue,
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
    pub fn is_filesystem(self) -> bool {
        matches!(self, Self::Filesystem)
    }

    pub fn is_placement(self) -> bool {
        matches!(self, Self::Placement)
    }

    /// Whether the value is a list in which each word is one option, rather than a piece of a
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

    /// The mount that a mount option is for; `None` for all other settings.
    pub fn mount_time(self) -> Option<MountTime> {
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

    /// The area of a server's setting; `None` for all other settings.
    pub fn area(self) -> Option<ServerArea> {
        match self {
            Self::Postgres | Self::InitDb => Some(ServerArea::Pg),
            Self::Mysql => Some(ServerArea::Mysql),
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

/// Whether options belong to the present mount or to a mount of the next boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountTime {
    Now,
    AtBoot,
}
