//! Records and statistics of trials, which measure candidate file systems on the same disk; no I/O.
//!
//! A *cell* is one candidate in one *block*. A block runs all candidates in random order on the
//! same extent, each with a new file system.
//!
//! In every block the reference runs a second time under another name (the *twin*), and the bare
//! extent is measured too.

mod candidate;
mod candidate_ranking;
mod comparison;
mod flush_audit;
mod forest_plot;
mod load;
mod method_comparison;
mod record;
mod signed_ranks;
mod view;

use comparison::{log_ratio_interval, log_ratios};
use view::TrialView;

use crate::text::page_layout::TextPage;
use crate::text::wrap::display_width;
use walwise_model::text::JoinText;

pub use candidate::{Candidate, trial_mkfs_options, trial_mount_options};
pub use candidate_ranking::CandidateRanking;
#[cfg(any(test, feature = "testing"))]
pub use comparison::PairOutcome;
pub use comparison::{
    ComparisonOutcome, EQUIVALENCE_MARGIN, ExcludedRankCounts, PairedLogThroughput,
    PairwiseComparison,
};
pub use forest_plot::{CandidateStanding, ForestPlotRow};
pub(crate) use load::SEGMENT_BYTES;
pub use load::{LoadPreset, LoadShape, TrialLoad};
pub use record::{
    CandidateRecord, CellSubject, ExtentKind, FORMAT_VERSION, TrialBlock, TrialCell, TrialRecord,
    TrialSample,
};
pub use signed_ranks::LogRatioInterval;
pub use view::{
    LoadTable, NOT_RANKED, TableCell, format_percent_interval, trial_summary_text, trial_view,
};

const INDENT: usize = 2;

impl TrialView {
    /// Formats the trial for a terminal. The table of a load is shown only if the load is deciding.
    pub fn to_text(&self) -> String {
        let mut lines = self.header.clone();
        for part in self.loads.iter().filter(|part| part.is_deciding) {
            lines.extend([
                String::new(),
                part.title.clone(),
                format!("  {}", part.sentence),
            ]);
            lines.extend(load_table_lines(part));
        }
        let others = nondeciding_load_lines(&self.loads);
        if !others.is_empty() {
            lines.push(String::new());
            lines.extend(others);
        }
        lines.push(String::new());
        lines.extend(self.notes.iter().map(|note| format!("- {note}")));
        lines.join("\n") + "\n"
    }

    pub fn to_markdown(&self) -> String {
        let mut lines = vec!["# Trial".to_owned(), String::new()];
        lines.extend(self.header.iter().map(|line| format!("{line}  ")));
        let cell = |cell: &TableCell| match &cell.interval {
            Some(interval) => format!("{} ({interval})", cell.text),
            None => cell.text.clone(),
        };
        let row = |row: &Vec<TableCell>| format!("| {} |", row.iter().map(cell).join_with(" | "));
        for part in &self.loads {
            lines.extend([
                String::new(),
                format!("## {}", part.title),
                String::new(),
                part.sentence.clone(),
            ]);
            if part.columns.is_empty() {
                continue;
            }
            lines.extend([String::new(), format!("| {} |", part.columns.join(" | "))]);
            lines.push(format!("|{}", "---|".repeat(part.columns.len())));
            lines.extend(part.rows.iter().map(row));
            if !part.unranked.is_empty() {
                lines.push(format!(
                    "| *{NOT_RANKED}:* |{}",
                    " |".repeat(part.columns.len().saturating_sub(1))
                ));
                lines.extend(part.unranked.iter().map(row));
            }
        }
        lines.extend([String::new(), "## Notes".to_owned(), String::new()]);
        lines.extend(self.notes.iter().map(|note| format!("- {note}")));
        lines.join("\n") + "\n"
    }
}

fn nondeciding_load_lines(loads: &[LoadTable]) -> Vec<String> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for part in loads.iter().filter(|part| !part.is_deciding) {
        match found
            .iter_mut()
            .find(|(sentence, _)| *sentence == part.sentence)
        {
            Some((_, titles)) => titles.push(&part.title),
            None => found.push((&part.sentence, vec![&part.title])),
        }
    }
    found
        .into_iter()
        .map(|(sentence, titles)| format!("{}: {sentence}", titles.join(", ")))
        .collect()
}

