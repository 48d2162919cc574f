//! Samples and circumstances → [`Measurement`]: the figures, the comparisons, and the method to use.
//!
//! The default stays unless another method won beyond noise, with both write sizes, at a plausible speed, and no caveat
//! forbids advice. For fsync and open_sync the commits with pauses must agree as well, since the unbroken loop flatters
//! them.

use super::caveats::{self, SampleContext};
use super::estimate::{MEANINGFUL_PERCENT, SAMPLES_FOR_P99};
use super::order::{ALPHA, interval_or_span, quantile, sorted};
use super::{
    Caveat, Cell, Comparison, Measurement, Method, MethodResult, Samples, WorkloadResult, compare, sentence,
};

/// The measurement of a probe.
pub fn summarise(samples: &Samples, seen: &SampleContext) -> Measurement {
    let comparisons = compare::compare_all(samples);
    let caveats = caveats::find(samples, seen);
    let best = best(samples, seen, &comparisons, &caveats);
    let mut measurement = Measurement {
        directory: seen.directory.clone(),
        when: seen.when.clone(),
        seconds: seen.seconds,
        rounds: u32::try_from(samples.rounds()).unwrap_or(u32::MAX),
        bytes_written: seen.bytes_written,
        log: seen.log.clone(),
        methods: samples.cells.iter().map(|cell| row(cell, samples)).collect(),
        comparisons,
        best,
        cancelled: seen.cancelled,
        caveats,
        workloads: Vec::new(),
        sentence: String::new(),
    };
    measurement.sentence = sentence::of(&measurement, samples.default_method(), seen);
    measurement
}

/// Adds the results of workloads. Without a comparison the summary is theirs.
pub fn add_workloads(measurement: &mut Measurement, found: Vec<WorkloadResult>) {
    if measurement.methods.is_empty() && !found.is_empty() {
        let sentences: Vec<&str> = found.iter().map(|one| one.sentence.as_str()).collect();
        measurement.sentence = sentences.join(" ");
    }
    let says = found.iter().find_map(sentence::of_workload).filter(|_| !measurement.methods.is_empty());
    measurement.sentence.extend(says.map(|says| format!(" {says}")));
    measurement.workloads = found;
}

/// Adds every sample, for a reader's own analysis.
pub fn add_samples(measurement: &mut Measurement, samples: &Samples) {
    for (row, cell) in measurement.methods.iter_mut().zip(&samples.cells) {
        row.samples_us.clone_from(&cell.rounds);
    }
}

fn row(cell: &Cell, samples: &Samples) -> MethodResult {
    let all = sorted(&cell.rounds.concat());
    let medians = cell.round_medians();
    let paced = samples.paced.iter().find(|c| (c.method, c.pages) == (cell.method, cell.pages));
    MethodResult {
        method: cell.method,
        pages: cell.pages,
        as_server: cell.as_server,
        samples: all.len() as u64,
        mean_us: all.iter().sum::<f64>() / all.len().max(1) as f64,
        median_us: interval_or_span(&medians, ALPHA),
        p95_us: quantile(&all, 0.95),
        p99_us: (all.len() >= SAMPLES_FOR_P99).then(|| quantile(&all, 0.99)),
        max_us: all.last().copied().unwrap_or(0.0),
        quantiles_us: quantiles(&all),
        flushes_per_commit: cell
            .flushes
            .filter(|f| f.commits > 0)
            .map(|f| f.flushes as f64 / f.commits as f64),
        rounds_us: medians,
        paced_us: paced.map(|c| c.rounds.concat()).unwrap_or_default(),
        samples_us: Vec::new(),
        error: cell.error.clone(),
    }
}

/// How many quantiles are kept: as many as a curve of a screen's width can show.
const QUANTILES: u32 = 64;

/// The quantiles that are kept of times in any order.
pub fn quantiles_of(times: &[f64]) -> Vec<f64> {
    quantiles(&sorted(times))
}

/// The quantiles of sorted times, one for each where there are few.
fn quantiles(all: &[f64]) -> Vec<f64> {
    let count = u32::try_from(all.len()).unwrap_or(u32::MAX).min(QUANTILES);
    (1..=count).map(|step| quantile(all, f64::from(step) / f64::from(count))).collect()
}

fn best(samples: &Samples, seen: &SampleContext, comparisons: &[Comparison], caveats: &[Caveat]) -> Method {
    let default = samples.default_method();
    if caveats.iter().any(|c| c.refuses_advice) {
        return default;
    }
    let enough =
        |m| samples.paced(m).is_some_and(|cell| cell.count() >= compare::LOOKS.first().copied().unwrap_or(0));
    let fairly_compared = |m: Method| !m.is_flattered_by_loops() || (enough(m) && enough(default));
    let winners = comparisons.iter().filter(|c| {
        c.settled.is_settled()
            && c.gain_percent.low > MEANINGFUL_PERCENT
            && !caveats::too_fast(samples, c.method, seen)
            && fairly_compared(c.method)
    });
    winners.max_by(|a, b| a.gain_percent.low.total_cmp(&b.gain_percent.low)).map_or(default, |c| c.method)
}
