//! Plans, options, conflicts and what was withheld.

use super::write::{Document, code, codes, text};
use crate::report::text::telling::Part;
use crate::report::text::{distinct, words};
use crate::report::{Report, Step, TargetSummary, origin};
use crate::rules::{Advice, Change, Finding, Level, Outcome, OwnCommand};

/// Writes the plan of a target: what it takes, the steps in a table, then each with its reasons and commands.
pub fn write<'a>(document: &mut Document, part: &mut Part<'_, 'a>, target: &'a TargetSummary) {
    let Some(plan) = part.report.plan(&target.target) else { return };
    let (keep, change): (Vec<&Step>, Vec<&Step>) =
        plan.steps.iter().partition(|step| step.advice.change == Change::Keep);
    if !change.is_empty() {
        document.heading(3, "Plan, in order of application");
        document.para("What it takes:");
        document.list(&words::takes(plan).iter().map(|one| text(one)).collect::<Vec<_>>());
        table(document, &change);
        for (number, one) in (1..).zip(change) {
            step(document, part, target, Some(number), one);
        }
    }
    right(document, part, target, &keep);
    if !plan.options.is_empty() {
        document.heading(3, "Allowed, at a price; not part of the plan");
        for one in &plan.options {
            step(document, part, target, None, one);
        }
    }
}

fn table(document: &mut Document, steps: &[&Step]) {
    let row = |(number, step): (usize, &&Step)| {
        vec![
            number.to_string(),
            step.level.word().to_owned(),
            code(step.advice.setting.name),
            text(&words::subject(&step.subject)),
            text(&words::change(step)),
            text(&words::affects(step.advice.reach, step.advice.risk)),
        ]
    };
    let rows: Vec<Vec<String>> = (1..).zip(steps).map(row).collect();
    document.table(&["", "level", "setting", "of", "change", "affects"], &[true], &rows);
}

fn step<'a>(
    document: &mut Document,
    part: &mut Part<'_, 'a>,
    target: &TargetSummary,
    number: Option<usize>,
    step: &'a Step,
) {
    let advice = &step.advice;
    let number = number.map(|number| format!("{number}. ")).unwrap_or_default();
    let of = text(&words::subject(&step.subject));
    document.heading(
        4,
        &format!("{number}{} of {of}: {}", code(advice.setting.name), text(&words::change(step))),
    );
    if !part.step(step) {
        document.para("As told above.");
        return;
    }
    document.para(&format!("{} *({})*", text(&step.title), step.confidence.word()));
    let about = part.about(target);
    if step.level >= Level::Warning || step.level == Level::Option || advice.setting.kind.is_filesystem() {
        let rules = about.iter().filter(|finding| step.rules.contains(&finding.rule));
        for because in distinct(rules.map(|finding| &*finding.because)) {
            document.para(&text(because));
        }
    }
    let now = advice.current.is_known().then(|| format!("now: {}", text(&origin::now(advice))));
    let mut facts: Vec<String> = now.into_iter().collect();
    facts.extend(origin::stronger(advice).map(|stronger| text(&stronger.says("the file"))));
    facts.extend(step.result.as_ref().map(|result| format!("becomes: {}", code(result))));
    facts.extend(advice.price.as_ref().map(|price| format!("price: {}", text(price))));
    facts.extend(
        step.alternatives.iter().map(|other| format!("or {}", text(&words::alternative(step, other)))),
    );
    facts.extend(words::done_with(step).map(|with| format!("apply: {with}")));
    facts.push(format!("affects {}", text(&words::affects(advice.reach, advice.risk))));
    facts.push(format!("rules: {}", codes(&step.rules)));
    document.list(&facts);
    commands(document, advice);
}

/// What applies, verifies and undoes advice, and beneath it what is the user's own; nothing where there are no commands.
pub fn commands(document: &mut Document, advice: &Advice) {
    let mut lines = Vec::new();
    for (title, commands) in advice.commands().into_iter().filter(|(_, commands)| !commands.is_empty()) {
        lines.push(format!("# {title}"));
        lines.extend(commands.iter().map(ToString::to_string));
    }
    if !lines.is_empty() {
        document.code("sh", &lines);
    }
    let own = |own: &OwnCommand| {
        format!("{}: {} — {}", own.purpose.word(), code(&own.command), text(&own.sentence()))
    };
    if !advice.own.is_empty() {
        document.list(&advice.own.iter().map(own).collect::<Vec<_>>());
    }
}

/// What is right already, said once.
fn right<'a>(document: &mut Document, part: &mut Part<'_, 'a>, target: &TargetSummary, keep: &[&'a Step]) {
    let says = |f: &&&Finding| f.level == Level::Keep && f.outcome == Outcome::Applies && f.advice.is_empty();
    let about = part.about(target);
    let kept: Vec<&&Step> = keep.iter().filter(|step| part.step(step)).collect();
    let mut items: Vec<String> = Vec::new();
    for one in kept {
        let change = text(&words::change(one));
        items.push(format!("{}: {change}. {}", code(one.advice.setting.name), text(&one.title)));
    }
    for finding in about.iter().filter(says) {
        if part.finding(finding) {
            items.push(format!("{}: {}", text(&words::subject(&finding.subject)), text(&finding.title)));
        }
    }
    if !items.is_empty() {
        document.heading(3, "Already right");
        document.list(&items);
    }
}

/// Writes what was settled between rules.
pub fn conflicts(document: &mut Document, report: &Report) {
    if report.conflicts.is_empty() {
        return;
    }
    document.heading(2, "Rules that want different things");
    let rows: Vec<Vec<String>> = report
        .conflicts
        .iter()
        .map(|one| {
            let of = format!("{} of {}", code(one.setting.name), text(&words::subject(&one.subject)));
            vec![of, text(&one.followed), text(&one.overruled), text(&one.because)]
        })
        .collect();
    document.table(&["setting", "followed", "overruled", "because"], &[], &rows);
}

/// Writes what was taken out.
pub fn withheld(document: &mut Document, report: &Report) {
    if report.withheld.is_empty() {
        return;
    }
    document.heading(2, "Withheld: what a rule would advise and this machine would not take");
    let rows: Vec<Vec<String>> = report
        .withheld
        .iter()
        .map(|one| {
            let of = text(&words::subject(&one.subject));
            vec![text(&one.advice), of, text(&one.because), code(&one.rule)]
        })
        .collect();
    document.table(&["advice", "for", "because", "rule"], &[], &rows);
}
