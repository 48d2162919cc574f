//! The mounts of the next boot, option by option: lines of fstab, mount units, root flags.

use super::change::{
    FindingIndex, applies, counterpart, from_finding, index_findings, is_about_boot, tests_fact,
};
use crate::model::Report;
use crate::model::upgrade::{Answer, Item, Part};
use walwise_judge::compat::{self, Effect, Support};
use walwise_judge::rules::{Finding, Level};
use walwise_model::facts::catalog::boot;
use walwise_model::facts::{FactSet, Key, Subject};

/// The facts that classify the options of a line, with the section for each.
const OPTION_FACTS: [(&Key<Vec<String>>, Effect, Part); 5] = [
    (&boot::REFUSED, Effect::Refused, Part::Blocker),
    (&boot::NO_EFFECT, Effect::NoEffect, Part::LosesEffect),
    (&boot::DEPRECATED, Effect::Deprecated, Part::Deprecated),
    (&boot::UNDECIDED, Effect::Unknown, Part::NotKnown),
    (&boot::DEFAULT_ANYWAY, Effect::DefaultAnyway, Part::Needless),
];

/// Facts that make a whole line fail.
const FAILURE_FACTS: [&str; 2] = [boot::REFUSED_TYPE.name(), boot::DEVICE.name()];

pub fn boot_items(real: &Report, supposed: &Report) -> Vec<Item> {
    let (before, now) = (index_findings(real), index_findings(supposed));
    let mut items = Vec::new();
    for finding in supposed
        .findings
        .iter()
        .filter(|finding| is_about_boot(finding) && applies(finding))
    {
        match OPTION_FACTS
            .iter()
            .find(|(key, ..)| tests_fact(finding, key.name()))
        {
            // Unknown options are reported whatever rules there are.
            Some((_, effect, _)) if effect.is_unknown() => {}
            Some((key, effect, part)) => {
                items.extend(option_items(real, supposed, finding, key, *effect, *part));
            }
            None => items.extend(line_item(&before, supposed, finding)),
        }
    }
    items.extend(improved_items(real, supposed, &now));
    items
}

/// The items of a finding about options of a line, one for each option, with the table's ruling.
fn option_items(
    real: &Report,
    supposed: &Report,
    finding: &Finding,
    key: &Key<Vec<String>>,
    effect: Effect,
    part: Part,
) -> Vec<Item> {
    let line = &finding.subject;
    let before = real.facts.value(line, key).unwrap_or_default();
    let found = supposed.facts.value(line, key).unwrap_or_default();
    let rulings = option_rulings(&supposed.facts, line);
    let ruling = |option: &String| {
        rulings
            .iter()
            .find(|(of, ruling)| of == option && ruling.effect == effect)
    };
    let mut items: Vec<Item> = Vec::new();
    for option in found {
        let already = before.contains(&option);
        // An option that is redundant today does not change.
        if part == Part::Needless && already {
            continue;
        }
        let (because, source) = ruling(&option)
            .map(|(_, ruling)| (ruling.because.clone(), ruling.source.clone()))
            .unwrap_or_default();
        let then = if part == Part::Blocker {
            failure_consequence(&supposed.facts, line)
        } else {
            ""
        };
        items.push(Item {
            what: option_effect(&option, effect, &fstype(&supposed.facts, line)),
            because: format!("{because} {then}").trim().to_owned(),
            sources: if source.is_empty() {
                finding.refs.to_vec()
            } else {
                vec![source]
            },
            place: declared_at(&supposed.facts, line),
            answer: part_answer(part),
            ..from_finding(part, finding, already)
        });
    }
    items
}

fn part_answer(part: Part) -> Option<Answer> {
    match part {
        Part::Blocker => Some(Answer::Fails),
        Part::LosesEffect => Some(Answer::WorksAndLoses),
        Part::NotKnown => Some(Answer::CannotBeTold),
        Part::Deprecated | Part::Changes | Part::Already | Part::Needless | Part::Better => None,
    }
}

