//! Configuration files that the user names for a server that does not run: which they are, the user they are read as,
//! and what is wrong with them.
//!
//! A named file describes what a server would be started with, not a server that runs or may run: that one has its own
//! command line. A file is read as the owner of the data, or as its own owner while that is unknown, but never as root.
//! Its contents are left to the collectors of each kind of server.

use std::path::{Path, PathBuf};

use super::behalf::Behalf;
use crate::collect::collector::Request;
use crate::facts::Note;
use crate::facts::note::ServerNote;
use crate::host::{Dialect, Host, MissKind, path_bytes};
use crate::text::safe;

/// A configuration file that the user named.
#[derive(Clone, Copy, Debug)]
pub struct ConfigArgument<'a> {
    /// The option that names it.
    pub option: &'static str,
    pub file: &'a Path,
    dialect: Dialect,
}

impl<'a> ConfigArgument<'a> {
    /// The file named for MySQL and MariaDB.
    pub fn mysql(request: &'a Request) -> Option<Self> {
        let file = request.mysql_defaults.as_deref()?;
        Some(Self { option: "--mysql-defaults", file, dialect: Dialect::Mysql })
    }

    /// The file named for PostgreSQL.
    pub fn postgres(request: &'a Request) -> Option<Self> {
        let file = request.postgres_config.as_deref()?;
        Some(Self { option: "--postgres-config", file, dialect: Dialect::Postgres })
    }

    /// The user it is read as: the owner of the data where that is known, else the owner of the file.
    pub fn reader(self, host: &dyn Host, data: Option<&PathBuf>) -> u32 {
        Behalf::of_owner(host, data.map_or(self.file, PathBuf::as_path)).uid
    }

    /// A note that the file is not used, with the reason.
    pub fn unused(self, why: impl Into<Note>) -> ServerNote {
        let file = safe(path_bytes(self.file));
        ServerNote::IdleFile { option: self.option, file, why: Box::new(why.into()) }
    }

    /// A note that the file is about another directory than the target.
    pub fn elsewhere(self, data: &Path, target: &Path) -> ServerNote {
        let [file, data, target] = [self.file, data, target].map(|path| safe(path_bytes(path)));
        ServerNote::OtherData { option: self.option, file, data, target }
    }

    pub(super) fn unusable(self, host: &dyn Host, data: Option<&PathBuf>) -> Option<String> {
        let behalf = Behalf::new(host, self.reader(host, data));
        let miss = behalf.config(self.file, self.dialect).err()?;
        let help = match miss.kind {
            MissKind::Absent => "name the file that the server is started with",
            MissKind::Denied if data.is_some() => {
                "the server itself could not read it: let the owner of the data directory read it"
            }
            MissKind::Denied => {
                "it is read as its own owner, as nobody where that is root: name the data directory as the target, and it \
                 is read as the owner of that"
            }
            MissKind::NotCollected => "name it with the same option to `walwise capture`",
            MissKind::TimedOut | MissKind::Failed => "name a configuration file that can be read",
        };
        let (file, why) = (safe(path_bytes(self.file)), miss.detail);
        Some(format!("cannot use {file} for {}: {why}; {help}", self.option))
    }
}
