//! Names of the lines in an answer to [`super::Question::PgSettings`] that are not settings.
//! Parentheses distinguish these names from names of settings.

/// Time of the last load of the configuration files, in microseconds since 1970.
pub const LOADED: &str = "(loaded)";

/// Values of `wal_compression` that the server was built with, separated by commas; missing before
/// PostgreSQL 15.
pub const COMPRESSIONS: &str = "(wal_compression)";

/// Database, role, name and value of a setting for new sessions of the role in the database. An
/// empty database or role stands for all.
pub const OVERRIDE: &str = "(override)";

/// `all` or `more`: whether the answer has all [`OVERRIDE`] lines. If this line is missing,
/// overrides were not read.
pub const OVERRIDES: &str = "(overrides)";

pub const MAX_OVERRIDES: usize = 100;

/// The inactive replication slot that retains most WAL: name, `wal_status` (PostgreSQL 13 and
/// later), retained bytes, and the most that any slot retains. Missing if no inactive slot retains
/// WAL.
pub const SLOT: &str = "(slot)";

/// Number of [`SLOT`] lines, 0 or 1. If this line is missing, slots were not read.
pub const SLOTS: &str = "(slots)";

/// Names of lines that hold a counter of the server. A line is missing, or has no number, if the
/// server lacks the counter in this release or state.
pub mod counters {
    /// The server's clock, in microseconds since 1970.
    pub const NOW: &str = "(now)";
    /// The write position in the WAL, in bytes; empty on a standby, which writes no WAL.
    pub const POSITION: &str = "(wal_position)";
    /// The WAL position at which the last checkpoint began, in bytes.
    pub const REDO: &str = "(redo_position)";
    /// Time at which the last checkpoint began, in microseconds since 1970, to the second.
    pub const CHECKPOINT: &str = "(checkpoint_time)";
    /// Bytes of WAL generated since [`WAL_SINCE`]. The WAL counters exist in PostgreSQL 14 and
    /// later.
    pub const WAL_BYTES: &str = "(wal_bytes)";
    pub const WAL_RECORDS: &str = "(wal_records)";
    pub const WAL_IMAGES: &str = "(wal_fpi)";
    pub const BUFFERS_FULL: &str = "(wal_buffers_full)";
    /// WAL flushes by fsync or fdatasync.
    pub const WAL_SYNCS: &str = "(wal_sync)";
    /// WAL writes. `open_datasync` and `open_sync` flush within the write.
    pub const WAL_WRITES: &str = "(wal_write)";
    /// Total duration of the flushes in microseconds, as [`WAL_WRITE_TIME`] for the writes; 0
    /// without `track_wal_io_timing`.
    pub const WAL_SYNC_TIME: &str = "(wal_sync_time)";
    pub const WAL_WRITE_TIME: &str = "(wal_write_time)";
    /// Time of the last reset of the WAL counters, in microseconds since 1970.
    pub const WAL_SINCE: &str = "(wal_stats_reset)";
    /// Number of checkpoints due by `checkpoint_timeout` since [`CHECKPOINTS_SINCE`].
    pub const TIMED: &str = "(checkpoints_timed)";
    pub const REQUESTED: &str = "(checkpoints_req)";
    /// Time of the last reset of the checkpoint counters, in microseconds since 1970.
    pub const CHECKPOINTS_SINCE: &str = "(checkpoints_stats_reset)";
    /// Number of failed runs of the archive command or library since its statistics were reset.
    pub const ARCHIVE_FAILED: &str = "(archive_failed_count)";
    /// `t` if the last run of the archiver failed, otherwise `f`.
    pub const ARCHIVER_FAILING: &str = "(archiver_failing)";
    /// Time of the last archived segment, in microseconds since 1970; empty if there is none.
    pub const ARCHIVED: &str = "(last_archived_time)";
    /// Number of connected standbys that a commit may wait for; empty if the role may not see it,
    /// as is [`WAITING`].
    pub const STANDBYS: &str = "(synchronous_standbys)";
    /// Number of sessions that wait for a standby (wait event `SyncRep`).
    pub const WAITING: &str = "(sync_rep_sessions)";
}
