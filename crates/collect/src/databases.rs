//! Database servers of every kind, read concurrently: most of the time is spent waiting for
//! children that run as their owners and for programs that print their version.
//!
//! Discovery and interpretation are left to the collectors of each kind. Several leads can end at
//! one program (two clusters of one release, or a running server and the same one installed), so
//! the host must ask each question only once.

mod behalf;
mod conf {
    //! A server's configuration in the order in which it was read, for any kind of server.
    //!
    //! The last setting of a name wins, so a file that could not be read makes everything before it
    //! uncertain. Such a file is kept as a hole in the sequence, and a name is known only if it is
    //! set after the last hole. A change since the server started is also a hole for that server.
    //! Finding and reading the files is left to the collectors of each server.

    use std::path::{Path, PathBuf};

    use crate::facts::{Reading, Remedy, Source, Why};

    /// Everything that was read, first to last.
    #[derive(Clone, Debug, Default)]
    pub struct Conf {
        steps: Vec<ConfigEvent>,
        files: usize,
    }

    #[derive(Clone, Debug)]
    enum ConfigEvent {
        Set {
            name: String,
            value: Vec<u8>,
            source: Source,
        },
        /// A setting of any name with this prefix; neither name nor value is known.
        Unclear { beginning: String, detail: String },
        Hole {
            why: Why,
            detail: String,
            remedy: Option<Remedy>,
        },
        /// The end of a file or directory that was read, or of the directory that would hold an
        /// absent file.
        End(PathBuf),
    }

    impl Conf {
        pub fn set(&mut self, name: impl Into<String>, value: impl Into<Vec<u8>>, source: Source) {
            self.steps.push(ConfigEvent::Set {
                name: name.into(),
                value: value.into(),
                source,
            });
        }

        /// Adds an unknown setting of any name with this prefix.
        pub fn unclear(&mut self, beginning: impl Into<String>, detail: impl Into<String>) {
            self.steps.push(ConfigEvent::Unclear {
                beginning: beginning.into(),
                detail: detail.into(),
            });
        }

        /// Adds a hole: something that could have set any name. Consecutive holes are merged.
        pub fn hole(&mut self, why: Why, detail: impl Into<String>, remedy: Option<Remedy>) {
            if matches!(self.steps.last(), Some(ConfigEvent::Hole { .. })) {
                return;
            }
            self.steps.push(ConfigEvent::Hole {
                why,
                detail: detail.into(),
                remedy,
            });
        }

        /// Notes that a file or directory was read to its end.
        pub fn end(&mut self, path: impl Into<PathBuf>) {
            self.steps.push(ConfigEvent::End(path.into()));
        }

        /// Counts one more file and returns the number so far.
        pub fn count_file(&mut self) -> usize {
            self.files += 1;
            self.files
        }

        /// What is certain for a server that read all this before. `changed` says in words why a
        /// file or directory differs from what was read; its contents and everything before them
        /// become uncertain.
        #[must_use]
        pub fn doubt(
            &self,
            changed: impl Fn(&Path) -> Option<String>,
            remedy: Option<&Remedy>,
        ) -> Self {
            let step = |step: &ConfigEvent| match step {
                ConfigEvent::End(path) => changed(path).map_or_else(
                    || step.clone(),
                    |detail| ConfigEvent::Hole {
                        why: Why::Ambiguous,
                        detail,
                        remedy: remedy.cloned(),
                    },
                ),
                ConfigEvent::Set { .. }
                | ConfigEvent::Unclear { .. }
                | ConfigEvent::Hole { .. } => step.clone(),
            };
            Self {
                steps: self.steps.iter().map(step).collect(),
                files: self.files,
            }
        }

        /// The value of a name; `None` when everything was read and nothing sets it.
        pub fn get(&self, name: &str) -> Option<Reading<Vec<u8>>> {
            self.steps.iter().rev().find_map(|step| match step {
                ConfigEvent::Set {
                    name: found,
                    value,
                    source,
                } => (found == name).then(|| Reading::known(value.clone(), source.clone())),
                ConfigEvent::Unclear { beginning, detail } => name
                    .starts_with(beginning.as_str())
                    .then(|| Reading::unknown(Why::Ambiguous, detail.clone())),
                ConfigEvent::Hole {
                    why,
                    detail,
                    remedy,
                } => Some(Reading::Unknown {
                    why: *why,
                    detail: detail.clone(),
                    remedy: remedy.clone(),
                }),
                ConfigEvent::End(_) => None,
            })
        }

