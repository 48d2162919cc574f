use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Subject, choice};
use crate::report::Report;
use crate::rules::{Finding, Level, Outcome};

#[derive(Clone, Debug)]
pub struct RuleSummary {
    pub rule: String,
    /// Indices into the findings of the report, ascending.
    pub findings: Vec<usize>,
    pub unaffected: Vec<Subject>,
    pub result: RuleResult,
}

choice! {
    pub enum RuleResult {
        Applies = "Applies",
        /// The rule applies to no subject of the target or host, and is undecided for at least one.
        Undecided = "Undecided",
        DoesNotApply = "Does not apply",
        /// No subject of the target or host is in the rule's scope.
        NoSubject = "Not applicable here",
    }
}

impl RuleSummary {
    pub fn rule_findings_in_report<'r>(
        &'r self,
        report: &'r Report,
    ) -> impl Iterator<Item = &'r Finding> {
        self.findings
            .iter()
            .filter_map(|at| report.findings.get(*at))
    }
}

/// Rules that apply come first, then undecided ones, both by level. The others keep their order in
/// the rule set.
pub fn summarize_rules(report: &Report, about: &BTreeSet<Subject>) -> Vec<RuleSummary> {
    let mut findings: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut all: Vec<RuleSummary> = Vec::with_capacity(report.rules.len());
    for (at, finding) in report.findings.iter().enumerate() {
        if about.contains(&finding.subject) {
            findings.entry(&finding.rule).or_default().push(at);
        }
    }
    for tally in &report.rules {
        let findings = findings.remove(tally.rule.as_str()).unwrap_or_default();
        let not = about
            .iter()
            .filter(|subject| tally.does_not_apply.binary_search(subject).is_ok());
        let not: Vec<Subject> = not.cloned().collect();
        let applies = |at: &usize| {
            report
                .findings
                .get(*at)
                .is_some_and(|f| f.outcome == Outcome::Applies)
        };
        let result = match (findings.is_empty(), not.is_empty()) {
            (false, _) if findings.iter().any(applies) => RuleResult::Applies,
            (false, _) => RuleResult::Undecided,
            (true, false) => RuleResult::DoesNotApply,
            (true, true) => RuleResult::NoSubject,
        };
        all.push(RuleSummary {
            rule: tally.rule.clone(),
            findings,
            unaffected: not,
            result,
        });
    }
    let level = |judged: &RuleSummary| {
        judged
            .rule_findings_in_report(report)
            .map(|finding| finding.level)
            .max()
            .unwrap_or(Level::Keep)
    };
    all.sort_by_key(|judged| (judged.result, std::cmp::Reverse(level(judged))));
    all
}
