//! walwise looks at the storage beneath a database and recommends file system, mount options and WAL settings.
//!
//! The program is a pipeline of values; each module knows only those above it in this list:
//!
//! - [`truth`], [`version`], [`text`] — vocabulary
//! - [`quote`] — names and values in commands, units, rules, lines and comments
//! - [`workers`] — one piece of work on many things, by all processors
//! - [`errand`] — work that may never end, done by a child that can be left behind
//! - [`way`] — the way to a directory, so that nobody redirects root
//! - [`output`] — the one way to write what somebody asked for
//! - [`facts`] — readings: known with a source, or unknown with a reason
//! - [`rows`] — tables of rows, and what is wrong with them
//! - [`servers`] — servers' settings by release, declared once
//! - [`settings`] — what can be advised
//! - [`drivers`] — what is behind the drivers of SCSI hosts
//! - [`host`] — the one seam through which the machine is read, live or recorded
//! - [`collect`] — host → facts
//! - [`measure`], [`durability`], [`validity`] — judgement, pure
//! - [`probes`] — measurements in scratch files, and the drill; the only other writes
//! - [`rules`] — facts → findings, three-valued, from `rules/*.toml`
//! - [`report`] — one value from which every output is made
//! - [`pipeline`] — joins them in order
//! - [`cli`], [`ui`] — front ends
#![warn(missing_docs)]

mod cli;
mod collect;
mod drill;
mod drivers;
mod durability;
mod errand;
mod facts;
mod host;
#[doc(hidden)]
pub mod inside;
mod measure;
mod output;
mod pipeline;
mod probes;
mod quote;
mod report;
mod rows;
mod rules;
mod servers;
mod settings;
mod text;
mod truth;
mod ui;
mod validity;
mod version;
mod way;
mod workers;

use std::env::args_os;
use std::process::ExitCode;

/// The whole program: one of our own children, told apart by its arguments, or what a user runs.
pub fn run() -> ExitCode {
    let child = host::reader::serve(args_os())
        .or_else(|| probes::watcher::serve(args_os()))
        .or_else(|| output::serve(args_os()))
        .or_else(|| cli::serve(args_os()));
    let code = child.unwrap_or_else(|| cli::run(args_os()));
    host::child::reap();
    code
}
