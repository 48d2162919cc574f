//! walwise under strace, which makes chosen system calls slow, fail, or raise a signal:
//! `fdatasync:error=EIO:when=3`.
//!
//! Counts of `when` are per thread (strace(1)). In memory the calls themselves cost next to
//! nothing, so that the injected delays are the whole cost.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::running::Running;
use super::walwise;

/// An empty directory in memory.
pub fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

/// Starts `walwise probe` of a directory with these calls changed, traced into a file with the
/// paths of what they are about; all that a change may need is traced, so that tracing costs the
/// same whatever is planted.
pub fn probe(directory: &Path, trace: &Path, planted: &[&str], arguments: &[&str]) -> Running {
    let mut command = Command::new("strace");
    // Other calls then run at full speed; strace 6.1 forgets to send the signal with it.
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
    // A small /dev/shm, as in containers, is nearly full with what a probe writes.
    command
        .args(["env", "--default-signal"])
        .arg(walwise().get_program())
        .arg("probe")
        .arg(directory);
    Running::start(command.args(["--force"]).args(arguments))
}

/// A command that traces walwise into a file: with every opening and ioctl, flush and change of a
/// directory, and the programs that it runs.
pub fn watch(trace: &Path) -> Command {
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

/// One call of a trace.
#[derive(Debug)]
pub struct Call {
    /// Who made it: the last name of the program.
    pub program: String,
    /// Such as `openat`.
    pub name: String,
    /// Its arguments and result; only the arguments where other calls came between.
    pub rest: String,
}

/// The calls of a trace made by [`watch`]. A program that could not be started made none.
pub fn calls(trace: &Path) -> Vec<Call> {
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
            // Threads and children that run nothing else are walwise's own.
            let program = programs
                .get(who)
                .cloned()
                .unwrap_or_else(|| "walwise".to_owned());
            calls.push(Call {
                program,
                name: name.to_owned(),
                rest: rest.to_owned(),
            });
        }
    }
    calls
}
