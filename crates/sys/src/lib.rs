//! Access to the host system: [`host`] answers questions about it, [`output`] writes requested
//! files.
//!
//! This crate does not interpret answers. Programs and files are allow-listed, and secrets are
//! removed from each answer. Subprocesses make the calls that may hang or must not run as root.

use walwise_model::{escape, limits, servers, text};

pub mod host;
pub mod output;
pub mod safe_path;
pub mod subprocess;
#[cfg(test)]
use walwise_testkit::deadline;
