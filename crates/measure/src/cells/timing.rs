//! How long commits take: sessions that repeat an operation for a given time, and the flushes
//! counted meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::measure::latency_quantiles;
use crate::probes::{Disks, Pages};
use crate::trial::Sample;

/// The share of a load's time that is not counted, before it.
const WARM_UP: f64 = 0.2;

/// The devices whose flushes are counted.
pub struct Meters {
    pub own: Disks,
    /// That which counts the flushes of our own.
    pub flushing: Disks,
    pub leaves: Disks,
}

/// How long, and with what.
pub struct LoadMeans<'a> {
    /// Seconds that count.
    pub seconds: f64,
    /// Bytes to write.
    pub pages: &'a Pages,
    pub meters: &'a Meters,
}

/// Commits one after the other for the time, each a flush call.
pub fn alone(
    means: &LoadMeans<'_>,
    mut commit: impl FnMut() -> Result<f64, Errno>,
) -> Result<Sample, String> {
    let told = |e: Errno| format!("a commit: {e}");
    let warm = Instant::now();
    while warm.elapsed().as_secs_f64() < WARM_UP * means.seconds {
        commit().map_err(told)?;
    }
    let before = counted(means.meters);
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
        (before, counted(means.meters)),
    ))
}

/// Runs sessions at once for the time; each operation says whether it succeeded, and `calls` counts
/// what asked for a flush. The error is a sentence.
pub fn together(
    clients: u32,
    means: &LoadMeans<'_>,
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
        std::thread::sleep(Duration::from_secs_f64(WARM_UP * means.seconds));
        let (before, calls_before, begun) = (counted(means.meters), calls(), Instant::now());
        counts.store(true, Ordering::Relaxed);
        std::thread::sleep(Duration::from_secs_f64(means.seconds));
        counts.store(false, Ordering::Relaxed);
        let (seconds, calls_after) = (begun.elapsed().as_secs_f64(), calls());
        let after = counted(means.meters);
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

/// Flushes of our own device and of those below.
type Flushes = (Option<u64>, Option<u64>);

/// The flushes that meters show now.
fn counted(meters: &Meters) -> Flushes {
    let flushes = |disks: &Disks| disks.read().and_then(|counters| counters.flushes);
    (flushes(&meters.flushing), flushes(&meters.leaves))
}

/// The figures of commits that took so long each, and so many seconds together; so many calls asked
/// for the flushes.
fn sample(micros: &[f64], seconds: f64, calls: u64, (before, after): (Flushes, Flushes)) -> Sample {
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
