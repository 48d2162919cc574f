use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::measure::latency_quantiles;
use crate::probes::{DiskCounterReader, WriteBuffer};
use crate::trial::Sample;

/// Duration of the warm-up, as a share of the load's duration.
const WARM_UP_SHARE: f64 = 0.2;

pub struct TrialCounters {
    pub own: DiskCounterReader,
    /// The disk that counts the flushes of the trial's own device.
    pub flush_disks: DiskCounterReader,
    pub leaves: DiskCounterReader,
}

pub struct LoadContext<'a> {
    /// Duration of the load, without warm-up.
    pub seconds: f64,
    pub pages: &'a WriteBuffer,
    pub counters: &'a TrialCounters,
}

/// Repeats commits one after the other until the time of the load is up; each commit makes one
/// flush call.
pub fn run_serial_commits(
    means: &LoadContext<'_>,
    mut commit: impl FnMut() -> Result<f64, Errno>,
) -> Result<Sample, String> {
    let told = |e: Errno| format!("a commit failed: {e}");
    let warm = Instant::now();
    while warm.elapsed().as_secs_f64() < WARM_UP_SHARE * means.seconds {
        commit().map_err(told)?;
    }
    let before = read_flush_counts(means.counters);
    let begun = Instant::now();
    let mut micros = Vec::new();
    while begun.elapsed().as_secs_f64() < means.seconds {
        micros.push(commit().map_err(told)?);
    }
    let seconds = begun.elapsed().as_secs_f64();
    let calls = micros.len() as u64;
    Ok(build_sample(
        &micros,
        seconds,
        calls,
        (before, read_flush_counts(means.counters)),
    ))
}

/// Runs the operation in one thread per client until the time of the load is up. `operation` gets
/// the number of the client and of the turn, and returns true on success. `calls` returns the flush
/// requests so far; with `None`, each commit counts as one. The error is a complete sentence.
pub fn run_clients(
    clients: u32,
    means: &LoadContext<'_>,
    calls: &(dyn Fn() -> Option<u64> + Sync),
    operation: &(dyn Fn(u32, u64) -> bool + Sync),
) -> Result<Sample, String> {
    let (counts, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let session = |client: u32| {
        let (mut micros, mut nth) = (Vec::new(), 0);
        while !over.load(Ordering::Relaxed) {
            let begun = Instant::now();
            if !operation(client, nth) {
                break;
            }
            nth += 1;
            if counts.load(Ordering::Relaxed) {
                micros.push(begun.elapsed().as_nanos() as f64 / 1e3);
            }
        }
        micros
    };
    let (micros, seconds, made, flushes) = std::thread::scope(|scope| {
        let session = &session;
        let start =
            |client| std::thread::Builder::new().spawn_scoped(scope, move || session(client));
        let sessions: Vec<_> = (0..clients)
            .map(start)
            .collect::<Result<_, _>>()
            .map_err(|e| {
                over.store(true, Ordering::Relaxed);
                format!("starting a client failed: {e}")
            })?;
        std::thread::sleep(Duration::from_secs_f64(WARM_UP_SHARE * means.seconds));
        let (before, calls_before, begun) =
            (read_flush_counts(means.counters), calls(), Instant::now());
        counts.store(true, Ordering::Relaxed);
        std::thread::sleep(Duration::from_secs_f64(means.seconds));
        counts.store(false, Ordering::Relaxed);
        let (seconds, calls_after) = (begun.elapsed().as_secs_f64(), calls());
        let after = read_flush_counts(means.counters);
        over.store(true, Ordering::Relaxed);
        let all = sessions
            .into_iter()
            .flat_map(|session| session.join().unwrap_or_default());
        let made = calls_after
            .zip(calls_before)
            .map(|(after, before)| after.saturating_sub(before));
        Ok::<_, String>((all.collect::<Vec<f64>>(), seconds, made, (before, after)))
    })?;
    Ok(build_sample(
        &micros,
        seconds,
        made.unwrap_or(micros.len() as u64),
        flushes,
    ))
}

/// Flushes of the trial's own device, and of the disks under the extent.
type FlushCounts = (Option<u64>, Option<u64>);

fn read_flush_counts(meters: &TrialCounters) -> FlushCounts {
    let flushes = |disks: &DiskCounterReader| disks.read().and_then(|counters| counters.flushes);
    (flushes(&meters.flush_disks), flushes(&meters.leaves))
}

/// Makes a sample from the latencies of its commits. `seconds` is the duration of all commits, and
/// `calls` the number of flush requests.
fn build_sample(
    micros: &[f64],
    seconds: f64,
    calls: u64,
    (before, after): (FlushCounts, FlushCounts),
) -> Sample {
    let (p50_us, p99_us) = latency_quantiles(micros);
    let since = |before: Option<u64>, after: Option<u64>| Some(after?.saturating_sub(before?));
    let (flushes, leaf_flushes) = (since(before.0, after.0), since(before.1, after.1));
    Sample {
        commits: micros.len() as u64,
        seconds,
        p50_us,
        p99_us,
        flushes,
        leaf_flushes,
        calls,
    }
}
