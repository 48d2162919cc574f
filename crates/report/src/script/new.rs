//! The part of a script that creates a file system on a free disk.
//!
//! Between the report and the run a disk can get another name or be used. Size, identity and use
//! are therefore checked again right before mkfs, which is never told to force anything. A report
//! reads places; the script reads every byte, unless a person edits that out. A disk without a
//! known serial number or WWN cannot be told from another of its size, so a person has to confirm
//! it.

use super::existing;
use super::remark::{commented, nothing};
use crate::identity::{self, Identity};
use crate::mkfs::{self, plain, step};
use crate::{Plan, Report, Step, TargetSummary};
use walwise_model::facts::catalog::device;
use walwise_model::facts::{Area, Scope, Subject, Value};
use walwise_model::quote::{Command, comment, shell};
use walwise_model::settings::{NewFilesystem, SettingKind};

/// The part for any disk, with the variable text between two `@`.
const TEMPLATE: &str = include_str!("new.sh");

/// A template with its placeholders replaced. Replacements are not scanned again, so no value can
/// contain a placeholder.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (nth, piece) in template.split('@').enumerate() {
        let value = values
            .iter()
            .find(|(name, _)| nth % 2 == 1 && *name == piece);
        text.push_str(value.map_or(piece, |(_, value)| value));
    }
    text
}

/// The part for a free disk.
pub fn part(report: &Report, target: &TargetSummary) -> String {
    let Some(plan) = report.plan(&target.target) else {
        return nothing(target);
    };
    match mkfs::made(&plan.steps) {
        Some(NewFilesystem::Zfs) => zfs(plan),
        Some(NewFilesystem::Ext4 | NewFilesystem::Xfs | NewFilesystem::Btrfs) | None => {
            match recipe(report, target, plan) {
                Ok(recipe) => recipe.script(),
                Err(why) => format!("# No file system is made: {}.\n", comment::inline(&why)),
            }
        }
    }
}

/// ZFS as comments: no tool here can check its commands.
fn zfs(plan: &Plan) -> String {
    let head = "No command of this part is run: no tool here could check what makes ZFS. Unverified: compare each with \
                zpool-create(8) and zfs-create(8), and the disk with the report, before you run it by hand.";
    let numbered = (1..).zip(&plan.steps);
    commented(head)
        + &told(plan)
        + &numbered
            .map(|(number, step)| existing::one(number, step))
            .collect::<String>()
}

/// That it is the user's wish, where it is.
fn told(plan: &Plan) -> String {
    plan.wish().map(|says| commented(&says)).unwrap_or_default()
}

/// What a step sets, with its reason and its price.
fn note(step: &Step) -> String {
    let price = step
        .advice
        .price
        .as_ref()
        .map(|price| format!(" Price: {price}"))
        .unwrap_or_default();
    commented(&format!("{}: {}.{price}", step.advice.setting, step.title))
}

/// The owner of a database's directory, an example of its name, and the lines that print the
/// command which makes the database. A new cluster is always advised to have data checksums; the
/// programs of a PostgreSQL release lie in a directory of their own (Debian, RHEL).
const fn database(engine: Area) -> (&'static str, &'static str, &'static str) {
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

/// What overwriting in place costs.
fn in_place(step: &Step) -> String {
    let price = step.advice.price.as_deref().unwrap_or_default();
    commented(&format!(
        "Its new files are overwritten in place; a subvolume made inside does not inherit that. Price: {price}\n\
         EDIT to keep copying on write:"
    ))
}

/// All values for shell words, each checked to be plain, or quoted.
struct Recipe {
    name: String,
    node: String,
    size: u64,
    serial: Option<String>,
    /// The file that holds the identity, and what it holds, quoted.
    identity: Option<(String, String)>,
    fstype: &'static str,
    pass: u8,
    mkfs: Command,
    mount: String,
    /// What overwriting in place costs, as comments; `None` where the plan copies on write.
    nocow: Option<String>,
    /// Whose database the script prepares.
    engine: Area,
    /// The extent to which the disk was read for the report.
    read: String,
    notes: String,
}

fn recipe(report: &Report, target: &TargetSummary, plan: &Plan) -> Result<Recipe, String> {
    let disk = target
        .subjects
        .iter()
        .find(|subject| subject.scope() == Scope::Device);
    let disk = disk.ok_or("the disk is not known")?;
    let text = |fact: &str| report.value(disk, fact).map(ToString::to_string);
    let content = target
        .content
        .as_ref()
        .filter(|content| content.may_be_given());
    let content = content.ok_or("the disk is not known to be free")?;
    let node = text(device::PATH.name()).unwrap_or_else(|| format!("/dev/{}", disk.name()));
    let name = node
        .strip_prefix("/dev/")
        .filter(|name| plain(name, "_-."))
        .map(str::to_owned);
    let name = name.ok_or_else(|| format!("{node} is not a plain device name"))?;
    let size = match report.value(disk, device::SIZE.name()) {
        Some(Value::Whole(size)) if *size > 0 => *size,
        _ => {
            return Err(
                "the size of the disk is not known, so it could not be told from another"
                    .to_owned(),
            );
        }
    };
    let mkfs::Chosen {
        fstype,
        pass,
        mount,
    } = mkfs::chosen(&plan.steps)?;
    let attributes = step(&plan.steps, SettingKind::DirectoryFlags);
    let identity = identity::of(report, disk);
    // lsblk has serial numbers from udev, which does not run everywhere; one that is the identity
    // is compared by its file.
    let by_lsblk = |serial: &String| identity.as_ref().is_none_or(|known| known.value != *serial);
    Ok(Recipe {
        serial: serial(report, disk).filter(by_lsblk),
        identity: identity.map(compared).transpose()?,
        nocow: attributes
            .filter(|step| mkfs::sets_nocow(step))
            .map(in_place),
        engine: report.engine,
        mkfs: mkfs::command(&plan.steps, fstype)?,
        read: comment::inline(&content.sentence()),
        notes: told(plan) + &plan.steps.iter().map(note).collect::<String>(),
        name,
        node,
        size,
        fstype,
        pass,
        mount,
    })
}

/// An identity as the script compares it: the shell joins words with single blanks.
fn compared(identity: Identity) -> Result<(String, String), String> {
    let words: Vec<&str> = identity.value.split_whitespace().collect();
    let quoted =
        shell::quoted(&words.join(" ")).ok_or("the identity of the disk cannot be written")?;
    Ok((identity.file, quoted))
}

/// The disk's serial number, when it was read on this very machine (a capture masks it).
fn serial(report: &Report, disk: &Subject) -> Option<String> {
    let serial = report
        .value(disk, "device.serial")
        .filter(|_| report.host.live)?
        .to_string();
    plain(&serial, "_-.:").then_some(serial)
}

impl Recipe {
    fn script(&self) -> String {
        let Self {
            name,
            node,
            size,
            fstype,
            pass,
            mkfs,
            mount,
            read,
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
        let (owner, example, database) = database(self.engine);
        let nocow = self
            .nocow
            .as_ref()
            .map(|price| format!("{price}chattr +C \"$directory\"\n"));
        fill(
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
                ("nocow", &indented(&nocow.unwrap_or_default())),
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

fn indented(text: &str) -> String {
    text.lines().flat_map(|line| ["    ", line, "\n"]).collect()
}
