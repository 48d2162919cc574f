//! The bounds of what is read and judged, of a live machine and of a capture: one table.
//!
//! What lies beyond a bound is counted and named in a note, and every question about it is unknown.
//! Strangers write captures: what one may cost in memory follows from its size.

/// The largest capture that is read, in bytes.
pub const CAPTURE: usize = 64 << 20;

/// The largest part of a mount table that is read, in bytes.
pub const MOUNT_TABLE: usize = 16 << 20;

/// The servers that are examined of one user: who starts thousands hides nobody else's.
pub const SERVERS_OF_A_USER: usize = 64;

/// The paths from a target to its disks that are judged one by one; more are merged.
pub const ROUTES: usize = 1_000;

/// The hops of a path, after which it is given up as unreadable.
pub const HOPS: usize = 64;

/// The users of a device that are named.
pub const USERS: usize = 64;

/// The subjects of one machine that have facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Mounts, in the order of the kernel's table.
    pub mounts: usize,
    pub devices: usize,
    /// Processes that are named like a server, of all users together.
    pub servers: usize,
}

impl Bounds {
    /// A live machine: the kernel keeps at most 100,000 mounts in a name space (`fs.mount-max`).
    pub const LIVE: Self = Self {
        mounts: 100_000,
        devices: 100_000,
        servers: 4_096,
    };

    /// A capture of this many bytes. A disk with its mount takes 4 KiB of one.
    pub const fn for_capture(bytes: usize) -> Self {
        let subjects = 1_024 + bytes / 4_096;
        Self {
            mounts: subjects,
            devices: 2 * subjects,
            servers: 256,
        }
    }
}
