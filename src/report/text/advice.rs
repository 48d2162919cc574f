//! Plans, options, conflicts and what was withheld.

use super::findings::Told;
use super::page::Page;
use super::words;
use crate::report::{Plan, Report, Step, TargetSummary};
use crate::rules::{Change, Level};

/// Writes the plan of a target: what to do in order, what is right already, what may be done at a price.
pub fn plan(page: &mut Page, report: &Report, target: &TargetSummary, told: &mut Told) {
    let Some(plan) = report.plan(&target.target) else { return };
    let (keep, change): (Vec<&Step>, Vec<&Step>) =
        plan.steps.iter().partition(|step| step.advice.change == Change::Keep);
    if !change.is_empty() {
        page.gap();
        page.para(2, "Plan, in order of application");
        for (number, one) in (1..).zip(&change) {
            step(page, report, target, &format!("{number:>2}  "), one, told);
        }
    }
    if !keep.is_empty() {
        page.gap();
        page.para(2, "Already right");
        for one in keep {
            told.step(one);
            page.hanging(4, &format!("{}: {}   ", one.advice.setting, words::change(one)), &one.title);
        }
    }
    options(page, report, target, plan, told);
}

fn options(page: &mut Page, report: &Report, target: &TargetSummary, plan: &Plan, told: &mut Told) {
    if plan.options.is_empty() {
        return;
    }
    page.gap();
    page.para(2, "Allowed, at a price; not part of the plan");
    for one in &plan.options {
        step(page, report, target, "    ", one, told);
    }
}

fn step(
    page: &mut Page,
    report: &Report,
    target: &TargetSummary,
    number: &str,
    step: &Step,
    told: &mut Told,
) {
    let advice = &step.advice;
    let of = format!("{} of {}: {}", advice.setting, words::subject(&step.subject), words::change(step));
    page.hanging(2, &format!("{number}{:<10}", step.level.word()), &of);
    if !told.step(step) {
        page.para(8, "as told above");
        return;
    }
    let why = report
        .findings
        .iter()
        .filter(|finding| step.rules.contains(&finding.rule) && target.subjects.contains(&finding.subject));
    page.hanging(8, "why      ", &format!("{} ({})", step.title, step.confidence.word()));
    if step.level >= Level::Warning || step.level == Level::Option {
        for because in super::distinct(why.map(|finding| finding.because.as_str())) {
            page.para(17, because);
        }
    }
    if let Some(result) = &step.result {
        page.hanging(8, "becomes  ", result);
    }
    page.hanging(8, "affects  ", &format!("{}; {}", words::reach(advice.reach), words::risk(advice.risk)));
    if let Some(price) = &advice.price {
        page.hanging(8, "price    ", price);
    }
    for other in &step.alternatives {
        let price = other.price.as_ref().map(|price| format!(" Price: {price}")).unwrap_or_default();
        page.hanging(8, "or       ", &format!("{}: {}.{price}", other.value, other.title));
    }
    for (label, commands) in [("apply", &advice.apply), ("verify", &advice.verify), ("undo", &advice.undo)] {
        for (command, label) in commands.iter().zip(std::iter::once(label).chain(std::iter::repeat(""))) {
            page.verbatim(8, &format!("{label:<9}{command}"));
        }
    }
    page.hanging(8, "rules    ", &step.rules.join(", "));
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
