//! Write caches of disks: what the disk reports, what driver and kernel assume, and what follows
//! from both.

use crate::facts::choice;

choice! {
    /// Conclusion about a disk's own write cache, worst first.
    pub enum CacheVolatility {
        /// The cache loses its contents when the power fails.
        Volatile = "volatile",
        /// Kernel and disk report different caches.
        Contradictory = "contradictory",
        Unknown = "unknown",
        /// A healthy battery or flash module preserves the contents.
        Protected = "protected",
        /// The disk acknowledges a write only once the data is stored.
        None = "none",
    }
}

impl CacheVolatility {
    pub fn is_volatile(self) -> bool {
        matches!(self, Self::Volatile)
    }

    pub fn is_unknown(self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// Whether acknowledged writes are safe without any flush.
    pub fn is_safe_unflushed(self) -> bool {
        matches!(self, Self::Protected | Self::None)
    }

    pub fn is_protected(self) -> bool {
        matches!(self, Self::Protected)
    }
}

choice! {
    /// The kernel's view of the cache behind a queue; flushes are sent only for `write back`.
    pub enum QueueWriteCache { WriteBack = "write back", WriteThrough = "write through" }
}

choice! {
    /// The cache mode that a disk reported to its driver (`sd_cache_types` in drivers/scsi/sd.c).
    pub enum CacheType {
        WriteThrough = "write through",
        WriteBack = "write back",
        None = "none",
        WriteBackNoRead = "write back, no read (daft)",
    }
}

choice! {
    pub enum DriveCache { On = "on", Off = "off" }
}

impl QueueWriteCache {
    /// Whether the kernel assumes a volatile cache, and so sends flushes.
    pub fn is_write_back(self) -> bool {
        matches!(self, Self::WriteBack)
    }
}

impl CacheType {
    /// Whether the cache can hold acknowledged writes that are not stored yet.
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
    /// A bit of an NVMe controller's critical warning. The fact `nvme.critical_warning` can hold
    /// other words too, because some bits have no meaning yet.
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
        /// The capacity is at least the one required of a new drive.
        Healthy = "healthy",
        /// The capacity is less than that of a new drive, but enough for a proper shutdown.
        Degraded = "degraded",
        /// The capacity may be too small for a proper shutdown.
        Failed = "failed",
        /// The drive has no capacitor.
        Absent = "absent",
        /// The drive returned a log page with another GUID or version.
        Unreadable = "unreadable",
    }
}

impl Capacitor {
    pub fn is_healthy(self) -> bool {
        matches!(self, Self::Healthy)
    }
}
