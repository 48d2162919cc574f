//! Block devices: the kind of each, the caches and flushes of its queue, and its limits (sysfs-block).
//!
//! The attachment and the cache claim of a disk are read in [`super::transport`]; attributes of only some kinds have
//! one file per kind. A partition has no queue of its own and inherits its disk's readings, with the disk's files as
//! source. `write back` in the queue of md or device-mapper does not describe the disks below, so every hop is read.

use super::node::Node;
use super::topology::walk;
use super::transport::Transports;
use super::{bcache, cloud, geometry, loops, md, medium, unit};
use crate::collect::attribute;
use crate::collect::collector::{Collector, Request, describe_all};
use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::{FactSet, KeyInfo, Reading, Remedy, Source, Subject, Why};
use crate::host::Host;

/// Reads the block devices.
pub const COLLECTOR: Collector = Collector { id: "block devices", run };

fn run(host: &dyn Host, _: &Request, facts: &mut FactSet) {
    let nodes = walk(host, facts, |around: &mut Around, node, facts| {
        read_only(host, node, facts);
        if node.has_own_queue() {
            whole(host, node, around, facts);
        }
    });
    let first_partition = nodes.iter().position(|node| !node.has_own_queue()).unwrap_or(nodes.len());
    let (whole, partitions) = nodes.split_at(first_partition);
    unit::join(whole.iter().map(|node| &node.subject), facts);
    describe_all(
        partitions,
        |node| &node.subject,
        facts,
        |nodes, facts| {
            for node in nodes {
                inherit(&node.subject, facts);
                geometry::partition(host, node, facts);
            }
        },
    );
}

/// State shared by several devices.
#[derive(Default)]
struct Around {
    transport: Transports,
}

/// Records the attributes of a device with a queue.
fn whole(host: &dyn Host, node: &Node, around: &mut Around, facts: &mut FactSet) {
    queue(host, node, facts);
    counts_flushes(host, node, facts);
    around.transport.describe(host, node, facts);
    unit::describe(host, node, facts);
    geometry::queue(host, node, facts);
    cloud::describe(node, facts);
    medium::describe(node, facts);
    match node.kind {
        DeviceKind::Md => md::describe(host, node, facts),
        DeviceKind::Loop => loops::describe(host, node, facts),
        DeviceKind::Zram => {
            let backing = attribute::text(host, &node.attribute("backing_dev"));
            facts.put(&node.subject, &device::ZRAM_BACKING, backing);
        }
        DeviceKind::Bcache => bcache::describe(host, node, facts),
        DeviceKind::Disk
        | DeviceKind::Partition
        | DeviceKind::Lvm
        | DeviceKind::Crypt
        | DeviceKind::Multipath
        | DeviceKind::Dmraid
        | DeviceKind::Vdo
        | DeviceKind::Dm
        | DeviceKind::Drbd
        | DeviceKind::Zvol
        | DeviceKind::Ram
        | DeviceKind::Other => {}
    }
}

fn read_only(host: &dyn Host, node: &Node, facts: &mut FactSet) {
    let read_only = attribute::flag(host, &node.attribute("ro"));
    facts.put(&node.subject, &device::READ_ONLY, read_only);
}

/// queue/write_cache came with commit 93e9d8e836cb (*block: add ability to flag write back caching on a device*), Linux 4.7.
const OLD_KERNEL: &str = "boot Linux 4.7 or later: an older kernel does not show whether it sends flushes";

