//! Finds the set of candidates that contains the best, or one within 5 % of the best, with 95 %
//! confidence over all analyses.
//!
//! A statement about the best is wrong only if a bound of the true best is wrong. The true best has
//! one bound for each other candidate. The error probability of a bound is therefore that of one
//! analysis divided by the number of candidates (Hsu, *Multiple Comparisons*, ch. 4).
//!
//! Among equal candidates a trial names a winner in at most 5 % of cases.

use super::signed_ranks::{LogRatioInterval, WalshAverages, excluded_average_count};
use super::{ALPHA_PER_ANALYSIS, TrialState, analysed_block_counts};
use crate::measure::floor_to_usize;

#[cfg(any(test, feature = "testing"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairOutcome {
    Faster,
    Slower,
    /// Neither candidate is more than 5 % faster than the other.
    Equivalent,
    Undecided,
    /// Two runs of the reference differ, so no other difference counts.
    Inconclusive,
}

/// Logarithm of 1.05, the largest ratio of throughputs without a practical difference.
pub const EQUIVALENCE_MARGIN: f64 = 0.048_790_164_169_432;

/// Numbers of lowest or highest [`WalshAverages`] that a confidence bound leaves out.
#[derive(Clone, Copy, Debug)]
pub struct ExcludedRankCounts {
    /// The number for bounds that decide the best candidate; `None` with too few blocks.
    pub best: Option<usize>,
    /// The number for intervals that do not decide the best candidate; `None` with too few blocks.
    pub standalone: Option<usize>,
}

impl ExcludedRankCounts {
    pub fn new(blocks: usize, candidates: usize) -> Self {
        let alpha = ALPHA_PER_ANALYSIS / candidates.max(2) as f64;
        Self {
            best: excluded_average_count(blocks, alpha),
            standalone: excluded_average_count(blocks, ALPHA_PER_ANALYSIS / 2.0),
        }
    }
}

/// Logarithms of throughput under one load, with a figure for each complete block. Each candidate
/// has a row, and so has the second run of the reference. All rows have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairedLogThroughput {
    /// The reference is first.
    pub candidates: Vec<Vec<f64>>,
    pub twin: Vec<f64>,
}

impl PairedLogThroughput {
    pub fn block_count(&self) -> usize {
        self.candidates
            .iter()
            .chain([&self.twin])
            .map(Vec::len)
            .min()
            .unwrap_or(0)
    }

    fn log_throughput_of_candidate(&self, candidate: usize) -> &[f64] {
        self.candidates
            .get(candidate)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }
}

/// Differences of logarithms, block by block.
pub fn log_ratios(of: &[f64], to: &[f64], blocks: usize) -> Vec<f64> {
    of.iter().zip(to).take(blocks).map(|(a, b)| a - b).collect()
}

/// Log-ratio of throughput of one candidate to another.
#[derive(Clone, Copy, Debug)]
struct PairEstimate {
    /// Minus infinity before the first analysis. Each analysis can only raise the bound.
    lower_bound: f64,
    median: f64,
}

/// Estimates for every ordered pair of candidates.
#[derive(Clone, Debug)]
pub struct PairwiseComparison {
    candidates: usize,
    /// A square matrix, row by row: the candidate of the row relative to that of the column.
    pairs: Vec<PairEstimate>,
    to_reference: Vec<Option<LogRatioInterval>>,
    twin: Option<LogRatioInterval>,
    blocks: usize,
}

impl PairwiseComparison {
    pub fn new(candidates: usize) -> Self {
        let unknown = PairEstimate {
            lower_bound: f64::NEG_INFINITY,
            median: 0.0,
        };
        Self {
            candidates,
            pairs: vec![unknown; candidates * candidates],
            to_reference: vec![None; candidates],
            twin: None,
            blocks: 0,
        }
    }

    pub fn from_log_throughput(figures: &PairedLogThroughput, ending: TrialState) -> Self {
        let candidates = figures.candidates.len();
        let mut contest = Self::new(candidates);
        for blocks in analysed_block_counts(figures.block_count(), ending) {
            contest.analyse_first_blocks(
                figures,
                blocks,
                ExcludedRankCounts::new(blocks, candidates),
            );
        }
        contest
    }

