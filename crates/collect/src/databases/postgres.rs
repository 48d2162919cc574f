//! PostgreSQL clusters, running and installed: the places of data and WAL, and the settings that
//! affect storage, each with its source.
//!
//! Leads come from processes, from the directories of distributions, from units, and from the
//! directory that was asked for. Each lead is followed to a data directory as its owner, and each
//! directory is recorded once. A process is believed when its user owns the directory and
//! `postmaster.pid` there names it: anybody can call a process `postgres`. Only allow-listed keys
//! of a configuration arrive here. Without root most leads end in *denied*, which is recorded too.

mod conf;
mod installed {
    //! Installed clusters, running or not: in the directories of distributions, and in the
    //! directory that was asked for.
    //!
    //! Debian keeps the configuration in /etc/postgresql/VERSION/NAME and the data elsewhere;
    //! others keep both together. A directory that may not be entered is believed when it lies
    //! exactly where a distribution puts clusters.

    use std::path::{Path, PathBuf};

    use crate::collector::Request;
    use crate::databases::behalf::Behalf;
    use crate::facts::note::PostgresNote;
    use crate::facts::{FactSet, Reading};
    use crate::host::{Host, MissKind, path_bytes};
    use crate::refusal::refused;
    use crate::text::safe;

    /// Debian's directory of configurations.
    pub const DEBIAN: &str = "/etc/postgresql";

    /// Directories of configuration as Debian keeps them.
    pub fn debian(host: &dyn Host, facts: &mut FactSet) -> Vec<PathBuf> {
        let versions = children(host, Path::new(DEBIAN), facts);
        let clusters = versions
            .iter()
            .flat_map(|version| children(host, version, facts));
        let has_conf = |path: &PathBuf| {
            !host
                .stat(&path.join("postgresql.conf"))
                .is_err_and(|miss| miss.kind == MissKind::Absent)
        };
        clusters
            .collect::<Vec<_>>()
            .into_iter()
            .filter(has_conf)
            .collect()
    }

    /// Version and name of a cluster whose configuration lies where Debian keeps it.
    pub fn debian_name(config_file: &Path) -> Option<(String, String)> {
        let mut parts = config_file.strip_prefix(DEBIAN).ok()?.iter();
        let mut part = || parts.next().map(|part| safe(path_bytes(Path::new(part))));
        let (version, name) = (part()?, part()?);
        part().is_some().then_some((version, name))
    }

    /// Data directories where distributions and the official container image put them.
    pub fn data_directories(host: &dyn Host, facts: &mut FactSet) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = [
            "/var/lib/pgsql/data",
            "/var/lib/postgres/data",
            "/var/lib/postgresql/data",
        ]
        .map(PathBuf::from)
        .to_vec();
        found.extend(
            children(host, Path::new("/var/lib/pgsql"), facts)
                .into_iter()
                .map(|version| version.join("data")),
        );
        for version in children(host, Path::new("/var/lib/postgresql"), facts) {
            if version.file_name().is_some_and(|name| {
                path_bytes(Path::new(name))
                    .first()
                    .is_some_and(u8::is_ascii_digit)
            }) {
                found.extend(children(host, &version, facts));
            }
        }
        found.retain(|path| is_cluster(host, path));
        found
    }

    /// Whether a directory where a cluster is expected holds one; assumed where it may not be
    /// entered.
    pub fn is_cluster(host: &dyn Host, path: &Path) -> bool {
        match host.stat(&path.join("PG_VERSION")) {
            Ok(_) => true,
            Err(miss) => {
                miss.kind == MissKind::Denied && host.stat(path).is_ok_and(|stat| stat.is_dir())
            }
        }
    }

    /// The cluster whose data directory is the requested path or one of its parents.
    pub fn asked_for(host: &dyn Host, request: &Request) -> Option<PathBuf> {
        let real = host.real_path(request.target.as_deref()?).ok()?;
        let has = |path: &Path, name: &str| host.stat(&path.join(name)).is_ok();
        // Each database's own directory has a PG_VERSION too; only a cluster has `global` beside
        // it.
        real.ancestors()
            .find(|path| has(path, "PG_VERSION") && has(path, "global"))
            .map(Path::to_owned)
    }

    /// The contents of a directory as its owner sees it: one of its parents may be a link that a
    /// user placed there.
    fn children(host: &dyn Host, directory: &Path, facts: &mut FactSet) -> Vec<PathBuf> {
        if host
            .stat(directory)
            .is_err_and(|miss| miss.kind == MissKind::Absent)
        {
            return Vec::new();
        }
        match Behalf::of_owner(host, directory).list(directory) {
            Ok(names) => names.iter().map(|name| directory.join(name)).collect(),
            Err(miss) => {
                let unseen = [MissKind::Denied, MissKind::TimedOut].contains(&miss.kind);
                if let Reading::Unknown { why, detail, .. } =
                    refused::<()>(&miss, &safe(path_bytes(directory)))
                    && unseen
                {
                    facts.warn(PostgresNote::HiddenClusters { detail, why });
                }
                Vec::new()
            }
        }
    }
}
mod process;
mod server;
mod settings;
mod checksums {
    //! Whether a cluster's data pages carry checksums: from the server's answer, or from its
    //! control file.
    //!
    //! No configuration file holds the answer. The control file does, also for a running server,
    //! because only a stopped one can be changed (pg_checksums). `pg_controldata` of the cluster's
    //! own version reads it, because the layout differs between versions (PostgreSQL manual,
    //! *pg_controldata*). Only one line of its output leaves the host.

