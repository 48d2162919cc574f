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