    pub fn analyse_first_blocks(
        &mut self,
        figures: &PairedLogThroughput,
        blocks: usize,
        cuts: ExcludedRankCounts,
    ) {
        self.blocks = blocks;
        let reference = figures.log_throughput_of_candidate(0);
        for of in 0..self.candidates {
            for to in of + 1..self.candidates {
                self.narrow_pair_bounds(
                    (of, to),
                    &log_ratios(
                        figures.log_throughput_of_candidate(of),
                        figures.log_throughput_of_candidate(to),
                        blocks,
                    ),
                    cuts,
                );
            }
            if of > 0 {
                let found = interval_from_signed_ranks(
                    &log_ratios(figures.log_throughput_of_candidate(of), reference, blocks),
                    cuts,
                );
                intersect_with_interval(self.to_reference.get_mut(of), found);
            }
        }
        intersect_with_interval(
            Some(&mut self.twin),
            interval_from_signed_ranks(&log_ratios(&figures.twin, reference, blocks), cuts),
        );
    }

    fn narrow_pair_bounds(
        &mut self,
        (of, to): (usize, usize),
        ratios: &[f64],
        cuts: ExcludedRankCounts,
    ) {
        let mut walsh = WalshAverages::new(ratios);
        let median = walsh.median().unwrap_or(0.0);
        let bounds = cuts
            .best
            .and_then(|cut| Some((walsh.lower_bound(cut)?, -walsh.upper_bound(cut)?)));
        let (there, back) = (of * self.candidates + to, to * self.candidates + of);
        let (low, low_of_inverse) = bounds.unwrap_or((f64::NEG_INFINITY, f64::NEG_INFINITY));
        for (at, median, low) in [(there, median, low), (back, -median, low_of_inverse)] {
            if let Some(pair) = self.pairs.get_mut(at) {
                pair.median = median;
                pair.lower_bound = pair.lower_bound.max(low);
            }
        }
    }

    /// 0 before the first analysis.
    #[cfg(any(test, feature = "testing"))]
    pub fn analysed_block_count(&self) -> usize {
        self.blocks
    }

    fn log_ratio_lower_bound(&self, of: usize, to: usize) -> f64 {
        let pair = self.pairs.get(of * self.candidates + to);
        pair.map_or(f64::NEG_INFINITY, |pair| pair.lower_bound)
    }

    /// The probability of an error about this pair is at most 5 % over all analyses together.
    #[cfg(any(test, feature = "testing"))]
    pub fn pair_outcome(&self, of: usize, to: usize) -> PairOutcome {
        let (faster, slower) = (
            self.log_ratio_lower_bound(of, to),
            self.log_ratio_lower_bound(to, of),
        );
        if self.is_inconclusive() {
            PairOutcome::Inconclusive
        } else if faster > 0.0 {
            PairOutcome::Faster
        } else if slower > 0.0 {
            PairOutcome::Slower
        } else if faster > -EQUIVALENCE_MARGIN && slower > -EQUIVALENCE_MARGIN {
            PairOutcome::Equivalent
        } else {
            PairOutcome::Undecided
        }
    }

    /// Lower and upper bound of the log-ratio of `of` to `to`; `None` before an analysis with
    /// enough blocks.
    #[cfg(any(test, feature = "testing"))]
    pub fn log_ratio_bounds(&self, of: usize, to: usize) -> Option<(f64, f64)> {
        let (low, high) = (
            self.log_ratio_lower_bound(of, to),
            -self.log_ratio_lower_bound(to, of),
        );
        (low.is_finite() && high.is_finite()).then_some((low, high))
    }

    /// The interval of the log-ratio of a candidate's throughput to the reference's; `None` for the
    /// reference itself, and with too few blocks.
    pub fn interval_to_reference(&self, candidate: usize) -> Option<LogRatioInterval> {
        self.to_reference.get(candidate).copied().flatten()
    }

    pub(crate) fn twin_interval(&self) -> Option<LogRatioInterval> {
        self.twin
    }

    /// True if the two runs of the reference differ, which makes every other difference worthless.
    fn is_inconclusive(&self) -> bool {
        self.twin
            .is_some_and(|twin| twin.low > 0.0 || twin.high < 0.0)
    }

    /// Candidates that are not shown to be slower than another one, in ascending order.
    pub fn candidates_not_shown_slower(&self) -> Vec<usize> {
        let beaten = |one: usize| {
            (0..self.candidates).any(|other| self.log_ratio_lower_bound(other, one) > 0.0)
        };
        (0..self.candidates).filter(|one| !beaten(*one)).collect()
    }

    /// Candidates of [`Self::candidates_not_shown_slower`] that are shown to be within 5 % of the
    /// best.
    pub fn candidates_equivalent_to_best(&self) -> Vec<usize> {
        let set = self.candidates_not_shown_slower();
        let near = |one: &usize| {
            set.iter().all(|other| {
                other == one || self.log_ratio_lower_bound(*one, *other) > -EQUIVALENCE_MARGIN
            })
        };
        set.iter().copied().filter(near).collect()
    }

