//! The claim layer: the statement of a disk, its controller or its hypervisor about its own cache,
//! compared with what the kernel believes (Documentation/block/writeback_cache_control.rst,
//! Documentation/ABI/stable/sysfs-block).
//!
//! It judges one disk at the bottom of a stack, independent of the layers above. The files beside
//! this one tell who can be asked and how far an answer is trusted. *Write through* is often no
//! claim at all: sd assumes it where a disk has no caching mode page, and an administrator may
//! write it into the queue.

mod statement {
    //! What a disk says about its cache, and how a claim is put down as evidence.

    use crate::durability::ask::Ask;
    use crate::durability::{Bears, Evidence, Layer};
    use crate::facts::{Key, Subject};

    /// A disk's statement about its cache, before it is compared with its queue.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum CacheStatement {
        /// It has a volatile cache.
        Volatile,
        /// Its answers contradict each other; how, in words.
        Torn(String),
        /// It has no volatile cache; the evidence, in words.
        Without(String),
        /// It reports its cache as switched off, while its driver assumes one.
        SwitchedOff,
        /// No credible statement; why, in words.
        Silent(String),
    }

    impl CacheStatement {
        /// Whether it reports a volatile cache, or one of its contradictory answers does.
        pub fn says_volatile(&self) -> bool {
            matches!(self, Self::Volatile | Self::Torn(_))
        }

        /// Whether there is no credible statement.
        pub fn is_silent(&self) -> bool {
            matches!(self, Self::Silent(_))
        }
    }

    /// A claim about a disk, from the fact that it was read as.
    pub fn claim<T>(
        ask: &Ask,
        disk: &Subject,
        from: &Key<T>,
        bears: Bears,
        says: String,
    ) -> Evidence {
        let source = ask.origin(disk, from);
        Evidence::new(Layer::Claim, disk, bears, says, source)
    }
}
mod capacitor {
    //! What an NVMe drive says of the capacitor behind its memory. It is one more statement of the
    //! drive, beside its volatile cache and its warnings, and never the protection that a
    //! controller's battery is: nothing observed here says what the drive does once its capacitor
    //! fails.
    //!
    //! Like its warnings it can only lower a verdict: a healthy capacitor makes no volatile cache a
    //! protected one.

    use super::statement::claim;
    use crate::durability::ask::Ask;
    use crate::durability::{Bears, Evidence, Mend};
    use crate::facts::Subject;
    use crate::facts::catalog::device::{self, Capacitor};

    /// The evidence, and whether the drive forgets although it may claim otherwise; `None` where it
    /// says nothing.
    pub fn find(ask: &mut Ask, disk: &Subject) -> Option<(Evidence, bool)> {
        let name = disk.name();
        let left = |ask: &mut Ask| {
            let percent = ask.value(disk, &device::NVME_CAPACITOR_PERCENT);
            percent.map_or_else(String::new, |percent| format!(" ({percent:.0} %)"))
        };
        let (bears, says, forgets) = match ask.value(disk, &device::NVME_CAPACITOR)? {
            Capacitor::Healthy => (
                Bears::Durable,
                format!("{name} calls its capacitor healthy{}", left(ask)),
                false,
            ),
            Capacitor::Degraded => (
                Bears::Durable,
                format!(
                    "{name} says that its capacitor holds less than when it was made, and enough{}",
                    left(ask)
                ),
                false,
            ),
            Capacitor::Failed => (
                Bears::AtRisk(Mend::Replace(disk.clone())),
                format!(
                    "{name} says that its capacitor may not carry it through a power failure{}",
                    left(ask)
                ),
                true,
            ),
            Capacitor::Absent => (
                Bears::Durable,
                format!("{name} says that it has no capacitor"),
                false,
            ),
            // Nothing was said.
            Capacitor::Unreadable => return None,
        };
        Some((
            claim(ask, disk, &device::NVME_CAPACITOR, bears, says),
            forgets,
        ))
    }
}
mod danger;
mod elsewhere;
mod guarantor;
mod nvme;
mod sd {
    //! The statement of SCSI, SATA and SAS disks and of everything else behind the kernel's sd
    //! driver, including USB bridges and disks of hypervisors
    //! (Documentation/scsi/sd-parameters.rst).
    //!
    //! There are two sources: the kernel's copy of the caching mode page (`cache_type`), and, for
    //! root, the disk itself. *Write through* is believed only from the disk. sd assumes it where a
    //! disk has no such page. `temporary write through` makes queue and `cache_type` both say it
    //! while the disk keeps caching.

