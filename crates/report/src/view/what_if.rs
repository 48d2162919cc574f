use super::section::{Badge, Bullet, ItemRef};
use super::{Section, wording};
use crate::model::difference::{
    DisplayedValue, FactChange, FactState, FindingChange, FindingChangeKind,
};
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
    if one.really.value() == Some(&one.value) {
        return Bullet {
            item: about,
            ..labelled_bullet("unchanged", says)
        };
    }
    let really = match &one.really {
        Reading::Known { value, .. } => format_value_of_fact(one, value),
        Reading::Unknown { why, .. } => format!("unknown: {why}"),
    };
    let never = if one.really.is_known() {
        ""
    } else {
        ", never permits changes that can lose data"
    };
    let says = format!(
        "{says} ({}{never}; actual: {really})",
        one.assumed_or_stated_word()
    );
    Bullet {
        item: about,
        ..labelled_bullet(one.assumed_or_stated_word(), says)
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
        let says = format!(
            "{}: {} → {}",
            one.target.name(),
            one.before.as_str(),
            one.now.as_str()
        );
        labelled_bullet("verdict", says)
    })
}

fn rule_decision_bullets(what_if: &WhatIf) -> impl Iterator<Item = Bullet> {
    let rules = |class: FindingChangeKind| {
        let mut found: Vec<&FindingChange> = what_if.difference.findings.iter().collect();
        found.retain(|finding| finding.class == class);
        found.sort_by_key(|finding| std::cmp::Reverse(finding.latest_finding_level()));
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
    let rows = [
        ("decided", FindingChangeKind::Decided),
        ("undecided", FindingChangeKind::Undecided),
    ];
    let rows = rows.map(|(label, class)| labelled_bullet(label, rules(class).join(", ")));
    rows.into_iter().filter(|row| !row.text.is_empty())
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
    PARTS.into_iter().map(|(title, classes)| {
        let among = |finding: &&FindingChange| classes.contains(&finding.class);
        let mut found: Vec<&FindingChange> =
            what_if.difference.findings.iter().filter(among).collect();
        found.sort_by_key(|finding| std::cmp::Reverse(finding.latest_finding_level()));
        let mut rows = Vec::new();
        for finding in found {
            let Some(latest) = finding.latest_finding_state() else {
                continue;
            };
            if finding.class == FindingChangeKind::Decided && finding.now.is_none() {
                continue;
            }
            let open = if finding.now.as_ref().is_some_and(|now| !now.applies) {
                "?"
            } else {
                ""
            };
            let of = wording::describe_subject(&finding.subject);
            let label = format!("{}{open}", latest.level.as_str());
            let says = format!("{of}: {} ({})", latest.title, finding.rule);
            let about = ItemRef {
                rules: vec![finding.rule.clone()],
                subject: Some(finding.subject.clone()),
                ..ItemRef::default()
            };
            rows.push(Bullet {
                item: about,
                ..labelled_bullet(label, says)
            });
        }
        (title, rows)
    })
}

fn plan_step_change_bullets(what_if: &WhatIf) -> Vec<Bullet> {
    let row = |step: &StepChange| {
        let label = if step.comes { "with" } else { "without" };
        let of = wording::describe_subject(&step.subject);
        labelled_bullet(
            label,
            format!("{} ({of}; plan of {})", step.advice, step.target.name()),
        )
    };
    what_if.steps.iter().map(row).collect()
}

fn withheld_advice_bullets(what_if: &WhatIf) -> Vec<Bullet> {
    let row = |offer: &WithheldRiskyAdvice| {
        let price = offer
            .tradeoff
            .as_ref()
            .map(|price| format!(". {price}"))
            .unwrap_or_default();
        let of = wording::describe_subject(&offer.subject);
        labelled_bullet(
            "option",
            format!("{} on {of} ({}){price}", offer.advice, offer.rule),
        )
    };
    what_if.would_be_offered.iter().map(row).collect()
}

fn derived_fact_bullets(what_if: &WhatIf) -> Vec<Bullet> {
    let assumed = |change: &&FactChange| {
        what_if
            .assumed
            .iter()
            .any(|one| one.subject == change.subject && one.fact == change.fact)
    };
    let shown = |fact: &Option<FactState>| {
        fact.as_ref()
            .and_then(FactState::known_value)
            .map_or("unknown".to_owned(), DisplayedValue::displayed_text)
    };
    let row = |change: &FactChange| {
        let FactChange {
            subject,
            fact,
            before,
            now,
            ..
        } = change;
        Bullet::from_sentence(format!(
            "{fact} of {subject}: {} → {} (assumed)",
            shown(before),
            shown(now)
        ))
    };
    what_if
        .difference
        .facts
        .iter()
        .filter(|one| !assumed(one))
        .map(row)
        .collect()
}
