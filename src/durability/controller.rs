//! The claim of a hardware RAID controller: policy, policy in force, battery, and the caches of the member disks.
//!
//! It judges the volume behind a controller from `controller.*` facts alone. The surprise: flushes prove nothing here.
//! megaraid_sas completes SYNCHRONIZE CACHE for logical drives by itself unless the firmware announces support
//! (drivers/scsi/megaraid/megaraid_sas_base.c), so a rising flush counter can end in the driver.

use super::ask::Ask;
use super::claim::Cache;
use super::{Evidence, Layer, Standing};
use crate::facts::catalog::controller;
use crate::facts::catalog::device::{self, Transport};
use crate::facts::{Key, Subject};

/// SCSI hosts that are always RAID controllers with a cache of their own.
const DRIVERS: [&str; 7] = ["megaraid_sas", "hpsa", "cciss", "aacraid", "arcmsr", "3w-9xxx", "3w-sas"];

/// How a controller is asked, by the driver of its volumes.
fn tool(driver: Option<&str>) -> &'static str {
    match driver {
        Some("megaraid_sas" | "megaraid") => {
            "ask the controller as root with storcli, perccli (Dell) or MegaCli: policy, policy in force, battery, disk caches"
        }
        Some("mpi3mr") => "ask the controller as root with storcli2 or perccli2 (Dell)",
        Some("hpsa" | "cciss") => {
            "ask the controller as root with ssacli (older: hpssacli, hpacucli): cache, battery, drive write cache"
        }
        Some("smartpqi") => "ask the controller as root with ssacli (HPE) or arcconf (Adaptec, Microchip)",
        Some("aacraid") => {
            "ask the controller as root with arcconf: write-cache setting, backup unit, disk caches"
        }
        Some("arcmsr") => {
            "ask the controller as root with areca-cli, which walwise does not read: battery, write policy, disk caches"
        }
        Some("3w-9xxx" | "3w-sas") => {
            "ask the controller as root with tw_cli, which walwise does not read: battery, write policy, disk caches"
        }
        _ => "ask the controller with its own tool as root (storcli, perccli, MegaCli, ssacli or arcconf)",
    }
}

/// Whether a disk is a volume of a RAID controller.
pub fn is_behind_one(ask: &mut Ask, disk: &Subject, transport: Option<Transport>) -> bool {
    let driver = ask.value(disk, &device::DRIVER);
    transport.is_some_and(Transport::is_raid) || driver.is_some_and(|name| DRIVERS.contains(&name.as_str()))
}

/// What the volume's cache is, and what speaks for that.
pub fn judge(ask: &mut Ask, disk: &Subject) -> (Cache, Evidence) {
    use Standing::{AtRisk, Durable, Unproven};
    let name = disk.name();
    let policy = ask.value(disk, &controller::POLICY);
    let in_force = ask.value(disk, &controller::POLICY_IN_FORCE);
    let on_failure = ask.value(disk, &controller::ON_BATTERY_FAILURE);
    let battery = ask.value(disk, &controller::BATTERY);
    let members = ask.value(disk, &controller::DISK_CACHE);

    let unguarded = policy.as_deref() == Some("always write back")
        || (policy.as_deref() == Some("write back") && on_failure.as_deref() == Some("stays"));
    let writes_back = in_force.as_deref() == Some("write back") || (in_force.is_none() && unguarded);

    let (cache, standing, says) = match (battery.as_deref(), members.as_deref()) {
        (_, Some("on")) => (
            Cache::Volatile,
            AtRisk,
            format!(
                "the disks behind {name} hold writes in caches of their own, which no battery of the controller protects"
            ),
        ),
        (Some(battery @ ("failed" | "absent")), _) if writes_back => (
            Cache::Volatile,
            AtRisk,
            format!("the controller of {name} holds writes in its cache although its battery is {battery}"),
        ),
        (_, Some("off")) if in_force.as_deref() == Some("write through") => {
            (Cache::None, Durable, format!("the controller of {name} writes through, and so do its disks"))
        }
        (Some("healthy"), Some("off"))
            if in_force.as_deref() == Some("write back")
                && policy.as_deref() == Some("write back")
                && on_failure.as_deref() == Some("write through") =>
        {
            (
                Cache::Protected,
                Durable,
                format!(
                    "the controller's cache before {name} is protected by a healthy battery or flash module, and falls back to write through without it"
                ),
            )
        }
        (Some(battery @ ("charging" | "learning" | "degraded" | "unreadable")), _)
            if in_force.as_deref() != Some("write through") =>
        {
            (
                Cache::Unknown,
                Unproven,
                format!(
                    "the battery of the controller before {name} is {battery}, so whether it protects the cache is not shown"
                ),
            )
        }
        (Some("healthy"), _) if unguarded => (
            Cache::Unknown,
            Unproven,
            format!("the controller of {name} keeps holding writes in its cache when its battery fails"),
        ),
        _ => (
            Cache::Unknown,
            Unproven,
            format!(
                "whether the controller of {name} protects its cache is not known, and it may answer flushes itself"
            ),
        ),
    };
    if cache.is_open() {
        let tool = tool(ask.value(disk, &device::DRIVER).as_deref());
        for key in [
            &controller::POLICY,
            &controller::POLICY_IN_FORCE,
            &controller::ON_BATTERY_FAILURE,
            &controller::BATTERY,
            &controller::DISK_CACHE,
        ] {
            ask.miss(disk, key, Some(tool));
        }
    }
    let known = |key: &Key<String>| ask.origin(disk, key);
    let source = [&controller::BATTERY, &controller::POLICY_IN_FORCE, &controller::DISK_CACHE]
        .map(known)
        .into_iter()
        .find(|source| !source.is_empty())
        .unwrap_or_default();
    (cache, Evidence { layer: Layer::Claim, subject: disk.clone(), standing, says, source })
}