    use super::statement::CacheStatement;
    use crate::durability::ask::Ask;
    use crate::facts::Subject;
    use crate::facts::catalog::device::{self, CacheType, DriveCache, Transport};

    const ASK_IT: &str = "ask the disk itself as root: smartctl -g wcache DEVICE, hdparm -W DEVICE or sdparm --get=WCE DEVICE";

    /// A guest's disk has no cache of its own to ask about.
    const ASK_HYPERVISOR: &str = "ask whoever runs the hypervisor how it caches this disk";

    pub fn word(ask: &mut Ask, disk: &Subject) -> CacheStatement {
        let name = disk.name();
        let kept = ask
            .value(disk, &device::CACHE_TYPE)
            .map(CacheType::holds_writes);
        let asked = ask.value(disk, &device::DRIVE_CACHE).map(DriveCache::is_on);
        match (kept, asked) {
            (Some(false), Some(true)) => CacheStatement::Torn(format!(
                "{name} reports that its write cache is on, but the kernel was told that it has none"
            )),
            (Some(true), Some(false)) => CacheStatement::Torn(format!(
                "{name} reports that its write cache is off, but the kernel found it on"
            )),
            (Some(true), _) | (None, Some(true)) => CacheStatement::Volatile,
            (Some(false), Some(false)) => {
                CacheStatement::Without("asked past the kernel".to_owned())
            }
            (None, Some(false)) => CacheStatement::Silent(format!(
                "{name} reports that its write cache is off, and it is unknown what it told the kernel"
            )),
            (Some(false), None) => CacheStatement::Silent(format!(
                "only the kernel says that {name} has no volatile cache: it assumes so if a disk reports nothing, and can be told so"
            )),
            (None, None) => CacheStatement::Silent(format!(
                "it is unknown what {name} itself reports of its cache"
            )),
        }
    }

    /// The statement that a RAID controller's volume shows to the kernel. The volume itself would
    /// answer about its controller's cache, which the controller's own tool describes in full, so
    /// it is not asked.
    pub fn as_shown(ask: &mut Ask, disk: &Subject) -> CacheStatement {
        match ask
            .value(disk, &device::CACHE_TYPE)
            .map(CacheType::holds_writes)
        {
            Some(true) => CacheStatement::Volatile,
            Some(false) => CacheStatement::Without("shown to the kernel".to_owned()),
            None => CacheStatement::Silent(String::new()),
        }
    }

    /// Records the facts that would settle it as missing.
    pub fn miss(ask: &mut Ask, disk: &Subject) {
        let is_virtual = ask
            .value(disk, &device::TRANSPORT)
            .is_some_and(Transport::is_virtual);
        let remedy = if is_virtual { ASK_HYPERVISOR } else { ASK_IT };
        ask.miss(disk, &device::DRIVE_CACHE, Some(remedy));
        ask.miss(disk, &device::CACHE_TYPE, None);
    }
}
mod virtio {
    //! The statement of virtio-blk disks: `cache_type`, which the driver reads from the device's
    //! own configuration (virtio specification, *Block Device*, writeback), whatever the kernel was
    //! told.
    //!
    //! It is the hypervisor's statement. A guest can set it too, and the hypervisor then obeys.
    //! Whether the hypervisor honours a flush is another question, which no guest can answer.

    use super::statement::CacheStatement;
    use crate::durability::ask::Ask;
    use crate::facts::Subject;
    use crate::facts::catalog::device::{self, CacheType};

    pub fn word(ask: &mut Ask, disk: &Subject) -> CacheStatement {
        match ask
            .value(disk, &device::CACHE_TYPE)
            .map(CacheType::holds_writes)
        {
            Some(true) => CacheStatement::Volatile,
            Some(false) => CacheStatement::Without(
                "as reported by its hypervisor; a guest can also set it".to_owned(),
            ),
            None => CacheStatement::Silent(format!(
                "it is unknown what the hypervisor reports of the cache of {}",
                disk.name()
            )),
        }
    }

    /// Records the facts that would settle it as missing.
    pub fn miss(ask: &mut Ask, disk: &Subject) {
        ask.miss(disk, &device::CACHE_TYPE, None);
    }
}

