//! walwise looks at the storage beneath a database and recommends file system, mount options and WAL settings.
//!
//! The program is a pipeline of values; each module knows only those above it in this list, as in every directory below:
//!
//! - [`truth`], [`version`], [`text`] — vocabulary
//! - [`checked`] — when something was last compared with its source
//! - [`quote`] — names and values in commands, units, rules, lines and comments
//! - [`workers`] — one piece of work on many things, by all processors
//! - [`subprocess`] — our own program again, for work that may never end or must not be root's
//! - [`way`] — the way to a directory, so that nobody redirects root
//! - [`output`] — the one way to write what somebody asked for
//! - [`facts`] — readings: known with a source, or unknown with a reason
//! - [`rows`] — tables of rows, and what is wrong with them
//! - [`servers`] — servers' settings by release, declared once
//! - [`settings`] — what can be advised
//! - [`drivers`] — what is behind the drivers of SCSI hosts
//! - [`drill`] — what was written before a power cut, and what is left of it
//! - [`host`] — the one seam through which the machine is read, live or recorded
//! - [`collect`] — host → facts
//! - [`measure`], [`validity`], [`durability`], [`sizing`] — judgement, pure
//! - [`trial`] — what may be said of file systems measured side by side, pure
//! - [`probes`] — measurements in scratch files, and the drill; the only other writes
//! - [`cells`] — file systems made and measured on a loop file, in a namespace of their own
//! - [`rules`] — facts → findings, three-valued, from `rules/*.toml`
//! - [`report`] — one value from which every output is made
//! - [`pipeline`] — joins them in order
//! - [`ui`], [`cli`] — front ends

use walwise_model::{bounds, checked, facts, quote, rows, settings, text, truth, version, workers};

use walwise_collect as collect;
use walwise_judge::{durability, rules, sizing, validity};
use walwise_measure::{cells, drill, measure, probes, trial};
use walwise_report as report;
use walwise_sys::{host, output, subprocess, way};

mod pipeline;
mod ui;
mod cli;
#[doc(hidden)]
pub mod inside;
#[cfg(test)]
use walwise_testkit::deadline;

use std::env::args_os;
use std::io;
use std::process::ExitCode;

use subprocess::Role;

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
