//! The limits of the figures: found in the samples themselves and in the circumstances of the
//! probe.
//!
//! Each caveat states its meaning in a sentence; some forbid advice to change the method. A caveat
//! never removes a figure. Excessive speed is a caveat too, because a flush without any cost has
//! flushed nothing.

use super::compare::FEWEST;
use super::order::{interval, interval_or_span, median_of, quantile, sorted};
use super::{Caveat, CaveatId, Cell, MeasuredLog, Method, Samples};
use crate::text;

/// The circumstances of the samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleContext {
    /// The directory of the scratch directory, display-safe.
    pub directory: String,
    /// When it began, RFC 3339.
    pub when: String,
    /// Duration in seconds.
    pub seconds: f64,
    /// Bytes written in all.
    pub bytes_written: u64,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// The cause of an early end, as a clause; `None` without one.
    pub stopped_by: Option<String>,
    /// The log that is written.
    pub log: MeasuredLog,
    /// The cost of two readings of the clock, in microseconds.
    pub clock_us: f64,
    /// The fastest plausible flush here; `None` where no limit is known (memory, ZFS, remote).
    pub speed_limit: Option<SpeedLimit>,
    /// Traffic of the disks while we were idle, before the first write.
    pub idle: Option<DiskTraffic>,
    /// Traffic of the disks in each round.
    pub traffic: Vec<DiskTraffic>,
    pub disks: Vec<String>,
    /// Processor time that the hypervisor gave to others meanwhile, in percent.
    pub steal_percent: Option<f64>,
    /// Time during which the machine was suspended, in seconds.
    pub suspended_seconds: f64,
    /// A sentence about scratch directories of killed probes in the same place, with the command
    /// that removes one.
    pub leftover: Option<String>,
}

/// The highest plausible rate of flushes.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedLimit {
    /// The highest plausible number of commits per second of one session.
    pub per_second: f64,
    /// The basis of the limit, with its arithmetic: `any disk`, `a disk of 7,200 rpm (…)`.
    pub of: String,
    /// Another explanation of a higher rate; a clause, empty without one.
    pub or: &'static str,
}

impl SpeedLimit {
    /// No block device with a volatile or protected cache known today flushes faster; memory does.
    /// Not for persistent memory.
    pub fn block_device() -> Self {
        Self {
            per_second: 100_000.0,
            of: "any disk".to_owned(),
            or: "",
        }
    }

    /// One and a half flushes per revolution. Only for a physical disk of known speed, seen from
    /// its own host and behind no protected cache; the kernel's rotational flag proves nothing.
    pub fn platter(rpm: u32) -> Self {
        let turns = f64::from(rpm) / 60.0;
        Self {
            per_second: 1.5 * turns,
            of: format!(
                "a disk of {} rpm ({turns:.0} turns a second, and a flush waits for one)",
                text::grouped(rpm.into())
            ),
            or: ", or the disk has a cache of its own that survives a power failure",
        }
    }
}

/// Traffic of the disks over an interval, from their `stat` (Documentation/ABI/stable/sysfs-block).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskTraffic {
    /// Length of the interval in seconds.
    pub seconds: f64,
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
    /// Our own part of the bytes written by calls, whether or not they reached the disks.
    pub ours: u64,
    /// Our bytes that commits made durable, as a lower bound.
    pub flushed: u64,
}

/// All caveats, the most serious first.
pub fn find(samples: &Samples, seen: &SampleContext) -> Vec<Caveat> {
    let all = [
        stopped(seen),
        implausible(samples, seen),
        free_flush(samples),
        few_commits(samples),
        clock(samples, seen),
        two_pages_faster(samples),
        less_work_slower(samples),
        not_arrived(seen),
        suspended(seen),
        competing_io(seen),
        unseen_io(samples, seen),
        steal(seen),
        direct_refused(samples),
        leftover(seen),
    ];
    all.into_iter().flatten().collect()
}

fn caveat(id: CaveatId, says: String, refuses_advice: bool) -> Caveat {
    Caveat {
        id,
        says,
        refuses_advice,
        rounds: Vec::new(),
    }
}

/// Whether commits with this method were faster than the limit allows.
pub fn too_fast(samples: &Samples, method: Method, seen: &SampleContext) -> bool {
    let rate = samples.cell(method, 1).and_then(commits_per_second);
    rate.zip(seen.speed_limit.as_ref())
        .is_some_and(|(rate, limit)| rate > limit.per_second)
}

/// Commits per second of one session, from the median.
pub fn commits_per_second(cell: &Cell) -> Option<f64> {
    let median = median_of(&cell.round_medians());
    (median > 0.0).then(|| 1e6 / median)
}