use super::ask::{Ask, FactDependencies};
use super::controller;
use super::{Bears, Evidence, Layer, Mend};
pub use crate::facts::catalog::device::Cache;
use crate::facts::catalog::device::{self, DeviceKind, Guarantor, Transport, WriteCache};
use crate::facts::catalog::target::{Flush, Suppressor};
use crate::facts::{FactSet, Subject};
use crate::truth::Truth;
use statement::{CacheStatement, claim};

/// The fate of a flush at one hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Passage {
    /// Dropped here, for this reason.
    Dropped(Suppressor),
    Unknown,
    /// Passed on: to the layer below, or at the bottom to the driver.
    Sent,
    /// Not sent, and not needed.
    NotNeeded,
}

impl Passage {
    /// Whether it is passed on.
    pub fn is_sent(self) -> bool {
        matches!(self, Self::Sent)
    }

    /// The fate of a target's flushes.
    pub fn flush(self) -> Flush {
        match self {
            Self::Dropped(_) => Flush::Suppressed,
            Self::Unknown => Flush::Unknown,
            Self::Sent => Flush::Sent,
            Self::NotNeeded => Flush::NotNeeded,
        }
    }
}

/// The judgement of one disk at the bottom of a stack.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub cache: Cache,
    /// The fate of a flush in its queue.
    pub passage: Passage,
    /// Whether its queue or the disk itself reports *write back*; unknown where neither reports
    /// anything.
    pub write_back: Truth,
    /// Whether it is a volume of a RAID controller, with disks of its own behind it.
    pub is_volume: bool,
    /// On whose word it is taken; `None` where this machine shows what it holds, or nobody is
    /// known.
    pub guarantor: Option<Guarantor>,
    /// The evidence: belief, then claim.
    pub evidence: Vec<Evidence>,
    /// The facts that were asked for.
    pub asked: FactDependencies,
}

pub fn leaf(facts: &FactSet, disk: &Subject) -> Leaf {
    let mut ask = Ask::new(facts);
    let name = disk.name();
    let kind = ask.need(disk, &device::KIND);
    match kind {
        Some(DeviceKind::Disk) => attached(ask, disk),
        Some(DeviceKind::Zram | DeviceKind::Ram) => {
            let claim = claim(
                &ask,
                disk,
                &device::KIND,
                Bears::AtRisk(Mend::OutOfMemory(disk.clone())),
                format!("{name} is kept in memory"),
            );
            done(
                ask,
                Cache::Volatile,
                Passage::Unknown,
                Truth::Unknown,
                vec![claim],
            )
        }
        Some(DeviceKind::Zvol) => opaque(
            ask,
            disk,
            format!("{name} is a volume of a ZFS pool; its sync property and disks are unknown"),
        ),
        Some(DeviceKind::Other) => opaque(
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
        ) => opaque(ask, disk, format!("the device under {name} was not found")),
        None => opaque(
            ask,
            disk,
            format!("it is unknown what kind of device {name} is"),
        ),
    }
}

fn opaque(ask: Ask, disk: &Subject, says: String) -> Leaf {
    let claim = claim(&ask, disk, &device::KIND, Bears::Unproven, says);
    done(
        ask,
        Cache::Unknown,
        Passage::Unknown,
        Truth::Unknown,
        vec![claim],
    )
}

fn done(
    ask: Ask,
    cache: Cache,
    passage: Passage,
    write_back: Truth,
    evidence: Vec<Evidence>,
) -> Leaf {
    Leaf {
        cache,
        passage,
        write_back,
        is_volume: false,
        guarantor: None,
        evidence,
        asked: ask.asked,
    }
}

