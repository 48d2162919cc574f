use super::dedup::ShownItemsTracker;
use super::section::{Badge, Bullet, Detail, Element, ItemRef, StepInstruction};
use super::{RichText, Section, answers, wording};
use crate::fixes::{RecommendedFix, target_fixes};
use crate::{Report, Step, TargetSummary, setting_source};
use walwise_judge::rules::{Advice, Change, Finding, Level, Outcome};
use walwise_model::facts::catalog::boot;
use walwise_model::facts::{Reading, Scope, Value};
use walwise_model::settings::PresentOrBootMount;

pub(crate) fn plan_sections<'a>(
    chapter: &mut ShownItemsTracker<'_, 'a>,
    target: &'a TargetSummary,
) -> Vec<Section> {
    if chapter.report.plan(&target.target).is_none() {
        return Vec::new();
    }
    let change = changes_section(chapter, target);
    let right = no_change_section(chapter, target);
    [change, right, optional_changes_section(chapter, target)]
        .into_iter()
        .flatten()
        .collect()
}

/// Each fix has the details of its step or, without a step, the remedy of its finding.
pub(super) fn fixes_section(
    chapter: &ShownItemsTracker<'_, '_>,
    target: &TargetSummary,
) -> Option<Section> {
    let report = chapter.report;
    let about = chapter.target_findings(target);
    let steps = report.steps(&target.target);
    let instruction = |(number, fix): (usize, &RecommendedFix<'_>)| {
        let bullet = answers::fix_bullet(report, Some(target), fix);
        let step = steps.iter().find(|step| {
            Some(step.advice.setting) == fix.setting
                && step.rules.iter().any(|rule| fix.rules.contains(rule))
        });
        let mut details = Vec::new();
        if let Some(step) = step {
            // The first reason is the title of the fix.
            let mut reasons = reason_details(step, about).into_iter().skip(1);
            details.extend(reasons.next().map(|first| match first {
                Detail::Continuation(because) => Detail::Field("why", because),
                other => other,
            }));
            details.extend(reasons);
        }
        details.extend(
            bullet
                .details
                .into_iter()
                .filter_map(|detail| match detail {
                    // If the fix has no commands, the only command here is `walwise explain`, which
                    // is left out.
                    Detail::Commands(..) if fix.commands.is_empty() => None,
                    Detail::Commands(_, commands) => Some(Detail::Commands("apply", commands)),
                    Detail::Sentence(remedy) => Some(Detail::Field("fix", remedy)),
                    other => Some(other),
                }),
        );
        if let Some(step) = step {
            let all = step_details(report, target, about, step).into_iter();
            details.extend(all.filter(|one| !matches!(one, Detail::Commands("apply", _))));
        }
        StepInstruction {
            number: Some(number),
            level: fix.level,
            setting: "",
            subject: String::new(),
            change: bullet.text.to_string(),
            affects: String::new(),
            interrupts: fix
                .setting
                .map_or("", |_| wording::interruption_text(fix.risk)),
            item: ItemRef {
                key: format!("fix {} {}", fix.rules.join(" "), fix.subject),
                rules: fix.rules.clone(),
                subject: Some(fix.subject.clone()),
                fact: None,
            },
            details: Some(details),
        }
    };
    let fixes = target_fixes(report, target, about);
    let entries: Vec<StepInstruction> = (1..).zip(&fixes).map(instruction).collect();
    let mut section = Section::new_part("Fix first");
    if !entries.is_empty() {
        section.elements.push(Element::Instructions(entries));
    }
    section.none_if_empty()
}

pub(crate) fn changes_section<'a>(
    chapter: &mut ShownItemsTracker<'_, 'a>,
    target: &'a TargetSummary,
) -> Option<Section> {
    let plan = chapter.report.plan(&target.target)?;
    let (_, change) = plan.kept_and_changing_steps();
    let mut section = Section::new_part("Plan, in order of application");
    let takes = Bullet::with_badge(
        Badge::Remark("interrupts"),
        wording::plan_interruption_texts(plan).join("; "),
    );
    let wanted = plan
        .requested_filesystem_sentence()
        .map(|says| Bullet::with_badge(Badge::Remark("creates"), says));
    section.push_bullets(&[], [takes].into_iter().chain(wanted).collect());
    let numbered = (1..).zip(&change);
    let steps = numbered
        .map(|(number, step)| step_instruction(chapter, target, Some(number), step))
        .collect();
    section.elements.push(Element::Instructions(steps));
    (!change.is_empty()).then_some(section)
}

