//! The programs of a temporary server: with those that make file systems ([`super::maker`]) the only ones on the allow-list
//! that write, and only [`crate::cells`] runs them.
//!
//! They are found where distributions put them, root's alone, and run without a shell, in the C locale, with a deadline, and
//! as a user who is not root. What each may be told is decided here, whoever asks: a server is made, started and used below
//! [`SERVER_HOME`], where a trial mounts its candidate, and nowhere else.

mod mariadb;
mod postgres;

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};

use super::as_user::SystemUser;
use super::live::programs;
use super::{Miss, MissKind, SERVER_DIRECTORIES};

/// The directory of a temporary server and of its socket.
const SERVER_HOME: &str = "/tmp/log";
/// What pgbench writes down, in memory: a place of the trial's own, which initdb tries for shared memory, too.
pub const SERVER_LOGS: &str = "/dev/shm";

/// The time limit of `--version`.
const DEADLINE: Duration = Duration::from_secs(5);

/// A program of a temporary server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerProgram {
    /// Makes the data directory of PostgreSQL.
    Initdb,
    /// PostgreSQL.
    Postgres,
    /// Fills it and is its load.
    Pgbench,
    /// Forces a checkpoint of it.
    Psql,
    /// MariaDB.
    Mariadbd,
    /// Its client.
    Mariadb,
    /// Fills it and is its load.
    Sysbench,
}

impl ServerProgram {
    /// Its file name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Initdb => "initdb",
            Self::Postgres => "postgres",
            Self::Pgbench => "pgbench",
            Self::Psql => "psql",
            Self::Mariadbd => "mariadbd",
            Self::Mariadb => "mariadb",
            Self::Sysbench => "sysbench",
        }
    }
}

/// A program and its arguments.
type ServerCommand = (ServerProgram, Vec<String>);

fn command(program: ServerProgram, words: &[&str]) -> ServerCommand {
    (program, words.iter().map(|word| (*word).to_owned()).collect())
}

/// A load that pgbench or sysbench has built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadScript {
    /// pgbench's without the updates that all sessions wait for.
    SimpleUpdate,
    /// pgbench's after TPC-B.
    TpcB,
    /// sysbench's `oltp_write_only`.
    WriteOnly,
}

/// What a trial has a server's programs do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerTask {
    /// Make the data directory.
    Make,
    /// Be answered by the server.
    Greet,
    /// Write everything to its place, so that no checkpoint falls into what follows.
    Checkpoint,
    /// Make tables, those of pgbench at this scale, and fill them.
    Fill(u64),
    /// Run transactions.
    Load {
        /// Which.
        script: LoadScript,
        /// By so many sessions.
        clients: u32,
        /// On so many threads of pgbench.
        threads: u32,
        /// For so many seconds.
        seconds: u32,
        /// The number by which pgbench's log is found in [`SERVER_LOGS`].
        run: u64,
    },
}

impl ServerTask {
    /// How long each of its programs may take.
    fn deadline(self) -> Duration {
        Duration::from_secs(match self {
            Self::Make => 120,
            Self::Greet | Self::Checkpoint | Self::Fill(_) => 300,
            Self::Load { seconds, .. } => u64::from(seconds) + 60,
        })
    }
}

/// The programs of a temporary server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerPrograms {
    /// PostgreSQL's: those of one release are all in one directory.
    Postgres(PathBuf),
    /// MariaDB's.
    Mariadb,
}

impl ServerPrograms {
    /// PostgreSQL's of the newest release that has them all; otherwise what is missing in the newest that has a server.
    pub fn postgres() -> Result<Self, Miss> {
        let mut missing = None;
        for directory in programs::postgres_directories() {
            let found = Self::Postgres(directory);
            if found.path(ServerProgram::Postgres).is_err_and(|miss| miss.kind == MissKind::Absent) {
                continue;
            }
            match found.are_there() {
                Ok(()) => return Ok(found),
                Err(miss) => drop(missing.get_or_insert(miss)),
            }
        }
        Err(missing.unwrap_or_else(|| Miss::new(MissKind::Absent, "postgres: not installed")))
    }

