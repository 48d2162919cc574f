//! What is in force for certain in a running server that does not say it.
//!
//! A server reads its configuration at its start and when it is told to reload, and nothing says whether it was told. So
//! what was changed since the start is uncertain, and so is what stands before it.

use std::path::Path;

use super::conf::Conf;
use crate::collect::{servers, start};
use crate::facts::Remedy;
use crate::host::{Host, Question};
use crate::text::safe;

/// The start of a server that runs, or may run.
pub struct Start<'a> {
    host: &'a dyn Host,
    at: Option<u64>,
    /// Its data directory.
    data: String,
}

impl<'a> Start<'a> {
    /// Of the server on this directory, in seconds since 1970, as its `postmaster.pid` says.
    pub fn new(host: &'a dyn Host, at: Option<u64>, data: String) -> Self {
        Self { host, at, data }
    }

    /// What is in force for certain where the server itself does not say it. `owner` is whom it would tell.
    pub fn certain(&self, conf: &Conf, owner: Option<&String>) -> Conf {
        conf.doubt(|path| self.changed(path), owner.map(|owner| self.remedy(owner)).as_ref())
    }

    fn remedy(&self, owner: &str) -> Remedy {
        let uid = servers::our_uid(self.host);
        let name = uid.and_then(|uid| self.host.ask(&Question::UserName(uid)).ok());
        // Root has asked as the owner.
        if uid == Some(0) || name.is_some_and(|name| safe(name.trim_ascii()) == owner) {
            Remedy::Do(format!(
                "let the server on {} answer {owner} over its socket, or restart it, then look again",
                self.data
            ))
        } else {
            Remedy::RunAs(owner.to_owned())
        }
    }

    /// Why a file or directory may not be what the server read; `None` when it is.
    fn changed(&self, path: &Path) -> Option<String> {
        let complaint = start::changed(self.host, self.at, path)?;
        Some(format!("{complaint}, and the server did not say what it uses"))
    }
}
