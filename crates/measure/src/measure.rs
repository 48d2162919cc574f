//! Statistics of probes: rounds, quantiles, intervals, comparisons and caveats. The module has no
//! I/O and no clock, so tests can simulate disks.
//!
//! The statistics treat the figure of a round, not of a commit, as one observation. "No meaningful
//! difference" is a result, not a failure.

mod caveats;
mod commit_size_table;
mod commit_wait;
mod compare;
mod facts;
mod latency_shift;
mod measurement;
mod method;
mod order_statistics;
mod pg_test_fsync;
mod profile;
mod progress;
mod requirement;
mod sentence;
#[cfg(test)]
mod simulation;
mod table;
mod workload;

use order_statistics::{
    median_interval_or_span, medians_of_consecutive_runs, quantile, quantile_interval, sorted_copy,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::facts::catalog::probe::ComparisonConclusion;
pub use caveats::{DiskTraffic, SampleContext};
pub use commit_size_table::latency_by_commit_size_lines;
pub(crate) use commit_wait::{CommitSamples, LogSyncMode, ServerAndDiskProperties};
pub use commit_wait::{DiskFlushes, PassiveMeasurement};
pub use facts::{WalMethodInForce, insert_probe_facts};
pub use latency_shift::{LatencyShift, ShiftDirection, estimate_latency_shift};
pub use measurement::{Caveat, CaveatId, Comparison, Latencies, Measurement, MethodResult};
pub use method::{Method, ProbeInclusion};
pub use order_statistics::{ALPHA, log_scale_histogram, median_interval, median_of};
pub(crate) use order_statistics::{floor_to_usize, median_and_p99};
pub(crate) use pg_test_fsync::{PG_TEST_FSYNC_SECTIONS, PgTestFsyncTest};
pub use pg_test_fsync::{format_like_pg_test_fsync, pg_test_fsync_test_count};
pub use profile::{CommitLoad, CommitProfile, LogFileAllocation, MaxPlausibleCommitRate};
pub use progress::{ProbePhase, ProbeProgress};
pub use requirement::{
    LatencyQuantile, Requirement, RequirementAnswer, RequirementResult, SequentialRequirementTest,
    ThresholdRelation, TimeUnit,
};
pub use sentence::measurement_summary;
pub use table::{comparison_label, latency_table_lines, sparkline};
pub use workload::{
    RoundSamples, RowSamples, Workload, WorkloadResult, WorkloadRow, workload_lines,
};

// The log that a probe measures, with the settings that choose a method. Both are part of a
// measurement, so that a saved measurement can be shown without facts about the server.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogKind {
    /// PostgreSQL's write-ahead log; also the default without a server. The methods have the
    /// names that `wal_sync_method` takes.
    #[default]
    Wal,
    Redo,
}

/// The log that a probe writes: PostgreSQL's WAL or InnoDB's redo log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredLog {
    pub kind: LogKind,
    /// Size of a WAL page or a redo log block, in bytes.
    pub page_bytes: u32,
    /// The method that the redo log uses now, if known; always absent for the WAL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_force: Option<Method>,
    /// One setting per method of the redo log; absent for the WAL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<MethodSetting>,
}

/// A server setting that makes the redo log use `method`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MethodSetting {
    pub method: Method,
    /// The setting with its value: `innodb_log_file_buffering = off`.
    pub setting: String,
}

/// PostgreSQL's default for XLOG_BLCKSZ.
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
    pub(crate) fn is_default_wal(&self) -> bool {
        *self == Self::default()
    }

    pub fn is_redo(&self) -> bool {
        matches!(self.kind, LogKind::Redo)
    }

    pub(crate) fn page_size_text(&self) -> String {
        match self.page_bytes {
            bytes if bytes.is_multiple_of(1024) => format!("{} kB", bytes / 1024),
            bytes => format!("{bytes} B"),
        }
    }

    /// The setting that chooses the method; `None` if no setting is needed.
    pub fn setting_for_method(&self, method: Method) -> Option<&str> {
        self.settings
            .iter()
            .find(|one| one.method == method)
            .map(|one| one.setting.as_str())
    }

    pub fn method_with_setting_text(&self, method: Method) -> String {
        match self.setting_for_method(method) {
            Some(setting) => format!("{} by {setting}", method.name()),
            None => method.name().to_owned(),
        }
    }
}

