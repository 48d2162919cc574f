use std::process::ExitCode;

fn main() -> ExitCode {
    // Descriptors inherited from the parent must not be passed on to child processes.
    close_fds::set_fds_cloexec(3, &[]);
    walwise::run()
}