    pub fn outcome(&self) -> ComparisonOutcome {
        let set = self.candidates_not_shown_slower();
        if self.is_inconclusive() {
            ComparisonOutcome::Inconclusive
        } else if self.blocks == 0 || self.twin.is_none() || self.candidates == 0 {
            ComparisonOutcome::TooFewBlocks
        } else if let [one] = set.as_slice() {
            ComparisonOutcome::Best(*one)
        } else if self.candidates_equivalent_to_best().len() == set.len() {
            ComparisonOutcome::Equivalent(set)
        } else {
            ComparisonOutcome::Undecided(set)
        }
    }

    /// Estimates how many blocks in total settle the outcome; `None` without an estimate, or unless
    /// the outcome is undecided.
    pub fn blocks_needed(&self) -> Option<usize> {
        let ComparisonOutcome::Undecided(set) = self.outcome() else {
            return None;
        };
        let pairs = set
            .iter()
            .flat_map(|of| set.iter().map(move |to| (*of, *to)))
            .filter(|(of, to)| of != to);
        let need = |(of, to): (usize, usize)| {
            let PairEstimate {
                lower_bound,
                median,
            } = *self.pairs.get(of * self.candidates + to)?;
            // A pair is settled when the lower bound reaches 0. For nearly equal candidates,
            // reaching minus [`EQUIVALENCE_MARGIN`] suffices.
            let distance = if median > EQUIVALENCE_MARGIN / 2.0 {
                median
            } else {
                median + EQUIVALENCE_MARGIN
            };
            let reach = (median - lower_bound) / distance.max(EQUIVALENCE_MARGIN / 10.0);
            (median > -EQUIVALENCE_MARGIN / 2.0 && reach.is_finite())
                .then_some(self.blocks as f64 * reach * reach)
        };
        let most = pairs.filter_map(need).fold(f64::NAN, f64::max);
        most.is_finite()
            .then(|| floor_to_usize(most.clamp(self.blocks as f64 + 1.0, 1e6)))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComparisonOutcome {
    TooFewBlocks,
    /// Two runs of the reference differ, so no other difference counts.
    Inconclusive,
    /// Every other candidate is shown to be slower than some candidate.
    Best(usize),
    /// All candidates that may be best are within 5 % of each other.
    Equivalent(Vec<usize>),
    /// One of these candidates is the best, or within 5 % of the best; more blocks may narrow the
    /// list.
    Undecided(Vec<usize>),
}

impl ComparisonOutcome {
    /// True if the trial needs more blocks.
    pub fn needs_more_blocks(&self) -> bool {
        matches!(self, Self::TooFewBlocks | Self::Undecided(_))
    }
}

fn interval_from_signed_ranks(
    ratios: &[f64],
    cuts: ExcludedRankCounts,
) -> Option<LogRatioInterval> {
    let mut walsh = WalshAverages::new(ratios);
    let cut = cuts.standalone?;
    Some(LogRatioInterval {
        low: walsh.lower_bound(cut)?,
        value: walsh.median()?,
        high: walsh.upper_bound(cut)?,
    })
}

/// The interval of a log-ratio from paired figures, with the error probability of one analysis;
/// `None` with too few pairs.
pub fn log_ratio_interval(ratios: &[f64]) -> Option<LogRatioInterval> {
    interval_from_signed_ranks(ratios, ExcludedRankCounts::new(ratios.len(), 2))
}

fn intersect_with_interval(
    place: Option<&mut Option<LogRatioInterval>>,
    found: Option<LogRatioInterval>,
) {
    let (Some(place), Some(found)) = (place, found) else {
        return;
    };
    *place = Some(place.map_or(found, |before| before.intersection_or_self(found)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulated_log_throughput(effects: &[f64], blocks: usize, noise: f64) -> PairedLogThroughput {
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            noise * ((state >> 33) as f64 / f64::from(1u32 << 31) - 0.5)
        };
        let mut row = |effect: &f64| (0..blocks).map(|_| effect + next()).collect::<Vec<f64>>();
        PairedLogThroughput {
            candidates: effects.iter().map(&mut row).collect(),
            twin: row(&0.0),
        }
    }

    fn outcome_of_effects(
        effects: &[f64],
        blocks: usize,
        noise: f64,
        ending: TrialState,
    ) -> ComparisonOutcome {
        PairwiseComparison::from_log_throughput(
            &simulated_log_throughput(effects, blocks, noise),
            ending,
        )
        .outcome()
    }

    #[test]
    fn clear_effects_give_clear_outcomes() {
        assert_eq!(
            outcome_of_effects(&[0.0, 0.3, -0.3], 12, 0.1, TrialState::Running),
            ComparisonOutcome::Best(1)
        );
        assert_eq!(
            outcome_of_effects(&[0.0, 0.0, -0.3], 12, 0.01, TrialState::Running),
            ComparisonOutcome::Equivalent(vec![0, 1])
        );
        assert_eq!(
            outcome_of_effects(&[0.0, 0.0, -0.9], 15, 0.5, TrialState::Running),
            ComparisonOutcome::Undecided(vec![0, 1])
        );
    }

    #[test]
    fn pair_outcomes_agree_with_trial_outcome() {
        let found = PairwiseComparison::from_log_throughput(
            &simulated_log_throughput(&[0.0, 0.0, -0.3], 12, 0.01),
            TrialState::Running,
        );
        assert_eq!(found.pair_outcome(0, 1), PairOutcome::Equivalent);
        assert_eq!(
            (found.pair_outcome(0, 2), found.pair_outcome(2, 0)),
            (PairOutcome::Faster, PairOutcome::Slower)
        );
        assert!(
            found
                .log_ratio_bounds(0, 2)
                .is_some_and(|(low, high)| low > 0.0 && low <= 0.3 && high >= 0.3)
        );
        let open = PairwiseComparison::from_log_throughput(
            &simulated_log_throughput(&[0.0, 0.0], 15, 0.5),
            TrialState::Running,
        );
        assert_eq!(open.pair_outcome(0, 1), PairOutcome::Undecided);
        assert_eq!(PairwiseComparison::new(2).log_ratio_bounds(0, 1), None);
    }

    #[test]
    fn too_few_blocks_give_no_outcome() {
        assert_eq!(
            outcome_of_effects(&[0.0, 1.0], 9, 0.01, TrialState::Running),
            ComparisonOutcome::TooFewBlocks
        );
        assert_eq!(
            outcome_of_effects(&[0.0, 1.0], 9, 0.01, TrialState::Budget),
            ComparisonOutcome::TooFewBlocks
        );
        assert_eq!(
            outcome_of_effects(&[], 40, 0.01, TrialState::Budget),
            ComparisonOutcome::TooFewBlocks
        );
        // The 11th block, after the interim analysis of 10 blocks, counts only if the trial ended
        // at the declared time limit.
        let between = |ending| {
            PairwiseComparison::from_log_throughput(
                &simulated_log_throughput(&[0.0, 1.0], 11, 0.01),
                ending,
            )
            .analysed_block_count()
        };
        assert_eq!(
            (between(TrialState::Stopped), between(TrialState::Budget)),
            (10, 11)
        );
    }

    #[test]
    fn differing_reference_runs_are_inconclusive() {
        let mut found = simulated_log_throughput(&[0.0, 0.5], 20, 0.01);
        found.twin.iter_mut().for_each(|v| *v += 0.1);
        assert_eq!(
            PairwiseComparison::from_log_throughput(&found, TrialState::Budget).outcome(),
            ComparisonOutcome::Inconclusive
        );
    }

    #[test]
    fn blocks_needed_only_while_undecided() {
        let open = PairwiseComparison::from_log_throughput(
            &simulated_log_throughput(&[0.0, 0.0, -0.9], 15, 0.5),
            TrialState::Running,
        );
        assert!(
            open.blocks_needed()
                .is_some_and(|needed| (16..10_000).contains(&needed))
        );
        let settled = PairwiseComparison::from_log_throughput(
            &simulated_log_throughput(&[0.0, 0.3], 12, 0.1),
            TrialState::Running,
        );
        assert_eq!(settled.blocks_needed(), None);
    }

    #[test]
    fn shared_drift_does_not_change_intervals() {
        let still = simulated_log_throughput(&[0.0, 0.1, -0.1], 30, 0.1);
        let mut drifting = still.clone();
        for row in drifting.candidates.iter_mut().chain([&mut drifting.twin]) {
            row.iter_mut()
                .enumerate()
                .for_each(|(block, v)| *v -= block as f64);
        }
        let of = |figures| {
            PairwiseComparison::from_log_throughput(figures, TrialState::Budget)
                .interval_to_reference(1)
                .unwrap()
        };
        assert!((of(&still).low - of(&drifting).low).abs() < 1e-9);
    }

    #[test]
    fn equivalence_margin_is_five_percent() {
        assert!((EQUIVALENCE_MARGIN.exp() - 1.05).abs() < 1e-9);
    }
}
