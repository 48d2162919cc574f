//! The claim of a hardware RAID controller: policy, policy in force, battery, and the caches of the
//! member disks.
//!
//! It judges the volume behind a controller from `controller.*` facts alone. Flush counters prove
//! nothing here. megaraid_sas completes SYNCHRONIZE CACHE for logical drives by itself unless the
//! firmware announces support (drivers/scsi/megaraid/megaraid_sas_base.c), so a rising counter can
//! end in the driver.

use super::ask::Ask;
use super::claim::Cache;
use super::{Bears, Evidence, Layer, Mend};
use crate::drivers::{self, Controller};
use crate::facts::Subject;
use crate::facts::catalog::controller::{self, Battery, DiskCache, OnFailure, Policy, WriteMode};
use crate::facts::catalog::device::{self, Transport};
use crate::facts::catalog::kernel;
use crate::truth::Truth;
use crate::version::Version;

/// RAID controllers behind the driver of a disk's SCSI host.
fn controller(ask: &mut Ask, disk: &Subject) -> Option<Controller> {
    let driver = ask.value(disk, &device::DRIVER)?;
    drivers::named(&driver)?.controller()
}

/// Whether a disk is a volume of a RAID controller.
pub fn is_behind_one(ask: &mut Ask, disk: &Subject, transport: Option<Transport>) -> bool {
    let by_driver = controller(ask, disk).is_some();
    transport.is_some_and(Transport::is_raid) || by_driver
}

/// Whether its controller only passes the disk on (JBOD, HBA mode), as its tool and the disk's
/// address agree. The controller's cache is then not in front of it, and its own governs.
pub fn is_passed_on(ask: &mut Ask, disk: &Subject) -> bool {
    ask.value(disk, &controller::VOLUME)
        .is_some_and(|volume| volume == "none")
}

/// Evidence that flushes may not reach a disk that is passed on. megaraid_sas answered them itself,
/// for any attached disk, before commit 5765c5b8b3a8 (*Send SYNCHRONIZE_CACHE for non-raid to
/// firmware*, Linux 4.9).
pub fn swallows(ask: &mut Ask, disk: &Subject) -> Option<Evidence> {
    if ask.value(disk, &device::DRIVER).as_deref() != Some("megaraid_sas") {
        return None;
    }
    let running = ask.value(&Subject::host(), &kernel::VERSION);
    let passes = running
        .zip(Version::parse("4.9"))
        .map_or(Truth::Unknown, |(running, since)| running.at_least(&since));
    let (bears, source) = (
        Bears::Unproven,
        ask.origin(&Subject::host(), &kernel::VERSION),
    );
    let says = format!(
        "megaraid_sas before Linux 4.9 acknowledges the flushes of {} without sending them",
        disk.name()
    );
    let evidence = Evidence::new(Layer::Belief, disk, bears, says, source);
    match passes {
        Truth::True => None,
        Truth::False => Some(evidence),
        Truth::Unknown => {
            ask.miss(&Subject::host(), &kernel::VERSION, None);
            Some(evidence)
        }
    }
}

/// The strength of a battery or flash module.
enum Power {
    /// It preserves the cache.
    Sound,
    /// It may preserve the cache.
    Doubtful,
    /// It does not preserve the cache.
    Gone,
}

fn power(battery: Battery) -> Power {
    match battery {
        Battery::Healthy => Power::Sound,
        Battery::Charging | Battery::Learning | Battery::Degraded | Battery::Unreadable => {
            Power::Doubtful
        }
        Battery::Failed | Battery::Absent => Power::Gone,
    }
}

/// Why the state of the battery is temporary; `None` where it is not.
fn passing(battery: Option<Battery>) -> Option<&'static str> {
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

/// Whether a volume that could hold writes back does not.
fn fell_back(policy: Option<Policy>) -> bool {
    match policy {
        Some(Policy::WriteBack | Policy::AlwaysWriteBack) => true,
        Some(Policy::WriteThrough) | None => false,
    }
}

/// The kind of the volume's cache, and the evidence for it.
pub fn judge(ask: &mut Ask, disk: &Subject) -> (Cache, Evidence) {
    use Bears::{AtRisk, Durable, Unproven};
    let name = disk.name();
    let policy = ask.value(disk, &controller::POLICY);
    let in_force = ask.value(disk, &controller::POLICY_IN_FORCE);
    let on_failure = ask.value(disk, &controller::ON_BATTERY_FAILURE);
    let battery = ask.value(disk, &controller::BATTERY);
    let members = ask.value(disk, &controller::DISK_CACHE);

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
    let (cache, bears, says) = match battery.map(|battery| (power(battery), battery)) {
        _ if members_hold => (
            Cache::Volatile,
            AtRisk(Mend::MemberCaches(disk.clone())),
            format!(
                "the disks behind {name} cache writes themselves, which no battery of the controller protects"
            ),
        ),
        Some((Power::Gone, battery)) if holds || (in_force.is_none() && unguarded) => (
            Cache::Volatile,
            AtRisk(Mend::Battery(disk.clone())),
            format!("the controller of {name} caches writes although its battery is {battery}"),
        ),
        _ if members_write_through && writes_through => {
            let until = passing(battery).filter(|_| fell_back(policy));
            let until = until.map(|why| format!(" while {why}")).unwrap_or_default();
            (
                Cache::None,
                Durable,
                format!("the controller of {name} writes through{until}, and so do its disks"),
            )
        }
        Some((Power::Sound, _)) if members_write_through && holds && guarded => (
            Cache::Protected,
            Durable,
            format!(
                "the controller's cache before {name} is protected by a healthy battery or flash module, and the controller falls back to write-through without it"
            ),
        ),
        Some((Power::Doubtful, battery)) if !writes_through => (
            Cache::Unknown,
            Unproven,
            match passing(Some(battery)) {
                Some(why) => format!(
                    "nothing shows that the cache of the controller of {name} is protected while {why}"
                ),
                None => format!(
                    "the battery of the controller of {name} is {battery}, so nothing shows that it protects the cache"
                ),
            },
        ),
        Some((Power::Sound, _)) if unguarded => (
            Cache::Unknown,
            Unproven,
            format!("the controller of {name} keeps caching writes when its battery fails"),
        ),
        Some((Power::Sound | Power::Doubtful | Power::Gone, _)) | None => unsettled(),
    };
    if cache.is_open() {
        let tool = controller(ask, disk).map_or(drivers::ANY_TOOL, |controller| controller.ask);
        ask.miss(disk, &controller::POLICY, Some(tool));
        ask.miss(disk, &controller::POLICY_IN_FORCE, Some(tool));
        ask.miss(disk, &controller::ON_BATTERY_FAILURE, Some(tool));
        ask.miss(disk, &controller::BATTERY, Some(tool));
        ask.miss(disk, &controller::DISK_CACHE, Some(tool));
    }
    let sources = [
        ask.origin(disk, &controller::BATTERY),
        ask.origin(disk, &controller::POLICY_IN_FORCE),
        ask.origin(disk, &controller::DISK_CACHE),
    ];
    let source = sources
        .into_iter()
        .find(|source| !source.is_empty())
        .unwrap_or_default();
    (
        cache,
        Evidence::new(Layer::Claim, disk, bears, says, source),
    )
}
