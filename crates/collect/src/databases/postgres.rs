//! PostgreSQL clusters, running or installed: the directories of data and WAL, and the settings
//! that affect storage, each with its source.
//!
//! Candidates for a data directory come from processes, distributions' directories, systemd units,
//! the requested directory, and a configuration file that the user names. Each directory is read
//! with its owner's rights and recorded once. Any user can name a process `postgres`. A process
//! therefore counts as a server only if its user owns the directory and `postmaster.pid` there has
//! its process id. Without root, most candidates are recorded as *denied*.

mod cluster;
mod conf;
mod counters;
mod io_uring;
mod server;
mod settings;
mod systemd_units;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::mem;
use std::path::{Path, PathBuf};

use cluster::ClusterCandidate;
use server::SettingsReply;

use super::ConfigArgument;
use super::mount_namespace::ServerHost;
use super::server_processes::{
    self, CommandLineOption, SERVER_RUNNING, ServerProcess, ServingProof, own_effective_uid,
};
use super::user_host::UserHost;
use crate::collector::Request;
use crate::databases::start_time;
use crate::escape::shell;
use crate::facts::catalog::{cluster as kind, postgres};
use crate::facts::{
    FactSet, NoteKind, Reading, Remedy, ServerArea, ServerKind, Source, Subject, UnknownReason,
};
use crate::host::{
    Host, HostErrorKind, HostTimestamp, LogFileKind, Question, Tool, path_from_bytes,
};
use crate::host_readings::{file_reading, programs_disabled_reading, tool_reading};
use crate::text::{decode_display_safe, display_path, display_safe};
use crate::version::Version;

pub fn collect(host: &dyn Host, request: &Request) -> FactSet {
    let mut facts = FactSet::default();
    let mut seen = CollectionState::default();
    for lead in running_candidates(host, request, &mut facts) {
        seen.collect_candidate(lead, host, request, &mut facts);
    }
    if let Some(lead) = config_argument_candidate(host, request) {
        seen.collect_candidate(lead, host, request, &mut facts);
    }
    let lead_of = |home: &Path| ClusterCandidate {
        config_file: home.join("postgresql.conf"),
        reader_uid: UserHost::for_owner_or_nobody(host, home).uid,
        ..ClusterCandidate::default()
    };
    for directory in debian_config_directories(host, &mut facts) {
        seen.collect_candidate(lead_of(&directory), host, request, &mut facts);
    }
    let usual = packaged_data_directories(host, &mut facts);
    let named = systemd_units::service_data_directories(host)
        .into_iter()
        .map(|(home, source)| (home, Some(source)));
    let named = named.filter(|(home, _)| may_be_cluster_directory(host, home));
    let asked = target_data_directory(host, request);
    let unproven = mem::take(&mut seen.unproven_directories);
    let others = usual.into_iter().chain(asked).chain(unproven);
    for (home, named_by) in named.chain(others.map(|home| (home, None))) {
        let lead = ClusterCandidate {
            directory_source: named_by,
            data_directory: Some(home.clone()),
            ..lead_of(&home)
        };
        seen.collect_candidate(lead, host, request, &mut facts);
    }
    for (directory, unread) in seen.unread_clusters {
        if !seen.directories.contains(&directory) {
            facts.merge(unread);
        }
    }
    facts
}

fn config_argument_candidate<'a>(
    host: &dyn Host,
    request: &'a Request,
) -> Option<ClusterCandidate<'a>> {
    let named = ConfigArgument::from_request(request, ServerArea::Pg)?;
    let home = target_data_directory(host, request);
    Some(ClusterCandidate {
        config_file: named.file.to_owned(),
        reader_uid: named.reader_uid(host, home.as_ref()),
        data_directory: home,
        config_argument: Some(named),
        ..ClusterCandidate::default()
    })
}

#[derive(Default)]
struct CollectionState {
    /// Configuration files, each with the uid that read it, because any user can name another
    /// user's file.
    config_files: BTreeSet<(u32, PathBuf)>,
    directories: BTreeSet<PathBuf>,
    followed_configs: BTreeSet<PathBuf>,
    /// Directories named by processes that could not be proven to serve them.
    unproven_directories: Vec<PathBuf>,
    /// Clusters that a server names but that could not be read, and those not read in time, each
    /// with the few facts that are known.
    unread_clusters: Vec<(PathBuf, FactSet)>,
}

