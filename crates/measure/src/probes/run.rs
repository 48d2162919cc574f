//! Runs a probe's plan: creates the scratch directory, warms up, measures rounds and workloads, and
//! removes the directory. In a round, each method first commits back to back. Then the server's
//! methods commit with pauses for three times as long. These paced commits decide which method is
//! best.
//!
//! A cancelled run finishes the current commit, or the current chunk of a file that it fills, and
//! then removes the directory. A system call that waits for the disk cannot be interrupted.
//!
//! An incomplete back-to-back round is discarded, because a comparison needs every method.

use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::commit_writer::{AlignedBuffer, CommitTiming, CommitWriter, CyclicWriteCursor};
use super::plan::ProbePlan;
use super::scratch::ScratchDirectory;
use super::workload::{self, WorkloadContext};
use super::{
    CancelHandle, CpuTicks, DiskCounterReader, PAUSE_BEFORE_COMMIT, ProbeError, Rng, StopReason,
    SuspendClocks, commits_per_round, open_flags,
};
use crate::measure::{
    DiskTraffic, FlushAndCommitCounts, Measurement, Method, MethodSamples, ProbePhase,
    ProbeProgress, ProbeSamples, SampleContext, Workload, WorkloadResult, add_raw_samples,
    log_scale_histogram, median_of, summarise_samples,
};
use crate::text::display_path;

const WAL_FILE: &str = "wal";

/// Returns the figures of all complete rounds. A cancelled probe returns them too, without an
/// error.
pub fn run_probe(
    plan: &ProbePlan,
    control: &CancelHandle,
    tell: &mut dyn FnMut(&ProbeProgress),
) -> Result<Measurement, ProbeError> {
    if plan.request.options.nice {
        lower_priority()?;
    }
    let mut run = ProbeRun::new(plan, control, tell);
    let (processors, clocks) = (CpuTicks::read(), SuspendClocks::read());
    let outcome = run.measure_all();
    let stolen = processors.zip(CpuTicks::read());
    run.context.steal_percent =
        stolen.and_then(|(before, after)| CpuTicks::steal_percent(before, after));
    run.context.suspended_seconds = clocks.suspended_seconds_since();
    match outcome {
        Ok(()) | Err(StopReason::BudgetExhausted) => Ok(run.take_final_measurement()),
        Err(StopReason::Cancelled) => {
            run.context.cancelled = true;
            Ok(run.take_final_measurement())
        }
        Err(StopReason::Failed(mut error)) => {
            run.context.stopped_by = Some(error.message.clone());
            let measured = run.samples.complete_round_count() > 0
                || run.workload_results.iter().any(|found| found.rounds > 0);
            error.partial = measured.then(|| Box::new(run.take_final_measurement()));
            Err(error)
        }
    }
}

struct ProbeRun<'a> {
    plan: &'a ProbePlan,
    control: &'a CancelHandle,
    report: &'a mut dyn FnMut(&ProbeProgress),
    started: Instant,
    reported_at: Instant,
    /// Duration of the last progress report with figures. Such reports may take a twentieth of the
    /// probe's time.
    report_duration: Duration,
    samples: ProbeSamples,
    context: SampleContext,
    disks: DiskCounterReader,
    rng: Rng,
    pages: AlignedBuffer,
    buffered: CyclicWriteCursor,
    direct: CyclicWriteCursor,
    /// One writer per method and write size, in the order of `samples.cells`; `None` if the
    /// combination cannot be measured.
    writers: Vec<Option<CommitWriter>>,
    /// Latest median latency of each method and write size, in microseconds.
    costs: Vec<f64>,
    /// Indices in `samples.cells` of the methods with paced commits, in the order of
    /// `samples.paced`.
    paced: Vec<usize>,
    workload_results: Vec<WorkloadResult>,
}

const MAX_WORKLOAD_WRITE: usize = 256 << 10;

