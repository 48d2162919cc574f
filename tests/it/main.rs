//! The only integration test binary. Tests that need root, tools or a server are ignored here and
//! run by `tests/run`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may fail loudly"
)]

mod advice;
mod answers;
mod architecture;
mod assume;
mod baseline;
mod captures;
mod cli;
mod commands;
mod configuration_files;
mod contents;
mod dashboard;
mod databases;
mod default_fstabs;
mod density;
mod deprived;
mod documents;
mod drill;
mod examples;
mod exports;
mod faults;
mod former_releases;
mod hostile_stacks;
mod hosts;
mod html;
mod in_force;
mod interlock;
mod journeys;
mod live_host;
mod log_disk;
mod loops;
mod mariadb;
mod migrations;
mod mistyped;
mod named_files;
mod old_kernels;
mod outputs;
mod overrides;
mod pack;
mod passive;
mod paste;
mod pasted;
mod plans;
mod postgres;
mod probes;
mod questions;
mod quiet;
mod refused_syscalls;
mod report_wording;
mod requested_file_system;
mod script;
mod secrets;
mod server;
mod settings;
mod situations;
mod storage;
mod support;
mod suppose;
mod targets;
mod traps;
mod trial;
mod trial_records;
mod units;
mod upgrade;
mod user_commands;
mod user_rules;
mod validity;
