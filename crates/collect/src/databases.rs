//! Database servers of every kind. They are read concurrently, because most of the time is spent
//! waiting for child processes and for programs that print their version.
//!
//! Several collectors may run the same program, so the host must cache the programs' output.

mod config_reader;
mod mount_namespace;
mod mysql;
mod postgres;
mod server_processes;
mod start_time;
mod user_host;
pub mod log_space {
    //! Space for a server's logs: size and free space of the WAL's file system, in units of
    //! `max_wal_size`, and the share of their file system that binary logs use.
    //!
    //! `max_wal_size` is a soft limit, which WAL can exceed (PostgreSQL manual, WAL Configuration).
    //! Free space of only one or two times `max_wal_size` is therefore little.

    use crate::collector::Request;
    use crate::facts::catalog::{mount, mysql, postgres};
    use crate::facts::{FactSet, FactValue, Key, Reading, Scope, ServerArea, Source, Subject};
    use crate::host::Host;

    pub fn collect_facts(_: &dyn Host, _: &Request, facts: &mut FactSet) {
        let clusters: Vec<Subject> = facts.subjects_of_scope(Scope::Cluster).cloned().collect();
        for subject in clusters {
            match facts.server_area_of(&subject) {
                Some(ServerArea::Mysql) => insert_binlog_space_facts(facts, &subject),
                Some(ServerArea::Pg) | None => insert_wal_space_facts(facts, &subject),
            }
        }
    }

    fn insert_wal_space_facts(facts: &mut FactSet, cluster: &Subject) {
        let mount = facts.applicable_subject(cluster, Scope::Mount);
        let limit = (Some(cluster), &postgres::MAX_WAL_SIZE);
        for (key, space) in [
            (&postgres::WAL_ROOM, &mount::FREE),
            (&postgres::WAL_VOLUME, &mount::SIZE),
        ] {
            let ratio = ratio_reading(facts, (mount.as_ref(), space), limit);
            facts.insert(cluster, key, ratio);
        }
    }

    fn insert_binlog_space_facts(facts: &mut FactSet, cluster: &Subject) {
        let directory = facts.value(cluster, &mysql::BINLOG).map(Subject::target);
        let mount =
            directory.and_then(|directory| facts.applicable_subject(&directory, Scope::Mount));
        let files = (Some(cluster), &mysql::BINLOG_FILES);
        let share = ratio_reading(facts, files, (mount.as_ref(), &mount::SIZE));
        let free = fact_or_unknown(facts, (mount.as_ref(), &mount::FREE_PERCENT));
        let percent = share.map(|share| share * 100.0);
        facts.insert(cluster, &mysql::BINLOG_SHARE, percent);
        facts.insert(cluster, &mysql::BINLOG_ROOM, free);
    }

    type FactOf<'f, T> = (Option<&'f Subject>, &'static Key<T>);

    fn fact_or_unknown<T: FactValue>(facts: &FactSet, (subject, key): FactOf<'_, T>) -> Reading<T> {
        match subject {
            Some(subject) => facts.get(subject, key),
            None => Reading::uncollected("the file system that holds the log is unknown"),
        }
    }

