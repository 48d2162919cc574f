//! The facts of one cluster, joined from its directory, its configuration, its process and its own
//! answer.
//!
//! A running server's answer overrides the files, and a difference is reported as a pending reload.
//! Without an answer, a file tells what is in force only if nothing changed since the server
//! started. A process may live in another mount name space, where its data directory has another
//! path than here. Only a `postmaster.pid` with its process id, in a directory of its user's,
//! proves the directory.

use crate::facts::note::{PostgresNote, ServerNote};
use crate::facts::{Area, Note};
use std::path::{Path, PathBuf};

use super::checksums;
use super::conf::Conf;
use super::counters;
use super::process::Postmaster;
use super::server::{self, SettingsReply};
use super::start::Start;
use super::{installed, settings};
use crate::collector::Request;
use crate::databases::inside::{self, Inside};
use crate::databases::named::ConfigArgument;
use crate::databases::servers::{self, Proof, Unproven};
use crate::facts::catalog::postgres::CommitOverride;
use crate::facts::catalog::{cluster as kind, postgres};
use crate::facts::{FactSet, Reading, Remedy, ServerKind, Source, Subject, Why};
use crate::host::path_of;
use crate::host::pg_lines::MOST_OVERRIDES;
use crate::host::{Host, Miss, MissKind, Question, Tool, path_bytes};
use crate::refusal::refused;
use crate::text::safe;
use crate::version::Version;

/// The largest number of tablespaces whose links are followed; each takes several questions.
const MOST_TABLESPACES: usize = 1000;

#[derive(Clone, Debug)]
pub struct Lead<'a> {
    /// The main configuration file.
    pub config_file: PathBuf,
    /// The data directory, unless the configuration names another.
    pub home: Option<PathBuf>,
    /// Its process, when it runs.
    pub server: Option<Postmaster>,
    /// The source that names the data directory, where that is a file.
    pub named_by: Option<Source>,
    /// The configuration that the user named for a server that does not run.
    pub by_hand: Option<ConfigArgument<'a>>,
    /// The user id that everything is read as.
    pub reader: u32,
}

/// The place of a cluster, and its configuration so far.
pub struct ClusterConfig<'a> {
    lead: Lead<'a>,
    /// The real path of the data directory here.
    pub data: PathBuf,
    /// The same directory as the server sees it.
    seen: PathBuf,
    data_source: Source,
    conf: Conf,
}

impl<'a> Lead<'a> {
    /// Reads the configuration and finds the data directory; the error says why there is none.
    pub fn follow(
        self,
        host: &dyn Host,
        inside: Option<&Inside<'_>>,
        facts: &mut FactSet,
    ) -> Result<ClusterConfig<'a>, PostgresNote> {
        let mut conf = Conf::default();
        conf.file(host, &self.config_file, facts);
        let absolute =
            |value: &[u8]| Some(path_of(value.to_vec())).filter(|path| path.is_absolute());
        let option = self
            .server
            .as_ref()
            .and_then(|server| server.setting("data_directory"));
        let (data, data_source) = if let Some(path) = option.and_then(absolute) {
            (path, self.origin())
        } else if let Some(path) = conf.hint("data_directory").and_then(absolute) {
            let reading = conf.get("data_directory");
            (
                path,
                reading
                    .and_then(|r| r.source().cloned())
                    .unwrap_or_else(|| Source::file(shown(&self.config_file))),
            )
        } else if let Some(home) = &self.home {
            (home.clone(), self.origin())
        } else if self.by_hand.is_some() && conf.get("data_directory").is_none() {
            return Err(PostgresNote::NoDataDirectory);
        } else {
            return Err(PostgresNote::HiddenConfig {
                file: shown(&self.config_file),
            });
        };
        let seen = host.real_path(&data).unwrap_or(data);
        let data = match inside.map(|inside| inside.here(&seen)) {
            None => seen.clone(),
            Some(Reading::Known { value, .. }) => value,
            Some(Reading::Unknown { detail, .. }) => {
                return Err(PostgresNote::OtherMounts { detail });
            }
        };
        Ok(ClusterConfig {
            lead: self,
            data,
            seen,
            data_source,
            conf,
        })
    }

    fn origin(&self) -> Source {
        match (&self.server, &self.home) {
            (Some(server), _) => server.command_line(),
            (None, Some(home)) => self
                .named_by
                .clone()
                .unwrap_or_else(|| Source::file(shown(home))),
            (None, None) => Source::file(shown(&self.config_file)),
        }
    }
}

