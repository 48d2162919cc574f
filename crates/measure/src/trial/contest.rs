//! What blocks say about candidates: the set that contains the best, or one within 5 % of it, with
//! 95 % confidence over all looks.
//!
//! Every statement about the best rests on lower bounds of log-ratios in which the true best takes
//! part, and there are as many of those as other candidates. Each bound therefore errs with at most
//! the share of a look divided by the number of candidates (Hsu, *Multiple Comparisons*, ch. 4, on
//! comparisons with the best). Among equal candidates a trial then names a winner in at most 5 % of
//! all cases, and it drops the best in fewer.

use super::looks::{ALPHA_PER_LOOK, Ending, looks};
use super::ranks::{Interval, WalshAverages, cut};

/// What is said of one candidate against another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairOutcome {
    Faster,
    /// It is slower.
    Slower,
    /// Neither is more than 5 % faster.
    Alike,
    Open,
    /// The machine told the reference from itself.
    CannotTell,
}

/// What makes no difference that matters: a twentieth more throughput, as the logarithm of the
/// ratio.
pub const MARGIN: f64 = 0.048_790_164_169_432;

/// How many Walsh averages lie outside the bounds at a number of blocks.
#[derive(Clone, Copy, Debug)]
pub struct Cuts {
    /// For a bound about the best; `None` where there are too few blocks.
    pub best: Option<usize>,
    /// For an interval that stands on its own.
    pub alone: Option<usize>,
}

impl Cuts {
    /// Those for so many blocks and candidates.
    pub fn new(blocks: usize, candidates: usize) -> Self {
        let alpha = ALPHA_PER_LOOK / candidates.max(2) as f64;
        Self {
            best: cut(blocks, alpha),
            alone: cut(blocks, ALPHA_PER_LOOK / 2.0),
        }
    }
}

/// Throughputs of one load: a row for each candidate, with the logarithm of each complete block's
/// figure, and one for the reference's twin. All rows have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairedFigures {
    /// The candidates, the reference first.
    pub candidates: Vec<Vec<f64>>,
    /// The reference again, under another name.
    pub twin: Vec<f64>,
}

impl PairedFigures {
    pub fn blocks(&self) -> usize {
        self.candidates
            .iter()
            .chain([&self.twin])
            .map(Vec::len)
            .min()
            .unwrap_or(0)
    }

    fn row(&self, candidate: usize) -> &[f64] {
        self.candidates
            .get(candidate)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }
}

/// The log-ratios of two rows in the first blocks.
fn ratios(of: &[f64], to: &[f64], blocks: usize) -> Vec<f64> {
    of.iter().zip(to).take(blocks).map(|(a, b)| a - b).collect()
}

/// The bounds of a trial, which every look narrows.
#[derive(Clone, Debug)]
pub struct Contest {
    candidates: usize,
    /// The lower bound of the log-ratio of one candidate to another, row by row; minus infinity
    /// before there is one.
    lower: Vec<f64>,
    middle: Vec<f64>,
    /// The interval of each candidate's log-ratio to the reference.
    to_reference: Vec<Option<Interval>>,
    /// The interval of the twin's log-ratio to the reference.
    twin: Option<Interval>,
    blocks: usize,
}

impl Contest {
    /// A contest before its first look.
    pub fn new(candidates: usize) -> Self {
        let pairs = candidates * candidates;
        Self {
            candidates,
            lower: vec![f64::NEG_INFINITY; pairs],
            middle: vec![0.0; pairs],
            to_reference: vec![None; candidates],
            twin: None,
            blocks: 0,
        }
    }

    /// Everything that figures say up to now.
    pub fn judged(figures: &PairedFigures, ending: Ending) -> Self {
        let candidates = figures.candidates.len();
        let mut contest = Self::new(candidates);
        for blocks in looks(figures.blocks(), ending) {
            contest.look(figures, blocks, Cuts::new(blocks, candidates));
        }
        contest
    }

