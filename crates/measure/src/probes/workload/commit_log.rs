//! Commits one after the other, as a program writes its log. A round takes about 10 ms. The
//! workload ends as soon as its requirement is decided.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

use super::context::WorkloadContext;
use crate::measure::{
    CommitLoad, LogFileAllocation, Method, RequirementAnswer, RoundSamples, RowSamples,
    SequentialRequirementTest,
};
use crate::probes::commit_writer::CommitWriter;
use crate::probes::{StopReason, commits_per_round};

/// Duration of a round. A round that reaches its byte limit earlier pauses for the rest; a
/// single commit may take longer.
const ROUND: Duration = Duration::from_millis(10);

const WARM_UP: Duration = Duration::from_millis(200);

/// Rounds between two checks whether the requirement is decided.
const ROUNDS_PER_ANALYSIS: usize = 25;

/// Number of rounds among which the byte limit is divided, so that it outlasts the time limit.
const MOST_ROUNDS: u64 = 1_000;

/// Share of the time limit that passes before a decision may end the workload.
const FIRST_ANALYSIS: f64 = 0.2;

const FILE: &str = "log";

pub(super) fn run_commit_workload(
    stage: &WorkloadContext<'_>,
    load: &CommitLoad,
    series: &mut Vec<RowSamples>,
    tell: &mut dyn FnMut(usize),
) -> Result<(), StopReason> {
    let bytes = u64::from(load.bytes);
    let mut log = CommitLog::create(stage, load)?;
    tell(0);
    let (warm_up, mut commits) = (Instant::now(), 0_u32);
    while commits < 8 || (commits < 100 && warm_up.elapsed() < WARM_UP) {
        log.append_and_flush_timed(stage)?;
        commits += 1;
    }
    // A round ends after a number of commits, which depends only on earlier rounds: a limit on its
    // time would give slow commits another weight.
    let mut busy = warm_up.elapsed();
    let generator_byte_limit = stage.remaining_bytes() / MOST_ROUNDS;
    *series = vec![RowSamples::new(load.row_name(), bytes)];
    let mut test = load.requirement.map(SequentialRequirementTest::new);
    for done in 1.. {
        let begun = Instant::now();
        let mut round = RoundSamples::default();
        let mean_us = 1e6 * busy.as_secs_f64() / f64::from(commits);
        let commits_within =
            |share| commits_per_round(mean_us, ROUND.as_micros() as f64, bytes, share);
        let count = commits_within(generator_byte_limit);
        // A round that the time limit cuts short counts: its last commit may be a stall.
        let outcome: Result<(), StopReason> = (0..count).try_for_each(|_| {
            round.times_us.extend(log.append_and_flush_timed(stage)?);
            round.flush_calls += 1;
            Ok(())
        });
        let elapsed = begun.elapsed();
        (busy, commits) = (
            busy + elapsed,
            commits.saturating_add(u32::try_from(count).unwrap_or(u32::MAX)),
        );
        round.seconds = elapsed.as_secs_f64();
        // Signals may have interrupted all commits.
        if !round.times_us.is_empty() {
            if let Some(test) = &mut test {
                test.push_round(&round.times_us, round.seconds);
            }
            series
                .iter_mut()
                .for_each(|row| row.rounds.push(round.clone()));
        }
        outcome?;
        if done % ROUNDS_PER_ANALYSIS == 0 {
            stage.scratch.check_directory_not_removed()?;
            tell(done);
            let is_decided =
                |test: &SequentialRequirementTest| test.answer() != RequirementAnswer::CannotTell;
            if stage.elapsed_share() >= FIRST_ANALYSIS && test.as_ref().is_some_and(is_decided) {
                break;
            }
        }
        // The byte limit of a round must not shorten the time in which bursts can occur.
        if count < commits_within(u64::MAX) {
            std::thread::sleep(ROUND.saturating_sub(begun.elapsed()));
        }
    }
    Ok(())
}

struct CommitLog {
    load: CommitLoad,
    writer: CommitWriter,
    /// Second descriptor, without the method's flags, to allocate the file again.
    file: OwnedFd,
    offset: u64,
    end: u64,
}

impl CommitLog {
    fn create(stage: &WorkloadContext<'_>, load: &CommitLoad) -> Result<Self, StopReason> {
        let bytes = u64::from(load.bytes);
        let (file, end) = match load.file {
            LogFileAllocation::Overwritten => (stage.create_zeroed_file(FILE)?, stage.file_bytes),
            LogFileAllocation::Preallocated => (stage.create_file(FILE)?, stage.file_bytes),
            LogFileAllocation::Growing(commits) => (
                stage.create_file(FILE)?,
                stage.file_bytes.min(commits * bytes),
            ),
        };
        let log = Self {
            load: *load,
            writer: stage.open_writer(FILE, load.method, load.method == Method::FdatasyncDirect)?,
            file,
            offset: 0,
            end,
        };
        log.preallocate_if_needed()
            .map_err(stage.failure("allocating a log"))?;
        Ok(log)
    }

    /// The latency in microseconds; `None` if a signal interrupted the commit.
    fn append_and_flush_timed(
        &mut self,
        stage: &WorkloadContext<'_>,
    ) -> Result<Option<f64>, StopReason> {
        let bytes = u64::from(self.load.bytes);
        stage.reserve_bytes(bytes)?;
        if self.offset + bytes > self.end {
            self.offset = 0;
            self.preallocate_if_needed()
                .map_err(stage.failure("allocating a log"))?;
        }
        let done = self.writer.write_and_flush_timed(
            stage.pages.first_bytes(self.load.bytes as usize),
            self.offset,
        );
        let done = done.map_err(stage.failure("a commit"))?;
        self.offset += bytes;
        Ok((!done.interrupted).then_some(done.micros))
    }

    fn preallocate_if_needed(&self) -> Result<(), Errno> {
        match self.load.file {
            LogFileAllocation::Overwritten | LogFileAllocation::Growing(_) => Ok(()),
            LogFileAllocation::Preallocated => {
                rustix::fs::ftruncate(&self.file, 0)?;
                match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), 0, self.end) {
                    // etcd extends the file where fallocate(2) is missing.
                    Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                        rustix::fs::ftruncate(&self.file, self.end)
                    }
                    outcome => outcome,
                }?;
                rustix::fs::fsync(&self.file)
            }
        }
    }
}
