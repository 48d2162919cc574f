//! The part of a configuration that is certainly in force in a running server that does not report it.
//!
//! A server reads its configuration at its start and on reload, and nothing records whether it was reloaded. A setting
//! that changed since the start is therefore uncertain, and so is everything before it.

use std::path::Path;

use super::conf::Conf;
use crate::collect::databases::{servers, start};
use crate::facts::Remedy;
use crate::host::{Host, Moment, Question};
use crate::text::safe;

/// The longest time between reading a file and noting the time of its load, on a busy server, in nanoseconds.
const WHILE_LOADING: u64 = 100_000_000;

/// When a server that runs, or may run, read its configuration.
pub struct Start<'a> {
    host: &'a dyn Host,
    at: Option<Moment>,
    /// Whether the time is the server's own answer.
    said: bool,
    data: String,
}

impl<'a> Start<'a> {
    /// The start of the server on this directory: the second from its `postmaster.pid`, refined by its process where
    /// one is proven.
    pub fn new(host: &'a dyn Host, second: Option<u64>, process: Option<u32>, data: String) -> Self {
        let process = process.and_then(|pid| start::of_process(host, pid));
        Self { host, at: second.map(|second| start::in_second(second, process)), said: false, data }
    }

    /// The load time that the server reports, in microseconds since 1970 (`pg_conf_load_time`).
    pub fn of_load(host: &'a dyn Host, at_us: u64, data: String) -> Self {
        let at = at_us.checked_mul(1000).and_then(|at| at.checked_sub(WHILE_LOADING)).map(Moment::at);
        Self { host, at, said: true, data }
    }

    /// The part of the configuration that is certainly in force. `owner` is the user whom the server would tell.
    pub fn certain(&self, conf: &Conf, owner: Option<&String>) -> Conf {
        conf.doubt(|path| self.changed(path), owner.map(|owner| self.remedy(owner)).as_ref())
    }

    /// The remedy that makes the server report it.
    pub fn remedy(&self, owner: &str) -> Remedy {
        if self.said {
            return Remedy::Do(format!(
                "reload the server on {} (SELECT pg_reload_conf()), then look again",
                self.data
            ));
        }
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

    /// Why a file or directory may differ from what the server read; `None` when it is unchanged.
    fn changed(&self, path: &Path) -> Option<String> {
        let complaint = start::changed(self.host, self.at, path)?;
        Some(format!("{complaint}, and the server did not say what it uses"))
    }
}
