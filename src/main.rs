//! The binary. What it does stands in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Descriptors that were left open for us are not passed on to children.
    close_fds::set_fds_cloexec(3, &[]);
    walwise::run()
}
