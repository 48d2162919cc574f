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
    /// Its name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MySQL",
            Self::Mariadb => "MariaDB",
        }
    }

    /// The area of its facts and settings; MySQL and MariaDB share one, as they share their files.
    pub fn area(self) -> Area {
        match self {
            Self::Postgres => Area::Pg,
            Self::Mysql | Self::Mariadb => Area::Mysql,
        }
    }

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

use crate::facts::{Area, choice};