impl ClusterConfig<'_> {
    /// Proves that no server runs on it; the error says why that is unknown.
    pub fn is_stopped(&self, host: &dyn Host) -> Result<(), ServerNote> {
        match self.running(&PidFile::read(host, &self.seen)) {
            Reading::Known { value: false, .. } => Ok(()),
            Reading::Known { value: true, .. } => Err(ServerNote::Runs),
            Reading::Unknown { detail, .. } => Err(ServerNote::MayRun { detail }),
        }
    }

    /// Whether the process behind the lead serves the directory. A stranger can call a process
    /// `postgres -D` anything. He cannot own a directory of the server's user, nor write a
    /// `postmaster.pid` into it.
    pub fn proof(&self, host: &dyn Host, inside: Option<&Inside<'_>>) -> Proof {
        let Some(server) = &self.lead.server else {
            return Proof::NoServer;
        };
        let data = shown(&self.data);
        let unreadable = |miss: &Miss| {
            let detail = format!("process {} may serve {data}: {miss}", server.pid);
            Proof::Unreadable(Unproven {
                uid: Some(server.uid),
                detail,
            })
        };
        match inside::owner(host, inside, &self.seen, &self.data, server.uid) {
            Ok(owner) if owner == u64::from(server.uid) => {}
            Ok(owner) => {
                let (pid, uid) = (server.pid, server.uid);
                return Proof::Elsewhere(
                    PostgresNote::OtherOwner {
                        pid,
                        uid,
                        data,
                        owner,
                    }
                    .into(),
                );
            }
            Err(miss) if miss.kind == MissKind::Absent => {
                return Proof::Elsewhere(self.not_its_cluster(server));
            }
            // A directory that the process' own user may not reach is not his, and no other user
            // looks there for him.
            Err(miss) if miss.kind == MissKind::Denied && servers::our_uid(host) == Some(0) => {
                let (pid, uid, reason) = (server.pid, server.uid, miss.to_string());
                return Proof::Elsewhere(
                    PostgresNote::HiddenData {
                        pid,
                        uid,
                        data,
                        reason,
                    }
                    .into(),
                );
            }
            Err(miss) => return unreadable(&miss),
        }
        // In a container the process has another process id for itself.
        let number = if inside.is_some() {
            servers::own_number(host, server.pid)
        } else {
            Some(server.pid)
        };
        match PidFile::read(host, &self.seen) {
            Ok(file) if file.pid.is_some() && file.pid == number => Proof::Serves,
            Ok(_) => Proof::Elsewhere(self.not_its_cluster(server)),
            Err(miss) if miss.kind == MissKind::Absent => {
                Proof::Elsewhere(self.not_its_cluster(server))
            }
            Err(miss) => unreadable(&miss),
        }
    }

    fn not_its_cluster(&self, server: &Postmaster) -> Note {
        PostgresNote::OtherCluster {
            pid: server.pid,
            data: shown(&self.data),
        }
        .into()
    }

    /// Records everything about the cluster; the error says why the directory holds none.
    pub fn put(
        mut self,
        host: &dyn Host,
        inside: Option<&Inside<'_>>,
        request: &Request,
        facts: &mut FactSet,
    ) -> Result<(), PostgresNote> {
        let shown_data = shown(&self.data);
        let owner = self.owner(host)?;
        let pid_file = PidFile::read(host, &self.seen);
        let subject = Subject::cluster(&*shown_data);
        facts.is_of(&subject, Area::Pg);
        facts.know(
            &subject,
            &kind::KIND,
            ServerKind::Postgres,
            self.lead.origin(),
        );
        let running = self.running(&pid_file);
        let major = self.major(host);
        self.configure(host, major.value(), facts);
        let answer = self.ask(host, pid_file.as_ref().ok(), major.value());
        let stopped = running.value() == Some(&false);
        let process = self.lead.server.as_ref().map(|server| server.pid);
        let started = || pid_file.ok().and_then(|file| file.started);
        let start = (!stopped).then(|| match answer.as_ref().and_then(SettingsReply::loaded) {
            Some(at_us) => Start::of_load(host, at_us, shown_data.clone()),
            None => Start::new(host, started(), process, shown_data.clone()),
        });
        let remedy = start
            .as_ref()
            .zip(owner.value())
            .map(|(start, owner)| start.remedy(owner));
        let certain = start.map(|start| start.certain(&self.conf, owner.value()));
        // The program of this host is none of a container's.
        let request = Request {
            without_programs: request.without_programs || inside.is_some(),
            ..request.clone()
        };
        let checksums = checksums::read(host, &request, answer.as_ref(), major.value(), &self.seen);
        let version = Self::version(host, &request, answer.as_ref(), major);

        facts.know(
            &subject,
            &postgres::DATA,
            shown_data.clone(),
            self.data_source.clone(),
        );
        facts.put(&subject, &postgres::RUNNING, running.clone());
        facts.know(
            &subject,
            &postgres::NAME,
            self.name(version.value()),
            self.lead.origin(),
        );
        facts.know(
            &subject,
            &postgres::CONFIG_FILE,
            shown(&self.lead.config_file),
            self.lead.origin(),
        );
        facts.put(
            &subject,
            &postgres::WAL,
            self.wal(host, inside, version.value()),
        );
        facts.put(
            &subject,
            &postgres::TABLESPACES,
            self.tablespaces(host, inside),
        );
        self.put_settings(
            &subject,
            answer.as_ref(),
            certain.as_ref(),
            version.value(),
            facts,
        );
        if let Some((directory, port, source)) = answer.as_ref().and_then(SettingsReply::place) {
            facts.know(
                &subject,
                &postgres::SOCKET_DIRECTORY,
                directory,
                source.clone(),
            );
            facts.know(&subject, &postgres::PORT, port, source);
        }
        facts.put(
            &subject,
            &postgres::WAL_COMPRESSIONS,
            compressions(answer.as_ref(), &running, remedy.clone()),
        );
        let unsaid = |what: &str| untold(what, &running, remedy.clone());
        counters::put(facts, &subject, answer.as_ref(), &unsaid);
        facts.put(
            &subject,
            &postgres::COMMIT_OVERRIDES,
            overrides(answer.as_ref(), &running, remedy),
        );
        if answer.as_ref().is_some_and(SettingsReply::lacks_overrides) {
            facts.warn(PostgresNote::OverridesBeyondBound {
                data: shown_data,
                most: MOST_OVERRIDES,
            });
        }
        facts.put(&subject, &postgres::DATA_CHECKSUMS, checksums);
        facts.put(&subject, &postgres::VERSION, version);
        let preloaded = match self.lead.server {
            Some(server) => server.preloaded,
            None => servers::not_running(running.value()),
        };
        facts.put(&subject, &postgres::FSYNC_DISABLED_BY, preloaded);
        if let Some(user) = owner.value().filter(|user| *user != "root") {
            offer_owner(facts, &subject, user);
        }
        facts.put(&subject, &postgres::USER, owner);
        Ok(())
    }

    /// The owner of the data directory; an error when there is no such directory, or when asking
    /// would only take long.
    fn owner(&self, host: &dyn Host) -> Result<Reading<String>, PostgresNote> {
        let data = shown(&self.data);
        let config = shown(&self.lead.config_file);
        let uid = match host.stat(&self.seen) {
            Ok(stat) => u32::try_from(stat.uid).ok(),
            Err(miss) => match (miss.kind, &self.lead.server) {
                (MissKind::Absent, None) => {
                    return Err(PostgresNote::NoData { file: config, data });
                }
                (MissKind::TimedOut, _) => {
                    return Err(PostgresNote::DataSilence { data });
                }
                (_, _) => return Ok(refused(&miss, &data)),
            },
        };
        let Some(uid) = uid else {
            return Ok(Reading::unknown(
                Why::Malformed,
                format!("the owner of {data}"),
            ));
        };
        Ok(match host.ask(&Question::UserName(uid)) {
            Ok(name) => Reading::known(safe(&name), Source::call(format!("stat {data}"))),
            Err(miss) => refused(&miss, &format!("the name of user {uid}")),
        })
    }

    fn running(&self, pid_file: &Result<PidFile, Miss>) -> Reading<bool> {
        let path = format!("{}/postmaster.pid", shown(&self.data));
        match (&self.lead.server, pid_file) {
            (Some(server), _) => {
                Reading::known(true, Source::file(format!("/proc/{}", server.pid)))
            }
            (None, Err(miss)) if miss.kind == MissKind::Absent => {
                Reading::known(false, Source::file(path))
            }
            (None, Err(miss)) => refused(miss, &path),
            (None, Ok(file)) => {
                let pid = file
                    .pid
                    .map_or_else(|| "a process".to_owned(), |pid| format!("process {pid}"));
                Reading::unknown(
                    Why::Ambiguous,
                    format!(
                        "{path} names {pid}, which is not among the servers seen: it crashed, or runs out of sight"
                    ),
                )
            }
        }
    }

    fn major(&self, host: &dyn Host) -> Reading<Version> {
        let path = self.seen.join("PG_VERSION");
        let parse =
            |text: String| Version::parse(&text).ok_or_else(|| format!("`{text}` is no version"));
        let read = match host.attribute(&path) {
            Ok(text) => Reading::known(text, Source::file(shown(&path))).and_then(parse),
            Err(miss) => refused(&miss, &shown(&path)),
        };
        // Debian's directory is named after the major version that it belongs to.
        match installed::debian_name(&self.lead.config_file) {
            Some((version, _)) if !read.is_known() => {
                Reading::known(version, Source::file(shown(&self.lead.config_file))).and_then(parse)
            }
            _ => read,
        }
    }

    /// Adds what is read after the main file: settings made with ALTER SYSTEM (9.4 and later), then
    /// the command line.
    fn configure(&mut self, host: &dyn Host, major: Option<&Version>, facts: &mut FactSet) {
        if major.is_none_or(|major| (major.number(0), major.number(1)) >= (9, 4)) {
            self.conf
                .optional_file(host, &self.seen.join("postgresql.auto.conf"), facts);
        }
        if let Some(server) = &self.lead.server {
            for (name, value) in &server.settings {
                self.conf
                    .set(name.clone(), value.clone(), server.command_line());
            }
        }
    }

    /// The running server's own answer, when it proves to be that of this cluster.
    fn ask(
        &self,
        host: &dyn Host,
        pid_file: Option<&PidFile>,
        major: Option<&Version>,
    ) -> Option<SettingsReply> {
        let server = self.lead.server.as_ref()?;
        // A stopped server would answer once it continues, and log that the client is gone.
        if servers::is_stopped(host, server.pid) {
            return None;
        }
        let socket = pid_file
            .and_then(|file| file.socket.clone())
            .or_else(|| self.configured_socket())?;
        let answer = server::ask(host, &socket)?;
        let same_directory = answer
            .data_directory()
            .is_none_or(|path| host.real_path(&path).unwrap_or(path) == self.seen);
        let version = answer.version();
        let same_version = match (major, version.as_ref().and_then(Reading::value)) {
            (Some(major), Some(version)) => settings::major(major) == settings::major(version),
            _ => true,
        };
        (same_directory && same_version).then_some(answer)
    }

    /// The first socket that the configuration names; the default depends on the build.
    fn configured_socket(&self) -> Option<PathBuf> {
        let known = |name| self.conf.get(name).map(|reading| reading.value().cloned());
        let port = match known("port") {
            Some(port) => String::from_utf8(port?).ok()?.trim().parse::<u16>().ok()?,
            None => 5432,
        };
        let directories = known("unix_socket_directories")??;
        let first = directories.split(|b| *b == b',').next()?.trim_ascii();
        let directory = Some(path_of(first.to_vec())).filter(|path| path.is_absolute())?;
        Some(directory.join(format!(".s.PGSQL.{port}")))
    }

    fn version(
        host: &dyn Host,
        request: &Request,
        answer: Option<&SettingsReply>,
        major: Reading<Version>,
    ) -> Reading<Version> {
        if let Some(version) = answer.and_then(SettingsReply::version) {
            return version;
        }
        let number = major
            .value()
            .and_then(|major| u32::try_from(major.number(0)).ok());
        let Some(number) = number.filter(|number| *number >= 10 && !request.without_programs)
        else {
            return major;
        };
        // Both are of one package. A capture may hold the answer of the server alone.
        let told = [Tool::PgCtl(number), Tool::Postgres(number)]
            .into_iter()
            .find_map(|tool| {
                let printed = host.run(tool, &["--version"]).ok()?;
                let version = release(&safe(&printed))?;
                let source = Source::Command {
                    argv: format!("{} --version", tool.name()),
                };
                (version.number(0) == u64::from(number)).then(|| Reading::known(version, source))
            });
        told.unwrap_or(major)
    }

    fn name(&self, version: Option<&Version>) -> String {
        match (installed::debian_name(&self.lead.config_file), version) {
            (Some((version, name)), _) => format!("postgresql {version}/{name}"),
            (None, Some(version)) => {
                format!(
                    "postgresql {} in {}",
                    settings::major(version),
                    shown(&self.data)
                )
            }
            (None, None) => format!("postgresql in {}", shown(&self.data)),
        }
    }

    /// The directory of the WAL, which is often a symbolic link (`pg_xlog` before 10).
    fn wal(
        &self,
        host: &dyn Host,
        inside: Option<&Inside<'_>>,
        version: Option<&Version>,
    ) -> Reading<String> {
        let old = version.is_some_and(|version| version.number(0) < 10);
        let path = self.seen.join(if old { "pg_xlog" } else { "pg_wal" });
        let call = format!("realpath {}", shown(&path));
        match (host.real_path(&path), inside) {
            (Ok(real), Some(inside)) => inside.here(&real).map(|here| shown(&here)),
            (Ok(real), None) => Reading::known(shown(&real), Source::call(call)),
            (Err(miss), _) => refused(&miss, &call),
        }
    }

    /// Where tablespaces are: symbolic links in pg_tblspc, each named by the tablespace's id.
    fn tablespaces(&self, host: &dyn Host, inside: Option<&Inside<'_>>) -> Reading<Vec<String>> {
        let links = self.seen.join("pg_tblspc");
        let names = match host.list(&links) {
            Ok(names) => names,
            Err(miss) => return refused(&miss, &shown(&links)),
        };
        if names.len() > MOST_TABLESPACES {
            let says = format!("{} holds more than {MOST_TABLESPACES} links", shown(&links));
            return Reading::unknown(Why::Ambiguous, says);
        }
        let mut found = Vec::new();
        for name in names {
            let link = links.join(name);
            match host.real_path(&link) {
                Ok(real) if real.starts_with(&self.seen) => {}
                Ok(real) => match inside.map(|inside| inside.here(&real)) {
                    None => found.push(shown(&real)),
                    Some(Reading::Known { value, .. }) => found.push(shown(&value)),
                    Some(Reading::Unknown {
                        why,
                        detail,
                        remedy,
                    }) => {
                        return Reading::Unknown {
                            why,
                            detail,
                            remedy,
                        };
                    }
                },
                Err(miss) => {
                    // A link that leads nowhere is not one tablespace fewer.
                    let miss = Miss::new(
                        if miss.kind == MissKind::Absent {
                            MissKind::Failed
                        } else {
                            miss.kind
                        },
                        miss.detail,
                    );
                    return refused(&miss, &format!("realpath {}", shown(&link)));
                }
            }
        }
        Reading::known(found, Source::file(shown(&links)))
    }

    /// `certain` is the part of the files that is in force in the running server; `None` when none
    /// runs.
    fn put_settings(
        &self,
        subject: &Subject,
        answer: Option<&SettingsReply>,
        certain: Option<&Conf>,
        version: Option<&Version>,
        facts: &mut FactSet,
    ) {
        for setting in settings::ALL.iter() {
            let written = self.conf.get(setting.name);
            let told = answer.and_then(|answer| answer.get(setting.name));
            let words = |reading: Option<&Reading<Vec<u8>>>| {
                Some(setting.spelled(reading?.value()?, version))
            };
            let chosen = match (words(told.as_ref()), words(written.as_ref())) {
                (Some(told_word), Some(written_word)) if told_word != written_word => {
                    // A known value has a source.
                    if let Some(source) = written.as_ref().and_then(Reading::source) {
                        facts.warn(PostgresNote::OtherValue {
                            cluster: self.name(version),
                            setting: setting.name,
                            written: written_word,
                            source: Box::new(source.clone()),
                            told: told_word,
                        });
                    }
                    told
                }
                // Both agree: the line that says so is worth more than the server's word.
                (Some(_), Some(_))
                    if told.as_ref().is_some_and(|told| {
                        matches!(told.source(), Some(Source::Server { .. }))
                    }) =>
                {
                    written
                }
                (Some(_), _) => told,
                (None, _) => certain.unwrap_or(&self.conf).get(setting.name),
            };
            setting.put(facts, subject, chosen, version);
        }
    }
}

