//! walwise under strace, which delays or fails chosen system calls or raises a signal:
//! `fdatasync:error=EIO:when=3`.
//!
//! `when` counts calls per thread (strace(1)). In memory, calls cost next to nothing, so nearly all
//! of the measured time is the injected delay.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::running::RunningProgram;
use super::walwise;

pub fn directory_in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

/// Starts `walwise probe` with these calls changed, and a trace with paths. All calls that any test
/// changes are traced, so that tracing always costs the same.
pub fn start_probe_under_strace(
    directory: &Path,
    trace: &Path,
    planted: &[&str],
    arguments: &[&str],
) -> RunningProgram {
    let mut command = Command::new("strace");
    // With `--seccomp-bpf`, untraced calls run at full speed, but strace 6.1 sends no signals.
    if !planted.iter().any(|one| one.contains("signal=")) {
        command.arg("--seccomp-bpf");
    }
    command
        .args(["-f", "-qq", "-y", "-e", "signal=none", "-o"])
        .arg(trace);
    command.args(["-e", "trace=pwrite64,fdatasync,fsync,mkdirat,unlinkat"]);
    for one in planted {
        command.arg("-e").arg(format!("inject={one}"));
    }
    // A small /dev/shm, as in containers, is nearly full with a probe's files.
    command
        .args(["env", "--default-signal"])
        .arg(walwise().get_program())
        .arg("probe")
        .arg(directory);
    RunningProgram::start(command.args(["--force"]).args(arguments))
}

pub fn traced_walwise(trace: &Path) -> Command {
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-e", "signal=none", "-e", WATCHED, "-o"])
        .arg(trace);
    command.arg(walwise().get_program());
    command
}

const WATCHED: &str = "trace=execve,open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,rename,renameat,renameat2,unlink,\
    unlinkat,rmdir,link,linkat,symlink,symlinkat,truncate,ftruncate,fallocate,fsync,fdatasync,sync,syncfs,\
    sync_file_range,msync,ioctl";

#[derive(Debug)]
pub struct TracedCall {
    /// Name of the calling program after its last exec.
    pub program: String,
    pub name: String,
    /// Arguments and result; only the arguments if other calls came between.
    pub rest: String,
}

/// Calls of a trace made by [`traced_walwise`], without those of programs that failed to start.
pub fn parse_trace(trace: &Path) -> Vec<TracedCall> {
    let text = String::from_utf8_lossy(&std::fs::read(trace).unwrap()).into_owned();
    let mut programs: BTreeMap<&str, String> = BTreeMap::new();
    let mut calls = Vec::new();
    for (who, call) in text.lines().filter_map(|line| line.split_once(' ')) {
        let Some((name, rest)) = call.trim_start().split_once('(') else {
            continue;
        };
        if name == "execve" && !rest.contains("= -1") {
            let path = rest.split('"').nth(1).unwrap_or_default();
            let base = path.rsplit('/').next().unwrap_or_default();
            programs.insert(
                who,
                if base == "exe" {
                    "walwise".to_owned()
                } else {
                    base.to_owned()
                },
            );
        } else if name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            // Threads and children that do not exec belong to walwise.
            let program = programs
                .get(who)
                .cloned()
                .unwrap_or_else(|| "walwise".to_owned());
            calls.push(TracedCall {
                program,
                name: name.to_owned(),
                rest: rest.to_owned(),
            });
        }
    }
    calls
}
