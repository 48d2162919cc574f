//! Finds the fastest sync method on each file system, from loads that differ by the method alone.
//! Loads of one candidate in one block are paired.
//!
//! Loads run in a new random order in every block, so disturbances favour no method. As a control,
//! the default method is compared with its own figures, shifted by the difference between the
//! reference's two runs.

use super::comparison::{PairedLogThroughput, PairwiseComparison};
use super::load::LoadShape;
use super::record::{CellSubject, TrialRecord};

#[derive(Clone, Debug)]
pub struct MethodComparison {
    /// Index of the candidate in the record.
    pub candidate: usize,
    /// Index of each method's load in the record, and PostgreSQL's name of the method; the default
    /// is first.
    pub methods: Vec<(usize, &'static str)>,
    /// Comparison of the methods, numbered in the order of `methods`.
    pub comparison: PairwiseComparison,
}

impl MethodComparison {
    pub fn method_names(&self, places: &[usize]) -> Vec<&'static str> {
        places
            .iter()
            .filter_map(|place| self.methods.get(*place))
            .map(|(_, name)| *name)
            .collect()
    }
}

impl TrialRecord {
    /// The loads that differ by the sync method alone, the default first. Empty without the
    /// default, or with a single method.
    fn loads_differing_by_method_alone(&self) -> Vec<(usize, &'static str)> {
        let load = |shape| {
            self.loads
                .iter()
                .position(|load| load.shape == shape && load.clients == 1)
        };
        let found = LoadShape::SYNC_METHODS
            .into_iter()
            .filter_map(|(shape, name)| Some((load(shape)?, name)));
        let found: Vec<(usize, &str)> = found.collect();
        let [(first, _), _, ..] = found.as_slice() else {
            return Vec::new();
        };
        let has_default = self
            .loads
            .get(*first)
            .is_some_and(|load| load.shape == LoadShape::Usual);
        if has_default { found } else { Vec::new() }
    }

    /// True for a trial of sync methods instead of file systems: its loads differ by the method
    /// alone.
    pub(crate) fn compares_only_sync_methods(&self) -> bool {
        let methods = self.loads_differing_by_method_alone();
        !methods.is_empty() && methods.len() == self.loads.len()
    }

    /// Empty without loads of several methods, without blocks, or if the reference is unranked.
    pub fn method_comparisons(&self) -> Vec<MethodComparison> {
        let methods = self.loads_differing_by_method_alone();
        let ranked = self.indices_of_ranked_candidates();
        if methods.is_empty() || self.blocks.is_empty() || ranked.first() != Some(&0) {
            return Vec::new();
        }
        let of = |candidate: usize| MethodComparison {
            candidate,
            methods: methods.clone(),
            comparison: PairwiseComparison::from_log_throughput(
                &self.log_throughput_by_method(candidate, &methods),
                self.ending,
            ),
        };
        ranked.into_iter().map(of).collect()
    }

    fn log_throughput_by_method(
        &self,
        candidate: usize,
        methods: &[(usize, &str)],
    ) -> PairedLogThroughput {
        let default = methods.first().map_or(0, |(load, _)| *load);
        let runner = CellSubject::Candidate(candidate);
        let rows = methods.iter().map(|(load, _)| (runner, *load));
        let controls = [CellSubject::Twin, CellSubject::Candidate(0)];
        let rows: Vec<_> = rows
            .chain(controls.map(|runner| (runner, default)))
            .collect();
        let mut candidates = self.complete_log_rates(&rows);
        let reference = candidates.pop().unwrap_or_default();
        let twin = candidates.pop().unwrap_or_default();
        let own = candidates.first().cloned().unwrap_or_default();
        PairedLogThroughput {
            twin: own
                .iter()
                .zip(twin)
                .zip(reference)
                .map(|((own, twin), reference)| own + twin - reference)
                .collect(),
            candidates,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::candidate::Candidate;
    use crate::trial::comparison::ComparisonOutcome;
    use crate::trial::fixtures::record_with_commit_rates;
    use crate::trial::load::{LoadPreset, TrialLoad};
    use crate::trial::record::TrialSample;
    use crate::trial::view::trial_view;

    fn record_with_throughput_by_method(times: [f64; 4]) -> TrialRecord {
        let candidates = [
            (Candidate::Ext4, 4_000.0, Some(1_000)),
            (Candidate::Btrfs, 1_000.0, Some(2_000)),
        ];
        let mut record = record_with_commit_rates(&candidates, 15);
        record.loads = TrialLoad::preset_loads(LoadPreset::Methods, &[8]);
        for (nth, block) in record.blocks.iter_mut().enumerate() {
            for cell in &mut block.cells {
                let Some(first) = cell.samples.first().copied() else {
                    continue;
                };
                let off = |load: usize| 1.0 + 0.01 * (((nth * 3 + load * 2) % 5) as f64 - 2.0);
                let faster = |(load, times): (usize, f64)| TrialSample {
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
        let record = record_with_throughput_by_method([1.0, 1.4, 0.5, 0.6]);
        assert!(record.compares_only_sync_methods() && record.needs_no_more_blocks());
        let found: Vec<_> = record
            .method_comparisons()
            .iter()
            .map(|result| (result.candidate, result.comparison.outcome()))
            .collect();
        assert_eq!(
            found,
            [
                (0, ComparisonOutcome::Best(1)),
                (1, ComparisonOutcome::Best(1))
            ]
        );
        let text = trial_view(&record).to_text();
        assert!(
            text.contains("sync methods on btrfs\n  open_datasync is the fastest"),
            "{text}"
        );
    }

    #[test]
    fn equal_methods_tie_and_differing_twin_is_inconclusive() {
        let equal = record_with_throughput_by_method([1.0; 4]);
        for result in equal.method_comparisons() {
            assert_eq!(
                result.comparison.outcome(),
                ComparisonOutcome::Equivalent(vec![0, 1, 2, 3])
            );
        }
        let mut drifting = record_with_throughput_by_method([1.0, 1.4, 0.5, 0.6]);
        let cells = drifting
            .blocks
            .iter_mut()
            .flat_map(|block| &mut block.cells);
        for twin in cells.filter(|cell| cell.runner == CellSubject::Twin) {
            twin.samples
                .iter_mut()
                .for_each(|sample| sample.seconds *= 1.5);
        }
        for result in drifting.method_comparisons() {
            assert_eq!(result.comparison.outcome(), ComparisonOutcome::Inconclusive);
        }
    }

    #[test]
    fn loads_without_methods_give_no_comparison() {
        let mut record = record_with_throughput_by_method([1.0; 4]);
        record.loads = TrialLoad::preset_loads(LoadPreset::FsMark, &[1]);
        assert!(record.method_comparisons().is_empty() && !record.compares_only_sync_methods());
        record.loads = TrialLoad::preset_loads(LoadPreset::Commits, &[1, 8]);
        assert_eq!(record.loads_differing_by_method_alone().len(), 2);
        assert!(!record.compares_only_sync_methods());
    }
}
