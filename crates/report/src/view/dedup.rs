//! Assigns each finding and step to the first target that shows it, so that nothing appears
//! twice.
//!
//! All assignments are made before the first section, so that sections made in parallel are
//! reproducible.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::findings_by_subject::FindingsBySubject;
use crate::{DeviceContent, Report, Step, TargetSummary};
use walwise_judge::rules::Finding;
use walwise_model::facts::Subject;
use walwise_model::parallel;

pub struct FindingsByTarget<'a> {
    pub report: &'a Report,
    about: BTreeMap<&'a Subject, Vec<&'a Finding>>,
}

impl<'a> FindingsByTarget<'a> {
    pub fn new(report: &'a Report) -> Self {
        let index = FindingsBySubject::new(&report.findings);
        let about = parallel::map_items(&report.targets, |target| {
            index.findings_of_subjects(&target.subjects)
        });
        let targets = report.targets.iter().map(|target| &target.target);
        Self {
            report,
            about: targets.zip(about).collect(),
        }
    }

    pub fn for_target_and_host(report: &'a Report, target: &'a TargetSummary) -> Self {
        let subjects = [target.subjects.as_slice(), &[Subject::host()]].concat();
        let about = FindingsBySubject::new(&report.findings).findings_of_subjects(&subjects);
        Self {
            report,
            about: BTreeMap::from([(&target.target, about)]),
        }
    }

    pub fn target_findings(&self, target: &TargetSummary) -> &[&'a Finding] {
        self.about.get(&target.target).map_or(&[], Vec::as_slice)
    }

    /// `order` is the display order of targets. A disk that equals an earlier one shows no findings
    /// and steps of its own.
    pub fn assign_first_mentions(&'a self, order: &[&'a TargetSummary]) -> FirstMentions<'a> {
        let said = parallel::map_items(order, |target| self.disk_description_key(target));
        let mut disks: BTreeMap<Vec<String>, &'a str> = BTreeMap::new();
        let mut places = FirstMentions {
            by_target: self,
            same_as: Vec::with_capacity(order.len()),
            findings: BTreeMap::new(),
            steps: BTreeMap::new(),
        };
        for ((place, target), said) in order.iter().enumerate().zip(said) {
            let first = said.and_then(|said| match disks.entry(said) {
                Entry::Occupied(first) => Some(*first.get()),
                Entry::Vacant(disk) => {
                    disk.insert(&target.title);
                    None
                }
            });
            places.same_as.push(first);
            if first.is_some() {
                continue;
            }
            for finding in self.target_findings(target) {
                places.findings.entry(finding_key(finding)).or_insert(place);
            }
            let plan = self.report.plan(&target.target).into_iter();
            for step in plan.flat_map(|plan| plan.steps.iter().chain(&plan.options)) {
                places.steps.entry(step_key(step)).or_insert(place);
            }
        }
        places
    }

    /// Lists contents, steps and findings of a disk. Disks with equal signatures share one
    /// description. `None` for directories.
    fn disk_description_key(&self, target: &TargetSummary) -> Option<Vec<String>> {
        if !target.kind.is_device() {
            return None;
        }
        let steps = self.report.steps(&target.target).iter().map(|step| {
            format!(
                "{}: {}",
                step.advice.setting,
                step.advice.change_text_with_units()
            )
        });
        let told = self
            .target_findings(target)
            .iter()
            .map(|finding| format!("{} {}", finding.rule, finding.outcome.as_str()));
        let content = target.content.iter().map(DeviceContent::heading);
        Some(content.chain(steps).chain(told).collect())
    }
}

/// The rule and subject of a finding, which identify it.
type FindingKey<'a> = (&'a str, &'a Subject);

fn finding_key(finding: &Finding) -> FindingKey<'_> {
    (&finding.rule, &finding.subject)
}

/// The setting, subject and rules of a step, which identify it.
type StepKey<'a> = (&'a str, &'a Subject, &'a [String]);

fn step_key(step: &Step) -> StepKey<'_> {
    (step.advice.setting.name, &step.subject, &step.rules)
}

pub struct FirstMentions<'a> {
    by_target: &'a FindingsByTarget<'a>,
    /// For each target in display order, the title of an earlier, identical disk.
    same_as: Vec<Option<&'a str>>,
    /// The position of the first target that shows the finding.
    findings: BTreeMap<FindingKey<'a>, usize>,
    steps: BTreeMap<StepKey<'a>, usize>,
}

impl<'a> FirstMentions<'a> {
    /// `place` is the position of the target in display order. The number of targets stands for
    /// subjects of no target.
    pub fn target_tracker(&'a self, place: usize) -> ShownItemsTracker<'a> {
        ShownItemsTracker {
            report: self.by_target.report,
            same_as: self.same_as.get(place).copied().flatten(),
            first_mentions: self,
            position: place,
            findings: BTreeSet::default(),
            steps: BTreeSet::default(),
            reasons: BTreeSet::default(),
        }
    }
}

pub struct ShownItemsTracker<'a> {
    pub report: &'a Report,
    pub same_as: Option<&'a str>,
    first_mentions: &'a FirstMentions<'a>,
    position: usize,
    findings: BTreeSet<FindingKey<'a>>,
    steps: BTreeSet<StepKey<'a>>,
    reasons: BTreeSet<(&'a [String], &'a str)>,
}

impl<'a> ShownItemsTracker<'a> {
    pub fn target_findings(&self, target: &TargetSummary) -> &'a [&'a Finding] {
        self.first_mentions.by_target.target_findings(target)
    }

    /// False if the step was shown before, or if an earlier target shows it.
    pub fn mark_step_if_unshown(&mut self, step: &'a Step) -> bool {
        let first = self.first_mentions.steps.get(&step_key(step));
        first.is_none_or(|first| *first == self.position) && self.steps.insert(step_key(step))
    }

    /// False if the same rules gave the same reason for another step of the target.
    pub fn mark_reason_if_unshown(&mut self, step: &'a Step) -> bool {
        self.reasons.insert((&step.rules, &step.title))
    }

    /// False if the finding was shown before, or if an earlier target shows it.
    pub fn mark_finding_if_unshown(&mut self, finding: &'a Finding) -> bool {
        let key = finding_key(finding);
        let first = self.first_mentions.findings.get(&key);
        first.is_none_or(|first| *first == self.position) && self.findings.insert(key)
    }
}
