//! Limits on what walwise reads and judges, on a live machine and in a capture.
//!
//! Items beyond a limit are counted and named in a note, and facts about such items are unknown.
//! Captures come from strangers, so the size of a capture bounds the memory spent on it.

/// The largest capture that is read, in bytes.
pub const CAPTURE: usize = 64 << 20;

/// The largest part of a mount table that is read, in bytes.
pub const MOUNT_TABLE: usize = 16 << 20;

/// Maximum number of server processes examined per user: a user who starts thousands of processes
/// cannot hide the servers of other users.
pub const SERVERS_OF_A_USER: usize = 64;

/// Maximum number of paths from a target to its disks that are judged one by one. If there are
/// more, all paths are judged together.
pub const ROUTES: usize = 1_000;

/// Maximum number of hops of a path to a disk; a longer path counts as unreadable.
pub const HOPS: usize = 64;

/// Maximum number of users of one device that are listed by name.
pub const USERS: usize = 64;

/// Maximum numbers of subjects that get facts, for one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Mounts are counted in the order of the kernel's mount table.
    pub mounts: usize,
    pub devices: usize,
    /// Processes named like a database server, of all users together.
    pub servers: usize,
}

impl Limits {
    /// Limits for a live machine. The kernel allows 100,000 mounts per mount namespace by default
    /// (`fs.mount-max`).
    pub const LIVE: Self = Self {
        mounts: 100_000,
        devices: 100_000,
        servers: 4_096,
    };

    /// Limits for a capture, by its size in bytes. A disk with its mount takes about 4 KiB of a
    /// capture.
    pub const fn for_capture(bytes: usize) -> Self {
        let subjects = 1_024 + bytes / 4_096;
        Self {
            mounts: subjects,
            devices: 2 * subjects,
            servers: 256,
        }
    }
}
