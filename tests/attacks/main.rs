//! Attacks by users with an unprivileged account on a walwise that root runs.
//!
//! Each test states the attacker's goal and counts the gains, which must be none. The tests use
//! walwise only as a program. All need root, because they run walwise as cron would and everything
//! else as another user. `tests/attacks/run` prints the counts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may fail loudly"
)]

mod attack_directory;
mod attempts;
mod bombs;
mod control_characters;
mod crowds;
mod fakes;
mod hangs;
mod impostors;
mod installer;
mod kernel;
mod leaks;
mod outputs;
mod pasted;
mod quiet;
mod root;
mod scratch;
mod secrets;
mod sockets;
mod special_files;
mod special_inputs;
mod stranger;
mod support;
mod swaps;
mod terminals;
