//! How a program writes and flushes the log that its commits wait for, and how fast commits can be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LatencyQuantile, Method, Requirement, ThresholdRelation, TimeUnit};
use crate::text;

/// A program whose commits a probe repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommitProfile {
    Postgres,
    Innodb,
    Etcd,
    Sqlite,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFileAllocation {
    /// A file of fixed size, overwritten repeatedly.
    Overwritten,
    /// Allocated by fallocate(2) and not filled, so that a flush also commits the journal.
    Preallocated,
    /// Grows from zero up to this number of commits, then is overwritten from its beginning.
    Growing(u64),
}

impl CommitProfile {
    pub const ALL: [Self; 4] = [Self::Postgres, Self::Innodb, Self::Etcd, Self::Sqlite];

    fn log_name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL's WAL",
            Self::Innodb => "InnoDB's redo log",
            Self::Etcd => "etcd's WAL",
            Self::Sqlite => "SQLite's WAL with synchronous=FULL",
        }
    }

    /// Bytes per commit of one small transaction.
    fn commit_bytes(self) -> u32 {
        match self {
            // PostgreSQL's default for XLOG_BLCKSZ.
            Self::Postgres => 8_192,
            // OS_FILE_LOG_BLOCK_SIZE (storage/innobase/include/os0file.h).
            Self::Innodb => 512,
            // `fio --rw=write --fdatasync=1 --bs=2300`, the mean of an etcd under load:
            // https://www.ibm.com/cloud/blog/using-fio-to-tell-whether-your-storage-is-fast-enough-for-etcd
            Self::Etcd => 2_300,
            // A frame: a header of 24 bytes and a page, by default of 4,096 bytes
            // (https://www.sqlite.org/fileformat2.html#walformat).
            Self::Sqlite => 24 + 4_096,
        }
    }

    fn log_file_allocation(self) -> LogFileAllocation {
        match self {
            Self::Postgres | Self::Innodb => LogFileAllocation::Overwritten,
            // fileutil.Preallocate of a segment (server/storage/wal/wal.go).
            Self::Etcd => LogFileAllocation::Preallocated,
            // A checkpoint at 1,000 pages restarts the log without a truncation
            // (https://www.sqlite.org/pragma.html#pragma_wal_autocheckpoint).
            Self::Sqlite => LogFileAllocation::Growing(1_000),
        }
    }

    /// The requirement that the program's documents state, if any.
    pub fn requirement(self) -> Option<Requirement> {
        match self {
            // "p99 duration should be less than 10ms" of wal_fsync_duration_seconds:
            // https://etcd.io/docs/v3.5/faq/
            Self::Etcd => Some(Requirement {
                statistic: LatencyQuantile::P99,
                relation: ThresholdRelation::Below,
                threshold: 10.0,
                unit: TimeUnit::Ms,
            }),
            Self::Postgres | Self::Innodb | Self::Sqlite => None,
        }
    }
}

/// Commits of one size with one method, made back to back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommitLoad {
    /// `None` for a directory without a server.
    pub profile: Option<CommitProfile>,
    pub method: Method,
    pub bytes: u32,
    pub file: LogFileAllocation,
    pub requirement: Option<Requirement>,
    /// True if no flush reaches a disk (`target.flush`): commits are then fast because they are not
    /// durable.
    pub is_flush_suppressed: bool,
}

impl CommitLoad {
    pub fn new(profile: Option<CommitProfile>, requirement: Option<Requirement>) -> Self {
        let row = profile.unwrap_or(CommitProfile::Postgres);
        Self {
            profile,
            method: Method::Fdatasync,
            bytes: row.commit_bytes(),
            file: row.log_file_allocation(),
            requirement: requirement.or_else(|| profile?.requirement()),
            is_flush_suppressed: false,
        }
    }

    pub(crate) fn row_name(&self) -> String {
        format!("{}, {}", self.method.name(), self.bytes_text())
    }

    pub(crate) fn operation_text(&self) -> String {
        let log = self.profile.map(CommitProfile::log_name);
        let log = log.map_or_else(String::new, |name| format!(" like {name}"));
        let place = match self.file {
            LogFileAllocation::Overwritten => "overwritten in",
            LogFileAllocation::Preallocated | LogFileAllocation::Growing(_) => "appended to",
        };
        format!(
            "{} {place} a scratch file{log}, back to back",
            self.bytes_text()
        )
    }

    fn bytes_text(&self) -> String {
        match self.bytes {
            bytes if bytes.is_multiple_of(1_024) => format!("{} kB", bytes / 1_024),
            bytes => format!("{} B", text::group_digits(bytes.into())),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct MaxPlausibleCommitRate {
    /// Commits per second of one client.
    pub per_second: f64,
    /// Noun phrase with the basis of the limit and its calculation: `any disk`, `a disk of 7,200
    /// rpm (…)`.
    pub basis: String,
    /// Another possible cause of a higher rate, as a clause; may be empty.
    pub alternative: &'static str,
}

impl MaxPlausibleCommitRate {
    /// A rate that no known block device exceeds, whether its cache is volatile or protected.
    /// Persistent memory can exceed the rate.
    pub(crate) fn for_block_device() -> Self {
        Self {
            per_second: 100_000.0,
            basis: "any disk".to_owned(),
            alternative: "",
        }
    }

    /// Whether one client with this median latency commits faster.
    pub(crate) fn is_exceeded_by_latency(&self, median_us: f64) -> bool {
        median_us > 0.0 && 1e6 / median_us > self.per_second
    }

    /// A rate of 1.5 flushes per revolution, for a physical disk without a protected cache. The
    /// kernel's rotational flag alone does not identify such a disk.
    pub(crate) fn for_rpm(rpm: u32) -> Self {
        let turns = f64::from(rpm) / 60.0;
        Self {
            per_second: 1.5 * turns,
            basis: format!(
                "a {} rpm disk ({turns:.0} revolutions per second; each flush waits for one)",
                text::group_digits(rpm.into())
            ),
            alternative: ", or the disk has its own cache that survives a power failure",
        }
    }
}
