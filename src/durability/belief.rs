//! The belief layer: whether a flush travels on at each hop above the disks, as the kernel sees it. A file system can
//! be told not to send flushes. Any queue can be told that there is nothing to flush
//! (Documentation/ABI/stable/sysfs-block, queue/write_cache), which drops the flushes of everything above it.
//!
//! It judges one hop at a time; file systems and queues have a file each, and the disk's own queue is judged in
//! [`super::claim`]. A hop with state of its own (a loop file, a thin pool, a cache) loses data without flushes even
//! over disks that hold nothing back.

mod array;
mod pool;
mod file_system;
mod own_state;
mod mapping;
mod queue;

pub use file_system::{directory, mount};
pub use own_state::plain;
pub use queue::queue;

use super::ask::Ask;
use super::claim::{Cache, Passage};
use super::{Bears, Evidence, Layer};
use crate::facts::{Key, Subject};
use crate::truth::Truth;

/// The disks at the bottom of a way, for judging a hop above them.
#[derive(Clone, Copy, Debug)]
pub struct Bottom {
    pub cache: Cache,
    /// Whether a disk there reports *write back*.
    pub write_back: Truth,
    /// Whether no hop between keeps data of its own that only a flush writes out.
    pub plain: Truth,
}

/// The fate of a flush at a hop, and the evidence for it.
pub type Hop = (Passage, Evidence);

fn evidence<T>(ask: &Ask, hop: &Subject, from: &Key<T>, bears: Bears, says: String) -> Evidence {
    let source = ask.origin(hop, from);
    Evidence::new(Layer::Belief, hop, bears, says, source)
}
