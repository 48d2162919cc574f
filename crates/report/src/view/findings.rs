use std::collections::BTreeSet;

use super::dedup::ShownItemsTracker;
use super::section::{Badge, Bullet, Detail, ItemRef};
use super::{RichText, Section, plan, wording};
use crate::{Report, TargetSummary};
use walwise_judge::rules::{Finding, Level, Outcome};
use walwise_model::escape::ShellCommand;
use walwise_model::facts::{MissingFact, Scope};

pub(crate) fn serious_findings_section(
    chapter: &ShownItemsTracker<'_>,
    target: &TargetSummary,
) -> Option<Section> {
    let mut told = BTreeSet::new();
    let mut bullets = Vec::new();
    for finding in chapter.target_findings(target) {
        let serious = finding.outcome == Outcome::Applies && finding.level >= Level::Warning;
        let mends = finding.remedy.as_ref().map(|remedy| &remedy.text);
        if serious && told.insert((finding.level, &finding.title, mends)) {
            bullets.push(Bullet {
                details: remedy_detail(finding).into_iter().collect(),
                ..Bullet::with_badge(Badge::Level(finding.level, false), &*finding.title)
            });
        }
    }
    Section::new_part("Fix first").with_bullets(&["level", "finding"], bullets)
}

pub(crate) fn findings_without_advice_section(
    chapter: &mut ShownItemsTracker<'_>,
    target: &TargetSummary,
) -> Option<Section> {
    let mut bare = chapter.target_findings(target).to_vec();
    bare.retain(|finding| finding.advice.is_empty());
    findings_section(chapter, Section::new_part("Findings without advice"), &bare)
}

pub(crate) fn target_undecided_section(
    chapter: &mut ShownItemsTracker<'_>,
    target: &TargetSummary,
) -> Option<Section> {
    let about = chapter.target_findings(target);
    undecided_section(chapter, Section::new_part("Undecided"), about)
}

pub(crate) fn host_and_other_untargeted_findings(
    report: &Report,
) -> (Vec<&Finding>, Vec<&Finding>) {
    let known = report.target_subjects();
    report
        .findings
        .iter()
        .filter(|finding| !known.contains(&finding.subject))
        .partition(|finding| finding.subject.scope() == Scope::Host)
}

/// Counts the findings that apply to targets other than the one that the user named. `None` if
/// there are none, or if the user named no target.
pub(crate) fn other_targets_note(report: &Report, others: &[&Finding]) -> Option<RichText> {
    let matters =
        |finding: &&&Finding| finding.outcome == Outcome::Applies && finding.level > Level::Keep;
    let others: Vec<&&Finding> = others.iter().filter(matters).collect();
    if report.asked.is_none() || others.is_empty() {
        return None;
    }
    let critical = others
        .iter()
        .filter(|finding| finding.level == Level::Critical)
        .count();
    let findings = wording::count_with_noun(others.len(), "finding");
    let says = format!("{findings} on other targets ({critical} critical): ");
    let check = report
        .host
        .append_run_options_to_command(ShellCommand::new("walwise check"))?;
    Some(RichText::plain(says).append_command(check.as_str()))
}

/// Shows the findings that belong to no target, and whose advice is in no plan. If the user named a
/// target, findings about subjects other than the host are only counted.
pub(crate) fn untargeted_finding_sections(chapter: &mut ShownItemsTracker<'_>) -> Vec<Section> {
    let report = chapter.report;
    let (host, beside_it) = host_and_other_untargeted_findings(report);
    let mut sections = Vec::new();
    let parts = [("This host", &host), ("Elsewhere on this host", &beside_it)];
    let shown = if report.asked.is_none() { 2 } else { 1 };
    for (title, findings) in parts.into_iter().take(shown) {
        let undecided = Section::new_top("Undecided");
        sections.extend(findings_section(chapter, Section::new_top(title), findings));
        sections.extend(undecided_section(chapter, undecided, findings));
    }
    let others = other_targets_note(report, &beside_it);
    sections.extend(others.map(|says| Section::new_top("").with_sentence(says)));
    sections
}

fn findings_section<'a>(
    chapter: &mut ShownItemsTracker<'a>,
    section: Section,
    findings: &[&'a Finding],
) -> Option<Section> {
    let mut bullets = Vec::new();
    for &finding in findings {
        let matters = finding.level > Level::Keep && finding.outcome == Outcome::Applies;
        if matters && chapter.mark_finding_if_unshown(finding) {
            bullets.push(finding_bullet(chapter.report, finding));
        }
    }
    section.with_bullets(&["level", "of", "finding", "rule"], bullets)
}

fn finding_bullet(report: &Report, finding: &Finding) -> Bullet {
    let was = wording::original_level_suffix(report, &finding.rule);
    let mut beneath = vec![Detail::Sentence((&*finding.because).into())];
    beneath.extend(remedy_detail(finding));
    for advice in &finding.advice {
        let setting = RichText::code(advice.setting.name)
            .append(format!(": {}", advice.change_text_with_units()));
        beneath.push(Detail::Sentence(setting));
        beneath.extend(plan::command_details(advice));
    }
    Bullet {
        subject: wording::describe_subject(&finding.subject),
        rule: finding.rule.clone(),
        details: beneath,
        item: ItemRef::from_finding(finding),
        ..Bullet::with_badge(
            Badge::Level(finding.level, false),
            RichText::strong(&*finding.title).append(was),
        )
    }
}

