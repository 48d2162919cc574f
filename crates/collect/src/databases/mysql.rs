//! MySQL and MariaDB servers, running and installed: the places of data and logs, and the settings
//! that affect storage, each with its source.
//!
//! Leads come from processes, from installed programs and from the directory that was asked for.
//! Each lead is followed to a data directory as its owner, and each directory is recorded once. A
//! process is believed when its user owns the directory and it has the system tablespace there
//! open. Only allow-listed keys of an option file arrive here. A running server accepts most of
//! these settings at any time (SET GLOBAL) without recording them. The files therefore tell what it
//! started with, and only the server tells what is in force.

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
    use crate::facts::{Reading, Source, Why};

    const CAPACITY: &str = "innodb_redo_log_capacity";
    const OLD: [&str; 2] = ["innodb_log_file_size", "innodb_log_files_in_group"];

    /// Which of the two are set although the server ignores them.
    pub fn ignored(written: &Conf, edition: &Edition) -> Reading<Vec<String>> {
        let unknown = |why, detail: String| Reading::unknown(why, detail);
        let Some((line, version)) = edition.known() else {
            return unknown(
                Why::NotCollected,
                format!("which version it is, and so whether it has {CAPACITY}"),
            );
        };
        if settings::default_of(CAPACITY, line, version).is_absent() {
            return unknown(
                Why::Absent,
                format!("{} {} has no {CAPACITY}", line.name(), version.base()),
            );
        }
        let source = match written.get(CAPACITY) {
            None => {
                return Reading::known(
                    Vec::new(),
                    Source::Default {
                        of: settings::series(line, version),
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
    //! What a running MySQL or MariaDB counts of its redo log and its binary log, from its own
    //! answer.
    //!
    //! Counters begin with the start of the server. What follows from them is left to `sizing`.

    use super::server::VariablesReply;
    use super::settings::number;
    use crate::facts::catalog::mysql;
    use crate::facts::{FactSet, Reading, Subject, Why};
    use crate::text::safe;

    /// Records all of it; `None` where no server runs.
    pub fn put(facts: &mut FactSet, cluster: &Subject, answer: Option<&VariablesReply>) {
        let count = |name: &str| count(answer, name);
        facts.put(
            cluster,
            &mysql::UPTIME,
            count("Uptime").map(|seconds| seconds as f64 * 1e6),
        );
        facts.put(
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
        facts.put(
            cluster,
            &mysql::CHECKPOINT_AGE,
            age.unwrap_or_else(Reading::not_collected),
        );
        facts.put(cluster, &mysql::LOG_WAITS, count("Innodb_log_waits"));
        let per_group = match (count("Binlog_commits"), count("Binlog_group_commits")) {
            (_, Reading::Known { value: 0, .. }) => {
                Reading::unknown(Why::Absent, "nothing was committed to the binary log")
            }
            (commits, Reading::Known { value: groups, .. }) => {
                commits.map(|commits| commits as f64 / groups as f64)
            }
            (_, unknown) => unknown.map(|groups| groups as f64),
        };
        facts.put(cluster, &mysql::COMMITS_PER_GROUP, per_group);
    }

    fn count(answer: Option<&VariablesReply>, name: &str) -> Reading<u64> {
        match answer {
            None => Reading::unknown(Why::Absent, format!("only a running server tells {name}")),
            Some(VariablesReply::Silent(why, detail, remedy)) => {
                Reading::unknown(*why, detail.clone()).or_try(remedy.clone())
            }
            Some(told @ VariablesReply::Told(..)) => match (told.get(name), told.get("Uptime")) {
                (Some(value), _) => value.and_then(|value| number(&safe(&value))),
                (None, Some(_)) => {
                    Reading::unknown(Why::Absent, format!("this release does not count {name}"))
                }
                (None, None) => Reading::unknown(
                    Why::NotCollected,
                    format!("the answer to hand holds no counters, and so no {name}"),
                ),
            },
        }
    }

    #[cfg(test)]
    mod tests {
        use std::collections::BTreeMap;

        use super::*;
        use crate::facts::{Key, Remedy, Source};

        fn told(rows: &[(&str, &str)], key: &Key<u64>) -> Result<u64, Why> {
            let rows: BTreeMap<_, _> = rows
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()))
                .collect();
            let answer = VariablesReply::Told(rows, Source::call("test"));
            let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/db"));
            put(&mut facts, &cluster, Some(&answer));
            match facts.get(&cluster, key) {
                Reading::Known { value, .. } => Ok(value),
                Reading::Unknown { why, .. } => Err(why),
            }
        }

        #[test]
        fn both_names_of_the_age_are_read_and_nothing_is_made_up() {
            let age = &mysql::CHECKPOINT_AGE;
            assert_eq!(
                told(&[("Uptime", "9"), ("Innodb_checkpoint_age", "7")], age),
                Ok(7)
            );
            assert_eq!(
                told(
                    &[("Uptime", "9"), ("Innodb_redo_log_logical_size", "8")],
                    age
                ),
                Ok(8)
            );
            assert_eq!(told(&[("Uptime", "9")], age), Err(Why::Absent));
            assert_eq!(
                told(&[("port", "9")], age),
                Err(Why::NotCollected),
                "an older capture"
            );
            assert_eq!(
                told(
                    &[("Uptime", "9"), ("Innodb_os_log_written", "x")],
                    &mysql::REDO_WRITTEN
                ),
                Err(Why::Malformed)
            );
        }

        #[test]
        fn a_server_that_was_not_asked_says_nothing() {
            let (mut facts, cluster) = (FactSet::default(), Subject::cluster("/db"));
            let silent = VariablesReply::Silent(Why::Denied, "no".to_owned(), Remedy::RunAsRoot);
            for (answer, expected) in [(Some(&silent), Why::Denied), (None, Why::Absent)] {
                put(&mut facts, &cluster, answer);
                for name in [
                    "mysql.uptime",
                    "mysql.redo_written",
                    "mysql.commits_per_group",
                    "mysql.checkpoint_age",
                ] {
                    let Reading::Unknown { why, .. } = facts.named(&cluster, name) else {
                        panic!("{name}")
                    };
                    assert_eq!(*why, expected, "{name}");
                }
            }
        }
    }
}
mod instance;
mod places;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub use self::edition::{ask_program, waits_for_a_program};
use super::behalf::Behalf;
use super::inside::Inside;
use super::named::ConfigArgument;
use super::servers::Proof;
use crate::collector::Request;
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
        ServerLead {
            server: Some(server),
            directory: None,
            named: None,
            reader,
        }
    });
    let asked = asked_for(host, request);
    let named = named(host, request, asked.as_ref(), &mut facts);
    let usual = Behalf::of_owner(host, Path::new(USUAL)).uid;
    let installed = ServerLead {
        server: None,
        directory: None,
        named: None,
        reader: usual,
    };
    let asked = asked.map(|directory| {
        let reader = Behalf::of_owner(host, &directory).uid;
        ServerLead {
            server: None,
            directory: Some(directory),
            named: None,
            reader,
        }
    });
    for lead in leads.chain(named).chain([installed]).chain(asked) {
        let mut own = FactSet::default();
        let behalf = Behalf::new(host, lead.reader);
        let inside = lead
            .server
            .as_ref()
            .and_then(|server| Inside::new(&behalf, host, server.pid));
        let view = OwnerView {
            host: &behalf,
            ours: host,
            inside: inside.as_ref(),
        };
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

/// The lead of an option file that was named for a server that does not run. The data are where it
/// says, or else in the directory that was asked for.
fn named<'a>(
    host: &dyn Host,
    request: &'a Request,
    asked: Option<&PathBuf>,
    facts: &mut FactSet,
) -> Option<ServerLead<'a>> {
    let named = ConfigArgument::mysql(request)?;
    let lead = |reader, directory| ServerLead {
        server: None,
        directory,
        named: Some(named),
        reader,
    };
    let reader = named.reader(host, asked);
    let behalf = Behalf::new(host, reader);
    let view = OwnerView {
        host: &behalf,
        ours: host,
        inside: None,
    };
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

/// Whether a directory is one of a server's data. Each server makes a directory for its own tables
/// in it.
fn is_data(host: &dyn Host, path: &Path) -> bool {
    let has = |name: &str| host.stat(&path.join(name));
    match has("mysql") {
        Ok(stat) => {
            // What nobody lets us see may well be there.
            let tablespace =
                has("ibdata1").map_or_else(|miss| may_hide(&miss), |stat| stat.is_file());
            stat.is_dir() && tablespace
        }
        Err(miss) => {
            miss.kind == MissKind::Denied && host.stat(path).is_ok_and(|stat| stat.is_dir())
        }
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
