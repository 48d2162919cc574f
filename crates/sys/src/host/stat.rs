//! The fields of stat(2) and statfs(2), encoded in an answer as words `name=value`.

use std::str::FromStr;

use super::{HostError, HostTimestamp};

fn parse_named_field<T: FromStr>(text: &[u8], name: &str) -> Result<T, HostError> {
    let text = str::from_utf8(text).unwrap_or_default();
    let words = text
        .split_ascii_whitespace()
        .filter_map(|word| word.split_once('='));
    words
        .filter(|(key, _)| *key == name)
        .find_map(|(_, value)| value.parse().ok())
        .ok_or_else(|| HostError::failed(format!("the answer lacks {name}")))
}

/// Generates encoding and decoding from the names of the fields. The last one is optional.
macro_rules! words {
    ($answer:ty: $($field:ident)+; $last:ident = $last_name:literal) => {
        impl $answer {
            pub fn encode(&self) -> Vec<u8> {
                let mut words = vec![$(format!("{}={}", stringify!($field), self.$field)),+];
                words.extend(self.$last.map(|value| format!("{}={value}", $last_name)));
                format!("{}\n", words.join(" ")).into_bytes()
            }

            pub(super) fn decode(text: &[u8]) -> Result<Self, HostError> {
                Ok(Self {
                    $($field: parse_named_field(text, stringify!($field))?,)+
                    $last: parse_named_field(text, $last_name).ok(),
                })
            }
        }
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// File type and permission bits.
    pub mode: u64,
    pub uid: u64,
    pub gid: u64,
    pub major: u64,
    pub minor: u64,
    /// Major number of `st_rdev` (stat(2)), for device nodes.
    pub node_major: u64,
    /// Minor number of `st_rdev` (stat(2)), for device nodes.
    pub node_minor: u64,
    pub inode: u64,
    pub size: u64,
    /// Time of the last status change (st_ctime). Unlike st_mtime, nobody can set this time back,
    /// and renaming a file onto this name updates the time (inode(7)). Old captures have only the
    /// second, or nothing (`None`).
    pub ctime: Option<HostTimestamp>,
}

impl Stat {
    /// Device and inode, which are equal only for paths to one file.
    pub fn file_id(&self) -> (u64, u64, u64) {
        (self.major, self.minor, self.inode)
    }

    pub fn is_dir(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    pub fn is_file(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }

    pub fn is_block_device(&self) -> bool {
        self.mode & 0o170_000 == 0o060_000
    }
}

words! { Stat: mode uid gid major minor node_major node_minor inode size; ctime = "changed" }

/// Fields of statfs(2); sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatFs {
    /// File system type, as in linux/magic.h.
    pub magic: u64,
    pub size: u64,
    pub available: u64,
    /// 0 if the file system creates inodes as needed.
    pub inodes: u64,
    pub inodes_free: u64,
    /// Block size in bytes (`f_bsize`); `None` in old captures.
    pub block: Option<u64>,
}

words! { StatFs: magic size available inodes inodes_free; block = "block" }
