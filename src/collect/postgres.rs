//! PostgreSQL clusters, running and installed: where data and WAL lie, and the settings that storage decides, each with
//! where it is set.
//!
//! Leads come from processes, from where distributions keep clusters, from units, and from the directory that was asked
//! for; each is followed to a data directory, and each directory is recorded once. Only allow-listed keys of a configuration ever
//! arrive here. The surprise: without root most leads end in *denied*, and that is recorded too.

mod checksums;
mod cluster;
mod conf;
mod installed;
mod process;
mod server;
mod settings;
mod start;
mod units;

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::Request;
use super::inside::Inside;
use super::servers::our_uid;
use crate::facts::FactSet;
use crate::host::{Host, MissKind, path_bytes};
use crate::text::safe;
use cluster::Lead;

/// What there is of clusters; `known` are the mounts.
pub fn look(host: &dyn Host, request: &Request, known: &FactSet) -> FactSet {
    let mut facts = FactSet::default();
    let mut seen = Seen { known, config_files: BTreeSet::new(), directories: BTreeSet::new() };
    for lead in running(host, &mut facts) {
        seen.put(lead, host, request, &mut facts);
    }
    for directory in installed::debian(host, &mut facts) {
        let config_file = directory.join("postgresql.conf");
        seen.put(Lead { config_file, home: None, server: None, named_by: None }, host, request, &mut facts);
    }
    let usual = installed::data_directories(host, &mut facts).into_iter().map(|home| (home, None));
    let named = units::data_directories(host).into_iter().map(|(home, source)| (home, Some(source)));
    let named = named.filter(|(home, _)| installed::is_cluster(host, home));
    let asked = installed::asked_for(host, request).map(|home| (home, None));
    for (home, named_by) in named.chain(usual).chain(asked) {
        let config_file = home.join("postgresql.conf");
        seen.put(Lead { config_file, home: Some(home), server: None, named_by }, host, request, &mut facts);
    }
    facts
}

/// What has been recorded, so that nothing is recorded twice.
struct Seen<'k> {
    /// What is known of the host.
    known: &'k FactSet,
    config_files: BTreeSet<PathBuf>,
    directories: BTreeSet<PathBuf>,
}

impl Seen<'_> {
    fn put(&mut self, lead: Lead, host: &dyn Host, request: &Request, facts: &mut FactSet) {
        let inside = lead.server.as_ref().and_then(|server| Inside::of(host, server.pid, self.known));
        let view: &dyn Host = inside.as_ref().map_or(host, |inside| inside);
        let real = |path: &PathBuf| view.real_path(path).unwrap_or_else(|_| path.clone());
        let config_file = match view.real_path(&lead.config_file) {
            Err(miss) if miss.kind == MissKind::TimedOut => {
                let path = safe(path_bytes(&lead.config_file));
                return facts.warn(format!("{path} did not answer in time: nothing is known of its cluster"));
            }
            found => found.unwrap_or_else(|_| lead.config_file.clone()),
        };
        let known_home =
            inside.is_none() && lead.home.as_ref().is_some_and(|home| self.directories.contains(&real(home)));
        // Two servers may share a configuration file; what is merely installed is the one that runs with it.
        let known_file = lead.server.is_none() && self.config_files.contains(&config_file);
        if known_home || known_file {
            return;
        }
        let mut own = FactSet::default();
        let found = lead.follow(view, inside.as_ref(), &mut own);
        let directory = found.as_ref().map(|found| found.data.clone()).unwrap_or_default();
        if self.directories.contains(&directory) {
            return;
        }
        match found.and_then(|found| found.put(view, inside.as_ref(), request, &mut own)) {
            Ok(()) => {
                facts.merge(own);
                self.directories.insert(directory);
                if inside.is_none() {
                    self.config_files.insert(config_file);
                }
            }
            Err(reason) => facts.warn(reason),
        }
    }
}

fn running(host: &dyn Host, facts: &mut FactSet) -> Vec<Lead> {
    let servers = match process::servers(host, facts) {
        Ok(servers) => servers,
        Err(miss) => {
            facts.warn(format!("running servers cannot be listed: {miss}"));
            return Vec::new();
        }
    };
    let mut leads = Vec::new();
    let or_as_root = if our_uid(host) == Some(0) { "" } else { ", or run walwise as root" };
    for server in servers {
        let home = server.home.clone().filter(|home| home.is_absolute());
        let named = server.setting("config_file").map(|path| super::path_of(path.to_vec()));
        let config_file = named.filter(|path| path.is_absolute());
        match config_file.or_else(|| Some(home.as_ref()?.join("postgresql.conf"))) {
            Some(config_file) => leads.push(Lead { config_file, home, server: Some(server), named_by: None }),
            None => facts.warn(format!(
                "PostgreSQL process {} does not say where its data directory is: name the directory{or_as_root}",
                server.pid
            )),
        }
    }
    leads
}

#[cfg(test)]
mod tests;
