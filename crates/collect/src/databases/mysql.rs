//! MySQL and MariaDB servers, running or installed: the directories of data and logs, and the
//! settings that affect storage, each with its source.
//!
//! Candidates for a data directory come from processes, installed programs, the requested
//! directory, and an option file that the user names. Each directory is read with its owner's
//! rights and recorded once. A process counts as the server of a directory only if the process's
//! user owns the directory and the process has the system tablespace open.
//!
//! SET GLOBAL changes many settings at run time without a trace in any file. Files show the
//! settings at the server's start; only the server reports those in force.

mod directories;
mod instance;
mod options;
mod product_version;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use instance::InstanceCandidate;

use super::mount_namespace::ServerHost;
use super::server_processes::{SERVER_RUNNING, ServerProcess, ServingProof};
use super::user_host::UserHost;
use super::{ConfigArgument, ServerConfig, SettingReading, unreported_counter};
use crate::collector::Request;
use crate::databases::server_processes::{self, own_effective_uid};
use crate::facts::catalog::mysql;
use crate::facts::{FactSet, Reading, Remedy, Scope, ServerArea, Source, Subject, UnknownReason};
use crate::host::{Host, HostError, HostErrorKind, Question, Stat, path_from_bytes};
use crate::host_readings::error_reading;
use crate::text::{decode_display_safe, display_path, display_safe};

pub use self::product_version::{ProductVersion, is_program_run_needed};

const DEFAULT_DATA_DIRECTORY: &str = "/var/lib/mysql";

pub fn collect(host: &dyn Host, request: &Request) -> FactSet {
    let mut facts = FactSet::default();
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    // An error is dropped here, because the PostgreSQL collector reports that processes cannot be
    // listed.
    let (running, mut unproven) = server_processes::read_server_processes(
        host,
        request,
        ServerArea::Mysql,
        options::parse_option,
        &mut facts,
    )
    .unwrap_or_default();
    let leads = running.into_iter().map(|server| InstanceCandidate {
        reader_uid: server.uid,
        server: Some(server),
        ..InstanceCandidate::default()
    });
    let asked = target_data_directory(host, request);
    let named = config_argument_candidate(host, request, asked.as_ref(), &mut facts);
    let lead_of = |home: &Path, directory| InstanceCandidate {
        reader_uid: UserHost::for_owner_or_nobody(host, home).uid,
        directory,
        ..InstanceCandidate::default()
    };
    let installed = lead_of(Path::new(DEFAULT_DATA_DIRECTORY), None);
    let asked = asked.map(|directory| lead_of(&directory, Some(directory.clone())));
    for lead in leads.chain(named).chain([installed]).chain(asked) {
        let mut own = FactSet::default();
        let pid = lead.server.as_ref().map(|server| server.pid);
        let view = ServerHost::new(host, lead.reader_uid, pid);
        let named = lead.config_argument;
        let found = match (lead.read_instance(&view, request, &mut own), named) {
            (Ok(Some(found)), _) => found,
            (Ok(None), None) => continue,
            (Ok(None), Some(named)) => {
                facts.add_note_once(
                    named.unused_file_note("its data directory contains no server data"),
                );
                continue;
            }
            (Err(note), _) => {
                // `own` has a cluster only if the data directory of a running server was not read
                // in time. Notes about any other candidate are dropped, because another user's
                // files may have caused them.
                if own.subjects_of_scope(Scope::Cluster).next().is_some() {
                    facts.merge(own);
                }
                facts.add_note_once(note);
                continue;
            }
        };
        let stopped = if seen.contains(&found.path) {
            Err(SERVER_RUNNING.to_owned())
        } else {
            found.prove_stopped(&view, &unproven)
        };
        if let (Some(named), Err(why)) = (named, stopped) {
            facts.add_note_once(named.unused_file_note(why));
            continue;
        }
        if seen.contains(&found.path) {
            continue;
        }
        match found.prove_served(&view) {
            ServingProof::Serves => {
                seen.insert(found.path.clone());
                found.insert_instance_facts(&view, &unproven, &mut own);
                facts.merge(own);
            }
            ServingProof::Contradicted(note) => facts.add_note_once(note),
            ServingProof::Unreadable(what) => unproven.extend(found.unproven_process(what)),
        }
    }
    facts
}