    fn ratio_reading(facts: &FactSet, part: FactOf<'_, u64>, of: FactOf<'_, u64>) -> Reading<f64> {
        let names = [part.1, of.1].map(Key::name);
        let of = fact_or_unknown(facts, of).and_then(|of| match of {
            0 => Err(format!("{} is 0, which is not a valid size", names[1])),
            of => Ok(of as f64),
        });
        of.and_then_reading(|of, _| {
            fact_or_unknown(facts, part).and_then_reading(|part, _| {
                Reading::known(part as f64 / of, Source::derived_from(names))
            })
        })
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::testing::FakeHost;

        fn wal_room_ratio(size: Option<u64>, free: Option<u64>) -> Option<f64> {
            let (cluster, wal) = (Subject::cluster("/pg"), Subject::mount("/wal"));
            let mut facts = FactSet::default();
            facts.add_subject(&cluster);
            facts.set_fact_link(&cluster, &wal);
            if let Some(size) = size {
                facts.insert_known(&cluster, &postgres::MAX_WAL_SIZE, size, Source::Assumed);
            }
            if let Some(free) = free {
                facts.insert_known(&wal, &mount::FREE, free, Source::Assumed);
            }
            collect_facts(&FakeHost::default(), &Request::default(), &mut facts);
            facts.value(&cluster, &postgres::WAL_ROOM)
        }

        #[test]
        fn wal_room_needs_size_and_free_space() {
            assert_eq!(wal_room_ratio(Some(1 << 30), Some(3 << 29)), Some(1.5));
            assert_eq!(wal_room_ratio(Some(1 << 30), Some(0)), Some(0.0));
            for (size, free) in [
                (None, Some(1)),
                (Some(1), None),
                (None, None),
                (Some(0), Some(1)),
            ] {
                assert_eq!(wal_room_ratio(size, free), None, "{size:?} {free:?}");
            }
        }

        #[test]
        fn binlog_space_is_measured_on_its_own_mount() {
            let (cluster, logs) = (Subject::cluster("/db"), Subject::mount("/logs"));
            let directory = Subject::target("/logs/binlog");
            let mut facts = FactSet::default();
            facts.set_server_area(&cluster, ServerArea::Mysql);
            facts.set_fact_link(&cluster, &Subject::mount("/"));
            facts.set_fact_link(&directory, &logs);
            let test = || Source::from_system_call("test");
            facts.insert_known(
                &cluster,
                &mysql::BINLOG,
                directory.name().to_owned(),
                test(),
            );
            facts.insert_known(&cluster, &mysql::BINLOG_FILES, 30 << 30, test());
            facts.insert_known(&logs, &mount::SIZE, 40 << 30, test());
            facts.insert_known(&logs, &mount::FREE_PERCENT, 3.0, test());
            collect_facts(&FakeHost::default(), &Request::default(), &mut facts);
            assert_eq!(facts.value(&cluster, &mysql::BINLOG_SHARE), Some(75.0));
            assert_eq!(facts.value(&cluster, &mysql::BINLOG_ROOM), Some(3.0));
        }
    }
}

use std::fmt;
use std::mem;
use std::path::{Path, PathBuf};

use user_host::UserHost;

use super::collector::Request;

use crate::facts::{FactSet, Note, Reading, Remedy, ServerArea, Source, UnknownReason};
use crate::host::{ConfigDialect, Host, HostErrorKind, path_from_bytes};
use crate::parallel;
use crate::text::display_path;

pub const ID: &str = "database servers";

/// `host` must cache answers, because the collector of MySQL may run twice.
pub fn collect(host: &dyn Host, request: &Request) -> FactSet {
    let postgres = || postgres::collect(host, request);
    let (mut facts, others) = if mysql::is_program_run_needed(host, request) {
        // MySQL's program needs more time to print its version than walwise needs to read all
        // files, so the program runs while the files are read. Only one thread reads files
        // meanwhile, because more would slow the program down.
        let ahead = Request {
            without_programs: true,
            ..request.clone()
        };
        let read = || {
            let facts = postgres();
            mysql::collect(host, &ahead);
            facts
        };
        let ((), facts) = parallel::join_with_yielding_thread(
            || _ = mysql::ProductVersion::query_installed_program(host, request),
            read,
        );
        (facts, mysql::collect(host, request))
    } else {
        parallel::join_in_threads(postgres, || mysql::collect(host, request))
    };
    facts.merge(others);
    facts
}

