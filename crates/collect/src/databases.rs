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
    use crate::facts::{FactSet, Key, Reading, Scope, ServerArea, Source, Subject, UnknownReason};
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
        let limit = facts.get(cluster, &postgres::MAX_WAL_SIZE);
        let limit = limit.and_then(|limit| match limit {
            0 => Err("max_wal_size is 0, which is not a valid size".to_owned()),
            limit => Ok(limit),
        });
        let room = ratio_reading(
            &fact_of_mount_or_unknown(facts, mount.as_ref(), &mount::FREE),
            &limit,
            [mount::FREE.name(), postgres::MAX_WAL_SIZE.name()],
        );
        let volume = ratio_reading(
            &fact_of_mount_or_unknown(facts, mount.as_ref(), &mount::SIZE),
            &limit,
            [mount::SIZE.name(), postgres::MAX_WAL_SIZE.name()],
        );
        facts.insert(cluster, &postgres::WAL_ROOM, room);
        facts.insert(cluster, &postgres::WAL_VOLUME, volume);
    }

    fn insert_binlog_space_facts(facts: &mut FactSet, cluster: &Subject) {
        let directory = facts.get(cluster, &mysql::BINLOG);
        let mount = directory
            .value()
            .and_then(|path| facts.applicable_subject(&Subject::target(path), Scope::Mount));
        let size = fact_of_mount_or_unknown(facts, mount.as_ref(), &mount::SIZE);
        let files = facts.get(cluster, &mysql::BINLOG_FILES);
        let share = ratio_reading(
            &files,
            &size,
            [mysql::BINLOG_FILES.name(), mount::SIZE.name()],
        );
        let free = fact_of_mount_or_unknown(facts, mount.as_ref(), &mount::FREE_PERCENT);
        facts.insert(
            cluster,
            &mysql::BINLOG_SHARE,
            share.map(|share| share * 100.0),
        );
        facts.insert(cluster, &mysql::BINLOG_ROOM, free);
    }

    fn fact_of_mount_or_unknown<T: crate::facts::FactValue>(
        facts: &FactSet,
        mount: Option<&Subject>,
        key: &Key<T>,
    ) -> Reading<T> {
        match mount {
            Some(mount) => facts.get(mount, key),
            None => Reading::unknown(
                UnknownReason::NotCollected,
                "the file system that holds the log is unknown",
            ),
        }
    }

    fn ratio_reading(
        part: &Reading<u64>,
        of: &Reading<u64>,
        names: [&'static str; 2],
    ) -> Reading<f64> {
        of.clone().and_then_reading(|of, _| {
            part.clone().and_then_reading(|part, _| {
                Reading::known(part as f64 / of as f64, Source::derived_from(names))
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
use std::path::{Path, PathBuf};

use user_host::UserHost;

use super::collector::Request;

use crate::facts::{FactSet, Note, Reading, Remedy, Source, UnknownReason};
use crate::host::{ConfigDialect, Host, HostErrorKind};
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
            || mysql::cache_program_version(host, request),
            read,
        );
        (facts, mysql::collect(host, request))
    } else {
        parallel::join_in_threads(postgres, || mysql::collect(host, request))
    };
    facts.merge(others);
    facts
}

pub fn config_argument_error(host: &dyn Host, request: &Request) -> Option<String> {
    let of_mysql = ConfigArgument::from_mysql_defaults(request).and_then(|named| {
        let data = mysql::target_data_directory(host, request);
        named.unreadable_file_error(host, data.as_ref())
    });
    of_mysql.or_else(|| {
        let named = ConfigArgument::from_postgres_config(request)?;
        let data = postgres::target_data_directory(host, request);
        named.unreadable_file_error(host, data.as_ref())
    })
}

// A server's configuration in the order in which the server reads it.
//
// The last setting of a name wins, so an unreadable file could override everything before it.
// Such a file becomes a gap, and a name is known only if it is set after the last gap. A file
// that may have changed since the server read it becomes a gap too
// ([`ServerConfig::with_changed_file_gaps`]).

#[derive(Clone, Debug, Default)]
struct ServerConfig {
    entries: Vec<ConfigEntry>,
}

#[derive(Clone, Debug)]
enum ConfigEntry {
    /// An unknown reading applies to every setting whose name begins with `name`. An unread part
    /// of the configuration, which could set any name, is a gap with an empty name.
    Setting {
        name: String,
        reading: Reading<Vec<u8>>,
    },
    /// The end of a file or directory that was read. An absent file is represented by the path
    /// of its nearest existing parent directory.
    FileEnd(PathBuf),
}

impl ServerConfig {
    fn add_reading(&mut self, name: impl Into<String>, reading: Reading<Vec<u8>>) {
        self.entries.push(ConfigEntry::Setting {
            name: name.into(),
            reading,
        });
    }

    pub fn add_setting(
        &mut self,
        name: impl Into<String>,
        value: impl Into<Vec<u8>>,
        source: Source,
    ) {
        self.add_reading(name, Reading::known(value.into(), source));
    }

    pub fn add_unknown_settings_with_prefix(
        &mut self,
        prefix: impl Into<String>,
        detail: impl Into<String>,
    ) {
        self.add_reading(prefix, Reading::ambiguous(detail));
    }

    /// Of consecutive gaps, only the first is kept.
    pub fn add_gap(&mut self, unknown: Reading<Vec<u8>>) {
        let is_gap = |entry: &ConfigEntry| match entry {
            ConfigEntry::Setting { name, reading } => name.is_empty() && !reading.is_known(),
            ConfigEntry::FileEnd(_) => false,
        };
        if !self.entries.last().is_some_and(is_gap) {
            self.add_reading("", unknown);
        }
    }

    pub fn mark_file_end(&mut self, path: impl Into<PathBuf>) {
        self.entries.push(ConfigEntry::FileEnd(path.into()));
    }

    /// Puts a gap at the end of every file or directory that may have changed since the server
    /// read it. `changed` returns why a path may have changed, or `None` if it has not.
    #[must_use]
    pub fn with_changed_file_gaps(
        mut self,
        changed: impl Fn(&Path) -> Option<String>,
        remedy: Option<&Remedy>,
    ) -> Self {
        for entry in &mut self.entries {
            if let ConfigEntry::FileEnd(path) = entry
                && let Some(detail) = changed(path)
            {
                *entry = ConfigEntry::Setting {
                    name: String::new(),
                    reading: Reading::Unknown {
                        why: UnknownReason::Ambiguous,
                        detail,
                        remedy: remedy.cloned(),
                    },
                };
            }
        }
        self
    }

    /// The reading of the last value; `None` if everything was read and nothing sets the name.
    pub fn setting_reading(&self, name: &str) -> Option<Reading<Vec<u8>>> {
        self.entries.iter().rev().find_map(|entry| match entry {
            ConfigEntry::Setting {
                name: found,
                reading,
            } => {
                let applies =
                    found == name || !reading.is_known() && name.starts_with(found.as_str());
                applies.then(|| reading.clone())
            }
            ConfigEntry::FileEnd(_) => None,
        })
    }

    /// The last value, even if gaps follow. It is good enough to find files, but not to record
    /// facts.
    pub fn last_value_ignoring_gaps(&self, name: &str) -> Option<&[u8]> {
        self.entries.iter().rev().find_map(|entry| match entry {
            ConfigEntry::Setting {
                name: found,
                reading,
            } if found == name => reading.value().map(Vec::as_slice),
            _ => None,
        })
    }
}

// Configuration files that the user names on walwise's command line for a stopped server.
//
// A running server is never described by such a file, because its process shows which files it
// reads. The file is read with the rights of the data directory's owner, or of the file's
// owner if that directory is unknown. It is never read with root's rights.

#[derive(Clone, Copy, Debug)]
struct ConfigArgument<'a> {
    pub option: &'static str,
    pub file: &'a Path,
    dialect: ConfigDialect,
}

impl<'a> ConfigArgument<'a> {
    pub fn from_mysql_defaults(request: &'a Request) -> Option<Self> {
        let file = request.mysql_defaults.as_deref()?;
        Some(Self {
            option: "--mysql-defaults",
            file,
            dialect: ConfigDialect::Mysql,
        })
    }

    pub fn from_postgres_config(request: &'a Request) -> Option<Self> {
        let file = request.postgres_config.as_deref()?;
        Some(Self {
            option: "--postgres-config",
            file,
            dialect: ConfigDialect::Postgres,
        })
    }

    /// The owner of the data directory, or of the file if that directory is unknown. `nobody`
    /// replaces root and an unknown owner.
    pub fn reader_uid(self, host: &dyn Host, data: Option<&PathBuf>) -> u32 {
        UserHost::for_owner_or_nobody(host, data.map_or(self.file, PathBuf::as_path)).uid
    }

    pub fn unused_file_note(self, why: impl fmt::Display) -> Note {
        let file = display_path(self.file);
        format!("{} {file} is not used: {why}", self.option).into()
    }

    pub fn other_data_directory_note(self, data: &Path, target: &Path) -> Note {
        let [file, data, target] = [self.file, data, target].map(display_path);
        let option = self.option;
        format!(
            "{option} {file} names {data} as the data directory, so it does not apply to {target}"
        )
        .into()
    }

    fn unreadable_file_error(self, host: &dyn Host, data: Option<&PathBuf>) -> Option<String> {
        let behalf = UserHost::new(host, self.reader_uid(host, data));
        let miss = behalf.config_directives(self.file, self.dialect).err()?;
        let help = match miss.kind {
            HostErrorKind::Absent => "pass the configuration file with which the server is started",
            HostErrorKind::Denied if data.is_some() => {
                "give the owner of the data directory read access, because the server reads the file as that user"
            }
            HostErrorKind::Denied => {
                "pass the data directory as TARGET; walwise then reads the file as the owner of that directory"
            }
            HostErrorKind::NotCollected => "pass the same option to `walwise capture`",
            HostErrorKind::TimedOut | HostErrorKind::Failed => "pass a readable configuration file",
        };
        let (file, why) = (display_path(self.file), miss.detail);
        Some(format!(
            "cannot use {file} for {}: {why}; {help}",
            self.option
        ))
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
