//! Plans, options, conflicts and what was withheld.

use super::telling::Part;
use super::words;
use crate::facts::Area;
use crate::facts::Scope;
use crate::facts::catalog::boot;
use crate::report::{Report, Step, TargetSummary, origin};
use crate::rules::{Advice, Change, Finding, Level, Outcome};
use crate::settings::Mounting;
use crate::text::page::Page;

/// Writes the plan of a target: what to do in order, what is right already, what may be done at a price.
pub fn plan<'a>(page: &mut Page, part: &mut Part<'_, 'a>, target: &'a TargetSummary) {
    let Some(plan) = part.report.plan(&target.target) else { return };
    let (keep, change): (Vec<&Step>, Vec<&Step>) =
        plan.steps.iter().partition(|step| step.advice.change == Change::Keep);
    if !change.is_empty() {
        page.gap();
        page.para(2, "Plan, in order of application");
        page.hanging(4, "takes  ", &words::takes(plan).join("; "));
        for (number, one) in (1..).zip(change) {
            step(page, part, target, &format!("{number:>2}  "), one);
        }
    }
    right(page, part, target, &keep);
    if !plan.options.is_empty() {
        page.gap();
        page.para(2, "Allowed, at a price; not part of the plan");
        for one in &plan.options {
            step(page, part, target, "    ", one);
        }
    }
}

/// What is right already: settings to keep, and findings that say so without naming one.
fn right<'a>(page: &mut Page, part: &mut Part<'_, 'a>, target: &TargetSummary, keep: &[&'a Step]) {
    let says = |f: &&&Finding| f.level == Level::Keep && f.outcome == Outcome::Applies && f.advice.is_empty();
    let about = part.about(target);
    let said: Vec<&&Finding> = about.iter().filter(says).filter(|f| part.finding(f)).collect();
    let kept: Vec<&&Step> = keep.iter().filter(|step| part.step(step)).collect();
    if said.is_empty() && kept.is_empty() {
        return;
    }
    page.gap();
    page.para(2, "Already right");
    for one in kept {
        page.hanging(4, &format!("{}: {}   ", one.advice.setting, words::change(one)), &one.title);
    }
    for finding in said {
        page.hanging(4, &format!("{}: ", words::subject(&finding.subject)), &finding.title);
    }
}

fn step<'a>(page: &mut Page, part: &mut Part<'_, 'a>, target: &TargetSummary, number: &str, step: &'a Step) {
    let advice = &step.advice;
    let of = format!("{} of {}: {}", advice.setting, words::subject(&step.subject), words::change(step));
    page.hanging(2, &format!("{number}{:<10}", step.level.word()), &of);
    if !part.step(step) {
        page.para(8, "as told above");
        return;
    }
    why(page, part, target, step);
    if let Some((now, stronger)) = of_server(advice) {
        page.hanging(8, "now      ", &now);
        if let Some(stronger) = stronger {
            page.para(17, &stronger);
        }
    }
    if let Some(result) = &step.result {
        page.hanging(8, "becomes  ", result);
    }
    page.hanging(8, "affects  ", &words::affects(advice.reach, advice.risk));
    if let Some(price) = &advice.price {
        page.hanging(8, "price    ", price);
    }
    let about = part.about(target);
    for other in &step.alternatives {
        page.hanging(8, "or       ", &words::alternative(step, other));
        let choice = advice.setting.kind.is_filesystem();
        if let Some(finding) = about.iter().find(|finding| choice && finding.rule == other.rule) {
            page.para(17, &finding.because);
        }
    }
    if let Some(with) = words::done_with(step) {
        page.hanging(8, "apply    ", with);
    }
    commands(page, 8, advice);
    if let Some(lasts) = lasts(part.report, target, step) {
        page.hanging(8, "lasts    ", &lasts);
    }
    let rule = |id: &String| format!("{id}{}", words::level_as_written(part.report, id));
    let rules: Vec<String> = step.rules.iter().map(rule).collect();
    page.hanging(8, "rules    ", &rules.join(", "));
}

