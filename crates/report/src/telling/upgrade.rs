//! What the next kernel changes, as text: blockers first, each thing once with its level.

use super::section::{Bullet, Detail, Mark};
use super::{Phrase, Section, host, what_if, words};
use crate::model::upgrade::{Item, Part, Upgrade};
use crate::{Assumed, Report, WhatIf};
use walwise_judge::rules::Level;
use walwise_model::facts::Scope;
use walwise_model::facts::catalog::kernel;
use walwise_model::version::Version;

pub fn sections(real: &Report, assumed: &WhatIf, upgrade: &Upgrade) -> Vec<Section> {
    let mut sections = host::head(real);
    let mut alone = Section::top("");
    alone.bullets(&[], what_if::assumed(&assumed.assumed));
    sections.push(alone);
    let sentence = |says: String| Section::top("").saying(says);
    sections.extend(assumed.assumed.iter().find_map(older).map(sentence));
    let before = sections.len();
    for part in Part::ALL {
        let items: Vec<&Item> = upgrade
            .items
            .iter()
            .filter(|item| item.part == part)
            .collect();
        if !items.is_empty() {
            sections.push(section(part, &items));
        }
    }
    let told = sections.len() > before;
    sections.extend(works(upgrade).map(sentence));
    sections.push(sentence(ending(upgrade, told)));
    sections
}

/// That the kernel which was named is no next one. A version that says less, such as 6.12, is not
/// older than one of its line.
fn older(one: &Assumed) -> Option<String> {
    if one.fact != kernel::RELEASE.name() {
        return None;
    }
    let (named, running) = (one.value.to_string(), one.really.value()?.to_string());
    let (then, now) = (Version::parse(&named)?, Version::parse(&running)?);
    let differs = (0..then.depth().min(now.depth()))
        .find(|&index| then.number(index) != now.number(index))?;
    (then.number(differs) < now.number(differs)).then(|| {
        format!("{named} is older than the running kernel, {running}: this is a downgrade.")
    })
}

fn section(part: Part, items: &[&Item]) -> Section {
    let mut section = Section::top(part.words());
    let is_minor = |item: &&&Item| item.undecided && item.level < Level::Warning;
    let bullet = |item: &&Item| {
        let because = (!item.because.is_empty()).then(|| Detail::Sentence((&*item.because).into()));
        let beneath = because.into_iter().collect();
        Bullet {
            beneath,
            ..Bullet::marked(Mark::Level(item.level, item.undecided), line(item))
        }
    };
    section.bullets(
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
        let says = Phrase::plain(format!("and {} at lower levels: ", minor.len()));
        section.say(says.join(Phrase::codes(words::distinct(minor.into_iter()))));
    }
    section
}

/// Where, of what, and what; a rule that speaks of a line has the place in its title.
fn line(item: &Item) -> String {
    let what = &item.what;
    let already = if item.already
        && matches!(
            item.part,
            Part::Blocker | Part::LosesEffect | Part::Deprecated
        ) {
        " (as it is with the running kernel)"
    } else {
        ""
    };
    match &item.place {
        Some(place) if what.starts_with(place.as_str()) => format!("{what}{already}"),
        Some(place) => format!("{place}: {}: {what}{already}", item.subject.name()),
        None if item.subject.scope() == Scope::Host => format!("{what}{already}"),
        None => format!("{}: {what}{already}", words::subject(&item.subject)),
    }
}

/// How many names of what works are told; all stand in the JSON.
const NAMES: usize = 6;

/// What the next boot needs and works as it is, in a sentence; nothing where nothing is known to.
fn works(upgrade: &Upgrade) -> Option<String> {
    let all = upgrade.needs.len();
    let names: Vec<&str> = upgrade
        .needs
        .iter()
        .filter(|need| need.answer.is_works())
        .map(|need| need.name.as_str())
        .collect();
    let count = names.len();
    let more = count.saturating_sub(NAMES);
    let first = names.get(..count - more)?.join(", ");
    let more = if more > 0 {
        format!(", and {more} more (`--format json` has all)")
    } else {
        String::new()
    };
    let does = if count == 1 {
        "works as it is"
    } else {
        "work as they are"
    };
    (count > 0).then(|| {
        format!(
            "{count} of {} that the next boot needs {does}: {first}{more}.",
            words::count(all, "thing")
        )
    })
}

fn ending(upgrade: &Upgrade, told: bool) -> String {
    if !told {
        return "No known changes.".to_owned();
    }
    let counted: Vec<&Item> = upgrade.counted(Level::Warning).collect();
    let decided = counted.iter().filter(|item| !item.undecided);
    let blockers = decided
        .clone()
        .filter(|item| item.part == Part::Blocker)
        .count();
    let already = decided
        .clone()
        .filter(|item| item.part == Part::Already)
        .count();
    let others = decided.count() - blockers - already;
    let open = counted.iter().filter(|item| item.undecided).count();
    let says = [
        (blockers, "to fix before the upgrade"),
        (others, "to look at before the upgrade"),
        (already, "wrong as it is today"),
        (open, "that cannot be told"),
    ];
    let says = says.into_iter().filter(|(count, _)| *count > 0);
    let says: Vec<String> = says
        .map(|(count, what)| format!("{} {what}", words::count(count, "thing")))
        .collect();
    if says.is_empty() {
        return "No known obstacles to the upgrade.".to_owned();
    }
    format!(
        "{}; `walwise check` has everything about the machine as it is.",
        says.join(", ")
    )
}
