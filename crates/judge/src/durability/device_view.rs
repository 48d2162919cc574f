//! Cache of a disk: reports of the disk, its controller or its hypervisor, compared with the
//! kernel's queue (Documentation/block/writeback_cache_control.rst).

mod guarantor;
mod nvme;
mod uninspectable_disk;
mod warnings;
mod sd {
    //! Reports of disks behind sd (Documentation/scsi/sd-parameters.rst): the kernel's `cache_type`
    //! and, for root, the disk's own answer.
    //!
    //! Only the disk's own answer counts for *write through*: sd assumes that value for a disk
    //! without a caching mode page, and `temporary write through` fakes it.

    use super::CacheReport;
    use crate::durability::fact_reader::FactReader;
    use crate::facts::Subject;
    use crate::facts::catalog::device::{self, CacheType, DriveCacheState, Transport};

    const ASK_DISK: &str = "read the disk's cache setting as root: smartctl -g wcache DEVICE, hdparm -W DEVICE or sdparm --get=WCE DEVICE";

    /// A guest can query only the hypervisor's device model, not the real cache mode.
    const ASK_HYPERVISOR: &str =
        "ask the hypervisor's administrator for the cache mode of this disk";

    pub fn scsi_cache_report(ask: &mut FactReader, disk: &Subject) -> CacheReport {
        let name = disk.name();
        let kept = ask
            .read_and_record_use(disk, &device::CACHE_TYPE)
            .map(CacheType::can_hold_writes);
        let asked = ask
            .read_and_record_use(disk, &device::DRIVE_CACHE)
            .map(DriveCacheState::is_on);
        match (kept, asked) {
            (Some(false), Some(true)) => CacheReport::Conflicting(format!(
                "{name} reports that its write cache is on, but the kernel's cache_type is write through"
            )),
            (Some(true), Some(false)) => CacheReport::Conflicting(format!(
                "{name} reports that its write cache is off, but the kernel's cache_type is write back"
            )),
            (Some(true), _) | (None, Some(true)) => CacheReport::Volatile,
            (Some(false), Some(false)) => CacheReport::NoCache("queried directly".to_owned()),
            (None, Some(false)) => CacheReport::Unreported(format!(
                "{name} reports that its write cache is off, and the kernel's cache_type is unknown"
            )),
            (Some(false), None) => CacheReport::Unreported(format!(
                "the kernel reports no volatile cache for {name}, but it also does so for disks that report nothing"
            )),
            (None, None) => CacheReport::Unreported(format!(
                "it is unknown what {name} itself reports about its cache"
            )),
        }
    }

    pub fn record_missing_cache_facts(ask: &mut FactReader, disk: &Subject) {
        let is_virtual = ask
            .read_and_record_use(disk, &device::TRANSPORT)
            .is_some_and(Transport::is_virtual);
        let remedy = if is_virtual { ASK_HYPERVISOR } else { ASK_DISK };
        ask.record_missing_fact(disk, &device::DRIVE_CACHE, Some(remedy));
        ask.record_missing_fact(disk, &device::CACHE_TYPE, None);
    }
}

use self::guarantor::Guarantee;
use super::fact_reader::{FactDependencies, FactReader};
use super::{Evidence, EvidenceImpact, EvidenceLayer, VerdictRemedy, raid_controller};
use crate::facts::catalog::device::{
    self, CacheType, CapacitorCondition, DeviceKind, QueueWriteCache, Transport, WriteGuarantor,
};
use crate::facts::catalog::target::{FlushDelivery, FlushSuppressor};
use crate::facts::{FactSet, Key, Subject};
use crate::ternary::Ternary;

pub use crate::facts::catalog::device::CacheVolatility;

/// Outcomes of a flush in one layer of the stack, the most dangerous first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlushOutcome {
    Dropped(FlushSuppressor),
    Unknown,
    Sent,
    NotNeeded,
}

impl FlushOutcome {
    pub fn suppressor(self) -> Option<FlushSuppressor> {
        match self {
            Self::Dropped(by) => Some(by),
            Self::Unknown | Self::Sent | Self::NotNeeded => None,
        }
    }

    pub fn is_sent(self) -> bool {
        matches!(self, Self::Sent)
    }

