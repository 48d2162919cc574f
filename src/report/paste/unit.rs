//! The same as systemd.mount(5) units: a drop-in for an existing unit; for a single requested target also a whole unit
//! in place of its line of fstab, or for the file system of a free disk.
//!
//! A value that no unit can hold (a line break, an overlong name) is reported instead. Options that only fstab knows
//! (`nofail`, `x-systemd.…`) keep a line in fstab, because systemd's generator turns them into other settings than
//! options.

use super::boot::{BootMountEdit, DeclarationSite};
use super::{comments, head, not_before, of_boot, part, pasted, reasons};
use crate::facts::Key;
use crate::facts::catalog::boot::{DUMP_AND_PASS, POINT, SOURCE, WRITTEN_TYPE};
use crate::quote::{Command, systemd, udev};
use crate::report::{Report, TargetSummary, mkfs, options};
use crate::text;

/// The directory of an administrator's units.
const DIRECTORY: &str = "/etc/systemd/system";

/// The units for every target of a report.
pub fn render(report: &Report) -> String {
    let how = [
        "Each part is the file that is named above it; a drop-in of another name that sorts behind it wins over it. Then",
        "  systemctl daemon-reload && systemd-analyze verify UNIT",
        "What is mounted is unchanged until remounted.",
    ];
    of_boot(report, head(report, "systemd mount units", &how), " --format unit", changed, fresh)
}

/// The change to one line; `None` when it is right.
fn changed(report: &Report, line: &BootMountEdit<'_>) -> Option<String> {
    let becomes = line.becomes();
    if becomes.is_none() && line.notes.is_empty() {
        return None;
    }
    let about = reasons(&line.steps) + &comments(&line.notes);
    let Some(becomes) = becomes else { return Some(part(&line.shown) + &about) };
    let (title, body) = match &line.place {
        DeclarationSite::Unit(path) => drop_in(report, line, path, &becomes),
        DeclarationSite::Fstab if report.asked.is_some() => match instead(report, line, &becomes) {
            Ok(Unit { name, text }) => {
                let note = format!("Replaces {}, which is to be removed.", line.shown);
                (format!("{DIRECTORY}/{name}"), comments(&[note]) + &pasted(report, &line.steps, &text))
            }
            Err(why) => (line.shown.clone(), comments(&[format!("No unit: {why}. Use --format fstab.")])),
        },
        DeclarationSite::Fstab => {
            let ask = Command::or_why(Command::check(line.subject.name(), " --format unit"));
            let says = "A line of fstab: --format fstab, or for a unit in its place".to_owned();
            (line.shown.clone(), comments(&[says, format!("  {ask}")]))
        }
        DeclarationSite::Other => {
            let says = format!("No unit: change {} in the configuration of the boot loader.", line.shown);
            (line.shown.clone(), comments(&[says, format!("  {}", line.edits())]))
        }
    };
    Some(part(&title) + &about + &body)
}

/// The drop-in that gives a unit its options, with the file that it is.
fn drop_in(report: &Report, line: &BootMountEdit<'_>, path: &str, becomes: &str) -> (String, String) {
    let file = format!("{path}.d/50-walwise.conf");
    if !line.is_whole(report) {
        let says = "Not all of this unit is known, so its options are not rewritten. In Options=:";
        return (line.shown.clone(), comments(&[says.to_owned(), format!("  {}", line.edits())]));
    }
    // Text from a unit is already in the spelling of units; only additions are escaped.
    let spelled = |word: &String| Some(text::safe(systemd::value(&text::raw(word))?.as_bytes()));
    let added: Option<Vec<String>> = line.add.iter().map(spelled).collect();
    let rewritten = added.map(|added| options::rewritten(&line.now, &added, &line.remove));
    let body = match rewritten.and_then(|options| systemd::spelled(&text::raw(&options))) {
        Some(options) => pasted(report, &line.steps, &["[Mount]".to_owned(), format!("Options={options}")]),
        None => comments(&["No drop-in: a unit cannot hold these options.", becomes]),
    };
    (file, comments(&[format!("now: Options={}", line.written())]) + &body)
}

/// A whole unit.
struct Unit {
    name: String,
    text: Vec<String>,
}

