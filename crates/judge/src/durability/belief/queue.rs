//! The queue of a device on top of others. It passes flushes on as *write back* and drops them as
//! *write through*, which is correct only where nothing below holds data back.
//!
//! Many drivers always announce a cache, whatever lies below. *Write through* on such a device is
//! never its initial state but a manual change.

use super::{Bottom, Hop, array, evidence, mapping, own_state, plain};
use crate::durability::ask::Ask;
use crate::durability::claim::Passage;
use crate::durability::{Bears, Mend};
use crate::facts::catalog::device::{
    self, BcacheMode, DeviceKind, DmCacheMode, DrbdProtocol, WriteCache,
};
use crate::facts::catalog::target::Suppressor;
use crate::facts::{Scope, Subject};
use crate::truth::Truth;

/// Whether the driver of a kind announces a cache whatever is below it (drivers/md/md.c,
/// drivers/block/loop.c, drivers/md/bcache/super.c, drivers/block/drbd/drbd_main.c, and zvol_os.c
/// of OpenZFS).
fn is_always_write_back(kind: DeviceKind) -> bool {
    matches!(
        kind,
        DeviceKind::Md
            | DeviceKind::Loop
            | DeviceKind::Bcache
            | DeviceKind::Drbd
            | DeviceKind::Zvol
    )
}

/// Judges the queue of a device that stands on others. A partition has none of its own; it uses its
/// disk's.
pub fn queue(ask: &mut Ask, hop: &Subject, bottom: Bottom) -> Vec<Hop> {
    let kind = ask.need(hop, &device::KIND);
    // The facts behind `plain` count among those that were asked for.
    match kind {
        Some(DeviceKind::Partition) => return Vec::new(),
        Some(DeviceKind::Lvm | DeviceKind::Dm | DeviceKind::Dmraid | DeviceKind::Vdo) => {
            drop(ask.value(hop, &device::DM_TARGETS));
        }
        Some(
            DeviceKind::Disk
            | DeviceKind::Md
            | DeviceKind::Crypt
            | DeviceKind::Multipath
            | DeviceKind::Bcache
            | DeviceKind::Drbd
            | DeviceKind::Zvol
            | DeviceKind::Loop
            | DeviceKind::Zram
            | DeviceKind::Ram
            | DeviceKind::Other,
        )
        | None => {}
    }
    let mut found = vec![by_its_word(ask, hop, kind, bottom)];
    if let Some(kind) = kind {
        found.extend(by_its_kind(ask, hop, kind));
        found.extend(mapping::mapping(ask, hop, kind));
        if kind.is_md() {
            found.extend(array::array(ask, hop));
        }
    } else {
        let says = format!("it is unknown what kind of device {} is", hop.name());
        found.push((
            Passage::Unknown,
            evidence(ask, hop, &device::KIND, Bears::Unproven, says),
        ));
    }
    found
}

fn by_its_word(ask: &mut Ask, hop: &Subject, kind: Option<DeviceKind>, bottom: Bottom) -> Hop {
    use Bears::{Contradictory, Durable, Unproven};
    let name = hop.name();
    let never = kind.is_some_and(is_always_write_back)
        || own_state::targets(ask.facts, hop).is_some_and(own_state::Targets::keep);
    let (passage, bears, says) = match ask.need(hop, &device::WRITE_CACHE) {
        Some(WriteCache::WriteBack) => {
            (Passage::Sent, Durable, format!("{name} passes flushes on"))
        }
        Some(WriteCache::WriteThrough) if bottom.write_back == Truth::True => (
            Passage::Dropped(Suppressor::QueueOverride),
            Contradictory(Mend::Queue(hop.clone())),
            format!(
                "the queue of {name} says write through above a disk that says write back, so flushes are dropped"
            ),
        ),
        Some(WriteCache::WriteThrough) if never => (
            Passage::Dropped(Suppressor::QueueOverride),
            Contradictory(Mend::Queue(hop.clone())),
            format!(
                "the queue of {name} says write through, which its driver never sets, so flushes are dropped"
            ),
        ),
        Some(WriteCache::WriteThrough) if bottom.write_back == Truth::Unknown => (
            Passage::Unknown,
            Unproven,
            format!(
                "the queue of {name} says write through, and it is unknown whether a disk below says write back"
            ),
        ),
        Some(WriteCache::WriteThrough) if plain(ask.facts, hop) == Truth::True => (
            Passage::NotNeeded,
            Durable,
            format!("{name} drops flushes like the disks below it, which say write through too"),
        ),
        Some(WriteCache::WriteThrough) => (
            Passage::Unknown,
            Unproven,
            format!(
                "the queue of {name} says write through, and it is unknown whether it holds data until it is flushed"
            ),
        ),
        None => (
            Passage::Unknown,
            Unproven,
            format!("it is unknown whether {name} passes flushes on"),
        ),
    };
    (
        passage,
        evidence(ask, hop, &device::WRITE_CACHE, bears, says),
    )
}

