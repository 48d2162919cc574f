//! Waits of commits in production, from samples of a server's sessions. The mean wait of a commit
//! is the mean number of waiting sessions, divided by the durable commits per second (Little, *A
//! proof for the queuing formula L = λW*, Operations Research 1961).
//!
//! The law holds for any arrival and service times, so it needs no timing setting. It needs the
//! right count of commits: where subtransactions, rollbacks or prepared transactions make that
//! count uncertain, the interval widens. A figure that is too uncertain is withheld.

use std::ops::Add;

use schemars::JsonSchema;
use serde::Serialize;

use super::Estimate;
use crate::host::commit_sampler::{CommitCounters, CommitWaits};
use crate::text::{format_micros, format_micros_interval};

/// Largest half-width of the interval of a shown latency, relative to the estimate.
const MAX_HALF_WIDTH: f64 = 0.25;

/// Share of a commit that no wait event covers: copying the WAL, and the processor time between
/// the end of the wait and the answer.
const UNCOVERED_SHARE: f64 = 0.1;

/// Processor time of a commit outside its waits, in µs, as far as it does not depend on the load:
/// with flushes of 0.1 ms, `tests/passive` finds 7 to 30 µs.
const UNCOVERED_MICROS: f64 = 20.0;

/// 97.5 % quantile of the normal distribution, for two-sided intervals of 95 %.
const NORMAL_QUANTILE: f64 = 1.96;

/// Writes of full WAL buffers, as a share of commits. Above this share, as in bulk loads,
/// sessions also wait outside commits.
const BUFFERS_FULL_SHARE: f64 = 0.05;

/// Minimum number of flushes for a rate, and for a contradiction by the disks' counters.
const FLUSHES_THAT_COUNT: u64 = 20;

/// Share of a server's flushes that each disk must count; with fewer, the disk contradicts the
/// server. Other programs flush as well: journals every few seconds, md several times a second.
const ARRIVED_SHARE: f64 = 0.5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSyncMode {
    /// By fsync or fdatasync after the write.
    Call,
    /// By the write itself, to a file opened with O_DSYNC or O_SYNC. The server then counts no
    /// flush (`issue_xlog_fsync`), and the disk may get FUA writes instead of flushes.
    Open,
}

/// Properties of the server, and of the disks below its log, on which the meaning of samples
/// depends.
#[derive(Clone, Debug, Default)]
pub struct ServerAndDiskProperties {
    pub log_flush: Option<LogSyncMode>,
    /// Whether the server reports separately which sessions flush the log, and which wait until
    /// another session has flushed it.
    pub separates_turn: bool,
    /// Why commits may return before their flush, as a clause.
    pub asynchronous: Option<String>,
    /// Whether the disks must count every flush of the server. Each disk then has a volatile cache
    /// and counts flushes, and no layer above suppresses them.
    pub flushes_must_arrive: bool,
    /// Whether each single disk must count every flush; otherwise, all disks together must. A path
    /// of a multipath device, a spare of md or an external journal rightly gets few flushes.
    pub flushes_reach_each_disk: bool,
    /// Names of the disks below the log.
    pub disks: Vec<String>,
}

/// Flushes that the disks completed while the samples were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskFlushes {
    pub count: u64,
    /// Sum of their durations, in ms.
    pub millis: u64,
}

impl Add for DiskFlushes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            millis: self.millis + other.millis,
        }
    }
}

impl DiskFlushes {
    /// The flushes between two readings; `None` if a counter went back.
    pub fn between(before: Self, after: Self) -> Option<Self> {
        Some(Self {
            count: after.count.checked_sub(before.count)?,
            millis: after.millis.checked_sub(before.millis)?,
        })
    }
}

/// Readings of one server and of its disks, in the order of time.
#[derive(Clone, Debug, Default)]
pub struct CommitSamples {
    pub waits: Vec<CommitWaits>,
    pub counters: Vec<CommitCounters>,
    /// In the order of [`ServerAndDiskProperties::disks`]; `None` if a disk does not count flushes.
    pub disk_flushes: Option<Vec<DiskFlushes>>,
}

