//! Makes a [`Measurement`] from samples and their [`SampleContext`]. Another method replaces the
//! default as the best only if its paced commits are faster beyond noise, at a plausible speed.
//!
//! The default also stays if the other method is slower with two pages, or if a caveat forbids
//! advice.

use super::caveats::{self, SampleContext};
use super::compare;
use super::estimate::{MEANINGFUL_PERCENT, MIN_SAMPLES_FOR_P99};
use super::order_statistics::{ALPHA, median_interval_or_span, quantile, run_medians, sorted};
use super::{
    Caveat, Comparison, Latencies, Measurement, Method, MethodCell, MethodResult, ProbeSamples,
};

/// Paced commits are divided into at most this many runs.
const MAX_RUNS: usize = 100;

pub fn summarise(samples: &ProbeSamples, seen: &SampleContext) -> Measurement {
    let methods: Vec<MethodResult> = samples
        .cells
        .iter()
        .map(|cell| summarise_cell(cell, samples))
        .collect();
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

pub fn add_samples(measurement: &mut Measurement, samples: &ProbeSamples) {
    for (row, cell) in measurement.methods.iter_mut().zip(&samples.cells) {
        let paced = samples.paced_cell(cell.method, cell.pages);
        for (latencies, cell) in [(&mut row.back_to_back, Some(cell)), (&mut row.paced, paced)] {
            if let (Some(latencies), Some(cell)) = (latencies, cell) {
                latencies.samples_us.clone_from(&cell.rounds);
            }
        }
    }
}

fn summarise_cell(cell: &MethodCell, samples: &ProbeSamples) -> MethodResult {
    MethodResult {
        method: cell.method,
        pages: cell.pages,
        as_server: cell.as_server,
        paced: samples
            .paced_cell(cell.method, cell.pages)
            .map(|cell| summarise_latencies(cell, run_medians(&cell.rounds.concat(), MAX_RUNS))),
        back_to_back: (cell.commit_count() > 0)
            .then(|| summarise_latencies(cell, cell.round_medians())),
        flushes_per_commit: cell
            .flushes
            .filter(|f| f.commits > 0)
            .map(|f| f.flushes as f64 / f.commits as f64),
        error: cell.error.clone(),
    }
}

fn summarise_latencies(cell: &MethodCell, medians: Vec<f64>) -> Latencies {
    let all = sorted(&cell.rounds.concat());
    Latencies {
        samples: all.len() as u64,
        mean_us: all.iter().sum::<f64>() / all.len().max(1) as f64,
        median_us: median_interval_or_span(&medians, ALPHA),
        p95_us: quantile(&all, 0.95),
        p99_us: (all.len() >= MIN_SAMPLES_FOR_P99).then(|| quantile(&all, 0.99)),
        max_us: all.last().copied().unwrap_or(0.0),
        quantiles_us: evenly_spaced_quantiles(&all),
        rounds_us: medians,
        samples_us: Vec::new(),
    }
}

/// Largest number of quantiles that are kept. A curve as wide as a screen shows no more.
const MAX_QUANTILES: u32 = 64;

/// Returns at most [`MAX_QUANTILES`] latencies at equal steps of rank. `all` must be sorted; a
/// shorter list is returned unchanged.
fn evenly_spaced_quantiles(all: &[f64]) -> Vec<f64> {
    let count = u32::try_from(all.len())
        .unwrap_or(u32::MAX)
        .min(MAX_QUANTILES);
    (1..=count)
        .map(|step| quantile(all, f64::from(step) / f64::from(count)))
        .collect()
}

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
            && !caveats::exceeds_speed_limit(samples, c.method, seen)
            && !compare::is_slower_with_two_pages(rows, c.method, default)
    });
    winners
        .max_by(|a, b| a.gain_percent.low.total_cmp(&b.gain_percent.low))
        .map_or(default, |c| c.method)
}