impl CollectionState {
    /// A candidate without a process is kept only after a time-out (`in_time` is false), because a
    /// cluster may then be there. A process in a container is left out, because its directory has
    /// another path there.
    fn add_unread_cluster(
        &mut self,
        lead: &ClusterCandidate<'_>,
        in_time: bool,
        view: &ServerHost<'_>,
    ) {
        let home = lead.data_directory.clone();
        let Some(directory) = home.filter(|_| view.namespace.is_none()) else {
            return;
        };
        let shown = display_path(&directory);
        let (running, source) = if let Some(server) = &lead.server {
            (
                server_processes::running_reading_of_unread_directory(view, server, &directory),
                server.command_line_source(),
            )
        } else {
            let timeout = Reading::unknown(
                UnknownReason::TimedOut,
                "the cluster could not be read in time",
            );
            let source = Source::from_system_call(format!("stat {shown}"));
            ((!in_time).then_some(timeout), source)
        };
        let Some(running) = running else { return };
        // Without a record, the directory would appear to have no server.
        let (mut facts, subject) = (FactSet::default(), Subject::cluster(&*shown));
        facts.set_server_area(&subject, ServerArea::Pg);
        facts.insert_known(&subject, &kind::KIND, ServerKind::Postgres, source.clone());
        facts.insert_known(&subject, &postgres::DATA, shown, source);
        facts.insert(&subject, &postgres::RUNNING, running);
        self.unread_clusters.push((directory, facts));
    }

    fn collect_candidate(
        &mut self,
        lead: ClusterCandidate<'_>,
        host: &dyn Host,
        request: &Request,
        facts: &mut FactSet,
    ) {
        let pid = lead.server.as_ref().map(|server| server.pid);
        let view = &ServerHost::new(host, lead.reader_uid, pid);
        let is_inside = view.namespace.is_some();
        let config_file = match view.real_path(&lead.config_file) {
            Err(miss) if miss.kind == HostErrorKind::TimedOut => {
                let file = display_path(&lead.config_file);
                self.add_unread_cluster(&lead, false, view);
                return facts.add_note_once(format!(
                    "configuration file {file} could not be read in time; its cluster is unknown"
                ));
            }
            found => found.unwrap_or_else(|_| lead.config_file.clone()),
        };
        let known_home = !is_inside
            && lead.data_directory.as_ref().is_some_and(|home| {
                let real = view.real_path(home).unwrap_or_else(|_| home.clone());
                self.directories.contains(&real)
            });
        // Running servers may share a configuration file, so a candidate is skipped because of a
        // known file only if it has no process.
        let config_file = (lead.reader_uid, config_file);
        let known_file = lead.server.is_none() && self.config_files.contains(&config_file);
        let by_hand = lead.config_argument;
        if by_hand.is_none() && (known_home || known_file) {
            return;
        }
        let mut own = FactSet::default();
        let may_follow =
            lead.server.is_none() && (lead.data_directory.is_none() || by_hand.is_some());
        let origin = lead.clone();
        let found = match lead.read_cluster(view, &mut own) {
            Ok(found) => found,
            Err(why) => {
                self.add_unread_cluster(&origin, true, view);
                return match by_hand {
                    Some(named) => facts.add_note_once(named.unused_file_note(why)),
                    None => facts.add_note_once(why),
                };
            }
        };
        if self.directories.contains(&found.data_path) {
            if let Some(named) = by_hand {
                facts.add_note_once(named.unused_file_note(SERVER_RUNNING));
            }
            return;
        }
        match found.prove_served(view) {
            ServingProof::Serves => {}
            ServingProof::Contradicted(note) => return facts.add_note_once(note),
            ServingProof::Unreadable(_) => return self.unproven_directories.push(found.data_path),
        }
        // If the configuration and the data directory have different owners, both are read again
        // with the rights of the data directory's owner.
        let owner = UserHost::for_owner_or_nobody(host, &found.data_path).uid;
        if may_follow
            && origin.reader_uid != owner
            && self.followed_configs.insert(origin.config_file.clone())
        {
            return self.collect_candidate(
                ClusterCandidate {
                    reader_uid: owner,
                    ..origin
                },
                host,
                request,
                facts,
            );
        }
        let directory = found.data_path.clone();
        if let Some(named) = by_hand {
            if let Err(why) = found.prove_stopped(view) {
                return facts.add_note_once(named.unused_file_note(why));
            }
            if let Some(asked) =
                target_data_directory(host, request).filter(|asked| *asked != directory)
            {
                facts.add_note_once(named.other_data_directory_note(&directory, &asked));
            }
        }
        match found.insert_cluster_facts(view, request, &mut own) {
            Ok(()) => {
                facts.merge(own);
                self.directories.insert(directory);
                if !is_inside {
                    self.config_files.insert(config_file);
                }
            }
            Err(note) => {
                let in_time = note.kind != NoteKind::DataDirectoryTimeout;
                self.add_unread_cluster(&origin, in_time, view);
                facts.add_note_once(note);
            }
        }
    }
}

