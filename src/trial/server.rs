//! The temporary server of a trial: how it is set, and what the record keeps of it. Who starts it is left to
//! [`crate::cells`].

use serde::{Deserialize, Serialize};

/// Bytes of the extent for each unit of pgbench's scale, which is 15 MB of tables and as much WAL when they are filled.
const EXTENT_OF_A_SCALE: u64 = 100 << 20;

/// The largest scale: what takes longer to fill than to measure is no trial.
const LARGEST_SCALE: u64 = 5;

/// A temporary server, as it was made in every cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerRecord {
    /// Its version, in its own words.
    pub version: String,
    /// The system user it ran as.
    pub user: String,
    /// Its settings in every cell, `name=value`; those of a candidate stand beside its mount options.
    pub settings: Vec<String>,
    /// pgbench's scale: a hundred thousand accounts each. `None` under sysbench, whose command says what its tables are.
    pub scale: Option<u64>,
    /// The program and arguments that made its files.
    #[serde(alias = "initdb")]
    pub make: Vec<String>,
    /// The program and arguments of its loads, without what differs between them.
    #[serde(alias = "pgbench")]
    pub load: Vec<String>,
}

impl ServerRecord {
    /// All its texts.
    pub fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let lists = self.settings.iter_mut().chain(&mut self.make).chain(&mut self.load);
        lists.chain([&mut self.version, &mut self.user])
    }
}

/// The scale that an extent has room for.
pub fn scale(extent: u64) -> u64 {
    (extent / EXTENT_OF_A_SCALE).clamp(1, LARGEST_SCALE)
}

/// The settings of a PostgreSQL on an extent of so many bytes under so many sessions: commits as durable as by default, and
/// no checkpoint or vacuum that falls into one candidate's time by chance. A checkpoint is forced before each load.
pub fn postgres_settings(extent: u64, sessions: u32) -> Vec<String> {
    let mib = extent >> 20;
    let sizes = [
        format!("max_connections={}", sessions.saturating_add(10)),
        format!("max_wal_size={}MB", mib / 2),
        format!("min_wal_size={}MB", mib / 4),
    ];
    let fixed = [
        "listen_addresses=",
        "unix_socket_permissions=0700",
        "fsync=on",
        "full_page_writes=on",
        "synchronous_commit=on",
        "wal_sync_method=fdatasync",
        "shared_buffers=128MB",
        "huge_pages=off",
        // It goes with the namespace of System V memory; POSIX memory would stay in /dev/shm after a kill.
        "dynamic_shared_memory_type=sysv",
        "checkpoint_timeout=1h",
        "autovacuum=off",
    ];
    fixed.map(str::to_owned).into_iter().chain(sizes).collect()
}

/// The same of a MariaDB under so many sessions. Its redo log is so small that filling its tables writes all of it once.
pub fn mariadb_settings(sessions: u32) -> Vec<String> {
    let fixed = [
        "innodb_log_file_size=64M",
        "innodb_flush_log_at_trx_commit=1",
        "innodb_doublewrite=ON",
        "innodb_flush_method=O_DIRECT",
        "innodb_buffer_pool_size=128M",
        // They are kept in tables that the server would have been made with.
        "innodb_stats_persistent=OFF",
        "performance_schema=OFF",
    ];
    let sessions = format!("max_connections={}", sessions.saturating_add(10));
    fixed.map(str::to_owned).into_iter().chain([sessions]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_leaves_room_for_the_log() {
        for (mib, found) in [(320, 3), (512, 5), (2048, 5), (65_536, 5)] {
            assert_eq!(scale(mib << 20), found);
            // Tables, the log that filled them, and as much as is kept of it.
            assert!(found * 30 + 50 < mib, "{mib}");
        }
    }

    #[test]
    fn nothing_is_set_twice_and_nothing_gives_up_commits() {
        let both = [("pg", postgres_settings(2 << 30, 32)), ("mysql", mariadb_settings(32))];
        for (area, settings) in both {
            let mut names: Vec<&str> = settings.iter().filter_map(|line| line.split('=').next()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), settings.len());
            let known = settings.iter().filter_map(|line| {
                let (name, value) = line.split_once('=').unwrap();
                Some((line, crate::settings::find(&format!("{area}.{name}"))?, value.to_owned()))
            });
            let known: Vec<_> = known.collect();
            assert!(known.len() > 1, "{area}");
            for (line, setting, value) in known {
                assert!(!setting.can_lose(&[value]), "{line}");
            }
        }
    }
}
