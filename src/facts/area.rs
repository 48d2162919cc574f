//! Database servers, and areas of facts and settings: the word before the dot of a name, where it applies to some
//! subjects only. A server has the settings of its own line and not those of another.

use super::{Choice, choice};

choice! {
    /// The server line that settings belong to.
    pub enum Area { Pg = "pg", Mysql = "mysql" }
}

choice! {
    /// Which database server it is.
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
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

    /// The oldest release that is known. What it has, every release before it has too.
    pub fn oldest(self) -> (u64, u64) {
        match self {
            Self::Postgres => (9, 4),
            Self::Mysql => (5, 7),
            Self::Mariadb => (10, 2),
        }
    }

    /// Whether it is PostgreSQL.
    pub fn is_postgres(self) -> bool {
        matches!(self, Self::Postgres)
    }

    /// Whether it is MariaDB.
    pub fn is_mariadb(self) -> bool {
        matches!(self, Self::Mariadb)
    }
}

/// The area of a fact or setting of this name; `None` where it applies to every subject.
pub fn area(name: &str) -> Option<Area> {
    Area::from_word(name.split_once('.')?.0)
}
