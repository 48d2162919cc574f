//! Samples → estimates: rounds, quantiles, intervals, comparison, caveats. No I/O and no clock, so
//! that tests can simulate disks. The round is the statistical unit; "no meaningful difference" is
//! a result.

mod estimate {
    //! Estimates with their intervals, and the thresholds of a comparison.

    use serde::{Deserialize, Serialize};

    use crate::facts::catalog::probe::ProbeOutcome;

    /// A value with its 95 % interval.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct Estimate {
        pub value: f64,
        pub low: f64,
        pub high: f64,
    }

    /// Result of a comparison.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum Conclusion {
        /// One is better beyond noise and beyond 5 %.
        Settled,
        /// The difference is at most 5 %.
        NoMeaningfulDifference,
        /// The time or write limit came first.
        NotSettled,
    }

    impl Conclusion {
        pub fn is_settled(self) -> bool {
            matches!(self, Self::Settled)
        }

        /// True if the time or write limit came before a result.
        pub fn is_undecided(self) -> bool {
            matches!(self, Self::NotSettled)
        }

        pub fn is_equal(self) -> bool {
            matches!(self, Self::NoMeaningfulDifference)
        }

        /// The same as a value of `probe.outcome`.
        pub fn probe_outcome(self) -> ProbeOutcome {
            match self {
                Self::Settled => ProbeOutcome::Settled,
                Self::NoMeaningfulDifference => ProbeOutcome::NoMeaningfulDifference,
                Self::NotSettled => ProbeOutcome::NotSettled,
            }
        }
    }

    /// The smallest gain that justifies a change, in percent.
    pub const MEANINGFUL_PERCENT: f64 = 5.0;

    /// Samples needed for a 99th percentile: with fewer, a handful of outliers decide it.
    pub(super) const SAMPLES_FOR_P99: usize = 1_000;
}
mod source_section {
    //! Sections of other tools' output: those of `pg_test_fsync`, and fio's jobs.

    use serde::Serialize;

    /// Section of an imported row.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum SourceSection {
        /// One write of 8 kB, then the flush.
        OneWrite,
        /// Two writes of 8 kB, then the flush; the open methods flush after each write.
        TwoWrites,
        /// 16 kB in one to sixteen writes, each flushed.
        Sizes,
        /// A flush through another descriptor of the same file.
        OtherDescriptor,
        /// Without any flush.
        NotSynced,
        /// A job of fio.
        Job,
    }

    impl SourceSection {
        pub fn label(self) -> &'static str {
            match self {
                Self::OneWrite => "one 8 kB write",
                Self::TwoWrites => "two 8 kB writes",
                Self::Sizes => "16 kB in writes of different sizes",
                Self::OtherDescriptor => "fsync through another descriptor",
                Self::NotSynced => "8 kB without a flush",
                Self::Job => "jobs",
            }
        }
    }
}
mod method;
mod order_statistics;
mod pg_tests {
    //! The tests of `pg_test_fsync`, in its order and with its labels
    //! (src/bin/pg_test_fsync/pg_test_fsync.c). [`super::pg_layout`] prints the text around them.

    use super::Method;
    use super::source_section::SourceSection;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PgTest {
        /// This many pages, each in its own write, then the method's flush.
        Pages(u8, Method),
        /// 16 kB in this many synchronous writes.
        Sizes(u8),
        WriteFsyncClose,
        /// Write, close, open, fsync.
        WriteCloseFsync,
        NotSynced,
    }

    use PgTest::{NotSynced, Pages, Sizes, WriteCloseFsync, WriteFsyncClose};

    pub const PG_TESTS: [PgTest; 16] = [
        Pages(1, Method::OpenDatasyncDirect),
        Pages(1, Method::Fdatasync),
        Pages(1, Method::Fsync),
        Pages(1, Method::OpenSyncDirect),
        Pages(2, Method::OpenDatasyncDirect),
        Pages(2, Method::Fdatasync),
        Pages(2, Method::Fsync),
        Pages(2, Method::OpenSyncDirect),
        Sizes(1),
        Sizes(2),
        Sizes(4),
        Sizes(8),
        Sizes(16),
        WriteFsyncClose,
        WriteCloseFsync,
        NotSynced,
    ];

    impl PgTest {
        pub fn section(self) -> SourceSection {
            match self {
                Pages(1, _) => SourceSection::OneWrite,
                Pages(..) => SourceSection::TwoWrites,
                Sizes(_) => SourceSection::Sizes,
                WriteFsyncClose | WriteCloseFsync => SourceSection::OtherDescriptor,
                NotSynced => SourceSection::NotSynced,
            }
        }

