//! Findings without a place in a plan, what is not known, and the sources of all that applies.

use std::collections::{BTreeMap, BTreeSet};

use super::write::{Document, code, codes, strong, text};
use crate::facts::{Need, Scope, Subject};
use crate::report::text::telling::Part;
use crate::report::text::unknown;
use crate::report::text::{distinct, words};
use crate::report::{Report, TargetSummary};
use crate::rules::{Advice, Finding, Level, Outcome};

/// Writes what applies without advice, and what is undecided, about one target.
pub fn of_target(document: &mut Document, part: &mut Part<'_, '_>, target: &TargetSummary) {
    let about = part.about(target);
    let bare = about.iter().copied().filter(|finding| finding.advice.is_empty());
    found(document, 3, "Found", bare, part);
    undecided(document, 3, about, part);
}

/// Writes what concerns no target. What lies beside one that was asked for is only counted.
pub fn elsewhere(document: &mut Document, part: &mut Part<'_, '_>) {
    let report = part.report;
    let known: BTreeSet<&Subject> = report.targets.iter().flat_map(|target| &target.subjects).collect();
    let outside = report.findings.iter().filter(|finding| !known.contains(&finding.subject));
    let (host, beside): (Vec<&Finding>, Vec<&Finding>) =
        outside.partition(|finding| finding.subject.scope() == Scope::Host);
    found(document, 2, "The host as a whole", host.iter().copied(), part);
    undecided(document, 3, &host, part);
    if report.asked.is_none() {
        found(document, 2, "Other parts of this host", beside.iter().copied(), part);
        undecided(document, 3, &beside, part);
        return;
    }
    let matters = |finding: &&&Finding| finding.outcome == Outcome::Applies && finding.level > Level::Keep;
    let count = beside.iter().filter(matters).count();
    if count > 0 {
        document.para(&format!(
            "{} about other parts of this host: `walwise check`.",
            words::count(count, "finding")
        ));
    }
}

fn found<'a>(
    document: &mut Document,
    level: usize,
    title: &str,
    findings: impl Iterator<Item = &'a Finding>,
    part: &mut Part<'_, 'a>,
) {
    let matters = findings.filter(|f| f.outcome == Outcome::Applies && f.level > Level::Keep);
    let new: Vec<&Finding> = matters.filter(|finding| part.finding(finding)).collect();
    if new.is_empty() {
        return;
    }
    document.heading(level, title);
    let row = |finding: &&Finding| {
        let advice = finding.advice.iter().map(|one| format!("{}: {}", one.setting, one.change.words()));
        let mut says = format!("{} {}", strong(&finding.title), text(&finding.because));
        if let Some(remedy) = &finding.remedy {
            says.extend([" Remedy: ", &text(&remedy.says)]);
        }
        for one in advice {
            says.extend([" ", &code(&one)]);
        }
        vec![
            finding.level.word().to_owned(),
            text(&words::subject(&finding.subject)),
            says,
            code(&finding.rule),
        ]
    };
    document.table(&["level", "of", "finding", "rule"], &[], &new.iter().map(row).collect::<Vec<_>>());
    for finding in new {
        let told = |advice: &&Advice| {
            !advice.own.is_empty() || advice.commands().iter().any(|(_, all)| !all.is_empty())
        };
        for advice in finding.advice.iter().filter(told) {
            let of = text(&words::subject(&finding.subject));
            let does = code(&format!("{}: {}", advice.setting, advice.change.words()));
            document.para(&format!("{does} of {of} ({}):", code(&finding.rule)));
            super::plan::commands(document, advice);
        }
    }
}

/// Every rule that is undecided, once, with what would decide it where it is open first.
fn undecided<'a>(document: &mut Document, level: usize, findings: &[&'a Finding], part: &mut Part<'_, 'a>) {
    let mut rows: Vec<(&Finding, &[Vec<Need>], usize)> = Vec::new();
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        let Outcome::Undecided { needs } = &finding.outcome else { continue };
        if !part.finding(finding) {
            continue;
        }
        if let Some((.., more)) = at.get(finding.rule.as_str()).and_then(|at| rows.get_mut(*at)) {
            *more += 1;
        } else {
            at.insert(&finding.rule, rows.len());
            rows.push((finding, needs, 0));
        }
    }
    if rows.is_empty() {
        return;
    }
    document.heading(level, "Undecided");
    let row = |(finding, needs, more): &(&Finding, &[Vec<Need>], usize)| {
        let more = if *more > 0 { format!(", and {more} more like it") } else { String::new() };
        let needs = match needs.first() {
            Some(set) => set.iter().map(|need| text(&words::need(need))).collect::<Vec<_>>().join("; "),
            None => "nothing that can be read here would settle it".to_owned(),
        };
        let would = format!("{}?", finding.level.word());
        vec![would, format!("{}{more}", text(&finding.title)), needs, code(&finding.rule)]
    };
    document.table(&["would be", "finding", "needs", "rule"], &[], &rows.iter().map(row).collect::<Vec<_>>());
}

/// Writes the facts that a target needs and that are not known, and what would help.
pub fn unknown(document: &mut Document, part: &Part<'_, '_>, target: &TargetSummary) {
    let groups = unknown::groups(part, target);
    if groups.is_empty() {
        return;
    }
    document.heading(3, "Not known");
    let row = |(help, facts): (unknown::Help, unknown::Group)| {
        let names = distinct(facts.names.iter().map(String::as_str));
        vec![facts.count.to_string(), codes(&names), text(&help.to_string())]
    };
    let rows: Vec<Vec<String>> = groups.into_iter().rev().map(row).collect();
    document.table(&["", "facts", "remedy"], &[true], &rows);
}

/// Writes how many facts of the host are not known.
pub fn count_of_unknown(document: &mut Document, report: &Report) {
    if let Some(says) = unknown::counted(report) {
        document.para(&says);
    }
}

/// Writes the public sources of every rule that applies.
pub fn sources(document: &mut Document, report: &Report) {
    let mut rules: BTreeMap<&str, &[String]> = BTreeMap::new();
    for finding in report.findings.iter().filter(|finding| finding.outcome == Outcome::Applies) {
        rules.insert(&finding.rule, &finding.refs);
    }
    let row = |(rule, refs): (&str, &[String])| {
        vec![code(rule), refs.iter().map(|one| text(one)).collect::<Vec<_>>().join("; ")]
    };
    let rows: Vec<Vec<String>> = rules.into_iter().map(row).collect();
    if !rows.is_empty() {
        document.heading(2, "Sources");
        document.table(&["rule", "rests on"], &[], &rows);
    }
}
