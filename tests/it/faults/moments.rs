//! Signals at many moments of every kind of probe: walwise ends as documented, and no file or
//! process remains.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::{ENDLESS, error_lines, only_error_line, probing_commands, stdout_json};
use crate::support::loops::mount_ext4;
use crate::support::running::{RunningProgram, wait_for_condition};
use crate::support::{sorted_file_names, walwise};

struct PseudoRandom(u64);

impl PseudoRandom {
    fn next_below(&mut self, limit: usize) -> usize {
        // Knuth's MMIX generator; its upper bits are the more random ones.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

fn every_probing_command(directory: &Path) -> Vec<Vec<&str>> {
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
    let workloads = ["segment", "group", "innodb", "files", "entangle"];
    let workloads = workloads.map(|workload| with(&["--workload", workload]));
    probing_commands(directory)
        .into_iter()
        .chain(workloads)
        .chain([with(&["--pg-test-fsync"])])
        .collect()
}

/// Copies walwise to a directory under the name `walwise`. Its children have this name too, because
/// they execute `/proc/self/exe`.
fn copy_with_unique_name(directory: &Path) -> PathBuf {
    let (program, own) = (
        walwise().get_program().to_owned(),
        directory.join("walwise"),
    );
    if std::fs::hard_link(&program, &own).is_err() {
        std::fs::copy(&program, &own).unwrap();
    }
    own
}

fn start_with_default_signals(program: &Path, arguments: &[&str]) -> RunningProgram {
    let mut command = Command::new("env");
    RunningProgram::start(command.arg("--default-signal").arg(program).args(arguments))
}

fn no_process_runs_program(program: &Path) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    !processes
        .into_iter()
        .any(|one| std::fs::read_link(one.path().join("exe")).is_ok_and(|exe| exe == program))
}

fn assert_ended_by(output: &Output, signal: Signal, arguments: &[&str]) {
    // Before its handler is installed, a signal kills the program as usual.
    let as_usual = output.status.signal() == Some(signal as i32);
    if as_usual || signal == Signal::SIGKILL {
        assert!(
            as_usual && output.stdout.is_empty() && error_lines(output).is_empty(),
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
        only_error_line(output).contains("the scratch files were removed"),
        "{output:?}"
    );
    if !output.stdout.is_empty() {
        assert!(
            arguments[0] == "probe" && stdout_json(output)["cancelled"] == true,
            "{arguments:?}: {output:?}"
        );
    }
}

fn has_signal_handler(process: u32, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    caught >> (signal as i32 - 1) & 1 == 1
}

/// A signal that arrives between installing a handler and initialising its state must not be lost.
#[test]
#[ignore = "needs root: a loop device"]
fn a_signal_is_not_lost_while_its_handler_is_being_made() {
    let mounted = mount_ext4(&[], "");
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
        let running = RunningProgram::start(&mut command);
        // The process leaves the system call a moment after the kernel installed the handler.
        wait_for_condition("a handler", || has_signal_handler(running.pid(), signal));
        running.signal(signal);
        let status = running.wait_for_output().status;
        let ended =
            status.signal() == Some(signal as i32) || status.code() == Some(128 + signal as i32);
        assert!(ended, "{signal}: {status}");
        assert_eq!(sorted_file_names(&mounted.point), [""; 0], "{signal}");
    }
}

#[test]
#[ignore = "needs root: a loop device"]
fn signals_at_random_moments_leave_no_files_or_processes() {
    let mounted = mount_ext4(&[], "");
    let own = tempfile::tempdir_in("/var/tmp").unwrap();
    let program = copy_with_unique_name(&own.path().canonicalize().unwrap());
    let commands = every_probing_command(&mounted.point);
    let mut dice = PseudoRandom(4);
    let signals = [
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
        Signal::SIGKILL,
    ];
    for (turn, signal) in signals.into_iter().cycle().take(200).enumerate() {
        let arguments = &commands[dice.next_below(commands.len())];
        let mut running = start_with_default_signals(&program, arguments);
        // Two of three signals come while the scratch files exist, the others at any moment.
        if dice.next_below(3) > 0 {
            running.wait_for_scratch_file(&mounted.point);
        }
        let moment = Instant::now() + Duration::from_micros(dice.next_below(300_000) as u64);
        wait_for_condition("the moment", || Instant::now() >= moment);
        running.signal(signal);
        let output = running.wait_for_output();
        assert_ended_by(&output, signal, arguments);
        if signal != Signal::SIGKILL {
            assert_eq!(
                sorted_file_names(&mounted.point),
                [""; 0],
                "{turn} {signal} {arguments:?}"
            );
        }
        wait_for_condition("everybody is gone", || no_process_runs_program(&program));
        assert_eq!(
            sorted_file_names(&mounted.point),
            [""; 0],
            "{turn} {signal} {arguments:?}"
        );
    }
}
