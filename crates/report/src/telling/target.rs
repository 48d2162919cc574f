//! One target: the verdict with its reasons, the stack, what was measured, then the plan.

use std::collections::BTreeSet;

use super::once::Chapter;
use super::section::{Bullet, Element, Grid, Mark};
use super::{Phrase, ReportPart, Section, answers, findings, plan, price, unknown, words};
use crate::{DirectoryRow, Report, TargetSummary};
use walwise_judge::durability::{Path, Verdict};
use walwise_model::facts::Subject;

/// The verdict of a target, with what is missing of the copies beside it; or what it is when it has
/// none.
pub fn standing(report: &Report, target: &TargetSummary) -> Phrase {
    if let Some(verdict) = report.verdict(&target.target) {
        return heading(verdict);
    }
    let Some(content) = &target.content else {
        return Phrase::verdict("no verdict");
    };
    let words = content.words();
    let (word, rest) = words.split_at(words.find(' ').unwrap_or(words.len()));
    Phrase::verdict(word).and(rest)
}

/// A verdict with what is missing of the copies, and the sessions for which it is another.
pub fn heading(verdict: &Verdict) -> Phrase {
    Phrase::verdict(verdict.standing.word()).and(verdict.reservations())
}

/// What there is to say of a target that has no verdict, in sentences.
pub fn without_verdict(target: &TargetSummary) -> Vec<String> {
    let Some(content) = &target.content else {
        return Vec::new();
    };
    let undecided = "Durability can't be checked until it is formatted and mounted.";
    let choice = |rank| {
        format!(
            "Choice {rank} among the free disks: {}.",
            target.rank_because
        )
    };
    let free = content.may_be_given().then(|| undecided.to_owned());
    [content.sentence()]
        .into_iter()
        .chain(free)
        .chain(target.rank.map(choice))
        .collect()
}

/// The heading of a target, with nothing under it.
pub(crate) fn heading_alone(report: &Report, target: &TargetSummary) -> Section {
    Section::top(standing(report, target).and(": ").and_code(&target.title))
}

/// One part of what there is to say about a target.
pub fn part<'a>(
    chapter: &mut Chapter<'_, 'a>,
    target: &'a TargetSummary,
    part: ReportPart,
) -> Vec<Section> {
    let report = chapter.report;
    match part {
        ReportPart::Plan => plan::sections(chapter, target),
        ReportPart::Evidence => report
            .verdict(&target.target)
            .into_iter()
            .flat_map(evidence)
            .collect(),
        ReportPart::Latency => {
            let probes = report
                .probes
                .iter()
                .filter(|probe| probe.target == target.target);
            probes
                .map(|probe| price::section(report, target, &probe.measurement))
                .collect()
        }
        ReportPart::Unknown => {
            let undecided = findings::undecided_of_target(chapter, target);
            undecided
                .into_iter()
                .chain(unknown::of_target(chapter, target))
                .collect()
        }
    }
}

/// How many known faults were looked for, and how many of them are here.
fn known_faults(verdict: &Verdict) -> Option<String> {
    let applies = verdict
        .paths
        .iter()
        .flat_map(|path| &path.evidence)
        .filter(|one| one.layer.is_rule());
    let rules: BTreeSet<&str> = applies.map(|one| &*one.source).collect();
    let here = match rules.len() {
        0 => "none applies".to_owned(),
        1 => "1 applies".to_owned(),
        count => format!("{count} apply"),
    };
    let checked = verdict.caps_checked;
    (checked > 0)
        .then(|| format!("Known faults that lose flushed data: {checked} checked, {here}."))
}

