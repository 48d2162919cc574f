//! walwise under strace, which makes chosen system calls slow, fail, or bring a signal: `fdatasync:error=EIO:when=3`.
//!
//! Counts of `when` are those of one thread (strace(1)). In memory the calls themselves take next to nothing, so that what is
//! planted is all there is.

use std::path::Path;
use std::process::Command;

use super::running::Running;
use super::walwise;

/// An empty directory in memory.
pub fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap()
}

/// Starts `walwise probe` of a directory with these calls changed, traced into a file; all that a change may need is traced,
/// so that tracing costs the same whatever is planted.
pub fn probe(directory: &Path, trace: &Path, planted: &[&str], arguments: &[&str]) -> Running {
    let mut command = Command::new("strace");
    // Other calls then run at full speed; strace 6.1 forgets to send the signal with it.
    if !planted.iter().any(|one| one.contains("signal=")) {
        command.arg("--seccomp-bpf");
    }
    command.args(["-f", "-qq", "-e", "signal=none", "-o"]).arg(trace);
    command.args(["-e", "trace=pwrite64,fdatasync,fsync,mkdirat,unlinkat"]);
    for one in planted {
        command.arg("-e").arg(format!("inject={one}"));
    }
    // A small /dev/shm, as in containers, is nearly full with what a probe writes.
    command.args(["env", "--default-signal"]).arg(walwise().get_program()).arg("probe").arg(directory);
    Running::start(command.args(["--force"]).args(arguments))
}
