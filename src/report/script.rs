//! The plan as a POSIX shell script for review. walwise never runs it.
//!
//! The script does nothing until a person has edited it. For a free disk it creates the file system after another check
//! that the disk is the same and still free. For a mounted file system every step is a comment to be enabled by hand.
//! Text that is not plainly safe in a shell never leaves the comments.

mod remark;
mod existing;
mod apart;
mod new;
#[cfg(test)]
mod tests;

use super::{Report, TargetSummary, mkfs};
use crate::facts::catalog::target::TargetKind;
use crate::quote::{Command, comment};
use remark::commented;

/// The script for every target of a report. A free disk gets its part only when it is the single target: a script that
/// creates file systems on several disks invites mistakes. The error says why there is none: the disk holds, or may
/// hold, something.
pub fn render(report: &Report) -> Result<String, String> {
    let alone = report.targets.len() == 1;
    if let Some(target) = report.targets.first().filter(|_| alone) {
        refuse_what_is_not_free(target)?;
    }
    let mut parts = vec![head(report)];
    for target in &report.targets {
        parts.push(format!("\n# ==== {} ====\n", comment::inline(&target.title)));
        parts.push(match target.kind {
            TargetKind::Device if alone => new::part(report, target),
            TargetKind::Device => commented(&format!(
                "A free disk. For a script that makes its file system:\n  {}",
                Command::or_why(mkfs::asked_again(report, &target.target, " --format script"))
            )),
            TargetKind::Directory | TargetKind::Created => existing::part(report, target),
        });
    }
    let apart = apart::parts(report);
    let edited = !apart.is_empty() || report.targets.iter().any(|target| !target.kind.is_device());
    parts.extend(apart);
    if edited {
        parts.push(
            "\nprintf 'the commands that are no comments any more were run; nothing else was done\\n'\n"
                .to_owned(),
        );
    }
    parts.push("\nexit 0\n".to_owned());
    Ok(parts.concat())
}

/// No script creates a file system on a disk that holds, or may hold, something.
fn refuse_what_is_not_free(target: &TargetSummary) -> Result<(), String> {
    match target.content.as_ref().filter(|content| !content.may_be_given()) {
        Some(content) => Err(format!("{}: no script is made. {}", target.title, content.sentence())),
        None => Ok(()),
    }
}

fn head(report: &Report) -> String {
    let origin = if report.host.live {
        ""
    } else {
        "# It was made from a capture: run it only on the machine that the capture is of.\n"
    };
    format!(
        "#!/bin/sh\n\
         # Made by walwise {} on {}, {}.\n\
         {origin}\
         # For review: it does nothing before you have read it and edited the lines marked EDIT.\n\
         set -eu\n\
         PATH=/usr/sbin:/usr/bin:/sbin:/bin\n\
         LC_ALL=C\n\
         export PATH LC_ALL\n\
         \n\
         I_HAVE_READ_THIS=no     # EDIT: yes\n\
         \n\
         stop() {{\n    printf 'stopped: %s\\n' \"$1\" >&2\n    exit 1\n}}\n\
         \n\
         [ \"$I_HAVE_READ_THIS\" = yes ] || stop 'read this script, then set I_HAVE_READ_THIS=yes; nothing was done'\n\
         [ \"$(id -u)\" = 0 ] || stop 'this needs root; nothing was done'\n",
        comment::inline(&report.tool.version),
        comment::inline(&report.host.name),
        comment::inline(&report.when),
    )
}
