//! Cache of a hardware RAID controller: policy, battery, and caches of the member disks.
//!
//! Flush counters prove nothing here: megaraid_sas completes SYNCHRONIZE CACHE itself unless the
//! firmware supports the command (drivers/scsi/megaraid/megaraid_sas_base.c).

use super::EvidenceImpact::{AtRisk, Durable, Unproven};
use super::device_view::CacheVolatility;
use super::fact_reader::FactReader;
use super::{Evidence, EvidenceLayer, VerdictRemedy};
use crate::facts::Subject;
use crate::facts::catalog::controller::{
    self, BatteryCondition, BatteryFailurePolicy, CachePolicy, CachePolicyInForce, MemberDiskCache,
};
use crate::facts::catalog::device::{self, Transport};
use crate::facts::catalog::kernel;
use crate::scsi_drivers::{self, RaidController};
use crate::ternary::Ternary;
use crate::version::Version;

fn raid_controller_of_driver(disk: FactReader) -> Option<RaidController> {
    let driver = disk.read(&device::DRIVER)?;
    scsi_drivers::find_driver(&driver)?.raid_controller
}

pub fn is_behind_raid_controller(disk: FactReader, transport: Option<Transport>) -> bool {
    let by_driver = raid_controller_of_driver(disk).is_some();
    transport.is_some_and(Transport::is_raid_controller) || by_driver
}

/// Whether the controller only passes the disk through (JBOD, HBA mode), so that the disk's own
/// cache matters. The fact is known only if the controller's tool and the disk's address agree.
pub fn is_passthrough_disk(disk: FactReader) -> bool {
    disk.read(&controller::VOLUME)
        .is_some_and(|volume| volume == "none")
}

/// Evidence that flushes of a passed-through disk may not reach the disk: before Linux 4.9 (commit
/// 5765c5b8b3a8, *Send SYNCHRONIZE_CACHE for non-raid to firmware*), megaraid_sas acknowledged such
/// flushes itself.
pub fn megaraid_dropped_flushes_evidence(disk: FactReader) -> Option<Evidence> {
    if disk.read(&device::DRIVER).as_deref() != Some("megaraid_sas") {
        return None;
    }
    let host = Subject::host();
    let (host, key) = (disk.for_subject(&host), &kernel::VERSION);
    let passes = host
        .read(key)
        .zip(Version::parse("4.9"))
        .map_or(Ternary::Unknown, |(running, since)| {
            running.at_least(&since)
        });
    match passes {
        Ternary::True => return None,
        Ternary::False => {}
        Ternary::Unknown => host.record_missing(key, None),
    }
    let text = format!(
        "megaraid_sas before Linux 4.9 acknowledges flushes for {} without sending them",
        disk.name()
    );
    Some(Evidence::new(
        EvidenceLayer::Kernel,
        disk.subject,
        Unproven,
        text,
        host.source_text(key),
    ))
}

/// The reason why the battery is only temporarily unavailable, as the end of a sentence; `None` if
/// the battery works or is permanently unavailable.
fn temporary_battery_outage(battery: Option<BatteryCondition>) -> Option<&'static str> {
    match battery {
        Some(BatteryCondition::Learning) => Some("its battery is in a learn cycle"),
        Some(BatteryCondition::Charging) => Some("its battery is charging"),
        Some(
            BatteryCondition::Healthy
            | BatteryCondition::Degraded
            | BatteryCondition::Failed
            | BatteryCondition::Absent
            | BatteryCondition::Unreadable,
        )
        | None => None,
    }
}

pub fn controller_cache_volatility(disk: FactReader) -> (CacheVolatility, Evidence) {
    let name = disk.name();
    let policy = disk.read(&controller::POLICY);
    let in_force = disk.read(&controller::POLICY_IN_FORCE);
    let on_failure = disk.read(&controller::ON_BATTERY_FAILURE);
    let battery = disk.read(&controller::BATTERY);
    let members = disk.read(&controller::DISK_CACHE);

    let is_healthy = battery == Some(BatteryCondition::Healthy);
    let has_failed = matches!(
        battery,
        Some(BatteryCondition::Failed | BatteryCondition::Absent)
    );
    let writes_back = policy == Some(CachePolicy::WriteBack);
    let always = policy == Some(CachePolicy::AlwaysWriteBack);
    let guarded = writes_back && on_failure == Some(BatteryFailurePolicy::WriteThrough);
    let unguarded = always || writes_back && on_failure == Some(BatteryFailurePolicy::Stays);
    let holds = in_force == Some(CachePolicyInForce::WriteBack);
    let writes_through = in_force == Some(CachePolicyInForce::WriteThrough);
    let members_write_through = members == Some(MemberDiskCache::Off);

    let unknown = |text| (CacheVolatility::Unknown, Unproven, text);
    let (cache, impact, text) = match battery {
        _ if members == Some(MemberDiskCache::On) => (
            CacheVolatility::Volatile,
            AtRisk(VerdictRemedy::new(format!(
                "Switch off the write caches of the disks behind {name} with the controller's tool."
            ))),
            format!(
                "the disks behind {name} have their own write caches enabled, which the controller's battery does not protect"
            ),
        ),
        Some(battery) if has_failed && (holds || in_force.is_none() && unguarded) => (
            CacheVolatility::Volatile,
            AtRisk(VerdictRemedy::new(format!(
                "Replace the battery of the controller of {name}, and set its cache to write through until then."
            ))),
            format!("the controller of {name} caches writes even though its battery is {battery}"),
        ),
        _ if members_write_through && writes_through => {
            let until = temporary_battery_outage(battery).filter(|_| writes_back || always);
            let until = until.map(|why| format!(" while {why}")).unwrap_or_default();
            (
                CacheVolatility::None,
                Durable,
                format!("the controller of {name} writes through{until}, and so do its disks"),
            )
        }
        _ if is_healthy && members_write_through && holds && guarded => (
            CacheVolatility::Protected,
            Durable,
            format!(
                "the controller's cache in front of {name} is protected by a healthy battery or flash module, and the controller falls back to write-through without it"
            ),
        ),
        Some(battery) if !is_healthy && !has_failed && !writes_through => {
            unknown(match temporary_battery_outage(Some(battery)) {
                Some(why) => format!(
                    "it is unknown whether the cache of the controller of {name} is protected while {why}"
                ),
                None => format!(
                    "the battery of the controller of {name} is {battery}, so the cache may be unprotected"
                ),
            })
        }
        _ if is_healthy && unguarded => unknown(format!(
            "the controller of {name} keeps caching writes when its battery fails"
        )),
        Some(_) | None => unknown(format!(
            "it is unknown whether the controller of {name} protects its cache; the controller may acknowledge flushes itself"
        )),
    };
    if cache.is_unknown() {
        let tool = raid_controller_of_driver(disk)
            .map_or(scsi_drivers::ANY_CONTROLLER_HINT, |controller| {
                controller.hint
            });
        disk.record_missing(&controller::POLICY, Some(tool));
        disk.record_missing(&controller::POLICY_IN_FORCE, Some(tool));
        disk.record_missing(&controller::ON_BATTERY_FAILURE, Some(tool));
        disk.record_missing(&controller::BATTERY, Some(tool));
        disk.record_missing(&controller::DISK_CACHE, Some(tool));
    }
    let source = disk.source_text_of_first_known(&[
        &controller::BATTERY.info,
        &controller::POLICY_IN_FORCE.info,
        &controller::DISK_CACHE.info,
    ]);
    let layer = EvidenceLayer::Device;
    (
        cache,
        Evidence::new(layer, disk.subject, impact, text, source),
    )
}