impl<'a> ProbeRun<'a> {
    fn new(
        plan: &'a ProbePlan,
        control: &'a CancelHandle,
        tell: &'a mut dyn FnMut(&ProbeProgress),
    ) -> Self {
        let cells = plan
            .rows
            .iter()
            .map(|row| MethodSamples::new(row.method, row.pages, row.as_server))
            .collect();
        let mut rng = Rng::new(plan.request.seed);
        let most_pages = plan
            .rows
            .iter()
            .map(|row| row.pages as usize)
            .max()
            .unwrap_or(1);
        let page = plan_page_bytes(plan);
        let noise = if plan.workloads.is_empty() {
            most_pages * page
        } else {
            MAX_WORKLOAD_WRITE
        };
        let pages = AlignedBuffer::random(noise.max(most_pages * page), &mut rng);
        // Direct and buffered commits use separate halves of the scratch file, so that no direct
        // write has to evict cached pages.
        let half = if plan.rows.iter().any(|row| row.method.is_direct()) {
            plan.file_bytes / 2
        } else {
            plan.file_bytes
        };
        let now = Instant::now();
        Self {
            plan,
            control,
            report: tell,
            started: now,
            reported_at: now,
            report_duration: Duration::ZERO,
            samples: ProbeSamples {
                cells,
                paced: Vec::new(),
            },
            context: SampleContext {
                directory: display_path(&plan.directory),
                when: jiff::Timestamp::now()
                    .round(jiff::Unit::Second)
                    .unwrap_or_default()
                    .to_string(),
                speed_limit: plan.request.speed_limit.clone(),
                disks: plan.request.leaves.clone(),
                clock_us: measure_clock_cost_us(),
                log: plan.log.clone(),
                ..SampleContext::default()
            },
            disks: DiskCounterReader::new(&plan.request.leaves),
            rng,
            pages,
            buffered: CyclicWriteCursor::new(0, half),
            direct: CyclicWriteCursor::new(plan.file_bytes - half, plan.file_bytes),
            writers: Vec::new(),
            costs: Vec::new(),
            paced: Vec::new(),
            workload_results: Vec::new(),
        }
    }

    fn page_bytes(&self) -> u64 {
        plan_page_bytes(self.plan) as u64
    }

    fn measure_all(&mut self) -> Result<(), StopReason> {
        self.report_progress(ProbePhase::Preparing);
        self.measure_traffic_before_probe()?;
        let scratch = ScratchDirectory::create(self.plan)?;
        self.context.leftover = scratch.leftover_note();
        let room = if self.plan.request.options.force {
            Ok(())
        } else {
            scratch.check_space_by_reservation(4 * self.plan.peak_bytes)
        };
        let outcome = room
            .map_err(StopReason::Failed)
            .and_then(|()| self.measure_in_scratch_directory(&scratch));
        self.writers.clear();
        self.report_progress(ProbePhase::CleaningUp);
        let removed = scratch.remove();
        match (outcome, removed) {
            (Err(StopReason::Failed(mut first)), Err(left)) => {
                first.message = format!("{}; {}", first.message, left.message);
                Err(StopReason::Failed(first))
            }
            (_, Err(left)) => Err(StopReason::Failed(left)),
            (outcome, Ok(())) => outcome,
        }
    }

    fn measure_in_scratch_directory(
        &mut self,
        scratch: &ScratchDirectory,
    ) -> Result<(), StopReason> {
        if !self.plan.rows.is_empty() {
            match self.measure_methods(scratch) {
                Ok(()) | Err(StopReason::BudgetExhausted) => {}
                stop => return stop,
            }
            self.writers.clear();
        }
        for workload in &self.plan.workloads {
            scratch.remove_files()?;
            self.run_workload(*workload, scratch)?;
        }
        Ok(())
    }

