//! Cache of a disk: reports of the disk, its controller or its hypervisor, compared with the
//! kernel's queue (Documentation/block/writeback_cache_control.rst).
//!
//! *Write through* in the queue often is not a report of the disk: sd assumes it without a caching
//! mode page.

mod cache_statement {

    use crate::durability::fact_reader::FactReader;
    use crate::durability::{Evidence, Layer, VerdictImpact};
    use crate::facts::{Key, Subject};

    /// A disk's own report about its cache, before comparison with the kernel's queue.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum CacheReport {
        Volatile,
        /// The disk's reports contradict each other; holds a sentence about the contradiction.
        Conflicting(String),
        /// The disk reports no volatile cache; holds the way in which this was read.
        NoCache(String),
        /// The disk reports the cache as off, while the driver assumes a cache that is on.
        SwitchedOff,
        /// No credible report; holds the reason.
        Unreported(String),
    }

    impl CacheReport {
        /// Whether at least one of the disk's reports is of a volatile cache.
        pub fn reports_volatile(&self) -> bool {
            matches!(self, Self::Volatile | Self::Conflicting(_))
        }

        pub fn is_unreported(&self) -> bool {
            matches!(self, Self::Unreported(_))
        }
    }

    pub fn device_evidence<T>(
        ask: &FactReader,
        disk: &Subject,
        from: &Key<T>,
        bears: VerdictImpact,
        says: String,
    ) -> Evidence {
        let source = ask.source_text(disk, from);
        Evidence::new(Layer::Device, disk, bears, says, source)
    }
}
mod capacitor {
    //! The power-loss capacitor of an NVMe drive, as the drive reports it.
    //!
    //! A capacitor can only lower a verdict: a healthy one does not make a volatile cache a
    //! protected one, because nothing shows how the drive behaves once the capacitor fails.

    use super::cache_statement::device_evidence;
    use crate::durability::fact_reader::FactReader;
    use crate::durability::{Evidence, Remedy, VerdictImpact};
    use crate::facts::Subject;
    use crate::facts::catalog::device::{self, Capacitor};

    /// The evidence, and whether the drive must be treated as volatile; `None` if the drive reports
    /// nothing.
    pub fn capacitor_evidence(ask: &mut FactReader, disk: &Subject) -> Option<(Evidence, bool)> {
        let name = disk.name();
        let left = |ask: &mut FactReader| {
            let percent = ask.get(disk, &device::NVME_CAPACITOR_PERCENT);
            percent.map_or_else(String::new, |percent| format!(" ({percent:.0} %)"))
        };
        let (bears, says, forgets) = match ask.get(disk, &device::NVME_CAPACITOR)? {
            Capacitor::Healthy => (
                VerdictImpact::Durable,
                format!("{name} reports a healthy capacitor{}", left(ask)),
                false,
            ),
            Capacitor::Degraded => (
                VerdictImpact::Durable,
                format!(
                    "{name} reports a degraded but sufficient capacitor{}",
                    left(ask)
                ),
                false,
            ),
            Capacitor::Failed => (
                VerdictImpact::AtRisk(Remedy::ReplaceDisk(disk.clone())),
                format!(
                    "{name} reports that its capacitor may not last through a power failure{}",
                    left(ask)
                ),
                true,
            ),
            Capacitor::Absent => (
                VerdictImpact::Durable,
                format!("{name} reports no capacitor"),
                false,
            ),
            Capacitor::Unreadable => return None,
        };
        Some((
            device_evidence(ask, disk, &device::NVME_CAPACITOR, bears, says),
            forgets,
        ))
    }
}
mod guarantor;
mod nvme;
mod unprovable;
mod warnings;
mod sd {
    //! Reports of disks behind sd (Documentation/scsi/sd-parameters.rst): the kernel's `cache_type`
    //! and, for root, the disk's own answer.
    //!
    //! Only the disk's own answer counts for *write through*: sd assumes that value without a mode
    //! page, and `temporary write through` fakes it.

