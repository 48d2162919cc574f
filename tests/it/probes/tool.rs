//! Compares `walwise probe --pg-test-fsync` with pg_test_fsync itself: the same lines except for
//! the figures.

use std::process::Command;

use crate::support::deadline::CommandInTime as _;
use crate::support::{sorted_file_names, stdout, walwise};

fn blank_out_figures(text: &str) -> Vec<String> {
    let without = |line: &str| match line.split_once(" ops/sec") {
        Some((before, after)) => {
            let label = before
                .trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
                .trim_end();
            format!(
                "{label} … {}",
                after.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit())
            )
        }
        None => line.to_owned(),
    };
    text.lines().map(without).collect()
}

#[test]
#[ignore = "needs pg_test_fsync"]
fn output_has_the_layout_of_postgres_pg_test_fsync() {
    let directory = tempfile::tempdir().unwrap();
    let ours = walwise()
        .args(["probe", "--pg-test-fsync", "--seconds", "1"])
        .arg(directory.path())
        .output_in_time();
    assert!(ours.status.success(), "{ours:?}");
    assert_eq!(sorted_file_names(directory.path()), [""; 0]);
    let theirs = Command::new("/usr/lib/postgresql/15/bin/pg_test_fsync")
        .args(["-s", "1", "-f"])
        .arg(directory.path().join("theirs"))
        .output_in_time();
    assert_eq!(
        blank_out_figures(&stdout(&ours)),
        blank_out_figures(&stdout(&theirs))
    );
}