/// A reason why the latency of commits is not known.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "reason")]
pub enum UnknownLatencyReason {
    NoCommits,
    TooFewSamples {
        waiting: u64,
        samples: u64,
    },
    Asynchronous {
        because: String,
    },
    /// The number of commits does not follow from the transaction ids.
    CommitCount {
        low_per_second: f64,
        high_per_second: f64,
        because: &'static str,
    },
    BulkWrites {
        per_second: f64,
    },
    CommitDelay {
        micros: u64,
    },
}

impl UnknownLatencyReason {
    pub fn reason_text(&self) -> String {
        match self {
            Self::NoCommits => "no write transaction completed".to_owned(),
            Self::TooFewSamples { waiting, samples } => format!(
                "too few samples: {waiting} waiting sessions in {samples} samples; measure longer with --seconds"
            ),
            Self::Asynchronous { because } => {
                format!("{because}, so commits may return before their flush")
            }
            Self::CommitCount {
                low_per_second,
                high_per_second,
                because,
            } => format!(
                "the commit rate is uncertain, between {low_per_second:.0}/s and {high_per_second:.0}/s, because of {because}"
            ),
            Self::CommitDelay { micros } => format!(
                "commit_delay is {micros} µs, and a session that delays its flush reports no wait"
            ),
            Self::BulkWrites { per_second } => format!(
                "WAL buffers were full {per_second:.0} times/s, so sessions also wait outside commits"
            ),
        }
    }
}

/// Mean waits of a commit in µs, by the cause of the wait.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "names in JSON include the unit")]
pub struct CommitWaitBreakdown {
    /// The wait until another session's write or flush of the WAL ends.
    pub turn_us: f64,
    /// The wait for the session's own write and flush.
    pub flush_us: f64,
    pub standby_us: f64,
}

/// Flushes by the server, or at the disks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FlushRate {
    pub per_second: f64,
    pub mean_us: f64,
}

/// Commit waits and flushes of a running server, observed without any write by walwise.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PassiveMeasurement {
    pub directory: String,
    pub seconds: f64,
    pub samples: u64,
    /// Transactions per second that took an id; the interval covers transactions that may not be
    /// commits.
    pub commits_per_second: Estimate,
    /// Mean time in µs that a commit waits. `None` if `limits` holds a reason.
    pub commit_us: Option<Estimate>,
    pub parts: Option<CommitWaitBreakdown>,
    /// The server's flushes of the WAL, those of background processes included; `None` if the
    /// server does not count them.
    pub server_flushes: Option<FlushRate>,
    /// Flushes of the disks, those of other programs included; `None` if a disk does not count
    /// them.
    pub disk_flushes: Option<FlushRate>,
    pub limits: Vec<UnknownLatencyReason>,
    /// The error that ended the measurement early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<String>,
    /// Why the flushes that the server acknowledges contradict the disks' counters.
    pub contradiction: Option<String>,
}

