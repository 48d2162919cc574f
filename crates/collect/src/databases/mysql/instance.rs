//! The facts of one server, gathered from its process, option files, program and data directory.
//!
//! If a running server does not answer, its files count only if they have not changed since its
//! start. In another mount namespace the data directory may have another path. Device and inode
//! then prove that both paths lead to one directory.

use std::path::{Path, PathBuf};

use super::directories::ServerDirectoryResolver;
use super::product_version::ProductVersion;
use super::settings::{self, ServerVariable};
use super::{
    DEFAULT_DATA_DIRECTORY, MysqlInstance, VariablesReply, configured_names, ignored_redo_settings,
    insert_mysql_counter_facts, may_be_data_directory, options, query_variables,
};
use crate::collector::Request;
use crate::databases::mount_namespace::ServerHost;
use crate::databases::server_processes::{self, ServerProcess, ServingProof, UnprovenProcess};
use crate::databases::{ConfigArgument, ServerConfig, SettingReading, start_time};
use crate::facts::catalog::cluster;
use crate::facts::catalog::mysql::{self, InnodbFlushMethod};
use crate::facts::{FactSet, Key, Note, Reading, Remedy, ServerArea, ServerKind, Source, Subject};
use crate::host::{Host, HostErrorKind, Question};
use crate::text::display_path;

#[derive(Debug, Default)]
pub struct InstanceCandidate<'a> {
    pub server: Option<ServerProcess>,
    pub directory: Option<PathBuf>,
    pub config_argument: Option<ConfigArgument<'a>>,
    pub reader_uid: u32,
}

impl InstanceCandidate<'_> {
    /// Finds the data directory and reads the option files; `None` if no program or data directory
    /// is found. An error is the note that explains why a server is left out of the report.
    pub fn read_instance(
        self,
        view: &ServerHost<'_>,
        request: &Request,
        facts: &mut FactSet,
    ) -> Result<Option<MysqlInstance>, Note> {
        let edition = match &self.server {
            Some(server) => ProductVersion::from_server_process(view.invoker, request, server.pid),
            None => match ProductVersion::query_installed_program(view.invoker, request) {
                Some(edition) => edition,
                None if self.directory.is_none() && self.config_argument.is_none() => {
                    return Ok(None);
                }
                None => ProductVersion::unknown_without_program(),
            },
        };
        let file = self.config_argument.map(|named| named.file);
        let mut conf = options::read_options(view, &edition, self.server.as_ref(), file, facts);
        let (data, data_source) = self.candidate_data_directory(view.invoker, &conf)?;
        let seen = match server_processes::verified_real_path(view, &data) {
            Err(miss) if miss.kind == HostErrorKind::TimedOut => {
                if view.namespace.is_none() {
                    self.insert_timed_out_server(view, &data, data_source, facts);
                }
                let shown = display_path(&data);
                return Err(format!(
                    "{shown} could not be read in time; the server that uses it is unknown"
                )
                .into());
            }
            found => found.unwrap_or(data),
        };
        let data = match view.host_path(&seen, data_source.clone()) {
            Reading::Known { value, .. } => value,
            Reading::Unknown { detail, .. } => return Err(format!("a database server is in another mount namespace, perhaps a container: {detail}; run walwise there to check it").into()),
        };
        if self.server.is_none() && !may_be_data_directory(view, &data) {
            return Ok(None);
        }
        options::read_persisted_options(&mut conf, view, &edition, &seen, file, facts);
        if let (None, Some(directory)) = (&self.server, &self.directory) {
            let configured = conf.last_path_ignoring_gaps("datadir", directory);
            let configured = configured.unwrap_or_else(|| match self.config_argument {
                Some(_) => directory.clone(),
                None => PathBuf::from(DEFAULT_DATA_DIRECTORY),
            });
            let configured = view.real_path(&configured).unwrap_or(configured);
            if configured != data {
                let shown = display_path(&data);
                let detail = match self.config_argument {
                    Some(named) => named
                        .other_data_directory_note(&configured, &data)
                        .to_string(),
                    None => {
                        format!("this host's option files set a data directory other than {shown}")
                    }
                };
                let unknown = Reading::uncollected(detail);
                conf.add_gap(unknown.with_remedy(Remedy::Do(format!(
                    "start the server with data directory {shown}, then check again"
                ))));
            }
        }
        Ok(Some(MysqlInstance {
            path: data,
            server_path: seen,
            data_source,
            server: self.server,
            edition,
            conf,
        }))
    }

    /// Records a server whose data directory was not read in time. Every setting stays unknown;
    /// without the record, the directory would appear to have no server.
    fn insert_timed_out_server(
        &self,
        host: &dyn Host,
        data: &Path,
        source: Source,
        facts: &mut FactSet,
    ) {
        let Some(running) = self.server.as_ref().and_then(|server| {
            server_processes::running_reading_of_unread_directory(host, server, data)
        }) else {
            return;
        };
        let shown = display_path(data);
        let subject = Subject::cluster(&*shown);
        facts.set_server_area(&subject, ServerArea::Mysql);
        facts.insert_known(&subject, &mysql::DATA, shown, source);
        facts.insert(&subject, &mysql::RUNNING, running);
    }

    fn candidate_data_directory(
        &self,
        host: &dyn Host,
        conf: &ServerConfig,
    ) -> Result<(PathBuf, Source), Note> {
        if let Some(directory) = &self.directory {
            let source = Source::from_file(display_path(directory));
            return Ok((directory.clone(), source));
        }
        // At its start a server changes into its data directory (my_setwd(mysql_real_data_home) in
        // mysqld.cc of MySQL and of MariaDB), even if the option files have changed since.
        if let Some(server) = &self.server {
            let link = format!("/proc/{}/cwd", server.pid);
            if let Ok(path) = host.link_target(Path::new(&link)) {
                return Ok((path, Source::from_file(link)));
            }
        }
        let usual = PathBuf::from(DEFAULT_DATA_DIRECTORY);
        let set = conf.setting_reading("datadir");
        match (set, &self.server, self.config_argument) {
            (Some(Reading::Known { value, source }), ..) => {
                Ok((options::join_base_and_path_value(&usual, &value), source))
            }
            (Some(Reading::Unknown { detail, .. }), Some(server), _) => {
                let pid = server.pid;
                Err(format!("database process {pid}: data directory not found ({detail}); run walwise as root").into())
            }
            (Some(Reading::Unknown { detail, .. }), None, Some(named)) => {
                Err(named.unused_file_note(detail))
            }
            (Some(Reading::Unknown { .. }), None, None) | (None, ..) => {
                let of = "MySQL and MariaDB packages".to_owned();
                Ok((usual, Source::Default { of }))
            }
        }
    }
}