        /// The last value of a name, holes notwithstanding: for finding things, never for facts
        /// about them.
        pub fn hint(&self, name: &str) -> Option<&[u8]> {
            self.steps.iter().rev().find_map(|step| match step {
                ConfigEvent::Set {
                    name: found, value, ..
                } if found == name => Some(value.as_slice()),
                _ => None,
            })
        }
    }
}
mod inside;
mod servers;
mod start;
mod named {
    //! Configuration files that the user names for a server that does not run: which they are, the
    //! user they are read as, and what is wrong with them.
    //!
    //! A named file describes what a server would be started with, not a server that runs or may
    //! run: that one has its own command line. A file is read as the owner of the data, or as its
    //! own owner while that is unknown, but never as root. Its contents are left to the collectors
    //! of each kind of server.

    use std::path::{Path, PathBuf};

    use super::behalf::Behalf;
    use crate::collector::Request;
    use crate::facts::Note;
    use crate::facts::note::ServerNote;
    use crate::host::{Dialect, Host, MissKind, path_bytes};
    use crate::text::safe;

    /// A configuration file that the user named.
    #[derive(Clone, Copy, Debug)]
    pub struct ConfigArgument<'a> {
        /// The option that names it.
        pub option: &'static str,
        pub file: &'a Path,
        dialect: Dialect,
    }

    impl<'a> ConfigArgument<'a> {
        /// The file named for MySQL and MariaDB.
        pub fn mysql(request: &'a Request) -> Option<Self> {
            let file = request.mysql_defaults.as_deref()?;
            Some(Self {
                option: "--mysql-defaults",
                file,
                dialect: Dialect::Mysql,
            })
        }

        /// The file named for PostgreSQL.
        pub fn postgres(request: &'a Request) -> Option<Self> {
            let file = request.postgres_config.as_deref()?;
            Some(Self {
                option: "--postgres-config",
                file,
                dialect: Dialect::Postgres,
            })
        }

        /// The user it is read as: the owner of the data where that is known, else the owner of the
        /// file.
        pub fn reader(self, host: &dyn Host, data: Option<&PathBuf>) -> u32 {
            Behalf::of_owner(host, data.map_or(self.file, PathBuf::as_path)).uid
        }

        /// A note that the file is not used, with the reason.
        pub fn unused(self, why: impl Into<Note>) -> ServerNote {
            let file = safe(path_bytes(self.file));
            ServerNote::IdleFile {
                option: self.option,
                file,
                why: Box::new(why.into()),
            }
        }

        /// A note that the file is about another directory than the target.
        pub fn elsewhere(self, data: &Path, target: &Path) -> ServerNote {
            let [file, data, target] = [self.file, data, target].map(|path| safe(path_bytes(path)));
            ServerNote::OtherData {
                option: self.option,
                file,
                data,
                target,
            }
        }

        pub(super) fn unusable(self, host: &dyn Host, data: Option<&PathBuf>) -> Option<String> {
            let behalf = Behalf::new(host, self.reader(host, data));
            let miss = behalf.config(self.file, self.dialect).err()?;
            let help = match miss.kind {
                MissKind::Absent => "name the file that the server is started with",
                MissKind::Denied if data.is_some() => {
                    "the server itself could not read it: let the owner of the data directory read it"
                }
                MissKind::Denied => {
                    "it is read as its own owner, as nobody where that is root: name the data directory as the target, and it \
                 is read as the owner of that"
                }
                MissKind::NotCollected => "name it with the same option to `walwise capture`",
                MissKind::TimedOut | MissKind::Failed => {
                    "name a configuration file that can be read"
                }
            };
            let (file, why) = (safe(path_bytes(self.file)), miss.detail);
            Some(format!(
                "cannot use {file} for {}: {why}; {help}",
                self.option
            ))
        }
    }
}
mod mysql;
mod postgres;
pub mod wal_room {
    //! Room for a cluster's WAL to grow: the free space of its file system in units of
    //! `max_wal_size`.
    //!
    //! Runs once clusters are joined to their file systems. `max_wal_size` is a soft limit
    //! (PostgreSQL manual, WAL Configuration): WAL can outgrow it, so free space of one or two
    //! times its size is little.

