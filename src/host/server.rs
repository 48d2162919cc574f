//! The programs of a temporary PostgreSQL: with those that make file systems ([`super::maker`]) the only ones on the
//! allow-list that write, and only [`crate::cells`] runs them.
//!
//! They are found where distributions put them, root's alone, and run without a shell, in the C locale, with a deadline, and
//! as a user who is not root. What each may be told is decided here, whoever asks: a server is made, started and used below
//! [`SERVER_HOME`], where a trial mounts its candidate, and nowhere else.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use super::as_user::SystemUser;
use super::live::programs;
use super::{Miss, MissKind};

/// The directory of a temporary server and of its socket.
const SERVER_HOME: &str = "/tmp/log";
/// Its data directory.
const SERVER_DATA: &str = "/tmp/log/data";
/// What pgbench writes down, in memory: a place of the trial's own, which initdb tries for shared memory, too.
pub const SERVER_LOGS: &str = "/dev/shm";

/// The time limit of `--version`.
const DEADLINE: Duration = Duration::from_secs(5);

/// The arguments that make a data directory: for nobody but the socket's owner, with checksums.
const INITDB: [&str; 8] = [
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--data-checksums",
    "--no-sync",
    "-D",
    SERVER_DATA,
];

/// The arguments that start it.
const START: [&str; 6] = ["-D", SERVER_DATA, "-k", SERVER_HOME, "-p", "5432"];

/// How it is reached, and in which database.
const SOCKET: [&str; 7] = ["-h", SERVER_HOME, "-p", "5432", "-U", "postgres", "postgres"];

/// The settings that may be given to it: none of them names a program, a library, a file or an address.
const SETTINGS: [&str; 16] = [
    "autovacuum",
    "checkpoint_timeout",
    "dynamic_shared_memory_type",
    "fsync",
    "full_page_writes",
    "huge_pages",
    "listen_addresses",
    "max_connections",
    "max_wal_size",
    "min_wal_size",
    "shared_buffers",
    "synchronous_commit",
    "unix_socket_permissions",
    "wal_init_zero",
    "wal_recycle",
    "wal_sync_method",
];

/// A program of a temporary server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerProgram {
    /// Makes the data directory.
    Initdb,
    /// The server.
    Postgres,
    /// Fills it and is its load.
    Pgbench,
    /// Forces a checkpoint.
    Psql,
}

impl ServerProgram {
    /// All of them.
    const ALL: [Self; 4] = [Self::Initdb, Self::Postgres, Self::Pgbench, Self::Psql];

    /// Its file name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Initdb => "initdb",
            Self::Postgres => "postgres",
            Self::Pgbench => "pgbench",
            Self::Psql => "psql",
        }
    }
}

/// A load that pgbench has built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadScript {
    /// Without the updates that all sessions wait for.
    SimpleUpdate,
    /// After TPC-B.
    TpcB,
}

/// What a trial has a program do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerTask {
    /// Make the data directory.
    Make,
    /// Write everything to its place, so that no checkpoint falls into what follows.
    Checkpoint,
    /// Make tables of this scale.
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
        /// The number by which its log is found in [`SERVER_LOGS`].
        run: u64,
    },
}

impl ServerTask {
    /// The program for it.
    pub fn program(self) -> ServerProgram {
        match self {
            Self::Make => ServerProgram::Initdb,
            Self::Checkpoint => ServerProgram::Psql,
            Self::Fill(_) | Self::Load { .. } => ServerProgram::Pgbench,
        }
    }

    /// How long it may take.
    fn deadline(self) -> Duration {
        Duration::from_secs(match self {
            Self::Make => 120,
            Self::Checkpoint | Self::Fill(_) => 300,
            Self::Load { seconds, .. } => u64::from(seconds) + 60,
        })
    }

    fn words(self) -> Vec<String> {
        match self {
            Self::Make => owned(&INITDB),
            Self::Checkpoint => owned(&[&["-X", "-q", "-c", "CHECKPOINT"], &SOCKET[..]].concat()),
            Self::Fill(scale) => owned(&[&["-i", "-q", "-s", &scale.to_string()], &SOCKET[..]].concat()),
            Self::Load { script, clients, threads, seconds, run } => {
                let script = match script {
                    LoadScript::SimpleUpdate => "simple-update",
                    LoadScript::TpcB => "tpcb-like",
                };
                let [clients, threads, seconds] =
                    [clients, threads, seconds].map(|number| number.to_string());
                load(script, &clients, &threads, &seconds, &format!("{SERVER_LOGS}/{run}"))
            }
        }
    }
}

