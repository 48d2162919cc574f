//! The kind of a whole block device, by the name that its driver gave it (drivers/block, drivers/md, drivers/scsi/sd.c
//! of the kernel; zvols by module/os/linux/zfs/zvol_os.c of OpenZFS).
//!
//! Device-mapper devices are told apart in [`super::dm`]. An unlisted name is `other`, from which nothing is concluded,
//! so an unknown driver costs an answer but never gives a wrong one.

use super::node::Node;
use crate::facts::catalog::device::DeviceKind;

const KINDS: &[(&str, DeviceKind)] = &[
    ("loop", DeviceKind::Loop),
    ("zram", DeviceKind::Zram),
    ("ram", DeviceKind::Ram),
    ("md", DeviceKind::Md),
    ("bcache", DeviceKind::Bcache),
    ("drbd", DeviceKind::Drbd),
    ("zd", DeviceKind::Zvol),
    ("sd", DeviceKind::Disk),
    ("hd", DeviceKind::Disk),
    ("vd", DeviceKind::Disk),
    ("xvd", DeviceKind::Disk),
    ("nvme", DeviceKind::Disk),
    ("nbd", DeviceKind::Disk),
    ("rbd", DeviceKind::Disk),
    ("pmem", DeviceKind::Disk),
    ("dasd", DeviceKind::Disk),
    ("cciss", DeviceKind::Disk),
];

pub fn by_name(node: &Node) -> DeviceKind {
    // Boot and replay-protected areas of an eMMC read as zeros and are no disks to give away.
    let name = node.name.to_string_lossy();
    if let Some(rest) = name.strip_prefix("mmcblk") {
        let is_disk = rest.bytes().all(|b| b.is_ascii_digit() || b == b'p');
        return if is_disk { DeviceKind::Disk } else { DeviceKind::Other };
    }
    KINDS.iter().find(|(prefix, _)| node.is_called(prefix)).map_or(DeviceKind::Other, |(_, kind)| *kind)
}