    pub fn to_flush_delivery(self) -> FlushDelivery {
        match self {
            Self::Dropped(_) => FlushDelivery::Suppressed,
            Self::Unknown => FlushDelivery::Unknown,
            Self::Sent => FlushDelivery::Sent,
            Self::NotNeeded => FlushDelivery::NotNeeded,
        }
    }
}

#[derive(Clone, Debug)]
pub struct DiskAssessment {
    pub cache: CacheVolatility,
    pub flush_outcome: FlushOutcome,
    /// Whether the queue or the disk reports *write back*. Unknown if the queue is unknown and the
    /// disk does not report a volatile cache.
    pub write_back: Ternary,
    pub is_raid_volume: bool,
    /// `None` for a volume of a RAID controller in this host, or if no guarantor is known.
    pub guarantor: Option<WriteGuarantor>,
    pub evidence: Vec<Evidence>,
    pub dependencies: FactDependencies,
}

pub fn assess_disk(facts: &FactSet, disk: &Subject) -> DiskAssessment {
    let mut ask = FactReader::new(facts);
    let name = disk.name();
    let mut cache = CacheVolatility::Unknown;
    let mut bears = EvidenceImpact::Unproven;
    let says = match ask.read_or_record_missing(disk, &device::KIND) {
        Some(DeviceKind::Disk) => return assess_attached_disk(ask, disk),
        Some(DeviceKind::Zram | DeviceKind::Ram) => {
            cache = CacheVolatility::Volatile;
            bears = EvidenceImpact::AtRisk(VerdictRemedy::move_out_of_memory(disk));
            format!("{name} keeps its data in memory")
        }
        Some(DeviceKind::Zvol) => {
            format!("{name} is a volume of a ZFS pool; its sync property and disks are unknown")
        }
        Some(DeviceKind::Other) => {
            format!("{name} is a device of a type that walwise cannot inspect")
        }
        Some(
            DeviceKind::Partition
            | DeviceKind::Md
            | DeviceKind::Lvm
            | DeviceKind::Crypt
            | DeviceKind::Multipath
            | DeviceKind::Dmraid
            | DeviceKind::Vdo
            | DeviceKind::Dm
            | DeviceKind::Bcache
            | DeviceKind::Drbd
            | DeviceKind::Loop,
        ) => format!("the underlying device of {name} was not found"),
        None => format!("it is unknown what kind of device {name} is"),
    };
    DiskAssessment {
        cache,
        flush_outcome: FlushOutcome::Unknown,
        write_back: Ternary::Unknown,
        is_raid_volume: false,
        guarantor: None,
        evidence: vec![device_evidence(&ask, disk, &device::KIND, bears, says)],
        dependencies: ask.dependencies,
    }
}