pub(crate) fn optional_changes_section<'a>(
    chapter: &mut ShownItemsTracker<'_, 'a>,
    target: &'a TargetSummary,
) -> Option<Section> {
    let options = &chapter.report.plan(&target.target)?.options;
    let mut section = Section::new_part("Optional, with trade-offs (not in the plan)");
    let steps = options
        .iter()
        .map(|step| step_instruction(chapter, target, None, step))
        .collect();
    section.elements.push(Element::Instructions(steps));
    (!options.is_empty()).then_some(section)
}

pub(crate) fn no_change_section<'a>(
    chapter: &mut ShownItemsTracker<'_, 'a>,
    target: &'a TargetSummary,
) -> Option<Section> {
    let keep = chapter
        .report
        .plan(&target.target)
        .map(|plan| plan.kept_and_changing_steps().0);
    let mut bullets = Vec::new();
    for step in keep.into_iter().flatten() {
        if chapter.mark_step_if_unshown(step) {
            let setting = RichText::code(step.advice.setting.name)
                .append(format!(": {}", wording::step_change_text(step)));
            let about = ItemRef::from_step(step);
            bullets.push(Bullet {
                item: about,
                ..Bullet::with_badge(Badge::Setting(setting), &*step.title)
            });
        }
    }
    for &finding in chapter.target_findings(target) {
        let is_right = finding.level == Level::Keep && finding.outcome == Outcome::Applies;
        if is_right && finding.advice.is_empty() && chapter.mark_finding_if_unshown(finding) {
            let of = wording::describe_subject(&finding.subject);
            let about = ItemRef::from_finding(finding);
            bullets.push(Bullet {
                subject: of,
                text: (&*finding.title).into(),
                item: about,
                ..Bullet::default()
            });
        }
    }
    Section::new_part("No change needed").with_bullets(&[], bullets)
}

fn step_instruction<'a>(
    chapter: &mut ShownItemsTracker<'_, 'a>,
    target: &TargetSummary,
    number: Option<usize>,
    step: &'a Step,
) -> StepInstruction {
    let beneath = chapter.mark_step_if_unshown(step).then(|| {
        let about = chapter.target_findings(target);
        let mut beneath = if chapter.mark_reason_if_unshown(step) {
            reason_details(step, about)
        } else {
            vec![Detail::Field("why", "same rule as above".into())]
        };
        beneath.extend(step_details(chapter.report, target, about, step));
        let rule = |id: &String| {
            RichText::code(id).append(wording::original_level_suffix(chapter.report, id))
        };
        let rules = step
            .rules
            .iter()
            .map(rule)
            .reduce(|all, one| all.append(", ").append_rich_text(one));
        beneath.push(Detail::Field("rules", rules.unwrap_or_default()));
        beneath
    });
    let mut about = ItemRef::from_step(step);
    if number.is_none() {
        about.key.insert_str(0, "option ");
    }
    StepInstruction {
        number,
        level: step.level,
        setting: step.advice.setting.name,
        subject: wording::describe_subject(&step.subject),
        change: wording::step_change_text(step),
        affects: wording::effect_and_risk_text(step.advice.reach, step.advice.risk),
        interrupts: wording::interruption_text(step.advice.risk),
        item: about,
        details: beneath,
    }
}

/// The title of the step as its reason. Warnings, critical steps, options and choices of a file
/// system also get the reasons of their rules.
fn reason_details(step: &Step, about: &[&Finding]) -> Vec<Detail> {
    let title = RichText::plain(&*step.title).append(format!(" ({})", step.confidence.as_str()));
    let mut details = vec![Detail::Field("why", title)];
    let choice = step.advice.setting.kind.is_filesystem();
    if step.level >= Level::Warning || step.level == Level::Optional || choice {
        let rules = about
            .iter()
            .filter(|finding| step.rules.contains(&finding.rule));
        let reasons = wording::distinct_texts(rules.map(|finding| &*finding.because));
        details.extend(
            reasons
                .into_iter()
                .map(|because| Detail::Continuation(because.into())),
        );
    }
    details
}

