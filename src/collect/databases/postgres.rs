//! PostgreSQL clusters, running and installed: the places of data and WAL, and the settings that affect storage, each
//! with its source.
//!
//! Leads come from processes, from the directories of distributions, from units, and from the directory that was asked
//! for. Each lead is followed to a data directory as its owner, and each directory is recorded once. A process is
//! believed when its user owns the directory and `postmaster.pid` there names it: anybody can call a process
//! `postgres`. Only allow-listed keys of a configuration arrive here. Without root most leads end in *denied*, which is
//! recorded too.

mod conf;
mod installed;
mod process;
mod settings;
mod server;
mod checksums;
mod counters;
mod start;
mod cluster;
mod units;

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::behalf::Behalf;
use super::inside::Inside;
use super::named::ConfigArgument;
use super::servers::{Proof, our_uid};
use crate::collect::collector::Request;
use crate::facts::FactSet;
use crate::facts::note::{PostgresNote, ServerNote};
use crate::host::{Host, MissKind, path_bytes, path_of};
use crate::text::safe;
use cluster::Lead;
pub use installed::asked_for;

/// Facts about the clusters of this host.
pub fn look(host: &dyn Host, request: &Request) -> FactSet {
    let mut facts = FactSet::default();
    let mut seen = VisitedPaths {
        config_files: BTreeSet::new(),
        directories: BTreeSet::new(),
        followed: BTreeSet::new(),
        unproven: Vec::new(),
    };
    for lead in running(host, request, &mut facts) {
        seen.put(lead, host, request, &mut facts);
    }
    if let Some(lead) = named(host, request) {
        seen.put(lead, host, request, &mut facts);
    }
    for directory in installed::debian(host, &mut facts) {
        let reader = Behalf::of_owner(host, &directory).uid;
        let config_file = directory.join("postgresql.conf");
        let lead = Lead { config_file, home: None, server: None, named_by: None, by_hand: None, reader };
        seen.put(lead, host, request, &mut facts);
    }
    let usual = installed::data_directories(host, &mut facts).into_iter().map(|home| (home, None));
    let named = units::data_directories(host).into_iter().map(|(home, source)| (home, Some(source)));
    let named = named.filter(|(home, _)| installed::is_cluster(host, home));
    let asked = installed::asked_for(host, request).map(|home| (home, None));
    // A directory that a process names without proof is examined like any other.
    let unproven = std::mem::take(&mut seen.unproven).into_iter().map(|home| (home, None));
    for (home, named_by) in named.chain(usual).chain(asked).chain(unproven) {
        let reader = Behalf::of_owner(host, &home).uid;
        let config_file = home.join("postgresql.conf");
        let lead = Lead { config_file, home: Some(home), server: None, named_by, by_hand: None, reader };
        seen.put(lead, host, request, &mut facts);
    }
    facts
}

/// The lead of a configuration that was named for a server that does not run.
fn named<'a>(host: &dyn Host, request: &'a Request) -> Option<Lead<'a>> {
    let named = ConfigArgument::postgres(request)?;
    let home = asked_for(host, request);
    let reader = named.reader(host, home.as_ref());
    let config_file = named.file.to_owned();
    Some(Lead { config_file, home, server: None, named_by: None, by_hand: Some(named), reader })
}

/// What has been recorded so far, so that nothing is recorded twice.
struct VisitedPaths {
    /// Each with whom it was read as, for anybody can name another's file.
    config_files: BTreeSet<(u32, PathBuf)>,
    directories: BTreeSet<PathBuf>,
    /// Configurations that were followed as their owner, and then as that of the data.
    followed: BTreeSet<PathBuf>,
    /// Directories that processes named which could not be proven to serve them.
    unproven: Vec<PathBuf>,
}

