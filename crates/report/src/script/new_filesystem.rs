//! The part of a script that creates a file system on a free disk.
//!
//! Between report and run a disk can get another name or be used. So size, identity and use are
//! checked right before mkfs, which is never forced. The report sampled the disk; the script reads
//! every byte, unless a person edits that out.

use super::comments::{comment_out, no_changes};
use super::mounted;
use crate::disk_id::{self, Identity};
use crate::mkfs::{self, changing_step, is_plain_word};
use crate::{Plan, Report, Step, TargetSummary};
use walwise_model::escape::{Command, comment, shell};
use walwise_model::facts::catalog::device;
use walwise_model::facts::{Area, Scope, Subject, Value};
use walwise_model::settings::{NewFilesystem, SettingKind};

/// The part for any disk; placeholders are enclosed in `@`.
const TEMPLATE: &str = include_str!("new.sh");

/// Replaces placeholders. Values are not scanned again, so none can contain a placeholder.
pub(super) fn fill_template(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (nth, piece) in template.split('@').enumerate() {
        let value = values
            .iter()
            .find(|(name, _)| nth % 2 == 1 && *name == piece);
        text.push_str(value.map_or(piece, |(_, value)| value));
    }
    text
}

pub fn free_disk_part(report: &Report, target: &TargetSummary) -> String {
    let Some(plan) = report.plan(&target.target) else {
        return no_changes(target);
    };
    match mkfs::new_filesystem(&plan.steps) {
        Some(NewFilesystem::Zfs) => zfs_comments(plan),
        Some(NewFilesystem::Ext4 | NewFilesystem::Xfs | NewFilesystem::Btrfs) | None => {
            match script_values(report, target, plan) {
                Ok(recipe) => recipe.render(),
                Err(why) => format!(
                    "# No file system is created: {}.\n",
                    comment::escape_line(&why)
                ),
            }
        }
    }
}

/// ZFS as comments, because its commands cannot be verified.
fn zfs_comments(plan: &Plan) -> String {
    let head = "These commands are comments, because walwise cannot verify ZFS commands. Compare each with \
                zpool-create(8) and zfs-create(8), and the disk with the report, before you run it.";
    let numbered = (1..).zip(&plan.steps);
    comment_out(head)
        + &request_comment(plan)
        + &numbered
            .map(|(number, step)| mounted::step_comment(number, step))
            .collect::<String>()
}

/// A comment that the user requested the file system, if so.
fn request_comment(plan: &Plan) -> String {
    plan.requested_filesystem()
        .map(|says| comment_out(&says))
        .unwrap_or_default()
}

/// The setting of a step, its reason and its trade-off.
fn step_note(step: &Step) -> String {
    let price = step
        .advice
        .tradeoff
        .as_ref()
        .map(|price| format!(" Trade-off: {price}"))
        .unwrap_or_default();
    comment_out(&format!("{}: {}.{price}", step.advice.setting, step.title))
}

/// The owner of the data directory, an example of its name, and the lines that print the command
/// that creates the database. Data checksums are always recommended for a new cluster; each
/// PostgreSQL release has its own program directory (Debian, RHEL).
const fn database_setup(engine: Area) -> (&'static str, &'static str, &'static str) {
    match engine {
        Area::Pg => (
            "postgres",
            "16/main",
            r#"    initdb=initdb
    for found in /usr/lib/postgresql/[1-9][0-9]/bin/initdb /usr/pgsql-[1-9][0-9]/bin/initdb; do
        [ ! -x "$found" ] || initdb=$found
    done
    printf 'next:\n  runuser -u %s -- %s --data-checksums -D %s\n' "$OWNER" "$initdb" "$directory"
"#,
        ),
        Area::Mysql => (
            "mysql",
            "data",
            r#"    printf 'next, for MariaDB:\n  mariadb-install-db --user=%s --datadir=%s\n' "$OWNER" "$directory"
    printf 'or for MySQL:\n  mysqld --initialize --user=%s --datadir=%s\n' "$OWNER" "$directory"
"#,
        ),
    }
}

/// The trade-off of disabling copy-on-write, as comments.
fn nocow_note(step: &Step) -> String {
    let price = step.advice.tradeoff.as_deref().unwrap_or_default();
    comment_out(&format!(
        "New files are overwritten in place; subvolumes created inside do not inherit that. Trade-off: {price}\n\
         EDIT to keep copy-on-write:"
    ))
}

/// The values of the template, each checked to be a plain word, or quoted.
struct ScriptValues {
    name: String,
    node: String,
    size: u64,
    serial: Option<String>,
    /// The sysfs file with the identity, and its value, quoted.
    identity: Option<(String, String)>,
    fstype: &'static str,
    pass: u8,
    mkfs: Command,
    mount: String,
    /// The trade-off of disabling copy-on-write, as comments; `None` if the plan keeps it.
    nocow: Option<String>,
    /// The server that the script prepares a directory for.
    engine: Area,
    /// How much of the disk was read for the report.
    content: String,
    notes: String,
}

