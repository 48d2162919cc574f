//! Whether a device is free for a trial. Pure: it judges facts and findings, and whatever is
//! unknown there is a no.
//!
//! The facts are those by which a printed mkfs script is given or withheld: who uses the device,
//! and what was found on it. The findings are looked at again by the process that writes, without
//! the facts.

use super::findings::{DeviceFindings, LookedAt};
use super::mark::LAST;
use crate::facts::catalog::device::{self, Content, DeviceKind, Zoned};
use crate::facts::catalog::host as machine;
use crate::facts::{FactSet, FactValue, Key, Reading, Subject};
use crate::text;

/// Why a device may not be erased by what is known of it; `None` where it may. The words follow its
/// name.
pub fn by_facts(facts: &FactSet, disk: &Subject) -> Option<String> {
    about_kind(facts, disk)
        .or_else(|| about_use(facts, disk))
        .or_else(|| about_content(facts, disk))
}

/// The same without a word of what is on it: for what an earlier trial left there.
pub fn by_facts_of_use(facts: &FactSet, disk: &Subject) -> Option<String> {
    about_kind(facts, disk).or_else(|| about_use(facts, disk))
}

fn about_kind(facts: &FactSet, disk: &Subject) -> Option<String> {
    match known(facts, &Subject::host(), &machine::CONTAINER) {
        Ok(container) if container == "none" => {}
        Ok(container) => {
            return Some(format!(
                "is seen from a container ({container}), which hides who uses it"
            ));
        }
        Err(why) => {
            return Some(format!(
                "may be seen from a container, which hides who uses it: {why}"
            ));
        }
    }
    match known(facts, disk, &device::KIND) {
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
                crate::facts::Choice::word(kind)
            ));
        }
        Err(why) => return Some(format!("is of an unknown kind: {why}")),
    }
    match known(facts, disk, &device::ZONED) {
        Ok(Zoned::None | Zoned::HostAware) => None,
        Ok(Zoned::HostManaged) => Some("has zones that are written in order only".to_owned()),
        Err(why) => Some(format!(
            "may have zones that are written in order only: {why}"
        )),
    }
}

fn about_use(facts: &FactSet, disk: &Subject) -> Option<String> {
    match known(facts, disk, &device::READ_ONLY) {
        Ok(false) => {}
        Ok(true) => return Some("is read-only".to_owned()),
        Err(why) => return Some(format!("may be read-only: {why}")),
    }
    match known(facts, disk, &device::SWAP) {
        Ok(false) => {}
        Ok(true) => return Some("is swap in use".to_owned()),
        Err(why) => return Some(format!("may be swap in use: {why}")),
    }
    match known(facts, disk, &device::USED_BY) {
        Ok(used) if used.is_empty() => None,
        Ok(used) => Some(format!("is in use: {}", used.join(", "))),
        Err(why) => Some(format!("may be in use: {why}")),
    }
}

fn about_content(facts: &FactSet, disk: &Subject) -> Option<String> {
    let holds = match known(facts, disk, &device::HOLDS) {
        Ok(holds) if holds.is_empty() => None,
        Ok(holds) => Some(format!("holds {}", holds.join(", "))),
        Err(why) => Some(format!("may hold something: {why}")),
    };
    let signed = match known(facts, disk, &device::SIGNATURES) {
        Ok(signatures) if signatures.is_empty() => None,
        Ok(signatures) => Some(format!("holds {}", signatures.join(", "))),
        Err(why) => Some(format!("may hold something: {why}")),
    };
    let content = match known(facts, disk, &device::CONTENT) {
        Ok(Content::Free | Content::Blank) => None,
        Ok(Content::Holds) => Some("holds something".to_owned()),
        Err(why) => Some(format!("may hold something: {why}")),
    };
    holds.or(signed).or(content)
}

/// A fact, or why it is unknown.
fn known<T: FactValue>(facts: &FactSet, subject: &Subject, key: &Key<T>) -> LookedAt<T> {
    match facts.get(subject, key) {
        Reading::Known { value, .. } => Ok(value),
        Reading::Unknown { why, detail, .. } if detail.is_empty() => Err(why.to_string()),
        Reading::Unknown { detail, .. } => Err(detail),
    }
}

/// Why a device may not be erased by what is found of it, where an extent of so many bytes is
/// wanted; `None` where it may.
pub fn by_findings(found: &DeviceFindings, bytes: u64) -> Option<String> {
    if found.hidden {
        return Some("is a path that the kernel keeps for itself".to_owned());
    }
    if found.owner != 0 || found.is_open_to_all {
        return Some("has a node that another user can open".to_owned());
    }
    match &found.size {
        Ok(0) => return Some("has no size: no medium is in it".to_owned()),
        Ok(size) if *size < bytes.saturating_add(LAST) => {
            return Some(format!(
                "has {}, and a trial needs {}: choose a smaller --size",
                text::bytes(*size),
                text::bytes(bytes.saturating_add(LAST))
            ));
        }
        Ok(_) => {}
        Err(why) => return Some(format!("is of an unknown size: {why}")),
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
        (&found.holders, "is in use: on it stands"),
        (&found.parts, "has partitions, or shares its place with"),
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
    found.known_by.as_ref().err().cloned()
}

#[cfg(test)]
#[path = "free/tests.rs"]
mod tests;
