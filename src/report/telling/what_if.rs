//! What would be different if some facts were others, at the end of the report of the machine as it is.
//!
//! The sentences are made once, by [`told`], for the text and for the screens.

use super::section::{Bullet, Mark};
use super::{Section, words};
use crate::facts::{Reading, Subject, Value, catalog};
use crate::report::model::difference::{Class, FactChange, FindingChange, KeptFact, Shown};
use crate::report::{Assumed, StepChange, WhatIf, WouldBeOffered};
use crate::rules::Level;

/// Before everything else: what it is about.
pub const SAYS: &str = "Assumptions do not affect plans, exports or the exit code.";
pub const NOTHING: &str = "Nothing else would be different.";

/// The heading over what rules say that are decided then, or no longer are.
pub const DECIDED: &str = "Newly decided or undecided";

/// Sentences that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsequenceGroup {
    /// Their heading; empty where each stands for itself.
    pub title: &'static str,
    pub rows: Vec<Consequence>,
}

/// A sentence about something that would be different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consequence {
    /// What stands before it: a level, `with`, `without`; may be empty.
    pub label: String,
    pub says: String,
    /// The rule and what it is about, where it is about a finding.
    pub finding: Option<(String, Subject)>,
}

impl Consequence {
    fn new(label: impl Into<String>, says: String) -> Self {
        Self { label: label.into(), says, finding: None }
    }
}

/// An assumed fact, with what it really is; of one that is stated, what that is never enough for.
pub fn assumption(one: &Assumed) -> Consequence {
    let says = format!("{}{} = {}", one.fact, of(one), show(one, &one.value));
    if one.really.value() == Some(&one.value) {
        return Consequence::new("as it is", says);
    }
    let really = match &one.really {
        Reading::Known { value, .. } => show(one, value),
        Reading::Unknown { why, .. } => format!("not known: {why}"),
    };
    let never = if one.really.is_known() { "" } else { ", never enough for what can lose data" };
    Consequence::new(one.word(), format!("{says} ({}{never}; actual: {really})", one.word()))
}

/// The same in short, and in shorter.
pub fn in_short(one: &Assumed) -> [String; 2] {
    [&*of(one), ""].map(|of| format!("{}{of} = {} ({})", one.fact, show(one, &one.value), one.word()))
}

fn of(one: &Assumed) -> String {
    if one.subject == Subject::host() { String::new() } else { format!(" of {}", one.subject) }
}

fn show(one: &Assumed, value: &Value) -> String {
    catalog::find(&one.fact).map_or(value.to_string(), |info| info.show(value))
}

/// The facts that are assumed, with what they really are.
pub fn assumed(assumed: &[Assumed]) -> Vec<Bullet> {
    assumed.iter().map(|one| bullet(assumption(one))).collect()
}

pub fn sections(what_if: &WhatIf) -> Vec<Section> {
    let top = Section::top("What if").saying(SAYS);
    let mut first = Section::part("");
    first.bullets(&[], assumed(&what_if.assumed));
    let mut sections = vec![top, first];
    if what_if.changes_nothing() {
        sections.push(Section::part("").saying(NOTHING));
        return sections;
    }
    for ConsequenceGroup { title, rows } in told(what_if) {
        let mut section = Section::part(title);
        section.bullets(&[], rows.into_iter().map(bullet).collect());
        sections.push(section);
    }
    sections
}

fn bullet(row: Consequence) -> Bullet {
    let marks = if row.label.is_empty() { Vec::new() } else { vec![Mark::Change(row.label)] };
    Bullet { marks, says: row.says.into(), ..Bullet::default() }
}

/// What would be different: verdicts, which rules are decided, findings, steps of plans, what would be offered, and the facts
/// that follow.
pub fn told(what_if: &WhatIf) -> Vec<ConsequenceGroup> {
    let mut first = verdicts(what_if);
    first.extend(decided(what_if));
    let mut parts = vec![ConsequenceGroup { title: "", rows: first }];
    parts.extend(findings(what_if));
    parts.push(ConsequenceGroup { title: "The plan would change", rows: steps(what_if) });
    parts.push(ConsequenceGroup {
        title: "Would be offered, if all of this had been seen and measured on this machine; it can lose data",
        rows: offers(what_if),
    });
    parts.push(ConsequenceGroup { title: "Derived facts", rows: facts(what_if) });
    parts.retain(|part| !part.rows.is_empty());
    parts
}

