//! The queue of a stacked device: *write back* passes flushes on; *write through* drops them, which
//! is right only if nothing below caches writes.
//!
//! Some drivers always announce a cache. *Write through* on a device of such a driver was set by
//! hand.

use super::{
    HopFinding, StackCaches, are_dm_targets_stateless, array_findings, dropped_by_file_system,
    find_unknown_dm_target, holds_no_unflushed_data, mapping_fault_finding, sent, unproven,
};
use crate::durability::EvidenceImpact::{Contradictory, Durable};
use crate::durability::VerdictRemedy;
use crate::durability::device_view::FlushOutcome;
use crate::durability::fact_reader::FactReader;
use crate::facts::Scope;
use crate::facts::catalog::device::{
    self, BcacheMode, DeviceKind, DmCacheMode, DrbdProtocol, QueueWriteCache,
};
use crate::facts::catalog::target::FlushSuppressor;
use crate::ternary::Ternary;

/// Whether drivers of this kind announce a cache, whatever devices are below (drivers/md/md.c,
/// drivers/block/loop.c, drivers/md/bcache/super.c, drivers/block/drbd/drbd_main.c, zvol_os.c of
/// OpenZFS).
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

/// The findings about a device above the disks; none for a partition, which uses the queue of its
/// disk.
pub fn stacked_device_findings(hop: FactReader, bottom: StackCaches) -> Vec<HopFinding> {
    let kind = hop.require(&device::KIND);
    if kind.is_some_and(DeviceKind::is_partition) {
        return Vec::new();
    }
    // `holds_no_unflushed_data` does not record the targets as used, so this read records them.
    if matches!(
        kind,
        Some(DeviceKind::Lvm | DeviceKind::Dm | DeviceKind::Dmraid | DeviceKind::Vdo)
    ) {
        drop(hop.read(&device::DM_TARGETS));
    }
    let mut found = vec![write_cache_finding(hop, kind, bottom)];
    let Some(kind) = kind else {
        let text = format!("it is unknown what kind of device {} is", hop.name());
        found.push(hop.unproven_finding(&device::KIND, text));
        return found;
    };
    found.extend(flush_finding_by_kind(hop, kind));
    found.extend(mapping_fault_finding(hop, kind));
    if kind.is_md() {
        found.extend(array_findings(hop));
    }
    found
}

fn write_cache_finding(
    hop: FactReader,
    kind: Option<DeviceKind>,
    bottom: StackCaches,
) -> HopFinding {
    let name = hop.name();
    let never = kind.is_some_and(is_always_write_back)
        || are_dm_targets_stateless(hop.facts, hop.subject) == Some(Ternary::False);
    let overridden = |text| {
        let remedy = VerdictRemedy::write_back_queue(name);
        let outcome = FlushOutcome::Dropped(FlushSuppressor::QueueOverride);
        (outcome, Contradictory(remedy), text)
    };
    let clause = match hop.require(&device::WRITE_CACHE) {
        Some(QueueWriteCache::WriteBack) => sent(format!("{name} passes flushes on")),
        Some(QueueWriteCache::WriteThrough) if bottom.write_back == Ternary::True => {
            overridden(format!(
                "{name}'s queue is write through, but an underlying disk is write back, so flushes are dropped"
            ))
        }
        Some(QueueWriteCache::WriteThrough) if never => overridden(format!(
            "{name}'s queue is write through, which its driver never sets, so flushes are dropped"
        )),
        Some(QueueWriteCache::WriteThrough) if bottom.write_back == Ternary::Unknown => {
            unproven(format!(
                "{name}'s queue is write through, and it is unknown whether an underlying disk is write back"
            ))
        }
        Some(QueueWriteCache::WriteThrough)
            if holds_no_unflushed_data(hop.facts, hop.subject) == Ternary::True =>
        {
            (
                FlushOutcome::NotNeeded,
                Durable,
                format!("{name} drops flushes, as do the disks below it (also write through)"),
            )
        }
        Some(QueueWriteCache::WriteThrough) => unproven(format!(
            "{name}'s queue is write through, and it is unknown whether {name} holds unflushed data"
        )),
        None => unproven(format!("it is unknown whether {name} passes flushes on")),
    };
    hop.finding(&device::WRITE_CACHE, clause)
}