/// A unit in place of a line of fstab; the error says why the line should stay.
fn instead(report: &Report, line: &BootMountEdit<'_>, becomes: &str) -> Result<Unit, String> {
    let fact = |key: &Key<String>| report.facts.value(line.subject, key).map(|shown| text::raw(&shown));
    let whole = line.is_whole(report).then(|| Some((fact(&SOURCE)?, fact(&POINT)?, fact(&WRITTEN_TYPE)?)));
    let (source, point, fstype) = whole.flatten().ok_or("not all of the line is known")?;
    if let Some(option) = line.now.iter().find(|option| only_fstab(option)) {
        return Err(format!("its option {option} means something to fstab only"));
    }
    if point == b"/" {
        return Err("the root file system is mounted before units are".to_owned());
    }
    let unclear = || "a unit cannot hold its device, mount point, type or options".to_owned();
    let device = device(&source).ok_or("it names no device of this machine")?;
    let name = systemd::name(&point).ok_or_else(unclear)? + ".mount";
    let plain = |raw: &[u8]| systemd::value(raw).ok_or_else(unclear);
    let (what, place, kind) = (plain(&device)?, plain(&point)?, plain(&fstype)?);
    let options = plain(&text::raw(becomes))?;
    let pass = report.facts.value(line.subject, &DUMP_AND_PASS).unwrap_or_default();
    let mut text = vec!["[Unit]".to_owned(), "Before=local-fs.target".to_owned()];
    if pass.split(' ').nth(1).is_some_and(|pass| !pass.trim_matches('0').is_empty()) {
        let checked = systemd::name(&device).ok_or_else(unclear)?;
        text.extend(["Requires", "After"].map(|key| format!("{key}=systemd-fsck@{checked}.service")));
    }
    text.extend([
        String::new(),
        "[Mount]".to_owned(),
        format!("What={what}"),
        format!("Where={place}"),
        format!("Type={kind}"),
        format!("Options={options}"),
        String::new(),
        "[Install]".to_owned(),
        "RequiredBy=local-fs.target".to_owned(),
    ]);
    Ok(Unit { name, text })
}

/// Whether systemd's generator takes an option of fstab for itself (systemd.mount(5), section fstab).
fn only_fstab(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or(option);
    let words =
        ["auto", "comment", "group", "noauto", "nofail", "nouser", "owner", "user", "users", "_netdev"];
    words.contains(&name)
        || ["x-systemd.", "x-initrd.", "X-mount."].iter().any(|family| name.starts_with(family))
}

/// The device node that a line names; `None` for other sources, such as another machine's directory.
fn device(source: &[u8]) -> Option<Vec<u8>> {
    let tags: [(&[u8], &str); 4] =
        [(b"UUID=", "uuid"), (b"LABEL=", "label"), (b"PARTUUID=", "partuuid"), (b"PARTLABEL=", "partlabel")];
    if source.starts_with(b"/dev/") {
        return Some(source.to_vec());
    }
    let (tag, kind) = tags.iter().find(|(tag, _)| source.starts_with(tag))?;
    let name = source
        .get(tag.len()..)
        .filter(|name| !name.is_empty() && !matches!(name.first(), Some(b'"' | b'\'')))?;
    Some([format!("/dev/disk/by-{kind}/").into_bytes(), udev::link_name(name)?.into_bytes()].concat())
}

/// The unit for a file system that does not exist yet.
fn fresh(report: &Report, target: &TargetSummary) -> String {
    let steps = report.plan(&target.target).map(|plan| plan.steps.as_slice()).unwrap_or_default();
    let chosen = match mkfs::chosen(steps) {
        Ok(chosen) => chosen,
        Err(why) => return part(&target.title) + &comments(&[format!("No unit: {why}.")]),
    };
    let mkfs::Chosen { fstype, pass, mount } = chosen;
    let mut lines = vec![
        "prints and the mount point, name the file as the first of these prints, then remove the #:"
            .to_owned(),
        "  systemd-escape --path --suffix=mount /EDIT/THE/MOUNT/POINT".to_owned(),
        "  systemd-escape --path /dev/disk/by-uuid/EDIT-THE-UUID".to_owned(),
        String::new(),
        "[Unit]".to_owned(),
        "Before=local-fs.target".to_owned(),
    ];
    if pass > 0 {
        let check = "systemd-fsck@EDIT-AS-THE-SECOND-PRINTS.service";
        lines.extend(["Requires", "After"].map(|key| format!("{key}={check}")));
    }
    lines.extend([
        String::new(),
        "[Mount]".to_owned(),
        "What=/dev/disk/by-uuid/EDIT-THE-UUID".to_owned(),
        "Where=/EDIT/THE/MOUNT/POINT".to_owned(),
        format!("Type={fstype}"),
        format!("Options={mount}"),
        String::new(),
        "[Install]".to_owned(),
        "RequiredBy=local-fs.target".to_owned(),
    ]);
    part(&format!("{DIRECTORY}/EDIT.mount")) + &not_before(report, target) + &comments(&lines)
}

#[cfg(test)]
mod tests;
