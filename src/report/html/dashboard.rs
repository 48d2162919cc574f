//! The first screen: what the short report says, with the way of the flush and the price of a commit as pictures.

use std::collections::BTreeSet;

use super::chart::Charted;
use super::evidence::FactsTold;
use super::markup::{Markup, Tag, tag};
use super::{class, section};
use crate::report::Report;
use crate::report::telling::short::{FixDetail, FixList, Piece, pieces};
use crate::report::telling::{self, Bullet, Mark, sign};

pub fn dashboard(report: &Report, facts: &FactsTold<'_>) -> Markup {
    let told: BTreeSet<&str> = report.findings.iter().map(|finding| &*finding.rule).collect();
    let mut out = Markup::default();
    let mut lines: Vec<Tag> = Vec::new();
    let targets = telling::worst_first(report);
    let first = targets.first().copied();
    let mut pictures = first.map(|target| pictures(Charted { report, target, place: 1, facts }));
    for piece in pieces(report, FixDetail::ALL[0]) {
        let block = match piece {
            Piece::Line(line) => match line.marks.first() {
                Some(verdict @ Mark::Verdict(words, of)) => {
                    let (class, sign) = (class(verdict.tone()), of.map_or("·", sign));
                    let verdict = tag("p")
                        .with("class", &format!("verdict {class}"))
                        .add(tag("b").text(sign))
                        .text(" ")
                        .add(Markup::phrase(words))
                        .text("  ")
                        .add(Markup::phrase(&line.says));
                    Markup::from(verdict).and(pictures.take().unwrap_or_default())
                }
                Some(label) => {
                    let says = Markup::phrase(&line.says).and(rules(&line, &told));
                    lines.push(tag("dt").add(section::mark(label)));
                    lines.push(tag("dd").add(says).add(section::details(&line.beneath)));
                    continue;
                }
                None => tag("p").add(Markup::phrase(&line.says)).into(),
            },
            Piece::Targets(grid) | Piece::Answers(_, grid) => section::figures(&grid),
            Piece::Fixes(list) => fixes(list, &told),
            Piece::Section(one) => section::group(&[one], true),
        };
        out = out.and(listed(&mut lines)).and(block);
    }
    out.and(listed(&mut lines))
}

/// The lines so far, as a list of labels with what they say.
fn listed(lines: &mut Vec<Tag>) -> Markup {
    let lines = std::mem::take(lines);
    if lines.is_empty() { Markup::default() } else { tag("dl").adding(lines).into() }
}

/// What to fix first, as a list.
fn fixes(list: FixList, told: &BTreeSet<&str>) -> Markup {
    let mut entries: Vec<Tag> = Vec::new();
    for (_, fix) in list.entries {
        let aside = Markup::fixed("  ").and(Markup::phrase(&fix.aside));
        let says = Markup::phrase(&fix.says).and(aside).and(rules(&fix, told));
        entries.extend(fix.marks.first().map(|level| tag("dt").add(section::mark(level))));
        entries.push(tag("dd").add(says).add(section::details(&fix.beneath)));
    }
    let more = list.more.map(|more| tag("p").text(&more)).map_or_else(Markup::default, Markup::from);
    let persist = list.persist.map(|command| {
        let command = tag("code").text(command.as_str());
        Markup::from(tag("p").text("To keep mount options over a reboot: ").add(command))
    });
    listed(&mut entries).and(more).and(persist.unwrap_or_default())
}

/// The rules behind a line, with links to what they say.
fn rules(line: &Bullet, told: &BTreeSet<&str>) -> Markup {
    let each = line.rule.split(", ").filter(|rule| !rule.is_empty());
    Markup::all(each.map(|rule| {
        let name = if told.contains(rule) { section::rule(rule) } else { tag("code").text(rule).into() };
        Markup::fixed(" ").and(name)
    }))
}

fn pictures(of: Charted<'_>) -> Markup {
    let both = [of.path(), of.price()];
    let both: Vec<Markup> = both.into_iter().flatten().collect();
    if both.is_empty() { Markup::default() } else { tag("div").with("class", "halves").adding(both).into() }
}
