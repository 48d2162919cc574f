//! Reads features, cluster size and UUID of a file system from the superblock on its device.
//!
//! Tools are not used, because `dumpe2fs` and `xfs_db` make the kernel write (fsync and BLKFLSBUF
//! on the device). The superblock of ext4 is read through the device's page cache: a direct read
//! would write out the dirty page. XFS is read with direct I/O: it has buffers of its own, so a
//! page in the device's cache may be older than the disk.

mod crc32c {
    //! CRC-32C (Castagnoli), the checksum of ext4 and XFS metadata: bit-reflected, as in RFC 3720.
    //! No table is used, because the input is only a superblock.

    const POLYNOMIAL: u32 = 0x82f6_3b78;

    pub fn crc32c_checksum<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> u32 {
        let shift = |sum: u32| (sum >> 1) ^ if sum & 1 == 1 { POLYNOMIAL } else { 0 };
        let bytes = pieces.into_iter().flatten();
        !bytes.fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| shift(sum))
        })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// Vectors of RFC 3720, B.4, and the check value given in catalogues of checksums.
        #[test]
        fn crc32c_matches_rfc_3720_vectors() {
            let rising: Vec<u8> = (0..32).collect();
            let falling: Vec<u8> = (0..32).rev().collect();
            for (bytes, sum) in [
                (&b""[..], 0),
                (&b"123456789"[..], 0xe306_9283),
                (&[0; 32][..], 0x8a91_36aa),
                (&[0xff; 32][..], 0x62a8_ab43),
                (&rising[..], 0x46dd_794e),
                (&falling[..], 0x113f_db5c),
            ] {
                assert_eq!(crc32c_checksum([bytes]), sum, "{bytes:?}");
                let (one, other) = bytes.split_at(bytes.len() / 2);
                assert_eq!(crc32c_checksum([one, other]), sum, "{bytes:?}");
            }
        }
    }
}
mod xfs {
    //! The superblock of XFS: version and features, by the names that `xfs_db -c version` prints,
    //! in lower case.
    //!
    //! Counters and labels are ignored. The layout is that of fs/xfs/libxfs/xfs_format.h,
    //! big-endian except for the checksum. Version 5 keeps the bits of version 4 and adds words of
    //! its own; `ftype` exists in both.

    use super::crc32c;
    use super::{SuperblockError, byte_array_at, feature_bit_names};

    const MAGIC: &[u8] = b"XFSB";

    /// Offset of the checksum, which covers the entire sector with this field set to zero.
    const CHECKSUM: usize = 224;

    pub const UUID: usize = 32;

    /// Feature bits of the version number, as one word for each bit; its lowest four bits are the
    /// version.
    const VERSION: &str = "- - - - attr nlink quota align dalign shared logv2 sector extflg dirv2 ascii_ci \
        morebits";

    /// The bit that enables the second word of features.
    const HAS_FEATURES2: u32 = 0x8000;

    const FEATURES2: &str = "- lazysbcount - attr2 parent - - projid32bit crc ftype";

    const READ_ONLY: &str = "finobt rmapbt reflink inobtcnt";

    const INCOMPATIBLE: &str = "ftype sparse_inodes meta_uuid bigtime needsrepair nrext64 exchange parent metadir \
        zoned gaps";

    pub fn parse_xfs_features(block: &[u8]) -> Result<Vec<String>, SuperblockError> {
        if !block.starts_with(MAGIC) {
            return Err(SuperblockError::WrongFormat);
        }
        let number = |at| byte_array_at(block, at).map(u32::from_be_bytes);
        let number_of_version: u32 = u16::from_be_bytes(byte_array_at(block, 100)?).into();
        let second = number(200)?;
        let (version, bits) = (number_of_version & 0xf, number_of_version & !0xf);
        let mut words = vec![format!("v{version}")];
        words.extend(feature_bit_names(bits, VERSION, "version_"));
        if bits & HAS_FEATURES2 != 0 {
            words.extend(feature_bit_names(second, FEATURES2, "features2_"));
        }
        if version == 5 {
            let sector = u16::from_be_bytes(byte_array_at(block, 102)?).into();
            let sector = block.get(..sector).ok_or(SuperblockError::SectorSize)?;
            let said = byte_array_at(sector, CHECKSUM).map(u32::from_le_bytes)?;
            let (before, behind) = sector.split_at(CHECKSUM);
            let behind = behind.get(4..).unwrap_or_default();
            if said != crc32c::crc32c_checksum([before, &[0; 4], behind]) {
                return Err(SuperblockError::Checksum);
            }
            let own = feature_bit_names(number(212)?, READ_ONLY, "ro_compat_")
                .chain(feature_bit_names(number(216)?, INCOMPATIBLE, "incompat_"));
            for word in own {
                if !words.contains(&word) {
                    words.push(word);
                }
            }
        }
        Ok(words)
    }