impl PassiveMeasurement {
    /// The result of a passive measurement; `None` with fewer than two samples of waits.
    pub(crate) fn from_samples(
        directory: &str,
        samples: &CommitSamples,
        settings: &ServerAndDiskProperties,
    ) -> Option<Self> {
        let (first, last) = (samples.waits.first()?, samples.waits.last()?);
        let seconds = micros_between(first.time_us, last.time_us) / 1e6;
        if seconds <= 0.0 {
            return None;
        }
        let totals = WaitTotals::from_waits(&samples.waits);
        let growth = CommitCounters::counter_growth(&samples.counters);
        let ids = last.next_xid.saturating_sub(first.next_xid);
        let (commits, cause) = commit_count_bounds(ids, &samples.waits, growth.as_ref());
        let mean = commits.value.max(f64::MIN_POSITIVE);
        let commit_us = totals
            .mean_wait_estimate(commits)
            .map(widen_by_uncovered_time);
        let is_asynchronous = |all: &CommitCounters| all.asynchronous_subscriptions > 0;
        let subscription = samples.counters.iter().any(is_asynchronous);
        let subscription =
            subscription.then(|| "synchronous_commit is off for a subscription".to_owned());
        let delay = samples.counters.iter().map(|all| all.commit_delay).max();
        let full = growth.as_ref().map_or(0, |growth| growth.buffers_full) as f64;
        let has_bulk_writes = full > BUFFERS_FULL_SHARE * commits.low.max(1.0);
        let asynchronous = |because| UnknownLatencyReason::Asynchronous { because };
        let limits = [
            (ids == 0).then_some(UnknownLatencyReason::NoCommits),
            settings.asynchronous.clone().map(asynchronous),
            subscription.map(asynchronous),
            delay
                .filter(|micros| *micros > 0)
                .map(|micros| UnknownLatencyReason::CommitDelay { micros }),
            has_bulk_writes.then(|| UnknownLatencyReason::BulkWrites {
                per_second: full / seconds,
            }),
            cause.filter(|_| is_too_wide(commits)).map(|because| {
                UnknownLatencyReason::CommitCount {
                    low_per_second: commits.low / seconds,
                    high_per_second: commits.high / seconds,
                    because,
                }
            }),
        ];
        let mut limits: Vec<_> = limits.into_iter().flatten().collect();
        if limits.is_empty() && commit_us.is_none_or(is_too_wide) {
            limits.push(UnknownLatencyReason::TooFewSamples {
                waiting: totals.waiting,
                samples: totals.samples,
            });
        }
        let per_second = |count: f64| count / seconds;
        let is_known = limits.is_empty();
        Some(Self {
            directory: directory.to_owned(),
            seconds,
            samples: totals.samples,
            commits_per_second: Estimate {
                value: per_second(commits.value),
                low: per_second(commits.low),
                high: per_second(commits.high),
            },
            commit_us: commit_us.filter(|_| is_known),
            parts: (is_known && settings.separates_turn).then(|| CommitWaitBreakdown {
                turn_us: totals.turn_us / mean,
                flush_us: totals.flush_us / mean,
                standby_us: totals.standby_us / mean,
            }),
            server_flushes: growth
                .as_ref()
                .and_then(|growth| server_flush_rate(growth, settings, &totals, seconds)),
            disk_flushes: samples
                .disk_flushes
                .as_ref()
                .and_then(|disks| disks.iter().copied().reduce(Add::add))
                .map(|flushes| FlushRate {
                    per_second: per_second(flushes.count as f64),
                    mean_us: flushes.millis as f64 * 1e3 / flushes.count.max(1) as f64,
                }),
            limits,
            ended_early: None,
            contradiction: growth.as_ref().and_then(|growth| {
                missing_flushes_contradiction(growth, samples, settings, commits)
            }),
        })
    }

    pub fn result_lines(&self) -> Vec<String> {
        let commits = self.commits_per_second;
        let mut lines = vec![format!(
            "{}, {:.0} s, {} samples; nothing was written",
            self.directory, self.seconds, self.samples
        )];
        if let Some(contradiction) = &self.contradiction {
            lines.push(format!("CONTRADICTORY: {contradiction}"));
        }
        if let Some(error) = &self.ended_early {
            lines.push(format!("ended early      {error}"));
        }
        lines.push(format!("commits          {:.0}/s", commits.value));
        if let Some(wait) = self.commit_us {
            lines.push(latency_line(wait));
        } else {
            let reasons = self.limits.iter().map(UnknownLatencyReason::reason_text);
            lines.extend(reasons.map(|why| format!("commit latency   cannot tell: {why}")));
        }
        if let Some(parts) = self.parts {
            let named = [
                (
                    "other flush",
                    parts.turn_us,
                    "another session flushes the WAL",
                ),
                (
                    "own flush",
                    parts.flush_us,
                    "the session writes and flushes",
                ),
                ("standby", parts.standby_us, "a standby has not confirmed"),
            ];
            let shown = if parts.standby_us > 0.0 { 3 } else { 2 };
            lines.extend(
                named
                    .into_iter()
                    .take(shown)
                    .map(|(name, us, says)| format!("  {name:<14} {}  {says}", format_micros(us))),
            );
        }
        if let Some(flushes) = self.server_flushes {
            lines.push(format!(
                "server's flush   {} (mean; {:.0} flushes/s)",
                format_micros(flushes.mean_us),
                flushes.per_second
            ));
        }
        lines.push(match self.disk_flushes {
            Some(flushes) if flushes.per_second == 0.0 => {
                "disk's flush     none: the disks completed no flush".to_owned()
            }
            Some(flushes) if flushes.mean_us == 0.0 => format!(
                "disk's flush     below the 1 ms resolution of the disk's counter ({:.0} flushes/s, other programs included)",
                flushes.per_second
            ),
            Some(flushes) => format!(
                "disk's flush     {} (mean; {:.0} flushes/s, other programs included)",
                format_micros(flushes.mean_us),
                flushes.per_second
            ),
            None => "disk's flush     cannot tell: the disks count no flushes".to_owned(),
        });
        lines.push(
            "not included: the round trip to the client and queues at the disk. Commits that wait for no flush (unlogged or temporary tables, asynchronous sessions) lower the mean"
                .to_owned(),
        );
        lines
    }
}

