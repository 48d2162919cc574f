//! What every workload gets: the scratch directory, its share of time and bytes, and repetition of
//! an operation by threads. Time, bytes and the cancel flag are checked before every operation. A
//! pass runs at least one operation per thread, however slow the disk: an empty pass is
//! meaningless.

use std::os::fd::OwnedFd;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::measure::{Pass, Series};
use crate::probes::commit::WriteBuffer;
use crate::probes::control::{Control, Stop};
use crate::probes::counters::DiskStats;
use crate::probes::error::{ErrorKind, ProbeError};
use crate::probes::scratch::Scratch;

pub struct OperationResult {
    /// Flushes requested.
    pub flush_calls: u64,
    /// Interrupted by a signal, so its time is meaningless.
    pub interrupted: bool,
}

/// One part of a round.
pub trait LoadGenerator {
    /// The rows it fills; empty, or with the reason why they stay empty.
    fn rows(&self) -> Vec<Series>;

    /// Bytes written in addition to the operations.
    fn fixed_bytes(&self, _: &WorkloadContext<'_>) -> u64 {
        0
    }

    /// Runs for its share of a round; one pass per row.
    fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop>;
}

/// Place and limits of a workload.
pub struct WorkloadContext<'a> {
    pub scratch: &'a Scratch,
    pub pages: &'a WriteBuffer,
    /// Bytes of a segment, a redo log and the like.
    pub file_bytes: u64,
    control: &'a Control,
    /// `None` unless the disks count flushes.
    disks: Option<&'a DiskStats>,
    deadline: Instant,
    max_bytes: u64,
    written: AtomicU64,
    /// Time and byte limits of a pass.
    share_time: Duration,
    share_bytes: u64,
}

/// Bytes that a pass may always write: on a fast disk, fewer rounds are better than passes of a few
/// operations.
const MIN_SHARE_BYTES: u64 = 1 << 20;

impl<'a> WorkloadContext<'a> {
    pub fn new(
        scratch: &'a Scratch,
        pages: &'a WriteBuffer,
        file_bytes: u64,
        control: &'a Control,
        disks: Option<&'a DiskStats>,
        limits: (Duration, u64),
    ) -> Self {
        let (time, most_bytes) = limits;
        let (ends, written) = (Instant::now() + time, AtomicU64::new(0));
        let (share, share_bytes) = (Duration::ZERO, 0);
        Self {
            scratch,
            pages,
            file_bytes,
            control,
            disks,
            deadline: ends,
            max_bytes: most_bytes,
            written,
            share_time: share,
            share_bytes,
        }
    }

    /// Divides the time and bytes left after preparing equally among all parts, with one round as
    /// warm-up. `fixed_bytes` are written in every round.
    pub fn divide_budget(&mut self, rounds: u32, parts: usize, fixed_bytes: u64) {
        let bytes = self.max_bytes.saturating_sub(self.written()) / u64::from(rounds + 1);
        self.share_bytes =
            (bytes.saturating_sub(fixed_bytes) / parts.max(1) as u64).max(MIN_SHARE_BYTES);
        let left = self
            .deadline
            .saturating_duration_since(Instant::now())
            .as_secs_f64();
        let share = left / (f64::from(rounds + 1) * parts.max(1) as f64);
        // Longer passes would let a neighbour write more than is gentle; shorter ones would measure
        // the start of threads.
        self.share_time = Duration::from_secs_f64(share.clamp(0.002, 0.5));
    }

