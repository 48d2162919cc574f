//! Text to be pasted: lines for fstab, udev rules. This module has their common parts: the head, the
//! reasons as comments, and the lock.
//!
//! They show the plan's changes and decide nothing; correct settings are omitted. Text from a capture is commented out
//! completely, because a capture masks the identities of disks. So are changes that could lose data.

mod boot;
pub mod fstab;
#[cfg(test)]
mod testing;
pub mod udev;

use super::{Report, Step};
use crate::quote::comment;
use crate::rules::Risk;

/// Time, place and tool, the kind of document, and instructions.
fn head(report: &Report, what: &str, how: &[&str]) -> String {
    let mut lines = vec![format!(
        "walwise {} on {}, {}: {what}; for review, nothing was changed.",
        report.tool.version, report.host.name, report.when
    )];
    lines.extend(how.iter().map(|&line| line.to_owned()));
    if !report.host.live {
        lines.push(
            "Made from a capture, which masks what tells one disk from another: nothing in it can be pasted as it stands."
                .to_owned(),
        );
    }
    comments(&lines)
}

fn comments<S: AsRef<str>>(lines: &[S]) -> String {
    comment::lines(lines)
}

/// The heading of one part.
fn part(title: &str) -> String {
    format!("\n# ==== {} ====\n", comment::inline(title))
}

/// The reasons of a change: level, title and rules of each step.
fn reasons(steps: &[&Step]) -> String {
    let one = |step: &&Step| format!("{}: {} ({})", step.level.word(), step.title, step.rules.join(", "));
    comments(&steps.iter().map(one).collect::<Vec<_>>())
}

/// Lines to be pasted unchanged, or as comments if they are locked.
fn pasted<S: AsRef<str>>(report: &Report, steps: &[&Step], lines: &[S]) -> String {
    let loses = steps.iter().any(|step| step.advice.risk == Risk::DataLossIfWrong);
    if loses {
        let warning = "!!!! COMMITTED DATA MAY BE LOST if a fact is wrong !!!!";
        return comments(&[warning]) + &comments(lines);
    }
    if !report.host.live {
        return comments(lines);
    }
    lines.iter().flat_map(|line| [comment::inline(line.as_ref()), "\n".to_owned()]).collect()
}

/// Why there is nothing to paste.
fn empty(why: &[String]) -> String {
    comments(&["Nothing is to be changed here:"]) + &comments(why)
}
