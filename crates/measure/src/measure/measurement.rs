//! The result of a probe, as every output shows it. Times are microseconds per commit unless the
//! name of a field has another unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ComparisonConclusion, Estimate, LogKind, MeasuredLog, Method, WorkloadResult, reference_method,
};
use crate::facts::catalog::postgres::WalSyncMethod;
use crate::facts::choice;

/// Result of one method with one write size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MethodResult {
    pub method: Method,
    /// Log pages per commit, in one write; 8 kB unless `log` has another size.
    pub pages: u32,
    /// True if a server writes its log like this; false for rows that serve comparison only, such
    /// as those of `pg_test_fsync`.
    pub as_server: bool,
    /// Paced commits, one every 10 ms, as a server makes them: the basis of headlines, answers and
    /// advice. Absent for rows that serve comparison only, for more than one page unless requested,
    /// and if the time ran out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paced: Option<Latencies>,
    /// Commits in an unbroken loop, which understates the latency of fsync and open_sync; absent if
    /// none was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back_to_back: Option<Latencies>,
    /// Flushes per commit that the disks counted; absent if the disks do not count flushes or the
    /// write used FUA.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flushes_per_commit: Option<f64>,
    /// Reason for a missing result, such as refused O_DIRECT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The latency of commits, in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latencies {
    /// Commits measured, without warm-up.
    pub samples: u64,
    pub mean_us: f64,
    /// Median of `rounds_us`, with its interval.
    pub median_us: Estimate,
    pub p95_us: f64,
    /// Ends of the 95 % interval of the 95th percentile over rounds; absent with too few samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_interval_us: Option<[f64; 2]>,
    /// 99th percentile, from 1,000 samples on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    /// Ends of the 95 % interval of the 99th percentile over rounds; absent with too few samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_interval_us: Option<[f64; 2]>,
    pub max_us: f64,
    /// Quantiles of the latency in ascending order, at most 64: of n entries, the k-th is the
    /// quantile k/n.
    pub quantiles_us: Vec<f64>,
    /// Medians of consecutive commits, in order: one for each round of back-to-back commits, or for
    /// each of up to 100 runs of paced commits.
    pub rounds_us: Vec<f64>,
    /// Latency of every commit, by round; only on request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples_us: Vec<Vec<f64>>,
}

/// A method compared with the default by paced commits of one page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    pub method: Method,
    /// The method that serves as the reference.
    pub against: Method,
    /// Gain in percent of the reference's latency, with its 99 % interval; negative if slower.
    pub gain_percent: Estimate,
    pub settled: ComparisonConclusion,
}

/// A limit of the figures, with its consequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Caveat {
    /// Short name: `competing-io`, `implausible-speed`, `few-samples`, `clock`.
    #[schemars(with = "String")]
    pub id: CaveatId,
    #[serde(alias = "says")]
    pub text: String,
    /// True if no change of method may be advised from these figures.
    pub refuses_advice: bool,
    /// Affected rounds, counted from 1, ascending; left out if the caveat concerns all rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<u32>,
}

/// The result of a probe of one directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// Parent of the scratch directory; display-safe.
    pub directory: String,
    /// Start, RFC 3339.
    pub when: String,
    /// Elapsed time of the probe.
    pub seconds: f64,
    /// Number of complete rounds; an interrupted round is not counted.
    pub rounds: u32,
    /// Bytes written by commits, workloads and the preparation of files.
    pub bytes_written: u64,
    /// The log that was written; left out for PostgreSQL's WAL.
    #[serde(default, skip_serializing_if = "MeasuredLog::is_default_wal")]
    pub log: MeasuredLog,
    /// One row per method and size, in a fixed order.
    pub methods: Vec<MethodResult>,
    /// Each valid method compared with the default.
    pub comparisons: Vec<Comparison>,
    /// Best method by this measurement alone: the default unless another is faster beyond noise.
    pub best: Method,
    /// True if the probe was cancelled; complete rounds are kept.
    pub cancelled: bool,
    pub caveats: Vec<Caveat>,
    /// One entry per requested workload; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<WorkloadResult>,
}

impl Caveat {
    pub fn text_with_effect_on_advice(&self) -> String {
        if self.refuses_advice {
            let says = self.text.trim_end_matches('.');
            return format!("{says}; these figures are not used for advice");
        }
        self.text.clone()
    }
}

