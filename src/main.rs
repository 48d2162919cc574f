//! The binary; the library does the work.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Inherited descriptors are not passed on to children.
    close_fds::set_fds_cloexec(3, &[]);
    walwise::run()
}
