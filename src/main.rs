//! Entry point of the binary: protects inherited descriptors, then runs the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Children must not inherit open descriptors.
    close_fds::set_fds_cloexec(3, &[]);
    walwise::run()
}
