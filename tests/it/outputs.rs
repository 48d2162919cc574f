//! Outputs in directories shared with an untrusted user, on file systems that never answer, and
//! through pipes.
//!
//! Files of another user and mounts need root.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nix::sys::signal::Signal;

use crate::support::deadline::{ChildInTime as _, CommandInTime as _};
use crate::support::fuse::HungFuse;
use crate::support::running::{RunningProgram, wait_for_condition};
use crate::support::{sorted_file_names, stderr, stdout, walwise};

const SOMEBODY: u32 = 4242;

fn create_shared_directory(mode: u32) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    let shared = dir.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, Permissions::from_mode(mode)).unwrap();
    (dir, shared)
}

fn run_script_as_other_user(directory: &Path, script: &str) {
    let uid = SOMEBODY.to_string();
    let output = Command::new("setpriv")
        .args([
            "--reuid",
            &uid,
            "--regid",
            &uid,
            "--clear-groups",
            "sh",
            "-euc",
            script,
        ])
        .current_dir(directory)
        .output_in_time();
    assert!(output.status.success(), "{}", stderr(&output));
}

fn healthy_host_path() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/screens/vm.host").to_owned()
}

fn check_healthy_host(arguments: &[&str]) -> Output {
    walwise()
        .args(["check", "--host", &healthy_host_path()])
        .args(arguments)
        .stdin(Stdio::null())
        .output_in_time()
}

