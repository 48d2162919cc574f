use crate::facts::catalog::mysql::{self, InnodbFlushMethod};
use crate::facts::catalog::postgres::{self, WalLevel};
use crate::facts::catalog::target::ROLES;
use crate::facts::catalog::{cluster, device};
use crate::facts::{FactSet, Key, Scope, ServerArea, ServerKind, Subject};
use crate::measure::{LogKind, MeasuredLog, Method, MethodSetting, WalMethodInForce};
use crate::servers::server_settings_table;
use crate::version::Version;

/// Size in bytes of a redo log block, unless it follows the device's sector size
/// (OS_FILE_LOG_BLOCK_SIZE).
const BLOCK_BYTES: u32 = 512;

/// Largest redo log block in bytes: MariaDB's block size follows the disk's physical sector size up
/// to this limit.
const MAX_BLOCK_BYTES: u32 = 4096;

/// The log of the target's server, or PostgreSQL's WAL without a known server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLog {
    pub log: MeasuredLog,
    /// The methods that the server can use. The default of the WAL comes first, or the method of a
    /// redo log that is in force, if known: the first method is the reference of comparisons.
    pub methods: Vec<Method>,
    /// `innodb_log_write_ahead_size` in redo log blocks. MySQL writes at least this many blocks
    /// when it enters a new unit of that size in the log file. `None` for MariaDB, or if unknown or
    /// at most two blocks.
    pub write_ahead_blocks: Option<u32>,
    /// True if commits may flush a binary log on this file system.
    pub binlog: bool,
}

impl Default for ServerLog {
    fn default() -> Self {
        Self::wal(postgres_sync_methods(None, None, None, ""))
    }
}

impl ServerLog {
    /// Unknown settings count as defaults.
    pub fn from_facts(facts: &FactSet, target: &Subject) -> Self {
        let Some(server) = facts.applicable_subject(target, Scope::Cluster) else {
            return Self::default();
        };
        match facts.server_area_of(&server) {
            Some(ServerArea::Mysql) => Self::redo_log_from_facts(facts, target, &server)
                .unwrap_or_else(Self::mysql_default_config),
            Some(ServerArea::Pg) | None => Self::wal(postgres_sync_methods(
                facts
                    .value(&server, &postgres::VERSION)
                    .map(|version| version.number(0)),
                facts.value(&server, &postgres::WAL_LEVEL),
                facts.value(&server, &postgres::MAX_WAL_SENDERS),
                &facts
                    .value(&server, &postgres::DEBUG_IO_DIRECT)
                    .unwrap_or_default(),
            )),
        }
    }

    fn wal(methods: Vec<Method>) -> Self {
        Self {
            log: MeasuredLog::default(),
            methods,
            write_ahead_blocks: None,
            binlog: false,
        }
    }

    pub fn is_redo(&self) -> bool {
        self.log.is_redo()
    }

    /// `None` if the method is unknown, not measurable or flushes nothing.
    pub(super) fn method_in_force(&self, wal: WalMethodInForce) -> Option<Method> {
        match wal {
            _ if self.is_redo() => self.log.in_force,
            WalMethodInForce::Is(wal) => {
                let mut methods = self.methods.iter().copied();
                methods.find(|method| method.wal_sync_method() == Some(wal))
            }
            WalMethodInForce::Default | WalMethodInForce::Unknown => None,
        }
    }

    /// The default of MySQL 8.4, which is used if the server's configuration is unknown.
    fn mysql_default_config() -> Self {
        let methods = [(Method::Fdatasync, "innodb_use_fdatasync = on")];
        Self::new(&methods, None, BLOCK_BYTES)
    }

    /// `methods` are all possible methods, each with the setting that chooses it. `in_force` is
    /// `None` if the method is unknown or flushes nothing.
    fn new(methods: &[(Method, &str)], in_force: Option<Method>, block_bytes: u32) -> Self {
        let setting = |(method, setting): &(Method, &str)| MethodSetting {
            method: *method,
            setting: (*setting).to_owned(),
        };
        Self {
            log: MeasuredLog {
                kind: LogKind::Redo,
                page_bytes: block_bytes,
                in_force,
                settings: methods.iter().map(setting).collect(),
            },
            methods: methods.iter().map(|(method, _)| *method).collect(),
            write_ahead_blocks: None,
            binlog: true,
        }
    }