impl MysqlInstance {
    pub fn has_datadir_setting(&self) -> bool {
        self.conf.last_value_ignoring_gaps("datadir").is_some()
    }

    /// The error is the reason to suspect that a server is running on the directory.
    pub fn prove_stopped(
        &self,
        host: &dyn Host,
        unproven: &[UnprovenProcess],
    ) -> Result<(), String> {
        server_processes::check_stopped(self.running_reading(host, unproven))
    }

    /// Whether the process serves the data directory. Any user can start a process in a directory,
    /// but only the server's user owns it and has its system tablespace open.
    pub fn prove_served(&self, host: &ServerHost<'_>) -> ServingProof {
        let Some(server) = &self.server else {
            return ServingProof::Serves;
        };
        let (pid, uid, shown) = (server.pid, server.uid, display_path(&self.path));
        match host.directory_owner_uid(&self.server_path, &self.path, uid) {
            Ok(owner) if owner == u64::from(uid) => {}
            Ok(owner) => {
                let note = format!(
                    "process {pid} of user {uid} claims to be a database server and names {shown}, which belongs to user {owner}; the process was ignored"
                );
                return ServingProof::Contradicted(note.into());
            }
            Err(_) => return ServingProof::Unreadable("the owner of the directory"),
        }
        // InnoDB keeps the system tablespace in `innodb_data_home_dir` if that is set.
        let home = self
            .conf
            .last_path_ignoring_gaps("innodb_data_home_dir", &self.server_path);
        let tablespace = home.as_ref().unwrap_or(&self.server_path).join("ibdata1");
        // Any user can choose a path as argument or working directory, but only a server's user can
        // open its tablespace.
        let holds = host.stat(&tablespace).and_then(|stat| {
            let wanted = format!("{} {} {}", stat.major, stat.minor, stat.inode);
            let open = host.ask(&Question::Tablespaces(pid))?;
            let mut files = open.split(|b| *b == b'\n');
            Ok(files.any(|file| file == wanted.as_bytes()))
        });
        match holds {
            Ok(true) => ServingProof::Serves,
            Err(miss) if !miss.is_absent() => ServingProof::Unreadable("its open files"),
            Ok(false) | Err(_) => {
                ServingProof::Contradicted(format!("database process {pid} names {shown} but does not have its system tablespace open (still starting, in another namespace, or not a server); the process was ignored").into())
            }
        }
    }

