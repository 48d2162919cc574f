//! What a whole block device is, by the name its driver gave it (drivers/block, drivers/md, drivers/scsi/sd.c of the
//! kernel; zvols by module/os/linux/zfs/zvol_os.c of OpenZFS).
//!
//! Device-mapper devices are told apart in [`super::dm`]. The surprise: what is not listed is `other`, which nothing is
//! concluded from, so a driver that is unknown here costs an answer and never gives a wrong one.

use super::topology::Node;

/// Prefixes of names and the words of `device.kind`.
const KINDS: &[(&str, &str)] = &[
    ("loop", "loop"),
    ("zram", "zram"),
    ("ram", "ram"),
    ("md", "md"),
    ("bcache", "bcache"),
    ("drbd", "drbd"),
    ("zd", "zvol"),
    ("sd", "disk"),
    ("hd", "disk"),
    ("vd", "disk"),
    ("xvd", "disk"),
    ("nvme", "disk"),
    ("nbd", "disk"),
    ("rbd", "disk"),
    ("pmem", "disk"),
    ("dasd", "disk"),
    ("cciss", "disk"),
];

/// The kind in the words of `device.kind`.
pub fn by_name(node: &Node) -> &'static str {
    // Boot and replay-protected areas of an eMMC read as zeros and are no disks to give away.
    let name = node.name.to_string_lossy();
    if let Some(rest) = name.strip_prefix("mmcblk") {
        return if rest.bytes().all(|b| b.is_ascii_digit() || b == b'p') { "disk" } else { "other" };
    }
    KINDS.iter().find(|(prefix, _)| node.is_called(prefix)).map_or("other", |(_, kind)| kind)
}