/// The reason why a configuration file that the user names cannot be used.
pub fn config_argument_error(host: &dyn Host, request: &Request) -> Option<String> {
    [ServerArea::Mysql, ServerArea::Pg]
        .into_iter()
        .find_map(|area| {
            let named = ConfigArgument::from_request(request, area)?;
            let data = match area {
                ServerArea::Mysql => mysql::target_data_directory(host, request),
                ServerArea::Pg => postgres::target_data_directory(host, request),
            };
            let reader = UserHost::new(host, named.reader_uid(host, data.as_ref()));
            let miss = reader.config_directives(named.file, named.dialect).err()?;
            let help = match miss.kind {
                HostErrorKind::Absent => {
                    "pass the configuration file with which the server is started"
                }
                HostErrorKind::Denied if data.is_some() => {
                    "give the owner of the data directory read access, because the server reads the file as that user"
                }
                HostErrorKind::Denied => {
                    "pass the data directory as TARGET; walwise then reads the file as the owner of that directory"
                }
                HostErrorKind::NotCollected => "pass the same option to `walwise capture`",
                HostErrorKind::TimedOut | HostErrorKind::Failed => {
                    "pass a readable configuration file"
                }
            };
            let (file, why) = (display_path(named.file), miss.detail);
            let option = named.option;
            Some(format!("cannot use {file} for {option}: {why}; {help}"))
        })
}

// A server's configuration in the order in which the server reads it.
//
// The last setting of a name wins, so an unreadable file could override everything before it.
// Such a file becomes a gap, and a name is known only if it is set after the last gap. A file
// that may have changed since the server read it becomes a gap too
// ([`ServerConfig::with_changed_file_gaps`]).

/// The value of a setting as bytes, with its source.
type SettingReading = Reading<Vec<u8>>;

#[derive(Clone, Debug, Default)]
struct ServerConfig {
    /// Names with values. An unknown reading applies to every setting whose name begins with its
    /// name. An unread part of the configuration, which could set any name, is a gap: an unknown
    /// reading with an empty name.
    settings: Vec<(String, SettingReading)>,
    /// The end of each file or directory that was read, with the number of settings before that
    /// end. An absent file is represented by the path of its nearest existing parent directory.
    file_ends: Vec<(usize, PathBuf)>,
}

impl ServerConfig {
    fn add_setting(&mut self, name: impl Into<String>, value: impl Into<Vec<u8>>, source: Source) {
        let reading = Reading::known(value.into(), source);
        self.settings.push((name.into(), reading));
    }

    fn add_unknown_settings_with_prefix(
        &mut self,
        prefix: impl Into<String>,
        detail: impl Into<String>,
    ) {
        let unknown = Reading::ambiguous(detail);
        self.settings.push((prefix.into(), unknown));
    }

    /// Of consecutive gaps, only the first is kept.
    fn add_gap(&mut self, unknown: SettingReading) {
        let is_gap =
            |(name, reading): &(String, SettingReading)| name.is_empty() && !reading.is_known();
        let count = self.settings.len();
        let is_at_file_end = self.file_ends.last().is_some_and(|(at, _)| *at == count);
        if is_at_file_end || !self.settings.last().is_some_and(is_gap) {
            self.settings.push((String::new(), unknown));
        }
    }

    fn mark_file_end(&mut self, path: impl Into<PathBuf>) {
        self.file_ends.push((self.settings.len(), path.into()));
    }

    /// Puts a gap at the end of every file or directory that may have changed since the server
    /// read it. `changed` returns why a path may have changed, or `None` if it has not.
    #[must_use]
    fn with_changed_file_gaps(
        mut self,
        changed: impl Fn(&Path) -> Option<String>,
        remedy: Option<&Remedy>,
    ) -> Self {
        for (at, path) in mem::take(&mut self.file_ends).into_iter().rev() {
            if let Some(detail) = changed(&path) {
                let gap = Reading::Unknown {
                    why: UnknownReason::Ambiguous,
                    detail,
                    remedy: remedy.cloned(),
                };
                self.settings.insert(at, (String::new(), gap));
            }
        }
        self
    }

