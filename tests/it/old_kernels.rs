//! Older kernels, simulated by strace: each system call newer than Linux 3.10 fails as on such a
//! kernel, and walwise still works.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::{
    has_no_scratch_directory, may_change_with_other_tests, stderr, stdout, walwise,
};

/// System calls added after Linux 3.10, dated by syscalls(2). With `?`, strace ignores a call whose
/// name it does not support.
const NEWER: &[&str] = &[
    "sched_setattr",
    "sched_getattr",
    "renameat2",
    "seccomp",
    "getrandom",
    "memfd_create",
    "kexec_file_load",
    "bpf",
    "execveat",
    "userfaultfd",
    "membarrier",
    "mlock2",
    "copy_file_range",
    "preadv2",
    "pwritev2",
    "pkey_mprotect",
    "pkey_alloc",
    "pkey_free",
    "statx",
    "io_pgetevents",
    "rseq",
    "pidfd_send_signal",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "pidfd_open",
    "clone3",
    "close_range",
    "openat2",
    "pidfd_getfd",
    "faccessat2",
    "process_madvise",
    "epoll_pwait2",
    "mount_setattr",
    "quotactl_fd",
    "landlock_create_ruleset",
    "landlock_add_rule",
    "landlock_restrict_self",
    "memfd_secret",
    "process_mrelease",
    "futex_waitv",
    "set_mempolicy_home_node",
    "?cachestat",
    "?fchmodat2",
    "?map_shadow_stack",
    "?futex_wake",
    "?futex_wait",
    "?futex_requeue",
    "?statmount",
    "?listmount",
    "?lsm_get_self_attr",
    "?lsm_set_self_attr",
    "?lsm_list_modules",
    "?mseal",
    "?setxattrat",
    "?getxattrat",
    "?listxattrat",
    "?removexattrat",
];

fn walwise_failing_newer_calls(error: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("strace");
    let calls = NEWER.join(",");
    command.args([
        "-f",
        "-qq",
        "--seccomp-bpf",
        "-e",
        "signal=none",
        "-o",
        "/dev/null",
    ]);
    command.args([
        "-e",
        &format!("trace={calls}"),
        "-e",
        &format!("inject={calls}:error={error}"),
    ]);
    command.arg(walwise().get_program()).args(arguments);
    command
}

fn run_as_on_old_kernel(arguments: &[&str]) -> Output {
    walwise_failing_newer_calls("ENOSYS", arguments).output_in_time()
}

fn assert_exit_code_in(output: &Output, codes: &[i32]) {
    let code = output.status.code().expect("it ended by itself");
    assert!(
        codes.contains(&code),
        "{code}: {}{}",
        stdout(output),
        stderr(output)
    );
}

const CHECKED: &[i32] = &[0, 3, 4, 5];

fn known_facts(output: &Output) -> BTreeSet<(String, String)> {
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", stderr(output)));
    let known = |row: &&Value| row["reading"].get("value").is_some();
    let name = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
    let facts = report["facts"].as_array().unwrap();
    facts
        .iter()
        .filter(known)
        .map(|row| (name(row, "subject"), name(row, "fact")))
        .collect()
}

#[test]
fn an_old_kernel_hides_no_fact() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = [
        "check",
        dir.path().to_str().unwrap(),
        "--no-probe",
        "-v",
        "--format",
        "json",
    ];
    let today = || walwise().args(arguments).output_in_time();
    let (earlier, before, later) = (today(), run_as_on_old_kernel(&arguments), today());
    for output in [&earlier, &before, &later] {
        assert_exit_code_in(output, CHECKED);
    }
    // Servers, mounts and loop devices of other tests come and go, so only facts known before and
    // after count.
    let today: BTreeSet<_> = known_facts(&earlier)
        .intersection(&known_facts(&later))
        .cloned()
        .collect();
    let found = known_facts(&before);
    let ours = |(subject, fact): &&(String, String)| {
        subject == "host" && !may_change_with_other_tests(fact) || subject.starts_with("target ")
    };
    let lost: Vec<_> = today.difference(&found).filter(ours).collect();
    assert_eq!(lost, Vec::<&(String, String)>::new());
}

#[test]
fn an_old_kernel_runs_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let capture = dir.path().join("this.host");
    let capture = capture.to_str().unwrap();

    let output = run_as_on_old_kernel(&["probe", path, "--seconds", "0.5"]);
    assert_exit_code_in(&output, &[0]);
    assert!(stdout(&output).contains("fdatasync"), "{}", stdout(&output));
    assert!(has_no_scratch_directory(dir.path()));

    assert_exit_code_in(
        &run_as_on_old_kernel(&["capture", "--output", capture]),
        &[0],
    );
    let output = run_as_on_old_kernel(&["check", "--host", capture]);
    assert_exit_code_in(&output, CHECKED);
    assert!(
        stdout(&output).starts_with("walwise "),
        "{}",
        stdout(&output)
    );
    assert_exit_code_in(&run_as_on_old_kernel(&["facts"]), &[0]);
    assert_exit_code_in(&run_as_on_old_kernel(&["rules", "list"]), &[0]);
    assert_exit_code_in(
        &run_as_on_old_kernel(&["drill", "write", path, "--help"]),
        &[0],
    );
    let report = dir.path().join("report.json");
    assert_exit_code_in(
        &run_as_on_old_kernel(&[
            "check",
            path,
            "--no-probe",
            "-v",
            "--format",
            "json",
            "--output",
            report.to_str().unwrap(),
        ]),
        CHECKED,
    );
    assert!(report.metadata().unwrap().len() > 0);
}