fn load_table_lines(part: &LoadTable) -> Vec<String> {
    let words = |row: &Vec<TableCell>| {
        row.iter()
            .map(|cell| cell.text.clone())
            .collect::<Vec<String>>()
    };
    let head = part.columns.iter().map(|word| (*word).to_owned()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head)
        .chain(part.rows.iter().chain(&part.unranked).map(words))
        .collect();
    let right: Vec<bool> = (0..part.columns.len()).map(|at| at > 0).collect();
    let mut page = TextPage::with_unlimited_width();
    page.append_table(INDENT, &rows, &right);
    let mut lines: Vec<String> = page.into_text().lines().map(str::to_owned).collect();
    if !part.unranked.is_empty() {
        let whole = lines
            .iter()
            .map(|line| display_width(line))
            .max()
            .unwrap_or_default()
            .saturating_sub(INDENT);
        let line = format!("{:INDENT$}{:-<whole$}", "", format!("-- {NOT_RANKED} "));
        lines.insert(rows.len() - part.unranked.len(), line);
    }
    lines
}

/// Longest estimate of the remaining time, in seconds, that is shown to the user. A longer
/// estimate means that the disk is too unsteady for a trial.
pub const MAX_WAIT_SECONDS: f64 = 86_400.0;

#[derive(Clone, Debug)]
pub struct LoadComparison {
    pub index: usize,
    pub load: TrialLoad,
    /// Indices of the ranked candidates in the record; `comparison` numbers candidates by their
    /// position in this list.
    pub ranked: Vec<usize>,
    pub comparison: PairwiseComparison,
}

impl LoadComparison {
    pub(crate) fn to_record_indices(&self, places: &[usize]) -> Vec<usize> {
        places
            .iter()
            .filter_map(|place| self.ranked.get(*place).copied())
            .collect()
    }
}

impl TrialRecord {
    /// Empty unless the reference and at least one other candidate are ranked.
    pub fn load_comparisons(&self) -> Vec<LoadComparison> {
        let ranked = self.indices_of_ranked_candidates();
        if ranked.first() != Some(&0) || ranked.len() < 2 {
            return Vec::new();
        }
        let of = |(at, load): (usize, &TrialLoad)| {
            let comparison = PairwiseComparison::from_log_throughput(
                &self.paired_log_throughput(&ranked, at),
                self.ending,
            );
            LoadComparison {
                index: at,
                load: *load,
                ranked: ranked.clone(),
                comparison,
            }
        };
        self.loads.iter().enumerate().map(of).collect()
    }

    /// True after the largest number of blocks, or if no deciding load and no comparison of
    /// methods needs more blocks. False before the first block.
    pub fn needs_no_more_blocks(&self) -> bool {
        let by_load = || {
            self.deciding_load_comparisons()
                .any(|result| result.comparison.outcome().needs_more_blocks())
        };
        let by_method = || {
            self.compares_only_sync_methods()
                && self
                    .method_comparisons()
                    .iter()
                    .any(|found| found.comparison.outcome().needs_more_blocks())
        };
        // A trial with too few ranked candidates is settled too: a candidate that failed once stays
        // unranked, so more blocks cannot help.
        self.blocks.len() >= MAX_TRIAL_BLOCKS
            || !self.blocks.is_empty() && !by_load() && !by_method()
    }

    /// Estimated seconds until the trial is settled; `None` without an estimate, or once the
    /// trial is settled.
    pub fn remaining_trial_seconds(&self) -> Option<f64> {
        let blocks = self
            .deciding_load_comparisons()
            .filter_map(|result| result.comparison.blocks_needed())
            .max()?;
        let done = self.blocks.len().max(1);
        let each = self.seconds / done as f64;
        Some(blocks.saturating_sub(done) as f64 * each)
    }