    pub fn unproven_process(&self, unread: &str) -> Option<UnprovenProcess> {
        let server = self.server.as_ref()?;
        let detail = format!(
            "process {} may be the server of {}, but {unread} cannot be read",
            server.pid,
            display_path(&self.path)
        );
        Some(UnprovenProcess {
            uid: Some(server.uid),
            detail,
        })
    }

    /// The reading is unknown if one of the `unproven` processes may serve the directory.
    fn running_reading(&self, host: &dyn Host, unproven: &[UnprovenProcess]) -> Reading<bool> {
        if let Some(server) = &self.server {
            return server.running_reading();
        }
        let owner = host.stat(&self.server_path).ok().map(|stat| stat.uid);
        let may = |one: &&UnprovenProcess| {
            one.uid
                .is_none_or(|uid| uid == 0 || owner.is_none_or(|owner| owner == u64::from(uid)))
        };
        match unproven.iter().find(may) {
            Some(one) => Reading::denied(one.detail.clone()).with_remedy(Remedy::RunAsRoot),
            None => Reading::known(false, Source::from_file("/proc")),
        }
    }

    /// `unproven` lists processes that may serve this or another directory.
    pub fn insert_instance_facts(
        self,
        view: &ServerHost<'_>,
        unproven: &[UnprovenProcess],
        facts: &mut FactSet,
    ) {
        let shown = display_path(&self.path);
        let subject = Subject::cluster(&*shown);
        facts.set_server_area(&subject, ServerArea::Mysql);
        let running = self.running_reading(view, unproven);
        let remedy = Remedy::Do(format!(
            "restart the server with data directory {shown}, then check again"
        ));
        let process = self.server.as_ref().map(|server| server.pid);
        let started = process.and_then(|pid| view.process_start_time(pid).ok());
        let conf = if running.value() == Some(&false) {
            self.conf.clone()
        } else {
            self.conf.clone().with_changed_file_gaps(
                |path| start_time::possible_path_change_reason(view, started, path),
                Some(&remedy),
            )
        };

        facts.insert(&subject, &mysql::RUNNING, running.clone());
        facts.insert(&subject, &cluster::KIND, self.edition.line.clone());
        facts.insert_known(
            &subject,
            &mysql::NAME,
            self.display_name(),
            self.data_source.clone(),
        );
        let stat = view.stat(&self.server_path);
        facts.insert(
            &subject,
            &mysql::USER,
            server_processes::owner_user_name(view, stat, &shown),
        );
        let preloaded = server_processes::preloaded_library(self.server.as_ref(), running.value());
        facts.insert(&subject, &mysql::FSYNC_DISABLED_BY, preloaded);
        let answer = self
            .server
            .as_ref()
            .map(|server| query_variables(view, &self.edition, server, &conf, &self.server_path));
        ServerDirectoryResolver {
            host: view,
            instance: &self,
            conf: &conf,
            answer: answer.as_ref(),
        }
        .insert_directory_facts(&subject, facts);
        if let Some(VariablesReply::Variables(_, source @ Source::Server { socket })) = &answer {
            facts.insert_known(&subject, &mysql::SOCKET, socket.clone(), source.clone());
        }
        for setting in settings::ALL.iter() {
            let chosen =
                self.value_in_force_noting_difference(setting, &conf, answer.as_ref(), facts);
            let reading = setting.value_in_force(chosen, &self.edition);
            facts.insert_untyped_value(&subject, setting.fact, reading);
        }
        insert_mysql_counter_facts(facts, &subject, answer.as_ref());
        let unsaid = |name: &str| {
            answer
                .as_ref()
                .is_none_or(|answer| answer.variable_reading(name).is_none())
        };
        if unsaid("innodb_flush_method") {
            self.insert_dedicated_server_flush_method(&conf, &subject, facts);
        }
        if conf.setting_reading("innodb_flush_method").is_some() {
            for (name, key) in SET_BY_FLUSH_METHOD {
                if unsaid(name) && facts.get(&subject, key).is_known() {
                    let detail = "innodb_flush_method is set and also affects this setting; only the running server reports the effective value";
                    facts.insert(&subject, key, Reading::ambiguous(detail));
                }
            }
        }
        facts.insert(
            &subject,
            &mysql::REDO_IGNORED,
            ignored_redo_settings(&self.conf, &self.edition),
        );
        let all_names = settings::ALL.iter().map(|setting| setting.name);
        let default = Source::Default {
            of: "MySQL and MariaDB".to_owned(),
        };
        facts.insert(
            &subject,
            &mysql::SET_OPTIONS,
            configured_names(&self.conf, all_names, default),
        );
        facts.insert(&subject, &mysql::VERSION, self.edition.version);
    }

