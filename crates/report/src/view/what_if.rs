use std::cmp::Reverse;

use super::section::{Badge, Bullet, ItemRef};
use super::{Section, wording};
use crate::distinct::distinct;
use crate::model::difference::{DisplayedValue, FactState, FindingChange, FindingChangeKind};
use crate::{FactAssumption, StepChange, WhatIf, WithheldRiskyAdvice};
use walwise_model::facts::{Reading, Subject, Value, catalog};

const NO_EFFECT_NOTE: &str = "Assumptions do not affect plans, exports or the exit code.";
const ONLY_DERIVED_FACTS: &str =
    "No verdict, finding or step would change; -v lists the derived facts.";
const NO_DIFFERENCES: &str = "Nothing else would change.";

/// Describes an assumption. If the fact is unknown on the real host, a note states that the
/// assumption never allows changes that can lose data.
pub fn assumption_bullet(one: &FactAssumption) -> Bullet {
    let about = ItemRef {
        fact: Some((one.subject.clone(), one.fact.clone())),
        ..ItemRef::default()
    };
    let says = format!(
        "{}{} = {}",
        one.fact,
        assumption_subject_suffix(one),
        format_value_of_fact(one, &one.value)
    );
    let word = one.assumed_or_stated_word();
    let (label, says) = match &one.really {
        Reading::Known { value, .. } if *value == one.value => ("unchanged", says),
        Reading::Known { value, .. } => {
            let really = format_value_of_fact(one, value);
            (word, format!("{says} ({word}; actual: {really})"))
        }
        Reading::Unknown { why, .. } => {
            let never = "never permits changes that can lose data";
            (
                word,
                format!("{says} ({word}, {never}; actual: unknown: {why})"),
            )
        }
    };
    Bullet {
        item: about,
        ..labelled_bullet(label, says)
    }
}

/// Formats an assumption in two short forms; the second one omits the subject.
pub fn assumption_short_forms(one: &FactAssumption) -> [String; 2] {
    [&*assumption_subject_suffix(one), ""].map(|of| {
        format!(
            "{}{of} = {} ({})",
            one.fact,
            format_value_of_fact(one, &one.value),
            one.assumed_or_stated_word()
        )
    })
}

fn assumption_subject_suffix(one: &FactAssumption) -> String {
    if one.subject == Subject::host() {
        String::new()
    } else {
        format!(" of {}", one.subject)
    }
}

fn format_value_of_fact(one: &FactAssumption, value: &Value) -> String {
    catalog::find_by_name(&one.fact).map_or(value.to_string(), |info| info.format_value(value))
}

pub(crate) fn assumption_bullets(assumed: &[FactAssumption]) -> Vec<Bullet> {
    assumed.iter().map(assumption_bullet).collect()
}

/// Includes derived facts.
pub fn what_if_sections(what_if: &WhatIf) -> Vec<Section> {
    sections_with_detail(what_if, true)
}

/// As [`what_if_sections`], without derived facts.
pub(crate) fn short_what_if_sections(what_if: &WhatIf) -> Vec<Section> {
    sections_with_detail(what_if, false)
}

fn sections_with_detail(what_if: &WhatIf, is_detailed: bool) -> Vec<Section> {
    let top = Section::new_top("What if").with_sentence(NO_EFFECT_NOTE);
    let part = |title: &str, bullets| {
        let mut section = Section::new_part(title);
        section.push_bullets(&[], bullets);
        section
    };
    let first = part("", assumption_bullets(&what_if.assumed));
    if what_if.has_no_effect() {
        return vec![
            top,
            first,
            Section::new_part("").with_sentence(NO_DIFFERENCES),
        ];
    }
    let mut parts = vec![part(
        "",
        verdict_change_bullets(what_if)
            .chain(rule_decision_bullets(what_if))
            .collect(),
    )];
    parts.extend(changed_finding_groups(what_if).map(|(title, bullets)| part(title, bullets)));
    parts.push(part(
        "The plan would change",
        plan_step_change_bullets(what_if),
    ));
    parts.push(part(
        "Would be offered if observed and measured on this host; can lose data",
        withheld_advice_bullets(what_if),
    ));
    if is_detailed {
        parts.push(part("Derived facts", derived_fact_bullets(what_if)));
    }
    parts.retain(|part| !part.elements.is_empty());
    if parts.is_empty() && !is_detailed {
        parts.push(Section::new_part("").with_sentence(ONLY_DERIVED_FACTS));
    }
    [top, first].into_iter().chain(parts).collect()
}