    /// The reading of the last value; `None` if everything was read and nothing sets the name.
    fn setting_reading(&self, name: &str) -> Option<SettingReading> {
        let mut from_last = self.settings.iter().rev();
        let applies = |(found, reading): &&(String, SettingReading)| {
            found == name || !reading.is_known() && name.starts_with(found.as_str())
        };
        from_last.find(applies).map(|(_, reading)| reading.clone())
    }

    /// The last value, even if gaps follow. It is good enough to find files, but not to record
    /// facts.
    fn last_value_ignoring_gaps(&self, name: &str) -> Option<&[u8]> {
        let own = self
            .settings
            .iter()
            .rev()
            .filter(|(found, _)| found == name);
        let mut values = own.filter_map(|(_, reading)| reading.value());
        values.next().map(Vec::as_slice)
    }

    /// Like [`Self::last_value_ignoring_gaps`], for a path that is absolute or relative to `base`.
    fn last_path_ignoring_gaps(&self, name: &str, base: &Path) -> Option<PathBuf> {
        let value = self.last_value_ignoring_gaps(name)?;
        Some(base.join(path_from_bytes(value)))
    }
}

/// A counter that a server does not report. Every release reports some counters, but old captures
/// have none.
fn unreported_counter<T>(name: &str, has_counters: bool) -> Reading<T> {
    if has_counters {
        Reading::absent(format!("this release does not report {name}"))
    } else {
        Reading::uncollected(format!(
            "the capture has no server counters, so {name} is missing"
        ))
    }
}

// Configuration files that the user names on walwise's command line for a stopped server.
//
// A running server is never described by such a file, because its process shows which files it
// reads. The file is read with the rights of the data directory's owner, or of the file's
// owner if that directory is unknown. It is never read with root's rights.

#[derive(Clone, Copy, Debug)]
struct ConfigArgument<'a> {
    option: &'static str,
    file: &'a Path,
    dialect: ConfigDialect,
}

impl<'a> ConfigArgument<'a> {
    fn from_request(request: &'a Request, area: ServerArea) -> Option<Self> {
        let (option, file, dialect) = match area {
            ServerArea::Mysql => (
                "--mysql-defaults",
                &request.mysql_defaults,
                ConfigDialect::Mysql,
            ),
            ServerArea::Pg => (
                "--postgres-config",
                &request.postgres_config,
                ConfigDialect::Postgres,
            ),
        };
        Some(Self {
            option,
            file: file.as_deref()?,
            dialect,
        })
    }

    /// The owner of the data directory, or of the file if that directory is unknown. `nobody`
    /// replaces root and an unknown owner.
    fn reader_uid(self, host: &dyn Host, data: Option<&PathBuf>) -> u32 {
        UserHost::for_owner_or_nobody(host, data.map_or(self.file, PathBuf::as_path)).uid
    }

    fn unused_file_note(self, why: impl fmt::Display) -> Note {
        let file = display_path(self.file);
        format!("{} {file} is not used: {why}", self.option).into()
    }