fn latency_line(wait: Estimate) -> String {
    format!(
        "commit latency   {} ({}, mean; waiting sessions ÷ commits per second)",
        format_micros(wait.value),
        format_micros_interval(wait.low, wait.high)
    )
}

/// Sums over all samples. Times are those of all sessions together.
#[derive(Clone, Copy, Debug, Default)]
struct WaitTotals {
    turn_us: f64,
    flush_us: f64,
    standby_us: f64,
    background_us: f64,
    /// Variance of the sum of the sessions' waits, in µs².
    variance: f64,
    samples: u64,
    waiting: u64,
}

impl WaitTotals {
    /// Each sample stands for the time until the next one. The variance is that of a systematic
    /// sample (Cochran, *Sampling Techniques*, section 8.11). It follows from differences of
    /// neighbouring samples, so a slowly changing load does not widen the interval.
    fn from_waits(all: &[CommitWaits]) -> Self {
        let mut totals = Self::default();
        for pair in all.windows(2) {
            let [this, next] = pair else { continue };
            let samples = this.samples.max(2) as f64;
            let per_sample = micros_between(this.time_us, next.time_us) / samples;
            totals.turn_us += this.turn as f64 * per_sample;
            totals.flush_us += this.flush as f64 * per_sample;
            totals.standby_us += this.standby as f64 * per_sample;
            totals.background_us += this.background as f64 * per_sample;
            let of_mean = this.squared_differences as f64 / (2.0 * (samples - 1.0)) / samples;
            totals.variance += of_mean * (per_sample * samples).powi(2);
            totals.samples += this.samples;
            totals.waiting += this.turn + this.flush + this.standby;
        }
        totals
    }

    /// Mean wait of a commit in µs. The 95 % interval reflects the scatter of the samples and the
    /// bounds of the number of commits. `None` without commits, or if no session waited.
    fn mean_wait_estimate(&self, commits: Estimate) -> Option<Estimate> {
        if self.waiting == 0 || commits.low <= 0.0 {
            return None;
        }
        let waited = self.turn_us + self.flush_us + self.standby_us;
        let half = NORMAL_QUANTILE * self.variance.sqrt();
        Some(Estimate {
            value: waited / commits.value,
            low: (waited - half).max(0.0) / commits.high,
            high: (waited + half) / commits.low,
        })
    }
}

fn micros_between(from: u64, to: u64) -> f64 {
    to.saturating_sub(from) as f64
}

