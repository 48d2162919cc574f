//! Limits of a probe's figures, found in its samples and circumstances. A caveat never removes a
//! figure; some caveats forbid advice to change the method.
//!
//! Excessive speed is a caveat too: a flush that takes no time flushes nothing.

use super::compare::MIN_RUNS;
use super::order_statistics::{
    median_interval, median_interval_or_span, paired_ratios, quantile, sorted_copy,
};
use super::{
    Caveat, CaveatId, MaxPlausibleCommitRate, MeasuredLog, Method, MethodSamples, ProbeSamples,
};
use crate::text;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleContext {
    /// Parent of the scratch directory, display-safe.
    pub directory: String,
    /// Start of the probe, RFC 3339.
    pub when: String,
    pub seconds: f64,
    pub bytes_written: u64,
    pub cancelled: bool,
    /// Cause of an early end, phrased to follow the word `because`.
    pub stopped_by: Option<String>,
    pub log: MeasuredLog,
    /// Cost of two clock readings, in microseconds.
    pub clock_us: f64,
    /// Highest plausible commit rate; `None` if no limit is known (memory, ZFS, remote storage).
    pub speed_limit: Option<MaxPlausibleCommitRate>,
    pub idle_traffic: Option<DiskTraffic>,
    /// Traffic of the disks, one entry per round.
    pub traffic: Vec<DiskTraffic>,
    pub disks: Vec<String>,
    /// CPU time that the hypervisor gave to other guests, in percent.
    pub steal_percent: Option<f64>,
    pub suspended_seconds: f64,
    /// A sentence about scratch directories of killed probes, with the command that removes one.
    pub leftover: Option<String>,
}

/// Traffic of the disks over an interval, in bytes, from /sys/block/DISK/stat
/// (Documentation/ABI/stable/sysfs-block).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskTraffic {
    pub seconds: f64,
    pub read: u64,
    pub written: u64,
    /// Bytes written by the probe's own calls, whether or not they reached the disks.
    pub own_written: u64,
    /// Lower bound of the bytes that the probe's commits flushed.
    pub flushed: u64,
}

pub fn find_caveats(samples: &ProbeSamples, seen: &SampleContext) -> Vec<Caveat> {
    let all = [
        early_end_caveat(seen),
        implausible_speed_caveat(samples, seen),
        flush_costs_nothing_caveat(samples),
        few_commits_caveat(samples),
        clock_overhead_caveat(samples, seen),
        two_pages_faster_caveat(samples),
        fdatasync_slower_caveat(samples),
        writes_missing_at_disk_caveat(seen),
        suspension_caveat(seen),
        competing_io_caveat(seen),
        unreadable_counters_caveat(samples, seen),
        cpu_steal_caveat(seen),
        direct_io_unavailable_caveat(samples),
        leftover_scratch_caveat(seen),
    ];
    all.into_iter().flatten().collect()
}

fn new_caveat(id: CaveatId, says: String, refuses_advice: bool) -> Caveat {
    Caveat {
        id,
        text: says,
        refuses_advice,
        rounds: Vec::new(),
    }
}

pub fn exceeds_plausible_rate(
    samples: &ProbeSamples,
    method: Method,
    seen: &SampleContext,
) -> bool {
    let cell = samples.back_to_back_samples_of(method, 1);
    cell.zip(seen.speed_limit.as_ref())
        .is_some_and(|(cell, limit)| limit.is_exceeded_by_latency(cell.median_of_round_medians()))
}

/// The rate of one client: the inverse of the median of the round medians. `None` if the median is
/// 0.
pub fn commits_per_second(cell: &MethodSamples) -> Option<f64> {
    let median = cell.median_of_round_medians();
    (median > 0.0).then(|| 1e6 / median)
}

fn early_end_caveat(seen: &SampleContext) -> Option<Caveat> {
    let why = seen.stopped_by.as_ref()?;
    Some(new_caveat(
        CaveatId::Stopped,
        format!("The probe ended early because {why}."),
        true,
    ))
}