    /// Reads the configuration of the redo log; `None` for PostgreSQL, or if the kind or release of
    /// the server is unknown.
    pub fn redo_log_from_facts(
        facts: &FactSet,
        target: &Subject,
        server: &Subject,
    ) -> Option<Self> {
        let (kind, version) = (
            facts.value(server, &cluster::KIND)?,
            facts.value(server, &mysql::VERSION)?,
        );
        let told = InnodbLogSettings::from_facts(facts, server);
        let mut config = match kind {
            ServerKind::Postgres => return None,
            ServerKind::Mysql => told.mysql_redo_log_config(&version),
            ServerKind::Mariadb => {
                told.mariadb_redo_log_config(&version, largest_physical_sector_bytes(facts, target))
            }
        };
        config.binlog = is_binlog_flushed_on_target(facts, target, server);
        let is_in_force = |method: &Method| Some(*method) == config.log.in_force;
        let first = config.methods.iter().position(is_in_force).unwrap_or(0);
        config.methods.rotate_left(first);
        config.log.settings.rotate_left(first);
        Some(config)
    }

    /// The reference of comparisons; fdatasync without any method.
    pub fn first_method_or_fdatasync(&self) -> Method {
        self.methods.first().copied().unwrap_or(Method::Fdatasync)
    }
}

