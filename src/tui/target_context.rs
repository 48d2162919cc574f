//! The part of a report that concerns the chosen target, computed once when the report or the
//! target changes.
//!
//! All contexts of a report share the order of its targets, because sorting a large host's targets
//! at every key press takes too long.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use super::rule_results::{RuleSummary, summarize_rules};
use crate::facts::{MissingFact, Scope, Subject};
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
    pub verdict: Option<usize>,
    pub plan: Option<usize>,
    pub probe: Option<usize>,
    pub advised: AdviceSections,
    /// Indices of undecided findings, most severe level first.
    pub undecided: Vec<usize>,
    /// Subjects of the target or host with an applying finding at level warning or above.
    pub issues: BTreeSet<Subject>,
    pub rules: Vec<RuleSummary>,
    /// Subjects whose findings concern the target, besides the host.
    pub related: BTreeSet<Subject>,
    /// Number of facts about the host and the subjects in `related` that are unknown but could be
    /// read.
    pub unknown_count: usize,
    /// Missing facts, each with the rules that need it; facts for the verdict come first.
    pub needs: Vec<(MissingFact, Vec<String>)>,
    shared: Arc<TargetOrder>,
}

#[derive(Debug, Default)]
struct TargetOrder {
    order: Vec<usize>,
}

impl TargetContext {
    /// Selects the wanted target, or the one with the worst verdict if the report lacks the wanted
    /// one.
    pub fn new(report: &Report, wanted: Option<&Subject>) -> Self {
        let whole = TargetOrder {
            order: target_indices_worst_first(report),
        };
        Self::for_target_or_worst(report, wanted, &Arc::new(whole))
    }

    /// The context of the next target, in order of verdicts from the worst; the first follows the
    /// last.
    pub fn next_target_context(&self, report: &Report) -> Self {
        let order = &self.shared.order;
        let next = order
            .get(self.place.0.saturating_add(1))
            .or_else(|| order.first());
        let next = next
            .and_then(|at| report.targets.get(*at))
            .map(|summary| &summary.target);
        Self::for_target_or_worst(report, next, &self.shared)
    }

    /// The context of the previous target, in order of verdicts from the worst; the last precedes
    /// the first.
    pub fn previous_target_context(&self, report: &Report) -> Self {
        let last = self.place.1.saturating_sub(1);
        self.target_context_at(report, self.place.0.checked_sub(1).unwrap_or(last))
    }

    pub fn target_context_at(&self, report: &Report, place: usize) -> Self {
        let wanted = self
            .shared
            .order
            .get(place)
            .and_then(|at| report.targets.get(*at));
        Self::for_target_or_worst(report, wanted.map(|summary| &summary.target), &self.shared)
    }

    pub fn targets_worst_first<'r>(
        &self,
        report: &'r Report,
    ) -> impl Iterator<Item = &'r TargetSummary> {
        self.shared
            .order
            .iter()
            .filter_map(|at| report.targets.get(*at))
    }

    fn for_target_or_worst(
        report: &Report,
        wanted: Option<&Subject>,
        whole: &Arc<TargetOrder>,
    ) -> Self {
        let order = &whole.order;
        let is_wanted =
            |at: &usize| report.targets.get(*at).map(|summary| &summary.target) == wanted;
        let place = order.iter().position(is_wanted).unwrap_or(0);
        let Some((at, summary)) = order
            .get(place)
            .and_then(|at| Some((*at, report.targets.get(*at)?)))
        else {
            return Self::default();
        };
        let target = &summary.target;
        let mut focus = Self {
            target: Some(target.clone()),
            title: summary.title.clone(),
            position: at,
            place: (place, order.len()),
            shared: Arc::clone(whole),
            cluster: summary.cluster.clone(),
            verdict: report
                .verdicts
                .iter()
                .position(|verdict| verdict.target == *target),
            plan: report.plans.iter().position(|plan| plan.target == *target),
            probe: report
                .probes
                .iter()
                .position(|probe| probe.target == *target),
            ..Self::default()
        };
        focus.related = summary.subjects.iter().cloned().collect();
        focus.advised = AdviceSections::new(report, summary);
        focus.collect_issues_and_undecided(report);
        focus.rules = summarize_rules(report, &focus.related);
        focus.needs = focus.missing_facts_of_target(report);
        focus.unknown_count = focus
            .count_unknown_readings(report)
            .saturating_add(focus.count_uncollected_facts(report));
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
        subject.scope() == Scope::Host || self.related.contains(subject)
    }

    /// The host comes first.
    pub fn concerned_subjects(&self) -> impl Iterator<Item = &Subject> {
        static HOST: LazyLock<Subject> = LazyLock::new(Subject::host);
        let others = self
            .related
            .iter()
            .filter(|subject| subject.scope() != Scope::Host);
        std::iter::once(&*HOST).chain(others)
    }

    fn count_unknown_readings(&self, report: &Report) -> usize {
        let rows = self
            .concerned_subjects()
            .flat_map(|subject| report.facts.rows_of(subject));
        rows.filter(|row| row.reading.is_fillable_gap()).count()
    }

    /// Counts missing facts that [`Self::count_unknown_readings`] does not count.
    fn count_uncollected_facts(&self, report: &Report) -> usize {
        let was_asked = |need: &MissingFact| {
            report
                .facts
                .rows_of(&need.subject)
                .any(|row| row.fact == need.fact && row.reading.is_fillable_gap())
        };
        self.needs
            .iter()
            .filter(|(need, _)| !was_asked(need))
            .count()
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
            focus = focus.next_target_context(&report);
            let alone = TargetContext::new(&report, focus.target.as_ref());
            assert_eq!(format!("{focus:?}"), format!("{alone:?}"));
        }
        assert_eq!(focus.target, first.target);
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