        pub fn label(self) -> String {
            match self {
                Pages(_, method) => method
                    .server_method()
                    .map_or_else(String::new, |method| method.to_string()),
                Sizes(1) => " 1 * 16kB open_sync write".to_owned(),
                Sizes(writes) => {
                    format!("{writes:>2} * {:>2}kB open_sync writes", 16 / writes.max(1))
                }
                WriteFsyncClose => "write, fsync, close".to_owned(),
                WriteCloseFsync => "write, close, fsync".to_owned(),
                NotSynced => "write".to_owned(),
            }
        }

        /// Section and label, as the name of a workload row.
        pub fn name(self) -> String {
            format!("{}: {}", self.section().label(), self.label().trim_start())
        }

        /// Open flags and flush; `None` if the file is reopened for every operation.
        pub fn method(self) -> Option<Method> {
            match self {
                Pages(_, method) => Some(method),
                Sizes(_) => Some(Method::OpenSyncDirect),
                NotSynced => Some(Method::Floor),
                WriteFsyncClose | WriteCloseFsync => None,
            }
        }

        /// The last method test of its section: the tool prints `fsync_writethrough` before it.
        pub fn is_last_in_section(self) -> bool {
            let mut of_section = PG_TESTS
                .into_iter()
                .rev()
                .filter(|test| test.section() == self.section());
            of_section.next() == Some(self) && self.is_method_test()
        }

        fn is_method_test(self) -> bool {
            matches!(self, Pages(..))
        }

        pub fn writes_per_operation(self) -> usize {
            match self {
                Pages(writes, _) | Sizes(writes) => writes.into(),
                WriteFsyncClose | WriteCloseFsync | NotSynced => 1,
            }
        }

        pub fn bytes_per_write(self) -> usize {
            match self {
                Sizes(writes) => 16_384 / usize::from(writes.max(1)),
                _ => 8_192,
            }
        }
    }
}
mod import;
mod samples {
    //! The raw result of a probe: every sample, by method, write size and round. Nothing is
    //! aggregated earlier, so that caveats can be found in the raw times. Cells without an error
    //! have the same rounds: comparisons pair them by index.

    use super::Method;
    use super::order_statistics::median_of;

    /// Commits with one method and one write size.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Cell {
        pub method: Method,
        /// Log pages per commit, in one write.
        pub pages: u32,
        /// False for rows that no server uses.
        pub as_server: bool,
        /// Microseconds per commit, round by round.
        pub rounds: Vec<Vec<f64>>,
        /// Flushes counted by the disks during these commits; `None` if they do not count.
        pub flushes: Option<FlushCount>,
        pub error: Option<String>,
    }

    /// Flushes counted around commits, warm-up commits included.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct FlushCount {
        pub flushes: u64,
        pub commits: u64,
    }

    impl Cell {
        pub fn new(method: Method, pages: u32, as_server: bool) -> Self {
            Self {
                method,
                pages,
                as_server,
                rounds: Vec::new(),
                flushes: None,
                error: None,
            }
        }

        pub fn round_medians(&self) -> Vec<f64> {
            self.rounds.iter().map(|round| median_of(round)).collect()
        }

        pub fn commit_count(&self) -> usize {
            self.rounds.iter().map(Vec::len).sum()
        }
    }

    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Samples {
        /// One per method and write size, in report order.
        pub cells: Vec<Cell>,
        /// Commits at least 10 ms apart, as a server makes them: always with one page, with more on
        /// request.
        pub paced: Vec<Cell>,
    }

    impl Samples {
        /// `None` if it could not be measured.
        pub fn cell(&self, method: Method, pages: u32) -> Option<&Cell> {
            self.cells
                .iter()
                .find(|c| c.method == method && c.pages == pages && c.error.is_none())
        }

        /// `None` without paced commits.
        pub fn paced(&self, method: Method, pages: u32) -> Option<&Cell> {
            self.paced
                .iter()
                .find(|c| c.method == method && c.pages == pages && c.commit_count() > 0)
        }

        /// The reference: the first of the server's methods that was measured. For PostgreSQL this
        /// is fdatasync, the Linux default; for InnoDB the method in force.
        pub fn default_method(&self) -> Method {
            let of_server = || self.cells.iter().filter(|cell| cell.as_server);
            let measured = of_server().find(|cell| cell.error.is_none());
            measured
                .or_else(|| of_server().next())
                .map_or(Method::Fdatasync, |cell| cell.method)
        }

        pub fn rounds(&self) -> usize {
            self.cells
                .iter()
                .filter(|c| c.error.is_none())
                .map(|c| c.rounds.len())
                .min()
                .unwrap_or(0)
        }
    }
}
mod shift;
mod workload;
mod log {
    //! The log that a measurement writes: PostgreSQL's WAL or InnoDB's redo log, its page size, and
    //! the settings that choose each method. A measurement carries this, so that reading it needs
    //! no server.

