//! Runs a trial until its result is settled, its budget is used up, or the user stops it.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::anyhow;

use super::clear_disk;
use super::preflight::TrialPlan;
use super::progress::TrialProgressOutput;
use crate::cli::args::{HostArgs, TrialFormat};
use crate::cli::signals::SignalListener;
use crate::cli::{CliError, host, out};
use crate::facts::Scope;
use crate::probes::CancelHandle;
use crate::text;
use crate::trial::{
    Candidate, CandidateRecord, ExtentKind, TrialRecord, TrialState, trial_mkfs_options,
    trial_mount_options,
};
use crate::trial_runner::{
    self, LoopDeviceIdentity, MeasureRequest, TrialEvent, TrialHandle, TrialPlace,
};

const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(super) enum TrialExit {
    Complete,
    Signal(i32),
    Failed(String),
}

pub(super) fn run_trial(
    plan: TrialPlan,
    format: TrialFormat,
) -> Result<(TrialRecord, TrialExit), CliError> {
    let listener = SignalListener::start()?;
    // The mkfs commands for a disk are planned before the trial starts, because the mark that the
    // trial writes makes the disk count as occupied.
    let (disk, named) = match &plan.job.place {
        TrialPlace::Disk(disk) => {
            let named = plan_candidates_on_device(&disk.node, &plan.candidates)
                .map_err(|why| anyhow!("the trial did not start: {why}; nothing was written"))?;
            (Some(disk.clone()), Some(named))
        }
        TrialPlace::Directory(_) => (None, None),
    };
    let mut trial = RunningTrial {
        runner: TrialHandle::start_trial(&plan.job)
            .map_err(|e| anyhow!("cannot start the measuring process: {e}"))?,
        control: listener.cancel_handle(),
        progress: TrialProgressOutput::new(),
        has_quit: false,
        writes: plan.job.writes,
        // Bytes that are written outside blocks are counted in advance. A loop file is filled at
        // the start; the area on a disk is cleared at the end.
        written: plan.job.bytes
            + if disk.is_some() {
                0
            } else {
                trial_runner::TAIL_BYTES
            },
        record: plan.record,
        begun: Instant::now(),
    };
    let mut attached = None;
    let mut done = trial.wait_for_device().and_then(|device| {
        trial.record.candidates = if let Some(named) = named {
            named
        } else {
            attached = Some(LoopDeviceIdentity::read_by_device_path(&device));
            plan_candidates_on_device(&device, &plan.candidates)?
        };
        trial.progress.switch_to_screen(format, &trial.record);
        trial.measure_trial_blocks()
    });
    if trial.has_quit {
        (trial.record.ending, done) = (TrialState::Stopped, Ok(()));
        trial
            .progress
            .show_status("stopping: removing the trial's data");
        trial.progress.draw_and_poll_quit(trial.seconds_left());
    }
    let RunningTrial {
        runner,
        mut progress,
        mut record,
        begun,
        ..
    } = trial;
    // Cleanup comes before any message, so that a failing message cannot prevent it.
    let cleared = clear_disk::close_trial_and_clear_disk(runner, disk.as_ref(), &mut |line| {
        progress.show_status(line);
    });
    attached
        .iter()
        .for_each(LoopDeviceIdentity::wait_until_detached);
    drop(progress);
    let signal = listener.stop_and_take_signal();
    if let (Some(_), Err(why)) = (signal, &cleared) {
        // The exit code is the signal's, so the failed cleanup is reported here.
        out::print_notice(why);
    }
    let done = match (done, cleared) {
        (done, Ok(())) => done,
        (Ok(()), Err(why)) => Err(why),
        (Err(why), Err(also)) => Err(format!("{why}; {also}")),
    };
    if done.is_err() {
        record.ending = TrialState::Stopped;
    }
    record.seconds = begun.elapsed().as_secs_f64();
    match (signal, done) {
        (Some(number), _) => Ok((record, TrialExit::Signal(number))),
        (None, Ok(())) => Ok((record, TrialExit::Complete)),
        (None, Err(why)) if record.blocks.is_empty() => {
            Err(anyhow!("the trial failed: {why}").into())
        }
        (None, Err(why)) => Ok((record, TrialExit::Failed(why))),
    }
}

struct RunningTrial {
    runner: TrialHandle,
    control: CancelHandle,
    progress: TrialProgressOutput,
    has_quit: bool,
    writes: u64,
    record: TrialRecord,
    begun: Instant,
    written: u64,
}

impl RunningTrial {
    /// `None` when the time budget is used up. The error states why the trial stopped.
    fn next_event_within_budget(&mut self) -> Result<Option<TrialEvent>, String> {
        loop {
            self.has_quit |= self.progress.draw_and_poll_quit(self.seconds_left());
            if self.has_quit || self.control.is_cancelled() {
                return Err("stopped by the user".to_owned());
            }
            if self.begun.elapsed().as_secs_f64() > self.record.budget {
                return Ok(None);
            }
            match self.runner.recv(POLL_INTERVAL)? {
                Some(TrialEvent::Failed(why)) => return Err(text::display_safe(why.as_bytes())),
                Some(news) => return Ok(Some(news)),
                None => {}
            }
        }
    }

    fn seconds_left(&self) -> f64 {
        (self.record.budget - self.begun.elapsed().as_secs_f64()).max(0.0)
    }

