//! The report for monitoring systems and for automation: one form each, drawn from the report's value.
//!
//! Each form keeps the contract of its reader, to the exit code. What they share is here: what counts, how much of it is
//! named, and the words. Host, probe and clock are left to others, so a form of the same report is the same bytes.

pub mod nagios;
pub mod prometheus;

use super::exit::{self, FailCondition, ReportConcern};
use super::model::Report;
use crate::durability::{Standing, Verdict};
use crate::facts::Note;
use crate::facts::note::RulesNote;
use crate::rules::{Finding, Level, Outcome};

/// The largest number of findings that are named one by one; the rest is counted.
const MOST_FINDINGS: usize = 200;

/// The largest number of targets that are named one by one.
const MOST_TARGETS: usize = 100;

/// Whose rules an exit code follows, and whether prices of earlier runs are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// walwise's own exit codes, about this run alone.
    Ours,
    /// walwise's own exit codes; prices of earlier runs are told.
    Periodic,
    /// A plug-in of Nagios or Icinga (Monitoring Plugins Development Guidelines): 0 to 3.
    Nagios,
}

/// What a plug-in says of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nothing at a warning or above.
    Good,
    Warning,
    /// A critical finding, or a verdict that counts like one.
    Critical,
    /// Nothing found, but a critical rule is undecided, or rules that should be in force are not.
    Unknown,
}

impl Health {
    /// What a report comes to: critical before warning before unknown.
    pub fn from_report(report: &Report) -> Self {
        let of = |level, undecided| exit::concern(report, FailCondition { level, undecided });
        match of(Level::Warning, false) {
            ReportConcern::Found(Level::Critical) => return Self::Critical,
            ReportConcern::Found(Level::Warning | Level::Advice | Level::Option | Level::Keep) => {
                return Self::Warning;
            }
            ReportConcern::Undecided | ReportConcern::Nothing => {}
        }
        let is_open = of(Level::Critical, true) == ReportConcern::Undecided;
        if is_open || lacks_rules(report) { Self::Unknown } else { Self::Good }
    }

    /// The word of the plug-in guidelines.
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "OK",
            Self::Warning => "WARNING",
            Self::Critical => "CRITICAL",
            Self::Unknown => "UNKNOWN",
        }
    }
}

impl Protocol {
    /// The exit code that replaces walwise's own, if the protocol has one.
    pub fn code(self, health: Health) -> Option<u8> {
        match self {
            Self::Ours | Self::Periodic => None,
            Self::Nagios => Some(match health {
                Health::Good => 0,
                Health::Warning => 1,
                Health::Critical => 2,
                Health::Unknown => 3,
            }),
        }
    }

    /// The line for a run that failed; `None` where walwise's own error is the answer.
    pub fn failure(self, sentence: &str) -> Option<String> {
        match self {
            Self::Ours | Self::Periodic => None,
            Self::Nagios => Some(nagios::failure(sentence)),
        }
    }

    /// Whether prices of earlier runs are told.
    pub fn tells_earlier_prices(self) -> bool {
        !matches!(self, Self::Ours)
    }
}

/// The findings of a level that apply and count, in the report's order.
fn applying(report: &Report, level: Level) -> Vec<&Finding> {
    let counted = exit::counted(report).into_iter();
    counted.filter(|finding| finding.level == level && finding.outcome == Outcome::Applies).collect()
}

/// The verdicts that count as bad, the worst first.
fn doubtful(report: &Report) -> Vec<&Verdict> {
    let mut bad: Vec<&Verdict> =
        report.verdicts.iter().filter(|verdict| is_doubtful(verdict.standing)).collect();
    bad.sort_by_key(|verdict| verdict.standing);
    bad
}

/// Whether a verdict counts like a finding.
fn is_doubtful(standing: Standing) -> bool {
    exit::level(standing).is_some()
}

/// The word of a standing in labels and JSON: `at-risk`.
fn standing_word(standing: Standing) -> String {
    standing.word().replace(' ', "-")
}

/// Whether rules that should be in force are not.
fn lacks_rules(report: &Report) -> bool {
    report.warnings.iter().any(|note| matches!(note, Note::Rules(RulesNote::Loss { .. })))
}

/// Why the health of a host is unknown.
fn unknown(report: &Report) -> String {
    let open = match exit::undecided(report, Level::Critical) {
        0 => None,
        1 => Some("1 critical rule is undecided".to_owned()),
        more => Some(format!("{more} critical rules are undecided")),
    };
    let missing = lacks_rules(report).then(|| "rules are missing that should be in force".to_owned());
    open.into_iter().chain(missing).collect::<Vec<_>>().join(", ")
}

/// What is wrong, in a line: verdicts, then findings by their titles, at most `most` of each.
fn line(report: &Report, most: usize) -> String {
    let says = |verdict: &&Verdict| format!("{} {}", verdict.target.name(), verdict.standing.word());
    let mut parts = named(&doubtful(report), most, says);
    for level in [Level::Critical, Level::Warning] {
        let title = |finding: &&Finding| format!("{} ({})", finding.title, finding.rule);
        let found = applying(report, level);
        if !found.is_empty() {
            parts.push(format!(
                "{} {}: {}",
                found.len(),
                level.word(),
                named(&found, most, title).join(", ")
            ));
        }
    }
    if parts.is_empty() { "nothing critical, no warnings".to_owned() } else { parts.join("; ") }
}

fn named<T>(all: &[T], most: usize, says: impl Fn(&T) -> String) -> Vec<String> {
    let mut parts: Vec<String> = all.iter().take(most).map(says).collect();
    match all.len().saturating_sub(most) {
        0 => {}
        more => parts.push(format!("{more} more")),
    }
    parts
}

#[cfg(test)]
mod tests;
