//! Findings without a place in a plan: what is to be done first, those that advise nothing, and
//! those that cannot be decided.

use std::collections::{BTreeMap, BTreeSet};

use super::once::{Chapter, Numbered};
use super::section::{About, Bullet, Detail, Mark};
use super::{Phrase, Section, plan, words};
use crate::{Report, TargetSummary};
use walwise_judge::rules::{Finding, Level, Outcome};
use walwise_model::facts::{Need, Scope, Subject};
use walwise_model::quote::Command;

/// What to do first about a target: everything critical, and the warnings, in a line each.
pub fn first(chapter: &Chapter<'_, '_>, target: &TargetSummary) -> Option<Section> {
    let mut told = BTreeSet::new();
    let mut bullets = Vec::new();
    for &(_, finding) in chapter.about(target) {
        let serious = finding.outcome == Outcome::Applies && finding.level >= Level::Warning;
        let mends = finding.remedy.as_ref().map(|remedy| &remedy.says);
        if serious && told.insert((finding.level, &finding.title, mends)) {
            let beneath = remedy(finding).into_iter().collect();
            bullets.push(Bullet {
                beneath,
                ..Bullet::marked(Mark::Level(finding.level, false), &*finding.title)
            });
        }
    }
    let mut section = Section::part("First");
    section.bullets(&["level", "finding"], bullets);
    section.unless_empty()
}

/// What applies to one target without advice.
pub(crate) fn found_of_target(
    chapter: &mut Chapter<'_, '_>,
    target: &TargetSummary,
) -> Option<Section> {
    let about = chapter.about(target);
    let bare: Vec<Numbered<'_>> = about
        .iter()
        .copied()
        .filter(|(_, finding)| finding.advice.is_empty())
        .collect();
    found(chapter, Section::part("Found"), &bare)
}

/// What cannot be decided about one target.
pub(crate) fn undecided_of_target(
    chapter: &mut Chapter<'_, '_>,
    target: &TargetSummary,
) -> Option<Section> {
    let about = chapter.about(target);
    undecided(chapter, Section::part("Undecided"), about)
}

/// The findings about no target: those of the host as a whole, and those of its other parts.
pub fn outside(report: &Report) -> (Vec<Numbered<'_>>, Vec<Numbered<'_>>) {
    let known: BTreeSet<&Subject> = report
        .targets
        .iter()
        .flat_map(|target| &target.subjects)
        .collect();
    let outside = report
        .findings
        .iter()
        .enumerate()
        .filter(|(_, finding)| !known.contains(&finding.subject));
    outside.partition(|(_, finding)| finding.subject.scope() == Scope::Host)
}

/// How much was found beside the target that was asked for, and how to see it; nothing where
/// nothing was, or everything was asked for.
pub fn beside(report: &Report, others: &[Numbered<'_>]) -> Option<Phrase> {
    let matters = |(_, finding): &&Numbered<'_>| {
        finding.outcome == Outcome::Applies && finding.level > Level::Keep
    };
    let others: Vec<&Numbered<'_>> = others.iter().filter(matters).collect();
    if report.asked.is_none() || others.is_empty() {
        return None;
    }
    let critical = others
        .iter()
        .filter(|(_, finding)| finding.level == Level::Critical)
        .count();
    let findings = words::count(others.len(), "finding");
    let says = format!("{findings} elsewhere on this host ({critical} critical): ");
    let check = report.host.command(Command::new("walwise check"))?;
    Some(Phrase::plain(says).and_command(check.as_str()))
}

/// What concerns no target: the host as a whole, and what lies beside, which is only counted where
/// one target was asked for. No plan holds its advice.
pub fn elsewhere(chapter: &mut Chapter<'_, '_>) -> Vec<Section> {
    let report = chapter.report;
    let (host, beside_it) = outside(report);
    let mut sections = Vec::new();
    sections.extend(found(chapter, Section::top("This host"), &host));
    sections.extend(undecided(chapter, Section::top("Undecided"), &host));
    if report.asked.is_none() {
        sections.extend(found(
            chapter,
            Section::top("Elsewhere on this host"),
            &beside_it,
        ));
        sections.extend(undecided(chapter, Section::top("Undecided"), &beside_it));
        return sections;
    }
    sections.extend(beside(report, &beside_it).map(|says| Section::top("").saying(says)));
    sections
}

fn found<'a>(
    chapter: &mut Chapter<'_, 'a>,
    mut section: Section,
    findings: &[Numbered<'a>],
) -> Option<Section> {
    let mut bullets = Vec::new();
    for &(at, finding) in findings {
        let matters = finding.level > Level::Keep && finding.outcome == Outcome::Applies;
        if matters && chapter.finding((at, finding)) {
            bullets.push(bullet(chapter.report, finding));
        }
    }
    section.bullets(&["level", "of", "finding", "rule"], bullets);
    section.unless_empty()
}