pub fn sections<'a>(chapter: &mut Chapter<'_, 'a>, target: &'a TargetSummary) -> Vec<Section> {
    let report = chapter.report;
    let verdict = report.verdict(&target.target);
    let mut top = heading_alone(report, target);
    match verdict {
        Some(verdict) => {
            top.say(Phrase::strong(&verdict.sentence));
            for says in [&verdict.second_fault, &verdict.host_loss, &verdict.limits] {
                top.say(&**says);
            }
            top.say_all(known_faults(verdict).into_iter().collect());
        }
        None => top.say_all(without_verdict(target)),
    }
    let mut sections = vec![top];
    sections.extend(kept_here(target));
    let mut shared = Section::part("");
    shared.say_all(words::shared(report, &target.target));
    match (sections.as_mut_slice(), shared.unless_empty()) {
        ([top], Some(shared)) => top.elements.extend(shared.elements),
        (_, shared) => sections.extend(shared),
    }
    let mut answered = Section::part("Answers");
    if chapter.like.is_none() {
        answered.grid(answers::grid(answers::rows(target)));
        if let Some(grid) = answers::candidates(report, target) {
            answered.grid(grid);
        }
    }
    sections.extend(answered.unless_empty());
    sections.extend(findings::first(chapter, target));
    if let Some(stack) = report.stack(&target.target) {
        let mut section = Section::part("Stack");
        section.elements.push(Element::Stack(stack.layers.clone()));
        if let Some(count) = stack.left_out {
            section.say(format!("{count} more layers are left out."));
        }
        sections.push(section);
    }
    sections.extend(verdict.into_iter().flat_map(evidence));
    let probes = report
        .probes
        .iter()
        .filter(|probe| probe.target == target.target);
    sections.extend(probes.map(|probe| price::section(report, target, &probe.measurement)));
    if let Some(other) = chapter.like {
        let says = Phrase::plain("Everything else is as for ").and_code(other);
        sections.push(Section::part("").saying(says));
        return sections;
    }
    sections.extend(plan::sections(chapter, target));
    sections.extend(findings::found_of_target(chapter, target));
    sections.extend(findings::undecided_of_target(chapter, target));
    sections.extend(unknown::of_target(chapter, target));
    sections
}

/// What servers keep on it, where that is more than the directory itself.
pub fn kept_here(target: &TargetSummary) -> Option<Section> {
    if target
        .directories
        .iter()
        .all(|directory| directory.path == target.target.name())
    {
        return None;
    }
    let row = |directory: &DirectoryRow| {
        let verdict = directory
            .verdict
            .map_or("no verdict", |standing| standing.word());
        vec![
            (&*directory.role).into(),
            verdict.into(),
            Phrase::code(&directory.path),
        ]
    };
    let mut section = Section::part("Kept here");
    let rows = target.directories.iter().map(row).collect();
    section.grid(Grid {
        head: vec!["kept here", "verdict", "path"],
        right: Vec::new(),
        narrow: &[],
        rows,
    });
    section.unless_empty()
}

/// The evidence of the worst path, the others in a line each, and what is missing.
pub fn evidence(verdict: &Verdict) -> Vec<Section> {
    let Some((worst, others)) = verdict.paths.split_first() else {
        return Vec::new();
    };
    let mut section = Section::part("Evidence");
    let piece = |piece: &walwise_judge::durability::Evidence| Bullet {
        marks: vec![Mark::Standing(piece.standing), Mark::Layer(piece.layer)],
        says: (&*piece.says).into(),
        aside: Phrase::code(&piece.source),
        ..Bullet::default()
    };
    let mut bullets: Vec<Bullet> = worst.evidence.iter().map(piece).collect();
    bullets.extend(others.iter().map(|path| {
        Bullet::marked(
            Mark::Standing(path.standing),
            Phrase::plain("by way of ").join(way(path)),
        )
    }));
    section.bullets(&["", "layer", "says", "read from"], bullets);
    let mut missing = Section::part(if verdict.standing.is_unproven() {
        "What would decide it"
    } else {
        "Missing"
    });
    let sentences = verdict
        .missing
        .iter()
        .map(|need| Bullet::sentence(words::need(need)));
    missing.bullets(&[], sentences.collect());
    [Some(section), missing.unless_empty()]
        .into_iter()
        .flatten()
        .collect()
}

fn way(path: &Path) -> Phrase {
    let hops = path.hops.iter().map(Subject::name).map(Phrase::code);
    hops.reduce(|all, hop| all.and(" → ").join(hop))
        .unwrap_or_default()
}