fn running_candidates(
    host: &dyn Host,
    request: &Request,
    facts: &mut FactSet,
) -> Vec<ClusterCandidate<'static>> {
    let listed =
        server_processes::read_server_processes(host, request, ServerArea::Pg, parse_option, facts);
    let (servers, _) = match listed {
        Ok(listed) => listed,
        Err(miss) => {
            facts.add_note_once(format!("running servers cannot be listed: {miss}"));
            return Vec::new();
        }
    };
    let help = if own_effective_uid(host) == Some(0) {
        ""
    } else {
        ", or run walwise as root"
    };
    let mut leads = Vec::new();
    for server in servers {
        let home = process_data_directory(host, &server);
        let home = home.filter(|home| home.is_absolute());
        let config_file = last_option_value(&server, "config_file")
            .map(path_from_bytes)
            .filter(|path| path.is_absolute())
            .or_else(|| Some(home.as_ref()?.join("postgresql.conf")));
        let Some(config_file) = config_file else {
            facts.add_note_once(format!(
                "PostgreSQL process {}: data directory not found; specify the directory as the \
                 target{help}",
                server.pid
            ));
            continue;
        };
        leads.push(ClusterCandidate {
            config_file,
            data_directory: home,
            reader_uid: server.uid,
            server: Some(server),
            ..ClusterCandidate::default()
        });
    }
    leads
}

#[cfg(test)]
mod tests;

// Running servers: options of the command line and the data directory that they name.

/// The key of the option `-D`; setting names have no dash.
const DATA_DIRECTORY_OPTION: &str = "-D";

/// The value of the option's last occurrence, which is the one that counts.
fn last_option_value<'a>(server: &'a ServerProcess, name: &str) -> Option<&'a [u8]> {
    server.option_values(name).next_back().flatten()
}

/// At its start a server changes into its data directory (ChangeToDataDir), so the working
/// directory replaces a missing or relative path.
fn process_data_directory(host: &dyn Host, server: &ServerProcess) -> Option<PathBuf> {
    let told = last_option_value(server, DATA_DIRECTORY_OPTION)
        .map(path_from_bytes)
        .or_else(|| server.environment_variable("PGDATA").map(path_from_bytes));
    let is_set = |name| last_option_value(server, name).is_some();
    match told {
        Some(home) if home.is_absolute() => Some(home),
        None if is_set("config_file") || is_set("data_directory") => None,
        home => host
            .link_target(Path::new(&format!("/proc/{}/cwd", server.pid)))
            .ok()
            .or(home),
    }
}

fn parse_option(line: &str) -> Option<CommandLineOption> {
    let (option, value) = line.split_once(' ')?;
    let (name, value) = match option {
        "-D" => (DATA_DIRECTORY_OPTION, value),
        "-p" => ("port", value),
        "-k" => ("unix_socket_directories", value),
        "-c" => value.split_once('=')?,
        _ => return None,
    };
    Some((name.to_owned(), Some(decode_display_safe(value))))
}

// The settings that are certainly in force in a running server which does not report them.
//
// A server reads its configuration at start and on reload, and no file records a reload. The
// lines of a file that changed since the start are therefore uncertain, and so are all lines
// before them.

/// The longest assumed delay, on a busy server, between reading a file and recording the load
/// time.
const MAX_LOAD_TIME_NS: u64 = 100_000_000;

/// When the server loaded its configuration: `reported_us` (`pg_conf_load_time` in microseconds
/// since 1970), or else the server's start. That is the second in `postmaster.pid`, refined by the
/// start time of the process if that is known.
fn config_load_time(
    host: &dyn Host,
    reported_us: Option<u64>,
    start_second: Option<u64>,
    process: Option<u32>,
) -> Option<HostTimestamp> {
    let Some(reported_us) = reported_us else {
        let process = process.and_then(|pid| host.process_start_time(pid).ok());
        return Some(start_time::refine_start_time(start_second?, process));
    };
    let nanos = reported_us
        .checked_mul(1000)?
        .checked_sub(MAX_LOAD_TIME_NS)?;
    Some(HostTimestamp::from_unix_nanos(nanos))
}

