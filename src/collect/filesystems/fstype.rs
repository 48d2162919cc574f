//! The class of a file system type, which decides whether the file system may be touched at all.
//!
//! A network or FUSE file system can block any process that queries it; the kernel does not show the disks of `zfs`; an
//! overlay keeps its data elsewhere. An unlisted type is a block file system if its device number says so; a major
//! number of zero means that there is no device.

use crate::facts::catalog::mount::MountClass;

const NETWORK: &[&str] = &[
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "ceph",
    "9p",
    "afs",
    "lustre",
    "coda",
    "ncpfs",
    "pvfs2",
    "gpfs",
    "beegfs",
    "glusterfs",
    "davfs",
    "orangefs",
    // Shared folders of a hypervisor: the other side is the machine that hosts this one.
    "vboxsf",
    "vmhgfs",
    "prl_fs",
];
const FUSE: &[&str] = &["fuse", "fuseblk", "virtiofs"];
const MEMORY: &[&str] = &["tmpfs", "ramfs", "devtmpfs", "rootfs", "hugetlbfs"];
const OVERLAY: &[&str] = &["overlay", "overlayfs", "aufs", "unionfs", "shiftfs"];
/// Block file systems whose superblock has an anonymous device number.
const ANONYMOUS_BLOCK: &[&str] = &["btrfs", "bcachefs"];

/// The class of a file system type; `major` is the first half of the device number.
pub fn class(fstype: &str, major: u32) -> MountClass {
    let is = |list: &[&str]| list.contains(&fstype);
    if is(NETWORK) {
        MountClass::Network
    } else if is(FUSE) || fstype.starts_with("fuse.") {
        MountClass::Fuse
    } else if is(MEMORY) {
        MountClass::Memory
    } else if is(OVERLAY) {
        MountClass::Overlay
    } else if fstype == "zfs" {
        MountClass::Zfs
    } else if major != 0 || is(ANONYMOUS_BLOCK) {
        MountClass::Block
    } else {
        MountClass::Other
    }
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn classes() {
        for (fstype, major, expect) in [
            ("ext4", 8, "block"),
            ("btrfs", 0, "block"),
            ("squashfs", 7, "block"),
            ("nfs4", 0, "network"),
            ("fuse.sshfs", 0, "fuse"),
            ("fuseblk", 8, "fuse"),
            ("fusectl", 0, "other"),
            ("tmpfs", 0, "memory"),
            ("overlay", 0, "overlay"),
            ("zfs", 0, "zfs"),
            ("bcachefs", 0, "block"),
            ("ramfs", 0, "memory"),
            ("9p", 0, "network"),
            ("vboxsf", 0, "network"),
            ("virtiofs", 0, "fuse"),
            ("ceph", 0, "network"),
            ("fuse.glusterfs", 0, "fuse"),
            ("cifs", 0, "network"),
            ("proc", 0, "other"),
        ] {
            assert_eq!(class(fstype, major).word(), expect, "{fstype}");
        }
    }
}