    #[cfg(test)]
    mod tests {
        use std::collections::BTreeSet;

        use proptest::prelude::*;

        use super::*;

        fn build_xfs_superblock(
            version: u16,
            second: u32,
            read_only: u32,
            incompatible: u32,
        ) -> Vec<u8> {
            let mut block = vec![0; 512];
            block[..4].copy_from_slice(MAGIC);
            block[100..102].copy_from_slice(&version.to_be_bytes());
            block[102..104].copy_from_slice(&512_u16.to_be_bytes());
            for (at, word) in [(200, second), (212, read_only), (216, incompatible)] {
                block[at..at + 4].copy_from_slice(&word.to_be_bytes());
            }
            let sum = crc32c::crc32c_checksum([block.as_slice()]);
            block[CHECKSUM..CHECKSUM + 4].copy_from_slice(&sum.to_le_bytes());
            block
        }

        fn feature_set(words: &str) -> BTreeSet<String> {
            words.to_lowercase().split(',').map(str::to_owned).collect()
        }

        /// The expected features are those that xfs_db printed for file systems created by mkfs.xfs
        /// 6.1, one by default and one with crc=0.
        #[test]
        fn features_match_xfs_db_for_v4_and_v5() {
            let found = |block: &[u8]| {
                parse_xfs_features(block)
                    .unwrap()
                    .into_iter()
                    .collect::<BTreeSet<String>>()
            };
            let five = "V5,NLINK,DIRV2,ALIGN,LOGV2,EXTFLG,MOREBITS,ATTR2,LAZYSBCOUNT,PROJID32BIT,CRC,FTYPE,FINOBT,\
            SPARSE_INODES,REFLINK,INOBTCNT,BIGTIME";
            assert_eq!(
                found(&build_xfs_superblock(0xb4a5, 0x18a, 0xd, 0xb)),
                feature_set(five)
            );
            let four =
                "V4,NLINK,DIRV2,ALIGN,LOGV2,EXTFLG,MOREBITS,ATTR2,LAZYSBCOUNT,PROJID32BIT,FTYPE";
            assert_eq!(
                found(&build_xfs_superblock(0xb4a4, 0x28a, 0, 0)),
                feature_set(four)
            );
        }

        #[test]
        fn xfs_v4_ignores_checksum_and_v5_feature_words() {
            let mut four = build_xfs_superblock(0x3084, 0x100, 1, 8);
            four[CHECKSUM] ^= 1;
            assert_eq!(
                parse_xfs_features(&four).unwrap(),
                ["v4", "align", "extflg", "dirv2"],
                "the second feature word is ignored"
            );
            assert_eq!(
                parse_xfs_features(&build_xfs_superblock(0xb4a5, 0x100, 1 << 20, 1 << 30))
                    .unwrap()
                    .last()
                    .unwrap(),
                "incompat_30"
            );
        }

        #[test]
        fn corrupt_xfs_v5_superblock_is_rejected() {
            for at in [8, 103, CHECKSUM, 511] {
                let mut five = build_xfs_superblock(0xb4a5, 0x18a, 0xd, 0xb);
                five[at] ^= 1;
                assert!(
                    matches!(
                        parse_xfs_features(&five),
                        Err(SuperblockError::Checksum | SuperblockError::SectorSize)
                    ),
                    "{at}"
                );
            }
            let mut wide = build_xfs_superblock(0xb4a5, 0x18a, 0xd, 0xb);
            wide[102] = 0x80;
            assert_eq!(parse_xfs_features(&wide), Err(SuperblockError::SectorSize));
        }

        proptest! {
            #[test]
            fn xfs_feature_parser_never_panics(mut bytes in prop::collection::vec(any::<u8>(), 0..600), version: u8) {
                if let Some(magic) = bytes.get_mut(..MAGIC.len()) {
                    magic.copy_from_slice(MAGIC);
                }
                if let Some(low) = bytes.get_mut(101) {
                    *low = version;
                }
                let _ = parse_xfs_features(&bytes);
            }
        }
    }
}

