//! Under which target a finding or a step is told, so that nothing is told twice.
//!
//! It knows nothing of sections. The places are settled before the first section is made, so that
//! all processors can make the sections of a large host and their order is still always the same.

use std::collections::{BTreeMap, BTreeSet};

use crate::index::Index;
use crate::{DeviceContent, Report, Step, TargetSummary};
use walwise_judge::rules::Finding;
use walwise_model::facts::Subject;
use walwise_model::workers;

/// A finding with its position in the report, which is its identity.
pub type Numbered<'a> = (usize, &'a Finding);

/// The findings of a report, sorted by target.
pub struct FindingsByTarget<'a> {
    pub report: &'a Report,
    about: BTreeMap<&'a Subject, Vec<Numbered<'a>>>,
}

impl<'a> FindingsByTarget<'a> {
    /// Sorts the findings of a report by target.
    pub fn new(report: &'a Report) -> Self {
        let index = Index::new(&report.findings);
        let about = workers::each(&report.targets, |target| index.about(&target.subjects));
        let about = report
            .targets
            .iter()
            .map(|target| &target.target)
            .zip(about)
            .collect();
        Self { report, about }
    }

    /// Those about one target and about the host, for who is told of no other target.
    pub fn alone(report: &'a Report, target: &'a TargetSummary) -> Self {
        let subjects = [target.subjects.as_slice(), &[Subject::host()]].concat();
        let about = Index::new(&report.findings).about(&subjects);
        Self {
            report,
            about: BTreeMap::from([(&target.target, about)]),
        }
    }

    /// The findings about a target.
    pub fn about(&self, target: &TargetSummary) -> &[Numbered<'a>] {
        self.about.get(&target.target).map_or(&[], Vec::as_slice)
    }

    /// Settles what is told under which target, where they are told in this order.
    pub fn places<'t>(&'t self, order: &[&'a TargetSummary]) -> SharedSections<'t, 'a> {
        let said = workers::each(order, |target| self.said(target));
        let mut disks: BTreeMap<Vec<String>, &'a str> = BTreeMap::new();
        let mut places = SharedSections {
            by_target: self,
            like: Vec::with_capacity(order.len()),
            findings: vec![None; self.report.findings.len()],
            steps: BTreeMap::new(),
        };
        for ((place, target), said) in order.iter().enumerate().zip(said) {
            let first = said.and_then(|said| {
                let first = disks.get(&said).copied();
                if first.is_none() {
                    disks.insert(said, &target.title);
                }
                first
            });
            places.like.push(first);
            if first.is_some() {
                continue;
            }
            for (at, _) in self.about(target) {
                if let Some(first) = places.findings.get_mut(*at) {
                    first.get_or_insert(place);
                }
            }
            for step in self
                .report
                .plan(&target.target)
                .into_iter()
                .flat_map(|plan| plan.steps.iter().chain(&plan.options))
            {
                places.steps.entry(same(step)).or_insert(place);
            }
        }
        places
    }

    /// All that would be said of a free disk, but for its name.
    fn said(&self, target: &TargetSummary) -> Option<Vec<String>> {
        if !target.kind.is_device() {
            return None;
        }
        let steps = self
            .report
            .plan(&target.target)
            .into_iter()
            .flat_map(|plan| &plan.steps);
        let steps = steps.map(|step| format!("{}: {}", step.advice.setting, step.advice.summary()));
        let told = self.about(target).iter();
        let told = told.map(|(_, finding)| format!("{} {}", finding.rule, finding.outcome.word()));
        let content = target.content.iter().map(DeviceContent::words);
        Some(content.chain(steps).chain(told).collect())
    }
}

/// What makes two steps the same.
type Same<'a> = (&'a str, &'a Subject, &'a [String]);

fn same(step: &Step) -> Same<'_> {
    (step.advice.setting.name, &step.subject, &step.rules)
}

/// Where everything is told that several targets have in common.
pub struct SharedSections<'t, 'a> {
    by_target: &'t FindingsByTarget<'a>,
    /// For a free disk of which all is said that was said of an earlier one: that one's title.
    like: Vec<Option<&'a str>>,
    /// By the position of the finding.
    findings: Vec<Option<usize>>,
    steps: BTreeMap<Same<'a>, usize>,
}

impl<'t, 'a> SharedSections<'t, 'a> {
    pub fn rest(&'t self) -> Chapter<'t, 'a> {
        self.chapter(self.like.len())
    }

    /// What is told under the target at this place of the order.
    pub fn chapter(&'t self, place: usize) -> Chapter<'t, 'a> {
        Chapter {
            report: self.by_target.report,
            like: self.like.get(place).copied().flatten(),
            places: self,
            place,
            findings: BTreeSet::default(),
            steps: BTreeSet::default(),
            reasons: BTreeSet::default(),
        }
    }
}

/// What is told under one target, as its sections are made.
pub struct Chapter<'t, 'a> {
    pub report: &'a Report,
    /// For a free disk of which all is said that was said of an earlier one: that one's title.
    pub like: Option<&'a str>,
    places: &'t SharedSections<'t, 'a>,
    place: usize,
    findings: BTreeSet<usize>,
    steps: BTreeSet<Same<'a>>,
    reasons: BTreeSet<(&'a [String], &'a str)>,
}

impl<'t, 'a> Chapter<'t, 'a> {
    /// The findings about a target.
    pub fn about(&self, target: &TargetSummary) -> &'t [Numbered<'a>] {
        self.places.by_target.about(target)
    }

    /// Notes a step; false when it was told before.
    pub fn step(&mut self, step: &'a Step) -> bool {
        let first = self.places.steps.get(&same(step));
        first.is_none_or(|first| *first == self.place) && self.steps.insert(same(step))
    }

    /// Notes the reason of a step; false when the same rules gave another step of the target before
    /// in the same words.
    pub fn reason(&mut self, step: &'a Step) -> bool {
        self.reasons.insert((&step.rules, &step.title))
    }

    /// Notes a finding; false when it was told before.
    pub fn finding(&mut self, (at, _): Numbered<'a>) -> bool {
        let first = self.places.findings.get(at).copied().flatten();
        first.is_none_or(|first| first == self.place) && self.findings.insert(at)
    }
}
