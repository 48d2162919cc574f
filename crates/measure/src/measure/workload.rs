//! Computes the results of workloads from samples. A round runs every load generator once, in
//! random order, and is the unit of the statistics.
//!
//! Rows with several threads are compared by throughput, not by single latencies: operations that
//! share a flush wait together.

mod sentences;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::order_statistics::{
    ALPHA, conclusion_from_gain, gain_percent, median_interval, median_interval_or_span, median_of,
    paired_ratios, quantile_fn_with_equal_round_weight,
};
use super::requirement::NotDurable;
use super::{
    CommitLoad, CommitProfile, ComparisonConclusion, MIN_SAMPLES_FOR_P99, MaxPlausibleCommitRate,
    RequirementResult,
};
use crate::facts::catalog::probe;
use crate::facts::{FactSet, Key, Source, Subject};
use crate::measure::Estimate;

pub use sentences::workload_lines;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowSamples {
    pub name: String,
    pub threads: u32,
    /// Bytes written per operation.
    pub bytes: u64,
    /// Index of the reference row; `None` without a comparison.
    pub against: Option<usize>,
    pub rounds: Vec<RoundSamples>,
    pub error: Option<String>,
}

impl RowSamples {
    /// The row has one thread and no samples.
    pub fn new(name: impl Into<String>, bytes: u64) -> Self {
        Self {
            name: name.into(),
            threads: 1,
            bytes,
            ..Self::default()
        }
    }

    #[must_use]
    pub(crate) fn with_ratio_to_row(self, row: usize) -> Self {
        Self {
            against: Some(row),
            ..self
        }
    }

