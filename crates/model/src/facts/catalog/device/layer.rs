//! States and modes of the layers between a file system and its disks: md, device-mapper, bcache
//! and DRBD.

choice! {
    /// Level of an md array, with the names of personalities in drivers/md. `Container` is an array
    /// that only holds the metadata of firmware RAID.
    pub enum ArrayLevel {
        Linear = "linear" is_linear,
        Raid0 = "raid0",
        Raid1 = "raid1",
        Raid4 = "raid4",
        Raid5 = "raid5",
        Raid6 = "raid6",
        Raid10 = "raid10",
        Multipath = "multipath",
        Faulty = "faulty",
        Container = "container"
            /// Whether the array holds metadata only; the volumes are separate arrays.
            is_container,
    }
}

impl ArrayLevel {
    pub fn has_parity(self) -> bool {
        matches!(self, Self::Raid4 | Self::Raid5 | Self::Raid6)
    }

    pub fn is_striped(self) -> bool {
        matches!(
            self,
            Self::Raid0 | Self::Raid4 | Self::Raid5 | Self::Raid6 | Self::Raid10
        )
    }

    /// The number of members that the array can certainly lose; `None` without redundancy. RAID 10
    /// can lose more than one member unless both copies are hit, but md does not report which
    /// members hold the same data.
    pub fn tolerated_losses(self, members: u64) -> Option<u64> {
        match self {
            Self::Raid1 => Some(members.saturating_sub(1)),
            Self::Raid4 | Self::Raid5 | Self::Raid10 => Some(1),
            Self::Raid6 => Some(2),
            Self::Linear | Self::Raid0 | Self::Multipath | Self::Faulty | Self::Container => None,
        }
    }

    /// Whether the array may survive more losses than [`Self::tolerated_losses`], depending on
    /// which members are missing.
    pub fn may_tolerate_more_losses(self) -> bool {
        matches!(self, Self::Raid10)
    }

    /// The level as admins write it, such as `RAID5`.
    pub fn display_name(self) -> &'static str {
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
            Self::Container => "firmware RAID container",
        }
    }
}

choice! {
    /// State of a mapped device by the status of its targets, best first
    /// (Documentation/admin-guide/device-mapper/*.rst).
    pub enum MappingHealth {
        /// Every target works, with all its members.
        Fine = "fine",
        /// A copy or a path has failed, and another one is in use.
        Degraded = "degraded",
        /// Copies are being synchronised and may still differ.
        Resyncing = "resyncing",
        /// A copy is being written and is still incomplete.
        Rebuilding = "rebuilding",
        /// A disk of a parity array is missing, and a power failure can leave parity wrong.
        WriteHole = "degraded, write hole open",
        Full = "full",
        ReadOnly = "read only",
        /// The metadata must be checked before the device accepts writes again.
        NeedsCheck = "needs check",
        /// Every path to a multipath disk has failed.
        NoPath = "no path",
        /// A disk reported an error, or a block failed its integrity check.
        Error = "error",
        /// The snapshot is no longer valid.
        Lost = "lost",
        /// The device has failed and cannot be read.
        Failed = "failed",
    }

    /// State of an md array (`array_states` in drivers/md/md.c; md.rst).
    pub enum ArrayState {
        Clear = "clear", Inactive = "inactive", Suspended = "suspended", ReadOnly = "readonly", ReadAuto = "read-auto",
        Clean = "clean", Active = "active", WritePending = "write-pending", ActiveIdle = "active-idle",
        Broken = "broken",
    }

    /// The current activity of an md array (`action_show` in drivers/md/md.c; md.rst omits two of
    /// these words).
    pub enum SyncAction {
        Idle = "idle",
        Frozen = "frozen",
        Resync = "resync"
            /// Whether the array is synchronising copies or parity. Until that is done, a lost
            /// member cannot be rebuilt.
            is_resync,
        Recover = "recover",
        Check = "check",
        Repair = "repair",
        Reshape = "reshape" is_reshape,
    }

    /// One word of a member's state in an md array (`state_show` in drivers/md/md.c; md.rst).
    pub enum ArrayMemberState {
        Faulty = "faulty",
        InSync = "in_sync",
        Journal = "journal",
        WriteMostly = "write_mostly",
        /// The member failed, but the metadata handler has not acknowledged the failure yet; writes
        /// to the member wait.
        Blocked = "blocked",
        Spare = "spare",
        /// The member has had a write error since it was added.
        WriteError = "write_error",
        /// The member will be replaced as soon as there is a spare.
        WantReplacement = "want_replacement",
        Replacement = "replacement",
        ExternalBadBlocks = "external_bbl",
        FailFast = "failfast",
    }
}

impl ArrayMemberState {
    /// Whether the member has had, or may have had, an error without being `faulty` yet. Such a
    /// member should be checked or replaced.
    pub fn may_have_had_error(self) -> bool {
        matches!(
            self,
            Self::Blocked | Self::WriteError | Self::WantReplacement
        )
    }
}

choice! {
    /// How an md array stays consistent; `unknown` while the array does not run
    /// (`consistency_policy_show` in drivers/md/md.c).
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
    /// How a device-mapper cache handles writes
    /// (Documentation/admin-guide/device-mapper/cache.rst).
    pub enum DmCacheMode { Writeback = "writeback", Writethrough = "writethrough", Passthrough = "passthrough" }

    /// How bcache handles writes (Documentation/admin-guide/bcache.rst, cache_mode).
    pub enum BcacheMode {
        Writethrough = "writethrough", Writeback = "writeback", Writearound = "writearound", None = "none",
    }

    /// State of a bcache device (drivers/md/bcache/sysfs.c).
    pub enum BcacheState { NoCache = "no cache", Clean = "clean", Dirty = "dirty", Inconsistent = "inconsistent" }
}

impl BcacheState {
    pub fn has_cache(self) -> bool {
        !matches!(self, Self::NoCache)
    }
}

choice! {
    /// When DRBD reports a write as done: A locally, B once the peer received the data, C once the
    /// peer wrote the data.
    pub enum DrbdProtocol { A = "A", B = "B", C = "C" }

    /// How DRBD orders dependent writes that it makes for its peer (drbd.conf(5), disk-barrier).
    pub enum DrbdOrdering { Barrier = "barrier", Flush = "flush", Drain = "drain", None = "none" }
}