    use super::cache_statement::CacheReport;
    use crate::durability::fact_reader::FactReader;
    use crate::facts::Subject;
    use crate::facts::catalog::device::{self, CacheType, DriveCache, Transport};

    const ASK_DISK: &str = "read it from the disk as root: smartctl -g wcache DEVICE, hdparm -W DEVICE or sdparm --get=WCE DEVICE";

    /// For virtual disks: the guest can query only the hypervisor's device model.
    const ASK_HYPERVISOR: &str =
        "ask the hypervisor's administrator for the cache mode of this disk";

    pub fn cache_statement(ask: &mut FactReader, disk: &Subject) -> CacheReport {
        let name = disk.name();
        let kept = ask
            .get(disk, &device::CACHE_TYPE)
            .map(CacheType::holds_writes);
        let asked = ask.get(disk, &device::DRIVE_CACHE).map(DriveCache::is_on);
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
                "the kernel reports no volatile cache for {name}, but that is also its default for disks that report nothing"
            )),
            (None, None) => CacheReport::Unreported(format!(
                "it is unknown what {name} itself reports about its cache"
            )),
        }
    }

    /// The kernel's `cache_type` of a RAID volume. The volume itself is not queried: its answer
    /// would describe the controller's cache, which the controller's tool describes in full.
    pub fn raid_volume_cache_statement(ask: &mut FactReader, disk: &Subject) -> CacheReport {
        match ask
            .get(disk, &device::CACHE_TYPE)
            .map(CacheType::holds_writes)
        {
            Some(true) => CacheReport::Volatile,
            Some(false) => CacheReport::NoCache("shown to the kernel".to_owned()),
            None => CacheReport::Unreported(String::new()),
        }
    }

    /// Records the facts that would settle whether the disk has a volatile cache.
    pub fn note_missing_cache_facts(ask: &mut FactReader, disk: &Subject) {
        let is_virtual = ask
            .get(disk, &device::TRANSPORT)
            .is_some_and(Transport::is_virtual);
        let remedy = if is_virtual { ASK_HYPERVISOR } else { ASK_DISK };
        ask.note_missing(disk, &device::DRIVE_CACHE, Some(remedy));
        ask.note_missing(disk, &device::CACHE_TYPE, None);
    }
}
mod virtio {
    //! Reports of virtio-blk disks: `cache_type`, from the device configuration (virtio
    //! specification, *Block Device*, writeback).
    //!
    //! The value is the hypervisor's statement, which a guest can also set. A guest cannot see
    //! whether the hypervisor honours flushes.

    use super::cache_statement::CacheReport;
    use crate::durability::fact_reader::FactReader;
    use crate::facts::Subject;
    use crate::facts::catalog::device::{self, CacheType};

    pub fn cache_statement(ask: &mut FactReader, disk: &Subject) -> CacheReport {
        match ask
            .get(disk, &device::CACHE_TYPE)
            .map(CacheType::holds_writes)
        {
            Some(true) => CacheReport::Volatile,
            Some(false) => CacheReport::NoCache(
                "as reported by its hypervisor; a guest can also set it".to_owned(),
            ),
            None => CacheReport::Unreported(format!(
                "it is unknown what the hypervisor reports about the cache of {}",
                disk.name()
            )),
        }
    }

    pub fn note_missing_cache_facts(ask: &mut FactReader, disk: &Subject) {
        ask.note_missing(disk, &device::CACHE_TYPE, None);
    }
}

use super::fact_reader::{FactDependencies, FactReader};
use super::raid_controller;
use super::{Evidence, Layer, Remedy, VerdictImpact};
pub use crate::facts::catalog::device::CacheVolatility;
use crate::facts::catalog::device::{self, DeviceKind, Guarantor, QueueWriteCache, Transport};
use crate::facts::catalog::target::{FlushDelivery, FlushSuppressor};
use crate::facts::{FactSet, Subject};
use crate::ternary::Ternary;
use cache_statement::{CacheReport, device_evidence};