    /// The index of the candidate that is best under every deciding load, if there is one.
    pub(crate) fn winner_index(&self) -> Option<usize> {
        let mut winners =
            self.deciding_load_comparisons()
                .map(|result| match result.comparison.outcome() {
                    ComparisonOutcome::Best(place) => result.ranked.get(place).copied(),
                    ComparisonOutcome::TooFewBlocks
                    | ComparisonOutcome::Inconclusive
                    | ComparisonOutcome::Equivalent(_)
                    | ComparisonOutcome::Undecided(_) => None,
                });
        let first = winners.next()??;
        winners.all(|winner| winner == Some(first)).then_some(first)
    }

    fn deciding_load_comparisons(&self) -> impl Iterator<Item = LoadComparison> {
        let all = self.load_comparisons().into_iter();
        all.filter(|result| result.load.must_be_settled())
    }
}

// The fidelity of figures on a loop file: every block also times commits to the bare loop device
// and to the loop file itself.
//
// A flush of a loop device is an fsync of its file. The host's journal is therefore part of
// every sample and draws the ratios between candidates towards 1.

/// Largest ratio of the loop device's latency to the file's; above it, figures are only an
/// indication.
const MAX_LATENCY_RATIO: f64 = 1.3;

/// Reliability of figures on a loop file. Each number is the ratio of the loop device's latency
/// to that of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoopFidelity {
    /// The trial ran on a disk, without a loop device.
    NotNeeded,
    Unknown,
    /// The loop device is as fast as the file: the interval contains 1 and stays within a
    /// factor of 1.3.
    Faithful,
    /// The figures scatter too much to decide; the numbers are the ends of the interval.
    Unsettled(f64, f64),
    /// The loop device is slower or faster than the file. The order of the candidates holds, but
    /// their ratios are nearer to 1 than on the disk.
    OrderOnly(f64),
    /// The loop device is slower or faster by a factor above 1.3: figures are only an
    /// indication.
    Indicative(f64),
}

impl TrialRecord {
    pub fn loop_fidelity(&self) -> LoopFidelity {
        match self.extent {
            ExtentKind::Loop => {}
            ExtentKind::Disk => return LoopFidelity::NotNeeded,
        }
        let rows = [CellSubject::Host, CellSubject::Floor].map(|runner| (runner, 0));
        let mut ratios = match self.complete_log_rates(&rows).as_slice() {
            [host, floor] => log_ratios(host, floor, usize::MAX),
            _ => Vec::new(),
        };
        ratios.retain(|ratio| ratio.is_finite());
        ratios.truncate(MAX_TRIAL_BLOCKS);
        let most = MAX_LATENCY_RATIO.ln();
        match log_ratio_interval(&ratios) {
            None => LoopFidelity::Unknown,
            Some(found) if found.value.abs() > most => LoopFidelity::Indicative(found.value.exp()),
            Some(found) if found.low > 0.0 || found.high < 0.0 => {
                LoopFidelity::OrderOnly(found.value.exp())
            }
            Some(found) if found.low >= -most && found.high <= most => LoopFidelity::Faithful,
            Some(found) => LoopFidelity::Unsettled(found.low.exp(), found.high.exp()),
        }
    }

    /// Steadiness of the disk: the ratio of the 90th to the 10th percentile of commit rates on the
    /// raw extent, over all blocks. `None` without blocks, or if the 10th percentile is 0.
    pub(crate) fn raw_extent_rate_p90_to_p10(&self) -> Option<f64> {
        let mut rates = self.commit_rates(CellSubject::Floor, 0);
        rates.sort_by(f64::total_cmp);
        let tenth = rates.len() / 10;
        let worst = rates.get(tenth).copied().filter(|rate| *rate > 0.0)?;
        Some(rates.get(rates.len() - 1 - tenth)? / worst)
    }
}

// The interim analyses of a trial. They are declared before the first block, so that repeated
// analyses do not raise the error probability.

/// Error probability of a trial, over all its analyses.
const ALPHA: f64 = 0.05;

/// Numbers of complete blocks at which a trial is analysed, each about a quarter larger than
/// the one before. The first is the smallest with which [`ALPHA_PER_ANALYSIS`] gives an
/// interval.
///
/// The numbers are fixed in advance, because a trial that stops at the first difference finds
/// one by chance sooner or later.
pub const INTERIM_BLOCKS: [usize; 13] = [10, 12, 15, 18, 22, 27, 33, 40, 50, 62, 78, 98, 124];

