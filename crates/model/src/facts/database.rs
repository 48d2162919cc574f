//! Database servers, declared once: the facts, directories and words that code needs of whichever
//! server it has before it.
//!
//! A server is an [`Area`] with its row here. What it does with its settings, its files and its
//! processes is left to the code about it alone.

use super::catalog::postgres::WalSyncMethod;
use super::catalog::target::Role;
use super::catalog::{mysql, postgres};
use super::{Area, FactSet, Key, KeyInfo, Subject};
use crate::version::Version;

/// A kind of database server, as far as all kinds have the same.
pub struct Database {
    /// Its configuration files, as people call them.
    pub files: &'static str,
    /// The fact that holds the name people call a cluster by.
    pub name: &'static Key<String>,
    /// How a setting is written in its files.
    pub syntax: SettingSyntax,
    /// The fact that holds its release.
    pub version: &'static Key<Version>,
    /// The fact that holds whether it runs.
    pub running: &'static Key<bool>,
    /// The fact that holds the preloaded library that turns flushes into nothing.
    pub fsync_disabled_by: &'static Key<String>,
    /// The fact that holds its data directory.
    pub data: &'static Key<String>,
    /// Names that only it gives to what it makes in its directories.
    pub marks: &'static [&'static str],
    /// The beginning, before a digit, of the names that it gives to what it makes in a tablespace.
    pub tablespace_mark: Option<&'static str>,
    /// Its directories, its data first.
    pub directories: &'static [DirectorySpec],
    /// The fact that holds the method by which it flushes its log, where that is a setting of its
    /// own.
    pub wal_method: Option<&'static Key<WalSyncMethod>>,
}

/// How a setting is written in a server's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingSyntax {
    /// `name = 'value'`, as in postgresql.conf.
    Conf,
    /// `name = value` in the group `[mysqld]`.
    Options,
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

const fn always(role: Role, key: &'static KeyInfo) -> DirectorySpec {
    DirectorySpec {
        role,
        key,
        optional: false,
    }
}

const fn maybe(role: Role, key: &'static KeyInfo) -> DirectorySpec {
    DirectorySpec {
        role,
        key,
        optional: true,
    }
}

static POSTGRES: Database = Database {
    files: "postgresql.conf",
    name: &postgres::NAME,
    syntax: SettingSyntax::Conf,
    version: &postgres::VERSION,
    running: &postgres::RUNNING,
    fsync_disabled_by: &postgres::FSYNC_DISABLED_BY,
    data: &postgres::DATA,
    marks: &["PG_VERSION", "archive_status", "summaries"],
    // `PG_15_202209061`.
    tablespace_mark: Some("PG_"),
    directories: &[
        always(Role::Data, &postgres::DATA.info),
        always(Role::Wal, &postgres::WAL.info),
        maybe(Role::Tablespace, &postgres::TABLESPACES.info),
    ],
    wal_method: Some(&postgres::WAL_SYNC_METHOD),
};

static MYSQL: Database = Database {
    files: "option files",
    name: &mysql::NAME,
    syntax: SettingSyntax::Options,
    version: &mysql::VERSION,
    running: &mysql::RUNNING,
    fsync_disabled_by: &mysql::FSYNC_DISABLED_BY,
    data: &mysql::DATA,
    marks: &[
        "ibdata1",
        "ib_logfile0",
        "#innodb_redo",
        "mysql.ibd",
        "auto.cnf",
        "aria_log_control",
        "undo_001",
    ],
    tablespace_mark: None,
    directories: &[
        always(Role::Data, &mysql::DATA.info),
        always(Role::Data, &mysql::INNODB_DATA.info),
        always(Role::Redo, &mysql::REDO.info),
        maybe(Role::Binlog, &mysql::BINLOG.info),
        maybe(Role::Doublewrite, &mysql::DOUBLEWRITE_DIR.info),
        maybe(Role::Undo, &mysql::UNDO.info),
    ],
    wal_method: None,
};

impl Area {
    /// The servers with the facts of this area.
    pub fn database(self) -> &'static Database {
        match self {
            Self::Pg => &POSTGRES,
            Self::Mysql => &MYSQL,
        }
    }
}

impl FactSet {
    /// The kind of server of a cluster; PostgreSQL where nobody said.
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
            let texts = [row.name, row.fsync_disabled_by, row.data].map(Key::name);
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
            assert!(!row.marks.is_empty());
            assert!(ServerKind::ALL.iter().any(|kind| kind.area() == *one));
        }
    }

    #[test]
    fn a_cluster_has_the_server_that_was_found_in_it() {
        let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/var/lib/mysql"));
        facts.is_of(&cluster, Area::Mysql);
        facts.know(
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
            facts.database(&Subject::cluster("/pg")).files,
            "postgresql.conf"
        );
    }
}