fn stopped(seen: &SampleContext) -> Option<Caveat> {
    let why = seen.stopped_by.as_ref()?;
    Some(caveat(
        CaveatId::Stopped,
        format!("The probe ended early because {why}."),
        true,
    ))
}

fn implausible(samples: &Samples, seen: &SampleContext) -> Option<Caveat> {
    let limit = seen.speed_limit.as_ref()?;
    let durable = samples
        .cells
        .iter()
        .filter(|c| c.method.is_durable() && c.pages == 1);
    let cell = durable
        .filter(|c| too_fast(samples, c.method, seen))
        .min_by_key(|c| c.method)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate for people"
    )]
    let rate = text::grouped(commits_per_second(cell)? as u64);
    let says = format!(
        "{rate} commits per second with {} exceed what {} can do: flushes are acknowledged but not done{}.",
        cell.method.name(),
        limit.of,
        limit.or
    );
    Some(caveat(CaveatId::ImplausibleSpeed, says, true))
}

/// A flushed commit of a physical disk takes many times longer than copying a page in memory.
fn free_flush(samples: &Samples) -> Option<Caveat> {
    let typical = |method| {
        samples
            .cell(method, 1)
            .map(|c| median_of(&c.round_medians()))
            .filter(|us| *us > 0.0)
    };
    let flushed = typical(Method::Fdatasync).or_else(|| typical(samples.default_method()))?;
    let floor = typical(Method::Floor)?;
    let says = "A flushed commit took no longer than an unflushed one: nothing is flushed here, as on a file system \
                in memory or under a library that makes fsync do nothing.";
    (flushed < 1.5 * floor).then(|| caveat(CaveatId::FreeFlush, says.to_owned(), true))
}

fn few_commits(samples: &Samples) -> Option<Caveat> {
    let commits = samples
        .paced(samples.default_method(), 1)
        .map_or(0, Cell::count);
    let says = format!(
        "Only {commits} paced commits completed; a comparison needs {FEWEST}. Probe for longer."
    );
    (commits < FEWEST && !samples.cells.is_empty())
        .then(|| caveat(CaveatId::FewSamples, says, true))
}

fn clock(samples: &Samples, seen: &SampleContext) -> Option<Caveat> {
    let durable = samples
        .cells
        .iter()
        .filter(|c| c.method.is_durable() && c.count() > 0);
    let fastest = durable
        .map(|c| median_of(&c.round_medians()))
        .min_by(f64::total_cmp)?;
    let says = format!(
        "Reading the clock takes {}, a large part of a commit of {}; differences look smaller than they are.",
        text::micros(seen.clock_us),
        text::micros(fastest)
    );
    (seen.clock_us > 0.05 * fastest).then(|| caveat(CaveatId::Clock, says, true))
}

fn two_pages_faster(samples: &Samples) -> Option<Caveat> {
    let default = samples.default_method();
    let (one, two) = (samples.cell(default, 1)?, samples.cell(default, 2)?);
    let pairs = two.round_medians().into_iter().zip(one.round_medians());
    let ratios: Vec<f64> = pairs
        .filter(|(_, one)| *one > 0.0)
        .map(|(two, one)| two / one)
        .collect();
    if ratios.len() < FEWEST {
        return None;
    }
    let says = "A commit of two pages was faster than one of one page, which the amount written does not explain; \
                the figures depend on more than the method.";
    (interval_or_span(&ratios, 0.01).high < 0.9)
        .then(|| caveat(CaveatId::Inconsistent, says.to_owned(), true))
}

/// fdatasync does a subset of fsync's work (fdatasync(2)), so it cannot take longer.
fn less_work_slower(samples: &Samples) -> Option<Caveat> {
    let medians = |method| samples.cell(method, 1).map(Cell::round_medians);
    let pairs = medians(Method::Fdatasync)?
        .into_iter()
        .zip(medians(Method::Fsync)?);
    let ratios: Vec<f64> = pairs
        .filter(|(_, all)| *all > 0.0)
        .map(|(data, all)| data / all)
        .collect();
    let low = interval(&ratios, 0.01)?.low;
    let says = "fdatasync took longer than fsync, although it does less work; the figures depend on more than the \
                method.";
    (low > 1.1).then(|| caveat(CaveatId::LessWorkSlower, says.to_owned(), true))
}

