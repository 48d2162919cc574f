//! Which sync method commits fastest on each file system: the loads that differ by it alone, paired
//! within cells.
//!
//! Loads run in a new random order in every block, so that whatever the machine does meanwhile is
//! on no method's side (see [`super::ranks`]). The reference's twin is the sentinel for all file
//! systems: what it is off by is added to each.

use super::contest::{Contest, PairedFigures};
use super::load::CommitShape;
use super::record::{Runner, Sample, TrialRecord};

/// What the blocks say about the methods of one candidate.
#[derive(Clone, Debug)]
pub struct MethodContest {
    /// The candidate, by number in the record.
    pub candidate: usize,
    /// The methods, the default first: the load's number, and its name in PostgreSQL.
    pub methods: Vec<(usize, &'static str)>,
    /// The contest, which counts in this order.
    pub contest: Contest,
}

impl MethodContest {
    /// The names of methods by their places in the contest.
    pub fn named(&self, places: &[usize]) -> Vec<&'static str> {
        places
            .iter()
            .filter_map(|place| self.methods.get(*place))
            .map(|(_, name)| *name)
            .collect()
    }
}

impl TrialRecord {
    /// The loads that differ by the sync method alone, the default first; nothing without another
    /// one beside it.
    fn of_methods(&self) -> Vec<(usize, &'static str)> {
        let load = |shape| {
            self.loads
                .iter()
                .position(|load| load.shape == shape && load.clients == 1)
        };
        let found = CommitShape::OF_METHODS
            .into_iter()
            .filter_map(|(shape, name)| Some((load(shape)?, name)));
        let found: Vec<(usize, &str)> = found.collect();
        let [(first, _), _, ..] = found.as_slice() else {
            return Vec::new();
        };
        let has_default = self
            .loads
            .get(*first)
            .is_some_and(|load| load.shape == CommitShape::Usual);
        if has_default { found } else { Vec::new() }
    }

    /// Whether it was made to compare methods: all its loads differ by them.
    pub fn is_about_methods(&self) -> bool {
        let methods = self.of_methods();
        !methods.is_empty() && methods.len() == self.loads.len()
    }

    /// The results of methods, a candidate after the other, of those that are ranked.
    pub fn methods(&self) -> Vec<MethodContest> {
        let methods = self.of_methods();
        let ranked = self.ranked();
        if methods.is_empty() || self.blocks.is_empty() || ranked.first() != Some(&0) {
            return Vec::new();
        }
        let of = |candidate: usize| MethodContest {
            candidate,
            methods: methods.clone(),
            contest: Contest::judged(&self.method_figures(candidate, &methods), self.ending),
        };
        ranked.into_iter().map(of).collect()
    }

    /// The logarithms of throughput by each method, in the blocks in which all of it is complete.
    fn method_figures(&self, candidate: usize, methods: &[(usize, &str)]) -> PairedFigures {
        let default = methods.first().map_or(0, |(load, _)| *load);
        let runner = Runner::Candidate(candidate);
        let rows = methods.iter().map(|(load, _)| self.samples(runner, *load));
        let sentinels =
            [Runner::Twin, Runner::Candidate(0)].map(|runner| self.samples(runner, default));
        let rows: Vec<Vec<Option<Sample>>> = rows.chain(sentinels).collect();
        let log = |row: &Vec<Option<Sample>>, block: usize| {
            row.get(block)
                .copied()
                .flatten()
                .map(|sample| sample.rate().ln())
        };
        let block = |block: usize| {
            rows.iter()
                .map(|row| log(row, block))
                .collect::<Option<Vec<f64>>>()
        };
        let complete: Vec<Vec<f64>> = (0..self.blocks.len()).filter_map(block).collect();
        let column = |at: usize| {
            complete
                .iter()
                .filter_map(|block| block.get(at).copied())
                .collect()
        };
        let twin = |block: &Vec<f64>| match block.as_slice() {
            [own, .., twin, reference] => Some(own + twin - reference),
            _ => None,
        };
        PairedFigures {
            candidates: (0..methods.len()).map(column).collect(),
            twin: complete.iter().filter_map(twin).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::candidate::Contender;
    use crate::trial::contest::TrialOutcome;
    use crate::trial::load::{Preset, TrialLoad};
    use crate::trial::sample::record;
    use crate::trial::telling::tell;

    /// A record in which each method runs so many times as fast as the default.
    fn by_methods(times: [f64; 4]) -> TrialRecord {
        let candidates = [
            (Contender::Ext4, 4_000.0, Some(1_000)),
            (Contender::Btrfs, 1_000.0, Some(2_000)),
        ];
        let mut record = record(&candidates, 15);
        record.loads = TrialLoad::of(Preset::Methods, &[8]);
        for (nth, block) in record.blocks.iter_mut().enumerate() {
            for cell in &mut block.cells {
                let Some(first) = cell.samples.first().copied() else {
                    continue;
                };
                let off = |load: usize| 1.0 + 0.01 * (((nth * 3 + load * 2) % 5) as f64 - 2.0);
                let faster = |(load, times): (usize, f64)| Sample {
                    seconds: first.seconds / times / if load == 0 { 1.0 } else { off(load) },
                    ..first
                };
                cell.samples = times.into_iter().enumerate().map(faster).collect();
            }
        }
        record
    }

    #[test]
    fn a_faster_method_is_named_for_each_file_system() {
        let record = by_methods([1.0, 1.4, 0.5, 0.6]);
        assert!(record.is_about_methods() && record.is_settled());
        let found: Vec<_> = record
            .methods()
            .iter()
            .map(|result| (result.candidate, result.contest.outcome()))
            .collect();
        assert_eq!(
            found,
            [(0, TrialOutcome::Best(1)), (1, TrialOutcome::Best(1))]
        );
        let text = tell(&record).text();
        assert!(
            text.contains("sync methods on btrfs\n  open_datasync is the fastest"),
            "{text}"
        );
    }

    #[test]
    fn equal_methods_are_called_alike_and_a_machine_that_cannot_tell_names_none() {
        let equal = by_methods([1.0; 4]);
        for result in equal.methods() {
            assert_eq!(
                result.contest.outcome(),
                TrialOutcome::Alike(vec![0, 1, 2, 3])
            );
        }
        let mut drifting = by_methods([1.0, 1.4, 0.5, 0.6]);
        let cells = drifting
            .blocks
            .iter_mut()
            .flat_map(|block| &mut block.cells);
        for twin in cells.filter(|cell| cell.runner == Runner::Twin) {
            twin.samples
                .iter_mut()
                .for_each(|sample| sample.seconds *= 1.5);
        }
        for result in drifting.methods() {
            assert_eq!(result.contest.outcome(), TrialOutcome::CannotTell);
        }
    }

    #[test]
    fn without_another_method_there_is_nothing_to_compare() {
        let mut record = by_methods([1.0; 4]);
        record.loads = TrialLoad::of(Preset::FsMark, &[1]);
        assert!(record.methods().is_empty() && !record.is_about_methods());
        record.loads = TrialLoad::of(Preset::Commits, &[1, 8]);
        assert_eq!(record.of_methods().len(), 2);
        assert!(!record.is_about_methods());
    }
}
