//! The facts of one cluster, gathered from its data directory, configuration, process and server.
//!
//! A running server's answer overrides the files; a difference gets a note. Without an answer,
//! files count only if they have not changed since the server loaded them. In another mount
//! namespace the data directory may have another path.

use std::path::{Path, PathBuf};

use super::counters::ReplyReader;
use super::server::{self, SettingsReply};
use super::{
    conf, config_load_time, counters, data_checksums_reading, debian_version_and_name,
    insert_wal_file_facts, io_uring, last_option_value, major_with_programs, settings,
    unknown_load_remedy,
};
use crate::collector::Request;
use crate::databases::mount_namespace::ServerHost;
use crate::databases::server_processes::{self, ServerProcess, ServingProof};
use crate::databases::{ConfigArgument, ServerConfig, start_time};
use crate::facts::catalog::cluster as kind;
use crate::facts::catalog::postgres;
use crate::facts::{
    FactSet, Note, NoteKind, Reading, Remedy, ServerArea, ServerKind, Source, Subject,
    UnknownReason,
};
use crate::host::pg_settings_lines::MAX_OVERRIDES;
use crate::host::{Host, HostError, HostErrorKind, Tool, path_from_bytes};
use crate::host_readings::{error_reading, file_reading};
use crate::text::{display_path, display_safe};
use crate::version::Version;

/// The largest number of tablespaces whose links are read, because each link takes several
/// queries.
const MAX_TABLESPACES: usize = 1000;

#[derive(Clone, Debug, Default)]
pub struct ClusterCandidate<'a> {
    pub config_file: PathBuf,
    /// The data directory, unless the configuration names another.
    pub data_directory: Option<PathBuf>,
    pub server: Option<ServerProcess>,
    /// The line of a systemd unit that names the data directory, if any.
    pub directory_source: Option<Source>,
    pub config_argument: Option<ConfigArgument<'a>>,
    pub reader_uid: u32,
}

pub struct PostgresCluster<'a> {
    lead: ClusterCandidate<'a>,
    /// The data directory's path in walwise's mount namespace, with symbolic links resolved.
    pub data_path: PathBuf,
    /// The data directory's path in the server's mount namespace.
    server_data_path: PathBuf,
    data_source: Source,
    conf: ServerConfig,
}

impl<'a> ClusterCandidate<'a> {
    pub fn read_cluster(
        self,
        host: &ServerHost<'_>,
        facts: &mut FactSet,
    ) -> Result<PostgresCluster<'a>, Note> {
        let mut conf = ServerConfig::default();
        conf::config_reader(host, &mut conf, facts).read_file(&self.config_file);
        let absolute =
            |value: &[u8]| Some(path_from_bytes(value)).filter(|path| path.is_absolute());
        let option = self
            .server
            .as_ref()
            .and_then(|server| last_option_value(server, "data_directory"))
            .and_then(absolute);
        let set = conf.setting_reading("data_directory");
        let configured = conf
            .last_value_ignoring_gaps("data_directory")
            .and_then(absolute);
        let file = display_path(&self.config_file);
        let (data, data_source) = match (option, configured, &self.data_directory) {
            (None, Some(path), _) => {
                let source = set.and_then(|set| set.source().cloned());
                (path, source.unwrap_or_else(|| Source::from_file(file)))
            }
            (Some(path), ..) => (path, self.data_directory_source()),
            (None, None, Some(home)) => (home.clone(), self.data_directory_source()),
            (None, None, None) if self.config_argument.is_some() && set.is_none() => {
                return Err(
                    "the file does not set data_directory; specify the directory as the target"
                        .into(),
                );
            }
            (None, None, None) => {
                return Err(format!(
                    "{file}: the setting data_directory cannot be read; run walwise as root"
                )
                .into());
            }
        };
        let seen = server_processes::verified_real_path(host, &data).unwrap_or(data);
        let data = match host.host_path(&seen, data_source.clone()) {
            Reading::Known { value, .. } => value,
            Reading::Unknown { detail, .. } => return Err(format!("a PostgreSQL server is in another mount namespace, perhaps a container: {detail}; run walwise there to check it").into()),
        };
        Ok(PostgresCluster {
            lead: self,
            data_path: data,
            server_data_path: seen,
            data_source,
            conf,
        })
    }

    fn data_directory_source(&self) -> Source {
        if let Some(server) = &self.server {
            return server.command_line_source();
        }
        self.directory_source.clone().unwrap_or_else(|| {
            let named_by = self.data_directory.as_ref().unwrap_or(&self.config_file);
            Source::from_file(display_path(named_by))
        })
    }
}