fn assess_attached_disk(mut ask: FactReader, disk: &Subject) -> DiskAssessment {
    let transport = ask.read_or_record_missing(disk, &device::TRANSPORT);
    let queue = ask
        .read_or_record_missing(disk, &device::WRITE_CACHE)
        .map(QueueWriteCache::is_write_back);
    let attached = raid_controller::is_behind_raid_controller(&mut ask, disk, transport);
    let passed_on = attached && raid_controller::is_passthrough_disk(&mut ask, disk);
    let raid = attached && !passed_on;
    let fabric = ask.read_and_record_use(disk, &device::FABRIC);
    let remote = fabric.is_some();
    let guarantee = match (raid, remote) {
        (true, false) => Guarantee::new_documented(None),
        // A volume of a RAID controller in another host, which appears as an array on this host.
        (true, true) => Guarantee::new_for_array(disk, fabric),
        (false, _) => guarantor::find_guarantee(&mut ask, disk, transport),
    };
    let word = if raid {
        // The volume itself is not queried, because its answer would describe the controller's
        // cache, which the facts of the controller's tool describe in full.
        driver_cache_report(&mut ask, disk, "as reported to the kernel", String::new())
    } else {
        disk_cache_report(&mut ask, disk, transport)
    };

    let overridden = queue == Some(false) && word.reports_volatile();
    let mut claims = Vec::new();
    let mut cache = if overridden {
        let mut source = cache_report_source_text(&ask, disk);
        let says = match &word {
            CacheReport::Conflicting(how) => how.clone(),
            CacheReport::Volatile if source.is_empty() => {
                source = ask.source_text(disk, &device::FUA);
                format!(
                    "the driver of {} uses forced unit access (FUA), which it does only for disks with a volatile cache",
                    disk.name()
                )
            }
            CacheReport::Volatile
            | CacheReport::NoCache(_)
            | CacheReport::SwitchedOff
            | CacheReport::Unreported(_) => {
                format!("{} itself reports a volatile cache", disk.name())
            }
        };
        let bears = EvidenceImpact::Contradictory(VerdictRemedy::write_back_queue(disk));
        claims.push(Evidence::new(
            EvidenceLayer::Device,
            disk,
            bears,
            says,
            source,
        ));
        CacheVolatility::Contradictory
    } else {
        CacheVolatility::None
    };
    let mut judged = Vec::new();
    if raid {
        judged.push(raid_controller::controller_cache_volatility(&mut ask, disk));
    }
    if !overridden && (!raid || remote) {
        let elsewhere = uninspectable_disk::uninspectable_disk_cache_volatility(
            &mut ask, disk, &guarantee, transport, queue, &word,
        );
        judged.push(elsewhere.unwrap_or_else(|| {
            disk_cache_volatility(&mut ask, disk, &guarantee, transport, queue, &word)
        }));
    }
    for (found, says) in judged {
        cache = cache.min(found);
        claims.push(says);
    }

    let (passage, bears, says) = flush_outcome_in_queue(&mut ask, disk, queue, cache, raid, &word);
    let source = ask.source_text(disk, &device::WRITE_CACHE);
    let belief = Evidence::new(EvidenceLayer::Kernel, disk, bears, says, source);
    let write_back = match queue {
        _ if word.reports_volatile() => Ternary::True,
        Some(true) => Ternary::True,
        None => Ternary::Unknown,
        Some(false) => Ternary::False,
    };
    let mut evidence = vec![belief];
    evidence.extend(claims);
    if passed_on && cache.is_volatile() {
        evidence.extend(raid_controller::megaraid_dropped_flushes_evidence(
            &mut ask, disk,
        ));
    }
    let (dangers, mut forgets) = warnings::evidence_against_disk(&mut ask, disk);
    if let Some((says, fails)) = capacitor_evidence(&mut ask, disk) {
        evidence.push(says);
        forgets |= fails;
    }
    if forgets {
        cache = CacheVolatility::Volatile;
    }
    evidence.extend(dangers);
    DiskAssessment {
        cache,
        flush_outcome: passage,
        write_back,
        is_raid_volume: raid,
        guarantor: guarantee.by,
        evidence,
        dependencies: ask.dependencies,
    }
}

fn disk_cache_report(
    ask: &mut FactReader,
    disk: &Subject,
    transport: Option<Transport>,
) -> CacheReport {
    if transport == Some(Transport::Nvme) {
        nvme::nvme_cache_report(ask, disk)
    } else if transport == Some(Transport::Virtio) {
        // The value is the hypervisor's statement (virtio specification, *Block Device*,
        // writeback). A guest cannot see whether the hypervisor honours flushes.
        let unknown = format!(
            "it is unknown what the hypervisor reports about the cache of {}",
            disk.name()
        );
        let no_cache = "according to the hypervisor; the guest can change this value";
        driver_cache_report(ask, disk, no_cache, unknown)
    } else {
        sd::scsi_cache_report(ask, disk)
    }
}

/// The kernel's `cache_type` alone. `no_cache` names the origin of the report, `unknown` is the
/// reason if there is none.
fn driver_cache_report(
    ask: &mut FactReader,
    disk: &Subject,
    no_cache: &str,
    unknown: String,
) -> CacheReport {
    match ask
        .read_and_record_use(disk, &device::CACHE_TYPE)
        .map(CacheType::can_hold_writes)
    {
        Some(true) => CacheReport::Volatile,
        Some(false) => CacheReport::NoCache(no_cache.to_owned()),
        None => CacheReport::Unreported(unknown),
    }
}

