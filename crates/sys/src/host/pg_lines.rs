//! Lines in an answer to [`super::Question::PgSettings`] that are no settings. Each begins with a
//! word in parentheses, which is never the name of a setting.

/// `(loaded)`, microseconds since 1970: when the server last loaded its configuration files.
pub const LOADED: &str = "(loaded)";

/// `(wal_compression)`, words with commas: the values of that setting that the server was built
/// with; none before 15.
pub const COMPRESSIONS: &str = "(wal_compression)";

/// `(override)`, database, role, name, value: the value that new sessions there start with. An
/// empty database or role stands for every one.
pub const OVERRIDE: &str = "(override)";

/// `(overrides)`, then `all` or `more`: whether the lines of overrides are complete. Without this
/// line none was read.
pub const OVERRIDES: &str = "(overrides)";

/// The largest number of overrides in an answer.
pub const MAX_OVERRIDES: usize = 100;

/// Counters of a server: `NAME`, number. A counter that its release or its state does not have is
/// missing, or empty.
pub mod counters {
    /// Its clock, in microseconds since 1970.
    pub const NOW: &str = "(now)";
    /// The current write position in the WAL, in bytes; empty on a standby, which writes none.
    pub const POSITION: &str = "(wal_position)";
    /// The position in the WAL at which its last checkpoint began, in bytes.
    pub const REDO: &str = "(redo_position)";
    /// When that checkpoint began, in microseconds since 1970, to the second.
    pub const CHECKPOINT: &str = "(checkpoint_time)";
    /// Bytes of WAL generated since [`WAL_SINCE`] (14 and later), as are the next three.
    pub const WAL_BYTES: &str = "(wal_bytes)";
    pub const WAL_RECORDS: &str = "(wal_records)";
    /// Full-page images in it.
    pub const WAL_IMAGES: &str = "(wal_fpi)";
    /// How often WAL was written because its buffers were full.
    pub const BUFFERS_FULL: &str = "(wal_buffers_full)";
    /// When these were last reset, in microseconds since 1970.
    pub const WAL_SINCE: &str = "(wal_stats_reset)";
    /// Checkpoints due by `checkpoint_timeout`, since [`CHECKPOINTS_SINCE`].
    pub const TIMED: &str = "(checkpoints_timed)";
    pub const REQUESTED: &str = "(checkpoints_req)";
    /// When these were last reset, in microseconds since 1970.
    pub const CHECKPOINTS_SINCE: &str = "(checkpoints_stats_reset)";
}