use std::io;
use std::path::Path;

use rustix::fs::OFlags;

use super::content_scan::AlignedBuffer;
use super::open_block_device;
use crate::host::{HostError, HostResult, SuperblockKind};
use walwise_model::facts::choice;

/// Bytes read from a device. Direct reads of this size are aligned even on disks with 4096-byte
/// blocks.
const PAGE: u64 = 4096;

/// Reads the answer to [`crate::host::Question::Superblock`]: a line with the features and one with
/// the UUID. If ext4 has clusters, a line between them has their size in bytes.
pub fn read_superblock(path: &Path, kind: SuperblockKind) -> HostResult {
    let (flags, offset, uuid_at) = match kind {
        SuperblockKind::Ext => (OFlags::empty(), OFFSET, UUID),
        SuperblockKind::Xfs => (OFlags::DIRECT, 0, xfs::UUID),
    };
    let device = open_block_device(path, flags)?;
    let parse = |block: &[u8]| {
        let (features, cluster) = match kind {
            SuperblockKind::Ext => parse_ext_features_and_cluster(block)?,
            SuperblockKind::Xfs => (xfs::parse_xfs_features(block)?, None),
        };
        Ok((features, cluster, format_uuid_at(block, uuid_at).ok()))
    };
    let read = || {
        let mut page = AlignedBuffer::default();
        page.read_aligned(&device, offset, PAGE).map(<[u8]>::to_vec)
    };
    let (features, cluster, uuid) = read_and_parse_with_checksum_retry(read, parse)?;
    let cluster = cluster.map_or_else(String::new, |size| format!("cluster {size}\n"));
    let uuid = uuid.map_or_else(String::new, |uuid| format!("uuid {uuid}\n"));
    Ok(format!("features {}\n{cluster}{uuid}", features.join(" ")).into_bytes())
}

/// Reads and parses the superblock. After a wrong checksum it is read once more, because the kernel
/// may have been writing it.
fn read_and_parse_with_checksum_retry<T>(
    read: impl Fn() -> io::Result<Vec<u8>>,
    parse: impl Fn(&[u8]) -> Result<T, SuperblockError>,
) -> Result<T, HostError> {
    let once = || -> Result<_, HostError> { Ok(parse(&read()?)) };
    let parsed = match once()? {
        Err(SuperblockError::Checksum) => once()?,
        parsed => parsed,
    };
    parsed.map_err(|why| HostError::failed(why.as_str()))
}

// The superblock of ext2, ext3 and ext4: features, by the names of e2fsprogs, and the cluster
// size.
//
// Counters and labels are ignored. The layout is that of fs/ext4/ext4.h; the names are those
// of lib/e2p/feature.c. The kernel stores the checksum without the final inversion.

const OFFSET: u64 = 1024;

const SIZE: usize = 1024;

const EXT_MAGIC: [u8; 2] = [0x53, 0xef];

/// Offset of the checksum, which covers everything before it.
const CHECKSUM: usize = 0x3fc;

const UUID: usize = 0x68;

const METADATA_CSUM: u32 = 0x400;

/// Incompatible feature of a file system that allocates space in clusters of several blocks.
const BIGALLOC: u32 = 0x200;

/// The largest cluster, as a power of two of 1024 bytes (EXT2_MAX_CLUSTER_LOG_SIZE in
/// lib/ext2fs/ext2_fs.h).
const MAX_CLUSTER_LOG: u32 = 19;

const COMPATIBLE: &str = "dir_prealloc imagic_inodes has_journal ext_attr resize_inode dir_index lazy_bg - \
    snapshot_bitmap sparse_super2 fast_commit stable_inodes orphan_file";

const INCOMPATIBLE: &str = "compression filetype needs_recovery journal_dev meta_bg - extent 64bit mmp flex_bg \
    ea_inode - dirdata metadata_csum_seed large_dir inline_data encrypt casefold";

const READ_ONLY: &str = "sparse_super large_file - huge_file uninit_bg dir_nlink extra_isize - quota bigalloc \
    metadata_csum replica read-only project shared_blocks verity orphan_present";

