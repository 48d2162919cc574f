//! The belief layer: whether a flush travels on at each hop above the disks, as the kernel sees it. File systems can be
//! told not to send flushes, and any queue on the way can be told that there is nothing to flush
//! (Documentation/ABI/stable/sysfs-block, queue/write_cache), which drops the flushes of everything above it.
//!
//! It judges one hop at a time; the disk's own queue is judged with its claim. The surprise: a hop with state of its own
//! (a loop file, a thin pool, a cache) loses data without flushes even over disks that hold nothing back.

use super::ask::Ask;
use super::claim::{Cache, Passage};
use super::{Evidence, Layer, Standing};
use crate::facts::catalog::{device, mount};
use crate::facts::{FactSet, Key, Scope, Subject};
use crate::truth::Truth;

/// What lies at the bottom of a way, for judging a hop above it.
#[derive(Clone, Copy, Debug)]
pub struct Bottom {
    /// The worst cache.
    pub cache: Cache,
    /// Whether a disk there says *write back*.
    pub write_back: bool,
    /// Whether nothing between keeps data of its own that only a flush writes out.
    pub plain: Truth,
}

/// What became of a flush at a hop, and what speaks for that.
pub type Hop = (Passage, Evidence);

/// The word for a file system that was told not to send flushes.
pub const BY_MOUNT: &str = "mount option";
const BY_FILE_SYSTEM: &str = "file system";
const BY_QUEUE: &str = "queue override";

fn evidence<T>(ask: &Ask, hop: &Subject, from: &Key<T>, standing: Standing, says: String) -> Evidence {
    let source = ask.origin(hop, from);
    Evidence { layer: Layer::Belief, subject: hop.clone(), standing, says, source }
}

/// Judges a file system on the way.
pub fn mount(ask: &mut Ask, hop: &Subject, bottom: Bottom) -> Hop {
    use Standing::{AtRisk, Unproven};
    let name = hop.name();
    let fstype = ask.value(hop, &mount::FSTYPE).unwrap_or_else(|| "a file system".to_owned());
    let class = ask.need(hop, &mount::CLASS);
    match class.as_deref() {
        Some("block") => barrier(ask, hop, &fstype, bottom),
        Some("memory") => {
            let says = format!("{name} is kept in memory ({fstype})");
            (Passage::Dropped(BY_FILE_SYSTEM), evidence(ask, hop, &mount::CLASS, AtRisk, says))
        }
        Some("overlay") => overlay(ask, hop),
        Some("zfs") => zfs(ask, hop),
        Some("network") => {
            let says = format!(
                "{name} is {fstype} over the network, and what the other side does with a flush cannot be seen"
            );
            (Passage::Unknown, evidence(ask, hop, &mount::CLASS, Unproven, says))
        }
        Some("fuse") => {
            let says = format!(
                "{name} is served by a program ({fstype}), and what that does with a flush cannot be seen"
            );
            (Passage::Unknown, evidence(ask, hop, &mount::CLASS, Unproven, says))
        }
        Some(_) => {
            let says = format!("what {fstype} at {name} does with a flush is not known");
            (Passage::Unknown, evidence(ask, hop, &mount::CLASS, Unproven, says))
        }
        None => {
            let says = format!("what kind of file system {name} is, is not known");
            (Passage::Unknown, evidence(ask, hop, &mount::CLASS, Unproven, says))
        }
    }
}

fn barrier(ask: &mut Ask, hop: &Subject, fstype: &str, bottom: Bottom) -> Hop {
    use Standing::{AtRisk, Durable, Unproven};
    let name = hop.name();
    let off = format!("{name} is {fstype} mounted without barriers");
    let (passage, standing, says) = match ask.need(hop, &mount::BARRIER).as_deref() {
        Some("on") => (Passage::Sent, Durable, format!("{name} is {fstype} and sends flushes")),
        Some("no effect") => (
            Passage::Sent,
            Durable,
            format!("{name} is {fstype} and sends flushes, whatever its barrier option says"),
        ),
        Some(_) if !bottom.cache.is_safe_unflushed() || bottom.plain == Truth::False => {
            (Passage::Dropped(BY_MOUNT), AtRisk, format!("{off}, so no flush is sent"))
        }
        Some(_) if bottom.plain == Truth::Unknown => (
            Passage::Dropped(BY_MOUNT),
            Unproven,
            format!("{off}, and a layer below it may hold data until it is flushed"),
        ),
        Some(_) => (
            Passage::Dropped(BY_MOUNT),
            Durable,
            format!("{off}, which only the disks below make safe: none of them loses what it holds"),
        ),
        None => (Passage::Unknown, Unproven, format!("whether {name} ({fstype}) sends flushes is not known")),
    };
    (passage, evidence(ask, hop, &mount::BARRIER, standing, says))
}

