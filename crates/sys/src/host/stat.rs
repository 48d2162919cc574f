//! What stat(2) and statfs(2) say, and how an answer carries it: words `name=value`.

use std::str::FromStr;

use super::{Miss, MissKind, Moment};

/// The value in `name=value` words, the encoding of [`Stat`] and [`StatFs`].
fn field<T: FromStr>(text: &[u8], name: &str) -> Result<T, Miss> {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let words = text
        .split_ascii_whitespace()
        .filter_map(|word| word.split_once('='));
    words
        .filter(|(key, _)| *key == name)
        .find_map(|(_, value)| value.parse().ok())
        .ok_or_else(|| Miss::new(MissKind::Failed, format!("the answer lacks {name}")))
}

/// What stat(2) says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Type and permission bits.
    pub mode: u64,
    pub uid: u64,
    pub gid: u64,
    /// Device the file is on: major.
    pub major: u64,
    /// Device the file is on: minor.
    pub minor: u64,
    /// For a device node, its own major.
    pub node_major: u64,
    /// For a device node, its own minor.
    pub node_minor: u64,
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last status change: st_ctime. Unlike st_mtime nobody can set it back, and
    /// renaming a file onto this name updates it (inode(7)). Old captures hold the second alone;
    /// `None` in those without it.
    pub changed: Option<Moment>,
}

impl Stat {
    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }

    /// Whether it is a block device.
    pub fn is_block(&self) -> bool {
        self.mode & 0o170_000 == 0o060_000
    }

    pub fn encode(&self) -> Vec<u8> {
        let Self {
            mode,
            uid,
            gid,
            major,
            minor,
            node_major,
            node_minor,
            inode,
            size,
            changed,
        } = self;
        let changed = changed
            .map(|changed| format!(" changed={changed}"))
            .unwrap_or_default();
        format!(
            "mode={mode} uid={uid} gid={gid} major={major} minor={minor} node_major={node_major} \
             node_minor={node_minor} inode={inode} size={size}{changed}\n"
        )
        .into_bytes()
    }

    pub(super) fn decode(text: &[u8]) -> Result<Self, Miss> {
        Ok(Self {
            mode: field(text, "mode")?,
            uid: field(text, "uid")?,
            gid: field(text, "gid")?,
            major: field(text, "major")?,
            minor: field(text, "minor")?,
            node_major: field(text, "node_major")?,
            node_minor: field(text, "node_minor")?,
            inode: field(text, "inode")?,
            size: field(text, "size")?,
            changed: field(text, "changed").ok(),
        })
    }
}

/// What statfs(2) says of a file system. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatFs {
    /// The magic number of its type.
    pub magic: u64,
    /// Size in bytes.
    pub size: u64,
    /// Space available to an ordinary user, in bytes.
    pub available: u64,
    /// Number of inodes; 0 where it is not fixed.
    pub inodes: u64,
    pub inodes_free: u64,
    /// Size of a block, in bytes (`f_bsize`). `None` in captures without it.
    pub block: Option<u64>,
}

impl StatFs {
    pub fn encode(&self) -> Vec<u8> {
        let Self {
            magic,
            size,
            available,
            inodes,
            inodes_free,
            block,
        } = self;
        let block = block
            .map(|bytes| format!(" block={bytes}"))
            .unwrap_or_default();
        format!(
            "magic={magic} size={size} available={available} inodes={inodes} inodes_free={inodes_free}{block}\n"
        )
        .into_bytes()
    }

    pub(super) fn decode(text: &[u8]) -> Result<Self, Miss> {
        Ok(Self {
            magic: field(text, "magic")?,
            size: field(text, "size")?,
            available: field(text, "available")?,
            inodes: field(text, "inodes")?,
            inodes_free: field(text, "inodes_free")?,
            block: field(text, "block").ok(),
        })
    }
}