    /// Rounds that fit the time if no pass exceeds `pass`.
    pub fn remaining_rounds(&self, pass: Duration, parts: usize) -> u32 {
        let left = self
            .deadline
            .saturating_duration_since(Instant::now())
            .as_secs_f64();
        let rounds = (left / (pass.as_secs_f64() * parts.max(1) as f64)).ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped"
        )]
        let rounds = rounds.clamp(1.0, 1e6) as u32;
        rounds
    }

    /// A part's time in a round.
    pub fn share_time(&self) -> Duration {
        self.share_time
    }

    /// Fails if the probe was cancelled or time is up.
    pub fn check(&self) -> Result<(), Stop> {
        if self.control.is_cancelled() {
            Err(Stop::Cancelled)
        } else if Instant::now() >= self.deadline {
            Err(Stop::BudgetExhausted)
        } else {
            Ok(())
        }
    }

    /// The same check before this many bytes are written.
    pub fn reserve_bytes(&self, bytes: u64) -> Result<(), Stop> {
        self.check()?;
        let before = self.written.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes > self.max_bytes {
            self.written.fetch_sub(bytes, Ordering::Relaxed);
            return Err(Stop::BudgetExhausted);
        }
        Ok(())
    }

    /// Whether a pass has used up its share.
    fn has_used_share(&self, begun: Instant, written: u64) -> bool {
        begun.elapsed() >= self.share_time || self.written() - written >= self.share_bytes
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// A kernel error; `doing` names the step.
    pub fn stop_error(&self, errno: Errno, doing: &str) -> Stop {
        self.scratch.probe_error(errno, doing).into()
    }

    /// A new flushed file of [`WorkloadContext::file_bytes`] zeros.
    pub fn create_filled_file(&self, name: &str) -> Result<OwnedFd, Stop> {
        let file = self.scratch.create_file(name, OFlags::empty());
        let file = file.map_err(|errno| self.stop_error(errno, "creating a scratch file"))?;
        self.fill(&file)?;
        Ok(file)
    }

    /// Fills a file with [`WorkloadContext::file_bytes`] zeros and flushes it.
    pub fn fill(&self, file: &OwnedFd) -> Result<(), Stop> {
        self.reserve_bytes(self.file_bytes)?;
        let go_on = || self.check().is_ok();
        if !self.scratch.fill(file, self.file_bytes, &go_on)? {
            self.check()?;
        }
        Ok(())
    }

    fn flushes(&self) -> Option<u64> {
        self.disks?.read()?.flushes
    }

    /// Repeats an operation of this many bytes until the share of time is used up, at most `limit`
    /// times.
    pub fn repeat(
        &self,
        doing: &str,
        bytes: u64,
        limit: u64,
        mut operation: impl FnMut() -> Result<OperationResult, Errno>,
    ) -> Result<Pass, Stop> {
        let mut pass = Pass::default();
        let before = self.flushes();
        let (begun, written) = (Instant::now(), self.written());
        for _ in 0..limit {
            self.reserve_bytes(bytes)?;
            let start = Instant::now();
            let done = operation().map_err(|errno| self.stop_error(errno, doing))?;
            if !done.interrupted {
                pass.times_us.push(elapsed_us(start));
                pass.flush_calls += done.flush_calls;
            }
            if self.has_used_share(begun, written) && !pass.times_us.is_empty() {
                break;
            }
        }
        pass.seconds = begun.elapsed().as_secs_f64();
        pass.flushes = flush_difference(before, self.flushes());
        Ok(pass)
    }

    pub fn run_once(
        &self,
        flush_calls: u64,
        operation: impl FnOnce() -> Result<(), Stop>,
    ) -> Result<Pass, Stop> {
        self.check()?;
        let before = self.flushes();
        let start = Instant::now();
        operation()?;
        let times_us = vec![elapsed_us(start)];
        let seconds = start.elapsed().as_secs_f64();
        Ok(Pass {
            times_us,
            seconds,
            flush_calls,
            flushes: flush_difference(before, self.flushes()),
        })
    }

    /// Repeats an operation in concurrent threads, each at most `limit` times. It receives the
    /// numbers of the thread and of its turn.
    pub fn run_threads(
        &self,
        doing: &str,
        threads: u32,
        bytes: u64,
        limit: u64,
        operation: &(dyn Fn(u32, u64) -> Result<OperationResult, Stop> + Sync),
    ) -> Result<Pass, Stop> {
        let (gate, ended) = (RwLock::new(()), AtomicBool::new(false));
        let written = self.written();
        let work = |thread: u32| {
            // Threads that are ready wait for the others.
            drop(gate.read());
            let done = self.run_thread(thread, (bytes, limit), &ended, written, operation);
            if done.is_err() {
                ended.store(true, Ordering::Relaxed);
            }
            done
        };
        let mut pass = Pass::default();
        thread::scope(|scope| {
            let closed = gate.write();
            let mut running = Vec::new();
            for number in 0..threads {
                let spawned = thread::Builder::new().spawn_scoped(scope, move || work(number));
                let Ok(spawned) = spawned else {
                    ended.store(true, Ordering::Relaxed);
                    let says =
                        format!("{doing} failed: this system allows no {threads} more threads");
                    return Err(ProbeError::new(ErrorKind::Other, says).into());
                };
                running.push(spawned);
            }
            let before = self.flushes();
            let begun = Instant::now();
            drop(closed);
            let done: Vec<_> = running
                .into_iter()
                .map(thread::ScopedJoinHandle::join)
                .collect();
            pass.seconds = begun.elapsed().as_secs_f64();
            pass.flushes = flush_difference(before, self.flushes());
            let gave_up =
                |_| Err(ProbeError::new(ErrorKind::Other, format!("{doing} failed")).into());
            let mut done: Vec<_> = done
                .into_iter()
                .map(|one| one.unwrap_or_else(gave_up))
                .collect();
            // A failure matters more than the end of another thread.
            done.sort_by_key(|one| !matches!(one, Err(Stop::Failed(_))));
            for one in done {
                let one = one?;
                pass.times_us.extend(one.times_us);
                pass.flush_calls += one.flush_calls;
            }
            Ok(())
        })
        .map(|()| pass)
    }

    fn run_thread(
        &self,
        thread: u32,
        (bytes, limit): (u64, u64),
        ended: &AtomicBool,
        written: u64,
        operation: &(dyn Fn(u32, u64) -> Result<OperationResult, Stop> + Sync),
    ) -> Result<Pass, Stop> {
        let mut pass = Pass::default();
        let begun = Instant::now();
        for turn in 0..limit {
            if ended.load(Ordering::Relaxed) {
                break;
            }
            self.reserve_bytes(bytes)?;
            let start = Instant::now();
            let done = operation(thread, turn)?;
            if !done.interrupted {
                pass.times_us.push(elapsed_us(start));
            }
            pass.flush_calls += done.flush_calls;
            if self.has_used_share(begun, written) && !pass.times_us.is_empty() {
                break;
            }
        }
        Ok(pass)
    }
}

fn elapsed_us(since: Instant) -> f64 {
    since.elapsed().as_nanos() as f64 / 1e3
}

fn flush_difference(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    before
        .zip(after)
        .map(|(before, after)| after.saturating_sub(before))
}
