//! The program under test while running: watched, signalled, and killed when its guard is dropped.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

pub use super::deadline::{becomes_true_in_time, wait_for_condition};
use super::{loops, walwise};

/// Lists the child processes of a process that have not ended; empty if the process itself has
/// ended.
pub fn child_pids(of: impl Display) -> BTreeSet<String> {
    let children = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    children.split_whitespace().map(str::to_owned).collect()
}

/// A child process, killed if dropped before its end. Its output goes to files, so no full or
/// inherited pipe can block process or test.
pub struct RunningProgram {
    child: Child,
    outputs: tempfile::TempDir,
}

impl RunningProgram {
    /// Starts the program with no signal ignored; a background shell would make it ignore SIGINT.
    pub fn start_walwise<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Self {
        let mut command = Command::new("env");
        Self::start(
            command
                .arg("--default-signal")
                .arg(walwise().get_program())
                .args(arguments),
        )
    }

    pub fn start(command: &mut Command) -> Self {
        let outputs = tempfile::tempdir().unwrap();
        let file = |name| Stdio::from(fs::File::create(outputs.path().join(name)).unwrap());
        let child = command
            .stdin(Stdio::null())
            .stdout(file("out"))
            .stderr(file("err"))
            .spawn()
            .unwrap();
        Self { child, outputs }
    }

    pub fn wait_for_scratch_file(&mut self, below: &Path) -> PathBuf {
        let mut dirs = Vec::new();
        let mut ended = None;
        wait_for_condition("a scratch file appears", || {
            dirs = loops::scratch_dirs(below);
            dirs.retain(|dir| fs::read_dir(dir).is_ok_and(|mut inside| inside.next().is_some()));
            ended = self.child.try_wait().unwrap();
            ended.is_some() || !dirs.is_empty()
        });
        dirs.pop().unwrap_or_else(|| {
            panic!(
                "it ended before it probed: {:?}",
                self.output(ended.unwrap())
            )
        })
    }

    pub fn wait_for_child(&mut self) {
        wait_for_condition("it starts a child", || {
            let ended = self.child.try_wait().unwrap().is_some();
            ended || !child_pids(self.child.id()).is_empty()
        });
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }

    pub fn wait_for_output(mut self) -> Output {
        let mut ended = None;
        wait_for_condition("it ends", || {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        self.output(ended.unwrap())
    }

    fn output(&self, status: ExitStatus) -> Output {
        let read = |name| fs::read(self.outputs.path().join(name)).unwrap();
        Output {
            status,
            stdout: read("out"),
            stderr: read("err"),
        }
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
        }
        // A process stuck in a system call is not waited for.
        let _ = self.child.try_wait();
    }
}