/// The methods with which a PostgreSQL server can make its WAL durable, the default first. An unknown
/// setting counts as its default.
///
/// Servers up to 15 add O_DIRECT to the open methods if no process reads the WAL.
/// `pg_test_fsync` always adds O_DIRECT, so its figures for these methods are not the server's.
fn postgres_sync_methods(
    major: Option<u64>,
    wal_level: Option<WalLevel>,
    max_wal_senders: Option<u64>,
    debug_io_direct: &str,
) -> Vec<Method> {
    let debug_direct = major.is_some_and(|v| v >= 16)
        && debug_io_direct.split(',').any(|item| item.trim() == "wal");
    let nobody_reads = major.is_some_and(|v| v <= 15)
        && wal_level.is_some_and(WalLevel::is_minimal)
        && max_wal_senders == Some(0);
    if debug_direct {
        // The list lacks fsync with O_DIRECT, because its cost is known: that of fdatasync with
        // O_DIRECT plus a commit of the file system's journal.
        vec![
            Method::FdatasyncDirect,
            Method::OpenDatasyncDirect,
            Method::OpenSyncDirect,
        ]
    } else if nobody_reads {
        vec![
            Method::Fdatasync,
            Method::OpenDatasyncDirect,
            Method::Fsync,
            Method::OpenSyncDirect,
        ]
    } else {
        vec![
            Method::Fdatasync,
            Method::OpenDatasync,
            Method::Fsync,
            Method::OpenSync,
        ]
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct InnodbLogSettings {
    flush_method: Option<InnodbFlushMethod>,
    use_fdatasync: Option<bool>,
    log_buffering: Option<bool>,
    log_write_through: Option<bool>,
    write_ahead: Option<u64>,
}

impl InnodbLogSettings {
    fn from_facts(facts: &FactSet, server: &Subject) -> Self {
        let switch = |key: &Key<bool>| facts.value(server, key);
        Self {
            flush_method: facts.value(server, &mysql::FLUSH_METHOD),
            use_fdatasync: switch(&mysql::USE_FDATASYNC),
            log_buffering: switch(&mysql::LOG_FILE_BUFFERING),
            log_write_through: switch(&mysql::LOG_FILE_WRITE_THROUGH),
            write_ahead: facts.value(server, &mysql::LOG_WRITE_AHEAD),
        }
    }

    /// True if `innodb_flush_method` opens files for synchronous writes; `None` if the method is
    /// unknown or flushes nothing.
    fn are_log_writes_synchronous(self) -> Option<bool> {
        match self.flush_method? {
            InnodbFlushMethod::Dsync => Some(true),
            InnodbFlushMethod::Fsync
            | InnodbFlushMethod::Direct
            | InnodbFlushMethod::DirectNoFsync => Some(false),
            InnodbFlushMethod::Littlesync | InnodbFlushMethod::Nosync => None,
        }
    }

    /// The methods and block size of MySQL's redo log. MySQL writes the log through the page cache,
    /// whatever `innodb_flush_method` is for data files. For `O_DSYNC`, it opens the log with
    /// O_SYNC (os_file_create_func of storage/innobase/os/os0file.cc, log_flush_low of
    /// log/log0write.cc).
    fn mysql_redo_log_config(self, version: &Version) -> ServerLog {
        let through = (Method::OpenSync, "innodb_flush_method = O_DSYNC");
        let use_fdatasync = server_settings_table().mysql_default(
            "innodb_use_fdatasync",
            ServerKind::Mysql,
            version,
        );
        let methods = if use_fdatasync.is_absent() {
            vec![
                (Method::Fsync, "innodb_flush_method = O_DIRECT or fsync"),
                through,
            ]
        } else {
            let data = (Method::Fdatasync, "innodb_use_fdatasync = on");
            vec![(Method::Fsync, "innodb_use_fdatasync = off"), data, through]
        };
        let flushed = if self.use_fdatasync == Some(true) {
            Method::Fdatasync
        } else {
            Method::Fsync
        };
        let in_force = self
            .are_log_writes_synchronous()
            .map(|through| if through { Method::OpenSync } else { flushed });
        let ahead = self
            .write_ahead
            .and_then(|bytes| u32::try_from(bytes / u64::from(BLOCK_BYTES)).ok());
        ServerLog {
            write_ahead_blocks: ahead.filter(|blocks| *blocks > 2),
            ..ServerLog::new(&methods, in_force, BLOCK_BYTES)
        }
    }

    /// The methods and block size of MariaDB's redo log. MariaDB before 10.8 writes the log through
    /// the page cache. Later releases use O_DIRECT unless `innodb_log_file_buffering` is on, and
    /// O_DSYNC if the log is written through (strace of 10.11.19). MariaDB flushes with
    /// fdatasync(2) (os_file_sync_posix).
    fn mariadb_redo_log_config(self, version: &Version, sector: u32) -> ServerLog {
        let has = |name| {
            !server_settings_table()
                .mysql_default(name, ServerKind::Mariadb, version)
                .is_absent()
        };
        if !has("innodb_log_file_buffering") {
            let buffered = (Method::Fdatasync, "innodb_flush_method = O_DIRECT or fsync");
            let through = (Method::OpenDatasync, "innodb_flush_method = O_DSYNC");
            let in_force = self
                .are_log_writes_synchronous()
                .map(|is| if is { through.0 } else { buffered.0 });
            return ServerLog::new(&[buffered, through], in_force, BLOCK_BYTES);
        }
        let by_setting = has("innodb_log_file_write_through");
        let through = if by_setting {
            self.log_write_through
        } else {
            self.are_log_writes_synchronous()
        };
        let is_buffered = self.log_buffering == Some(true);
        let in_force = through.map(|through| match (is_buffered, through) {
            (false, false) => Method::FdatasyncDirect,
            (true, false) => Method::Fdatasync,
            (false, true) => Method::OpenDatasyncDirect,
            (true, true) => Method::OpenDatasync,
        });
        let written_through = if by_setting {
            "innodb_log_file_write_through = on"
        } else {
            "innodb_flush_method = O_DSYNC"
        };
        let mut methods = vec![
            (Method::FdatasyncDirect, "innodb_log_file_buffering = off"),
            (Method::Fdatasync, "innodb_log_file_buffering = on"),
            (Method::OpenDatasyncDirect, written_through),
        ];
        if in_force == Some(Method::OpenDatasync) {
            methods.push((Method::OpenDatasync, written_through));
        }
        let told = self.write_ahead.and_then(|bytes| u32::try_from(bytes).ok());
        let block_bytes = told
            .unwrap_or(sector)
            .next_power_of_two()
            .clamp(BLOCK_BYTES, MAX_BLOCK_BYTES);
        ServerLog::new(&methods, in_force, block_bytes)
    }
}

/// The largest known physical sector of the disks under `target`, in bytes; [`MAX_BLOCK_BYTES`] if
/// none is known.
fn largest_physical_sector_bytes(facts: &FactSet, target: &Subject) -> u32 {
    let of = |leaf: &Subject| facts.value(leaf, &device::PHYSICAL_BLOCK);
    let largest = facts.bottom_devices(target).iter().map(of).max();
    largest
        .flatten()
        .and_then(|bytes| u32::try_from(bytes).ok())
        .unwrap_or(MAX_BLOCK_BYTES)
}

fn is_binlog_flushed_on_target(facts: &FactSet, target: &Subject, server: &Subject) -> bool {
    let is_on = facts.value(server, &mysql::LOG_BIN) != Some(false);
    let is_file = facts
        .value(server, &mysql::BINLOG_ENGINE)
        .is_none_or(|engine| engine.is_empty());
    let is_here = facts
        .value(target, &ROLES)
        .is_none_or(|roles| roles.iter().any(|role| role.is_binlog()));
    is_on && is_file && is_here
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings_with_flush_method(flush_method: &str) -> InnodbLogSettings {
        InnodbLogSettings {
            flush_method: crate::facts::Choice::from_word(flush_method),
            ..InnodbLogSettings::default()
        }
    }

    #[test]
    fn direct_methods_match_server_settings() {
        let direct = |major, wal_level: &str, senders, debug: &str| {
            let level = crate::facts::Choice::from_word(wal_level);
            let methods = postgres_sync_methods(Some(major), level, Some(senders), debug);
            methods.iter().filter(|m| m.is_direct()).count()
        };
        assert!(
            postgres_sync_methods(None, None, None, "")
                .iter()
                .all(|m| !m.is_direct())
        );
        assert_eq!(direct(15, "replica", 10, ""), 0);
        assert_eq!(direct(15, "minimal", 10, ""), 0);
        assert_eq!(direct(15, "minimal", 0, ""), 2);
        assert_eq!(direct(16, "minimal", 0, ""), 0);
        assert_eq!(direct(16, "replica", 10, "data, wal"), 3);
        assert_eq!(direct(16, "replica", 10, "wal_init"), 0);
    }

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    #[test]
    fn mysql_redo_log_method_follows_release() {
        for (release, flush_method, use_fdatasync, expected) in [
            ("5.7.44", "fsync", None, Some(Method::Fsync)),
            ("5.7.44", "O_DIRECT", None, Some(Method::Fsync)),
            ("8.0.36", "O_DIRECT", Some(false), Some(Method::Fsync)),
            (
                "8.0.36",
                "O_DIRECT_NO_FSYNC",
                Some(true),
                Some(Method::Fdatasync),
            ),
            ("8.4.1", "O_DIRECT", Some(true), Some(Method::Fdatasync)),
            ("9.1.0", "O_DSYNC", Some(true), Some(Method::OpenSync)),
            ("8.0.36", "nosync", Some(false), None),
            ("8.0.36", "sideways", Some(false), None),
        ] {
            let told = InnodbLogSettings {
                use_fdatasync,
                ..settings_with_flush_method(flush_method)
            };
            let log = told.mysql_redo_log_config(&version(release));
            assert_eq!(log.log.in_force, expected, "{release} {flush_method}");
            assert!(
                log.log.settings.iter().all(|one| !one.method.is_direct()),
                "{release}"
            );
            let has_fdatasync = log
                .log
                .settings
                .iter()
                .any(|one| one.method == Method::Fdatasync);
            assert_eq!(has_fdatasync, release != "5.7.44", "{release}");
        }
        let ahead = InnodbLogSettings {
            write_ahead: Some(8192),
            ..settings_with_flush_method("O_DIRECT")
        };
        assert_eq!(
            ahead
                .mysql_redo_log_config(&version("8.0.36"))
                .write_ahead_blocks,
            Some(16)
        );
    }

    #[test]
    fn mariadb_redo_log_method_follows_release() {
        for (release, flush_method, buffering, through, expected) in [
            ("10.6.18", "O_DIRECT", None, None, Some(Method::Fdatasync)),
            ("10.6.18", "O_DSYNC", None, None, Some(Method::OpenDatasync)),
            (
                "10.11.19",
                "O_DIRECT",
                None,
                None,
                Some(Method::FdatasyncDirect),
            ),
            (
                "10.11.19",
                "fsync",
                Some(false),
                None,
                Some(Method::FdatasyncDirect),
            ),
            (
                "10.11.19",
                "O_DIRECT",
                Some(true),
                None,
                Some(Method::Fdatasync),
            ),
            (
                "10.11.19",
                "O_DSYNC",
                Some(false),
                None,
                Some(Method::OpenDatasyncDirect),
            ),
            (
                "11.8.2",
                "O_DIRECT",
                Some(false),
                Some(true),
                Some(Method::OpenDatasyncDirect),
            ),
            (
                "11.8.2",
                "O_DIRECT",
                Some(true),
                Some(true),
                Some(Method::OpenDatasync),
            ),
            ("11.8.2", "O_DIRECT", Some(false), None, None),
            ("10.11.19", "littlesync", Some(false), None, None),
        ] {
            let told = InnodbLogSettings {
                log_buffering: buffering,
                log_write_through: through,
                ..settings_with_flush_method(flush_method)
            };
            let log = told.mariadb_redo_log_config(&version(release), 4096);
            assert_eq!(
                log.log.in_force, expected,
                "{release} {flush_method} {buffering:?} {through:?}"
            );
            let listed = log
                .log
                .settings
                .iter()
                .any(|one| Some(one.method) == expected);
            assert!(
                listed || expected.is_none(),
                "{release}: {:?}",
                log.log.settings
            );
        }
        let told = InnodbLogSettings {
            write_ahead: Some(512),
            ..settings_with_flush_method("O_DIRECT")
        };
        assert_eq!(
            told.mariadb_redo_log_config(&version("10.11.19"), 4096)
                .log
                .page_bytes,
            512
        );
        assert_eq!(
            settings_with_flush_method("O_DIRECT")
                .mariadb_redo_log_config(&version("10.11.19"), 4096)
                .log
                .page_bytes,
            4096
        );
        assert_eq!(
            settings_with_flush_method("O_DIRECT")
                .mariadb_redo_log_config(&version("10.6.18"), 4096)
                .log
                .page_bytes,
            512
        );
    }
}