/// Compares the disk's report about its cache with the mode of its queue, and concludes the less
/// safe of the two.
fn disk_cache_volatility(
    ask: &mut FactReader,
    disk: &Subject,
    guarantee: &Guarantee,
    transport: Option<Transport>,
    queue: Option<bool>,
    word: &CacheReport,
) -> (CacheVolatility, Evidence) {
    use EvidenceImpact::{Durable, Unproven};
    let name = disk.name();
    let seen = || if queue.is_some() { Durable } else { Unproven };
    let (writes_back, bridged) = (
        queue == Some(true),
        transport.is_some_and(Transport::is_usb),
    );
    let (cache, bears, says) = match word {
        _ if writes_back && bridged => (
            CacheVolatility::Volatile,
            Unproven,
            format!(
                "{name} is attached by USB, and a USB bridge may acknowledge flushes without passing them on"
            ),
        ),
        CacheReport::NoCache(_) if bridged => (
            CacheVolatility::Unknown,
            Unproven,
            format!(
                "{name} reports no volatile cache, but the answer may come from its USB bridge"
            ),
        ),
        CacheReport::NoCache(_) if writes_back => (
            CacheVolatility::Volatile,
            Durable,
            format!(
                "{name} reports no volatile cache, but its queue is write back; the worse case is assumed"
            ),
        ),
        CacheReport::Conflicting(how) => (
            CacheVolatility::Volatile,
            seen(),
            format!("{how}; the worse case is assumed"),
        ),
        CacheReport::NoCache(_) | CacheReport::SwitchedOff if !guarantee.is_documented => {
            guarantor::record_unverifiable_cache(ask, disk, guarantee);
            let says = "reports no volatile cache, but no documentation states that its acknowledged writes are durable";
            (CacheVolatility::Unknown, Unproven, format!("{name} {says}"))
        }
        CacheReport::SwitchedOff => (
            CacheVolatility::None,
            seen(),
            format!("{name} reports that its volatile cache is off"),
        ),
        CacheReport::Volatile => (
            CacheVolatility::Volatile,
            seen(),
            format!("{name} caches writes in a volatile cache"),
        ),
        CacheReport::Unreported(_) if writes_back => (
            CacheVolatility::Volatile,
            seen(),
            format!("{name} caches writes in a volatile cache"),
        ),
        CacheReport::NoCache(how) => (
            CacheVolatility::None,
            seen(),
            format!("{name} reports no volatile cache ({how})"),
        ),
        CacheReport::Unreported(why) if !guarantee.is_documented => {
            guarantor::record_unverifiable_cache(ask, disk, guarantee);
            (CacheVolatility::Unknown, Unproven, why.clone())
        }
        CacheReport::Unreported(why) => {
            if transport == Some(Transport::Nvme) {
                nvme::record_missing_nvme_cache_facts(ask, disk);
            } else if matches!(
                transport,
                Some(Transport::Virtio | Transport::Mmc | Transport::Xen)
            ) {
                // Only the driver reports anything: the card or the backend cannot be queried.
                ask.record_missing_fact(disk, &device::CACHE_TYPE, None);
            } else {
                sd::record_missing_cache_facts(ask, disk);
            }
            (CacheVolatility::Unknown, Unproven, why.clone())
        }
    };
    let source = match cache_report_source_text(ask, disk) {
        none if none.is_empty() && cache.is_volatile() => {
            ask.source_text(disk, &device::WRITE_CACHE)
        }
        none if none.is_empty() && !cache.is_unknown() => ask.source_text(disk, &device::FUA),
        own => own,
    };
    (
        cache,
        Evidence::new(EvidenceLayer::Device, disk, bears, says, source),
    )
}

/// Source of the disk's report about its cache: the disk's own answer, else the field VWC of NVMe,
/// else the kernel's `cache_type`. Empty if there is no report.
fn cache_report_source_text(ask: &FactReader, disk: &Subject) -> String {
    ask.source_text_of_first_known(
        disk,
        [
            &device::DRIVE_CACHE.info,
            &device::NVME_VOLATILE.info,
            &device::CACHE_TYPE.info,
        ],
    )
}

