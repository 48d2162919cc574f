//! A hardware RAID controller: cache policy, battery, and caches of the member disks. Flush
//! counters prove nothing here: megaraid_sas completes SYNCHRONIZE CACHE itself unless the firmware
//! supports it (drivers/scsi/megaraid/megaraid_sas_base.c).

use super::device_view::Cache;
use super::fact_reader::FactReader;
use super::{Evidence, Impact, Layer, Remedy};
use crate::drivers::{self, Controller};
use crate::facts::Subject;
use crate::facts::catalog::controller::{self, Battery, DiskCache, OnFailure, Policy, WriteMode};
use crate::facts::catalog::device::{self, Transport};
use crate::facts::catalog::kernel;
use crate::ternary::Ternary;
use crate::version::Version;

/// The RAID controller behind the driver of a disk's SCSI host.
fn raid_controller(ask: &mut FactReader, disk: &Subject) -> Option<Controller> {
    let driver = ask.get(disk, &device::DRIVER)?;
    drivers::find(&driver)?.controller()
}

pub fn is_behind_raid(ask: &mut FactReader, disk: &Subject, transport: Option<Transport>) -> bool {
    let by_driver = raid_controller(ask, disk).is_some();
    transport.is_some_and(Transport::is_raid) || by_driver
}

/// Whether the controller only passes the disk through (JBOD, HBA mode), so that the disk's own
/// cache matters. Its tool and the disk's address must agree.
pub fn is_passthrough_disk(ask: &mut FactReader, disk: &Subject) -> bool {
    ask.get(disk, &controller::VOLUME)
        .is_some_and(|volume| volume == "none")
}

/// Evidence that flushes may not reach a passed-through disk: megaraid_sas answered them itself
/// before commit 5765c5b8b3a8 (*Send SYNCHRONIZE_CACHE for non-raid to firmware*, Linux 4.9).
pub fn swallowed_flushes(ask: &mut FactReader, disk: &Subject) -> Option<Evidence> {
    if ask.get(disk, &device::DRIVER).as_deref() != Some("megaraid_sas") {
        return None;
    }
    let running = ask.get(&Subject::host(), &kernel::VERSION);
    let passes = running
        .zip(Version::parse("4.9"))
        .map_or(Ternary::Unknown, |(running, since)| {
            running.at_least(&since)
        });
    let (bears, source) = (
        Impact::Unproven,
        ask.source_text(&Subject::host(), &kernel::VERSION),
    );
    let says = format!(
        "megaraid_sas before Linux 4.9 acknowledges the flushes of {} without sending them",
        disk.name()
    );
    let evidence = Evidence::new(Layer::Kernel, disk, bears, says, source);
    match passes {
        Ternary::True => None,
        Ternary::False => Some(evidence),
        Ternary::Unknown => {
            ask.note_missing(&Subject::host(), &kernel::VERSION, None);
            Some(evidence)
        }
    }
}

/// Whether a battery or flash module protects the cache.
enum BatteryState {
    Healthy,
    Uncertain,
    Failed,
}

fn battery_state(battery: Battery) -> BatteryState {
    match battery {
        Battery::Healthy => BatteryState::Healthy,
        Battery::Charging | Battery::Learning | Battery::Degraded | Battery::Unreadable => {
            BatteryState::Uncertain
        }
        Battery::Failed | Battery::Absent => BatteryState::Failed,
    }
}

/// Why the state of the battery is temporary; `None` if it is not.
fn temporary_state(battery: Option<Battery>) -> Option<&'static str> {
    match battery {
        Some(Battery::Learning) => Some("its battery is in a learn cycle"),
        Some(Battery::Charging) => Some("its battery is charging"),
        Some(
            Battery::Healthy
            | Battery::Degraded
            | Battery::Failed
            | Battery::Absent
            | Battery::Unreadable,
        )
        | None => None,
    }
}

fn allows_write_back(policy: Option<Policy>) -> bool {
    match policy {
        Some(Policy::WriteBack | Policy::AlwaysWriteBack) => true,
        Some(Policy::WriteThrough) | None => false,
    }
}