/// The remedy for a setting that may have changed in its file since the server loaded it.
fn unknown_load_remedy(host: &dyn Host, is_reported: bool, data: &str, owner: &str) -> Remedy {
    if is_reported {
        return Remedy::Do(format!(
            "reload the server on {data} (SELECT pg_reload_conf()), then check again"
        ));
    }
    let uid = server_processes::own_effective_uid(host);
    let name = uid.and_then(|uid| host.ask(&Question::UserName(uid)).ok());
    // Root has already queried with the owner's rights, so running walwise as the owner is
    // not a remedy.
    if uid == Some(0) || name.is_some_and(|name| display_safe(name.trim_ascii()) == owner) {
        Remedy::Do(format!(
            "let {owner} log in over the socket of the server on {data}, or restart the server, then check again"
        ))
    } else {
        Remedy::RunAs(owner.to_owned())
    }
}

// Installed clusters, running or not, in the directories of distributions and in the requested
// directory.
//
// Debian keeps configurations in /etc/postgresql/VERSION/NAME and data elsewhere; other
// distributions keep both together.

const DEBIAN_CONFIG_DIRECTORY: &str = "/etc/postgresql";

fn debian_config_directories(host: &dyn Host, facts: &mut FactSet) -> Vec<PathBuf> {
    let versions = list_directory_as_owner(host, Path::new(DEBIAN_CONFIG_DIRECTORY), facts);
    let clusters = versions
        .iter()
        .flat_map(|version| list_directory_as_owner(host, version, facts));
    let has_conf = |path: &PathBuf| {
        !host
            .stat(&path.join("postgresql.conf"))
            .is_err_and(|miss| miss.is_absent())
    };
    clusters.filter(has_conf).collect()
}

fn debian_version_and_name(config_file: &Path) -> Option<(String, String)> {
    let mut parts = config_file
        .strip_prefix(DEBIAN_CONFIG_DIRECTORY)
        .ok()?
        .iter();
    let mut part = || parts.next().map(|part| display_path(Path::new(part)));
    let (version, name) = (part()?, part()?);
    part().is_some().then_some((version, name))
}

fn packaged_data_directories(host: &dyn Host, facts: &mut FactSet) -> Vec<PathBuf> {
    let mut found = [
        "/var/lib/pgsql/data",
        "/var/lib/postgres/data",
        "/var/lib/postgresql/data",
    ]
    .map(PathBuf::from)
    .to_vec();
    let versions = list_directory_as_owner(host, Path::new("/var/lib/pgsql"), facts);
    found.extend(versions.iter().map(|version| version.join("data")));
    for version in list_directory_as_owner(host, Path::new("/var/lib/postgresql"), facts) {
        let name = version.file_name().map(OsStr::as_encoded_bytes);
        if name.is_some_and(|name| name.first().is_some_and(u8::is_ascii_digit)) {
            found.extend(list_directory_as_owner(host, &version, facts));
        }
    }
    found.retain(|path| may_be_cluster_directory(host, path));
    found
}

/// Whether the directory contains PG_VERSION, which every cluster has. A directory to which
/// access is denied counts as a cluster directory.
fn may_be_cluster_directory(host: &dyn Host, path: &Path) -> bool {
    match host.stat(&path.join("PG_VERSION")) {
        Ok(_) => true,
        Err(miss) => {
            miss.kind == HostErrorKind::Denied && host.stat(path).is_ok_and(|stat| stat.is_dir())
        }
    }
}

/// The requested target or its nearest parent that is a data directory; `None` if there is
/// none, without a target, or if the target's links cannot be resolved.
pub fn target_data_directory(host: &dyn Host, request: &Request) -> Option<PathBuf> {
    let real = host.real_path(request.target.as_deref()?).ok()?;
    let has = |path: &Path, name: &str| host.stat(&path.join(name)).is_ok();
    // The directories of single databases have a PG_VERSION too, but only a cluster's directory
    // has `global`.
    real.ancestors()
        .find(|path| has(path, "PG_VERSION") && has(path, "global"))
        .map(Path::to_owned)
}

