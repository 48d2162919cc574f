//! The claim layer: what a disk, its controller or its hypervisor says of its own cache, held against what the kernel
//! believes of it (Documentation/block/writeback_cache_control.rst, Documentation/ABI/stable/sysfs-block).
//!
//! It judges one disk at the bottom of a stack and knows nothing of what lies above. The surprise: *write through* is
//! often no claim at all. sd assumes it where a disk has no caching mode page, and anybody may write it into the queue.

use super::ask::{Ask, Asked};
use super::controller;
use super::{Evidence, Layer, Standing};
use crate::facts::catalog::device;
use crate::facts::{FactSet, Key, Subject};

/// What a disk's own cache is, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cache {
    /// It loses what it holds when the power fails.
    Volatile,
    /// Kernel and disk disagree.
    Contradictory,
    /// Cannot be said.
    Unknown,
    /// It keeps what it holds: a healthy battery or flash module.
    Protected,
    /// It holds nothing back.
    None,
}

impl Cache {
    /// The word of the facts `device.cache` and `target.cache`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Volatile => "volatile",
            Self::Contradictory => "contradictory",
            Self::Unknown => "unknown",
            Self::Protected => "protected",
            Self::None => "none",
        }
    }

    /// Whether data is safe in or behind it without any flush.
    pub fn is_safe_unflushed(self) -> bool {
        matches!(self, Self::Protected | Self::None)
    }
}

/// What happens to a flush at one hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Passage {
    /// It is dropped here, by what [`super::belief`] calls it.
    Dropped(&'static str),
    /// Cannot be said.
    Unknown,
    /// It goes on: to the layer below, or at the bottom to the driver.
    Sent,
    /// None is sent, and none is needed.
    NotNeeded,
}

/// A disk at the bottom of a stack, judged on its own.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// What its cache is.
    pub cache: Cache,
    /// What its queue does with a flush.
    pub passage: Passage,
    /// Whether its queue or the disk itself says *write back*.
    pub write_back: bool,
    /// What speaks for that: belief, then claim.
    pub evidence: Vec<Evidence>,
    /// What was asked.
    pub asked: Asked,
}

/// How far a disk's own word for *write through* goes.
enum Trust {
    /// It comes from the disk, or from the hypervisor that plays it.
    Disk,
    /// sd assumes it where the disk says nothing, which is the rule on such disks.
    Assumed,
    /// The kernel shows no such word; it can be had otherwise.
    NotShown,
}

const MEMORY: [&str; 2] = ["zram", "ram"];
const IDENTIFY: &str = "read the controller's own word as root: nvme id-ctrl -H DEVICE (line vwc)";

/// Judges one disk.
pub fn leaf(facts: &FactSet, disk: &Subject) -> Leaf {
    let mut ask = Ask::new(facts);
    let name = disk.name();
    let kind = ask.need(disk, &device::KIND);
    match kind.as_deref() {
        Some("disk") => attached(ask, disk),
        Some(kind) if MEMORY.contains(&kind) => {
            let claim =
                claim(&ask, disk, &device::KIND, Standing::AtRisk, format!("{name} is kept in memory"));
            done(ask, Cache::Volatile, Passage::Unknown, false, vec![claim])
        }
        Some("other") => {
            opaque(ask, disk, format!("{name} is a kind of device that walwise cannot see through"))
        }
        Some(_) => opaque(ask, disk, format!("what {name} stands on was not found")),
        None => opaque(ask, disk, format!("what kind of device {name} is, is not known")),
    }
}

fn opaque(ask: Ask, disk: &Subject, says: String) -> Leaf {
    let claim = claim(&ask, disk, &device::KIND, Standing::Unproven, says);
    done(ask, Cache::Unknown, Passage::Unknown, false, vec![claim])
}

fn done(ask: Ask, cache: Cache, passage: Passage, write_back: bool, evidence: Vec<Evidence>) -> Leaf {
    Leaf { cache, passage, write_back, evidence, asked: ask.asked }
}

fn claim<T>(ask: &Ask, disk: &Subject, from: &Key<T>, standing: Standing, says: String) -> Evidence {
    let source = ask.origin(disk, from);
    Evidence { layer: Layer::Claim, subject: disk.clone(), standing, says, source }
}

