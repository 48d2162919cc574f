//! The queue of a stacked device: *write back* passes flushes on; *write through* drops them, which
//! is right only if nothing below caches writes.
//!
//! Some drivers always announce a cache. *Write through* on a device of such a driver was set by
//! hand.

use super::{
    HopFinding, StackCaches, are_dm_targets_stateless, array_findings, find_unknown_dm_target,
    holds_no_unflushed_data, kernel_evidence, mapping_fault_finding, unproven_finding,
};
use crate::durability::device_view::FlushOutcome;
use crate::durability::fact_reader::FactReader;
use crate::durability::{EvidenceImpact, VerdictRemedy};
use crate::facts::catalog::device::{
    self, BcacheMode, DeviceKind, DmCacheMode, DrbdProtocol, QueueWriteCache,
};
use crate::facts::catalog::target::FlushSuppressor;
use crate::facts::{Scope, Subject};
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

/// Empty for a partition, which uses the queue of its disk.
pub fn stacked_device_findings(
    ask: &mut FactReader,
    hop: &Subject,
    bottom: StackCaches,
) -> Vec<HopFinding> {
    let kind = ask.read_or_record_missing(hop, &device::KIND);
    if kind.is_some_and(DeviceKind::is_partition) {
        return Vec::new();
    }
    // `holds_no_unflushed_data` reads the targets without `ask`, so this read records their use.
    if matches!(
        kind,
        Some(DeviceKind::Lvm | DeviceKind::Dm | DeviceKind::Dmraid | DeviceKind::Vdo)
    ) {
        drop(ask.read_and_record_use(hop, &device::DM_TARGETS));
    }
    let mut found = vec![write_cache_finding(ask, hop, kind, bottom)];
    if let Some(kind) = kind {
        found.extend(flush_finding_by_kind(ask, hop, kind));
        found.extend(mapping_fault_finding(ask, hop, kind));
        if kind.is_md() {
            found.extend(array_findings(ask, hop));
        }
    } else {
        let says = format!("it is unknown what kind of device {} is", hop.name());
        found.push(unproven_finding(ask, hop, &device::KIND, says));
    }
    found
}

fn write_cache_finding(
    ask: &mut FactReader,
    hop: &Subject,
    kind: Option<DeviceKind>,
    bottom: StackCaches,
) -> HopFinding {
    use EvidenceImpact::{Contradictory, Durable, Unproven};
    let name = hop.name();
    let never = kind.is_some_and(is_always_write_back)
        || are_dm_targets_stateless(ask.facts, hop) == Some(Ternary::False);
    let (passage, bears, says) = match ask.read_or_record_missing(hop, &device::WRITE_CACHE) {
        Some(QueueWriteCache::WriteBack) => (
            FlushOutcome::Sent,
            Durable,
            format!("{name} passes flushes on"),
        ),
        Some(QueueWriteCache::WriteThrough) if bottom.write_back == Ternary::True => (
            FlushOutcome::Dropped(FlushSuppressor::QueueOverride),
            Contradictory(VerdictRemedy::write_back_queue(hop)),
            format!(
                "{name}'s queue is write through, but an underlying disk is write back, so flushes are dropped"
            ),
        ),
        Some(QueueWriteCache::WriteThrough) if never => (
            FlushOutcome::Dropped(FlushSuppressor::QueueOverride),
            Contradictory(VerdictRemedy::write_back_queue(hop)),
            format!(
                "{name}'s queue is write through, which its driver never sets, so flushes are dropped"
            ),
        ),
        Some(QueueWriteCache::WriteThrough) if bottom.write_back == Ternary::Unknown => (
            FlushOutcome::Unknown,
            Unproven,
            format!(
                "{name}'s queue is write through, and it is unknown whether an underlying disk is write back"
            ),
        ),
        Some(QueueWriteCache::WriteThrough)
            if holds_no_unflushed_data(ask.facts, hop) == Ternary::True =>
        {
            (
                FlushOutcome::NotNeeded,
                Durable,
                format!("{name} drops flushes, as do the disks below it (also write through)"),
            )
        }
        Some(QueueWriteCache::WriteThrough) => (
            FlushOutcome::Unknown,
            Unproven,
            format!(
                "{name}'s queue is write through, and it is unknown whether {name} holds unflushed data"
            ),
        ),
        None => (
            FlushOutcome::Unknown,
            Unproven,
            format!("it is unknown whether {name} passes flushes on"),
        ),
    };
    (
        passage,
        kernel_evidence(ask, hop, &device::WRITE_CACHE, bears, says),
    )
}