impl PostgresCluster<'_> {
    /// The error is the reason to suspect that a server is running on the directory.
    pub fn prove_stopped(&self, host: &dyn Host) -> Result<(), String> {
        let pid_file = PidFile::read(host, &self.server_data_path);
        server_processes::check_stopped(self.running_reading(&pid_file))
    }

    /// Whether the process serves the data directory. Any user can name a process
    /// `postgres -D DIR`, but only the server's user owns the directory and can write its
    /// `postmaster.pid`.
    pub fn prove_served(&self, host: &ServerHost<'_>) -> ServingProof {
        let Some(server) = &self.lead.server else {
            return ServingProof::Serves;
        };
        let (pid, uid, data) = (server.pid, server.uid, display_path(&self.data_path));
        let mismatch = || {
            ServingProof::Contradicted(format!("PostgreSQL process {pid} uses {data}, but for walwise {data} is a different directory (container?); run walwise where the server runs").into())
        };
        let mismatch_if_absent = |miss: HostError| {
            if miss.is_absent() {
                mismatch()
            } else {
                ServingProof::Unreadable("its data directory")
            }
        };
        match host.directory_owner_uid(&self.server_data_path, &self.data_path, uid) {
            Ok(owner) if owner == u64::from(uid) => {}
            Ok(owner) => {
                return ServingProof::Contradicted(
                    format!("process {pid} of user {uid} claims to be PostgreSQL and names {data}, which belongs to user {owner}; the process was ignored")
                    .into(),
                );
            }
            // A directory that the process's own user cannot reach is not its data directory. No
            // other user's rights are tried.
            Err(miss)
                if miss.kind == HostErrorKind::Denied
                    && server_processes::own_effective_uid(host) == Some(0) =>
            {
                return ServingProof::Contradicted(
                    format!("process {pid} of user {uid} claims to be PostgreSQL and names {data}, which that user cannot read ({miss}); the process was ignored")
                    .into(),
                );
            }
            Err(miss) => return mismatch_if_absent(miss),
        }
        // In a container, `postmaster.pid` has the process id of the container's PID namespace.
        let number = if host.namespace.is_some() {
            server_processes::namespace_pid(host, pid)
        } else {
            Some(pid)
        };
        match PidFile::read(host, &self.server_data_path) {
            Ok(file) if file.pid.is_some() && file.pid == number => ServingProof::Serves,
            Ok(_) => mismatch(),
            Err(miss) => mismatch_if_absent(miss),
        }
    }

    pub fn insert_cluster_facts(
        mut self,
        host: &ServerHost<'_>,
        request: &Request,
        facts: &mut FactSet,
    ) -> Result<(), Note> {
        let shown_data = display_path(&self.data_path);
        let owner = self.owner_user_name(host)?;
        let pid_file = PidFile::read(host, &self.server_data_path);
        let subject = Subject::cluster(&*shown_data);
        facts.set_server_area(&subject, ServerArea::Pg);
        let named_by = self.lead.data_directory_source();
        let running = self.running_reading(&pid_file);
        let major = self.major_version(host);
        self.read_overriding_settings(host, major.value(), facts);
        let reply = self.query_settings(host, pid_file.as_ref().ok(), major.value());
        let answer = reply.as_ref();
        let stopped = running.value() == Some(&false);
        let process = self.lead.server.as_ref().map(|server| server.pid);
        let loaded_us = answer.and_then(SettingsReply::config_load_time_us);
        let remedy = owner
            .value()
            .filter(|_| !stopped)
            .map(|owner| unknown_load_remedy(host, loaded_us.is_some(), &shown_data, owner));
        let certain = (!stopped).then(|| {
            let second = pid_file.ok().and_then(|file| file.start_second);
            let loaded = config_load_time(host, loaded_us, second, process);
            let changed = |path: &Path| {
                let why = start_time::possible_path_change_reason(host, loaded, path)?;
                Some(format!("{why}, and the server did not report the value"))
            };
            self.conf
                .clone()
                .with_changed_file_gaps(changed, remedy.as_ref())
        });
        let without_programs = request.without_programs || host.namespace.is_some();
        let home = &self.server_data_path;
        let checksums = data_checksums_reading(host, without_programs, answer, major.value(), home);
        facts.insert(&subject, &postgres::DATA_CHECKSUMS, checksums);
        let version = Self::query_version(host, without_programs, answer, major);
        let release = version.value();

        facts.insert_known(
            &subject,
            &kind::KIND,
            ServerKind::Postgres,
            named_by.clone(),
        );
        for (key, text, source) in [
            (&postgres::DATA, &shown_data, &self.data_source),
            (&postgres::NAME, &self.display_name(release), &named_by),
            (
                &postgres::CONFIG_FILE,
                &display_path(&self.lead.config_file),
                &named_by,
            ),
        ] {
            facts.insert_known(&subject, key, text.clone(), source.clone());
        }
        facts.insert(&subject, &postgres::RUNNING, running.clone());
        let has_xlog = release.is_some_and(|release| release.number(0) < 10);
        let wal = if has_xlog { "pg_xlog" } else { "pg_wal" };
        let wal = self.server_data_path.join(wal);
        facts.insert(&subject, &postgres::WAL, host.real_host_directory(&wal));
        insert_wal_file_facts(host, &wal, &subject, facts);
        let tablespaces = self.tablespace_directories(host);
        facts.insert(&subject, &postgres::TABLESPACES, tablespaces);
        self.insert_setting_facts(&subject, answer, certain.as_ref(), release, facts);
        if let Some((directory, port, source)) =
            answer.and_then(SettingsReply::socket_directory_and_port)
        {
            facts.insert_known(
                &subject,
                &postgres::SOCKET_DIRECTORY,
                directory,
                source.clone(),
            );
            facts.insert_known(&subject, &postgres::PORT, port, source);
        }
        let told = ReplyReader {
            answer,
            running: &running,
            remedy,
        };
        let compressions = told.reading("its compression methods", SettingsReply::wal_compressions);
        facts.insert(&subject, &postgres::WAL_COMPRESSIONS, compressions);
        counters::insert_counter_facts(facts, &subject, &told);
        // These settings are in a system catalog, which only the server can read.
        let overrides = told.reading(
            "the settings of databases and roles",
            SettingsReply::synchronous_commit_overrides,
        );
        facts.insert(&subject, &postgres::COMMIT_OVERRIDES, overrides);
        if answer.is_some_and(|answer| answer.has_truncated_overrides) {
            facts.add_note_once(format!("{shown_data}: more than {MAX_OVERRIDES} databases and roles set synchronous_commit; those that turn it off were read first"));
        }
        facts.insert(&subject, &postgres::VERSION, version);
        io_uring::insert_io_uring_facts(host, process, &subject, facts);
        let preloaded =
            server_processes::preloaded_library(self.lead.server.as_ref(), running.value());
        facts.insert(&subject, &postgres::FSYNC_DISABLED_BY, preloaded);
        if let Some(user) = owner.value().filter(|user| *user != "root") {
            suggest_run_as_owner(facts, &subject, user);
        }
        facts.insert(&subject, &postgres::USER, owner);
        Ok(())
    }

    /// Fails if the directory is missing and no process serves it, or if the query timed out,
    /// because further queries would time out too.
    fn owner_user_name(&self, host: &dyn Host) -> Result<Reading<String>, Note> {
        let data = display_path(&self.data_path);
        let config = display_path(&self.lead.config_file);
        let stat = host.stat(&self.server_data_path);
        match stat.as_ref().err().map(|miss| miss.kind) {
            Some(HostErrorKind::Absent) if self.lead.server.is_none() => {
                Err(format!("{config}: its data directory {data} does not exist").into())
            }
            Some(HostErrorKind::TimedOut) => Err(Note::new(
                NoteKind::DataDirectoryTimeout,
                format!("data directory {data} could not be read in time; its cluster is unknown"),
            )),
            _ => Ok(server_processes::owner_user_name(host, stat, &data)),
        }
    }

    fn running_reading(&self, pid_file: &Result<PidFile, HostError>) -> Reading<bool> {
        let path = format!("{}/postmaster.pid", display_path(&self.data_path));
        match (&self.lead.server, pid_file) {
            (Some(server), _) => server.running_reading(),
            (None, Err(miss)) if miss.is_absent() => Reading::known(false, Source::from_file(path)),
            (None, Err(miss)) => error_reading(miss, &path),
            (None, Ok(file)) => {
                let pid = file
                    .pid
                    .map_or_else(|| "a process".to_owned(), |pid| format!("process {pid}"));
                Reading::ambiguous(format!(
                    "{path} names {pid}, but no such server is visible: the server crashed or is hidden from walwise"
                ))
            }
        }
    }

    fn major_version(&self, host: &dyn Host) -> Reading<Version> {
        let path = self.server_data_path.join("PG_VERSION");
        let parse = |text: String| {
            Version::parse(&text).ok_or_else(|| format!("`{text}` is not a version number"))
        };
        let read = file_reading(host.read_attribute(&path), &display_path(&path)).and_then(parse);
        // Debian's path of the configuration contains the major version.
        let config_file = &self.lead.config_file;
        match debian_version_and_name(config_file) {
            Some((version, _)) if !read.is_known() => {
                Reading::known(version, Source::from_file(display_path(config_file)))
                    .and_then(parse)
            }
            _ => read,
        }
    }

    /// Adds the settings that the server reads after the main file: those of ALTER SYSTEM (9.4 and
    /// later), then the command line.
    fn read_overriding_settings(
        &mut self,
        host: &dyn Host,
        major: Option<&Version>,
        facts: &mut FactSet,
    ) {
        if major.is_none_or(|major| major.first_numbers() >= [9, 4]) {
            conf::config_reader(host, &mut self.conf, facts)
                .read_optional_file(&self.server_data_path.join("postgresql.auto.conf"));
        }
        if let Some(server) = &self.lead.server {
            for (name, value) in server.options.iter().flatten() {
                let value = value.as_deref().unwrap_or_default();
                self.conf
                    .add_setting(name, value, server.command_line_source());
            }
        }
    }

    /// The running server's answer; `None` if the server does not answer, or reports another data
    /// directory or major version.
    fn query_settings(
        &self,
        host: &dyn Host,
        pid_file: Option<&PidFile>,
        major: Option<&Version>,
    ) -> Option<SettingsReply> {
        let server = self.lead.server.as_ref()?;
        // A stopped process (SIGSTOP) would answer only after it continues, and log an aborted
        // connection.
        if server_processes::is_process_stopped(host, server.pid) {
            return None;
        }
        let answer = server::query_settings(host, pid_file?.socket.as_ref()?)?;
        let same_directory = answer
            .data_directory()
            .is_none_or(|path| host.real_path(&path).unwrap_or(path) == self.server_data_path);
        let version = answer.version();
        let version = version.as_ref().and_then(Reading::value);
        let same_version = major.zip(version).is_none_or(|(major, version)| {
            settings::major_version_text(major) == settings::major_version_text(version)
        });
        (same_directory && same_version).then_some(answer)
    }

    fn query_version(
        host: &dyn Host,
        without_programs: bool,
        answer: Option<&SettingsReply>,
        major: Reading<Version>,
    ) -> Reading<Version> {
        if let Some(version) = answer.and_then(SettingsReply::version) {
            return version;
        }
        let Some(number) = major
            .value()
            .and_then(major_with_programs)
            .filter(|_| !without_programs)
        else {
            return major;
        };
        // `pg_ctl` is tried first: it prints the same version as `postgres`, only faster. A capture
        // may hold only the output of `postgres`.
        let told = [Tool::PgCtl(number), Tool::Postgres(number)]
            .into_iter()
            .find_map(|tool| {
                let printed = host.run_tool(tool, &["--version"]).ok()?;
                let version = parse_version_output(&display_safe(&printed))?;
                let source = Source::Command {
                    argv: format!("{} --version", tool.name()),
                };
                (version.number(0) == u64::from(number)).then(|| Reading::known(version, source))
            });
        told.unwrap_or(major)
    }

    fn display_name(&self, version: Option<&Version>) -> String {
        let data = display_path(&self.data_path);
        match (debian_version_and_name(&self.lead.config_file), version) {
            (Some((version, name)), _) => format!("postgresql {version}/{name}"),
            (None, Some(version)) => {
                let major = settings::major_version_text(version);
                format!("postgresql {major} in {data}")
            }
            (None, None) => format!("postgresql in {data}"),
        }
    }

    /// The targets of the symbolic links in pg_tblspc, except those inside the data directory.
    fn tablespace_directories(&self, host: &ServerHost<'_>) -> Reading<Vec<String>> {
        let links = self.server_data_path.join("pg_tblspc");
        let shown = display_path(&links);
        file_reading(host.list_directory(&links), &shown).and_then_reading(|names, source| {
            if names.len() > MAX_TABLESPACES {
                return Reading::ambiguous(format!(
                    "{shown} contains more than {MAX_TABLESPACES} links"
                ));
            }
            let mut found = Vec::new();
            for name in names {
                let link = links.join(name);
                match server_processes::verified_real_path(host, &link) {
                    Ok(real) if real.starts_with(&self.server_data_path) => {}
                    Ok(real) => match host.host_path(&real, source.clone()) {
                        Reading::Known { value, .. } => found.push(display_path(&value)),
                        unknown @ Reading::Unknown { .. } => {
                            return unknown.into_unknown_reading();
                        }
                    },
                    Err(mut miss) => {
                        // A broken link is still a tablespace, so its target is unknown rather
                        // than absent.
                        if miss.is_absent() {
                            miss.kind = HostErrorKind::Failed;
                        }
                        return error_reading(&miss, &format!("realpath {}", display_path(&link)));
                    }
                }
            }
            Reading::known(found, source)
        })
    }

    /// Records the value of every setting as a fact, and a note if server and file differ.
    /// `certain` holds the configured settings that are certainly in force; `None` if no server
    /// runs.
    fn insert_setting_facts(
        &self,
        subject: &Subject,
        answer: Option<&SettingsReply>,
        certain: Option<&ServerConfig>,
        version: Option<&Version>,
        facts: &mut FactSet,
    ) {
        for setting in settings::ALL.iter() {
            let name = setting.name;
            let parse = |value: &Vec<u8>| setting.parse_value(value, version);
            let told = answer.and_then(|answer| answer.setting_reading(name));
            let chosen = match (told, self.conf.setting_reading(name)) {
                (None, _) => certain.unwrap_or(&self.conf).setting_reading(name),
                (Some(told), Some(written))
                    if told.value().map(parse) == written.value().map(parse) =>
                {
                    // If server and file agree, the source is the line in the file.
                    let is_server = matches!(told.source(), Some(Source::Server { .. }));
                    Some(if is_server { written } else { told })
                }
                (Some(told), written) => {
                    if let Some(Reading::Known { value, source }) = written
                        && let Some(told) = told.value()
                    {
                        facts.add_note_once(format!("{cluster}: {name} is {written} in {source} but {told} in the running server: a reload or restart is pending, or the server could not read the file", cluster = self.display_name(version), written = display_safe(&value), told = display_safe(told)));
                    }
                    Some(told)
                }
            };
            let reading = setting.value_in_force(chosen, version);
            facts.insert_untyped_value(subject, setting.fact, reading);
        }
    }
}