/// A real disk, or what passes for one.
fn attached(mut ask: Ask, disk: &Subject) -> Leaf {
    let name = disk.name();
    let transport = ask.need(disk, &device::TRANSPORT);
    let queue = ask.need(disk, &device::WRITE_CACHE);
    let word = ask.value(disk, &device::CACHE_TYPE);
    let says_back = word.as_deref().map(|word| word.starts_with("write back"));
    let believed_back = queue.as_deref().map(|queue| queue == "write back");

    let raid = controller::is_behind_one(&mut ask, disk, transport.as_deref());
    let (cache, claimed) = if believed_back == Some(false) && says_back == Some(true) {
        let says = format!("{name} itself says that it has one");
        (Cache::Contradictory, claim(&ask, disk, &device::CACHE_TYPE, Standing::Contradictory, says))
    } else if raid {
        controller::judge(&mut ask, disk)
    } else {
        own_word(&mut ask, disk, transport.as_deref(), believed_back, says_back)
    };

    let (passage, standing, believed) = match believed_back {
        Some(true) => (
            Passage::Sent,
            Standing::Durable,
            format!("the queue of {name} says write back, so flushes that arrive are sent to its driver"),
        ),
        Some(false) if cache == Cache::Contradictory => (
            Passage::Dropped("queue override"),
            Standing::Contradictory,
            format!(
                "the queue of {name} says write through, as if it had no volatile cache, so flushes are dropped"
            ),
        ),
        Some(false) if raid && says_back.is_none() => {
            // Only the disk's own word would show an override.
            ask.miss(disk, &device::CACHE_TYPE, None);
            (
                Passage::Unknown,
                Standing::Unproven,
                format!(
                    "the queue of {name} says write through, and whether the disk says so too is not known"
                ),
            )
        }
        Some(false) if cache.is_safe_unflushed() => (
            Passage::NotNeeded,
            Standing::Durable,
            format!("the queue of {name} says write through, so no flush is sent"),
        ),
        Some(false) => (
            Passage::Unknown,
            Standing::Unproven,
            format!(
                "the queue of {name} says write through, so no flush is sent, and whether none is needed is not shown"
            ),
        ),
        None => {
            (Passage::Unknown, Standing::Unproven, format!("whether flushes are sent to {name} is not known"))
        }
    };
    let source = ask.origin(disk, &device::WRITE_CACHE);
    let belief = Evidence { layer: Layer::Belief, subject: disk.clone(), standing, says: believed, source };
    let write_back = believed_back == Some(true) || says_back == Some(true);
    done(ask, cache, passage, write_back, vec![belief, claimed])
}

/// What a disk without a RAID controller before it says.
fn own_word(
    ask: &mut Ask,
    disk: &Subject,
    transport: Option<&str>,
    believed_back: Option<bool>,
    says_back: Option<bool>,
) -> (Cache, Evidence) {
    use Standing::{Durable, Unproven};
    let name = disk.name();
    let trust = match transport {
        Some("sata" | "sas" | "scsi" | "virtio") => Trust::Disk,
        Some("virtio-scsi" | "usb" | "vmware" | "hyperv" | "xen") => Trust::Assumed,
        Some("nvme" | "mmc") => Trust::NotShown,
        _ => {
            let says = match transport {
                Some("network") => format!("{name} lies on another machine, whose caches cannot be seen"),
                Some(_) => format!("{name} is attached in a way that walwise cannot see through"),
                None => format!("how {name} is attached is not known"),
            };
            let cache = if says_back == Some(true) { Cache::Volatile } else { Cache::Unknown };
            return (cache, claim(ask, disk, &device::TRANSPORT, Unproven, says));
        }
    };
    let (cache, standing, says) = match (believed_back, says_back, trust) {
        (Some(true), ..) if transport == Some("usb") => (
            Cache::Volatile,
            Unproven,
            format!("{name} is attached by USB, and such bridges may answer a flush themselves"),
        ),
        (Some(true), Some(false), _) => (
            Cache::Volatile,
            Durable,
            format!(
                "{name} says write through although its queue says write back; the worse is taken to be true"
            ),
        ),
        (Some(true), ..) | (None, Some(true), _) => {
            let standing = if believed_back.is_some() { Durable } else { Unproven };
            (Cache::Volatile, standing, format!("{name} holds writes in a volatile cache"))
        }
        (_, Some(false), Trust::Disk) => {
            let caveat = match transport {
                Some("virtio") => "its hypervisor's word, which a guest can also set itself",
                _ => "the disk's word, or the kernel's assumption where the disk gives none",
            };
            let standing = if believed_back.is_some() { Durable } else { Unproven };
            (Cache::None, standing, format!("{name} says that it has no volatile cache ({caveat})"))
        }
        (_, Some(false), Trust::Assumed | Trust::NotShown) => (
            Cache::Unknown,
            Unproven,
            format!("that {name} has no volatile cache is only the kernel's assumption on such disks"),
        ),
        (_, None | Some(true), trust) => {
            let remedy = matches!(trust, Trust::NotShown).then_some(IDENTIFY);
            ask.miss(disk, &device::CACHE_TYPE, remedy);
            (Cache::Unknown, Unproven, format!("what {name} itself says of its cache is not known"))
        }
    };
    (cache, claim(ask, disk, &device::CACHE_TYPE, standing, says))
}
