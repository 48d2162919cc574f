//! What is being told and what was told already, so that nothing is told twice.

use std::collections::BTreeMap;

use foldhash::{HashSet, HashSetExt as _};

use crate::facts::Subject;
use crate::report::index::Index;
use crate::report::{Report, Step, TargetSummary};
use crate::rules::Finding;
use crate::workers;

/// A report on its way to the page.
pub struct Telling<'a> {
    /// What is told.
    pub report: &'a Report,
    about: BTreeMap<&'a Subject, Vec<&'a Finding>>,
    findings: HashSet<(&'a str, &'a Subject)>,
    steps: HashSet<(&'a str, &'a Subject, &'a [String])>,
    reasons: HashSet<(Subject, &'a [String], &'a str)>,
    disks: BTreeMap<Vec<String>, &'a str>,
}

impl<'a> Telling<'a> {
    /// Begins.
    pub fn new(report: &'a Report) -> Self {
        let index = Index::new(&report.findings);
        let about = workers::each(&report.targets, |target| index.about(&target.subjects));
        Self {
            report,
            about: report.targets.iter().map(|target| &target.target).zip(about).collect(),
            findings: HashSet::with_capacity(report.findings.len()),
            steps: HashSet::new(),
            reasons: HashSet::new(),
            disks: BTreeMap::new(),
        }
    }

    /// The findings about a target.
    pub fn about(&self, target: &TargetSummary) -> Vec<&'a Finding> {
        self.about.get(&target.target).cloned().unwrap_or_default()
    }

    /// Notes a step; false when it was told before.
    pub fn step(&mut self, step: &'a Step) -> bool {
        self.steps.insert((&step.advice.setting, &step.subject, &step.rules))
    }

    /// Notes the reason of a step of a target; false when the same rules gave another step of it before
    /// in the same words.
    pub fn reason(&mut self, target: &TargetSummary, step: &'a Step) -> bool {
        self.reasons.insert((target.target.clone(), &step.rules, &step.title))
    }

    /// Notes a finding; false when it was told before.
    pub fn finding(&mut self, finding: &'a Finding) -> bool {
        self.findings.insert((&finding.rule, &finding.subject))
    }

    /// For a blank disk of which all is said that was said of an earlier one: that one's title.
    pub fn like(&mut self, target: &'a TargetSummary) -> Option<&'a str> {
        if target.kind != "device" {
            return None;
        }
        let steps = self.report.plan(&target.target).into_iter().flat_map(|plan| &plan.steps);
        let steps = steps.map(|step| format!("{}: {}", step.advice.setting, step.advice.change.words()));
        let told = self
            .about(target)
            .into_iter()
            .map(|finding| format!("{} {}", finding.rule, finding.outcome.word()));
        let said = steps.chain(told).collect();
        if let Some(first) = self.disks.get(&said) {
            return Some(first);
        }
        self.disks.insert(said, &target.title);
        None
    }
}
