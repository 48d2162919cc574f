use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::catalog::postgres::WalSyncMethod;

/// Decides whether a probe includes the method if the server does not use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeInclusion {
    Always,
    /// The method is included only in measurements of the cost of a flush, which time one overwrite
    /// with and without a flush.
    FlushCost,
    AllRows,
    /// The method is measured only if the server uses it.
    ServerOnly,
}

struct MethodProperties {
    /// The server's name for the method, or walwise's own if the server has none.
    name: &'static str,
    /// The matching value of `wal_sync_method`, with or without `O_DIRECT`. It decides the sync flag
    /// of the file and the flush call. `None` for an unflushed write.
    server: Option<WalSyncMethod>,
    direct: bool,
    when_measured: ProbeInclusion,
}

macro_rules! methods {
    ($($(#[$doc:meta])* $method:ident { $($row:tt)* })*) => {
        /// A method of making a write to the log durable, or an unflushed write as the lower bound.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
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
    /// Calls pwrite on a file opened without sync flags, then fdatasync.
    Fdatasync {
        name: "fdatasync",
        server: Some(WalSyncMethod::Fdatasync),
        direct: false,
        when_measured: ProbeInclusion::ServerOnly,
    }
    /// Calls pwrite on a file opened with O_DSYNC.
    OpenDatasync {
        name: "open_datasync",
        server: Some(WalSyncMethod::OpenDatasync),
        direct: false,
        when_measured: ProbeInclusion::ServerOnly,
    }
    /// Calls pwrite on a file opened without sync flags, then fsync.
    Fsync {
        name: "fsync",
        server: Some(WalSyncMethod::Fsync),
        direct: false,
        when_measured: ProbeInclusion::ServerOnly,
    }
    /// Calls pwrite on a file opened with O_SYNC.
    OpenSync {
        name: "open_sync",
        server: Some(WalSyncMethod::OpenSync),
        direct: false,
        when_measured: ProbeInclusion::ServerOnly,
    }
    /// Calls pwrite on a file opened with O_DSYNC and O_DIRECT, as open_datasync of `pg_test_fsync`
    /// does; no current server writes like this by default.
    OpenDatasyncDirect {
        name: "open_datasync (O_DIRECT)",
        server: Some(WalSyncMethod::OpenDatasync),
        direct: true,
        when_measured: ProbeInclusion::AllRows,
    }
    /// Calls pwrite on a file opened with O_SYNC and O_DIRECT, as open_sync of `pg_test_fsync`
    /// does.
    OpenSyncDirect {
        name: "open_sync (O_DIRECT)",
        server: Some(WalSyncMethod::OpenSync),
        direct: true,
        when_measured: ProbeInclusion::AllRows,
    }
    /// Calls pwrite on a file opened with O_DIRECT, then fdatasync. The difference from the same
    /// write without a flush is the cost of the flush.
    FdatasyncDirect {
        name: "fdatasync (O_DIRECT)",
        server: Some(WalSyncMethod::Fdatasync),
        direct: true,
        when_measured: ProbeInclusion::FlushCost,
    }
    /// Calls pwrite on a file opened with O_DIRECT, without a flush; not durable.
    FloorDirect {
        name: "unflushed (O_DIRECT)",
        server: None,
        direct: true,
        when_measured: ProbeInclusion::FlushCost,
    }
    /// Calls pwrite into the page cache, without a flush; not durable.
    Floor {
        name: "unflushed",
        server: None,
        direct: false,
        when_measured: ProbeInclusion::Always,
    }
}

impl Method {
    pub fn methods_with_inclusion(occasion: ProbeInclusion) -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(move |method| method.properties().when_measured == occasion)
    }

    pub fn name(self) -> &'static str {
        self.properties().name
    }

    /// `None` if no server writes its log like this.
    pub fn wal_sync_method(self) -> Option<WalSyncMethod> {
        self.properties().server
    }

    pub(crate) fn is_direct(self) -> bool {
        self.properties().direct
    }

    fn is_write_durable_by_open_mode(self) -> bool {
        matches!(
            self.wal_sync_method(),
            Some(WalSyncMethod::OpenDatasync | WalSyncMethod::OpenSync)
        )
    }

    pub fn is_durable(self) -> bool {
        self.wal_sync_method().is_some()
    }

    /// True if a disk's flush counter includes the flushes of this method. Writes with O_DIRECT and
    /// a sync flag may use FUA instead, which is not counted.
    pub(crate) fn has_counted_flushes(self) -> bool {
        self.is_durable() && !(self.is_direct() && self.is_write_durable_by_open_mode())
    }

    pub(crate) fn only_writes_page_cache(self) -> bool {
        !self.is_durable() && !self.is_direct()
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

    #[test]
    fn exactly_server_methods_are_durable() {
        for method in Method::ALL {
            assert_eq!(
                method.is_durable(),
                method.wal_sync_method().is_some(),
                "{}",
                method.name()
            );
        }
    }
}
