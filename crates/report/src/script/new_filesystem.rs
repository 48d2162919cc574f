//! The part of a script that creates a file system on a free disk.
//!
//! After the report, the disk may get another name or come into use. Right before mkfs, the
//! script therefore checks the disk's size, identity and use; mkfs never gets a force option.
//! The report read only samples of the disk. The script reads every byte, unless a person
//! disables that check.

use super::{comment_out, commented_out_step, no_changes_comment};
use crate::disk_id::{self, DiskIdAttribute};
use crate::mkfs::{self, find_step_changing_setting, is_shell_literal_word};
use crate::{Plan, Report, Step, TargetSummary};
use walwise_model::escape::{comment, shell};
use walwise_model::facts::catalog::device;
use walwise_model::facts::{Scope, ServerArea, Subject};
use walwise_model::settings::{NewFilesystem, SettingKind};

/// The shell script, with placeholders such as `@node@`.
const TEMPLATE: &str = include_str!("new.sh");

/// Replaces the placeholders `@name@` by values. Values are not scanned again, so a value cannot
/// inject a placeholder.
pub fn fill_template(template: &str, values: &[(&str, &str)]) -> String {
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
        return no_changes_comment(target);
    };
    match mkfs::planned_filesystem_kind(&plan.steps) {
        Some(NewFilesystem::Zfs) => zfs_plan_comments(plan),
        Some(NewFilesystem::Ext4 | NewFilesystem::Xfs | NewFilesystem::Btrfs) | None => {
            match filesystem_script_part(report, target, plan) {
                Ok(part) => part,
                Err(why) => format!(
                    "# No file system is created: {}.\n",
                    comment::replace_unsafe_chars(&why)
                ),
            }
        }
    }
}

/// The plan's ZFS commands as comments, because walwise cannot verify them.
fn zfs_plan_comments(plan: &Plan) -> String {
    let head = "These commands are comments, because walwise cannot verify ZFS commands. Before you run one, compare it with \
                zpool-create(8) and zfs-create(8), and compare the disk with the report.";
    let numbered = (1..).zip(&plan.steps);
    comment_out(head)
        + &filesystem_request_comment(plan)
        + &numbered
            .map(|(number, step)| commented_out_step(number, step))
            .collect::<String>()
}

fn filesystem_request_comment(plan: &Plan) -> String {
    plan.requested_filesystem_sentence()
        .map(|says| comment_out(&says))
        .unwrap_or_default()
}

fn step_title_and_tradeoff_comment(step: &Step) -> String {
    let price = step
        .advice
        .tradeoff
        .as_ref()
        .map(|price| format!(" Trade-off: {price}"))
        .unwrap_or_default();
    comment_out(&format!("{}: {}.{price}", step.advice.setting, step.title))
}

/// The owner of the data directory, a name for the directory such as `16/main`, and shell lines
/// that print how to create the database.
const fn database_owner_directory_and_setup_lines(
    engine: ServerArea,
) -> (&'static str, &'static str, &'static str) {
    match engine {
        ServerArea::Pg => (
            "postgres",
            "16/main",
            r#"    initdb=initdb
    for found in /usr/lib/postgresql/[1-9][0-9]/bin/initdb /usr/pgsql-[1-9][0-9]/bin/initdb; do
        [ ! -x "$found" ] || initdb=$found
    done
    printf 'next:\n  runuser -u %s -- %s --data-checksums -D %s\n' "$OWNER" "$initdb" "$directory"
"#,
        ),
        ServerArea::Mysql => (
            "mysql",
            "data",
            r#"    printf 'next, for MariaDB:\n  mariadb-install-db --user=%s --datadir=%s\n' "$OWNER" "$directory"
    printf 'or for MySQL:\n  mysqld --initialize --user=%s --datadir=%s\n' "$OWNER" "$directory"
"#,
        ),
    }
}

