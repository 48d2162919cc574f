//! A trial in two stages: many candidates under loads that cost little, then those that may still be the best under loads
//! that cost much. The record of the second stage holds the first, and who was left out follows from the two.
//!
//! The shape of a log's writes does not decide how a whole server runs. A candidate is therefore left out only where the
//! first stage shows, with the confidence of a trial, that it is more than a quarter slower than another one at every
//! number of sessions; the reference and the best of the others always stay.

use super::candidate::Contender;
use super::load::TrialLoad;
use super::looks::{Ending, LOOKS};
use super::promise::Promise;
use super::record::TrialRecord;
use super::result::LoadResult;
use super::server::ServerRecord;

/// The blocks of a first stage, declared before: those of the first look that can tell more than three candidates apart.
pub const FIRST_BLOCKS: usize = LOOKS[1];

/// The share of another one's commits from which a candidate stays.
const NEAR: f64 = 0.75;

/// Whether a first stage can leave out anybody: two always stay.
pub fn first_stage_is_worth_it(candidates: &[Contender]) -> bool {
    candidates.iter().filter(|candidate| candidate.promises_commits()).count() > 2
}

/// Why a candidate is not in the second stage.
#[derive(Clone, Debug, PartialEq)]
pub enum LeftOut {
    /// It failed: a sentence.
    Failed(String),
    /// It keeps no commits.
    Broken,
    /// At every number of sessions it makes at most this share of another one's commits.
    Slower(f64),
}

impl TrialRecord {
    /// The second stage after this one, before its first block; `None` where there is nothing to compare.
    pub fn second_stage(
        &self,
        loads: Vec<TrialLoad>,
        load_seconds: f64,
        server: Option<ServerRecord>,
    ) -> Option<Self> {
        let kept = self.kept();
        // Its number of blocks was declared before.
        let first = Self { ending: Ending::Budget, ..self.clone() };
        let candidates = kept.iter().filter_map(|at| self.candidates.get(*at).cloned()).collect();
        (kept.len() > 1).then(|| Self {
            ending: Ending::Running,
            load_seconds,
            loads,
            candidates,
            blocks: Vec::new(),
            server,
            first: Some(Box::new(first)),
            ..self.clone()
        })
    }

    /// The last stage that has a block: the first one's result is one, too.
    #[must_use]
    pub fn last_with_blocks(mut self) -> Self {
        match self.first.take() {
            Some(first) if self.blocks.is_empty() => *first,
            first => Self { first, ..self },
        }
    }

    /// Who stays, by number: the reference first; nobody where the reference cannot be ranked.
    fn kept(&self) -> Vec<usize> {
        let ranked = self.ranked();
        if self.results().is_empty() {
            return Vec::new();
        }
        let near = |at: usize| self.share(at).is_none_or(|share| share >= NEAR);
        let others = ranked.iter().copied().filter(|at| *at != 0);
        let best = others
            .max_by(|a, b| f64::total_cmp(&self.share(*a).unwrap_or(1.0), &self.share(*b).unwrap_or(1.0)));
        let stays = |at: &usize| {
            let asked = self.promise(*at) == Promise::NotMade && self.failure(*at).is_none();
            *at == 0 || Some(*at) == best || asked || ranked.contains(at) && near(*at)
        };
        (0..self.candidates.len()).filter(stays).collect()
    }

    /// The largest share of another one's commits that a candidate may make, at the number of sessions that suits it best;
    /// `None` where nothing is known.
    fn share(&self, candidate: usize) -> Option<f64> {
        let results = self.results();
        let deciding = results.iter().filter(|result| result.load.decides());
        let of = |result: &LoadResult| {
            if result.contest.cannot_tell() {
                return None;
            }
            let place = result.ranked.iter().position(|at| *at == candidate)?;
            let behind = |other: usize| result.contest.lower(other, place);
            let others = (0..result.ranked.len()).filter(|other| *other != place);
            others.map(behind).max_by(f64::total_cmp).map(|behind| (-behind).exp())
        };
        deciding.map(of).collect::<Option<Vec<f64>>>()?.into_iter().max_by(f64::total_cmp)
    }

