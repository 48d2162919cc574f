//! The part of a script that makes a file system on a blank disk.
//!
//! Between the report and the run a disk can get another name or lose its blankness, so size, identity, use and
//! blankness are checked again right before mkfs, and mkfs is never told to force anything.

use super::{commented, nothing};
use crate::facts::catalog::device;
use crate::facts::{Scope, Subject, Value};
use crate::report::mkfs::{self, MAKES, plain, step};
use crate::report::{LOOKED_AT, Plan, Report, TargetSummary, comment};
use crate::rules::Change;

/// The part for a blank disk.
pub fn part(report: &Report, target: &TargetSummary) -> String {
    let Some(plan) = report.plan(&target.target) else { return nothing(target) };
    match recipe(report, target, plan) {
        Ok(recipe) => recipe.script(),
        Err(why) => format!("# No file system is made: {}.\n", comment(&why)),
    }
}

/// Everything that goes into shell words, each checked to be plain.
struct Recipe {
    name: String,
    node: String,
    size: u64,
    serial: Option<String>,
    fstype: &'static str,
    pass: u8,
    mkfs: String,
    mount: String,
    nocow: bool,
    notes: String,
}

fn recipe(report: &Report, target: &TargetSummary, plan: &Plan) -> Result<Recipe, String> {
    let disk = target.subjects.iter().find(|subject| subject.scope() == Scope::Device);
    let disk = disk.ok_or("the disk is not known")?;
    let text = |fact: &str| report.value(disk, fact).map(ToString::to_string);
    if report.value(disk, device::BLANK.name()) != Some(&Value::Bool(true)) {
        return Err("the disk is not known to be blank".to_owned());
    }
    let node = text(device::PATH.name()).unwrap_or_else(|| format!("/dev/{}", disk.name()));
    let name = node.strip_prefix("/dev/").filter(|name| plain(name, "_-.")).map(str::to_owned);
    let name = name.ok_or_else(|| format!("{node} is no plain device name"))?;
    let size = match report.value(disk, device::SIZE.name()) {
        Some(Value::Whole(size)) if *size > 0 => *size,
        _ => return Err("the size of the disk is not known, so it could not be told from another".to_owned()),
    };
    let chosen = step(&plan.steps, "filesystem").and_then(|step| match &step.advice.change {
        Change::Set(value) => Some(value.as_str()),
        _ => None,
    });
    let chosen = chosen.ok_or("no file system is advised for it")?;
    let makes = MAKES.iter().find(|(fstype, _)| *fstype == chosen);
    let (fstype, pass) = *makes.ok_or_else(|| format!("making {chosen} is not supported here"))?;
    let mount = step(&plan.steps, "mount.options").and_then(|step| step.result.clone());
    let mount = mount.unwrap_or_else(|| "defaults".to_owned());
    if !plain(&mount, ",=_-.:") {
        return Err(format!("mount options that are not plain words: {mount}"));
    }
    let attributes = step(&plan.steps, "directory.attributes");
    Ok(Recipe {
        serial: identity(report, disk),
        nocow: attributes.is_some_and(|step| step.advice.change.values().iter().any(|word| word == "nocow")),
        mkfs: mkfs::command(&plan.steps, fstype)?,
        notes: plan
            .steps
            .iter()
            .map(|step| commented(&format!("{}: {}", step.advice.setting, step.title)))
            .collect(),
        name,
        node,
        size,
        fstype,
        pass,
        mount,
    })
}

/// The disk's serial number, when it was read on this very machine (a capture masks it).
fn identity(report: &Report, disk: &Subject) -> Option<String> {
    let serial = report.value(disk, "device.serial").filter(|_| report.host.live)?.to_string();
    plain(&serial, "_-.:").then_some(serial)
}