fn implausible_speed_caveat(samples: &ProbeSamples, seen: &SampleContext) -> Option<Caveat> {
    let limit = seen.speed_limit.as_ref()?;
    let durable = samples
        .cells
        .iter()
        .filter(|c| c.method.is_durable() && c.pages == 1);
    let cell = durable
        .filter(|c| exceeds_plausible_rate(samples, c.method, seen))
        .min_by_key(|c| c.method)?;
    let rate = text::format_rounded_and_grouped(commits_per_second(cell)?.floor());
    let subject = if limit.alternative.is_empty() {
        "Flushes"
    } else {
        "Either flushes"
    };
    let says = format!(
        "{rate} commits/s with {} exceed the speed of {}. {subject} are acknowledged but not \
         performed{}.",
        cell.method.name(),
        limit.basis,
        limit.alternative
    );
    Some(new_caveat(CaveatId::ImplausibleSpeed, says, true))
}

/// Warns if a flushed commit takes less than 1.5 times as long as an unflushed one. Flushing a
/// physical disk takes many times longer than copying a page in memory.
fn flush_costs_nothing_caveat(samples: &ProbeSamples) -> Option<Caveat> {
    let typical = |method| {
        samples
            .back_to_back_samples_of(method, 1)
            .map(MethodSamples::median_of_round_medians)
            .filter(|us| *us > 0.0)
    };
    let flushed = typical(Method::Fdatasync).or_else(|| typical(samples.reference_method()))?;
    let floor = typical(Method::Floor)?;
    let says = "A flushed commit took about as long as an unflushed one, so nothing is flushed here (memory file system, \
                or a library that disables fsync).";
    (flushed < 1.5 * floor).then(|| new_caveat(CaveatId::FreeFlush, says.to_owned(), true))
}

fn few_commits_caveat(samples: &ProbeSamples) -> Option<Caveat> {
    let commits = samples.paced_reference_commits().len();
    let says = format!(
        "Only {commits} paced commits completed; a comparison needs {MIN_RUNS}. Run a longer probe."
    );
    (commits < MIN_RUNS && !samples.cells.is_empty())
        .then(|| new_caveat(CaveatId::FewSamples, says, true))
}

fn clock_overhead_caveat(samples: &ProbeSamples, seen: &SampleContext) -> Option<Caveat> {
    let durable = samples
        .cells
        .iter()
        .filter(|c| c.method.is_durable() && !c.rounds.concat().is_empty());
    let fastest = durable
        .map(MethodSamples::median_of_round_medians)
        .min_by(f64::total_cmp)?;
    let says = format!(
        "Reading the clock takes {}, a large share of a {} commit; the real relative differences are larger than shown.",
        text::format_micros(seen.clock_us),
        text::format_micros(fastest)
    );
    (seen.clock_us > 0.05 * fastest).then(|| new_caveat(CaveatId::Clock, says, true))
}

fn two_pages_faster_caveat(samples: &ProbeSamples) -> Option<Caveat> {
    let default = samples.reference_method();
    let (one, two) = (
        samples.back_to_back_samples_of(default, 1)?,
        samples.back_to_back_samples_of(default, 2)?,
    );
    let ratios = paired_ratios(&two.median_of_each_round(), &one.median_of_each_round());
    if ratios.len() < MIN_RUNS {
        return None;
    }
    let says = "Two-page commits were faster than one-page commits, even though they write more; \
                the figures depend on more than the method.";
    (median_interval_or_span(&ratios, 0.01).high < 0.9)
        .then(|| new_caveat(CaveatId::Inconsistent, says.to_owned(), true))
}

