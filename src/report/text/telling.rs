//! What is told where, so that nothing is told twice.
//!
//! It knows nothing of pages. The surprise: where a finding or a step is told is settled before anything is written, so that
//! the parts of a large host can be written by all processors and still come out in one order.

use std::collections::BTreeMap;
use std::ptr;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use crate::facts::Subject;
use crate::report::index::Index;
use crate::report::{DeviceContent, Report, Step, TargetSummary};
use crate::rules::Finding;
use crate::workers;

/// A report with what it says of each target.
pub struct Telling<'a> {
    /// What is told.
    pub report: &'a Report,
    about: BTreeMap<&'a Subject, Vec<&'a Finding>>,
}

impl<'a> Telling<'a> {
    /// Sorts the findings of a report by target.
    pub fn new(report: &'a Report) -> Self {
        let index = Index::new(&report.findings);
        let about = workers::each(&report.targets, |target| index.about(&target.subjects));
        let about = report.targets.iter().map(|target| &target.target).zip(about).collect();
        Self { report, about }
    }

    /// The findings about a target.
    pub fn about(&self, target: &TargetSummary) -> &[&'a Finding] {
        self.about.get(&target.target).map_or(&[], Vec::as_slice)
    }

    /// Settles what is told under which target, where they are told in this order.
    pub fn settled<'t>(&'t self, order: &[&'a TargetSummary]) -> Settled<'t, 'a> {
        let said = workers::each(order, |target| self.said(target));
        let mut disks: HashMap<Vec<String>, &'a str> = HashMap::new();
        let mut settled = Settled {
            telling: self,
            like: Vec::with_capacity(order.len()),
            findings: HashMap::with_capacity(self.report.findings.len()),
            steps: HashMap::new(),
        };
        for ((place, target), said) in order.iter().enumerate().zip(said) {
            let first = said.and_then(|said| {
                let first = disks.get(&said).copied();
                if first.is_none() {
                    disks.insert(said, &target.title);
                }
                first
            });
            settled.like.push(first);
            if first.is_some() {
                continue;
            }
            for finding in self.about(target) {
                settled.findings.entry(address(finding)).or_insert(place);
            }
            for step in self
                .report
                .plan(&target.target)
                .into_iter()
                .flat_map(|plan| plan.steps.iter().chain(&plan.options))
            {
                settled.steps.entry(same(step)).or_insert(place);
            }
        }
        settled
    }

    /// All that would be said of a free disk, but for its name.
    fn said(&self, target: &TargetSummary) -> Option<Vec<String>> {
        if !target.kind.is_device() {
            return None;
        }
        let steps = self.report.plan(&target.target).into_iter().flat_map(|plan| &plan.steps);
        let steps = steps.map(|step| format!("{}: {}", step.advice.setting, step.advice.change.words()));
        let told = self.about(target).iter();
        let told = told.map(|finding| format!("{} {}", finding.rule, finding.outcome.word()));
        let content = target.content.iter().map(DeviceContent::words);
        Some(content.chain(steps).chain(told).collect())
    }
}

/// Which finding it is: those of a report stay where they are while it is told.
fn address(finding: &Finding) -> usize {
    ptr::from_ref(finding).addr()
}

/// What makes two steps the same.
type Same<'a> = (&'a str, &'a Subject, &'a [String]);

fn same(step: &Step) -> Same<'_> {
    (step.advice.setting.name, &step.subject, &step.rules)
}

/// Where everything is told that several targets have in common.
pub struct Settled<'t, 'a> {
    telling: &'t Telling<'a>,
    /// For a free disk of which all is said that was said of an earlier one: that one's title.
    like: Vec<Option<&'a str>>,
    findings: HashMap<usize, usize>,
    steps: HashMap<Same<'a>, usize>,
}

impl<'t, 'a> Settled<'t, 'a> {
    /// What no target told.
    pub fn rest(&'t self) -> Part<'t, 'a> {
        self.part(self.like.len())
    }

    /// What is told under the target at this place of the order.
    pub fn part(&'t self, place: usize) -> Part<'t, 'a> {
        let like = self.like.get(place).copied().flatten();
        let Telling { report, .. } = self.telling;
        Part {
            report,
            telling: self.telling,
            like,
            settled: self,
            place,
            findings: HashSet::default(),
            steps: HashSet::default(),
            reasons: HashSet::default(),
        }
    }
}

/// What is told under one target, as it is being written.
pub struct Part<'t, 'a> {
    /// What is told.
    pub report: &'a Report,
    /// Findings by target.
    pub telling: &'t Telling<'a>,
    /// For a free disk of which all is said that was said of an earlier one: that one's title.
    pub like: Option<&'a str>,
    settled: &'t Settled<'t, 'a>,
    place: usize,
    findings: HashSet<usize>,
    steps: HashSet<Same<'a>>,
    reasons: HashSet<(&'a [String], &'a str)>,
}

impl<'t, 'a> Part<'t, 'a> {
    /// The findings about a target.
    pub fn about(&self, target: &TargetSummary) -> &'t [&'a Finding] {
        self.telling.about(target)
    }

    /// Notes a step; false when it was told before.
    pub fn step(&mut self, step: &'a Step) -> bool {
        let first = self.settled.steps.get(&same(step));
        first.is_none_or(|first| *first == self.place) && self.steps.insert(same(step))
    }

    /// Notes the reason of a step; false when the same rules gave another step of the target before in the same words.
    pub fn reason(&mut self, step: &'a Step) -> bool {
        self.reasons.insert((&step.rules, &step.title))
    }

    /// Notes a finding; false when it was told before.
    pub fn finding(&mut self, finding: &'a Finding) -> bool {
        let first = self.settled.findings.get(&address(finding));
        first.is_none_or(|first| *first == self.place) && self.findings.insert(address(finding))
    }
}
