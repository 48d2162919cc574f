use super::section::{Badge, Bullet, Detail, ItemRef};
use super::{RichText, Section, host, what_if, wording};
use crate::model::upgrade::{Upgrade, UpgradeItem, UpgradeSection};
use crate::{FactAssumption, Report, WhatIf};
use walwise_judge::rules::Level;
use walwise_model::facts::catalog::kernel;
use walwise_model::facts::{Choice, Scope};
use walwise_model::text::JoinText;
use walwise_model::version::Version;

pub(crate) fn upgrade_sections(real: &Report, assumed: &WhatIf, upgrade: &Upgrade) -> Vec<Section> {
    let mut sections = host::header_sections(real);
    let mut alone = Section::new_top("");
    alone.push_bullets(&[], what_if::assumption_bullets(&assumed.assumed));
    sections.push(alone);
    sections.extend(upgrade_change_sections(assumed, upgrade));
    sections
}

/// Like [`upgrade_sections`], but without the host and the assumed versions.
pub fn upgrade_change_sections(assumed: &WhatIf, upgrade: &Upgrade) -> Vec<Section> {
    let sentence = |says: String| Section::new_top("").with_sentence(says);
    let note = assumed.assumed.iter().find_map(downgrade_note);
    let mut sections: Vec<Section> = note.map(sentence).into_iter().collect();
    let before = sections.len();
    for &part in UpgradeSection::ALL {
        let items: Vec<&UpgradeItem> = upgrade
            .items
            .iter()
            .filter(|item| item.part == part)
            .collect();
        if !items.is_empty() {
            sections.push(outcome_section(part, &items));
        }
    }
    let told = sections.len() > before;
    sections.extend(unaffected_needs_sentence(upgrade).map(sentence));
    sections.push(sentence(upgrade_summary_sentence(upgrade, told)));
    sections
}

/// A note if the assumed kernel is older than the running one. The short version 6.12 is not older
/// than 6.12.5, a release of its series.
fn downgrade_note(one: &FactAssumption) -> Option<String> {
    if one.fact != kernel::RELEASE.name() {
        return None;
    }
    let (named, running) = (one.value.to_string(), one.really.value()?.to_string());
    let (then, now) = (Version::parse(&named)?, Version::parse(&running)?);
    let differs = (0..then.number_count().min(now.number_count()))
        .find(|&index| then.number(index) != now.number(index))?;
    (then.number(differs) < now.number(differs)).then(|| {
        format!("{named} is older than the running kernel, {running}: this is a downgrade.")
    })
}

fn outcome_section(part: UpgradeSection, items: &[&UpgradeItem]) -> Section {
    let mut section = Section::new_top(part.as_str());
    let is_minor = |item: &&&UpgradeItem| item.undecided && item.level < Level::Warning;
    let bullet = |item: &&UpgradeItem| {
        let sentences = [Some(&*item.because), item.fix.as_deref()]
            .into_iter()
            .flatten()
            .filter(|text| !text.is_empty());
        Bullet {
            details: sentences
                .map(|text| Detail::Sentence(text.into()))
                .collect(),
            item: ItemRef {
                key: format!("upgrade {part:?} {} {}", item.subject, item.what),
                // An improvement needs no fix.
                rules: item
                    .rule
                    .iter()
                    .filter(|_| !matches!(part, UpgradeSection::Better))
                    .cloned()
                    .collect(),
                subject: Some(item.subject.clone()),
                fact: None,
            },
            ..Bullet::with_badge(
                Badge::Level(item.level, item.undecided),
                upgrade_item_line(item),
            )
        }
    };
    section.push_bullets(
        &["level", "what"],
        items
            .iter()
            .filter(|item| !is_minor(item))
            .map(bullet)
            .collect(),
    );
    let minor: Vec<&str> = items
        .iter()
        .filter(is_minor)
        .filter_map(|item| item.rule.as_deref())
        .collect();
    if !minor.is_empty() {
        let says = RichText::plain(format!("and {} at lower levels: ", minor.len()));
        section.push_sentence(says.append_rich_text(RichText::comma_separated_codes(
            wording::distinct_texts(minor.into_iter()),
        )));
    }
    section
}

fn upgrade_item_line(item: &UpgradeItem) -> String {
    let what = &item.what;
    let already = if item.already
        && matches!(
            item.part,
            UpgradeSection::Blocker | UpgradeSection::LosesEffect | UpgradeSection::Deprecated
        ) {
        " (also on the running kernel)"
    } else {
        ""
    };
    match &item.place {
        Some(place) if what.starts_with(place.as_str()) => format!("{what}{already}"),
        Some(place) => format!("{place}: {}: {what}{already}", item.subject.name()),
        None if item.subject.scope() == Scope::Host => format!("{what}{already}"),
        None => format!(
            "{}: {what}{already}",
            wording::describe_subject(&item.subject)
        ),
    }
}

/// Limit on the names of unaffected needs; the JSON has all.
const MAX_NAMES: usize = 6;

fn unaffected_needs_sentence(upgrade: &Upgrade) -> Option<String> {
    let names: Vec<&str> = upgrade
        .needs
        .iter()
        .filter(|need| need.answer.works_unchanged())
        .map(|need| need.name.as_str())
        .collect();
    let count = names.len();
    let more = match count.saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(", and {more} more (`--format json` lists all)"),
    };
    let first = names.into_iter().take(MAX_NAMES).join_with(", ");
    let does = if count == 1 {
        "is unaffected"
    } else {
        "are unaffected"
    };
    (count > 0).then(|| {
        format!(
            "{count} of {} that the next boot needs {does}: {first}{more}.",
            wording::count_with_noun(upgrade.needs.len(), "item")
        )
    })
}

fn upgrade_summary_sentence(upgrade: &Upgrade, told: bool) -> String {
    if !told {
        return "No known changes.".to_owned();
    }
    let mut counts = [0; 4];
    for item in upgrade.problem_items_from_level(Level::Warning) {
        let [blockers, others, already, open] = &mut counts;
        *match item.part {
            _ if item.undecided => open,
            UpgradeSection::Blocker => blockers,
            UpgradeSection::Already => already,
            _ => others,
        } += 1;
    }
    let says = [
        "to fix before the upgrade",
        "to check before the upgrade",
        "already a problem today",
        "undecided",
    ];
    let says = counts.into_iter().zip(says).filter(|(count, _)| *count > 0);
    let says: Vec<String> = says
        .map(|(count, what)| format!("{} {what}", wording::count_with_noun(count, "item")))
        .collect();
    if says.is_empty() {
        return "No known obstacles to the upgrade.".to_owned();
    }
    format!("{}. Today's state: `walwise check`", says.join(", "))
}
