use std::ops::Range;
use std::os::fd::OwnedFd;

use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::{reopen, write_zeros};
use crate::probes::AlignedBuffer;

/// Bytes of one read, or of one request for zeros.
const READ_BYTES: usize = 8 << 20;

/// Alignment of addresses and lengths for direct reads, in bytes.
const ALIGNMENT: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlankPattern {
    /// All zeros or all ones, because erased media may read as either.
    ZerosOrOnes,
    /// Zeros only, for a part that was cleared.
    Zeros,
}

impl BlankPattern {
    /// True if all bytes are zeros or, for [`Self::ZerosOrOnes`], all are ones. `piece` has at most
    /// 4 KiB.
    fn is_blank(self, piece: &[u8]) -> bool {
        static ZEROS: [u8; ALIGNMENT] = [0; ALIGNMENT];
        static ONES: [u8; ALIGNMENT] = [0xff; ALIGNMENT];
        let is = |all: &'static [u8]| all.get(..piece.len()) == Some(piece);
        match self {
            Self::ZerosOrOnes => is(&ZEROS) || is(&ONES),
            Self::Zeros => is(&ZEROS),
        }
    }
}

/// Offset of the first 4 KiB piece that is not blank, in a part aligned to 4 KiB; `None` if all is
/// blank. `tell` gets the bytes read so far; an error from `tell` ends the search.
pub fn first_nonblank_offset(
    device: &OwnedFd,
    part: Range<u64>,
    wanted: BlankPattern,
    tell: &mut dyn FnMut(u64) -> Result<(), Errno>,
) -> Result<Option<u64>, Errno> {
    let direct = reopen(device, OFlags::RDONLY | OFlags::DIRECT)?;
    let mut room = AlignedBuffer::zeroed(READ_BYTES);
    let mut at = part.start;
    while at < part.end {
        let length = usize::try_from(part.end - at)
            .unwrap_or(READ_BYTES)
            .min(READ_BYTES);
        let piece = room.bytes_mut().get_mut(..length).unwrap_or_default();
        let count = retry_on_intr(|| rustix::io::pread(&direct, &mut *piece, at))?;
        // A device that ends before `part.end` is an error, because the missing part is not blank.
        if count == 0 {
            return Err(Errno::IO);
        }
        let mut pieces = piece.get(..count).unwrap_or_default().chunks(ALIGNMENT);
        if let Some(nth) = pieces.position(|piece| !wanted.is_blank(piece)) {
            return Ok(Some(at + (nth * ALIGNMENT) as u64));
        }
        at += count as u64;
        tell(at - part.start)?;
    }
    Ok(None)
}

/// Zeroes `part` durably: with FALLOC_FL_ZERO_RANGE (fallocate(2)) if the device supports it,
/// otherwise by writing zeros. `tell` gets the bytes cleared so far.
pub fn zero_range_durably(
    device: &OwnedFd,
    part: Range<u64>,
    tell: &mut dyn FnMut(u64),
) -> Result<(), Errno> {
    let mut by_device = true;
    let mut at = part.start;
    while at < part.end {
        let end = part.end.min(at + READ_BYTES as u64);
        if by_device {
            by_device =
                rustix::fs::fallocate(device, FallocateFlags::ZERO_RANGE, at, end - at).is_ok();
        }
        if !by_device {
            write_zeros(device, at..end)?;
        }
        at = end;
        tell(at - part.start);
    }
    rustix::fs::fsync(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file is on a disk, because tmpfs may not support direct reads.
    fn file_with(bytes: &[u8]) -> OwnedFd {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, bytes, 0).unwrap();
        file.into()
    }

    fn first_nonblank_offset_in_file(
        file: &OwnedFd,
        length: u64,
        wanted: BlankPattern,
    ) -> Option<u64> {
        first_nonblank_offset(file, 0..length, wanted, &mut |_| Ok(())).unwrap()
    }

    #[test]
    fn single_used_byte_is_found() {
        let length = READ_BYTES + 8 * ALIGNMENT;
        let mut bytes = vec![0u8; length];
        bytes[2 * ALIGNMENT..3 * ALIGNMENT].fill(0xff);
        assert_eq!(
            first_nonblank_offset_in_file(
                &file_with(&bytes),
                length as u64,
                BlankPattern::ZerosOrOnes
            ),
            None
        );
        assert_eq!(
            first_nonblank_offset_in_file(&file_with(&bytes), length as u64, BlankPattern::Zeros),
            Some(2 * ALIGNMENT as u64)
        );
        for at in [
            0,
            1,
            ALIGNMENT - 1,
            2 * ALIGNMENT + 5,
            READ_BYTES - 1,
            READ_BYTES,
            length - 1,
        ] {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            let found = first_nonblank_offset_in_file(
                &file_with(&bytes),
                length as u64,
                BlankPattern::ZerosOrOnes,
            );
            assert_eq!(found, Some((at / ALIGNMENT * ALIGNMENT) as u64), "{at}");
        }
    }

    #[test]
    fn short_device_is_an_error() {
        let file = file_with(&[0; ALIGNMENT]);
        assert_eq!(
            first_nonblank_offset(
                &file,
                0..3 * ALIGNMENT as u64,
                BlankPattern::Zeros,
                &mut |_| Ok(())
            ),
            Err(Errno::IO)
        );
        let stopped =
            first_nonblank_offset(&file, 0..ALIGNMENT as u64, BlankPattern::Zeros, &mut |_| {
                Err(Errno::CANCELED)
            });
        assert_eq!(stopped, Err(Errno::CANCELED));
    }

    #[test]
    fn zeroing_changes_only_its_range() {
        let file = file_with(&[7; 4 * ALIGNMENT]);
        zero_range_durably(&file, ALIGNMENT as u64..3 * ALIGNMENT as u64, &mut |_| ()).unwrap();
        let mut left = vec![0; 4 * ALIGNMENT];
        rustix::io::pread(&file, &mut left[..], 0).unwrap();
        let expect = [
            [7; ALIGNMENT],
            [0; ALIGNMENT],
            [0; ALIGNMENT],
            [7; ALIGNMENT],
        ]
        .concat();
        assert!(left == expect);
    }
}
