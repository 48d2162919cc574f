//! Faults while walwise runs: signals at any moment, places that cannot be measured, directories
//! that vanish. walwise ends as documented and removes its scratch file.

mod disks;
mod injected;
mod loops;
mod moments;

use std::path::Path;
use std::process::{Command, Output};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::running::{RunningProgram, wait_for_condition};
use crate::support::{has_no_scratch_directory, sorted_file_names, stderr, stdout};

/// Seconds; longer than any test, so that only the test ends such a probe.
const ENDLESS: &str = "3000";

fn probing_commands(dir: &Path) -> [Vec<&str>; 2] {
    let dir = dir.to_str().unwrap();
    [
        vec![
            "check",
            dir,
            "-v",
            "--format",
            "json",
            "--probe-seconds",
            ENDLESS,
        ],
        vec!["probe", dir, "--format", "json", "--seconds", ENDLESS],
    ]
}

fn stdout_json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

fn only_error_line(output: &Output) -> String {
    let said = error_lines(output);
    assert!(
        said.len() == 1 && said[0].starts_with("walwise: "),
        "{output:?}"
    );
    said[0].clone()
}

fn error_lines(output: &Output) -> Vec<String> {
    let err = stderr(output);
    let said = err
        .lines()
        .filter(|line| !line.starts_with("walwise: the measurement writes at most "));
    said.map(str::to_owned).collect()
}

#[test]
fn a_signal_ends_a_probe_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("report");
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let saved = [
            "check",
            dir.path().to_str().unwrap(),
            "--probe-seconds",
            ENDLESS,
        ];
        let saved = [&saved[..], &["--output", file.to_str().unwrap()]].concat();
        for arguments in probing_commands(dir.path()).into_iter().chain([saved]) {
            let mut running = RunningProgram::start_walwise(&arguments);
            running.wait_for_scratch_file(dir.path());
            running.signal(signal);
            let output = running.wait_for_output();
            assert_eq!(
                output.status.code(),
                Some(128 + signal as i32),
                "{arguments:?}"
            );
            // An interrupted `check` prints no report; an interrupted probe prints the rounds that
            // it finished.
            assert!(
                arguments[0] == "probe" || output.stdout.is_empty(),
                "{output:?}"
            );
            assert!(
                only_error_line(&output).contains("the scratch files were removed"),
                "{output:?}"
            );
            assert_eq!(sorted_file_names(dir.path()), [""; 0], "{arguments:?}");
        }
    }
}

#[test]
fn probe_under_nohup_survives_sighup() {
    let dir = tempfile::tempdir().unwrap();
    let [check, probe] = probing_commands(dir.path()).map(|arguments| {
        let mut command = Command::new("nohup");
        command.arg(crate::support::programs::walwise_path()).args(
            arguments
                .into_iter()
                .map(|a| if a == ENDLESS { "1" } else { a }),
        );
        let mut running = RunningProgram::start(&mut command);
        running.wait_for_scratch_file(dir.path());
        running.signal(Signal::SIGHUP);
        running.wait_for_output()
    });
    assert!(stdout_json(&check)["probes"][0]["measurement"].is_object());
    assert_eq!(
        (
            probe.status.code(),
            stdout_json(&probe)["cancelled"].as_bool()
        ),
        (Some(0), Some(false))
    );
}

#[test]
fn a_killed_probe_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for arguments in probing_commands(dir.path()) {
        let mut running = RunningProgram::start_walwise(&arguments);
        running.wait_for_scratch_file(dir.path());
        running.signal(Signal::SIGKILL);
        assert_eq!(stdout(&running.wait_for_output()), "");
        wait_for_condition("the watcher removes the file", || {
            has_no_scratch_directory(dir.path())
        });
    }
}

#[test]
fn directory_removed_during_probe_is_reported() {
    let outside = tempfile::tempdir().unwrap();
    let dir = outside.path().join("d");
    for (arguments, is_check) in probing_commands(&dir).into_iter().zip([true, false]) {
        std::fs::create_dir(&dir).unwrap();
        let mut running = RunningProgram::start_walwise(&arguments);
        running.wait_for_scratch_file(&dir);
        std::fs::remove_dir_all(&dir).unwrap();
        let output = running.wait_for_output();
        if is_check {
            let report = stdout_json(&output);
            assert!(
                output
                    .status
                    .code()
                    .is_some_and(|code| [0, 3].contains(&code)),
                "{output:?}"
            );
            let warnings = report["warnings"].as_array().unwrap().iter();
            let said = warnings
                .filter_map(Value::as_str)
                .find(|w| w.starts_with("measurement incomplete"));
            assert!(
                said.is_some_and(|w| w.contains("was removed")),
                "{}",
                report["warnings"]
            );
        } else {
            assert_eq!(output.status.code(), Some(1));
            assert!(only_error_line(&output).contains("was removed"));
            assert!(output.stdout.is_empty() || stdout_json(&output)["rounds"].is_u64());
        }
    }
}

#[test]
fn directory_removed_during_workload_is_reported() {
    let outside = tempfile::tempdir().unwrap();
    let dir = outside.path().join("d");
    for workload in ["segment", "group", "innodb", "files", "entangle"] {
        std::fs::create_dir(&dir).unwrap();
        let arguments = [
            "probe",
            dir.to_str().unwrap(),
            "--workload",
            workload,
            "--seconds",
            ENDLESS,
        ];
        let mut running = RunningProgram::start_walwise(arguments);
        running.wait_for_scratch_file(&dir);
        // The probe may be creating files while its directory is removed.
        wait_for_condition("it is removed", || {
            let _ = std::fs::remove_dir_all(&dir);
            !dir.exists()
        });
        let output = running.wait_for_output();
        assert_eq!(output.status.code(), Some(1), "{workload}: {output:?}");
        assert!(
            only_error_line(&output).contains("was removed"),
            "{workload}: {output:?}"
        );
    }
}
