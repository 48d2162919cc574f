//! Runs walwise as root's cron would, with a deadline, and records output, exit and opened files.

use crate::support::programs::walwise_path;
use std::fs;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

pub const VARIABLE: &str = "Qx3rootvariable";

/// Returns the time limit in seconds, far beyond any run on a working machine. `WALWISE_PATIENCE`
/// sets another limit, for a version that is known to hang.
pub fn time_limit_seconds() -> u64 {
    std::env::var("WALWISE_PATIENCE").map_or(60, |seconds| seconds.parse().unwrap())
}

pub fn walwise_from_cron<A: AsRef<std::ffi::OsStr>>(
    arguments: impl IntoIterator<Item = A>,
) -> Command {
    let mut command = cron_command(walwise_path());
    command.args(arguments);
    command
}

pub fn output_formats() -> Vec<String> {
    let said =
        run_with_timeout(&mut walwise_from_cron(["check", "--format", "?"])).combined_output();
    let list = said
        .split_once("possible values: ")
        .and_then(|(_, rest)| rest.split_once(']'));
    let forms: Vec<String> = list
        .map(|(list, _)| list.split(", ").map(str::to_owned).collect())
        .unwrap_or_default();
    assert!(
        forms.iter().any(|form| form == "text"),
        "no list of forms: {said}"
    );
    forms
}

pub fn check_command_lines(further: &[&[&str]]) -> Vec<Vec<String>> {
    let owned = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<String>>()
    };
    let looks = output_formats()
        .into_iter()
        .map(|form| owned(&["check", "--no-probe", "--format", &form]));
    looks
        .chain(further.iter().map(|words| owned(words)))
        .collect()
}

pub fn cron_command(program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .current_dir("/root")
        .process_group(0)
        .stdin(Stdio::null());
    command
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .env("SHELL", "/bin/sh")
        .env("LC_ALL", "C.UTF-8");
    command
        .env("HOME", "/root")
        .env("LOGNAME", "root")
        .env("SECRET_OF_ROOT", VARIABLE);
    command
}

#[derive(Debug)]
pub struct RunResult {
    /// The exit code; `None` if a signal ended the process.
    pub code: Option<i32>,
    pub late: bool,
    pub signal: Option<i32>,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

impl RunResult {
    pub fn combined_output(&self) -> String {
        String::from_utf8_lossy(&[self.out.as_slice(), self.err.as_slice()].concat()).into_owned()
    }

    pub fn stdout_json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.out)
            .unwrap_or_else(|e| panic!("no JSON ({e}): {}", self.combined_output()))
    }

    pub fn hang_message(&self) -> Option<String> {
        self.late.then(|| "root hangs".to_owned())
    }
}

/// A running command in its own process group, which is killed on drop.
pub struct RunningCommand {
    child: Child,
    started: Instant,
    outputs: tempfile::TempDir,
}

impl RunningCommand {
    pub fn start(command: &mut Command) -> Self {
        let outputs = tempfile::tempdir().unwrap();
        let file = |name| Stdio::from(fs::File::create(outputs.path().join(name)).unwrap());
        let child = command
            .stdout(file("out"))
            .stderr(file("err"))
            .spawn()
            .unwrap();
        Self {
            child,
            started: Instant::now(),
            outputs,
        }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().unwrap())
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub fn stdout_so_far(&self) -> String {
        fs::read_to_string(self.outputs.path().join("out")).unwrap_or_default()
    }

    pub fn wait_with_timeout(
        mut self,
        seconds: u64,
        mut meanwhile: impl FnMut(&Self),
    ) -> RunResult {
        let deadline = self.started + Duration::from_secs(seconds);
        let mut late = false;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break Some(status);
            }
            if Instant::now() > deadline {
                late = true;
                let _ = killpg(self.pid(), Signal::SIGKILL);
                break None;
            }
            meanwhile(&self);
            // Sleeping leaves the processor to the process under test.
            std::thread::sleep(Duration::from_millis(1));
        };
        let read = |name| fs::read(self.outputs.path().join(name)).unwrap();
        RunResult {
            code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            late,
            out: read("out"),
            err: read("err"),
        }
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        // After the leader was waited for, the group contains only processes that must not remain.
        let _ = killpg(self.pid(), Signal::SIGKILL);
        // A process stuck in a system call is not waited for.
        let _ = self.child.try_wait();
    }
}

pub fn run_with_timeout(command: &mut Command) -> RunResult {
    RunningCommand::start(command).wait_with_timeout(time_limit_seconds(), |_| ())
}

pub fn run_traced(calls: &str, arguments: &[&str]) -> (RunResult, Vec<String>) {
    let place = tempfile::tempdir().unwrap();
    let trace = place.path().join("trace");
    let mut command = cron_command("strace");
    command.args([
        // One file per process keeps calls of several processes apart.
        "-ff",
        "-qq",
        "-y",
        "-s",
        "4096",
        "-e",
        "signal=none",
        "-e",
        &format!("trace={calls}"),
        "-o",
    ]);
    command.arg(&trace).arg(walwise_path()).args(arguments);
    let ended = run_with_timeout(&mut command);
    let traces = fs::read_dir(place.path())
        .unwrap()
        .map(|entry| fs::read(entry.unwrap().path()).unwrap());
    let text = traces
        .map(|trace| String::from_utf8_lossy(&trace).into_owned())
        .collect::<String>();
    (ended, text.lines().map(str::to_owned).collect())
}

/// Returns the lines of a trace that opened an object of this name without O_PATH.
pub fn lines_opening_path(trace: &[String], what: &Path) -> Vec<String> {
    let shown = format!("<{}", what.display());
    let really = |line: &&String| {
        let answer = line.rsplit_once(" = ").map_or("", |(_, answer)| answer);
        answer.contains(&shown) && !line.contains("O_PATH")
    };
    trace.iter().filter(really).cloned().collect()
}
