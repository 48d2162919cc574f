//! The record of a trial, `trial.json`, contains everything done and measured, so that anyone can
//! repeat the analysis.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::TrialState;
use super::candidate::Candidate;
use super::comparison::PairedLogThroughput;
use super::load::TrialLoad;
use crate::text::display_safe;

pub const FORMAT_VERSION: u32 = 1;

/// Largest number of candidates, and of loads, in a record.
const MAX_ENTRIES: usize = 64;
/// Largest number of blocks in a record: more than a trial can run in a day.
const MAX_BLOCKS: usize = 20_000;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    pub trial: u32,
    pub walwise: String,
    /// Start of the trial in RFC 3339.
    pub started: String,
    pub ending: TrialState,
    pub seconds: f64,
    /// Time limit in seconds.
    pub budget: f64,
    pub seed: u64,
    #[serde(default)]
    pub extent: ExtentKind,
    /// Directory of the loop file, or device node of the disk.
    pub directory: String,
    pub bytes: u64,
    /// Type of the file system below the loop file; empty on a disk.
    pub host_filesystem: String,
    /// Kernel names of the disks below the extent.
    pub leaves: Vec<String>,
    /// Host, kernel and stack below the directory, one fact per line, as in a drill's record.
    pub stack: Vec<String>,
    /// Duration of each load for one candidate in one block, in seconds.
    pub load_seconds: f64,
    pub loads: Vec<TrialLoad>,
    /// The reference is first.
    pub candidates: Vec<CandidateRecord>,
    /// Complete blocks of the trial, including those with failed cells.
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
    /// Number of cells in a block besides the candidates: the second run of the reference, and
    /// commits to the raw extent. A loop device adds commits to the loop file.
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
    /// Command line of mkfs, without the device.
    pub mkfs: Vec<String>,
    /// Version that mkfs prints.
    pub version: String,
    pub mount: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialBlock {
    /// Measurements of the candidates and controls, in the order in which they ran.
    pub cells: Vec<TrialCell>,
    pub written: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellSubject {
    /// Index into the record's `candidates`.
    Candidate(usize),
    Twin,
    Floor,
    /// Commits to the loop file itself, without the loop device; blocks on a disk lack this cell.
    Host,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialCell {
    pub runner: CellSubject,
    /// One sample per load, in the order of the record's `loads`. The controls
    /// [`CellSubject::Floor`] and [`CellSubject::Host`] have a single sample; a failed cell has
    /// none.
    pub samples: Vec<TrialSample>,
    pub error: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialSample {
    pub commits: u64,
    pub seconds: f64,
    pub p50_us: f64,
    pub p99_us: f64,
    /// Flushes that the trial's own device counted; `None` if the device does not count flushes.
    pub flushes: Option<u64>,
    /// Flushes that the disks under the extent counted, those of other programs included.
    pub leaf_flushes: Option<u64>,
    /// Calls that requested a flush: fewer than commits if clients share flushes.
    pub calls: u64,
}

impl TrialSample {
    /// If no commit finished, half a commit is assumed, so that a very slow block still has a rate.
    pub(crate) fn commits_per_second(&self) -> f64 {
        (self.commits as f64).max(0.5) / self.seconds.max(1e-9)
    }
}

impl TrialRecord {
    /// The error is a clause: it begins in lower case and has no full stop.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut record: Self = serde_json::from_str(text)
            .map_err(|e| format!("the file is not a trial record: {e}"))?;
        record.check_format_and_limits()?;
        record.make_display_safe();
        Ok(record)
    }

    fn check_format_and_limits(&self) -> Result<(), String> {
        if self.trial != FORMAT_VERSION {
            return Err(format!(
                "the record has format {}; this version of walwise reads format {FORMAT_VERSION}",
                self.trial
            ));
        }
        if self.candidates.len() > MAX_ENTRIES || self.loads.len() > MAX_ENTRIES {
            return Err(format!(
                "the record has more than {MAX_ENTRIES} candidates or loads; no trial has that many"
            ));
        }
        let made: BTreeSet<&str> = self
            .candidates
            .iter()
            .map(|made| made.candidate.name())
            .collect();
        if made.len() != self.candidates.len() {
            return Err("the record lists a candidate twice".to_owned());
        }
        let cells = self.candidates.len() + self.extent.control_cell_count();
        let is_valid = |cell: &TrialCell| {
            cell.samples.len() <= self.loads.len().max(1)
                && cell.samples.iter().all(|sample| sample.seconds > 0.0)
        };
        let is_whole =
            |block: &TrialBlock| block.cells.len() <= cells && block.cells.iter().all(is_valid);
        if self.blocks.len() > MAX_BLOCKS || !self.blocks.iter().all(is_whole) {
            return Err("the record contains invalid blocks".to_owned());
        }
        Ok(())
    }

    /// The file is untrusted: any user can have written it.
    fn make_display_safe(&mut self) {
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

    /// Indices of the ranked candidates, which have barriers, enough flushes and no failed cell. If
    /// the reference is ranked, it comes first.
    pub fn indices_of_ranked_candidates(&self) -> Vec<usize> {
        let numbered = self.candidates.iter().enumerate();
        let promising = numbered.filter(|(at, made)| {
            made.candidate.has_barriers() && self.first_error_of_candidate(*at).is_none()
        });
        promising
            .map(|(at, _)| at)
            .filter(|at| !self.audit_candidate_flushes(*at).is_disqualifying())
            .collect()
    }

    pub(crate) fn candidate_name(&self, candidate: usize) -> &'static str {
        self.candidates
            .get(candidate)
            .map_or("?", |made| made.candidate.name())
    }

    pub(crate) fn first_error_of_candidate(&self, candidate: usize) -> Option<&str> {
        let cells = self.blocks.iter().flat_map(|block| &block.cells);
        let mut own = cells.filter(|cell| cell.runner == CellSubject::Candidate(candidate));
        own.find_map(|cell| cell.error.as_deref())
    }

    /// One entry per block; `None` for a block without a sample of the load, for example after a
    /// failure.
    pub(crate) fn samples_by_block(
        &self,
        runner: CellSubject,
        load: usize,
    ) -> Vec<Option<TrialSample>> {
        let of = |block: &TrialBlock| {
            let cell = block
                .cells
                .iter()
                .find(|cell| cell.runner == runner && cell.error.is_none())?;
            cell.samples.get(load).copied()
        };
        self.blocks.iter().map(of).collect()
    }

    pub(crate) fn samples(&self, runner: CellSubject, load: usize) -> Vec<TrialSample> {
        let by_block = self.samples_by_block(runner, load);
        by_block.into_iter().flatten().collect()
    }

    /// Commits per second of each sample.
    pub(crate) fn commit_rates(&self, runner: CellSubject, load: usize) -> Vec<f64> {
        let samples = self.samples(runner, load);
        samples
            .iter()
            .map(TrialSample::commits_per_second)
            .collect()
    }

    /// Logarithms of throughput of `candidates`, in the blocks where all of them and the second run
    /// of the reference are complete.
    pub fn paired_log_throughput(&self, candidates: &[usize], load: usize) -> PairedLogThroughput {
        let rows = candidates.iter().map(|at| CellSubject::Candidate(*at));
        let rows: Vec<_> = rows
            .chain([CellSubject::Twin])
            .map(|runner| (runner, load))
            .collect();
        let mut candidates = self.complete_log_rates(&rows);
        let twin = candidates.pop().unwrap_or_default();
        PairedLogThroughput { candidates, twin }
    }

    /// Logarithms of throughput, one list per entry of `rows`, in the blocks where all are
    /// complete.
    pub(crate) fn complete_log_rates(&self, rows: &[(CellSubject, usize)]) -> Vec<Vec<f64>> {
        let samples = rows
            .iter()
            .map(|(runner, load)| self.samples_by_block(*runner, *load));
        let samples: Vec<Vec<Option<TrialSample>>> = samples.collect();
        let log_rate = |row: &Vec<Option<TrialSample>>, block: usize| {
            let rate = row.get(block).copied().flatten()?.commits_per_second();
            (rate > 0.0).then(|| rate.ln())
        };
        let mut logs = vec![Vec::new(); rows.len()];
        for block in 0..self.blocks.len() {
            let found = samples.iter().map(|row| log_rate(row, block));
            let found = found.collect::<Option<Vec<f64>>>().unwrap_or_default();
            logs.iter_mut()
                .zip(found)
                .for_each(|(logs, log)| logs.push(log));
        }
        logs
    }
}