fn flush_outcome_in_queue(
    ask: &mut FactReader,
    disk: &Subject,
    queue: Option<bool>,
    cache: CacheVolatility,
    raid: bool,
    word: &CacheReport,
) -> (FlushOutcome, EvidenceImpact, String) {
    use EvidenceImpact::{Contradictory, Durable, Unproven};
    let name = disk.name();
    match queue {
        Some(true) => (
            FlushOutcome::Sent,
            Durable,
            format!("{name}'s queue is write back, so the kernel sends it flushes"),
        ),
        Some(false) if word.reports_volatile() => (
            FlushOutcome::Dropped(FlushSuppressor::QueueOverride),
            Contradictory(VerdictRemedy::write_back_queue(disk)),
            format!("{name}'s queue is write through, so the kernel drops its flushes"),
        ),
        Some(false) if raid && word.is_unreported() => {
            // Only the volume's own report would show whether root has changed the queue's mode by
            // hand.
            ask.record_missing_fact(disk, &device::CACHE_TYPE, None);
            (
                FlushOutcome::Unknown,
                Unproven,
                format!(
                    "{name}'s queue is write through, and the disk's own cache mode is unknown"
                ),
            )
        }
        Some(false) if cache.is_safe_unflushed() => (
            FlushOutcome::NotNeeded,
            Durable,
            format!("{name}'s queue is write through, so no flush is sent"),
        ),
        Some(false) => (
            FlushOutcome::Unknown,
            Unproven,
            format!(
                "{name}'s queue is write through, so no flush is sent; it is unknown whether {name} needs flushes"
            ),
        ),
        None => (
            FlushOutcome::Unknown,
            Unproven,
            format!("it is unknown whether flushes are sent to {name}"),
        ),
    }
}

// The power-loss capacitor of an NVMe drive, as the drive reports it.
//
// The report can only lower a verdict. Even a healthy capacitor does not make a volatile cache
// protected, because nothing shows how the drive behaves once the capacitor fails.

/// The flag is true if the drive must be treated as volatile. `None` without a readable report.
fn capacitor_evidence(ask: &mut FactReader, disk: &Subject) -> Option<(Evidence, bool)> {
    let name = disk.name();
    let condition = ask.read_and_record_use(disk, &device::NVME_CAPACITOR)?;
    let what = match condition {
        CapacitorCondition::Healthy => "a healthy capacitor",
        CapacitorCondition::Degraded => "a degraded but sufficient capacitor",
        CapacitorCondition::Failed => "that its capacitor may not last through a power failure",
        CapacitorCondition::Absent => {
            let says = format!("{name} reports no capacitor");
            let bears = EvidenceImpact::Durable;
            let evidence = device_evidence(ask, disk, &device::NVME_CAPACITOR, bears, says);
            return Some((evidence, false));
        }
        CapacitorCondition::Unreadable => return None,
    };
    let left = ask
        .read_and_record_use(disk, &device::NVME_CAPACITOR_PERCENT)
        .map_or_else(String::new, |percent| format!(" ({percent:.0} %)"));
    let has_failed = condition == CapacitorCondition::Failed;
    let bears = if has_failed {
        EvidenceImpact::AtRisk(VerdictRemedy::replace_disk(disk))
    } else {
        EvidenceImpact::Durable
    };
    let says = format!("{name} reports {what}{left}");
    let evidence = device_evidence(ask, disk, &device::NVME_CAPACITOR, bears, says);
    Some((evidence, has_failed))
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum CacheReport {
    Volatile,
    /// The text is a clause about the contradiction.
    Conflicting(String),
    /// The text names the origin of the report.
    NoCache(String),
    /// The drive has a volatile cache but reports it as off; the driver assumes that it is on.
    SwitchedOff,
    /// There is no credible report; the text gives the reason.
    Unreported(String),
}

impl CacheReport {
    /// True if at least one report mentions a volatile cache.
    pub fn reports_volatile(&self) -> bool {
        matches!(self, Self::Volatile | Self::Conflicting(_))
    }

    pub fn is_unreported(&self) -> bool {
        matches!(self, Self::Unreported(_))
    }
}

fn device_evidence<T>(
    ask: &FactReader,
    disk: &Subject,
    from: &Key<T>,
    bears: EvidenceImpact,
    says: String,
) -> Evidence {
    let source = ask.source_text(disk, from);
    Evidence::new(EvidenceLayer::Device, disk, bears, says, source)
}
