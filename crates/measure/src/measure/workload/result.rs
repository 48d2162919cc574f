//! What a workload is and what was measured of it, as every output shows it.

use serde::{Deserialize, Serialize};

use crate::measure::{Conclusion, Estimate};

/// Something a database or its neighbours do that is worth measuring by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// First writes into a new WAL segment: recycled, filled with zeros (`wal_init_zero`), or
    /// neither.
    Segment,
    /// Sessions that share flushes, as PostgreSQL's do.
    Group,
    /// InnoDB's redo log, the binary log, and both in turn.
    Innodb,
    /// Small files made durable under a new name.
    Files,
    /// Commits beside somebody who writes to the same file system.
    Entangle,
    /// Writes that are never flushed: what the rest is above.
    Floor,
    /// The tests of `pg_test_fsync`. Only by a flag of its own: its figures are for whoever reads
    /// that tool's.
    PgTestFsync,
    /// InnoDB's transactions as the server of the target flushes them: part of every measurement
    /// for such a server.
    Transaction,
}

impl Workload {
    /// Those that can be asked for, in the order they are measured.
    pub const ALL: [Self; 6] = [
        Self::Segment,
        Self::Group,
        Self::Innodb,
        Self::Files,
        Self::Entangle,
        Self::Floor,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Segment => "segment",
            Self::Group => "group",
            Self::Innodb => "innodb",
            Self::Files => "files",
            Self::Entangle => "entangle",
            Self::Floor => "floor",
            Self::PgTestFsync => "pg-test-fsync",
            Self::Transaction => "transaction",
        }
    }

    /// What one operation is and does, in a line.
    pub fn says(self) -> &'static str {
        match self {
            Self::Segment => {
                "8 kB pages written and flushed with fdatasync into a segment; and making the segment"
            }
            Self::Group => "commits of 512 B; one flush covers all that are waiting; fdatasync",
            Self::Innodb => {
                "records appended and flushed: redo log in a file of fixed size, binary log in one that grows"
            }
            Self::Files => "create, write 4 kB, fsync, rename, fsync of the directory",
            Self::Entangle => {
                "8 kB pages overwritten and flushed, alone and beside a writer of at most 32 MiB/s"
            }
            Self::Floor => "8 kB written and not flushed",
            Self::PgTestFsync => "the tests of pg_test_fsync, in rounds",
            Self::Transaction => {
                "records of 512 bytes, flushed in redo log and binary log; who flushes takes all that are waiting along"
            }
        }
    }
}

/// What was measured of one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct WorkloadRow {
    /// What is done.
    pub name: String,
    /// Threads that do it side by side.
    pub threads: u32,
    /// Bytes written per operation.
    pub bytes: u64,
    /// Operations measured, warm-up not counted. Zero when it could not be done; then `error` says
    /// why.
    pub samples: u64,
    /// Operations per second of all threads together: the median of the rounds, with its interval.
    pub per_second: Estimate,
    /// Mean time of an operation.
    pub mean_us: f64,
    /// Median time of an operation with its interval over rounds.
    pub median_us: Estimate,
    /// 95th percentile.
    pub p95_us: f64,
    /// 99th percentile, from 1,000 samples on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// Longest.
    pub max_us: f64,
    /// Flushes asked for per operation.
    pub flush_calls_per_operation: f64,
    /// Flushes the disks counted per operation; absent where they do not count, or others have a
    /// share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flushes_per_operation: Option<f64>,
    /// The row this one is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// How much an operation costs compared with that row, paired by round: 2 is twice as much.
    /// With several threads it is the time that passes per operation, so less than 1 is a gain of
    /// working side by side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_ratio: Option<Estimate>,
    /// Whether that comparison came to an end; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<Conclusion>,
    /// Median of each round, in order.
    pub rounds_us: Vec<f64>,
    /// Every operation of every round, when asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples_us: Vec<Vec<f64>>,
    /// Why it could not be measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What a workload found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct WorkloadResult {
    /// Which.
    pub workload: Workload,
    /// What one operation is.
    pub operation: String,
    /// Rounds completed.
    pub rounds: u32,
    /// One row for each thing done, in a fixed order.
    pub rows: Vec<WorkloadRow>,
    /// One sentence for people.
    pub sentence: String,
}