/// Returns the features in the order of `dumpe2fs -h`, and the cluster size in bytes. The size
/// is `None` without bigalloc, or if the first cluster does not begin at offset 0
/// (`s_log_cluster_size` and `s_first_data_block`).
fn parse_ext_features_and_cluster(
    block: &[u8],
) -> Result<(Vec<String>, Option<u64>), SuperblockError> {
    if block.len() < SIZE || byte_array_at(block, 0x38) != Ok(EXT_MAGIC) {
        return Err(SuperblockError::WrongFormat);
    }
    let number = |at| byte_array_at(block, at).map(u32::from_le_bytes);
    let (compatible, incompatible, read_only) = (number(0x5c)?, number(0x60)?, number(0x64)?);
    let summed = block.get(..CHECKSUM).ok_or(SuperblockError::WrongFormat)?;
    if read_only & METADATA_CSUM != 0 && number(CHECKSUM)? != !crc32c::crc32c_checksum([summed]) {
        return Err(SuperblockError::Checksum);
    }
    let (first_block, cluster) = (number(0x14)?, number(0x1c)?);
    let in_clusters = read_only & BIGALLOC != 0 && first_block == 0 && cluster <= MAX_CLUSTER_LOG;
    let features = feature_bit_names(compatible, COMPATIBLE, "FEATURE_C")
        .chain(feature_bit_names(incompatible, INCOMPATIBLE, "FEATURE_I"))
        .chain(feature_bit_names(read_only, READ_ONLY, "FEATURE_R"));
    Ok((features.collect(), in_clusters.then(|| 1024 << cluster)))
}

choice! {
    pub enum SuperblockError {
        /// The block has another format, or too few bytes.
        WrongFormat = "the device has no superblock of this file system",
        /// The checksum is wrong, which happens while the kernel updates the block.
        Checksum = "the checksum of the superblock does not match",
        SectorSize = "the sector size in the superblock is larger than 4096 bytes",
    }
}

/// An error if the block has too few bytes.
fn byte_array_at<const N: usize>(block: &[u8], at: usize) -> Result<[u8; N], SuperblockError> {
    let bytes = block.get(at..).and_then(<[u8]>::first_chunk);
    bytes.copied().ok_or(SuperblockError::WrongFormat)
}

fn format_uuid_at(block: &[u8], at: usize) -> Result<String, SuperblockError> {
    let digits = format!("{:032x}", u128::from_be_bytes(byte_array_at(block, at)?));
    let ranges = [0..8, 8..12, 12..16, 16..20, 20..32];
    Ok(ranges
        .map(|range| digits.get(range).unwrap_or_default().to_owned())
        .join("-"))
}

/// Lists the names of the bits that are set, from the lowest bit on. `names` has one word for each
/// bit. A bit without a name (`-`) is listed as `prefix` followed by the bit's number.
fn feature_bit_names<'a>(
    bits: u32,
    names: &'a str,
    prefix: &'a str,
) -> impl Iterator<Item = String> + 'a {
    (0..32)
        .filter(move |bit| bits >> bit & 1 == 1)
        .map(move |bit| {
            let name = names.split(' ').nth(bit).filter(|name| *name != "-");
            name.map_or_else(|| format!("{prefix}{bit}"), str::to_owned)
        })
}

#[cfg(test)]
mod ext_tests {
    use proptest::prelude::*;

    use super::*;

    fn parse_ext_features(block: &[u8]) -> Result<Vec<String>, SuperblockError> {
        parse_ext_features_and_cluster(block).map(|(features, _)| features)
    }

