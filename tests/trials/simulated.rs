//! Simulated trials with known true ratios, under several kinds of noise. All random numbers
//! are seeded.
#![allow(dead_code, reason = "two test binaries use a part each")]

use walwise_measure::trial::{
    ComparisonOutcome, EQUIVALENCE_MARGIN, ExcludedRankCounts, INTERIM_BLOCKS, PairedLogThroughput,
    PairwiseComparison, TrialState,
};

/// SplitMix64 (Steele, Lea, Flood 2014).
pub struct SeededRng(u64);

impl SeededRng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn next_unit_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn next_below(&mut self, n: usize) -> usize {
        usize::try_from(self.next_u64() % n as u64).unwrap_or(0)
    }

    /// Draws a nearly normal number with variance 1: the sum of twelve uniform numbers, less 6.
    fn next_normal(&mut self) -> f64 {
        (0..12).map(|_| self.next_unit_f64()).sum::<f64>() - 6.0
    }

    /// Draws from Student's t with two degrees of freedom, whose variance is infinite.
    fn next_heavy_tailed(&mut self) -> f64 {
        let u = self.next_unit_f64().clamp(1e-12, 1.0 - 1e-12);
        (2.0 * u - 1.0) / (2.0 * u * (1.0 - u)).sqrt()
    }

    fn next_permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.next_below(i + 1));
        }
        order
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseModel {
    /// Each measurement varies by 8 %.
    Calm,
    /// Each measurement varies by 8 % around a speed that drifts slowly.
    Drift,
    /// One measurement in twelve runs at an eighth to a half of the speed.
    Bursts,
    /// The measurements vary with infinite variance.
    HeavyTails,
    /// Another workload comes and goes, and halves the speed while it runs.
    Neighbour,
    /// Runs at full speed until warm, then 40 % slower, then fast again, in a period that no block
    /// length divides.
    Throttling,
}

impl NoiseModel {
    pub const ALL: [Self; 6] = [
        Self::Calm,
        Self::Drift,
        Self::Bursts,
        Self::HeavyTails,
        Self::Neighbour,
        Self::Throttling,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Calm => "calm",
            Self::Drift => "drift",
            Self::Bursts => "bursts",
            Self::HeavyTails => "heavy tails",
            Self::Neighbour => "a neighbour",
            Self::Throttling => "throttling",
        }
    }

    /// Simulates the figures of a trial. `effects` are the true logarithms of the speeds, the
    /// reference first.
    pub fn simulate_trial(self, seed: u64, effects: &[f64], blocks: usize) -> PairedLogThroughput {
        let mut dice = SeededRng::new(seed.wrapping_mul(0x0001_0000_01b3) ^ 0x5bd1);
        let n = effects.len();
        let mut figures = PairedLogThroughput {
            candidates: vec![vec![0.0; blocks]; n],
            twin: vec![0.0; blocks],
        };
        let (mut level, mut busy, mut cell) = (0.0, false, 0usize);
        let phase = dice.next_unit_f64();
        for block in 0..blocks {
            // The last index is the repeated measurement of the reference.
            for candidate in dice.next_permutation(n + 1) {
                cell += 1;
                let scatter = 0.08 * dice.next_normal();
                let noise = match self {
                    Self::Calm => scatter,
                    Self::Drift => {
                        level = 0.98 * level + 0.06 * dice.next_normal();
                        level + scatter
                    }
                    Self::Bursts => {
                        let burst = if dice.next_unit_f64() < 1.0 / 12.0 {
                            0.7 + 1.4 * dice.next_unit_f64()
                        } else {
                            0.0
                        };
                        scatter - burst
                    }
                    Self::HeavyTails => 0.06 * dice.next_heavy_tailed(),
                    Self::Neighbour => {
                        busy = if busy {
                            dice.next_unit_f64() > 0.2
                        } else {
                            dice.next_unit_f64() < 0.05
                        };
                        scatter - if busy { 0.7 } else { 0.0 }
                    }
                    Self::Throttling => {
                        let warm = (cell as f64 / 37.3 + phase).fract();
                        scatter
                            - if warm > 0.45 {
                                0.5 * ((warm - 0.45) * 8.0).min(1.0)
                            } else {
                                0.0
                            }
                    }
                };
                let (row, effect) = match effects.get(candidate) {
                    Some(effect) => (&mut figures.candidates[candidate], effect),
                    None => (&mut figures.twin, &effects[0]),
                };
                row[block] = effect + noise;
            }
        }
        figures
    }
}

