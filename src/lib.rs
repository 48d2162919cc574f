//! The application: the command line, the screens, and the session that runs the stages in order
//! for both.
//!
//! What they join are crates of their own; see ARCHITECTURE.md.

use std::env::args_os;
use std::io;
use std::process::ExitCode;

use walwise_judge::{durability, rules, sizing, validity};
use walwise_measure::{cells, drill, measure, probes, trial};
use walwise_model::{bounds, facts, quote, rows, settings, text, truth, version, workers};
use walwise_sys::subprocess::{self, Role};
use walwise_sys::{host, output, way};
#[cfg(test)]
use walwise_testkit::deadline;
use {walwise_collect as collect, walwise_report as report};

pub mod cli;
pub mod session;
pub mod tui;

/// The whole program: one of our own subprocesses, told apart by its argument, or what a user runs.
pub fn run() -> ExitCode {
    let code = match Role::of(args_os()) {
        Some(role) => serve(role).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
        None => cli::run(args_os()),
    };
    subprocess::reap();
    code
}

fn serve(role: Role) -> io::Result<()> {
    let channel = role.begin()?;
    match role {
        Role::Ask => host::reader::serve(channel),
        Role::AskAs => host::reader::serve_as(channel),
        Role::Watch => probes::watcher::serve(channel),
        Role::TrialBetween => cells::between(channel, Role::TrialInside),
        Role::TrialBetweenDisk => cells::between(channel, Role::TrialInsideDisk),
        Role::TrialInside | Role::TrialInsideDisk => cells::inside(channel),
        Role::Write => output::serve(channel),
        Role::Read => cli::input(channel),
        Role::Drill => cli::drill(channel),
    }
}
