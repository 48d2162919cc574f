//! The statement of NVMe drives: the field VWC of Identify Controller and feature 06h, both for
//! root alone (NVM Express base specification, *Identify Controller* and *Volatile Write Cache*).
//!
//! The driver sets the queue by VWC, so the drive need not be asked while the queue says *write
//! back*. Drives with capacitors often report no volatile cache, which holds only until they warn
//! of the capacitors. Atomic write sizes (AWUPF) are not used.
//!
//! The driver passes forced unit access for drives with a volatile cache alone, and nobody can
//! change that in sysfs. So it still shows what the driver was told where somebody told the queue
//! *write through* (drivers/nvme/host/core.c, where one flag sets both). Of a drive in this machine
//! that is half of its word; a cloud's disk has no capacitor here that could fail, and all that is
//! said of it is its provider's word.

use super::statement::CacheStatement;
use crate::durability::ask::Ask;
use crate::facts::Subject;
use crate::facts::catalog::device::{self, DriveCache};

const IDENTIFY: &str = "ask the controller as root: nvme id-ctrl -H DEVICE (line vwc)";
const HEALTH: &str =
    "ask for the drive's warnings as root: nvme smart-log DEVICE (line critical_warning)";

pub fn word(ask: &mut Ask, disk: &Subject) -> CacheStatement {
    let name = disk.name();
    let presented = is_presented(ask, disk);
    let told = ask
        .value(disk, &device::FUA)
        .filter(|passed| *passed || presented);
    let has_one = ask.value(disk, &device::NVME_VOLATILE).or(told);
    let asked = ask.value(disk, &device::DRIVE_CACHE).map(DriveCache::is_on);
    match (has_one, asked) {
        (Some(false), Some(true)) => CacheStatement::Torn(format!(
            "{name} reports no volatile cache and also that this cache is on"
        )),
        (Some(true), Some(false)) => CacheStatement::SwitchedOff,
        (Some(true), _) | (None, Some(true)) => CacheStatement::Volatile,
        (Some(false), _) if presented => {
            CacheStatement::Without("its provider's word, which no guest can check".to_owned())
        }
        // No volatile cache, or one that is protected: the drive's warnings tell whether the
        // protection still works.
        (Some(false), _) => match ask.value(disk, &device::NVME_WARNINGS) {
            Some(_) => {
                CacheStatement::Without("VWC of nvme id-ctrl, and no warning against it".to_owned())
            }
            None => CacheStatement::Silent(format!(
                "{name} reports no volatile cache, and it is unknown whether it warns of a failed power backup"
            )),
        },
        (None, Some(false) | None) => CacheStatement::Silent(format!(
            "it is unknown what {name} itself reports of its cache"
        )),
    }
}

/// Whether it is a cloud's disk that outlives this machine: what could fail behind it is not here.
pub fn is_presented(ask: &mut Ask, disk: &Subject) -> bool {
    ask.value(disk, &device::CLOUD).is_some() && ask.value(disk, &device::EPHEMERAL) == Some(false)
}

/// Records the facts that would settle it as missing.
pub fn miss(ask: &mut Ask, disk: &Subject) {
    if ask.value(disk, &device::NVME_VOLATILE).is_none() {
        ask.miss(disk, &device::NVME_VOLATILE, Some(IDENTIFY));
    }
    if ask.value(disk, &device::NVME_WARNINGS).is_none() {
        ask.miss(disk, &device::NVME_WARNINGS, Some(HEALTH));
    }
}
