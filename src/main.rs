//! The binary. What it does stands in the library; here the children of our own are told apart from a user's run.

use std::env::args_os;
use std::process::ExitCode;

use walwise::{cli, host, output, probes};

fn main() -> ExitCode {
    // What somebody left open for us is for no child of ours.
    close_fds::set_fds_cloexec(3, &[]);
    let child = host::child::serve(args_os())
        .or_else(|| probes::watcher::serve(args_os()))
        .or_else(|| output::serve(args_os()))
        .or_else(|| cli::serve(args_os()));
    let code = child.unwrap_or_else(|| cli::run(args_os()));
    host::child::reap();
    code
}
