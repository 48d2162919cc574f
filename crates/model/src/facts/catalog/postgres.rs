//! Facts about PostgreSQL clusters: directories, WAL statistics, and the settings that affect
//! storage. The fact of a setting has the setting's name, such as `pg.wal_level`.

facts! {
    /// Server version, from PG_VERSION, the running server, or its binary.
    VERSION: Version = Cluster "pg.version";
    /// Whether a server runs on the data directory now.
    RUNNING: bool = Cluster "pg.running";
    /// Display name, such as `postgresql 16/main`.
    NAME: String = Cluster "pg.name";
    /// Data directory of the cluster (data_directory).
    DATA: String = Cluster "pg.data_directory";
    /// WAL directory, with its symbolic link resolved.
    WAL: String = Cluster "pg.wal_directory";
    /// Directories of tablespaces outside the data directory, with the links in pg_tblspc resolved.
    TABLESPACES: Vec<String> = Cluster "pg.tablespaces";
    /// Owner of the data directory.
    USER: String = Cluster "pg.user";
    /// Path of the main configuration file: postgresql.conf, or the file in `config_file`.
    CONFIG_FILE: String = Cluster "pg.config_file";
    /// Directory of the socket on which the running server answered.
    SOCKET_DIRECTORY: String = Cluster "pg.socket_directory";
    /// Port of the socket on which the running server answered.
    PORT: u64 = Cluster "pg.port";
    /// A preloaded library that makes fsync do nothing (libeatmydata), from the server's
    /// environment.
    FSYNC_DISABLED_BY: String = Cluster "pg.fsync_disabled_by";
    /// `wal_sync_method` in force: how the server flushes WAL.
    WAL_SYNC_METHOD: WalSyncMethod = Cluster "pg.wal_sync_method";
    /// `fsync` in force: whether the server flushes at all.
    FSYNC: bool = Cluster "pg.fsync";
    /// `synchronous_commit` in force for databases and roles that do not override it.
    SYNCHRONOUS_COMMIT: SynchronousCommit = Cluster "pg.synchronous_commit";
    /// `wal_writer_delay` in force: an asynchronous commit is flushed within three times this
    /// delay.
    WAL_WRITER_DELAY: f64 = Cluster "pg.wal_writer_delay" Micros;
    /// `synchronous_commit` as set for single databases and roles, from the running server.
    COMMIT_OVERRIDES: Vec<SynchronousCommitOverride> = Cluster "pg.synchronous_commit_overrides";
    /// Number of standbys that a commit waits for (`synchronous_standby_names`); 0 if a commit
    /// waits for no standby.
    STANDBYS: u64 = Cluster "pg.synchronous_standbys";
    /// `full_page_writes` in force: whether the first change to a page after a checkpoint logs the
    /// full page.
    FULL_PAGE_WRITES: bool = Cluster "pg.full_page_writes";
    /// `wal_init_zero` in force (PostgreSQL 12 and later): whether new WAL files are filled with
    /// zeros first.
    WAL_INIT_ZERO: bool = Cluster "pg.wal_init_zero";
    /// `wal_recycle` in force (PostgreSQL 12 and later): whether old WAL files are renamed and
    /// overwritten.
    WAL_RECYCLE: bool = Cluster "pg.wal_recycle";
    /// `wal_level` in force: how much information the WAL holds.
    WAL_LEVEL: WalLevel = Cluster "pg.wal_level";
    /// `max_wal_senders` in force: the maximum number of connections that send WAL.
    MAX_WAL_SENDERS: u64 = Cluster "pg.max_wal_senders";
    /// `max_wal_size` in force (PostgreSQL 9.5 and later): the amount of WAL that forces a
    /// checkpoint.
    MAX_WAL_SIZE: u64 = Cluster "pg.max_wal_size" Bytes;
    /// `min_wal_size` in force (PostgreSQL 9.5 and later): the amount of WAL that is kept for
    /// recycling.
    MIN_WAL_SIZE: u64 = Cluster "pg.min_wal_size" Bytes;
    /// `checkpoint_timeout` in force: the longest time between two checkpoints.
    CHECKPOINT_TIMEOUT: f64 = Cluster "pg.checkpoint_timeout" Micros;
    /// `wal_buffers` in force in the running server, which computes the value if it is unset.
    WAL_BUFFERS: u64 = Cluster "pg.wal_buffers" Bytes;
    /// `shared_buffers` in force in the running server: the size of its buffer pool.
    SHARED_BUFFERS: u64 = Cluster "pg.shared_buffers" Bytes;
    /// Size of a WAL segment, chosen when the cluster was created; from the running server.
    WAL_SEGMENT_SIZE: u64 = Cluster "pg.wal_segment_size" Bytes;
    /// WAL generated since `pg.wal_since`, full-page images included (`pg_stat_wal.wal_bytes`,
    /// PostgreSQL 14 and later).
    WAL_MADE: u64 = Cluster "pg.wal_made" Bytes, mark_drifting;
    /// WAL records generated since `pg.wal_since` (`pg_stat_wal.wal_records`).
    WAL_RECORDS: u64 = Cluster "pg.wal_records", mark_drifting;
    /// Full-page images generated since `pg.wal_since` (`pg_stat_wal.wal_fpi`).
    WAL_IMAGES: u64 = Cluster "pg.wal_full_page_images", mark_drifting;
    /// Number of times WAL was written because its buffers were full
    /// (`pg_stat_wal.wal_buffers_full`).
    WAL_BUFFERS_FULL: u64 = Cluster "pg.wal_buffers_full", mark_drifting;
    /// Mean duration of the server's flushes of the WAL since `pg.wal_since` (`pg_stat_wal`, from
    /// PostgreSQL 18 on `pg_stat_io`); known with `track_wal_io_timing`.
    WAL_FLUSH_MEAN: f64 = Cluster "pg.wal_flush_mean" Micros, mark_drifting;
    /// `pg.wal_flush_mean` relative to `probe.commit`, the commit latency of walwise's own probe; 1
    /// means equal.
    FLUSH_SLOWDOWN: f64 = Cluster "pg.flush_slowdown", mark_judged;
    /// Half of `pg.wal_flush_mean` in whole microseconds, as a value for `commit_delay`.
    HALF_FLUSH: String = Cluster "pg.half_flush", mark_judged;
    /// Time of the last reset of the server's WAL counters (`pg_stat_wal.stats_reset`).
    WAL_SINCE: String = Cluster "pg.wal_since", mark_drifting;
    /// Time since `pg.wal_since`, by the server's clock.
    WAL_TIME: f64 = Cluster "pg.wal_time" Micros, mark_drifting;
    /// WAL generated since the start of the last checkpoint (`pg_control_checkpoint()`, PostgreSQL
    /// 10 and later).
    WAL_RECENT: u64 = Cluster "pg.wal_recent" Bytes, mark_drifting;
    /// Time since the start of the last checkpoint, to the second.
    WAL_RECENT_TIME: f64 = Cluster "pg.wal_recent_time" Micros, mark_drifting;
    /// Checkpoints due by `checkpoint_timeout` (`pg_stat_bgwriter`; `pg_stat_checkpointer` from
    /// PostgreSQL 17 on).
    CHECKPOINTS_TIMED: u64 = Cluster "pg.checkpoints_timed", mark_drifting;
    /// Checkpoints that were not due by `checkpoint_timeout`: forced by the amount of WAL, or
    /// requested.
    CHECKPOINTS_REQUESTED: u64 = Cluster "pg.checkpoints_requested", mark_drifting;
    /// Time over which checkpoints have been counted, by the server's clock.
    CHECKPOINTS_TIME: f64 = Cluster "pg.checkpoints_time" Micros, mark_drifting;
    /// WAL generated per second, on average since the counters were reset, or else since the last
    /// checkpoint.
    WAL_RATE: u64 = Cluster "pg.wal_rate" Bytes, mark_judged;
    /// WAL generated per second while checkpoints were forced by the amount of WAL.
    WAL_BUSY_RATE: u64 = Cluster "pg.wal_busy_rate" Bytes, mark_judged;
    /// Upper bound of the share of checkpoints forced by the amount of WAL, in percent.
    CHECKPOINTS_FORCED: f64 = Cluster "pg.checkpoints_forced_percent", mark_judged;
    /// Whether `max_wal_size` is large enough for the rate of generated WAL.
    WAL_GROWTH: LogSizeFit = Cluster "pg.wal_size_fit", mark_judged;
    /// A `max_wal_size` large enough that checkpoints at the measured rates are timed, not forced;
    /// limited by the free space.
    WAL_SIZE: String = Cluster "pg.wal_size", mark_judged;
    /// Effect of `pg.wal_size` on checkpoints, full-page images and recovery.
    WAL_TRADE: String = Cluster "pg.wal_trade", mark_judged;
    /// Lower estimate of recovery time after a crash at the end of a busy interval between
    /// checkpoints.
    RECOVERY_LEAST: f64 = Cluster "pg.recovery_least" Micros, mark_judged;
    /// Upper estimate of recovery time after a crash at the end of the next checkpoint, on flash.
    RECOVERY_MOST: f64 = Cluster "pg.recovery_most" Micros, mark_judged;
    /// Effect of a `checkpoint_timeout` of 15 minutes; empty if the timeout is already that long,
    /// or the file system lacks space for the WAL.
    TIMEOUT_TRADE: String = Cluster "pg.checkpoint_timeout_trade", mark_judged;
    /// Free space on the WAL's file system, in multiples of `max_wal_size`.
    WAL_ROOM: f64 = Cluster "pg.wal_room", mark_drifting;
    /// Size of the WAL's file system, in multiples of `max_wal_size`.
    WAL_VOLUME: f64 = Cluster "pg.wal_volume", mark_drifting;
    /// Size of the WAL segments in the WAL directory.
    WAL_FILES: u64 = Cluster "pg.wal_files" Bytes, mark_drifting;
    /// Number of WAL segments that wait for the archiver (`archive_status/*.ready`).
    ARCHIVE_READY: u64 = Cluster "pg.archive_ready", mark_drifting;
    /// Time for which the oldest segment of `pg.archive_ready` has waited for the archiver.
    ARCHIVE_WAIT: f64 = Cluster "pg.archive_wait" Micros, mark_drifting;
    /// `archive_mode` in force: whether the server archives its WAL.
    ARCHIVE_MODE: ArchiveMode = Cluster "pg.archive_mode";
    /// Whether the last attempt of the archiver failed (`pg_stat_archiver`).
    ARCHIVER_FAILING: bool = Cluster "pg.archiver_failing", mark_drifting;
    /// Number of failed attempts of the archiver since its statistics were reset
    /// (`pg_stat_archiver.failed_count`).
    ARCHIVE_FAILURES: u64 = Cluster "pg.archive_failures", mark_drifting;
    /// Time of the last archived segment (`pg_stat_archiver.last_archived_time`).
    LAST_ARCHIVED: String = Cluster "pg.last_archived", mark_drifting;
    /// Name of the inactive replication slot that retains the most WAL (`pg_replication_slots`).
    INACTIVE_SLOT: String = Cluster "pg.inactive_slot", mark_drifting;
    /// Availability of the WAL that `pg.inactive_slot` claims (`wal_status`, PostgreSQL 13 and
    /// later).
    INACTIVE_SLOT_STATUS: String = Cluster "pg.inactive_slot_status", mark_drifting;
    /// WAL that `pg.inactive_slot` retains; 0 if no inactive slot retains WAL.
    INACTIVE_SLOT_WAL: u64 = Cluster "pg.inactive_slot_wal" Bytes, mark_drifting;
    /// Largest amount of WAL that any slot retains; 0 if no inactive slot retains WAL.
    SLOT_WAL: u64 = Cluster "pg.slot_wal" Bytes, mark_drifting;
    /// `max_slot_wal_keep_size` in force (PostgreSQL 13 and later): the largest amount of WAL that
    /// slots may retain at a checkpoint; -1 means no limit.
    SLOT_WAL_LIMIT: String = Cluster "pg.max_slot_wal_keep_size";
    /// Number of connected standbys that a commit may wait for (`pg_stat_replication.sync_state`).
    CONNECTED_STANDBYS: u64 = Cluster "pg.connected_standbys", mark_drifting;
    /// Number of sessions that wait for a standby (wait event `SyncRep`).
    WAITING_SESSIONS: u64 = Cluster "pg.waiting_sessions", mark_drifting;
    /// Number of standbys that commits wait for and that are not connected.
    MISSING_STANDBYS: u64 = Cluster "pg.missing_standbys", mark_judged;
    /// WAL that `pg.inactive_slot` retains, in multiples of `max_wal_size`.
    INACTIVE_SLOT_SHARE: f64 = Cluster "pg.inactive_slot_share", mark_judged;
    /// Cause of WAL retention beyond `max_wal_size`: an inactive slot or failed archiving; empty if
    /// there is neither.
    WAL_HOLDER: String = Cluster "pg.wal_holder", mark_judged;
    /// Largest power of two that is at most half of the space available to the WAL, but at least 32MB.
    WAL_SIZE_LIMIT: String = Cluster "pg.wal_size_limit", mark_judged;
    /// A `max_slot_wal_keep_size` that fits the WAL's file system; empty if a slot already retains
    /// more.
    SLOT_WAL_CAP: String = Cluster "pg.slot_wal_cap", mark_judged;
    /// `data_sync_retry` in force: whether the server retries a failed flush of data files.
    DATA_SYNC_RETRY: bool = Cluster "pg.data_sync_retry";
    /// `commit_delay` in force, in microseconds.
    COMMIT_DELAY: u64 = Cluster "pg.commit_delay";
    /// `debug_io_direct` in force (PostgreSQL 16 and later): which files are opened for direct I/O.
    DEBUG_IO_DIRECT: String = Cluster "pg.debug_io_direct";
    /// `wal_compression` in force (PostgreSQL 9.5 and later): `off`, `on`, or the method (15 and
    /// later).
    WAL_COMPRESSION: WalCompression = Cluster "pg.wal_compression";
    /// Values of `wal_compression` that the running server supports (PostgreSQL 15 and later;
    /// `pg_settings.enumvals`).
    WAL_COMPRESSIONS: Vec<String> = Cluster "pg.wal_compression_values";
    /// `checkpoint_completion_target` in force: share of the time between checkpoints over which a
    /// checkpoint is spread.
    CHECKPOINT_TARGET: f64 = Cluster "pg.checkpoint_completion_target";
    /// `checkpoint_flush_after` in force (PostgreSQL 9.6 and later): how much a checkpoint writes
    /// before it starts kernel writeback; 0 means never.
    CHECKPOINT_FLUSH_AFTER: u64 = Cluster "pg.checkpoint_flush_after" Bytes;
    /// `recovery_init_sync_method` in force (PostgreSQL 14 and later): how the data directory is
    /// flushed before recovery.
    RECOVERY_INIT_SYNC: RecoveryInitSync = Cluster "pg.recovery_init_sync_method";
    /// `effective_io_concurrency` in force as the server's default.
    IO_CONCURRENCY: u64 = Cluster "pg.effective_io_concurrency";
    /// `file_extend_method` in force (PostgreSQL 16.12, 17.8, 18.2 and later).
    FILE_EXTEND_METHOD: FileExtendMethod = Cluster "pg.file_extend_method";
    /// `max_connections` in force in the running server: the limit on concurrent connections.
    MAX_CONNECTIONS: u64 = Cluster "pg.max_connections";
    /// Whether the running server's shared memory is in huge pages (PostgreSQL 17 and later;
    /// `huge_pages_status`).
    HUGE_PAGES: HugePages = Cluster "pg.huge_pages_status";
    /// `io_method` in force (PostgreSQL 18 and later): how reads are issued.
    IO_METHOD: IoMethod = Cluster "pg.io_method";
    /// Amount of memory that the server's user may lock (RLIMIT_MEMLOCK, soft limit), from
    /// /proc/PID/limits of the running server.
    MEMLOCK_LIMIT: u64 = Cluster "pg.memlock_limit" Bytes;
    /// Whether the rings of `io_method = io_uring` fit `pg.memlock_limit`: `no` below 8 KiB for
    /// each process, `yes` from 16 KiB.
    IO_URING_FITS: bool = Cluster "pg.io_uring_fits";
    /// Whether data pages carry checksums (`data_checksums`), from the running server or
    /// `pg_controldata`.
    DATA_CHECKSUMS: bool = Cluster "pg.data_checksums";
}