fn bullet(report: &Report, finding: &Finding) -> Bullet {
    let was = words::level_as_written(report, &finding.rule);
    let mut beneath = vec![Detail::Sentence((&*finding.because).into())];
    beneath.extend(remedy(finding));
    for advice in &finding.advice {
        let setting = Phrase::code(advice.setting.name).and(format!(": {}", advice.summary()));
        beneath.push(Detail::Sentence(setting));
        beneath.extend(plan::commands(advice));
    }
    Bullet {
        marks: vec![Mark::Level(finding.level, false)],
        of: words::subject(&finding.subject),
        says: Phrase::strong(&*finding.title).and(was),
        rule: finding.rule.clone(),
        beneath,
        about: About::finding(finding),
        ..Bullet::default()
    }
}

/// What mends a finding, where that is told.
fn remedy(finding: &Finding) -> Option<Detail> {
    finding
        .remedy
        .as_ref()
        .map(|remedy| Detail::Field("fix", (&*remedy.says).into()))
}

/// Whether a measurement is all that is missing.
fn waits_for_probe(needs: &[Vec<Need>]) -> bool {
    let measured = |need: &Need| need.fact.starts_with("probe.");
    needs.first().is_some_and(|set| set.iter().all(measured))
}

/// A finding, the facts that would decide it, and on how many more subjects it is open.
type Serious<'a> = (&'a Finding, &'a [Need], usize);

/// The serious ones with what they need, each rule once and those that need the same together; the
/// others in a line. The level has a question mark: it is what the finding would be.
fn undecided<'a>(
    chapter: &mut Chapter<'_, 'a>,
    mut section: Section,
    findings: &[Numbered<'a>],
) -> Option<Section> {
    let mut serious: Vec<Serious<'_>> = Vec::new();
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut minor, mut waiting, mut blind): (Vec<&str>, Vec<&str>, Vec<&str>) =
        (Vec::new(), Vec::new(), Vec::new());
    for &(position, finding) in findings {
        let Outcome::Undecided { needs } = &finding.outcome else {
            continue;
        };
        if !chapter.finding((position, finding)) {
            continue;
        }
        if needs.is_empty() && finding.level >= Level::Warning {
            blind.push(&finding.rule);
        } else if waits_for_probe(needs) {
            waiting.push(&finding.rule);
        } else if finding.level < Level::Warning {
            minor.push(&finding.rule);
        } else if let Some((_, _, more)) = at
            .get(finding.rule.as_str())
            .and_then(|i| serious.get_mut(*i))
        {
            *more += 1;
        } else {
            at.insert(&finding.rule, serious.len());
            // The first set is the best; the others are in the trace.
            serious.push((finding, needs.first().map_or(&[], Vec::as_slice), 0));
        }
    }
    let lead = if serious.is_empty() { "" } else { "and " };
    section.bullets(&["would be", "finding", "rule"], with_needs(&serious));
    let mut rules = |before: Phrase, rules: Vec<&str>| {
        if !rules.is_empty() {
            section.say(
                before
                    .and(": ")
                    .join(Phrase::codes(words::distinct(rules.into_iter()))),
            );
        }
    };
    let explain = |before: String, behind: &str| {
        Phrase::plain(before)
            .and_command("walwise explain RULE")
            .and(behind)
    };
    rules(
        explain(
            format!("{lead}{} at lower levels; ", minor.len()),
            " says what each needs",
        ),
        minor,
    );
    rules(
        explain(
            "Cannot be decided on this machine; ".to_owned(),
            " shows why",
        ),
        blind,
    );
    let measured = Phrase::plain("Waiting for a measurement (")
        .and_command("walwise check DIR")
        .and(")");
    rules(measured, waiting);
    section.unless_empty()
}

/// Those that need the same stand together, and what they need beneath the last of them.
fn with_needs(serious: &[Serious<'_>]) -> Vec<Bullet> {
    let mut bullets = Vec::new();
    for (at, (.., best, _)) in serious.iter().enumerate() {
        let like = |(_, needs, _): &&Serious<'_>| needs == best;
        if serious.iter().take(at).any(|one| like(&one)) {
            continue;
        }
        for (finding, _, more) in serious.iter().filter(like) {
            let others = if *more > 0 {
                format!(", and {more} more like it")
            } else {
                String::new()
            };
            bullets.push(Bullet {
                aside: Phrase::code(&finding.rule).and(others),
                about: About::finding(finding),
                ..Bullet::marked(Mark::Level(finding.level, true), &*finding.title)
            });
        }
        let needs = best
            .iter()
            .map(|need| Detail::Field("needs", words::need(need).into()));
        bullets
            .last_mut()
            .into_iter()
            .for_each(|last| last.beneath.extend(needs.clone()));
    }
    bullets
}
