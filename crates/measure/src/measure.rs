//! Samples → estimates, pure: rounds, quantiles, intervals, comparison, caveats.
//!
//! It does no IO and reads no clock, so that tests can simulate disks. The round is the statistical
//! unit; "no meaningful difference" is a result.

mod estimate {
    //! A figure with its certainty: the interval, whether a comparison came to an end, and the
    //! thresholds for both. How an interval is found is in [`super::order`].

    use serde::{Deserialize, Serialize};

    use crate::facts::catalog::probe::ProbeOutcome;

    /// A value with its 95 % interval.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct Estimate {
        /// The value.
        pub value: f64,
        /// Lower end of the interval.
        pub low: f64,
        /// Upper end of the interval.
        pub high: f64,
    }

    /// Whether a comparison came to an end.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum Conclusion {
        /// One is better beyond noise and beyond 5 %.
        Settled,
        /// They lie within 5 % of each other.
        NoMeaningfulDifference,
        /// The budget ended first.
        NotSettled,
    }

    impl Conclusion {
        /// Whether one is better beyond doubt.
        pub fn is_settled(self) -> bool {
            matches!(self, Self::Settled)
        }

        /// Whether the budget ended before it could be said.
        pub fn is_open(self) -> bool {
            matches!(self, Self::NotSettled)
        }

        /// Whether they are alike for all that matters.
        pub fn is_alike(self) -> bool {
            matches!(self, Self::NoMeaningfulDifference)
        }

        /// The same as a fact.
        pub fn outcome(self) -> ProbeOutcome {
            match self {
                Self::Settled => ProbeOutcome::Settled,
                Self::NoMeaningfulDifference => ProbeOutcome::NoMeaningfulDifference,
                Self::NotSettled => ProbeOutcome::NotSettled,
            }
        }
    }

    /// The smallest gain that justifies a change, in percent.
    pub const MEANINGFUL_PERCENT: f64 = 5.0;

    /// The number of samples from which a 99th percentile is more than the account of a few.
    pub(super) const SAMPLES_FOR_P99: usize = 1_000;
}
mod group {
    //! What the figures of another tool are of: the sections of `pg_test_fsync`, and the jobs of
    //! fio.

    use serde::Serialize;

    /// What a row belongs to.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum Group {
        /// One write of 8 kB, then the flush.
        OneWrite,
        /// Two writes of 8 kB, then the flush; with the open methods each write flushes.
        TwoWrites,
        /// 16 kB in one to sixteen writes, each flushed.
        Sizes,
        /// Whether a flush through another descriptor counts.
        OtherDescriptor,
        /// Without any flush.
        NotSynced,
        /// A job of fio.
        Job,
    }

    impl Group {
        /// In words.
        pub fn words(self) -> &'static str {
            match self {
                Self::OneWrite => "one 8 kB write",
                Self::TwoWrites => "two 8 kB writes",
                Self::Sizes => "16 kB in writes of different size",
                Self::OtherDescriptor => "fsync through another descriptor",
                Self::NotSynced => "8 kB without a flush",
                Self::Job => "jobs",
            }
        }
    }
}
mod method;
mod order;
mod pg_tests {
    //! The tests of `pg_test_fsync`, in its order and with its labels
    //! (src/bin/pg_test_fsync/pg_test_fsync.c). The text around them is in [`super::pg_layout`].

    use super::Method;
    use super::group::Group;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PgTest {
        /// So many pages, each in a write of its own, made durable with this method.
        Pages(u8, Method),
        /// 16 kB in so many synchronous writes.
        Sizes(u8),
        WriteFsyncClose,
        /// Write, close, open, fsync.
        WriteCloseFsync,
        NotSynced,
    }

    use PgTest::{NotSynced, Pages, Sizes, WriteCloseFsync, WriteFsyncClose};

