//! Plans: what to do in order, what is right already, what may be done at a price; and a step with
//! its reasons and commands.

use super::once::Chapter;
use super::section::{About, Bullet, Detail, Element, Instruction, Mark};
use super::{Phrase, Section, words};
use crate::{Report, Step, TargetSummary, origin};
use walwise_judge::rules::{Advice, Change, Finding, Level, Outcome};
use walwise_model::facts::catalog::boot;
use walwise_model::facts::{Reading, Scope, Value};
use walwise_model::settings::Mounting;

pub fn sections<'a>(chapter: &mut Chapter<'_, 'a>, target: &'a TargetSummary) -> Vec<Section> {
    if chapter.report.plan(&target.target).is_none() {
        return Vec::new();
    }
    let change = change(chapter, target);
    let right = right(chapter, target);
    [change, right, options(chapter, target)]
        .into_iter()
        .flatten()
        .collect()
}

/// What to change, in order.
pub fn change<'a>(chapter: &mut Chapter<'_, 'a>, target: &'a TargetSummary) -> Option<Section> {
    let plan = chapter.report.plan(&target.target)?;
    let (_, change) = plan.parted();
    let mut section = Section::part("Plan, in order of application");
    let takes = Bullet::marked(Mark::Remark("interrupts"), words::takes(plan).join("; "));
    let wanted = plan
        .wish()
        .map(|says| Bullet::marked(Mark::Remark("makes"), says));
    section.bullets(&[], [takes].into_iter().chain(wanted).collect());
    let numbered = (1..).zip(&change);
    let steps = numbered
        .map(|(number, step)| instruction(chapter, target, Some(number), step))
        .collect();
    section.elements.push(Element::Instructions(steps));
    (!change.is_empty()).then_some(section)
}

/// What may be done at a price.
pub fn options<'a>(chapter: &mut Chapter<'_, 'a>, target: &'a TargetSummary) -> Option<Section> {
    let options = &chapter.report.plan(&target.target)?.options;
    let mut section = Section::part("Optional, with trade-offs (not in the plan)");
    let steps = options
        .iter()
        .map(|step| instruction(chapter, target, None, step))
        .collect();
    section.elements.push(Element::Instructions(steps));
    (!options.is_empty()).then_some(section)
}

/// What is right already: settings to keep, and findings that say so without naming one.
pub fn right<'a>(chapter: &mut Chapter<'_, 'a>, target: &'a TargetSummary) -> Option<Section> {
    let keep = chapter
        .report
        .plan(&target.target)
        .map(|plan| plan.parted().0);
    let mut bullets = Vec::new();
    for step in keep.into_iter().flatten() {
        if chapter.step(step) {
            let setting =
                Phrase::code(step.advice.setting.name).and(format!(": {}", words::change(step)));
            let about = About::step(step);
            bullets.push(Bullet {
                about,
                ..Bullet::marked(Mark::Setting(setting), &*step.title)
            });
        }
    }
    for &(at, finding) in chapter.about(target) {
        let is_right = finding.level == Level::Keep && finding.outcome == Outcome::Applies;
        if is_right && finding.advice.is_empty() && chapter.finding((at, finding)) {
            let of = words::subject(&finding.subject);
            let about = About::finding(finding);
            bullets.push(Bullet {
                of,
                says: (&*finding.title).into(),
                about,
                ..Bullet::default()
            });
        }
    }
    let mut section = Section::part("No change needed");
    section.bullets(&[], bullets);
    section.unless_empty()
}

fn instruction<'a>(
    chapter: &mut Chapter<'_, 'a>,
    target: &TargetSummary,
    number: Option<usize>,
    step: &'a Step,
) -> Instruction {
    let beneath = chapter.step(step).then(|| {
        let about: Vec<&Finding> = chapter
            .about(target)
            .iter()
            .map(|(_, finding)| *finding)
            .collect();
        let mut beneath = if chapter.reason(step) {
            why(step, &about)
        } else {
            vec![Detail::Field("why", "same rule as above".into())]
        };
        beneath.extend(how(chapter.report, target, &about, step));
        let rule = |id: &String| Phrase::code(id).and(words::level_as_written(chapter.report, id));
        let rules = step
            .rules
            .iter()
            .map(rule)
            .reduce(|all, one| all.and(", ").join(one));
        beneath.push(Detail::Field("rules", rules.unwrap_or_default()));
        beneath
    });
    let mut about = About::step(step);
    if number.is_none() {
        about.key.insert_str(0, "option ");
    }
    Instruction {
        number,
        level: step.level,
        setting: step.advice.setting.name,
        of: words::subject(&step.subject),
        change: words::change(step),
        affects: words::affects(step.advice.reach, step.advice.risk),
        takes: words::interruption(step.advice.risk),
        about,
        beneath,
    }
}

