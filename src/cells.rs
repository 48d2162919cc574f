//! The cells of a trial: file systems made, mounted and measured on a loop file of walwise's own, or on a disk that a
//! person gave it by its serial number.
//!
//! All of it is done by two children. The first makes a private mount namespace and a process namespace; the second is
//! the first process in it, and everything in the namespace dies with it. With a loop file it dies with its parents: the
//! kernel then takes its mounts and its loop device, and the loop file never had a name. With a disk it clears the
//! extent first, within bounds, when its parents are gone. What is to be measured, and what it means, is left to
//! [`crate::trial`]; who may ask for it, to the command line.

mod room;
mod place;
mod zeros;
mod blank;
mod disk;
mod job;
mod device;
mod image;
mod extent;
mod volume;
mod timing;
mod files;
mod load;
mod settle;
mod ending;
mod inside;
mod outside;

pub use device::{AttachedLoop, leftovers};
pub use disk::{EraseOrder, SpareDisk, by_facts, by_facts_of_use};
pub use inside::run as inside;
pub use job::{MeasureOrder, News, TrialJob, TrialPlace};
pub use outside::{Arena, between};
pub use place::LoopPlace;
pub use volume::{maker, version};

/// Bytes behind the extent in the loop file: the host's own file system is measured there.
pub const TAIL: u64 = crate::trial::SEGMENT;
