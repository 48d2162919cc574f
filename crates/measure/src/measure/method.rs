//! The ways to make a WAL write durable that are measured, one row each: what each of them does.
//! What a probe found of them is in [`super::measurement`].

use serde::{Deserialize, Serialize};

use crate::facts::catalog::postgres::WalSyncMethod;

/// How the file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Without a flag that makes writes durable.
    Plain,
    /// `O_DSYNC`.
    DataSync,
    /// `O_SYNC`.
    Sync,
}

/// The call after the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncCall {
    /// None: the write itself is durable, or nothing is.
    Not,
    /// fdatasync(2).
    Data,
    /// fsync(2).
    All,
}

/// The measurements that a method is part of although the server does not use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// Every one.
    Always,
    /// That of the price of a flush: the same overwrite with and without one.
    FlushCost,
    /// One of all rows.
    AllRows,
    /// None: it is measured where the server uses it (`probes::method`).
    ServerOnly,
}

/// What is known of a method. Everything else follows from it.
struct MethodProperties {
    /// The server's name for it where it has one, else a name of ours.
    name: &'static str,
    /// The value of the server's setting that does it, whether or not with `O_DIRECT`; `None` for
    /// what no server does.
    server: Option<WalSyncMethod>,
    open: OpenMode,
    /// Whether it bypasses the page cache.
    direct: bool,
    call: SyncCall,
    beside: Occasion,
}

/// The choice and the list of all from one row each.
macro_rules! methods {
    ($($(#[$doc:meta])* $method:ident { $($row:tt)* })*) => {
        /// A way to make a WAL write durable, as the server does it, or the unflushed floor.
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
        call: SyncCall::Data,
        beside: Occasion::ServerOnly,
    }
    /// pwrite to a file opened O_DSYNC.
    OpenDatasync {
        name: "open_datasync",
        server: Some(WalSyncMethod::OpenDatasync),
        open: OpenMode::DataSync,
        direct: false,
        call: SyncCall::Not,
        beside: Occasion::ServerOnly,
    }
    /// pwrite, fsync.
    Fsync {
        name: "fsync",
        server: Some(WalSyncMethod::Fsync),
        open: OpenMode::Plain,
        direct: false,
        call: SyncCall::All,
        beside: Occasion::ServerOnly,
    }
    /// pwrite to a file opened O_SYNC.
    OpenSync {
        name: "open_sync",
        server: Some(WalSyncMethod::OpenSync),
        open: OpenMode::Sync,
        direct: false,
        call: SyncCall::Not,
        beside: Occasion::ServerOnly,
    }
    /// pwrite to a file opened O_DSYNC and O_DIRECT: what `pg_test_fsync` calls open_datasync; no
    /// server of today does it by default.
    OpenDatasyncDirect {
        name: "open_datasync (O_DIRECT)",
        server: Some(WalSyncMethod::OpenDatasync),
        open: OpenMode::DataSync,
        direct: true,
        call: SyncCall::Not,
        beside: Occasion::AllRows,
    }
    /// pwrite to a file opened O_SYNC and O_DIRECT: what `pg_test_fsync` calls open_sync.
    OpenSyncDirect {
        name: "open_sync (O_DIRECT)",
        server: Some(WalSyncMethod::OpenSync),
        open: OpenMode::Sync,
        direct: true,
        call: SyncCall::Not,
        beside: Occasion::AllRows,
    }
    /// pwrite to a file opened O_DIRECT, then fdatasync: what the flush itself costs, above
    /// [`Method::FloorDirect`].
    FdatasyncDirect {
        name: "fdatasync (O_DIRECT)",
        server: Some(WalSyncMethod::Fdatasync),
        open: OpenMode::Plain,
        direct: true,
        call: SyncCall::Data,
        beside: Occasion::FlushCost,
    }
    /// pwrite to a file opened O_DIRECT, no flush at all. Not durable.
    FloorDirect {
        name: "unflushed (O_DIRECT)",
        server: None,
        open: OpenMode::Plain,
        direct: true,
        call: SyncCall::Not,
        beside: Occasion::FlushCost,
    }
    /// pwrite alone, into the page cache. Not durable.
    Floor {
        name: "unflushed",
        server: None,
        open: OpenMode::Plain,
        direct: false,
        call: SyncCall::Not,
        beside: Occasion::Always,
    }
}

impl Method {
    /// Those measured on an occasion although the server does not use them.
    pub fn beside(occasion: Occasion) -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(move |method| method.properties().beside == occasion)
    }

    /// The server's name for it where it has one, else a name of ours.
    pub fn name(self) -> &'static str {
        self.properties().name
    }

    /// The value of the server's setting that does it, whether or not with O_DIRECT; `None` for
    /// what no server does.
    pub fn server_method(self) -> Option<WalSyncMethod> {
        self.properties().server
    }

    /// How the file is opened.
    pub fn open_mode(self) -> OpenMode {
        self.properties().open
    }

    /// The call after the write.
    pub fn sync_call(self) -> SyncCall {
        self.properties().call
    }

    /// Whether it bypasses the page cache.
    pub fn is_direct(self) -> bool {
        self.properties().direct
    }

    /// Whether the file is opened so that each write is durable.
    fn writes_are_durable(self) -> bool {
        matches!(self.open_mode(), OpenMode::DataSync | OpenMode::Sync)
    }

    /// Whether it makes the write durable.
    pub fn is_durable(self) -> bool {
        self.writes_are_durable() || matches!(self.sync_call(), SyncCall::Data | SyncCall::All)
    }

    /// Whether disks that count flushes count those of this method. Excluded are methods that may
    /// use forced unit access (only writes that are both O_DIRECT and synchronous do), and methods
    /// that send none.
    pub fn is_counted(self) -> bool {
        self.is_durable() && !(self.is_direct() && self.writes_are_durable())
    }

    /// Whether it flushes nothing, and goes through the page cache.
    pub fn is_floor(self) -> bool {
        !self.is_durable() && !self.is_direct()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_flushes_are_counted() {
        assert!(Method::Fdatasync.is_counted() && Method::FdatasyncDirect.is_counted());
        assert!(
            Method::OpenDatasync.is_counted(),
            "buffered, so never forced unit access"
        );
        assert!(!Method::OpenDatasyncDirect.is_counted() && !Method::Floor.is_counted());
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
