//! Caches of disks: the disk's own report, the view of driver and kernel, warnings, and the
//! conclusions from all of these.

use crate::facts::choice;

choice! {
    /// What a disk's own cache is, worst first.
    pub enum Cache {
        /// It loses what it holds when the power fails.
        Volatile = "volatile",
        /// Kernel and disk disagree.
        Contradictory = "contradictory",
        /// Not known.
        Unknown = "unknown",
        /// It keeps what it holds: a healthy battery or flash module.
        Protected = "protected",
        /// It holds nothing back.
        None = "none",
    }
}

impl Cache {
    /// Whether it is known to lose what it holds.
    pub fn is_volatile(self) -> bool {
        matches!(self, Self::Volatile)
    }

    pub fn is_unknown(self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// Whether data is safe in or behind it without any flush.
    pub fn is_safe_unflushed(self) -> bool {
        matches!(self, Self::Protected | Self::None)
    }

    pub fn is_protected(self) -> bool {
        matches!(self, Self::Protected)
    }
}

choice! {
    /// Whether a queue sends flushes: `write back` does.
    pub enum WriteCache { WriteBack = "write back", WriteThrough = "write through" }
}

choice! {
    /// What a disk reported to its driver (`sd_cache_types` in drivers/scsi/sd.c).
    pub enum CacheType {
        WriteThrough = "write through",
        WriteBack = "write back",
        None = "none",
        WriteBackNoRead = "write back, no read (daft)",
    }
}

choice! {
    /// Whether a disk's own write cache is on.
    pub enum DriveCache { On = "on", Off = "off" }
}

impl WriteCache {
    /// Whether the kernel sees a cache that holds writes.
    pub fn is_write_back(self) -> bool {
        matches!(self, Self::WriteBack)
    }
}

impl CacheType {
    /// Whether the disk reported a cache that holds writes.
    pub fn holds_writes(self) -> bool {
        matches!(self, Self::WriteBack | Self::WriteBackNoRead)
    }
}

impl DriveCache {
    pub fn is_on(self) -> bool {
        matches!(self, Self::On)
    }
}

choice! {
    /// A bit of an NVMe controller's critical warning. The list of warnings can hold other words:
    /// some bits have no meaning yet.
    pub enum NvmeWarning {
        SpareLow = "spare low",
        Temperature = "temperature",
        Unreliable = "unreliable",
        ReadOnly = "read-only",
        MemoryBackupFailed = "memory backup failed",
        PersistentMemory = "persistent memory",
    }
}

choice! {
    /// State of the capacitor behind a drive's memory, as the drive reports it (OCP Datacenter NVMe
    /// SSD Specification, *SMART / Health Information Extended*, Capacitor Health).
    pub enum Capacitor {
        /// At least as much as it had to hold when the drive was made.
        Healthy = "healthy",
        /// Less than that, and enough for a proper shutdown.
        Degraded = "degraded",
        /// Perhaps too little for a proper shutdown.
        Failed = "failed",
        /// The drive has none.
        Absent = "absent",
        /// The drive has a page in that place, and it is not this one.
        Unreadable = "unreadable",
    }
}

impl Capacitor {
    pub fn is_healthy(self) -> bool {
        matches!(self, Self::Healthy)
    }
}