/// `postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)`, made display-safe.
fn release(printed: &str) -> Option<Version> {
    let (_, version) = printed.split_once("(PostgreSQL) ")?;
    Version::parse(version.split("\\x0a").next().unwrap_or_default())
}

/// Settings of databases and roles for their own sessions; they are in a catalog, which only the
/// server reads.
fn overrides(
    answer: Option<&SettingsReply>,
    running: &Reading<bool>,
    remedy: Option<Remedy>,
) -> Reading<Vec<CommitOverride>> {
    let told = answer.map(SettingsReply::commit_overrides);
    told.unwrap_or_else(|| untold("what databases and roles set", running, remedy))
}

fn compressions(
    answer: Option<&SettingsReply>,
    running: &Reading<bool>,
    remedy: Option<Remedy>,
) -> Reading<Vec<String>> {
    let told = answer.map(SettingsReply::wal_compressions);
    told.unwrap_or_else(|| untold("what it was built with", running, remedy))
}

/// What only the server could tell, and did not.
fn untold<T>(what: &str, running: &Reading<bool>, remedy: Option<Remedy>) -> Reading<T> {
    if running.value() == Some(&false) {
        return Reading::unknown(Why::Absent, format!("only a running server tells {what}"));
    }
    let unknown = Reading::unknown(Why::Denied, format!("the server did not say {what}"));
    match remedy {
        Some(remedy) => unknown.or_try(remedy),
        None => unknown,
    }
}

