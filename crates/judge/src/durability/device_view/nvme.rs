//! What NVMe drives report: VWC of Identify Controller and feature 06h (NVM Express base
//! specification). FUA is set only for drives with a volatile cache and cannot be changed in sysfs,
//! so it reveals VWC even if the queue was set to *write through* (drivers/nvme/host/core.c).

use super::cache_statement::CacheStatement;
use crate::durability::fact_reader::FactReader;
use crate::facts::Subject;
use crate::facts::catalog::device::{self, DriveCache};

const IDENTIFY_REMEDY: &str = "ask the controller as root: nvme id-ctrl -H DEVICE (line vwc)";
const WARNINGS_REMEDY: &str =
    "ask for the drive's warnings as root: nvme smart-log DEVICE (line critical_warning)";

pub fn cache_statement(ask: &mut FactReader, disk: &Subject) -> CacheStatement {
    let name = disk.name();
    let presented = is_cloud_volume(ask, disk);
    let told = ask
        .get(disk, &device::FUA)
        .filter(|passed| *passed || presented);
    let has_one = ask.get(disk, &device::NVME_VOLATILE).or(told);
    let asked = ask.get(disk, &device::DRIVE_CACHE).map(DriveCache::is_on);
    match (has_one, asked) {
        (Some(false), Some(true)) => CacheStatement::Conflicting(format!(
            "{name} reports no volatile cache and also that this cache is on"
        )),
        (Some(true), Some(false)) => CacheStatement::SwitchedOff,
        (Some(true), _) | (None, Some(true)) => CacheStatement::Volatile,
        (Some(false), _) if presented => {
            CacheStatement::NoCache("the provider's statement; a guest cannot verify it".to_owned())
        }
        // No volatile cache, or a protected one: the drive's warnings show whether the protection
        // still works.
        (Some(false), _) => match ask.get(disk, &device::NVME_WARNINGS) {
            Some(_) => CacheStatement::NoCache("VWC of nvme id-ctrl, no warnings".to_owned()),
            None => CacheStatement::Unreported(format!(
                "{name} reports no volatile cache, and it is unknown whether it warns of a failed power backup"
            )),
        },
        (None, Some(false) | None) => CacheStatement::Unreported(format!(
            "it is unknown what {name} itself reports of its cache"
        )),
    }
}

/// Whether it is a cloud volume that outlives this machine: its hardware is not visible here.
pub fn is_cloud_volume(ask: &mut FactReader, disk: &Subject) -> bool {
    ask.get(disk, &device::CLOUD).is_some() && ask.get(disk, &device::EPHEMERAL) == Some(false)
}

pub fn note_missing(ask: &mut FactReader, disk: &Subject) {
    if ask.get(disk, &device::NVME_VOLATILE).is_none() {
        ask.note_missing(disk, &device::NVME_VOLATILE, Some(IDENTIFY_REMEDY));
    }
    if ask.get(disk, &device::NVME_WARNINGS).is_none() {
        ask.note_missing(disk, &device::NVME_WARNINGS, Some(WARNINGS_REMEDY));
    }
}
