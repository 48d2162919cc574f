//! The device's claim: what a disk, its controller or its hypervisor reports of its cache, compared
//! with the kernel's queue (Documentation/block/writeback_cache_control.rst). *Write through* in
//! the queue is often no claim: sd assumes it without a caching mode page.

mod cache_statement {
    //! What a disk reports of its cache.

    use crate::durability::fact_reader::FactReader;
    use crate::durability::{Evidence, Impact, Layer};
    use crate::facts::{Key, Subject};

    /// What a disk reports of its cache, before comparison with its queue.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum CacheStatement {
        Volatile,
        /// Its answers contradict each other; how, in words.
        Conflicting(String),
        /// It has no volatile cache; the evidence, in words.
        NoCache(String),
        /// It reports its cache as off, while the driver assumes it is on.
        SwitchedOff,
        /// No credible statement; why, in words.
        Unreported(String),
    }

    impl CacheStatement {
        /// Whether any of its answers reports a volatile cache.
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
        bears: Impact,
        says: String,
    ) -> Evidence {
        let source = ask.source_text(disk, from);
        Evidence::new(Layer::Device, disk, bears, says, source)
    }
}
mod capacitor {
    //! What an NVMe drive reports of its power-loss capacitor.
    //!
    //! Like a warning it can only lower a verdict: a healthy capacitor does not make a volatile
    //! cache a protected one, because nothing shows how the drive behaves once it fails.

    use super::cache_statement::device_evidence;
    use crate::durability::fact_reader::FactReader;
    use crate::durability::{Evidence, Impact, Remedy};
    use crate::facts::Subject;
    use crate::facts::catalog::device::{self, Capacitor};

