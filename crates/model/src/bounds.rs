//! Limits of what is read and judged, for a live machine and for a capture: one table.
//!
//! What exceeds a limit is counted and named in a note; questions about it are unknown. Captures
//! come from strangers, so what one may cost in memory follows from its size.

/// The largest capture that is read, in bytes.
pub const CAPTURE: usize = 64 << 20;

/// The largest part of a mount table that is read, in bytes.
pub const MOUNT_TABLE: usize = 16 << 20;

/// Servers examined per user, so that a user who starts thousands cannot hide those of others.
pub const SERVERS_OF_A_USER: usize = 64;

/// Paths from a target to its disks that are judged separately; beyond that they are merged.
pub const ROUTES: usize = 1_000;

/// Hops of a path; a longer one counts as unreadable.
pub const HOPS: usize = 64;

/// Users of a device that are listed by name.
pub const USERS: usize = 64;

/// Largest number of subjects of one machine that get facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Mounts, in the order of the kernel's table.
    pub mounts: usize,
    pub devices: usize,
    /// Processes named like a server, of all users together.
    pub servers: usize,
}

impl Bounds {
    /// A live machine: the kernel keeps at most 100,000 mounts in a name space (`fs.mount-max`).
    pub const LIVE: Self = Self {
        mounts: 100_000,
        devices: 100_000,
        servers: 4_096,
    };

    /// Limits for a capture of this many bytes; a disk with its mount takes about 4 KiB.
    pub const fn for_capture(bytes: usize) -> Self {
        let subjects = 1_024 + bytes / 4_096;
        Self {
            mounts: subjects,
            devices: 2 * subjects,
            servers: 256,
        }
    }
}
