//! The closed list of file systems that walwise has commands to create on a free disk. Existing
//! file systems may have any type.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilesystemProperties {
    /// Minimum number of flushes that a commit sends to the disk.
    pub flushes: u32,
    pub data_checksums: bool,
    pub shrinks: bool,
    pub snapshots: bool,
}

choice! {
    /// The types in the order in which they are offered to the user.
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum NewFilesystem {
        Ext4 = "ext4",
        Xfs = "xfs",
        /// Created by mkfs.btrfs on one device.
        Btrfs = "btrfs",
        /// Created by zpool: a pool of one device, with a dataset in the pool.
        Zfs = "zfs",
    }
}

impl NewFilesystem {
    /// Properties by which the types differ. Sources: resize2fs(8), xfs_growfs(8), btrfs(5),
    /// zpool-remove(8). A commit on btrfs flushes twice: the log tree, then the superblock
    /// (fs/btrfs/tree-log.c, `btrfs_sync_log`).
    pub fn properties(self) -> FilesystemProperties {
        let plain = FilesystemProperties {
            flushes: 1,
            data_checksums: false,
            shrinks: false,
            snapshots: false,
        };
        match self {
            Self::Ext4 => FilesystemProperties {
                shrinks: true,
                ..plain
            },
            Self::Xfs => plain,
            Self::Btrfs => FilesystemProperties {
                flushes: 2,
                data_checksums: true,
                shrinks: true,
                snapshots: true,
            },
            Self::Zfs => FilesystemProperties {
                data_checksums: true,
                snapshots: true,
                ..plain
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NewFilesystem;
    use crate::facts::Choice;

    #[test]
    fn file_system_word_round_trips() {
        for &filesystem in NewFilesystem::ALL {
            assert_eq!(
                NewFilesystem::from_word(filesystem.as_str()),
                Some(filesystem)
            );
        }
        assert_eq!(NewFilesystem::from_word("ext3"), None);
    }
}