/// What happens to a flush at one hop; worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlushOutcome {
    Dropped(FlushSuppressor),
    Unknown,
    /// Passed to the layer below or, at the bottom, to the driver.
    Sent,
    NotNeeded,
}

impl FlushOutcome {
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
    /// Outcome of a flush in the disk's own queue.
    pub flush_outcome: FlushOutcome,
    /// Whether the queue or the disk reports *write back*; unknown if neither reports anything.
    pub write_back: Ternary,
    /// Whether the disk is a volume of a RAID controller, with member disks behind it.
    pub is_raid_volume: bool,
    /// Party that vouches for the cache; `None` if this host can see the cache, or no party is
    /// known.
    pub guarantor: Option<Guarantor>,
    /// The kernel's view first, then the device's reports.
    pub evidence: Vec<Evidence>,
    pub dependencies: FactDependencies,
}

pub fn assess_disk(facts: &FactSet, disk: &Subject) -> DiskAssessment {
    let mut ask = FactReader::new(facts);
    let name = disk.name();
    let kind = ask.require(disk, &device::KIND);
    match kind {
        Some(DeviceKind::Disk) => assess_attached_disk(ask, disk),
        Some(DeviceKind::Zram | DeviceKind::Ram) => {
            let claim = device_evidence(
                &ask,
                disk,
                &device::KIND,
                VerdictImpact::AtRisk(Remedy::MoveOutOfMemory(disk.clone())),
                format!("{name} is stored in memory"),
            );
            new_assessment(
                ask,
                CacheVolatility::Volatile,
                FlushOutcome::Unknown,
                Ternary::Unknown,
                vec![claim],
            )
        }
        Some(DeviceKind::Zvol) => assess_unknown_disk(
            ask,
            disk,
            format!("{name} is a volume of a ZFS pool; its sync property and disks are unknown"),
        ),
        Some(DeviceKind::Other) => assess_unknown_disk(
            ask,
            disk,
            format!("{name} is a kind of device that walwise cannot inspect"),
        ),
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
        ) => assess_unknown_disk(ask, disk, format!("the device under {name} was not found")),
        None => assess_unknown_disk(
            ask,
            disk,
            format!("it is unknown what kind of device {name} is"),
        ),
    }
}

fn assess_unknown_disk(ask: FactReader, disk: &Subject, says: String) -> DiskAssessment {
    let claim = device_evidence(&ask, disk, &device::KIND, VerdictImpact::Unproven, says);
    new_assessment(
        ask,
        CacheVolatility::Unknown,
        FlushOutcome::Unknown,
        Ternary::Unknown,
        vec![claim],
    )
}

fn new_assessment(
    ask: FactReader,
    cache: CacheVolatility,
    passage: FlushOutcome,
    write_back: Ternary,
    evidence: Vec<Evidence>,
) -> DiskAssessment {
    DiskAssessment {
        cache,
        flush_outcome: passage,
        write_back,
        is_raid_volume: false,
        guarantor: None,
        evidence,
        dependencies: ask.dependencies,
    }
}

