//! The machine: the one seam through which it is read, and the writer of requested files.
//!
//! Nothing here knows what a fact is. Questions have types, programs and files are allow-listed;
//! what may hang or must not run as root goes to a subprocess; secrets are removed before an answer
//! leaves.

use walwise_model::{bounds, escape, servers, text};

pub mod host;
pub mod output;
pub mod safe_path;
pub mod subprocess;
#[cfg(test)]
use walwise_testkit::deadline;
