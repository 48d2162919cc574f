//! Results of our own measurement, for rules. Per-method figures are in the report's probes.

/// Below so many flushes for each commit too few arrived: concurrent flushes are merged, but not more than half of them.
pub const TOO_FEW_FLUSHES: f64 = 0.5;

facts! {
    /// Median time of one commit with the method in force (or the default where there is no server): 8 kB of WAL, or a block of InnoDB's redo log.
    COMMIT: f64 = Target "probe.commit" ValueKind::Micros, measured;
    /// The fastest of the valid methods, when it beats the default beyond noise; else the default.
    BEST_METHOD: WalSyncMethod = Target "probe.best_method", measured;
    /// Whether the best method is another than the one in force (the default where there is no server), by a settled comparison that nothing speaks against.
    ADVISES_CHANGE: bool = Target "probe.advises_change" ValueKind::Bool, measured;
    /// Lower bound of the gain of the best method over the one in force (the default where there is no server), in percent, over one- and two-page commits.
    GAIN_PERCENT: f64 = Target "probe.gain_percent" ValueKind::Number, measured;
    /// Whether the comparison came to an end: `settled`, `no meaningful difference`, or `not settled`.
    OUTCOME: ProbeOutcome = Target "probe.outcome", measured;
    /// Whether nothing that was noticed while measuring forbids advice from it.
    TRUSTED: bool = Target "probe.trusted" ValueKind::Bool, measured;
    /// Half the median time of one 8 kB commit with the method in force, in microseconds: where the PostgreSQL manual starts with `commit_delay`.
    COMMIT_DELAY_START: u64 = Target "probe.commit_delay_start" ValueKind::Count, measured;
    /// Flushes that arrived at the disks per fdatasync.
    FLUSHES_PER_COMMIT: f64 = Target "probe.flushes_per_commit" ValueKind::Number, measured;
    /// Median of overwrite + fdatasync minus median of the same overwrite unflushed, both O_DIRECT: what a flush costs.
    FLUSH_COST: f64 = Target "probe.flush_cost" ValueKind::Micros, measured;
    /// Commits per second with the default method, one session: one over the mean time.
    COMMITS_PER_SECOND: f64 = Target "probe.commits_per_second" ValueKind::Number, measured;
    /// Whether flushes came back faster than any disk of this kind could do them.
    IMPLAUSIBLE: bool = Target "probe.implausible" ValueKind::Bool, measured;
    /// Why that speed is not believed, with the arithmetic behind it.
    IMPLAUSIBLE_BECAUSE: String = Target "probe.implausible_because" ValueKind::Text, measured;
    /// Where it was measured; another directory of the same file system than the database's own.
    DIRECTORY: String = Target "probe.directory" ValueKind::Text, measured;
    /// What a commit into a new WAL segment filled with zeros costs over one into a recycled segment; 1 is the same.
    NEW_SEGMENT_ZEROED: f64 = Target "probe.new_segment_zeroed" ValueKind::Number, measured;
    /// What a commit into a new WAL segment that was not filled (`wal_init_zero=off`) costs over one into a recycled segment.
    NEW_SEGMENT_UNFILLED: f64 = Target "probe.new_segment_unfilled" ValueKind::Number, measured;
    /// Commits per second of sixteen sessions that share flushes, as PostgreSQL's do, or InnoDB's.
    GROUP_COMMITS_PER_SECOND: f64 = Target "probe.group_commits_per_second" ValueKind::Number, measured;
    /// Median time of a transaction of 512 bytes that is flushed in the redo log and then in the binary log.
    BINLOG_COMMIT: f64 = Target "probe.binlog_commit" ValueKind::Micros, measured;
    /// Small files per second that one thread makes durable under a new name.
    FILES_PER_SECOND: f64 = Target "probe.files_per_second" ValueKind::Number, measured;
    /// What a commit with fdatasync costs beside a writer on the same file system, over one without; 1 is the same.
    ENTANGLED_FDATASYNC: f64 = Target "probe.entangled_fdatasync" ValueKind::Number, measured;
    /// What a commit with fsync costs beside a writer on the same file system, over one without; 1 is the same.
    ENTANGLED_FSYNC: f64 = Target "probe.entangled_fsync" ValueKind::Number, measured;
}

choice! {
    /// Whether a comparison came to an end.
    pub enum ProbeOutcome {
        Settled = "settled",
        NoMeaningfulDifference = "no meaningful difference",
        NotSettled = "not settled",
    }
}

use crate::facts::choice;

use super::postgres::WalSyncMethod;