/// A physical disk, or one that looks like it.
fn attached(mut ask: Ask, disk: &Subject) -> Leaf {
    let transport = ask.need(disk, &device::TRANSPORT);
    let queue = ask
        .need(disk, &device::WRITE_CACHE)
        .map(WriteCache::is_write_back);
    let attached = controller::is_behind_one(&mut ask, disk, transport);
    let passed_on = attached && controller::is_passed_on(&mut ask, disk);
    let raid = attached && !passed_on;
    let remote = ask.value(disk, &device::FABRIC).is_some();
    let guarantor = match (raid, remote) {
        (true, false) => None,
        // A volume of a controller on another machine.
        (true, true) => Some(Guarantor::Array),
        (false, _) => guarantor::of(&mut ask, disk, transport),
    };
    let word = if raid {
        sd::as_shown(&mut ask, disk)
    } else {
        own_word(&mut ask, disk, transport)
    };

    let overridden = queue == Some(false) && word.says_volatile();
    let mut claims = Vec::new();
    let mut cache = if overridden {
        let mut source = said_by(&ask, disk);
        let says = match &word {
            CacheStatement::Torn(how) => how.clone(),
            CacheStatement::Volatile if source.is_empty() => {
                source = ask.origin(disk, &device::FUA);
                format!(
                    "{} told its driver that it has one: forced unit access is passed to it",
                    disk.name()
                )
            }
            CacheStatement::Volatile
            | CacheStatement::Without(_)
            | CacheStatement::SwitchedOff
            | CacheStatement::Silent(_) => {
                format!("{} itself reports one", disk.name())
            }
        };
        let bears = Bears::Contradictory(Mend::Queue(disk.clone()));
        claims.push(Evidence::new(Layer::Claim, disk, bears, says, source));
        Cache::Contradictory
    } else {
        Cache::None
    };
    let mut judged = Vec::new();
    if raid {
        judged.push(controller::judge(&mut ask, disk));
    }
    if !overridden && (!raid || remote) {
        let elsewhere = elsewhere::judge(&mut ask, disk, guarantor, transport, queue, &word);
        judged.push(
            elsewhere.unwrap_or_else(|| {
                held_against(&mut ask, disk, guarantor, transport, queue, &word)
            }),
        );
    }
    for (found, says) in judged {
        cache = cache.min(found);
        claims.push(says);
    }

    let (passage, bears, says) = believed(&mut ask, disk, queue, cache, raid, &word);
    let source = ask.origin(disk, &device::WRITE_CACHE);
    let belief = Evidence::new(Layer::Belief, disk, bears, says, source);
    let write_back = match queue {
        _ if word.says_volatile() => Truth::True,
        Some(true) => Truth::True,
        None => Truth::Unknown,
        Some(false) => Truth::False,
    };
    let mut evidence = vec![belief];
    evidence.extend(claims);
    if passed_on && cache.forgets() {
        evidence.extend(controller::swallows(&mut ask, disk));
    }
    let (dangers, mut forgets) = danger::find(&mut ask, disk);
    if let Some((says, fails)) = capacitor::find(&mut ask, disk) {
        evidence.push(says);
        forgets |= fails;
    }
    if forgets {
        cache = Cache::Volatile;
    }
    evidence.extend(dangers);
    Leaf {
        is_volume: raid,
        guarantor,
        ..done(ask, cache, passage, write_back, evidence)
    }
}

/// The statement of a disk that has no RAID controller in front of it.
fn own_word(ask: &mut Ask, disk: &Subject, transport: Option<Transport>) -> CacheStatement {
    match asked_as(transport) {
        AskedAs::Nvme => nvme::word(ask, disk),
        AskedAs::Virtio => virtio::word(ask, disk),
        AskedAs::Card | AskedAs::Sd => sd::word(ask, disk),
    }
}

/// Who can be asked about a disk's cache.
enum AskedAs {
    /// The drive itself, by the commands of NVMe.
    Nvme,
    /// The hypervisor, in the device's configuration.
    Virtio,
    /// The driver alone, by the data it was given: an eMMC card or a Xen backend cannot be asked.
    Card,
    /// The sd driver, and the disk itself.
    Sd,
}

fn asked_as(transport: Option<Transport>) -> AskedAs {
    match transport {
        Some(Transport::Nvme) => AskedAs::Nvme,
        Some(Transport::Virtio) => AskedAs::Virtio,
        Some(Transport::Mmc | Transport::Xen) => AskedAs::Card,
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
        | None => AskedAs::Sd,
    }
}

