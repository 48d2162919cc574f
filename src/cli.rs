//! The command line: parses, dispatches, prints, and reports the result by the exit code.
//!
//! One file per command. Errors go to standard error as one sentence with a remedy; a closed reader counts as success.
//! Commands print through [`out`] alone, so that nothing else can write to the terminal.

pub mod examples;
pub mod extent;
pub mod args;
mod named_file;
mod rule_directory;
mod input;
mod error;
mod out;
mod version;
mod rule_files;
mod host;
mod kept;
mod baseline;
mod capture;
mod facts;
pub mod generate;
mod rules;
mod explain;
mod screens;
mod signals;
mod drill;
mod trial;
mod probe;
mod show;
mod check;
mod upgrade;
mod removed;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::{Cli, CliCommand};
use out::ExitResult;

pub use drill::serve as drill;
pub use error::CliError;
pub use input::serve as input;

/// Runs the program with these arguments and returns its exit code.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    let result = match Cli::try_parse_from(&arguments) {
        Ok(cli) => dispatch(cli),
        Err(error) if error.kind() == ErrorKind::DisplayVersion => out::print(&version::lines()),
        Err(error) => {
            if let Some(sentence) = removed::sentence(&error, &arguments) {
                out::complain(sentence);
                return ExitCode::from(2);
            }
            // clap's own exit codes: 0 for --help, 2 for wrong use.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(CliError::Signal(number, failed)) => {
            let failed = failed.as_deref().unwrap_or("the scratch files are gone");
            out::complain(&format!("ended by a signal; {failed}"));
            ExitCode::from(u8::try_from(128 + number).unwrap_or(1))
        }
        Err(CliError::Usage(sentence)) => {
            out::complain(&sentence);
            ExitCode::from(2)
        }
        Err(CliError::Other(error)) => {
            out::complain(&format!("{error:#}"));
            ExitCode::from(1)
        }
    }
}

fn dispatch(cli: Cli) -> ExitResult {
    match cli.command {
        None => screens::run(cli.bare),
        Some(CliCommand::Check(args)) => check::run(&args),
        Some(CliCommand::Upgrade(args)) => upgrade::run(&args),
        Some(CliCommand::Show(args)) => show::run(&args),
        Some(CliCommand::Probe(args)) => probe::run(&args),
        Some(CliCommand::Drill(args)) => drill::run(&args),
        Some(CliCommand::Trial(args)) => trial::run(&args),
        Some(CliCommand::Facts(args)) => facts::run(&args),
        Some(CliCommand::Rules(args)) => rules::run(args),
        Some(CliCommand::Explain(args)) => explain::run(&args),
        Some(CliCommand::Capture(args)) => capture::run(&args),
        Some(CliCommand::Generate(what)) => generate::run(&what),
    }
}
