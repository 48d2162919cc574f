use serde::{Deserialize, Serialize};

use crate::measure::{Conclusion, Estimate};

/// An activity of a database, or of its neighbours, that is measured separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// First writes into a new WAL segment: recycled, zero-filled (`wal_init_zero`), or neither.
    Segment,
    /// Group commit: clients that share flushes, as in PostgreSQL.
    Group,
    /// InnoDB's redo log, the binary log, and both in turn.
    Innodb,
    /// Small files written and durably renamed.
    Files,
    /// Commits next to a busy writer on the same file system.
    Entangle,
    /// Writes without a flush: the lower bound of everything else.
    Floor,
    /// The tests of `pg_test_fsync`, for comparison with that tool; a separate option requests
    /// them.
    PgTestFsync,
    /// InnoDB transactions, flushed as the target's server flushes them; part of every measurement
    /// of a server with InnoDB.
    Transaction,
}

impl Workload {
    /// Workloads that a request for all workloads runs, in the order of measurement.
    pub const ALL: [Self; 6] = [
        Self::Segment,
        Self::Group,
        Self::Innodb,
        Self::Files,
        Self::Entangle,
        Self::Floor,
    ];

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

    pub fn operation_text(self) -> &'static str {
        match self {
            Self::Segment => {
                "8 kB pages written into a segment and flushed with fdatasync, and segment creation"
            }
            Self::Group => "commits of 512 B; one fdatasync covers all waiting commits",
            Self::Innodb => {
                "records appended and flushed: redo log in a file of fixed size, binary log in a growing file"
            }
            Self::Files => "create, write 4 kB, fsync, rename, fsync of the directory",
            Self::Entangle => {
                "8 kB pages overwritten and flushed, alone and next to a writer of at most 32 MiB/s"
            }
            Self::Floor => "8 kB written and not flushed",
            Self::PgTestFsync => "the tests of pg_test_fsync, in rounds",
            Self::Transaction => {
                "records of 512 B in redo log and binary log; one flush covers all waiting transactions"
            }
        }
    }
}

/// One operation of a workload, measured with a fixed number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct WorkloadRow {
    /// Name of the operation, to which `against` of other rows refers.
    pub name: String,
    /// Number of threads that ran the operation at the same time.
    pub threads: u32,
    /// Bytes written per operation.
    pub bytes: u64,
    /// Operations measured, without warm-up. 0 if the row failed: `error` has the reason.
    pub samples: u64,
    /// Operations per second of all threads: median of the rounds, with its interval.
    pub per_second: Estimate,
    /// Mean over all operations of all rounds.
    pub mean_us: f64,
    /// Median latency of an operation, with its interval over rounds.
    pub median_us: Estimate,
    /// 95th percentile of the latency; all rounds have equal weight.
    pub p95_us: f64,
    /// 99th percentile, from 1,000 samples on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// Longest latency of a single operation.
    pub max_us: f64,
    /// Flushes per operation that system calls or open flags requested.
    pub flush_calls_per_operation: f64,
    /// Flushes per operation that the disks counted; absent if the disks do not count flushes, or
    /// other I/O ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flushes_per_operation: Option<f64>,
    /// Name of the reference row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Latency relative to the reference row, paired by round: 2 is twice as long. With several
    /// threads the elapsed time per operation counts, so a ratio below 1 is a gain in throughput.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_ratio: Option<Estimate>,
    /// Result of the comparison with the reference row; absent without a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<Conclusion>,
    /// Median of each round, in order.
    pub rounds_us: Vec<f64>,
    /// Latency of every operation, by round; only on request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples_us: Vec<Vec<f64>>,
    /// Reason for a missing result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// All rows of one workload, with a summary sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct WorkloadResult {
    pub workload: Workload,
    /// The operation in words, such as `8 kB written and not flushed`.
    pub operation: String,
    /// Number of rounds in which every row without an error was measured.
    pub rounds: u32,
    /// One row per operation, in a fixed order.
    pub rows: Vec<WorkloadRow>,
    /// Summary of the rows; states if nothing was measured.
    pub sentence: String,
}
