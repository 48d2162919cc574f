//! The lines of /etc/fstab as they should be, each below the present one; nothing for lines that are right.
//!
//! Device, mount point, type and the two numbers at the end stay as they are written; only options change. A line of which
//! something was not kept when it was read (what may be a password) is told as a change and never as a line. The
//! surprise: for a blank disk there is a line too, behind a #, with words in it that no boot can mistake for a device.

use std::fmt::Write as _;

use super::boot::{Line, Place};
use super::{comments, head, of_boot, part, pasted, reasons};
use crate::facts::Key;
use crate::facts::catalog::boot::{DUMP_AND_PASS, POINT, SOURCE, WRITTEN_TYPE};
use crate::report::{Report, TargetSummary, mkfs};
use crate::text;

/// The lines for every target of a report.
pub fn render(report: &Report) -> String {
    let how = [
        "Put each line in place of the one that is shown above it, in a copy of the file; then",
        "  findmnt --verify --tab-file COPY",
        "and when the copy is in place: systemctl daemon-reload. What is mounted stays as it is until it is mounted anew.",
    ];
    of_boot(report, head(report, "lines for /etc/fstab", &how), "fstab", changed, fresh)
}

/// What is to be done to one line; `None` when it is right.
fn changed(report: &Report, line: &Line<'_>) -> Option<String> {
    let becomes = line.becomes();
    if becomes.is_none() && line.notes.is_empty() {
        return None;
    }
    let mut out = part(&line.shown) + &reasons(&line.steps) + &comments(&line.notes);
    let Some(becomes) = becomes else { return Some(out) };
    let now = line.written();
    let whole = line.is_whole(report);
    match &line.place {
        Place::Fstab => match (whole, written(report, line, &now), written(report, line, &becomes)) {
            (true, Some(now), Some(becomes)) => {
                out += &comments(&[format!("now: {now}")]);
                out += &pasted(report, &line.steps, &[becomes]);
            }
            _ => {
                out += &comments(&[
                    "Not all of this line is known, so it is not written anew. In its fourth field:"
                        .to_owned(),
                    format!("  {}", line.edits()),
                ]);
            }
        },
        Place::Unit(path) => {
            out += &comments(&[
                format!("Its options stand in {path}: --format unit, or by hand"),
                format!("  {}", line.edits()),
            ]);
        }
        Place::Other => {
            out += &comments(&[
                "No line of fstab: change it in the configuration of the boot loader.".to_owned(),
                format!("now:     {now}"),
                format!("becomes: {becomes}"),
            ]);
        }
    }
    Some(out)
}

/// The whole line with these options; `None` when a part of it is not known.
fn written(report: &Report, line: &Line<'_>, options: &str) -> Option<String> {
    let text = |key: &Key<String>| report.facts.value(line.subject, key);
    let parts = [text(&SOURCE)?, text(&POINT)?, text(&WRITTEN_TYPE)?, options.to_owned()];
    let mut fields: Vec<String> = parts.iter().map(|part| field(&text::raw(part))).collect::<Option<_>>()?;
    fields.push(text(&DUMP_AND_PASS)?);
    Some(fields.join(" ").trim_end().to_owned())
}

/// Bytes as a field: blanks, backslashes and all that cannot be shown as octal escapes (fstab(5); libmount decodes every
/// one of them). `None` for nothing at all, which no line can hold.
pub fn field(raw: &[u8]) -> Option<String> {
    if raw.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(raw.len());
    let octal = |out: &mut String, bytes: &[u8]| {
        for byte in bytes {
            let _ = write!(out, "\\{byte:03o}");
        }
    };
    for chunk in raw.utf8_chunks() {
        for c in chunk.valid().chars() {
            // A # at the beginning would make a comment of the line.
            let hash = c == '#' && out.is_empty();
            if c == '\\' || hash || c.is_whitespace() || text::is_treacherous(c) {
                octal(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                out.push(c);
            }
        }
        octal(&mut out, chunk.invalid());
    }
    Some(out)
}

/// The line for a file system that is yet to be made.
fn fresh(report: &Report, target: &TargetSummary) -> String {
    let steps = report.plan(&target.target).map(|plan| plan.steps.as_slice()).unwrap_or_default();
    let chosen = match mkfs::chosen(steps) {
        Ok(chosen) => chosen,
        Err(why) => return part(&target.title) + &comments(&[format!("No line: {why}.")]),
    };
    let mkfs::Chosen { fstype, pass, mount } = chosen;
    let device = target.target.name();
    part(&target.title)
        + &comments(&[
            format!(
                "Not before the file system is made (walwise check {device} --format script). Put in what"
            ),
            format!("  blkid -p -s UUID -o value {device}"),
            "prints and the mount point, then take out the #.".to_owned(),
            format!("UUID=EDIT-THE-UUID /EDIT/THE/MOUNT/POINT {fstype} {mount} 0 {pass}"),
        ])
}

#[cfg(test)]
mod tests;