pub fn interim_rank_cuts(candidates: usize) -> Vec<(usize, ExcludedRankCounts)> {
    INTERIM_BLOCKS
        .into_iter()
        .map(|look| (look, ExcludedRankCounts::new(look, candidates)))
        .collect()
}

/// Evaluates a trial at each planned interim analysis until one settles the result, at most up to
/// the last one.
pub fn run_interim_analyses(
    figures: &PairedLogThroughput,
    cuts: &[(usize, ExcludedRankCounts)],
) -> PairwiseComparison {
    let mut contest = PairwiseComparison::new(figures.candidates.len());
    for (look, cuts) in cuts
        .iter()
        .filter(|(look, _)| *look <= figures.block_count())
    {
        contest.analyse_first_blocks(figures, *look, *cuts);
        if !contest.outcome().needs_more_blocks() {
            break;
        }
    }
    contest
}

#[derive(Debug, Default)]
pub struct SimulationTally {
    pub trials: usize,
    pub winners: usize,
    pub cannot_tell: usize,
    /// Trials in which every possible best candidate is at least 5 % slower than the true best.
    pub missed: usize,
    /// Trials that called a candidate equivalent to the best although it is at least 5 % slower.
    pub wrong: usize,
    /// Intervals of a ratio to the reference; `outside` counts those that missed the true ratio.
    pub intervals: usize,
    pub outside: usize,
    /// Widths of walwise's intervals and, in `t_widths`, of t-intervals over the same blocks. A
    /// t-interval assumes a single analysis.
    pub widths: Vec<f64>,
    pub t_widths: Vec<f64>,
    pub blocks: Vec<f64>,
    /// Trials that named the truly fastest candidate as the only best one.
    pub found: usize,
}

pub fn simulate_trials(
    machine: NoiseModel,
    effects: &[f64],
    trials: usize,
    blocks: usize,
) -> SimulationTally {
    let cuts = interim_rank_cuts(effects.len());
    let best = effects.iter().copied().fold(f64::MIN, f64::max);
    let mut tally = SimulationTally {
        trials,
        ..SimulationTally::default()
    };
    for seed in 0..trials {
        let figures = machine.simulate_trial(seed as u64, effects, blocks);
        let contest = run_interim_analyses(&figures, &cuts);
        let near = |one: &usize| effects[*one] > best - EQUIVALENCE_MARGIN;
        match contest.outcome() {
            ComparisonOutcome::Best(one) => {
                tally.winners += 1;
                tally.found += usize::from(effects[one] >= best);
            }
            ComparisonOutcome::Inconclusive => tally.cannot_tell += 1,
            ComparisonOutcome::Equivalent(_)
            | ComparisonOutcome::Undecided(_)
            | ComparisonOutcome::TooFewBlocks => {}
        }
        tally.missed += usize::from(!contest.candidates_not_shown_slower().iter().any(near));
        tally.wrong += usize::from(!contest.candidates_equivalent_to_best().iter().all(near));
        let seen = contest.analysed_block_count();
        for (one, effect) in effects.iter().enumerate().skip(1) {
            let Some(interval) = contest.interval_to_reference(one) else {
                continue;
            };
            let truth = effect - effects[0];
            tally.intervals += 1;
            tally.outside += usize::from(!(interval.low..=interval.high).contains(&truth));
            tally.widths.push(interval.high - interval.low);
            let pairs = figures.candidates[one]
                .iter()
                .zip(&figures.candidates[0])
                .take(seen);
            tally.t_widths.push(t_interval_width(
                &pairs.map(|(a, b)| a - b).collect::<Vec<_>>(),
            ));
        }
        tally.blocks.push(seen as f64);
    }
    tally
}

/// Returns the width of a 95 % t-interval, which assumes normal noise and a single analysis.
fn t_interval_width(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // Cornish–Fisher expansion, accurate to a thousandth from 9 degrees of freedom on.
    let (z, df) = (1.959_964_f64, n - 1.0);
    let t = z
        + (z.powi(3) + z) / (4.0 * df)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * df * df);
    2.0 * t * (variance / n).sqrt()
}

/// Returns the median, or 0 for an empty slice.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// Evaluates all blocks once, for conclusions that walwise draws only at the end of a trial.
pub fn analyse_full_trial(
    machine: NoiseModel,
    seed: u64,
    effects: &[f64],
    blocks: usize,
) -> PairwiseComparison {
    PairwiseComparison::from_log_throughput(
        &machine.simulate_trial(seed, effects, blocks),
        TrialState::Budget,
    )
}
