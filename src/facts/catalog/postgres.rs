//! PostgreSQL clusters: their places, and the settings that affect storage. Names are those of the manual.

facts! {
    /// Server version, from PG_VERSION, the running server, or its binary.
    VERSION: Version = Cluster "pg.version" ValueKind::Version, carries(Propagation::Release);
    /// Whether a server runs on it now.
    RUNNING: bool = Cluster "pg.running" ValueKind::Bool, never;
    /// Name people call it by, such as `postgresql 16/main`.
    NAME: String = Cluster "pg.name" ValueKind::Text, never;
    /// Data directory.
    DATA: String = Cluster "pg.data_directory" ValueKind::Text, never;
    /// WAL directory, its symbolic link followed.
    WAL: String = Cluster "pg.wal_directory" ValueKind::Text, never;
    /// Directories of tablespaces outside the data directory, the links in pg_tblspc followed.
    TABLESPACES: Vec<String> = Cluster "pg.tablespaces" ValueKind::List, never;
    /// Owner of the data directory.
    USER: String = Cluster "pg.user" ValueKind::Text, never;
    /// Main configuration file.
    CONFIG_FILE: String = Cluster "pg.config_file" ValueKind::Text, never;
    /// Directory of the socket at which the running server answered us.
    SOCKET_DIRECTORY: String = Cluster "pg.socket_directory" ValueKind::Text, never;
    /// Port of that socket.
    PORT: u64 = Cluster "pg.port" ValueKind::Count, never;
    /// A preloaded library that turns fsync into nothing (libeatmydata), from the server's environment.
    FSYNC_DISABLED_BY: String = Cluster "pg.fsync_disabled_by" ValueKind::Text;
    /// `wal_sync_method` in force.
    WAL_SYNC_METHOD: WalSyncMethod = Cluster "pg.wal_sync_method";
    /// `fsync` in force.
    FSYNC: bool = Cluster "pg.fsync" ValueKind::Bool;
    /// `synchronous_commit` in force where no database or role sets its own.
    SYNCHRONOUS_COMMIT: SynchronousCommit = Cluster "pg.synchronous_commit";
    /// What databases and roles set `synchronous_commit` to for their own sessions, from the running server.
    COMMIT_OVERRIDES: Vec<CommitOverride> = Cluster "pg.synchronous_commit_overrides" ValueKind::List;
    /// How many standbys a commit waits for (`synchronous_standby_names`); 0 is none.
    STANDBYS: u64 = Cluster "pg.synchronous_standbys" ValueKind::Count;
    /// `full_page_writes` in force.
    FULL_PAGE_WRITES: bool = Cluster "pg.full_page_writes" ValueKind::Bool;
    /// `wal_init_zero` in force (12 and later).
    WAL_INIT_ZERO: bool = Cluster "pg.wal_init_zero" ValueKind::Bool;
    /// `wal_recycle` in force (12 and later).
    WAL_RECYCLE: bool = Cluster "pg.wal_recycle" ValueKind::Bool;
    /// `wal_level` in force.
    WAL_LEVEL: WalLevel = Cluster "pg.wal_level";
    /// `max_wal_senders` in force.
    MAX_WAL_SENDERS: u64 = Cluster "pg.max_wal_senders" ValueKind::Count;
    /// `max_wal_size` in force (9.5 and later).
    MAX_WAL_SIZE: u64 = Cluster "pg.max_wal_size" ValueKind::Bytes, carries(Propagation::Collected);
    /// How many times `max_wal_size` is free on the file system of the WAL.
    WAL_ROOM: f64 = Cluster "pg.wal_room" ValueKind::Number, drifting, instead(&["pg.max_wal_size", "mount.free"]);
    /// `data_sync_retry` in force.
    DATA_SYNC_RETRY: bool = Cluster "pg.data_sync_retry" ValueKind::Bool;
    /// `commit_delay` in force, in microseconds.
    COMMIT_DELAY: u64 = Cluster "pg.commit_delay" ValueKind::Count;
    /// `debug_io_direct` in force (16 and later).
    DEBUG_IO_DIRECT: String = Cluster "pg.debug_io_direct" ValueKind::Text;
    /// `wal_compression` in force (9.5 and later): `off`, `on`, or how (15 and later).
    WAL_COMPRESSION: WalCompression = Cluster "pg.wal_compression";
    /// Values of `wal_compression` that the running server was built with (15 and later; `pg_settings.enumvals`).
    WAL_COMPRESSIONS: Vec<String> = Cluster "pg.wal_compression_values" ValueKind::List, never;
    /// `checkpoint_completion_target` in force: the share of the time between checkpoints over which one is spread.
    CHECKPOINT_TARGET: f64 = Cluster "pg.checkpoint_completion_target" ValueKind::Number;
    /// `checkpoint_flush_after` in force (9.6 and later): how much a checkpoint writes before it asks the kernel to; 0 is never.
    CHECKPOINT_FLUSH_AFTER: u64 = Cluster "pg.checkpoint_flush_after" ValueKind::Bytes;
    /// `recovery_init_sync_method` in force (14 and later): how the data directory is flushed before recovery.
    RECOVERY_INIT_SYNC: RecoveryInitSync = Cluster "pg.recovery_init_sync_method";
    /// `effective_io_concurrency` in force as the server's default.
    IO_CONCURRENCY: u64 = Cluster "pg.effective_io_concurrency" ValueKind::Count;
    /// `random_page_cost` in force as the server's default.
    RANDOM_PAGE_COST: f64 = Cluster "pg.random_page_cost" ValueKind::Number;
    /// `file_extend_method` in force (16.12, 17.8, 18.2 and later).
    FILE_EXTEND_METHOD: FileExtendMethod = Cluster "pg.file_extend_method";
    /// Whether data pages carry checksums (`data_checksums`), from the running server or `pg_controldata`.
    DATA_CHECKSUMS: bool = Cluster "pg.data_checksums" ValueKind::Bool;
}

mod words;
mod sessions;

pub use sessions::CommitOverride;
pub use words::{
    FileExtendMethod, RecoveryInitSync, SynchronousCommit, WalCompression, WalLevel, WalSyncMethod,
};

use crate::version::Version;