/// Offers the owner of the data directory as a remedy for what was denied to us.
fn offer_owner(facts: &mut FactSet, cluster: &Subject, user: &str) {
    for info in postgres::ALL {
        let reading = facts.reading(cluster, info.id).clone();
        if matches!(
            reading,
            Reading::Unknown {
                why: Why::Denied,
                ..
            }
        ) {
            facts.put_value(
                cluster,
                info,
                reading.or_try(Remedy::RunAs(user.to_owned())),
            );
        }
    }
}

/// postmaster.pid, which the server writes at its start: process id, data directory, start time,
/// port, socket directory.
struct PidFile {
    pid: Option<u32>,
    /// In seconds since 1970.
    started: Option<u64>,
    socket: Option<PathBuf>,
}

impl PidFile {
    fn read(host: &dyn Host, data: &Path) -> Result<Self, Miss> {
        let text = host.read(&data.join("postmaster.pid"))?;
        let lines: Vec<&[u8]> = text
            .split(|b| *b == b'\n')
            .map(<[u8]>::trim_ascii)
            .collect();
        let word = |line: usize| std::str::from_utf8(lines.get(line)?).ok();
        let number = |line: usize| word(line)?.parse::<u32>().ok();
        let started = word(2).and_then(|word| word.parse().ok());
        let directory = lines
            .get(4)
            .map(|line| path_of(line.to_vec()))
            .filter(|path| path.is_absolute());
        let socket = directory
            .zip(number(3))
            .map(|(path, port)| path.join(format!(".s.PGSQL.{port}")));
        Ok(Self {
            pid: number(0),
            started,
            socket,
        })
    }
}

fn shown(path: &Path) -> String {
    safe(path_bytes(path))
}