fn filesystem_script_part(
    report: &Report,
    target: &TargetSummary,
    plan: &Plan,
) -> Result<String, String> {
    let disk = target
        .subjects
        .iter()
        .find(|subject| subject.scope() == Scope::Device)
        .ok_or("the report does not name the disk")?;
    let content = target
        .content
        .as_ref()
        .filter(|content| content.may_get_new_file_system())
        .ok_or("it is unknown whether the disk is free")?;
    let path = report.facts.value(disk, &device::PATH);
    let node = path.unwrap_or_else(|| format!("/dev/{}", disk.name()));
    let name = node
        .strip_prefix("/dev/")
        .filter(|name| is_shell_literal_word(name, "_-."))
        .ok_or_else(|| format!("{node} is not a plain device name"))?;
    let size = report
        .facts
        .value(disk, &device::SIZE)
        .filter(|size| *size > 0)
        .ok_or("the size of the disk is unknown, so the script could not recognise the disk")?;
    let mkfs::PlannedFilesystem {
        fstype,
        pass,
        mount,
    } = mkfs::planned_filesystem(&plan.steps)?;
    let mkfs = mkfs::mkfs_command(&plan.steps, fstype)?;
    let nocow = find_step_changing_setting(&plan.steps, SettingKind::DirectoryFlags)
        .filter(|step| mkfs::sets_nocow(step))
        .map(|step| {
            let price = step.advice.tradeoff.as_deref().unwrap_or_default();
            comment_out(&format!(
                "New files are overwritten in place. Subvolumes created in the directory do not inherit the attribute. Trade-off: {price}\n\
                 EDIT: delete the next line to keep copy-on-write."
            )) + "chattr +C \"$directory\"\n"
        })
        .unwrap_or_default();
    let nocow: String = nocow
        .lines()
        .flat_map(|line| ["    ", line, "\n"])
        .collect();
    let identity = disk_id::find_disk_id_attribute(report, disk);
    // lsblk gets serial numbers from udev, which some systems do not run. If the serial number is
    // the identity, the script compares it through sysfs instead.
    let by_lsblk = |serial: &String| identity.as_ref().is_none_or(|known| known.value != *serial);
    let serial = plain_serial_number(report, disk).filter(by_lsblk);
    let known = if serial.is_none() && identity.is_none() {
        "\nI_COMPARED_THE_DISK=no  # EDIT: yes. Serial number and WWN are unknown: only you can identify the disk\n\
         [ \"$I_COMPARED_THE_DISK\" = yes ] || stop 'only its size identifies this disk: compare the disk with the report, then set I_COMPARED_THE_DISK=yes; nothing was done'\n"
    } else {
        ""
    };
    let (file, value) = match identity {
        Some(identity) => quoted_disk_identity(identity)?,
        None => (String::new(), "''".to_owned()),
    };
    let notes: String = plan
        .steps
        .iter()
        .map(step_title_and_tradeoff_comment)
        .collect();
    let (owner, example, database) = database_owner_directory_and_setup_lines(report.engine);
    Ok(fill_template(
        TEMPLATE,
        &[
            ("fstype", fstype),
            ("node", &node),
            ("name", name),
            ("size", &size.to_string()),
            ("serial", &serial.unwrap_or_default()),
            ("file", &file),
            ("value", &value),
            (
                "read",
                &comment::replace_unsafe_chars(&content.explanation_text()),
            ),
            ("notes", &(filesystem_request_comment(plan) + &notes)),
            ("known", known),
            ("nocow", &nocow),
            ("owner", owner),
            ("owner padded", &format!("{owner:<18}")),
            ("example", example),
            ("database", database),
            ("mkfs", mkfs.as_ref()),
            ("mount", &mount),
            ("pass", &pass.to_string()),
        ],
    ))
}

/// Words are joined by single blanks, as in the script's comparison with the sysfs file.
fn quoted_disk_identity(identity: DiskIdAttribute) -> Result<(String, String), String> {
    let words: Vec<&str> = identity.value.split_whitespace().collect();
    let quoted = shell::quote_shell_word(&words.join(" "))
        .ok_or("the identity of the disk cannot be quoted")?;
    Ok((identity.file, quoted))
}

/// The serial number that the script compares. `None` for captures, which mask serial numbers, and
/// for serial numbers that need quoting.
fn plain_serial_number(report: &Report, disk: &Subject) -> Option<String> {
    let serial = report
        .facts
        .value(disk, &device::SERIAL)
        .filter(|_| report.host.live)?;
    is_shell_literal_word(&serial, "_-.:").then_some(serial)
}
