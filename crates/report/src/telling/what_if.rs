//! What would be different if some facts were others, at the end of the report of the machine as it
//! is.

use super::section::{About, Bullet, Mark};
use super::{Section, words};
use crate::model::difference::{Class, FactChange, FindingChange, KeptFact, Shown};
use crate::{Assumed, StepChange, WhatIf, WouldBeOffered};
use walwise_judge::rules::Level;
use walwise_model::facts::{Reading, Subject, Value, catalog};

/// Before everything else: what it is about.
const SAYS: &str = "Assumptions do not affect plans, exports or the exit code.";
const NOTHING: &str = "Nothing else would be different.";

/// An assumed fact, with what it really is; of one that is stated, what that is never enough for.
pub fn assumption(one: &Assumed) -> Bullet {
    let about = About {
        fact: Some((one.subject.clone(), one.fact.clone())),
        ..About::default()
    };
    let says = format!("{}{} = {}", one.fact, of(one), show(one, &one.value));
    if one.really.value() == Some(&one.value) {
        return Bullet {
            about,
            ..bullet("as it is", says)
        };
    }
    let really = match &one.really {
        Reading::Known { value, .. } => show(one, value),
        Reading::Unknown { why, .. } => format!("not known: {why}"),
    };
    let never = if one.really.is_known() {
        ""
    } else {
        ", never enough for what can lose data"
    };
    let says = format!("{says} ({}{never}; actual: {really})", one.word());
    Bullet {
        about,
        ..bullet(one.word(), says)
    }
}

/// The same in short, and in shorter.
pub fn in_short(one: &Assumed) -> [String; 2] {
    [&*of(one), ""].map(|of| {
        format!(
            "{}{of} = {} ({})",
            one.fact,
            show(one, &one.value),
            one.word()
        )
    })
}

fn of(one: &Assumed) -> String {
    if one.subject == Subject::host() {
        String::new()
    } else {
        format!(" of {}", one.subject)
    }
}

fn show(one: &Assumed, value: &Value) -> String {
    catalog::find(&one.fact).map_or(value.to_string(), |info| info.show(value))
}

/// The facts that are assumed, with what they really are.
pub fn assumed(assumed: &[Assumed]) -> Vec<Bullet> {
    assumed.iter().map(assumption).collect()
}

/// What would be different: verdicts, which rules are decided, findings, steps of plans, what would
/// be offered, and the facts that follow.
pub fn sections(what_if: &WhatIf) -> Vec<Section> {
    let top = Section::top("What if").saying(SAYS);
    let part = |title: &str, bullets| {
        let mut section = Section::part(title);
        section.bullets(&[], bullets);
        section
    };
    let first = part("", assumed(&what_if.assumed));
    if what_if.changes_nothing() {
        return vec![top, first, Section::part("").saying(NOTHING)];
    }
    let mut parts = vec![part(
        "",
        verdicts(what_if).chain(decided(what_if)).collect(),
    )];
    parts.extend(findings(what_if).map(|(title, bullets)| part(title, bullets)));
    parts.push(part("The plan would change", steps(what_if)));
    parts.push(part(
        "Would be offered, if all of this had been seen and measured on this machine; it can lose data",
        offers(what_if),
    ));
    parts.push(part("Derived facts", facts(what_if)));
    parts.retain(|part| !part.elements.is_empty());
    [top, first].into_iter().chain(parts).collect()
}

/// A sentence behind a word; behind none where that is empty.
fn bullet(label: impl Into<String>, says: String) -> Bullet {
    let label = label.into();
    let marks = if label.is_empty() {
        Vec::new()
    } else {
        vec![Mark::Change(label)]
    };
    Bullet {
        marks,
        says: says.into(),
        ..Bullet::default()
    }
}

fn verdicts(what_if: &WhatIf) -> impl Iterator<Item = Bullet> {
    what_if.difference.verdicts.iter().map(|one| {
        let says = format!(
            "{}: {} → {}",
            one.target.name(),
            one.before.word(),
            one.now.word()
        );
        bullet("verdict", says)
    })
}

