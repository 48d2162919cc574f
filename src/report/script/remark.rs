//! The lines of a script that do nothing.

use crate::quote::comment;
use crate::report::TargetSummary;

pub fn commented(text: &str) -> String {
    comment::lines(text.lines())
}

/// The text for a target without a plan.
pub fn nothing(target: &TargetSummary) -> String {
    format!("# Nothing is advised for {}.\n", comment::inline(&target.title))
}
