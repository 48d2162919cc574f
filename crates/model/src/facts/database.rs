//! Database servers, one row each: the facts, directories and words that generic code needs.
//!
//! A server is an [`Area`] with its row here. What is particular to its settings, files or
//! processes is left to the code for that server.

use super::catalog::postgres::WalSyncMethod;
use super::catalog::target::Role;
use super::catalog::{mysql, postgres};
use super::{Area, FactSet, Key, KeyInfo, Subject};
use crate::version::Version;

/// What all kinds of database servers have in common.
pub struct Database {
    /// Its configuration files, as people call them.
    pub config_files: &'static str,
    /// The fact with a cluster's display name.
    pub name: &'static Key<String>,
    /// How a setting is written in its files.
    pub syntax: SettingSyntax,
    /// The fact with its release.
    pub version: &'static Key<Version>,
    /// The fact with whether it runs.
    pub running: &'static Key<bool>,
    /// The fact with the preloaded library that disables fsync.
    pub fsync_disabled_by: &'static Key<String>,
    /// The fact with its data directory.
    pub data_directory: &'static Key<String>,
    /// File names that only this server creates in its directories.
    pub marker_files: &'static [&'static str],
    /// Prefix, before a digit, of what it creates in a tablespace.
    pub tablespace_prefix: Option<&'static str>,
    /// Its directories, data first.
    pub directories: &'static [DirectorySpec],
    /// The fact with the method that flushes its log, where that is one setting.
    pub wal_method: Option<&'static Key<WalSyncMethod>>,
}

/// How a setting is written in a server's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingSyntax {
    /// `name = 'value'`, as in postgresql.conf.
    PostgresConf,
    /// `name = value` in the group `[mysqld]`.
    OptionFile,
}

/// A directory of a server: the word for its contents, the fact that holds the path, and whether it
/// is optional.
pub struct DirectorySpec {
    pub role: Role,
    /// The fact that holds its path, or a list of paths.
    pub key: &'static KeyInfo,
    /// Whether a server can be without it.
    pub optional: bool,
}

const fn required_directory(role: Role, key: &'static KeyInfo) -> DirectorySpec {
    DirectorySpec {
        role,
        key,
        optional: false,
    }
}

const fn optional_directory(role: Role, key: &'static KeyInfo) -> DirectorySpec {
    DirectorySpec {
        role,
        key,
        optional: true,
    }
}

static POSTGRES: Database = Database {
    config_files: "postgresql.conf",
    name: &postgres::NAME,
    syntax: SettingSyntax::PostgresConf,
    version: &postgres::VERSION,
    running: &postgres::RUNNING,
    fsync_disabled_by: &postgres::FSYNC_DISABLED_BY,
    data_directory: &postgres::DATA,
    marker_files: &["PG_VERSION", "archive_status", "summaries"],
    // `PG_15_202209061`.
    tablespace_prefix: Some("PG_"),
    directories: &[
        required_directory(Role::Data, &postgres::DATA.info),
        required_directory(Role::Wal, &postgres::WAL.info),
        optional_directory(Role::Tablespace, &postgres::TABLESPACES.info),
    ],
    wal_method: Some(&postgres::WAL_SYNC_METHOD),
};

static MYSQL: Database = Database {
    config_files: "option files",
    name: &mysql::NAME,
    syntax: SettingSyntax::OptionFile,
    version: &mysql::VERSION,
    running: &mysql::RUNNING,
    fsync_disabled_by: &mysql::FSYNC_DISABLED_BY,
    data_directory: &mysql::DATA,
    marker_files: &[
        "ibdata1",
        "ib_logfile0",
        "#innodb_redo",
        "mysql.ibd",
        "auto.cnf",
        "aria_log_control",
        "undo_001",
    ],
    tablespace_prefix: None,
    directories: &[
        required_directory(Role::Data, &mysql::DATA.info),
        required_directory(Role::Data, &mysql::INNODB_DATA.info),
        required_directory(Role::Redo, &mysql::REDO.info),
        optional_directory(Role::Binlog, &mysql::BINLOG.info),
        optional_directory(Role::Doublewrite, &mysql::DOUBLEWRITE_DIR.info),
        optional_directory(Role::Undo, &mysql::UNDO.info),
    ],
    wal_method: None,
};

impl Area {
    /// The row of this area's servers.
    pub fn database(self) -> &'static Database {
        match self {
            Self::Pg => &POSTGRES,
            Self::Mysql => &MYSQL,
        }
    }
}

impl FactSet {
    /// The server of a cluster; PostgreSQL where it is not known.
    pub fn database(&self, cluster: &Subject) -> &'static Database {
        self.area_of(cluster).unwrap_or(Area::Pg).database()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ServerKind;
    use crate::facts::{Choice, Source, area};

    /// A server's row holds facts of its own area, and every kind of server has a row.
    #[test]
    fn each_has_facts_of_its_own() {
        for one in Area::ALL {
            let row = one.database();
            let places = row.directories.iter().map(|directory| directory.key.name);
            let texts = [row.name, row.fsync_disabled_by, row.data_directory].map(Key::name);
            for name in places
                .chain(texts)
                .chain([row.running.name()])
                .chain(row.wal_method.map(Key::name))
            {
                assert_eq!(area(name), Some(*one), "{name}");
            }
            assert!(
                row.directories
                    .first()
                    .is_some_and(|first| first.role.is_data())
            );
            assert!(!row.marker_files.is_empty());
            assert!(ServerKind::ALL.iter().any(|kind| kind.area() == *one));
        }
    }

    #[test]
    fn a_cluster_has_the_server_that_was_found_in_it() {
        let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/var/lib/mysql"));
        facts.set_area(&cluster, Area::Mysql);
        facts.insert_known(
            &cluster,
            &mysql::NAME,
            "mysql 8.0".to_owned(),
            Source::Assumed,
        );
        assert_eq!(
            facts
                .value(&cluster, facts.database(&cluster).name)
                .as_deref(),
            Some("mysql 8.0")
        );
        assert_eq!(
            facts.database(&Subject::cluster("/pg")).config_files,
            "postgresql.conf"
        );
    }
}
