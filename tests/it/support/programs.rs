//! The program under test and others, run to their end. Programs that are started and watched are
//! in `running`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::running::holds_in_time;
use crate::support::deadline::CommandInTime as _;

/// The program under test.
pub fn walwise() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_walwise"));
    command.env_remove("NO_COLOR").env("LC_ALL", "C.UTF-8");
    command
}

/// A copy of it that any user may execute. Another program makes it: a file that this process has
/// open for writing is inherited by its children meanwhile, and no program can be executed while it
/// is open for writing.
pub fn copy_of_walwise(into: &Path) -> PathBuf {
    let program = into.join("walwise");
    if !program.exists() {
        run(
            "cp",
            &[env!("CARGO_BIN_EXE_walwise"), program.to_str().unwrap()],
        );
    }
    program
}

/// The standard output of a command, as text.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The standard error of a command, as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a program that must succeed.
pub fn run(program: &str, arguments: &[&str]) -> String {
    let output = output_when_free(Command::new(program).args(arguments));
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}{}",
        stdout(&output),
        stderr(&output)
    );
    stdout(&output)
}

/// Runs a program to its end, again while a device or a mount is busy: whatever looks at a device
/// alone or at all mounts, each mount name space made meanwhile, and each child of this process
/// until it executes its program, keeps them from others for a moment.
pub fn output_when_free(command: &mut Command) -> Output {
    let mut run = || command.output_in_time();
    let is_busy = |output: &Output| {
        let said = stderr(output);
        !output.status.success()
            && ["busy", "in use by the system"]
                .iter()
                .any(|word| said.contains(word))
    };
    let mut output = run();
    holds_in_time(|| {
        if is_busy(&output) {
            output = run();
        }
        !is_busy(&output)
    });
    output
}
