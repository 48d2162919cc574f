//! The space that a trial may take: a fifth of the host's file system and 5 GiB stay free, whatever is asked for.

use rustix::fs::StatVfs;

use super::TAIL;

/// Bytes that stay free.
const LEAST_FREE: u64 = 5 << 30;

/// A directory as the place of a loop file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRoom {
    /// Bytes that users may still write.
    pub free: u64,
    /// Bytes of the file system.
    pub all: u64,
}

impl HostRoom {
    /// The room that the kernel reports.
    pub fn from_kernel(found: &StatVfs) -> Self {
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        Self { free: bytes(found.f_bavail), all: bytes(found.f_blocks) }
    }

    /// Whether an extent of so many bytes leaves enough.
    pub fn has(self, bytes: u64) -> bool {
        let left = self.free.checked_sub(bytes + TAIL);
        left.is_some_and(|left| !Self { free: left, all: self.all }.is_low())
    }

    /// Whether less is free than has to stay free.
    pub fn is_low(self) -> bool {
        self.free < LEAST_FREE || self.free < self.all / 5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_and_five_gibibytes_stay_free() {
        let gib = 1u64 << 30;
        let has = |free, all, bytes| HostRoom { free: free * gib, all: all * gib }.has(bytes * gib);
        assert!(has(40, 100, 19) && !has(40, 100, 20), "a fifth, and the tail counts");
        assert!(has(8, 10, 2) && !has(8, 10, 3), "5 GiB");
        assert!(!has(1, 1000, 2));
        let low = |free, all| HostRoom { free: free * gib, all: all * gib }.is_low();
        assert!(!low(20, 100) && low(19, 100) && !low(5, 10) && low(4, 10));
    }
}