/// The rules that are decided then, each with what it comes to, and those that no longer are; what
/// weighs most first.
fn decided(what_if: &WhatIf) -> impl Iterator<Item = Bullet> {
    let rules = |class: Class| {
        let mut found: Vec<&FindingChange> = what_if.difference.findings.iter().collect();
        found.retain(|finding| finding.class == class);
        found.sort_by_key(|finding| std::cmp::Reverse(finding.level()));
        let mut said: Vec<String> = Vec::new();
        for finding in found {
            let comes_to = match &finding.now {
                Some(now) if now.applies => " applies",
                Some(_) => "",
                None => " does not apply",
            };
            let one = format!("{}{comes_to}", finding.rule);
            if !said.contains(&one) {
                said.push(one);
            }
        }
        said
    };
    let rows = [("decided", Class::Decided), ("undecided", Class::Undecided)];
    let rows = rows.map(|(label, class)| bullet(label, rules(class).join(", ")));
    rows.into_iter().filter(|row| !row.says.is_empty())
}

/// The findings themselves; of what is merely decided or no longer so, those that weigh.
fn findings(what_if: &WhatIf) -> impl Iterator<Item = (&'static str, Vec<Bullet>)> {
    const PARTS: [(&str, &[Class]); 4] = [
        ("New", &[Class::New, Class::Appeared]),
        ("No longer", &[Class::Fixed, Class::Gone]),
        ("Of another level", &[Class::Level]),
        (
            "Newly decided or undecided",
            &[Class::Decided, Class::Undecided],
        ),
    ];
    PARTS.into_iter().map(|(title, classes)| {
        let among = |finding: &&FindingChange| classes.contains(&finding.class);
        let mut found: Vec<&FindingChange> =
            what_if.difference.findings.iter().filter(among).collect();
        found.sort_by_key(|finding| std::cmp::Reverse(finding.level()));
        let mut rows = Vec::new();
        for finding in found {
            let Some(latest) = finding.latest() else {
                continue;
            };
            let decided = matches!(finding.class, Class::Decided | Class::Undecided);
            if decided && latest.level < Level::Warning {
                continue;
            }
            let open = if finding.now.as_ref().is_some_and(|now| !now.applies) {
                "?"
            } else {
                ""
            };
            let gone = if decided && finding.now.is_none() {
                "does not apply: "
            } else {
                ""
            };
            let of = words::subject(&finding.subject);
            let label = format!("{}{open}", latest.level.word());
            let says = format!("{of}: {gone}{} ({})", latest.title, finding.rule);
            let about = About {
                rules: vec![finding.rule.clone()],
                subject: Some(finding.subject.clone()),
                ..About::default()
            };
            rows.push(Bullet {
                about,
                ..bullet(label, says)
            });
        }
        (title, rows)
    })
}

fn steps(what_if: &WhatIf) -> Vec<Bullet> {
    let row = |step: &StepChange| {
        let label = if step.comes { "with" } else { "without" };
        let of = words::subject(&step.subject);
        bullet(
            label,
            format!("{} ({of}; plan of {})", step.advice, step.target.name()),
        )
    };
    what_if.steps.iter().map(row).collect()
}

fn offers(what_if: &WhatIf) -> Vec<Bullet> {
    let row = |offer: &WouldBeOffered| {
        let price = offer
            .price
            .as_ref()
            .map(|price| format!(". {price}"))
            .unwrap_or_default();
        let of = words::subject(&offer.subject);
        bullet(
            "option",
            format!("{} on {of} ({}){price}", offer.advice, offer.rule),
        )
    };
    what_if.would_be_offered.iter().map(row).collect()
}

/// Facts that follow from what is assumed.
fn facts(what_if: &WhatIf) -> Vec<Bullet> {
    let assumed = |change: &&FactChange| {
        what_if
            .assumed
            .iter()
            .any(|one| one.subject == change.subject && one.fact == change.fact)
    };
    let shown = |fact: &Option<KeptFact>| {
        fact.as_ref()
            .and_then(KeptFact::value)
            .map_or("not known".to_owned(), Shown::text)
    };
    let row = |change: &FactChange| {
        let FactChange {
            subject,
            fact,
            before,
            now,
            ..
        } = change;
        bullet(
            "",
            format!(
                "{fact} of {subject}: {} → {} (assumed)",
                shown(before),
                shown(now)
            ),
        )
    };
    what_if
        .difference
        .facts
        .iter()
        .filter(|one| !assumed(one))
        .map(row)
        .collect()
}
