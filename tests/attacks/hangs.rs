//! File systems that never answer, such as one that an attacker mounts with FUSE.
//!
//! Whatever root reads or writes there, walwise must exit by itself, and immediately on SIGTERM.

use std::fs;
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};

use super::attack_directory::AttackDirectory;
use super::attempts::Attempts;
use super::root::{self, RunningCommand};
use super::support::fuse::HungFuse;
use crate::support::deadline::ChildInTime as _;

/// Arguments of walwise; `HELD` stands for the mount point that never answers.
const COMMANDS: [&[&str]; 10] = [
    &["check", "--no-probe", "--output", "HELD/report"],
    &[
        "check",
        "--no-probe",
        "--format",
        "script",
        "--output",
        "HELD/below/script",
    ],
    &["capture", "--output", "HELD/capture"],
    &["check", "--no-probe", "--rules", "HELD/rules"],
    &["check", "--no-probe", "--rules", "HELD"],
    &["rules", "check", "HELD/rules"],
    &["check", "--host", "HELD/host"],
    &["check", "--no-probe", "--baseline", "HELD/report.json"],
    &["drill", "write", "HELD"],
    &["drill", "read", "HELD"],
];

fn replace_held_placeholder(words: &[&str], held: &str) -> Vec<String> {
    words
        .iter()
        .map(|word| word.replace("HELD", held))
        .collect()
}

/// Root names a path that never answers. The attacker wants root's command never to end.
#[test]
#[ignore = "needs root and FUSE"]
fn commands_give_up_on_unresponsive_mount() {
    let mut attempts =
        Attempts::for_attack("outputs, rules, hosts and drills on a mount that never answers");
    let ground = AttackDirectory::new();
    let point = ground.create_directory("held", 0o755);
    let _held = HungFuse::mount(&point);
    let runs: Vec<_> = COMMANDS
        .iter()
        .map(|words| {
            (
                words,
                RunningCommand::start(&mut root::walwise_from_cron(replace_held_placeholder(
                    words,
                    point.to_str().unwrap(),
                ))),
            )
        })
        .collect();
    for (words, run) in runs {
        let ended = run.wait_with_timeout(root::time_limit_seconds(), |_| ());
        let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
        if ended.code == Some(0) {
            gains.push("it ends as if it had been done".to_owned());
        }
        attempts.record_attempt(&words.join(" "), &gains);
    }
    attempts.write_tally_and_assert();
}

/// Root terminates a walwise that waits for the mount. The attacker wants that process to survive.
#[test]
#[ignore = "needs root and FUSE"]
fn commands_on_unresponsive_mount_exit_on_sigterm() {
    let mut attempts = Attempts::for_attack("TERM to what waits for a mount that never answers");
    let ground = AttackDirectory::new();
    let point = ground.create_directory("held", 0o755);
    let _held = HungFuse::mount(&point);
    let start = |words: &&'static [&str]| {
        (
            *words,
            RunningCommand::start(&mut root::walwise_from_cron(replace_held_placeholder(
                words,
                point.to_str().unwrap(),
            ))),
        )
    };
    let runs: Vec<_> = COMMANDS.iter().map(start).collect();
    for (words, mut run) in runs {
        // Waits until a process blocks on FUSE, or walwise has given up.
        super::support::running::wait_for_condition("it waits for FUSE", || {
            !run.is_running() || is_blocked_on_fuse(run.pid().as_raw())
        });
        let asked = run.is_running();
        let _ = kill(run.pid(), Signal::SIGTERM);
        let told = std::time::Instant::now();
        let ended = run.wait_with_timeout(root::time_limit_seconds(), |_| ());
        let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
        // SIGTERM must act immediately, not when walwise would give up after ten seconds.
        if asked && told.elapsed() > std::time::Duration::from_secs(4) {
            gains.push(format!("it ends {} s after TERM", told.elapsed().as_secs()));
        }
        attempts.record_attempt(&format!("{}, asked: {asked}", words.join(" ")), &gains);
    }
    attempts.write_tally_and_assert();
}

fn is_blocked_on_fuse(pid: i32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    tasks.map(|task| task.path()).any(|task| {
        let at = fs::read_to_string(task.join("wchan")).unwrap_or_default();
        let children = fs::read_to_string(task.join("children")).unwrap_or_default();
        // Only the first task waits for FUSE; further tasks wait for a lock that the first one
        // holds.
        let stat = fs::read_to_string(task.join("stat")).unwrap_or_default();
        let stuck = stat
            .rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with('D'));
        stuck
            || at.contains("request_wait_answer")
            || children
                .split_whitespace()
                .any(|child| child.parse().is_ok_and(is_blocked_on_fuse))
    })
}

#[test]
#[ignore = "needs root"]
fn a_drill_whose_output_nobody_reads_ends_on_term() {
    let mut attempts = Attempts::for_attack("TERM to a drill whose output nobody reads");
    let ground = AttackDirectory::new();
    let directory = ground.create_directory("drill", 0o755);
    let pipe = ground.join("pipe");
    super::attack_directory::create_attacker_fifo(&pipe);
    // Opened for reading and writing, so that the pipe neither blocks without a reader nor fails.
    let both = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&pipe)
        .unwrap();
    let mut command =
        root::walwise_from_cron(["drill".as_ref(), "write".as_ref(), directory.as_os_str()]);
    let mut child = command
        .stdout(both.try_clone().unwrap())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id();
    super::support::running::wait_for_condition("the pipe is full", || {
        let mut waiting = [PollFd::new(both.as_fd(), PollFlags::POLLOUT)];
        poll(&mut waiting, PollTimeout::ZERO).unwrap() == 0
    });
    // poll(2) reports a pipe as writable only if a whole page is free. A program that does not poll
    // writes on until the pipe is full.
    let mut before = 0;
    super::support::running::wait_for_condition("nothing more is written", || {
        std::thread::sleep(std::time::Duration::from_secs(1));
        let now = rustix::io::ioctl_fionread(&both).unwrap();
        std::mem::replace(&mut before, now) == now
    });
    let _ = kill(
        nix::unistd::Pid::from_raw(pid.try_into().unwrap()),
        Signal::SIGTERM,
    );
    let end =
        std::time::Instant::now() + std::time::Duration::from_secs(root::time_limit_seconds());
    let ends = loop {
        match child.try_wait().unwrap() {
            Some(_) => break true,
            None if std::time::Instant::now() > end => break false,
            None => std::thread::yield_now(),
        }
    };
    child.kill_in_time();
    attempts.record_attempt(
        "a full pipe",
        &if ends {
            Vec::new()
        } else {
            vec!["root hangs".to_owned()]
        },
    );
    attempts.write_tally_and_assert();
}