/// Bounds of the number of durable commits among the transaction ids taken, and the cause of
/// their difference.
fn commit_count_bounds(
    ids: u64,
    waits: &[CommitWaits],
    growth: Option<&CommitCounters>,
) -> (Estimate, Option<&'static str>) {
    let ids = ids as f64;
    let Some(growth) = growth else {
        let any = Estimate {
            value: ids,
            low: 0.0,
            high: ids,
        };
        return (any, Some("a statistics reset"));
    };
    let subtransactions = growth.subtransactions as f64;
    let rollbacks = growth.rollbacks as f64;
    // A prepared transaction waits twice: when it is prepared and when it commits.
    let prepared = waits.iter().any(|waits| waits.prepared > 0);
    let (cause, low, high) = if prepared {
        (
            Some("prepared transactions"),
            ids - subtransactions,
            2.0 * ids,
        )
    } else if subtransactions >= rollbacks && subtransactions > 0.0 {
        (
            Some("subtransactions"),
            ids - subtransactions - rollbacks,
            ids,
        )
    } else if rollbacks > 0.0 {
        (Some("rollbacks"), ids - rollbacks, ids)
    } else {
        (None, ids, ids)
    };
    // The upper bound is the number of commits that the server counts, including those that wrote
    // nothing. Sessions report their counts up to a second late, so 10 % are added.
    let counted = growth
        .commits
        .map_or(f64::INFINITY, |count| 1.1 * count as f64);
    let high = high.min(counted.max(low)).max(0.0);
    let low = low.clamp(0.0, high);
    let value = if cause.is_some() {
        f64::midpoint(low, high)
    } else {
        high
    };
    (Estimate { value, low, high }, cause)
}

fn is_too_wide(estimate: Estimate) -> bool {
    (estimate.high - estimate.low) / 2.0 > MAX_HALF_WIDTH * estimate.value
}

fn widen_by_uncovered_time(waits: Estimate) -> Estimate {
    Estimate {
        high: waits.high * (1.0 + UNCOVERED_SHARE) + UNCOVERED_MICROS,
        ..waits
    }
}

/// The server's flushes. Their mean duration is the mean number of flushing processes, divided
/// by the flushes per second.
fn server_flush_rate(
    growth: &CommitCounters,
    settings: &ServerAndDiskProperties,
    totals: &WaitTotals,
    seconds_of_waits: f64,
) -> Option<FlushRate> {
    if !settings.separates_turn {
        return None;
    }
    let count = match settings.log_flush? {
        LogSyncMode::Open => growth.wal_writes,
        LogSyncMode::Call => growth.wal_syncs?,
    };
    let seconds = growth.time_us as f64 / 1e6;
    let busy_us = totals.flush_us + totals.background_us;
    (count >= FLUSHES_THAT_COUNT && seconds > 0.0).then(|| {
        let per_second = count as f64 / seconds;
        FlushRate {
            per_second,
            mean_us: busy_us / seconds_of_waits / per_second,
        }
    })
}

/// The contradiction that a disk counted fewer than half of the flushes that the server must
/// have made. `None` if the disks need not count every flush.
fn missing_flushes_contradiction(
    growth: &CommitCounters,
    samples: &CommitSamples,
    settings: &ServerAndDiskProperties,
    commits: Estimate,
) -> Option<String> {
    if settings.log_flush? != LogSyncMode::Call || !settings.flushes_must_arrive {
        return None;
    }
    let (proven, sessions) = samples.waits.iter().fold((0, 1), |(flushes, most), waits| {
        (flushes + waits.flushes, waits.sessions.max(most))
    });
    let flushes = if settings.separates_turn {
        proven as f64
    } else if settings.asynchronous.is_none() {
        // A session waits for its flush, so one flush completes at most one commit of each session.
        // Commits that change only temporary tables take an id, but write no redo log.
        (commits.low / sessions as f64).min(growth.wal_writes as f64)
    } else {
        return None;
    };
    let disks = settings.disks.iter().zip(samples.disk_flushes.as_ref()?);
    let (place, arrived) = if settings.flushes_reach_each_disk {
        let (disk, least) = disks.min_by_key(|(_, flushes)| flushes.count)?;
        (disk.clone(), least.count)
    } else {
        let all = disks.map(|(_, flushes)| flushes.count).sum();
        (settings.disks.join(" and "), all)
    };
    let is_missed =
        flushes >= FLUSHES_THAT_COUNT as f64 && (arrived as f64) < ARRIVED_SHARE * flushes;
    is_missed.then(|| {
        format!(
            "the server reported at least {flushes:.0} flushes of its log, but {place} completed only {arrived}"
        )
    })
}

#[cfg(test)]
mod tests;