fn option_effect(option: &str, effect: Effect, fstype: &str) -> String {
    match effect {
        Effect::Refused => format!("{option} is refused by {fstype}"),
        Effect::NoEffect => format!("{option} has no effect on {fstype}"),
        Effect::Deprecated => format!("{option} is deprecated on {fstype}"),
        Effect::DefaultAnyway => format!("{option} is the default on {fstype}"),
        Effect::Ok => format!("{option} is accepted by {fstype}"),
        Effect::Unknown => format!("it is unknown whether {fstype} accepts {option}"),
    }
}

/// The items of a finding about a line as a whole.
fn line_item<'r>(
    before: &FindingIndex<'r>,
    supposed: &Report,
    finding: &'r Finding,
) -> Option<Item> {
    let already = counterpart(before, finding).is_some_and(applies);
    let fails = FAILURE_FACTS.iter().any(|fact| tests_fact(finding, fact));
    let part = match (fails, already) {
        (true, _) => Part::Blocker,
        (false, true) => Part::Already,
        (false, false) => Part::Changes,
    };
    // Advice that already applies does not concern the upgrade.
    if part == Part::Already && finding.level < Level::Warning {
        return None;
    }
    let place = declared_at(&supposed.facts, &finding.subject);
    Some(Item {
        place,
        answer: part_answer(part),
        ..from_finding(part, finding, already)
    })
}

/// Options that are wrong now and will be right.
fn improved_items<'r>(real: &'r Report, supposed: &Report, now: &FindingIndex<'r>) -> Vec<Item> {
    let mut items = Vec::new();
    for finding in real
        .findings
        .iter()
        .filter(|finding| is_about_boot(finding) && applies(finding))
    {
        let line = &finding.subject;
        let sorted = OPTION_FACTS
            .iter()
            .find(|(key, ..)| tests_fact(finding, key.name()));
        let Some((key, _, part)) = sorted else {
            if counterpart(now, finding).is_none() {
                items.push(Item {
                    place: declared_at(&real.facts, line),
                    ..from_finding(Part::Better, finding, true)
                });
            }
            continue;
        };
        let was_wrong = real.facts.value(line, key).unwrap_or_default();
        let right = |(option, ruling): &(String, Support)| {
            was_wrong.contains(option) && ruling.effect.is_accepted()
        };
        // A default that becomes explicit needs no action.
        let then = if *part == Part::Needless {
            Vec::new()
        } else {
            option_rulings(&supposed.facts, line)
        };
        items.extend(then.into_iter().filter(right).map(|(option, ruling)| Item {
            what: option_effect(&option, ruling.effect, &fstype(&supposed.facts, line)),
            because: ruling.because,
            sources: vec![ruling.source],
            place: declared_at(&real.facts, line),
            ..from_finding(Part::Better, finding, false)
        }));
    }
    items
}

fn option_rulings(facts: &FactSet, line: &Subject) -> Vec<(String, Support)> {
    compat::option_support(facts, line)
        .value()
        .cloned()
        .unwrap_or_default()
}

fn declared_at(facts: &FactSet, line: &Subject) -> Option<String> {
    facts.value(line, &boot::WHERE)
}

fn fstype(facts: &FactSet, line: &Subject) -> String {
    facts
        .value(line, &boot::FSTYPE)
        .unwrap_or_else(|| "this file system".to_owned())
}

/// The consequence of a mount that fails at boot (systemd.mount(5), fstab(5)).
fn failure_consequence(facts: &FactSet, line: &Subject) -> &'static str {
    let options = facts.value(line, &boot::OPTIONS).unwrap_or_default();
    let has = |word: &str| options.iter().any(|option| option == word);
    match facts.value(line, &boot::AUTO) {
        _ if facts.value(line, &boot::POINT).as_deref() == Some("/") => {
            "It is the root file system: the machine may not boot."
        }
        Some(false) => "It is mounted by hand only, and that fails.",
        _ if has("nofail") => "The boot continues without it.",
        Some(true) if !has("_netdev") && !has("x-systemd.automount") => {
            "The boot stops in emergency mode."
        }
        _ => "",
    }
}