/// Writes what applies, verifies and undoes advice, and beneath it what is the user's own.
pub fn commands(page: &mut Page, indent: usize, advice: &Advice) {
    for (label, commands) in advice.commands() {
        for (command, label) in commands.iter().zip(std::iter::once(label).chain(std::iter::repeat(""))) {
            page.verbatim(indent, &format!("{label:<9}{command}"));
        }
    }
    for own in &advice.own {
        page.verbatim(indent, &format!("yours    {}: {}", own.purpose.word(), own.command));
        page.para(indent + 9, &own.sentence());
    }
}

/// Why a step is advised. The companions of one rule share its reason, which is told with the first of them.
fn why<'a>(page: &mut Page, part: &mut Part<'_, 'a>, target: &TargetSummary, step: &'a Step) {
    if !part.reason(step) {
        page.hanging(8, "why      ", "as above, by the same rule");
        return;
    }
    page.hanging(8, "why      ", &format!("{} ({})", step.title, step.confidence.word()));
    let choice = step.advice.setting.kind.is_filesystem();
    if step.level >= Level::Warning || step.level == Level::Option || choice {
        let about = part.about(target);
        let rules = about.iter().filter(|finding| step.rules.contains(&finding.rule));
        for because in super::distinct(rules.map(|finding| &*finding.because)) {
            page.para(17, because);
        }
    }
}

/// Of a server's setting: the value in force with where it is set, and what wins over a configuration file.
pub fn of_server(advice: &Advice) -> Option<(String, Option<String>)> {
    let file = match advice.setting.kind.area()? {
        Area::Pg => "postgresql.conf",
        Area::Mysql => "option files",
    };
    Some((origin::now(advice), origin::stronger(advice).map(|stronger| stronger.says(file))))
}

/// How long a remount lasts, and where to make it last.
pub fn lasts(report: &Report, target: &TargetSummary, step: &Step) -> Option<String> {
    match step.advice.setting.kind.mount()? {
        Mounting::Now if step.subject.scope() == Scope::Mount => {}
        Mounting::Now | Mounting::AtBoot => return None,
    }
    let boot = target.subjects.iter().find(|subject| subject.scope() == Scope::Boot);
    let line = boot.and_then(|boot| report.value(boot, boot::WHERE.name()));
    let place = line.map_or_else(|| "what mounts it at boot".to_owned(), ToString::to_string);
    Some(format!("until the next mount; to keep it, write the same into {place}"))
}

/// Writes what was settled between rules.
pub fn conflicts(page: &mut Page, report: &Report) {
    if report.conflicts.is_empty() {
        return;
    }
    page.heading("Rules that want different things");
    for conflict in &report.conflicts {
        page.para(2, &format!("{} of {}", conflict.setting, words::subject(&conflict.subject)));
        page.hanging(4, "followed   ", &conflict.followed);
        page.hanging(4, "overruled  ", &format!("{}, because {}", conflict.overruled, conflict.because));
    }
}

/// Writes what was taken out.
pub fn withheld(page: &mut Page, report: &Report) {
    if report.withheld.is_empty() {
        return;
    }
    page.heading("Withheld: what a rule would advise and this machine would not take");
    for one in &report.withheld {
        page.para(2, &format!("{} for {} ({})", one.advice, words::subject(&one.subject), one.rule));
        page.para(4, &one.because);
    }
}

#[cfg(test)]
mod tests {
    use crate::report::{sample, text};

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
        assert_eq!(text.matches("Title of filesystem.xfs (documented)").count(), 1, "{text}");
        assert_eq!(text.matches("Because of what filesystem.xfs says.").count(), 1, "{text}");
        assert_eq!(text.matches("why      as above, by the same rule").count(), 2, "{text}");
    }
}
