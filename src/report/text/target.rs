//! One target: the verdict with its reasons, the stack, what was measured, then the plan.

use std::collections::BTreeSet;

use super::telling::Part;
use super::{advice, findings, measured, shout, unknown, words};
use crate::durability::{Path, Standing, Verdict};
use crate::facts::Subject;
use crate::report::{DeviceContent, DirectoryRow, LayerRow, Report, TargetSummary};
use crate::rules::{Finding, Level, Outcome};
use crate::text::page::Page;

/// A verdict as a heading, with what is missing of the copies beside it: `DURABLE, but degraded`.
pub fn heading(verdict: &Verdict) -> String {
    verdict.heading_by(&shout(verdict.standing))
}

/// The verdict of a target as a heading, or what it is when it has none.
pub fn standing_words(report: &Report, target: &TargetSummary) -> String {
    match report.verdict(&target.target) {
        Some(verdict) => heading(verdict),
        None => target.content.as_ref().map_or_else(|| "NO VERDICT".to_owned(), DeviceContent::heading),
    }
}

/// What there is to say of a target that has no verdict, in sentences.
pub fn without_verdict(target: &TargetSummary) -> Vec<String> {
    let Some(content) = &target.content else { return Vec::new() };
    let undecided = "Undecided until mounted: durability and the price of a commit need a file system.";
    let choice = |rank| format!("Choice {rank} among the free disks: {}.", target.rank_because);
    let free = content.may_be_given().then(|| undecided.to_owned());
    [content.sentence()].into_iter().chain(free).chain(target.rank.map(choice)).collect()
}

/// Writes all about one target.
pub fn write<'a>(page: &mut Page, part: &mut Part<'_, 'a>, target: &'a TargetSummary) {
    let report = part.report;
    page.heading(&format!("{}: {}", standing_words(report, target), target.title));
    let verdict = report.verdict(&target.target);
    match verdict {
        Some(verdict) => {
            page.para(2, &verdict.sentence);
            for says in
                [&verdict.second_fault, &verdict.host_loss].into_iter().filter(|says| !says.is_empty())
            {
                page.para(2, says);
            }
            page.para(2, &verdict.limits);
        }
        None => without_verdict(target).iter().for_each(|says| page.para(2, says)),
    }
    kept(page, report, target);
    first(page, part, target);
    if let Some(stack) = report.stack(&target.target) {
        page.gap();
        page.para(2, "Stack");
        page.table(4, &stack.layers.iter().map(layer).collect::<Vec<_>>(), &[]);
        if let Some(count) = stack.left_out {
            page.para(4, &format!("{count} more layers are left out."));
        }
    }
    if let Some(verdict) = verdict {
        evidence(page, verdict);
    }
    for probe in report.probes.iter().filter(|probe| probe.target == target.target) {
        measured::write(page, report, target, &probe.measurement);
    }
    if let Some(other) = part.like {
        page.gap();
        page.para(2, &format!("Everything else is as for {other}"));
        return;
    }
    advice::plan(page, part, target);
    findings::of_target(page, part, target);
    unknown::of_target(page, part, target);
}

/// What servers keep on it, where that is more than the directory itself, and what it shares with other targets.
fn kept(page: &mut Page, report: &Report, target: &TargetSummary) {
    if !target.directories.iter().all(|directory| directory.path == target.target.name()) {
        page.gap();
        page.para(2, "Kept here");
        let row = |directory: &DirectoryRow| {
            let verdict = directory.verdict.map_or("no verdict", Standing::word);
            vec![directory.role.clone(), verdict.to_owned(), directory.path.clone()]
        };
        page.table(4, &target.directories.iter().map(row).collect::<Vec<_>>(), &[]);
        page.gap();
    }
    for says in words::shared(report, &target.target) {
        page.para(2, &says);
    }
}

/// What to do first: everything critical, and the warnings, in a line each.
fn first(page: &mut Page, part: &Part<'_, '_>, target: &TargetSummary) {
    let serious = |f: &&Finding| f.outcome == Outcome::Applies && f.level >= Level::Warning;
    let findings: Vec<&Finding> = part.about(target).iter().copied().filter(serious).collect();
    if findings.is_empty() {
        return;
    }
    page.gap();
    page.para(2, "First");
    let mut told = BTreeSet::new();
    for finding in findings {
        if told.insert((finding.level, &finding.title, finding.remedy.as_ref().map(|remedy| &remedy.says))) {
            page.hanging(4, &format!("{:<10}", finding.level.word()), &finding.title);
            findings::remedy(page, 14, finding);
        }
    }
}

/// A layer of a stack as the cells of a row.
pub fn layer(row: &LayerRow) -> Vec<String> {
    let depth = usize::try_from(row.depth).unwrap_or_default().min(20);
    let mark = if row.weakest { "weakest" } else { "" };
    let name = format!("{}{}", "  ".repeat(depth), row.subject.name());
    vec![name, row.says.clone(), row.cache.clone(), mark.to_owned()]
}

/// The evidence of the worst path; the others in a line each.
fn evidence(page: &mut Page, verdict: &Verdict) {
    let Some((worst, others)) = verdict.paths.split_first() else { return };
    page.gap();
    page.para(2, "Evidence");
    for piece in &worst.evidence {
        let source = if piece.source.is_empty() { String::new() } else { format!(" ({})", piece.source) };
        let label = format!("{:<14}{:<13}", piece.standing.word(), piece.layer.word());
        page.hanging(4, &label, &format!("{}{source}", piece.says));
    }
    for path in others {
        page.hanging(4, &format!("{:<14}", path.standing.word()), &format!("by way of {}", way(path)));
    }
    if !verdict.missing.is_empty() {
        page.gap();
        page.para(2, if verdict.standing.is_unproven() { "What would settle it" } else { "Missing" });
        for need in &verdict.missing {
            page.hanging(4, "", &words::need(need));
        }
    }
}

fn way(path: &Path) -> String {
    path.hops.iter().map(Subject::name).collect::<Vec<_>>().join(" → ")
}
