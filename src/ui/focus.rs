//! What of a report concerns one target, found once when the report or the target changes, so that drawing never searches.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Need, Scope, Subject};
use crate::report::Report;
use crate::rules::{Finding, Level, Outcome};

/// Positions in the report's lists, and the missing facts of the target.
#[derive(Clone, Debug, Default)]
pub struct Focus {
    /// The target.
    pub target: Option<Subject>,
    /// Its name for people.
    pub title: String,
    /// Its place among the targets, from 0, and how many there are.
    pub place: (usize, usize),
    /// The cluster that uses it.
    pub cluster: Option<Subject>,
    /// Position of its verdict.
    pub verdict: Option<usize>,
    /// Position of its plan.
    pub plan: Option<usize>,
    /// Position of its probe.
    pub probe: Option<usize>,
    /// Findings that apply and matter but are no step of the plan.
    pub noted: Vec<usize>,
    /// Findings that cannot be decided.
    pub undecided: Vec<usize>,
    /// Every subject that the target stands on, its cluster and itself.
    pub concerned: BTreeSet<Subject>,
    /// Facts that are missing, with the rules that each would help to decide; what the verdict needs comes first.
    pub needs: Vec<(Need, Vec<String>)>,
}

impl Focus {
    /// Looks for what concerns the target; the first one where the report has no such target.
    pub fn of(report: &Report, wanted: Option<&Subject>) -> Self {
        let place = report.targets.iter().position(|target| Some(&target.target) == wanted).unwrap_or(0);
        let Some(summary) = report.targets.get(place) else {
            return Self::default();
        };
        let target = &summary.target;
        let mut focus = Self {
            target: Some(target.clone()),
            title: summary.title.clone(),
            place: (place, report.targets.len()),
            cluster: summary.cluster.clone(),
            verdict: report.verdicts.iter().position(|verdict| verdict.target == *target),
            plan: report.plans.iter().position(|plan| plan.target == *target),
            probe: report.probes.iter().position(|probe| probe.target == *target),
            ..Self::default()
        };
        focus.concerned = focus.stands_on(report);
        focus.sort_findings(report);
        focus.needs = focus.missing(report);
        focus
    }

    fn sort_findings(&mut self, report: &Report) {
        let steps = self.plan.and_then(|at| report.plans.get(at)).map(|plan| plan.steps.as_slice());
        let planned: BTreeSet<&str> =
            steps.unwrap_or_default().iter().flat_map(|step| &step.rules).map(String::as_str).collect();
        for (at, finding) in report.findings.iter().enumerate() {
            if !self.concerns(&finding.subject) {
                continue;
            }
            match finding.outcome {
                Outcome::Undecided { .. } => self.undecided.push(at),
                Outcome::Applies if !planned.contains(finding.rule.as_str()) => self.noted.push(at),
                Outcome::Applies | Outcome::DoesNotApply => {}
            }
        }
        let level = |at: &usize| std::cmp::Reverse(report.findings.get(*at).map_or(Level::Keep, |f| f.level));
        self.undecided.sort_by_key(level);
        self.noted.sort_by_key(level);
    }

    fn stands_on(&self, report: &Report) -> BTreeSet<Subject> {
        let layers = report.stacks.iter().filter(|stack| Some(&stack.target) == self.target.as_ref());
        let mut all: BTreeSet<Subject> =
            layers.flat_map(|stack| stack.layers.iter().map(|layer| layer.subject.clone())).collect();
        all.extend(self.target.clone());
        all.extend(self.cluster.clone());
        all
    }

    fn missing(&self, report: &Report) -> Vec<(Need, Vec<String>)> {
        let mut order: Vec<Need> = Vec::new();
        let mut rules: BTreeMap<(Subject, String), Vec<String>> = BTreeMap::new();
        let mut add = |need: &Need, rule: Option<&str>| {
            let known = rules.entry((need.subject.clone(), need.fact.clone())).or_insert_with(|| {
                order.push(need.clone());
                Vec::new()
            });
            if let Some(rule) = rule.filter(|rule| !known.iter().any(|known| known == rule)) {
                known.push(rule.to_owned());
            }
        };
        for need in self.verdict.and_then(|at| report.verdicts.get(at)).iter().flat_map(|v| &v.missing) {
            add(need, None);
        }
        for finding in self.undecided.iter().filter_map(|at| report.findings.get(*at)) {
            if let Outcome::Undecided { needs } = &finding.outcome {
                needs.iter().flatten().for_each(|need| add(need, Some(&finding.rule)));
            }
        }
        let rules_of = |need: &Need| rules.get(&(need.subject.clone(), need.fact.clone())).cloned();
        order.iter().map(|need| (need.clone(), rules_of(need).unwrap_or_default())).collect()
    }

    /// Whether something about this subject concerns the target: the host always does, and a line of the next boot when its
    /// mount point does.
    pub fn concerns(&self, subject: &Subject) -> bool {
        match subject.scope() {
            Scope::Host => true,
            Scope::Boot => self.concerned.contains(&Subject::mount(subject.name())),
            _ => self.concerned.contains(subject),
        }
    }

    /// The next target of the report, round and round.
    pub fn next(&self, report: &Report) -> Option<Subject> {
        let next = self.place.0.saturating_add(1);
        report.targets.get(next).or_else(|| report.targets.first()).map(|summary| summary.target.clone())
    }
}

/// The finding of a rule on a subject.
pub fn finding<'a>(report: &'a Report, rule: &str, subject: &Subject) -> Option<&'a Finding> {
    let of_rule = || report.findings.iter().filter(|finding| finding.rule == rule);
    of_rule().find(|finding| finding.subject == *subject).or_else(|| {
        of_rule().find(|finding| finding.outcome == Outcome::Applies)
    })
}
