//! The record of a trial: everything that was done and measured, so that others can judge it again.
//! It is `trial.json`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::candidate::Contender;
use super::contest::PairedFigures;
use super::load::TrialLoad;
use super::looks::Ending;
use crate::text::safe;

/// The version of the format.
pub const FORMAT: u32 = 1;

/// The largest number of candidates, and of loads.
const MOST: usize = 64;
/// More blocks than a day has room for.
const MOST_BLOCKS: usize = 20_000;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// The version of the format: [`FORMAT`].
    pub trial: u32,
    /// The walwise that made it.
    pub walwise: String,
    /// When it began, RFC 3339.
    pub started: String,
    pub ending: Ending,
    /// Seconds it took.
    pub seconds: f64,
    /// The budget in seconds.
    pub budget: f64,
    pub seed: u64,
    #[serde(default)]
    pub extent: ExtentKind,
    /// The directory of the loop file, or the node of the disk.
    pub directory: String,
    /// Bytes of the extent.
    pub bytes: u64,
    /// The type of the file system that holds the loop file; empty on a disk.
    pub host_filesystem: String,
    /// The disks below it, by kernel name.
    pub leaves: Vec<String>,
    /// The host, its kernel and the stack below the directory, a line for each fact, as a drill
    /// records them.
    pub stack: Vec<String>,
    /// Seconds of each load in a cell.
    pub load_seconds: f64,
    pub loads: Vec<TrialLoad>,
    /// The candidates, the reference first.
    pub candidates: Vec<CandidateRecord>,
    /// The blocks, complete or not.
    pub blocks: Vec<TrialBlock>,
}

/// What the extent of a trial is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExtentKind {
    #[default]
    Loop,
    /// The beginning of a disk or partition.
    Disk,
}

impl ExtentKind {
    /// How many cells of a block are no candidate's: the twin, the bare extent, and the host's file
    /// below a loop device.
    pub fn other_cells(self) -> usize {
        match self {
            Self::Loop => 3,
            Self::Disk => 2,
        }
    }
}

/// A candidate as it was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateRecord {
    pub candidate: Contender,
    /// The program and arguments that made it, without the device.
    pub mkfs: Vec<String>,
    /// The version of the program, as it prints it.
    pub version: String,
    pub mount: String,
}

/// A block: every candidate once, in random order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialBlock {
    /// The cells in the order in which they ran.
    pub cells: Vec<TrialCell>,
    /// Bytes that were written to the extent meanwhile.
    pub written: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runner {
    /// The candidate of this number.
    Candidate(usize),
    Twin,
    Floor,
    /// The loop file directly, beside what the loop device shows; a disk has none.
    Host,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialCell {
    pub runner: Runner,
    /// A sample for each load, in the order of the record; the floor and the host's file have one.
    pub samples: Vec<Sample>,
    /// Why it failed; `None` where it did not.
    pub error: Option<String>,
}

/// The figures of a load in a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub commits: u64,
    /// Seconds they took together.
    pub seconds: f64,
    /// The median latency of a commit in microseconds.
    pub p50_us: f64,
    /// The 99th percentile of it.
    pub p99_us: f64,
    /// Flushes that our own device counted meanwhile; `None` where it does not count.
    pub flushes: Option<u64>,
    /// Flushes that the disks below counted, which may be others' too.
    pub leaf_flushes: Option<u64>,
    /// Calls that asked for one of these flushes: fewer than commits where sessions share them.
    pub calls: u64,
}

impl TrialCell {
    /// Whether a trial of so many loads can have made it.
    fn is_possible(&self, loads: usize) -> bool {
        self.samples.len() <= loads.max(1) && self.samples.iter().all(|sample| sample.seconds > 0.0)
    }
}

impl Sample {
    /// Commits per second; half a commit where none ended in time, so that a block that was this
    /// slow counts as one.
    pub fn rate(&self) -> f64 {
        (self.commits as f64).max(0.5) / self.seconds.max(1e-9)
    }
}

