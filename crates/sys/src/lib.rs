//! The machine: the one seam through which it is read, and the writer of what somebody asked for.
//!
//! Nothing here knows what a fact is. Questions have types, programs and files are allow-listed,
//! what may hang or must not be root's runs in a subprocess, and secrets are left out before an
//! answer leaves.

use walwise_model::{bounds, quote, servers, text};

pub mod host;
pub mod output;
pub mod subprocess;
pub mod way;
#[cfg(test)]
use walwise_testkit::deadline;