use std::fmt;

use super::cluster::LogSizeFit;
use crate::facts::{Choice, FactValue, Value, ValueKind};
use crate::version::Version;

/// A value of `synchronous_commit` for the sessions of a database or a role (PostgreSQL manual,
/// *ALTER DATABASE*, *ALTER ROLE*).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SynchronousCommitOverride {
    /// The sessions that use the value: `database app`, `role bob` or `role bob in database
    /// app`. Display-safe.
    pub owner: String,
    pub value: SynchronousCommit,
}

impl fmt::Display for SynchronousCommitOverride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.owner, self.value)
    }
}

/// Each override as text, `OWNER: VALUE`. Only the last `: ` separates owner and value, because
/// a name may contain a colon.
impl FactValue for Vec<SynchronousCommitOverride> {
    const KIND: ValueKind = ValueKind::List;

    fn into_value(self) -> Value {
        Value::List(self.iter().map(ToString::to_string).collect())
    }

    fn from_value(value: &Value) -> Option<Self> {
        let Value::List(all) = value else { return None };
        let one = |text: &String| {
            let (whose, value) = text.rsplit_once(": ")?;
            Some(SynchronousCommitOverride {
                owner: whose.to_owned(),
                value: SynchronousCommit::from_word(value)?,
            })
        };
        all.iter().map(one).collect()
    }
}