/// The evidence about a device that follows from its kind, beside its queue.
fn by_its_kind(ask: &mut Ask, hop: &Subject, kind: DeviceKind) -> Option<Hop> {
    use Bears::{AtRisk, Durable, Unproven};
    let name = hop.name();
    match kind {
        DeviceKind::Zram | DeviceKind::Ram => {
            let says = format!("{name} is kept in memory");
            let bears = AtRisk(Mend::OutOfMemory(hop.clone()));
            Some((
                Passage::Dropped(Suppressor::FileSystem),
                evidence(ask, hop, &device::KIND, bears, says),
            ))
        }
        // Its cache is a second disk below it and counts like any other; a missing one counts too.
        DeviceKind::Bcache => {
            let disks = ask.facts.below(hop).len();
            let mode = ask.value(hop, &device::BCACHE_MODE);
            let state = ask.value(hop, &device::BCACHE_STATE);
            let (holds, without) = match mode {
                Some(BcacheMode::Writeback) => (true, false),
                Some(BcacheMode::Writethrough | BcacheMode::Writearound | BcacheMode::None) => {
                    (false, true)
                }
                None => (false, false),
            };
            let without = without || state.is_some_and(|state| !state.has_cache());
            let (passage, bears, says) = if disks > 1 && holds {
                let says = format!(
                    "{name} keeps writes in its cache (bcache, writeback), whose disk holds committed data too"
                );
                (Passage::Sent, Durable, says)
            } else if disks > 1 || without {
                return None;
            } else {
                ask.miss(hop, &device::BCACHE_MODE, None);
                let says =
                    format!("{name} may keep writes in a cache (bcache) whose disk was not found");
                (Passage::Unknown, Unproven, says)
            };
            Some((
                passage,
                evidence(ask, hop, &device::BCACHE_MODE, bears, says),
            ))
        }
        DeviceKind::Drbd => {
            let protocol = ask.value(hop, &device::DRBD_PROTOCOL);
            let peer = match protocol {
                Some(DrbdProtocol::A) => {
                    "the peer, which is not seen here, gets a commit after it was reported (protocol A)"
                }
                Some(DrbdProtocol::B) => {
                    "the peer, which is not seen here, has a commit in memory at best (protocol B)"
                }
                Some(DrbdProtocol::C) => {
                    "the peer, which is not seen here, may have a commit only in its disk's cache (protocol C)"
                }
                None => "it is unknown when the peer, which is not seen here, has a commit",
            };
            let says = format!("{name} is DRBD and passes flushes on; {peer}");
            let evidence = match protocol {
                Some(_) => evidence(ask, hop, &device::DRBD_PROTOCOL, Durable, says),
                None => evidence(ask, hop, &device::KIND, Durable, says),
            };
            Some((Passage::Sent, evidence))
        }
        DeviceKind::Zvol => {
            let says = format!(
                "{name} is a volume of a ZFS pool, and it is unknown whether it honours flushes (its property sync)"
            );
            Some((
                Passage::Unknown,
                evidence(ask, hop, &device::KIND, Unproven, says),
            ))
        }
        DeviceKind::Other if hop.scope() == Scope::Device => {
            let says = format!("{name} is a kind of device that walwise cannot inspect");
            Some((
                Passage::Unknown,
                evidence(ask, hop, &device::KIND, Unproven, says),
            ))
        }
        DeviceKind::Lvm | DeviceKind::Dm => by_its_targets(ask, hop, kind),
        DeviceKind::Disk
        | DeviceKind::Partition
        | DeviceKind::Md
        | DeviceKind::Crypt
        | DeviceKind::Multipath
        | DeviceKind::Dmraid
        | DeviceKind::Vdo
        | DeviceKind::Loop
        | DeviceKind::Other => None,
    }
}

/// Judges a mapping by its targets, which only root can read. A volume of LVM has LVM's own
/// targets, which all pass flushes on; without targets, other mappings are unknown.
fn by_its_targets(ask: &mut Ask, hop: &Subject, kind: DeviceKind) -> Option<Hop> {
    use Bears::{Durable, Unproven};
    let name = hop.name();
    let Some(targets) = ask.value(hop, &device::DM_TARGETS) else {
        if kind.is_lvm() {
            return None;
        }
        ask.miss(hop, &device::DM_TARGETS, None);
        let says = format!(
            "it is unknown what the mapping {name} does with a flush, because its targets are unknown"
        );
        return Some((
            Passage::Unknown,
            evidence(ask, hop, &device::KIND, Unproven, says),
        ));
    };
    if let Some(unknown) = own_state::unknown(&targets) {
        let says = format!("{name} has a target that walwise cannot inspect ({unknown})");
        return Some((
            Passage::Unknown,
            evidence(ask, hop, &device::DM_TARGETS, Unproven, says),
        ));
    }
    let holds = targets.iter().any(|target| target == "writecache")
        || targets.iter().any(|target| target == "cache")
            && may_hold(ask.value(hop, &device::DM_CACHE_MODE));
    let says = format!("{name} keeps writes in a cache, whose disk holds committed data too");
    holds.then(|| {
        (
            Passage::Sent,
            evidence(ask, hop, &device::DM_TARGETS, Durable, says),
        )
    })
}

/// Whether a device-mapper cache may hold writes back, as far as is known.
fn may_hold(mode: Option<DmCacheMode>) -> bool {
    match mode {
        Some(DmCacheMode::Writeback) | None => true,
        Some(DmCacheMode::Writethrough | DmCacheMode::Passthrough) => false,
    }
}