/// Error probability of one analysis, the final one included: equal shares of [`ALPHA`]
/// (Bonferroni; Jennison and Turnbull, *Group Sequential Methods*, ch. 2). All statements of a
/// trial together hold with 95 % confidence.
const ALPHA_PER_ANALYSIS: f64 = ALPHA / (INTERIM_BLOCKS.len() + 1) as f64;

const MAX_TRIAL_BLOCKS: usize = 124;

/// State of a trial: running, or the reason for its end. The reason decides whether blocks
/// after the last interim analysis count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialState {
    Running,
    Settled,
    /// The time limit was reached. The limit is declared in advance, so all blocks until then are
    /// analysed again.
    Budget,
    /// The user may have stopped the trial because of the figures, so only interim analyses
    /// count.
    Stopped,
}

fn analysed_block_counts(blocks: usize, ending: TrialState) -> Vec<usize> {
    let mut looks: Vec<usize> = INTERIM_BLOCKS
        .into_iter()
        .filter(|look| *look <= blocks)
        .collect();
    match ending {
        TrialState::Running | TrialState::Settled | TrialState::Stopped => {}
        TrialState::Budget => {
            let end = blocks.min(MAX_TRIAL_BLOCKS);
            if looks.last() != Some(&end) {
                looks.push(end);
            }
        }
    }
    looks
}

#[cfg(test)]
mod interim_analysis_tests {
    use super::*;

    #[test]
    fn blocks_after_the_last_interim_analysis_count_only_at_the_time_limit() {
        assert_eq!(analysed_block_counts(13, TrialState::Running), [10, 12]);
        assert_eq!(analysed_block_counts(13, TrialState::Stopped), [10, 12]);
        assert_eq!(analysed_block_counts(13, TrialState::Budget), [10, 12, 13]);
        assert_eq!(analysed_block_counts(12, TrialState::Budget), [10, 12]);
        assert_eq!(analysed_block_counts(4, TrialState::Budget), [4]);
        assert_eq!(
            analysed_block_counts(1_000_000, TrialState::Budget),
            INTERIM_BLOCKS
        );
        assert_eq!(INTERIM_BLOCKS.last(), Some(&MAX_TRIAL_BLOCKS));
        assert!(INTERIM_BLOCKS.is_sorted());
    }
}

#[cfg(test)]
mod loop_fidelity_tests {
    use super::*;
    use crate::trial::Candidate;
    use crate::trial::fixtures::{record_with_commit_rates, with_scaled_raw_extent_rates};

    fn record_with_scaled_extent_rates(times: impl Fn(usize) -> f64) -> TrialRecord {
        with_scaled_raw_extent_rates(
            record_with_commit_rates(
                &[
                    (Candidate::Ext4, 4_000.0, None),
                    (Candidate::Xfs, 4_000.0, None),
                ],
                15,
            ),
            times,
        )
    }

    #[test]
    fn loop_fidelity_follows_raw_extent_rate() {
        assert_eq!(
            record_with_scaled_extent_rates(|_| 1.0).loop_fidelity(),
            LoopFidelity::Faithful
        );
        assert!(
            matches!(record_with_scaled_extent_rates(|_| 0.9).loop_fidelity(), LoopFidelity::OrderOnly(times) if times > 1.05)
        );
        assert!(
            matches!(record_with_scaled_extent_rates(|_| 0.5).loop_fidelity(), LoopFidelity::Indicative(times) if times > 1.9)
        );
        let scattered = record_with_scaled_extent_rates(|nth| if nth % 2 == 0 { 0.5 } else { 2.0 });
        assert!(
            matches!(scattered.loop_fidelity(), LoopFidelity::Unsettled(low, high) if low < 0.8 && high > 1.3)
        );
    }
}

#[cfg(test)]
mod render_tests {
    use super::*;