    /// Latency of an operation in each round, in microseconds: the median for one thread, else the
    /// elapsed time per operation.
    fn latency_per_round(&self) -> Vec<f64> {
        let cost = |pass: &RoundSamples| match self.threads {
            1 => median_of(&pass.times_us),
            _ => 1e6 * pass.seconds / pass.times_us.len().max(1) as f64,
        };
        self.rounds.iter().map(cost).collect()
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundSamples {
    /// Latency of each operation, of all threads, in microseconds.
    pub times_us: Vec<f64>,
    pub seconds: f64,
    /// Flush requests: calls of fsync and fdatasync, and writes to files opened O_DSYNC or O_SYNC.
    /// A flushed operation of `pg_test_fsync` counts as one.
    pub flush_calls: u64,
    /// Flushes that the disks counted; `None` next to a busy writer, or if the disks do not count
    /// flushes.
    pub flushes: Option<u64>,
}

impl WorkloadResult {
    pub fn new(workload: Workload, series: &[RowSamples], keep_samples: bool) -> Self {
        let measured = series.iter().filter(|s| s.error.is_none());
        let rounds = measured.map(|s| s.rounds.len()).min().unwrap_or(0);
        let rows: Vec<_> = series
            .iter()
            .map(|one| summarise_row(one, series, keep_samples))
            .collect();
        let sentence = sentences::workload_sentence(workload, &rows);
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
        Self {
            workload,
            operation: workload.operation_text().to_owned(),
            rounds,
            rows,
            sentence,
            profile: None,
            requirement: None,
        }
    }

    /// `is_complete` is false for a run that was cancelled or failed.
    pub(crate) fn from_commit_load(
        load: &CommitLoad,
        series: &[RowSamples],
        speed_limit: Option<&MaxPlausibleCommitRate>,
        is_complete: bool,
        keep_samples: bool,
    ) -> Self {
        let rounds: Vec<(&[f64], f64)> = series
            .iter()
            .flat_map(|row| &row.rounds)
            .map(|round| (&round.times_us[..], round.seconds))
            .collect();
        let found = Self::new(Workload::Commit, series, keep_samples);
        let is_implausible = |limit: &MaxPlausibleCommitRate| {
            let mut rows = found.rows.iter();
            rows.any(|row| limit.is_exceeded_by_latency(row.median_us.value))
        };
        let not_durable = if load.is_flush_suppressed {
            Some(NotDurable::FlushSuppressed)
        } else if speed_limit.is_some_and(is_implausible) {
            Some(NotDurable::ImplausibleRate)
        } else {
            None
        };
        let requirement = load.requirement.map(|required| {
            let result = RequirementResult::new(required, &rounds, is_complete);
            match not_durable {
                Some(evidence) => result.withhold_pass(evidence),
                None => result,
            }
        });
        Self {
            operation: load.operation_text(),
            sentence: requirement
                .as_ref()
                .map_or(found.sentence, RequirementResult::sentence),
            profile: load.profile,
            requirement,
            ..found
        }
    }
}

fn summarise_row(series: &RowSamples, all: &[RowSamples], keep_samples: bool) -> WorkloadRow {
    let passes = || series.rounds.iter();
    let rounds: Vec<&[f64]> = passes().map(|pass| &pass.times_us[..]).collect();
    let times = rounds.concat();
    let quantile = quantile_fn_with_equal_round_weight(&rounds);
    let medians: Vec<f64> = rounds.iter().map(|times| median_of(times)).collect();
    let rate = |pass: &RoundSamples| pass.times_us.len() as f64 / pass.seconds.max(1e-9);
    let rates: Vec<f64> = passes().map(rate).collect();
    let operations = times.len().max(1) as f64;
    let per_operation = |count: u64| count as f64 / operations;
    let counted = passes().map(|pass| pass.flushes).sum::<Option<u64>>();
    let other = series
        .against
        .and_then(|i| all.get(i))
        .filter(|o| o.error.is_none());
    let ratios =
        other.map(|other| paired_ratios(&series.latency_per_round(), &other.latency_per_round()));
    let ratios = ratios.filter(|ratios| !ratios.is_empty());
    WorkloadRow {
        name: series.name.clone(),
        threads: series.threads,
        bytes: series.bytes,
        samples: times.len() as u64,
        per_second: median_interval_or_span(&rates, ALPHA),
        mean_us: times.iter().sum::<f64>() / operations,
        median_us: median_interval_or_span(&medians, ALPHA),
        p95_us: quantile(0.95),
        p99_us: (times.len() >= MIN_SAMPLES_FOR_P99).then(|| quantile(0.99)),
        max_us: times.iter().copied().fold(0.0, f64::max),
        flush_calls_per_operation: per_operation(passes().map(|pass| pass.flush_calls).sum()),
        flushes_per_operation: counted.filter(|_| !times.is_empty()).map(per_operation),
        against: other.map(|other| other.name.clone()),
        cost_ratio: ratios.as_ref().map(|r| median_interval_or_span(r, ALPHA)),
        // The decision is made once, at the end of the probe, so the error probability is not
        // divided.
        settled: ratios.map(|r| conclusion_from_gain(median_interval(&r, ALPHA).map(gain_percent))),
        rounds_us: medians,
        samples_us: if keep_samples {
            passes().map(|pass| pass.times_us.clone()).collect()
        } else {
            Vec::new()
        },
        error: series.error.clone(),
    }
}

type RowFigureFn<'f> = &'f dyn Fn(&WorkloadRow) -> Option<f64>;

/// Facts of workloads that did not run stay *not collected*.
pub(super) fn insert_workload_facts(
    found: &[WorkloadResult],
    target: &Subject,
    facts: &mut FactSet,
) {
    let ratio = |row: &WorkloadRow| row.cost_ratio.map(|ratio| ratio.value);
    let rate = |row: &WorkloadRow| Some(row.per_second.value);
    let median = |row: &WorkloadRow| Some(row.median_us.value);
    let wanted: [(Workload, &str, RowFigureFn<'_>, &Key<f64>); 9] = [
        (
            Workload::Segment,
            "filled with zeros",
            &ratio,
            &probe::NEW_SEGMENT_ZEROED,
        ),
        (
            Workload::Segment,
            "not filled",
            &ratio,
            &probe::NEW_SEGMENT_UNFILLED,
        ),
        (
            Workload::Group,
            "16 sessions",
            &rate,
            &probe::GROUP_COMMITS_PER_SECOND,
        ),
        (
            Workload::Innodb,
            "both in turn, 512 B",
            &median,
            &probe::BINLOG_COMMIT,
        ),
        (
            Workload::Transaction,
            "redo log and binary log",
            &median,
            &probe::BINLOG_COMMIT,
        ),
        (
            Workload::Transaction,
            "16 sessions",
            &rate,
            &probe::GROUP_COMMITS_PER_SECOND,
        ),
        (Workload::Files, "1 thread", &rate, &probe::FILES_PER_SECOND),
        (
            Workload::Entangle,
            "fdatasync, next to a writer",
            &ratio,
            &probe::ENTANGLED_FDATASYNC,
        ),
        (
            Workload::Entangle,
            "fsync, next to a writer",
            &ratio,
            &probe::ENTANGLED_FSYNC,
        ),
    ];
    for (workload, name, figure, key) in wanted {
        let result = found.iter().find(|one| one.workload == workload);
        let row = result.and_then(|one| sentences::find_measured_row(&one.rows, name));
        if let Some(value) = row.and_then(figure) {
            facts.insert_known(
                target,
                key,
                value,
                Source::Probe {
                    id: workload.name().to_owned(),
                },
            );
        }
    }
}

/// An activity of a database, or of its neighbours, that is measured separately.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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
    /// The tests of `pg_test_fsync`, for comparison with that tool; a separate option requests
    /// them.
    PgTestFsync,
    /// InnoDB transactions, flushed as the target's server flushes them; part of every measurement
    /// of a server with InnoDB.
    Transaction,
    /// Commits of one program, back to back; a profile or a requirement requests them.
    Commit,
}

impl Workload {
    /// Workloads that a request for all workloads runs, in the order of measurement.
    pub const ALL: [Self; 5] = [
        Self::Segment,
        Self::Group,
        Self::Innodb,
        Self::Files,
        Self::Entangle,
    ];

    pub fn name(self) -> &'static str {
        self.texts().0
    }

    pub(crate) fn operation_text(self) -> &'static str {
        self.texts().1
    }