/// At least half of the bytes that commits wrote and flushed must have been written to the disks
/// below: a mapping that compresses gains nothing on random data.
fn not_arrived(seen: &SampleContext) -> Option<Caveat> {
    let sum = |of: fn(&DiskTraffic) -> u64| seen.traffic.iter().map(of).sum::<u64>();
    let (written, flushed) = (sum(|t| t.written), sum(|t| t.flushed));
    let says = format!(
        "Commits wrote and flushed {}, but {} counted only {} written: something above the disks answers without writing.",
        text::bytes(flushed),
        seen.disks.join(", "),
        text::bytes(written)
    );
    (flushed > 1 << 20 && written < flushed / 2).then(|| caveat(CaveatId::NotArrived, says, true))
}

fn suspended(seen: &SampleContext) -> Option<Caveat> {
    let says = format!(
        "The machine was suspended for {:.1} s during the probe; measure again.",
        seen.suspended_seconds
    );
    (seen.suspended_seconds > 0.05).then(|| caveat(CaveatId::Suspended, says, true))
}

/// It limits no figure; it is here because nothing else looks into that directory.
fn leftover(seen: &SampleContext) -> Option<Caveat> {
    Some(caveat(CaveatId::Leftover, seen.leftover.clone()?, false))
}

/// The least traffic of others that is noticed, in bytes per second.
const NOTICED: f64 = 1.75e6;

/// Traffic of others: all reads; writes beyond the lower quartile of bytes written per byte of ours
/// (which covers journal, parity and mirror copies); and all traffic while we were idle.
fn competing_io(seen: &SampleContext) -> Option<Caveat> {
    let ratio = |t: &DiskTraffic| t.written as f64 / (t.ours.max(1)) as f64;
    let own = quantile(
        &sorted(&seen.traffic.iter().map(ratio).collect::<Vec<_>>()),
        0.25,
    );
    let foreign =
        |t: &DiskTraffic| t.read as f64 + (t.written as f64 - own * t.ours as f64).max(0.0);
    let noticed =
        |t: &&DiskTraffic| foreign(t) > (0.5 * t.ours as f64).max(NOTICED * t.seconds.max(0.15));
    let disturbed = (1..)
        .zip(&seen.traffic)
        .filter(|(_, traffic)| noticed(traffic));
    let disturbed: Vec<u32> = disturbed.map(|(round, _)| round).collect();
    let rounds = disturbed.len();
    let seconds: f64 = seen.traffic.iter().map(|t| t.seconds).sum();
    let during = seen.traffic.iter().map(foreign).sum::<f64>() / seconds.max(1e-3);
    let before = seen
        .idle
        .map_or(0.0, |t| (t.read + t.written) as f64 / t.seconds.max(1e-3));
    let disks = seen.disks.join(", ");
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate for people"
    )]
    let rate = |bytes_per_second: f64| format!("{}/s", text::bytes(bytes_per_second as u64));
    let says = if before > 1e6 {
        format!(
            "Other I/O used {disks} at {} before the probe began; the figures include waiting for it.",
            rate(before)
        )
    } else if rounds * 10 > seen.traffic.len() {
        format!(
            "Other I/O used {disks} at {} during {rounds} of {} rounds.",
            rate(during),
            seen.traffic.len()
        )
    } else {
        return None;
    };
    Some(Caveat {
        rounds: disturbed,
        ..caveat(CaveatId::CompetingIo, says, false)
    })
}

fn unseen_io(samples: &Samples, seen: &SampleContext) -> Option<Caveat> {
    let says = "Whether other I/O used the disks is unknown: their counters could not be read.";
    let is_unseen = seen.traffic.is_empty() && samples.rounds() > 0;
    is_unseen.then(|| caveat(CaveatId::UnseenIo, says.to_owned(), false))
}

fn steal(seen: &SampleContext) -> Option<Caveat> {
    let percent = seen.steal_percent.filter(|p| *p > 5.0)?;
    let says = format!(
        "The hypervisor gave {percent:.0} % of the processor time to other guests during the probe."
    );
    Some(caveat(CaveatId::Steal, says, false))
}

