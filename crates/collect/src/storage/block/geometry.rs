//! Start and alignment of partitions; preferred, largest and atomic write sizes of a queue
//! (Documentation/ABI/stable/sysfs-block).
//!
//! `alignment_offset` includes the disk's own offset and the chunk of an array, `start` does not.
//! If only `start` shows a misalignment, the alignment is unknown.

use super::sysfs_device::SysfsBlockDevice;
use crate::facts::catalog::device::{self, DeviceKind};
use crate::facts::{FactSet, Reading, Source};
use crate::host::Host;

/// Bytes per unit of `start`, whatever the disk's block size.
const SECTOR: u64 = 512;

pub fn insert_queue_limits(host: &dyn Host, node: &SysfsBlockDevice, facts: &mut FactSet) {
    let subject = &node.subject;
    let number = |name: &str| node.read_number(host, name);
    facts.insert(
        subject,
        &device::MAX_IO,
        number("queue/max_sectors_kb").map(|count| count.saturating_mul(1024)),
    );
    if may_support_atomic_writes(node.kind) {
        facts.insert(
            subject,
            &device::ATOMIC_WRITE_MAX,
            number("queue/atomic_write_unit_max_bytes"),
        );
    }
    if node.kind.is_disk() {
        let latency = number("queue/wbt_lat_usec").map(|micros| micros as f64);
        facts.insert(subject, &device::WRITEBACK_LATENCY, latency);
        facts.insert(
            subject,
            &device::IO_TIMEOUT_MS,
            read_io_timeout_ms(host, node),
        );
    }
}

/// The I/O timeout in milliseconds: from the queue, or else from the SCSI device, whose older
/// attribute is in seconds.
fn read_io_timeout_ms(host: &dyn Host, node: &SysfsBlockDevice) -> Reading<u64> {
    let of_queue = node.read_number(host, "queue/io_timeout");
    if of_queue.is_absent() {
        let of_scsi = node.read_number(host, "device/timeout");
        if of_scsi.is_known() {
            return of_scsi.map(|seconds| seconds.saturating_mul(1000));
        }
    }
    of_queue
}

fn may_support_atomic_writes(kind: DeviceKind) -> bool {
    matches!(
        kind,
        DeviceKind::Disk
            | DeviceKind::Md
            | DeviceKind::Lvm
            | DeviceKind::Multipath
            | DeviceKind::Dm
    )
}

/// The partition must already have its disk's facts.
pub fn insert_partition_alignment(host: &dyn Host, node: &SysfsBlockDevice, facts: &mut FactSet) {
    let start = node
        .read_number(host, "start")
        .map(|n| n.saturating_mul(SECTOR));
    let block = facts.value(&node.subject, &device::PHYSICAL_BLOCK);
    let offset = node.read_text(host, "alignment_offset");
    let aligned = match (offset.value().map(String::as_str), start.value(), block) {
        (Some("0"), Some(&start), Some(block)) => {
            let of = [
                device::START.name(),
                device::PHYSICAL_BLOCK.name(),
                "alignment_offset in sysfs",
            ];
            if start.checked_rem(block) == Some(0) {
                Reading::known(true, Source::derived_from(of))
            } else {
                let detail = format!(
                    "the kernel reports the partition as aligned, but its start ({start} bytes) is not a multiple of {block} bytes"
                );
                Reading::ambiguous(detail)
            }
        }
        (Some("0"), _, None) => Reading::absent("the disk's block size is unknown"),
        (Some("0"), None, _) => start.clone().map(|_| false),
        _ => offset.and_then(|text| match text.parse::<i64>() {
            Ok(_) => Ok(false),
            Err(_) => Err(format!("`{text}` is not a number")),
        }),
    };
    facts.insert(&node.subject, &device::START, start);
    facts.insert(&node.subject, &device::ALIGNED, aligned);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FakeHost;

    fn is_partition_aligned(start: &str, offset: &str, block: u64) -> Option<bool> {
        let node = SysfsBlockDevice::new("sda1", "partition");
        let mut facts = FactSet::default();
        facts.insert_known(
            &node.subject,
            &device::PHYSICAL_BLOCK,
            block,
            Source::from_file("x"),
        );
        let host = FakeHost::default().with_files_in_directory(
            "/sys/class/block/sda1",
            &[("start", start), ("alignment_offset", offset)],
        );
        insert_partition_alignment(&host, &node, &mut facts);
        facts.value(&node.subject, &device::ALIGNED)
    }

    #[test]
    fn io_timeout_comes_from_queue_or_scsi() {
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
            let host = FakeHost::default().with_files_in_directory("/sys/class/block/sda", files);
            assert_eq!(
                read_io_timeout_ms(&host, &SysfsBlockDevice::new("sda", "disk")).value(),
                expect.as_ref(),
                "{files:?}"
            );
        }
    }

    #[test]
    fn alignment_needs_offset_and_block_multiple() {
        for (start, offset, block, expect) in [
            ("2048", "0", 4096, Some(true)),
            ("63", "3584", 4096, Some(false)),
            ("2048", "-1", 4096, Some(false)),
            // The physical blocks of some disks are aligned to sector 63.
            ("63", "0", 4096, None),
            ("63", "0", 512, Some(true)),
            ("2048", "x", 4096, None),
            ("x", "0", 4096, None),
            ("2048", "0", 0, None),
        ] {
            assert_eq!(
                is_partition_aligned(start, offset, block),
                expect,
                "{start} {offset} {block}"
            );
        }
    }
}
