//! The superblock of XFS: version and features, by the names that `xfs_db -c version` prints, in lower case.
//!
//! Its counters, labels and identities are ignored. The layout is that of fs/xfs/libxfs/xfs_format.h, big-endian except
//! for the checksum. Version 5 keeps the bits of version 4 and adds words of its own; both have `ftype`.

use super::block::{Unreadable, bytes, named};
use super::crc32c;

const MAGIC: &[u8] = b"XFSB";

/// Offset of the checksum, which covers the whole sector with this field zero.
const CHECKSUM: usize = 224;

/// Bits of the version's number that are features; the lowest four are the version.
const VERSION: &[(u32, &str)] = &[
    (0x10, "attr"),
    (0x20, "nlink"),
    (0x40, "quota"),
    (0x80, "align"),
    (0x100, "dalign"),
    (0x200, "shared"),
    (0x400, "logv2"),
    (0x800, "sector"),
    (0x1000, "extflg"),
    (0x2000, "dirv2"),
    (0x4000, "ascii_ci"),
    (0x8000, "morebits"),
];

/// The bit that enables the second word.
const MORE: u32 = 0x8000;

const SECOND: &[(u32, &str)] = &[
    (0x2, "lazysbcount"),
    (0x8, "attr2"),
    (0x10, "parent"),
    (0x80, "projid32bit"),
    (0x100, "crc"),
    (0x200, "ftype"),
];

const READ_ONLY: &[(u32, &str)] = &[(0x1, "finobt"), (0x2, "rmapbt"), (0x4, "reflink"), (0x8, "inobtcnt")];

const INCOMPATIBLE: &[(u32, &str)] = &[
    (0x1, "ftype"),
    (0x2, "sparse_inodes"),
    (0x4, "meta_uuid"),
    (0x8, "bigtime"),
    (0x10, "needsrepair"),
    (0x20, "nrext64"),
    (0x40, "exchange"),
    (0x80, "parent"),
    (0x100, "metadir"),
    (0x200, "zoned"),
    (0x400, "gaps"),
];

/// `v5` or `v4`, and what it has.
pub fn features(block: &[u8]) -> Result<Vec<String>, Unreadable> {
    if !block.starts_with(MAGIC) {
        return Err(Unreadable::Foreign);
    }
    let short = |at| bytes(block, at).map(u16::from_be_bytes).map(u32::from).ok_or(Unreadable::Foreign);
    let number = |at| bytes(block, at).map(u32::from_be_bytes).ok_or(Unreadable::Foreign);
    let (number_of_version, second) = (short(100)?, number(200)?);
    let (version, bits) = (number_of_version & 0xf, number_of_version & !0xf);
    let mut words = vec![format!("v{version}")];
    words.extend(named(bits, VERSION, "version_"));
    if bits & MORE != 0 {
        words.extend(named(second, SECOND, "features2_"));
    }
    if version == 5 {
        let sector = usize::try_from(short(102)?).unwrap_or_default();
        let sector = block.get(..sector).ok_or(Unreadable::Sectors)?;
        let (Some(before), Some(behind)) = (sector.get(..CHECKSUM), sector.get(CHECKSUM + 4..)) else {
            return Err(Unreadable::Foreign);
        };
        let said = bytes(sector, CHECKSUM).map(u32::from_le_bytes);
        if said != Some(crc32c::of([before, &[0; 4], behind])) {
            return Err(Unreadable::Checksum);
        }
        let own = named(number(212)?, READ_ONLY, "ro_compat_").chain(named(
            number(216)?,
            INCOMPATIBLE,
            "incompat_",
        ));
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

    fn block(version: u16, second: u32, read_only: u32, incompatible: u32) -> Vec<u8> {
        let mut block = vec![0; 512];
        block[..4].copy_from_slice(MAGIC);
        block[100..102].copy_from_slice(&version.to_be_bytes());
        block[102..104].copy_from_slice(&512_u16.to_be_bytes());
        for (at, word) in [(200, second), (212, read_only), (216, incompatible)] {
            block[at..at + 4].copy_from_slice(&word.to_be_bytes());
        }
        let sum = crc32c::of([block.as_slice()]);
        block[CHECKSUM..CHECKSUM + 4].copy_from_slice(&sum.to_le_bytes());
        block
    }

    fn set(words: &str) -> BTreeSet<String> {
        words.to_lowercase().split(',').map(str::to_owned).collect()
    }

    /// File systems by mkfs.xfs 6.1, by default and with crc=0, and their description by xfs_db.
    #[test]
    fn file_systems_of_both_versions() {
        let found = |block: &[u8]| features(block).unwrap().into_iter().collect::<BTreeSet<String>>();
        let five = "V5,NLINK,DIRV2,ALIGN,LOGV2,EXTFLG,MOREBITS,ATTR2,LAZYSBCOUNT,PROJID32BIT,CRC,FTYPE,FINOBT,\
            SPARSE_INODES,REFLINK,INOBTCNT,BIGTIME";
        assert_eq!(found(&block(0xb4a5, 0x18a, 0xd, 0xb)), set(five));
        let four = "V4,NLINK,DIRV2,ALIGN,LOGV2,EXTFLG,MOREBITS,ATTR2,LAZYSBCOUNT,PROJID32BIT,FTYPE";
        assert_eq!(found(&block(0xb4a4, 0x28a, 0, 0)), set(four));
    }

    #[test]
    fn version_4_has_neither_a_checksum_nor_the_words_of_version_5() {
        let mut four = block(0x3084, 0x100, 1, 8);
        four[CHECKSUM] ^= 1;
        assert_eq!(
            features(&four).unwrap(),
            ["v4", "align", "extflg", "dirv2"],
            "the second word does not count"
        );
        assert_eq!(features(&block(0xb4a5, 0x100, 1 << 20, 1 << 30)).unwrap().last().unwrap(), "incompat_30");
    }

    #[test]
    fn a_changed_byte_of_version_5_is_noticed() {
        for at in [8, 103, CHECKSUM, 511] {
            let mut five = block(0xb4a5, 0x18a, 0xd, 0xb);
            five[at] ^= 1;
            assert!(matches!(features(&five), Err(Unreadable::Checksum | Unreadable::Sectors)), "{at}");
        }
        let mut wide = block(0xb4a5, 0x18a, 0xd, 0xb);
        wide[102] = 0x80;
        assert_eq!(features(&wide), Err(Unreadable::Sectors));
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..600), version: u8) {
            if let Some(magic) = bytes.get_mut(..MAGIC.len()) {
                magic.copy_from_slice(MAGIC);
            }
            if let Some(low) = bytes.get_mut(101) {
                *low = version;
            }
            let _ = features(&bytes);
        }
    }
}