/// `about` are the findings about the target.
pub(crate) fn step_details(
    report: &Report,
    target: &TargetSummary,
    about: &[&Finding],
    step: &Step,
) -> Vec<Detail> {
    let advice = &step.advice;
    let mut details = current_value_details(advice);
    details.extend(result_diff_detail(step));
    details.push(Detail::Field(
        "affects",
        wording::effect_and_risk_text(advice.reach, advice.risk).into(),
    ));
    details.extend(
        advice
            .tradeoff
            .iter()
            .map(|price| Detail::Field("trade-off", price.clone().into())),
    );
    for other in &step.alternatives {
        details.push(Detail::Field(
            "or",
            wording::alternative_text(step, other).into(),
        ));
        let choice = advice.setting.kind.is_filesystem();
        if let Some(finding) = about
            .iter()
            .find(|finding| choice && finding.rule == other.rule)
        {
            details.push(Detail::Continuation((&*finding.because).into()));
        }
    }
    details.extend(command_details(advice));
    details.extend(
        until_next_mount_text(report, target, step)
            .map(|lasts| Detail::Field("lasts", lasts.into())),
    );
    details
}

/// Lists the commands that apply, verify and undo the advice, then commands of the user's own
/// rules.
pub(crate) fn command_details(advice: &Advice) -> Vec<Detail> {
    let commands = advice
        .commands_by_purpose()
        .into_iter()
        .filter(|(_, commands)| !commands.is_empty());
    let own = advice.own.iter().cloned().map(Detail::UserCommand);
    commands
        .map(|(word, commands)| Detail::Commands(word, commands.to_vec()))
        .chain(own)
        .collect()
}

fn current_value_details(advice: &Advice) -> Vec<Detail> {
    let now = RichText::plain(setting_source::current_value_with_source(advice));
    let Some(area) = advice.setting.kind.server_area() else {
        return vec![Detail::Verbose("now", now)];
    };
    let stronger = setting_source::value_origin(advice)
        .override_instruction(area.database_profile().config_files);
    let stronger = stronger.map(|says| Detail::Continuation(says.into()));
    [Detail::Field("now", now)]
        .into_iter()
        .chain(stronger)
        .collect()
}

/// `None` for *keep*, and if the resulting list is unknown.
fn result_diff_detail(step: &Step) -> Option<Detail> {
    let after = match (&step.result, &step.advice.change) {
        (Some(result), _) => result.split(',').map(str::to_owned).collect(),
        (None, Change::Set(value)) => vec![step.advice.setting.format_with_unit(value)],
        (None, Change::Keep | Change::Add(_) | Change::Remove(_) | Change::Edit { .. }) => {
            return None;
        }
    };
    let before = match &step.advice.current {
        Reading::Known {
            value: Value::List(now),
            ..
        } => now.clone(),
        Reading::Known { value, .. } => {
            vec![step.advice.setting.format_with_unit(&value.to_string())]
        }
        Reading::Unknown { .. } => Vec::new(),
    };
    Some(Detail::Diff {
        before,
        after,
        result: step.result.clone(),
    })
}

fn until_next_mount_text(report: &Report, target: &TargetSummary, step: &Step) -> Option<String> {
    match step.advice.setting.kind.present_or_boot_mount()? {
        PresentOrBootMount::Now if step.subject.scope() == Scope::Mount => {}
        PresentOrBootMount::Now | PresentOrBootMount::AtBoot => return None,
    }
    let boot = target
        .subjects
        .iter()
        .find(|subject| subject.scope() == Scope::Boot);
    let line = boot.and_then(|boot| report.facts.value(boot, &boot::WHERE));
    let place = line.unwrap_or_else(|| "the boot configuration".to_owned());
    Some(format!(
        "until the next mount; to keep the change, edit {place}"
    ))
}

#[cfg(test)]
mod tests {
    use crate::{sample_reports, text};

    #[test]
    fn steps_of_one_rule_share_one_reason() {
        let mut report = sample_reports::free_disk();
        let plan = report.plans.first_mut().unwrap();
        let (first, rest) = plan.steps.split_first_mut().unwrap();
        for step in rest {
            step.rules.clone_from(&first.rules);
            step.title.clone_from(&first.title);
        }
        let text = text::render(&report);
        assert_eq!(
            text.matches("Title of filesystem.xfs (documented)").count(),
            1,
            "{text}"
        );
        assert_eq!(
            text.matches("Because of what filesystem.xfs says.").count(),
            1,
            "{text}"
        );
        assert_eq!(
            text.matches("why      same rule as above").count(),
            2,
            "{text}"
        );
    }
}
