//! Facts that the data directory of every kind of database server has.

facts! {
    /// Whose data directory it is.
    KIND: ServerKind = Cluster "cluster.kind", never;
}

choice! {
    /// Which database server it is.
    pub enum ServerKind { Postgres = "postgres", Mysql = "mysql", Mariadb = "mariadb" }
}

impl ServerKind {
    /// Whether it is PostgreSQL.
    pub fn is_postgres(self) -> bool {
        match self {
            Self::Postgres => true,
            Self::Mysql | Self::Mariadb => false,
        }
    }

    /// Whether it is MariaDB.
    pub fn is_mariadb(self) -> bool {
        match self {
            Self::Mariadb => true,
            Self::Postgres | Self::Mysql => false,
        }
    }
}

use crate::facts::choice;