fn permission_bits(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn is_report_file(path: &Path) -> bool {
    serde_json::from_slice::<serde_json::Value>(&fs::read(path).unwrap())
        .is_ok_and(|report| report["schema"].is_u64())
}

#[test]
fn permissions_are_those_that_were_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("report");
    let path = file.to_str().unwrap();
    for (asked, found) in [("0640", 0o640), ("600", 0o600), ("0644", 0o644)] {
        let output = check_healthy_host(&[
            "-v",
            "--format",
            "json",
            "--output",
            path,
            "--output-mode",
            asked,
        ]);
        assert_eq!(
            (stderr(&output).as_str(), permission_bits(&file)),
            ("", found)
        );
    }
    for refused in ["0666", "4755", "rw", "0400"] {
        let output = check_healthy_host(&["--output", path, "--output-mode", refused]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    }
    assert_eq!(
        check_healthy_host(&["--output-mode", "0640"]).status.code(),
        Some(2),
        "of what?"
    );
}

#[test]
#[ignore = "needs root: files of another user"]
fn output_keeps_no_mode_or_owner_of_a_planted_file() {
    let (_keep, shared) = create_shared_directory(0o1777);
    let report = shared.join("report.json");
    for left in [
        ": > report.json; chmod 06777 report.json",
        ": > report.json; chmod 0666 report.json; ln report.json other",
    ] {
        run_script_as_other_user(&shared, left);
        let output = check_healthy_host(&[
            "-v",
            "--format",
            "json",
            "--output",
            report.to_str().unwrap(),
        ]);
        assert_eq!(stderr(&output), "");
        let found = fs::metadata(&report).unwrap();
        assert_eq!(
            (permission_bits(&report), found.uid(), found.nlink()),
            (0o600, 0, 1),
            "{left}"
        );
        assert!(is_report_file(&report));
        fs::remove_file(&report).unwrap();
    }
    assert_eq!(fs::read(shared.join("other")).unwrap(), b"");
}

#[test]
#[ignore = "needs root: files of another user"]
fn planted_links_are_not_followed_by_root() {
    let (keep, shared) = create_shared_directory(0o1777);
    let precious = keep.path().join("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("report"), "precious").unwrap();
    run_script_as_other_user(
        &shared,
        "ln -s ../precious/report last; ln -s ../precious way; mkdir own; ln -s ../../precious own/way",
    );
    for path in ["last", "way/report", "own/way/report"] {
        for command in [
            &["-v", "--format", "json"][..],
            &["--format", "script"],
            &["--format", "text"],
        ] {
            let output = check_healthy_host(
                &[command, &["--output", shared.join(path).to_str().unwrap()]].concat(),
            );
            assert_eq!(
                (output.status.code(), stdout(&output).as_str()),
                (Some(1), ""),
                "{path}"
            );
            assert!(
                stderr(&output).contains("is a link created by uid 4242"),
                "{}",
                stderr(&output)
            );
        }
    }
    assert_eq!(fs::read(precious.join("report")).unwrap(), b"precious");
    assert_eq!(sorted_file_names(&precious), ["report"]);
}

#[test]
#[ignore = "needs root: files of another user"]
fn foreign_directory_gets_reports_with_a_warning_but_no_script() {
    let (_keep, shared) = create_shared_directory(0o1777);
    run_script_as_other_user(&shared, "mkdir -m 755 home");
    let home = shared.join("home");
    let report = home.join("report");
    let output = check_healthy_host(&[
        "-v",
        "--format",
        "json",
        "--output",
        report.to_str().unwrap(),
    ]);
    assert!(
        stderr(&output).contains("home belongs to uid 4242"),
        "{}",
        stderr(&output)
    );
    assert!(is_report_file(&report) && permission_bits(&report) == 0o600);
    let output = check_healthy_host(&[
        "--format",
        "script",
        "--output",
        home.join("setup.sh").to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("uid 4242"), "{}", stderr(&output));
    assert_eq!(sorted_file_names(&home), ["report"]);
}

#[test]
#[ignore = "needs root: a directory of others"]
fn world_writable_directory_without_sticky_bit_is_refused() {
    let (keep, shared) = create_shared_directory(0o777);
    let target = keep.path().join("target");
    fs::create_dir(&target).unwrap();
    let path = shared.join("report");
    // Without the refusal, the measurement would take an hour.
    let output = RunningProgram::start_walwise([
        "check",
        target.to_str().unwrap(),
        "--probe-seconds",
        "3600",
        "--output",
        path.to_str().unwrap(),
    ])
    .wait_for_output();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("has no sticky bit"),
        "{}",
        stderr(&output)
    );
    assert_eq!(sorted_file_names(&shared), [""; 0]);
}

#[test]
fn capture_is_read_from_a_stdin_pipe() {
    let from_file = stdout(&check_healthy_host(&["--format", "markdown"]));
    let pipe = walwise()
        .args(["check", "--host", "/dev/stdin", "--format", "markdown"])
        .stdin(Stdio::piped())
        .spawn_and_feed(&fs::read(healthy_host_path()).unwrap());
    assert_eq!(stdout(&pipe).lines().count(), from_file.lines().count());
    assert_eq!(stderr(&pipe), "");
}

trait FeedStdin {
    fn spawn_and_feed(&mut self, bytes: &[u8]) -> Output;
}

impl FeedStdin for Command {
    fn spawn_and_feed(&mut self, bytes: &[u8]) -> Output {
        self.stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
            .output_for_input(bytes)
    }
}

fn commands_using_file(at: &str) -> Vec<Vec<String>> {
    let (file, calm) = (format!("{at}/x"), healthy_host_path());
    let commands: [&[&str]; 10] = [
        &["check", "--host", &calm, "--output", &file],
        &["check", "--host", &calm, "--output", at],
        &["capture", "--output", &file],
        &["check", "--host", &file],
        &["check", "--host", &calm, "--rules", at],
        &["check", "--host", &calm, "--baseline", &file],
        &["rules", "check", at],
        &["drill", "write", at],
        &["drill", "read", at],
        &["drill", "check", &file, &file],
    ];
    commands
        .iter()
        .map(|words| words.iter().map(|word| (*word).to_owned()).collect())
        .collect()
}

#[test]
#[ignore = "needs root: mounts a FUSE file system"]
fn commands_on_hung_mounts_end_with_message_or_signal() {
    let dir = tempfile::tempdir().unwrap();
    let held = HungFuse::mount(dir.path());
    let all = commands_using_file(dir.path().to_str().unwrap());
    let running: Vec<RunningProgram> = all.iter().map(RunningProgram::start_walwise).collect();
    for (running, arguments) in running.into_iter().zip(&all) {
        let output = running.wait_for_output();
        assert!(
            output
                .status
                .code()
                .is_some_and(|code| [1, 2].contains(&code)),
            "{arguments:?}: {output:?}"
        );
        assert!(
            stderr(&output).contains("no answer within"),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
    for arguments in &all {
        let mut running = RunningProgram::start_walwise(arguments);
        running.wait_for_child();
        running.signal(Signal::SIGTERM);
        let output = running.wait_for_output();
        let code = output.status.code();
        let ended = output.status.signal() == Some(Signal::SIGTERM as i32)
            || code == Some(128 + Signal::SIGTERM as i32);
        assert!(ended, "{arguments:?}: {output:?}");
    }
    drop(held);
}

#[test]
fn killed_check_leaves_no_output_file() {
    let dir = tempfile::tempdir().unwrap();
    let (target, outputs) = (dir.path().join("target"), dir.path().join("outputs"));
    fs::create_dir(&target).unwrap();
    fs::create_dir(&outputs).unwrap();
    let file = outputs.join("report");
    for signal in [Signal::SIGKILL, Signal::SIGTERM] {
        let arguments = [
            "check",
            target.to_str().unwrap(),
            "--probe-seconds",
            "3600",
            "--output",
            file.to_str().unwrap(),
        ];
        let mut running = RunningProgram::start_walwise(arguments);
        running.wait_for_scratch_file(&target);
        running.signal(signal);
        running.wait_for_output();
        wait_for_condition("everything is gone", || {
            sorted_file_names(&target).is_empty() && sorted_file_names(&outputs).is_empty()
        });
    }
}