    /// One look at the first blocks.
    pub fn look(&mut self, figures: &PairedFigures, blocks: usize, cuts: Cuts) {
        self.blocks = blocks;
        let reference = figures.row(0);
        for of in 0..self.candidates {
            for to in of + 1..self.candidates {
                self.compare(
                    (of, to),
                    &ratios(figures.row(of), figures.row(to), blocks),
                    cuts,
                );
            }
            if of > 0 {
                let found = alone(&ratios(figures.row(of), reference, blocks), cuts);
                narrow(self.to_reference.get_mut(of), found);
            }
        }
        narrow(
            Some(&mut self.twin),
            alone(&ratios(&figures.twin, reference, blocks), cuts),
        );
    }

    fn compare(&mut self, (of, to): (usize, usize), ratios: &[f64], cuts: Cuts) {
        let mut walsh = WalshAverages::new(ratios);
        let middle = walsh.middle().unwrap_or(0.0);
        let bounds = cuts
            .best
            .and_then(|cut| Some((walsh.lower(cut)?, -walsh.upper(cut)?)));
        let (there, back) = (of * self.candidates + to, to * self.candidates + of);
        for (at, value, low) in [
            (there, middle, bounds.map(|b| b.0)),
            (back, -middle, bounds.map(|b| b.1)),
        ] {
            if let Some(place) = self.middle.get_mut(at) {
                *place = value;
            }
            if let (Some(place), Some(low)) = (self.lower.get_mut(at), low) {
                *place = place.max(low);
            }
        }
    }

    /// The blocks of the last look; 0 before the first.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// The lower bound of the log-ratio of one candidate to another.
    fn lower(&self, of: usize, to: usize) -> f64 {
        self.lower
            .get(of * self.candidates + to)
            .copied()
            .unwrap_or(f64::NEG_INFINITY)
    }

    /// What is said of one candidate against another, at 95 % confidence over all looks.
    pub fn between(&self, of: usize, to: usize) -> PairOutcome {
        let (faster, slower) = (self.lower(of, to), self.lower(to, of));
        if self.is_inconclusive() {
            PairOutcome::CannotTell
        } else if faster > 0.0 {
            PairOutcome::Faster
        } else if slower > 0.0 {
            PairOutcome::Slower
        } else if faster > -MARGIN && slower > -MARGIN {
            PairOutcome::Alike
        } else {
            PairOutcome::Open
        }
    }

    /// The bounds of the log-ratio of one candidate to another; `None` before there are any.
    pub fn bounds(&self, of: usize, to: usize) -> Option<(f64, f64)> {
        let (low, high) = (self.lower(of, to), -self.lower(to, of));
        (low.is_finite() && high.is_finite()).then_some((low, high))
    }

    /// The interval of a candidate's log-ratio to the reference; `None` for the reference, and with
    /// too few blocks.
    pub fn to_reference(&self, candidate: usize) -> Option<Interval> {
        self.to_reference.get(candidate).copied().flatten()
    }

    /// The interval of the reference's log-ratio to itself.
    pub fn twin(&self) -> Option<Interval> {
        self.twin
    }

    /// Whether the machine tells the reference from itself, so that it cannot tell anything else.
    fn is_inconclusive(&self) -> bool {
        self.twin
            .is_some_and(|twin| twin.low > 0.0 || twin.high < 0.0)
    }

    /// The candidates that may still be the best, in order.
    pub fn may_be_best(&self) -> Vec<usize> {
        let beaten = |one: usize| (0..self.candidates).any(|other| self.lower(other, one) > 0.0);
        (0..self.candidates).filter(|one| !beaten(*one)).collect()
    }

    /// The candidates among them that are shown to be within 5 % of the best.
    pub fn near_best(&self) -> Vec<usize> {
        let set = self.may_be_best();
        let near = |one: &usize| {
            set.iter()
                .all(|other| other == one || self.lower(*one, *other) > -MARGIN)
        };
        set.iter().copied().filter(near).collect()
    }

