//! Measuring by doing: the only code that writes, and what it writes is one scratch directory.
//!
//! A [`Plan`] says beforehand where and how much; [`run`] does exactly that and leaves nothing behind, whatever ends it. What
//! the samples mean is [`crate::measure`]'s business. The surprise: the scratch directory never lies in a database's,
//! not even for a moment; it lies beside it, where the same file system and the same inode flags make the figures hold.

mod commit;
mod control;
pub mod drill;
mod error;
mod meters;
mod method;
mod pace;
mod place;
mod plan;
mod request;
mod run;
mod schedule;
mod scratch;
pub mod watcher;
mod workload;

pub use control::Control;
pub use error::{ErrorKind, ProbeError, Refusal};
pub use plan::{Plan, plan};
pub use request::{Manner, Request};
pub use run::run;

pub use crate::measure::Progress;