    use std::path::Path;

    use super::server::SettingsReply;
    use crate::collector::Request;
    use crate::facts::{Reading, Remedy, Source, Why};
    use crate::host::{Host, Tool, path_bytes};
    use crate::quote::shell;
    use crate::refusal::{not_run, refused};
    use crate::text::safe;
    use crate::version::Version;

    const NAME: &str = "data_checksums";

    /// `data` is the data directory as `host` has it.
    pub fn read(
        host: &dyn Host,
        request: &Request,
        answer: Option<&SettingsReply>,
        major: Option<&Version>,
        data: &Path,
    ) -> Reading<bool> {
        match answer.and_then(|answer| answer.get(NAME)) {
            Some(told) => told.and_then(|value| match value.as_slice() {
                b"on" => Ok(true),
                b"off" => Ok(false),
                other => Err(format!("`{}` is neither on nor off", safe(other))),
            }),
            None => of_control_file(host, request, major, data).or_try(Remedy::Do(format!(
                "ask the server on {} in psql: SHOW data_checksums;",
                safe(path_bytes(data))
            ))),
        }
    }

    fn of_control_file(
        host: &dyn Host,
        request: &Request,
        major: Option<&Version>,
        data: &Path,
    ) -> Reading<bool> {
        let unknown = |detail: &str| Reading::unknown(Why::NotCollected, detail);
        let number = major.and_then(|major| u32::try_from(major.number(0)).ok());
        let Some(number) = number.filter(|number| *number >= 10) else {
            return unknown("the control file is read from PostgreSQL 10 on");
        };
        let Some(directory) = data.to_str() else {
            return unknown("the name of the data directory cannot be passed to a program");
        };
        if request.without_programs {
            return not_run();
        }
        let tool = Tool::PgControldata(number);
        let argv = shell::line(&tool.name(), &["-D", directory]);
        match host.run(tool, &["-D", directory]) {
            Ok(printed) => Reading::known(safe(printed.trim_ascii()), Source::Command { argv })
                .and_then(|line| {
                    match line
                        .strip_prefix("Data page checksum version:")
                        .map(str::trim)
                    {
                        Some("0") => Ok(false),
                        Some("1") => Ok(true),
                        _ => Err(
                            "the control file names no version of checksums, or is damaged"
                                .to_owned(),
                        ),
                    }
                }),
            Err(miss) => refused(&miss, &argv),
        }
    }
}
mod counters;
mod start {
    //! The part of a configuration that is certainly in force in a running server that does not
    //! report it.
    //!
    //! A server reads its configuration at its start and on reload, and nothing records whether it
    //! was reloaded. A setting that changed since the start is therefore uncertain, and so is
    //! everything before it.

    use std::path::Path;

    use super::conf::Conf;
    use crate::databases::{servers, start};
    use crate::facts::Remedy;
    use crate::host::{Host, Moment, Question};
    use crate::text::safe;

    /// The longest time between reading a file and noting the time of its load, on a busy server,
    /// in nanoseconds.
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
        /// The start of the server on this directory: the second from its `postmaster.pid`, refined
        /// by its process where one is proven.
        pub fn new(
            host: &'a dyn Host,
            second: Option<u64>,
            process: Option<u32>,
            data: String,
        ) -> Self {
            let process = process.and_then(|pid| start::of_process(host, pid));
            Self {
                host,
                at: second.map(|second| start::in_second(second, process)),
                said: false,
                data,
            }
        }

