//! Decides from facts and findings, without I/O, whether a device is free for a trial. An unknown
//! fact or finding is a reason to refuse.
//!
//! The facts also decide whether an mkfs script may be printed. The child process that writes to
//! the disk has no facts, so it decides by findings alone.

use super::device_findings::{DeviceFindings, DeviceReadResult};
use super::trial_mark::RESERVED_END_BYTES;
use crate::facts::catalog::device::{self, ContentState, ZoneModel};
use crate::facts::catalog::host;
use crate::facts::{FactSet, FactValue, Key, Reading, Subject};
use crate::text;

/// Reason why the facts forbid erasing a device, as a phrase to put after its name; `None` if
/// they allow it.
pub fn erase_refusal_by_facts(facts: &FactSet, disk: &Subject) -> Option<String> {
    check_kind_and_use(facts, disk)
        .and_then(|()| check_content(facts, disk))
        .err()
}

/// Like [`erase_refusal_by_facts`], but ignores the contents of the disk, which may be leftovers of
/// an earlier trial.
pub fn clear_refusal_by_facts(facts: &FactSet, disk: &Subject) -> Option<String> {
    check_kind_and_use(facts, disk).err()
}

fn check_kind_and_use(facts: &FactSet, disk: &Subject) -> Result<(), String> {
    match known_value_or_reason(facts, &Subject::host(), &host::CONTAINER) {
        Ok(container) if container == "none" => {}
        Ok(container) => {
            return Err(format!(
                "may be in use outside this container ({container})"
            ));
        }
        Err(why) => {
            return Err(format!(
                "may be in use outside this container, if this is one: {why}"
            ));
        }
    }
    match known_value_or_reason(facts, disk, &device::KIND) {
        Ok(kind) if kind.is_disk() || kind.is_partition() => {}
        Ok(kind) => {
            return Err(format!(
                "is neither a disk nor a partition, but {}",
                crate::facts::Choice::as_str(kind)
            ));
        }
        Err(why) => return Err(format!("has an unknown device type: {why}")),
    }
    let zones = known_value_or_reason(facts, disk, &device::ZONED);
    check_false(
        &zones.map(|zones| !matches!(zones, ZoneModel::None | ZoneModel::HostAware)),
        "has zones that must be written sequentially",
        "may have zones that must be written sequentially",
    )?;
    for (key, is, may) in [
        (&device::READ_ONLY, "is read-only", "may be read-only"),
        (&device::SWAP, "is in use as swap", "may be in use as swap"),
    ] {
        check_false(&known_value_or_reason(facts, disk, key), is, may)?;
    }
    let used = known_value_or_reason(facts, disk, &device::USED_BY);
    check_empty(&used, "is in use:", "may be in use")
}

fn check_content(facts: &FactSet, disk: &Subject) -> Result<(), String> {
    for key in [&device::HOLDS, &device::SIGNATURES] {
        let holds = known_value_or_reason(facts, disk, key);
        check_empty(&holds, "holds", "may hold data")?;
    }
    let content = known_value_or_reason(facts, disk, &device::CONTENT);
    check_false(
        &content.map(|content| !matches!(content, ContentState::Free | ContentState::Blank)),
        "holds data",
        "may hold data",
    )
}

/// The error is `is`, or `may` with the reason if the finding is unknown.
fn check_false(found: &DeviceReadResult<bool>, is: &str, may: &str) -> Result<(), String> {
    match found {
        Ok(false) => Ok(()),
        Ok(true) => Err(is.to_owned()),
        Err(why) => Err(format!("{may}: {why}")),
    }
}

fn check_empty(found: &DeviceReadResult<Vec<String>>, is: &str, may: &str) -> Result<(), String> {
    match found {
        Ok(all) if all.is_empty() => Ok(()),
        Ok(all) => Err(format!("{is} {}", all.join(", "))),
        Err(why) => Err(format!("{may}: {why}")),
    }
}

fn known_value_or_reason<T: FactValue>(
    facts: &FactSet,
    subject: &Subject,
    key: &Key<T>,
) -> DeviceReadResult<T> {
    match facts.get(subject, key) {
        Reading::Known { value, .. } => Ok(value),
        Reading::Unknown { why, detail, .. } if detail.is_empty() => Err(why.to_string()),
        Reading::Unknown { detail, .. } => Err(detail),
    }
}

/// Reason why the findings forbid erasing a device for an extent of `bytes`, as a phrase to put
/// after its name; `None` if they allow it.
pub fn erase_refusal_by_findings(found: &DeviceFindings, bytes: u64) -> Option<String> {
    check_findings(found, bytes).err()
}

fn check_findings(found: &DeviceFindings, bytes: u64) -> Result<(), String> {
    if found.hidden {
        return Err("is a path that the kernel hides (multipath)".to_owned());
    }
    if found.owner != 0 || found.is_open_to_all {
        return Err("has a device node that other users can open".to_owned());
    }
    let needed = bytes.saturating_add(RESERVED_END_BYTES);
    match &found.size {
        Ok(0) => return Err("has no size, because no medium is inserted".to_owned()),
        Ok(size) if *size < needed => {
            return Err(format!(
                "has {}, but the trial needs {}; choose a smaller --size",
                text::format_bytes(*size),
                text::format_bytes(needed)
            ));
        }
        Ok(_) => {}
        Err(why) => return Err(format!("has an unknown size: {why}")),
    }
    check_false(&found.read_only, "is read-only", "may be read-only")?;
    check_false(&found.removable, "is removable", "may be removable")?;
    check_false(
        &found.claimed,
        "is in use: the kernel or a program has claimed it (O_EXCL)",
        "may be in use",
    )?;
    for (list, is) in [
        (&found.holders, "is in use by"),
        (&found.partitions, "has partitions or overlaps them:"),
        (&found.openers, "is open in"),
        (&found.exports, "is in use by"),
        (&found.mentions, "is named in"),
    ] {
        check_empty(list, is, "may be in use")?;
    }
    found.disk_id.as_ref().map(drop).map_err(Clone::clone)
}

#[cfg(test)]
mod tests;