    /// The evidence, and whether the drive must be treated as volatile; `None` if it reports
    /// nothing.
    pub fn capacitor_evidence(ask: &mut FactReader, disk: &Subject) -> Option<(Evidence, bool)> {
        let name = disk.name();
        let left = |ask: &mut FactReader| {
            let percent = ask.get(disk, &device::NVME_CAPACITOR_PERCENT);
            percent.map_or_else(String::new, |percent| format!(" ({percent:.0} %)"))
        };
        let (bears, says, forgets) = match ask.get(disk, &device::NVME_CAPACITOR)? {
            Capacitor::Healthy => (
                Impact::Durable,
                format!("{name} reports a healthy capacitor{}", left(ask)),
                false,
            ),
            Capacitor::Degraded => (
                Impact::Durable,
                format!(
                    "{name} reports a degraded but sufficient capacitor{}",
                    left(ask)
                ),
                false,
            ),
            Capacitor::Failed => (
                Impact::AtRisk(Remedy::ReplaceDisk(disk.clone())),
                format!(
                    "{name} reports that its capacitor may not last through a power failure{}",
                    left(ask)
                ),
                true,
            ),
            Capacitor::Absent => (
                Impact::Durable,
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
    //! What disks behind sd report (Documentation/scsi/sd-parameters.rst): the kernel's
    //! `cache_type` and, for root, the disk itself. Only the disk is believed on *write through*:
    //! sd assumes it without a mode page, and `temporary write through` fakes it.

    use super::cache_statement::CacheStatement;
    use crate::durability::fact_reader::FactReader;
    use crate::facts::Subject;
    use crate::facts::catalog::device::{self, CacheType, DriveCache, Transport};

    const ASK_DISK: &str = "ask the disk itself as root: smartctl -g wcache DEVICE, hdparm -W DEVICE or sdparm --get=WCE DEVICE";

    /// For virtual disks, which have no cache of their own to query.
    const ASK_HYPERVISOR: &str = "ask whoever runs the hypervisor how it caches this disk";

    pub fn cache_statement(ask: &mut FactReader, disk: &Subject) -> CacheStatement {
        let name = disk.name();
        let kept = ask
            .get(disk, &device::CACHE_TYPE)
            .map(CacheType::holds_writes);
        let asked = ask.get(disk, &device::DRIVE_CACHE).map(DriveCache::is_on);
        match (kept, asked) {
            (Some(false), Some(true)) => CacheStatement::Conflicting(format!(
                "{name} reports that its write cache is on, but the kernel's cache_type is write through"
            )),
            (Some(true), Some(false)) => CacheStatement::Conflicting(format!(
                "{name} reports that its write cache is off, but the kernel's cache_type is write back"
            )),
            (Some(true), _) | (None, Some(true)) => CacheStatement::Volatile,
            (Some(false), Some(false)) => CacheStatement::NoCache("queried directly".to_owned()),
            (None, Some(false)) => CacheStatement::Unreported(format!(
                "{name} reports that its write cache is off, and the kernel's cache_type is unknown"
            )),
            (Some(false), None) => CacheStatement::Unreported(format!(
                "only the kernel reports no volatile cache for {name}, its default if a disk reports nothing"
            )),
            (None, None) => CacheStatement::Unreported(format!(
                "it is unknown what {name} itself reports of its cache"
            )),
        }
    }

    /// What a RAID volume shows the kernel. The volume itself would report its controller's cache,
    /// which the controller's tool describes in full.
    pub fn kernel_statement(ask: &mut FactReader, disk: &Subject) -> CacheStatement {
        match ask
            .get(disk, &device::CACHE_TYPE)
            .map(CacheType::holds_writes)
        {
            Some(true) => CacheStatement::Volatile,
            Some(false) => CacheStatement::NoCache("shown to the kernel".to_owned()),
            None => CacheStatement::Unreported(String::new()),
        }
    }

    /// Records the missing facts that would settle it.
    pub fn note_missing(ask: &mut FactReader, disk: &Subject) {
        let is_virtual = ask
            .get(disk, &device::TRANSPORT)
            .is_some_and(Transport::is_virtual);
        let remedy = if is_virtual { ASK_HYPERVISOR } else { ASK_DISK };
        ask.note_missing(disk, &device::DRIVE_CACHE, Some(remedy));
        ask.note_missing(disk, &device::CACHE_TYPE, None);
    }
}
mod virtio {
    //! What virtio-blk disks report: `cache_type`, from the device configuration (virtio
    //! specification, *Block Device*, writeback). It is the hypervisor's statement, which a guest
    //! can also set. Whether flushes are honoured is not visible in a guest.

    use super::cache_statement::CacheStatement;
    use crate::durability::fact_reader::FactReader;
    use crate::facts::Subject;
    use crate::facts::catalog::device::{self, CacheType};

    pub fn cache_statement(ask: &mut FactReader, disk: &Subject) -> CacheStatement {
        match ask
            .get(disk, &device::CACHE_TYPE)
            .map(CacheType::holds_writes)
        {
            Some(true) => CacheStatement::Volatile,
            Some(false) => CacheStatement::NoCache(
                "as reported by its hypervisor; a guest can also set it".to_owned(),
            ),
            None => CacheStatement::Unreported(format!(
                "it is unknown what the hypervisor reports of the cache of {}",
                disk.name()
            )),
        }
    }

    pub fn note_missing(ask: &mut FactReader, disk: &Subject) {
        ask.note_missing(disk, &device::CACHE_TYPE, None);
    }
}

use super::controller;
use super::fact_reader::{FactDependencies, FactReader};
use super::{Evidence, Impact, Layer, Remedy};
pub use crate::facts::catalog::device::Cache;
use crate::facts::catalog::device::{self, DeviceKind, Guarantor, Transport, WriteCache};
use crate::facts::catalog::target::{Flush, Suppressor};
use crate::facts::{FactSet, Subject};
use crate::ternary::Ternary;
use cache_statement::{CacheStatement, device_evidence};

/// What happens to a flush at one hop; worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlushOutcome {
    Dropped(Suppressor),
    Unknown,
    /// Passed on: to the layer below, or at the bottom to the driver.
    Sent,
    NotNeeded,
}

impl FlushOutcome {
    pub fn is_sent(self) -> bool {
        matches!(self, Self::Sent)
    }

    /// The value of the fact `target.flush`.
    pub fn to_flush(self) -> Flush {
        match self {
            Self::Dropped(_) => Flush::Suppressed,
            Self::Unknown => Flush::Unknown,
            Self::Sent => Flush::Sent,
            Self::NotNeeded => Flush::NotNeeded,
        }
    }
}

/// The assessment of a disk at the bottom of a stack.
#[derive(Clone, Debug)]
pub struct DiskAssessment {
    pub cache: Cache,
    /// In its own queue.
    pub flush_outcome: FlushOutcome,
    /// Whether queue or disk reports *write back*; unknown if neither reports anything.
    pub write_back: Ternary,
    /// Whether it is a volume of a RAID controller, with disks of its own behind it.
    pub is_raid_volume: bool,
    /// Who vouches for its cache; `None` if this host can see it, or if nobody is known.
    pub guarantor: Option<Guarantor>,
    /// The kernel's view first, then the device's claims.
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
                Impact::AtRisk(Remedy::MoveOutOfMemory(disk.clone())),
                format!("{name} is stored in memory"),
            );
            assessment(
                ask,
                Cache::Volatile,
                FlushOutcome::Unknown,
                Ternary::Unknown,
                vec![claim],
            )
        }
        Some(DeviceKind::Zvol) => unknown_disk(
            ask,
            disk,
            format!("{name} is a volume of a ZFS pool; its sync property and disks are unknown"),
        ),
        Some(DeviceKind::Other) => unknown_disk(
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
        ) => unknown_disk(ask, disk, format!("the device under {name} was not found")),
        None => unknown_disk(
            ask,
            disk,
            format!("it is unknown what kind of device {name} is"),
        ),
    }
}