fn flush_finding_by_kind(hop: FactReader, kind: DeviceKind) -> Option<HopFinding> {
    let name = hop.name();
    let clause = match kind {
        DeviceKind::Zram | DeviceKind::Ram => dropped_by_file_system(
            VerdictRemedy::move_out_of_memory(name),
            format!("{name} keeps its data in memory"),
        ),
        DeviceKind::Bcache => return bcache_finding(hop),
        DeviceKind::Drbd => {
            let protocol = hop.read(&device::DRBD_PROTOCOL);
            let peer = match protocol {
                Some(DrbdProtocol::A) => {
                    "the peer (not visible here) may receive a commit only after it is acknowledged (protocol A)"
                }
                Some(DrbdProtocol::B) => {
                    "the peer (not visible here) has a commit in memory at best (protocol B)"
                }
                Some(DrbdProtocol::C) => {
                    "the peer (not visible here) may have a commit only in its disk's cache (protocol C)"
                }
                None => "it is unknown when the peer (not visible here) receives a commit",
            };
            let clause = sent(format!("{name} is DRBD and passes flushes on; {peer}"));
            if protocol.is_some() {
                return Some(hop.finding(&device::DRBD_PROTOCOL, clause));
            }
            clause
        }
        DeviceKind::Zvol => unproven(format!(
            "{name} is a volume of a ZFS pool, and it is unknown whether it honours flushes (its sync property)"
        )),
        DeviceKind::Other if hop.subject.scope() == Scope::Device => unproven(format!(
            "{name} is a device of a type that walwise cannot inspect"
        )),
        DeviceKind::Lvm | DeviceKind::Dm => return dm_target_flush_finding(hop, kind),
        DeviceKind::Disk
        | DeviceKind::Partition
        | DeviceKind::Md
        | DeviceKind::Crypt
        | DeviceKind::Multipath
        | DeviceKind::Dmraid
        | DeviceKind::Vdo
        | DeviceKind::Loop
        | DeviceKind::Other => return None,
    };
    Some(hop.finding(&device::KIND, clause))
}

/// The cache device is judged as one of the disks below. Only a missing cache device needs a
/// finding here.
fn bcache_finding(hop: FactReader) -> Option<HopFinding> {
    let name = hop.name();
    let disks = hop.layers_directly_below().len();
    let mode = hop.read(&device::BCACHE_MODE);
    let state = hop.read(&device::BCACHE_STATE);
    let (holds, without) = match mode {
        Some(BcacheMode::Writeback) => (true, false),
        Some(BcacheMode::Writethrough | BcacheMode::Writearound | BcacheMode::None) => {
            (false, true)
        }
        None => (false, false),
    };
    let without = without || state.is_some_and(|state| !state.has_cache());
    let clause = if disks > 1 && holds {
        sent(format!(
            "{name} is a bcache device in writeback mode: committed data may exist only on its cache disk"
        ))
    } else if disks > 1 || without {
        return None;
    } else {
        hop.record_missing(&device::BCACHE_MODE, None);
        unproven(format!(
            "{name} is a bcache device that may cache writes, and its cache disk was not found"
        ))
    };
    Some(hop.finding(&device::BCACHE_MODE, clause))
}

/// Unread targets of an LVM volume are no finding, because LVM's own targets all pass flushes on.
fn dm_target_flush_finding(hop: FactReader, kind: DeviceKind) -> Option<HopFinding> {
    let name = hop.name();
    let key = &device::DM_TARGETS;
    let Some(targets) = hop.read(key) else {
        if kind.is_lvm() {
            return None;
        }
        hop.record_missing(key, None);
        let text = format!(
            "it is unknown whether the mapping {name} passes flushes on, because its targets are unknown"
        );
        return Some(hop.unproven_finding(&device::KIND, text));
    };
    if let Some(unknown) = find_unknown_dm_target(&targets) {
        let text = format!("{name} has a target that walwise cannot inspect ({unknown})");
        return Some(hop.unproven_finding(key, text));
    }
    let holds = targets.iter().any(|target| target == "writecache")
        || targets.iter().any(|target| target == "cache")
            && may_cache_hold_unwritten_data(hop.read(&device::DM_CACHE_MODE));
    let text =
        format!("{name} is a write-back cache: committed data may exist only on its cache disk");
    holds.then(|| hop.finding(key, sent(text)))
}

fn may_cache_hold_unwritten_data(mode: Option<DmCacheMode>) -> bool {
    match mode {
        Some(DmCacheMode::Writeback) | None => true,
        Some(DmCacheMode::Writethrough | DmCacheMode::Passthrough) => false,
    }
}