    fn build_ext_superblock(compatible: u32, incompatible: u32, read_only: u32) -> Vec<u8> {
        let mut block = vec![0; SIZE];
        block[0x38..0x3a].copy_from_slice(&EXT_MAGIC);
        for (at, word) in [(0x5c, compatible), (0x60, incompatible), (0x64, read_only)] {
            block[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        let sum = !crc32c::crc32c_checksum([&block[..CHECKSUM]]);
        block[CHECKSUM..].copy_from_slice(&sum.to_le_bytes());
        block
    }

    /// The expected features are those that dumpe2fs printed for a file system created by
    /// mke2fs 1.47 with its defaults.
    #[test]
    fn features_match_dumpe2fs_for_mke2fs_defaults() {
        let words = "has_journal ext_attr resize_inode dir_index orphan_file filetype extent 64bit flex_bg \
            metadata_csum_seed sparse_super large_file huge_file dir_nlink extra_isize metadata_csum";
        assert_eq!(
            parse_ext_features(&build_ext_superblock(0x103c, 0x22c2, 0x46b))
                .unwrap()
                .join(" "),
            words
        );
    }

    /// The value 4 of s_log_cluster_size is that of a file system created by `mke2fs -O
    /// bigalloc -C 16384` of mke2fs 1.47.
    #[test]
    fn cluster_size_needs_bigalloc_and_first_block_zero() {
        for (features, first_block, log, expect) in [
            (BIGALLOC, 0, 4, Some(16384)),
            (BIGALLOC, 0, 6, Some(65536)),
            (BIGALLOC, 0, MAX_CLUSTER_LOG, Some(512 << 20)),
            (BIGALLOC, 0, MAX_CLUSTER_LOG + 1, None),
            (BIGALLOC, 0, u32::MAX, None),
            (BIGALLOC, 1, 4, None),
            // Without bigalloc, the field repeats the block size.
            (0, 0, 2, None),
        ] {
            let mut block = build_ext_superblock(0, 0, features);
            block[0x14..0x18].copy_from_slice(&u32::to_le_bytes(first_block));
            block[0x1c..0x20].copy_from_slice(&log.to_le_bytes());
            assert_eq!(
                parse_ext_features_and_cluster(&block).unwrap().1,
                expect,
                "{features:x} {first_block} {log}"
            );
        }
    }

    #[test]
    fn unknown_ext_feature_bits_are_shown_by_number() {
        assert_eq!(
            parse_ext_features(&build_ext_superblock(0x80, 1 << 18, 1 << 31)).unwrap(),
            ["FEATURE_C7", "FEATURE_I18", "FEATURE_R31"]
        );
    }

    #[test]
    fn corrupt_ext_superblock_is_rejected_with_metadata_csum() {
        for at in [0, 0x5d, CHECKSUM - 1, CHECKSUM] {
            let mut with = build_ext_superblock(4, 0, METADATA_CSUM);
            with[at] ^= 1;
            assert_eq!(
                parse_ext_features(&with),
                Err(SuperblockError::Checksum),
                "{at}"
            );
        }
        let mut without = build_ext_superblock(4, 0, 0);
        without[CHECKSUM] ^= 1;
        assert_eq!(parse_ext_features(&without).unwrap(), ["has_journal"]);
    }

    proptest! {
        #[test]
        fn short_ext_superblock_is_rejected(mut bytes in prop::collection::vec(any::<u8>(), 0..SIZE), is_ext: bool) {
            if let (true, Some(magic)) = (is_ext, bytes.get_mut(0x38..0x3a)) {
                magic.copy_from_slice(&EXT_MAGIC);
            }
            prop_assert!(parse_ext_features(&bytes).is_err(), "it is too short");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::host::HostErrorKind;
    use walwise_model::facts::Choice as _;

    #[test]
    fn checksum_error_rereads_superblock_once() {
        let reads = Cell::new(0);
        let read = || {
            reads.set(reads.get() + 1);
            Ok(vec![reads.get()])
        };
        let good_from = |first: u8| {
            move |bytes: &[u8]| {
                if bytes[0] >= first {
                    Ok(vec!["x".to_owned()])
                } else {
                    Err(SuperblockError::Checksum)
                }
            }
        };
        assert_eq!(
            read_and_parse_with_checksum_retry(read, good_from(2)).unwrap(),
            ["x"]
        );
        assert_eq!(reads.replace(0), 2);
        let miss = read_and_parse_with_checksum_retry(read, good_from(3)).unwrap_err();
        assert_eq!((miss.kind, reads.replace(0)), (HostErrorKind::Failed, 2));
        assert!(miss.detail.contains("checksum"), "{miss}");
        assert!(
            read_and_parse_with_checksum_retry(read, |_| Err::<(), _>(
                SuperblockError::WrongFormat
            ))
            .is_err()
        );
        assert_eq!(reads.get(), 1, "what is something else stays so");
    }

    #[test]
    fn superblock_of_other_file_types_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for path in [file.path(), Path::new("/dev/null"), Path::new("/proc")] {
            for &kind in SuperblockKind::ALL {
                assert_eq!(
                    read_superblock(path, kind).unwrap_err(),
                    HostError::failed("not a block device")
                );
            }
        }
    }
}