    fn run_workload(
        &mut self,
        workload: Workload,
        scratch: &ScratchDirectory,
    ) -> Result<(), StopReason> {
        let disks = self.plan.leaves_count_flushes.then_some(&self.disks);
        let begun = Instant::now();
        let mut stage = WorkloadContext {
            scratch,
            pages: &self.pages,
            file_bytes: self.plan.file_bytes,
            control: self.control,
            disks,
            begun,
            deadline: begun + Duration::from_secs_f64(self.plan.seconds),
            max_bytes: self.plan.max_bytes,
            written: AtomicU64::new(0),
            generator_time_limit: Duration::ZERO,
            generator_byte_limit: 0,
        };
        let (begun, tell) = (self.started, &mut self.report);
        let mut say = |rounds| {
            tell(&progress(
                self.plan,
                begun,
                ProbePhase::Workload(workload),
                rounds,
            ));
        };
        let mut series = Vec::new();
        let outcome = workload::run_workload(
            workload,
            (&self.plan.redo, &self.plan.request.commits),
            &mut stage,
            &mut self.rng,
            &mut series,
            &mut say,
        );
        self.context.bytes_written += stage.bytes_written();
        let keep_samples = self.plan.request.options.keep_samples;
        let is_complete = matches!(outcome, Ok(()) | Err(StopReason::BudgetExhausted));
        self.workload_results.push(if workload == Workload::Commit {
            WorkloadResult::from_commit_load(
                &self.plan.request.commits,
                &series,
                self.plan.request.speed_limit.as_ref(),
                is_complete,
                keep_samples,
            )
        } else {
            WorkloadResult::new(workload, &series, keep_samples)
        });
        match outcome {
            Err(StopReason::BudgetExhausted) => Ok(()),
            outcome => outcome,
        }
    }

    fn measure_methods(&mut self, scratch: &ScratchDirectory) -> Result<(), StopReason> {
        let file = scratch.create_file(WAL_FILE, OFlags::empty());
        let file = file.map_err(|errno| scratch.probe_error(errno, "creating the scratch file"))?;
        let control = self.control;
        self.context.bytes_written += self.plan.file_bytes;
        if !scratch
            .fill_with_flushed_zeros(&file, self.plan.file_bytes, &|| !control.is_cancelled())?
        {
            return Err(StopReason::Cancelled);
        }
        self.open_writer_per_method_and_size(scratch)?;
        self.estimate_commit_costs()?;
        self.select_paced_methods();
        self.run_rounds(scratch, &file)
    }

    fn measure_traffic_before_probe(&mut self) -> Result<(), StopReason> {
        let Some(before) = self.disks.read() else {
            return Ok(());
        };
        let begun = Instant::now();
        let moment = Duration::from_secs_f64((self.plan.seconds / 50.0).min(0.1));
        while begun.elapsed() < moment {
            self.check_cancelled()?;
            std::thread::sleep(moment.min(Duration::from_millis(10)));
        }
        if let Some(after) = self.disks.read() {
            self.context.idle_traffic = Some(DiskTraffic {
                seconds: begun.elapsed().as_secs_f64(),
                read: after.read.saturating_sub(before.read),
                written: after.written.saturating_sub(before.written),
                ..DiskTraffic::default()
            });
        }
        Ok(())
    }

    /// If the file system refuses or buffers O_DIRECT, only the cells with O_DIRECT get an error.
    fn open_writer_per_method_and_size(
        &mut self,
        scratch: &ScratchDirectory,
    ) -> Result<(), StopReason> {
        for cell in &mut self.samples.cells {
            let opened = scratch.open_file(WAL_FILE, open_flags(cell.method));
            let writer = match opened {
                Err(Errno::INVAL | Errno::OPNOTSUPP) if cell.method.is_direct() => {
                    cell.error = Some("the file system refuses O_DIRECT".to_owned());
                    None
                }
                Err(errno) => {
                    return Err(ProbeError::from_errno(
                        errno,
                        "opening the scratch file",
                        &self.plan.directory,
                    )
                    .into());
                }
                Ok(file) => Some(CommitWriter::new(cell.method, file)),
            };
            let is_buffered = |writer: &CommitWriter| {
                writer.is_direct_io_buffered_by_test_write(&self.pages, self.plan.file_bytes / 2)
            };
            if writer.as_ref().is_some_and(is_buffered) {
                cell.error = Some("the file system buffers O_DIRECT writes".to_owned());
            }
            self.writers.push(writer.filter(|_| cell.error.is_none()));
        }
        Ok(())
    }

    /// Makes a few commits with each method and write size. Their latencies only serve to estimate
    /// how many commits fit into a round.
    fn estimate_commit_costs(&mut self) -> Result<(), StopReason> {
        self.report_progress(ProbePhase::WarmUp);
        for i in 0..self.samples.cells.len() {
            let begun = Instant::now();
            let mut times = Vec::new();
            while times.len() < 8
                && (times.is_empty() || begun.elapsed() < Duration::from_millis(10))
            {
                self.check_cancelled()?;
                match self.write_timed_commit(i) {
                    None => break,
                    Some(Ok(done)) => times.push(done.micros),
                    Some(Err(Errno::INVAL)) if self.exclude_method_if_direct(i) => break,
                    Some(Err(errno)) => return Err(self.commit_error(i, errno)),
                }
            }
            self.flush_pages_of_unflushed_method(i)?;
            self.costs.push(median_of(&times));
        }
        Ok(())
    }

