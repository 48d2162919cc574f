//! The statement of SCSI, SATA and SAS disks and of everything else behind the kernel's sd driver, including USB
//! bridges and disks of hypervisors (Documentation/scsi/sd-parameters.rst).
//!
//! There are two sources: the kernel's copy of the caching mode page (`cache_type`), and, for root, the disk itself.
//! *Write through* is believed only from the disk. sd assumes it where a disk has no such page.
//! `temporary write through` makes queue and `cache_type` both say it while the disk keeps caching.

use super::statement::CacheStatement;
use crate::durability::ask::Ask;
use crate::facts::Subject;
use crate::facts::catalog::device::{self, CacheType, DriveCache};

const ASK_IT: &str =
    "ask the disk itself as root: smartctl -g wcache DEVICE, hdparm -W DEVICE or sdparm --get=WCE DEVICE";

pub fn word(ask: &mut Ask, disk: &Subject) -> CacheStatement {
    let name = disk.name();
    let kept = ask.value(disk, &device::CACHE_TYPE).map(CacheType::holds_writes);
    let asked = ask.value(disk, &device::DRIVE_CACHE).map(DriveCache::is_on);
    match (kept, asked) {
        (Some(false), Some(true)) => CacheStatement::Torn(format!(
            "{name} reports that its write cache is on, but the kernel was told that it has none"
        )),
        (Some(true), Some(false)) => CacheStatement::Torn(format!(
            "{name} reports that its write cache is off, but the kernel found it on"
        )),
        (Some(true), _) | (None, Some(true)) => CacheStatement::Volatile,
        (Some(false), Some(false)) => CacheStatement::Without("asked past the kernel".to_owned()),
        (None, Some(false)) => CacheStatement::Silent(format!(
            "{name} reports that its write cache is off, and it is unknown what it told the kernel"
        )),
        (Some(false), None) => CacheStatement::Silent(format!(
            "only the kernel says that {name} has no volatile cache: it assumes so if a disk reports nothing, and can be told so"
        )),
        (None, None) => {
            CacheStatement::Silent(format!("it is unknown what {name} itself reports of its cache"))
        }
    }
}

/// The statement that a RAID controller's volume shows to the kernel. The volume itself would answer about its
/// controller's cache, which the controller's own tool describes in full, so it is not asked.
pub fn as_shown(ask: &mut Ask, disk: &Subject) -> CacheStatement {
    match ask.value(disk, &device::CACHE_TYPE).map(CacheType::holds_writes) {
        Some(true) => CacheStatement::Volatile,
        Some(false) => CacheStatement::Without("shown to the kernel".to_owned()),
        None => CacheStatement::Silent(String::new()),
    }
}

/// Records the facts that would settle it as missing.
pub fn miss(ask: &mut Ask, disk: &Subject) {
    ask.miss(disk, &device::DRIVE_CACHE, Some(ASK_IT));
    ask.miss(disk, &device::CACHE_TYPE, None);
}