    use crate::collector::{Collector, Request};
    use crate::facts::catalog::{cluster, mount, postgres};
    use crate::facts::{FactSet, Reading, Scope, Source, Subject, Why};
    use crate::host::Host;

    /// Derives the room for WAL of every cluster.
    pub const COLLECTOR: Collector = Collector {
        id: "room for WAL",
        run,
    };

    fn run(_: &dyn Host, _: &Request, facts: &mut FactSet) {
        let other = |cluster: &Subject| {
            facts
                .value(cluster, &cluster::KIND)
                .is_some_and(|kind| !kind.is_postgres())
        };
        let clusters: Vec<Subject> = facts
            .subjects(Scope::Cluster)
            .filter(|one| !other(one))
            .cloned()
            .collect();
        for subject in clusters {
            let room = room(facts, &subject);
            facts.put(&subject, &postgres::WAL_ROOM, room);
        }
    }

    fn room(facts: &FactSet, cluster: &Subject) -> Reading<f64> {
        let free = match facts.resolve(cluster, Scope::Mount) {
            Some(mount) => facts.get(&mount, &mount::FREE),
            None => Reading::unknown(Why::NotCollected, "the file system of its WAL"),
        };
        match (facts.get(cluster, &postgres::MAX_WAL_SIZE), free) {
            (Reading::Known { value: 0, source }, _) => {
                Reading::unknown(Why::Malformed, format!("{source}: 0"))
            }
            (Reading::Known { value: size, .. }, Reading::Known { value: free, .. }) => {
                let of = [postgres::MAX_WAL_SIZE.name(), mount::FREE.name()];
                Reading::known(free as f64 / size as f64, Source::derived(of))
            }
            (unknown @ Reading::Unknown { .. }, _) | (_, unknown) => {
                unknown.map(|bytes| bytes as f64)
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::testing::Fake;

        fn known(size: Option<u64>, free: Option<u64>) -> Option<f64> {
            let (cluster, wal) = (Subject::cluster("/pg"), Subject::mount("/wal"));
            let mut facts = FactSet::default();
            facts.mention(&cluster);
            facts.link(&cluster, &wal);
            if let Some(size) = size {
                facts.know(&cluster, &postgres::MAX_WAL_SIZE, size, Source::Assumed);
            }
            if let Some(free) = free {
                facts.know(&wal, &mount::FREE, free, Source::Assumed);
            }
            run(&Fake::default(), &Request::default(), &mut facts);
            facts.value(&cluster, &postgres::WAL_ROOM)
        }

        #[test]
        fn room_is_known_where_both_are() {
            assert_eq!(known(Some(1 << 30), Some(3 << 29)), Some(1.5));
            assert_eq!(known(Some(1 << 30), Some(0)), Some(0.0));
            for (size, free) in [
                (None, Some(1)),
                (Some(1), None),
                (None, None),
                (Some(0), Some(1)),
            ] {
                assert_eq!(known(size, free), None, "{size:?} {free:?}");
            }
        }
    }
}

use self::named::ConfigArgument;
use super::collector::Request;
use crate::facts::FactSet;
use crate::host::Host;
use crate::workers;

/// The name of this step, for progress.
pub const ID: &str = "database servers";

/// Facts about database servers. Needs no facts of other collectors. The host remembers its
/// answers.
pub fn look(host: &dyn Host, request: &Request) -> FactSet {
    let postgres = || postgres::look(host, request);
    let (mut facts, others) = if mysql::waits_for_a_program(host, request) {
        // The program takes longer to tell its version than walwise takes to read all files, and
        // which files there are does not depend on the version. So they are read meanwhile, by one
        // thread, since several would hold the program up.
        let ahead = Request {
            without_programs: true,
            ..request.clone()
        };
        let read = || {
            let facts = postgres();
            mysql::look(host, &ahead);
            facts
        };
        let ((), facts) = workers::behind(|| mysql::ask_program(host, request), read);
        (facts, mysql::look(host, request))
    } else {
        workers::beside(postgres, || mysql::look(host, request))
    };
    facts.merge(others);
    facts
}

/// The error in a configuration file that was named, as far as it shows before anything is read.
pub fn unusable(host: &dyn Host, request: &Request) -> Option<String> {
    let of_mysql = ConfigArgument::mysql(request).and_then(|named| {
        let data = mysql::asked_for(host, request);
        named.unusable(host, data.as_ref())
    });
    of_mysql.or_else(|| {
        let named = ConfigArgument::postgres(request)?;
        let data = postgres::asked_for(host, request);
        named.unusable(host, data.as_ref())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Scope;
    use crate::facts::catalog::{mysql as of_mysql, postgres as of_postgres};
    use crate::host::{Moment, Question, RememberingHost, Stat, Tool};
    use crate::testing::{Fake, sentences};

    fn stat(mode: u64, inode: u64) -> Vec<u8> {
        let (uid, gid, major, minor, node_major, node_minor, size) = (26, 26, 8, 1, 0, 0, 0);
        Stat {
            mode,
            uid,
            gid,
            major,
            minor,
            node_major,
            node_minor,
            inode,
            size,
            changed: Some(Moment::in_second(5)),
        }
        .encode()
    }

    fn directory(fake: Fake, path: &str, inode: u64) -> Fake {
        fake.answer(Question::RealPath(path.into()), path)
            .answer(Question::Stat(path.into()), stat(0o040_700, inode))
    }

    /// Two clusters of PostgreSQL 15 where packages put them, and a MariaDB that runs.
    fn machine() -> Fake {
        let version = |tool| Question::Run(tool, vec!["--version".to_owned()]);
        let mariadbd = "/usr/sbin/mariadbd";
        let mut fake = Fake::default()
            .answer(Question::Servers, "10 1 26 mariadbd\n")
            .answer(Question::CommandLine(10), "")
            .answer(Question::Environment(10), "")
            .answer(Question::UserName(26), "db")
            .symlink("/proc/10/cwd", "/var/lib/mysql")
            .symlink("/proc/10/exe", mariadbd)
            .answer(Question::RealPath(mariadbd.into()), mariadbd)
            .answer(Question::Stat(mariadbd.into()), stat(0o100_755, 77))
            .answer(Question::Stat("/proc/10/exe".into()), stat(0o100_755, 77))
            .answer(Question::Tablespaces(10), "8 1 9\n")
            .answer(
                Question::Stat("/var/lib/mysql/ibdata1".into()),
                stat(0o100_600, 9),
            )
            .answer(
                version(Tool::Mariadbd),
                "mariadbd  Ver 10.11.19-MariaDB for Linux on x86_64\n",
            )
            .answer(version(Tool::PgCtl(15)), "pg_ctl (PostgreSQL) 15.20\n");
        let above = [("/var/lib/postgresql", 5), ("/var/lib/postgresql/15", 6)];
        for (path, inode) in [("/var/lib/mysql", 3), ("/var/lib/mysql/mysql", 4)]
            .into_iter()
            .chain(above)
        {
            fake = directory(fake, path, inode);
        }
        for (name, inode) in [("a", 20), ("b", 21)] {
            let path = format!("/var/lib/postgresql/15/{name}");
            let control = vec!["-D".to_owned(), path.clone()];
            fake = directory(fake, &path, inode)
                .file(format!("{path}/PG_VERSION"), "15\n")
                .answer(
                    Question::Stat(format!("{path}/PG_VERSION").into()),
                    stat(0o100_600, inode + 10),
                )
                .answer(
                    Question::Run(Tool::PgControldata(15), control),
                    "Data page checksum version: 1\n",
                );
        }
        fake
    }

    #[test]
    fn each_program_is_asked_once() {
        let fake = machine();
        let facts = look(&RememberingHost::new(&fake), &Request::default());
        let clusters: Vec<_> = facts.subjects(Scope::Cluster).cloned().collect();
        assert_eq!(clusters.len(), 3, "{clusters:?} {:?}", sentences(&facts));
        let versions = |base: &str| {
            let of = |cluster| {
                let postgres = facts.value(cluster, &of_postgres::VERSION);
                postgres
                    .or_else(|| facts.value(cluster, &of_mysql::VERSION))
                    .map(|version| version.base())
            };
            clusters
                .iter()
                .filter(|cluster| of(cluster).as_deref() == Some(base))
                .count()
        };
        assert_eq!((versions("15.20"), versions("10.11.19")), (2, 1));
        let mut run: Vec<Question> = fake
            .asked()
            .into_iter()
            .filter(|question| matches!(question.bare(), Question::Run(..)))
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