/// A disk attached to this host, physical or virtual.
fn assess_attached_disk(mut ask: FactReader, disk: &Subject) -> DiskAssessment {
    let transport = ask.require(disk, &device::TRANSPORT);
    let queue = ask
        .require(disk, &device::WRITE_CACHE)
        .map(QueueWriteCache::is_write_back);
    let attached = raid_controller::is_behind_raid(&mut ask, disk, transport);
    let passed_on = attached && raid_controller::is_passthrough_disk(&mut ask, disk);
    let raid = attached && !passed_on;
    let remote = ask.get(disk, &device::FABRIC).is_some();
    let guarantor = match (raid, remote) {
        (true, false) => None,
        // A volume of a RAID controller in another host.
        (true, true) => Some(Guarantor::Array),
        (false, _) => guarantor::find_guarantor(&mut ask, disk, transport),
    };
    let word = if raid {
        sd::raid_volume_cache_statement(&mut ask, disk)
    } else {
        disk_cache_statement(&mut ask, disk, transport)
    };

    let overridden = queue == Some(false) && word.reports_volatile();
    let mut claims = Vec::new();
    let mut cache = if overridden {
        let mut source = statement_source_text(&ask, disk);
        let says = match &word {
            CacheReport::Conflicting(how) => how.clone(),
            CacheReport::Volatile if source.is_empty() => {
                source = ask.source_text(disk, &device::FUA);
                format!(
                    "{} reported a volatile cache to its driver, which therefore uses forced unit access",
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
        let bears = VerdictImpact::Contradictory(Remedy::WriteBackQueue(disk.clone()));
        claims.push(Evidence::new(Layer::Device, disk, bears, says, source));
        CacheVolatility::Contradictory
    } else {
        CacheVolatility::None
    };
    let mut judged = Vec::new();
    if raid {
        judged.push(raid_controller::controller_cache(&mut ask, disk));
    }
    if !overridden && (!raid || remote) {
        let elsewhere =
            unprovable::judge_unprovable_disk(&mut ask, disk, guarantor, transport, queue, &word);
        judged.push(elsewhere.unwrap_or_else(|| {
            compare_with_queue(&mut ask, disk, guarantor, transport, queue, &word)
        }));
    }
    for (found, says) in judged {
        cache = cache.min(found);
        claims.push(says);
    }

    let (passage, bears, says) = flush_outcome_in_queue(&mut ask, disk, queue, cache, raid, &word);
    let source = ask.source_text(disk, &device::WRITE_CACHE);
    let belief = Evidence::new(Layer::Kernel, disk, bears, says, source);
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
    let (dangers, mut forgets) = warnings::warning_evidence(&mut ask, disk);
    if let Some((says, fails)) = capacitor::capacitor_evidence(&mut ask, disk) {
        evidence.push(says);
        forgets |= fails;
    }
    if forgets {
        cache = CacheVolatility::Volatile;
    }
    evidence.extend(dangers);
    DiskAssessment {
        is_raid_volume: raid,
        guarantor,
        ..new_assessment(ask, cache, passage, write_back, evidence)
    }
}

/// For a disk that is not behind a RAID controller.
fn disk_cache_statement(
    ask: &mut FactReader,
    disk: &Subject,
    transport: Option<Transport>,
) -> CacheReport {
    match statement_source(transport) {
        StatementSource::Nvme => nvme::cache_statement(ask, disk),
        StatementSource::Virtio => virtio::cache_statement(ask, disk),
        StatementSource::DriverOnly | StatementSource::Sd => sd::cache_statement(ask, disk),
    }
}

/// Where a report about a disk's cache can come from.
enum StatementSource {
    /// NVMe commands to the drive itself.
    Nvme,
    /// The device configuration, which the hypervisor fills in.
    Virtio,
    /// Only the driver: an eMMC card or a Xen backend cannot be queried.
    DriverOnly,
    /// The sd driver, and commands to the disk itself.
    Sd,
}

fn statement_source(transport: Option<Transport>) -> StatementSource {
    match transport {
        Some(Transport::Nvme) => StatementSource::Nvme,
        Some(Transport::Virtio) => StatementSource::Virtio,
        Some(Transport::Mmc | Transport::Xen) => StatementSource::DriverOnly,
        Some(
            Transport::Scsi
            | Transport::Sata
            | Transport::Sas
            | Transport::Usb
            | Transport::VirtioScsi
            | Transport::Vmware
            | Transport::Hyperv
            | Transport::Pmem
            | Transport::Network
            | Transport::Megaraid
            | Transport::Raid
            | Transport::Other,
        )
        | None => StatementSource::Sd,
    }
}

/// The worse of the disk's report and its queue counts.
fn compare_with_queue(
    ask: &mut FactReader,
    disk: &Subject,
    guarantor: Option<Guarantor>,
    transport: Option<Transport>,
    queue: Option<bool>,
    word: &CacheReport,
) -> (CacheVolatility, Evidence) {
    use VerdictImpact::{Durable, Unproven};
    let name = disk.name();
    let seen = || if queue.is_some() { Durable } else { Unproven };
    let documented = guarantor::is_cache_guarantee_documented(ask, disk, guarantor, transport);
    let (writes_back, bridged) = (
        queue == Some(true),
        transport.is_some_and(Transport::is_usb),
    );
    let (cache, bears, says) = match word {
        _ if writes_back && bridged => (
            CacheVolatility::Volatile,
            Unproven,
            format!("{name} is attached by USB, and USB bridges may answer flushes themselves"),
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
        CacheReport::NoCache(_) | CacheReport::SwitchedOff if !documented => {
            guarantor::note_cache_unverifiable(ask, disk, guarantor, transport);
            let says = "reports no volatile cache, but no documentation says that its acknowledged writes are durable";
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
        CacheReport::Unreported(why) if !documented => {
            guarantor::note_cache_unverifiable(ask, disk, guarantor, transport);
            (CacheVolatility::Unknown, Unproven, why.clone())
        }
        CacheReport::Unreported(why) => {
            match statement_source(transport) {
                StatementSource::Nvme => nvme::note_missing_nvme_facts(ask, disk),
                StatementSource::Virtio => virtio::note_missing_cache_facts(ask, disk),
                StatementSource::DriverOnly => ask.note_missing(disk, &device::CACHE_TYPE, None),
                StatementSource::Sd => sd::note_missing_cache_facts(ask, disk),
            }
            (CacheVolatility::Unknown, Unproven, why.clone())
        }
    };
    let source = match statement_source_text(ask, disk) {
        // Only the queue reports a cache.
        none if none.is_empty() && cache.is_volatile() => {
            ask.source_text(disk, &device::WRITE_CACHE)
        }
        // Only support of forced unit access reveals the cache.
        none if none.is_empty() && !cache.is_unknown() => ask.source_text(disk, &device::FUA),
        own => own,
    };
    (
        cache,
        Evidence::new(Layer::Device, disk, bears, says, source),
    )
}

/// Source of the most direct report of the disk; empty if the disk reports nothing.
fn statement_source_text(ask: &FactReader, disk: &Subject) -> String {
    let answers = [
        ask.source_text(disk, &device::DRIVE_CACHE),
        ask.source_text(disk, &device::NVME_VOLATILE),
        ask.source_text(disk, &device::CACHE_TYPE),
    ];
    answers
        .into_iter()
        .find(|source| !source.is_empty())
        .unwrap_or_default()
}

fn flush_outcome_in_queue(
    ask: &mut FactReader,
    disk: &Subject,
    queue: Option<bool>,
    cache: CacheVolatility,
    raid: bool,
    word: &CacheReport,
) -> (FlushOutcome, VerdictImpact, String) {
    use VerdictImpact::{Contradictory, Durable, Unproven};
    let name = disk.name();
    match queue {
        Some(true) => (
            FlushOutcome::Sent,
            Durable,
            format!("{name}'s queue is write back, so the kernel sends it flushes"),
        ),
        Some(false) if word.reports_volatile() => (
            FlushOutcome::Dropped(FlushSuppressor::QueueOverride),
            Contradictory(Remedy::WriteBackQueue(disk.clone())),
            format!("{name}'s queue is write through, so the kernel drops its flushes"),
        ),
        Some(false) if raid && word.is_unreported() => {
            // Only a report of the volume itself would show an override of the queue.
            ask.note_missing(disk, &device::CACHE_TYPE, None);
            (
                FlushOutcome::Unknown,
                Unproven,
                format!(
                    "{name}'s queue is write through, and it is unknown whether the disk agrees"
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
                "{name}'s queue is write through, so no flush is sent; whether it needs one is unknown"
            ),
        ),
        None => (
            FlushOutcome::Unknown,
            Unproven,
            format!("it is unknown whether flushes are sent to {name}"),
        ),
    }
}
