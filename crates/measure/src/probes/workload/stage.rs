//! The means of every workload: the scratch directory, its share of time and bytes, and repetition
//! of an operation by one or several threads.
//!
//! Time, bytes and the cancel flag are checked before every operation. A pass executes at least one
//! operation per thread, however slow the disk, because a pass without any is meaningless.

use std::os::fd::OwnedFd;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::measure::{Pass, Series};
use crate::probes::commit::Pages;
use crate::probes::control::{Control, Stop};
use crate::probes::error::{ErrorKind, ProbeError};
use crate::probes::meters::Disks;
use crate::probes::scratch::Scratch;

/// The result of an operation.
pub struct OperationResult {
    /// The number of flushes it requested.
    pub flush_calls: u64,
    /// Whether a signal interrupted it, so that its time is meaningless.
    pub interrupted: bool,
}

/// One activity of a round.
pub trait LoadGenerator {
    /// The rows it fills, empty or with the reason why they stay empty.
    fn rows(&self) -> Vec<Series>;

    /// Bytes that it writes besides its operations.
    fn fixed_bytes(&self, _: &WorkloadContext<'_>) -> u64 {
        0
    }

    /// Runs for its share of a round: one pass for each of its rows.
    fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop>;
}

/// The place and the limits of a workload.
pub struct WorkloadContext<'a> {
    pub scratch: &'a Scratch,
    pub pages: &'a Pages,
    /// Size of a segment, a redo log and the like, in bytes.
    pub file_bytes: u64,
    control: &'a Control,
    /// The disks; `None` unless they count flushes.
    disks: Option<&'a Disks>,
    ends: Instant,
    most_bytes: u64,
    written: AtomicU64,
    /// The longest time of a pass, and its largest number of bytes.
    share: Duration,
    share_bytes: u64,
}

/// The bytes that a pass may always write: on a fast disk fewer rounds are better than a pass of a
/// few operations.
const LEAST_SHARE: u64 = 1 << 20;

impl<'a> WorkloadContext<'a> {
    /// A stage with this limit of time and bytes.
    pub fn new(
        scratch: &'a Scratch,
        pages: &'a Pages,
        file_bytes: u64,
        control: &'a Control,
        disks: Option<&'a Disks>,
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
            ends,
            most_bytes,
            written,
            share,
            share_bytes,
        }
    }

    /// Gives every part the same share of the time and bytes that remain after preparing, with one
    /// round for warming up. `fixed_bytes` are written in every round.
    pub fn share_out(&mut self, rounds: u32, parts: usize, fixed_bytes: u64) {
        let bytes = self.most_bytes.saturating_sub(self.written()) / u64::from(rounds + 1);
        self.share_bytes =
            (bytes.saturating_sub(fixed_bytes) / parts.max(1) as u64).max(LEAST_SHARE);
        let left = self
            .ends
            .saturating_duration_since(Instant::now())
            .as_secs_f64();
        let share = left / (f64::from(rounds + 1) * parts.max(1) as f64);
        // Longer passes would let a neighbour write more than is gentle; shorter ones would measure
        // the start of threads.
        self.share = Duration::from_secs_f64(share.clamp(0.002, 0.5));
    }

    /// The number of rounds that fit the time when no pass exceeds `pass`.
    pub fn rounds_of_at_most(&self, pass: Duration, parts: usize) -> u32 {
        let left = self
            .ends
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

    /// A part's share of a round.
    pub fn share(&self) -> Duration {
        self.share
    }

    /// An error when the probe was cancelled or the time is used up.
    pub fn check(&self) -> Result<(), Stop> {
        if self.control.is_cancelled() {
            Err(Stop::Cancelled)
        } else if Instant::now() >= self.ends {
            Err(Stop::Over)
        } else {
            Ok(())
        }
    }

    /// The same check before so many bytes are written.
    pub fn spend(&self, bytes: u64) -> Result<(), Stop> {
        self.check()?;
        let before = self.written.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes > self.most_bytes {
            self.written.fetch_sub(bytes, Ordering::Relaxed);
            return Err(Stop::Over);
        }
        Ok(())
    }

    /// Whether a pass that began then has used up its share.
    fn has_enough(&self, begun: Instant, written: u64) -> bool {
        begun.elapsed() >= self.share || self.written() - written >= self.share_bytes
    }

    /// What was written so far, in bytes.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// The error of the system while we were `doing` something.
    pub fn failed(&self, errno: Errno, doing: &str) -> Stop {
        self.scratch.failed(errno, doing).into()
    }

    /// A new file of [`WorkloadContext::file_bytes`] zeros, flushed.
    pub fn filled(&self, name: &str) -> Result<OwnedFd, Stop> {
        let file = self.scratch.make(name, OFlags::empty());
        let file = file.map_err(|errno| self.failed(errno, "making a scratch file"))?;
        self.fill(&file)?;
        Ok(file)
    }

    /// Fills a file with [`WorkloadContext::file_bytes`] zeros and flushes it.
    pub fn fill(&self, file: &OwnedFd) -> Result<(), Stop> {
        self.spend(self.file_bytes)?;
        let go_on = || self.check().is_ok();
        if !self.scratch.fill(file, self.file_bytes, &go_on)? {
            self.check()?;
        }
        Ok(())
    }

    fn flushes(&self) -> Option<u64> {
        self.disks?.read()?.flushes
    }

    /// Repeats an operation that writes so many bytes until the share of time is used up, at most
    /// `limit` times.
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
            self.spend(bytes)?;
            let start = Instant::now();
            let done = operation().map_err(|errno| self.failed(errno, doing))?;
            if !done.interrupted {
                pass.times_us.push(micros(start));
                pass.flush_calls += done.flush_calls;
            }
            if self.has_enough(begun, written) && !pass.times_us.is_empty() {
                break;
            }
        }
        pass.seconds = begun.elapsed().as_secs_f64();
        pass.flushes = counted(before, self.flushes());
        Ok(pass)
    }

    /// Executes an operation once.
    pub fn once(
        &self,
        flush_calls: u64,
        operation: impl FnOnce() -> Result<(), Stop>,
    ) -> Result<Pass, Stop> {
        self.check()?;
        let before = self.flushes();
        let start = Instant::now();
        operation()?;
        let times_us = vec![micros(start)];
        let seconds = start.elapsed().as_secs_f64();
        Ok(Pass {
            times_us,
            seconds,
            flush_calls,
            flushes: counted(before, self.flushes()),
        })
    }

    /// Repeats an operation in several concurrent threads, each at most `limit` times. The
    /// operation receives the number of the thread and of its turn.
    pub fn together(
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
            let done = self.thread(thread, (bytes, limit), &ended, written, operation);
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
            pass.flushes = counted(before, self.flushes());
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

    /// The work of one thread.
    fn thread(
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
            self.spend(bytes)?;
            let start = Instant::now();
            let done = operation(thread, turn)?;
            if !done.interrupted {
                pass.times_us.push(micros(start));
            }
            pass.flush_calls += done.flush_calls;
            if self.has_enough(begun, written) && !pass.times_us.is_empty() {
                break;
            }
        }
        Ok(pass)
    }
}

fn micros(since: Instant) -> f64 {
    since.elapsed().as_nanos() as f64 / 1e3
}

fn counted(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    before
        .zip(after)
        .map(|(before, after)| after.saturating_sub(before))
}
