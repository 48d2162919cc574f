//! One line for Kubernetes' node-problem-detector, as a plug-in of its custom plug-in monitor.
//!
//! Only what can lose data is a problem of the node. The monitor cuts a message at `max_output_length`, 80 by default, so
//! the worst comes first.

use super::{Health, line, unknown};
use crate::report::model::Report;
use crate::text::escape_lines;

/// The longest line, in characters.
const LONGEST: usize = 400;

/// The line.
pub fn render(report: &Report) -> String {
    let says = match Health::from_report(report) {
        Health::Good | Health::Warning => "walwise: no critical finding".to_owned(),
        Health::Unknown => format!("walwise: {}", unknown(report)),
        Health::Critical => format!("walwise: {}", line(report, 1)),
    };
    format!("{}\n", says.chars().take(LONGEST).collect::<String>())
}

/// The line for a run that failed.
pub fn failure(sentence: &str) -> String {
    let says: String = escape_lines(sentence).lines().collect::<Vec<_>>().join(" ");
    format!("walwise: {}\n", says.chars().take(LONGEST).collect::<String>())
}
