//! Runs the program under test and others to their end. Module `running` has programs that tests
//! watch while they run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use super::running::becomes_true_in_time;
use crate::support::deadline::CommandInTime as _;

/// Returns the path of the built walwise. `WALWISE_PROGRAM` can name another build, such as an
/// installed or an optimized one.
pub fn walwise_path() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        std::env::var("WALWISE_PROGRAM")
            .unwrap_or_else(|_| env!("CARGO_BIN_EXE_walwise").to_owned())
    });
    &PROGRAM
}

pub fn walwise() -> Command {
    let mut command = Command::new(walwise_path());
    command.env_remove("NO_COLOR").env("LC_ALL", "C.UTF-8");
    command
}

/// A shell that runs `script` in a mount namespace of its own. Arguments are `$1` and following.
pub fn private_mounts_shell(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private"]);
    command.args(["sh", "-c", script, "sh"]);
    command
}

/// Copies walwise, so that any user may execute it. `cp` makes the copy, because children of this
/// process would inherit a file open for writing, and such a file cannot be executed.
pub fn copy_walwise_into(into: &Path) -> PathBuf {
    let program = into.join("walwise");
    if !program.exists() {
        run("cp", &[walwise_path(), program.to_str().unwrap()]);
    }
    program
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn run(program: &str, arguments: &[&str]) -> String {
    let output = output_retrying_busy(Command::new(program).args(arguments));
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}{}",
        stdout(&output),
        stderr(&output)
    );
    stdout(&output)
}

/// Runs a program, and again while a device or mount is busy. Tools that open a device exclusively,
/// new mount namespaces, and children before exec hold devices and mounts for a moment.
pub fn output_retrying_busy(command: &mut Command) -> Output {
    let mut run = || command.output_in_time();
    let is_busy = |output: &Output| {
        let said = stderr(output);
        !output.status.success()
            && ["busy", "in use by the system"]
                .iter()
                .any(|word| said.contains(word))
    };
    let mut output = run();
    becomes_true_in_time(|| {
        if is_busy(&output) {
            output = run();
        }
        !is_busy(&output)
    });
    output
}
