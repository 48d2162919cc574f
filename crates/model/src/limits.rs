//! Limits on what walwise reads and judges, on a live host and in a capture.
//!
//! Captures come from strangers. The limits for a capture grow with its size, which bounds the
//! memory that it can occupy.

/// The largest capture that is read, in bytes.
pub const CAPTURE: usize = 64 << 20;

/// The largest part of a mount table that is read, in bytes.
pub const MOUNT_TABLE: usize = 16 << 20;

/// Maximum number of server processes examined for each user, so that a user who starts thousands
/// of them cannot hide the servers of other users.
pub const SERVERS_OF_A_USER: usize = 64;

/// Maximum number of paths from a target to its disks that are judged one by one. If there are
/// more, all paths are judged together.
pub const ROUTES: usize = 1_000;

/// Maximum number of layers on a path to a disk. Judgement treats a longer path as unreadable.
pub const HOPS: usize = 64;

/// Maximum number of uses of one device, such as mounts and arrays, that are listed.
pub const USERS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubjectLimits {
    /// Maximum number of mounts that are read from the kernel's mount table, from its first line
    /// on.
    pub mounts: usize,
    pub devices: usize,
    /// Maximum number of processes, over all users, that are named like a database server.
    pub servers: usize,
}

impl SubjectLimits {
    /// Limits for a live host. The kernel allows 100,000 mounts per mount namespace by default
    /// (`fs.mount-max`).
    pub const LIVE: Self = Self {
        mounts: 100_000,
        devices: 100_000,
        servers: 4_096,
    };

    pub const fn for_capture(bytes: usize) -> Self {
        let subjects = 1_024 + bytes / 4_096;
        Self {
            mounts: subjects,
            devices: 2 * subjects,
            servers: 256,
        }
    }
}
