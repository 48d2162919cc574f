//! The drill: what a writer acknowledged before somebody pulled the plug, set against what is on the disk afterwards.
//!
//! Pages, logs and the comparison; writing and reading files is the business of [`crate::probes::drill`]. The surprise: only
//! an acknowledgement that *another* machine received counts, for whoever lost its power remembers what it likes.

mod log;
mod outcome;
mod page;
mod record;
mod stack;

#[cfg(test)]
pub use log::Acknowledged;
pub use log::{BOOT, Head, Ranges, STOPPED, Survived, acknowledged, survived};
pub use outcome::{Outcome, compare, no_cut};
pub use page::{PAGE, fill, number_of};
pub use record::{Record, day};
pub use stack::Stack;

/// How many pages a segment of the WAL has: 16 MiB, as PostgreSQL's by default.
pub const PAGES: u64 = 2048;
