//! Kernels that are older than this one, by strace: every system call that is newer than Linux 3.10
//! is answered as such a kernel answers it. walwise does its work without them.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::{hangs_on_others, scratch_free, stderr, stdout, walwise};

/// Calls that Linux got after 3.10, as syscalls(2) dates them. The question mark is for those that
/// this strace does not know yet: whatever runs under it makes none of them.
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

/// A walwise to which the newer calls are answered with this error.
fn refused(error: &str, arguments: &[&str]) -> Command {
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

fn old(arguments: &[&str]) -> Output {
    refused("ENOSYS", arguments).output_in_time()
}

fn ended_well(output: &Output, codes: &[i32]) {
    let code = output.status.code().expect("it ended by itself");
    assert!(
        codes.contains(&code),
        "{code}: {}{}",
        stdout(output),
        stderr(output)
    );
}

const CHECKED: &[i32] = &[0, 3, 4, 5];

/// Subject and name of every known fact of a report.
fn known(output: &Output) -> BTreeSet<(String, String)> {
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

/// Nothing that this machine says is lost for want of a newer call.
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
    let (earlier, before, later) = (today(), old(&arguments), today());
    for output in [&earlier, &before, &later] {
        ended_well(output, CHECKED);
    }
    // Servers, mounts and loop devices of others come and go beside this test: what was known
    // before and after counts.
    let today: BTreeSet<_> = known(&earlier)
        .intersection(&known(&later))
        .cloned()
        .collect();
    let found = known(&before);
    let ours = |(subject, fact): &&(String, String)| {
        subject == "host" && !hangs_on_others(fact) || subject.starts_with("target ")
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

    let output = old(&["probe", path, "--seconds", "0.5"]);
    ended_well(&output, &[0]);
    assert!(stdout(&output).contains("fdatasync"), "{}", stdout(&output));
    assert!(scratch_free(dir.path()));

    ended_well(&old(&["capture", "--output", capture]), &[0]);
    let output = old(&["check", "--host", capture]);
    ended_well(&output, CHECKED);
    assert!(
        stdout(&output).starts_with("walwise "),
        "{}",
        stdout(&output)
    );
    ended_well(&old(&["facts"]), &[0]);
    ended_well(&old(&["rules", "list"]), &[0]);
    ended_well(&old(&["drill", "write", path, "--help"]), &[0]);
    let report = dir.path().join("report.json");
    ended_well(
        &old(&[
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
