//! A real PostgreSQL cluster on a private socket, stopped when the guard is dropped, even if a test
//! fails.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use super::programs::copy_walwise_into;
use super::run;
use crate::support::deadline::CommandInTime as _;

pub const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";

pub struct Cluster {
    directory: tempfile::TempDir,
    pub data: PathBuf,
    /// The WAL directory; `pg_wal` in the data directory is a symbolic link to it.
    pub wal: PathBuf,
    pub environment: Vec<(String, String)>,
    /// Server arguments besides those for the socket.
    pub arguments: String,
    uid: u32,
    gid: u32,
}

impl Cluster {
    pub fn new() -> Self {
        Self::initdb_at(|own| (own.join("data"), own.join("fast/wal")))
    }

    /// Creates a cluster with data and WAL below two existing directories.
    pub fn new_below(data: &Path, wal: &Path) -> Self {
        Self::initdb_at(|_| (data.join("data"), wal.join("wal")))
    }

    pub fn from_initdb_command(command: &str) -> Self {
        let words: Vec<&str> = command.split(' ').collect();
        let data = words
            .iter()
            .skip_while(|word| **word != "-D")
            .nth(1)
            .unwrap();
        let cluster =
            Self::at_paths_without_initdb(|_| (data.into(), Path::new(data).join("pg_wal")));
        cluster.run_server_program(words[0], &words[1..]);
        cluster
    }

    fn initdb_at(places: impl Fn(&Path) -> (PathBuf, PathBuf)) -> Self {
        let cluster = Self::at_paths_without_initdb(places);
        for parent in [
            cluster.data.parent().unwrap(),
            cluster.wal.parent().unwrap(),
        ] {
            cluster.create_server_directory(parent);
        }
        cluster.run_server_program(
            "initdb",
            &[
                "-N",
                "-A",
                "trust",
                "-D",
                &cluster.path_string("data"),
                "--waldir",
                &cluster.path_string("wal"),
            ],
        );
        cluster.append_to_file(
            "postgresql.conf",
            "listen_addresses = ''\nfsync = off # tests only\n",
        );
        cluster
    }

    fn at_paths_without_initdb(places: impl Fn(&Path) -> (PathBuf, PathBuf)) -> Self {
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
        cluster.create_server_directory(cluster.temporary_directory());
        cluster
    }

    fn create_server_directory(&self, path: &Path) {
        std::fs::create_dir_all(path).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        self.chown_to_server(path);
    }

    pub fn temporary_directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns a path as a string: `data`, `wal`, or a name in the cluster's own directory.
    pub fn path_string(&self, name: &str) -> String {
        let path = match name {
            "data" => self.data.clone(),
            "wal" => self.wal.clone(),
            name => self.temporary_directory().join(name),
        };
        path.display().to_string()
    }

    pub fn chown_to_server(&self, path: &Path) {
        chown(path, Some(self.uid), Some(self.gid)).unwrap();
    }

    pub fn append_to_file(&self, name: &str, text: &str) {
        let path = self.data.join(name);
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(&path, before + text).unwrap();
        self.chown_to_server(&path);
    }

    /// Starts the server and waits for it. File timestamps are coarse, so the start waits until
    /// they lie clearly before the server's start.
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
        self.start_without_ctime_gap();
    }

    pub fn restart_without_ctime_gap(&self) {
        if self.data.join("postmaster.pid").exists() {
            self.stop();
        }
        self.start_without_ctime_gap();
    }

    fn start_without_ctime_gap(&self) {
        let socket = format!(
            "-k {} -p 5499 {}",
            self.temporary_directory().display(),
            self.arguments
        );
        self.run_server_program(
            "pg_ctl",
            &[
                "-D",
                &self.path_string("data"),
                "-l",
                &self.path_string("log"),
                "-o",
                &socket,
                "-w",
                "start",
            ],
        );
    }

    pub fn stop(&self) {
        self.run_server_program(
            "pg_ctl",
            &["-D", &self.path_string("data"), "-m", "fast", "-w", "stop"],
        );
    }

    pub fn sql(&self, statement: &str) -> String {
        self.run_server_program(
            "psql",
            &[
                "-h",
                &self.path_string(""),
                "-p",
                "5499",
                "-d",
                "postgres",
                "-Atc",
                statement,
            ],
        )
    }

    pub fn command_as_owner(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .uid(self.uid)
            .gid(self.gid)
            .current_dir(self.temporary_directory());
        command
            .env_clear()
            .env("LC_ALL", "C")
            .envs(self.environment.clone())
            .stdin(Stdio::null());
        command
    }

    /// Runs walwise as the server's user, from a copy, because that user cannot read the build
    /// directory.
    pub fn walwise_as_owner(&self) -> Command {
        let program = copy_walwise_into(self.temporary_directory());
        let mut command = self.command_as_owner(&program);
        command.env("LC_ALL", "C.UTF-8");
        command
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.temporary_directory().join("log")).unwrap_or_default()
    }

    pub fn server_command(&self, name: &str) -> Command {
        self.command_as_owner(Path::new(PROGRAMS).join(name))
    }

    pub fn run_server_program(&self, name: &str, arguments: &[&str]) -> String {
        // The server inherits pg_ctl's open files, so a pipe would stay open as long as the server
        // runs.
        let output = self.temporary_directory().join(format!("{name}.output"));
        let file = std::fs::File::create(&output).unwrap();
        let mut command = self.server_command(name);
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
            &self.path_string("data"),
            "-m",
            "immediate",
            "-w",
            "-s",
            "stop",
        ];
        self.server_command("pg_ctl")
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status_in_time();
    }
}
