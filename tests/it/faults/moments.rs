//! Signals at two hundred moments of every kind of probe: it ends as documented, and no file or
//! process remains.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::{ENDLESS, complaint, complaints, json, probers};
use crate::support::loops::ext4;
use crate::support::running::{Running, wait_for};
use crate::support::{names, walwise};

/// Numbers without a pattern, the same in every run.
struct Dice(u64);

impl Dice {
    /// Up to a limit.
    fn below(&mut self, limit: usize) -> usize {
        // Knuth's MMIX generator; the upper bits are the better ones.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// Everything that probes a directory.
fn commands(directory: &Path) -> Vec<Vec<&str>> {
    let with = |more: &[&'static str]| {
        [
            &[
                "probe",
                directory.to_str().unwrap(),
                "--seconds",
                ENDLESS,
                "--format",
                "json",
            ],
            more,
        ]
        .concat()
    };
    let workloads = ["segment", "group", "innodb", "files", "entangle", "floor"];
    let workloads = workloads.map(|workload| with(&["--workload", workload]));
    probers(directory)
        .into_iter()
        .chain(workloads)
        .chain([with(&["--pg-test-fsync"])])
        .collect()
}

/// The program by a name of its own, which everybody whom it starts has too: they run what
/// `/proc/self/exe` leads to.
fn named(directory: &Path) -> PathBuf {
    let (program, own) = (
        walwise().get_program().to_owned(),
        directory.join("walwise"),
    );
    if std::fs::hard_link(&program, &own).is_err() {
        std::fs::copy(&program, &own).unwrap();
    }
    own
}

/// Starts it, so that no signal is ignored.
fn start(program: &Path, arguments: &[&str]) -> Running {
    let mut command = Command::new("env");
    Running::start(command.arg("--default-signal").arg(program).args(arguments))
}

/// Whether nobody runs it.
fn is_gone(program: &Path) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    !processes
        .into_iter()
        .any(|one| std::fs::read_link(one.path().join("exe")).is_ok_and(|exe| exe == program))
}

/// Checks that it ended properly by a signal.
fn ended(output: &Output, signal: Signal, arguments: &[&str]) {
    // Before it listens for signals it ends as every program does.
    let as_usual = output.status.signal() == Some(signal as i32);
    if as_usual || signal == Signal::SIGKILL {
        assert!(
            as_usual && output.stdout.is_empty() && complaints(output).is_empty(),
            "{arguments:?}: {output:?}"
        );
        return;
    }
    assert_eq!(
        output.status.code(),
        Some(128 + signal as i32),
        "{arguments:?}: {output:?}"
    );
    assert!(
        complaint(output).contains("the scratch files are removed"),
        "{output:?}"
    );
    if !output.stdout.is_empty() {
        assert!(
            arguments[0] == "probe" && json(output)["cancelled"] == true,
            "{arguments:?}: {output:?}"
        );
    }
}

/// Whether a process has a handler for this signal, from `SigCgt` of proc_pid_status(5).
fn handles(process: u32, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    caught >> (signal as i32 - 1) & 1 == 1
}

/// The kernel knows of a handler before the handler knows what to do.
#[test]
#[ignore = "needs root: a loop device"]
fn a_signal_is_not_lost_while_its_handler_is_being_made() {
    let mounted = ext4(&[], "");
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let arguments = [
            "probe",
            mounted.point.to_str().unwrap(),
            "--seconds",
            ENDLESS,
        ];
        let mut command = Command::new("env");
        command.args([
            "--default-signal",
            "strace",
            "-D",
            "-q",
            "-e",
            "trace=rt_sigaction",
            "-o",
            "/dev/null",
        ]);
        command
            .args(["-e", "inject=rt_sigaction:delay_exit=200000"])
            .arg(walwise().get_program())
            .args(arguments);
        let running = Running::start(&mut command);
        // Its exit from the call waits for a while when the kernel has done it.
        wait_for("a handler", || handles(running.id(), signal));
        running.signal(signal);
        let status = running.finish().status;
        let ended =
            status.signal() == Some(signal as i32) || status.code() == Some(128 + signal as i32);
        assert!(ended, "{signal}: {status}");
        assert_eq!(names(&mounted.point), [""; 0], "{signal}");
    }
}

#[test]
#[ignore = "needs root: a loop device"]
fn no_moment_of_dying_leaves_anything_or_anybody() {
    let mounted = ext4(&[], "");
    let own = tempfile::tempdir_in("/var/tmp").unwrap();
    let program = named(&own.path().canonicalize().unwrap());
    let commands = commands(&mounted.point);
    let mut dice = Dice(4);
    let signals = [
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
        Signal::SIGKILL,
    ];
    for (turn, signal) in signals.into_iter().cycle().take(200).enumerate() {
        let arguments = &commands[dice.below(commands.len())];
        let mut running = start(&program, arguments);
        // Two in three while the files are there, the others anywhere from the start on.
        if dice.below(3) > 0 {
            running.probing(&mounted.point);
        }
        let moment = Instant::now() + Duration::from_micros(dice.below(300_000) as u64);
        wait_for("the moment", || Instant::now() >= moment);
        running.signal(signal);
        let output = running.finish();
        ended(&output, signal, arguments);
        if signal != Signal::SIGKILL {
            assert_eq!(
                names(&mounted.point),
                [""; 0],
                "{turn} {signal} {arguments:?}"
            );
        }
        wait_for("everybody is gone", || is_gone(&program));
        assert_eq!(
            names(&mounted.point),
            [""; 0],
            "{turn} {signal} {arguments:?}"
        );
    }
}