    /// If the server reports the value of the files, the source is the line that sets it. Without a
    /// report, a setting that may have changed since the server's start is unknown.
    fn value_in_force_noting_difference(
        &self,
        setting: &ServerVariable,
        certain: &ServerConfig,
        answer: Option<&VariablesReply>,
        facts: &mut FactSet,
    ) -> Option<SettingReading> {
        let name = setting.name;
        let written = self.conf.setting_reading(name);
        let text = settings::value_in_force(name, written.clone(), &self.edition);
        let written_word = text
            .value()
            .map(|text| setting.canonical_value(text.as_bytes()));
        if let Some(told) = answer.and_then(|answer| answer.variable_reading(name)) {
            let told_word = told.value().map(|value| setting.canonical_value(value));
            if written_word == told_word {
                return written;
            }
            if let (Some(place), Some(word), Some(told_word)) = (
                written.as_ref().and_then(Reading::source),
                written_word,
                told_word,
            ) {
                facts.add_note_once(format!("{server}: {name} is {word} in {place} but {told_word} in the running server: it was set at run time, or the file has changed since; a restart applies the file", server = self.display_name()));
            }
            return Some(told);
        }
        let certain = certain.setting_reading(name);
        match answer {
            Some(VariablesReply::NoReply(Reading::Unknown {
                why,
                detail,
                remedy,
            })) if setting.may_be_dynamic(&self.edition)
                && settings::value_in_force(name, certain.clone(), &self.edition).is_known() =>
            {
                let word = written_word.unwrap_or_default();
                let detail = format!(
                    "{name} was {word} when the server started, but SET GLOBAL may have changed it ({detail})"
                );
                Some(Reading::Unknown {
                    why: *why,
                    detail,
                    remedy: remedy.clone(),
                })
            }
            _ => certain,
        }
    }

    /// Records O_DIRECT_NO_FSYNC as the flush method if MySQL 8.0 chooses it: with
    /// innodb_dedicated_server and no explicit flush method (MySQL 8.0 manual). MySQL 8.4 does not
    /// choose it.
    fn insert_dedicated_server_flush_method(
        &self,
        conf: &ServerConfig,
        subject: &Subject,
        facts: &mut FactSet,
    ) {
        let is_80 = self
            .edition
            .product_and_version()
            .is_some_and(|(line, version)| {
                line == ServerKind::Mysql && version.first_numbers() == [8, 0]
            });
        if !is_80 || conf.setting_reading("innodb_flush_method").is_some() {
            return;
        }
        let dedicated = facts.get(subject, &mysql::DEDICATED);
        if !dedicated.is_absent() && dedicated.value() != Some(&false) {
            let method = dedicated.map(|_| InnodbFlushMethod::DirectNoFsync);
            facts.insert(subject, &mysql::FLUSH_METHOD, method);
        }
    }

    pub fn display_name(&self) -> String {
        let line = self.edition.line.value();
        let line = line.map_or("mysql", |line| line.as_str());
        let version = self.edition.version.value();
        let series = version
            .map(|version| format!(" {}.{}", version.number(0), version.number(1)))
            .unwrap_or_default();
        format!("{line}{series} in {}", display_path(&self.path))
    }
}

/// Settings that an explicit `innodb_flush_method` also changes, from MariaDB 11 on (MariaDB 11.0
/// release notes).
const SET_BY_FLUSH_METHOD: [(&str, &Key<bool>); 2] = [
    ("innodb_data_file_buffering", &mysql::DATA_FILE_BUFFERING),
    (
        "innodb_log_file_write_through",
        &mysql::LOG_FILE_WRITE_THROUGH,
    ),
];