    /// All of them, in the tool's order.
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
        /// The section of the tool's output.
        pub fn group(self) -> Group {
            match self {
                Pages(1, _) => Group::OneWrite,
                Pages(..) => Group::TwoWrites,
                Sizes(_) => Group::Sizes,
                WriteFsyncClose | WriteCloseFsync => Group::OtherDescriptor,
                NotSynced => Group::NotSynced,
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

        /// Section and label, as a row of its own.
        pub fn name(self) -> String {
            format!("{}: {}", self.group().words(), self.label().trim_start())
        }

        /// The method of opening and flushing; `None` where the file is reopened for every
        /// operation.
        pub fn method(self) -> Option<Method> {
            match self {
                Pages(_, method) => Some(method),
                Sizes(_) => Some(Method::OpenSyncDirect),
                NotSynced => Some(Method::Floor),
                WriteFsyncClose | WriteCloseFsync => None,
            }
        }

        /// Whether it is the last of a section of methods; the tool prints the method that this
        /// system lacks before it.
        pub fn is_last_of_its_section(self) -> bool {
            let mut of_section = PG_TESTS
                .into_iter()
                .rev()
                .filter(|test| test.group() == self.group());
            of_section.next() == Some(self) && self.names_a_method()
        }

        /// Whether its label is the name of a method.
        fn names_a_method(self) -> bool {
            matches!(self, Pages(..))
        }

        /// Writes per operation.
        pub fn writes(self) -> usize {
            match self {
                Pages(writes, _) | Sizes(writes) => writes.into(),
                WriteFsyncClose | WriteCloseFsync | NotSynced => 1,
            }
        }

        /// Bytes per write.
        pub fn bytes(self) -> usize {
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
    //! aggregated before this point, so that caveats can be found in the raw times.
    //!
    //! Rounds have the same index in every cell without an error; comparisons are paired by that
    //! index.

    use super::Method;
    use super::order::median_of;

    /// One method with one write size.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Cell {
        pub method: Method,
        /// Pages of the log per commit, written at once.
        pub pages: u32,
        /// Whether the server would do it this way.
        pub as_server: bool,
        /// Microseconds per commit, round by round.
        pub rounds: Vec<Vec<f64>>,
        /// Flushes that the disks counted during these commits; `None` where they do not count.
        pub flushes: Option<FlushCount>,
        /// Why it could not be measured; `None` where it was.
        pub error: Option<String>,
    }

    /// Flushes counted around commits, warm-up commits included.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct FlushCount {
        /// Flush requests that the disks completed.
        pub flushes: u64,
        /// Commits made meanwhile.
        pub commits: u64,
    }

    impl Cell {
        /// A cell without any measurement yet.
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

        /// The median of each round.
        pub fn round_medians(&self) -> Vec<f64> {
            self.rounds.iter().map(|round| median_of(round)).collect()
        }

        /// The number of measured commits.
        pub fn count(&self) -> usize {
            self.rounds.iter().map(Vec::len).sum()
        }
    }

    /// All samples of a probe.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Samples {
        /// One cell per method and write size, in the order of the report.
        pub cells: Vec<Cell>,
        /// Commits at intervals of at least ten milliseconds, as a server makes them. Always for
        /// one-page commits, for others on request.
        pub paced: Vec<Cell>,
    }

    impl Samples {
        /// The cell of a method and write size; `None` if it could not be measured.
        pub fn cell(&self, method: Method, pages: u32) -> Option<&Cell> {
            self.cells
                .iter()
                .find(|c| c.method == method && c.pages == pages && c.error.is_none())
        }

        /// The paced commits of a method and write size; `None` without any.
        pub fn paced(&self, method: Method, pages: u32) -> Option<&Cell> {
            self.paced
                .iter()
                .find(|c| c.method == method && c.pages == pages && c.count() > 0)
        }

        /// The reference method: the server's first that can be measured. Of PostgreSQL that is
        /// fdatasync, the Linux default, as it does it here; of InnoDB it is the one in force.
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
    //! Which log of a server the methods of a measurement write: PostgreSQL's WAL or InnoDB's redo
    //! log, in pages of which size, and which settings choose each method.
    //!
    //! How a server writes its log is left to the prober; a measurement repeats it, so that its
    //! readers need no server.

    use serde::{Deserialize, Serialize};

