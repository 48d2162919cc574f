//! Faults that need a file system of their own, or another user.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Output;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::{only_error_line, probing_commands, stdout_json};
use crate::support::fuse::HungFuse;
use crate::support::loops::{MountedFileSystem, mount_ext4, mount_file_system, mount_xfs};
use crate::support::running::{RunningProgram, wait_for_condition};
use crate::support::{
    check_json, has_no_scratch_directory, known_fact_value, may_change_with_other_tests,
    rule_outcome, run, sorted_file_names, verdict, walwise,
};

#[test]
#[ignore = "needs root: a loop device and xfs_io"]
fn shut_down_xfs_is_reported_as_io_error() {
    let mounted = mount_xfs("");
    let data = mounted.create_subdirectory("data");
    run("xfs_io", &["-x", "-c", "shutdown", mounted.path()]);
    for target in [&mounted.point, &data] {
        let (_, report) = check_json(&["--no-probe", target.to_str().unwrap()]);
        let subject = format!("target {}", target.display());
        assert_eq!(
            known_fact_value(&report, &subject, "target.io_error"),
            Some(&Value::Bool(true)),
            "{}",
            report["warnings"]
        );
        assert_eq!(
            rule_outcome(&report, "target.io-error", &subject),
            Some("applies")
        );
        assert_ne!(verdict(&report, target), Some("durable"));
    }
    let (_, report) = check_json(&["--no-probe"]);
    let subject = format!("target {}", mounted.path());
    assert_eq!(
        rule_outcome(&report, "target.io-error", &subject),
        Some("applies"),
        "{}",
        report["targets"]
    );
}

#[test]
#[ignore = "needs root: a loop device"]
fn an_unmounted_file_system_keeps_nothing_of_a_probe_that_dies() {
    let mounted = mount_ext4(&[], "");
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let mut running = RunningProgram::start_walwise(&probing_commands(&mounted.point)[1]);
        running.wait_for_scratch_file(&mounted.point);
        run("umount", &["-l", mounted.path()]);
        running.signal(signal);
        running.wait_for_output();
        // Remounting mounts the same file system, even while a process still holds it.
        run("mount", &[mounted.disk.device.as_str(), mounted.path()]);
        wait_for_condition("the file is gone", || {
            has_no_scratch_directory(&mounted.point)
        });
    }
}

/// Checks that `probe` and `check` refuse to measure a place, with the reason in `words`. `check`
/// reports everything else and returns the exit code of a run without a probe.
fn assert_not_measured(dir: &Path, words: &str, run: impl Fn(&[&str]) -> Output) {
    let path = dir.to_str().unwrap();
    let without = run(&["check", path, "-v", "--format", "json", "--no-probe"]);
    let with = run(&[
        "check",
        path,
        "-v",
        "--format",
        "json",
        "--probe-seconds",
        "2",
    ]);
    assert_eq!(with.status.code(), without.status.code(), "{with:?}");
    let (with, without) = (stdout_json(&with), stdout_json(&without));
    let warnings = with["warnings"].as_array().unwrap();
    let said: Vec<&str> = warnings
        .iter()
        .filter_map(Value::as_str)
        .filter(|w| w.contains("not measured"))
        .collect();
    assert!(
        said.len() == 1 && said[0].contains(words) && said[0].contains(path),
        "{warnings:?}"
    );
    assert_eq!(with["probes"], without["probes"]);
    let probe = run(&["probe", path, "--seconds", "2"]);
    assert_eq!(probe.status.code(), Some(1), "{probe:?}");
    let complaint = only_error_line(&probe);
    assert!(
        complaint.contains(words) && complaint.contains(path),
        "{complaint}"
    );
    assert!(probe.stdout.is_empty() && has_no_scratch_directory(dir));
}

fn run_as_root(arguments: &[&str]) -> Output {
    RunningProgram::start_walwise(arguments).wait_for_output()
}

fn run_as_nobody(arguments: &[&str]) -> Output {
    RunningProgram::start(walwise().args(arguments).uid(65534).gid(65534)).wait_for_output()
}