// The enums below list the values of PostgreSQL's enum settings in any release (guc_tables.c).
// Collectors translate other spellings, such as `true` into `on` and `hot_standby` into `replica`.

choice! {
    /// How the WAL is flushed. A server on Linux refuses `fsync_writethrough`.
    pub enum WalSyncMethod {
        Fsync = "fsync",
        Fdatasync = "fdatasync" is_fdatasync,
        OpenSync = "open_sync",
        OpenDatasync = "open_datasync",
        FsyncWritethrough = "fsync_writethrough",
    }

    /// The event that a commit waits for (`synchronous_commit`).
    pub enum SynchronousCommit {
        On = "on",
        Off = "off",
        Local = "local",
        RemoteWrite = "remote_write",
        RemoteApply = "remote_apply",
    }

    pub enum WalLevel {
        Minimal = "minimal"
            /// Minimal WAL suffices for crash recovery, but not for archiving or replication.
            is_minimal,
        Replica = "replica",
        Logical = "logical",
    }

    /// Whether WAL is archived, and with `always` also on a standby.
    pub enum ArchiveMode { Off = "off", On = "on", Always = "always" }

    /// How full-page images in the WAL are compressed.
    pub enum WalCompression { Off = "off", On = "on", Pglz = "pglz", Lz4 = "lz4", Zstd = "zstd" }

    /// How the data directory is flushed before recovery.
    pub enum RecoveryInitSync { Fsync = "fsync", Syncfs = "syncfs" }

    pub enum HugePages { On = "on", Off = "off", Unknown = "unknown" }

    pub enum IoMethod { Sync = "sync", Worker = "worker", IoUring = "io_uring" }

    pub enum FileExtendMethod { PosixFallocate = "posix_fallocate", WriteZeros = "write_zeros" }
}

#[cfg(test)]
mod commit_override_tests {
    use super::*;

    #[test]
    fn commit_override_round_trips_with_any_owner() {
        for whose in ["database app", "role a: off", "role b in database c: on"] {
            for value in SynchronousCommit::ALL {
                let all = vec![SynchronousCommitOverride {
                    owner: whose.to_owned(),
                    value: *value,
                }];
                assert_eq!(
                    Vec::<SynchronousCommitOverride>::from_value(&all.clone().into_value()),
                    Some(all)
                );
            }
        }
    }
}