fn config_argument_candidate<'a>(
    host: &dyn Host,
    request: &'a Request,
    asked: Option<&PathBuf>,
    facts: &mut FactSet,
) -> Option<InstanceCandidate<'a>> {
    let named = ConfigArgument::from_request(request, ServerArea::Mysql)?;
    let lead = |reader_uid, directory| InstanceCandidate {
        directory,
        config_argument: Some(named),
        reader_uid,
        ..InstanceCandidate::default()
    };
    let reader = named.reader_uid(host, asked);
    let view = ServerHost::new(host, reader, None);
    match lead(reader, None).read_instance(&view, request, &mut FactSet::default()) {
        Ok(Some(found)) if found.has_datadir_setting() => {
            if let Some(asked) = asked.filter(|asked| **asked != found.path) {
                facts.add_note_once(named.other_data_directory_note(&found.path, asked));
            }
            Some(lead(named.reader_uid(host, Some(&found.path)), None))
        }
        Ok(_) | Err(_) => Some(lead(reader, asked.cloned())),
    }
}

/// A server whose data directory was found, running or not.
struct MysqlInstance {
    /// The data directory's path in walwise's mount namespace, with symbolic links resolved.
    path: PathBuf,
    /// The data directory's path in the server's mount namespace.
    server_path: PathBuf,
    data_source: Source,
    edition: ProductVersion,
    server: Option<ServerProcess>,
    conf: ServerConfig,
}

/// Whether the directory has the entries `mysql` and `ibdata1`, which a server creates in its data
/// directory by default. A directory to which access is denied counts as a data directory.
fn may_be_data_directory(host: &dyn Host, path: &Path) -> bool {
    let has = |name: &str| host.stat(&path.join(name));
    match has("mysql") {
        Ok(stat) => {
            let tablespace = has("ibdata1")
                .map_or_else(|miss| may_exist_despite_error(&miss), |stat| stat.is_file());
            stat.is_dir() && tablespace
        }
        Err(miss) => {
            miss.kind == HostErrorKind::Denied && host.stat(path).is_ok_and(|stat| stat.is_dir())
        }
    }
}

fn may_exist_despite_error(miss: &HostError) -> bool {
    !matches!(
        miss.kind,
        HostErrorKind::Absent | HostErrorKind::NotCollected
    )
}

/// The requested target or its nearest parent that is a data directory; `None` if there is
/// none, without a target, or if the target's links cannot be resolved.
pub fn target_data_directory(host: &dyn Host, request: &Request) -> Option<PathBuf> {
    let real = host.real_path(request.target.as_deref()?).ok()?;
    // An entry to which access is denied may exist. A directory therefore counts if one entry
    // exists and the other is not certainly missing.
    let has_both = |path: &&Path| {
        let entries = ["ibdata1", "mysql"].map(|name| host.stat(&path.join(name)));
        let may_exist = |entry: &Result<Stat, HostError>| {
            entry.as_ref().err().is_none_or(may_exist_despite_error)
        };
        entries.iter().any(Result::is_ok) && entries.iter().all(may_exist)
    };
    real.ancestors().find(has_both).map(Path::to_owned)
}

#[cfg(test)]
mod tests;

// A running server's own settings, queried through its socket with the rights of the invoking
// user, even if that is root.
//
// MariaDB logs each refused connection, so only a server that probably accepts the user is
// queried. Servers accept root without a password (unix_socket, auth_socket) by default from
// MariaDB 10.4 on, and in Debian's and Ubuntu's MySQL. MariaDB also accepts the server's own user.
//
// The answer counts only if it names the server's data directory and the socket belongs to the
// server's user.

