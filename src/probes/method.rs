//! The methods by which a server makes its WAL durable, and their open flags.
//!
//! PostgreSQL opens WAL with O_DSYNC or O_SYNC for the two open methods and calls fdatasync or fsync for the others
//! (`get_sync_bit` and `issue_xlog_fsync` in src/backend/access/transam/xlog.c). `pg_test_fsync` adds O_DIRECT to the
//! open methods. The server does so only up to version 15, and only when nobody reads WAL, so the tool's figures for
//! them are not the server's.

use rustix::fs::OFlags;

use crate::facts::catalog::postgres::WalLevel;
use crate::measure::{Method, OpenMode};

/// The settings that decide how a server writes its WAL. An unknown one counts as its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalSettings {
    pub major: Option<u64>,
    pub wal_level: Option<WalLevel>,
    pub max_wal_senders: Option<u64>,
    pub debug_io_direct: Option<String>,
}

/// The methods of this server, as it executes them, its default first. Without a server: those of PostgreSQL's
/// defaults.
pub fn server_methods(server: &WalSettings) -> Vec<Method> {
    let items = server.debug_io_direct.as_deref().unwrap_or_default();
    let debug_direct =
        server.major.is_some_and(|v| v >= 16) && items.split(',').any(|item| item.trim() == "wal");
    let nobody_reads = server.major.is_some_and(|v| v <= 15)
        && server.wal_level.is_some_and(WalLevel::is_minimal)
        && server.max_wal_senders == Some(0);
    if debug_direct {
        // fsync with O_DIRECT has no row: it is fdatasync with O_DIRECT and a journal commit on top.
        vec![Method::FdatasyncDirect, Method::OpenDatasyncDirect, Method::OpenSyncDirect]
    } else if nobody_reads {
        vec![Method::Fdatasync, Method::OpenDatasyncDirect, Method::Fsync, Method::OpenSyncDirect]
    } else {
        vec![Method::Fdatasync, Method::OpenDatasync, Method::Fsync, Method::OpenSync]
    }
}

/// O_DSYNC itself: rustix calls O_SYNC by this name too (1.1.6, src/backend/linux_raw/fs/types.rs).
const DATA_SYNC: OFlags = OFlags::from_bits_retain(nix::libc::O_DSYNC.cast_unsigned());

/// The open flags of a method.
pub fn open_flags(method: Method) -> OFlags {
    let sync = match method.open_mode() {
        OpenMode::Plain => OFlags::empty(),
        OpenMode::DataSync => DATA_SYNC,
        OpenMode::Sync => OFlags::SYNC,
    };
    if method.is_direct() { sync | OFlags::DIRECT } else { sync }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(major: u64, wal_level: &str, senders: u64, debug: &str) -> WalSettings {
        WalSettings {
            major: Some(major),
            wal_level: crate::facts::Choice::from_word(wal_level),
            max_wal_senders: Some(senders),
            debug_io_direct: Some(debug.to_owned()),
        }
    }

    #[test]
    fn direct_io_is_the_servers_only_where_it_does_it() {
        let direct = |s: &WalSettings| server_methods(s).iter().filter(|m| m.is_direct()).count();
        assert_eq!(direct(&WalSettings::default()), 0);
        assert_eq!(direct(&server(15, "replica", 10, "")), 0);
        assert_eq!(direct(&server(15, "minimal", 10, "")), 0);
        assert_eq!(direct(&server(15, "minimal", 0, "")), 2);
        assert_eq!(direct(&server(16, "minimal", 0, "")), 0);
        assert_eq!(direct(&server(16, "replica", 10, "data, wal")), 3);
        assert_eq!(direct(&server(16, "replica", 10, "wal_init")), 0);
    }

    #[test]
    fn the_two_open_methods_are_not_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let flags_in_force = |method| {
            let (path, create) = (directory.path().join("file"), OFlags::CREATE | OFlags::RDWR);
            let file = rustix::fs::open(
                path,
                create | open_flags(method),
                rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            )
            .unwrap();
            rustix::fs::fcntl_getfl(&file).unwrap().bits() & OFlags::SYNC.bits()
        };
        // linux/fcntl.h: O_SYNC is O_DSYNC and a bit more.
        let [plain, data, all] =
            [Method::Fdatasync, Method::OpenDatasync, Method::OpenSync].map(flags_in_force);
        assert_eq!(plain, 0);
        assert!(data != 0 && data != all && data & all == data, "{data:o} {all:o}");
    }
}
