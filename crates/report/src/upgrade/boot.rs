use super::severity::{boot_options_test, is_root_line};
use super::{
    FindingIndex, finding_applies, finding_key, finding_tests_fact, index_findings,
    is_about_boot_line, upgrade_item_from_finding,
};
use crate::model::Report;
use crate::model::upgrade::{BootOutcome, UpgradeItem, UpgradeSection};
use walwise_judge::compat::{self, Effect, Support};
use walwise_judge::rules::{Finding, Level};
use walwise_model::facts::catalog::boot;
use walwise_model::facts::{FactSet, Key, Subject};

const OPTION_FACTS: [(&Key<Vec<String>>, Effect, UpgradeSection); 5] = [
    (&boot::REFUSED, Effect::Refused, UpgradeSection::Blocker),
    (
        &boot::NO_EFFECT,
        Effect::NoEffect,
        UpgradeSection::LosesEffect,
    ),
    (
        &boot::DEPRECATED,
        Effect::Deprecated,
        UpgradeSection::Deprecated,
    ),
    (&boot::UNDECIDED, Effect::Unknown, UpgradeSection::NotKnown),
    (
        &boot::DEFAULT_ANYWAY,
        Effect::DefaultAnyway,
        UpgradeSection::Needless,
    ),
];

const FAILURE_FACTS: [&str; 2] = [boot::REFUSED_TYPE.name(), boot::DEVICE.name()];

pub fn boot_line_finding_items(real: &Report, supposed: &Report) -> Vec<UpgradeItem> {
    let (before, now) = (index_findings(real), index_findings(supposed));
    let mut items = Vec::new();
    for finding in supposed
        .findings
        .iter()
        .filter(|finding| is_about_boot_line(finding) && finding_applies(finding))
    {
        match OPTION_FACTS
            .iter()
            .find(|(key, ..)| finding_tests_fact(finding, key.name()))
        {
            // `unknown_boot_line_property_items` reports every option with an unknown effect, so an
            // item here would be a duplicate.
            Some((_, effect, _)) if effect.is_unknown() => {}
            Some((key, effect, part)) => {
                items.extend(boot_option_items(
                    real, supposed, finding, key, *effect, *part,
                ));
            }
            None => items.extend(boot_line_item(&before, supposed, finding)),
        }
    }
    items.extend(improved_boot_line_items(real, supposed, &now));
    items
}

fn boot_option_items(
    real: &Report,
    supposed: &Report,
    finding: &Finding,
    key: &Key<Vec<String>>,
    effect: Effect,
    part: UpgradeSection,
) -> Vec<UpgradeItem> {
    let line = &finding.subject;
    let before = real.facts.value(line, key).unwrap_or_default();
    let found = supposed.facts.value(line, key).unwrap_or_default();
    let rulings = boot_options_support(&supposed.facts, line);
    let mut items: Vec<UpgradeItem> = Vec::new();
    for option in found {
        let already = before.contains(&option);
        // The option is redundant on both kernels, so nothing changes.
        if part == UpgradeSection::Needless && already {
            continue;
        }
        let (because, source) = rulings
            .iter()
            .find(|(of, ruling)| *of == option && ruling.effect == effect)
            .map(|(_, ruling)| (ruling.because.clone(), ruling.source.clone()))
            .unwrap_or_default();
        let then = if part == UpgradeSection::Blocker {
            mount_failure_consequence(&supposed.facts, line)
        } else {
            ""
        };
        items.push(UpgradeItem {
            what: option_effect_text(&supposed.facts, line, &option, effect),
            because: format!("{because} {then}").trim().to_owned(),
            sources: if source.is_empty() {
                finding.refs.to_vec()
            } else {
                vec![source]
            },
            place: supposed.facts.value(line, &boot::WHERE),
            answer: section_boot_outcome(part),
            ..upgrade_item_from_finding(part, finding, already)
        });
    }
    items
}

fn section_boot_outcome(part: UpgradeSection) -> Option<BootOutcome> {
    match part {
        UpgradeSection::Blocker => Some(BootOutcome::Fails),
        UpgradeSection::LosesEffect => Some(BootOutcome::WorksAndLoses),
        UpgradeSection::NotKnown => Some(BootOutcome::CannotBeTold),
        UpgradeSection::Deprecated
        | UpgradeSection::Changes
        | UpgradeSection::Already
        | UpgradeSection::Needless
        | UpgradeSection::Better => None,
    }
}