// Every sample of a probe, by method, write size and round. Nothing is aggregated, because
// caveats are found in the raw times.
//
// A cell is one method with one write size. All cells without an error have the same number of
// rounds, because comparisons pair rounds by index.

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MethodSamples {
    pub method: Method,
    /// Log pages per commit, in one write.
    pub pages: u32,
    /// False for a row that serves comparison only: no server writes its log like this.
    pub as_server: bool,
    /// Microseconds per back-to-back commit, round by round.
    pub rounds: Vec<Vec<f64>>,
    /// Microseconds per paced commit, round by round: commits at least 10 ms apart, as on a server.
    /// Commits of more than one page are paced only on request.
    pub paced: Vec<Vec<f64>>,
    /// Flushes that the disks counted during these commits; `None` if the disks do not count
    /// flushes.
    pub flushes: Option<FlushAndCommitCounts>,
    pub error: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlushAndCommitCounts {
    pub flushes: u64,
    pub commits: u64,
}

impl MethodSamples {
    pub fn new(method: Method, pages: u32, as_server: bool) -> Self {
        Self {
            method,
            pages,
            as_server,
            rounds: Vec::new(),
            paced: Vec::new(),
            flushes: None,
            error: None,
        }
    }

    pub(crate) fn median_of_each_round(&self) -> Vec<f64> {
        self.rounds.iter().map(|round| median_of(round)).collect()
    }

    /// Latency of a typical commit, in microseconds.
    pub(crate) fn median_of_round_medians(&self) -> f64 {
        median_of(&self.median_of_each_round())
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ProbeSamples {
    /// One cell per method and write size, in the order of the report.
    pub cells: Vec<MethodSamples>,
}

impl ProbeSamples {
    /// The cell of back-to-back commits; `None` if no commit with `method` and `pages` was
    /// measured.
    pub(crate) fn back_to_back_samples_of(
        &self,
        method: Method,
        pages: u32,
    ) -> Option<&MethodSamples> {
        self.cells
            .iter()
            .find(|c| c.method == method && c.pages == pages && c.error.is_none())
    }

    /// Latencies of the paced one-page commits with the reference method, in microseconds.
    pub(crate) fn paced_reference_commits(&self) -> Vec<f64> {
        let cell = self.back_to_back_samples_of(self.reference_method(), 1);
        cell.map_or_else(Vec::new, |cell| cell.paced.concat())
    }

    /// The reference of comparisons: the first measured method that a server can use, or else
    /// the first such method. Without such methods, fdatasync is the reference.
    pub(crate) fn reference_method(&self) -> Method {
        let of_server = self.cells.iter().filter(|cell| cell.as_server);
        reference_method(of_server.map(|cell| (cell.method, cell.error.is_some())))
    }

    pub(crate) fn complete_round_count(&self) -> usize {
        self.cells
            .iter()
            .filter(|c| c.error.is_none())
            .map(|c| c.rounds.len())
            .min()
            .unwrap_or(0)
    }
}

/// The first of a server's methods that did not fail, or else the first; fdatasync without any.
fn reference_method(of_server: impl Iterator<Item = (Method, bool)> + Clone) -> Method {
    let first = of_server.clone().next();
    let mut measured = of_server.filter(|(_, has_failed)| !has_failed);
    measured
        .next()
        .or(first)
        .map_or(Method::Fdatasync, |(method, _)| method)
}

/// A value with its interval: 95 % unless the field states another level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// Smallest gain that justifies a change of method, in percent.
const MEANINGFUL_PERCENT: f64 = 5.0;

/// Samples needed for a 99th percentile: with fewer, a handful of outliers decide it.
const MIN_SAMPLES_FOR_P99: usize = 1_000;

/// Paced commits are divided into at most this many runs.
const MAX_RUNS: usize = 100;

pub(crate) fn summarise_samples(samples: &ProbeSamples, seen: &SampleContext) -> Measurement {
    let methods: Vec<MethodResult> = samples.cells.iter().map(summarise_method_samples).collect();
    let comparisons = compare::compare_server_methods(&methods, samples.reference_method());
    let caveats = caveats::find_caveats(samples, seen);
    Measurement {
        directory: seen.directory.clone(),
        when: seen.when.clone(),
        seconds: seen.seconds,
        rounds: u32::try_from(samples.complete_round_count()).unwrap_or(u32::MAX),
        bytes_written: seen.bytes_written,
        log: seen.log.clone(),
        best: best_method(samples, seen, &methods, &comparisons, &caveats),
        methods,
        comparisons,
        cancelled: seen.cancelled,
        caveats,
        workloads: Vec::new(),
    }
}

pub(crate) fn add_raw_samples(measurement: &mut Measurement, samples: &ProbeSamples) {
    for (row, cell) in measurement.methods.iter_mut().zip(&samples.cells) {
        for (latencies, rounds) in [
            (&mut row.back_to_back, &cell.rounds),
            (&mut row.paced, &cell.paced),
        ] {
            if let Some(latencies) = latencies {
                latencies.samples_us.clone_from(rounds);
            }
        }
    }
}

fn summarise_method_samples(cell: &MethodSamples) -> MethodResult {
    let runs = medians_of_consecutive_runs(&cell.paced.concat(), MAX_RUNS);
    MethodResult {
        method: cell.method,
        pages: cell.pages,
        as_server: cell.as_server,
        paced: summarise_latencies(&cell.paced, runs),
        back_to_back: summarise_latencies(&cell.rounds, cell.median_of_each_round()),
        flushes_per_commit: cell
            .flushes
            .filter(|f| f.commits > 0)
            .map(|f| f.flushes as f64 / f.commits as f64),
        error: cell.error.clone(),
    }
}

/// `None` without commits.
fn summarise_latencies(rounds: &[Vec<f64>], medians: Vec<f64>) -> Option<Latencies> {
    let all = sorted_copy(&rounds.concat());
    let max_us = all.last().copied()?;
    let rounds: Vec<&[f64]> = rounds.iter().map(Vec::as_slice).collect();
    let interval = |share| quantile_interval(&rounds, share, ALPHA);
    let has_p99 = all.len() >= MIN_SAMPLES_FOR_P99;
    Some(Latencies {
        samples: all.len() as u64,
        mean_us: all.iter().sum::<f64>() / all.len() as f64,
        median_us: median_interval_or_span(&medians, ALPHA),
        p95_us: quantile(&all, 0.95),
        p95_interval_us: interval(0.95),
        p99_us: has_p99.then(|| quantile(&all, 0.99)),
        p99_interval_us: interval(0.99).filter(|_| has_p99),
        max_us,
        quantiles_us: evenly_spaced_quantiles(&all),
        rounds_us: medians,
        samples_us: Vec::new(),
    })
}

/// Largest number of quantiles that are kept. A curve as wide as a screen shows no more.
const MAX_QUANTILES: u32 = 64;

/// At most [`MAX_QUANTILES`] latencies at equal steps of rank. `all` must be sorted; a shorter list
/// is returned unchanged.
fn evenly_spaced_quantiles(all: &[f64]) -> Vec<f64> {
    let count = u32::try_from(all.len())
        .unwrap_or(u32::MAX)
        .min(MAX_QUANTILES);
    (1..=count)
        .map(|step| quantile(all, f64::from(step) / f64::from(count)))
        .collect()
}

/// The default, unless paced commits of another method are faster beyond noise, at a plausible speed,
/// and two pages are not slower. A caveat that forbids advice keeps the default.
fn best_method(
    samples: &ProbeSamples,
    seen: &SampleContext,
    rows: &[MethodResult],
    comparisons: &[Comparison],
    caveats: &[Caveat],
) -> Method {
    let default = samples.reference_method();
    if caveats.iter().any(|c| c.refuses_advice) {
        return default;
    }
    let winners = comparisons.iter().filter(|c| {
        c.settled.shows_difference()
            && c.gain_percent.low > MEANINGFUL_PERCENT
            && !caveats::exceeds_plausible_rate(samples, c.method, seen)
            && !compare::is_slower_with_two_pages(rows, c.method, default)
    });
    winners
        .max_by(|a, b| a.gain_percent.low.total_cmp(&b.gain_percent.low))
        .map_or(default, |c| c.method)
}
