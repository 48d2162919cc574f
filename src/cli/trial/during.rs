//! During a trial: the loop file or the disk, the recipes of the candidates, and blocks until it is
//! settled or over.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::anyhow;

use super::after;
use super::before::TrialPlan;
use super::progress::TrialProgress;
use crate::cells::{self, Arena, AttachedLoop, MeasureOrder, News, TrialPlace};
use crate::cli::args::{From, TrialFormat};
use crate::cli::signals::Listener;
use crate::cli::{CliError, host, out};
use crate::facts::Scope;
use crate::probes::Control;
use crate::text;
use crate::trial::{
    CandidateRecord, Contender, Ending, ExtentKind, TrialRecord, mkfs_of_trials, mount_of_trials,
};

/// How long one wait for news is; signals are looked for between.
const MOMENT: Duration = Duration::from_millis(200);

pub(super) enum Ended {
    Whole,
    Signal(i32),
    /// By an error: a sentence.
    Failed(String),
}

/// Runs a trial; an error where nothing at all was measured.
pub(super) fn run(plan: TrialPlan, format: TrialFormat) -> Result<(TrialRecord, Ended), CliError> {
    let listener = Listener::start()?;
    // A disk is judged before it is taken: then it holds the mark of the trial.
    let disk = match &plan.job.place {
        TrialPlace::Disk(disk) => Some(disk.clone()),
        TrialPlace::Directory(_) => None,
    };
    let named = disk
        .as_ref()
        .map(|disk| recipes(&disk.node, &plan.candidates))
        .transpose();
    let named = named.map_err(|why| anyhow!("no trial: {why}; nothing was written"))?;
    let mut trial = RunningTrial {
        arena: Arena::open(&plan.job)
            .map_err(|e| anyhow!("cannot start the process that measures: {e}"))?,
        control: listener.control(),
        progress: TrialProgress::new(format),
        left: false,
        writes: plan.job.writes,
        // A disk is cleared at the end.
        written: plan.job.bytes + if disk.is_some() { 0 } else { cells::TAIL },
        record: plan.record,
        begun: Instant::now(),
    };
    let mut attached = None;
    let mut done = trial.device().and_then(|device| {
        trial.record.candidates = if let Some(named) = named {
            named
        } else {
            attached = Some(AttachedLoop::of(&device));
            recipes(&device, &plan.candidates)?
        };
        trial.progress.begin(&trial.record);
        trial.blocks()
    });
    if trial.left {
        (trial.record.ending, done) = (Ending::Stopped, Ok(()));
        trial.progress.show("ending: removing what the trial made");
        trial.progress.turn(trial.rest());
    }
    let RunningTrial {
        arena,
        mut progress,
        mut record,
        begun,
        ..
    } = trial;
    // Everything is gone before anything is said of it.
    let cleared = after::close(arena, disk.as_ref(), &mut |line| progress.show(line));
    attached.iter().for_each(AttachedLoop::wait_until_gone);
    drop(progress);
    let signal = listener.ended();
    if let (Some(_), Err(why)) = (signal, &cleared) {
        // A signal ends with its own code, and what is left on a disk is told all the same.
        out::notice(why);
    }
    let done = match (done, cleared) {
        (done, Ok(())) => done,
        (Ok(()), Err(why)) => Err(why),
        (Err(why), Err(also)) => Err(format!("{why}; {also}")),
    };
    let ending = if done.is_ok() {
        record.ending
    } else {
        Ending::Stopped
    };
    record.ended(ending, begun.elapsed().as_secs_f64());
    match (signal, done) {
        (Some(number), _) => Ok((record, Ended::Signal(number))),
        (None, Ok(())) => Ok((record, Ended::Whole)),
        (None, Err(why)) if record.blocks.is_empty() => Err(anyhow!("no trial: {why}").into()),
        (None, Err(why)) => Ok((record, Ended::Failed(why))),
    }
}

struct RunningTrial {
    arena: Arena,
    control: Control,
    progress: TrialProgress,
    left: bool,
    writes: u64,
    record: TrialRecord,
    begun: Instant,
    written: u64,
}

impl RunningTrial {
    /// The next news; `None` when its time is over, whatever the inside is doing. The error is a
    /// sentence.
    fn hear(&mut self) -> Result<Option<News>, String> {
        loop {
            self.left |= self.progress.turn(self.rest());
            if self.left || self.control.is_cancelled() {
                return Err("it was stopped".to_owned());
            }
            if self.begun.elapsed().as_secs_f64() > self.record.budget {
                return Ok(None);
            }
            match self.arena.recv(MOMENT)? {
                Some(News::Failed(why)) => return Err(text::safe(why.as_bytes())),
                Some(news) => return Ok(Some(news)),
                None => {}
            }
        }
    }

    /// The most seconds that are left.
    fn rest(&self) -> f64 {
        (self.record.budget - self.begun.elapsed().as_secs_f64()).max(0.0)
    }

