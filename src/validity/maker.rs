//! The tools that make file systems: where their version is, and what this machine's kernel makes them leave out.

use crate::facts::Key;
use crate::facts::catalog::host;
use crate::settings::NewFilesystem;
use crate::version::Version;

/// What makes a file system.
pub(super) struct Maker {
    /// The fact with the version of its tools.
    pub version: &'static Key<Version>,
    /// The fact with the features that it has to leave out.
    pub leave_out: &'static Key<Vec<String>>,
    /// The package that it comes with.
    pub package: &'static str,
}

impl Maker {
    /// That of a file system; `None` where no version of it is read.
    pub(super) fn of(filesystem: NewFilesystem) -> Option<Self> {
        let (version, leave_out, package) = match filesystem {
            NewFilesystem::Ext4 => (&host::E2FSPROGS, &host::EXT4_LEAVE_OUT, "e2fsprogs"),
            NewFilesystem::Xfs => (&host::XFSPROGS, &host::XFS_LEAVE_OUT, "xfsprogs"),
            NewFilesystem::Btrfs => (&host::BTRFSPROGS, &host::BTRFS_LEAVE_OUT, "btrfs-progs"),
            NewFilesystem::Zfs => return None,
        };
        Some(Self { version, leave_out, package })
    }
}