fn load(script: &str, clients: &str, threads: &str, seconds: &str, log: &str) -> Vec<String> {
    let own = [
        "-n",
        "-M",
        "prepared",
        "-b",
        script,
        "-c",
        clients,
        "-j",
        threads,
        "-T",
        seconds,
        "-l",
        "--log-prefix",
        log,
    ];
    owned(&[&own[..], &SOCKET].concat())
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The command that makes a data directory, for a record.
pub fn initdb_line() -> Vec<String> {
    [vec![ServerProgram::Initdb.name().to_owned()], owned(&INITDB)].concat()
}

/// The command of a load, for a record: what differs between loads is in capitals.
pub fn pgbench_line() -> Vec<String> {
    let words = load("SCRIPT", "CLIENTS", "THREADS", "SECONDS", "LOG");
    [vec![ServerProgram::Pgbench.name().to_owned()], words].concat()
}

/// Whether a setting may be given, `name=value`: no other address than none.
fn is_setting(setting: &str) -> bool {
    setting.split_once('=').is_some_and(|(name, value)| {
        SETTINGS.contains(&name)
            && value.bytes().all(|b| b.is_ascii_alphanumeric())
            && (name != "listen_addresses" || value.is_empty())
    })
}

/// The programs of one release, all in one directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresPrograms {
    directory: PathBuf,
}

impl PostgresPrograms {
    /// Those of the newest release that has them all; otherwise what is missing in the newest that has a server.
    pub fn find() -> Result<Self, Miss> {
        let mut missing = None;
        for directory in programs::postgres_directories() {
            if programs::within(&directory, ServerProgram::Postgres.name())
                .is_err_and(|miss| miss.kind == MissKind::Absent)
            {
                continue;
            }
            let all = ServerProgram::ALL.into_iter().try_for_each(|program| {
                let named = |miss: Miss| Miss::new(miss.kind, format!("{}: {}", program.name(), miss.detail));
                programs::within(&directory, program.name()).map(drop).map_err(named)
            });
            match all {
                Ok(()) => return Ok(Self { directory }),
                Err(miss) => drop(missing.get_or_insert(miss)),
            }
        }
        Err(missing.unwrap_or_else(|| Miss::new(MissKind::Absent, "postgres: not installed")))
    }

    /// Those in a directory that was found before.
    pub fn of(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Their directory.
    pub fn directory(&self) -> &std::path::Path {
        &self.directory
    }

    /// The server's version, in its own words.
    pub fn version(&self, user: SystemUser) -> Result<String, Miss> {
        let program = programs::within(&self.directory, ServerProgram::Postgres.name())?;
        let printed =
            programs::run_command(&mut user.command(&program, &["--version".to_owned()]), DEADLINE)?;
        let line = printed.split(|b| *b == b'\n').next().unwrap_or_default();
        Ok(crate::text::safe(line.trim_ascii()))
    }

    /// Has a program do something as a user, and returns what it prints.
    pub fn run(&self, task: ServerTask, user: SystemUser) -> Result<String, Miss> {
        let path = programs::within(&self.directory, task.program().name())?;
        let printed = programs::run_command(&mut user.command(&path, &task.words()), task.deadline())?;
        Ok(String::from_utf8_lossy(&printed).into_owned())
    }

    /// Starts the server as a user with these settings, `name=value`; what it says goes to an open file.
    pub fn start<'a>(
        &self,
        settings: impl Iterator<Item = &'a String>,
        user: SystemUser,
        says: &OwnedFd,
    ) -> Result<Child, Miss> {
        let failed = |why: String| Miss::new(MissKind::Failed, why);
        let mut words = owned(&START);
        for setting in settings {
            if !is_setting(setting) {
                return Err(failed("this is not among the settings that walwise allows itself".to_owned()));
            }
            words.extend(["-c".to_owned(), setting.clone()]);
        }
        let path = programs::within(&self.directory, ServerProgram::Postgres.name())?;
        let system = |e: std::io::Error| failed(crate::text::error_words(&e));
        let (out, err) = (says.try_clone().map_err(system)?, says.try_clone().map_err(system)?);
        user.command(&path, &words).stdout(Stdio::from(out)).stderr(Stdio::from(err)).spawn().map_err(system)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_setting_names_a_program_a_file_or_an_address() {
        assert!(is_setting("listen_addresses=") && is_setting("max_wal_size=512MB"));
        for wrong in [
            "",
            "max_wal_size",
            "listen_addresses=0",
            "archive_command=true",
            "shared_preload_libraries=x",
            "config_file=x",
            "data_directory=x",
            "fsync=$(true)",
            "fsync=on -c",
        ] {
            assert!(!is_setting(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_server_is_made_and_used_in_its_own_place_alone() {
        let load = ServerTask::Load { script: LoadScript::TpcB, clients: 8, threads: 2, seconds: 3, run: 4 };
        for task in [ServerTask::Make, ServerTask::Checkpoint, ServerTask::Fill(10), load] {
            let words = task.words();
            let paths: Vec<&String> = words.iter().filter(|word| word.contains('/')).collect();
            let ours = |path: &&String| path.starts_with(SERVER_HOME) || path.as_str() == "/dev/shm/4";
            assert!(!paths.is_empty() && paths.iter().all(ours), "{words:?}");
        }
        assert!(load.words().join(" ").starts_with("-n -M prepared -b tpcb-like -c 8 -j 2 -T 3 -l "));
        assert_eq!(initdb_line()[0], "initdb");
        assert!(pgbench_line().join(" ").contains("-c CLIENTS"));
    }
}