    /// Gives up cell `i` after its first write failed, if the cell uses O_DIRECT; otherwise returns
    /// false. A disk with blocks larger than a page refuses such writes.
    fn exclude_method_if_direct(&mut self, i: usize) -> bool {
        match (self.samples.cells.get_mut(i), self.writers.get_mut(i)) {
            (Some(cell), Some(writer)) if cell.method.is_direct() => {
                cell.error = Some(format!(
                    "the disk refuses O_DIRECT writes of {}",
                    self.plan.log.page_size_text()
                ));
                *writer = None;
                true
            }
            _ => false,
        }
    }

    fn run_rounds(&mut self, scratch: &ScratchDirectory, file: &OwnedFd) -> Result<(), StopReason> {
        loop {
            let before = self.disks.read();
            let (begun, ours) = (Instant::now(), self.context.bytes_written);
            let round = self.run_back_to_back_round()?;
            let paced = self.run_paced_round(3 * begun.elapsed());
            scratch.check_file_not_removed(file)?;
            let traffic = before
                .zip(self.disks.read())
                .map(|(before, after)| DiskTraffic {
                    seconds: begun.elapsed().as_secs_f64(),
                    read: after.read.saturating_sub(before.read),
                    written: after.written.saturating_sub(before.written),
                    own_written: self.context.bytes_written - ours,
                    flushed: self.bytes_of_durable_commits(&round),
                });
            self.context.traffic.extend(traffic);
            for ((cell, cost), times) in self
                .samples
                .cells
                .iter_mut()
                .zip(&mut self.costs)
                .zip(round)
            {
                if cell.error.is_none() {
                    *cost = median_of(&times);
                    cell.rounds.push(times);
                }
            }
            paced?;
            self.report_progress(ProbePhase::Rounds);
        }
    }

    fn bytes_of_durable_commits(&self, round: &[Vec<f64>]) -> u64 {
        let durable = self
            .samples
            .cells
            .iter()
            .zip(round)
            .filter(|(cell, _)| cell.method.is_durable());
        durable
            .map(|(cell, times)| times.len() as u64 * u64::from(cell.pages) * self.page_bytes())
            .sum()
    }

    /// Returns the latencies of each method and write size, in the order of `samples.cells`; a cell
    /// with an error has none.
    fn run_back_to_back_round(&mut self) -> Result<Vec<Vec<f64>>, StopReason> {
        let cells = self.samples.cells.len();
        let share_us = (1e6 * self.plan.seconds / 64.0).clamp(5e3, 150e3) / cells as f64;
        let generator_byte_limit =
            (self.plan.max_bytes - self.plan.file_bytes) / (64 * cells as u64);
        let mut round = vec![Vec::new(); cells];
        for i in self.rng.permutation(cells) {
            let (Some(cell), Some(cost)) = (self.samples.cells.get(i), self.costs.get(i)) else {
                continue;
            };
            if cell.error.is_some() {
                continue;
            }
            let (method, bytes) = (cell.method, u64::from(cell.pages) * self.page_bytes());
            let count = commits_per_round(*cost, share_us, bytes, generator_byte_limit);
            let before = self.read_flush_count(method);
            // The first commit after another method can include deferred work of that method, so it
            // is not timed if eight or more commits follow.
            let first = usize::from(count >= 8);
            let mut times = Vec::with_capacity(count);
            for nth in 0..count + first {
                self.check_time_and_byte_limits()?;
                let done = self.commit_unless_cancelled(i)?;
                if nth >= first && !done.interrupted {
                    times.push(done.micros);
                }
            }
            if let (Some(before), Some(after)) = (before, self.read_flush_count(method)) {
                self.add_flush_count(i, after.saturating_sub(before), count + first);
            }
            self.flush_pages_of_unflushed_method(i)?;
            if times.is_empty() {
                return Err(StopReason::BudgetExhausted);
            }
            if let Some(slot) = round.get_mut(i) {
                *slot = times;
            }
        }
        Ok(round)
    }

