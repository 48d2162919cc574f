//! States and modes of what stands between a file system and its disks: md, device-mapper, bcache and DRBD.

use crate::facts::choice;

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

choice! {
    /// How an md array stays consistent; `unknown` while it does not run (`consistency_policy_show` in drivers/md/md.c).
    pub enum ConsistencyPolicy {
        None = "none",
        Resync = "resync",
        Bitmap = "bitmap",
        Journal = "journal",
        Ppl = "ppl",
        Unknown = "unknown",
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
        match self {
            Self::NoCache => false,
            Self::Clean | Self::Dirty | Self::Inconsistent => true,
        }
    }
}

choice! {
    /// When DRBD calls a write done.
    pub enum DrbdProtocol { A = "A", B = "B", C = "C" }
}