fn script_values(
    report: &Report,
    target: &TargetSummary,
    plan: &Plan,
) -> Result<ScriptValues, String> {
    let disk = target
        .subjects
        .iter()
        .find(|subject| subject.scope() == Scope::Device);
    let disk = disk.ok_or("the disk is unknown")?;
    let text = |fact: &str| report.value(disk, fact).map(ToString::to_string);
    let content = target
        .content
        .as_ref()
        .filter(|content| content.is_available());
    let content = content.ok_or("the disk is not known to be free")?;
    let node = text(device::PATH.name()).unwrap_or_else(|| format!("/dev/{}", disk.name()));
    let name = node
        .strip_prefix("/dev/")
        .filter(|name| is_plain_word(name, "_-."))
        .map(str::to_owned);
    let name = name.ok_or_else(|| format!("{node} is not a plain device name"))?;
    let size = match report.value(disk, device::SIZE.name()) {
        Some(Value::Whole(size)) if *size > 0 => *size,
        _ => {
            return Err(
                "the size of the disk is unknown, so it cannot be told from another".to_owned(),
            );
        }
    };
    let mkfs::PlannedFilesystem {
        fstype,
        pass,
        mount,
    } = mkfs::planned_filesystem(&plan.steps)?;
    let attributes = changing_step(&plan.steps, SettingKind::DirectoryFlags);
    let identity = disk_id::stable_id(report, disk);
    // lsblk gets serial numbers from udev, which is not running everywhere; a serial number that is
    // the identity is compared through sysfs instead.
    let by_lsblk = |serial: &String| identity.as_ref().is_none_or(|known| known.value != *serial);
    Ok(ScriptValues {
        serial: serial_number(report, disk).filter(by_lsblk),
        identity: identity.map(comparable_identity).transpose()?,
        nocow: attributes
            .filter(|step| mkfs::sets_nocow(step))
            .map(nocow_note),
        engine: report.engine,
        mkfs: mkfs::command(&plan.steps, fstype)?,
        content: comment::escape_line(&content.evidence_text()),
        notes: request_comment(plan) + &plan.steps.iter().map(step_note).collect::<String>(),
        name,
        node,
        size,
        fstype,
        pass,
        mount,
    })
}

/// An identity as the script reads it: words joined by single blanks, quoted.
fn comparable_identity(identity: Identity) -> Result<(String, String), String> {
    let words: Vec<&str> = identity.value.split_whitespace().collect();
    let quoted =
        shell::quote(&words.join(" ")).ok_or("the identity of the disk cannot be written")?;
    Ok((identity.file, quoted))
}

/// The serial number, if read on this host (a capture masks it) and plain.
fn serial_number(report: &Report, disk: &Subject) -> Option<String> {
    let serial = report
        .value(disk, "device.serial")
        .filter(|_| report.host.live)?
        .to_string();
    is_plain_word(&serial, "_-.:").then_some(serial)
}

impl ScriptValues {
    fn render(&self) -> String {
        let Self {
            name,
            node,
            size,
            fstype,
            pass,
            mkfs,
            mount,
            content: read,
            notes,
            ..
        } = self;
        let serial = self.serial.as_deref().unwrap_or_default();
        let (file, value) = match &self.identity {
            Some((file, value)) => (file.as_str(), value.as_str()),
            None => ("", "''"),
        };
        let known = if self.serial.is_none() && self.identity.is_none() {
            "\nI_COMPARED_THE_DISK=no  # EDIT: yes. Neither serial number nor WWN is known: only you can tell it from another\n\
             [ \"$I_COMPARED_THE_DISK\" = yes ] || stop 'nothing but its size tells this disk from another: compare it, then set I_COMPARED_THE_DISK=yes; nothing was done'\n"
        } else {
            ""
        };
        let (owner, example, database) = database_setup(self.engine);
        let nocow = self
            .nocow
            .as_ref()
            .map(|price| format!("{price}chattr +C \"$directory\"\n"));
        fill_template(
            TEMPLATE,
            &[
                ("fstype", fstype),
                ("node", node),
                ("name", name),
                ("size", &size.to_string()),
                ("serial", serial),
                ("file", file),
                ("value", value),
                ("read", read),
                ("notes", notes),
                ("known", known),
                ("nocow", &indent(&nocow.unwrap_or_default())),
                ("owner", owner),
                ("owner padded", &format!("{owner:<18}")),
                ("example", example),
                ("database", database),
                ("mkfs", mkfs.as_ref()),
                ("mount", mount),
                ("pass", &pass.to_string()),
            ],
        )
    }
}

fn indent(text: &str) -> String {
    text.lines().flat_map(|line| ["    ", line, "\n"]).collect()
}
