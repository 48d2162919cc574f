//! What a record says to whoever chooses: which candidates may be the best under every load that
//! decides, and which sync method is faster on each.
//!
//! It is silent where anything is open, because a reader can wait and a choice cannot. Whether the
//! record is about the disk at hand is left to the pipeline.

use super::candidate::Contender;
use super::contest::TrialOutcome;
use super::load::CommitShape;
use super::looks::Ending;
use super::methods::MethodContest;
use super::record::TrialRecord;
use super::result::LoadResult;

/// The answer of a trial that is settled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrialAnswer {
    /// Those that may be the best, or are within 5 % of it, under every deciding load.
    pub best: Vec<Contender>,
    /// Those that were shown to be slower under one of them.
    pub slower: Vec<Contender>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialSilence {
    /// It goes on, or was cut off.
    Unfinished,
    /// Nothing could be compared.
    NoResult,
    /// No load in it is that of a database.
    OtherLoads,
    /// The reference differed from itself.
    CannotTell,
    /// A load that decides is open.
    Open,
}

impl TrialSilence {
    /// As the end of a sentence about the trial.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unfinished => "the trial did not finish",
            Self::NoResult => "the trial compared nothing",
            Self::OtherLoads => "the trial ran no load that decides for a database",
            Self::CannotTell => {
                "the first candidate differed from itself, so the machine could not tell"
            }
            Self::Open => "it is not settled",
        }
    }
}

impl TrialRecord {
    /// What a settled trial says of file systems.
    pub fn answer(&self) -> Result<TrialAnswer, TrialSilence> {
        match self.ending {
            Ending::Running => return Err(TrialSilence::Unfinished),
            Ending::Settled | Ending::Budget | Ending::Stopped => {}
        }
        let results = self.results();
        if results.is_empty() {
            return Err(TrialSilence::NoResult);
        }
        let mut sets = Vec::new();
        for result in results
            .iter()
            .filter(|result| result.load.decides_for_a_database())
        {
            sets.push(decided(result)?);
        }
        let Some(ranked) = results
            .first()
            .map(|result| &result.ranked)
            .filter(|_| !sets.is_empty())
        else {
            return Err(TrialSilence::OtherLoads);
        };
        let (best, slower) = ranked
            .iter()
            .partition(|one| sets.iter().all(|set| set.contains(*one)));
        Ok(TrialAnswer {
            best: self.contenders(best),
            slower: self.contenders(slower),
        })
    }

    fn contenders(&self, numbers: Vec<usize>) -> Vec<Contender> {
        numbers
            .into_iter()
            .filter_map(|at| Some(self.candidates.get(at)?.candidate))
            .collect()
    }

    /// The logarithm of what open_datasync gains over fdatasync for one client on a candidate's
    /// file system, as the ends of an interval; `None` where the trial has no such loads, or too
    /// few blocks.
    pub fn gain_of_open_datasync(&self, candidate: Contender) -> Option<(f64, f64)> {
        let of = |found: &MethodContest| {
            self.candidates
                .get(found.candidate)
                .map(|made| made.candidate)
        };
        let found = self
            .methods()
            .into_iter()
            .find(|found| of(found) == Some(candidate))?;
        let is_other = |(load, _): &(usize, &str)| {
            self.loads
                .get(*load)
                .is_some_and(|load| load.shape == CommitShape::OpenDatasync)
        };
        let gain = found
            .contest
            .to_reference(found.methods.iter().position(is_other)?)?;
        Some((gain.low, gain.high))
    }
}

/// The candidates that may be the best under a load, by number in the record; an error while that
/// is open.
fn decided(result: &LoadResult) -> Result<Vec<usize>, TrialSilence> {
    match result.contest.outcome() {
        TrialOutcome::Best(place) => Ok(result.named(&[place])),
        TrialOutcome::Alike(set) => Ok(result.named(&set)),
        TrialOutcome::CannotTell => Err(TrialSilence::CannotTell),
        TrialOutcome::TooFew | TrialOutcome::Open(_) => Err(TrialSilence::Open),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::load::{Preset, TrialLoad};
    use crate::trial::record::Runner;
    use crate::trial::sample::record;

    const ALL: [(Contender, f64, Option<u64>); 3] = [
        (Contender::Ext4, 4_000.0, Some(1_000)),
        (Contender::Xfs, 5_000.0, Some(1_000)),
        (Contender::Ext4Nobarrier, 90_000.0, Some(0)),
    ];

    #[test]
    fn only_what_is_settled_is_an_answer() {
        let settled = record(&ALL, 15);
        let answer = settled.answer().unwrap();
        assert_eq!(
            (answer.best, answer.slower),
            (vec![Contender::Xfs], vec![Contender::Ext4]),
            "who makes no promise is neither"
        );
        assert_eq!(record(&ALL, 9).answer(), Err(TrialSilence::Open));
        assert_eq!(
            TrialRecord {
                ending: Ending::Running,
                ..settled.clone()
            }
            .answer(),
            Err(TrialSilence::Unfinished)
        );
        assert_eq!(record(&ALL[..1], 15).answer(), Err(TrialSilence::NoResult));
        let files = TrialLoad::of(Preset::FsMark, &[1]);
        assert_eq!(
            TrialRecord {
                loads: files,
                ..settled.clone()
            }
            .answer(),
            Err(TrialSilence::OtherLoads)
        );
        let mut twin = settled;
        for cell in twin.blocks.iter_mut().flat_map(|block| &mut block.cells) {
            if cell.runner == Runner::Twin {
                cell.samples
                    .iter_mut()
                    .for_each(|sample| sample.seconds *= 2.0);
            }
        }
        assert_eq!(twin.answer(), Err(TrialSilence::CannotTell));
    }

    #[test]
    fn methods_are_compared_within_each_cell() {
        let mut both = record(&ALL[..2], 15);
        both.loads.push(TrialLoad {
            clients: 1,
            shape: CommitShape::OpenDatasync,
        });
        for cell in both.blocks.iter_mut().flat_map(|block| &mut block.cells) {
            let mut more = cell.samples[0];
            more.seconds /= if cell.runner == Runner::Candidate(1) {
                1.3
            } else {
                1.0
            };
            cell.samples.push(more);
        }
        let gain = |of| both.gain_of_open_datasync(of).unwrap();
        assert!(gain(Contender::Xfs).0 > 0.25 && gain(Contender::Ext4).1 < 0.01);
        assert_eq!(both.gain_of_open_datasync(Contender::Btrfs), None);
        both.ending = Ending::Stopped;
        both.blocks.truncate(9);
        assert_eq!(
            both.gain_of_open_datasync(Contender::Xfs),
            None,
            "before the first look"
        );
    }
}
