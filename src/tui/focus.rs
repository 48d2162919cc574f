//! What concerns one target in a report, computed once when the report or the target changes, so
//! that drawing never searches. What all targets share is computed once per report: on a large host
//! that takes longer than a key press may.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use super::rule_results::{RuleResults, rule_results};
use crate::facts::{MissingFact, Scope, Subject};
use crate::report::view::{AdviceSections, indices_worst_first};
use crate::report::{Report, TargetSummary, missing_facts};
use crate::rules::{Level, Outcome};

/// Indices into the report's lists, and the missing facts of the target.
#[derive(Clone, Debug, Default)]
pub struct Focus {
    pub target: Option<Subject>,
    pub title: String,
    pub position: usize,
    /// Its position counted from the worst, from 0, and the number of targets.
    pub place: (usize, usize),
    /// The database cluster on this target.
    pub cluster: Option<Subject>,
    pub verdict: Option<usize>,
    pub plan: Option<usize>,
    pub probe: Option<usize>,
    /// The advice about it, as sections of the report.
    pub advised: AdviceSections,
    /// Indices of undecided findings.
    pub undecided: Vec<usize>,
    /// Subjects with a finding of level warning or above.
    pub issues: BTreeSet<Subject>,
    /// The result of each rule.
    pub rules: Vec<RuleResults>,
    /// Subjects whose findings concern the target, without the host.
    pub related: BTreeSet<Subject>,
    /// Number of unknown facts about these subjects.
    pub unknown_count: usize,
    /// Missing facts, each with the rules that it would help to decide; those for the verdict come
    /// first.
    pub needs: Vec<(MissingFact, Vec<String>)>,
    shared: Arc<SharedOrder>,
}

/// What all targets of a report share.
#[derive(Debug, Default)]
struct SharedOrder {
    /// Indices of the targets, worst first.
    order: Vec<usize>,
}

impl Focus {
    /// Selects the target, or the worst one if the report does not have it.
    pub fn new(report: &Report, wanted: Option<&Subject>) -> Self {
        let whole = SharedOrder {
            order: indices_worst_first(report),
        };
        Self::for_target(report, wanted, &Arc::new(whole))
    }

    /// The next target of the same report, counted from the worst; wraps around.
    pub fn next(&self, report: &Report) -> Self {
        let order = &self.shared.order;
        let next = order
            .get(self.place.0.saturating_add(1))
            .or_else(|| order.first());
        let next = next
            .and_then(|at| report.targets.get(*at))
            .map(|summary| &summary.target);
        Self::for_target(report, next, &self.shared)
    }

    /// The previous target; wraps around.
    pub fn previous(&self, report: &Report) -> Self {
        let last = self.place.1.saturating_sub(1);
        self.at_place(report, self.place.0.checked_sub(1).unwrap_or(last))
    }

    /// The target at this position, counted from the worst.
    pub fn at_place(&self, report: &Report, place: usize) -> Self {
        let wanted = self
            .shared
            .order
            .get(place)
            .and_then(|at| report.targets.get(*at));
        Self::for_target(report, wanted.map(|summary| &summary.target), &self.shared)
    }

    /// The targets of the report, worst first.
    pub fn targets<'r>(&self, report: &'r Report) -> impl Iterator<Item = &'r TargetSummary> {
        self.shared
            .order
            .iter()
            .filter_map(|at| report.targets.get(*at))
    }

    fn for_target(report: &Report, wanted: Option<&Subject>, whole: &Arc<SharedOrder>) -> Self {
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
        focus.sort_findings(report);
        focus.rules = rule_results(report, &focus.related);
        focus.needs = focus.missing_facts(report);
        focus.unknown_count = focus
            .count_gaps(report)
            .saturating_add(focus.count_uncollected(report));
        focus
    }

    fn sort_findings(&mut self, report: &Report) {
        for (at, finding) in report.findings.iter().enumerate() {
            if !self.concerns(&finding.subject) {
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

    fn missing_facts(&self, report: &Report) -> Vec<(MissingFact, Vec<String>)> {
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

    /// Whether a subject concerns the target; the host always does.
    pub fn concerns(&self, subject: &Subject) -> bool {
        subject.scope() == Scope::Host || self.related.contains(subject)
    }

    /// All subjects that concern the target, the host first.
    pub fn subjects(&self) -> impl Iterator<Item = &Subject> {
        static HOST: LazyLock<Subject> = LazyLock::new(Subject::host);
        let others = self
            .related
            .iter()
            .filter(|subject| subject.scope() != Scope::Host);
        std::iter::once(&*HOST).chain(others)
    }

    /// Number of facts about these subjects that were collected but are unknown.
    fn count_gaps(&self, report: &Report) -> usize {
        let rows = self
            .subjects()
            .flat_map(|subject| report.facts.rows_of(subject));
        rows.filter(|row| row.reading.is_gap()).count()
    }

    /// Number of missing facts without a row in the report, because they were never collected.
    fn count_uncollected(&self, report: &Report) -> usize {
        let was_asked = |need: &MissingFact| {
            report
                .facts
                .rows_of(&need.subject)
                .any(|row| row.fact == need.fact && row.reading.is_gap())
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
    use crate::report::sample;
    use crate::tui::sample::two_targets;

    #[test]
    fn round_and_round_every_target_is_looked_at_as_if_it_were_the_only_one() {
        let report = two_targets();
        let first = Focus::new(&report, None);
        let mut focus = first.clone();
        for _ in 0..report.targets.len() {
            focus = focus.next(&report);
            let alone = Focus::new(&report, focus.target.as_ref());
            assert_eq!(format!("{focus:?}"), format!("{alone:?}"));
        }
        assert_eq!(focus.target, first.target);
    }

    /// A collected unknown fact that would also decide a rule counts once.
    #[test]
    fn no_unknown_fact_is_counted_twice() {
        for report in [two_targets(), sample::at_risk()] {
            for summary in &report.targets {
                let focus = Focus::new(&report, Some(&summary.target));
                let own = report.gaps().filter(|row| focus.concerns(row.subject));
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
