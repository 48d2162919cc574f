//! The file system that the user requests (`--filesystem`): what walwise and the script refuse.
//! `tests/converge` continues from the script to a running server.

use std::fs;

use super::script::{edit_database_directory, edit_script_to_run, run_script};
use super::support::loops::LoopDevice;
use super::support::{run, stderr, stdout, walwise};
use crate::support::deadline::CommandInTime as _;

#[test]
#[ignore = "needs root: loop devices"]
fn script_with_invalid_directory_leaves_the_disk_unchanged() {
    let disk = LoopDevice::new(64);
    let asked = [
        "check",
        &disk.device,
        "--fs",
        "ext4",
        "--no-probe",
        "--format",
        "script",
    ];
    let script = stdout(&walwise().args(asked).output_in_time());
    let base = tempfile::tempdir().unwrap();
    let script = edit_script_to_run(&script, &base.path().join("new"));
    for (directory, owner, says) in [
        ("data", "", "set OWNER"),
        ("data", "nobody-of-this-name", "set OWNER"),
        ("/data", "root", "DATABASE may contain only"),
        ("../data", "root", "DATABASE may contain only"),
        ("a/..", "root", "DATABASE may contain only"),
        ("a/../b", "root", "DATABASE may contain only"),
        ("'a b'", "root", "DATABASE may contain only"),
    ] {
        let output = run_script(&edit_database_directory(&script, directory, owner));
        assert_eq!(output.status.code(), Some(1), "{directory} {owner}");
        assert!(
            stderr(&output).contains(says),
            "{directory} {owner}: {}",
            stderr(&output)
        );
    }
    assert_eq!(
        run("wipefs", &["-n", &disk.device]),
        "",
        "something was written"
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn a_refusal_says_why_before_anything_is_measured() {
    let small = LoopDevice::new(64);
    let base = tempfile::tempdir().unwrap();
    for (target, filesystem, says) in [
        (
            small.device.as_str(),
            "xfs",
            "device.size is at least 300 MiB (64 MiB)",
        ),
        (
            base.path().to_str().unwrap(),
            "xfs",
            "The target is a directory",
        ),
    ] {
        let output = walwise()
            .args(["check", target, "--fs", filesystem])
            .output_in_time();
        assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
    }
    assert!(fs::read_dir(base.path()).unwrap().next().is_none());
}
