//! `walwise generate`: documents made from the program itself, so that they always agree with it.
//!
//! A test compares those that are kept in `assets/` with the output of this module.

mod file;
mod man;
mod screens;

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::aot::{self, Generator};

use super::args::{Cli, Generate, Shell};
use super::out::{self, ExitResult, print};
use crate::output::{Access, Wish};
use crate::report::json;
use crate::rules::reference;
use crate::way::CreationPolicy;

pub use file::OutputFile;
pub use man::pages;
pub use screens::{measurement, page, pictures};

/// Makes the requested document.
pub(super) fn run(what: &Generate) -> ExitResult {
    match what {
        Generate::Man { directory: Some(directory) } => into(directory, &pages()?),
        Generate::Man { directory: None } => {
            let first = pages()?.into_iter().next();
            print(&first.map(|(_, page)| page).unwrap_or_default())
        }
        Generate::Completions { shell } => print(&completions(*shell).1),
        Generate::Schema => print(json::SCHEMA),
        Generate::Reference => print(&reference::render()),
        Generate::Screens(args) => into(&args.directory, &screens::drawn(args)?),
    }
}

/// Writes world-readable documents into a directory, which is created if it does not exist.
fn into(directory: &Path, documents: &[OutputFile]) -> ExitResult {
    let wish = Wish { access: Access::Public, missing: CreationPolicy::Made(0o755), ..Wish::default() };
    for (name, document) in documents {
        let found = out::destination(&directory.join(name), wish)?;
        found.commit(document.as_bytes()).context("not everything was written")?;
    }
    Ok(0)
}

/// The completion script of a shell, under the name that the shell expects.
pub fn completions(shell: Shell) -> OutputFile {
    fn of(shell: impl Generator) -> OutputFile {
        let mut script = Vec::new();
        let name = shell.file_name(NAME);
        aot::generate(shell, &mut Cli::command(), NAME, &mut script);
        (name, String::from_utf8_lossy(&script).into_owned())
    }
    const NAME: &str = "walwise";
    match shell {
        Shell::Bash => of(aot::Bash),
        Shell::Zsh => of(aot::Zsh),
        Shell::Fish => of(aot::Fish),
    }
}