/// Warns if fdatasync takes longer than fsync, although it does only a part of fsync's work
/// (fdatasync(2)).
fn fdatasync_slower_caveat(samples: &ProbeSamples) -> Option<Caveat> {
    let medians = |method| {
        samples
            .back_to_back_samples_of(method, 1)
            .map(MethodSamples::median_of_each_round)
    };
    let ratios = paired_ratios(&medians(Method::Fdatasync)?, &medians(Method::Fsync)?);
    let low = median_interval(&ratios, 0.01)?.low;
    let says = "fdatasync took longer than fsync, although it does less work; something other than \
                the method affected the results.";
    (low > 1.1).then(|| new_caveat(CaveatId::LessWorkSlower, says.to_owned(), true))
}

/// Warns if less than half of the flushed bytes reached the disks below. No compressing layer
/// explains this, because the data is random.
fn writes_missing_at_disk_caveat(seen: &SampleContext) -> Option<Caveat> {
    let sum = |of: fn(&DiskTraffic) -> u64| seen.traffic.iter().map(of).sum::<u64>();
    let (written, flushed) = (sum(|t| t.written), sum(|t| t.flushed));
    let says = format!(
        "Commits wrote {}, but {} counted only {}: a layer above the disks acknowledges writes without passing them on.",
        text::format_bytes(flushed),
        seen.disks.join(", "),
        text::format_bytes(written)
    );
    (flushed > 1 << 20 && written < flushed / 2)
        .then(|| new_caveat(CaveatId::NotArrived, says, true))
}

fn suspension_caveat(seen: &SampleContext) -> Option<Caveat> {
    let says = format!(
        "The host was suspended for {:.1} s during the probe; measure again.",
        seen.suspended_seconds
    );
    (seen.suspended_seconds > 0.05).then(|| new_caveat(CaveatId::Suspended, says, true))
}

/// Leftover directories affect no figure, but only a probe finds them.
fn leftover_scratch_caveat(seen: &SampleContext) -> Option<Caveat> {
    Some(new_caveat(
        CaveatId::Leftover,
        seen.leftover.clone()?,
        false,
    ))
}

/// Foreign traffic below this rate, in bytes per second, is ignored.
const MIN_FOREIGN_RATE: f64 = 1.75e6;

/// Warns about foreign traffic: all traffic before the probe's first write, all reads, and writes
/// beyond the probe's own writes with their usual overhead.
///
/// The usual overhead (journal, parity, mirrors) is a ratio: bytes that the disks wrote per byte
/// that the probe wrote. It is the lower quartile over all rounds.
fn competing_io_caveat(seen: &SampleContext) -> Option<Caveat> {
    let ratio = |t: &DiskTraffic| t.written as f64 / (t.own_written.max(1)) as f64;
    let own = quantile(
        &sorted_copy(&seen.traffic.iter().map(ratio).collect::<Vec<_>>()),
        0.25,
    );
    let foreign =
        |t: &DiskTraffic| t.read as f64 + (t.written as f64 - own * t.own_written as f64).max(0.0);
    let noticed = |t: &&DiskTraffic| {
        foreign(t) > (0.5 * t.own_written as f64).max(MIN_FOREIGN_RATE * t.seconds.max(0.15))
    };
    let disturbed: Vec<u32> = (1..)
        .zip(&seen.traffic)
        .filter_map(|(round, traffic)| noticed(&traffic).then_some(round))
        .collect();
    let rounds = disturbed.len();
    let seconds: f64 = seen.traffic.iter().map(|t| t.seconds).sum();
    let during = seen.traffic.iter().map(foreign).sum::<f64>() / seconds.max(1e-3);
    let before = seen
        .idle_traffic
        .map_or(0.0, |t| (t.read + t.written) as f64 / t.seconds.max(1e-3));
    let disks = seen.disks.join(", ");
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate for display"
    )]
    let rate = |bytes_per_second: f64| format!("{}/s", text::format_bytes(bytes_per_second as u64));
    let says = if before > 1e6 {
        format!(
            "Other I/O ran on {disks} at {} before the probe; the latencies include waiting for it.",
            rate(before)
        )
    } else if rounds * 10 > seen.traffic.len() {
        format!(
            "Other I/O ran on {disks} at {} during {rounds} of {} rounds.",
            rate(during),
            seen.traffic.len()
        )
    } else {
        return None;
    };
    Some(Caveat {
        rounds: disturbed,
        ..new_caveat(CaveatId::CompetingIo, says, false)
    })
}

