//! The parts of a report that concern one target, found once when the report or the target changes,
//! so that drawing never searches. The parts common to all targets are found once per report,
//! because on a large host that takes longer than a key press may.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use super::judged::{RuleResults, judged};
use crate::facts::{Need, Scope, Subject};
use crate::report::telling::{Advised, places_worst_first};
use crate::report::{Report, TargetSummary, needed};
use crate::rules::{Level, Outcome};

/// Positions in the report's lists, and the missing facts of the target.
#[derive(Clone, Debug, Default)]
pub struct Focus {
    pub target: Option<Subject>,
    pub title: String,
    pub at: usize,
    /// Its place among the targets from the worst on, from 0, and how many there are.
    pub place: (usize, usize),
    /// The cluster that uses it.
    pub cluster: Option<Subject>,
    /// Position of its verdict.
    pub verdict: Option<usize>,
    pub plan: Option<usize>,
    pub probe: Option<usize>,
    /// What there is to do about it, in the words of the report.
    pub advised: Advised,
    /// Findings that cannot be decided.
    pub undecided: Vec<usize>,
    /// What a warning or worse applies to.
    pub amiss: BTreeSet<Subject>,
    /// The result of each rule.
    pub rules: Vec<RuleResults>,
    /// Everything whose findings concern it, apart from the host.
    pub concerned: BTreeSet<Subject>,
    /// Facts about what concerns it that are unknown.
    pub unknown: usize,
    /// Facts that are missing, with the rules that each would help to decide; what the verdict
    /// needs comes first.
    pub needs: Vec<(Need, Vec<String>)>,
    whole: Arc<Whole>,
}

/// The parts common to all targets of a report.
#[derive(Debug, Default)]
struct Whole {
    /// Positions of the targets, worst first.
    order: Vec<usize>,
}

impl Focus {
    /// Looks for what concerns the target; the worst one where the report has no such target.
    pub fn new(report: &Report, wanted: Option<&Subject>) -> Self {
        let whole = Whole {
            order: places_worst_first(report),
        };
        Self::within(report, wanted, &Arc::new(whole))
    }

    /// The same for the next target of the same report, from the worst on and round and round.
    pub fn next(&self, report: &Report) -> Self {
        let order = &self.whole.order;
        let next = order
            .get(self.place.0.saturating_add(1))
            .or_else(|| order.first());
        let next = next
            .and_then(|at| report.targets.get(*at))
            .map(|summary| &summary.target);
        Self::within(report, next, &self.whole)
    }

    /// The same for the target before.
    pub fn previous(&self, report: &Report) -> Self {
        let last = self.place.1.saturating_sub(1);
        self.at_place(report, self.place.0.checked_sub(1).unwrap_or(last))
    }

    /// The same for the target at this place, from the worst on.
    pub fn at_place(&self, report: &Report, place: usize) -> Self {
        let wanted = self
            .whole
            .order
            .get(place)
            .and_then(|at| report.targets.get(*at));
        Self::within(report, wanted.map(|summary| &summary.target), &self.whole)
    }

    /// The targets of the report, worst first.
    pub fn targets<'r>(&self, report: &'r Report) -> impl Iterator<Item = &'r TargetSummary> {
        self.whole
            .order
            .iter()
            .filter_map(|at| report.targets.get(*at))
    }

    fn within(report: &Report, wanted: Option<&Subject>, whole: &Arc<Whole>) -> Self {
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
            at,
            place: (place, order.len()),
            whole: Arc::clone(whole),
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
        focus.concerned = summary.subjects.iter().cloned().collect();
        focus.advised = Advised::new(report, summary);
        focus.sort_findings(report);
        focus.rules = judged(report, &focus.concerned);
        focus.needs = focus.missing(report);
        focus.unknown = focus.gaps(report).saturating_add(focus.never_asked(report));
        focus
    }

    fn sort_findings(&mut self, report: &Report) {
        for (at, finding) in report.findings.iter().enumerate() {
            if !self.concerns(&finding.subject) {
                continue;
            }
            if finding.level >= Level::Warning && finding.outcome == Outcome::Applies {
                self.amiss.insert(finding.subject.clone());
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

    fn missing(&self, report: &Report) -> Vec<(Need, Vec<String>)> {
        let Some(summary) = report.targets.get(self.at) else {
            return Vec::new();
        };
        let about = self
            .undecided
            .iter()
            .filter_map(|at| report.findings.get(*at));
        let all = needed::of_target(report, summary, about);
        all.into_iter()
            .map(|needed| (needed.need, needed.rules))
            .collect()
    }

    /// Whether something about this subject concerns the target; the host always does.
    pub fn concerns(&self, subject: &Subject) -> bool {
        subject.scope() == Scope::Host || self.concerned.contains(subject)
    }

    /// Everything that concerns the target, the host first.
    pub fn subjects(&self) -> impl Iterator<Item = &Subject> {
        static HOST: LazyLock<Subject> = LazyLock::new(Subject::host);
        let others = self
            .concerned
            .iter()
            .filter(|subject| subject.scope() != Scope::Host);
        std::iter::once(&*HOST).chain(others)
    }

    /// How many facts that were asked for about what concerns it are unknown.
    fn gaps(&self, report: &Report) -> usize {
        let rows = self
            .subjects()
            .flat_map(|subject| report.facts.rows_of(subject));
        rows.filter(|row| row.reading.is_gap()).count()
    }

    /// How many of the missing facts are no gaps of the report, because nobody asked for them.
    fn never_asked(&self, report: &Report) -> usize {
        let was_asked = |need: &Need| {
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

    /// A fact that was asked for and would settle something too is one fact.
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
                assert_eq!(focus.unknown, all.len());
            }
        }
    }
}
