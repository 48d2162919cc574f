//! One [`DatabaseProfile`] for each [`ServerArea`]: the facts, directories and file names that code
//! common to all servers needs.

use super::catalog::postgres::WalSyncMethod;
use super::catalog::target::DirectoryRole;
use super::catalog::{mysql, postgres};
use super::{FactSet, Key, KeyInfo, ServerArea, Subject};
use crate::version::Version;

pub struct DatabaseProfile {
    pub config_files: &'static str,
    pub name: &'static Key<String>,
    pub syntax: ConfigFileSyntax,
    pub version: &'static Key<Version>,
    pub running: &'static Key<bool>,
    pub fsync_disabled_by: &'static Key<String>,
    pub data_directory: &'static Key<String>,
    /// File names that only this server creates in its directories.
    pub marker_files: &'static [&'static str],
    /// Prefix of the directory that the server creates in a tablespace; a digit follows.
    pub tablespace_prefix: Option<&'static str>,
    /// The data directory comes first.
    pub directories: &'static [DirectorySpec],
    pub wal_method: Option<&'static Key<WalSyncMethod>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFileSyntax {
    /// `name = 'value'`, as in postgresql.conf.
    PostgresConf,
    /// `name = value` in the group `[mysqld]`.
    OptionFile,
}

pub struct DirectorySpec {
    pub role: DirectoryRole,
    /// The fact that holds the path, or a list of paths.
    pub key: &'static KeyInfo,
    /// Whether a server can run without this directory, as without tablespaces.
    pub optional: bool,
}

const fn directory(role: DirectoryRole, key: &'static KeyInfo, optional: bool) -> DirectorySpec {
    DirectorySpec {
        role,
        key,
        optional,
    }
}

static POSTGRES: DatabaseProfile = DatabaseProfile {
    config_files: "postgresql.conf",
    name: &postgres::NAME,
    syntax: ConfigFileSyntax::PostgresConf,
    version: &postgres::VERSION,
    running: &postgres::RUNNING,
    fsync_disabled_by: &postgres::FSYNC_DISABLED_BY,
    data_directory: &postgres::DATA,
    marker_files: &["PG_VERSION", "archive_status", "summaries"],
    // PostgreSQL names the directory after its version: `PG_15_202209061`.
    tablespace_prefix: Some("PG_"),
    directories: &[
        directory(DirectoryRole::Data, &postgres::DATA.info, false),
        directory(DirectoryRole::Wal, &postgres::WAL.info, false),
        directory(DirectoryRole::Tablespace, &postgres::TABLESPACES.info, true),
    ],
    wal_method: Some(&postgres::WAL_SYNC_METHOD),
};

static MYSQL: DatabaseProfile = DatabaseProfile {
    config_files: "option files",
    name: &mysql::NAME,
    syntax: ConfigFileSyntax::OptionFile,
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
        directory(DirectoryRole::Data, &mysql::DATA.info, false),
        directory(DirectoryRole::Data, &mysql::INNODB_DATA.info, false),
        directory(DirectoryRole::Redo, &mysql::REDO.info, false),
        directory(DirectoryRole::Binlog, &mysql::BINLOG.info, true),
        directory(
            DirectoryRole::Doublewrite,
            &mysql::DOUBLEWRITE_DIR.info,
            true,
        ),
        directory(DirectoryRole::Undo, &mysql::UNDO.info, true),
    ],
    wal_method: None,
};

impl ServerArea {
    pub fn database_profile(self) -> &'static DatabaseProfile {
        match self {
            Self::Pg => &POSTGRES,
            Self::Mysql => &MYSQL,
        }
    }
}

impl FactSet {
    /// The profile of the server to which `cluster` belongs; PostgreSQL's if the server area is
    /// unknown.
    pub fn database_profile_or_postgres(&self, cluster: &Subject) -> &'static DatabaseProfile {
        self.server_area_of(cluster)
            .unwrap_or(ServerArea::Pg)
            .database_profile()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ServerKind;
    use crate::facts::{Choice, Source, server_area_of_name};

    #[test]
    fn each_database_has_facts_of_its_own_area() {
        for one in ServerArea::ALL {
            let row = one.database_profile();
            let places = row.directories.iter().map(|directory| directory.key.name);
            let texts = [row.name, row.fsync_disabled_by, row.data_directory].map(Key::name);
            for name in places
                .chain(texts)
                .chain([row.running.name()])
                .chain(row.wal_method.map(Key::name))
            {
                assert_eq!(server_area_of_name(name), Some(*one), "{name}");
            }
            assert!(
                row.directories
                    .first()
                    .is_some_and(|first| first.role.is_data())
            );
            assert!(!row.marker_files.is_empty());
            assert!(
                ServerKind::ALL
                    .iter()
                    .any(|kind| kind.server_area() == *one)
            );
        }
    }

    #[test]
    fn database_profile_follows_server_area() {
        let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/var/lib/mysql"));
        facts.set_server_area(&cluster, ServerArea::Mysql);
        facts.insert_known(
            &cluster,
            &mysql::NAME,
            "mysql 8.0".to_owned(),
            Source::Assumed,
        );
        assert_eq!(
            facts
                .value(&cluster, facts.database_profile_or_postgres(&cluster).name)
                .as_deref(),
            Some("mysql 8.0")
        );
        assert_eq!(
            facts
                .database_profile_or_postgres(&Subject::cluster("/pg"))
                .config_files,
            "postgresql.conf"
        );
    }
}
