//! The drill: the commits that a writer acknowledged before the power was cut, compared with the disk afterwards.
//!
//! This module has the pages, the logs and the comparison; [`crate::probes::drill`] writes and reads files. An
//! acknowledgement counts only if *another* machine received it, because a machine that lost its power is no reliable
//! witness.

mod page;
mod stack;
mod log;
mod outcome;
mod record;

#[cfg(test)]
pub use log::Acknowledged;
pub use log::{BOOT, Head, Ranges, STOPPED, Survived, acknowledged, survived};
pub use outcome::{DrillResult, compare, no_cut};
pub use page::{PAGE, fill, number_of};
pub use record::{Record, day};
pub use stack::StackFingerprint;

/// Number of pages in a WAL segment: 16 MiB, PostgreSQL's default.
pub const PAGES: u64 = 2048;
