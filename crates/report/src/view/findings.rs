//! Findings outside plans: what to fix first, findings without advice, and undecided ones.

use std::collections::{BTreeMap, BTreeSet};

use super::dedup::{IndexedFinding, TargetView};
use super::section::{Badge, Bullet, Detail, ItemRef};
use super::{RichText, Section, plan, wording};
use crate::{Report, TargetSummary};
use walwise_judge::rules::{Finding, Level, Outcome};
use walwise_model::escape::Command;
use walwise_model::facts::{MissingFact, Scope, Subject};

/// What to fix first on a target: all critical findings and warnings, a line each.
pub fn fix_first(chapter: &TargetView<'_, '_>, target: &TargetSummary) -> Option<Section> {
    let mut told = BTreeSet::new();
    let mut bullets = Vec::new();
    for &(_, finding) in chapter.findings_about(target) {
        let serious = finding.outcome == Outcome::Applies && finding.level >= Level::Warning;
        let mends = finding.remedy.as_ref().map(|remedy| &remedy.text);
        if serious && told.insert((finding.level, &finding.title, mends)) {
            let beneath = fix_detail(finding).into_iter().collect();
            bullets.push(Bullet {
                details: beneath,
                ..Bullet::with_badge(Badge::Level(finding.level, false), &*finding.title)
            });
        }
    }
    let mut section = Section::part("Fix first");
    section.push_bullets(&["level", "finding"], bullets);
    section.non_empty()
}

/// Findings about one target without advice.
pub(crate) fn target_findings(
    chapter: &mut TargetView<'_, '_>,
    target: &TargetSummary,
) -> Option<Section> {
    let about = chapter.findings_about(target);
    let bare: Vec<IndexedFinding<'_>> = about
        .iter()
        .copied()
        .filter(|(_, finding)| finding.advice.is_empty())
        .collect();
    findings_section(chapter, Section::part("Findings without advice"), &bare)
}

/// Undecided findings about one target.
pub(crate) fn target_undecided(
    chapter: &mut TargetView<'_, '_>,
    target: &TargetSummary,
) -> Option<Section> {
    let about = chapter.findings_about(target);
    undecided_section(chapter, Section::part("Undecided"), about)
}