#[test]
#[ignore = "needs root: a loop device"]
fn a_full_file_system_is_not_measured() {
    let mounted = mount_file_system(32, &["mkfs.ext4", "-q", "-m", "0"], "");
    let mut filler = fs::File::create(mounted.point.join("filler")).unwrap();
    let _ = std::io::copy(&mut std::io::repeat(1), &mut filler);
    assert_not_measured(&mounted.point, "free some space", run_as_root);

    let report = mounted.point.join("report.json");
    let output = run_as_root(&[
        "check",
        "-v",
        "--format",
        "json",
        "--output",
        report.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        only_error_line(&output).contains("No space left"),
        "{output:?}"
    );
    assert_eq!(sorted_file_names(&mounted.point), ["filler"]);
}

#[test]
#[ignore = "needs root: a loop device"]
fn a_read_only_file_system_is_not_measured() {
    assert_not_measured(
        &mount_ext4(&[], "ro").point,
        "read-only file system",
        run_as_root,
    );
}

#[test]
#[ignore = "needs root: to become somebody else"]
fn what_a_user_may_not_write_is_not_measured() {
    assert_not_measured(
        &mount_ext4(&[], "").point,
        "is not writable by this user",
        run_as_nobody,
    );
}

#[test]
#[ignore = "needs root: a loop device"]
fn disk_failure_during_probe_is_reported() {
    for turn in 0..2 {
        let mounted = mount_xfs("");
        let mut running = RunningProgram::start_walwise(&probing_commands(&mounted.point)[turn]);
        running.wait_for_scratch_file(&mounted.point);
        run("xfs_io", &["-x", "-c", "shutdown", mounted.path()]);
        let output = running.wait_for_output();
        let said = if turn == 0 {
            stdout_json(&output)["warnings"].to_string()
        } else {
            only_error_line(&output)
        };
        assert!(
            said.contains("I/O error") && said.contains("dmesg"),
            "{said}"
        );
    }
}

#[test]
#[ignore = "needs root: to become somebody else"]
fn facts_that_need_root_name_that_remedy() {
    let mounted = mount_ext4(&[], "");
    let check = [
        "check",
        mounted.path(),
        "--no-probe",
        "-v",
        "--format",
        "json",
    ];
    let (root, nobody) = (run_as_root(&check), run_as_nobody(&check));
    assert!(
        nobody
            .status
            .code()
            .is_some_and(|code| [0, 3].contains(&code)),
        "{nobody:?}"
    );
    let (root, nobody) = (stdout_json(&root), stdout_json(&nobody));
    let is_known = |row: &Value| row["reading"]["state"] == "known";
    // Servers and devices of other tests come and go between the two runs.
    let is_ours = |row: &&Value| {
        let subject = row["subject"].as_str().unwrap();
        let of_host =
            subject == "host" && !may_change_with_other_tests(row["fact"].as_str().unwrap());
        of_host
            || [mounted.path(), mounted.disk.name()]
                .iter()
                .any(|ours| subject.contains(ours))
    };
    let known: Vec<_> = root["facts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| is_known(row))
        .collect();
    let mut settled = 0;
    for row in nobody["facts"].as_array().unwrap().iter().filter(is_ours) {
        let is_same =
            |other: &&&Value| other["subject"] == row["subject"] && other["fact"] == row["fact"];
        let reading = &row["reading"];
        if known.iter().find(is_same).is_none() || is_known(row) {
            continue;
        }
        settled += 1;
        let remedy = &reading["fix"];
        assert!(
            remedy == "run-as-root" || remedy["run-as"].is_string(),
            "{row}"
        );
    }
    assert!(settled > 0, "a superblock can only be read by root");
    let denied = nobody["facts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["reading"]["why"] == "denied");
    for row in denied {
        assert!(!row["reading"]["fix"].is_null(), "{row}");
    }
}

fn mount_ext4_with_hung_fuse_inside() -> (MountedFileSystem, HungFuse) {
    let mounted = mount_ext4(&[], "");
    let held = HungFuse::mount(&mounted.create_subdirectory("held"));
    (mounted, held)
}

#[test]
#[ignore = "needs root: mounts a FUSE file system"]
fn a_target_that_never_answers_is_named_and_not_measured() {
    let (mounted, _held) = mount_ext4_with_hung_fuse_inside();
    for below in ["held", "held/deeper"] {
        let target = mounted.point.join(below);
        let path = target.to_str().unwrap();
        let output = run_as_root(&[
            "check",
            path,
            "-v",
            "--format",
            "json",
            "--probe-seconds",
            "2",
        ]);
        assert!(
            output
                .status
                .code()
                .is_some_and(|code| [0, 3].contains(&code)),
            "{output:?}"
        );
        let report = stdout_json(&output);
        let warnings = report["warnings"].to_string();
        assert!(
            warnings.contains(&format!("not measured: {path}")),
            "{warnings}"
        );
        let probe = run_as_root(&["probe", path, "--seconds", "2"]);
        assert_eq!(probe.status.code(), Some(1), "{probe:?}");
        let complaint = only_error_line(&probe);
        assert!(
            complaint.contains(path) && complaint.contains("answer"),
            "{complaint}"
        );
    }
}

#[test]
#[ignore = "needs root: mounts a FUSE file system"]
fn hung_mount_in_a_subdirectory_does_not_stop_probes() {
    let (mounted, _held) = mount_ext4_with_hung_fuse_inside();
    let data = mounted.create_subdirectory("data");
    for target in [&mounted.point, &data] {
        let output = run_as_root(&[
            "probe",
            target.to_str().unwrap(),
            "--seconds",
            "0.5",
            "--format",
            "json",
        ]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(stdout_json(&output)["methods"].is_array());
    }
    let held = mounted.point.join("held");
    for scratch in [held.join("x"), held] {
        let (data, scratch) = (data.to_str().unwrap(), scratch.to_str().unwrap());
        let probe = run_as_root(&["probe", data, "--seconds", "0.5", "--scratch", scratch]);
        assert_eq!(probe.status.code(), Some(1), "{probe:?}");
        assert!(only_error_line(&probe).contains(scratch), "{probe:?}");
    }
}
