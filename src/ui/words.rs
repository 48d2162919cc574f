//! Words for the rows of a screen, where the report's own sentences are too long. Everything else is said in the words of
//! the text report ([`crate::report::telling::words`]).

use crate::facts::{Need, Subject};
use crate::rules::{Finding, Outcome};
use crate::ui::widgets::text::fit_end;

/// How much a finding matters; with a question mark where it is not known whether it holds.
pub fn level(finding: &Finding) -> String {
    let doubt = if matches!(finding.outcome, Outcome::Undecided { .. }) { "?" } else { "" };
    format!("{}{doubt}", finding.level.word())
}

/// The most columns that a subject takes in a row.
const SUBJECT: usize = 24;

/// A subject without its kind; of a long path the end.
pub fn subject(subject: &Subject) -> String {
    if subject.name().is_empty() { subject.to_string() } else { fit_end(subject.name(), SUBJECT) }
}

/// The remedy of a missing fact; empty without one.
pub fn remedy(need: &Need) -> String {
    need.remedy.as_ref().map(ToString::to_string).unwrap_or_default()
}
