//! Runs the operations of workloads within the limits on time and bytes. Limits and the cancel flag
//! are checked before every operation. In a round, each generator runs at least one operation per
//! thread, however slow the disk, because an empty round is meaningless.

use std::os::fd::OwnedFd;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::measure::{Method, RoundSamples, RowSamples};
use crate::probes::commit_writer::{AlignedBuffer, CommitWriter};
use crate::probes::scratch::ScratchDirectory;
use crate::probes::{CancelHandle, DiskCounterReader, ProbeError, StopReason, open_flags};

#[derive(Default)]
pub struct OperationOutcome {
    pub flush_calls: u64,
    /// True if a signal interrupted the operation, which makes its time meaningless.
    pub interrupted: bool,
}

type RoundFn = dyn FnMut(&WorkloadContext<'_>) -> Result<Vec<RoundSamples>, StopReason>;

/// One or more result rows of a workload, and the function that measures them.
pub struct Load {
    /// Rows without samples. A row that cannot be measured has an error with the reason.
    pub rows: Vec<RowSamples>,
    /// The bytes that each round writes outside its operations, such as the zeros of a new segment.
    pub bytes_outside_operations: u64,
    /// Runs the operations for the load's share of a round. Returns one entry per row.
    pub run_round: Box<RoundFn>,
}

impl Load {
    /// A load with one row.
    pub fn new(
        row: RowSamples,
        mut run_round: impl FnMut(&WorkloadContext<'_>) -> Result<RoundSamples, StopReason> + 'static,
    ) -> Self {
        Self {
            rows: vec![row],
            bytes_outside_operations: 0,
            run_round: Box::new(move |stage| Ok(vec![run_round(stage)?])),
        }
    }
}

pub struct WorkloadContext<'a> {
    pub scratch: &'a ScratchDirectory,
    pub pages: &'a AlignedBuffer,
    /// Size of a segment, a redo log and similar files.
    pub file_bytes: u64,
    pub control: &'a CancelHandle,
    /// Flush counters of the disks; `None` unless all disks count flushes.
    pub disks: Option<&'a DiskCounterReader>,
    pub begun: Instant,
    pub deadline: Instant,
    pub max_bytes: u64,
    pub written: AtomicU64,
    /// Both limits apply to one round of one generator.
    pub generator_time_limit: Duration,
    pub generator_byte_limit: u64,
}

/// Smallest byte limit of one generator in one round: on a fast disk, fewer rounds are better than
/// rounds of a few operations.
const MIN_SHARE_BYTES: u64 = 1 << 20;

impl WorkloadContext<'_> {
    /// Divides the remaining time and bytes among the rounds, with one more round as warm-up, and
    /// among the `parts` generators of a round. `fixed_bytes` are written in every round outside
    /// the operations.
    pub fn divide_budget(&mut self, rounds: u32, parts: usize, fixed_bytes: u64) {
        let bytes = self.remaining_bytes() / u64::from(rounds + 1);
        self.generator_byte_limit =
            (bytes.saturating_sub(fixed_bytes) / parts.max(1) as u64).max(MIN_SHARE_BYTES);
        let share = self.remaining_seconds() / (f64::from(rounds + 1) * parts.max(1) as f64);
        // In a longer share, the second writer of `interference` would write too much; a shorter
        // share would mostly measure the start of threads.
        self.generator_time_limit = Duration::from_secs_f64(share.clamp(0.002, 0.5));
    }

    /// The number of rounds that fit into the remaining time if each of the `parts` generators
    /// takes at most `pass` per round.
    pub fn rounds_that_fit_remaining_time(&self, pass: Duration, parts: usize) -> u32 {
        let rounds = (self.remaining_seconds() / (pass.as_secs_f64() * parts.max(1) as f64)).ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped"
        )]
        let rounds = rounds.clamp(1.0, 1e6) as u32;
        rounds
    }

    fn remaining_seconds(&self) -> f64 {
        let left = self.deadline.saturating_duration_since(Instant::now());
        left.as_secs_f64()
    }

    pub fn remaining_bytes(&self) -> u64 {
        self.max_bytes.saturating_sub(self.bytes_written())
    }

    /// The elapsed time as a share of the time limit; above 1 after the limit.
    pub fn elapsed_share(&self) -> f64 {
        self.begun.elapsed().as_secs_f64() / (self.deadline - self.begun).as_secs_f64()
    }

    pub fn check_cancelled_and_time_limit(&self) -> Result<(), StopReason> {
        if self.control.is_cancelled() {
            Err(StopReason::Cancelled)
        } else if Instant::now() >= self.deadline {
            Err(StopReason::BudgetExhausted)
        } else {
            Ok(())
        }
    }

    /// Fails like [`Self::check_cancelled_and_time_limit`], or if `bytes` more exceed the write
    /// limit; otherwise counts the bytes as written.
    pub fn reserve_bytes(&self, bytes: u64) -> Result<(), StopReason> {
        self.check_cancelled_and_time_limit()?;
        let before = self.written.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes > self.max_bytes {
            self.written.fetch_sub(bytes, Ordering::Relaxed);
            return Err(StopReason::BudgetExhausted);
        }
        Ok(())
    }

    pub fn bytes_written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Makes the stop reason for a failed system call; `doing` names the failed step.
    pub fn failure(&self, doing: &str) -> impl Fn(Errno) -> StopReason {
        move |errno| self.scratch.probe_error(errno, doing).into()
    }

    pub fn create_file(&self, name: &str) -> Result<OwnedFd, StopReason> {
        self.scratch
            .create_file(name)
            .map_err(self.failure("creating a scratch file"))
    }

    pub fn create_zeroed_file(&self, name: &str) -> Result<OwnedFd, StopReason> {
        let file = self.create_file(name)?;
        self.fill_with_zeros(&file)?;
        Ok(file)
    }

    /// Opens a file for commits. With `may_buffer`, as servers do, the commits use fdatasync if the
    /// file system refuses the method's O_DIRECT.
    pub fn open_writer(
        &self,
        name: &str,
        method: Method,
        may_buffer: bool,
    ) -> Result<CommitWriter, StopReason> {
        match self.scratch.open_file(name, open_flags(method)) {
            Err(Errno::INVAL | Errno::OPNOTSUPP) if may_buffer && method.is_direct() => {
                self.open_writer(name, Method::Fdatasync, false)
            }
            Err(errno) => Err(self.failure("opening a scratch file")(errno)),
            Ok(file) => Ok(CommitWriter::new(method, file)),
        }
    }

    /// The file gets [`WorkloadContext::file_bytes`] bytes, which are flushed.
    pub fn fill_with_zeros(&self, file: &OwnedFd) -> Result<(), StopReason> {
        self.reserve_bytes(self.file_bytes)?;
        let go_on = || self.check_cancelled_and_time_limit().is_ok();
        if !self
            .scratch
            .fill_with_flushed_zeros(file, self.file_bytes, &go_on)?
        {
            self.check_cancelled_and_time_limit()?;
        }
        Ok(())
    }

    fn read_flush_count(&self) -> Option<u64> {
        self.disks?.read_flush_count()
    }

    /// The result of `run`, its duration in seconds, and the flushes that the disks counted.
    pub fn time_and_count_flushes<T>(&self, run: impl FnOnce() -> T) -> (T, f64, Option<u64>) {
        let before = self.read_flush_count();
        let begun = Instant::now();
        let done = run();
        let seconds = begun.elapsed().as_secs_f64();
        let flushes = before
            .zip(self.read_flush_count())
            .map(|(before, after)| after.saturating_sub(before));
        (done, seconds, flushes)
    }

    /// Repeats an operation that writes `bytes` bytes until the round's share of time or bytes is
    /// used up, at most `limit` times.
    pub fn repeat_until_share_is_used(
        &self,
        doing: &str,
        bytes: u64,
        limit: u64,
        mut operation: impl FnMut() -> Result<OperationOutcome, Errno>,
    ) -> Result<RoundSamples, StopReason> {
        let (pass, seconds, flushes) = self.time_and_count_flushes(|| {
            self.repeat_operation(
                (bytes, limit),
                &AtomicBool::new(false),
                self.bytes_written(),
                |_| operation().map_err(self.failure(doing)),
            )
        });
        Ok(RoundSamples {
            seconds,
            flushes,
            ..pass?
        })
    }

    pub fn time_single_operation(
        &self,
        flush_calls: u64,
        operation: impl FnOnce() -> Result<(), StopReason>,
    ) -> Result<RoundSamples, StopReason> {
        self.check_cancelled_and_time_limit()?;
        let (done, seconds, flushes) = self.time_and_count_flushes(operation);
        done?;
        Ok(RoundSamples {
            times_us: vec![1e6 * seconds],
            seconds,
            flush_calls,
            flushes,
        })
    }

    /// Runs the operation in several threads, in each at most `limit` times, and reserves `bytes`
    /// bytes before each run. The operation gets the numbers of the thread and of the run, both
    /// from 0.
    pub fn run_operation_in_threads(
        &self,
        doing: &str,
        threads: u32,
        bytes: u64,
        limit: u64,
        operation: &(dyn Fn(u32, u64) -> Result<OperationOutcome, StopReason> + Sync),
    ) -> Result<RoundSamples, StopReason> {
        let (gate, ended) = (RwLock::new(()), AtomicBool::new(false));
        let written = self.bytes_written();
        let work = |thread: u32| {
            // Waits until all threads have been started.
            drop(gate.read());
            let done = self.repeat_operation((bytes, limit), &ended, written, |turn| {
                operation(thread, turn)
            });
            if done.is_err() {
                ended.store(true, Ordering::Relaxed);
            }
            done
        };
        let mut pass = RoundSamples::default();
        thread::scope(|scope| {
            let closed = gate.write();
            let mut running = Vec::new();
            for number in 0..threads {
                let spawned = thread::Builder::new().spawn_scoped(scope, move || work(number));
                let Ok(spawned) = spawned else {
                    ended.store(true, Ordering::Relaxed);
                    let says = format!(
                        "{doing} failed: this system does not allow {threads} more threads"
                    );
                    return Err(ProbeError::new(says).into());
                };
                running.push(spawned);
            }
            let (done, seconds, flushes) = self.time_and_count_flushes(|| {
                drop(closed);
                let joined = running.into_iter().map(thread::ScopedJoinHandle::join);
                joined.collect::<Vec<_>>()
            });
            (pass.seconds, pass.flushes) = (seconds, flushes);
            let gave_up = |_| Err(ProbeError::new(format!("{doing} failed")).into());
            let mut done: Vec<_> = done
                .into_iter()
                .map(|one| one.unwrap_or_else(gave_up))
                .collect();
            // [`StopReason::Failed`] is sorted first, so that it takes precedence over a cancel or
            // an exhausted budget in another thread.
            done.sort_by_key(|one| !matches!(one, Err(StopReason::Failed(_))));
            for one in done {
                let one = one?;
                pass.times_us.extend(one.times_us);
                pass.flush_calls += one.flush_calls;
            }
            Ok(())
        })
        .map(|()| pass)
    }

    /// `written` are the bytes that were written before the round; `ended` ends the repetition.
    fn repeat_operation(
        &self,
        (bytes, limit): (u64, u64),
        ended: &AtomicBool,
        written: u64,
        mut operation: impl FnMut(u64) -> Result<OperationOutcome, StopReason>,
    ) -> Result<RoundSamples, StopReason> {
        let mut pass = RoundSamples::default();
        let begun = Instant::now();
        for turn in 0..limit {
            if ended.load(Ordering::Relaxed) {
                break;
            }
            self.reserve_bytes(bytes)?;
            let start = Instant::now();
            let done = operation(turn)?;
            if !done.interrupted {
                pass.times_us.push(start.elapsed().as_nanos() as f64 / 1e3);
            }
            pass.flush_calls += done.flush_calls;
            let is_share_used_up = begun.elapsed() >= self.generator_time_limit
                || self.bytes_written() - written >= self.generator_byte_limit;
            if is_share_used_up && !pass.times_us.is_empty() {
                break;
            }
        }
        Ok(pass)
    }
}
