//! The effects of the next kernel: the report of this machine beside that of the same machine with the next kernel,
//! distribution and tools assumed, as tasks for an administrator.
//!
//! Everything that the next boot needs has an answer. Every line that will be wrong is named, option by option, even if
//! it is wrong today; other subjects are named only if they change. The part of a finding follows from the facts in its
//! condition, so that rules can be added, switched off or given another level without a change here.

mod builder;
mod ground;
mod item;
mod boot;
mod weight;
mod need;
mod layer;
mod feature;
mod other;
mod parameter;
mod unknown;

use std::cmp::Reverse;

use super::model::Report;
use super::model::upgrade::{Answer, Item, Part, Upgrade};
use crate::facts::Subject;

impl Upgrade {
    /// The changes from the real machine to the assumed one.
    pub fn between(real: &Report, supposed: &Report) -> Self {
        let mut items = boot::items(real, supposed);
        items.extend(other::items(real, supposed));
        items.extend(feature::items(&real.facts, &supposed.facts));
        items.extend(unknown::items(real, supposed));
        items.extend(layer::items(&real.facts, &supposed.facts));
        items.extend(parameter::items(&supposed.facts));
        items.extend(need::raised(&supposed.facts, &items));
        // Nothing that fails counts as better.
        let fails = |item: &Item| item.answer == Some(Answer::Fails);
        let failing: Vec<Subject> =
            items.iter().filter(|item| fails(item)).map(|item| item.subject.clone()).collect();
        items.retain(|item| item.part != Part::Better || !failing.contains(&item.subject));
        items.sort_by(|a, b| place(a).cmp(&place(b)));
        items.dedup();
        let needs = need::needs(&supposed.facts, &items);
        Self { items, needs }
    }
}

/// The sort key of items: part, level, and the order of lines in a file.
fn place(item: &Item) -> impl Ord + '_ {
    let place = item.place.as_deref().unwrap_or_default();
    let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
    let line: u32 = line.parse().unwrap_or(0);
    (item.part, Reverse(item.level), item.undecided, file, line, &item.subject, &item.what, &item.rule)
}
