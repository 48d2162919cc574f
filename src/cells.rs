//! The cells of a trial: file systems made, mounted and measured on a loop file of walwise's own.
//!
//! All of it is done by two children. The first makes a private mount namespace and a process namespace; the second is
//! the first process in it and dies with its parents, and everything in the namespace dies with it. The kernel then
//! takes its mounts and its loop device, and the loop file never had a name. What is to be measured, and what it means,
//! is left to [`crate::trial`]; who may ask for it, to the command line.

mod job;
mod room;
mod place;
mod zeros;
mod device;
mod image;
mod volume;
mod timing;
mod files;
mod load;
mod settle;
mod pgbench;
mod server;
mod inside;
mod outside;

pub use device::{leftovers, wait_until_gone};
pub use job::{News, ServerOrder, StageOrder, TrialJob};
pub use outside::{Arena, serve};
pub use place::LoopPlace;
pub use volume::{maker, version};

/// Bytes behind the extent in the loop file: the host's own file system is measured there.
pub const TAIL: u64 = crate::trial::SEGMENT;
