//! Whether the files still are what a running server read when it started.
//!
//! A server reads its configuration at its start and when it is told to reload, and nothing says whether it was told. So
//! what lies in a file is in force for certain only if neither the file nor the directory that could hold more of them
//! was changed since the start. The surprise: a second is the unit of both times, so a change in the second of the start
//! is taken for one after it.

use std::path::Path;

use super::conf::Conf;
use super::server;
use crate::facts::Remedy;
use crate::host::{Host, MissKind, Question, path_bytes};
use crate::text::safe;

/// The start of a server that runs, or may run.
pub struct Start<'a> {
    host: &'a dyn Host,
    at: Option<u64>,
}

impl<'a> Start<'a> {
    /// In seconds since 1970, as its `postmaster.pid` says.
    pub fn new(host: &'a dyn Host, at: Option<u64>) -> Self {
        Self { host, at }
    }

    /// What is in force for certain where the server itself does not say it. `owner` is whom it would tell.
    pub fn certain(&self, conf: &Conf, owner: Option<&String>) -> Conf {
        conf.doubt(|path| self.changed(path), owner.map(|owner| self.remedy(owner)).as_ref())
    }

    fn remedy(&self, owner: &str) -> Remedy {
        let name = server::our_uid(self.host).and_then(|uid| self.host.ask(&Question::UserName(uid)).ok());
        if name.is_some_and(|name| safe(name.trim_ascii()) == owner) {
            Remedy::Do(format!(
                "let the server answer {owner} over its socket, or restart it, then look again"
            ))
        } else {
            Remedy::RunAs(owner.to_owned())
        }
    }

    /// Why a file or directory may not be what the server read; `None` when it is.
    fn changed(&self, path: &Path) -> Option<String> {
        // What a link points to may be older than the link; then the directory with the link in it was changed.
        let is_link = self.host.link(path).is_ok();
        let holder = path.parent().filter(|_| is_link);
        let complaint = [Some(path), holder].into_iter().flatten().find_map(|path| self.later(path))?;
        let silent =
            if server::would_refuse(self.host) { "was not asked" } else { "did not say what it uses" };
        Some(format!("{complaint}, and the server {silent}"))
    }

    fn later(&self, path: &Path) -> Option<String> {
        let shown = safe(path_bytes(path));
        let Some(started) = self.at else {
            return Some(format!("whether {shown} was changed since the server started is not known"));
        };
        match self.host.stat(path).map(|stat| stat.changed) {
            Ok(Some(changed)) if changed < started => None,
            Ok(Some(_)) => Some(format!("{shown} was changed after the server started")),
            Err(miss) if miss.kind == MissKind::Absent => {
                Some(format!("{shown} was removed after the server started"))
            }
            Ok(None) | Err(_) => Some(format!("when {shown} was last changed is not known")),
        }
    }
}
