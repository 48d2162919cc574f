//! The program under test while it runs: watched, signalled, and ended when its guard is dropped.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

pub use super::deadline::{holds_in_time, wait_for};
use super::{loops, walwise};

/// The processes that a process has started and that have not ended; none where it has ended
/// itself.
pub fn children(of: impl Display) -> BTreeSet<String> {
    let children = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
    children.split_whitespace().map(str::to_owned).collect()
}

/// A process of ours, killed when it is dropped before its end. It writes to files, so that it
/// never waits for us and nothing that it leaves behind keeps us waiting.
pub struct Running {
    child: Child,
    outputs: tempfile::TempDir,
}

impl Running {
    /// Starts the program with these arguments. It ignores no signal, as it would that of a test
    /// run in the background.
    pub fn walwise<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Self {
        let mut command = Command::new("env");
        Self::start(
            command
                .arg("--default-signal")
                .arg(walwise().get_program())
                .args(arguments),
        )
    }

    /// Starts any command.
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

    /// Waits until there is a file in its scratch directory below a directory, which means that a
    /// probe runs; gives the scratch directory.
    pub fn probing(&mut self, below: &Path) -> PathBuf {
        let mut dirs = Vec::new();
        let mut ended = None;
        wait_for("a scratch file appears", || {
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

    /// Waits until it has a child, or has ended.
    pub fn has_child(&mut self) {
        wait_for("it starts a child", || {
            let ended = self.child.try_wait().unwrap().is_some();
            ended || !children(self.child.id()).is_empty()
        });
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Output {
        let mut ended = None;
        wait_for("it ends", || {
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

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
        }
        // What is stuck in a system call is not waited for.
        let _ = self.child.try_wait();
    }
}
