//! Timing of commits: clients that repeat an operation for a given time, and the flushes counted
//! meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::measure::latency_quantiles;
use crate::probes::{DiskStats, WriteBuffer};
use crate::trial::Sample;

/// Warm-up before a load, as a share of its time.
const WARM_UP_SHARE: f64 = 0.2;

/// Devices whose flushes are counted.
pub struct TrialCounters {
    pub own: DiskStats,
    /// The one that counts the flushes of our device.
    pub flush_disks: DiskStats,
    pub leaves: DiskStats,
}

/// Time and resources of a load.
pub struct LoadContext<'a> {
    /// Seconds, without warm-up.
    pub seconds: f64,
    /// Bytes to write.
    pub pages: &'a WriteBuffer,
    pub counters: &'a TrialCounters,
}

/// Commits one after the other, each with one flush call.
pub fn run_single(
    means: &LoadContext<'_>,
    mut commit: impl FnMut() -> Result<f64, Errno>,
) -> Result<Sample, String> {
    let told = |e: Errno| format!("a commit: {e}");
    let warm = Instant::now();
    while warm.elapsed().as_secs_f64() < WARM_UP_SHARE * means.seconds {
        commit().map_err(told)?;
    }
    let before = flush_counts(means.counters);
    let begun = Instant::now();
    let mut micros = Vec::new();
    while begun.elapsed().as_secs_f64() < means.seconds {
        micros.push(commit().map_err(told)?);
    }
    let seconds = begun.elapsed().as_secs_f64();
    let calls = micros.len() as u64;
    Ok(sample(
        &micros,
        seconds,
        calls,
        (before, flush_counts(means.counters)),
    ))
}

/// Runs clients for the time of the load. An operation returns whether it succeeded; `calls` counts
/// flush requests. The error is a sentence.
pub fn run_sessions(
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
                format!("a session: {e}")
            })?;
        std::thread::sleep(Duration::from_secs_f64(WARM_UP_SHARE * means.seconds));
        let (before, calls_before, begun) = (flush_counts(means.counters), calls(), Instant::now());
        counts.store(true, Ordering::Relaxed);
        std::thread::sleep(Duration::from_secs_f64(means.seconds));
        counts.store(false, Ordering::Relaxed);
        let (seconds, calls_after) = (begun.elapsed().as_secs_f64(), calls());
        let after = flush_counts(means.counters);
        over.store(true, Ordering::Relaxed);
        let all = sessions
            .into_iter()
            .flat_map(|session| session.join().unwrap_or_default());
        let made = calls_after
            .zip(calls_before)
            .map(|(after, before)| after.saturating_sub(before));
        Ok::<_, String>((all.collect::<Vec<f64>>(), seconds, made, (before, after)))
    })?;
    Ok(sample(
        &micros,
        seconds,
        made.unwrap_or(micros.len() as u64),
        flushes,
    ))
}

/// Flushes of our own device, and of the disks below.
type FlushCounts = (Option<u64>, Option<u64>);

fn flush_counts(meters: &TrialCounters) -> FlushCounts {
    let flushes = |disks: &DiskStats| disks.read().and_then(|counters| counters.flushes);
    (flushes(&meters.flush_disks), flushes(&meters.leaves))
}

/// The sample of commits with these latencies: `seconds` for all, with `calls` flush requests.
fn sample(
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
