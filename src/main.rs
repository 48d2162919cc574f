//! The binary. What it does stands in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    // What somebody left open for us is for no child of ours.
    close_fds::set_fds_cloexec(3, &[]);
    walwise::run()
}
