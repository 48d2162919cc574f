//! Decides from facts and findings, without I/O, whether a device is free for a trial. An unknown
//! fact or finding is a reason to refuse.
//!
//! The facts also decide whether an mkfs script may be printed. The child process that writes to
//! the disk has no facts, so it decides by findings alone.

use super::device_findings::{DeviceFindings, DeviceReadResult};
use super::trial_mark::RESERVED_END_BYTES;
use crate::facts::catalog::device::{self, ContentState, DeviceKind, ZoneModel};
use crate::facts::catalog::host;
use crate::facts::{FactSet, FactValue, Key, Reading, Subject};
use crate::text;

/// Reason why the facts forbid erasing a device, as a phrase to put after its name; `None` if
/// they allow it.
pub fn erase_refusal_by_facts(facts: &FactSet, disk: &Subject) -> Option<String> {
    container_kind_or_zone_refusal(facts, disk)
        .or_else(|| read_only_or_use_refusal(facts, disk))
        .or_else(|| content_refusal(facts, disk))
}

/// Like [`erase_refusal_by_facts`], but ignores the contents of the disk, which may be leftovers of
/// an earlier trial.
pub fn clear_refusal_by_facts(facts: &FactSet, disk: &Subject) -> Option<String> {
    container_kind_or_zone_refusal(facts, disk).or_else(|| read_only_or_use_refusal(facts, disk))
}

fn container_kind_or_zone_refusal(facts: &FactSet, disk: &Subject) -> Option<String> {
    match known_value_or_reason(facts, &Subject::host(), &host::CONTAINER) {
        Ok(container) if container == "none" => {}
        Ok(container) => {
            return Some(format!(
                "may be in use outside this container ({container})"
            ));
        }
        Err(why) => {
            return Some(format!("may be in use outside a container: {why}"));
        }
    }
    match known_value_or_reason(facts, disk, &device::KIND) {
        Ok(DeviceKind::Disk | DeviceKind::Partition) => {}
        Ok(
            kind @ (DeviceKind::Md
            | DeviceKind::Lvm
            | DeviceKind::Crypt
            | DeviceKind::Multipath
            | DeviceKind::Dmraid
            | DeviceKind::Vdo
            | DeviceKind::Dm
            | DeviceKind::Bcache
            | DeviceKind::Drbd
            | DeviceKind::Zvol
            | DeviceKind::Loop
            | DeviceKind::Zram
            | DeviceKind::Ram
            | DeviceKind::Other),
        ) => {
            return Some(format!(
                "is neither a disk nor a partition, but {}",
                crate::facts::Choice::as_str(kind)
            ));
        }
        Err(why) => return Some(format!("is of an unknown kind: {why}")),
    }
    match known_value_or_reason(facts, disk, &device::ZONED) {
        Ok(ZoneModel::None | ZoneModel::HostAware) => None,
        Ok(ZoneModel::HostManaged) => {
            Some("has zones that must be written sequentially".to_owned())
        }
        Err(why) => Some(format!(
            "may have zones that must be written sequentially: {why}"
        )),
    }
}

fn read_only_or_use_refusal(facts: &FactSet, disk: &Subject) -> Option<String> {
    match known_value_or_reason(facts, disk, &device::READ_ONLY) {
        Ok(false) => {}
        Ok(true) => return Some("is read-only".to_owned()),
        Err(why) => return Some(format!("may be read-only: {why}")),
    }
    match known_value_or_reason(facts, disk, &device::SWAP) {
        Ok(false) => {}
        Ok(true) => return Some("is in use as swap".to_owned()),
        Err(why) => return Some(format!("may be in use as swap: {why}")),
    }
    match known_value_or_reason(facts, disk, &device::USED_BY) {
        Ok(used) if used.is_empty() => None,
        Ok(used) => Some(format!("is in use: {}", used.join(", "))),
        Err(why) => Some(format!("may be in use: {why}")),
    }
}

fn content_refusal(facts: &FactSet, disk: &Subject) -> Option<String> {
    let holds = match known_value_or_reason(facts, disk, &device::HOLDS) {
        Ok(holds) if holds.is_empty() => None,
        Ok(holds) => Some(format!("holds {}", holds.join(", "))),
        Err(why) => Some(format!("may hold data: {why}")),
    };
    let signed = match known_value_or_reason(facts, disk, &device::SIGNATURES) {
        Ok(signatures) if signatures.is_empty() => None,
        Ok(signatures) => Some(format!("holds {}", signatures.join(", "))),
        Err(why) => Some(format!("may hold data: {why}")),
    };
    let content = match known_value_or_reason(facts, disk, &device::CONTENT) {
        Ok(ContentState::Free | ContentState::Blank) => None,
        Ok(ContentState::Holds) => Some("holds data".to_owned()),
        Err(why) => Some(format!("may hold data: {why}")),
    };
    holds.or(signed).or(content)
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
    if found.hidden {
        return Some("is a path that the kernel hides (multipath)".to_owned());
    }
    if found.owner != 0 || found.is_open_to_all {
        return Some("has a device node that other users can open".to_owned());
    }
    match &found.size {
        Ok(0) => return Some("has no size: no medium is inserted".to_owned()),
        Ok(size) if *size < bytes.saturating_add(RESERVED_END_BYTES) => {
            return Some(format!(
                "has {}, and a trial needs {}: choose a smaller --size",
                text::format_bytes(*size),
                text::format_bytes(bytes.saturating_add(RESERVED_END_BYTES))
            ));
        }
        Ok(_) => {}
        Err(why) => return Some(format!("has an unknown size: {why}")),
    }
    let flags = [
        (&found.read_only, "is read-only", "may be read-only"),
        (&found.removable, "is removable", "may be removable"),
        (
            &found.claimed,
            "is in use: the kernel or a program has claimed it (O_EXCL)",
            "may be in use",
        ),
    ];
    for (flag, is, may) in flags {
        match flag {
            Ok(false) => {}
            Ok(true) => return Some(is.to_owned()),
            Err(why) => return Some(format!("{may}: {why}")),
        }
    }
    let lists = [
        (&found.holders, "is in use by"),
        (&found.partitions, "has partitions, or overlaps with"),
        (&found.openers, "is open in"),
        (&found.exports, "is in use by"),
        (&found.mentions, "is named in"),
    ];
    for (list, is) in lists {
        match list {
            Ok(all) if all.is_empty() => {}
            Ok(all) => return Some(format!("{is} {}", all.join(", "))),
            Err(why) => return Some(format!("may be in use: {why}")),
        }
    }
    found.disk_id.as_ref().err().cloned()
}

#[cfg(test)]
mod tests;
