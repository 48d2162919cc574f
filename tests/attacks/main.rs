//! Attacks on a walwise that root runs, by strangers who have an account on the machine and nothing
//! else.
//!
//! Each test states the stranger's goal and counts his gains; there must be none. The tests use the
//! program only from outside. They need root, which plays both sides: it runs walwise as cron
//! would, and everything else as another user. `tests/attacks/run` shows the counts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may fail loudly"
)]

mod attempts;
mod bombs;
mod crowds;
mod fakes;
mod ground;
mod hangs;
mod impostors;
mod installer;
mod kernel;
mod leaks;
mod named;
mod names;
mod outputs;
mod pasted;
mod quiet;
mod root;
mod scratch;
mod secrets;
mod sockets;
mod specials;
mod stranger;
mod support;
mod swaps;
mod terminals;