impl VisitedPaths {
    fn put(&mut self, lead: Lead<'_>, host: &dyn Host, request: &Request, facts: &mut FactSet) {
        let behalf = Behalf::new(host, lead.reader);
        let inside = lead.server.as_ref().and_then(|server| Inside::new(&behalf, host, server.pid));
        let view: &dyn Host = inside.as_ref().map_or(&behalf, |inside| inside);
        let real = |path: &PathBuf| view.real_path(path).unwrap_or_else(|_| path.clone());
        let config_file = match view.real_path(&lead.config_file) {
            Err(miss) if miss.kind == MissKind::TimedOut => {
                let file = safe(path_bytes(&lead.config_file));
                return facts.warn(PostgresNote::ConfigSilence { file });
            }
            found => found.unwrap_or_else(|_| lead.config_file.clone()),
        };
        let known_home =
            inside.is_none() && lead.home.as_ref().is_some_and(|home| self.directories.contains(&real(home)));
        // Two servers may share a configuration file; what is merely installed is the one that runs with it.
        let config_file = (lead.reader, config_file);
        let known_file = lead.server.is_none() && self.config_files.contains(&config_file);
        let by_hand = lead.by_hand;
        if by_hand.is_none() && (known_home || known_file) {
            return;
        }
        let mut own = FactSet::default();
        let again =
            (lead.server.is_none() && (lead.home.is_none() || by_hand.is_some())).then(|| lead.clone());
        let found = match lead.follow(view, inside.as_ref(), &mut own) {
            Ok(found) => found,
            Err(why) => {
                return match by_hand {
                    Some(named) => facts.warn(named.unused(why)),
                    None => facts.warn(why),
                };
            }
        };
        if self.directories.contains(&found.data) {
            if let Some(named) = by_hand {
                facts.warn(named.unused(ServerNote::Runs));
            }
            return;
        }
        match found.proof(view, inside.as_ref()) {
            Proof::Serves | Proof::NoServer => {}
            Proof::Elsewhere(note) => return facts.warn(note),
            Proof::Unreadable(_) => return self.unproven.push(found.data),
        }
        // A configuration is read as its owner, and the data as theirs: where those are two, both as the latter.
        let owner = Behalf::of_owner(host, &found.data).uid;
        if let Some(lead) =
            again.filter(|lead| lead.reader != owner && !self.followed.contains(&lead.config_file))
        {
            self.followed.insert(lead.config_file.clone());
            return self.put(Lead { reader: owner, ..lead }, host, request, facts);
        }
        let directory = found.data.clone();
        if let Some(named) = by_hand {
            if let Err(why) = found.is_stopped(view) {
                return facts.warn(named.unused(why));
            }
            if let Some(asked) = asked_for(host, request).filter(|asked| *asked != directory) {
                facts.warn(named.elsewhere(&directory, &asked));
            }
        }
        match found.put(view, inside.as_ref(), request, &mut own) {
            Ok(()) => {
                facts.merge(own);
                self.directories.insert(directory);
                if inside.is_none() {
                    self.config_files.insert(config_file);
                }
            }
            Err(note) => facts.warn(note),
        }
    }
}

fn running(host: &dyn Host, request: &Request, facts: &mut FactSet) -> Vec<Lead<'static>> {
    let servers = match process::servers(host, request, facts) {
        Ok(servers) => servers,
        Err(miss) => {
            facts.warn(ServerNote::NoList { reason: miss.to_string() });
            return Vec::new();
        }
    };
    let mut leads = Vec::new();
    let or_as_root = our_uid(host) != Some(0);
    for server in servers {
        let home = server.home.clone().filter(|home| home.is_absolute());
        let named = server.setting("config_file").map(|path| path_of(path.to_vec()));
        let config_file = named.filter(|path| path.is_absolute());
        match config_file.or_else(|| Some(home.as_ref()?.join("postgresql.conf"))) {
            Some(config_file) => {
                let reader = server.uid;
                leads.push(Lead {
                    config_file,
                    home,
                    server: Some(server),
                    named_by: None,
                    by_hand: None,
                    reader,
                });
            }
            None => facts.warn(PostgresNote::NoHome { pid: server.pid, or_as_root }),
        }
    }
    leads
}

#[cfg(test)]
mod tests;