    /// Who was left out of this stage after the first, and why.
    pub fn left_out(&self) -> Vec<(Contender, LeftOut)> {
        let Some(first) = &self.first else { return Vec::new() };
        let is_here = |one: Contender| self.candidates.iter().any(|made| made.candidate == one);
        let numbered = first.candidates.iter().enumerate().filter(|(_, made)| !is_here(made.candidate));
        let why = |at: usize| match first.failure(at) {
            Some(why) => LeftOut::Failed(why.to_owned()),
            None if first.promise(at).is_broken() => LeftOut::Broken,
            None => LeftOut::Slower(first.share(at).unwrap_or(1.0)),
        };
        numbered.map(|(at, made)| (made.candidate, why(at))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::load::Preset;
    use crate::trial::record::Runner;
    use crate::trial::sample::record;

    fn after(candidates: &[(Contender, f64, Option<u64>)], blocks: usize) -> Option<TrialRecord> {
        record(candidates, blocks).second_stage(TrialLoad::of(Preset::OltpPostgres, &[1, 8]), 3.0, None)
    }

    fn names(record: &TrialRecord) -> Vec<Contender> {
        record.candidates.iter().map(|made| made.candidate).collect()
    }

    const FLUSHED: Option<u64> = Some(1_000);

    #[test]
    fn only_who_is_shown_to_be_far_slower_is_left_out() {
        use Contender::{Btrfs, BtrfsNocow, Ext4, Ext4FastCommit, Ext4Nobarrier, Xfs};
        let candidates = [
            (Ext4, 2_000.0, FLUSHED),
            (Ext4FastCommit, 3_400.0, FLUSHED),
            (Xfs, 4_000.0, FLUSHED),
            (Btrfs, 1_500.0, FLUSHED),
            (BtrfsNocow, 3_900.0, Some(100)),
            (Ext4Nobarrier, 90_000.0, Some(0)),
        ];
        let second = after(&candidates, FIRST_BLOCKS).unwrap();
        // The reference stays, though it is far slower, and so does who was asked for to show what flushing costs.
        assert_eq!(names(&second), [Ext4, Ext4FastCommit, Xfs, Ext4Nobarrier]);
        assert_eq!((second.blocks.len(), second.loads.len(), second.ending), (0, 4, Ending::Running));
        let left = second.left_out();
        assert!(
            matches!(left[0], (Btrfs, LeftOut::Slower(share)) if (0.3..0.5).contains(&share)),
            "{left:?}"
        );
        assert_eq!(left[1], (BtrfsNocow, LeftOut::Broken));
        // Too few blocks show nothing.
        assert_eq!(names(&after(&candidates[..4], LOOKS[0]).unwrap()).len(), 4);
    }

    #[test]
    fn two_always_stay_and_none_without_the_reference() {
        use Contender::{Btrfs, Ext4, Xfs};
        let candidates = [(Ext4, 4_000.0, FLUSHED), (Xfs, 1_000.0, FLUSHED), (Btrfs, 1_500.0, FLUSHED)];
        assert_eq!(names(&after(&candidates, FIRST_BLOCKS).unwrap()), [Ext4, Btrfs]);
        assert!(!first_stage_is_worth_it(&[Ext4, Xfs, Contender::Ext4Nobarrier]));
        assert!(first_stage_is_worth_it(&[Ext4, Xfs, Btrfs]));
        let mut failed = record(&candidates, FIRST_BLOCKS);
        let cells = failed.blocks.iter_mut().flat_map(|block| &mut block.cells);
        for cell in cells.filter(|cell| cell.runner == Runner::Candidate(0)).take(1) {
            (cell.error, cell.samples) = (Some("cannot mount".to_owned()), Vec::new());
        }
        assert!(failed.second_stage(Vec::new(), 3.0, None).is_none());
    }

    #[test]
    fn a_stage_without_a_block_has_no_result() {
        let candidates = [(Contender::Ext4, 4_000.0, FLUSHED), (Contender::Xfs, 1_000.0, FLUSHED)];
        let mut second = after(&candidates, FIRST_BLOCKS).unwrap();
        let first = second.clone().last_with_blocks();
        assert_eq!((first.blocks.len(), first.first.is_none()), (FIRST_BLOCKS, true));
        assert_eq!(first.clone().last_with_blocks(), first);
        second.blocks = first.blocks;
        assert_eq!(second.clone().last_with_blocks(), second);
    }

    /// Both stages are told, the first without deciding anything.
    #[test]
    fn who_was_left_out_is_told() {
        let candidates = [
            (Contender::Ext4, 4_000.0, FLUSHED),
            (Contender::Xfs, 4_100.0, FLUSHED),
            (Contender::Btrfs, 1_500.0, FLUSHED),
        ];
        let mut second = after(&candidates, FIRST_BLOCKS).unwrap();
        let sample = crate::trial::sample::sample;
        for cell in second.first.clone().unwrap().blocks.iter().take(2) {
            second.blocks.push(cell.clone());
        }
        for cell in second.blocks.iter_mut().flat_map(|block| &mut block.cells) {
            cell.samples = vec![sample(900.0, FLUSHED); 4];
        }
        second.loads.truncate(1);
        let told = crate::trial::tell(&second);
        let (text, markdown) = (told.text(), told.markdown());
        assert!(
            text.contains("A first stage of 12 blocks") && text.contains("left 2 of 3 candidates"),
            "{text}"
        );
        assert!(text.contains("btrfs was left out: with 95 % confidence it makes at most 38 % of"), "{text}");
        assert!(
            text.contains("transactions (pgbench -N), 1 client\n")
                && text.contains("first stage, commits, 1 client: "),
            "{text}"
        );
        assert!(markdown.contains("## first stage, commits, 1 client"), "{markdown}");
    }

    #[test]
    fn a_record_of_two_stages_is_read_back() {
        let candidates = [
            (Contender::Ext4, 4_000.0, FLUSHED),
            (Contender::Xfs, 4_100.0, FLUSHED),
            (Contender::Btrfs, 1_500.0, FLUSHED),
        ];
        let second = after(&candidates, FIRST_BLOCKS).unwrap();
        let again = |made: &TrialRecord| TrialRecord::parse(&serde_json::to_string(made).unwrap());
        assert_eq!(again(&second).as_ref(), Ok(&second));
        let mut third = second.clone();
        third.first = Some(Box::new(second.clone()));
        assert!(again(&third).unwrap_err().contains("more than two stages"));
        let mut twice = second;
        let first = twice.first.as_mut().unwrap();
        first.candidates.push(first.candidates[0].clone());
        assert!(again(&twice).unwrap_err().contains("a candidate twice"));
    }
}