fn unknown_disk(ask: FactReader, disk: &Subject, says: String) -> DiskAssessment {
    let claim = device_evidence(&ask, disk, &device::KIND, Impact::Unproven, says);
    assessment(
        ask,
        Cache::Unknown,
        FlushOutcome::Unknown,
        Ternary::Unknown,
        vec![claim],
    )
}

fn assessment(
    ask: FactReader,
    cache: Cache,
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

/// A physical disk, or one that looks like it.
fn assess_attached_disk(mut ask: FactReader, disk: &Subject) -> DiskAssessment {
    let transport = ask.require(disk, &device::TRANSPORT);
    let queue = ask
        .require(disk, &device::WRITE_CACHE)
        .map(WriteCache::is_write_back);
    let attached = controller::is_behind_raid(&mut ask, disk, transport);
    let passed_on = attached && controller::is_passthrough_disk(&mut ask, disk);
    let raid = attached && !passed_on;
    let remote = ask.get(disk, &device::FABRIC).is_some();
    let guarantor = match (raid, remote) {
        (true, false) => None,
        // A volume of a controller in another machine.
        (true, true) => Some(Guarantor::Array),
        (false, _) => guarantor::find_guarantor(&mut ask, disk, transport),
    };
    let word = if raid {
        sd::kernel_statement(&mut ask, disk)
    } else {
        disk_statement(&mut ask, disk, transport)
    };

    let overridden = queue == Some(false) && word.reports_volatile();
    let mut claims = Vec::new();
    let mut cache = if overridden {
        let mut source = statement_origin(&ask, disk);
        let says = match &word {
            CacheStatement::Conflicting(how) => how.clone(),
            CacheStatement::Volatile if source.is_empty() => {
                source = ask.source_text(disk, &device::FUA);
                format!(
                    "{} reported a volatile cache to its driver, which passes forced unit access to it",
                    disk.name()
                )
            }
            CacheStatement::Volatile
            | CacheStatement::NoCache(_)
            | CacheStatement::SwitchedOff
            | CacheStatement::Unreported(_) => {
                format!("{} itself reports a volatile cache", disk.name())
            }
        };
        let bears = Impact::Contradictory(Remedy::WriteBackQueue(disk.clone()));
        claims.push(Evidence::new(Layer::Device, disk, bears, says, source));
        Cache::Contradictory
    } else {
        Cache::None
    };
    let mut judged = Vec::new();
    if raid {
        judged.push(controller::controller_cache(&mut ask, disk));
    }
    if !overridden && (!raid || remote) {
        let elsewhere =
            unprovable::unprovable_disk(&mut ask, disk, guarantor, transport, queue, &word);
        judged.push(elsewhere.unwrap_or_else(|| {
            compare_with_queue(&mut ask, disk, guarantor, transport, queue, &word)
        }));
    }
    for (found, says) in judged {
        cache = cache.min(found);
        claims.push(says);
    }

    let (passage, bears, says) = queue_finding(&mut ask, disk, queue, cache, raid, &word);
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
        evidence.extend(controller::swallowed_flushes(&mut ask, disk));
    }
    let (dangers, mut forgets) = warnings::warning_evidence(&mut ask, disk);
    if let Some((says, fails)) = capacitor::capacitor_evidence(&mut ask, disk) {
        evidence.push(says);
        forgets |= fails;
    }
    if forgets {
        cache = Cache::Volatile;
    }
    evidence.extend(dangers);
    DiskAssessment {
        is_raid_volume: raid,
        guarantor,
        ..assessment(ask, cache, passage, write_back, evidence)
    }
}

/// What a disk reports that is not behind a RAID controller.
fn disk_statement(
    ask: &mut FactReader,
    disk: &Subject,
    transport: Option<Transport>,
) -> CacheStatement {
    match statement_source(transport) {
        StatementSource::Nvme => nvme::cache_statement(ask, disk),
        StatementSource::Virtio => virtio::cache_statement(ask, disk),
        StatementSource::DriverOnly | StatementSource::Sd => sd::cache_statement(ask, disk),
    }
}