fn labelled_bullet(label: impl Into<String>, says: String) -> Bullet {
    Bullet::with_badge(Badge::Change(label.into()), says)
}

fn verdict_change_bullets(what_if: &WhatIf) -> impl Iterator<Item = Bullet> {
    what_if.difference.verdicts.iter().map(|one| {
        let says = format!("{}: {} → {}", one.target.name(), one.before, one.now);
        labelled_bullet("verdict", says)
    })
}

/// The findings that changed in one of these ways, the most severe first.
fn changed_findings<'w>(
    what_if: &'w WhatIf,
    classes: &[FindingChangeKind],
) -> Vec<&'w FindingChange> {
    let mut found: Vec<&FindingChange> = what_if.difference.findings.iter().collect();
    found.retain(|finding| classes.contains(&finding.class));
    found.sort_by_key(|finding| Reverse(finding.latest_finding_level()));
    found
}

fn rule_decision_bullets(what_if: &WhatIf) -> impl Iterator<Item = Bullet> {
    let rule = |finding: &FindingChange| {
        let comes_to = match &finding.now {
            Some(now) if now.applies => " applies",
            Some(_) => "",
            None => " does not apply",
        };
        format!("{}{comes_to}", finding.rule)
    };
    let row = move |(label, class)| {
        let found = changed_findings(what_if, &[class]);
        labelled_bullet(label, distinct(found.into_iter().map(rule)).join(", "))
    };
    [
        ("decided", FindingChangeKind::Decided),
        ("undecided", FindingChangeKind::Undecided),
    ]
    .into_iter()
    .map(row)
    .filter(|row| !row.text.is_empty())
}

/// Findings that become undecided, or turn out not to apply, are left out.
fn changed_finding_groups(what_if: &WhatIf) -> impl Iterator<Item = (&'static str, Vec<Bullet>)> {
    const PARTS: [(&str, &[FindingChangeKind]); 3] = [
        (
            "New",
            &[
                FindingChangeKind::New,
                FindingChangeKind::Appeared,
                FindingChangeKind::Decided,
            ],
        ),
        (
            "No longer applies",
            &[FindingChangeKind::Fixed, FindingChangeKind::Gone],
        ),
        ("Level changed", &[FindingChangeKind::Level]),
    ];
    let row = |finding: &FindingChange| {
        let latest = finding.latest_finding_state()?;
        if finding.class == FindingChangeKind::Decided && finding.now.is_none() {
            return None;
        }
        let is_open = finding.now.as_ref().is_some_and(|now| !now.applies);
        let of = wording::describe_subject(&finding.subject);
        let label = format!("{}{}", latest.level, if is_open { "?" } else { "" });
        let says = format!("{of}: {} ({})", latest.title, finding.rule);
        Some(Bullet {
            item: ItemRef::new(
                String::new(),
                std::slice::from_ref(&finding.rule),
                &finding.subject,
            ),
            ..labelled_bullet(label, says)
        })
    };
    PARTS.into_iter().map(move |(title, classes)| {
        let found = changed_findings(what_if, classes).into_iter();
        (title, found.filter_map(row).collect())
    })
}

fn plan_step_change_bullets(what_if: &WhatIf) -> Vec<Bullet> {
    let row = |step: &StepChange| {
        let label = if step.comes { "with" } else { "without" };
        let of = wording::describe_subject(&step.subject);
        let says = format!("{} ({of}; plan of {})", step.advice, step.target.name());
        labelled_bullet(label, says)
    };
    what_if.steps.iter().map(row).collect()
}

fn withheld_advice_bullets(what_if: &WhatIf) -> Vec<Bullet> {
    let row = |offer: &WithheldRiskyAdvice| {
        let of = wording::describe_subject(&offer.subject);
        let says = format!("{} on {of} ({})", offer.advice, offer.rule);
        let says = match &offer.tradeoff {
            Some(price) => format!("{says}. {price}"),
            None => says,
        };
        labelled_bullet("option", says)
    };
    what_if.would_be_offered.iter().map(row).collect()
}

fn derived_fact_bullets(what_if: &WhatIf) -> Vec<Bullet> {
    let shown = |fact: &Option<FactState>| {
        fact.as_ref()
            .and_then(FactState::known_value)
            .map_or("unknown".to_owned(), DisplayedValue::displayed_text)
    };
    what_if
        .difference
        .facts
        .iter()
        .filter(|change| !what_if.assumes_fact(change))
        .map(|change| {
            Bullet::from_sentence(format!(
                "{} of {}: {} → {} (assumed)",
                change.fact,
                change.subject,
                shown(&change.before),
                shown(&change.now)
            ))
        })
        .collect()
}