    pub(crate) fn progress_text(self) -> &'static str {
        self.texts().2
    }

    /// Name, operation and progress.
    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Segment => (
                "segment",
                "first 8 kB writes to a new WAL segment, each flushed with fdatasync; creation of the segment",
                "measuring new segments",
            ),
            Self::Group => (
                "group",
                "commits of 512 B; one fdatasync covers all waiting commits",
                "measuring group commit",
            ),
            Self::Innodb => (
                "innodb",
                "records appended and flushed: redo log in a file of fixed size, binary log in a growing file",
                "measuring redo and binary log",
            ),
            Self::Files => (
                "files",
                "create, write 4 kB, fsync, rename, fsync of the directory",
                "measuring small files",
            ),
            Self::Entangle => (
                "entangle",
                "8 kB pages overwritten and flushed, alone and next to a writer of at most 32 MiB/s",
                "measuring next to a writer",
            ),
            Self::PgTestFsync => (
                "pg-test-fsync",
                "the tests of pg_test_fsync, in rounds",
                "running the tests of pg_test_fsync",
            ),
            Self::Transaction => (
                "transaction",
                "records of 512 B in redo log and binary log; one flush covers all waiting transactions",
                "measuring transactions",
            ),
            Self::Commit => (
                "commit",
                "records written to a log and flushed, back to back",
                "measuring commits",
            ),
        }
    }
}

/// One operation of a workload, measured with a fixed number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Median of the rounds' median latencies, with its interval.
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
    pub settled: Option<ComparisonConclusion>,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadResult {
    pub workload: Workload,
    /// The operation in words, such as `8 kB written and not flushed`.
    pub operation: String,
    /// Number of rounds in which every row without an error was measured.
    pub rounds: u32,
    /// One row per operation, in a fixed order.
    pub rows: Vec<WorkloadRow>,
    /// Summary of the rows, or a statement that nothing was measured.
    pub sentence: String,
    /// The program whose commits were made; absent for other workloads, and without a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<CommitProfile>,
    /// The requirement with its answer; absent without a requirement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<RequirementResult>,
}

#[cfg(test)]
mod facts_tests {
    use super::*;
    use crate::measure::{RoundSamples, RowSamples};

