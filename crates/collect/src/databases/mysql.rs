//! MySQL and MariaDB servers, running or installed: the directories of data and logs, and the
//! settings that affect storage, each with its source.
//!
//! Leads come from processes, installed programs and the requested directory. Each is followed to a
//! data directory as its owner, and each directory is recorded once. A process is believed if its
//! user owns the directory and it has the system tablespace there open. Only allow-listed keys of
//! option files arrive here. SET GLOBAL changes most settings at run time without a trace, so files
//! show what the server started with; only the server knows what is in force.

mod edition;
mod options;
mod process;
mod settings;
mod redo {
    //! The two old settings of the redo log's size, and whether the new one overrides them.
    //!
    //! From MySQL 8.0.30 on `innodb_redo_log_capacity` sets the size of the redo log. Where it is
    //! set, the server ignores `innodb_log_file_size` and `innodb_log_files_in_group` with a note
    //! in its log (MySQL 8.0.30 release notes; MySQL manual, *Redo Log*). Where it is not set, the
    //! product of the two still counts; MariaDB knows only those two.

    use super::edition::Edition;
    use super::settings;
    use crate::databases::conf::Conf;
    use crate::facts::{Reading, Source, UnknownReason};

    const CAPACITY: &str = "innodb_redo_log_capacity";
    const OLD: [&str; 2] = ["innodb_log_file_size", "innodb_log_files_in_group"];

    /// The legacy settings that are set although the server ignores them.
    pub fn ignored_settings(written: &Conf, edition: &Edition) -> Reading<Vec<String>> {
        let unknown = |why, detail: String| Reading::unknown(why, detail);
        let Some((line, version)) = edition.product_and_version() else {
            return unknown(
                UnknownReason::NotCollected,
                format!("the server's version, and so whether it has {CAPACITY}"),
            );
        };
        if settings::default_of(CAPACITY, line, version).is_absent() {
            return unknown(
                UnknownReason::Absent,
                format!("{} {} has no {CAPACITY}", line.name(), version.base()),
            );
        }
        let source = match written.get(CAPACITY) {
            None => {
                return Reading::known(
                    Vec::new(),
                    Source::Default {
                        of: settings::release_series(line, version),
                    },
                );
            }
            Some(Reading::Known { source, .. }) => source,
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
        };
        let mut ignored = Vec::new();
        for name in OLD {
            match written.get(name) {
                None => {}
                Some(Reading::Known { .. }) => ignored.push(name.to_owned()),
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
            }
        }
        Reading::known(ignored, source)
    }
}
mod server;
mod counters {
    //! Redo-log and binary-log counters of a running MySQL or MariaDB, from its own answer.
    //!
    //! Counters start at zero with the server. Conclusions are left to `sizing`.

    use super::server::VariablesReply;
    use super::settings::number;
    use crate::facts::catalog::mysql;
    use crate::facts::{FactSet, Reading, Subject, UnknownReason};
    use crate::text::display_safe;

    /// `answer` is `None` if no server runs.
    pub fn record(facts: &mut FactSet, cluster: &Subject, answer: Option<&VariablesReply>) {
        let count = |name: &str| counter(answer, name);
        facts.insert(
            cluster,
            &mysql::UPTIME,
            count("Uptime").map(|seconds| seconds as f64 * 1e6),
        );
        facts.insert(
            cluster,
            &mysql::REDO_WRITTEN,
            count("Innodb_os_log_written"),
        );
        let age = [
            count("Innodb_checkpoint_age"),
            count("Innodb_redo_log_logical_size"),
        ];
        let age = age
            .into_iter()
            .reduce(|one, other| if one.is_known() { one } else { other });
        facts.insert(
            cluster,
            &mysql::CHECKPOINT_AGE,
            age.unwrap_or_else(Reading::not_collected),
        );
        facts.insert(cluster, &mysql::LOG_WAITS, count("Innodb_log_waits"));
        let per_group = match (count("Binlog_commits"), count("Binlog_group_commits")) {
            (_, Reading::Known { value: 0, .. }) => Reading::unknown(
                UnknownReason::Absent,
                "no transaction was written to the binary log",
            ),
            (commits, Reading::Known { value: groups, .. }) => {
                commits.map(|commits| commits as f64 / groups as f64)
            }
            (_, unknown) => unknown.map(|groups| groups as f64),
        };
        facts.insert(cluster, &mysql::COMMITS_PER_GROUP, per_group);
    }