    fn other_data_directory_note(self, data: &Path, target: &Path) -> Note {
        let [file, data, target] = [self.file, data, target].map(display_path);
        let option = self.option;
        format!(
            "{option} {file} names {data} as the data directory, so it does not apply to {target}"
        )
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Scope;
    use crate::facts::catalog::{mysql as of_mysql, postgres as of_postgres};
    use crate::host::{CachingHost, HostTimestamp, Question, Stat, Tool};
    use crate::testing::{FakeHost, ZERO_STAT, note_sentences};

    fn stat_answer(mode: u64, inode: u64) -> Vec<u8> {
        Stat {
            mode,
            uid: 26,
            gid: 26,
            major: 8,
            minor: 1,
            inode,
            ctime: Some(HostTimestamp::from_unix_seconds(5)),
            ..ZERO_STAT
        }
        .encode()
    }

    fn with_data_directory(fake: FakeHost, path: &str, inode: u64) -> FakeHost {
        fake.with_answer(Question::RealPath(path.into()), path)
            .with_answer(Question::Stat(path.into()), stat_answer(0o040_700, inode))
    }

    fn host_with_servers() -> FakeHost {
        let version = |tool| Question::Run(tool, vec!["--version".to_owned()]);
        let mariadbd = "/usr/sbin/mariadbd";
        let mut fake = FakeHost::default()
            .with_answer(Question::Servers, "10 1 26 mariadbd\n")
            .with_answer(Question::CommandLine(10), "")
            .with_answer(Question::Environment(10), "")
            .with_answer(Question::UserName(26), "db")
            .with_symlink("/proc/10/cwd", "/var/lib/mysql")
            .with_symlink("/proc/10/exe", mariadbd)
            .with_answer(Question::RealPath(mariadbd.into()), mariadbd)
            .with_answer(Question::Stat(mariadbd.into()), stat_answer(0o100_755, 77))
            .with_answer(
                Question::Stat("/proc/10/exe".into()),
                stat_answer(0o100_755, 77),
            )
            .with_answer(Question::Tablespaces(10), "8 1 9\n")
            .with_answer(
                Question::Stat("/var/lib/mysql/ibdata1".into()),
                stat_answer(0o100_600, 9),
            )
            .with_answer(
                version(Tool::Mariadbd),
                "mariadbd  Ver 10.11.19-MariaDB for Linux on x86_64\n",
            )
            .with_answer(version(Tool::PgCtl(15)), "pg_ctl (PostgreSQL) 15.20\n");
        let above = [("/var/lib/postgresql", 5), ("/var/lib/postgresql/15", 6)];
        for (path, inode) in [("/var/lib/mysql", 3), ("/var/lib/mysql/mysql", 4)]
            .into_iter()
            .chain(above)
        {
            fake = with_data_directory(fake, path, inode);
        }
        for (name, inode) in [("a", 20), ("b", 21)] {
            let path = format!("/var/lib/postgresql/15/{name}");
            let control = vec!["-D".to_owned(), path.clone()];
            fake = with_data_directory(fake, &path, inode)
                .with_file(format!("{path}/PG_VERSION"), "15\n")
                .with_answer(
                    Question::Stat(format!("{path}/PG_VERSION").into()),
                    stat_answer(0o100_600, inode + 10),
                )
                .with_answer(
                    Question::Run(Tool::PgControldata(15), control),
                    "Data page checksum version: 1\n",
                );
        }
        fake
    }

    #[test]
    fn each_program_runs_once() {
        let fake = host_with_servers();
        let facts = collect(&CachingHost::new(&fake), &Request::default());
        let clusters: Vec<_> = facts.subjects_of_scope(Scope::Cluster).cloned().collect();
        assert_eq!(
            clusters.len(),
            3,
            "{clusters:?} {:?}",
            note_sentences(&facts)
        );
        let versions = |base: &str| {
            let of = |cluster| {
                let postgres = facts.value(cluster, &of_postgres::VERSION);
                postgres
                    .or_else(|| facts.value(cluster, &of_mysql::VERSION))
                    .map(|version| version.numeric_part())
            };
            clusters
                .iter()
                .filter(|cluster| of(cluster).as_deref() == Some(base))
                .count()
        };
        assert_eq!((versions("15.20"), versions("10.11.19")), (2, 1));
        let mut run: Vec<Question> = fake
            .asked_questions()
            .into_iter()
            .filter(|question| matches!(question.strip_as_user(), Question::Run(..)))
            .collect();
        run.sort();
        let all = run.len();
        run.dedup();
        assert_eq!(
            (all, run.len()),
            (4, 4),
            "two versions and two control files: {run:?}"
        );
    }
}
