//! One commit as a server makes it: all its pages in one pwrite at the next place of the segment,
//! then the flush.
//!
//! Every result is checked. A call that a signal interrupted is repeated, and that commit does not
//! count.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::io::Errno;

use crate::measure::{Method, SyncCall};

/// Size of a WAL page (XLOG_BLCKSZ), in bytes.
pub const PAGE: usize = 8192;

/// The alignment in memory that O_DIRECT needs, in bytes; no device needs more than a page of it.
const ALIGNMENT: usize = 4096;

/// Bytes to write: incompressible and aligned.
pub struct Pages {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl Pages {
    /// A buffer of `length` random bytes.
    pub fn noise(length: usize, rng: &mut super::schedule::Rng) -> Self {
        let mut memory = vec![0; length + ALIGNMENT];
        for chunk in memory.chunks_mut(8) {
            let noise = rng.next_u64().to_ne_bytes();
            chunk
                .iter_mut()
                .zip(noise)
                .for_each(|(to, from)| *to = from);
        }
        let start = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self {
            memory,
            start,
            length,
        }
    }

    /// Its first `length` bytes, aligned.
    pub fn bytes(&self, length: usize) -> &[u8] {
        self.memory
            .get(self.start..self.start + length.min(self.length))
            .unwrap_or_default()
    }
}

/// The place of the next commit: it cycles through a part of the file.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    start: u64,
    end: u64,
    at: u64,
}

impl Cursor {
    /// A cursor in a part of the file, in bytes; both ends are multiples of [`PAGE`].
    pub fn new(start: u64, end: u64) -> Self {
        Self {
            start,
            end,
            at: start,
        }
    }

    /// The offset for so many bytes; advances past them.
    pub fn take(&mut self, bytes: usize) -> u64 {
        let bytes = bytes as u64;
        if self.at + bytes > self.end {
            self.at = self.start;
        }
        let here = self.at;
        self.at += bytes;
        here
    }
}

/// A method with the file opened for it.
pub struct Writer {
    method: Method,
    file: OwnedFd,
}

/// The result of a commit.
pub struct CommitTiming {
    /// Its duration in microseconds.
    pub micros: f64,
    /// Whether a signal interrupted it, so that its duration is meaningless.
    pub interrupted: bool,
}

impl Writer {
    /// A writer for a file that was opened as the method wants.
    pub fn new(method: Method, file: OwnedFd) -> Self {
        Self { method, file }
    }

    /// Whether O_DIRECT goes through the page cache here, as on btrfs with checksums or ext4 with
    /// data=journal: only then does a write of an odd length succeed.
    pub fn is_buffered(&self, pages: &Pages, offset: u64) -> bool {
        self.method.is_direct() && rustix::io::pwrite(&self.file, pages.bytes(100), offset).is_ok()
    }

    /// Writes without a flush.
    pub fn write(&self, pages: &[u8], offset: u64) -> Result<(), Errno> {
        match again(&mut false, || rustix::io::pwrite(&self.file, pages, offset))? {
            written if written == pages.len() => Ok(()),
            // The kernel stops in the middle of a write only when there is no space for the rest.
            _ => Err(Errno::NOSPC),
        }
    }

    pub fn commit(&self, pages: &[u8], offset: u64) -> Result<CommitTiming, Errno> {
        let mut interrupted = false;
        let begun = Instant::now();
        let written = again(&mut interrupted, || {
            rustix::io::pwrite(&self.file, pages, offset)
        })?;
        flush(self.method, &self.file, &mut interrupted)?;
        let micros = begun.elapsed().as_nanos() as f64 / 1e3;
        if written != pages.len() {
            // The kernel stops in the middle of a write only when there is no space for the rest.
            return Err(Errno::NOSPC);
        }
        Ok(CommitTiming {
            micros,
            interrupted,
        })
    }

    /// Flushes the data that unflushed commits left in the page cache, so that the next method does
    /// not pay for them.
    pub fn settle(&self) -> Result<(), Errno> {
        again(&mut false, || rustix::fs::fdatasync(&self.file))
    }
}

impl AsFd for Writer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Repeats a call until no signal interrupts it.
pub fn again<T>(
    interrupted: &mut bool,
    mut call: impl FnMut() -> Result<T, Errno>,
) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => *interrupted = true,
            answer => return answer,
        }
    }
}

/// The call after the write.
pub fn flush(method: Method, file: &OwnedFd, interrupted: &mut bool) -> Result<(), Errno> {
    match method.sync_call() {
        SyncCall::Not => Ok(()),
        SyncCall::Data => again(interrupted, || rustix::fs::fdatasync(file)),
        SyncCall::All => again(interrupted, || rustix::fs::fsync(file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::schedule::Rng;

    #[test]
    fn pages_are_aligned_and_full() {
        let pages = Pages::noise(4 * PAGE, &mut Rng::new(1));
        assert_eq!(pages.bytes(2 * PAGE).len(), 2 * PAGE);
        assert_eq!(pages.bytes(usize::MAX - PAGE).len(), 4 * PAGE);
        assert_eq!(pages.bytes(PAGE).as_ptr().align_offset(ALIGNMENT), 0);
        let kinds: std::collections::BTreeSet<&[u8]> = pages.bytes(4 * PAGE).chunks(4).collect();
        assert!(kinds.len() > PAGE - 16, "noise does not compress");
    }

    #[test]
    fn a_cursor_never_leaves_its_part() {
        let mut cursor = Cursor::new(5 * PAGE as u64, 10 * PAGE as u64);
        let places: Vec<u64> = (0..4)
            .map(|_| cursor.take(2 * PAGE) / PAGE as u64)
            .collect();
        assert_eq!(places, [5, 7, 5, 7]);
    }

    #[test]
    fn interrupted_calls_are_made_again() {
        let mut answers = vec![Ok(7), Err(Errno::INTR), Err(Errno::INTR)];
        let mut interrupted = false;
        assert_eq!(again(&mut interrupted, || answers.pop().unwrap()), Ok(7));
        assert!(interrupted);
        assert_eq!(
            again(&mut interrupted, || Err::<(), _>(Errno::IO)),
            Err(Errno::IO)
        );
    }
}