/// Parses output such as `postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)`, already made
/// display-safe.
fn parse_version_output(printed: &str) -> Option<Version> {
    let (_, version) = printed.split_once("(PostgreSQL) ")?;
    Version::parse(version.split("\\x0a").next().unwrap_or_default())
}

fn suggest_run_as_owner(facts: &mut FactSet, cluster: &Subject, user: &str) {
    for info in postgres::ALL {
        let reading = facts.reading(cluster, info.id).clone();
        if matches!(
            reading,
            Reading::Unknown {
                why: UnknownReason::Denied,
                ..
            }
        ) {
            facts.insert_untyped_value(
                cluster,
                info,
                reading.with_remedy(Remedy::RunAs(user.to_owned())),
            );
        }
    }
}

struct PidFile {
    pid: Option<u32>,
    /// Start time of the server, in seconds since 1970.
    start_second: Option<u64>,
    socket: Option<PathBuf>,
}

impl PidFile {
    fn read(host: &dyn Host, data: &Path) -> Result<Self, HostError> {
        let text = host.read(&data.join("postmaster.pid"))?;
        let lines: Vec<&[u8]> = text
            .split(|b| *b == b'\n')
            .map(<[u8]>::trim_ascii)
            .collect();
        let word = |line: usize| std::str::from_utf8(lines.get(line)?).ok();
        let number = |line: usize| word(line)?.parse::<u32>().ok();
        let start_second = word(2).and_then(|word| word.parse().ok());
        let directory = lines
            .get(4)
            .map(|line| path_from_bytes(*line))
            .filter(|path| path.is_absolute());
        let socket = directory
            .zip(number(3))
            .map(|(path, port)| path.join(format!(".s.PGSQL.{port}")));
        Ok(Self {
            pid: number(0),
            start_second,
            socket,
        })
    }
}
