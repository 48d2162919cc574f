//! The rows of a forest plot: how candidates stand under a load, for pictures and the running
//! screen.

use super::candidate::Candidate;
use super::record::{CellTarget, TrialRecord};
use super::result::LoadResult;
use super::signed_ranks::Interval;
use crate::measure::median_of;

#[derive(Clone, Debug, PartialEq)]
pub struct ForestRow {
    /// The candidate's name; the twin has its own.
    pub name: String,
    /// Commits per second, median of the blocks; `None` before the first.
    pub rate: Option<f64>,
    pub place: ForestPlace,
}

/// Place of a row relative to the first candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ForestPlace {
    Reference {
        /// True if it may be the best, or is within 5 % of it.
        may_be_best: bool,
    },
    Ranked {
        may_be_best: bool,
        /// Log-ratio to the first; `None` with too few blocks.
        interval: Option<Interval>,
    },
    /// The first again, under another name: the resolution of the trial.
    Twin { interval: Option<Interval> },
    /// Measured, never ranked.
    Unranked,
}

impl ForestPlace {
    pub fn interval(self) -> Option<Interval> {
        match self {
            Self::Ranked { interval, .. } | Self::Twin { interval } => interval,
            Self::Reference { .. } | Self::Unranked => None,
        }
    }

    pub fn may_be_best(self) -> bool {
        match self {
            Self::Reference { may_be_best } | Self::Ranked { may_be_best, .. } => may_be_best,
            Self::Twin { .. } | Self::Unranked => false,
        }
    }
}

impl TrialRecord {
    /// Rows of a load: ranked candidates, the twin, then the unranked.
    pub fn forest(&self, result: &LoadResult) -> Vec<ForestRow> {
        let best = result.comparison.may_be_best();
        let ranked = result.ranked.iter().enumerate().map(|(place, candidate)| {
            let (may_be_best, interval) =
                (best.contains(&place), result.comparison.to_reference(place));
            let place = if place == 0 {
                ForestPlace::Reference { may_be_best }
            } else {
                ForestPlace::Ranked {
                    may_be_best,
                    interval,
                }
            };
            self.forest_row(CellTarget::Candidate(*candidate), result.index, place)
        });
        let twin = ForestPlace::Twin {
            interval: result.comparison.twin(),
        };
        let twin = self.forest_row(CellTarget::Twin, result.index, twin);
        let others =
            (0..self.candidates.len()).filter(|candidate| !result.ranked.contains(candidate));
        let below = others.map(|candidate| {
            self.forest_row(
                CellTarget::Candidate(candidate),
                result.index,
                ForestPlace::Unranked,
            )
        });
        ranked.chain([twin]).chain(below).collect()
    }

    fn forest_row(&self, runner: CellTarget, load: usize, place: ForestPlace) -> ForestRow {
        let word = |at: usize| {
            self.candidates
                .get(at)
                .map_or("?", |made| Candidate::name(made.candidate))
        };
        let name = match runner {
            CellTarget::Candidate(at) => word(at).to_owned(),
            CellTarget::Twin => format!("{} again", word(0)),
            CellTarget::Floor => "bare extent".to_owned(),
            CellTarget::Host => "loop file".to_owned(),
        };
        let rates: Vec<f64> = self
            .samples(runner, load)
            .into_iter()
            .flatten()
            .map(|sample| sample.rate())
            .collect();
        ForestRow {
            name,
            rate: (!rates.is_empty()).then(|| median_of(&rates)),
            place,
        }
    }

    /// Commits per second on the bare extent, block by block; `None` in a block without them.
    pub fn floor_rates(&self) -> Vec<Option<f64>> {
        let of = self.samples(CellTarget::Floor, 0);
        of.into_iter()
            .map(|sample| {
                sample
                    .map(|sample| sample.rate())
                    .filter(|rate| rate.is_finite())
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::sample::record;

    #[test]
    fn rows_are_the_ranked_the_twin_and_the_others() {
        let candidates = [
            (Candidate::Ext4, 4_000.0, Some(1_000)),
            (Candidate::Ext4Nobarrier, 90_000.0, Some(0)),
            (Candidate::Xfs, 5_000.0, Some(1_000)),
        ];
        let record = record(&candidates, 15);
        let rows = record.forest(&record.results()[0]);
        let names: Vec<&str> = rows.iter().map(|row| &*row.name).collect();
        assert_eq!(names, ["ext4", "xfs", "ext4 again", "ext4-nobarrier"]);
        let best: Vec<bool> = rows.iter().map(|row| row.place.may_be_best()).collect();
        assert_eq!(best, [false, true, false, false]);
        assert!(
            rows[1]
                .place
                .interval()
                .is_some_and(|found| found.low > 0.15)
        );
        assert_eq!(record.floor_rates().len(), 15);
    }
}