    #[test]
    fn unmeasured_workload_facts_stay_unknown() {
        let pass = RoundSamples {
            times_us: vec![100.0; 4],
            seconds: 0.0004,
            flush_calls: 4,
            flushes: None,
        };
        let series = |name: &str| RowSamples {
            rounds: vec![pass.clone(); 8],
            ..RowSamples::new(name, 8192)
        };
        let rows = [
            series("fdatasync, alone"),
            series("fdatasync, next to a writer").with_ratio_to_row(0),
        ];
        let found = [WorkloadResult::new(Workload::Entangle, &rows, false)];
        let (target, mut facts) = (Subject::target("/t"), FactSet::default());
        insert_workload_facts(&found, &target, &mut facts);
        assert_eq!(facts.value(&target, &probe::ENTANGLED_FDATASYNC), Some(1.0));
        assert_eq!(facts.value(&target, &probe::ENTANGLED_FSYNC), None);
        assert_eq!(facts.value(&target, &probe::FILES_PER_SECOND), None);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::measure::order_statistics::quantile;

    fn sample_series(threads: u32, us: f64, against: Option<usize>) -> RowSamples {
        let pass = |round: usize| {
            // Every series is slow in the same rounds, in which the disk is disturbed.
            let us = if round.is_multiple_of(3) {
                3.0 * us
            } else {
                us
            };
            let seconds = 10.0 * us / 1e6 / f64::from(threads);
            RoundSamples {
                times_us: vec![us; 10],
                seconds,
                flush_calls: 5,
                flushes: Some(10),
            }
        };
        let rounds = (0..12).map(pass).collect();
        RowSamples {
            threads,
            against,
            rounds,
            ..RowSamples::new(format!("{threads} × {us}"), 8192)
        }
    }

    #[test]
    fn rows_are_compared_within_rounds() {
        let all = [
            sample_series(1, 100.0, None),
            sample_series(1, 150.0, Some(0)),
            sample_series(4, 200.0, Some(0)),
        ];
        let found = WorkloadResult::new(Workload::Group, &all, false);
        assert_eq!(found.rounds, 12);
        let ratio = |i: usize| found.rows[i].cost_ratio.unwrap();
        assert!(found.rows[0].cost_ratio.is_none());
        for (i, expected) in [(1, 1.5), (2, 0.5)] {
            let ratio = ratio(i);
            assert!((ratio.value - expected).abs() < 1e-9, "{ratio:?}");
            assert!(
                (ratio.high - ratio.low).abs() < 1e-9,
                "the disk's drift is in both: {ratio:?}"
            );
        }
        let row = &found.rows[2];
        assert!(
            (row.per_second.value - 20_000.0).abs() < 1e-6
                && (row.median_us.value - 200.0).abs() < 1e-9
        );
        assert!((row.flush_calls_per_operation - 0.5).abs() < 1e-9);
        assert_eq!(
            (row.samples, row.flushes_per_operation, row.p99_us),
            (120, Some(1.0), None)
        );
    }

    proptest! {
        #[test]
        fn no_percentile_lies_below_the_median(rounds in prop::collection::vec(prop::collection::vec(1.0..1e6f64, 1..40), 1..12)) {
            let passes = rounds.iter().map(|times| RoundSamples { times_us: times.clone(), ..RoundSamples::default() });
            let series = RowSamples { rounds: passes.collect(), ..RowSamples::new("any", 1) };
            let row = summarise_row(&series, &[], false);
            prop_assert!(row.median_us.value <= row.p95_us && row.p95_us <= row.max_us, "{row:?}");
        }

        #[test]
        fn equal_rounds_give_plain_quantiles(times in prop::collection::vec(1.0..1e6f64, 1..60)) {
            let passes: Vec<&[f64]> = times.chunks(1).collect();
            let sorted = crate::measure::order_statistics::sorted_copy(&times);
            for share in [0.5, 0.95, 0.99, 1.0] {
                prop_assert_eq!(quantile_fn_with_equal_round_weight(&passes)(share).to_bits(), quantile(&sorted, share).to_bits());
            }
        }
    }

    fn conclusion_from_ratios(ratios: &[f64]) -> ComparisonConclusion {
        conclusion_from_gain(median_interval(ratios, ALPHA).map(gain_percent))
    }

    #[test]
    fn conclusion_follows_ratio_interval() {
        assert_eq!(
            conclusion_from_ratios(&[1.2; 6]),
            ComparisonConclusion::Settled
        );
        assert_eq!(
            conclusion_from_ratios(&[0.8; 6]),
            ComparisonConclusion::Settled
        );
        assert_eq!(
            conclusion_from_ratios(&[1.2; 5]),
            ComparisonConclusion::NotSettled,
            "too few rounds for an interval"
        );
        assert_eq!(
            conclusion_from_ratios(&[1.02; 6]),
            ComparisonConclusion::NoMeaningfulDifference
        );
        assert_eq!(
            conclusion_from_ratios(&[1.02, 1.02, 1.02, 1.02, 1.02, 1.3]),
            ComparisonConclusion::NotSettled
        );
        assert_eq!(
            conclusion_from_ratios(&[0.9, 1.0, 1.1, 1.2, 1.3, 1.4]),
            ComparisonConclusion::NotSettled
        );
    }

    #[test]
    fn samples_are_kept_only_when_asked_for() {
        let all = [sample_series(1, 100.0, None)];
        assert!(
            WorkloadResult::new(Workload::Group, &all, false).rows[0]
                .samples_us
                .is_empty()
        );
        let kept = WorkloadResult::new(Workload::Group, &all, true);
        assert_eq!(kept.rows[0].samples_us.concat().len(), 120);
    }

    #[test]
    fn failed_reference_row_gives_no_ratio() {
        let refused = RowSamples {
            error: Some("refused".to_owned()),
            ..RowSamples::new("direct", 8192)
        };
        let found = WorkloadResult::new(
            Workload::Group,
            &[refused, sample_series(1, 5.0, Some(0))],
            true,
        );
        assert_eq!((found.rows[0].samples, found.rounds), (0, 12));
        assert!(found.rows[1].cost_ratio.is_none() && found.rows[1].against.is_none());
        assert!(
            found.rows[0].flushes_per_operation.is_none(),
            "{:?}",
            found.rows[0]
        );
    }
}
