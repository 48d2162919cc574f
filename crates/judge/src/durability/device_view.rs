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
    use crate::facts::catalog::device::{self, CacheType, DriveCacheState, Transport};

    const ASK_DISK: &str = "read the disk's cache setting as root: smartctl -g wcache DEVICE, hdparm -W DEVICE or sdparm --get=WCE DEVICE";

    /// A guest can query only the hypervisor's device model, not the real cache mode.
    const ASK_HYPERVISOR: &str =
        "ask the hypervisor's administrator for the cache mode of this disk";

    pub fn scsi_cache_report(disk: FactReader) -> CacheReport {
        let name = disk.name();
        let kept = disk
            .read(&device::CACHE_TYPE)
            .map(CacheType::can_hold_writes);
        let asked = disk.read(&device::DRIVE_CACHE).map(DriveCacheState::is_on);
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

    pub fn record_missing_cache_facts(disk: FactReader) {
        let is_virtual = disk
            .read(&device::TRANSPORT)
            .is_some_and(Transport::is_virtual);
        let remedy = if is_virtual { ASK_HYPERVISOR } else { ASK_DISK };
        disk.record_missing(&device::DRIVE_CACHE, Some(remedy));
        disk.record_missing(&device::CACHE_TYPE, None);
    }
}

use std::cell::RefCell;

use self::guarantor::Guarantee;
use super::fact_reader::{FactDependencies, FactReader};
use super::{Evidence, EvidenceImpact, EvidenceLayer, VerdictRemedy, raid_controller};
use crate::facts::catalog::device::{
    self, CacheType, CapacitorCondition, DeviceKind, QueueWriteCache, Transport, WriteGuarantor,
};
use crate::facts::catalog::target::{FlushDelivery, FlushSuppressor};
use crate::facts::{FactSet, Key, Subject};
use crate::ternary::Ternary;
use EvidenceImpact::{AtRisk, Contradictory, Durable, Unproven};

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
    let dependencies = RefCell::default();
    let disk = FactReader {
        facts,
        subject: disk,
        dependencies: &dependencies,
    };
    let name = disk.name();
    let mut cache = CacheVolatility::Unknown;
    let mut impact = Unproven;
    let text = match disk.require(&device::KIND) {
        Some(DeviceKind::Disk) => return assess_attached_disk(disk),
        Some(DeviceKind::Zram | DeviceKind::Ram) => {
            cache = CacheVolatility::Volatile;
            impact = AtRisk(VerdictRemedy::move_out_of_memory(name));
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
    let evidence = vec![disk.device_evidence(&device::KIND, impact, text)];
    DiskAssessment {
        cache,
        flush_outcome: FlushOutcome::Unknown,
        write_back: Ternary::Unknown,
        is_raid_volume: false,
        guarantor: None,
        evidence,
        dependencies: dependencies.take(),
    }
}

/// A disk that is attached to this host, with its own report about its cache.
struct AttachedDisk<'a> {
    facts: FactReader<'a>,
    transport: Option<Transport>,
    /// Whether the queue's mode is *write back*.
    queue: Option<bool>,
    is_raid_volume: bool,
    guarantee: Guarantee,
    report: CacheReport,
}

fn assess_attached_disk(disk: FactReader) -> DiskAssessment {
    let transport = disk.require(&device::TRANSPORT);
    let queue = disk
        .require(&device::WRITE_CACHE)
        .map(QueueWriteCache::is_write_back);
    let attached = raid_controller::is_behind_raid_controller(disk, transport);
    let passed_on = attached && raid_controller::is_passthrough_disk(disk);
    let raid = attached && !passed_on;
    let fabric = disk.read(&device::FABRIC);
    let remote = fabric.is_some();
    let guarantee = match (raid, remote) {
        (true, false) => Guarantee::new_documented(None),
        // A volume of a RAID controller in another host, which appears as an array on this host.
        (true, true) => Guarantee::new_for_array(disk.name(), fabric),
        (false, _) => guarantor::find_guarantee(disk, transport),
    };
    let report = if raid {
        // The volume itself is not queried, because its answer would describe the controller's
        // cache, which the facts of the controller's tool describe in full.
        driver_cache_report(disk, "as reported to the kernel", String::new())
    } else {
        disk_cache_report(disk, transport)
    };
    let attached = AttachedDisk {
        facts: disk,
        transport,
        queue,
        is_raid_volume: raid,
        guarantee,
        report,
    };

    let mut claims = Vec::new();
    let overridden = attached.override_evidence();
    if raid {
        claims.push(raid_controller::controller_cache_volatility(disk));
    }
    if overridden.is_none() && (!raid || remote) {
        claims.push(
            uninspectable_disk::uninspectable_disk_cache_volatility(&attached)
                .unwrap_or_else(|| attached.cache_volatility()),
        );
    }
    let best = match overridden {
        Some(_) => CacheVolatility::Contradictory,
        None => CacheVolatility::None,
    };
    let mut cache = claims.iter().map(|(cache, _)| *cache).fold(best, Ord::min);

    let (flush_outcome, impact, text) = attached.flush_outcome_in_queue(cache);
    let write_back = match queue {
        _ if attached.report.reports_volatile() => Ternary::True,
        Some(is_write_back) => is_write_back.into(),
        None => Ternary::Unknown,
    };
    let mut evidence =
        vec![disk.evidence(EvidenceLayer::Kernel, &device::WRITE_CACHE, impact, text)];
    evidence.extend(overridden);
    evidence.extend(claims.into_iter().map(|(_, claim)| claim));
    if passed_on && cache.is_volatile() {
        evidence.extend(raid_controller::megaraid_dropped_flushes_evidence(disk));
    }
    let (dangers, mut forgets) = warnings::evidence_against_disk(disk);
    if let Some((capacitor, fails)) = capacitor_evidence(disk) {
        evidence.push(capacitor);
        forgets |= fails;
    }
    if forgets {
        cache = CacheVolatility::Volatile;
    }
    evidence.extend(dangers);
    DiskAssessment {
        cache,
        flush_outcome,
        write_back,
        is_raid_volume: raid,
        guarantor: attached.guarantee.by,
        evidence,
        dependencies: disk.dependencies.take(),
    }
}

