//! Zeros, written to an open file or device.

use std::ops::Range;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

/// Bytes of one write.
const PIECE: usize = 1 << 20;

/// Writes them; they are durable when the caller has flushed them.
pub fn zero(file: &OwnedFd, part: Range<u64>) -> Result<(), Errno> {
    let piece = vec![0u8; PIECE];
    let mut at = part.start;
    while at < part.end {
        let length = usize::try_from(part.end - at).unwrap_or(PIECE).min(PIECE);
        match rustix::io::pwrite(file, piece.get(..length).unwrap_or_default(), at) {
            Ok(0) => return Err(Errno::NOSPC),
            Ok(count) => at += count as u64,
            Err(Errno::INTR) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
