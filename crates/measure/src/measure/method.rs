//! The methods of making a WAL write durable that are measured, one row each. Their results are in
//! [`super::measurement`].

use serde::{Deserialize, Serialize};

use crate::facts::catalog::postgres::WalSyncMethod;

/// How the file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Writes are not durable by themselves.
    Plain,
    DataSync,
    Sync,
}

/// Call after the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncCall {
    /// None: the write itself is durable, or nothing is.
    NoCall,
    Fdatasync,
    Fsync,
}

/// Measurements that include a method although the server does not use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenMeasured {
    /// Every measurement.
    Always,
    /// Those of the flush latency: the same overwrite with and without a flush.
    FlushCost,
    /// Those of all rows.
    AllRows,
    /// None: measured only if the server uses it (`probes::method`).
    ServerOnly,
}

/// Properties of a method; everything else follows from them.
struct MethodProperties {
    /// The server's name if it has one, else ours.
    name: &'static str,
    /// The matching wal_sync_method, with or without `O_DIRECT`; `None` if no server does it.
    server: Option<WalSyncMethod>,
    open: OpenMode,
    /// `O_DIRECT`.
    direct: bool,
    call: SyncCall,
    when_measured: WhenMeasured,
}

/// Makes the enum and the list of all methods from one row each.
macro_rules! methods {
    ($($(#[$doc:meta])* $method:ident { $($row:tt)* })*) => {
        /// A method of making a WAL write durable, as the server does it, or the unflushed floor.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum Method {
            $($(#[$doc])* $method,)*
        }

        impl Method {
            const ALL: [Self; [$(Self::$method),*].len()] = [$(Self::$method),*];

            fn properties(self) -> MethodProperties {
                match self {
                    $(Self::$method => MethodProperties { $($row)* },)*
                }
            }
        }
    };
}

methods! {
    /// pwrite, fdatasync.
    Fdatasync {
        name: "fdatasync",
        server: Some(WalSyncMethod::Fdatasync),
        open: OpenMode::Plain,
        direct: false,
        call: SyncCall::Fdatasync,
        when_measured: WhenMeasured::ServerOnly,
    }
    /// pwrite to a file opened O_DSYNC.
    OpenDatasync {
        name: "open_datasync",
        server: Some(WalSyncMethod::OpenDatasync),
        open: OpenMode::DataSync,
        direct: false,
        call: SyncCall::NoCall,
        when_measured: WhenMeasured::ServerOnly,
    }
    /// pwrite, fsync.
    Fsync {
        name: "fsync",
        server: Some(WalSyncMethod::Fsync),
        open: OpenMode::Plain,
        direct: false,
        call: SyncCall::Fsync,
        when_measured: WhenMeasured::ServerOnly,
    }
    /// pwrite to a file opened O_SYNC.
    OpenSync {
        name: "open_sync",
        server: Some(WalSyncMethod::OpenSync),
        open: OpenMode::Sync,
        direct: false,
        call: SyncCall::NoCall,
        when_measured: WhenMeasured::ServerOnly,
    }
    /// pwrite to a file opened O_DSYNC and O_DIRECT: open_datasync of `pg_test_fsync`; no current
    /// server does it by default.
    OpenDatasyncDirect {
        name: "open_datasync (O_DIRECT)",
        server: Some(WalSyncMethod::OpenDatasync),
        open: OpenMode::DataSync,
        direct: true,
        call: SyncCall::NoCall,
        when_measured: WhenMeasured::AllRows,
    }
    /// pwrite to a file opened O_SYNC and O_DIRECT: open_sync of `pg_test_fsync`.
    OpenSyncDirect {
        name: "open_sync (O_DIRECT)",
        server: Some(WalSyncMethod::OpenSync),
        open: OpenMode::Sync,
        direct: true,
        call: SyncCall::NoCall,
        when_measured: WhenMeasured::AllRows,
    }
    /// pwrite to a file opened O_DIRECT, then fdatasync: the flush alone is the difference to
    /// [`Method::FloorDirect`].
    FdatasyncDirect {
        name: "fdatasync (O_DIRECT)",
        server: Some(WalSyncMethod::Fdatasync),
        open: OpenMode::Plain,
        direct: true,
        call: SyncCall::Fdatasync,
        when_measured: WhenMeasured::FlushCost,
    }
    /// pwrite to a file opened O_DIRECT, no flush at all. Not durable.
    FloorDirect {
        name: "unflushed (O_DIRECT)",
        server: None,
        open: OpenMode::Plain,
        direct: true,
        call: SyncCall::NoCall,
        when_measured: WhenMeasured::FlushCost,
    }
    /// pwrite alone, into the page cache. Not durable.
    Floor {
        name: "unflushed",
        server: None,
        open: OpenMode::Plain,
        direct: false,
        call: SyncCall::NoCall,
        when_measured: WhenMeasured::Always,
    }
}

impl Method {
    /// Methods that such a measurement includes although the server does not use them.
    pub fn extra_methods(occasion: WhenMeasured) -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(move |method| method.properties().when_measured == occasion)
    }

    pub fn name(self) -> &'static str {
        self.properties().name
    }

    /// `None` if no server does it.
    pub fn server_method(self) -> Option<WalSyncMethod> {
        self.properties().server
    }

    pub fn open_mode(self) -> OpenMode {
        self.properties().open
    }

    pub fn sync_call(self) -> SyncCall {
        self.properties().call
    }

    /// `O_DIRECT`.
    pub fn is_direct(self) -> bool {
        self.properties().direct
    }

    /// True if the open flags make each write durable.
    fn has_durable_writes(self) -> bool {
        matches!(self.open_mode(), OpenMode::DataSync | OpenMode::Sync)
    }

    pub fn is_durable(self) -> bool {
        self.has_durable_writes()
            || matches!(self.sync_call(), SyncCall::Fdatasync | SyncCall::Fsync)
    }

    /// True if disks that count flushes count those of this method: not if it sends none, nor if it
    /// may use FUA, as only writes with O_DIRECT and a sync flag do.
    pub fn has_counted_flushes(self) -> bool {
        self.is_durable() && !(self.is_direct() && self.has_durable_writes())
    }

    /// True if it flushes nothing and goes through the page cache.
    pub fn is_floor(self) -> bool {
        !self.is_durable() && !self.is_direct()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_flushes_are_counted() {
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

    #[test]
    fn what_servers_use_is_durable_and_nothing_else_is() {
        for method in Method::ALL {
            assert_eq!(
                method.is_durable(),
                method.server_method().is_some(),
                "{}",
                method.name()
            );
        }
    }
}