/// Default sockets in packages of Debian and SUSE, of Red Hat, and of the upstream projects.
const STANDARD_SOCKETS: [&str; 3] = [
    "/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

#[derive(Debug)]
enum VariablesReply {
    Variables(BTreeMap<String, Vec<u8>>, Source),
    /// Why the server did not answer.
    NoReply(Reading<u64>),
}

/// `view` is the host in the server's mount namespace, and `seen` is the data directory's path
/// there.
fn query_variables(
    view: &dyn Host,
    edition: &ProductVersion,
    server: &ServerProcess,
    conf: &ServerConfig,
    seen: &Path,
) -> VariablesReply {
    let data = display_path(seen);
    let silent = |reading: Reading<u64>| {
        VariablesReply::NoReply(reading.with_remedy(Remedy::Do(format!(
            "let root log in through the socket of the server with data directory {data} (plugin unix_socket or auth_socket), or compare the report with its SHOW GLOBAL VARIABLES"
        ))))
    };
    let uid = own_effective_uid(view);
    let (root, own) = (uid == Some(0), uid == Some(server.uid));
    let lets_in = edition
        .product_and_version()
        .is_some_and(|(line, version)| {
            if line.is_mariadb() {
                (root || own) && version.first_numbers() >= [10, 4]
            } else {
                root && version.first_numbers() >= [8, 0]
            }
        });
    if !lets_in {
        let (whom, remedy) = if root {
            let compare = format!(
                "compare the report with SHOW GLOBAL VARIABLES on the server with data directory {data}"
            );
            ("this release may require a password", Remedy::Do(compare))
        } else {
            let whom = "only root can connect without a password";
            (whom, Remedy::RunAsRoot)
        };
        let unknown = Reading::uncollected(format!("the server was not queried: {whom}"));
        return VariablesReply::NoReply(unknown.with_remedy(remedy));
    }
    let named = conf.last_path_ignoring_gaps("socket", seen);
    let sockets = named.map_or_else(
        || STANDARD_SOCKETS.map(PathBuf::from).to_vec(),
        |socket| vec![socket],
    );
    let is_own = |path: &PathBuf| {
        let stat = view.stat(path);
        stat.is_ok_and(|stat| stat.uid == u64::from(server.uid))
    };
    let Some(socket) = sockets.into_iter().find(is_own) else {
        return silent(Reading::absent(
            "the server was not queried: no socket found",
        ));
    };
    let shown = display_path(&socket);
    let pid = server.pid;
    // A stopped process (SIGSTOP) would answer only after it continues, and log an aborted
    // connection.
    if server_processes::is_process_stopped(view, pid) {
        return silent(Reading::unknown(
            UnknownReason::TimedOut,
            format!("the server was not queried: process {pid} is stopped"),
        ));
    }
    let answer = match view.ask(&Question::MysqlSettings(socket)) {
        Ok(answer) => answer,
        Err(miss) => {
            let what = format!("no answer from the server at {shown}");
            return silent(error_reading(&miss, &what));
        }
    };
    let lines = answer.split(|b| *b == b'\n');
    let rows: BTreeMap<_, _> = lines.filter_map(parse_variable_row).collect();
    let directory = rows.get("datadir");
    let directory = directory.map(|path| path_from_bytes(path.as_slice()));
    if directory.is_some_and(|path| view.real_path(&path).unwrap_or(path) == seen) {
        VariablesReply::Variables(rows, Source::Server { socket: shown })
    } else {
        silent(Reading::ambiguous(format!(
            "the server at {shown} has a different data directory"
        )))
    }
}

fn parse_variable_row(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let line = String::from_utf8_lossy(line);
    let (name, value) = line.split_once('\t')?;
    Some((name.to_owned(), decode_display_safe(value)))
}

impl VariablesReply {
    /// The reported value; `None` if it is empty or was not reported.
    pub fn variable_reading(&self, name: &str) -> Option<SettingReading> {
        let Self::Variables(rows, source) = self else {
            return None;
        };
        let value = rows.get(name).filter(|value| !value.is_empty())?;
        // The option log_bin is a path prefix; the variable of that name is a switch.
        let value = match (name, value.as_slice()) {
            ("log_bin", b"ON") => b"1".to_vec(),
            ("log_bin", b"OFF") => Vec::new(),
            _ => value.clone(),
        };
        Some(Reading::known(value, source.clone()))
    }
}

// Redo-log and binary-log counters that a running MySQL or MariaDB reports. They start at zero
// with the server.

/// `answer` is `None` if no process is proven to be the server.
fn insert_mysql_counter_facts(
    facts: &mut FactSet,
    cluster: &Subject,
    answer: Option<&VariablesReply>,
) {
    let count = |name: &str| counter_reading(answer, name);
    facts.insert(
        cluster,
        &mysql::UPTIME,
        count("Uptime").map(|seconds| seconds as f64 * 1e6),
    );
    for (key, name) in [
        (&mysql::REDO_WRITTEN, "Innodb_os_log_written"),
        (&mysql::LOG_WAITS, "Innodb_log_waits"),
        (&mysql::REPLICAS, "Binlog_dump_threads"),
    ] {
        facts.insert(cluster, key, count(name));
    }
    let mut age = count("Innodb_checkpoint_age");
    if !age.is_known() {
        age = count("Innodb_redo_log_logical_size");
    }
    facts.insert(cluster, &mysql::CHECKPOINT_AGE, age);
    let per_group = count("Binlog_group_commits").and_then_reading(|groups, _| match groups {
        0 => Reading::absent("no transaction has been written to the binary log yet"),
        groups => count("Binlog_commits").map(|commits| commits as f64 / groups as f64),
    });
    facts.insert(cluster, &mysql::COMMITS_PER_GROUP, per_group);
}

fn counter_reading(answer: Option<&VariablesReply>, name: &str) -> Reading<u64> {
    match answer {
        None => Reading::absent(format!("only a running server reports {name}")),
        Some(VariablesReply::NoReply(unknown)) => unknown.clone(),
        Some(told @ VariablesReply::Variables(..)) => match told.variable_reading(name) {
            Some(value) => value.and_then(|value| settings::parse_size(&display_safe(&value))),
            None => unreported_counter(name, told.variable_reading("Uptime").is_some()),
        },
    }
}

// Whether MySQL ignores the two old settings of the redo log's size.
//
// From MySQL 8.0.30 on, `innodb_redo_log_capacity` sets the size of the redo log. If it is
// set, the server ignores `innodb_log_file_size` and `innodb_log_files_in_group` and logs a
// note (MySQL 8.0.30 release notes; MySQL manual, *Redo Log*). If it is unset, the product of
// these two is still the size. MariaDB has only the two old settings.

const CAPACITY_SETTING: &str = "innodb_redo_log_capacity";
const OLD_SIZE_SETTINGS: [&str; 2] = ["innodb_log_file_size", "innodb_log_files_in_group"];

fn ignored_redo_settings(written: &ServerConfig, edition: &ProductVersion) -> Reading<Vec<String>> {
    let Some((line, version)) = edition.product_and_version() else {
        return Reading::uncollected(format!(
            "the server's version is unknown, so the server may lack {CAPACITY_SETTING}"
        ));
    };
    if settings::default_in_release(CAPACITY_SETTING, line, version).is_absent() {
        return Reading::absent(format!(
            "{} {} has no {CAPACITY_SETTING}",
            line.server_product_name(),
            version.numeric_part()
        ));
    }
    let Some(capacity) = written.setting_reading(CAPACITY_SETTING) else {
        let of = settings::release_series_name(line, version);
        return Reading::known(Vec::new(), Source::Default { of });
    };
    capacity.and_then_reading(|_, source| {
        let ignored = configured_names(written, OLD_SIZE_SETTINGS, source.clone());
        ignored.and_then_reading(|ignored, _| Reading::known(ignored, source))
    })
}

/// The names that the configuration sets, with the source of the last one, or `default` if it sets
/// none. Unknown if the last value of any name is uncertain.
fn configured_names(
    conf: &ServerConfig,
    names: impl IntoIterator<Item = &'static str>,
    default: Source,
) -> Reading<Vec<String>> {
    let (mut set, mut last) = (Vec::new(), default);
    for name in names {
        match conf.setting_reading(name) {
            None => {}
            Some(Reading::Known { source, .. }) => {
                set.push(name.to_owned());
                last = source;
            }
            Some(unknown @ Reading::Unknown { .. }) => return unknown.into_unknown_reading(),
        }
    }
    Reading::known(set, last)
}

#[cfg(test)]
mod counter_tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::facts::{Key, Source};

    fn counter_value(rows: &[(&str, &str)], key: &Key<u64>) -> Result<u64, UnknownReason> {
        let rows: BTreeMap<_, _> = rows
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()))
            .collect();
        let answer = VariablesReply::Variables(rows, Source::from_system_call("test"));
        let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/db"));
        insert_mysql_counter_facts(&mut facts, &cluster, Some(&answer));
        match facts.get(&cluster, key) {
            Reading::Known { value, .. } => Ok(value),
            Reading::Unknown { why, .. } => Err(why),
        }
    }

    #[test]
    fn counters_have_values_or_reasons() {
        let age = &mysql::CHECKPOINT_AGE;
        assert_eq!(
            counter_value(&[("Uptime", "9"), ("Innodb_checkpoint_age", "7")], age),
            Ok(7)
        );
        assert_eq!(
            counter_value(
                &[("Uptime", "9"), ("Innodb_redo_log_logical_size", "8")],
                age
            ),
            Ok(8)
        );
        assert_eq!(
            counter_value(&[("Uptime", "9")], age),
            Err(UnknownReason::Absent)
        );
        assert_eq!(
            counter_value(&[("port", "9")], age),
            Err(UnknownReason::NotCollected),
            "an older capture"
        );
        assert_eq!(
            counter_value(
                &[("Uptime", "9"), ("Innodb_os_log_written", "x")],
                &mysql::REDO_WRITTEN
            ),
            Err(UnknownReason::Malformed)
        );
    }

    #[test]
    fn counters_without_reply_are_unknown() {
        let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/db"));
        let silent = VariablesReply::NoReply(Reading::denied("no"));
        for (answer, expected) in [
            (Some(&silent), UnknownReason::Denied),
            (None, UnknownReason::Absent),
        ] {
            insert_mysql_counter_facts(&mut facts, &cluster, answer);
            for name in [
                "mysql.uptime",
                "mysql.redo_written",
                "mysql.commits_per_group",
                "mysql.checkpoint_age",
            ] {
                let Reading::Unknown { why, .. } = facts.reading_by_name(&cluster, name) else {
                    panic!("{name}")
                };
                assert_eq!(*why, expected, "{name}");
            }
        }
    }
}