fn flush_finding_by_kind(
    ask: &mut FactReader,
    hop: &Subject,
    kind: DeviceKind,
) -> Option<HopFinding> {
    use EvidenceImpact::{AtRisk, Durable, Unproven};
    let name = hop.name();
    match kind {
        DeviceKind::Zram | DeviceKind::Ram => {
            let says = format!("{name} keeps its data in memory");
            let bears = AtRisk(VerdictRemedy::move_out_of_memory(hop));
            Some((
                FlushOutcome::Dropped(FlushSuppressor::FileSystem),
                kernel_evidence(ask, hop, &device::KIND, bears, says),
            ))
        }
        // The cache device is judged as one of the disks below. Only a missing cache device needs a
        // finding here.
        DeviceKind::Bcache => {
            let disks = ask.facts.layers_directly_below(hop).len();
            let mode = ask.read_and_record_use(hop, &device::BCACHE_MODE);
            let state = ask.read_and_record_use(hop, &device::BCACHE_STATE);
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
                    "{name} is a bcache device in writeback mode: committed data may exist only on its cache disk"
                );
                (FlushOutcome::Sent, Durable, says)
            } else if disks > 1 || without {
                return None;
            } else {
                ask.record_missing_fact(hop, &device::BCACHE_MODE, None);
                let says = format!(
                    "{name} is a bcache device that may cache writes, and its cache disk was not found"
                );
                (FlushOutcome::Unknown, Unproven, says)
            };
            Some((
                passage,
                kernel_evidence(ask, hop, &device::BCACHE_MODE, bears, says),
            ))
        }
        DeviceKind::Drbd => {
            let protocol = ask.read_and_record_use(hop, &device::DRBD_PROTOCOL);
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
            let says = format!("{name} is DRBD and passes flushes on; {peer}");
            let evidence = match protocol {
                Some(_) => kernel_evidence(ask, hop, &device::DRBD_PROTOCOL, Durable, says),
                None => kernel_evidence(ask, hop, &device::KIND, Durable, says),
            };
            Some((FlushOutcome::Sent, evidence))
        }
        DeviceKind::Zvol => {
            let says = format!(
                "{name} is a volume of a ZFS pool, and it is unknown whether it honours flushes (its sync property)"
            );
            Some(unproven_finding(ask, hop, &device::KIND, says))
        }
        DeviceKind::Other if hop.scope() == Scope::Device => {
            let says = format!("{name} is a device of a type that walwise cannot inspect");
            Some(unproven_finding(ask, hop, &device::KIND, says))
        }
        DeviceKind::Lvm | DeviceKind::Dm => dm_target_flush_finding(ask, hop, kind),
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

/// Unread targets of an LVM volume are no finding, because LVM's own targets all pass flushes on.
fn dm_target_flush_finding(
    ask: &mut FactReader,
    hop: &Subject,
    kind: DeviceKind,
) -> Option<HopFinding> {
    use EvidenceImpact::Durable;
    let name = hop.name();
    let Some(targets) = ask.read_and_record_use(hop, &device::DM_TARGETS) else {
        if kind.is_lvm() {
            return None;
        }
        ask.record_missing_fact(hop, &device::DM_TARGETS, None);
        let says = format!(
            "it is unknown whether the mapping {name} passes flushes on, because its targets are unknown"
        );
        return Some(unproven_finding(ask, hop, &device::KIND, says));
    };
    if let Some(unknown) = find_unknown_dm_target(&targets) {
        let says = format!("{name} has a target that walwise cannot inspect ({unknown})");
        return Some(unproven_finding(ask, hop, &device::DM_TARGETS, says));
    }
    let holds = targets.iter().any(|target| target == "writecache")
        || targets.iter().any(|target| target == "cache")
            && may_cache_hold_unwritten_data(ask.read_and_record_use(hop, &device::DM_CACHE_MODE));
    let says =
        format!("{name} is a write-back cache: committed data may exist only on its cache disk");
    holds.then(|| {
        (
            FlushOutcome::Sent,
            kernel_evidence(ask, hop, &device::DM_TARGETS, Durable, says),
        )
    })
}

fn may_cache_hold_unwritten_data(mode: Option<DmCacheMode>) -> bool {
    match mode {
        Some(DmCacheMode::Writeback) | None => true,
        Some(DmCacheMode::Writethrough | DmCacheMode::Passthrough) => false,
    }
}
