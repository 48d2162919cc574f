//! Whether a part of a device is blank, read whole and past the page cache, and how it is made so
//! again.

use std::ops::Range;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use super::zeros::zero;

/// Bytes of one read, or of one request for zeros.
const AT_ONCE: usize = 8 << 20;

/// The alignment of addresses and lengths for direct reads, in bytes.
const ALIGNED: usize = 4096;

/// What is to be found in a part of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blankness {
    /// Zeros, or ones, as erased media hold them.
    ZerosOrOnes,
    /// Zeros, as somebody wrote them.
    Zeros,
}

impl Blankness {
    /// Whether a piece of at most 4 KiB is nothing else.
    fn holds(self, piece: &[u8]) -> bool {
        static ZEROS: [u8; ALIGNED] = [0; ALIGNED];
        static ONES: [u8; ALIGNED] = [0xff; ALIGNED];
        let is = |all: &'static [u8]| all.get(..piece.len()) == Some(piece);
        match self {
            Self::ZerosOrOnes => is(&ZEROS) || is(&ONES),
            Self::Zeros => is(&ZEROS),
        }
    }
}

/// Where in a part of a device the first byte is that is not blank; `None` where all is. `tell`
/// hears how much is read, and ends it with an error. The part begins and ends at multiples of 4
/// KiB.
pub fn first_byte(
    device: &OwnedFd,
    part: Range<u64>,
    wanted: Blankness,
    tell: &mut dyn FnMut(u64) -> Result<(), Errno>,
) -> Result<Option<u64>, Errno> {
    let path = format!("/proc/self/fd/{}", device.as_raw_fd());
    let direct = rustix::fs::open(
        path,
        OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let mut room = vec![0u8; AT_ONCE + ALIGNED];
    let begin = room.as_ptr().align_offset(ALIGNED);
    let room = room
        .get_mut(begin..)
        .and_then(|rest| rest.get_mut(..AT_ONCE))
        .ok_or(Errno::NOMEM)?;
    let mut at = part.start;
    while at < part.end {
        let length = usize::try_from(part.end - at)
            .unwrap_or(AT_ONCE)
            .min(AT_ONCE);
        let piece = room.get_mut(..length).unwrap_or_default();
        let count = match rustix::io::pread(&direct, &mut *piece, at) {
            // What cannot be read is not blank.
            Ok(0) => return Err(Errno::IO),
            Ok(count) => count,
            Err(Errno::INTR) => continue,
            Err(e) => return Err(e),
        };
        let mut pieces = piece.get(..count).unwrap_or_default().chunks(ALIGNED);
        if let Some(nth) = pieces.position(|piece| !wanted.holds(piece)) {
            return Ok(Some(at + (nth * ALIGNED) as u64));
        }
        at += count as u64;
        tell(at - part.start)?;
    }
    Ok(None)
}

/// Writes zeros and makes them durable: by the device itself, where it can (fallocate(2) asks for
/// zeros that need not be sent), otherwise by writing them. `tell` hears how much is written.
pub fn clear(device: &OwnedFd, part: Range<u64>, tell: &mut dyn FnMut(u64)) -> Result<(), Errno> {
    let mut by_device = true;
    let mut at = part.start;
    while at < part.end {
        let end = part.end.min(at + AT_ONCE as u64);
        if by_device {
            by_device =
                rustix::fs::fallocate(device, FallocateFlags::ZERO_RANGE, at, end - at).is_ok();
        }
        if !by_device {
            zero(device, at..end)?;
        }
        at = end;
        tell(at - part.start);
    }
    rustix::fs::fsync(device)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file on a disk: a file system in memory may know no direct reads.
    fn file(bytes: &[u8]) -> OwnedFd {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, bytes, 0).unwrap();
        file.into()
    }

    fn first(file: &OwnedFd, length: u64, wanted: Blankness) -> Option<u64> {
        first_byte(file, 0..length, wanted, &mut |_| Ok(())).unwrap()
    }

    #[test]
    fn a_single_byte_anywhere_is_found_and_pieces_may_differ() {
        let length = AT_ONCE + 8 * ALIGNED;
        let mut bytes = vec![0u8; length];
        bytes[2 * ALIGNED..3 * ALIGNED].fill(0xff);
        assert_eq!(
            first(&file(&bytes), length as u64, Blankness::ZerosOrOnes),
            None
        );
        assert_eq!(
            first(&file(&bytes), length as u64, Blankness::Zeros),
            Some(2 * ALIGNED as u64)
        );
        for at in [
            0,
            1,
            ALIGNED - 1,
            2 * ALIGNED + 5,
            AT_ONCE - 1,
            AT_ONCE,
            length - 1,
        ] {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            let found = first(&file(&bytes), length as u64, Blankness::ZerosOrOnes);
            assert_eq!(found, Some((at / ALIGNED * ALIGNED) as u64), "{at}");
        }
    }

    #[test]
    fn what_ends_early_is_not_blank() {
        let file = file(&[0; ALIGNED]);
        assert_eq!(
            first_byte(&file, 0..3 * ALIGNED as u64, Blankness::Zeros, &mut |_| Ok(
                ()
            )),
            Err(Errno::IO)
        );
        let stopped = first_byte(&file, 0..ALIGNED as u64, Blankness::Zeros, &mut |_| {
            Err(Errno::CANCELED)
        });
        assert_eq!(stopped, Err(Errno::CANCELED));
    }

    #[test]
    fn what_is_cleared_is_blank_and_nothing_beside_it_is_touched() {
        let file = file(&[7; 4 * ALIGNED]);
        clear(&file, ALIGNED as u64..3 * ALIGNED as u64, &mut |_| ()).unwrap();
        let mut left = vec![0; 4 * ALIGNED];
        rustix::io::pread(&file, &mut left[..], 0).unwrap();
        let expect = [[7; ALIGNED], [0; ALIGNED], [0; ALIGNED], [7; ALIGNED]].concat();
        assert!(left == expect);
    }
}