    /// MariaDB's, with sysbench; otherwise what is missing.
    pub fn mariadb() -> Result<Self, Miss> {
        Self::Mariadb.are_there().map(|()| Self::Mariadb)
    }

    /// All of them, the server first.
    fn all(&self) -> &'static [ServerProgram] {
        match self {
            Self::Postgres(_) => {
                &[ServerProgram::Postgres, ServerProgram::Initdb, ServerProgram::Pgbench, ServerProgram::Psql]
            }
            Self::Mariadb => &[ServerProgram::Mariadbd, ServerProgram::Mariadb, ServerProgram::Sysbench],
        }
    }

    fn are_there(&self) -> Result<(), Miss> {
        self.all().iter().try_for_each(|program| {
            let named = |miss: Miss| Miss::new(miss.kind, format!("{}: {}", program.name(), miss.detail));
            self.path(*program).map(drop).map_err(named)
        })
    }

    fn path(&self, program: ServerProgram) -> Result<PathBuf, Miss> {
        match self {
            Self::Postgres(directory) => programs::within(directory, program.name()),
            Self::Mariadb => programs::among(&SERVER_DIRECTORIES, program.name()),
        }
    }

    /// The server itself.
    pub fn server(&self) -> ServerProgram {
        match self {
            Self::Postgres(_) => ServerProgram::Postgres,
            Self::Mariadb => ServerProgram::Mariadbd,
        }
    }

    /// What stops the server at once, without a thought for what it holds.
    pub fn stops_by(&self) -> Signal {
        match self {
            // Its other processes share memory, which it takes away.
            Self::Postgres(_) => Signal::SIGQUIT,
            Self::Mariadb => Signal::SIGKILL,
        }
    }

    /// The commands of a task, one after the other.
    fn commands(&self, task: ServerTask) -> Vec<ServerCommand> {
        match self {
            Self::Postgres(_) => postgres::commands(task),
            Self::Mariadb => mariadb::commands(task),
        }
    }

    /// The command that makes its files, for a record.
    pub fn make_line(&self) -> Vec<String> {
        line(match self {
            Self::Postgres(_) => postgres::make(),
            Self::Mariadb => mariadb::make(),
        })
    }

    /// The command of a load, for a record: what differs between loads is in capitals.
    pub fn load_line(&self) -> Vec<String> {
        line(match self {
            Self::Postgres(_) => postgres::load("SCRIPT", "CLIENTS", "THREADS", "SECONDS", "LOG"),
            Self::Mariadb => mariadb::load("CLIENTS", "SECONDS"),
        })
    }

    /// Whether a setting may be given, `name=value`: none names a program, a library, a file or an address.
    fn allows(&self, setting: &str) -> bool {
        let Some((name, value)) = setting.split_once('=') else { return false };
        value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && match self {
                Self::Postgres(_) => postgres::allows(name, value),
                Self::Mariadb => mariadb::allows(name, value),
            }
    }

    /// The versions of the server and of a load that is not its own, in their words.
    pub fn version(&self, user: SystemUser) -> Result<String, Miss> {
        let told = |program: ServerProgram, words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let printed = programs::run_command(&mut user.command(&self.path(program)?, &words), DEADLINE)?;
            Ok(crate::text::safe(printed.split(|b| *b == b'\n').next().unwrap_or_default().trim_ascii()))
        };
        match self {
            Self::Postgres(_) => told(self.server(), &["--version"]),
            Self::Mariadb => {
                // `PATH  Ver 10.11.19-MariaDB for debian-linux-gnu on x86_64 (Debian 12)`
                let line = told(self.server(), &["--no-defaults", "--version"])?;
                let version = line.split_once(" Ver ").and_then(|(_, rest)| rest.split_whitespace().next());
                let (name, version) = (self.server().name(), version.unwrap_or("of an unknown version"));
                Ok(format!("{name} {version}, {}", told(ServerProgram::Sysbench, &["--version"])?))
            }
        }
    }

    /// Has its programs do something as a user, and returns what the last one prints; the error names the program.
    pub fn run(&self, task: ServerTask, user: SystemUser) -> Result<String, Miss> {
        let mut printed = Vec::new();
        for (program, words) in self.commands(task) {
            let named = |miss: Miss| Miss::new(miss.kind, format!("{}: {}", program.name(), miss.detail));
            let path = self.path(program).map_err(named)?;
            printed =
                programs::run_command(&mut user.command(&path, &words), task.deadline()).map_err(named)?;
        }
        Ok(String::from_utf8_lossy(&printed).into_owned())
    }

    /// Starts the server as a user with these settings, `name=value`; what it says goes to an open file.
    pub fn start(&self, settings: &[&str], user: SystemUser, says: &OwnedFd) -> Result<Child, Miss> {
        let failed = |why: String| Miss::new(MissKind::Failed, why);
        if !settings.iter().all(|setting| self.allows(setting)) {
            return Err(failed("this is not among the settings that walwise allows itself".to_owned()));
        }
        let words = match self {
            Self::Postgres(_) => postgres::start(settings),
            Self::Mariadb => mariadb::start(settings),
        };
        let path = self.path(self.server())?;
        let system = |e: std::io::Error| failed(crate::text::error_words(&e));
        let (out, err) = (says.try_clone().map_err(system)?, says.try_clone().map_err(system)?);
        user.command(&path, &words).stdout(Stdio::from(out)).stderr(Stdio::from(err)).spawn().map_err(system)
    }
}

