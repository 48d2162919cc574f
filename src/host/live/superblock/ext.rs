//! The superblock of ext2, ext3 and ext4: its features, by the names that e2fsprogs gives them, and the size of a cluster.
//!
//! Its counters, labels and identities are ignored. The layout is that of fs/ext4/ext4.h, the names are those of
//! lib/e2p/feature.c. The kernel stores the checksum without the final inversion.

use super::block::{Unreadable, bytes, named};
use super::crc32c;

/// Offset on the device, in bytes.
pub const OFFSET: u64 = 1024;

/// Length in bytes.
pub const SIZE: usize = 1024;

const MAGIC: [u8; 2] = [0x53, 0xef];

/// Offset of the checksum, which covers everything before it.
const CHECKSUM: usize = 0x3fc;

/// The feature `metadata_csum`, with which there is a checksum.
const METADATA_CSUM: u32 = 0x400;

/// The feature `bigalloc`, with which space is given out in clusters.
const BIGALLOC: u32 = 0x200;

/// The largest cluster, as a power of two of 1024 bytes (EXT2_MAX_CLUSTER_LOG_SIZE in lib/ext2fs/ext2_fs.h).
const MOST_CLUSTER: u32 = 19;

const COMPATIBLE: &[(u32, &str)] = &[
    (0x1, "dir_prealloc"),
    (0x2, "imagic_inodes"),
    (0x4, "has_journal"),
    (0x8, "ext_attr"),
    (0x10, "resize_inode"),
    (0x20, "dir_index"),
    (0x40, "lazy_bg"),
    (0x100, "snapshot_bitmap"),
    (0x200, "sparse_super2"),
    (0x400, "fast_commit"),
    (0x800, "stable_inodes"),
    (0x1000, "orphan_file"),
];

const INCOMPATIBLE: &[(u32, &str)] = &[
    (0x1, "compression"),
    (0x2, "filetype"),
    (0x4, "needs_recovery"),
    (0x8, "journal_dev"),
    (0x10, "meta_bg"),
    (0x40, "extent"),
    (0x80, "64bit"),
    (0x100, "mmp"),
    (0x200, "flex_bg"),
    (0x400, "ea_inode"),
    (0x1000, "dirdata"),
    (0x2000, "metadata_csum_seed"),
    (0x4000, "large_dir"),
    (0x8000, "inline_data"),
    (0x1_0000, "encrypt"),
    (0x2_0000, "casefold"),
];

const READ_ONLY: &[(u32, &str)] = &[
    (0x1, "sparse_super"),
    (0x2, "large_file"),
    (0x8, "huge_file"),
    (0x10, "uninit_bg"),
    (0x20, "dir_nlink"),
    (0x40, "extra_isize"),
    (0x100, "quota"),
    (BIGALLOC, "bigalloc"),
    (METADATA_CSUM, "metadata_csum"),
    (0x800, "replica"),
    (0x1000, "read-only"),
    (0x2000, "project"),
    (0x4000, "shared_blocks"),
    (0x8000, "verity"),
    (0x1_0000, "orphan_present"),
];

