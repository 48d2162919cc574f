//! The short report: the answer in about 25 lines. The host, each verdict with its caveat, the flush path, keep or change for
//! four settings, the price, what to do, and what is not known.
//!
//! The words are those of the sections beside this one. A limit cuts what has little weight and says how much. It never cuts
//! what is critical, what a verdict cannot see, advice that was withheld, remarks about the run, or the number of critical
//! findings that are undecided.

mod settings;
mod things;

use std::collections::BTreeSet;

use super::once::{Chapter, FindingsByTarget, Numbered};
use super::section::{Bullet, Detail, Grid, Mark, Section};
use super::{Phrase, baseline, findings, flush, host, order, price, target, unknown, what_if, words};
use crate::quote::Command;
use crate::report::{Report, TargetSummary};
use crate::rules::{Level, Outcome};
pub use settings::file_system;
use things::ToDo;

/// A piece of the short report.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A line behind a label, with commands beneath it.
    Line(Bullet),
    Targets(Grid),
    /// A section as in the whole report.
    Section(Section),
}

/// How many targets the table names before it counts those of little urgency.
const TARGETS: usize = 12;

/// The short report, in order.
pub fn pieces(report: &Report) -> Vec<Piece> {
    let by_target = FindingsByTarget::new(report);
    let targets = order::worst_first(&by_target);
    let places = by_target.places(&targets);
    let mut lines = vec![Piece::Line(Bullet::sentence(host::line(report)))];
    if targets.is_empty() {
        lines.push(Piece::Line(Bullet::sentence(host::NOTHING)));
    }
    lines.extend(table(&by_target, &targets));
    let mut said_limits: Vec<&str> = Vec::new();
    for (place, target) in targets.iter().enumerate() {
        let chapter = places.chapter(place);
        let limits = report.verdict(&target.target).map_or("", |verdict| &*verdict.limits);
        let told = if place == 0 && report.baseline.is_none() {
            whole(&chapter, target)
        } else if place == 0 {
            vec![verdict(report, target)]
        } else {
            let caveat =
                (!limits.is_empty() && !said_limits.contains(&limits)).then(|| verdict(report, target));
            caveat.into_iter().chain(never_cut(&chapter, target)).collect()
        };
        said_limits.push(limits);
        lines.extend(told.into_iter().map(Piece::Line));
    }
    if report.baseline.is_some() {
        lines.extend(baseline::sections(report).into_iter().map(Piece::Section));
        let critical: Vec<Bullet> =
            targets.first().map(|target| never_cut(&places.chapter(0), target)).unwrap_or_default();
        lines.extend(critical.into_iter().map(Piece::Line));
    }
    lines.extend(elsewhere(report).into_iter().map(Piece::Line));
    let runs = report.warnings.iter().map(|note| labelled("run", note.to_string()));
    lines.extend(runs.map(Piece::Line));
    lines.extend(report.what_if.iter().flat_map(what_if::sections).map(Piece::Section));
    once(lines)
}

/// What several targets share is told under the first.
fn once(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let mut told = BTreeSet::new();
    pieces.retain(|piece| match piece {
        Piece::Line(line) => {
            let label = line.marks.first().map(Mark::words);
            told.insert((label, line.rule.clone(), line.says.to_string()))
        }
        Piece::Targets(_) | Piece::Section(_) => true,
    });
    pieces
}

fn labelled(label: &'static str, says: impl Into<Phrase>) -> Bullet {
    Bullet::marked(Mark::Remark(label), says)
}

/// Several targets in a line each, the worst first: standing, critical findings, name, file system, price.
fn table(by_target: &FindingsByTarget<'_>, targets: &[&TargetSummary]) -> Vec<Piece> {
    if targets.len() < 2 {
        return Vec::new();
    }
    let report = by_target.report;
    let row = |target: &TargetSummary| {
        let standing = target::standing(report, target);
        let standing = match order::criticals(by_target, target) {
            0 => standing,
            count => standing.and(format!(", {count} critical")),
        };
        let price = price::median(report, target).unwrap_or_else(|| "–".to_owned());
        vec![
            standing,
            Phrase::code(&target.title),
            settings::file_system(report, target).into(),
            price.into(),
        ]
    };
    let (named, others): (Vec<_>, Vec<_>) = targets
        .iter()
        .enumerate()
        .partition(|(place, target)| *place < TARGETS || order::criticals(by_target, target) > 0);
    let rows = named.into_iter().map(|(_, target)| row(target)).collect();
    let grid = Grid {
        head: vec!["verdict", "target", "file system", "commit"],
        right: Vec::new(),
        narrow: &[],
        rows,
    };
    let more = more(others.len(), " targets", "Contents").map(Piece::Line);
    [Piece::Targets(grid)].into_iter().chain(more).collect()
}