/// The entries of a directory, read with its owner's rights, because another user may have
/// placed a symbolic link in the path.
fn list_directory_as_owner(host: &dyn Host, directory: &Path, facts: &mut FactSet) -> Vec<PathBuf> {
    if host.stat(directory).is_err_and(|miss| miss.is_absent()) {
        return Vec::new();
    }
    match UserHost::for_owner_or_nobody(host, directory).list_directory(directory) {
        Ok(names) => names.iter().map(|name| directory.join(name)).collect(),
        Err(miss) => {
            let (why, help) = match miss.kind {
                HostErrorKind::Denied => (UnknownReason::Denied, "; run walwise as root"),
                HostErrorKind::TimedOut => (UnknownReason::TimedOut, ""),
                HostErrorKind::Absent | HostErrorKind::NotCollected | HostErrorKind::Failed => {
                    return Vec::new();
                }
            };
            let directory = display_path(directory);
            facts.add_note_once(format!(
                "{directory}: {miss} ({why}): clusters in it are unknown{help}"
            ));
            Vec::new()
        }
    }
}

// WAL segments, and segments that wait for the archiver. Both are files, so they are known
// without a running server.

/// `wal` is a path in the mount namespace of `host`.
fn insert_wal_file_facts(host: &dyn Host, wal: &Path, cluster: &Subject, facts: &mut FactSet) {
    let log_files = |directory: &Path, kind| {
        let files = host.log_file_stats(directory, kind);
        file_reading(files, &display_path(directory))
    };
    let bytes = log_files(wal, LogFileKind::WalSegment).map(|files| files.bytes);
    facts.insert(cluster, &postgres::WAL_FILES, bytes);
    let ready = log_files(&wal.join("archive_status"), LogFileKind::ArchiveReady);
    let count = ready.as_ref().map(|files| files.count);
    facts.insert(cluster, &postgres::ARCHIVE_READY, count);
    let wait = ready.and_then_reading(|files, source| match files.oldest_age {
        Some(seconds) => Reading::known(seconds as f64 * 1e6, source),
        None => Reading::absent("no WAL file is waiting to be archived"),
    });
    facts.insert(cluster, &postgres::ARCHIVE_WAIT, wait);
}

// Whether a cluster has data checksums. No configuration file shows this, so it is taken from
// the server's answer or else from the control file.
//
// The control file is right even for a running server, because pg_checksums changes only
// stopped clusters. The file's layout differs between versions, so it is read by the
// `pg_controldata` of the cluster's own version (PostgreSQL manual, *pg_controldata*).
// [`Host`] returns only one line of the output.

const CHECKSUMS_SETTING: &str = "data_checksums";

/// `data` is the data directory in the mount namespace of `host`.
fn data_checksums_reading(
    host: &dyn Host,
    without_programs: bool,
    answer: Option<&SettingsReply>,
    major: Option<&Version>,
    data: &Path,
) -> Reading<bool> {
    match answer.and_then(|answer| answer.setting_reading(CHECKSUMS_SETTING)) {
        Some(told) => told.and_then(|value| match value.as_slice() {
            b"on" => Ok(true),
            b"off" => Ok(false),
            other => Err(format!("`{}` is neither on nor off", display_safe(other))),
        }),
        None => data_checksums_from_control_file(host, without_programs, major, data).with_remedy(
            Remedy::Do(format!(
                "run in psql, connected to the server on {}: SHOW data_checksums;",
                display_path(data)
            )),
        ),
    }
}

fn data_checksums_from_control_file(
    host: &dyn Host,
    without_programs: bool,
    major: Option<&Version>,
    data: &Path,
) -> Reading<bool> {
    let Some(number) = major.and_then(major_with_programs) else {
        return Reading::uncollected(
            "walwise can read the control file only for PostgreSQL 10 and later",
        );
    };
    let Some(directory) = data.to_str() else {
        return Reading::uncollected(
            "the path of the data directory is not valid UTF-8, so walwise does not run pg_controldata",
        );
    };
    if without_programs {
        return programs_disabled_reading();
    }
    let tool = Tool::PgControldata(number);
    let arguments = ["-D", directory];
    let argv = shell::format_command_line(&tool.name(), &arguments);
    tool_reading(host.run_tool(tool, &arguments), tool, &argv).and_then(|line| {
        let line = display_safe(line.trim_ascii());
        let version = line.strip_prefix("Data page checksum version:");
        match version.map(str::trim) {
            Some("0") => Ok(false),
            Some("1") => Ok(true),
            _ => Err("the control file has no checksum version, or is damaged".to_owned()),
        }
    })
}

/// The major version, if walwise runs the programs of that version: 10 and later.
fn major_with_programs(version: &Version) -> Option<u32> {
    let major = u32::try_from(version.number(0)).ok();
    major.filter(|major| *major >= 10)
}
