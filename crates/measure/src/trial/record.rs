//! The record of a trial, `trial.json`, contains everything done and measured, so that anyone can
//! repeat the analysis.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::comparison::PairedFigures;
use super::interim_analysis::Ending;
use super::load::TrialLoad;
use crate::text::display_safe;

pub const FORMAT_VERSION: u32 = 1;

/// Limit for candidates, and for loads, in a record.
const MAX_ENTRIES: usize = 64;
/// More blocks than fit into a day.
const MAX_BLOCKS: usize = 20_000;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Version of the record's format.
    pub trial: u32,
    /// Version of walwise that ran the trial.
    pub walwise: String,
    /// Start, RFC 3339.
    pub started: String,
    pub ending: Ending,
    pub seconds: f64,
    /// Time limit in seconds.
    pub budget: f64,
    pub seed: u64,
    #[serde(default)]
    pub extent: ExtentKind,
    /// Directory of the loop file, or device node of the disk.
    pub directory: String,
    /// Size of the extent.
    pub bytes: u64,
    /// Type of the file system below the loop file; empty on a disk.
    pub host_filesystem: String,
    /// Kernel names of the disks below the extent.
    pub leaves: Vec<String>,
    /// Host, kernel and stack below the directory, one fact a line, as in a drill's record.
    pub stack: Vec<String>,
    /// Seconds of each load in a cell.
    pub load_seconds: f64,
    pub loads: Vec<TrialLoad>,
    /// The reference is first.
    pub candidates: Vec<CandidateRecord>,
    /// Incomplete blocks are included.
    pub blocks: Vec<TrialBlock>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExtentKind {
    #[default]
    Loop,
    /// Beginning of a disk or partition.
    Disk,
}

impl ExtentKind {
    /// Number of cells in a block besides the candidates: the twin, the bare extent, and on a loop
    /// device the host's file.
    pub fn control_cell_count(self) -> usize {
        match self {
            Self::Loop => 3,
            Self::Disk => 2,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateRecord {
    pub candidate: Candidate,
    /// mkfs and its arguments, without the device.
    pub mkfs: Vec<String>,
    /// Version that mkfs prints.
    pub version: String,
    pub mount: String,
}

/// Every candidate and control once, in random order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialBlock {
    /// Cells in the order of the runs.
    pub cells: Vec<TrialCell>,
    /// Bytes written to the extent.
    pub written: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellTarget {
    /// Index into the record's `candidates`.
    Candidate(usize),
    Twin,
    Floor,
    /// The loop file itself, without the loop device; blocks on a disk lack this cell.
    Host,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialCell {
    pub runner: CellTarget,
    /// One sample per load, in the order of the record's `loads`; the bare extent and the host have
    /// one sample.
    pub samples: Vec<Sample>,
    pub error: Option<String>,
}

/// Figures of one load in one cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub commits: u64,
    /// Duration of all commits.
    pub seconds: f64,
    /// Median latency of a commit.
    pub p50_us: f64,
    /// 99th percentile of the latency of a commit.
    pub p99_us: f64,
    /// Flushes that the trial's own device counted; `None` if the device does not count flushes.
    pub flushes: Option<u64>,
    /// Flushes that the disks below counted, foreign ones included.
    pub leaf_flushes: Option<u64>,
    /// Calls that requested a flush: fewer than commits if clients share flushes.
    pub calls: u64,
}

impl TrialCell {
    /// True if a trial with `loads` loads can have produced the cell.
    fn is_valid(&self, loads: usize) -> bool {
        self.samples.len() <= loads.max(1) && self.samples.iter().all(|sample| sample.seconds > 0.0)
    }
}

impl Sample {
    /// Commits per second. If no commit ended in time, half a commit counts, so that a very slow
    /// block is not lost.
    pub fn commits_per_second(&self) -> f64 {
        (self.commits as f64).max(0.5) / self.seconds.max(1e-9)
    }
}

impl TrialRecord {
    /// The error is a clause whose subject, `it`, is the document.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut record: Self = serde_json::from_str(text)
            .map_err(|e| format!("it is not a record of a trial: {e}"))?;
        record.validate()?;
        record.sanitise();
        Ok(record)
    }

    /// Rejects a record that no trial can have produced.
    fn validate(&self) -> Result<(), String> {
        if self.trial != FORMAT_VERSION {
            return Err(format!(
                "it has format {}; this walwise reads {FORMAT_VERSION}",
                self.trial
            ));
        }
        if self.candidates.len() > MAX_ENTRIES || self.loads.len() > MAX_ENTRIES {
            return Err(format!(
                "it has more than {MAX_ENTRIES} candidates or loads, more than any trial"
            ));
        }
        let made: BTreeSet<&str> = self
            .candidates
            .iter()
            .map(|made| made.candidate.name())
            .collect();
        if made.len() != self.candidates.len() {
            return Err("it names a candidate twice".to_owned());
        }
        let cells = self.candidates.len() + self.extent.control_cell_count();
        let is_whole = |block: &TrialBlock| {
            block.cells.len() <= cells
                && block
                    .cells
                    .iter()
                    .all(|cell| cell.is_valid(self.loads.len()))
        };
        if self.blocks.len() > MAX_BLOCKS || !self.blocks.iter().all(is_whole) {
            return Err("it has blocks that no trial can have made".to_owned());
        }
        Ok(())
    }

    /// Makes all text display-safe, because anyone can have written the file.
    fn sanitise(&mut self) {
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
            *text = display_safe(text.as_bytes());
        }
    }

    /// Numbers of the candidates that have barriers and enough flushes and failed in no cell. A
    /// ranked reference is first.
    pub fn ranked_candidates(&self) -> Vec<usize> {
        let numbered = self.candidates.iter().enumerate();
        let promising = numbered.filter(|(at, made)| {
            made.candidate.has_barriers() && self.first_failure(*at).is_none()
        });
        promising
            .map(|(at, _)| at)
            .filter(|at| !self.flush_audit(*at).is_unranked())
            .collect()
    }

    pub fn first_failure(&self, candidate: usize) -> Option<&str> {
        let cells = self.blocks.iter().flat_map(|block| &block.cells);
        let mut own = cells.filter(|cell| cell.runner == CellTarget::Candidate(candidate));
        own.find_map(|cell| cell.error.as_deref())
    }

    /// One sample per block; `None` for a block without one.
    pub fn samples_by_block(&self, runner: CellTarget, load: usize) -> Vec<Option<Sample>> {
        let of = |block: &TrialBlock| {
            let cell = block
                .cells
                .iter()
                .find(|cell| cell.runner == runner && cell.error.is_none())?;
            cell.samples.get(load).copied()
        };
        self.blocks.iter().map(of).collect()
    }

    /// Logarithms of throughput of `candidates`, in the blocks where they and the twin are
    /// complete.
    pub fn paired_figures(&self, candidates: &[usize], load: usize) -> PairedFigures {
        let rows: Vec<Vec<Option<Sample>>> = candidates
            .iter()
            .map(|at| CellTarget::Candidate(*at))
            .chain([CellTarget::Twin])
            .map(|runner| self.samples_by_block(runner, load))
            .collect();
        let rate = |row: &[Option<Sample>], block: usize| {
            row.get(block)
                .copied()
                .flatten()
                .map(|sample| sample.commits_per_second())
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
