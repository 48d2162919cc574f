//! The kinds of block devices, and the properties of a kind that several modules need. Other questions are answered
//! where they arise.

use crate::facts::choice;

choice! {
    /// What a block device is.
    pub enum DeviceKind {
        Disk = "disk", Partition = "partition", Md = "md", Lvm = "lvm", Crypt = "crypt", Multipath = "multipath",
        Dmraid = "dmraid", Vdo = "vdo", Dm = "dm", Bcache = "bcache", Drbd = "drbd", Zvol = "zvol", Loop = "loop",
        Zram = "zram", Ram = "ram", Other = "other",
    }
}

impl DeviceKind {
    /// Whether it is a disk, or what passes for one.
    pub fn is_disk(self) -> bool {
        matches!(self, Self::Disk)
    }

    /// Whether it is a part of a disk, without a queue of its own.
    pub fn is_partition(self) -> bool {
        matches!(self, Self::Partition)
    }

    /// Whether it is an array of md.
    pub fn is_md(self) -> bool {
        matches!(self, Self::Md)
    }

    /// Whether it is one half of a DRBD pair.
    pub fn is_drbd(self) -> bool {
        matches!(self, Self::Drbd)
    }

    /// Whether it is a volume of a ZFS pool.
    pub fn is_zvol(self) -> bool {
        matches!(self, Self::Zvol)
    }

    /// Whether it is a mapping whose targets may be anything, which only root can see.
    pub fn is_mapping(self) -> bool {
        matches!(self, Self::Lvm | Self::Dm)
    }

    /// Whether it is a volume of LVM.
    pub fn is_lvm(self) -> bool {
        matches!(self, Self::Lvm)
    }
}