choice! {
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum CaveatId {
        Stopped = "stopped",
        ImplausibleSpeed = "implausible-speed",
        FreeFlush = "free-flush",
        /// Further commits may still remove the caveat, so that only the end of the probe decides.
        FewSamples = "few-samples" may_be_removed_by_further_commits,
        Clock = "clock",
        Inconsistent = "inconsistent",
        LessWorkSlower = "less-work-slower",
        NotArrived = "not-arrived",
        Suspended = "suspended",
        CompetingIo = "competing-io" is_competing_io,
        UnseenIo = "unseen-io" is_unseen_io,
        Steal = "steal",
        ODirect = "o-direct",
        Leftover = "leftover",
    }
}

impl CaveatId {
    /// True if the caveat is about foreign load, which slows all methods of a probe alike. The
    /// figures are then not comparable with those of other probes.
    pub fn affects_all_methods_alike(self) -> bool {
        matches!(self, Self::CompetingIo | Self::Steal)
    }

    pub(crate) fn is_about_excessive_speed(self) -> bool {
        matches!(self, Self::ImplausibleSpeed | Self::FreeFlush)
    }
}

impl MethodResult {
    pub fn paced_median_us(&self) -> Option<f64> {
        self.paced.as_ref().map(|paced| paced.median_us.value)
    }

    pub fn paced_p99_us(&self) -> Option<f64> {
        self.paced.as_ref().and_then(|paced| paced.p99_us)
    }

    pub fn paced_row_and_latencies(&self) -> Option<(&Self, &Latencies)> {
        Some((self, self.paced.as_ref()?))
    }

    pub fn back_to_back_median_us(&self) -> Option<f64> {
        self.back_to_back
            .as_ref()
            .map(|loops| loops.median_us.value)
    }

    pub(crate) fn is_measured(&self) -> bool {
        self.paced.is_some() || self.back_to_back.is_some()
    }
}

impl Measurement {
    pub fn paced_conditions_text(&self) -> String {
        format!(
            "one commit every 10 ms, {}, 1 client",
            self.log.page_size_text()
        )
    }

    /// The rows of one-page commits as a server makes them, without rows that failed.
    pub fn one_page_server_rows_without_error(&self) -> impl Iterator<Item = &MethodResult> {
        self.one_page_server_rows()
            .filter(|row| row.error.is_none())
    }

    pub fn attempted_one_page_server_rows(&self) -> impl Iterator<Item = &MethodResult> {
        self.one_page_server_rows()
            .filter(|row| row.is_measured() || row.error.is_some())
    }

    fn one_page_server_rows(&self) -> impl Iterator<Item = &MethodResult> {
        let rows = self.methods.iter();
        rows.filter(|row| row.as_server && row.pages == 1)
    }

    /// The reference of comparisons: the first method without an error that a server can use, or
    /// else the first such method. Without such methods, fdatasync is the reference.
    pub(crate) fn reference_method(&self) -> Method {
        let of_server = self.methods.iter().filter(|row| row.as_server);
        reference_method(of_server.map(|row| (row.method, row.error.is_some())))
    }

    /// `wal` is the server's `wal_sync_method`, and is ignored for a redo log.
    pub fn is_row_of_method_in_force(
        &self,
        row: &MethodResult,
        wal: Option<WalSyncMethod>,
    ) -> bool {
        let is_it = match self.log.kind {
            LogKind::Wal => wal.is_some() && row.method.wal_sync_method() == wal,
            LogKind::Redo => self.log.in_force == Some(row.method),
        };
        row.as_server && is_it
    }

    /// The one-page row of the method in force, else of the best method, else the first row. `wal`
    /// is the server's `wal_sync_method`, and is ignored for a redo log.
    pub fn in_force_or_best_row(&self, wal: Option<WalSyncMethod>) -> Option<&MethodResult> {
        let rows = || self.one_page_server_rows_without_error();
        let best = || rows().find(|row| row.method == self.best);
        rows()
            .find(|row| self.is_row_of_method_in_force(row, wal))
            .or_else(best)
            .or_else(|| rows().next())
    }

    pub fn has_complete_rounds(&self) -> bool {
        self.rounds > 0 || self.workloads.iter().any(|found| found.rounds > 0)
    }
}
