//! Reports of NVMe drives about their caches: VWC of Identify Controller and feature 06h (NVM
//! Express base specification).
//!
//! The kernel sets FUA only for drives with a volatile cache, and sysfs cannot change FUA. FUA
//! therefore reveals VWC even if the queue was set to *write through* (drivers/nvme/host/core.c).

use super::CacheReport;
use crate::durability::fact_reader::FactReader;
use crate::facts::catalog::device::{self, DriveCacheState};

const IDENTIFY_REMEDY: &str = "read it as root: nvme id-ctrl -H DEVICE (line vwc)";
const WARNINGS_REMEDY: &str =
    "read the drive's warnings as root: nvme smart-log DEVICE (line critical_warning)";

pub fn nvme_cache_report(disk: FactReader) -> CacheReport {
    let name = disk.name();
    let presented = is_persistent_cloud_volume(disk);
    let told = disk
        .read(&device::FUA)
        .filter(|passed| *passed || presented);
    let has_one = disk.read(&device::NVME_VOLATILE).or(told);
    let asked = disk.read(&device::DRIVE_CACHE).map(DriveCacheState::is_on);
    match (has_one, asked) {
        (Some(false), Some(true)) => CacheReport::Conflicting(format!(
            "{name} reports both that it has no volatile cache and that this cache is on"
        )),
        (Some(true), Some(false)) => CacheReport::SwitchedOff,
        (Some(true), _) | (None, Some(true)) => CacheReport::Volatile,
        (Some(false), _) if presented => {
            CacheReport::NoCache("according to the provider; a guest cannot verify it".to_owned())
        }
        // Without a volatile cache, the drive has either no cache or a protected one. Only its
        // warnings show whether the protection still works.
        (Some(false), _) => match disk.read(&device::NVME_WARNINGS) {
            Some(_) => CacheReport::NoCache("VWC in nvme id-ctrl, no warnings".to_owned()),
            None => CacheReport::Unreported(format!(
                "{name} reports no volatile cache, and it is unknown whether it warns of a failed power backup"
            )),
        },
        (None, Some(false) | None) => CacheReport::Unreported(format!(
            "it is unknown what {name} itself reports about its cache"
        )),
    }
}

/// Whether the disk is a cloud volume that outlives the instance; the hardware of such a volume is
/// not visible here.
pub fn is_persistent_cloud_volume(disk: FactReader) -> bool {
    disk.read(&device::CLOUD).is_some() && disk.read(&device::EPHEMERAL) == Some(false)
}

pub fn record_missing_nvme_cache_facts(disk: FactReader) {
    disk.record_missing(&device::NVME_VOLATILE, Some(IDENTIFY_REMEDY));
    disk.record_missing(&device::NVME_WARNINGS, Some(WARNINGS_REMEDY));
}