fn remedy_detail(finding: &Finding) -> Option<Detail> {
    let remedy = finding.remedy.as_ref()?;
    Some(Detail::Field("fix", (&*remedy.text).into()))
}

/// Adds to each finding the commands of the present plan that fix it, or its fix in words.
pub fn add_fixes_to_bullets(report: &Report, sections: &mut [Section]) {
    for bullet in sections.iter_mut().flat_map(Section::bullets_mut) {
        let mut fix = fix_details(report, &bullet.item);
        if !bullet.details.is_empty() {
            fix.retain(|detail| matches!(detail, Detail::Commands(..)));
        }
        bullet.details.extend(fix);
    }
}

fn fix_details(report: &Report, about: &ItemRef) -> Vec<Detail> {
    let Some(subject) = &about.subject else {
        return Vec::new();
    };
    let is_of_rule = |rule: &String| about.rules.contains(rule);
    // Another target's step for the same rule would fix something else.
    let plans = report.targets.iter().zip(&report.plans);
    let mut steps = plans
        .filter(|(target, _)| target.subjects.contains(subject))
        .flat_map(|(_, plan)| &plan.steps)
        .filter(|step| !step.keeps_setting());
    if let Some(step) = steps.find(|step| step.rules.iter().any(is_of_rule)) {
        return plan::command_details(&step.advice);
    }
    let mut findings = report.findings.iter();
    findings
        .find(|finding| finding.subject == *subject && is_of_rule(&finding.rule))
        .and_then(remedy_detail)
        .into_iter()
        .collect()
}

/// An undecided finding, the facts that would decide it, and the number of further subjects for
/// which its rule is undecided.
type UndecidedEntry<'a> = (&'a Finding, &'a [MissingFact], usize);

fn undecided_section<'a>(
    chapter: &mut ShownItemsTracker<'a>,
    mut section: Section,
    findings: &[&'a Finding],
) -> Option<Section> {
    let mut serious: Vec<UndecidedEntry<'_>> = Vec::new();
    let (mut minor, mut waiting, mut blind): (Vec<&str>, Vec<&str>, Vec<&str>) =
        (Vec::new(), Vec::new(), Vec::new());
    for &finding in findings {
        let Outcome::Undecided { needs } = &finding.outcome else {
            continue;
        };
        if !chapter.mark_finding_if_unshown(finding) {
            continue;
        }
        if needs.is_empty() && finding.level >= Level::Warning {
            blind.push(&finding.rule);
        } else if needs
            .first()
            .is_some_and(|set| set.iter().all(|need| need.fact.starts_with("probe.")))
        {
            waiting.push(&finding.rule);
        } else if finding.level < Level::Warning {
            minor.push(&finding.rule);
        } else if let Some((.., more)) = serious
            .iter_mut()
            .find(|(first, ..)| first.rule == finding.rule)
        {
            *more += 1;
        } else {
            // Any one set in `needs` would decide the rule; the best set comes first.
            serious.push((finding, needs.first().map_or(&[], Vec::as_slice), 0));
        }
    }
    let lead = if serious.is_empty() { "" } else { "and " };
    section.push_bullets(
        &["would be", "finding", "rule"],
        undecided_bullets(&serious),
    );
    let mut rules = |before: RichText, rules: Vec<&str>| {
        if !rules.is_empty() {
            let rules = wording::distinct_texts(rules.into_iter());
            let rules = RichText::comma_separated_codes(rules);
            section.push_sentence(before.append(": ").append_rich_text(rules));
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
            " lists the facts that each needs)",
        ),
        minor,
    );
    rules(
        explain("Cannot be decided on this host (reason: ".to_owned(), ")"),
        blind,
    );
    let measured = RichText::plain("Need a measurement (")
        .append_command("walwise check DIR")
        .append(")");
    rules(measured, waiting);
    section.none_if_empty()
}

fn undecided_bullets(serious: &[UndecidedEntry<'_>]) -> Vec<Bullet> {
    let mut bullets = Vec::new();
    for (at, (.., best, _)) in serious.iter().enumerate() {
        let like = |(_, needs, _): &&UndecidedEntry<'_>| needs == best;
        if serious.iter().take(at).any(|one| like(&one)) {
            continue;
        }
        for (finding, _, more) in serious.iter().filter(like) {
            let others = if *more > 0 {
                format!(", and {more} more for this rule")
            } else {
                String::new()
            };
            bullets.push(Bullet {
                note: RichText::code(&finding.rule).append(others),
                item: ItemRef::from_finding(finding),
                ..Bullet::with_badge(Badge::Level(finding.level, true), &*finding.title)
            });
        }
        let needs = best
            .iter()
            .map(|need| Detail::Field("needs", wording::missing_fact_text(need).into()));
        if let Some(last) = bullets.last_mut() {
            last.details.extend(needs);
        }
    }
    bullets
}