    pub fn outcome(&self) -> TrialOutcome {
        let set = self.may_be_best();
        if self.is_inconclusive() {
            TrialOutcome::CannotTell
        } else if self.blocks == 0 || self.twin.is_none() || self.candidates == 0 {
            TrialOutcome::TooFew
        } else if let [one] = set.as_slice() {
            TrialOutcome::Best(*one)
        } else if self.near_best().len() == set.len() {
            TrialOutcome::Alike(set)
        } else {
            TrialOutcome::Open(set)
        }
    }

    /// About how many blocks would settle it, if the rest were like these; `None` where nothing is
    /// known yet, or it is settled.
    pub fn blocks_needed(&self) -> Option<usize> {
        let TrialOutcome::Open(set) = self.outcome() else {
            return None;
        };
        let pairs = set
            .iter()
            .flat_map(|of| set.iter().map(move |to| (*of, *to)))
            .filter(|(of, to)| of != to);
        let need = |(of, to): (usize, usize)| {
            let (middle, lower) = (
                *self.middle.get(of * self.candidates + to)?,
                self.lower(of, to),
            );
            // It is settled when the bound reaches 0 from above, or the margin from below.
            let way = if middle > MARGIN / 2.0 {
                middle
            } else {
                middle + MARGIN
            };
            let reach = (middle - lower) / way.max(MARGIN / 10.0);
            (middle > -MARGIN / 2.0 && reach.is_finite())
                .then_some(self.blocks as f64 * reach * reach)
        };
        let most = pairs.filter_map(need).fold(f64::NAN, f64::max);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bounded"
        )]
        (most.is_finite()).then(|| most.clamp(self.blocks as f64 + 1.0, 1e6) as usize)
    }
}

/// What a trial says about one load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialOutcome {
    /// There are too few blocks for any statement.
    TooFew,
    /// The reference differs from itself: this machine cannot tell today.
    CannotTell,
    /// Every other candidate is shown to be slower than some other.
    Best(usize),
    /// All that may be the best are within 5 % of each other.
    Alike(Vec<usize>),
    /// One of these is the best, or within 5 % of it; more blocks would say more.
    Open(Vec<usize>),
}

impl TrialOutcome {
    /// Whether more blocks may change it.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::TooFew | Self::Open(_))
    }
}

/// An interval of log-ratios that stands on its own; `None` with too few of them.
fn alone(ratios: &[f64], cuts: Cuts) -> Option<Interval> {
    let mut walsh = WalshAverages::new(ratios);
    let cut = cuts.alone?;
    Some(Interval {
        low: walsh.lower(cut)?,
        value: walsh.middle()?,
        high: walsh.upper(cut)?,
    })
}

/// The interval of log-ratios of pairs that stand on their own, at one look; `None` with too few of
/// them.
pub fn interval(ratios: &[f64]) -> Option<Interval> {
    alone(ratios, Cuts::new(ratios.len(), 2))
}

