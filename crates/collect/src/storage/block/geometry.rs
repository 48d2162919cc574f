//! The start of a partition and its alignment to the blocks below; and the preferred, largest and
//! atomic write sizes of a queue (Documentation/ABI/stable/sysfs-block).
//!
//! The kernel's `alignment_offset` includes the disk's own offset and the chunk of an array,
//! `start` does not. Where the two disagree the alignment stays unknown.

use super::node::Node;
use crate::attribute;
use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::{FactSet, Reading, Source, Why};
use crate::host::Host;

/// The unit of `start` in bytes, independent of the disk's block size.
const SECTOR: u64 = 512;

/// Records what the queue of a whole device prefers, promises and delays.
pub fn queue(host: &dyn Host, node: &Node, facts: &mut FactSet) {
    let subject = &node.subject;
    let number = |name: &str| attribute::number(host, &node.attribute(name));
    facts.put(
        subject,
        &device::OPTIMAL_IO,
        number("queue/optimal_io_size"),
    );
    facts.put(
        subject,
        &device::MAX_IO,
        number("queue/max_sectors_kb").map(|count| count.saturating_mul(1024)),
    );
    if may_promise_atomic_writes(node.kind) {
        facts.put(
            subject,
            &device::ATOMIC_WRITE_MAX,
            number("queue/atomic_write_unit_max_bytes"),
        );
    }
    if node.kind.is_disk() {
        let latency = number("queue/wbt_lat_usec").map(|micros| micros as f64);
        facts.put(subject, &device::WRITEBACK_LATENCY, latency);
        facts.put(subject, &device::IO_TIMEOUT_MS, timeout(host, node));
    }
}

/// The time for a request, in milliseconds. SCSI's attribute is older and in seconds.
fn timeout(host: &dyn Host, node: &Node) -> Reading<u64> {
    let of_queue = attribute::number(host, &node.attribute("queue/io_timeout"));
    match of_queue {
        Reading::Unknown {
            why: Why::Absent, ..
        } => {
            let of_scsi = attribute::number(host, &node.attribute("device/timeout"));
            if of_scsi.is_known() {
                of_scsi.map(|seconds| seconds.saturating_mul(1000))
            } else {
                of_queue
            }
        }
        known => known,
    }
}

/// Whether the driver of a kind can pass on what disks promise of atomic writes.
fn may_promise_atomic_writes(kind: DeviceKind) -> bool {
    matches!(
        kind,
        DeviceKind::Disk
            | DeviceKind::Md
            | DeviceKind::Lvm
            | DeviceKind::Multipath
            | DeviceKind::Dm
    )
}

/// Records the start of a partition; the attributes of its disk have been read.
pub fn partition(host: &dyn Host, node: &Node, facts: &mut FactSet) {
    let start = attribute::number(host, &node.attribute("start")).map(|n| n.saturating_mul(SECTOR));
    let block = facts.value(&node.subject, &device::PHYSICAL_BLOCK);
    let offset = attribute::text(host, &node.attribute("alignment_offset"));
    let aligned = match (offset.value().map(String::as_str), start.value(), block) {
        (Some("0"), Some(&start), Some(block)) => {
            let of = [
                device::START.name(),
                device::PHYSICAL_BLOCK.name(),
                "alignment_offset in sysfs",
            ];
            if start.checked_rem(block) == Some(0) {
                Reading::known(true, Source::derived(of))
            } else {
                let detail =
                    format!("the kernel calls it aligned, and {start} is no multiple of {block}");
                Reading::unknown(Why::Ambiguous, detail)
            }
        }
        (Some("0"), _, None) => Reading::unknown(Why::Absent, "the disk's block size is not known"),
        (Some("0"), None, _) => start.clone().map(|_| false),
        _ => offset.and_then(|text| match text.parse::<i64>() {
            Ok(_) => Ok(false),
            Err(_) => Err(format!("`{text}` is no number")),
        }),
    };
    facts.put(&node.subject, &device::START, start);
    facts.put(&node.subject, &device::ALIGNED, aligned);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Fake;

    fn aligned(start: &str, offset: &str, block: u64) -> Option<bool> {
        let node = Node::new("sda1", "partition");
        let mut facts = FactSet::default();
        facts.know(
            &node.subject,
            &device::PHYSICAL_BLOCK,
            block,
            Source::file("x"),
        );
        let host = Fake::default().files(
            "/sys/class/block/sda1",
            &[("start", start), ("alignment_offset", offset)],
        );
        partition(&host, &node, &mut facts);
        facts.value(&node.subject, &device::ALIGNED)
    }

    #[test]
    fn the_time_for_a_request_is_that_of_the_queue_or_of_scsi() {
        for (files, expect) in [
            (
                &[("queue/io_timeout", "4294967295"), ("device/timeout", "30")][..],
                Some(4_294_967_295),
            ),
            (&[("device/timeout", "180")], Some(180_000)),
            (
                &[("queue/io_timeout", "x"), ("device/timeout", "180")],
                None,
            ),
            (&[], None),
        ] {
            let host = Fake::default().files("/sys/class/block/sda", files);
            assert_eq!(
                timeout(&host, &Node::new("sda", "disk")).value(),
                expect.as_ref(),
                "{files:?}"
            );
        }
    }

    #[test]
    fn aligned_is_what_both_say() {
        for (start, offset, block, expect) in [
            ("2048", "0", 4096, Some(true)),
            ("63", "3584", 4096, Some(false)),
            ("2048", "-1", 4096, Some(false)),
            // A disk whose first whole block begins at sector 63.
            ("63", "0", 4096, None),
            ("63", "0", 512, Some(true)),
            ("2048", "x", 4096, None),
            ("x", "0", 4096, None),
            ("2048", "0", 0, None),
        ] {
            assert_eq!(
                aligned(start, offset, block),
                expect,
                "{start} {offset} {block}"
            );
        }
    }
}
