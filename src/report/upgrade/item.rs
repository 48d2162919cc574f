//! How items come to be: from a ruling of the table, or from a finding and what its condition looked at.

use std::collections::BTreeMap;

use crate::facts::{Scope, Subject};
use crate::report::model::Report;
use crate::report::model::upgrade::{Answer, Item, Part};
use crate::rules::{Finding, Level, Outcome, Trace};
use crate::validity::Ruling;

impl Item {
    /// A message that is no answer about a need of the next boot.
    pub(super) fn told(part: Part, level: Level, subject: &Subject, what: String, ruling: Ruling) -> Self {
        Self {
            part,
            level,
            subject: subject.clone(),
            place: None,
            what,
            because: ruling.because,
            sources: if ruling.source.is_empty() { Vec::new() } else { vec![ruling.source] },
            already: false,
            undecided: false,
            rule: None,
            sure: None,
            answer: None,
            name: None,
        }
    }

    /// A message that it is unknown whether the next boot can do it.
    pub(super) fn open(subject: &Subject, level: Level, what: String, ruling: Ruling) -> Self {
        let answer = Some(Answer::CannotBeTold);
        Self { undecided: true, answer, ..Self::told(Part::NotKnown, level, subject, what, ruling) }
    }

    /// The same as a need that the next boot cannot meet.
    pub(super) fn blocks(self) -> Self {
        Self { part: Part::Blocker, undecided: false, answer: Some(Answer::Fails), ..self }
    }
}

pub fn item(part: Part, finding: &Finding, already: bool) -> Item {
    Item {
        part,
        level: finding.level,
        subject: finding.subject.clone(),
        place: None,
        what: finding.title.clone(),
        because: finding.because.to_string(),
        sources: finding.refs.to_vec(),
        already,
        undecided: is_open(finding),
        rule: Some(finding.rule.clone()),
        sure: None,
        answer: None,
        name: None,
    }
}

/// Findings by rule and subject.
pub type FindingIndex<'r> = BTreeMap<(&'r str, &'r Subject), &'r Finding>;

pub fn by_name(report: &Report) -> FindingIndex<'_> {
    report.findings.iter().map(|finding| ((finding.rule.as_str(), &finding.subject), finding)).collect()
}

/// The same finding in the other report.
pub fn same<'r>(findings: &FindingIndex<'r>, finding: &'r Finding) -> Option<&'r Finding> {
    findings.get(&(finding.rule.as_str(), &finding.subject)).copied()
}

pub fn applies(finding: &Finding) -> bool {
    finding.outcome == Outcome::Applies
}

pub fn is_open(finding: &Finding) -> bool {
    matches!(finding.outcome, Outcome::Undecided { .. })
}

pub fn of_boot(finding: &Finding) -> bool {
    finding.subject.scope() == Scope::Boot
}

/// Whether the condition of a finding tests a fact. A compared report has its traces.
pub fn looks_at(finding: &Finding, fact: &str) -> bool {
    fn asks(trace: &Trace, fact: &str) -> bool {
        trace.seen.as_ref().is_some_and(|seen| seen.fact == fact)
            || trace.kids.iter().any(|kid| asks(kid, fact))
    }
    finding.trace.as_ref().is_some_and(|trace| asks(trace, fact))
}