impl Recipe {
    fn script(&self) -> String {
        let Self { name, node, size, fstype, pass, mkfs, mount, notes, .. } = self;
        let serial = self.serial.as_deref().unwrap_or_default();
        let nocow = if self.nocow {
            "\n# New files are overwritten in place from here on; a subvolume made inside does not inherit this.\n\
             chattr +C \"$MOUNTPOINT\"\n"
        } else {
            ""
        };
        format!(
            r#"# Makes {fstype} on {node} and mounts it. All that is on the disk would be lost.
# {LOOKED_AT}
{notes}
MOUNTPOINT=             # EDIT: an absolute path, such as /srv/postgresql

DEVICE={node}
NAME={name}
SIZE={size}             # bytes
SERIAL={serial}

case $MOUNTPOINT in
    '') stop 'set MOUNTPOINT to the directory to mount on; nothing was done' ;;
    / | *[!A-Za-z0-9/._-]*) stop 'MOUNTPOINT may hold letters, digits and /._- only, and not be /; nothing was done' ;;
    /*) ;;
    *) stop 'MOUNTPOINT must be an absolute path; nothing was done' ;;
esac
if [ -e "$MOUNTPOINT" ]; then
    [ -d "$MOUNTPOINT" ] || stop "$MOUNTPOINT is no directory; nothing was done"
    [ -z "$(ls -A "$MOUNTPOINT")" ] || stop "$MOUNTPOINT is not empty; nothing was done"
fi
for tool in mkfs.{fstype} blockdev wipefs blkid lsblk cmp mount; do
    command -v "$tool" >/dev/null || stop "$tool is not installed; nothing was done"
done

# Whether one MiB of the disk, from this byte on, is nothing but zeros or nothing but ones.
is_blank_at() {{
    cmp -s -n 1048576 -i "$1:0" "$DEVICE" /dev/zero && return 0
    tr '\000' '\377' </dev/zero 2>/dev/null | cmp -s -n 1048576 -i "$1:0" "$DEVICE" -
}}

# The same disk as in the report, in nobody's use, and still blank.
check_disk() {{
    sys=/sys/class/block/$NAME
    [ -b "$DEVICE" ] && [ ! -L "$DEVICE" ] || stop "$DEVICE is no block device; nothing was done"
    [ -d "$sys" ] || stop "$NAME is not known to the kernel; nothing was done"
    [ "$(blockdev --getsize64 "$DEVICE")" = "$SIZE" ] || stop "$DEVICE has another size than in the report: another disk? nothing was done"
    if [ -n "$SERIAL" ]; then
        [ "$(lsblk -dno SERIAL "$DEVICE" | tr -d ' ')" = "$SERIAL" ] || stop "$DEVICE has another serial number than in the report; nothing was done"
    fi
    [ "$(cat "$sys/ro")" = 0 ] || stop "$DEVICE is read-only; nothing was done"
    [ -z "$(ls -A "$sys/holders")" ] || stop "$DEVICE is in use by $(ls "$sys/holders"); nothing was done"
    for part in "$sys/$NAME"*; do
        [ ! -e "$part" ] || stop "$DEVICE has partitions; nothing was done"
    done
    if awk -v number="$(cat "$sys/dev")" '$3 == number {{ found = 1 }} END {{ exit !found }}' /proc/self/mountinfo; then
        stop "$DEVICE is mounted; nothing was done"
    fi
    for table in /proc/mounts /proc/swaps; do
        if awk -v node="$DEVICE" '$1 == node {{ found = 1 }} END {{ exit !found }}' "$table"; then
            stop "$DEVICE is in $table; nothing was done"
        fi
    done
    found=$(wipefs -n "$DEVICE") || stop "wipefs cannot read $DEVICE; nothing was done"
    [ -z "$found" ] || stop "$DEVICE is not blank any more: $found; nothing was done"
    status=0
    blkid -p "$DEVICE" >/dev/null 2>&1 || status=$?
    [ "$status" = 2 ] || stop "blkid finds something on $DEVICE or cannot read it; nothing was done"
    is_blank_at 0 || stop "the beginning of $DEVICE is not blank; nothing was done"
    is_blank_at "$((SIZE - 1048576))" || stop "the end of $DEVICE is not blank; nothing was done"
}}

lsblk -o NAME,SIZE,MODEL,SERIAL "$DEVICE"
check_disk
{mkfs} "$DEVICE"
mkdir -p "$MOUNTPOINT"
mount -t {fstype} -o {mount} "$DEVICE" "$MOUNTPOINT"
{nocow}
# For the next boot, in /etc/fstab; not written by this script:
uuid=$(blkid -p -s UUID -o value "$DEVICE")
printf 'UUID=%s %s {fstype} {mount} 0 {pass}\n' "$uuid" "$MOUNTPOINT"
# printf 'UUID=%s %s {fstype} {mount} 0 {pass}\n' "$uuid" "$MOUNTPOINT" >>/etc/fstab

# Make the database in a directory beneath, not in the mount point itself, then ask for its settings:
#   walwise check "$MOUNTPOINT" --format conf
"#
        )
    }
}