fn line((program, words): ServerCommand) -> Vec<String> {
    std::iter::once(program.name().to_owned()).chain(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both() -> [ServerPrograms; 2] {
        [ServerPrograms::Postgres("/usr/lib/postgresql/15/bin".into()), ServerPrograms::Mariadb]
    }

    #[test]
    fn no_setting_names_a_program_a_file_or_an_address() {
        let [postgres, mariadb] = both();
        assert!(postgres.allows("listen_addresses=") && postgres.allows("max_wal_size=512MB"));
        assert!(mariadb.allows("innodb_flush_method=O_DIRECT") && !mariadb.allows("innodb_flush_method="));
        for wrong in [
            "",
            "max_wal_size",
            "listen_addresses=0",
            "archive_command=true",
            "shared_preload_libraries=x",
            "config_file=x",
            "data_directory=x",
            "datadir=x",
            "plugin_load=x",
            "bind_address=0",
            "init_file=x",
            "fsync=$(true)",
            "fsync=on -c",
            "innodb_log_file_size=/tmp",
        ] {
            assert!(both().iter().all(|programs| !programs.allows(wrong)), "{wrong}");
        }
    }

    #[test]
    fn a_server_is_made_and_used_in_its_own_place_alone() {
        let load = ServerTask::Load { script: LoadScript::TpcB, clients: 8, threads: 2, seconds: 3, run: 4 };
        let tasks = [ServerTask::Make, ServerTask::Greet, ServerTask::Checkpoint, ServerTask::Fill(10), load];
        for programs in both() {
            for (program, words) in tasks.into_iter().flat_map(|task| programs.commands(task)) {
                assert!(programs.all().contains(&program));
                let paths: Vec<&str> = words
                    .iter()
                    .filter_map(|word| Some(word.get(word.find('/')?..).unwrap_or_default()))
                    .collect();
                let ours = |path: &&str| path.starts_with(SERVER_HOME) || *path == "/dev/shm/4";
                assert!(!paths.is_empty() && paths.iter().all(ours), "{words:?}");
            }
        }
        let [postgres, mariadb] = both();
        let said = |programs: &ServerPrograms| line(programs.commands(load).remove(0)).join(" ");
        assert!(said(&postgres).starts_with("pgbench -n -M prepared -b tpcb-like -c 8 -j 2 -T 3 -l "));
        assert!(
            said(&mariadb)
                .ends_with("--table-size=10000 --rand-type=uniform --histogram=on --threads=8 --time=3 run")
        );
        assert!(
            postgres.make_line()[0] == "initdb"
                && mariadb.make_line().join(" ").contains("--skip-networking")
        );
        assert!(postgres.load_line().join(" ").contains("-c CLIENTS"));
        assert!(mariadb.load_line().join(" ").contains("--threads=CLIENTS"));
    }
}
