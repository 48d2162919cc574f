//! CRC-32C (Castagnoli), the checksum of ext4's and XFS' metadata: bit-reflected, as in RFC 3720.
//!
//! It works bit by bit, without a table, because the input is only a superblock.

/// The reflected polynomial.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// The checksum of these pieces, one behind the other.
pub fn of<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let shift = |sum: u32| (sum >> 1) ^ if sum & 1 == 1 { POLYNOMIAL } else { 0 };
    let bytes = pieces.into_iter().flatten();
    !bytes.fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), |sum, _| shift(sum)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3720, B.4, and the check value that catalogues of checksums give.
    #[test]
    fn vectors_of_the_standard() {
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
            assert_eq!(of([bytes]), sum, "{bytes:?}");
            let (one, other) = bytes.split_at(bytes.len() / 2);
            assert_eq!(of([one, other]), sum, "{bytes:?}");
        }
    }
}
