//! Which facts changed: what somebody or something did, like changes of many things in one line; the rest is counted.

use std::collections::{BTreeMap, BTreeSet};

use super::named::named;
use crate::facts::{Nature, Subject};
use crate::report::model::difference::{Difference, FactChange, Shown};
use crate::report::telling::{Phrase, Section, words};

/// The facts that somebody or something changed; the others are counted.
pub fn sections(difference: &Difference) -> Vec<Section> {
    let of = |nature: &[Nature]| {
        let wanted = |change: &&FactChange| nature.contains(&change.nature);
        difference.facts.iter().filter(wanted).collect::<Vec<_>>()
    };
    let lasting = of(&[Nature::Lasting, Nature::Identity, Nature::Assigned]);
    let follow: Vec<_> =
        of(&[Nature::Concluded]).into_iter().filter(|change| change.values().is_some()).collect();
    let drift = of(&[Nature::Drifting]).len();
    let (both, one): (Vec<&FactChange>, Vec<&FactChange>) =
        lasting.into_iter().partition(|change| change.values().is_some());
    let mut changed = Section::part("Changed");
    for ((fact, change), subjects) in alike(&both) {
        let subjects = named(subjects.into_iter().map(words::subject));
        changed.say(Phrase::code(fact).and(format!(" of {subjects}: {change}")));
    }
    let names = |changes: &[&FactChange]| {
        let distinct: BTreeSet<&str> = changes.iter().map(|change| change.fact).collect();
        named(distinct.into_iter().map(str::to_owned))
    };
    let mut rest = Section::part("");
    if !follow.is_empty() {
        let because = if both.is_empty() { "Different" } else { "Consequences" };
        rest.say(format!("{because}: {}", names(&follow)));
    }
    let known = |change: &&FactChange| change.now.as_ref().is_some_and(|now| now.value().is_some());
    let (learnt, lost): (Vec<&FactChange>, Vec<&FactChange>) = one.into_iter().partition(known);
    for (what, changes) in [("Now unknown", lost), ("Known now", learnt)] {
        if !changes.is_empty() {
            let count = words::count(changes.len(), "fact");
            rest.say(format!("{what}: {count}: {}", names(&changes)));
        }
    }
    if drift > 0 {
        let count = words::count(drift, "fact");
        rest.say(format!("{count} that move by themselves, such as free space, are in the JSON only."));
    }
    [changed, rest].into_iter().filter_map(Section::unless_empty).collect()
}

/// Like changes of several things together, in the order of the first: the fact and its change in words, and of what.
pub fn alike<'c>(changes: &[&'c FactChange]) -> Vec<((&'static str, String), Vec<&'c Subject>)> {
    let mut groups: Vec<((&'static str, String), Vec<&Subject>)> = Vec::new();
    let mut at: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for change in changes {
        let Some((before, now)) = change.values() else { continue };
        let key = (change.fact, change_words(before, now));
        let place = *at.entry(key.clone()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, subjects)) => subjects.push(&change.subject),
            None => groups.push((key, vec![&change.subject])),
        }
    }
    groups
}

/// From what to what; of lists what came and what went.
fn change_words(before: &Shown, now: &Shown) -> String {
    let (Shown::Words(before), Shown::Words(now)) = (before, now) else {
        return format!("{} → {}", before.text(), now.text());
    };
    let without = |of: &[String], other: &[String]| {
        let more = of.iter().filter(|word| !other.contains(word));
        more.cloned().collect::<Vec<_>>().join(", ")
    };
    let (came, went) = (without(now, before), without(before, now));
    let parts = [("added", came), ("gone", went)].into_iter().filter(|(_, words)| !words.is_empty());
    let parts: Vec<String> = parts.map(|(what, words)| format!("{what} {words}")).collect();
    if parts.is_empty() { "the same words more or less often".to_owned() } else { parts.join("; ") }
}