    use serde::{Deserialize, Serialize};

    use super::Method;

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum LogKind {
        /// PostgreSQL's; also used without a server. `wal_sync_method` takes the methods' own
        /// names.
        #[default]
        Wal,
        Redo,
    }

    /// The log that was written.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct MeasuredLog {
        pub kind: LogKind,
        /// Page size in bytes: of a WAL page, or a redo log block.
        pub page_bytes: u32,
        /// The redo log's method in force, if known; for the WAL it is a fact.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub in_force: Option<Method>,
        /// Settings that choose a method of the redo log.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub settings: Vec<MethodSetting>,
    }

    /// A setting that chooses a method.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct MethodSetting {
        pub method: Method,
        /// The setting with its value: `innodb_log_file_buffering = off`.
        pub setting: String,
    }

    /// Bytes of a WAL page (XLOG_BLCKSZ).
    const WAL_PAGE_BYTES: u32 = 8192;

    impl Default for MeasuredLog {
        fn default() -> Self {
            Self {
                kind: LogKind::Wal,
                page_bytes: WAL_PAGE_BYTES,
                in_force: None,
                settings: Vec::new(),
            }
        }
    }

    impl MeasuredLog {
        /// True for the WAL of PostgreSQL with 8 kB pages.
        pub fn is_default(&self) -> bool {
            *self == Self::default()
        }

        pub fn is_redo(&self) -> bool {
            matches!(self.kind, LogKind::Redo)
        }

        /// The page size for display: `8 kB`, `512 B`.
        pub fn page_size(&self) -> String {
            match self.page_bytes {
                bytes if bytes.is_multiple_of(1024) => format!("{} kB", bytes / 1024),
                bytes => format!("{bytes} B"),
            }
        }

        /// Unit of a write, for display: `8 kB pages`.
        pub fn write_unit(&self) -> String {
            match self.kind {
                LogKind::Wal => format!("{} pages", self.page_size()),
                LogKind::Redo => format!("redo log, blocks of {}", self.page_size()),
            }
        }

        /// `None` if the method needs no setting of its own.
        pub fn setting(&self, method: Method) -> Option<&str> {
            self.settings
                .iter()
                .find(|one| one.method == method)
                .map(|one| one.setting.as_str())
        }

        /// The method for display, with the setting that chooses it.
        pub fn method_name(&self, method: Method) -> String {
            match self.setting(method) {
                Some(setting) => format!("{} by {setting}", method.name()),
                None => method.name().to_owned(),
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn pages_have_the_words_of_their_log() {
            let redo = |page_bytes| MeasuredLog {
                kind: LogKind::Redo,
                page_bytes,
                ..MeasuredLog::default()
            };
            assert_eq!(MeasuredLog::default().write_unit(), "8 kB pages");
            assert_eq!(redo(512).write_unit(), "redo log, blocks of 512 B");
            assert_eq!(redo(4096).write_unit(), "redo log, blocks of 4 kB");
        }
    }
}
mod by_commit_size;
mod caveats;
mod compare;
mod facts;
mod measurement;
mod pg_layout;
mod progress;
mod sentence;
#[cfg(test)]
mod simulation;
mod summary;
mod table;

pub use by_commit_size::commit_size_lines;
pub use caveats::{DiskTraffic, SampleContext, SpeedLimit};
pub use estimate::{Conclusion, Estimate};
pub use facts::{WalFlushMethod, insert_facts};
pub use import::{ImportedRun, import, table as imported_table};
pub use log::{LogKind, MeasuredLog, MethodSetting};
pub use measurement::{Caveat, CaveatId, Comparison, Latencies, Measurement, MethodResult};
pub use method::{Method, OpenMode, SyncCall, WhenMeasured};
pub(crate) use order_statistics::latency_quantiles;
pub use order_statistics::{ALPHA, histogram, interval, median_of};
pub use pg_layout::pg_test_fsync_text;
pub use pg_tests::{PG_TESTS, PgTest};
pub use progress::{Phase, Progress};
pub use samples::{Cell, FlushCount, Samples};
pub use sentence::sentence;
pub use shift::{Shift, ShiftDirection, shift};
pub(crate) use summary::{add_samples, summarise};
pub use table::{comparison_label, latency_lines, sparkline};
pub use workload::{Pass, Series, Workload, WorkloadResult, WorkloadRow, lines as workload_lines};
