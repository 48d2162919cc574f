//! Measuring by doing: a probe writes nothing but one scratch directory; only the [`drill`] leaves a directory of its
//! own behind.
//!
//! A [`ProbePlan`] states beforehand where and how much; [`run`] does exactly that and leaves nothing behind, however it
//! ends. The meaning of the samples is left to [`crate::measure`]. The scratch directory never lies in a database's
//! directory, not even briefly. It lies beside it, where the same file system and the same inode flags make the figures
//! valid.

mod directory;
mod error;
mod control;
mod meters;
mod method;
mod redo;
mod pace;
mod place;
pub mod wear;
mod request;
mod schedule;
mod commit;
mod plan;
pub mod watcher;
mod scratch;
pub mod drill;
mod workload;
mod run;

pub use commit::{PAGE, Pages, Writer};
pub use control::Control;
pub use error::{ErrorKind, ProbeError, Refusal};
pub use meters::Disks;
pub use method::open_flags;
pub use place::database_around;
pub use plan::{ProbePlan, plan};
pub use request::{ProbeOptions, ProbeRequest};
pub use run::run;
pub use schedule::Dice;

pub use crate::measure::Progress;
