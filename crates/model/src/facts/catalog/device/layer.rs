//! States and modes of the layers between a file system and its disks: md, device-mapper, bcache
//! and DRBD.

use crate::facts::choice;

choice! {
    /// Level of an md array (the names of its personalities in drivers/md), or the array that only
    /// holds the metadata of firmware RAID.
    pub enum ArrayLevel {
        Linear = "linear", Raid0 = "raid0", Raid1 = "raid1", Raid4 = "raid4", Raid5 = "raid5", Raid6 = "raid6",
        Raid10 = "raid10", Multipath = "multipath", Faulty = "faulty", Container = "container",
    }
}

impl ArrayLevel {
    /// Whether its members are concatenated.
    pub fn is_linear(self) -> bool {
        matches!(self, Self::Linear)
    }

    /// Whether it rebuilds what is missing from parity.
    pub fn has_parity(self) -> bool {
        matches!(self, Self::Raid4 | Self::Raid5 | Self::Raid6)
    }

    /// Whether writes are spread over its members in chunks.
    pub fn is_striped(self) -> bool {
        matches!(
            self,
            Self::Raid0 | Self::Raid4 | Self::Raid5 | Self::Raid6 | Self::Raid10
        )
    }

    /// How many members it can lose; `None` without redundancy. A RAID 10 can lose more than one if
    /// none holds the copy of another, which is not reported.
    pub fn tolerated_losses(self, members: u64) -> Option<u64> {
        match self {
            Self::Raid1 => Some(members.saturating_sub(1)),
            Self::Raid4 | Self::Raid5 | Self::Raid10 => Some(1),
            Self::Raid6 => Some(2),
            Self::Linear | Self::Raid0 | Self::Multipath | Self::Faulty | Self::Container => None,
        }
    }

    /// Whether it may survive more losses than [`Self::spares`], depending on which members are
    /// missing.
    pub fn may_tolerate_more(self) -> bool {
        matches!(self, Self::Raid10)
    }

    /// Whether it holds metadata only, and its volumes are arrays of their own.
    pub fn is_container(self) -> bool {
        matches!(self, Self::Container)
    }

    /// As admins write it: `RAID5`.
    pub fn title(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Raid0 => "RAID0",
            Self::Raid1 => "RAID1",
            Self::Raid4 => "RAID4",
            Self::Raid5 => "RAID5",
            Self::Raid6 => "RAID6",
            Self::Raid10 => "RAID10",
            Self::Multipath => "md multipath",
            Self::Faulty => "md faulty",
            Self::Container => "container of firmware RAID",
        }
    }
}

choice! {
    /// State of a mapped device by the status of its targets, best first
    /// (Documentation/admin-guide/device-mapper/*.rst).
    pub enum MappingState {
        /// Every target works, with all that it has.
        Fine = "fine",
        /// A copy or a path has failed, and another one serves.
        Degraded = "degraded",
        /// Copies are being synchronised, and may differ until then.
        Resyncing = "resyncing",
        /// A copy is being written, and holds less than the others until then.
        Rebuilding = "rebuilding",
        /// A disk of a parity array is missing, and a power failure can leave parity wrong.
        WriteHole = "degraded, write hole open",
        /// It has no space for what is written next.
        Full = "full",
        /// It takes no writes.
        ReadOnly = "read only",
        /// Its metadata must be checked before it takes writes again.
        NeedsCheck = "needs check",
        /// It has no path that works.
        NoPath = "no path",
        /// It met an error of its disks, or a block that is not what was written.
        Error = "error",
        /// A snapshot that is no longer valid.
        Lost = "lost",
        /// It has failed, and nothing can be read from it.
        Failed = "failed",
    }
}

choice! {
    /// State of an md array (`array_states` in drivers/md/md.c; md.rst).
    pub enum ArrayState {
        Clear = "clear", Inactive = "inactive", Suspended = "suspended", ReadOnly = "readonly", ReadAuto = "read-auto",
        Clean = "clean", Active = "active", WritePending = "write-pending", ActiveIdle = "active-idle",
        Broken = "broken",
    }
}

choice! {
    /// What an md array is doing (`action_show` in drivers/md/md.c; md.rst leaves out two).
    pub enum SyncAction {
        Idle = "idle",
        Frozen = "frozen",
        Resync = "resync",
        Recover = "recover",
        Check = "check",
        Repair = "repair",
        Reshape = "reshape",
    }
}

impl SyncAction {
    /// Whether it changes the number of members or the layout.
    pub fn is_reshape(self) -> bool {
        matches!(self, Self::Reshape)
    }

    /// Whether it synchronises copies or parity; nothing can be rebuilt from them until then.
    pub fn is_resync(self) -> bool {
        matches!(self, Self::Resync)
    }
}

choice! {
    /// A word of the state of a member of an md array (`state_show` in drivers/md/md.c; md.rst).
    pub enum MemberState {
        Faulty = "faulty",
        InSync = "in_sync",
        Journal = "journal",
        WriteMostly = "write_mostly",
        /// A write to it failed, and the array does not know yet.
        Blocked = "blocked",
        Spare = "spare",
        /// A write to it has failed.
        WriteError = "write_error",
        /// It is to be replaced as soon as there is a spare.
        WantReplacement = "want_replacement",
        Replacement = "replacement",
        ExternalBadBlocks = "external_bbl",
        FailFast = "failfast",
    }
}

impl MemberState {
    /// Whether a member in this state works and should be checked.
    pub fn is_suspect(self) -> bool {
        matches!(
            self,
            Self::Blocked | Self::WriteError | Self::WantReplacement
        )
    }
}

choice! {
    /// How an md array stays consistent; `unknown` while it does not run (`consistency_policy_show`
    /// in drivers/md/md.c).
    pub enum ConsistencyPolicy {
        None = "none",
        Resync = "resync",
        Bitmap = "bitmap",
        Journal = "journal",
        Ppl = "ppl",
        Unknown = "unknown",
    }
}

impl ConsistencyPolicy {
    /// Whether a power failure can leave parity wrong (the write hole); `None` if unknown.
    pub fn has_write_hole(self) -> Option<bool> {
        match self {
            Self::None | Self::Resync | Self::Bitmap => Some(true),
            Self::Journal | Self::Ppl => Some(false),
            Self::Unknown => None,
        }
    }
}

choice! {
    /// What a device-mapper cache does with a write.
    pub enum DmCacheMode { Writeback = "writeback", Writethrough = "writethrough", Passthrough = "passthrough" }
}

choice! {
    /// What bcache does with a write.
    pub enum BcacheMode {
        Writethrough = "writethrough", Writeback = "writeback", Writearound = "writearound", None = "none",
    }
}

choice! {
    /// State of a bcache device (drivers/md/bcache/sysfs.c).
    pub enum BcacheState { NoCache = "no cache", Clean = "clean", Dirty = "dirty", Inconsistent = "inconsistent" }
}

impl BcacheState {
    /// Whether a cache is attached.
    pub fn has_cache(self) -> bool {
        !matches!(self, Self::NoCache)
    }
}

choice! {
    /// When DRBD reports a write as done.
    pub enum DrbdProtocol { A = "A", B = "B", C = "C" }
}

choice! {
    /// What DRBD does between dependent writes, while it writes for its peer (drbd.conf(5),
    /// disk-barrier).
    pub enum DrbdOrdering { Barrier = "barrier", Flush = "flush", Drain = "drain", None = "none" }
}