fn verdicts(what_if: &WhatIf) -> Vec<Consequence> {
    let changes = what_if.difference.verdicts.iter();
    let says = |target: &Subject, before: &str, now: &str| format!("{}: {before} → {now}", target.name());
    changes
        .map(|one| Consequence::new("verdict", says(&one.target, one.before.word(), one.now.word())))
        .collect()
}

/// The rules that are decided then, each with what it comes to, and those that no longer are; what weighs most first.
fn decided(what_if: &WhatIf) -> impl Iterator<Item = Consequence> {
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
    let rows = rows.map(|(label, class)| Consequence::new(label, rules(class).join(", ")));
    rows.into_iter().filter(|row| !row.says.is_empty())
}

/// The findings themselves; of what is merely decided or no longer so, those that weigh.
fn findings(what_if: &WhatIf) -> impl Iterator<Item = ConsequenceGroup> {
    const PARTS: [(&str, &[Class]); 4] = [
        ("New", &[Class::New, Class::Appeared]),
        ("No longer", &[Class::Fixed, Class::Gone]),
        ("Of another level", &[Class::Level]),
        (DECIDED, &[Class::Decided, Class::Undecided]),
    ];
    PARTS.into_iter().map(|(title, classes)| {
        let among = |finding: &&FindingChange| classes.contains(&finding.class);
        let mut found: Vec<&FindingChange> = what_if.difference.findings.iter().filter(among).collect();
        found.sort_by_key(|finding| std::cmp::Reverse(finding.level()));
        let mut rows = Vec::new();
        for finding in found {
            let Some(latest) = finding.latest() else { continue };
            let decided = matches!(finding.class, Class::Decided | Class::Undecided);
            if decided && latest.level < Level::Warning {
                continue;
            }
            let open = if finding.now.as_ref().is_some_and(|now| !now.applies) { "?" } else { "" };
            let gone = if decided && finding.now.is_none() { "does not apply: " } else { "" };
            let of = words::subject(&finding.subject);
            rows.push(Consequence {
                label: format!("{}{open}", latest.level.word()),
                says: format!("{of}: {gone}{} ({})", latest.title, finding.rule),
                finding: Some((finding.rule.clone(), finding.subject.clone())),
            });
        }
        ConsequenceGroup { title, rows }
    })
}

fn steps(what_if: &WhatIf) -> Vec<Consequence> {
    let row = |step: &StepChange| {
        let label = if step.comes { "with" } else { "without" };
        let of = words::subject(&step.subject);
        Consequence::new(label, format!("{} ({of}; plan of {})", step.advice, step.target.name()))
    };
    what_if.steps.iter().map(row).collect()
}

fn offers(what_if: &WhatIf) -> Vec<Consequence> {
    let row = |offer: &WouldBeOffered| {
        let price = offer.price.as_ref().map(|price| format!(". {price}")).unwrap_or_default();
        let of = words::subject(&offer.subject);
        Consequence::new("option", format!("{} on {of} ({}){price}", offer.advice, offer.rule))
    };
    what_if.would_be_offered.iter().map(row).collect()
}

/// Facts that follow from what is assumed.
fn facts(what_if: &WhatIf) -> Vec<Consequence> {
    let assumed = |change: &&FactChange| {
        what_if.assumed.iter().any(|one| one.subject == change.subject && one.fact == change.fact)
    };
    let shown = |fact: &Option<KeptFact>| {
        fact.as_ref().and_then(KeptFact::value).map_or("not known".to_owned(), Shown::text)
    };
    let row = |change: &FactChange| {
        let FactChange { subject, fact, before, now, .. } = change;
        Consequence::new("", format!("{fact} of {subject}: {} → {} (assumed)", shown(before), shown(now)))
    };
    what_if.difference.facts.iter().filter(|one| !assumed(one)).map(row).collect()
}