    use super::Method;

    /// A kind of log.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    #[serde(rename_all = "kebab-case")]
    pub enum LogKind {
        /// PostgreSQL's, and what is measured without a server. Its setting has the methods' names.
        #[default]
        Wal,
        /// InnoDB's.
        Redo,
    }

    /// The log of a measurement.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct MeasuredLog {
        /// Which.
        pub kind: LogKind,
        /// Size of a page of it in bytes: a WAL page, a block of the redo log.
        pub page_bytes: u32,
        /// The method by which the redo log is written now, where that is known; of the WAL a fact
        /// says it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub in_force: Option<Method>,
        /// The settings that choose a method of the redo log.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub settings: Vec<MethodSetting>,
    }

    /// The setting that chooses a method.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
    pub struct MethodSetting {
        /// The method.
        pub method: Method,
        /// The setting and its value: `innodb_log_file_buffering = off`.
        pub setting: String,
    }

    /// Size of a WAL page (XLOG_BLCKSZ), in bytes.
    const WAL_PAGE: u32 = 8192;

    impl Default for MeasuredLog {
        fn default() -> Self {
            Self {
                kind: LogKind::Wal,
                page_bytes: WAL_PAGE,
                in_force: None,
                settings: Vec::new(),
            }
        }
    }

    impl MeasuredLog {
        /// Whether it is the WAL of an ordinary PostgreSQL.
        pub fn is_default(&self) -> bool {
            *self == Self::default()
        }

        /// Whether it is InnoDB's.
        pub fn is_redo(&self) -> bool {
            matches!(self.kind, LogKind::Redo)
        }

        /// The size of a page in words: `8 kB`, `512 B`.
        pub fn page(&self) -> String {
            match self.page_bytes {
                bytes if bytes.is_multiple_of(1024) => format!("{} kB", bytes / 1024),
                bytes => format!("{bytes} B"),
            }
        }

        /// What is written at once, in words.
        pub fn pages(&self) -> String {
            match self.kind {
                LogKind::Wal => format!("{} pages", self.page()),
                LogKind::Redo => format!("redo log, blocks of {}", self.page()),
            }
        }

        /// The setting that chooses a method; `None` where the method has its name.
        pub fn setting(&self, method: Method) -> Option<&str> {
            self.settings
                .iter()
                .find(|one| one.method == method)
                .map(|one| one.setting.as_str())
        }

        /// A method in words, with the setting that chooses it.
        pub fn named(&self, method: Method) -> String {
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
            assert_eq!(MeasuredLog::default().pages(), "8 kB pages");
            assert_eq!(redo(512).pages(), "redo log, blocks of 512 B");
            assert_eq!(redo(4096).pages(), "redo log, blocks of 4 kB");
        }
    }
}
mod caveats;
mod compare;
mod facts;
mod measurement;
mod pg_layout;
mod progress;
mod sentence;
#[cfg(test)]
mod simulation;
mod sizes;
mod summary;
mod table;

pub use caveats::{DiskTraffic, SampleContext, SpeedLimit};
pub use estimate::{Conclusion, Estimate};
pub use facts::{WalFlushMethod, to_facts};
pub use import::{Imported, import, table as imported_table};
pub use log::{LogKind, MeasuredLog, MethodSetting};
pub use measurement::{Caveat, CaveatId, Comparison, Latencies, Measurement, MethodResult};
pub use method::{Method, Occasion, OpenMode, SyncCall};
pub(crate) use order::latency_quantiles;
pub use order::{ALPHA, histogram, interval, median_of};
pub use pg_layout::in_the_tools_layout;
pub use pg_tests::{PG_TESTS, PgTest};
pub use progress::{Phase, Progress};
pub use samples::{Cell, FlushCount, Samples};
pub use sentence::sentence;
pub use shift::{Moved, Shift, shift};
pub use sizes::sizes;
pub(crate) use summary::{add_samples, summarise};
pub use table::{comparison, latency_lines, sparkline};
pub use workload::{Pass, Series, Workload, WorkloadResult, WorkloadRow, lines as workload_lines};