/// Findings outside all targets: about the host, and about other subjects.
pub fn untargeted(report: &Report) -> (Vec<IndexedFinding<'_>>, Vec<IndexedFinding<'_>>) {
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

/// The number of findings on other targets, and how to see them; `None` without any, or without
/// TARGET.
pub fn other_targets_note(report: &Report, others: &[IndexedFinding<'_>]) -> Option<RichText> {
    let matters = |(_, finding): &&IndexedFinding<'_>| {
        finding.outcome == Outcome::Applies && finding.level > Level::Keep
    };
    let others: Vec<&IndexedFinding<'_>> = others.iter().filter(matters).collect();
    if report.asked.is_none() || others.is_empty() {
        return None;
    }
    let critical = others
        .iter()
        .filter(|(_, finding)| finding.level == Level::Critical)
        .count();
    let findings = wording::count_noun(others.len(), "finding");
    let says = format!("{findings} on other targets ({critical} critical): ");
    let check = report.host.command(Command::new("walwise check"))?;
    Some(RichText::plain(says).append_command(check.as_str()))
}

/// Findings outside all targets. With TARGET, those not about the host are only counted. No plan
/// contains their advice.
pub fn untargeted_sections(chapter: &mut TargetView<'_, '_>) -> Vec<Section> {
    let report = chapter.report;
    let (host, beside_it) = untargeted(report);
    let mut sections = Vec::new();
    sections.extend(findings_section(chapter, Section::top("This host"), &host));
    sections.extend(undecided_section(chapter, Section::top("Undecided"), &host));
    if report.asked.is_none() {
        sections.extend(findings_section(
            chapter,
            Section::top("Elsewhere on this host"),
            &beside_it,
        ));
        sections.extend(undecided_section(
            chapter,
            Section::top("Undecided"),
            &beside_it,
        ));
        return sections;
    }
    sections.extend(other_targets_note(report, &beside_it).map(|says| Section::top("").with(says)));
    sections
}

fn findings_section<'a>(
    chapter: &mut TargetView<'_, 'a>,
    mut section: Section,
    findings: &[IndexedFinding<'a>],
) -> Option<Section> {
    let mut bullets = Vec::new();
    for &(at, finding) in findings {
        let matters = finding.level > Level::Keep && finding.outcome == Outcome::Applies;
        if matters && chapter.add_finding((at, finding)) {
            bullets.push(finding_bullet(chapter.report, finding));
        }
    }
    section.push_bullets(&["level", "of", "finding", "rule"], bullets);
    section.non_empty()
}

fn finding_bullet(report: &Report, finding: &Finding) -> Bullet {
    let was = wording::level_as_written(report, &finding.rule);
    let mut beneath = vec![Detail::Sentence((&*finding.because).into())];
    beneath.extend(fix_detail(finding));
    for advice in &finding.advice {
        let setting = RichText::code(advice.setting.name).append(format!(": {}", advice.summary()));
        beneath.push(Detail::Sentence(setting));
        beneath.extend(plan::command_details(advice));
    }
    Bullet {
        badges: vec![Badge::Level(finding.level, false)],
        subject: wording::subject_name(&finding.subject),
        text: RichText::strong(&*finding.title).append(was),
        rule: finding.rule.clone(),
        details: beneath,
        item: ItemRef::finding(finding),
        ..Bullet::default()
    }
}

fn fix_detail(finding: &Finding) -> Option<Detail> {
    finding
        .remedy
        .as_ref()
        .map(|remedy| Detail::Field("fix", (&*remedy.text).into()))
}

fn needs_only_measurement(needs: &[Vec<MissingFact>]) -> bool {
    let measured = |need: &MissingFact| need.fact.starts_with("probe.");
    needs.first().is_some_and(|set| set.iter().all(measured))
}

/// An undecided finding, the facts that would decide it, and the number of further subjects.
type UndecidedEntry<'a> = (&'a Finding, &'a [MissingFact], usize);

/// Undecided warnings and critical findings with their needs, each rule once; the others in a line.
/// The level has a question mark: it is what the finding may become.
fn undecided_section<'a>(
    chapter: &mut TargetView<'_, 'a>,
    mut section: Section,
    findings: &[IndexedFinding<'a>],
) -> Option<Section> {
    let mut serious: Vec<UndecidedEntry<'_>> = Vec::new();
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut minor, mut waiting, mut blind): (Vec<&str>, Vec<&str>, Vec<&str>) =
        (Vec::new(), Vec::new(), Vec::new());
    for &(position, finding) in findings {
        let Outcome::Undecided { needs } = &finding.outcome else {
            continue;
        };
        if !chapter.add_finding((position, finding)) {
            continue;
        }
        if needs.is_empty() && finding.level >= Level::Warning {
            blind.push(&finding.rule);
        } else if needs_only_measurement(needs) {
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
            // The first set is the best one; the others are in the trace.
            serious.push((finding, needs.first().map_or(&[], Vec::as_slice), 0));
        }
    }
    let lead = if serious.is_empty() { "" } else { "and " };
    section.push_bullets(
        &["would be", "finding", "rule"],
        bullets_with_needs(&serious),
    );
    let mut rules = |before: RichText, rules: Vec<&str>| {
        if !rules.is_empty() {
            section.push(
                before
                    .append(": ")
                    .join(RichText::codes(wording::distinct(rules.into_iter()))),
            );
        }
    };
    let explain = |before: String, behind: &str| {
        RichText::plain(before)
            .append_command("walwise explain RULE")
            .append(behind)
    };
    rules(
        explain(
            format!("{lead}{} at lower levels (", minor.len()),
            " lists what each needs)",
        ),
        minor,
    );
    rules(
        explain("Not decidable on this host (reason: ".to_owned(), ")"),
        blind,
    );
    let measured = RichText::plain("Need a measurement (")
        .append_command("walwise check DIR")
        .append(")");
    rules(measured, waiting);
    section.non_empty()
}

/// Findings with the same needs together, the needs below the last of them.
fn bullets_with_needs(serious: &[UndecidedEntry<'_>]) -> Vec<Bullet> {
    let mut bullets = Vec::new();
    for (at, (.., best, _)) in serious.iter().enumerate() {
        let like = |(_, needs, _): &&UndecidedEntry<'_>| needs == best;
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
                note: RichText::code(&finding.rule).append(others),
                item: ItemRef::finding(finding),
                ..Bullet::with_badge(Badge::Level(finding.level, true), &*finding.title)
            });
        }
        let needs = best
            .iter()
            .map(|need| Detail::Field("needs", wording::need_text(need).into()));
        bullets
            .last_mut()
            .into_iter()
            .for_each(|last| last.details.extend(needs.clone()));
    }
    bullets
}
