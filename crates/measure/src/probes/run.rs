//! Runs a probe's plan: creates the scratch directory, warms up, measures rounds and workloads, and
//! removes the directory. In a round, each method first commits back to back. Then the server's
//! methods commit with pauses for three times as long. These paced commits decide which method is
//! best.
//!
//! A cancelled run finishes the current commit, or the current chunk of a file that it fills, and
//! then removes the directory. A system call that waits for the disk cannot be interrupted.
//!
//! An incomplete back-to-back round is discarded, because a comparison needs every method.

use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::commit_writer::{AlignedBuffer, CommitTiming, CommitWriter, CyclicWriteCursor};
use super::plan::ProbePlan;
use super::scratch::ScratchDirectory;
use super::workload::{self, WorkloadContext};
use super::{
    CancelHandle, CpuTicks, DiskCounterReader, DiskCounters, PAUSE_BEFORE_COMMIT, ProbeError, Rng,
    StopReason, commits_per_round, open_flags, suspended_time_since_boot,
};
use crate::measure::{
    DiskTraffic, FlushAndCommitCounts, Measurement, MethodSamples, ProbePhase, ProbeProgress,
    ProbeSamples, SampleContext, Workload, WorkloadResult, add_raw_samples, log_scale_histogram,
    median_of, summarise_samples,
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
    let mut rng = Rng::new(plan.request.seed);
    let pages = AlignedBuffer::random(random_content_bytes(plan), &mut rng);
    let disks = DiskCounterReader::new(&plan.request.leaves);
    let mut run = ProbeRun::new(plan, control, tell, (&pages, &disks, rng));
    let (processors, suspended) = (CpuTicks::read(), suspended_time_since_boot());
    let outcome = run.measure_all();
    let stolen = processors.zip(CpuTicks::read());
    run.context.steal_percent =
        stolen.and_then(|(before, after)| CpuTicks::steal_percent(before, after));
    let suspended = suspended_time_since_boot().saturating_sub(suspended);
    run.context.suspended_seconds = suspended.as_secs_f64();
    run.context.cancelled = matches!(outcome, Err(StopReason::Cancelled));
    match outcome {
        Ok(()) | Err(StopReason::BudgetExhausted | StopReason::Cancelled) => {
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
    disks: &'a DiskCounterReader,
    rng: Rng,
    pages: &'a AlignedBuffer,
    buffered: CyclicWriteCursor,
    direct: CyclicWriteCursor,
    /// One writer per method and write size, in the order of `samples.cells`; `None` if the
    /// combination cannot be measured.
    writers: Vec<Option<CellWriter>>,
    workload_results: Vec<WorkloadResult>,
}

struct CellWriter {
    writer: CommitWriter,
    /// Bytes per commit.
    bytes: usize,
    /// Latest median latency of a commit, in microseconds.
    cost_us: f64,
}

const MAX_WORKLOAD_WRITE: usize = 256 << 10;

/// The time limit applies to the end of the last commit, so commits stop this long before.
const END_MARGIN: Duration = Duration::from_millis(20);

impl<'a> ProbeRun<'a> {
    fn new(
        plan: &'a ProbePlan,
        control: &'a CancelHandle,
        tell: &'a mut dyn FnMut(&ProbeProgress),
        (pages, disks, rng): (&'a AlignedBuffer, &'a DiskCounterReader, Rng),
    ) -> Self {
        let cells = plan
            .rows
            .iter()
            .map(|row| MethodSamples::new(row.method, row.pages, row.as_server))
            .collect();
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
            samples: ProbeSamples { cells },
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
            disks,
            rng,
            pages,
            buffered: CyclicWriteCursor::new(0, half),
            direct: CyclicWriteCursor::new(plan.file_bytes - half, plan.file_bytes),
            writers: Vec::new(),
            workload_results: Vec::new(),
        }
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
            let mut stage = self.workload_context(scratch, self.started);
            stage.deadline -= END_MARGIN;
            let outcome = self.measure_methods(&stage);
            self.context.bytes_written = stage.bytes_written();
            match outcome {
                Ok(()) | Err(StopReason::BudgetExhausted) => {}
                stop => return stop,
            }
            self.writers.clear();
        }
        for workload in &self.plan.request.workloads {
            scratch.remove_files()?;
            self.run_workload(*workload, scratch)?;
        }
        Ok(())
    }

    fn workload_context<'s>(
        &self,
        scratch: &'s ScratchDirectory,
        begun: Instant,
    ) -> WorkloadContext<'s>
    where
        'a: 's,
    {
        WorkloadContext {
            scratch,
            pages: self.pages,
            file_bytes: self.plan.file_bytes,
            control: self.control,
            disks: self.plan.request.leaves_count_flushes.then_some(self.disks),
            begun,
            deadline: begun + Duration::from_secs_f64(self.plan.seconds),
            max_bytes: self.plan.max_bytes,
            written: AtomicU64::new(0),
            generator_time_limit: Duration::ZERO,
            generator_byte_limit: 0,
        }
    }

    fn run_workload(
        &mut self,
        workload: Workload,
        scratch: &ScratchDirectory,
    ) -> Result<(), StopReason> {
        let mut stage = self.workload_context(scratch, Instant::now());
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
            (&self.plan.request.server, &self.plan.request.commits),
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

    fn measure_traffic_before_probe(&mut self) -> Result<(), StopReason> {
        let Some(before) = self.disks.read() else {
            return Ok(());
        };
        let begun = Instant::now();
        let moment = Duration::from_secs_f64((self.plan.seconds / 50.0).min(0.1));
        while begun.elapsed() < moment {
            if self.control.is_cancelled() {
                return Err(StopReason::Cancelled);
            }
            std::thread::sleep(moment.min(Duration::from_millis(10)));
        }
        self.context.idle_traffic = self.disk_traffic_since(before, begun);
        Ok(())
    }

    fn disk_traffic_since(&self, before: DiskCounters, begun: Instant) -> Option<DiskTraffic> {
        let after = self.disks.read()?;
        Some(DiskTraffic {
            seconds: begun.elapsed().as_secs_f64(),
            read: after.read.saturating_sub(before.read),
            written: after.written.saturating_sub(before.written),
            ..DiskTraffic::default()
        })
    }

    fn measure_methods(&mut self, stage: &WorkloadContext<'_>) -> Result<(), StopReason> {
        let file = stage.create_zeroed_file(WAL_FILE)?;
        self.open_writer_per_method_and_size(stage)?;
        self.estimate_commit_costs(stage)?;
        loop {
            let before = self.disks.read();
            let (begun, ours) = (Instant::now(), stage.bytes_written());
            let round = self.run_back_to_back_round(stage)?;
            let paced = self.run_paced_round(stage, 3 * begun.elapsed());
            stage.scratch.check_file_not_removed(&file)?;
            let traffic = before.and_then(|before| self.disk_traffic_since(before, begun));
            let mut flushed = 0;
            let cells = self.samples.cells.iter_mut().zip(&mut self.writers);
            for ((cell, writer), times) in cells.zip(round) {
                if let Some(writer) = writer {
                    if cell.method.is_durable() {
                        flushed += times.len() as u64 * writer.bytes as u64;
                    }
                    writer.cost_us = median_of(&times);
                    cell.rounds.push(times);
                }
            }
            self.context
                .traffic
                .extend(traffic.map(|traffic| DiskTraffic {
                    own_written: stage.bytes_written() - ours,
                    flushed,
                    ..traffic
                }));
            paced?;
            self.context.bytes_written = stage.bytes_written();
            self.report_progress(ProbePhase::Rounds);
        }
    }

    /// If the kernel refuses or buffers O_DIRECT, only the cells with O_DIRECT get an error. A disk
    /// with blocks larger than a page refuses direct writes of a page.
    fn open_writer_per_method_and_size(
        &mut self,
        stage: &WorkloadContext<'_>,
    ) -> Result<(), StopReason> {
        let middle = stage.file_bytes / 2;
        for cell in &mut self.samples.cells {
            let bytes = cell.pages as usize * plan_page_bytes(self.plan);
            let is_direct = cell.method.is_direct();
            if is_direct {
                stage.reserve_bytes(bytes as u64)?;
            }
            let opened = match stage.scratch.open_file(WAL_FILE, open_flags(cell.method)) {
                Err(Errno::INVAL | Errno::OPNOTSUPP) if is_direct => {
                    Err("the file system refuses O_DIRECT".to_owned())
                }
                Err(errno) => return Err(stage.failure("opening the scratch file")(errno)),
                Ok(file) => Ok(CommitWriter::new(cell.method, file)),
            };
            let tested = opened.and_then(|writer| {
                if !is_direct {
                    Ok(writer)
                } else if writer.is_direct_io_buffered_by_test_write(self.pages, middle) {
                    Err("the file system buffers O_DIRECT writes".to_owned())
                } else if writer.write_unflushed(self.pages.first_bytes(bytes), middle)
                    == Err(Errno::INVAL)
                {
                    let size = self.plan.log.page_size_text();
                    Err(format!("the disk refuses O_DIRECT writes of {size}"))
                } else {
                    Ok(writer)
                }
            });
            cell.error = tested.as_ref().err().cloned();
            self.writers.push(tested.ok().map(|writer| CellWriter {
                writer,
                bytes,
                cost_us: 0.0,
            }));
        }
        Ok(())
    }

    /// Makes a few commits with each method and write size. Their latencies only serve to estimate
    /// how many commits fit into a round.
    fn estimate_commit_costs(&mut self, stage: &WorkloadContext<'_>) -> Result<(), StopReason> {
        self.report_progress(ProbePhase::WarmUp);
        for i in 0..self.writers.len() {
            let begun = Instant::now();
            let mut times = Vec::new();
            while times.len() < 8
                && (times.is_empty() || begun.elapsed() < Duration::from_millis(10))
                && let Some(done) = self.write_timed_commit(stage, i)?
            {
                times.push(done.micros);
            }
            self.flush_pages_of_unflushed_method(stage, i)?;
            if let Some(Some(writer)) = self.writers.get_mut(i) {
                writer.cost_us = median_of(&times);
            }
        }
        Ok(())
    }

    /// Returns the latencies of each method and write size, in the order of `samples.cells`; a cell
    /// with an error has none.
    fn run_back_to_back_round(
        &mut self,
        stage: &WorkloadContext<'_>,
    ) -> Result<Vec<Vec<f64>>, StopReason> {
        let cells = self.samples.cells.len();
        let share_us = (1e6 * self.plan.seconds / 64.0).clamp(5e3, 150e3) / cells as f64;
        let generator_byte_limit =
            (self.plan.max_bytes - self.plan.file_bytes) / (64 * cells as u64);
        let mut round = vec![Vec::new(); cells];
        for (i, times) in self.rng.shuffled(round.iter_mut().enumerate()) {
            let Some(Some(writer)) = self.writers.get(i) else {
                continue;
            };
            let count = commits_per_round(
                writer.cost_us,
                share_us,
                writer.bytes as u64,
                generator_byte_limit,
            );
            // The first commit after another method can include deferred work of that method, so it
            // is not timed if eight or more commits follow.
            let first = usize::from(count >= 8);
            let (outcome, _, flushes) = stage.time_and_count_flushes(|| {
                for nth in 0..count + first {
                    let done = self.write_timed_commit(stage, i)?;
                    let valid = done.filter(|done| nth >= first && !done.interrupted);
                    times.extend(valid.map(|done| done.micros));
                }
                Ok::<_, StopReason>(())
            });
            outcome?;
            if let (Some(flushes), Some(cell)) = (flushes, self.samples.cells.get_mut(i))
                && cell.method.has_counted_flushes()
            {
                let counts = cell
                    .flushes
                    .get_or_insert_with(FlushAndCommitCounts::default);
                counts.flushes += flushes;
                counts.commits += (count + first) as u64;
            }
            self.flush_pages_of_unflushed_method(stage, i)?;
            if times.is_empty() {
                return Err(StopReason::BudgetExhausted);
            }
        }
        Ok(round)
    }

    fn run_paced_round(
        &mut self,
        stage: &WorkloadContext<'_>,
        time: Duration,
    ) -> Result<(), StopReason> {
        let begun = Instant::now();
        let is_paced = |cell: &MethodSamples| {
            let wanted = cell.pages == 1 || self.plan.request.all_paced;
            wanted && cell.as_server && cell.method.is_durable() && cell.error.is_none()
        };
        let cells = self.samples.cells.iter().enumerate();
        let paced: Vec<usize> = cells
            .filter_map(|(i, cell)| is_paced(cell).then_some(i))
            .collect();
        let mut turns = 0_u32;
        let mut round = vec![Vec::new(); self.samples.cells.len()];
        let mut outcome = Ok(());
        while !paced.is_empty()
            && outcome.is_ok()
            && (turns == 0 || begun.elapsed() + begun.elapsed() / turns <= time)
        {
            match self.commit_once_with_each_paced_method(stage, &paced) {
                Ok(turn) if turn.iter().any(|(_, done)| done.interrupted) => {}
                Ok(turn) => {
                    for (i, done) in turn {
                        if let Some(times) = round.get_mut(i) {
                            times.push(done.micros);
                        }
                    }
                }
                Err(stop) => outcome = Err(stop),
            }
            turns += 1;
        }
        for (cell, times) in self.samples.cells.iter_mut().zip(round) {
            if !times.is_empty() {
                cell.paced.push(times);
            }
        }
        outcome
    }

    /// Makes one paced commit with each method, in random order, because a commit can include
    /// deferred work of the previous one. Each commit has the index of its cell.
    fn commit_once_with_each_paced_method(
        &mut self,
        stage: &WorkloadContext<'_>,
        paced: &[usize],
    ) -> Result<Vec<(usize, CommitTiming)>, StopReason> {
        let mut turn = Vec::new();
        for i in self.rng.shuffled(paced.iter().copied()) {
            stage.check_cancelled_and_time_limit()?;
            std::thread::sleep(PAUSE_BEFORE_COMMIT);
            if let Some(done) = self.write_timed_commit(stage, i)? {
                turn.push((i, done));
            }
        }
        Ok(turn)
    }

    /// `None` for a cell that cannot be measured.
    fn write_timed_commit(
        &mut self,
        stage: &WorkloadContext<'_>,
        i: usize,
    ) -> Result<Option<CommitTiming>, StopReason> {
        let Some(Some(cell)) = self.writers.get(i) else {
            return Ok(None);
        };
        stage.reserve_bytes(cell.bytes as u64)?;
        let method = cell.writer.method;
        let cursor = if method.is_direct() {
            &mut self.direct
        } else {
            &mut self.buffered
        };
        let offset = cursor.next_write_offset(cell.bytes);
        let pages = stage.pages.first_bytes(cell.bytes);
        let done = cell.writer.write_and_flush_timed(pages, offset);
        done.map(Some)
            .map_err(|errno| stage.failure(&format!("a commit with {}", method.name()))(errno))
    }

    fn flush_pages_of_unflushed_method(
        &self,
        stage: &WorkloadContext<'_>,
        i: usize,
    ) -> Result<(), StopReason> {
        match self.writers.get(i) {
            Some(Some(cell)) if !cell.writer.method.is_durable() => cell
                .writer
                .flush_cached_pages()
                .map_err(stage.failure("flushing the scratch file")),
            _ => Ok(()),
        }
    }

    fn summarise_so_far(&mut self) -> Measurement {
        self.context.seconds = self.started.elapsed().as_secs_f64();
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
        // The first figures must not wait for the pause, and the last must include every round.
        let first_or_last = rounds == 1 || phase == ProbePhase::CleaningUp;
        let due = rounds > 0 && (self.reported_at.elapsed() > pause || first_or_last);
        let (interim, histogram) = if due {
            let begun = Instant::now();
            let histogram = log_scale_histogram(&self.samples.paced_reference_commits());
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

fn random_content_bytes(plan: &ProbePlan) -> usize {
    let pages = plan.rows.iter().map(|row| row.pages as usize).max();
    let commit = pages.unwrap_or(1) * plan_page_bytes(plan);
    if plan.request.workloads.is_empty() {
        commit
    } else {
        commit.max(MAX_WORKLOAD_WRITE)
    }
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
