//! Findings without a place in a plan: those that advise nothing, and those that cannot be decided.

use std::collections::BTreeSet;

use super::page::Page;
use super::words;
use crate::facts::Subject;
use crate::report::{Report, Step, TargetSummary};
use crate::rules::{Finding, Level, Outcome};

/// What has been told, so that nothing is told twice.
#[derive(Default)]
pub struct Told {
    findings: BTreeSet<(String, Subject)>,
    steps: BTreeSet<(String, Subject)>,
}

impl Told {
    /// Notes a step; false when it was told before.
    pub fn step(&mut self, step: &Step) -> bool {
        self.steps.insert((step.advice.setting.clone(), step.subject.clone()))
    }

    fn finding(&mut self, finding: &Finding) -> bool {
        self.findings.insert((finding.rule.clone(), finding.subject.clone()))
    }
}

/// Writes what applies without advice, and what is undecided, about one target.
pub fn of_target(page: &mut Page, report: &Report, target: &TargetSummary, told: &mut Told) {
    let concerns = |finding: &&Finding| target.subjects.contains(&finding.subject);
    let findings: Vec<&Finding> = report.findings.iter().filter(concerns).collect();
    write(page, 2, &findings, "Found", false, told);
}

/// Writes what concerns no target: the host as a whole, and what lies beside.
pub fn elsewhere(page: &mut Page, report: &Report, told: &mut Told) {
    let known: BTreeSet<&Subject> = report.targets.iter().flat_map(|target| &target.subjects).collect();
    let beside: Vec<&Finding> = report.findings.iter().filter(|f| !known.contains(&f.subject)).collect();
    write(page, 0, &beside, "The host as a whole", true, told);
}

/// `with_advice`: whether findings with advice are told here too, because no plan holds it.
fn write(
    page: &mut Page,
    indent: usize,
    findings: &[&Finding],
    title: &str,
    with_advice: bool,
    told: &mut Told,
) {
    let bare = |f: &&&Finding| {
        f.outcome == Outcome::Applies
            && (f.advice.is_empty() || with_advice)
            && (f.level > Level::Keep || !with_advice)
    };
    let found: Vec<&&Finding> = findings.iter().filter(bare).filter(|f| told.finding(f)).collect();
    if !found.is_empty() {
        page.gap();
        page.para(indent, title);
        for finding in found {
            let label = format!("{:<10}", finding.level.word());
            page.hanging(
                indent + 2,
                &label,
                &format!("{}: {}", words::subject(&finding.subject), finding.title),
            );
            page.para(indent + 12, &finding.because);
            for advice in &finding.advice {
                let setting = format!("{}: {}", advice.setting, advice.change.words());
                page.para(indent + 12, &setting);
                for command in &advice.apply {
                    page.verbatim(indent + 12, &format!("apply    {command}"));
                }
            }
        }
    }
    undecided(page, indent, findings, told);
}

fn undecided(page: &mut Page, indent: usize, findings: &[&Finding], told: &mut Told) {
    let open: Vec<(&Finding, &Vec<Vec<crate::facts::Need>>)> = findings
        .iter()
        .filter_map(|finding| match &finding.outcome {
            Outcome::Undecided { needs } if told.finding(finding) => Some((*finding, needs)),
            _ => None,
        })
        .collect();
    if open.is_empty() {
        return;
    }
    page.gap();
    page.para(indent, "Undecided");
    let (serious, minor): (Vec<_>, Vec<_>) =
        open.into_iter().partition(|(finding, _)| finding.level >= Level::Warning);
    for (finding, needs) in &serious {
        let label = format!("{:<10}", finding.level.word());
        page.hanging(indent + 2, &label, &format!("{} ({})", finding.title, finding.rule));
        // The first set is the best; the others are in the trace.
        for need in needs.iter().take(1).flatten() {
            page.hanging(indent + 12, "needs  ", &words::need(need));
        }
    }
    if !minor.is_empty() {
        let ids = super::distinct(minor.iter().map(|(finding, _)| finding.rule.as_str()));
        let lead = if serious.is_empty() { "" } else { "and " };
        let count = minor.len();
        page.para(
            indent + 2,
            &format!(
                "{lead}{count} of less weight; `walwise explain RULE` says what each needs: {}",
                ids.join(", ")
            ),
        );
    }
}
