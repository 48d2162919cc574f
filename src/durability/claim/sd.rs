//! The word of SCSI, SATA and SAS disks and of everything else that the kernel's sd driver serves, USB bridges and the
//! disks of hypervisors among them (Documentation/scsi/sd-parameters.rst).
//!
//! Two can be asked: the kernel, which keeps what it read of the caching mode page (`cache_type`), and as root the disk
//! itself. The surprise: only the second can say *write through* to be believed. sd assumes it where a disk has no such
//! page, and `temporary write through` makes queue and `cache_type` say it together while the disk caches on.

use super::Word;
use crate::durability::ask::Ask;
use crate::facts::Subject;
use crate::facts::catalog::device::{self, CacheType, DriveCache};

const ASK_IT: &str =
    "ask the disk itself as root: smartctl -g wcache DEVICE, hdparm -W DEVICE or sdparm --get=WCE DEVICE";

/// What a disk says.
pub fn word(ask: &mut Ask, disk: &Subject) -> Word {
    let name = disk.name();
    let kept = ask.value(disk, &device::CACHE_TYPE).map(CacheType::holds_writes);
    let asked = ask.value(disk, &device::DRIVE_CACHE).map(DriveCache::is_on);
    match (kept, asked) {
        (Some(false), Some(true)) => Word::Torn(format!(
            "{name} answers that its write cache is on, although the kernel was told that it has none"
        )),
        (Some(true), Some(false)) => {
            Word::Torn(format!("{name} answers that its write cache is off, although the kernel found it on"))
        }
        (Some(true), _) | (None, Some(true)) => Word::Volatile,
        (Some(false), Some(false)) => Word::Without("asked past the kernel".to_owned()),
        (None, Some(false)) => Word::Silent(format!(
            "{name} answers that its write cache is off, and what it told the kernel is not known"
        )),
        (Some(false), None) => Word::Silent(format!(
            "that {name} has no volatile cache is the kernel's word alone: it assumes so where a disk says nothing, and can be told so"
        )),
        (None, None) => Word::Silent(format!("what {name} itself says of its cache is not known")),
    }
}

/// What the volume of a RAID controller shows to the kernel. What it would answer when asked is its controller's cache,
/// of which the controller's own tool tells in full; so it is not asked.
pub fn as_shown(ask: &mut Ask, disk: &Subject) -> Word {
    match ask.value(disk, &device::CACHE_TYPE).map(CacheType::holds_writes) {
        Some(true) => Word::Volatile,
        Some(false) => Word::Without("shown to the kernel".to_owned()),
        None => Word::Silent(String::new()),
    }
}

/// Notes what would settle it.
pub fn miss(ask: &mut Ask, disk: &Subject) {
    ask.miss(disk, &device::DRIVE_CACHE, Some(ASK_IT));
    ask.miss(disk, &device::CACHE_TYPE, None);
}
