//! The closed list of file systems that walwise has commands for, to create one on a free disk.
//! Existing file systems may have any type.

use std::fmt;

use serde::{Serialize, Serializer};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilesystemProperties {
    /// Minimum number of flushes that a commit sends to the disk.
    pub flushes: u32,
    pub data_checksums: bool,
    pub shrinks: bool,
    pub snapshots: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewFilesystem {
    Ext4,
    Xfs,
    /// Created by mkfs.btrfs on one device.
    Btrfs,
    /// Created by zpool: a pool of one device, with a dataset in the pool.
    Zfs,
}

impl NewFilesystem {
    /// All types, in the order in which they are offered to the user.
    pub const ALL: [Self; 4] = [Self::Ext4, Self::Xfs, Self::Btrfs, Self::Zfs];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::Zfs => "zfs",
        }
    }

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

    /// The type with this name; `None` for a type that walwise does not create.
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "ext4" => Self::Ext4,
            "xfs" => Self::Xfs,
            "btrfs" => Self::Btrfs,
            "zfs" => Self::Zfs,
            _ => return None,
        })
    }
}

impl fmt::Display for NewFilesystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for NewFilesystem {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::NewFilesystem;

    #[test]
    fn a_word_is_that_of_one_file_system() {
        for filesystem in NewFilesystem::ALL {
            assert_eq!(
                NewFilesystem::from_word(filesystem.as_str()),
                Some(filesystem)
            );
        }
        assert_eq!(NewFilesystem::from_word("ext3"), None);
    }
}
