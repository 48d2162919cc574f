use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::catalog::postgres::WalSyncMethod;

/// Methods that a probe measures in addition to those of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeInclusion {
    Always,
    /// Measurements of the cost of a flush, which time one overwrite with and without a flush.
    FlushCost,
    AllRows,
}

/// A method of making a write to the log durable, or an unflushed write as the lower bound.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Calls pwrite on a file opened without sync flags, then fdatasync.
    Fdatasync,
    /// Calls pwrite on a file opened with O_DSYNC.
    OpenDatasync,
    /// Calls pwrite on a file opened without sync flags, then fsync.
    Fsync,
    /// Calls pwrite on a file opened with O_SYNC.
    OpenSync,
    /// Calls pwrite on a file opened with O_DSYNC and O_DIRECT, as open_datasync of `pg_test_fsync`
    /// does; no current server writes like this by default.
    OpenDatasyncDirect,
    /// Calls pwrite on a file opened with O_SYNC and O_DIRECT, as open_sync of `pg_test_fsync`
    /// does.
    OpenSyncDirect,
    /// Calls pwrite on a file opened with O_DIRECT, then fdatasync. The difference from the same
    /// write without a flush is the cost of the flush.
    FdatasyncDirect,
    /// Calls pwrite on a file opened with O_DIRECT, without a flush; not durable.
    FloorDirect,
    /// Calls pwrite into the page cache, without a flush; not durable.
    Floor,
}

impl Method {
    pub fn methods_with_inclusion(occasion: ProbeInclusion) -> impl Iterator<Item = Self> {
        let methods: &[Self] = match occasion {
            ProbeInclusion::Always => &[Self::Floor],
            ProbeInclusion::FlushCost => &[Self::FdatasyncDirect, Self::FloorDirect],
            ProbeInclusion::AllRows => &[Self::OpenDatasyncDirect, Self::OpenSyncDirect],
        };
        methods.iter().copied()
    }

    /// The server's name for the method, or walwise's own if the server has none.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fdatasync => "fdatasync",
            Self::OpenDatasync => "open_datasync",
            Self::Fsync => "fsync",
            Self::OpenSync => "open_sync",
            Self::OpenDatasyncDirect => "open_datasync (O_DIRECT)",
            Self::OpenSyncDirect => "open_sync (O_DIRECT)",
            Self::FdatasyncDirect => "fdatasync (O_DIRECT)",
            Self::FloorDirect => "unflushed (O_DIRECT)",
            Self::Floor => "unflushed",
        }
    }

    /// The matching value of `wal_sync_method`, with or without `O_DIRECT`. It decides the sync flag
    /// of the file and the flush call. `None` for an unflushed write.
    pub fn wal_sync_method(self) -> Option<WalSyncMethod> {
        match self {
            Self::Fdatasync | Self::FdatasyncDirect => Some(WalSyncMethod::Fdatasync),
            Self::OpenDatasync | Self::OpenDatasyncDirect => Some(WalSyncMethod::OpenDatasync),
            Self::Fsync => Some(WalSyncMethod::Fsync),
            Self::OpenSync | Self::OpenSyncDirect => Some(WalSyncMethod::OpenSync),
            Self::FloorDirect | Self::Floor => None,
        }
    }

    pub(crate) fn is_direct(self) -> bool {
        match self {
            Self::OpenDatasyncDirect
            | Self::OpenSyncDirect
            | Self::FdatasyncDirect
            | Self::FloorDirect => true,
            Self::Fdatasync | Self::OpenDatasync | Self::Fsync | Self::OpenSync | Self::Floor => {
                false
            }
        }
    }

    pub fn is_durable(self) -> bool {
        self.wal_sync_method().is_some()
    }

    /// True if a disk's flush counter includes the flushes of this method. Writes with O_DIRECT and
    /// a sync flag may use FUA instead, which is not counted.
    pub(crate) fn has_counted_flushes(self) -> bool {
        self.is_durable() && !matches!(self, Self::OpenDatasyncDirect | Self::OpenSyncDirect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direct_sync_writes_are_not_counted_flushes() {
        assert!(
            Method::Fdatasync.has_counted_flushes()
                && Method::FdatasyncDirect.has_counted_flushes()
        );
        assert!(
            Method::OpenDatasync.has_counted_flushes(),
            "buffered, so never forced unit access"
        );
        assert!(
            !Method::OpenDatasyncDirect.has_counted_flushes()
                && !Method::Floor.has_counted_flushes()
        );
    }
}
