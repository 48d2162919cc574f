use super::dedup::ShownItemsTracker;
use super::section::{Badge, Bullet, Detail, ItemRef, StepInstruction};
use super::{RichText, Section, answers, wording};
use crate::fixes::{RecommendedFix, target_fixes};
use crate::{Report, Step, TargetSummary, setting_source};
use walwise_judge::rules::{Advice, Change, Finding, Level, Outcome};
use walwise_model::facts::catalog::boot;
use walwise_model::facts::{Scope, Value};
use walwise_model::settings::PresentOrBootMount;

pub fn plan_sections<'a>(
    chapter: &mut ShownItemsTracker<'a>,
    target: &'a TargetSummary,
) -> Vec<Section> {
    if chapter.report.plan(&target.target).is_none() {
        return Vec::new();
    }
    [
        changes_section(chapter, target),
        no_change_section(chapter, target),
        optional_changes_section(chapter, target),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Each fix has the details of its step or, without a step, the remedy of its finding.
pub fn fixes_section(chapter: &ShownItemsTracker<'_>, target: &TargetSummary) -> Option<Section> {
    let report = chapter.report;
    let about = chapter.target_findings(target);
    let steps = report.steps(&target.target);
    let instruction = |(number, fix): (usize, &RecommendedFix<'_>)| {
        let step = steps.iter().find(|step| {
            Some(step.advice.setting) == fix.setting
                && step.rules.iter().any(|rule| fix.rules.contains(rule))
        });
        // The first reason is the title of the fix.
        let mut reasons = step
            .map(|step| reason_details(step, about))
            .unwrap_or_default()
            .into_iter()
            .skip(1);
        let mut details: Vec<Detail> = reasons
            .next()
            .map(|first| match first {
                Detail::Continuation(because) => Detail::Field("why", because),
                other => other,
            })
            .into_iter()
            .chain(reasons)
            .collect();
        match (&fix.commands[..], &fix.remedy) {
            ([], remedy) => details.extend(
                remedy
                    .as_ref()
                    .map(|remedy| Detail::Field("fix", remedy.into())),
            ),
            (commands, _) => details.push(Detail::Commands("apply", commands.to_vec())),
        }
        details.extend(answers::source_detail(fix));
        if let Some(step) = step {
            let all = step_details(report, target, about, step).into_iter();
            details.extend(all.filter(|one| !matches!(one, Detail::Commands("apply", _))));
        }
        StepInstruction {
            number: Some(number),
            level: fix.level,
            setting: "",
            subject: String::new(),
            change: answers::fix_title(report, Some(target), fix),
            affects: String::new(),
            interrupts: fix
                .setting
                .map_or("", |_| wording::interruption_text(fix.risk)),
            item: ItemRef::new(
                format!("fix {} {}", fix.rules.join(" "), fix.subject),
                &fix.rules,
                fix.subject,
            ),
            details: Some(details),
        }
    };
    let fixes = target_fixes(report, target, about);
    let entries = (1..).zip(&fixes).map(instruction);
    Section::new_part("Fix first").with_instructions(entries.collect())
}

pub fn changes_section<'a>(
    chapter: &mut ShownItemsTracker<'a>,
    target: &'a TargetSummary,
) -> Option<Section> {
    let plan = chapter.report.plan(&target.target)?;
    let (_, change) = plan.kept_and_changing_steps();
    if change.is_empty() {
        return None;
    }
    let mut section = Section::new_part("Plan, in order of application");
    let takes = Bullet::with_badge(
        Badge::Remark("interrupts"),
        wording::plan_interruption_texts(plan).join("; "),
    );
    let wanted = plan
        .requested_filesystem_sentence()
        .map(|says| Bullet::with_badge(Badge::Remark("creates"), says));
    section.push_bullets(&[], [takes].into_iter().chain(wanted).collect());
    let steps = (1..)
        .zip(change)
        .map(|(number, step)| step_instruction(chapter, target, Some(number), step));
    section.with_instructions(steps.collect())
}

pub fn optional_changes_section<'a>(
    chapter: &mut ShownItemsTracker<'a>,
    target: &'a TargetSummary,
) -> Option<Section> {
    let options = chapter.report.plan(&target.target)?.options.iter();
    let steps = options
        .map(|step| step_instruction(chapter, target, None, step))
        .collect();
    Section::new_part("Optional, with trade-offs (not in the plan)").with_instructions(steps)
}