impl TrialRecord {
    /// The record in a document; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut record: Self =
            serde_json::from_str(text).map_err(|e| format!("it is no record of a trial: {e}"))?;
        record.is_possible()?;
        record.make_safe();
        Ok(record)
    }

    /// Whether a trial can have made it; the error says what is wrong with it.
    fn is_possible(&self) -> Result<(), String> {
        if self.trial != FORMAT {
            return Err(format!(
                "it is a record of format {}, and this walwise reads {FORMAT}",
                self.trial
            ));
        }
        if self.candidates.len() > MOST || self.loads.len() > MOST {
            return Err(format!(
                "it has more than {MOST} candidates or loads, and no trial has so many"
            ));
        }
        let made: BTreeSet<&str> = self
            .candidates
            .iter()
            .map(|made| made.candidate.word())
            .collect();
        if made.len() != self.candidates.len() {
            return Err("it has a candidate twice".to_owned());
        }
        let cells = self.candidates.len() + self.extent.other_cells();
        let is_whole = |block: &TrialBlock| {
            block.cells.len() <= cells
                && block
                    .cells
                    .iter()
                    .all(|cell| cell.is_possible(self.loads.len()))
        };
        if self.blocks.len() > MOST_BLOCKS || !self.blocks.iter().all(is_whole) {
            return Err("it has blocks as no trial makes them".to_owned());
        }
        Ok(())
    }

    /// Makes all texts display-safe: anybody can have written the file.
    fn make_safe(&mut self) {
        let made = self.candidates.iter_mut();
        let of_candidates = made.flat_map(|made| {
            made.mkfs
                .iter_mut()
                .chain([&mut made.version, &mut made.mount])
        });
        let cells = self.blocks.iter_mut().flat_map(|block| &mut block.cells);
        let errors = cells.filter_map(|cell| cell.error.as_mut());
        let own = [
            &mut self.walwise,
            &mut self.started,
            &mut self.directory,
            &mut self.host_filesystem,
        ];
        let lists = self.leaves.iter_mut().chain(&mut self.stack);
        for text in own
            .into_iter()
            .chain(lists)
            .chain(of_candidates)
            .chain(errors)
        {
            *text = safe(text.as_bytes());
        }
    }

    /// The candidates that are ranked, by number: those that promise commits and failed in no cell.
    /// The reference is the first.
    pub fn ranked(&self) -> Vec<usize> {
        let numbered = self.candidates.iter().enumerate();
        let promising = numbered
            .filter(|(at, made)| made.candidate.promises_commits() && self.failure(*at).is_none());
        promising
            .map(|(at, _)| at)
            .filter(|at| !self.promise(*at).is_broken())
            .collect()
    }

    /// The first failure of a candidate.
    pub fn failure(&self, candidate: usize) -> Option<&str> {
        let cells = self.blocks.iter().flat_map(|block| &block.cells);
        let mut own = cells.filter(|cell| cell.runner == Runner::Candidate(candidate));
        own.find_map(|cell| cell.error.as_deref())
    }

    /// The samples of a runner for a load, block by block; `None` in a block that lacks it.
    pub fn samples(&self, runner: Runner, load: usize) -> Vec<Option<Sample>> {
        let of = |block: &TrialBlock| {
            let cell = block
                .cells
                .iter()
                .find(|cell| cell.runner == runner && cell.error.is_none())?;
            cell.samples.get(load).copied()
        };
        self.blocks.iter().map(of).collect()
    }

    /// The logarithms of throughput of some candidates in the blocks in which they and the twin are
    /// complete.
    pub fn figures(&self, candidates: &[usize], load: usize) -> PairedFigures {
        let rows: Vec<Vec<Option<Sample>>> = candidates
            .iter()
            .map(|at| Runner::Candidate(*at))
            .chain([Runner::Twin])
            .map(|runner| self.samples(runner, load))
            .collect();
        let rate = |row: &[Option<Sample>], block: usize| {
            row.get(block)
                .copied()
                .flatten()
                .map(|sample| sample.rate())
                .filter(|rate| *rate > 0.0)
        };
        let complete: Vec<usize> = (0..self.blocks.len())
            .filter(|block| rows.iter().all(|row| rate(row, *block).is_some()))
            .collect();
        let logs = |row: &Vec<Option<Sample>>| {
            complete
                .iter()
                .filter_map(|block| rate(row, *block).map(f64::ln))
                .collect::<Vec<f64>>()
        };
        let mut all: Vec<Vec<f64>> = rows.iter().map(logs).collect();
        let twin = all.pop().unwrap_or_default();
        PairedFigures {
            candidates: all,
            twin,
        }
    }
}
