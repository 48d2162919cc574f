//! Settings of PostgreSQL that are choices, with every word that any version accepts (guc_tables.c). Other spellings,
//! such as `true` and `hot_standby`, are left to the readers.

use crate::facts::choice;

choice! {
    /// How the WAL is flushed; `fsync_writethrough` is not for Linux, and the server refuses it there.
    pub enum WalSyncMethod {
        Fsync = "fsync",
        Fdatasync = "fdatasync",
        OpenSync = "open_sync",
        OpenDatasync = "open_datasync",
        FsyncWritethrough = "fsync_writethrough",
    }
}

impl WalSyncMethod {
    /// Whether it is what the server takes on Linux when nothing is set.
    pub fn is_fdatasync(self) -> bool {
        matches!(self, Self::Fdatasync)
    }
}

choice! {
    /// What a commit waits for.
    pub enum SynchronousCommit {
        On = "on",
        Off = "off",
        Local = "local",
        RemoteWrite = "remote_write",
        RemoteApply = "remote_apply",
    }
}

choice! {
    /// How much the WAL tells.
    pub enum WalLevel { Minimal = "minimal", Replica = "replica", Logical = "logical" }
}

impl WalLevel {
    /// Whether nobody but recovery can read such a WAL.
    pub fn is_minimal(self) -> bool {
        matches!(self, Self::Minimal)
    }
}

choice! {
    /// How whole pages in the WAL are compressed.
    pub enum WalCompression { Off = "off", On = "on", Pglz = "pglz", Lz4 = "lz4", Zstd = "zstd" }
}

choice! {
    /// How the data directory is flushed before recovery.
    pub enum RecoveryInitSync { Fsync = "fsync", Syncfs = "syncfs" }
}

choice! {
    /// How files are extended.
    pub enum FileExtendMethod { PosixFallocate = "posix_fallocate", WriteZeros = "write_zeros" }
}