    fn counter(answer: Option<&VariablesReply>, name: &str) -> Reading<u64> {
        match answer {
            None => Reading::unknown(
                UnknownReason::Absent,
                format!("only a running server reports {name}"),
            ),
            Some(VariablesReply::NoReply(why, detail, remedy)) => {
                Reading::unknown(*why, detail.clone()).with_remedy(remedy.clone())
            }
            Some(told @ VariablesReply::Variables(..)) => {
                match (told.get(name), told.get("Uptime")) {
                    (Some(value), _) => value.and_then(|value| number(&display_safe(&value))),
                    (None, Some(_)) => Reading::unknown(
                        UnknownReason::Absent,
                        format!("this release does not count {name}"),
                    ),
                    (None, None) => Reading::unknown(
                        UnknownReason::NotCollected,
                        format!("the recorded answer has no counters, so {name} is missing"),
                    ),
                }
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use std::collections::BTreeMap;

        use super::*;
        use crate::facts::{Key, Remedy, Source};

        fn counter_value(rows: &[(&str, &str)], key: &Key<u64>) -> Result<u64, UnknownReason> {
            let rows: BTreeMap<_, _> = rows
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()))
                .collect();
            let answer = VariablesReply::Variables(rows, Source::call("test"));
            let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/db"));
            record(&mut facts, &cluster, Some(&answer));
            match facts.get(&cluster, key) {
                Reading::Known { value, .. } => Ok(value),
                Reading::Unknown { why, .. } => Err(why),
            }
        }

        #[test]
        fn both_names_of_the_age_are_read_and_nothing_is_made_up() {
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
        fn a_server_that_was_not_asked_says_nothing() {
            let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/db"));
            let silent =
                VariablesReply::NoReply(UnknownReason::Denied, "no".to_owned(), Remedy::RunAsRoot);
            for (answer, expected) in [
                (Some(&silent), UnknownReason::Denied),
                (None, UnknownReason::Absent),
            ] {
                record(&mut facts, &cluster, answer);
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
}
mod directories;
mod instance;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub use self::edition::{needs_program_run, query_program_version};
use super::config_argument::ConfigArgument;
use super::mount_namespace::NamespaceHost;
use super::servers::Proof;
use super::user_host::UserHost;
use crate::collector::Request;
use crate::facts::FactSet;
use crate::facts::note::{MysqlNote, ServerNote};
use crate::host::{Host, HostError, HostErrorKind};
use instance::{OwnerView, ServerLead};

/// Default of all distributions.
const DEFAULT_DATA_DIRECTORY: &str = "/var/lib/mysql";

/// `host` must cache its answers.
pub fn collect(host: &dyn Host, request: &Request) -> FactSet {
    let mut facts = FactSet::default();
    let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
    // The PostgreSQL collector has already reported that processes cannot be listed.
    let (running, mut unproven) =
        process::running_servers(host, request, &mut facts).unwrap_or_default();
    let leads = running.into_iter().map(|server| {
        let reader = server.uid;
        ServerLead {
            server: Some(server),
            directory: None,
            config_argument: None,
            reader_uid: reader,
        }
    });
    let asked = requested_data_directory(host, request);
    let named = config_argument_lead(host, request, asked.as_ref(), &mut facts);
    let usual = UserHost::for_owner(host, Path::new(DEFAULT_DATA_DIRECTORY)).uid;
    let installed = ServerLead {
        server: None,
        directory: None,
        config_argument: None,
        reader_uid: usual,
    };
    let asked = asked.map(|directory| {
        let reader = UserHost::for_owner(host, &directory).uid;
        ServerLead {
            server: None,
            directory: Some(directory),
            config_argument: None,
            reader_uid: reader,
        }
    });
    for lead in leads.chain(named).chain([installed]).chain(asked) {
        let mut own = FactSet::default();
        let behalf = UserHost::new(host, lead.reader_uid);
        let inside = lead
            .server
            .as_ref()
            .and_then(|server| NamespaceHost::new(&behalf, host, server.pid));
        let view = OwnerView {
            host: &behalf,
            invoker_host: host,
            namespace: inside.as_ref(),
        };
        let named = lead.config_argument;
        let found = match (lead.resolve(&view, request, &mut own), named) {
            (Ok(Some(found)), _) => found,
            (Ok(None), None) => continue,
            (Ok(None), Some(named)) => {
                facts.add_note(named.unused_note(MysqlNote::NoData));
                continue;
            }
            (Err(note), _) => {
                facts.add_note(note);
                continue;
            }
        };
        let stopped = if seen.contains(&found.path) {
            Err(ServerNote::ServerRunning)
        } else {
            found.prove_stopped(&view, &unproven)
        };
        if let (Some(named), Err(why)) = (named, stopped) {
            facts.add_note(named.unused_note(why));
            continue;
        }
        if seen.contains(&found.path) {
            continue;
        }
        match found.prove_served(&view) {
            Proof::Serves | Proof::NoServer => {
                seen.insert(found.path.clone());
                found.record(&view, &unproven, &mut own);
                facts.merge(own);
            }
            Proof::Contradicted(note) => facts.add_note(note),
            Proof::Unreadable(process) => unproven.push(process),
        }
    }
    facts
}

/// The lead of an option file named for a stopped server. The data directory is the one it sets,
/// else the requested one.
fn config_argument_lead<'a>(
    host: &dyn Host,
    request: &'a Request,
    asked: Option<&PathBuf>,
    facts: &mut FactSet,
) -> Option<ServerLead<'a>> {
    let named = ConfigArgument::mysql(request)?;
    let lead = |reader, directory| ServerLead {
        server: None,
        directory,
        config_argument: Some(named),
        reader_uid: reader,
    };
    let reader = named.reader_uid(host, asked);
    let behalf = UserHost::new(host, reader);
    let view = OwnerView {
        host: &behalf,
        invoker_host: host,
        namespace: None,
    };
    match lead(reader, None).resolve(&view, request, &mut FactSet::default()) {
        Ok(Some(found)) if found.is_set_in_files() => {
            if let Some(asked) = asked.filter(|asked| **asked != found.path) {
                facts.add_note(named.other_directory_note(&found.path, asked));
            }
            Some(lead(named.reader_uid(host, Some(&found.path)), None))
        }
        Ok(_) | Err(_) => Some(lead(reader, asked.cloned())),
    }
}

/// Whether this is a data directory: every server creates the directory `mysql` and the file
/// `ibdata1` in it.
fn is_data_directory(host: &dyn Host, path: &Path) -> bool {
    let has = |name: &str| host.stat(&path.join(name));
    match has("mysql") {
        Ok(stat) => {
            // Permission denied: it may exist.
            let tablespace =
                has("ibdata1").map_or_else(|miss| may_exist(&miss), |stat| stat.is_file());
            stat.is_dir() && tablespace
        }
        Err(miss) => {
            miss.kind == HostErrorKind::Denied && host.stat(path).is_ok_and(|stat| stat.is_dir())
        }
    }
}

/// Whether the path may exist despite the error.
fn may_exist(miss: &HostError) -> bool {
    !matches!(
        miss.kind,
        HostErrorKind::Absent | HostErrorKind::NotCollected
    )
}

/// The data directory that is or contains the requested target.
pub fn requested_data_directory(host: &dyn Host, request: &Request) -> Option<PathBuf> {
    let real = host.real_path(request.target.as_deref()?).ok()?;
    // An inaccessible entry may exist, but at least one of the two must be visible.
    let is_there = |path: &Path, name: &str| match host.stat(&path.join(name)) {
        Ok(_) => Some(true),
        Err(miss) if may_exist(&miss) => None,
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
