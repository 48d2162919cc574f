//! A real MariaDB on a private socket, with option files of its own. It is stopped when its guard
//! is dropped, even when a test fails; the system's own configuration is neither read nor touched.

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use nix::unistd::Pid;

use super::running::wait_for;
use super::{run, stderr, stdout};
use crate::support::deadline::{ChildInTime as _, CommandInTime as _};

/// A server with a directory of its own for option files, socket and log.
pub struct Mariadb {
    directory: tempfile::TempDir,
    /// The data directory.
    pub data: PathBuf,
    server: Option<Child>,
    /// Where the server sees its data, when that is elsewhere.
    seen: Option<PathBuf>,
    /// Environment variables of the server.
    pub environment: Vec<(String, String)>,
    /// Arguments of the server, behind those of its option files.
    pub arguments: Vec<String>,
    uid: u32,
    gid: u32,
}

impl Mariadb {
    /// A new one with its data beneath a directory, which must be there; `lines` are the server's,
    /// in an included file.
    pub fn beneath(data: &Path, lines: &str) -> Self {
        let server = Self::over(data.join("mysql"));
        server.write("conf.d/storage.cnf", lines);
        let files = server.defaults();
        run(
            "mariadb-install-db",
            &[
                &files,
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
            ],
        );
        server
    }

    /// One over the data of this directory, which somebody made or will make.
    pub fn over(data: PathBuf) -> Self {
        let id = |flag| run("id", &[flag, "mysql"]).trim().parse().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let (uid, gid) = (id("-u"), id("-g"));
        let (environment, arguments) = Default::default();
        let server = Self {
            data,
            directory,
            server: None,
            seen: None,
            environment,
            arguments,
            uid,
            gid,
        };
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(server.own(), open).unwrap();
        server.give(server.own());
        server.directory_for(&server.data);
        std::fs::create_dir(server.own().join("conf.d")).unwrap();
        // Servers that are made at once would meet in the common one.
        server.directory_for(&server.own().join("tmp"));
        let (own, data) = (server.own().display(), server.data.display());
        server.write(
            "my.cnf",
            &format!(
                "[client]\nsocket = {own}/socket\n[mysqld]\ndatadir = {data}\nsocket = {own}/socket\n\
                 pid-file = {own}/pid\ntmpdir = {own}/tmp\nskip-networking\nuser = mysql\ninnodb_buffer_pool_size = 16M\n\
                 innodb_log_file_size = 10M\n!includedir {own}/conf.d\n"
            ),
        );
        server.write("conf.d/storage.cnf", "");
        server.write(
            "conf.d/storage.cnf.off",
            "[mysqld]\ninnodb_flush_method = nosync\n",
        );
        server
    }

    /// The directory of its own.
    pub fn own(&self) -> &Path {
        self.directory.path()
    }

    /// A directory that the server may write, made if need be.
    pub fn directory_for(&self, path: &Path) {
        std::fs::create_dir_all(path).unwrap();
        self.give(path);
    }

    /// Lets the server see its data in another directory, in a mount name space of its own.
    pub fn see_data_elsewhere(&mut self) {
        let seen = self.own().join("elsewhere");
        self.directory_for(&seen);
        let text = std::fs::read_to_string(self.own().join("my.cnf")).unwrap();
        let (here, there) = (self.data.display().to_string(), seen.display().to_string());
        self.write("my.cnf", &text.replace(&here, &there));
        self.seen = Some(seen);
    }

    /// Writes one of its option files.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.own().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    }

    fn give(&self, path: &Path) {
        chown(path, Some(self.uid), Some(self.gid)).unwrap();
    }

    fn defaults(&self) -> String {
        format!("--defaults-file={}/my.cnf", self.own().display())
    }

    /// Starts the server, later than anything in its configuration was changed by more than the
    /// clock of files can be behind, and waits for it.
    pub fn start(&mut self) {
        let changed = |path: PathBuf| {
            let nanos = |found: Metadata| {
                i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec())
            };
            path.metadata().map_or(0, nanos)
        };
        let files =
            ["", "my.cnf", "conf.d", "conf.d/storage.cnf"].map(|name| self.own().join(name));
        let last = files.map(changed).into_iter().max().unwrap();
        wait_for("a few ticks to pass", || {
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap()
                .as_nanos()
                .cast_signed();
            now > last + 40_000_000
        });
        self.start_at_once();
    }

    /// Stops the server if it runs and starts it, whenever its configuration was changed.
    pub fn restart_at_once(&mut self) {
        if let Some(mut server) = self.server.take() {
            self.sql("SHUTDOWN").unwrap();
            server.wait_in_time();
        }
        self.start_at_once();
    }

    fn start_at_once(&mut self) {
        let log = std::fs::File::create(self.own().join("log")).unwrap();
        let mut command = Command::new("mariadbd");
        if let Some(seen) = &self.seen {
            command = Command::new("unshare");
            let script = "mount --make-rprivate / && mount --bind \"$1\" \"$2\" && shift 2 && exec mariadbd \"$@\"";
            command
                .args(["-m", "sh", "-c", script, "sh"])
                .arg(&self.data)
                .arg(seen);
        }
        command
            .arg(self.defaults())
            .args(&self.arguments)
            .envs(self.environment.clone())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        self.server = Some(command.spawn().unwrap());
        wait_for("the server answers", || {
            self.sql("SELECT 1").is_some_and(|answer| answer == "1")
        });
    }

    /// The number of its process.
    pub fn process(&self) -> Pid {
        let text = std::fs::read_to_string(self.own().join("pid")).unwrap();
        Pid::from_raw(text.trim().parse().unwrap())
    }

    /// The server's answer to a statement.
    pub fn sql(&self, statement: &str) -> Option<String> {
        let mut client = Command::new("mariadb");
        client
            .arg(self.defaults())
            .args(["-uroot", "--password=", "-N", "-B", "-e", statement]);
        let output = client.output_in_time();
        output
            .status
            .success()
            .then(|| stdout(&output).trim().to_owned())
    }

    /// Whether a server of this version would take an option.
    pub fn takes(option: &str) -> bool {
        let mut help = Command::new("mariadbd");
        let output = help
            .args(["--no-defaults", option, "--verbose", "--help"])
            .output_in_time();
        output.status.success() && !stderr(&output).contains("[ERROR]")
    }

    /// The server's log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.own().join("log")).unwrap_or_default()
    }
}

impl Drop for Mariadb {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            // Whatever it holds, it must be gone before its file systems are.
            server.kill_in_time();
        }
    }
}
