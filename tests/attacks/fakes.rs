//! Fake database servers: copies of `echo` under a server's name, which block on a full pipe and
//! accept any arguments.
//!
//! A fake looks as real as an attacker can make it: its directory has a matching `postmaster.pid`,
//! and a tablespace is open. Otherwise attacks would fail too early.

use std::fs::{self, Permissions};
use std::io::{PipeReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::attack_directory::{
    AttackDirectory, chown_to_attacker, chown_tree_to_attacker, write_attacker_file,
};
use super::stranger::{UID, command_as_uid};
use super::support::running::wait_for_condition;
use crate::support::deadline::ChildInTime as _;

/// Held while the fakes of one attack run. Fakes of two attacks would share the time that walwise
/// spends on one uid.
static ONE: Mutex<()> = Mutex::new(());

pub struct FakeServerPrograms {
    _one: MutexGuard<'static, ()>,
    programs: PathBuf,
    full: std::io::PipeWriter,
    _never_read: PipeReader,
}

pub struct FakeServer(Child);

impl FakeServer {
    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.0.kill_in_time();
    }
}

impl FakeServerPrograms {
    pub fn install_in(ground: &AttackDirectory) -> Self {
        // An attack that panicked has dropped its fakes, so a poisoned lock is harmless.
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let programs = ground.create_directory("programs", 0o755);
        for name in ["postgres", "mysqld", "mariadbd"] {
            fs::copy("/usr/bin/echo", programs.join(name)).unwrap();
        }
        let (reader, mut full) = std::io::pipe().unwrap();
        // Fills the pipe: a pipe that root created holds 64 KiB (pipe(7)).
        full.write_all(&vec![b' '; 1 << 16]).unwrap();
        Self {
            _one: one,
            programs,
            full,
            _never_read: reader,
        }
    }

    pub fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    pub fn command(&self, name: &str) -> Command {
        let mut command = command_as_uid(UID, self.program(name));
        command.arg0(name);
        command
    }

    pub fn start(&self, command: &mut Command) -> FakeServer {
        command
            .stdout(Stdio::from(self.full.try_clone().unwrap()))
            .stderr(Stdio::null());
        FakeServer(command.spawn().unwrap())
    }

    /// Starts a program such as `unshare` and waits until the process has the server's name.
    pub fn start_and_wait_for_name(&self, command: &mut Command, name: &str) -> FakeServer {
        let fake = self.start(command);
        wait_for_condition("the name of a server", || {
            fs::read_to_string(format!("/proc/{}/comm", fake.pid()))
                .is_ok_and(|comm| comm.trim() == name)
        });
        fake
    }

    pub fn start_postgres(&self, data: &Path, arguments: &[&str]) -> FakeServer {
        self.start_postgres_as(UID, data, arguments)
    }

    pub fn start_postgres_as(&self, uid: u32, data: &Path, arguments: &[&str]) -> FakeServer {
        let mut command = command_as_uid(uid, self.program("postgres"));
        command.arg0("postgres");
        command
            .arg("-D")
            .arg(data)
            .args(arguments)
            .current_dir(data);
        let fake = self.start(&mut command);
        let pid = data.join("postmaster.pid");
        // An attack may have put a trap in the place of `postmaster.pid`, which must stay.
        if fs::symlink_metadata(&pid).is_err() {
            write_attacker_file(&pid, postmaster_pid_text(fake.pid(), data, data), 0o600);
            std::os::unix::fs::chown(&pid, Some(uid), Some(uid)).unwrap();
        }
        fake
    }

    /// Starts a fake MariaDB server that works in the directory and holds the system tablespace
    /// open.
    pub fn start_mariadb(&self, data: &Path, arguments: &[&str]) -> FakeServer {
        let mut command = command_as_uid(UID, "/bin/sh");
        command
            .args(["-c", "exec 3<>ibdata1; exec \"$0\" \"$@\""])
            .arg(self.program("mariadbd"));
        command.args(arguments).current_dir(data);
        self.start_and_wait_for_name(&mut command, "mariadbd")
    }

    /// Starts the installed program, because walwise queries only that program over its socket. The
    /// program prints its help and blocks on the pipe.
    pub fn start_installed_mariadb(&self, uid: u32, data: &Path, arguments: &[&str]) -> FakeServer {
        let mut command = command_as_uid(uid, "/bin/sh");
        command.args([
            "-c",
            "exec 3<>ibdata1; exec \"$0\" \"$@\" --verbose --help",
            "/usr/sbin/mariadbd",
        ]);
        command.args(arguments).current_dir(data);
        self.start_and_wait_for_name(&mut command, "mariadbd")
    }
}

pub fn postmaster_pid_text(pid: u32, data: &Path, socket: &Path) -> String {
    format!(
        "{pid}\n{}\n1700000000\n5432\n{}\n\n  5432001         0\nready   \n",
        data.display(),
        socket.display()
    )
}

pub fn create_postgres_data(path: &Path) {
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
    chown_tree_to_attacker(path);
    fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
}

pub fn create_mariadb_data(path: &Path) {
    fs::create_dir_all(path).unwrap();
    for name in ["ibdata1", "ib_logfile0", "aria_log_control"] {
        fs::File::create(path.join(name))
            .unwrap()
            .set_len(1 << 20)
            .unwrap();
    }
    fs::create_dir_all(path.join("mysql")).unwrap();
    chown_tree_to_attacker(path);
    chown_to_attacker(path);
}