/// Compares a disk's statement with its queue: the worse of two counts.
fn held_against(
    ask: &mut Ask,
    disk: &Subject,
    guarantor: Option<Guarantor>,
    transport: Option<Transport>,
    queue: Option<bool>,
    word: &CacheStatement,
) -> (Cache, Evidence) {
    use Bears::{Durable, Unproven};
    let name = disk.name();
    let seen = || if queue.is_some() { Durable } else { Unproven };
    let documented = guarantor::documents(ask, disk, guarantor, transport);
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
        CacheStatement::Without(_) if bridged => (
            Cache::Unknown,
            Unproven,
            format!(
                "{name} reports no volatile cache, but through a USB bridge, which may answer itself"
            ),
        ),
        CacheStatement::Without(_) if writes_back => (
            Cache::Volatile,
            Durable,
            format!(
                "{name} reports no volatile cache, but its queue says write back; the worse case is assumed"
            ),
        ),
        CacheStatement::Torn(how) => (
            Cache::Volatile,
            seen(),
            format!("{how}; the worse case is assumed"),
        ),
        CacheStatement::Without(_) | CacheStatement::SwitchedOff if !documented => {
            guarantor::miss(ask, disk, guarantor, transport);
            let says =
                "reports no volatile cache, and no document says what its writes are worth then";
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
        CacheStatement::Silent(_) if writes_back => (
            Cache::Volatile,
            seen(),
            format!("{name} caches writes in a volatile cache"),
        ),
        CacheStatement::Without(how) => (
            Cache::None,
            seen(),
            format!("{name} reports no volatile cache ({how})"),
        ),
        CacheStatement::Silent(why) if !documented => {
            guarantor::miss(ask, disk, guarantor, transport);
            (Cache::Unknown, Unproven, why.clone())
        }
        CacheStatement::Silent(why) => {
            match asked_as(transport) {
                AskedAs::Nvme => nvme::miss(ask, disk),
                AskedAs::Virtio => virtio::miss(ask, disk),
                AskedAs::Card => ask.miss(disk, &device::CACHE_TYPE, None),
                AskedAs::Sd => sd::miss(ask, disk),
            }
            (Cache::Unknown, Unproven, why.clone())
        }
    };
    let source = match said_by(ask, disk) {
        // Only its queue reports it.
        none if none.is_empty() && cache.forgets() => ask.origin(disk, &device::WRITE_CACHE),
        // Only its driver was told.
        none if none.is_empty() && !cache.is_open() => ask.origin(disk, &device::FUA),
        own => own,
    };
    (
        cache,
        Evidence::new(Layer::Claim, disk, bears, says, source),
    )
}

/// Where a disk's own statement was read: the most direct of its answers.
fn said_by(ask: &Ask, disk: &Subject) -> String {
    let answers = [
        ask.origin(disk, &device::DRIVE_CACHE),
        ask.origin(disk, &device::NVME_VOLATILE),
        ask.origin(disk, &device::CACHE_TYPE),
    ];
    answers
        .into_iter()
        .find(|source| !source.is_empty())
        .unwrap_or_default()
}

/// The fate of a flush in the disk's own queue.
fn believed(
    ask: &mut Ask,
    disk: &Subject,
    queue: Option<bool>,
    cache: Cache,
    raid: bool,
    word: &CacheStatement,
) -> (Passage, Bears, String) {
    use Bears::{Contradictory, Durable, Unproven};
    let name = disk.name();
    match queue {
        Some(true) => (
            Passage::Sent,
            Durable,
            format!(
                "the queue of {name} says write back, so flushes that arrive are sent to its driver"
            ),
        ),
        Some(false) if word.says_volatile() => (
            Passage::Dropped(Suppressor::QueueOverride),
            Contradictory(Mend::Queue(disk.clone())),
            format!(
                "the queue of {name} says write through, as if it had no volatile cache, so flushes are dropped"
            ),
        ),
        Some(false) if raid && word.is_silent() => {
            // Only the volume's own statement would show an override.
            ask.miss(disk, &device::CACHE_TYPE, None);
            (
                Passage::Unknown,
                Unproven,
                format!(
                    "the queue of {name} says write through, and it is unknown whether the disk says so too"
                ),
            )
        }
        Some(false) if cache.is_safe_unflushed() => (
            Passage::NotNeeded,
            Durable,
            format!("the queue of {name} says write through, so no flush is sent"),
        ),
        Some(false) => (
            Passage::Unknown,
            Unproven,
            format!(
                "the queue of {name} says write through, so no flush is sent, and nothing shows that none is needed"
            ),
        ),
        None => (
            Passage::Unknown,
            Unproven,
            format!("it is unknown whether flushes are sent to {name}"),
        ),
    }
}