    #[test]
    fn nondeciding_loads_with_equal_sentences_are_merged() {
        let load = |title: &str, sentence: &str| LoadTable {
            title: title.to_owned(),
            sentence: sentence.to_owned(),
            ..LoadTable::default()
        };
        let loads = vec![
            load("one", "Same."),
            load("other", "Else."),
            load("two", "Same."),
        ];
        let text = TrialView {
            loads,
            ..TrialView::default()
        }
        .to_text();
        assert_eq!(text, "\none, two: Same.\nother: Else.\n\n");
    }
}

#[cfg(any(test, feature = "testing"))]
pub mod fixtures {
    #![allow(clippy::indexing_slicing, reason = "for tests")]

    use super::TrialState;
    use super::candidate::Candidate;
    use super::load::{LoadPreset, TrialLoad};
    use super::record::{
        CandidateRecord, CellSubject, ExtentKind, FORMAT_VERSION, TrialBlock, TrialCell,
        TrialRecord, TrialSample,
    };

    pub fn sample_at_rate(rate: f64, flushes: Option<u64>) -> TrialSample {
        let latency = 1e6 / rate;
        TrialSample {
            commits: 1_000,
            seconds: 1_000.0 / rate,
            p50_us: latency,
            p99_us: 2.0 * latency,
            flushes,
            leaf_flushes: None,
            calls: 1_000,
        }
    }

    /// Makes a record from the commit rate and the flush count of each candidate. Rates deviate by
    /// up to 2 % in a fixed pattern.
    pub fn record_with_commit_rates(
        candidates: &[(Candidate, f64, Option<u64>)],
        blocks: usize,
    ) -> TrialRecord {
        let loads = vec![TrialLoad::preset_loads(LoadPreset::Commits, &[1])[0]];
        let off = |block: usize, runner: usize| {
            1.0 + 0.01 * (((block * 7 + runner * 3) % 5) as f64 - 2.0)
        };
        let cell = |runner, sample| TrialCell {
            runner,
            samples: vec![sample],
            error: None,
        };
        let block = |block: usize| {
            let own = candidates
                .iter()
                .enumerate()
                .map(|(at, (_, rate, flushes))| {
                    cell(
                        CellSubject::Candidate(at),
                        sample_at_rate(rate * off(block, at), *flushes),
                    )
                });
            let twin = cell(
                CellSubject::Twin,
                sample_at_rate(candidates[0].1 * off(block, 9), Some(1_000)),
            );
            let floor = cell(
                CellSubject::Floor,
                sample_at_rate(6_000.0 * off(block, 2), None),
            );
            let host = cell(
                CellSubject::Host,
                sample_at_rate(6_000.0 * off(block, 4), None),
            );
            TrialBlock {
                cells: own.chain([twin, floor, host]).collect(),
                written: 1 << 20,
            }
        };
        let made = |(candidate, ..): &(Candidate, f64, Option<u64>)| CandidateRecord {
            candidate: *candidate,
            mkfs: vec!["mkfs".to_owned(), "-q".to_owned()],
            version: "1".to_owned(),
            mount: String::new(),
        };
        TrialRecord {
            trial: FORMAT_VERSION,
            walwise: "0.1.0".to_owned(),
            started: "2026-11-25T08:00:00Z".to_owned(),
            ending: TrialState::Budget,
            seconds: 600.0,
            budget: 600.0,
            seed: 7,
            extent: ExtentKind::Loop,
            directory: "/srv".to_owned(),
            bytes: 2 << 30,
            host_filesystem: "ext4".to_owned(),
            leaves: vec!["sda".to_owned()],
            stack: Vec::new(),
            load_seconds: 0.5,
            loads,
            candidates: candidates.iter().map(made).collect(),
            blocks: (0..blocks).map(block).collect(),
        }
    }

    /// Multiplies the commit rate on the raw extent in block `n` by `times(n)`.
    pub fn with_scaled_raw_extent_rates(
        mut record: TrialRecord,
        times: impl Fn(usize) -> f64,
    ) -> TrialRecord {
        for (nth, block) in record.blocks.iter_mut().enumerate() {
            for cell in block
                .cells
                .iter_mut()
                .filter(|cell| cell.runner == CellSubject::Floor)
            {
                cell.samples
                    .iter_mut()
                    .for_each(|sample| sample.seconds /= times(nth));
            }
        }
        record
    }
}
