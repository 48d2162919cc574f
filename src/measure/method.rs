//! The ways to make a WAL write durable that are measured, and what each of them does. What a probe found of them is in
//! [`super::measurement`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::catalog::postgres::WalSyncMethod;

/// A way to make a WAL write durable, as the server does it, or the unflushed floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// pwrite, fdatasync.
    Fdatasync,
    /// pwrite to a file opened O_DSYNC.
    OpenDatasync,
    /// pwrite, fsync.
    Fsync,
    /// pwrite to a file opened O_SYNC.
    OpenSync,
    /// pwrite to a file opened O_DSYNC and O_DIRECT: what `pg_test_fsync` calls open_datasync; no server of today does it
    /// by default.
    OpenDatasyncDirect,
    /// pwrite to a file opened O_SYNC and O_DIRECT: what `pg_test_fsync` calls open_sync.
    OpenSyncDirect,
    /// pwrite to a file opened O_DIRECT, then fdatasync: what the flush itself costs, above [`Method::FloorDirect`].
    FdatasyncDirect,
    /// pwrite to a file opened O_DIRECT, no flush at all. Not durable.
    FloorDirect,
    /// pwrite alone, into the page cache. Not durable.
    Floor,
}

impl Method {
    /// The server's name for it where it has one, else a name of ours.
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

    /// The value of the server's setting that does it, whether or not with O_DIRECT; `None` for what no server does.
    pub fn server_method(self) -> Option<WalSyncMethod> {
        match self {
            Self::Fdatasync | Self::FdatasyncDirect => Some(WalSyncMethod::Fdatasync),
            Self::OpenDatasync | Self::OpenDatasyncDirect => Some(WalSyncMethod::OpenDatasync),
            Self::Fsync => Some(WalSyncMethod::Fsync),
            Self::OpenSync | Self::OpenSyncDirect => Some(WalSyncMethod::OpenSync),
            Self::Floor | Self::FloorDirect => None,
        }
    }

    /// Whether it makes the write durable.
    pub fn is_durable(self) -> bool {
        self.server_method().is_some()
    }

    /// Whether an unbroken loop makes it look cheaper than it is for a server: it writes the file's time stamp too, which
    /// changes only once per timer tick, so that most commits of the loop have nothing of the kind to write.
    pub fn is_flattered_by_loops(self) -> bool {
        match self {
            Self::Fsync | Self::OpenSync | Self::OpenSyncDirect => true,
            Self::Fdatasync
            | Self::OpenDatasync
            | Self::OpenDatasyncDirect
            | Self::FdatasyncDirect
            | Self::FloorDirect
            | Self::Floor => false,
        }
    }

    /// Whether it bypasses the page cache.
    pub fn is_direct(self) -> bool {
        match self {
            Self::OpenDatasyncDirect | Self::OpenSyncDirect | Self::FdatasyncDirect | Self::FloorDirect => {
                true
            }
            Self::Fdatasync | Self::OpenDatasync | Self::Fsync | Self::OpenSync | Self::Floor => false,
        }
    }

    /// Whether it is what the server does by default where it writes the WAL with O_DIRECT.
    fn is_direct_default(self) -> bool {
        match self {
            Self::FdatasyncDirect => true,
            Self::Fdatasync
            | Self::OpenDatasync
            | Self::Fsync
            | Self::OpenSync
            | Self::OpenDatasyncDirect
            | Self::OpenSyncDirect
            | Self::FloorDirect
            | Self::Floor => false,
        }
    }

    /// The server's default among the methods that were measured as it does them: fdatasync, with O_DIRECT where it writes
    /// the WAL so.
    pub fn default_among(of_server: impl IntoIterator<Item = Self>) -> Self {
        let direct = of_server.into_iter().any(Self::is_direct_default);
        if direct { Self::FdatasyncDirect } else { Self::Fdatasync }
    }

    /// Whether it flushes nothing, and goes through the page cache.
    pub fn is_floor(self) -> bool {
        match self {
            Self::Floor => true,
            Self::Fdatasync
            | Self::OpenDatasync
            | Self::Fsync
            | Self::OpenSync
            | Self::OpenDatasyncDirect
            | Self::OpenSyncDirect
            | Self::FdatasyncDirect
            | Self::FloorDirect => false,
        }
    }
}
