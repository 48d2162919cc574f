//! What a record says about each load, and when a trial may stop.

use super::contest::{Contest, TrialOutcome};
use super::load::TrialLoad;
use super::looks::{Ending, LAST};
use super::record::TrialRecord;

/// The longest time in seconds that a trial is said to need: with more, the disk is too unsteady for one.
pub const WORTH_WAITING: f64 = 86_400.0;

/// What the blocks say about one load.
#[derive(Clone, Debug)]
pub struct LoadResult {
    pub at: usize,
    pub load: TrialLoad,
    /// The ranked candidates, by number in the record; the contest counts in this order.
    pub ranked: Vec<usize>,
    pub contest: Contest,
}

impl LoadResult {
    /// The ranked candidates of these places in the contest, by number in the record.
    pub fn named(&self, places: &[usize]) -> Vec<usize> {
        places.iter().filter_map(|place| self.ranked.get(*place).copied()).collect()
    }
}

impl TrialRecord {
    /// The results of all loads, in order; none where the reference cannot be ranked, or nothing beside it.
    pub fn results(&self) -> Vec<LoadResult> {
        let ranked = self.ranked();
        if ranked.first() != Some(&0) || ranked.len() < 2 {
            return Vec::new();
        }
        let of = |(at, load): (usize, &TrialLoad)| {
            let contest = Contest::judged(&self.figures(&ranked, at), self.ending);
            LoadResult { at, load: *load, ranked: ranked.clone(), contest }
        };
        self.loads.iter().enumerate().map(of).collect()
    }

    /// Whether further blocks cannot change what the deciding loads say, or none may follow.
    pub fn is_settled(&self) -> bool {
        let results = self.results();
        let open = |result: &LoadResult| result.load.decides() && result.contest.outcome().is_open();
        let by_method = || {
            self.is_about_methods() && self.methods().iter().any(|found| found.contest.outcome().is_open())
        };
        // Without any result more blocks would not bring one: who failed once is not ranked.
        self.blocks.len() >= LAST || !self.blocks.is_empty() && !results.iter().any(open) && !by_method()
    }

    /// About how many more seconds would settle it; `None` where nothing is known yet, or it is settled.
    pub fn seconds_needed(&self) -> Option<f64> {
        let deciding = self.results().into_iter().filter(|result| result.load.decides());
        let blocks = deciding.filter_map(|result| result.contest.blocks_needed()).max()?;
        let done = self.blocks.len().max(1);
        let each = self.seconds / done as f64;
        Some(blocks.saturating_sub(done) as f64 * each)
    }

    /// The only candidate that may be the best for every deciding load, where it is one and the trial could tell.
    pub fn winner(&self) -> Option<usize> {
        let deciding = self.results().into_iter().filter(|result| result.load.decides());
        let winners: Vec<Option<usize>> = deciding
            .map(|result| match result.contest.outcome() {
                TrialOutcome::Best(place) => result.named(&[place]).first().copied(),
                TrialOutcome::TooFew
                | TrialOutcome::CannotTell
                | TrialOutcome::Alike(_)
                | TrialOutcome::Open(_) => None,
            })
            .collect();
        let first = winners.first().copied().flatten()?;
        winners.iter().all(|winner| *winner == Some(first)).then_some(first)
    }

    /// Whether its last blocks may be looked at.
    pub fn ended(&mut self, ending: Ending, seconds: f64) {
        self.ending = ending;
        self.seconds = seconds;
    }
}
