//! Findings by subject, so that a report on a host with thousands of disks takes linear time.

use std::collections::BTreeMap;

use crate::facts::Subject;
use crate::rules::Finding;

pub struct Index<'a> {
    by_subject: BTreeMap<&'a Subject, Vec<(usize, &'a Finding)>>,
}

impl<'a> Index<'a> {
    /// An index of these findings; their order is kept.
    pub fn new(findings: &'a [Finding]) -> Self {
        let mut by_subject: BTreeMap<&Subject, Vec<(usize, &Finding)>> = BTreeMap::new();
        for (place, finding) in findings.iter().enumerate() {
            by_subject.entry(&finding.subject).or_default().push((place, finding));
        }
        Self { by_subject }
    }

    /// Those about any of these subjects, each with its position in the whole, in that order.
    pub fn about(&self, subjects: &[Subject]) -> Vec<(usize, &'a Finding)> {
        let mut found: Vec<(usize, &Finding)> =
            subjects.iter().filter_map(|subject| self.by_subject.get(subject)).flatten().copied().collect();
        found.sort_by_key(|(place, _)| *place);
        found.dedup_by_key(|(place, _)| *place);
        found
    }
}