/// Why a step is advised, with the reasons of its rules where it matters.
fn why(step: &Step, about: &[&Finding]) -> Vec<Detail> {
    let title = Phrase::plain(&*step.title).and(format!(" ({})", step.confidence.word()));
    let mut details = vec![Detail::Field("why", title)];
    let choice = step.advice.setting.kind.is_filesystem();
    if step.level >= Level::Warning || step.level == Level::Option || choice {
        let rules = about
            .iter()
            .filter(|finding| step.rules.contains(&finding.rule));
        let reasons = words::distinct(rules.map(|finding| &*finding.because));
        details.extend(
            reasons
                .into_iter()
                .map(|because| Detail::More(because.into())),
        );
    }
    details
}

/// What becomes of the setting, whom that affects, how it is done, verified and undone, and how
/// long it lasts; `about` holds the findings about the target.
pub fn how(
    report: &Report,
    target: &TargetSummary,
    about: &[&Finding],
    step: &Step,
) -> Vec<Detail> {
    let advice = &step.advice;
    let mut details = now(advice);
    details.extend(becomes(step));
    details.push(Detail::Field(
        "affects",
        words::affects(advice.reach, advice.risk).into(),
    ));
    details.extend(
        advice
            .price
            .iter()
            .map(|price| Detail::Field("price", price.clone().into())),
    );
    for other in &step.alternatives {
        details.push(Detail::Field("or", words::alternative(step, other).into()));
        let choice = advice.setting.kind.is_filesystem();
        if let Some(finding) = about
            .iter()
            .find(|finding| choice && finding.rule == other.rule)
        {
            details.push(Detail::More((&*finding.because).into()));
        }
    }
    details.extend(commands(advice));
    details.extend(lasts(report, target, step).map(|lasts| Detail::Field("lasts", lasts.into())));
    details
}

/// What applies, verifies and undoes advice, and after it what is the user's own.
pub fn commands(advice: &Advice) -> Vec<Detail> {
    let commands = advice
        .commands()
        .into_iter()
        .filter(|(_, commands)| !commands.is_empty());
    let own = advice.own.iter().cloned().map(Detail::Own);
    commands
        .map(|(word, commands)| Detail::Commands(word, commands.to_vec()))
        .chain(own)
        .collect()
}

/// The value in force with where it is set; of a server's setting also what wins over a
/// configuration file.
fn now(advice: &Advice) -> Vec<Detail> {
    let now = Phrase::plain(origin::now(advice));
    let Some(area) = advice.setting.kind.area() else {
        return vec![Detail::Aside("now", now)];
    };
    let stronger = origin::stronger(advice).map(|stronger| stronger.says(area.database().files));
    let stronger = stronger.map(|says| Detail::More(says.into()));
    [Detail::Field("now", now)]
        .into_iter()
        .chain(stronger)
        .collect()
}

/// What the setting reads now and what it will read; nothing where it stays as it is.
fn becomes(step: &Step) -> Option<Detail> {
    let after = match (&step.result, &step.advice.change) {
        (Some(result), _) => result.split(',').map(str::to_owned).collect(),
        (None, Change::Set(value)) => vec![step.advice.setting.with_unit(value)],
        (None, Change::Keep | Change::Add(_) | Change::Remove(_) | Change::Edit { .. }) => {
            return None;
        }
    };
    let before = match &step.advice.current {
        Reading::Known {
            value: Value::List(now),
            ..
        } => now.clone(),
        Reading::Known { value, .. } => vec![step.advice.setting.with_unit(&value.to_string())],
        Reading::Unknown { .. } => Vec::new(),
    };
    Some(Detail::Becomes {
        before,
        after,
        whole: step.result.clone(),
    })
}

/// How long a remount lasts, and where to make it last.
fn lasts(report: &Report, target: &TargetSummary, step: &Step) -> Option<String> {
    match step.advice.setting.kind.mount()? {
        Mounting::Now if step.subject.scope() == Scope::Mount => {}
        Mounting::Now | Mounting::AtBoot => return None,
    }
    let boot = target
        .subjects
        .iter()
        .find(|subject| subject.scope() == Scope::Boot);
    let line = boot.and_then(|boot| report.value(boot, boot::WHERE.name()));
    let place = line.map_or_else(|| "its boot configuration".to_owned(), ToString::to_string);
    Some(format!("until the next mount; for good: edit {place}"))
}

#[cfg(test)]
mod tests {
    use crate::{sample, text};

    #[test]
    fn the_companions_of_one_rule_do_not_repeat_its_reason() {
        let mut report = sample::free_disk();
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
