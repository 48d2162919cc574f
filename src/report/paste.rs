//! Text to be pasted: lines for fstab, mount units, udev rules. This module has their common parts: the head, the
//! reasons as comments, and the lock.
//!
//! They show the plan's changes and decide nothing; correct settings are omitted. Text from a capture is commented out
//! completely, because a capture masks the identities of disks. So are changes that could lose data.

mod boot;
pub mod fstab;
#[cfg(test)]
mod testing;
pub mod udev;
pub mod unit;

use self::boot::BootMountEdit;
use super::{Plan, Report, Step, TargetSummary, mkfs};
use crate::quote::{Command, comment};
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

/// Lines as comments.
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

/// A document about boot mounts: each line to be changed, then each free disk, by these functions.
fn of_boot(
    report: &Report,
    head: String,
    format: &'static str,
    changed: fn(&Report, &BootMountEdit<'_>) -> Option<String>,
    fresh: fn(&Report, &TargetSummary) -> String,
) -> String {
    let lines = boot::lines(report);
    let mut parts: Vec<String> = lines.iter().filter_map(|line| changed(report, line)).collect();
    let alone = report.targets.len() == 1;
    let told = |disk: &TargetSummary| {
        if alone { fresh(report, disk) } else { part(&disk.title) + &ask_alone(report, disk, format) }
    };
    parts.extend(report.targets.iter().filter(|target| target.kind.is_device()).map(told));
    let bare = boot::not_mounted_at_boot(report);
    if parts.is_empty() && (bare.is_empty() || !lines.is_empty()) {
        parts.push("\n".to_owned() + &empty(&boot::why_not(report, &lines)));
    }
    for missing in bare {
        parts.push(part(&missing.title) + &comments(&missing.says));
    }
    head + &parts.concat()
}

/// For a free disk among other targets: the command to ask about it alone, because disks are handled one at a time.
fn ask_alone(report: &Report, target: &TargetSummary, format: &'static str) -> String {
    comments(&[
        "A free disk. For what belongs to the file system that is made on it:".to_owned(),
        format!("  {}", Command::or_why(mkfs::asked_again(report, &target.target, format))),
    ])
}

/// For a free disk: why it is this file system, where the user wants it, and the steps before it exists, up to the
/// command that prints the UUID.
fn not_before(report: &Report, target: &TargetSummary) -> String {
    let wanted = report.plan(&target.target).and_then(Plan::wish);
    let script = Command::or_why(mkfs::asked_again(report, &target.target, " --format script"));
    let uuid = Command::or_why(Command::new("blkid -p -s UUID -o value ").value(target.target.name()));
    let steps = [format!("Not before the file system is made ({script}). Put in what"), format!("  {uuid}")];
    comments(&wanted.into_iter().chain(steps).collect::<Vec<_>>())
}

/// Why there is nothing to paste.
fn empty(why: &[String]) -> String {
    comments(&["Nothing is to be changed here:"]) + &comments(why)
}
