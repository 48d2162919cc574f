//! MySQL and MariaDB servers, running and installed: the places of data and logs, and the settings that affect storage,
//! each with its source.
//!
//! Leads come from processes, from installed programs and from the directory that was asked for. Each lead is followed
//! to a data directory as its owner, and each directory is recorded once. A process is believed when its user owns the
//! directory and it has the system tablespace there open. Only allow-listed keys of an option file arrive here. A
//! running server accepts most of these settings at any time (SET GLOBAL) without recording them. The files therefore
//! tell what it started with, and only the server tells what is in force.

mod edition;
mod process;
mod settings;
mod options;
mod redo;
mod server;
mod counters;
mod places;
mod instance;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub use self::edition::{ask_program, waits_for_a_program};
use super::behalf::Behalf;
use super::inside::Inside;
use super::named::ConfigArgument;
use super::servers::Proof;
use crate::collect::collector::Request;
use crate::facts::FactSet;
use crate::facts::note::{MysqlNote, ServerNote};
use crate::host::{Host, Miss, MissKind};
use instance::{OwnerView, ServerLead};

/// Where distributions put the data.
const USUAL: &str = "/var/lib/mysql";

/// Facts about the servers of this host, which remembers its answers.
pub fn look(host: &dyn Host, request: &Request) -> FactSet {
    let mut facts = FactSet::default();
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    // The search for PostgreSQL has already reported that processes cannot be listed.
    let (running, mut unproven) = process::servers(host, request, &mut facts).unwrap_or_default();
    let leads = running.into_iter().map(|server| {
        let reader = server.uid;
        ServerLead { server: Some(server), directory: None, named: None, reader }
    });
    let asked = asked_for(host, request);
    let named = named(host, request, asked.as_ref(), &mut facts);
    let usual = Behalf::of_owner(host, Path::new(USUAL)).uid;
    let installed = ServerLead { server: None, directory: None, named: None, reader: usual };
    let asked = asked.map(|directory| {
        let reader = Behalf::of_owner(host, &directory).uid;
        ServerLead { server: None, directory: Some(directory), named: None, reader }
    });
    for lead in leads.chain(named).chain([installed]).chain(asked) {
        let mut own = FactSet::default();
        let behalf = Behalf::new(host, lead.reader);
        let inside = lead.server.as_ref().and_then(|server| Inside::new(&behalf, host, server.pid));
        let view = OwnerView { host: &behalf, ours: host, inside: inside.as_ref() };
        let named = lead.named;
        let found = match (lead.follow(&view, request, &mut own), named) {
            (Ok(Some(found)), _) => found,
            (Ok(None), None) => continue,
            (Ok(None), Some(named)) => {
                facts.warn(named.unused(MysqlNote::NoData));
                continue;
            }
            (Err(note), _) => {
                facts.warn(note);
                continue;
            }
        };
        let stopped = if seen.contains(&found.data) {
            Err(ServerNote::Runs)
        } else {
            found.is_stopped(&view, &unproven)
        };
        if let (Some(named), Err(why)) = (named, stopped) {
            facts.warn(named.unused(why));
            continue;
        }
        if seen.contains(&found.data) {
            continue;
        }
        match found.proof(&view) {
            Proof::Serves | Proof::NoServer => {
                seen.insert(found.data.clone());
                found.put(&view, &unproven, &mut own);
                facts.merge(own);
            }
            Proof::Elsewhere(note) => facts.warn(note),
            Proof::Unreadable(process) => unproven.push(process),
        }
    }
    facts
}

/// The lead of an option file that was named for a server that does not run. The data are where it says, or else in the
/// directory that was asked for.
fn named<'a>(
    host: &dyn Host,
    request: &'a Request,
    asked: Option<&PathBuf>,
    facts: &mut FactSet,
) -> Option<ServerLead<'a>> {
    let named = ConfigArgument::mysql(request)?;
    let lead = |reader, directory| ServerLead { server: None, directory, named: Some(named), reader };
    let reader = named.reader(host, asked);
    let behalf = Behalf::new(host, reader);
    let view = OwnerView { host: &behalf, ours: host, inside: None };
    match lead(reader, None).follow(&view, request, &mut FactSet::default()) {
        Ok(Some(found)) if found.is_named_in_files() => {
            if let Some(asked) = asked.filter(|asked| **asked != found.data) {
                facts.warn(named.elsewhere(&found.data, asked));
            }
            Some(lead(named.reader(host, Some(&found.data)), None))
        }
        Ok(_) | Err(_) => Some(lead(reader, asked.cloned())),
    }
}

/// Whether a directory is one of a server's data. Each server makes a directory for its own tables in it.
fn is_data(host: &dyn Host, path: &Path) -> bool {
    let has = |name: &str| host.stat(&path.join(name));
    match has("mysql") {
        Ok(stat) => {
            // What nobody lets us see may well be there.
            let tablespace = has("ibdata1").map_or_else(|miss| may_hide(&miss), |stat| stat.is_file());
            stat.is_dir() && tablespace
        }
        Err(miss) => miss.kind == MissKind::Denied && host.stat(path).is_ok_and(|stat| stat.is_dir()),
    }
}

/// Whether what was asked for may be there all the same.
fn may_hide(miss: &Miss) -> bool {
    !matches!(miss.kind, MissKind::Absent | MissKind::NotCollected)
}

/// The data directory that was asked for, or lies above what was asked for.
pub fn asked_for(host: &dyn Host, request: &Request) -> Option<PathBuf> {
    let real = host.real_path(request.target.as_deref()?).ok()?;
    // What we may not see may be there, but one of the two has to be seen.
    let is_there = |path: &Path, name: &str| match host.stat(&path.join(name)) {
        Ok(_) => Some(true),
        Err(miss) if may_hide(&miss) => None,
        Err(_) => Some(false),
    };
    let has_both = |path: &&Path| {
        let found = ["ibdata1", "mysql"].map(|name| is_there(path, name));
        found.contains(&Some(true)) && !found.contains(&Some(false))
    };
    real.ancestors().find(has_both).map(Path::to_owned)
}

#[cfg(test)]
mod tests;