fn unreadable_counters_caveat(samples: &ProbeSamples, seen: &SampleContext) -> Option<Caveat> {
    let says = "Other I/O on the disks is unknown: their counters could not be read.";
    let is_unseen = seen.traffic.is_empty() && samples.complete_round_count() > 0;
    is_unseen.then(|| new_caveat(CaveatId::UnseenIo, says.to_owned(), false))
}

fn cpu_steal_caveat(seen: &SampleContext) -> Option<Caveat> {
    let percent = seen.steal_percent.filter(|p| *p > 5.0)?;
    let says = format!("CPU steal was {percent:.0} % during the probe.");
    Some(new_caveat(CaveatId::Steal, says, false))
}

fn direct_io_unavailable_caveat(samples: &ProbeSamples) -> Option<Caveat> {
    let cell = samples
        .cells
        .iter()
        .find(|c| c.method.is_direct() && c.error.is_some())?;
    let says = format!("O_DIRECT was not measured: {}.", cell.error.as_deref()?);
    Some(new_caveat(CaveatId::ODirect, says, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples_of_two_sizes(one: f64, two: f64) -> ProbeSamples {
        let cell = |pages, us, paced| MethodSamples {
            rounds: vec![vec![us]; 20],
            paced,
            ..MethodSamples::new(Method::Fdatasync, pages, true)
        };
        ProbeSamples {
            cells: vec![
                cell(1, one, vec![vec![1.2 * one]; 20]),
                cell(2, two, Vec::new()),
            ],
        }
    }

    fn quiet_context() -> SampleContext {
        let ours = DiskTraffic {
            seconds: 0.1,
            read: 0,
            written: 1 << 20,
            own_written: 1 << 20,
            flushed: 1 << 20,
        };
        SampleContext {
            traffic: vec![ours; 20],
            ..SampleContext::default()
        }
    }

    fn caveat_ids(samples: &ProbeSamples, seen: &SampleContext) -> Vec<String> {
        find_caveats(samples, seen)
            .into_iter()
            .map(|c| c.id.to_string())
            .collect()
    }

    #[test]
    fn unreadable_disk_counters_give_caveat() {
        assert_eq!(
            caveat_ids(
                &samples_of_two_sizes(200.0, 210.0),
                &SampleContext::default()
            ),
            ["unseen-io"]
        );
    }

    #[test]
    fn quiet_plausible_disk_has_no_caveats() {
        let seen = SampleContext {
            speed_limit: Some(MaxPlausibleCommitRate::for_rpm(7_200)),
            clock_us: 0.05,
            // A journal or a mirror doubles the probe's own writes, which is not foreign traffic.
            traffic: vec![
                DiskTraffic {
                    seconds: 0.1,
                    read: 0,
                    written: 2 << 20,
                    own_written: 1 << 20,
                    flushed: 1 << 20
                };
                20
            ],
            idle_traffic: Some(DiskTraffic {
                seconds: 0.1,
                ..DiskTraffic::default()
            }),
            steal_percent: Some(1.0),
            ..SampleContext::default()
        };
        assert_eq!(
            caveat_ids(&samples_of_two_sizes(8_300.0, 8_400.0), &seen),
            [""; 0]
        );
    }

    #[test]
    fn rate_above_rotation_speed_is_implausible() {
        let seen = SampleContext {
            speed_limit: Some(MaxPlausibleCommitRate::for_rpm(7_200)),
            ..quiet_context()
        };
        let found = find_caveats(&samples_of_two_sizes(5_000.0, 5_100.0), &seen);
        assert_eq!(found.len(), 1);
        let disk = format!(
            "a {} rpm disk (120 revolutions per second; each flush waits for one)",
            text::group_digits(7_200)
        );
        assert_eq!(
            found[0].text,
            format!(
                "200 commits/s with fdatasync exceed the speed of {disk}. Either flushes are acknowledged but not \
                 performed, or the disk has its own cache that survives a power failure."
            )
        );
    }

    #[test]
    fn foreign_traffic_gives_competing_io_caveat() {
        let ours = DiskTraffic {
            seconds: 0.1,
            read: 0,
            written: 1 << 20,
            own_written: 1 << 20,
            flushed: 1 << 20,
        };
        let disturbed = DiskTraffic {
            written: 9 << 20,
            ..ours
        };
        let read = DiskTraffic {
            read: 4 << 20,
            ..ours
        };
        for guest in [disturbed, read] {
            let mut traffic = vec![ours; 15];
            traffic.extend([guest; 5]);
            let seen = SampleContext {
                traffic,
                disks: vec!["sdb".to_owned()],
                ..SampleContext::default()
            };
            let found = find_caveats(&samples_of_two_sizes(200.0, 210.0), &seen);
            assert_eq!(found.len(), 1);
            assert!(
                found[0].text.contains("sdb") && found[0].text.contains("5 of 20 rounds"),
                "{}",
                found[0].text
            );
            assert_eq!(found[0].rounds, [16, 17, 18, 19, 20]);
        }
        let idle = Some(DiskTraffic {
            seconds: 0.1,
            written: 1 << 20,
            ..DiskTraffic::default()
        });
        let seen = SampleContext {
            idle_traffic: idle,
            ..quiet_context()
        };
        assert_eq!(
            caveat_ids(&samples_of_two_sizes(200.0, 210.0), &seen),
            ["competing-io"]
        );
    }

    #[test]
    fn suspension_missing_writes_and_slow_fdatasync_give_caveats() {
        let seen = SampleContext {
            suspended_seconds: 3.0,
            ..quiet_context()
        };
        assert_eq!(
            caveat_ids(&samples_of_two_sizes(200.0, 210.0), &seen),
            ["suspended"]
        );

        let kept = DiskTraffic {
            seconds: 0.1,
            written: 100 << 10,
            flushed: 1 << 20,
            own_written: 1 << 20,
            read: 0,
        };
        let seen = |traffic| SampleContext {
            traffic: vec![traffic; 20],
            ..SampleContext::default()
        };
        assert_eq!(
            caveat_ids(&samples_of_two_sizes(200.0, 210.0), &seen(kept)),
            ["not-arrived"]
        );
        let arrived = DiskTraffic {
            written: 1 << 20,
            ..kept
        };
        assert_eq!(
            caveat_ids(&samples_of_two_sizes(200.0, 210.0), &seen(arrived)),
            [""; 0]
        );

        let with_fsync = |us| {
            let mut samples = samples_of_two_sizes(200.0, 210.0);
            let cell = MethodSamples::new(Method::Fsync, 1, true);
            samples.cells.push(MethodSamples {
                rounds: vec![vec![us]; 20],
                ..cell
            });
            caveat_ids(&samples, &quiet_context())
        };
        assert_eq!(with_fsync(150.0), ["less-work-slower"]);
        assert_eq!(with_fsync(195.0), [""; 0]);
    }

    #[test]
    fn clock_steal_and_inconsistency_give_caveats() {
        let seen = SampleContext {
            clock_us: 20.0,
            steal_percent: Some(30.0),
            ..quiet_context()
        };
        assert_eq!(
            caveat_ids(&samples_of_two_sizes(200.0, 100.0), &seen),
            ["clock", "inconsistent", "steal"]
        );
    }
}
