//! The binary. The program is in the library; this file only tells our own child processes from a user's run.

use std::env::args_os;
use std::process::ExitCode;

use walwise::{cli, host, output, probes};

fn main() -> ExitCode {
    // Descriptors that were left open for us are not passed on to children.
    close_fds::set_fds_cloexec(3, &[]);
    let child = host::child::serve(args_os())
        .or_else(|| probes::watcher::serve(args_os()))
        .or_else(|| output::serve(args_os()))
        .or_else(|| cli::serve(args_os()));
    let code = child.unwrap_or_else(|| cli::run(args_os()));
    host::child::reap();
    code
}
