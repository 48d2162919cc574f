//! The kind of a target, its use by a server, and the flags that new files there inherit.

use crate::facts::choice;

choice! {
    /// What advice is for.
    pub enum TargetKind { Directory = "directory", Created = "created", Device = "device" }
}

impl TargetKind {
    /// Whether it is a block device.
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

    /// Whether it is the binary log of MySQL or MariaDB.
    pub fn is_binlog(self) -> bool {
        match self {
            Self::Binlog => true,
            Self::Data | Self::Wal | Self::Tablespace | Self::Redo | Self::Doublewrite | Self::Undo => false,
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
