//! A real MariaDB server on a private socket with its own option files, stopped when the guard is
//! dropped, even if a test fails. The system's own configuration is neither read nor changed.

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use nix::unistd::Pid;

use super::running::wait_for_condition;
use super::{run, stderr, stdout};
use crate::support::deadline::{ChildInTime as _, CommandInTime as _};

pub struct Mariadb {
    directory: tempfile::TempDir,
    pub data: PathBuf,
    server: Option<Child>,
    /// Path of the data directory inside the server's mount namespace, if different.
    seen: Option<PathBuf>,
    pub environment: Vec<(String, String)>,
    /// Server arguments after those of the option files.
    pub arguments: Vec<String>,
    uid: u32,
    gid: u32,
}

impl Mariadb {
    /// Creates a server with its data below an existing directory; `lines` go into an included
    /// option file.
    pub fn new_below(data: &Path, lines: &str) -> Self {
        let server = Self::for_data_directory(data.join("mysql"));
        server.write_option_file("conf.d/storage.cnf", lines);
        let files = server.defaults_file_option();
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

    pub fn for_data_directory(data: PathBuf) -> Self {
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
        std::fs::set_permissions(server.temporary_directory(), open).unwrap();
        server.chown_to_server(server.temporary_directory());
        server.create_server_directory(&server.data);
        std::fs::create_dir(server.temporary_directory().join("conf.d")).unwrap();
        // Servers created in parallel would collide in the common temporary directory.
        server.create_server_directory(&server.temporary_directory().join("tmp"));
        let (own, data) = (
            server.temporary_directory().display(),
            server.data.display(),
        );
        server.write_option_file(
            "my.cnf",
            &format!(
                "[client]\nsocket = {own}/socket\n[mysqld]\ndatadir = {data}\nsocket = {own}/socket\n\
                 pid-file = {own}/pid\ntmpdir = {own}/tmp\nskip-networking\nuser = mysql\ninnodb_buffer_pool_size = 16M\n\
                 innodb_log_file_size = 10M\n!includedir {own}/conf.d\n"
            ),
        );
        server.write_option_file("conf.d/storage.cnf", "");
        server.write_option_file(
            "conf.d/storage.cnf.off",
            "[mysqld]\ninnodb_flush_method = nosync\n",
        );
        server
    }

    pub fn temporary_directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn create_server_directory(&self, path: &Path) {
        std::fs::create_dir_all(path).unwrap();
        self.chown_to_server(path);
    }

    /// Shows the server its data under another path, in its own mount namespace.
    pub fn mount_data_elsewhere(&mut self) {
        let seen = self.temporary_directory().join("elsewhere");
        self.create_server_directory(&seen);
        let text = std::fs::read_to_string(self.temporary_directory().join("my.cnf")).unwrap();
        let (here, there) = (self.data.display().to_string(), seen.display().to_string());
        self.write_option_file("my.cnf", &text.replace(&here, &there));
        self.seen = Some(seen);
    }

    pub fn write_option_file(&self, name: &str, text: &str) {
        let path = self.temporary_directory().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    }

    fn chown_to_server(&self, path: &Path) {
        chown(path, Some(self.uid), Some(self.gid)).unwrap();
    }

    fn defaults_file_option(&self) -> String {
        format!(
            "--defaults-file={}/my.cnf",
            self.temporary_directory().display()
        )
    }

    /// Starts the server and waits for it. File timestamps are coarse, so the start waits until
    /// they lie clearly before the server's start.
    pub fn start(&mut self) {
        let changed = |path: PathBuf| {
            let nanos = |found: Metadata| {
                i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec())
            };
            path.metadata().map_or(0, nanos)
        };
        let files = ["", "my.cnf", "conf.d", "conf.d/storage.cnf"]
            .map(|name| self.temporary_directory().join(name));
        let last = files.map(changed).into_iter().max().unwrap();
        wait_for_condition("a few ticks to pass", || {
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap()
                .as_nanos()
                .cast_signed();
            now > last + 40_000_000
        });
        self.start_without_ctime_gap();
    }

    pub fn restart_without_ctime_gap(&mut self) {
        if let Some(mut server) = self.server.take() {
            self.sql("SHUTDOWN").unwrap();
            server.wait_in_time();
        }
        self.start_without_ctime_gap();
    }

    fn start_without_ctime_gap(&mut self) {
        let log = std::fs::File::create(self.temporary_directory().join("log")).unwrap();
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
            .arg(self.defaults_file_option())
            .args(&self.arguments)
            .envs(self.environment.clone())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        self.server = Some(command.spawn().unwrap());
        wait_for_condition("the server answers", || {
            self.sql("SELECT 1").is_some_and(|answer| answer == "1")
        });
    }

    pub fn server_pid(&self) -> Pid {
        let text = std::fs::read_to_string(self.temporary_directory().join("pid")).unwrap();
        Pid::from_raw(text.trim().parse().unwrap())
    }

    pub fn sql(&self, statement: &str) -> Option<String> {
        let mut client = Command::new("mariadb");
        client.arg(self.defaults_file_option()).args([
            "-uroot",
            "--password=",
            "-N",
            "-B",
            "-e",
            statement,
        ]);
        let output = client.output_in_time();
        output
            .status
            .success()
            .then(|| stdout(&output).trim().to_owned())
    }

    pub fn accepts_option(option: &str) -> bool {
        let mut help = Command::new("mariadbd");
        let output = help
            .args(["--no-defaults", option, "--verbose", "--help"])
            .output_in_time();
        output.status.success() && !stderr(&output).contains("[ERROR]")
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.temporary_directory().join("log")).unwrap_or_default()
    }
}

impl Drop for Mariadb {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            // The server must be gone before its file systems are unmounted.
            server.kill_in_time();
        }
    }
}