/// The features in the order in which `dumpe2fs -h` lists them, and the size of a cluster in bytes where space is given
/// out in clusters that begin with the device (`s_log_cluster_size` and `s_first_data_block`).
pub fn read(block: &[u8]) -> Result<(Vec<String>, Option<u64>), Unreadable> {
    if block.len() < SIZE || bytes(block, 0x38) != Some(MAGIC) {
        return Err(Unreadable::Foreign);
    }
    let number = |at| bytes(block, at).map(u32::from_le_bytes).ok_or(Unreadable::Foreign);
    let (compatible, incompatible, read_only) = (number(0x5c)?, number(0x60)?, number(0x64)?);
    let summed = block.get(..CHECKSUM).ok_or(Unreadable::Foreign)?;
    if read_only & METADATA_CSUM != 0 && number(CHECKSUM)? != !crc32c::of([summed]) {
        return Err(Unreadable::Checksum);
    }
    let (first_block, cluster) = (number(0x14)?, number(0x1c)?);
    let in_clusters = read_only & BIGALLOC != 0 && first_block == 0 && cluster <= MOST_CLUSTER;
    let features = named(compatible, COMPATIBLE, "FEATURE_C")
        .chain(named(incompatible, INCOMPATIBLE, "FEATURE_I"))
        .chain(named(read_only, READ_ONLY, "FEATURE_R"));
    Ok((features.collect(), in_clusters.then(|| 1024 << cluster)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn features(block: &[u8]) -> Result<Vec<String>, Unreadable> {
        read(block).map(|(features, _)| features)
    }

    fn block(compatible: u32, incompatible: u32, read_only: u32) -> Vec<u8> {
        let mut block = vec![0; SIZE];
        block[0x38..0x3a].copy_from_slice(&MAGIC);
        for (at, word) in [(0x5c, compatible), (0x60, incompatible), (0x64, read_only)] {
            block[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        let sum = !crc32c::of([&block[..CHECKSUM]]);
        block[CHECKSUM..].copy_from_slice(&sum.to_le_bytes());
        block
    }

    /// A file system by mke2fs 1.47 with its defaults, and its description by dumpe2fs.
    #[test]
    fn a_file_system_of_today() {
        let words = "has_journal ext_attr resize_inode dir_index orphan_file filetype extent 64bit flex_bg \
            metadata_csum_seed sparse_super large_file huge_file dir_nlink extra_isize metadata_csum";
        assert_eq!(features(&block(0x103c, 0x22c2, 0x46b)).unwrap().join(" "), words);
    }

    /// `mke2fs -O bigalloc -C 16384`, by mke2fs 1.47: s_log_cluster_size is 4.
    #[test]
    fn clusters_have_a_size_where_they_begin_with_the_device() {
        for (features, first_block, log, expect) in [
            (BIGALLOC, 0, 4, Some(16384)),
            (BIGALLOC, 0, 6, Some(65536)),
            (BIGALLOC, 0, MOST_CLUSTER, Some(512 << 20)),
            (BIGALLOC, 0, MOST_CLUSTER + 1, None),
            (BIGALLOC, 0, u32::MAX, None),
            (BIGALLOC, 1, 4, None),
            // Without the feature the field repeats the size of a block.
            (0, 0, 2, None),
        ] {
            let mut block = block(0, 0, features);
            block[0x14..0x18].copy_from_slice(&u32::to_le_bytes(first_block));
            block[0x1c..0x20].copy_from_slice(&log.to_le_bytes());
            assert_eq!(read(&block).unwrap().1, expect, "{features:x} {first_block} {log}");
        }
    }

    #[test]
    fn bits_without_a_name_have_their_number() {
        assert_eq!(
            features(&block(0x80, 1 << 18, 1 << 31)).unwrap(),
            ["FEATURE_C7", "FEATURE_I18", "FEATURE_R31"]
        );
    }

    #[test]
    fn a_changed_byte_is_noticed_where_there_is_a_checksum() {
        for at in [0, 0x5d, CHECKSUM - 1, CHECKSUM] {
            let mut with = block(4, 0, METADATA_CSUM);
            with[at] ^= 1;
            assert_eq!(features(&with), Err(Unreadable::Checksum), "{at}");
        }
        let mut without = block(4, 0, 0);
        without[CHECKSUM] ^= 1;
        assert_eq!(features(&without).unwrap(), ["has_journal"]);
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..SIZE), is_ext: bool) {
            if let (true, Some(magic)) = (is_ext, bytes.get_mut(0x38..0x3a)) {
                magic.copy_from_slice(&MAGIC);
            }
            prop_assert!(features(&bytes).is_err(), "it is too short");
        }
    }
}
