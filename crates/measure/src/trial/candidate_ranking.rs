//! Answers from a trial's record: the candidates that may be best under every load that counts for
//! a database, and the gain by open_datasync.
//!
//! A record gives no answer while such a load is undecided. The caller checks that the record
//! belongs to the present disk.

use super::candidate::Candidate;
use super::comparison::ComparisonOutcome;
use super::load::LoadShape;
use super::method_comparison::MethodComparison;
use super::record::TrialRecord;
use super::{LoadComparison, TrialState};
use crate::facts::choice;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CandidateRanking {
    /// Candidates that may be the best, or are within 5 % of the best, under every load that counts
    /// for a database.
    pub best: Vec<Candidate>,
    /// Candidates that are slower under at least one load that counts for a database.
    pub slower: Vec<Candidate>,
}

choice! {
    pub enum NoRankingReason {
        /// The trial is still running, or was killed while it ran.
        Unfinished = "the trial did not finish",
        /// The reference is unranked, or every other candidate is.
        NoResult = "the trial had nothing to compare",
        /// None of the trial's loads counts for the choice of a file system for a database's log.
        OtherLoads = "the trial ran no load that counts for the ranking",
        /// Two runs of the reference differ, so no other difference counts.
        Inconclusive = "two runs of the first candidate differed, so the trial was inconclusive",
        Undecided = "the trial is not settled",
    }
}

impl TrialRecord {
    pub fn rank_candidates(&self) -> Result<CandidateRanking, NoRankingReason> {
        match self.ending {
            TrialState::Running => return Err(NoRankingReason::Unfinished),
            TrialState::Settled | TrialState::Budget | TrialState::Stopped => {}
        }
        let results = self.load_comparisons();
        if results.is_empty() {
            return Err(NoRankingReason::NoResult);
        }
        let mut sets = Vec::new();
        for result in results
            .iter()
            .filter(|result| result.load.counts_for_database_ranking())
        {
            sets.push(indices_of_best_candidates(result)?);
        }
        let Some(ranked) = results
            .first()
            .map(|result| &result.ranked)
            .filter(|_| !sets.is_empty())
        else {
            return Err(NoRankingReason::OtherLoads);
        };
        let (best, slower) = ranked
            .iter()
            .partition(|one| sets.iter().all(|set| set.contains(*one)));
        Ok(CandidateRanking {
            best: self.candidates_at_indices(best),
            slower: self.candidates_at_indices(slower),
        })
    }

    fn candidates_at_indices(&self, numbers: Vec<usize>) -> Vec<Candidate> {
        numbers
            .into_iter()
            .filter_map(|at| Some(self.candidates.get(at)?.candidate))
            .collect()
    }

    /// The interval of the log-ratio of open_datasync to fdatasync, for one client on `candidate`.
    /// `None` for an unranked candidate, without loads of both methods, or with too few blocks.
    pub fn open_datasync_log_ratio_interval(&self, candidate: Candidate) -> Option<(f64, f64)> {
        let of = |found: &MethodComparison| {
            self.candidates
                .get(found.candidate)
                .map(|made| made.candidate)
        };
        let found = self
            .method_comparisons()
            .into_iter()
            .find(|found| of(found) == Some(candidate))?;
        let is_other = |(load, _): &(usize, &str)| {
            self.loads
                .get(*load)
                .is_some_and(|load| load.shape == LoadShape::OpenDatasync)
        };
        let gain = found
            .comparison
            .interval_to_reference(found.methods.iter().position(is_other)?)?;
        Some((gain.low, gain.high))
    }
}

fn indices_of_best_candidates(result: &LoadComparison) -> Result<Vec<usize>, NoRankingReason> {
    match result.comparison.outcome() {
        ComparisonOutcome::Best(place) => Ok(result.to_record_indices(&[place])),
        ComparisonOutcome::Equivalent(set) => Ok(result.to_record_indices(&set)),
        ComparisonOutcome::Inconclusive => Err(NoRankingReason::Inconclusive),
        ComparisonOutcome::TooFewBlocks | ComparisonOutcome::Undecided(_) => {
            Err(NoRankingReason::Undecided)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::fixtures::record_with_commit_rates;
    use crate::trial::load::{LoadPreset, TrialLoad};
    use crate::trial::record::CellSubject;

    const ALL: [(Candidate, f64, Option<u64>); 3] = [
        (Candidate::Ext4, 4_000.0, Some(1_000)),
        (Candidate::Xfs, 5_000.0, Some(1_000)),
        (Candidate::Ext4Nobarrier, 90_000.0, Some(0)),
    ];

    #[test]
    fn only_settled_trial_has_a_ranking() {
        let settled = record_with_commit_rates(&ALL, 15);
        let answer = settled.rank_candidates().unwrap();
        assert_eq!(
            (answer.best, answer.slower),
            (vec![Candidate::Xfs], vec![Candidate::Ext4]),
            "who makes no promise is neither"
        );
        assert_eq!(
            record_with_commit_rates(&ALL, 9).rank_candidates(),
            Err(NoRankingReason::Undecided)
        );
        assert_eq!(
            TrialRecord {
                ending: TrialState::Running,
                ..settled.clone()
            }
            .rank_candidates(),
            Err(NoRankingReason::Unfinished)
        );
        assert_eq!(
            record_with_commit_rates(&ALL[..1], 15).rank_candidates(),
            Err(NoRankingReason::NoResult)
        );
        let files = TrialLoad::preset_loads(LoadPreset::FsMark, &[1]);
        assert_eq!(
            TrialRecord {
                loads: files,
                ..settled.clone()
            }
            .rank_candidates(),
            Err(NoRankingReason::OtherLoads)
        );
        let mut twin = settled;
        for cell in twin.blocks.iter_mut().flat_map(|block| &mut block.cells) {
            if cell.runner == CellSubject::Twin {
                cell.samples
                    .iter_mut()
                    .for_each(|sample| sample.seconds *= 2.0);
            }
        }
        assert_eq!(twin.rank_candidates(), Err(NoRankingReason::Inconclusive));
    }

    #[test]
    fn open_datasync_gain_is_estimated_per_candidate() {
        let mut both = record_with_commit_rates(&ALL[..2], 15);
        both.loads.push(TrialLoad {
            clients: 1,
            shape: LoadShape::OpenDatasync,
        });
        for cell in both.blocks.iter_mut().flat_map(|block| &mut block.cells) {
            let mut more = cell.samples[0];
            more.seconds /= if cell.runner == CellSubject::Candidate(1) {
                1.3
            } else {
                1.0
            };
            cell.samples.push(more);
        }
        let gain = |of| both.open_datasync_log_ratio_interval(of).unwrap();
        assert!(gain(Candidate::Xfs).0 > 0.25 && gain(Candidate::Ext4).1 < 0.01);
        assert_eq!(
            both.open_datasync_log_ratio_interval(Candidate::Btrfs),
            None
        );
        both.ending = TrialState::Stopped;
        both.blocks.truncate(9);
        assert_eq!(
            both.open_datasync_log_ratio_interval(Candidate::Xfs),
            None,
            "before the first look"
        );
    }
}