        /// The load time that the server reports, in microseconds since 1970 (`pg_conf_load_time`).
        pub fn of_load(host: &'a dyn Host, at_us: u64, data: String) -> Self {
            let at = at_us
                .checked_mul(1000)
                .and_then(|at| at.checked_sub(WHILE_LOADING))
                .map(Moment::at);
            Self {
                host,
                at,
                said: true,
                data,
            }
        }

        /// The part of the configuration that is certainly in force. `owner` is the user whom the
        /// server would tell.
        pub fn certain(&self, conf: &Conf, owner: Option<&String>) -> Conf {
            conf.doubt(
                |path| self.changed(path),
                owner.map(|owner| self.remedy(owner)).as_ref(),
            )
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

        /// Why a file or directory may differ from what the server read; `None` when it is
        /// unchanged.
        fn changed(&self, path: &Path) -> Option<String> {
            let complaint = start::changed(self.host, self.at, path)?;
            Some(format!(
                "{complaint}, and the server did not say what it uses"
            ))
        }
    }
}
mod cluster;
mod units;

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::behalf::Behalf;
use super::inside::Inside;
use super::named::ConfigArgument;
use super::servers::{Proof, our_uid};
use crate::collector::Request;
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
        let lead = Lead {
            config_file,
            home: None,
            server: None,
            named_by: None,
            by_hand: None,
            reader,
        };
        seen.put(lead, host, request, &mut facts);
    }
    let usual = installed::data_directories(host, &mut facts)
        .into_iter()
        .map(|home| (home, None));
    let named = units::data_directories(host)
        .into_iter()
        .map(|(home, source)| (home, Some(source)));
    let named = named.filter(|(home, _)| installed::is_cluster(host, home));
    let asked = installed::asked_for(host, request).map(|home| (home, None));
    // A directory that a process names without proof is examined like any other.
    let unproven = std::mem::take(&mut seen.unproven)
        .into_iter()
        .map(|home| (home, None));
    for (home, named_by) in named.chain(usual).chain(asked).chain(unproven) {
        let reader = Behalf::of_owner(host, &home).uid;
        let config_file = home.join("postgresql.conf");
        let lead = Lead {
            config_file,
            home: Some(home),
            server: None,
            named_by,
            by_hand: None,
            reader,
        };
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
    Some(Lead {
        config_file,
        home,
        server: None,
        named_by: None,
        by_hand: Some(named),
        reader,
    })
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
        let inside = lead
            .server
            .as_ref()
            .and_then(|server| Inside::new(&behalf, host, server.pid));
        let view: &dyn Host = inside.as_ref().map_or(&behalf, |inside| inside);
        let real = |path: &PathBuf| view.real_path(path).unwrap_or_else(|_| path.clone());
        let config_file = match view.real_path(&lead.config_file) {
            Err(miss) if miss.kind == MissKind::TimedOut => {
                let file = safe(path_bytes(&lead.config_file));
                return facts.warn(PostgresNote::ConfigSilence { file });
            }
            found => found.unwrap_or_else(|_| lead.config_file.clone()),
        };
        let known_home = inside.is_none()
            && lead
                .home
                .as_ref()
                .is_some_and(|home| self.directories.contains(&real(home)));
        // Two servers may share a configuration file; what is merely installed is the one that runs
        // with it.
        let config_file = (lead.reader, config_file);
        let known_file = lead.server.is_none() && self.config_files.contains(&config_file);
        let by_hand = lead.by_hand;
        if by_hand.is_none() && (known_home || known_file) {
            return;
        }
        let mut own = FactSet::default();
        let again = (lead.server.is_none() && (lead.home.is_none() || by_hand.is_some()))
            .then(|| lead.clone());
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
        // A configuration is read as its owner, and the data as theirs: where those are two, both
        // as the latter.
        let owner = Behalf::of_owner(host, &found.data).uid;
        if let Some(lead) =
            again.filter(|lead| lead.reader != owner && !self.followed.contains(&lead.config_file))
        {
            self.followed.insert(lead.config_file.clone());
            return self.put(
                Lead {
                    reader: owner,
                    ..lead
                },
                host,
                request,
                facts,
            );
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
            facts.warn(ServerNote::NoList {
                reason: miss.to_string(),
            });
            return Vec::new();
        }
    };
    let mut leads = Vec::new();
    let or_as_root = our_uid(host) != Some(0);
    for server in servers {
        let home = server.home.clone().filter(|home| home.is_absolute());
        let named = server
            .setting("config_file")
            .map(|path| path_of(path.to_vec()));
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
            None => facts.warn(PostgresNote::NoHome {
                pid: server.pid,
                or_as_root,
            }),
        }
    }
    leads
}

#[cfg(test)]
mod tests;