fn disk_cache_report(disk: FactReader, transport: Option<Transport>) -> CacheReport {
    if transport == Some(Transport::Nvme) {
        nvme::nvme_cache_report(disk)
    } else if transport == Some(Transport::Virtio) {
        // The value is the hypervisor's statement (virtio specification, *Block Device*,
        // writeback). A guest cannot see whether the hypervisor honours flushes.
        let unknown = format!(
            "it is unknown what the hypervisor reports about the cache of {}",
            disk.name()
        );
        let no_cache = "according to the hypervisor; the guest can change this value";
        driver_cache_report(disk, no_cache, unknown)
    } else {
        sd::scsi_cache_report(disk)
    }
}

/// The kernel's `cache_type` alone. `no_cache` names the origin of the report, `unknown` is the
/// reason if there is none.
fn driver_cache_report(disk: FactReader, no_cache: &str, unknown: String) -> CacheReport {
    match disk
        .read(&device::CACHE_TYPE)
        .map(CacheType::can_hold_writes)
    {
        Some(true) => CacheReport::Volatile,
        Some(false) => CacheReport::NoCache(no_cache.to_owned()),
        None => CacheReport::Unreported(unknown),
    }
}

impl AttachedDisk<'_> {
    /// Evidence that the queue's mode hides a volatile cache; `None` if it does not.
    fn override_evidence(&self) -> Option<Evidence> {
        if self.queue != Some(false) || !self.report.reports_volatile() {
            return None;
        }
        let (disk, name) = (self.facts, self.facts.name());
        let mut source = self.cache_report_source_text();
        let text = match &self.report {
            CacheReport::Conflicting(how) => how.clone(),
            CacheReport::Volatile if source.is_empty() => {
                source = disk.source_text(&device::FUA);
                format!(
                    "the driver of {name} uses forced unit access (FUA), which it does only for disks with a volatile cache"
                )
            }
            CacheReport::Volatile
            | CacheReport::NoCache(_)
            | CacheReport::SwitchedOff
            | CacheReport::Unreported(_) => format!("{name} itself reports a volatile cache"),
        };
        let impact = Contradictory(VerdictRemedy::write_back_queue(name));
        let layer = EvidenceLayer::Device;
        Some(Evidence::new(layer, disk.subject, impact, text, source))
    }

    /// Compares the disk's report about its cache with the mode of its queue, and concludes the
    /// less safe of the two.
    fn cache_volatility(&self) -> (CacheVolatility, Evidence) {
        let (disk, name) = (self.facts, self.facts.name());
        let seen = || {
            if self.queue.is_some() {
                Durable
            } else {
                Unproven
            }
        };
        let caches = || {
            let text = format!("{name} caches writes in a volatile cache");
            (CacheVolatility::Volatile, seen(), text)
        };
        let (writes_back, bridged) = (
            self.queue == Some(true),
            self.transport.is_some_and(Transport::is_usb),
        );
        let is_documented = self.guarantee.is_documented;
        let (cache, impact, text) = match &self.report {
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
            CacheReport::NoCache(_) | CacheReport::SwitchedOff if !is_documented => {
                guarantor::record_unverifiable_cache(disk, &self.guarantee);
                let says = "reports no volatile cache, but no documentation states that its acknowledged writes are durable";
                (CacheVolatility::Unknown, Unproven, format!("{name} {says}"))
            }
            CacheReport::SwitchedOff => (
                CacheVolatility::None,
                seen(),
                format!("{name} reports that its volatile cache is off"),
            ),
            CacheReport::Volatile => caches(),
            CacheReport::Unreported(_) if writes_back => caches(),
            CacheReport::NoCache(how) => (
                CacheVolatility::None,
                seen(),
                format!("{name} reports no volatile cache ({how})"),
            ),
            CacheReport::Unreported(why) => {
                self.record_missing_cache_facts();
                (CacheVolatility::Unknown, Unproven, why.clone())
            }
        };
        let source = match self.cache_report_source_text() {
            none if none.is_empty() && cache.is_volatile() => {
                disk.source_text(&device::WRITE_CACHE)
            }
            none if none.is_empty() && !cache.is_unknown() => disk.source_text(&device::FUA),
            own => own,
        };
        let layer = EvidenceLayer::Device;
        (
            cache,
            Evidence::new(layer, disk.subject, impact, text, source),
        )
    }

    fn record_missing_cache_facts(&self) {
        if !self.guarantee.is_documented {
            guarantor::record_unverifiable_cache(self.facts, &self.guarantee);
        } else if self.transport == Some(Transport::Nvme) {
            nvme::record_missing_nvme_cache_facts(self.facts);
        } else if matches!(
            self.transport,
            Some(Transport::Virtio | Transport::Mmc | Transport::Xen)
        ) {
            // Only the driver reports anything: the card or the backend cannot be queried.
            self.facts.record_missing(&device::CACHE_TYPE, None);
        } else {
            sd::record_missing_cache_facts(self.facts);
        }
    }

    /// Source of the disk's report about its cache: the disk's own answer, else the field VWC of
    /// NVMe, else the kernel's `cache_type`. Empty if there is no report.
    fn cache_report_source_text(&self) -> String {
        self.facts.source_text_of_first_known(&[
            &device::DRIVE_CACHE.info,
            &device::NVME_VOLATILE.info,
            &device::CACHE_TYPE.info,
        ])
    }

    fn flush_outcome_in_queue(
        &self,
        cache: CacheVolatility,
    ) -> (FlushOutcome, EvidenceImpact, String) {
        let (disk, name) = (self.facts, self.facts.name());
        let unproven = |text| (FlushOutcome::Unknown, Unproven, text);
        match self.queue {
            Some(true) => (
                FlushOutcome::Sent,
                Durable,
                format!("{name}'s queue is write back, so the kernel sends it flushes"),
            ),
            Some(false) if self.report.reports_volatile() => (
                FlushOutcome::Dropped(FlushSuppressor::QueueOverride),
                Contradictory(VerdictRemedy::write_back_queue(name)),
                format!("{name}'s queue is write through, so the kernel drops its flushes"),
            ),
            Some(false) if self.is_raid_volume && self.report.is_unreported() => {
                // Only the volume's own report would show whether root has changed the queue's mode
                // by hand.
                disk.record_missing(&device::CACHE_TYPE, None);
                unproven(format!(
                    "{name}'s queue is write through, and the disk's own cache mode is unknown"
                ))
            }
            Some(false) if cache.is_safe_unflushed() => (
                FlushOutcome::NotNeeded,
                Durable,
                format!("{name}'s queue is write through, so no flush is sent"),
            ),
            Some(false) => unproven(format!(
                "{name}'s queue is write through, so no flush is sent; it is unknown whether {name} needs flushes"
            )),
            None => unproven(format!("it is unknown whether flushes are sent to {name}")),
        }
    }
}