/// The cache of a RAID volume, and the evidence for it.
pub fn controller_cache(ask: &mut FactReader, disk: &Subject) -> (Cache, Evidence) {
    use Impact::{AtRisk, Durable, Unproven};
    let name = disk.name();
    let policy = ask.get(disk, &controller::POLICY);
    let in_force = ask.get(disk, &controller::POLICY_IN_FORCE);
    let on_failure = ask.get(disk, &controller::ON_BATTERY_FAILURE);
    let battery = ask.get(disk, &controller::BATTERY);
    let members = ask.get(disk, &controller::DISK_CACHE);

    let (guarded, unguarded) = match (policy, on_failure) {
        (Some(Policy::WriteBack), Some(OnFailure::WriteThrough)) => (true, false),
        (Some(Policy::WriteBack), Some(OnFailure::Stays))
        | (
            Some(Policy::AlwaysWriteBack),
            Some(OnFailure::Stays | OnFailure::WriteThrough) | None,
        ) => (false, true),
        (Some(Policy::WriteBack), None)
        | (
            Some(Policy::WriteThrough) | None,
            Some(OnFailure::Stays | OnFailure::WriteThrough) | None,
        ) => (false, false),
    };
    let (holds, writes_through) = match in_force {
        Some(WriteMode::WriteBack) => (true, false),
        Some(WriteMode::WriteThrough) => (false, true),
        None => (false, false),
    };
    let (members_hold, members_write_through) = match members {
        Some(DiskCache::On) => (true, false),
        Some(DiskCache::Off) => (false, true),
        Some(DiskCache::DiskDefault) | None => (false, false),
    };

    let unsettled = || {
        (
            Cache::Unknown,
            Unproven,
            format!(
                "it is unknown whether the controller of {name} protects its cache, and it may answer flushes itself"
            ),
        )
    };
    let (cache, bears, says) = match battery.map(|battery| (battery_state(battery), battery)) {
        _ if members_hold => (
            Cache::Volatile,
            AtRisk(Remedy::DisableMemberCaches(disk.clone())),
            format!(
                "the disks behind {name} cache writes themselves, which no battery of the controller protects"
            ),
        ),
        Some((BatteryState::Failed, battery)) if holds || (in_force.is_none() && unguarded) => (
            Cache::Volatile,
            AtRisk(Remedy::ReplaceBattery(disk.clone())),
            format!("the controller of {name} caches writes although its battery is {battery}"),
        ),
        _ if members_write_through && writes_through => {
            let until = temporary_state(battery).filter(|_| allows_write_back(policy));
            let until = until.map(|why| format!(" while {why}")).unwrap_or_default();
            (
                Cache::None,
                Durable,
                format!("the controller of {name} writes through{until}, and so do its disks"),
            )
        }
        Some((BatteryState::Healthy, _)) if members_write_through && holds && guarded => (
            Cache::Protected,
            Durable,
            format!(
                "the controller's cache in front of {name} is protected by a healthy battery or flash module, and the controller falls back to write-through without it"
            ),
        ),
        Some((BatteryState::Uncertain, battery)) if !writes_through => (
            Cache::Unknown,
            Unproven,
            match temporary_state(Some(battery)) {
                Some(why) => format!(
                    "nothing shows that the cache of the controller of {name} is protected while {why}"
                ),
                None => format!(
                    "the battery of the controller of {name} is {battery}, so nothing shows that it protects the cache"
                ),
            },
        ),
        Some((BatteryState::Healthy, _)) if unguarded => (
            Cache::Unknown,
            Unproven,
            format!("the controller of {name} keeps caching writes when its battery fails"),
        ),
        Some((BatteryState::Healthy | BatteryState::Uncertain | BatteryState::Failed, _))
        | None => unsettled(),
    };
    if cache.is_unknown() {
        let tool = raid_controller(ask, disk)
            .map_or(drivers::ANY_TOOL, |controller| controller.query_hint);
        ask.note_missing(disk, &controller::POLICY, Some(tool));
        ask.note_missing(disk, &controller::POLICY_IN_FORCE, Some(tool));
        ask.note_missing(disk, &controller::ON_BATTERY_FAILURE, Some(tool));
        ask.note_missing(disk, &controller::BATTERY, Some(tool));
        ask.note_missing(disk, &controller::DISK_CACHE, Some(tool));
    }
    let sources = [
        ask.source_text(disk, &controller::BATTERY),
        ask.source_text(disk, &controller::POLICY_IN_FORCE),
        ask.source_text(disk, &controller::DISK_CACHE),
    ];
    let source = sources
        .into_iter()
        .find(|source| !source.is_empty())
        .unwrap_or_default();
    (
        cache,
        Evidence::new(Layer::Device, disk, bears, says, source),
    )
}
