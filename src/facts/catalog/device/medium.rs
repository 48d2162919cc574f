//! The medium of a disk, and its write mode.

use crate::facts::choice;

choice! {
    /// What a disk is made of.
    pub enum Medium {
        Platters = "platters", Flash = "flash", PersistentMemory = "persistent memory", Memory = "memory",
        Virtual = "virtual",
    }
}

impl Medium {
    /// Whether it is flash of this machine's own.
    pub fn is_flash(self) -> bool {
        matches!(self, Self::Flash)
    }

    /// Whether it turns, so that a flush waits for a turn of it.
    pub fn turns(self) -> bool {
        matches!(self, Self::Platters)
    }

    /// Whether writing wears it.
    pub fn wears(self) -> bool {
        matches!(self, Self::Flash | Self::Virtual)
    }

    /// Whether it is memory, whatever keeps it.
    pub fn is_memory(self) -> bool {
        matches!(self, Self::PersistentMemory | Self::Memory)
    }
}

choice! {
    /// Whether a disk writes in shingled zones, and who knows of them.
    pub enum Shingled {
        No = "no", HostAware = "host-aware", HostManaged = "host-managed", DriveManaged = "drive-managed",
        Suspected = "suspected",
    }
}

impl Shingled {
    /// Whether the disk tells the kernel of its zones.
    pub fn is_told(self) -> bool {
        matches!(self, Self::HostAware | Self::HostManaged)
    }
}

choice! {
    /// Zone model (`queue_zoned_show` in block/blk-sysfs.c; *host-aware* before 6.8).
    pub enum Zoned { None = "none", HostAware = "host-aware", HostManaged = "host-managed" }
}
