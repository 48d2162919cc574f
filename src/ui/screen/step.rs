//! A step of a plan beneath its line: what becomes of the setting, why, how to do it, how to see that it was done, and how
//! to take it back; in the order and the words of the text report.

use super::details::Details;
use crate::facts::{Reading, Value};
use crate::report::text::advice as told;
use crate::report::text::words;
use crate::report::{Report, Step};
use crate::rules::Change;
use crate::ui::model::Data;

/// Writes all about one step.
pub fn write(details: &mut Details, data: &Data, report: &Report, step: &Step) {
    let advice = &step.advice;
    let findings = data.focus.findings(report, &step.rules);
    details.paragraph(&step.title);
    for finding in &findings {
        details.reasons(report, finding);
    }
    match told::of_server(advice) {
        Some((now, stronger)) => {
            details.field("now", &now);
            if let Some(says) = stronger {
                details.field("", &says);
            }
        }
        None => details.now(advice),
    }
    if let Some((before, after)) = becomes(step) {
        details.becomes(&before, &after);
    }
    details.field("affects", &words::affects(advice.reach, advice.risk));
    if let Some(price) = &advice.price {
        details.field("price", price);
    }
    for other in &step.alternatives {
        details.field("or", &words::alternative(step, other));
        let choice = advice.setting.kind.is_filesystem();
        for finding in
            data.focus.findings(report, std::slice::from_ref(&other.rule)).iter().filter(|_| choice)
        {
            details.field("", &finding.because);
        }
    }
    if let Some(with) = words::done_with(step) {
        details.field("apply", with);
    }
    details.commands("apply", &advice.apply);
    details.commands("verify", &advice.verify);
    details.commands("undo", &advice.undo);
    for own in &advice.own {
        details.field("yours", &format!("{}: {}", own.purpose.word(), own.command));
        details.field("", &own.sentence());
    }
    let target = report.targets.get(data.focus.at);
    if let Some(lasts) = target.and_then(|target| told::lasts(report, target, step)) {
        details.field("lasts", &lasts);
    }
    for finding in &findings {
        details.trace(finding);
    }
}

/// What the setting reads now and what it will read; nothing where it stays as it is.
fn becomes(step: &Step) -> Option<(Vec<String>, Vec<String>)> {
    let words = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
    let after = match (&step.result, &step.advice.change) {
        (_, Change::Keep) => return None,
        (Some(result), _) => words(result),
        (None, Change::Set(value)) => vec![value.clone()],
        (None, _) => return None,
    };
    let before = match &step.advice.current {
        Reading::Known { value: Value::List(now), .. } => now.clone(),
        Reading::Known { value, .. } => vec![value.to_string()],
        Reading::Unknown { .. } => Vec::new(),
    };
    Some((before, after))
}
