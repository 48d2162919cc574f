//! How the candidates stand under a load, row by row, for whoever draws it: a picture, or a screen
//! while the trial runs.

use super::candidate::Contender;
use super::ranks::Interval;
use super::record::{Runner, TrialRecord};
use super::result::LoadResult;
use crate::measure::median_of;

/// A row of a forest plot.
#[derive(Clone, Debug, PartialEq)]
pub struct ForestRow {
    /// The candidate's word; the reference again has a word of its own.
    pub name: String,
    /// Commits per second, the median of the blocks; `None` before the first.
    pub rate: Option<f64>,
    pub place: ForestPlace,
}

/// Where a row stands against the first candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ForestPlace {
    /// It is the first.
    First {
        /// Whether it may still be the best, or is within 5 % of it.
        may_be_best: bool,
    },
    /// It is compared with the first.
    Ranked {
        may_be_best: bool,
        /// The interval of the log-ratio to the first; `None` with too few blocks.
        interval: Option<Interval>,
    },
    /// The first again under another name: what the trial can tell apart.
    Twin {
        /// The interval of its log-ratio.
        interval: Option<Interval>,
    },
    /// It is measured and never ranked.
    Below,
}

impl ForestPlace {
    pub fn interval(self) -> Option<Interval> {
        match self {
            Self::Ranked { interval, .. } | Self::Twin { interval } => interval,
            Self::First { .. } | Self::Below => None,
        }
    }

    /// Whether it may still be the best.
    pub fn may_be_best(self) -> bool {
        match self {
            Self::First { may_be_best } | Self::Ranked { may_be_best, .. } => may_be_best,
            Self::Twin { .. } | Self::Below => false,
        }
    }
}

impl TrialRecord {
    /// The rows of a load: the ranked candidates, the first again, and who is not ranked.
    pub fn forest(&self, result: &LoadResult) -> Vec<ForestRow> {
        let best = result.contest.may_be_best();
        let ranked = result.ranked.iter().enumerate().map(|(place, candidate)| {
            let (may_be_best, interval) =
                (best.contains(&place), result.contest.to_reference(place));
            let place = if place == 0 {
                ForestPlace::First { may_be_best }
            } else {
                ForestPlace::Ranked {
                    may_be_best,
                    interval,
                }
            };
            self.forest_row(Runner::Candidate(*candidate), result.at, place)
        });
        let twin = ForestPlace::Twin {
            interval: result.contest.twin(),
        };
        let twin = self.forest_row(Runner::Twin, result.at, twin);
        let others =
            (0..self.candidates.len()).filter(|candidate| !result.ranked.contains(candidate));
        let below = others.map(|candidate| {
            self.forest_row(Runner::Candidate(candidate), result.at, ForestPlace::Below)
        });
        ranked.chain([twin]).chain(below).collect()
    }

    fn forest_row(&self, runner: Runner, load: usize, place: ForestPlace) -> ForestRow {
        let word = |at: usize| {
            self.candidates
                .get(at)
                .map_or("?", |made| Contender::word(made.candidate))
        };
        let name = match runner {
            Runner::Candidate(at) => word(at).to_owned(),
            Runner::Twin => format!("{} again", word(0)),
            Runner::Floor => "bare extent".to_owned(),
            Runner::Host => "loop file".to_owned(),
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

    /// Commits per second on the bare extent, block by block; a block without them has none.
    pub fn floor(&self) -> Vec<Option<f64>> {
        let of = self.samples(Runner::Floor, 0);
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
            (Contender::Ext4, 4_000.0, Some(1_000)),
            (Contender::Ext4Nobarrier, 90_000.0, Some(0)),
            (Contender::Xfs, 5_000.0, Some(1_000)),
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
        assert_eq!(record.floor().len(), 15);
    }
}
