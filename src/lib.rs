//! The application: the command line, the screens, and the session that both of them use.
//!
//! Other layers are in crates of their own; see ARCHITECTURE.md.

use std::env::args_os;
use std::io;
use std::process::ExitCode;

use walwise_collect as collect;
use walwise_judge::{compat, durability, rules, sizing};
use walwise_measure::{drill, measure, probes, trial, trial_runner};
use walwise_model::{
    escape, facts, limits, parallel, settings, ternary, text, toml_table, version,
};
use walwise_report as report;
use walwise_sys::subprocess::{self, Role};
use walwise_sys::{host, output, safe_path};

#[cfg(test)]
use walwise_testkit::deadline;

pub mod cli;
pub mod session;
pub mod tui;

/// Runs the program: as a subprocess if the first argument names a subprocess role, otherwise as
/// the command line tool.
pub fn run() -> ExitCode {
    let code = match Role::from_arguments(args_os()) {
        Some(role) => run_subprocess_role(role).map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
        None => cli::run(args_os()),
    };
    subprocess::reap_idle_children();
    code
}

fn run_subprocess_role(role: Role) -> io::Result<()> {
    let channel = role.set_up_process_and_channel()?;
    match role {
        Role::HostReader => host::reader::serve_questions(channel),
        Role::OwnerReader => host::reader::serve_as_owner(channel),
        Role::ScratchCleaner => probes::scratch_cleaner::run_scratch_cleaner(channel),
        Role::TrialNamespaces => {
            trial_runner::create_namespaces_and_run_role(channel, Role::TrialInit)
        }
        Role::DiskTrialNamespaces => {
            trial_runner::create_namespaces_and_run_role(channel, Role::DiskTrialInit)
        }
        Role::TrialInit | Role::DiskTrialInit => trial_runner::run_trial_child(channel),
        Role::DocumentWriter => output::run_document_writer(channel),
        Role::FileReader => cli::file_reader::run_file_reader(channel),
        Role::Drill => cli::drill::run_drill_child(channel),
        Role::CommitSampler => host::commit_sampler::run_commit_sampler(channel),
    }
}