    fn read_flush_count(&self, method: Method) -> Option<u64> {
        let counted = self.plan.leaves_count_flushes && method.has_counted_flushes();
        if counted {
            self.disks.read_flush_count()
        } else {
            None
        }
    }

    fn add_flush_count(&mut self, i: usize, flushes: u64, commits: usize) {
        if let Some(cell) = self.samples.cells.get_mut(i) {
            let count = cell
                .flushes
                .get_or_insert_with(FlushAndCommitCounts::default);
            count.flushes += flushes;
            count.commits += commits as u64;
        }
    }

    fn select_paced_methods(&mut self) {
        let is_paced = |c: &MethodSamples| {
            let wanted = c.pages == 1 || self.plan.request.all_paced;
            wanted && c.as_server && c.method.is_durable() && c.error.is_none()
        };
        let cells = self
            .samples
            .cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| is_paced(cell));
        (self.paced, self.samples.paced) = cells
            .map(|(i, c)| (i, MethodSamples::new(c.method, c.pages, c.as_server)))
            .unzip();
    }

    fn run_paced_round(&mut self, time: Duration) -> Result<(), StopReason> {
        let begun = Instant::now();
        let mut turns = 0_u32;
        let mut round = vec![Vec::new(); self.paced.len()];
        let mut outcome = Ok(());
        while !self.paced.is_empty()
            && (turns == 0 || begun.elapsed() + begun.elapsed() / turns <= time)
        {
            match self.commit_once_with_each_paced_method() {
                Ok(turn) if turn.iter().any(|done| done.interrupted) => {}
                Ok(turn) => round
                    .iter_mut()
                    .zip(&turn)
                    .for_each(|(times, done)| times.push(done.micros)),
                Err(stop) => {
                    outcome = Err(stop);
                    break;
                }
            }
            turns += 1;
        }
        let measured = self
            .samples
            .paced
            .iter_mut()
            .zip(round)
            .filter(|(_, times)| !times.is_empty());
        measured.for_each(|(cell, times)| cell.rounds.push(times));
        outcome
    }

    /// Makes one paced commit with each method, in random order, because a commit can include
    /// deferred work of the previous one. The result is in the order of `paced`.
    fn commit_once_with_each_paced_method(&mut self) -> Result<Vec<CommitTiming>, StopReason> {
        let mut turn = Vec::with_capacity(self.paced.len());
        for nth in self.rng.permutation(self.paced.len()) {
            self.check_time_and_byte_limits()?;
            std::thread::sleep(PAUSE_BEFORE_COMMIT);
            let Some(i) = self.paced.get(nth).copied() else {
                continue;
            };
            turn.push((nth, self.commit_unless_cancelled(i)?));
        }
        turn.sort_by_key(|(nth, _)| *nth);
        Ok(turn.into_iter().map(|(_, done)| done).collect())
    }

    fn write_timed_commit(&mut self, i: usize) -> Option<Result<CommitTiming, Errno>> {
        let (cell, writer) = (self.samples.cells.get(i)?, self.writers.get(i)?.as_ref()?);
        let pages = self
            .pages
            .first_bytes(cell.pages as usize * plan_page_bytes(self.plan));
        let cursor = if cell.method.is_direct() {
            &mut self.direct
        } else {
            &mut self.buffered
        };
        self.context.bytes_written += pages.len() as u64;
        Some(writer.write_and_flush_timed(pages, cursor.next_write_offset(pages.len())))
    }

    fn commit_unless_cancelled(&mut self, i: usize) -> Result<CommitTiming, StopReason> {
        self.check_cancelled()?;
        match self.write_timed_commit(i) {
            Some(Ok(done)) => Ok(done),
            Some(Err(errno)) => Err(self.commit_error(i, errno)),
            None => Err(StopReason::BudgetExhausted),
        }
    }

    fn commit_error(&self, i: usize, errno: Errno) -> StopReason {
        let method = self
            .samples
            .cells
            .get(i)
            .map_or("", |cell| cell.method.name());
        ProbeError::from_errno(
            errno,
            &format!("a commit with {method}"),
            &self.plan.directory,
        )
        .into()
    }

    fn flush_pages_of_unflushed_method(&self, i: usize) -> Result<(), StopReason> {
        let floor = self.samples.cells.get(i).filter(|c| !c.method.is_durable());
        let writer = floor.and(self.writers.get(i).and_then(Option::as_ref));
        let failed = |errno| {
            ProbeError::from_errno(errno, "flushing the scratch file", &self.plan.directory)
        };
        writer.map_or(Ok(()), |w| {
            w.flush_cached_pages().map_err(|e| failed(e).into())
        })
    }

    fn check_cancelled(&self) -> Result<(), StopReason> {
        if self.control.is_cancelled() {
            Err(StopReason::Cancelled)
        } else {
            Ok(())
        }
    }

    fn check_time_and_byte_limits(&self) -> Result<(), StopReason> {
        let over = self.elapsed_seconds() > self.plan.seconds - 0.02;
        let pages: u64 = self.plan.rows.iter().map(|row| u64::from(row.pages)).sum();
        let most = self.plan.max_bytes - pages * self.page_bytes();
        if over || self.context.bytes_written > most {
            Err(StopReason::BudgetExhausted)
        } else {
            Ok(())
        }
    }

    fn elapsed_seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn summarise_so_far(&mut self) -> Measurement {
        self.context.seconds = self.elapsed_seconds();
        summarise_samples(&self.samples, &self.context)
    }

    fn take_final_measurement(&mut self) -> Measurement {
        let mut measurement = self.summarise_so_far();
        if self.plan.request.options.keep_samples {
            add_raw_samples(&mut measurement, &self.samples);
        }
        measurement.workloads = std::mem::take(&mut self.workload_results);
        measurement
    }

    fn report_progress(&mut self, phase: ProbePhase) {
        let rounds = self.samples.complete_round_count();
        let pause = (20 * self.report_duration).max(Duration::from_millis(100));
        // The first round and the end are reported with figures immediately, without the usual
        // pause.
        let first_or_last = rounds == 1 || phase == ProbePhase::CleaningUp;
        let due = rounds > 0 && (self.reported_at.elapsed() > pause || first_or_last);
        let (interim, histogram) = if due {
            let begun = Instant::now();
            let default = self
                .samples
                .paced_samples_of(self.samples.reference_method(), 1);
            let histogram = default
                .map(|cell| log_scale_histogram(&cell.rounds.concat()))
                .unwrap_or_default();
            let interim = self.summarise_so_far().without_caveats_decided_at_end();
            self.reported_at = Instant::now();
            self.report_duration = begun.elapsed();
            (Some(interim), histogram)
        } else {
            (None, Vec::new())
        };
        (self.report)(&ProbeProgress {
            interim,
            histogram,
            ..progress(self.plan, self.started, phase, rounds)
        });
    }
}