pub fn no_change_section<'a>(
    chapter: &mut ShownItemsTracker<'a>,
    target: &'a TargetSummary,
) -> Option<Section> {
    let plan = chapter.report.plan(&target.target);
    let keep = plan.map(|plan| plan.kept_and_changing_steps().0);
    let mut bullets = Vec::new();
    for step in keep.into_iter().flatten() {
        if chapter.mark_step_if_unshown(step) {
            let setting = RichText::code(step.advice.setting.name)
                .append(format!(": {}", wording::step_change_text(step)));
            bullets.push(Bullet {
                item: ItemRef::from_step(step),
                ..Bullet::with_badge(Badge::Setting(setting), &*step.title)
            });
        }
    }
    for &finding in chapter.target_findings(target) {
        let is_right = finding.level == Level::Keep && finding.outcome == Outcome::Applies;
        if is_right && finding.advice.is_empty() && chapter.mark_finding_if_unshown(finding) {
            bullets.push(Bullet {
                subject: wording::describe_subject(&finding.subject),
                text: (&*finding.title).into(),
                item: ItemRef::from_finding(finding),
                ..Bullet::default()
            });
        }
    }
    Section::new_part("No change needed").with_bullets(&[], bullets)
}

fn step_instruction<'a>(
    chapter: &mut ShownItemsTracker<'a>,
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
        let rules = step.rules.iter().map(|id| {
            RichText::code(id).append(wording::original_level_suffix(chapter.report, id))
        });
        beneath.push(Detail::Field("rules", RichText::join(rules, ", ")));
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
    let title = RichText::plain(&*step.title).append(format!(" ({})", step.confidence));
    let mut details = vec![Detail::Field("why", title)];
    let choice = step.advice.setting.kind.is_filesystem();
    if step.level >= Level::Warning || step.level == Level::Optional || choice {
        let rules = about
            .iter()
            .filter(|finding| step.rules.contains(&finding.rule));
        for because in wording::distinct_texts(rules.map(|finding| &*finding.because)) {
            details.push(Detail::Continuation(because.into()));
        }
    }
    details
}

/// `about` are the findings about the target.
pub fn step_details(
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
    let tradeoff = advice.tradeoff.as_ref();
    details.extend(tradeoff.map(|price| Detail::Field("trade-off", price.into())));
    let choice = advice.setting.kind.is_filesystem();
    for other in &step.alternatives {
        let text = wording::alternative_text(step, other);
        details.push(Detail::Field("or", text.into()));
        let reason = about
            .iter()
            .find(|finding| choice && finding.rule == other.rule);
        details.extend(reason.map(|finding| Detail::Continuation((&*finding.because).into())));
    }
    details.extend(command_details(advice));
    let lasts = until_next_mount_text(report, target, step);
    details.extend(lasts.map(|lasts| Detail::Field("lasts", lasts.into())));
    details
}

/// Lists the commands that apply, verify and undo the advice, then commands of the user's own
/// rules.
pub fn command_details(advice: &Advice) -> Vec<Detail> {
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
    let mut details = vec![Detail::Field("now", now)];
    let stronger = setting_source::value_origin(advice)
        .override_instruction(area.database_profile().config_files);
    details.extend(stronger.map(|says| Detail::Continuation(says.into())));
    details
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
    let before = match step.advice.current.value() {
        Some(Value::List(now)) => now.clone(),
        Some(now) => vec![step.advice.setting.format_with_unit(&now.to_string())],
        None => Vec::new(),
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
