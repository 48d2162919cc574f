//! What a disk says about its cache, and how a claim is put down as evidence.

use crate::durability::ask::Ask;
use crate::durability::{Bears, Evidence, Layer};
use crate::facts::{Key, Subject};

/// A disk's statement about its cache, before it is compared with its queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheStatement {
    /// It has a volatile cache.
    Volatile,
    /// Its answers contradict each other; how, in words.
    Torn(String),
    /// It has no volatile cache; the evidence, in words.
    Without(String),
    /// It reports its cache as switched off, while its driver assumes one.
    SwitchedOff,
    /// No credible statement; why, in words.
    Silent(String),
}

impl CacheStatement {
    /// Whether it reports a volatile cache, or one of its contradictory answers does.
    pub fn says_volatile(&self) -> bool {
        matches!(self, Self::Volatile | Self::Torn(_))
    }

    /// Whether there is no credible statement.
    pub fn is_silent(&self) -> bool {
        matches!(self, Self::Silent(_))
    }
}

/// A claim about a disk, from the fact that it was read as.
pub fn claim<T>(ask: &Ask, disk: &Subject, from: &Key<T>, bears: Bears, says: String) -> Evidence {
    let source = ask.origin(disk, from);
    Evidence::new(Layer::Claim, disk, bears, says, source)
}