fn overlay(ask: &mut Ask, hop: &Subject) -> Hop {
    use Standing::{AtRisk, Durable, Unproven};
    let name = hop.name();
    let options = ask.need(hop, &mount::SUPER_OPTIONS);
    let volatile = options.map(|all| all.iter().any(|o| o == "volatile" || o == "fsync=volatile"));
    let (passage, standing, says) = match volatile {
        Some(true) => (
            Passage::Dropped(BY_FILE_SYSTEM),
            AtRisk,
            format!("{name} is an overlay mounted volatile, so nothing is flushed"),
        ),
        Some(false) => {
            (Passage::Sent, Durable, format!("{name} is an overlay, which flushes its upper layer"))
        }
        None => (Passage::Unknown, Unproven, format!("whether the overlay at {name} flushes is not known")),
    };
    (passage, evidence(ask, hop, &mount::SUPER_OPTIONS, standing, says))
}

fn zfs(ask: &mut Ask, hop: &Subject) -> Hop {
    use Standing::{AtRisk, Unproven};
    let name = hop.name();
    let (passage, standing, says) = match ask.value(hop, &mount::ZFS_SYNC).as_deref() {
        Some("disabled") => (
            Passage::Dropped(BY_FILE_SYSTEM),
            AtRisk,
            format!("{name} is ZFS with sync=disabled, which ignores flushes"),
        ),
        Some(_) => (
            Passage::Unknown,
            Unproven,
            format!("{name} is ZFS; it honours flushes, but what its pool's disks hold back is not known"),
        ),
        None => {
            ask.miss(hop, &mount::ZFS_SYNC, Some("read it: zfs get -Hp -o value sync DATASET"));
            (
                Passage::Unknown,
                Unproven,
                format!("whether ZFS at {name} honours flushes (its property sync) is not known"),
            )
        }
    };
    (passage, evidence(ask, hop, &mount::ZFS_SYNC, standing, says))
}

/// Judges the queue of a device that stands on others. A partition has none of its own; it uses its disk's.
pub fn queue(ask: &mut Ask, hop: &Subject, bottom: Bottom) -> Option<Hop> {
    use Standing::{Contradictory, Durable, Unproven};
    let name = hop.name();
    let kind = ask.need(hop, &device::KIND);
    if kind.as_deref() == Some("partition") {
        return None;
    }
    if kind.as_deref() == Some("md") {
        // Decides whether it is `plain`, so it counts among what was asked.
        ask.value(hop, &device::MD_LEVEL);
    }
    let (passage, standing, says) = match ask.need(hop, &device::WRITE_CACHE).as_deref() {
        Some("write back") => (Passage::Sent, Durable, format!("{name} passes flushes on")),
        Some(_) if bottom.write_back => (
            Passage::Dropped(BY_QUEUE),
            Contradictory,
            format!(
                "the queue of {name} says write through above a disk that says write back, so flushes are dropped"
            ),
        ),
        // Both drivers always announce a cache (drivers/md/md.c, drivers/block/loop.c).
        Some(_) if matches!(kind.as_deref(), Some("md" | "loop")) => (
            Passage::Dropped(BY_QUEUE),
            Contradictory,
            format!(
                "the queue of {name} says write through, which its driver never does by itself, so flushes are dropped"
            ),
        ),
        Some(_) if plain(ask.facts, hop) == Truth::True => (
            Passage::NotNeeded,
            Durable,
            format!("{name} drops flushes like the disks below it, which say write through too"),
        ),
        Some(_) => (
            Passage::Unknown,
            Unproven,
            format!(
                "the queue of {name} says write through, and whether it holds data until it is flushed is not known"
            ),
        ),
        None => (Passage::Unknown, Unproven, format!("whether {name} passes flushes on is not known")),
    };
    Some((passage, evidence(ask, hop, &device::WRITE_CACHE, standing, says)))
}

/// Whether a device that stands on others keeps no data or mapping of its own that only a flush writes out. Thin pools,
/// caches and snapshots do; without root a mapping's type is not shown, but one that lies on no other volume is linear
/// or striped.
pub fn plain(facts: &FactSet, hop: &Subject) -> Truth {
    let kind = |of: &Subject| facts.value(of, &device::KIND);
    let on_a_mapping =
        || facts.below(hop).iter().any(|base| matches!(kind(base).as_deref(), Some("lvm" | "dm") | None));
    match kind(hop).as_deref() {
        Some("disk" | "partition" | "crypt" | "multipath") => Truth::True,
        Some("lvm") if !on_a_mapping() => Truth::True,
        Some("md") => match facts.value(hop, &device::MD_LEVEL).as_deref() {
            Some("raid0" | "raid1" | "raid10" | "linear") => Truth::True,
            _ => Truth::Unknown,
        },
        Some("loop" | "zram" | "ram") => Truth::False,
        _ if hop.scope() != Scope::Device => Truth::False,
        _ => Truth::Unknown,
    }
}
