//! System calls refused as in containers and services: each one alone (strace), or all that
//! Docker's default profile refuses (seccomp). walwise answers or reports what is missing, and
//! never gives a better verdict.

use std::collections::BTreeMap;
use std::process::{Command, Output};
use std::thread;

use nix::errno::Errno;
use nix::libc;
use nix::sched::{CloneFlags, unshare};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

use crate::support::deadline::{CommandInTime as _, ThreadInTime as _};
use crate::support::{stderr, stdout, walwise};

/// Calls that walwise makes, except those that every program needs to start and those of the
/// dynamic linker.
const ALONE: &[&str] = &[
    "statx",
    "statfs",
    "fstatfs",
    "readlink",
    "readlinkat",
    "getdents64",
    "lseek",
    "ioctl",
    "fcntl",
    "socketpair",
    "socket",
    "setsockopt",
    "sendto",
    "recvfrom",
    "pipe2",
    "clone3",
    "clone",
    "vfork",
    "wait4",
    "kill",
    "dup2",
    "setpgid",
    "setsid",
    "prctl",
    "setresuid",
    "setresgid",
    "setgroups",
    "chroot",
    "prlimit64",
    "sched_getaffinity",
    "uname",
    "sysinfo",
    "getrandom",
    "getcwd",
    "geteuid",
];

/// Calls that Docker's default profile refuses to a process without capabilities (docs.docker.com,
/// "Seccomp security profiles for Docker").
const DOCKER: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_get_mempolicy,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_ioperm,
    libc::SYS_iopl,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mbind,
    libc::SYS_mount,
    libc::SYS_move_pages,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_set_mempolicy,
    libc::SYS_setns,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

const PATIENCE: &str = "60";

fn assert_tolerates_missing_call(output: &Output, without: &str) {
    let (said, lacks) = (stdout(output), stderr(output));
    let code = output.status.code();
    assert!(
        [0, 1, 3, 4, 5].map(Some).contains(&code),
        "without {without}: {code:?}\n{said}{lacks}"
    );
    assert!(!lacks.contains("panicked"), "without {without}: {lacks}");
    assert!(
        !said.is_empty() || !lacks.is_empty(),
        "without {without} nothing is said"
    );
}

fn shows_verdict_durable(output: &Output) -> bool {
    stdout(output)
        .lines()
        .any(|line| line.starts_with("DURABLE"))
}

#[test]
#[ignore = "exhaustive"]
fn each_refused_system_call_is_tolerated() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["check", dir.path().to_str().unwrap(), "--no-probe"];
    let whole = walwise().args(arguments).output_in_time();
    assert_tolerates_missing_call(&whole, "nothing");
    for call in ALONE {
        let mut command = Command::new("timeout");
        command.args([
            PATIENCE,
            "strace",
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
            &format!("trace={call}"),
            "-e",
            &format!("inject={call}:error=EPERM"),
        ]);
        let output = command
            .arg(walwise().get_program())
            .args(arguments)
            .output_in_time();
        assert_tolerates_missing_call(&output, call);
        assert!(
            shows_verdict_durable(&whole) || !shows_verdict_durable(&output),
            "without {call} it promises more"
        );
    }
}

#[test]
fn docker_seccomp_profile_changes_no_result() {
    let rules: BTreeMap<_, _> = DOCKER.iter().map(|call| (*call, Vec::new())).collect();
    let refused = SeccompAction::Errno(u32::try_from(libc::EPERM).unwrap());
    let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).unwrap();
    let filter: BpfProgram = filter.try_into().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let path = dir.path().to_str().unwrap();
        let mut command = walwise();
        command.arg(arguments[0]).arg(path).args(&arguments[1..]);
        // The filter applies to the thread and to every child it starts.
        let filtered = || {
            apply_filter(&filter).unwrap();
            let refused = unshare(CloneFlags::empty()).unwrap_err();
            assert_eq!(refused, Errno::EPERM, "the filter is in force");
            command.output_in_time()
        };
        thread::scope(|scope| scope.spawn(filtered).join_in_time())
    };
    let whole = walwise()
        .arg("check")
        .arg(dir.path())
        .arg("--no-probe")
        .output_in_time();
    let filtered = run(&["check", "--no-probe"]);
    assert_tolerates_missing_call(&filtered, "what Docker refuses");
    assert_eq!(
        (filtered.status.code(), shows_verdict_durable(&filtered)),
        (whole.status.code(), shows_verdict_durable(&whole))
    );
    let probed = run(&["probe", "--seconds", "0.5"]);
    assert_eq!(probed.status.code(), Some(0), "{}", stderr(&probed));
}
