//! What is not known, by what would help.

use std::collections::BTreeMap;
use std::fmt;

use super::words;
use crate::facts::{Reading, Remedy, Subject, Value, Why};
use crate::report::Report;
use crate::report::model::is_gap;
use crate::text::page::Page;
use crate::workers;

/// How many facts are named before the rest is counted.
const NAMED: usize = 8;

/// Writes the count of unknown facts and how to learn them.
pub fn write(page: &mut Page, report: &Report) {
    let groups = groups(report);
    let count: usize = groups.values().map(|group| group.count).sum();
    if count == 0 {
        return;
    }
    page.heading(&format!(
        "Not known: {}; `walwise facts` names each with its reason",
        words::count(count, "fact")
    ));
    for (help, facts) in groups.into_iter().rev() {
        let shown = facts.names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = facts.names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        page.para(2, &format!("{}: {help}", words::count(facts.count, "fact")));
        page.para(4, &format!("{shown}{more}"));
    }
}

/// What would settle a fact that is not known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Help<'r> {
    /// Nothing that is known.
    Nothing,
    /// Another capture: what tells it is not in this one.
    AnotherCapture,
    /// This.
    Remedy(&'r Remedy),
}

impl<'r> Help<'r> {
    /// For a reading of a report; `None` where it is known.
    pub fn with(reading: &'r Reading<Value>, report: &Report) -> Option<Self> {
        match reading {
            Reading::Known { .. } => None,
            Reading::Unknown { remedy: Some(remedy), .. } => Some(Self::Remedy(remedy)),
            Reading::Unknown { why: Why::NotCollected, .. } if !report.host.live => {
                Some(Self::AnotherCapture)
            }
            Reading::Unknown { .. } => Some(Self::Nothing),
        }
    }
}

impl fmt::Display for Help<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("no remedy is known"),
            Self::AnotherCapture => {
                f.write_str("capture the host anew: what tells them is not in this capture")
            }
            Self::Remedy(remedy) => remedy.fmt(f),
        }
    }
}

/// Unknown facts with the same remedy.
#[derive(Default)]
struct Group {
    count: usize,
    /// Their names, each once.
    names: Vec<&'static str>,
}

impl Group {
    fn name(&mut self, name: &'static str) {
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }
}

fn groups(report: &Report) -> BTreeMap<Help<'_>, Group> {
    let subjects: Vec<&Subject> = report.facts.all_subjects().collect();
    let parts = workers::in_pieces(&subjects, |subjects| {
        let mut groups: BTreeMap<Help<'_>, Group> = BTreeMap::new();
        for row in subjects.iter().flat_map(|subject| report.facts.rows_of(subject)).filter(is_gap) {
            if let Some(help) = Help::with(row.reading, report) {
                let group = groups.entry(help).or_default();
                group.count += 1;
                group.name(row.fact);
            }
        }
        groups
    });
    let mut whole: BTreeMap<Help<'_>, Group> = BTreeMap::new();
    for (help, part) in parts.into_iter().flatten() {
        let group = whole.entry(help).or_default();
        group.count += part.count;
        part.names.into_iter().for_each(|name| group.name(name));
    }
    whole
}
