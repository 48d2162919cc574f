//! Signatures on a block device: file systems, volume managers, RAID metadata, partition tables.
//!
//! The offsets come from util-linux' libblkid, the kernel's headers and the documentation of each
//! format. The names serve only for display: content without a known signature still counts as
//! data.

use super::offsets;
use crate::text;

/// A line for each signature.
const SIGNATURES: &str = include_str!("signatures.txt");

struct Signature {
    name: &'static str,
    offset: u64,
    /// The offset in `signatures.txt` is negative.
    is_from_end: bool,
    magic: Vec<u8>,
}

fn signatures() -> impl Iterator<Item = Signature> {
    SIGNATURES.lines().filter_map(|line| {
        let (magic, rest) = line.split_once(' ').filter(|(magic, _)| *magic != "#")?;
        let (offset, name) = rest.split_once(' ')?;
        Some(Signature {
            name,
            offset: offset.trim_start_matches('-').parse().ok()?,
            is_from_end: offset.starts_with('-'),
            magic: text::decode_display_safe(magic),
        })
    })
}

#[cfg(any(test, feature = "testing"))]
pub fn device_signature_names() -> Vec<&'static str> {
    let computed = [
        "ext journal",
        "ext2",
        "ext3",
        "ext4",
        "ext backup superblock",
        "xfs allocation group",
        "LVM2",
        "zfs",
    ];
    let listed = signatures().map(|signature| signature.name);
    let mut names: Vec<&str> = listed.chain(computed).collect();
    names.sort_unstable();
    names.dedup();
    names
}

pub struct DeviceRegions {
    pub size: u64,
    /// Parts of the device that were read, each with its offset.
    pub parts: Vec<(u64, Vec<u8>)>,
}

impl DeviceRegions {
    fn bytes_at(&self, offset: u64, length: usize) -> Option<&[u8]> {
        self.parts.iter().find_map(|(start, bytes)| {
            let from = usize::try_from(offset.checked_sub(*start)?).ok()?;
            bytes.get(from..from.checked_add(length)?)
        })
    }

    fn has_magic(&self, offset: u64, magic: &[u8]) -> bool {
        self.bytes_at(offset, magic.len()) == Some(magic)
    }

    fn le_u32_or_zero(&self, offset: u64) -> u32 {
        self.bytes_at(offset, 4)
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, u32::from_le_bytes)
    }

    pub fn detect_signature_names(&self) -> Vec<String> {
        let is_there = |signature: &Signature| {
            let offset = if signature.is_from_end {
                self.size.checked_sub(signature.offset)
            } else {
                Some(signature.offset)
            };
            offset.is_some_and(|offset| self.has_magic(offset, &signature.magic))
        };
        let found = signatures().filter(is_there);
        let mut names: Vec<&str> = found.map(|signature| signature.name).collect();
        names.extend(self.ext_signature_name().or_else(|| {
            self.has_ext_backup_superblock()
                .then_some("ext backup superblock")
        }));
        let is_xfs = names.contains(&"xfs");
        let computed = [
            (
                !is_xfs && self.has_xfs_secondary_superblock(),
                "xfs allocation group",
            ),
            (self.has_lvm_label(), "LVM2"),
            (self.has_md_superblock_near_end(), "md"),
            (self.has_zfs_uberblock(), "zfs"),
        ];
        let computed = computed.into_iter().filter(|(is_there, _)| *is_there);
        names.extend(computed.map(|(_, name)| name));
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(str::to_owned).collect()
    }

    /// The features in the superblock distinguish ext2, ext3 and ext4 (the kernel's
    /// Documentation/filesystems/ext4/super.rst).
    fn ext_signature_name(&self) -> Option<&'static str> {
        const HAS_JOURNAL: u32 = 0x4;
        const JOURNAL_DEVICE: u32 = 0x8;
        /// Incompatible features that ext3 supports: filetype, recover, meta_bg.
        const OF_EXT3: u32 = 0x2 | 0x4 | 0x10;
        if !self.has_magic(0x438, b"\x53\xef") {
            return None;
        }
        let (compatible, incompatible) = (self.le_u32_or_zero(0x45c), self.le_u32_or_zero(0x460));
        Some(match () {
            () if incompatible & JOURNAL_DEVICE != 0 => "ext journal",
            () if incompatible & !OF_EXT3 != 0 => "ext4",
            () if compatible & HAS_JOURNAL != 0 => "ext3",
            () => "ext2",
        })
    }

    /// Whether there is a backup superblock of ext2, ext3 or ext4, from which `e2fsck -b` restores
    /// the file system. It has the magic, a valid block size, and a group number above 0.
    fn has_ext_backup_superblock(&self) -> bool {
        let is = |at: u64| {
            let group = self.le_u32_or_zero(at + 0x58) >> 16;
            self.has_magic(at + 0x38, b"\x53\xef")
                && self.le_u32_or_zero(at + 0x18) <= 6
                && group > 0
        };
        offsets::ext_superblock_group_offsets(self.size)
            .filter(|at| *at > 0)
            .any(|at| is(at) || is(at + 1024))
    }

    fn has_xfs_secondary_superblock(&self) -> bool {
        offsets::xfs_group_header_offsets(self.size).any(|at| self.has_magic(at, b"XFSB"))
    }

    fn has_lvm_label(&self) -> bool {
        (0..4).any(|sector| {
            self.has_magic(sector * 512, b"LABELONE")
                && self.has_magic(sector * 512 + 24, b"LVM2 001")
        })
    }

    /// MD metadata of versions 0.90 and 1.0 is near the end of a device (the kernel's
    /// Documentation/admin-guide/md.rst, drivers/md/md.c).
    fn has_md_superblock_near_end(&self) -> bool {
        const RESERVED: u64 = 64 << 10;
        let of_0_90 = (self.size / RESERVED * RESERVED).checked_sub(RESERVED);
        let of_1_0 = self.size.checked_sub(8 << 10).map(|at| at / 4096 * 4096);
        let magics: [&[u8]; 2] = [b"\xfc\x4e\x2b\xa9", b"\xa9\x2b\x4e\xfc"];
        of_0_90
            .into_iter()
            .chain(of_1_0)
            .any(|at| magics.iter().any(|magic| self.has_magic(at, magic)))
    }

    /// Uberblocks are in the second half of each label (OpenZFS, vdev_label.c).
    fn has_zfs_uberblock(&self) -> bool {
        const LABEL: u64 = 256 << 10;
        let magics: [&[u8]; 2] = [b"\x0c\xb1\xba\0\0\0\0\0", b"\0\0\0\0\0\xba\xb1\x0c"];
        let end = self.size / LABEL * LABEL;
        let labels = [
            Some(0),
            Some(LABEL),
            end.checked_sub(2 * LABEL),
            end.checked_sub(LABEL),
        ];
        labels.into_iter().flatten().any(|label| {
            let uberblocks = (128..256).map(|kib| label + kib * 1024);
            uberblocks
                .into_iter()
                .any(|at| magics.iter().any(|magic| self.has_magic(at, magic)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_signature() {
        let lines = SIGNATURES
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(signatures().count(), lines.count());
        assert!(signatures().all(|signature| signature.magic.len() >= 2));
        let from_end = signatures().filter(|signature| signature.is_from_end);
        assert_eq!(from_end.count(), 13);
    }
}
