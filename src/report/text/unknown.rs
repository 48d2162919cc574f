//! What is not known: of a target what it needs, by what would help; of the host as a whole only how much.

use std::collections::BTreeMap;
use std::fmt;

use super::telling::Part;
use super::words;
use crate::facts::{Need, Remedy, Why};
use crate::report::model::is_gap;
use crate::report::needed;
use crate::report::{Report, TargetSummary};
use crate::text::page::Page;
use crate::workers;

/// How many facts are named before the rest is counted.
const NAMED: usize = 8;

/// Writes the facts that a target needs and that are not known, and how to learn them.
pub fn of_target(page: &mut Page, part: &Part<'_, '_>, target: &TargetSummary) {
    let groups = groups(part, target);
    let count: usize = groups.values().map(|group| group.count).sum();
    if count == 0 {
        return;
    }
    page.gap();
    page.para(2, &format!("Not known: {}", words::count(count, "fact")));
    for (help, facts) in groups.into_iter().rev() {
        let shown = facts.names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = facts.names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        page.para(4, &format!("{}: {help}", words::count(facts.count, "fact")));
        page.para(6, &format!("{shown}{more}"));
    }
}

/// Writes how many facts of the host are not known, whoever needs them.
pub fn count(page: &mut Page, report: &Report) {
    if let Some(says) = counted(report) {
        page.gap();
        page.para(0, &says);
    }
}

/// How many facts of the host are not known, in a sentence; nothing where none is.
pub fn counted(report: &Report) -> Option<String> {
    let subjects: Vec<_> = report.facts.all_subjects().collect();
    let parts = workers::in_pieces(&subjects, |subjects| {
        subjects.iter().flat_map(|subject| report.facts.rows_of(subject)).filter(is_gap).count()
    });
    let says = match parts.into_iter().sum() {
        0 => return None,
        1 => "1 fact of this host is not known; `walwise facts` names it with its reason.".to_owned(),
        count => {
            format!("{count} facts of this host are not known; `walwise facts` names each with its reason.")
        }
    };
    Some(says)
}

/// What would settle a fact that is not known.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Help {
    /// Nothing that is known.
    Nothing,
    /// Another capture: what tells it is not in this one.
    AnotherCapture,
    /// This.
    Remedy(Remedy),
}

impl Help {
    /// For a fact that a report lacks.
    fn with(need: &Need, report: &Report) -> Self {
        match (&need.remedy, need.why) {
            (Some(remedy), _) => Self::Remedy(remedy.clone()),
            (None, Why::NotCollected) if !report.host.live => Self::AnotherCapture,
            (
                None,
                Why::NotCollected
                | Why::Absent
                | Why::Denied
                | Why::TimedOut
                | Why::Malformed
                | Why::Ambiguous,
            ) => Self::Nothing,
        }
    }
}

impl fmt::Display for Help {
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
pub struct Group {
    /// How many.
    pub count: usize,
    /// Their names, each once.
    pub names: Vec<String>,
}

/// What a target needs, by what would help.
pub fn groups(part: &Part<'_, '_>, target: &TargetSummary) -> BTreeMap<Help, Group> {
    let mut groups: BTreeMap<Help, Group> = BTreeMap::new();
    for needed in needed::of_target(part.report, target, part.about(target).iter().copied()) {
        let group = groups.entry(Help::with(&needed.need, part.report)).or_default();
        group.count += 1;
        if !group.names.contains(&needed.need.fact) {
            group.names.push(needed.need.fact);
        }
    }
    groups
}
