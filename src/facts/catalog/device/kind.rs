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
        match self {
            Self::Disk => true,
            Self::Partition
            | Self::Md
            | Self::Lvm
            | Self::Crypt
            | Self::Multipath
            | Self::Dmraid
            | Self::Vdo
            | Self::Dm
            | Self::Bcache
            | Self::Drbd
            | Self::Zvol
            | Self::Loop
            | Self::Zram
            | Self::Ram
            | Self::Other => false,
        }
    }

    /// Whether it is a part of a disk, without a queue of its own.
    pub fn is_partition(self) -> bool {
        match self {
            Self::Partition => true,
            Self::Disk
            | Self::Md
            | Self::Lvm
            | Self::Crypt
            | Self::Multipath
            | Self::Dmraid
            | Self::Vdo
            | Self::Dm
            | Self::Bcache
            | Self::Drbd
            | Self::Zvol
            | Self::Loop
            | Self::Zram
            | Self::Ram
            | Self::Other => false,
        }
    }

    /// Whether it is an array of md.
    pub fn is_md(self) -> bool {
        match self {
            Self::Md => true,
            Self::Disk
            | Self::Partition
            | Self::Lvm
            | Self::Crypt
            | Self::Multipath
            | Self::Dmraid
            | Self::Vdo
            | Self::Dm
            | Self::Bcache
            | Self::Drbd
            | Self::Zvol
            | Self::Loop
            | Self::Zram
            | Self::Ram
            | Self::Other => false,
        }
    }

    /// Whether it is one half of a DRBD pair.
    pub fn is_drbd(self) -> bool {
        match self {
            Self::Drbd => true,
            Self::Disk
            | Self::Partition
            | Self::Md
            | Self::Lvm
            | Self::Crypt
            | Self::Multipath
            | Self::Dmraid
            | Self::Vdo
            | Self::Dm
            | Self::Bcache
            | Self::Zvol
            | Self::Loop
            | Self::Zram
            | Self::Ram
            | Self::Other => false,
        }
    }

    /// Whether it is a volume of a ZFS pool.
    pub fn is_zvol(self) -> bool {
        match self {
            Self::Zvol => true,
            Self::Disk
            | Self::Partition
            | Self::Md
            | Self::Lvm
            | Self::Crypt
            | Self::Multipath
            | Self::Dmraid
            | Self::Vdo
            | Self::Dm
            | Self::Bcache
            | Self::Drbd
            | Self::Loop
            | Self::Zram
            | Self::Ram
            | Self::Other => false,
        }
    }

    /// Whether it is a mapping whose targets may be anything, which only root can see.
    pub fn is_mapping(self) -> bool {
        match self {
            Self::Lvm | Self::Dm => true,
            Self::Disk
            | Self::Partition
            | Self::Md
            | Self::Crypt
            | Self::Multipath
            | Self::Dmraid
            | Self::Vdo
            | Self::Bcache
            | Self::Drbd
            | Self::Zvol
            | Self::Loop
            | Self::Zram
            | Self::Ram
            | Self::Other => false,
        }
    }

    /// Whether it is a volume of LVM.
    pub fn is_lvm(self) -> bool {
        match self {
            Self::Lvm => true,
            Self::Disk
            | Self::Partition
            | Self::Md
            | Self::Crypt
            | Self::Multipath
            | Self::Dmraid
            | Self::Vdo
            | Self::Dm
            | Self::Bcache
            | Self::Drbd
            | Self::Zvol
            | Self::Loop
            | Self::Zram
            | Self::Ram
            | Self::Other => false,
        }
    }
}