fn whole(chapter: &Chapter<'_, '_>, of: &TargetSummary) -> Vec<Bullet> {
    let report = chapter.report;
    let mut lines = vec![verdict(report, of)];
    if let Some(verdict) = report.verdict(&of.target) {
        lines.push(labelled("path", flush::line(&verdict.flush_path)));
    }
    lines.extend(settings::lines(report, of));
    lines.push(cost(report, of));
    let things = things::of_target(chapter, of);
    let (shown, cut) = things::within_limit(things);
    lines.extend(shown.into_iter().map(ToDo::line));
    lines.extend(more(cut, "", "Findings"));
    lines.extend(undecided(chapter.about(of), ""));
    lines.extend(withheld(report, of));
    lines.push(unknown::most(chapter, of));
    lines
}

/// What no limit cuts, about a target that is not told in full.
fn never_cut(chapter: &Chapter<'_, '_>, of: &TargetSummary) -> Vec<Bullet> {
    let things = things::of_target(chapter, of).into_iter().filter(ToDo::is_critical);
    let mut lines: Vec<Bullet> = things.map(ToDo::line).collect();
    lines.extend(undecided(chapter.about(of), ""));
    lines.extend(withheld(chapter.report, of));
    lines
}

/// How many more there are, and under which heading the whole report has them; `what` begins with a blank.
fn more(count: usize, what: &str, heading: &'static str) -> Option<Bullet> {
    let says = || Phrase::plain(format!("+ {count} more{what}")).and_further(heading);
    (count > 0).then(|| Bullet::sentence(says()))
}

/// The verdict in a sentence with what is missing of the copies, what becomes of commits with the host, and what cannot be
/// seen from here.
fn verdict(report: &Report, of: &TargetSummary) -> Bullet {
    let standing = report.verdict(&of.target).map(|verdict| verdict.standing);
    let heading = target::standing(report, of);
    let sentences = match report.verdict(&of.target) {
        Some(verdict) => {
            let all = [&verdict.sentence, &verdict.second_fault, &verdict.host_loss, &verdict.limits];
            all.into_iter().filter(|says| !says.is_empty()).cloned().collect()
        }
        None => target::without_verdict(of),
    };
    Bullet::marked(
        Mark::Verdict(heading, standing),
        Phrase::code(&of.title).and(": ").and(sentences.join(" ")),
    )
}

fn cost(report: &Report, of: &TargetSummary) -> Bullet {
    let measured = price::line(report, of);
    if let Some(says) = measured {
        return labelled("price", says);
    }
    if of.kind.is_device() {
        return labelled("price", "undecided until mounted");
    }
    if !report.host.live {
        return labelled("price", "not measured: a capture holds no measurement");
    }
    let command = Command::check(of.target.name(), "");
    let beneath = command.map(|command| Detail::Commands("", vec![command])).into_iter().collect();
    Bullet { beneath, ..labelled("price", "not measured; this measures it:") }
}

/// How many critical findings nobody can decide yet, by their rules; `what` begins with a blank.
fn undecided(findings: &[Numbered<'_>], what: &str) -> Option<Bullet> {
    let open = findings.iter().map(|(_, finding)| *finding);
    let open = open.filter(|finding| finding.level == Level::Critical);
    let open = open.filter(|finding| matches!(finding.outcome, Outcome::Undecided { .. }));
    let rules = words::distinct(open.map(|finding| &*finding.rule));
    let count = rules.len();
    let says = Phrase::plain(format!("{count} critical{what}, undecided: ")).join(Phrase::codes(rules));
    (count > 0).then(|| labelled("open", says))
}

/// Advice that was taken out.
fn withheld(report: &Report, of: &TargetSummary) -> Vec<Bullet> {
    let about = report.withheld.iter().filter(|one| of.subjects.contains(&one.subject));
    about.map(withheld_line).collect()
}

fn withheld_line(one: &crate::report::Withheld) -> Bullet {
    Bullet { rule: one.rule.clone(), ..labelled("withheld", words::withheld(one)) }
}

/// What concerns no target: what is critical of it, and how much else there is.
fn elsewhere(report: &Report) -> Vec<Bullet> {
    let (host, beside) = findings::outside(report);
    let beside_asked = findings::beside(report, &beside);
    let told = if report.asked.is_some() { host } else { [host, beside].concat() };
    let things: Vec<ToDo> = told.iter().filter_map(|(_, finding)| ToDo::of_finding(finding, None)).collect();
    let (critical, lesser): (Vec<ToDo>, Vec<ToDo>) = things.into_iter().partition(ToDo::is_critical);
    let mut lines: Vec<Bullet> = critical.into_iter().map(ToDo::line).collect();
    lines.extend(undecided(&told, " about the host"));
    let of_target = |one: &&crate::report::Withheld| {
        report.targets.iter().any(|target| target.subjects.contains(&one.subject))
    };
    lines.extend(report.withheld.iter().filter(|one| !of_target(one)).map(withheld_line));
    lines.extend(more(lesser.len(), " about the host", "Findings"));
    lines.extend(beside_asked.map(Bullet::sentence));
    lines
}
