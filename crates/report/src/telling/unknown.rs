//! What is not known: of a target what it needs, by what would help; of the host as a whole only
//! how much.

use std::collections::BTreeMap;
use std::fmt;

use super::once::Chapter;
use super::section::{Bullet, Detail, Mark};
use super::{Phrase, Section, words};
use crate::model::is_gap;
use crate::needed;
use crate::{Report, TargetSummary};
use walwise_model::facts::{Need, Remedy, Why};
use walwise_model::quote::Command;
use walwise_model::workers;

/// How many facts are named before the rest is counted.
const NAMED: usize = 8;

/// What its heading begins with.
const NOT_KNOWN: &str = "Not known";

/// The facts that a target needs and that are not known, and how to learn them.
pub fn of_target(chapter: &Chapter<'_, '_>, target: &TargetSummary) -> Option<Section> {
    let needs = needs(chapter, target);
    let bullet = |(help, group): (Help, RemedyGroup<'_>)| {
        let more = group.names.len().saturating_sub(NAMED);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let names = Phrase::codes(group.names.iter().take(NAMED).copied()).and(more);
        Bullet {
            says: format!("{}: {help}", words::count(group.count, "fact")).into(),
            beneath: vec![Detail::Sentence(names)],
            ..Bullet::default()
        }
    };
    let mut section = Section::part(format!(
        "{NOT_KNOWN}: {}",
        words::count(needs.len(), "fact")
    ));
    section.bullets(
        &["facts"],
        groups(chapter.report, &needs)
            .into_iter()
            .rev()
            .map(bullet)
            .collect(),
    );
    section.unless_empty()
}

/// How many facts a target needs and nobody knows, and what would tell most of them, in a line.
pub fn most(chapter: &Chapter<'_, '_>, target: &TargetSummary) -> Bullet {
    let needs = needs(chapter, target);
    let says = match needs.len() {
        0 => NOTHING.into(),
        count => match in_short(chapter.report, &needs) {
            Some(says) => says.into(),
            None => Phrase::plain(words::count(count, "fact")).and_further(NOT_KNOWN),
        },
    };
    Bullet::marked(Mark::Remark("Unknown"), says)
}

/// Said where no fact is missing.
pub const NOTHING: &str = "nothing relevant";

/// How many facts are missing, and what would tell most of them; nothing where none can be told.
pub fn in_short(report: &Report, needs: &[Need]) -> Option<String> {
    let groups = groups(report, needs)
        .into_iter()
        .filter(|(help, _)| *help != Help::Nothing);
    let (help, RemedyGroup { count, .. }) = groups.max_by_key(|(_, group)| group.count)?;
    let most = if count == needs.len() {
        String::new()
    } else {
        format!(", {count} of them")
    };
    Some(format!(
        "{}{most}: {help}",
        words::count(needs.len(), "fact")
    ))
}

/// How many facts of the host are not known, whoever needs them.
pub fn of_host(report: &Report) -> Option<Section> {
    counted(report).map(|says| Section::top("").saying(says))
}

/// How many facts of the host are not known, in a sentence; nothing where none is.
fn counted(report: &Report) -> Option<Phrase> {
    let subjects: Vec<_> = report.facts.all_subjects().collect();
    let parts = workers::in_pieces(&subjects, |subjects| {
        subjects
            .iter()
            .flat_map(|subject| report.facts.rows_of(subject))
            .filter(is_gap)
            .count()
    });
    let (says, names) = match parts.into_iter().sum() {
        0 => return None,
        1 => (
            "1 fact of this host is not known; ".to_owned(),
            " names it with its reason.",
        ),
        count => (
            format!("{count} facts of this host are not known; "),
            " names each with its reason.",
        ),
    };
    let facts = report.host.command(Command::new("walwise facts"))?;
    Some(Phrase::plain(says).and_command(facts.as_str()).and(names))
}

/// What would settle a fact that is not known.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Help {
    Nothing,
    /// Another capture: what tells it is not in this one.
    AnotherCapture,
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
            Self::AnotherCapture => f.write_str("not in this capture: capture the host again"),
            Self::Remedy(remedy) => remedy.fmt(f),
        }
    }
}

/// Unknown facts with the same remedy.
#[derive(Default)]
struct RemedyGroup<'n> {
    count: usize,
    /// Their names, each once.
    names: Vec<&'n str>,
}

/// What a target needs.
fn needs(chapter: &Chapter<'_, '_>, target: &TargetSummary) -> Vec<Need> {
    let about = chapter.about(target).iter().map(|(_, finding)| *finding);
    needed::of_target(chapter.report, target, about)
        .into_iter()
        .map(|needed| needed.need)
        .collect()
}

/// What is missing, by what would help.
fn groups<'n>(report: &Report, needs: &'n [Need]) -> BTreeMap<Help, RemedyGroup<'n>> {
    let mut groups: BTreeMap<Help, RemedyGroup<'n>> = BTreeMap::new();
    for need in needs {
        let group = groups.entry(Help::with(need, report)).or_default();
        group.count += 1;
        if !group.names.contains(&&*need.fact) {
            group.names.push(&need.fact);
        }
    }
    groups
}
