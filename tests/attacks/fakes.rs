//! Fake database servers: a copy of `echo`, which takes any arguments, under a server's name, with
//! its output into a full pipe.
//!
//! They look as real as a stranger can make them, so that no attack fails early: a directory of
//! their own with a `postmaster.pid` that names them, a tablespace held open.

use std::fs::{self, Permissions};
use std::io::{PipeReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::ground::{Ground, give, give_all, put};
use super::stranger::{UID, as_uid};
use super::support::running::wait_for;
use crate::support::deadline::ChildInTime as _;

/// Held by the attack whose fakes run: those of two would share the time that walwise spends on one
/// uid.
static ONE: Mutex<()> = Mutex::new(());

/// Their programs, and the pipe that they wait at. One attack at a time has any.
pub struct Fakes {
    _one: MutexGuard<'static, ()>,
    programs: PathBuf,
    full: std::io::PipeWriter,
    _never_read: PipeReader,
}

/// A fake; killed when it is dropped.
pub struct Fake(Child);

impl Fake {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.0.kill_in_time();
    }
}

impl Fakes {
    /// No fakes yet.
    pub fn on(ground: &Ground) -> Self {
        // One that failed has none any more.
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let programs = ground.shared("programs", 0o755);
        for name in ["postgres", "mysqld", "mariadbd"] {
            fs::copy("/usr/bin/echo", programs.join(name)).unwrap();
        }
        let (reader, mut full) = std::io::pipe().unwrap();
        // What a pipe holds that root made (pipe(7)).
        full.write_all(&vec![b' '; 1 << 16]).unwrap();
        Self {
            _one: one,
            programs,
            full,
            _never_read: reader,
        }
    }

    /// A program of this name.
    pub fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// A process by such a program, as the stranger.
    pub fn command(&self, name: &str) -> Command {
        let mut command = as_uid(UID, self.program(name));
        command.arg0(name);
        command
    }

    /// Starts a fake.
    pub fn start(&self, command: &mut Command) -> Fake {
        command
            .stdout(Stdio::from(self.full.try_clone().unwrap()))
            .stderr(Stdio::null());
        Fake(command.spawn().unwrap())
    }

    /// Starts what another program executes, such as `unshare`, and waits until it has this name.
    pub fn start_through(&self, command: &mut Command, name: &str) -> Fake {
        let fake = self.start(command);
        wait_for("the name of a server", || {
            fs::read_to_string(format!("/proc/{}/comm", fake.pid()))
                .is_ok_and(|comm| comm.trim() == name)
        });
        fake
    }

    /// A PostgreSQL in a directory, which names it as its server.
    pub fn postgres(&self, data: &Path, arguments: &[&str]) -> Fake {
        self.postgres_of(UID, data, arguments)
    }

    /// The same as another user, who becomes the directory's owner.
    pub fn postgres_of(&self, uid: u32, data: &Path, arguments: &[&str]) -> Fake {
        let mut command = as_uid(uid, self.program("postgres"));
        command.arg0("postgres");
        command
            .arg("-D")
            .arg(data)
            .args(arguments)
            .current_dir(data);
        let fake = self.start(&mut command);
        let pid = data.join("postmaster.pid");
        // Where a trap lies in its place, that stays.
        if fs::symlink_metadata(&pid).is_err() {
            put(&pid, pid_file(fake.pid(), data, data), 0o600);
            std::os::unix::fs::chown(&pid, Some(uid), Some(uid)).unwrap();
        }
        fake
    }

    /// A MariaDB that works in a directory and has the system tablespace there open.
    pub fn mariadb(&self, data: &Path, arguments: &[&str]) -> Fake {
        let mut command = as_uid(UID, "/bin/sh");
        command
            .args(["-c", "exec 3<>ibdata1; exec \"$0\" \"$@\""])
            .arg(self.program("mariadbd"));
        command.args(arguments).current_dir(data);
        self.start_through(&mut command, "mariadbd")
    }

    /// The program that is installed, which alone is asked over its socket: it prints its help,
    /// without end.
    pub fn installed_mariadb(&self, uid: u32, data: &Path, arguments: &[&str]) -> Fake {
        let mut command = as_uid(uid, "/bin/sh");
        command.args([
            "-c",
            "exec 3<>ibdata1; exec \"$0\" \"$@\" --verbose --help",
            "/usr/sbin/mariadbd",
        ]);
        command.args(arguments).current_dir(data);
        self.start_through(&mut command, "mariadbd")
    }
}

/// The file that a server writes at its start: process, directory, time, port, directory of the
/// socket.
pub fn pid_file(pid: u32, data: &Path, socket: &Path) -> String {
    format!(
        "{pid}\n{}\n1700000000\n5432\n{}\n\n  5432001         0\nready   \n",
        data.display(),
        socket.display()
    )
}

/// Creates a convincing data directory of PostgreSQL.
pub fn postgres_data(path: &Path) {
    for name in ["global", "base", "pg_wal", "pg_tblspc"] {
        fs::create_dir_all(path.join(name)).unwrap();
    }
    for (name, text) in [
        ("PG_VERSION", "15\n"),
        ("postgresql.conf", "fsync = on\n"),
        ("postgresql.auto.conf", ""),
    ] {
        fs::write(path.join(name), text).unwrap();
    }
    fs::write(path.join("global/pg_control"), [0; 8192]).unwrap();
    give_all(path);
    fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
}

/// Creates one of MariaDB.
pub fn mariadb_data(path: &Path) {
    fs::create_dir_all(path).unwrap();
    for name in ["ibdata1", "ib_logfile0", "aria_log_control"] {
        fs::File::create(path.join(name))
            .unwrap()
            .set_len(1 << 20)
            .unwrap();
    }
    fs::create_dir_all(path.join("mysql")).unwrap();
    give_all(path);
    give(path);
}