fn direct_refused(samples: &Samples) -> Option<Caveat> {
    let cell = samples
        .cells
        .iter()
        .find(|c| c.method.is_direct() && c.error.is_some())?;
    let says = format!("No figures with O_DIRECT: {}.", cell.error.as_deref()?);
    Some(caveat(CaveatId::ODirect, says, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(one: f64, two: f64) -> Samples {
        let cell = |pages, us| Cell {
            rounds: vec![vec![us]; 20],
            ..Cell::new(Method::Fdatasync, pages, true)
        };
        Samples {
            cells: vec![cell(1, one), cell(2, two)],
            paced: vec![cell(1, 1.2 * one)],
        }
    }

    fn quiet() -> SampleContext {
        let ours = DiskTraffic {
            seconds: 0.1,
            read: 0,
            written: 1 << 20,
            ours: 1 << 20,
            flushed: 1 << 20,
        };
        SampleContext {
            traffic: vec![ours; 20],
            ..SampleContext::default()
        }
    }

    fn ids(samples: &Samples, seen: &SampleContext) -> Vec<String> {
        find(samples, seen)
            .into_iter()
            .map(|c| c.id.to_string())
            .collect()
    }

    #[test]
    fn counters_that_nobody_read_are_a_caveat() {
        assert_eq!(
            ids(&samples(200.0, 210.0), &SampleContext::default()),
            ["unseen-io"]
        );
    }

    #[test]
    fn a_quiet_honest_disk_has_none() {
        let seen = SampleContext {
            speed_limit: Some(SpeedLimit::platter(7_200)),
            clock_us: 0.05,
            // Journal and mirror double our writes; that is nobody else's traffic.
            traffic: vec![
                DiskTraffic {
                    seconds: 0.1,
                    read: 0,
                    written: 2 << 20,
                    ours: 1 << 20,
                    flushed: 1 << 20
                };
                20
            ],
            idle: Some(DiskTraffic {
                seconds: 0.1,
                ..DiskTraffic::default()
            }),
            steal_percent: Some(1.0),
            ..SampleContext::default()
        };
        assert_eq!(ids(&samples(8_300.0, 8_400.0), &seen), [""; 0]);
    }

    #[test]
    fn a_platter_cannot_flush_faster_than_it_turns() {
        let seen = SampleContext {
            speed_limit: Some(SpeedLimit::platter(7_200)),
            ..quiet()
        };
        let found = find(&samples(5_000.0, 5_100.0), &seen);
        assert_eq!(found.len(), 1);
        let disk = format!(
            "a disk of {} rpm (120 turns a second, and a flush waits for one)",
            text::grouped(7_200)
        );
        assert_eq!(
            found[0].says,
            format!(
                "200 commits per second with fdatasync exceed what {disk} can do: flushes are acknowledged but not \
                 done, or the disk has a cache of its own that survives a power failure."
            )
        );
    }

    #[test]
    fn others_on_the_disk_are_seen() {
        let ours = DiskTraffic {
            seconds: 0.1,
            read: 0,
            written: 1 << 20,
            ours: 1 << 20,
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
            let found = find(&samples(200.0, 210.0), &seen);
            assert_eq!(found.len(), 1);
            assert!(
                found[0].says.contains("sdb") && found[0].says.contains("5 of 20 rounds"),
                "{}",
                found[0].says
            );
            assert_eq!(found[0].rounds, [16, 17, 18, 19, 20]);
        }
        let idle = Some(DiskTraffic {
            seconds: 0.1,
            written: 1 << 20,
            ..DiskTraffic::default()
        });
        let seen = SampleContext { idle, ..quiet() };
        assert_eq!(ids(&samples(200.0, 210.0), &seen), ["competing-io"]);
    }

    #[test]
    fn what_cannot_be_is_said() {
        let seen = SampleContext {
            suspended_seconds: 3.0,
            ..quiet()
        };
        assert_eq!(ids(&samples(200.0, 210.0), &seen), ["suspended"]);

        let kept = DiskTraffic {
            seconds: 0.1,
            written: 100 << 10,
            flushed: 1 << 20,
            ours: 1 << 20,
            read: 0,
        };
        let seen = |traffic| SampleContext {
            traffic: vec![traffic; 20],
            ..SampleContext::default()
        };
        assert_eq!(ids(&samples(200.0, 210.0), &seen(kept)), ["not-arrived"]);
        let arrived = DiskTraffic {
            written: 1 << 20,
            ..kept
        };
        assert_eq!(ids(&samples(200.0, 210.0), &seen(arrived)), [""; 0]);

        let with_fsync = |us| {
            let mut samples = samples(200.0, 210.0);
            let cell = Cell::new(Method::Fsync, 1, true);
            samples.cells.push(Cell {
                rounds: vec![vec![us]; 20],
                ..cell
            });
            ids(&samples, &quiet())
        };
        assert_eq!(with_fsync(150.0), ["less-work-slower"]);
        assert_eq!(with_fsync(195.0), [""; 0]);
    }

    #[test]
    fn clock_steal_and_contradiction_are_said() {
        let seen = SampleContext {
            clock_us: 20.0,
            steal_percent: Some(30.0),
            ..quiet()
        };
        assert_eq!(
            ids(&samples(200.0, 100.0), &seen),
            ["clock", "inconsistent", "steal"]
        );
    }
}
