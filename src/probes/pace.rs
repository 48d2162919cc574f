//! Commits with pauses between them. fsync writes the journal only when the modification time has changed, which
//! happens once per timer tick (fs/ext4/fsync.c, `inode_set_ctime_current`).
//!
//! An unbroken loop on a fast disk commits many times within a tick and makes fsync look nearly as cheap as fdatasync.
//! A server that commits a hundred times a second pays in full each time.

use std::time::Duration;

/// The pause before each commit: at least one tick of the slowest timer (100 Hz).
pub const PAUSE: Duration = Duration::from_millis(10);

/// The largest number of commits with each method.
pub const COMMITS: usize = 24;

/// The part of a budget to reserve for them, in seconds; 0 when it would not suffice for a figure.
pub fn reserve(seconds: f64, all_methods_and_sizes: bool) -> f64 {
    match seconds {
        seconds if seconds < 2.0 => 0.0,
        seconds if all_methods_and_sizes => 0.5 * seconds,
        seconds => (0.15 * seconds).min(1.5),
    }
}