// The power-loss capacitor of an NVMe drive, as the drive reports it.
//
// The report can only lower a verdict. Even a healthy capacitor does not make a volatile cache
// protected, because nothing shows how the drive behaves once the capacitor fails.

/// Evidence about the drive's capacitor, and whether the drive must be treated as volatile. `None`
/// without a readable report.
fn capacitor_evidence(disk: FactReader) -> Option<(Evidence, bool)> {
    let name = disk.name();
    let key = &device::NVME_CAPACITOR;
    let condition = disk.read(key)?;
    let what = match condition {
        CapacitorCondition::Healthy => "a healthy capacitor",
        CapacitorCondition::Degraded => "a degraded but sufficient capacitor",
        CapacitorCondition::Failed => "that its capacitor may not last through a power failure",
        CapacitorCondition::Absent => {
            let text = format!("{name} reports no capacitor");
            return Some((disk.device_evidence(key, Durable, text), false));
        }
        CapacitorCondition::Unreadable => return None,
    };
    let left = disk
        .read(&device::NVME_CAPACITOR_PERCENT)
        .map_or_else(String::new, |percent| format!(" ({percent:.0} %)"));
    let has_failed = condition == CapacitorCondition::Failed;
    let impact = if has_failed {
        AtRisk(VerdictRemedy::replace_disk(name))
    } else {
        Durable
    };
    let text = format!("{name} reports {what}{left}");
    Some((disk.device_evidence(key, impact, text), has_failed))
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
    /// True if at least one report says that a volatile cache is on.
    pub fn reports_volatile(&self) -> bool {
        matches!(self, Self::Volatile | Self::Conflicting(_))
    }

    pub fn is_unreported(&self) -> bool {
        matches!(self, Self::Unreported(_))
    }
}

impl FactReader<'_> {
    fn device_evidence<T>(self, key: &Key<T>, impact: EvidenceImpact, text: String) -> Evidence {
        self.evidence(EvidenceLayer::Device, key, impact, text)
    }
}