/// Progress without figures.
fn progress(plan: &ProbePlan, started: Instant, phase: ProbePhase, rounds: usize) -> ProbeProgress {
    let seconds = started.elapsed().as_secs_f64();
    ProbeProgress {
        phase,
        round: u32::try_from(rounds).unwrap_or(u32::MAX),
        seconds,
        share: (seconds / plan.total_seconds).min(1.0),
        remaining_seconds: (plan.total_seconds - seconds).max(0.0),
        interim: None,
        histogram: Vec::new(),
    }
}

fn plan_page_bytes(plan: &ProbePlan) -> usize {
    plan.log.page_bytes as usize
}

/// Sets the lowest CPU priority for this thread and threads that it starts later. The I/O priority
/// follows if the disk's scheduler has priorities (ioprio_set(2), "derived from the nice value").
fn lower_priority() -> Result<(), ProbeError> {
    let failed = |errno| {
        ProbeError::new(format!(
            "lowering the priority failed: {errno}; nothing was written"
        ))
    };
    rustix::process::setpriority_process(None, 19).map_err(failed)
}

/// The median cost of two clock readings, in microseconds.
fn measure_clock_cost_us() -> f64 {
    let pair = |_| Instant::now().elapsed().as_nanos() as f64 / 1e3;
    median_of(&(0..201).map(pair).collect::<Vec<_>>())
}
