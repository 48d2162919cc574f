//! Requirements and profiles: answers, exit codes and the system calls of each profile.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::running::RunningProgram;
use crate::support::strace::{directory_in_memory, start_probe_under_strace};
use crate::support::{sorted_file_names, stdout};

fn run_probe_with_arguments(directory: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let begin = ["probe", directory.to_str().unwrap(), "--format", "json"];
    let output = RunningProgram::start_walwise([&begin[..], arguments].concat()).wait_for_output();
    assert_eq!(sorted_file_names(directory), [""; 0]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code(), found["workloads"][0].clone())
}

#[test]
fn probe_requirement_answer_decides_exit_code() {
    let directory = directory_on_disk();
    for (limit, seconds, code, answer) in [
        ("median < 3600s", "2", 0, "pass"),
        ("median<=1us", "2", 3, "fail"),
        // Thirty rounds are too few for any answer but *fail*.
        ("p99 < 3600s", "0.3", 5, "cannot-tell"),
    ] {
        let (found, workload) = run_probe_with_arguments(
            directory.path(),
            &["--require", limit, "--seconds", seconds],
        );
        let required = &workload["requirement"];
        assert_eq!(found, Some(code), "{workload:#}");
        assert_eq!(required["answer"], answer);
        assert_eq!(required["samples"], workload["rows"][0]["samples"]);
        assert!(required["estimate_us"].as_f64().is_some_and(|us| us > 0.0));
        let sentence = workload["sentence"].as_str().unwrap();
        let printed = answer.replace('-', " ");
        assert!(
            sentence.contains(&format!(": {printed}; the ")),
            "{sentence}"
        );
        // The result for a directory without a server names no database product.
        let words = format!("{} {sentence}", workload["operation"]);
        assert!(
            !words.contains("PostgreSQL") && workload["profile"].is_null(),
            "{words}"
        );
    }
}

#[test]
fn a_profile_names_its_program_and_brings_its_requirement() {
    let directory = directory_on_disk();
    for (profile, name, bytes, requirement) in [
        ("postgres", "PostgreSQL", 8_192, None),
        ("innodb", "InnoDB", 512, None),
        ("etcd", "etcd", 2_300, Some(10.0)),
        ("sqlite", "SQLite", 4_120, None),
    ] {
        let arguments = ["--profile", profile, "--seconds", "0.3"];
        let (code, workload) = run_probe_with_arguments(directory.path(), &arguments);
        assert_eq!(workload["profile"], profile);
        assert_eq!(workload["rows"][0]["bytes"], bytes);
        assert!(
            workload["operation"].as_str().unwrap().contains(name),
            "{workload:#}"
        );
        assert_eq!(workload["requirement"]["threshold"].as_f64(), requirement);
        let codes: &[i32] = if requirement.is_some() { &[3, 5] } else { &[0] };
        assert!(code.is_some_and(|code| codes.contains(&code)), "{code:?}");
    }
    let arguments = [
        "--profile",
        "etcd",
        "--require",
        "p95 < 5s",
        "--seconds",
        "0.3",
    ];
    let (_, workload) = run_probe_with_arguments(directory.path(), &arguments);
    assert_eq!(workload["requirement"]["statistic"], "p95");
}

#[test]
fn refusal_of_invalid_requirement_or_profile_states_valid_ones() {
    for (arguments, expected) in [
        (
            ["--require", "p98 < 10ms"],
            "expected median, p95 or p99, then < or <=",
        ),
        (["--require", "p99 < 10"], "a time in us, ms or s"),
        (["--profile", "oracle"], "postgres, innodb, etcd, sqlite"),
    ] {
        let output = RunningProgram::start_walwise([&["probe", "."][..], &arguments].concat())
            .wait_for_output();
        assert_eq!(output.status.code(), Some(2));
        assert!(stdout(&output).is_empty());
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(expected), "{error}");
    }
}

fn directory_on_disk() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn exit_code_with_delays(directory: &TempDir, limit: &str, planted: &[&str]) -> Option<i32> {
    let arguments = ["--profile", "etcd", "--require", limit];
    let output = start_probe_under_strace(
        directory.path(),
        Path::new("/dev/null"),
        planted,
        &arguments,
    );
    output.wait_for_output().status.code()
}

#[test]
#[ignore = "needs strace"]
fn planted_tails_never_pass() {
    // One commit of 95 is slow: a p99 just above the threshold.
    for (tail, codes) in [
        (
            "fdatasync:delay_exit=20000:when=95+95",
            &[Some(3), Some(5)][..],
        ),
        ("fdatasync:delay_exit=20000:when=5+5", &[Some(3)]),
        ("fdatasync:delay_exit=12000", &[Some(3)]),
    ] {
        let code = exit_code_with_delays(&directory_in_memory(), "p99 < 10ms", &[tail]);
        assert!(codes.contains(&code), "{tail}: {code:?}");
    }
    // Fast commits that no flush makes durable do not pass either.
    let delay = &["fdatasync:delay_exit=2000"];
    for (directory, code) in [(directory_on_disk(), 0), (directory_in_memory(), 5)] {
        let found = exit_code_with_delays(&directory, "p99 < 1s", delay);
        assert_eq!(found, Some(code));
    }
}

/// A commit that outlasts the time limit is the last of its round, and counts.
#[test]
#[ignore = "needs strace"]
fn the_commit_that_exceeds_the_time_limit_counts() {
    let directory = directory_on_disk();
    let arguments = [
        "--require",
        "p99 < 10ms",
        "--seconds",
        "2",
        "--format",
        "json",
    ];
    let stall = ["fdatasync:delay_exit=3000000:when=150"];
    let trace = Path::new("/dev/null");
    let output = start_probe_under_strace(directory.path(), trace, &stall, &arguments);
    let text = stdout(&output.wait_for_output());
    let found: Value = serde_json::from_str(&text).unwrap();
    let required = &found["workloads"][0]["requirement"];
    assert_eq!(required["slow_samples"], 1, "{required:#}");
}

#[test]
#[ignore = "needs strace"]
fn each_profile_writes_as_its_program_does() {
    for (profile, bytes) in [
        ("postgres", 8_192),
        ("innodb", 512),
        ("etcd", 2_300),
        ("sqlite", 4_120),
    ] {
        let directory = directory_in_memory();
        let trace = directory.path().with_extension("trace");
        let arguments = ["--profile", profile, "--seconds", "0.3"];
        start_probe_under_strace(directory.path(), &trace, &[], &arguments).wait_for_output();
        let calls = std::fs::read_to_string(&trace).unwrap();
        std::fs::remove_file(&trace).unwrap();
        let of_log = |call: &str| {
            let lines = calls.lines().filter(|line| line.contains("walwise-log>"));
            lines
                .filter(|line| line.contains(call))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let length = format!(", {bytes}, ");
        let commits = of_log("pwrite64(")
            .iter()
            .filter(|call| call.contains(&length))
            .count();
        let flushes = of_log("fdatasync(").len();
        assert!(
            commits > 8 && flushes.abs_diff(commits) <= 2,
            "{profile}: {commits}, {flushes}"
        );
    }
}