    fn wait_for_device(&mut self) -> Result<String, String> {
        loop {
            match self.next_event_within_budget()? {
                Some(TrialEvent::Prepared(bytes)) => {
                    let (doing, tail) = match self.record.extent {
                        ExtentKind::Loop => ("writing the loop file", trial_runner::TAIL_BYTES),
                        ExtentKind::Disk => ("checking that the disk is free", 0),
                    };
                    self.progress.show_status(&format!(
                        "{doing}: {} of {}",
                        text::format_bytes(bytes),
                        text::format_bytes(self.record.bytes + tail)
                    ));
                }
                Some(TrialEvent::Ready(device)) => return Ok(device),
                Some(
                    TrialEvent::Cell { .. }
                    | TrialEvent::Block(_)
                    | TrialEvent::Failed(_)
                    | TrialEvent::Clearing(_)
                    | TrialEvent::Cleared,
                ) => {
                    return Err(
                        "the measuring process sent results before its device was ready; this is a bug in walwise"
                            .to_owned(),
                    );
                }
                None => {
                    let what = match self.record.extent {
                        ExtentKind::Loop => "write the loop file",
                        ExtentKind::Disk => "read the disk",
                    };
                    return Err(format!(
                        "the budget is too short to {what}: use a longer --budget"
                    ));
                }
            }
        }
    }

    fn measure_trial_blocks(&mut self) -> Result<(), String> {
        let record = &self.record;
        let order = MeasureRequest {
            candidates: record.candidates.clone(),
            loads: record.loads.clone(),
            load_seconds: record.load_seconds,
        };
        let cells = record.candidates.len() + record.extent.control_cell_count();
        self.runner
            .request_measurement(order)
            .map_err(|e| format!("cannot send the measuring request: {e}"))?;
        let (first, before) = (Instant::now(), self.written);
        loop {
            match self.next_event_within_budget()? {
                Some(TrialEvent::Cell { nth, written })
                    if self.written + written <= self.writes =>
                {
                    let block = self.record.blocks.len() + 1;
                    let says =
                        self.progress
                            .cell_status_text(block, nth, cells, self.seconds_left());
                    self.progress.show_status(&says);
                    continue;
                }
                // The block is incomplete and is discarded.
                Some(TrialEvent::Cell { .. }) => {
                    return self.end_trial_by_budget("writes: raise --writes");
                }
                None => return self.end_trial_by_budget("time: use a longer --budget"),
                Some(TrialEvent::Block(block)) => {
                    self.written += block.written;
                    self.record.blocks.push(block);
                    self.progress.show_record(&self.record);
                }
                Some(
                    TrialEvent::Prepared(_)
                    | TrialEvent::Ready(_)
                    | TrialEvent::Failed(_)
                    | TrialEvent::Clearing(_)
                    | TrialEvent::Cleared,
                ) => continue,
            }
            self.record.seconds = self.begun.elapsed().as_secs_f64();
            if self.record.needs_no_more_blocks() {
                self.record.ending = TrialState::Settled;
                return Ok(());
            }
            let done = self.record.blocks.len() as u64;
            let seconds = first.elapsed().as_secs_f64() / done as f64;
            let bytes = (self.written - before) / done;
            // A block that would exceed the time budget or the write limit is not started.
            if self.record.seconds + seconds > self.record.budget
                || self.written + bytes > self.writes
            {
                return self.end_trial_by_budget("time or writes than allowed");
            }
        }
    }

    fn end_trial_by_budget(&mut self, what: &str) -> Result<(), String> {
        if self.record.blocks.is_empty() {
            return Err(format!("one block alone needs more {what}"));
        }
        self.record.ending = TrialState::Budget;
        Ok(())
    }
}

/// Lists the candidates with their mkfs and mount options: first the options that walwise would
/// advise for this device, then those of the trial itself. A candidate without advice is left out,
/// unless it is the first.
fn plan_candidates_on_device(
    device: &str,
    candidates: &[Candidate],
) -> Result<Vec<CandidateRecord>, String> {
    let mut session = host::load_rules_in_force(None)
        .and_then(|rules| {
            let target = Some(Path::new(device));
            host::open_host_and_collect_session(&HostArgs::default(), target, rules)
        })
        .map_err(|_| format!("cannot read {device}"))?;
    let target = session.facts.subjects_of_scope(Scope::Target).next();
    let target = target.ok_or("no target found")?.clone();
    let mut found = Vec::new();
    for candidate in candidates {
        let filesystem = candidate.filesystem();
        let Some(maker) = trial_runner::mkfs_program(filesystem) else {
            continue;
        };
        let recipe = match session.choose_filesystem_and_plan_mkfs(&target, filesystem) {
            Ok(recipe) => recipe,
            Err(why) if !found.is_empty() => {
                out::print_notice(&format!("{} is skipped: {why}", candidate.name()));
                continue;
            }
            Err(why) => return Err(format!("{}: {why}", candidate.name())),
        };
        let own = trial_mkfs_options(filesystem)
            .iter()
            .chain(candidate.extra_mkfs_options())
            .map(|word| (*word).to_owned());
        let program = [maker.as_str().to_owned()].into_iter();
        found.push(CandidateRecord {
            candidate: *candidate,
            mkfs: program.chain(recipe.mkfs).chain(own).collect(),
            version: trial_runner::read_version_line(maker)?,
            mount: trial_mount_options(&recipe.mount, candidate.extra_mount_option()),
        });
    }
    if found.is_empty() {
        Err("all candidates were skipped".to_owned())
    } else {
        Ok(found)
    }
}
