//! The results of every rule for one target and the host, found once when the report or the target
//! changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Scope, Subject};
use crate::report::Report;
use crate::rules::{Finding, Level, Outcome};

#[derive(Clone, Debug)]
pub struct RuleResults {
    pub rule: String,
    /// Positions of its findings in the report: those that apply before those that are undecided.
    pub findings: Vec<usize>,
    /// The subjects on which it does not apply.
    pub not: Vec<Subject>,
    /// The strongest of its results.
    pub came_to: CameTo,
}

/// The overall result of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CameTo {
    /// It applies to something.
    Applies,
    /// It applies to nothing, and cannot be decided on something.
    Undecided,
    /// It applies to nothing of what it is about.
    DoesNotApply,
    /// Nothing here is what it is about.
    Nothing,
}

impl CameTo {
    /// All of them, as they are shown.
    pub const ALL: [Self; 4] = [
        Self::Applies,
        Self::Undecided,
        Self::DoesNotApply,
        Self::Nothing,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Applies => "applies",
            Self::Undecided => "undecided",
            Self::DoesNotApply => "does not apply",
            Self::Nothing => "not applicable here",
        }
    }
}

impl RuleResults {
    pub fn of<'r>(&'r self, report: &'r Report) -> impl Iterator<Item = &'r Finding> {
        self.findings
            .iter()
            .filter_map(|at| report.findings.get(*at))
    }
}

/// The results of every rule: applying ones first, then undecided ones, each the worst first; the
/// rest in the order of the rules.
pub fn judged(report: &Report, about: &BTreeSet<Subject>) -> Vec<RuleResults> {
    let mut findings: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut all: Vec<RuleResults> = Vec::with_capacity(report.rules.len());
    for (at, finding) in report.findings.iter().enumerate() {
        if finding.subject.scope() == Scope::Host || about.contains(&finding.subject) {
            findings.entry(&finding.rule).or_default().push(at);
        }
    }
    let host = Subject::host();
    for tally in &report.rules {
        let findings = findings.remove(tally.rule.as_str()).unwrap_or_default();
        let concerned = std::iter::once(&host).chain(about);
        let not = concerned.filter(|subject| tally.does_not_apply.binary_search(subject).is_ok());
        let not: Vec<Subject> = not.cloned().collect();
        let applies = |at: &usize| {
            report
                .findings
                .get(*at)
                .is_some_and(|f| f.outcome == Outcome::Applies)
        };
        let came_to = match (findings.is_empty(), not.is_empty()) {
            (false, _) if findings.iter().any(applies) => CameTo::Applies,
            (false, _) => CameTo::Undecided,
            (true, false) => CameTo::DoesNotApply,
            (true, true) => CameTo::Nothing,
        };
        all.push(RuleResults {
            rule: tally.rule.clone(),
            findings,
            not,
            came_to,
        });
    }
    let level = |judged: &RuleResults| {
        judged
            .of(report)
            .map(|finding| finding.level)
            .max()
            .unwrap_or(Level::Keep)
    };
    all.sort_by_key(|judged| (judged.came_to, std::cmp::Reverse(level(judged))));
    all
}
