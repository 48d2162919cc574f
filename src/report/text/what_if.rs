//! What would be different if some facts were others, at the end of the report of the machine as it is.

use super::page::Page;
use super::words;
use crate::facts::{Reading, Subject, Value, catalog};
use crate::report::difference::{Class, FactChange, FindingChange, KeptFact, Shown};
use crate::report::{Assumed, WhatIf};
use crate::rules::Level;

/// The facts that are assumed, with what they really are.
pub fn assumed(page: &mut Page, indent: usize, assumed: &[Assumed]) {
    for Assumed { subject, fact, value, really } in assumed {
        let of = if *subject == Subject::host() { String::new() } else { format!(" of {subject}") };
        let show = |value: &Value| catalog::find(fact).map_or(value.to_string(), |info| info.show(value));
        let really = match really {
            Reading::Known { value, .. } => show(value),
            Reading::Unknown { why, .. } => format!("not known: {why}"),
        };
        let line = format!("{fact}{of} = {} (assumed; really {really})", show(value));
        page.hanging(indent, "assumed   ", &line);
    }
}

/// All of it.
pub fn write(page: &mut Page, what_if: &WhatIf) {
    page.heading("What if");
    page.para(
        2,
        "Plans, exports and the exit code are those of the machine as it is; none of this enters them.",
    );
    page.gap();
    assumed(page, 2, &what_if.assumed);
    if what_if.changes_nothing() {
        page.gap();
        page.para(2, "Nothing else would be different.");
        return;
    }
    verdicts(page, what_if);
    findings(page, what_if);
    steps(page, what_if);
    offers(page, what_if);
    facts(page, what_if);
}

fn verdicts(page: &mut Page, what_if: &WhatIf) {
    let changes = &what_if.difference.verdicts;
    if !changes.is_empty() {
        page.gap();
    }
    for change in changes {
        let text = format!("{}: {} → {}", change.target.name(), change.before.word(), change.now.word());
        page.hanging(2, "verdict   ", &text);
    }
}

fn findings(page: &mut Page, what_if: &WhatIf) {
    let parts: [(&str, &[Class]); 4] = [
        ("New", &[Class::New, Class::Appeared]),
        ("No longer", &[Class::Fixed, Class::Gone]),
        ("Of another level", &[Class::Level]),
        ("Decided, or no longer decided", &[Class::Decided, Class::Undecided]),
    ];
    for (title, classes) in parts {
        let among = |finding: &&FindingChange| classes.contains(&finding.class);
        let mut found: Vec<&FindingChange> = what_if.difference.findings.iter().filter(among).collect();
        if found.is_empty() {
            continue;
        }
        found.sort_by_key(|finding| std::cmp::Reverse(finding.level()));
        page.gap();
        page.para(2, title);
        let mut minor = Vec::new();
        for finding in found {
            let Some(latest) = finding.latest() else { continue };
            let decided = matches!(finding.class, Class::Decided | Class::Undecided);
            if decided && latest.level < Level::Warning {
                minor.push(finding.rule.as_str());
                continue;
            }
            let open = if finding.now.as_ref().is_some_and(|now| !now.applies) { "?" } else { "" };
            let label = format!("{:<10}", format!("{}{open}", latest.level.word()));
            let gone = if decided && finding.now.is_none() { "no longer open: " } else { "" };
            let of = words::subject(&finding.subject);
            page.hanging(4, &label, &format!("{of}: {gone}{} ({})", latest.title, finding.rule));
        }
        if !minor.is_empty() {
            let text = format!("of less weight: {}", super::distinct(minor.into_iter()).join(", "));
            page.para(4, &text);
        }
    }
}

fn steps(page: &mut Page, what_if: &WhatIf) {
    if what_if.steps.is_empty() {
        return;
    }
    page.gap();
    page.para(2, "The plan would be another");
    for step in &what_if.steps {
        let label = if step.comes { "with      " } else { "without   " };
        let of = words::subject(&step.subject);
        page.hanging(4, label, &format!("{} ({of}; plan of {})", step.advice, step.target.name()));
    }
}

fn offers(page: &mut Page, what_if: &WhatIf) {
    if what_if.would_be_offered.is_empty() {
        return;
    }
    page.gap();
    page.para(
        2,
        "Would be offered, if all of this had been seen and measured on this machine; it can lose data",
    );
    for offer in &what_if.would_be_offered {
        let price = offer.price.as_ref().map(|price| format!(". {price}")).unwrap_or_default();
        let of = words::subject(&offer.subject);
        page.hanging(4, "option    ", &format!("{} on {of} ({}){price}", offer.advice, offer.rule));
    }
}

/// Facts that follow from what is assumed.
fn facts(page: &mut Page, what_if: &WhatIf) {
    let assumed = |change: &&FactChange| {
        what_if.assumed.iter().any(|one| one.subject == change.subject && one.fact == change.fact)
    };
    let follows: Vec<&FactChange> = what_if.difference.facts.iter().filter(|one| !assumed(one)).collect();
    if follows.is_empty() {
        return;
    }
    page.gap();
    page.para(2, "Facts that follow");
    let shown = |fact: &Option<KeptFact>| {
        fact.as_ref().and_then(KeptFact::value).map_or("not known".to_owned(), Shown::text)
    };
    for change in follows {
        let FactChange { subject, fact, before, now, .. } = change;
        page.para(4, &format!("{fact} of {subject}: {} → {} (assumed)", shown(before), shown(now)));
    }
}
