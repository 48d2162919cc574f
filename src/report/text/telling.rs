//! What is being told and what was told already, so that nothing is told twice.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::Subject;
use crate::report::index::Index;
use crate::report::{Report, Step, TargetSummary};
use crate::rules::Finding;

/// A report on its way to the page.
pub struct Telling<'a> {
    /// What is told.
    pub report: &'a Report,
    index: Index<'a>,
    findings: BTreeSet<(&'a str, &'a Subject)>,
    steps: BTreeSet<(&'a str, &'a Subject, &'a [String])>,
    reasons: BTreeSet<(Subject, &'a [String], &'a str)>,
    disks: BTreeMap<Vec<String>, &'a str>,
}

impl<'a> Telling<'a> {
    /// Begins.
    pub fn new(report: &'a Report) -> Self {
        Self {
            report,
            index: Index::new(&report.findings),
            findings: BTreeSet::new(),
            steps: BTreeSet::new(),
            reasons: BTreeSet::new(),
            disks: BTreeMap::new(),
        }
    }

    /// The findings about a target.
    pub fn about(&self, target: &TargetSummary) -> Vec<&'a Finding> {
        self.index.about(&target.subjects)
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
