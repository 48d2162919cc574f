//! Offsets at which a large block device is read: first known metadata, then samples.
//!
//! Known metadata are backup superblocks, allocation group headers and labels, because tools can
//! recover a disk with a wiped beginning or end from them. Every MiB boundary near the ends is
//! included, because partitions and volumes begin there. Samples are ordered by bit-reversed
//! numbers, so that the samples read at any moment are spread evenly over the device.

use std::collections::BTreeSet;
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

/// Bytes per read. With blocks of 1 KiB, a superblock copy begins 1 KiB after its offset in
/// [`ext_superblock_group_offsets`], and the read covers both places.
pub const PIECE_BYTES: u64 = 16 << 10;

pub const END_BYTES: u64 = 2 << 20;

/// Distance from each end within which every MiB boundary is read, in bytes.
const NEAR_END_BYTES: u64 = 64 << 20;

const MIB: u64 = 1 << 20;

const SAMPLE_BITS: u32 = 12;

/// Offsets of the superblocks of btrfs after the first (`btrfs_sb_offset` in fs/btrfs/fs.h).
const BTRFS: [u64; 2] = [64 << 20, 256 << 30];

/// The offsets of known metadata between the two ends of the device, ascending, in bytes.
pub fn metadata_offsets(size: u64) -> Vec<u64> {
    let mut places: BTreeSet<u64> = BTreeSet::new();
    places.extend((0..NEAR_END_BYTES).step_by(saturating_usize(MIB)));
    let end = size / MIB * MIB;
    places.extend((end.saturating_sub(NEAR_END_BYTES)..=end).step_by(saturating_usize(MIB)));
    places.extend(BTRFS);
    places.extend(ext_superblock_group_offsets(size));
    places.extend(xfs_group_header_offsets(size));
    places.retain(|place| *place >= END_BYTES && *place < tail_offset(size));
    places.into_iter().collect()
}

fn saturating_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

pub fn tail_offset(size: u64) -> u64 {
    size.saturating_sub(END_BYTES) / PIECE_BYTES * PIECE_BYTES
}

/// The offsets of the block groups of ext2, ext3 and ext4 that may hold a superblock copy, for
/// every block size. These are group 1, the powers of 3, 5 and 7
/// (Documentation/filesystems/ext4/blockgroup.rst), and the last two for `sparse_super2`.
pub fn ext_superblock_group_offsets(size: u64) -> impl Iterator<Item = u64> {
    (10u32..=16).flat_map(move |log| {
        let group = 8u64 << (2 * log);
        let last = size.saturating_sub(1) / group;
        let powers = [3u64, 5, 7].into_iter().flat_map(move |base| {
            std::iter::successors(Some(1u64), move |power| power.checked_mul(base))
                .take_while(move |power| *power <= last)
        });
        powers
            .chain([last, last.saturating_sub(1)])
            .map(move |number| number * group)
            .collect::<Vec<_>>()
    })
}

/// The offsets of the headers of the allocation groups that `mkfs.xfs` creates by default
/// (`calc_default_ag_geometry` of xfsprogs). A disk gets 4 groups, an array 8 to 32; groups of
/// large devices have 1 TiB.
pub fn xfs_group_header_offsets(size: u64) -> impl Iterator<Item = u64> {
    const BLOCK: u64 = 4096;
    const LARGEST: u64 = 1 << 40;
    let of = move |length: u64| {
        (1..=size.checked_div(length).unwrap_or(0).min(64)).map(move |n| n * length)
    };
    let shares = [4u64, 8, 16, 32].map(|groups| (size / BLOCK).div_ceil(groups) * BLOCK);
    shares.into_iter().chain([LARGEST]).flat_map(of)
}

/// The offsets of the samples, in bytes, one in each equal part of the device. `seed` decides the
/// place within the part. A device with parts smaller than [`PIECE_BYTES`] has no samples.
pub fn sample_offsets(size: u64, seed: u64) -> impl Iterator<Item = u64> {
    let part = (size >> SAMPLE_BITS) / PIECE_BYTES * PIECE_BYTES;
    let slots = part / PIECE_BYTES;
    (0..1u32 << SAMPLE_BITS).map_while(move |number| {
        let number = u64::from(number.reverse_bits() >> (u32::BITS - SAMPLE_BITS));
        let slot = FixedState::with_seed(seed)
            .hash_one(number)
            .checked_rem(slots)?;
        Some(number * (size >> SAMPLE_BITS) / PIECE_BYTES * PIECE_BYTES + slot * PIECE_BYTES)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mke2fs_backup_superblocks_are_metadata_offsets() {
        // Superblock backups on 40 GiB, as printed by `mke2fs -n -b 4096`.
        let of_4k = [
            32768u64, 98304, 163_840, 229_376, 294_912, 819_200, 884_736, 1_605_632, 2_654_208,
            4_096_000, 7_962_624,
        ];
        let places = metadata_offsets(40 << 30);
        assert!(of_4k.iter().all(|block| places.contains(&(block * 4096))));
        // Superblock backups on 1 GiB, as printed by `mke2fs -n -b 1024`. The first block has
        // number 1, so each read begins one block earlier.
        let of_1k = [
            8193u64, 24577, 40961, 57345, 73729, 204_801, 221_185, 401_409, 663_553, 1_024_001,
        ];
        let places = metadata_offsets(1 << 30);
        assert!(
            of_1k
                .iter()
                .all(|block| places.contains(&((block - 1) * 1024)))
        );
    }

    #[test]
    fn xfs_group_headers_are_metadata_offsets() {
        let places = metadata_offsets(40 << 30);
        assert!(
            [10u64, 20, 30]
                .iter()
                .all(|gib| places.contains(&(gib << 30)))
        );
        assert!(metadata_offsets(5 << 40).contains(&(3 << 40)));
    }

    #[test]
    fn metadata_offsets_are_few_aligned_and_in_bounds() {
        for size in [
            0,
            512,
            3 << 20,
            (64 << 20) + 512,
            300 << 20,
            40 << 30,
            16 << 40,
            u64::MAX,
        ] {
            let places = metadata_offsets(size);
            assert!(places.len() < 600, "{size}: {}", places.len());
            assert!(
                places.iter().all(|place| place % 4096 == 0
                    && *place >= END_BYTES
                    && *place < tail_offset(size)),
                "{size}"
            );
        }
    }

    #[test]
    fn every_prefix_of_samples_is_spread_evenly() {
        for (size, seed) in [(1u64 << 30, 1), (40 << 30, 2), ((4 << 40) + 12345, 3)] {
            let all: Vec<u64> = sample_offsets(size, seed).collect();
            for bits in [3u32, 6, 12] {
                let mut some: Vec<u64> = all.iter().copied().take(1 << bits).collect();
                some.sort_unstable();
                let part = size >> bits;
                let widest = some.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
                assert_eq!(some.len(), 1 << bits);
                assert!(
                    widest <= 2 * part && some[0] <= part && some[some.len() - 1] + 2 * part > size,
                    "{bits}"
                );
            }
        }
        assert_ne!(
            sample_offsets(1 << 30, 1).next(),
            sample_offsets(1 << 30, 2).next()
        );
    }

    #[test]
    fn device_too_small_for_samples_has_none() {
        assert_eq!(sample_offsets(32 << 20, 1).count(), 0);
    }
}
