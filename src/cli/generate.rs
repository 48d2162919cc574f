//! `walwise generate`: documents made from the program itself, so that they always agree with it.

use clap::CommandFactory;
use clap_complete::aot::{self, Generator};

use super::args::{Cli, Generate, Shell};
use super::out::{ExitResult, print};
use crate::report::json;

/// Prints the requested document.
pub(super) fn run(what: &Generate) -> ExitResult {
    match what {
        Generate::Completions { shell } => print(&completions(*shell).1),
        Generate::Schema => print(json::SCHEMA),
    }
}

/// The completion script of a shell, behind the name of the file that the shell expects.
pub fn completions(shell: Shell) -> (String, String) {
    fn script(shell: impl Generator) -> (String, String) {
        let mut bytes = Vec::new();
        let name = shell.file_name(NAME);
        aot::generate(shell, &mut Cli::command(), NAME, &mut bytes);
        (name, String::from_utf8_lossy(&bytes).into_owned())
    }
    const NAME: &str = "walwise";
    match shell {
        Shell::Bash => script(aot::Bash),
        Shell::Zsh => script(aot::Zsh),
        Shell::Fish => script(aot::Fish),
    }
}
