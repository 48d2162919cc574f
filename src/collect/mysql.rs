//! MySQL and MariaDB servers, running and installed: where data and logs lie, and the settings that storage decides, each
//! with where it is set.
//!
//! Leads come from processes, from what is installed and from the directory that was asked for; each is followed to a
//! data directory, as its owner, and each directory is recorded once. A process is believed when its user owns the directory
//! and it has the system tablespace in it open. Only allow-listed keys of an option file ever arrive here. The
//! surprise: a running server takes most of these settings at any time (SET GLOBAL) and keeps no record of it, so the
//! files tell what it started with, and only the server what is in force.

mod edition;
mod instance;
mod options;
mod places;
mod process;
mod redo;
mod server;
mod settings;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Request;
use super::behalf::Behalf;
use super::inside::Inside;
use super::servers::Proof;
use crate::facts::FactSet;
use crate::host::{Host, MissKind};
use instance::{Lead, View};

/// Where distributions put the data.
const USUAL: &str = "/var/lib/mysql";

/// What there is of servers.
pub fn look(host: &dyn Host, request: &Request) -> FactSet {
    let mut facts = FactSet::default();
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    // That processes cannot be listed has been said by whoever looked for PostgreSQL.
    let (running, mut unproven) = process::servers(host, request, &mut facts).unwrap_or_default();
    let leads = running.into_iter().map(|server| {
        let reader = server.uid;
        Lead { server: Some(server), directory: None, reader }
    });
    let usual = Behalf::of_owner(host, Path::new(USUAL)).uid;
    let installed = Lead { server: None, directory: None, reader: usual };
    let asked = asked_for(host, request).map(|directory| {
        let reader = Behalf::of_owner(host, &directory).uid;
        Lead { server: None, directory: Some(directory), reader }
    });
    for lead in leads.chain([installed]).chain(asked) {
        let mut own = FactSet::default();
        let behalf = Behalf::of(host, lead.reader);
        let inside = lead.server.as_ref().and_then(|server| Inside::of(&behalf, host, server.pid));
        let view = View { host: &behalf, ours: host, inside: inside.as_ref() };
        match lead.follow(&view, request, &mut own) {
            Ok(Some(found)) if seen.contains(&found.data) => {}
            Ok(Some(found)) => match found.proof(&view) {
                Proof::Serves | Proof::NoServer => {
                    seen.insert(found.data.clone());
                    found.put(&view, &unproven, &mut own);
                    facts.merge(own);
                }
                Proof::Elsewhere(reason) => facts.warn(reason),
                Proof::Unreadable(process) => unproven.push(process),
            },
            Ok(None) => {}
            Err(reason) => facts.warn(reason),
        }
    }
    facts
}

/// Whether a directory is one of a server's data. Each server makes a directory for its own tables in it.
fn is_data(host: &dyn Host, path: &Path) -> bool {
    let has = |name: &str| host.stat(&path.join(name));
    match has("mysql") {
        Ok(stat) => stat.is_dir() && has("ibdata1").is_ok_and(|stat| stat.is_file()),
        Err(miss) => miss.kind == MissKind::Denied && host.stat(path).is_ok_and(|stat| stat.is_dir()),
    }
}

/// The data directory that was asked for, or lies above what was asked for.
fn asked_for(host: &dyn Host, request: &Request) -> Option<PathBuf> {
    let real = host.real_path(request.target.as_deref()?).ok()?;
    let file = |path: &Path, name: &str| host.stat(&path.join(name)).is_ok();
    real.ancestors().find(|path| file(path, "ibdata1") && file(path, "mysql")).map(Path::to_owned)
}

#[cfg(test)]
mod tests;
