//! A real PostgreSQL cluster on a private socket. It is stopped when its guard is dropped, even
//! when a test fails.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use super::programs::copy_of_walwise;
use super::run;
use crate::support::deadline::CommandInTime as _;

/// Where its programs are.
pub const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";

/// A cluster, with a directory of its own for the socket, the log and whatever a test puts there.
pub struct Cluster {
    directory: tempfile::TempDir,
    /// The data directory.
    pub data: PathBuf,
    /// The WAL directory, elsewhere; `pg_wal` is a link to it.
    pub wal: PathBuf,
    /// Environment variables of the server.
    pub environment: Vec<(String, String)>,
    /// Arguments of the server, besides those for the socket.
    pub arguments: String,
    uid: u32,
    gid: u32,
}

impl Cluster {
    /// A new one beneath its own directory.
    pub fn new() -> Self {
        Self::on(|own| (own.join("data"), own.join("fast/wal")))
    }

    /// A new one with its data and its WAL beneath two directories, which must be there.
    pub fn beneath(data: &Path, wal: &Path) -> Self {
        Self::on(|_| (data.join("data"), wal.join("wal")))
    }

    /// The one that this command makes: `initdb -D DIRECTORY`, as somebody would type it. Its WAL
    /// lies in its data.
    pub fn typed(command: &str) -> Self {
        let words: Vec<&str> = command.split(' ').collect();
        let data = words
            .iter()
            .skip_while(|word| **word != "-D")
            .nth(1)
            .unwrap();
        let cluster = Self::of(|_| (data.into(), Path::new(data).join("pg_wal")));
        cluster.program(words[0], &words[1..]);
        cluster
    }

    fn on(places: impl Fn(&Path) -> (PathBuf, PathBuf)) -> Self {
        let cluster = Self::of(places);
        for parent in [
            cluster.data.parent().unwrap(),
            cluster.wal.parent().unwrap(),
        ] {
            cluster.open(parent);
        }
        cluster.program(
            "initdb",
            &[
                "-N",
                "-A",
                "trust",
                "-D",
                &cluster.path("data"),
                "--waldir",
                &cluster.path("wal"),
            ],
        );
        cluster.append(
            "postgresql.conf",
            "listen_addresses = ''\nfsync = off # tests only\n",
        );
        cluster
    }

    /// Nothing yet but its own directory.
    fn of(places: impl Fn(&Path) -> (PathBuf, PathBuf)) -> Self {
        let id = |flag| run("id", &[flag, "postgres"]).trim().parse().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let (data, wal) = places(directory.path());
        let (environment, arguments) = Default::default();
        let cluster = Self {
            directory,
            data,
            wal,
            environment,
            arguments,
            uid: id("-u"),
            gid: id("-g"),
        };
        cluster.open(cluster.own());
        cluster
    }

    /// A directory of the server's user into which others may look, made if need be.
    fn open(&self, path: &Path) {
        std::fs::create_dir_all(path).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        self.give(path);
    }

    /// The directory of its own.
    pub fn own(&self) -> &Path {
        self.directory.path()
    }

    /// `data`, `wal`, or something in its own directory, as text.
    pub fn path(&self, name: &str) -> String {
        let path = match name {
            "data" => self.data.clone(),
            "wal" => self.wal.clone(),
            name => self.own().join(name),
        };
        path.display().to_string()
    }

    /// Makes the server's user the owner.
    pub fn give(&self, path: &Path) {
        chown(path, Some(self.uid), Some(self.gid)).unwrap();
    }

    /// Appends to a file in the data directory.
    pub fn append(&self, name: &str, text: &str) {
        let path = self.data.join(name);
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(&path, before + text).unwrap();
        self.give(&path);
    }

    /// Starts the server, later than anything in its configuration was changed by more than the
    /// clock of files can be behind, and waits for it.
    pub fn start(&self) {
        let nanos = |found: std::fs::Metadata| {
            i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec())
        };
        let changed = |entry: std::fs::DirEntry| entry.metadata().map_or(0, nanos);
        let last = std::fs::read_dir(&self.data)
            .unwrap()
            .flatten()
            .map(changed)
            .max()
            .unwrap();
        let now = || {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap()
                .as_nanos()
                .cast_signed()
        };
        while now() <= last + 40_000_000 {
            std::thread::yield_now();
        }
        self.start_at_once();
    }

    /// Stops the server if it runs and starts it, whenever its configuration was changed.
    pub fn restart_at_once(&self) {
        if self.data.join("postmaster.pid").exists() {
            self.stop();
        }
        self.start_at_once();
    }

    fn start_at_once(&self) {
        let socket = format!("-k {} -p 5499 {}", self.own().display(), self.arguments);
        self.program(
            "pg_ctl",
            &[
                "-D",
                &self.path("data"),
                "-l",
                &self.path("log"),
                "-o",
                &socket,
                "-w",
                "start",
            ],
        );
    }

    /// Stops the server.
    pub fn stop(&self) {
        self.program(
            "pg_ctl",
            &["-D", &self.path("data"), "-m", "fast", "-w", "stop"],
        );
    }

    /// The server's answer to a statement, as its owner.
    pub fn sql(&self, statement: &str) -> String {
        self.program(
            "psql",
            &[
                "-h",
                &self.path(""),
                "-p",
                "5499",
                "-d",
                "postgres",
                "-Atc",
                statement,
            ],
        )
    }

    /// Any program, as the server's user.
    pub fn as_owner(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.uid(self.uid).gid(self.gid).current_dir(self.own());
        command
            .env_clear()
            .env("LC_ALL", "C")
            .envs(self.environment.clone())
            .stdin(Stdio::null());
        command
    }

    /// walwise as the server's user, who may not look into where it was built.
    pub fn walwise(&self) -> Command {
        let program = copy_of_walwise(self.own());
        let mut command = self.as_owner(&program);
        command.env("LC_ALL", "C.UTF-8");
        command
    }

    /// The server's log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.own().join("log")).unwrap_or_default()
    }

    /// One of the server's programs.
    pub fn command(&self, name: &str) -> Command {
        self.as_owner(Path::new(PROGRAMS).join(name))
    }

    /// Runs one of the server's programs, which must succeed; what it said, trimmed.
    pub fn program(&self, name: &str, arguments: &[&str]) -> String {
        // The server inherits what pg_ctl has open, so nobody may wait for the end of a pipe.
        let output = self.own().join(format!("{name}.output"));
        let file = std::fs::File::create(&output).unwrap();
        let mut command = self.command(name);
        command
            .args(arguments)
            .stdout(file.try_clone().unwrap())
            .stderr(file);
        let good = command.status_in_time().success();
        let said = std::fs::read_to_string(&output).unwrap_or_default();
        assert!(good, "{name} {arguments:?}: {said}\n{}", self.log());
        said.trim().to_owned()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let arguments = [
            "-D",
            &self.path("data"),
            "-m",
            "immediate",
            "-w",
            "-s",
            "stop",
        ];
        self.command("pg_ctl")
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status_in_time();
    }
}
