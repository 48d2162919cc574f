//! The intended lines of /etc/fstab, each below the present one; nothing for correct lines.
//!
//! Device, mount point, type and the two trailing numbers stay as they are; only options change. An incompletely kept
//! line (it may hold a password) is described as a change, never as a line. A free disk gets a line too, behind a #,
//! with placeholders that no boot can mistake for a device.

use super::boot::{self, BootMountEdit, DeclarationSite};
use super::{comments, empty, head, part, pasted, reasons};
use crate::facts::Key;
use crate::facts::catalog::boot::{DUMP_AND_PASS, POINT, SOURCE, WRITTEN_TYPE};
use crate::quote::Command;
use crate::quote::fstab::field;
use crate::report::{Plan, Report, TargetSummary, mkfs};
use crate::text::raw;

/// The lines for every target of a report.
pub fn render(report: &Report) -> String {
    let how = [
        "Put each line in place of the one that is shown above it, in a copy of the file; then",
        "  findmnt --verify --tab-file COPY",
        "and when the copy is in place: systemctl daemon-reload. What is mounted is unchanged until remounted.",
    ];
    let lines = boot::lines(report);
    let mut parts: Vec<String> = lines.iter().filter_map(|line| changed(report, line)).collect();
    let alone = report.targets.len() == 1;
    let disk = |disk: &TargetSummary| {
        if alone { fresh(report, disk) } else { part(&disk.title) + &ask_alone(report, disk) }
    };
    parts.extend(report.targets.iter().filter(|target| target.kind.is_device()).map(disk));
    let bare = boot::not_mounted_at_boot(report);
    if parts.is_empty() && (bare.is_empty() || !lines.is_empty()) {
        parts.push("\n".to_owned() + &empty(&boot::why_not(report, &lines)));
    }
    for missing in bare {
        parts.push(part(&missing.title) + &comments(&missing.says));
    }
    head(report, "lines for /etc/fstab", &how) + &parts.concat()
}

/// For a free disk among other targets: the command to ask about it alone, because disks are handled one at a time.
fn ask_alone(report: &Report, target: &TargetSummary) -> String {
    comments(&[
        "A free disk. For what belongs to the file system that is made on it:".to_owned(),
        format!("  {}", Command::or_why(mkfs::asked_again(report, &target.target, " --format fstab"))),
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

/// The change to one line; `None` when it is right.
fn changed(report: &Report, line: &BootMountEdit<'_>) -> Option<String> {
    let becomes = line.becomes();
    if becomes.is_none() && line.notes.is_empty() {
        return None;
    }
    let mut out = part(&line.shown) + &reasons(&line.steps) + &comments(&line.notes);
    let Some(becomes) = becomes else { return Some(out) };
    let now = line.written();
    let whole = line.is_whole(report);
    match &line.place {
        DeclarationSite::Fstab => match (whole, written(report, line, &now), written(report, line, &becomes))
        {
            (true, Some(now), Some(becomes)) => {
                out += &comments(&[format!("now: {now}")]);
                out += &pasted(report, &line.steps, &[becomes]);
            }
            _ => {
                out += &comments(&[
                    "Not all of this line is known, so it is not rewritten. In its fourth field:".to_owned(),
                    format!("  {}", line.edits()),
                ]);
            }
        },
        DeclarationSite::Unit(path) => {
            out += &comments(&[
                format!("Its options stand in {path}, in Options=:"),
                format!("  {}", line.edits()),
            ]);
        }
        DeclarationSite::Other => {
            out += &comments(&[
                "Not a line of fstab: change it in the boot loader's configuration.".to_owned(),
                format!("now:     {now}"),
                format!("becomes: {becomes}"),
            ]);
        }
    }
    Some(out)
}

/// The whole line with these options; `None` when part of it is unknown.
fn written(report: &Report, line: &BootMountEdit<'_>, options: &str) -> Option<String> {
    let text = |key: &Key<String>| report.facts.value(line.subject, key);
    let parts = [text(&SOURCE)?, text(&POINT)?, text(&WRITTEN_TYPE)?, options.to_owned()];
    let mut fields: Vec<String> = parts.iter().map(|part| field(&raw(part))).collect::<Option<_>>()?;
    fields.push(text(&DUMP_AND_PASS)?);
    Some(fields.join(" ").trim_end().to_owned())
}

/// The line for a file system that does not exist yet.
fn fresh(report: &Report, target: &TargetSummary) -> String {
    let steps = report.plan(&target.target).map(|plan| plan.steps.as_slice()).unwrap_or_default();
    let chosen = match mkfs::chosen(steps) {
        Ok(chosen) => chosen,
        Err(why) => return part(&target.title) + &comments(&[format!("No line: {why}.")]),
    };
    let mkfs::Chosen { fstype, pass, mount } = chosen;
    part(&target.title)
        + &not_before(report, target)
        + &comments(&[
            "prints and the mount point, then remove the #.".to_owned(),
            format!("UUID=EDIT-THE-UUID /EDIT/THE/MOUNT/POINT {fstype} {mount} 0 {pass}"),
        ])
}

#[cfg(test)]
mod tests;