fn narrow(place: Option<&mut Option<Interval>>, found: Option<Interval>) {
    let (Some(place), Some(found)) = (place, found) else {
        return;
    };
    *place = Some(place.map_or(found, |before| before.narrowed(found)));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that differ by a constant and a little noise that is the same in every test.
    fn figures(effects: &[f64], blocks: usize, noise: f64) -> PairedFigures {
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            noise * ((state >> 33) as f64 / f64::from(1u32 << 31) - 0.5)
        };
        let mut row = |effect: &f64| (0..blocks).map(|_| effect + next()).collect::<Vec<f64>>();
        PairedFigures {
            candidates: effects.iter().map(&mut row).collect(),
            twin: row(&0.0),
        }
    }

    fn outcome(effects: &[f64], blocks: usize, noise: f64, ending: Ending) -> TrialOutcome {
        Contest::judged(&figures(effects, blocks, noise), ending).outcome()
    }

    #[test]
    fn clear_cases_are_said_clearly() {
        assert_eq!(
            outcome(&[0.0, 0.3, -0.3], 12, 0.1, Ending::Running),
            TrialOutcome::Best(1)
        );
        assert_eq!(
            outcome(&[0.0, 0.0, -0.3], 12, 0.01, Ending::Running),
            TrialOutcome::Alike(vec![0, 1])
        );
        assert_eq!(
            outcome(&[0.0, 0.0, -0.9], 15, 0.5, Ending::Running),
            TrialOutcome::Open(vec![0, 1])
        );
    }

    #[test]
    fn pairs_are_told_as_the_whole_is() {
        let found = Contest::judged(&figures(&[0.0, 0.0, -0.3], 12, 0.01), Ending::Running);
        assert_eq!(found.between(0, 1), PairOutcome::Alike);
        assert_eq!(
            (found.between(0, 2), found.between(2, 0)),
            (PairOutcome::Faster, PairOutcome::Slower)
        );
        assert!(
            found
                .bounds(0, 2)
                .is_some_and(|(low, high)| low > 0.0 && low <= 0.3 && high >= 0.3)
        );
        let open = Contest::judged(&figures(&[0.0, 0.0], 15, 0.5), Ending::Running);
        assert_eq!(open.between(0, 1), PairOutcome::Open);
        assert_eq!(Contest::new(2).bounds(0, 1), None);
    }

    #[test]
    fn too_few_blocks_say_nothing() {
        assert_eq!(
            outcome(&[0.0, 1.0], 9, 0.01, Ending::Running),
            TrialOutcome::TooFew
        );
        assert_eq!(
            outcome(&[0.0, 1.0], 9, 0.01, Ending::Budget),
            TrialOutcome::TooFew
        );
        assert_eq!(outcome(&[], 40, 0.01, Ending::Budget), TrialOutcome::TooFew);
        // Blocks between looks count at a declared end alone.
        let between = |ending| Contest::judged(&figures(&[0.0, 1.0], 11, 0.01), ending).blocks();
        assert_eq!(
            (between(Ending::Stopped), between(Ending::Budget)),
            (10, 11)
        );
    }

    #[test]
    fn a_reference_that_differs_from_itself_ends_everything() {
        let mut found = figures(&[0.0, 0.5], 20, 0.01);
        found.twin.iter_mut().for_each(|v| *v += 0.1);
        assert_eq!(
            Contest::judged(&found, Ending::Budget).outcome(),
            TrialOutcome::CannotTell
        );
    }

    #[test]
    fn what_is_missing_is_estimated_only_while_it_is_open() {
        let open = Contest::judged(&figures(&[0.0, 0.0, -0.9], 15, 0.5), Ending::Running);
        assert!(
            open.blocks_needed()
                .is_some_and(|needed| (16..10_000).contains(&needed))
        );
        let settled = Contest::judged(&figures(&[0.0, 0.3], 12, 0.1), Ending::Running);
        assert_eq!(settled.blocks_needed(), None);
    }

    #[test]
    fn a_drift_that_all_share_changes_nothing() {
        let still = figures(&[0.0, 0.1, -0.1], 30, 0.1);
        let mut drifting = still.clone();
        for row in drifting.candidates.iter_mut().chain([&mut drifting.twin]) {
            row.iter_mut()
                .enumerate()
                .for_each(|(block, v)| *v -= block as f64);
        }
        let of = |figures| {
            Contest::judged(figures, Ending::Budget)
                .to_reference(1)
                .unwrap()
        };
        assert!((of(&still).low - of(&drifting).low).abs() < 1e-9);
    }

    #[test]
    fn the_margin_is_five_percent() {
        assert!((MARGIN.exp() - 1.05).abs() < 1e-9);
    }
}
