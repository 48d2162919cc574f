use super::LoadComparison;
use super::record::{CellSubject, TrialRecord};
use super::signed_ranks::LogRatioInterval;
use crate::measure::median_of;

#[derive(Clone, Debug, PartialEq)]
pub struct ForestPlotRow {
    /// Name of the candidate; the second run of the reference has the suffix `again`.
    pub name: String,
    /// Commits per second, median of the blocks; `None` without a sample.
    pub rate: Option<f64>,
    pub place: CandidateStanding,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CandidateStanding {
    Reference {
        /// True if the candidate is not shown to be slower than another one.
        may_be_best: bool,
    },
    Ranked {
        may_be_best: bool,
        /// Log-ratio to the reference; `None` with too few blocks.
        interval: Option<LogRatioInterval>,
    },
    /// The reference again, under another name; the interval shows the resolution of the trial.
    Twin {
        interval: Option<LogRatioInterval>,
    },
    Unranked,
}

impl CandidateStanding {
    pub fn interval(self) -> Option<LogRatioInterval> {
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
    /// The rows of the plot: ranked candidates, the second run of the reference, unranked
    /// candidates.
    pub fn forest_plot_rows(&self, result: &LoadComparison) -> Vec<ForestPlotRow> {
        let best = result.comparison.candidates_not_shown_slower();
        let ranked = result.ranked.iter().enumerate().map(|(place, candidate)| {
            let (may_be_best, interval) = (
                best.contains(&place),
                result.comparison.interval_to_reference(place),
            );
            let place = if place == 0 {
                CandidateStanding::Reference { may_be_best }
            } else {
                CandidateStanding::Ranked {
                    may_be_best,
                    interval,
                }
            };
            self.candidate_plot_row(*candidate, result.index, place)
        });
        let twin = ForestPlotRow {
            name: format!("{} again", self.candidate_name(0)),
            rate: self.median_commit_rate(CellSubject::Twin, result.index),
            place: CandidateStanding::Twin {
                interval: result.comparison.twin_interval(),
            },
        };
        let others =
            (0..self.candidates.len()).filter(|candidate| !result.ranked.contains(candidate));
        let below = others.map(|candidate| {
            self.candidate_plot_row(candidate, result.index, CandidateStanding::Unranked)
        });
        ranked.chain([twin]).chain(below).collect()
    }

    fn candidate_plot_row(
        &self,
        candidate: usize,
        load: usize,
        place: CandidateStanding,
    ) -> ForestPlotRow {
        ForestPlotRow {
            name: self.candidate_name(candidate).to_owned(),
            rate: self.median_commit_rate(CellSubject::Candidate(candidate), load),
            place,
        }
    }

    pub(crate) fn median_commit_rate(&self, runner: CellSubject, load: usize) -> Option<f64> {
        let rates = self.commit_rates(runner, load);
        (!rates.is_empty()).then(|| median_of(&rates))
    }

    /// The rates of commits directly to the extent, without a file system, in commits per second,
    /// block by block.
    pub fn raw_extent_commit_rates(&self) -> Vec<f64> {
        let rates = self.commit_rates(CellSubject::Floor, 0);
        rates.into_iter().filter(|rate| rate.is_finite()).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::trial::Candidate;
    use crate::trial::fixtures::record_with_commit_rates;

    #[test]
    fn forest_plot_rows_are_ranked_then_twin_then_unranked() {
        let candidates = [
            (Candidate::Ext4, 4_000.0, Some(1_000)),
            (Candidate::Ext4Nobarrier, 90_000.0, Some(0)),
            (Candidate::Xfs, 5_000.0, Some(1_000)),
        ];
        let record = record_with_commit_rates(&candidates, 15);
        let rows = record.forest_plot_rows(&record.load_comparisons()[0]);
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
        assert_eq!(record.raw_extent_commit_rates().len(), 15);
    }
}