    /// Waits for the extent; returns the path of its device.
    fn device(&mut self) -> Result<String, String> {
        loop {
            match self.hear()? {
                Some(News::Prepared(bytes)) => {
                    let bytes = text::bytes(bytes);
                    self.progress.show(&match self.record.extent {
                        ExtentKind::Loop => {
                            let all = text::bytes(self.record.bytes + cells::TAIL);
                            format!("writing the loop file: {bytes} of {all}")
                        }
                        ExtentKind::Disk => {
                            format!(
                                "checking that the disk is free: {bytes} of {}",
                                text::bytes(self.record.bytes)
                            )
                        }
                    });
                }
                Some(News::Ready(device)) => return Ok(device),
                Some(
                    News::Cell { .. }
                    | News::Block(_)
                    | News::Failed(_)
                    | News::Clearing(_)
                    | News::Cleared,
                ) => {
                    return Err("it measures before it may".to_owned());
                }
                None => {
                    let what = match self.record.extent {
                        ExtentKind::Loop => "write the loop file",
                        ExtentKind::Disk => "read the disk",
                    };
                    return Err(format!(
                        "its time is too short to {what}: name a longer --budget"
                    ));
                }
            }
        }
    }

    /// Blocks until it is settled, its budget is used up, or it is stopped.
    fn blocks(&mut self) -> Result<(), String> {
        let TrialRecord {
            candidates,
            loads,
            load_seconds,
            ..
        } = &self.record;
        let order = MeasureOrder {
            candidates: candidates.clone(),
            loads: loads.clone(),
            load_seconds: *load_seconds,
        };
        self.arena
            .measure(order)
            .map_err(|e| format!("cannot go on: {e}"))?;
        let (cells, first, before) = (
            self.record.candidates.len() + self.record.extent.other_cells(),
            Instant::now(),
            self.written,
        );
        loop {
            match self.hear()? {
                Some(News::Cell { nth, written }) if self.written + written <= self.writes => {
                    let block = self.record.blocks.len() + 1;
                    let says = self.progress.cell(block, nth, cells, self.rest());
                    self.progress.show(&says);
                    continue;
                }
                // What is left of the block is given up.
                Some(News::Cell { .. }) => return self.over("bytes: name more --writes"),
                None => return self.over("time: name a longer --budget"),
                Some(News::Block(block)) => {
                    self.written += block.written;
                    self.record.blocks.push(block);
                    self.progress.learn(&self.record);
                }
                Some(
                    News::Prepared(_)
                    | News::Ready(_)
                    | News::Failed(_)
                    | News::Clearing(_)
                    | News::Cleared,
                ) => continue,
            }
            let done = self.record.blocks.len();
            self.record.seconds = self.begun.elapsed().as_secs_f64();
            let (each, bytes) = match u32::try_from(done) {
                Ok(blocks) if blocks > 0 => (
                    first.elapsed() / blocks,
                    (self.written - before) / u64::from(blocks),
                ),
                Ok(_) | Err(_) => (Duration::ZERO, 0),
            };
            // A block that cannot be finished is not begun.
            let over = self.record.seconds + each.as_secs_f64() > self.record.budget
                || self.written + bytes > self.writes;
            if self.record.is_settled() {
                self.record.ending = Ending::Settled;
                return Ok(());
            }
            if over {
                return self.over("time or bytes");
            }
        }
    }

    /// Ends it where its time or its bytes are used up; an error before the first block.
    fn over(&mut self, what: &str) -> Result<(), String> {
        if self.record.blocks.is_empty() {
            return Err(format!("a single block needs more {what}"));
        }
        self.record.ending = Ending::Budget;
        Ok(())
    }
}

/// The candidates as walwise would make them on this very device, with what the measurement needs;
/// the error is a sentence.
fn recipes(device: &str, candidates: &[Contender]) -> Result<Vec<CandidateRecord>, String> {
    let look = || -> Result<_, CliError> {
        let rules = host::rules(None)?;
        host::look(&From::default(), Some(Path::new(device)), rules)
    };
    let mut session = look().map_err(|_| format!("cannot look at {device}"))?;
    let target = session
        .read
        .subjects(Scope::Target)
        .next()
        .cloned()
        .ok_or("there is no target")?;
    let mut found = Vec::new();
    for candidate in candidates {
        let filesystem = candidate.filesystem();
        let Some(maker) = cells::maker(filesystem) else {
            continue;
        };
        let recipe = match session.recipe(&target, filesystem) {
            Ok(recipe) => recipe,
            Err(why) if !found.is_empty() => {
                out::notice(&format!("without {}: {why}", candidate.word()));
                continue;
            }
            Err(why) => return Err(format!("{}: {why}", candidate.word())),
        };
        let own = mkfs_of_trials(filesystem)
            .iter()
            .chain(candidate.mkfs())
            .map(|word| (*word).to_owned());
        let program = [maker.name().to_owned()].into_iter();
        found.push(CandidateRecord {
            candidate: *candidate,
            mkfs: program.chain(recipe.mkfs).chain(own).collect(),
            version: cells::version(maker)?,
            mount: mount_of_trials(&recipe.mount, candidate.mount()),
        });
    }
    if found.is_empty() {
        Err("no candidate is left".to_owned())
    } else {
        Ok(found)
    }
}