/// Who can be asked about a disk's cache.
enum StatementSource {
    /// The drive itself, by NVMe commands.
    Nvme,
    /// The hypervisor, by the device configuration.
    Virtio,
    /// Only the driver: an eMMC card or a Xen backend cannot be queried.
    DriverOnly,
    /// The sd driver, and the disk itself.
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

/// Compares a disk's statement with its queue; the worse of the two counts.
fn compare_with_queue(
    ask: &mut FactReader,
    disk: &Subject,
    guarantor: Option<Guarantor>,
    transport: Option<Transport>,
    queue: Option<bool>,
    word: &CacheStatement,
) -> (Cache, Evidence) {
    use Impact::{Durable, Unproven};
    let name = disk.name();
    let seen = || if queue.is_some() { Durable } else { Unproven };
    let documented = guarantor::is_documented(ask, disk, guarantor, transport);
    let (writes_back, bridged) = (
        queue == Some(true),
        transport.is_some_and(Transport::is_usb),
    );
    let (cache, bears, says) = match word {
        _ if writes_back && bridged => (
            Cache::Volatile,
            Unproven,
            format!("{name} is attached by USB, and USB bridges may answer flushes themselves"),
        ),
        CacheStatement::NoCache(_) if bridged => (
            Cache::Unknown,
            Unproven,
            format!(
                "{name} reports no volatile cache, but through a USB bridge, which may answer itself"
            ),
        ),
        CacheStatement::NoCache(_) if writes_back => (
            Cache::Volatile,
            Durable,
            format!(
                "{name} reports no volatile cache, but its queue is write back; the worse case is assumed"
            ),
        ),
        CacheStatement::Conflicting(how) => (
            Cache::Volatile,
            seen(),
            format!("{how}; the worse case is assumed"),
        ),
        CacheStatement::NoCache(_) | CacheStatement::SwitchedOff if !documented => {
            guarantor::note_unanswered(ask, disk, guarantor, transport);
            let says = "reports no volatile cache, but no documentation says that its acknowledged writes are durable";
            (Cache::Unknown, Unproven, format!("{name} {says}"))
        }
        CacheStatement::SwitchedOff => (
            Cache::None,
            seen(),
            format!("{name} reports that its volatile cache is off"),
        ),
        CacheStatement::Volatile => (
            Cache::Volatile,
            seen(),
            format!("{name} caches writes in a volatile cache"),
        ),
        CacheStatement::Unreported(_) if writes_back => (
            Cache::Volatile,
            seen(),
            format!("{name} caches writes in a volatile cache"),
        ),
        CacheStatement::NoCache(how) => (
            Cache::None,
            seen(),
            format!("{name} reports no volatile cache ({how})"),
        ),
        CacheStatement::Unreported(why) if !documented => {
            guarantor::note_unanswered(ask, disk, guarantor, transport);
            (Cache::Unknown, Unproven, why.clone())
        }
        CacheStatement::Unreported(why) => {
            match statement_source(transport) {
                StatementSource::Nvme => nvme::note_missing(ask, disk),
                StatementSource::Virtio => virtio::note_missing(ask, disk),
                StatementSource::DriverOnly => ask.note_missing(disk, &device::CACHE_TYPE, None),
                StatementSource::Sd => sd::note_missing(ask, disk),
            }
            (Cache::Unknown, Unproven, why.clone())
        }
    };
    let source = match statement_origin(ask, disk) {
        // Only its queue reports a cache.
        none if none.is_empty() && cache.is_volatile() => {
            ask.source_text(disk, &device::WRITE_CACHE)
        }
        // Only its driver knows of it.
        none if none.is_empty() && !cache.is_unknown() => ask.source_text(disk, &device::FUA),
        own => own,
    };
    (
        cache,
        Evidence::new(Layer::Device, disk, bears, says, source),
    )
}

/// The source of a disk's own statement: the most direct of its answers.
fn statement_origin(ask: &FactReader, disk: &Subject) -> String {
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

/// What happens to a flush in the disk's own queue.
fn queue_finding(
    ask: &mut FactReader,
    disk: &Subject,
    queue: Option<bool>,
    cache: Cache,
    raid: bool,
    word: &CacheStatement,
) -> (FlushOutcome, Impact, String) {
    use Impact::{Contradictory, Durable, Unproven};
    let name = disk.name();
    match queue {
        Some(true) => (
            FlushOutcome::Sent,
            Durable,
            format!("{name}'s queue is write back, so the kernel sends it flushes"),
        ),
        Some(false) if word.reports_volatile() => (
            FlushOutcome::Dropped(Suppressor::QueueOverride),
            Contradictory(Remedy::WriteBackQueue(disk.clone())),
            format!("{name}'s queue is write through, so the kernel drops its flushes"),
        ),
        Some(false) if raid && word.is_unreported() => {
            // Only the volume's own report would show an override.
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
