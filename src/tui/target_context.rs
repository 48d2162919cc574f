//! The part of a report that concerns the chosen target, computed once when the report or the
//! target changes.
//!
//! All contexts of a report share the order of its targets, because sorting a large host's targets
//! at every key press takes too long.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::rule_results::{RuleSummary, summarize_rules};
use crate::facts::{MissingFact, Subject};
use crate::report::view::{AdviceSections, target_indices_worst_first};
use crate::report::{Report, TargetSummary, missing_facts};
use crate::rules::{Level, Outcome};

#[derive(Clone, Debug, Default)]
pub struct TargetContext {
    pub target: Option<Subject>,
    pub title: String,
    pub position: usize,
    /// Position in the list of targets, which begins with the worst verdict, and the number of
    /// targets.
    pub place: (usize, usize),
    pub cluster: Option<Subject>,
    pub advised: AdviceSections,
    /// Indices of undecided findings, most severe level first.
    pub undecided: Vec<usize>,
    /// Subjects of the target or host with an applying finding at level warning or above.
    pub issues: BTreeSet<Subject>,
    pub rules: Vec<RuleSummary>,
    /// Subjects whose findings concern the target, the host first.
    pub related: BTreeSet<Subject>,
    /// Number of facts about the subjects in `related` that are unknown but could be read.
    pub unknown_count: usize,
    /// Missing facts, each with the rules that need it; facts for the verdict come first.
    pub needs: Vec<(MissingFact, Vec<String>)>,
    /// Indices of targets, the worst verdict first.
    order: Arc<Vec<usize>>,
}

impl TargetContext {
    /// Selects the wanted target, or the one with the worst verdict if the report lacks the wanted
    /// one.
    pub fn new(report: &Report, wanted: Option<&Subject>) -> Self {
        let order = Arc::new(target_indices_worst_first(report));
        let is_wanted =
            |at: &usize| report.targets.get(*at).map(|summary| &summary.target) == wanted;
        let place = order.iter().position(is_wanted).unwrap_or(0);
        Self::new_for_position(report, &order, place)
    }

    /// The context of a target that is `step` places further in the order of verdicts from the
    /// worst, which has no end.
    pub fn neighbour_context(&self, report: &Report, step: isize) -> Self {
        let (place, count) = self.place;
        let place = place
            .checked_add_signed(step)
            .unwrap_or(count.saturating_sub(1));
        self.target_context_at(report, place)
    }

    pub fn target_context_at(&self, report: &Report, place: usize) -> Self {
        Self::new_for_position(report, &self.order, place)
    }

    pub fn targets_worst_first<'r>(
        &self,
        report: &'r Report,
    ) -> impl Iterator<Item = &'r TargetSummary> {
        self.order.iter().filter_map(|at| report.targets.get(*at))
    }

    /// A place that the present report lacks is that of the worst target.
    fn new_for_position(report: &Report, order: &Arc<Vec<usize>>, place: usize) -> Self {
        let place = if place < order.len() { place } else { 0 };
        let position = order.get(place).copied().unwrap_or_default();
        let Some(summary) = report.targets.get(position) else {
            return Self {
                related: [Subject::host()].into(),
                ..Self::default()
            };
        };
        let mut focus = Self {
            target: Some(summary.target.clone()),
            title: summary.title.clone(),
            position,
            place: (place, order.len()),
            order: Arc::clone(order),
            cluster: summary.cluster.clone(),
            related: summary.subjects.iter().cloned().collect(),
            advised: AdviceSections::new(report, summary),
            ..Self::default()
        };
        focus.related.insert(Subject::host());
        focus.collect_issues_and_undecided(report);
        focus.rules = summarize_rules(report, &focus.related);
        focus.needs = focus.missing_facts_of_target(report);
        focus.unknown_count = focus.count_unknown_facts(report);
        focus
    }

    fn collect_issues_and_undecided(&mut self, report: &Report) {
        for (at, finding) in report.findings.iter().enumerate() {
            if !self.concerns_target(&finding.subject) {
                continue;
            }
            if finding.level >= Level::Warning && finding.outcome == Outcome::Applies {
                self.issues.insert(finding.subject.clone());
            }
            if matches!(finding.outcome, Outcome::Undecided { .. }) {
                self.undecided.push(at);
            }
        }
        let level = |at: &usize| {
            std::cmp::Reverse(report.findings.get(*at).map_or(Level::Keep, |f| f.level))
        };
        self.undecided.sort_by_key(level);
    }

    fn missing_facts_of_target(&self, report: &Report) -> Vec<(MissingFact, Vec<String>)> {
        let Some(summary) = report.targets.get(self.position) else {
            return Vec::new();
        };
        let about = self
            .undecided
            .iter()
            .filter_map(|at| report.findings.get(*at));
        let all = missing_facts::target_missing_facts(report, summary, about);
        all.into_iter()
            .map(|needed| (needed.need, needed.rules))
            .collect()
    }

    /// The host concerns every target.
    pub fn concerns_target(&self, subject: &Subject) -> bool {
        self.related.contains(subject)
    }

    /// Counts unknown readings, and missing facts without a reading.
    fn count_unknown_facts(&self, report: &Report) -> usize {
        let rows = self.related.iter();
        let rows = rows.flat_map(|subject| report.facts.rows_of(subject));
        let unknown = rows.filter(|row| row.reading.is_fillable_gap());
        let unknown = unknown.map(|row| (row.subject, row.fact));
        let needs = self.needs.iter();
        let needs = needs.map(|(need, _)| (&need.subject, need.fact.as_str()));
        unknown.chain(needs).collect::<BTreeSet<_>>().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample_reports;
    use crate::tui::test_sessions::report_with_two_targets;

    #[test]
    fn cycled_contexts_equal_contexts_built_alone() {
        let report = report_with_two_targets();
        let first = TargetContext::new(&report, None);
        let mut focus = first.clone();
        for _ in 0..report.targets.len() {
            focus = focus.neighbour_context(&report, 1);
            let alone = TargetContext::new(&report, focus.target.as_ref());
            assert_eq!(format!("{focus:?}"), format!("{alone:?}"));
        }
        assert_eq!(focus.target, first.target);
    }

    /// A click can name a place that a newer, shorter report lacks.
    #[test]
    fn a_place_beyond_the_list_is_the_worst_target() {
        let report = report_with_two_targets();
        let first = TargetContext::new(&report, None);
        let beyond = first.target_context_at(&report, report.targets.len());
        assert_eq!((beyond.target, beyond.place), (first.target, first.place));
    }

    /// A fact that is unknown in the report and is also needed by a rule must be counted once.
    #[test]
    fn unknown_count_counts_each_fact_once() {
        for report in [report_with_two_targets(), sample_reports::at_risk()] {
            for summary in &report.targets {
                let focus = TargetContext::new(&report, Some(&summary.target));
                let own = report
                    .readable_unknown_facts()
                    .filter(|row| focus.concerns_target(row.subject));
                let asked = own.map(|row| (row.subject, row.fact));
                let needed = focus
                    .needs
                    .iter()
                    .map(|(need, _)| (&need.subject, need.fact.as_str()));
                let all: BTreeSet<(&Subject, &str)> = asked.chain(needed).collect();
                assert_eq!(focus.unknown_count, all.len());
            }
        }
    }
}