/// The effect of an option of a boot line on the file system that the line mounts.
pub fn option_effect_text(facts: &FactSet, line: &Subject, option: &str, effect: Effect) -> String {
    let fstype = facts.value(line, &boot::FSTYPE);
    let fstype = fstype.as_deref().unwrap_or("this file system");
    match effect {
        Effect::Refused => format!("{option} is refused by {fstype}"),
        Effect::NoEffect => format!("{option} has no effect on {fstype}"),
        Effect::Deprecated => format!("{option} is deprecated on {fstype}"),
        Effect::DefaultAnyway => format!("{option} is the default on {fstype}"),
        Effect::Ok => format!("{option} is accepted by {fstype}"),
        Effect::Unknown => format!("it is unknown whether {option} is accepted by {fstype}"),
    }
}

fn boot_line_item<'r>(
    before: &FindingIndex<'r>,
    supposed: &Report,
    finding: &'r Finding,
) -> Option<UpgradeItem> {
    let already = before
        .get(&finding_key(finding))
        .is_some_and(|before| finding_applies(before));
    let fails = FAILURE_FACTS
        .iter()
        .any(|fact| finding_tests_fact(finding, fact));
    let part = match (fails, already) {
        (true, _) => UpgradeSection::Blocker,
        (false, true) => UpgradeSection::Already,
        (false, false) => UpgradeSection::Changes,
    };
    // A finding below warning that already applies today is left out, because the upgrade does not
    // change it.
    if part == UpgradeSection::Already && finding.level < Level::Warning {
        return None;
    }
    Some(UpgradeItem {
        place: supposed.facts.value(&finding.subject, &boot::WHERE),
        answer: section_boot_outcome(part),
        ..upgrade_item_from_finding(part, finding, already)
    })
}

fn improved_boot_line_items<'r>(
    real: &'r Report,
    supposed: &Report,
    now: &FindingIndex<'r>,
) -> Vec<UpgradeItem> {
    let mut items = Vec::new();
    for finding in real
        .findings
        .iter()
        .filter(|finding| is_about_boot_line(finding) && finding_applies(finding))
    {
        let line = &finding.subject;
        let sorted = OPTION_FACTS
            .iter()
            .find(|(key, ..)| finding_tests_fact(finding, key.name()));
        let Some((key, _, part)) = sorted else {
            if !now.contains_key(&finding_key(finding)) {
                items.push(UpgradeItem {
                    place: real.facts.value(line, &boot::WHERE),
                    what: format!("no longer applies: {}", finding.title),
                    ..upgrade_item_from_finding(UpgradeSection::Better, finding, true)
                });
            }
            continue;
        };
        let was_wrong = real.facts.value(line, key).unwrap_or_default();
        let right = |(option, ruling): &(String, Support)| {
            was_wrong.contains(option) && ruling.effect.is_honoured()
        };
        // An option that stops being redundant is not an improvement.
        let then = if *part == UpgradeSection::Needless {
            Vec::new()
        } else {
            boot_options_support(&supposed.facts, line)
        };
        items.extend(
            then.into_iter()
                .filter(right)
                .map(|(option, ruling)| UpgradeItem {
                    what: option_effect_text(&supposed.facts, line, &option, ruling.effect),
                    because: ruling.because,
                    sources: vec![ruling.source],
                    place: real.facts.value(line, &boot::WHERE),
                    ..upgrade_item_from_finding(UpgradeSection::Better, finding, false)
                }),
        );
    }
    items
}

fn boot_options_support(facts: &FactSet, line: &Subject) -> Vec<(String, Support)> {
    compat::boot_options_support(facts, line)
        .value()
        .cloned()
        .unwrap_or_default()
}

/// Effect on the boot if the file system of this line cannot be mounted. Empty if an option such as
/// `_netdev` makes the outcome uncertain, or if automatic mounting is unknown (systemd.mount(5),
/// fstab(5)).
fn mount_failure_consequence(facts: &FactSet, line: &Subject) -> &'static str {
    let has = boot_options_test(facts, line);
    match facts.value(line, &boot::AUTO) {
        _ if is_root_line(facts, line) => "This is the root file system, so the host may not boot.",
        Some(false) => "The file system is not mounted at boot; a manual mount will fail.",
        _ if has("nofail") => "The boot continues without this file system.",
        Some(true) if !has("_netdev") && !has("x-systemd.automount") => {
            "The boot stops in emergency mode."
        }
        _ => "",
    }
}
