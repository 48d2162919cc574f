//! Findings without a place in a plan: those that advise nothing, and those that cannot be decided.

use std::collections::{BTreeMap, BTreeSet};

use super::telling::Part;
use super::words;
use crate::facts::{Need, Scope, Subject};
use crate::report::TargetSummary;
use crate::rules::{Finding, Level, Outcome};
use crate::text::page::Page;

/// Writes what applies without advice, and what is undecided, about one target.
pub fn of_target(page: &mut Page, part: &mut Part<'_, '_>, target: &TargetSummary) {
    let findings = part.about(target);
    let bare = |finding: &&Finding| finding.advice.is_empty() && finding.level > Level::Keep;
    found(page, 2, "Found", findings.iter().copied().filter(bare), part);
    undecided(page, 2, findings, part);
}

/// Writes what concerns no target: the host as a whole, and what lies beside, which is only counted where one target was
/// asked for. No plan holds its advice.
pub fn elsewhere(page: &mut Page, part: &mut Part<'_, '_>) {
    let report = part.report;
    let known: BTreeSet<&Subject> = report.targets.iter().flat_map(|target| &target.subjects).collect();
    let outside = report.findings.iter().filter(|f| !known.contains(&f.subject));
    let (host, beside): (Vec<&Finding>, Vec<&Finding>) =
        outside.partition(|finding| finding.subject.scope() == Scope::Host);
    let matters = |finding: &&Finding| finding.level > Level::Keep;
    found(page, 0, "The host as a whole", host.iter().copied().filter(matters), part);
    undecided(page, 0, &host, part);
    if report.asked.is_none() {
        found(page, 0, "Other parts of this host", beside.iter().copied().filter(matters), part);
        undecided(page, 0, &beside, part);
        return;
    }
    let applies = |finding: &&Finding| finding.outcome == Outcome::Applies && matters(finding);
    let beside: Vec<&Finding> = beside.into_iter().filter(applies).collect();
    if !beside.is_empty() {
        let critical = beside.iter().filter(|finding| finding.level == Level::Critical).count();
        let findings = words::count(beside.len(), "finding");
        page.gap();
        page.para(
            0,
            &format!("{findings} about other parts of this host ({critical} critical): `walwise check`"),
        );
    }
}

fn found<'a>(
    page: &mut Page,
    indent: usize,
    title: &str,
    findings: impl Iterator<Item = &'a Finding>,
    part: &mut Part<'_, 'a>,
) {
    let applies = findings.filter(|finding| finding.outcome == Outcome::Applies);
    let new: Vec<&Finding> = applies.filter(|finding| part.finding(finding)).collect();
    if new.is_empty() {
        return;
    }
    page.gap();
    page.para(indent, title);
    for finding in new {
        let label = format!("{:<10}", finding.level.word());
        let of = words::subject(&finding.subject);
        let was = words::level_as_written(part.report, &finding.rule);
        page.hanging(indent + 2, &label, &format!("{of}: {}{was}", finding.title));
        page.para(indent + 12, &finding.because);
        remedy(page, indent + 12, finding);
        for advice in &finding.advice {
            page.para(indent + 12, &format!("{}: {}", advice.setting, advice.change.words()));
            super::advice::commands(page, indent + 12, advice);
        }
    }
}

/// What mends a finding, where that is told.
pub fn remedy(page: &mut Page, indent: usize, finding: &Finding) {
    if let Some(remedy) = &finding.remedy {
        page.hanging(indent, "remedy  ", &remedy.says);
    }
}

/// Whether a measurement is all that is missing.
fn waits_for_probe(needs: &[Vec<Need>]) -> bool {
    let measured = |need: &Need| need.fact.starts_with("probe.");
    needs.first().is_some_and(|set| set.iter().all(measured))
}

/// A finding, the facts that would decide it, and on how many more subjects it is open.
type Serious<'a> = (&'a Finding, &'a [Need], usize);

/// The serious ones with what they need, each rule once and those that need the same together; the others in a line. The
/// level has a question mark: it is what the finding would be.
fn undecided<'a>(page: &mut Page, indent: usize, findings: &[&'a Finding], part: &mut Part<'_, 'a>) {
    let mut serious: Vec<Serious<'_>> = Vec::new();
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut minor, mut waiting, mut blind): (Vec<&str>, Vec<&str>, Vec<&str>) =
        (Vec::new(), Vec::new(), Vec::new());
    for finding in findings {
        let Outcome::Undecided { needs } = &finding.outcome else { continue };
        if !part.finding(finding) {
            continue;
        }
        if needs.is_empty() && finding.level >= Level::Warning {
            blind.push(&finding.rule);
        } else if waits_for_probe(needs) {
            waiting.push(&finding.rule);
        } else if finding.level < Level::Warning {
            minor.push(&finding.rule);
        } else if let Some((_, _, more)) = at.get(finding.rule.as_str()).and_then(|i| serious.get_mut(*i)) {
            *more += 1;
        } else {
            at.insert(&finding.rule, serious.len());
            // The first set is the best; the others are in the trace.
            serious.push((finding, needs.first().map_or(&[], Vec::as_slice), 0));
        }
    }
    if serious.is_empty() && minor.is_empty() && waiting.is_empty() && blind.is_empty() {
        return;
    }
    page.gap();
    page.para(indent, "Undecided");
    for (at, (.., best, _)) in serious.iter().enumerate() {
        let like = |(_, needs, _): &&Serious<'_>| needs == best;
        if serious.iter().take(at).any(|one| like(&one)) {
            continue;
        }
        for (finding, _, more) in serious.iter().filter(like) {
            let label = format!("{:<10}", format!("{}?", finding.level.word()));
            let others = if *more > 0 { format!(", and {more} more like it") } else { String::new() };
            page.hanging(indent + 2, &label, &format!("{} ({}{others})", finding.title, finding.rule));
        }
        for need in *best {
            page.hanging(indent + 12, "needs  ", &words::need(need));
        }
    }
    if !minor.is_empty() {
        let lead = if serious.is_empty() { "" } else { "and " };
        let count = minor.len();
        let ids = super::distinct(minor.into_iter()).join(", ");
        let text =
            format!("{lead}{count} of less weight; `walwise explain RULE` says what each needs: {ids}");
        page.para(indent + 2, &text);
    }
    if !blind.is_empty() {
        let ids = super::distinct(blind.into_iter()).join(", ");
        let text =
            format!("Nothing that can be read here would settle, as `walwise explain RULE` shows: {ids}");
        page.para(indent + 2, &text);
    }
    if !waiting.is_empty() {
        let ids = super::distinct(waiting.into_iter()).join(", ");
        page.para(indent + 2, &format!("Until a commit is measured (`walwise check DIR`): {ids}"));
    }
}
