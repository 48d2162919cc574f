//! The belief layer: whether a flush travels on at each hop above the disks, as the kernel sees it. File systems can be
//! told not to send flushes, and any queue on the way can be told that there is nothing to flush
//! (Documentation/ABI/stable/sysfs-block, queue/write_cache), which drops the flushes of everything above it.
//!
//! It judges one hop at a time, file systems and queues each in a file of their own; the disk's own queue is judged with
//! its claim. The surprise: a hop with state of its own (a loop file, a thin pool, a cache) loses data without flushes
//! even over disks that hold nothing back.

mod array;
mod file_system;
mod own_state;
mod queue;

pub use file_system::{directory, mount};
pub use own_state::plain;
pub use queue::queue;

use super::ask::Ask;
use super::claim::{Cache, Passage};
use super::{Bears, Evidence, Layer};
use crate::facts::{Key, Subject};
use crate::truth::Truth;

/// What lies at the bottom of a way, for judging a hop above it.
#[derive(Clone, Copy, Debug)]
pub struct Bottom {
    /// The worst cache.
    pub cache: Cache,
    /// Whether a disk there says *write back*.
    pub write_back: Truth,
    /// Whether nothing between keeps data of its own that only a flush writes out.
    pub plain: Truth,
}

/// What became of a flush at a hop, and what speaks for that.
pub type Hop = (Passage, Evidence);

fn evidence<T>(ask: &Ask, hop: &Subject, from: &Key<T>, bears: Bears, says: String) -> Evidence {
    let source = ask.origin(hop, from);
    Evidence::new(Layer::Belief, hop, bears, says, source)
}