fn queue(host: &dyn Host, node: &Node, facts: &mut FactSet) {
    let at = |name: &str| node.attribute(&format!("queue/{name}"));
    let subject = &node.subject;
    let logical = attribute::number(host, &at("logical_block_size"));
    let believed = match attribute::choice(host, &at("write_cache")) {
        // The queue is there and does not say.
        Reading::Unknown { why: Why::Absent, detail, .. } if logical.is_known() => {
            Reading::unknown(Why::Absent, detail).or_try(Remedy::Do(OLD_KERNEL.to_owned()))
        }
        told => told,
    };
    facts.put(subject, &device::WRITE_CACHE, believed);
    facts.put(subject, &device::FUA, attribute::flag(host, &at("fua")));
    facts.put(subject, &device::ROTATIONAL, attribute::flag(host, &at("rotational")));
    facts.put(subject, &device::SCHEDULER, attribute::text(host, &at("scheduler")).map(|text| active(&text)));
    facts.put(subject, &device::LOGICAL_BLOCK, logical);
    facts.put(subject, &device::PHYSICAL_BLOCK, attribute::number(host, &at("physical_block_size")));
    facts.put(subject, &device::DISCARD_MAX, attribute::number(host, &at("discard_max_bytes")));
    facts.put(subject, &device::ZONED, attribute::choice(host, &at("zoned")));
}

/// The scheduler in brackets; a device that can have none prints only `none`.
fn active(text: &str) -> String {
    let inner = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word);
    inner.unwrap_or(text).to_owned()
}

/// Fields of `stat` before which the kernel does not count flushes (added in 5.5).
const FIELDS_WITH_FLUSHES: usize = 17;

fn counts_flushes(host: &dyn Host, node: &Node, facts: &mut FactSet) {
    let counts = if is_bio_based(node, facts) {
        Reading::known(false, Source::derived([device::KIND.name()]))
    } else {
        attribute::text(host, &node.attribute("stat"))
            .map(|text| text.split_whitespace().count() >= FIELDS_WITH_FLUSHES)
    };
    facts.put(&node.subject, &device::COUNTS_FLUSHES, counts);
}

/// Whether its driver takes bios rather than requests; flushes then pass uncounted.
fn is_bio_based(node: &Node, facts: &FactSet) -> bool {
    match node.kind {
        DeviceKind::Disk => node.is_called("pmem") || node.is_in("/nvme-subsystem/"),
        DeviceKind::Loop => false,
        // Only a request-based multipath offers schedulers, in brackets; its raw text is gone, but `none` alone is bio.
        DeviceKind::Multipath => {
            facts.value(&node.subject, &device::SCHEDULER).is_none_or(|word| word == "none")
        }
        DeviceKind::Partition
        | DeviceKind::Md
        | DeviceKind::Lvm
        | DeviceKind::Crypt
        | DeviceKind::Dmraid
        | DeviceKind::Vdo
        | DeviceKind::Dm
        | DeviceKind::Bcache
        | DeviceKind::Drbd
        | DeviceKind::Zvol
        | DeviceKind::Zram
        | DeviceKind::Ram
        | DeviceKind::Other => true,
    }
}

/// Facts that a partition inherits from its disk.
const INHERITED: &[KeyInfo] = &[
    device::WRITE_CACHE.info,
    device::FUA.info,
    device::ROTATIONAL.info,
    device::SCHEDULER.info,
    device::LOGICAL_BLOCK.info,
    device::PHYSICAL_BLOCK.info,
    device::DISCARD_MAX.info,
    device::ZONED.info,
    device::COUNTS_FLUSHES.info,
    device::OPTIMAL_IO.info,
    device::MAX_IO.info,
    device::ATOMIC_WRITE_MAX.info,
    device::WRITEBACK_LATENCY.info,
    device::TRANSPORT.info,
    device::FABRIC.info,
    device::MEDIUM.info,
    device::SHINGLED.info,
    device::UNIT.info,
    device::DRIVER.info,
    device::MODEL.info,
    device::CACHE_TYPE.info,
];

fn inherit(partition: &Subject, facts: &mut FactSet) {
    let disk = facts.below(partition).first().cloned();
    for key in INHERITED {
        if let Some(disk) = &disk {
            facts.put_same(partition, key, disk);
        } else {
            let detail = format!("the disk of {partition} is not known");
            facts.put_value(partition, key, Reading::unknown(Why::Absent, detail));
        }
    }
}

#[cfg(test)]
mod tests;
