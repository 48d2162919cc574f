//! A commit as a server makes it: one pwrite of all pages at the next place in the segment, then
//! the flush. Every result is checked.
//!
//! A call that a signal interrupts is repeated, and the commit does not count.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::io::Errno;

use crate::measure::{Method, SyncCall};

/// PostgreSQL's default for XLOG_BLCKSZ.
pub(crate) const PAGE_BYTES: usize = 8192;

/// Memory alignment for O_DIRECT in bytes, enough for disks with sectors of 4 kB.
const ALIGNMENT: usize = 4096;

/// Random bytes to write: incompressible, and aligned for O_DIRECT.
pub struct AlignedRandomBuffer {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedRandomBuffer {
    pub(crate) fn random(length: usize, rng: &mut super::Rng) -> Self {
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

    pub(crate) fn first_bytes(&self, length: usize) -> &[u8] {
        self.memory
            .get(self.start..self.start + length.min(self.length))
            .unwrap_or_default()
    }
}

/// Offset of the next commit in one part of a file. At the end of the part, the offset returns to
/// the beginning.
#[derive(Clone, Copy, Debug)]
pub struct CyclicWriteCursor {
    start: u64,
    end: u64,
    offset: u64,
}

impl CyclicWriteCursor {
    /// `start` and `end` are offsets in bytes, and multiples of the page size.
    pub fn new(start: u64, end: u64) -> Self {
        Self {
            start,
            end,
            offset: start,
        }
    }

    pub fn next_write_offset(&mut self, bytes: usize) -> u64 {
        let bytes = bytes as u64;
        if self.offset + bytes > self.end {
            self.offset = self.start;
        }
        let here = self.offset;
        self.offset += bytes;
        here
    }
}

pub struct CommitWriter {
    method: Method,
    file: OwnedFd,
}

pub struct CommitTiming {
    pub micros: f64,
    /// True if a signal interrupted the commit, which makes the duration meaningless.
    pub interrupted: bool,
}

impl CommitWriter {
    /// The file must have been opened with the method's flags.
    pub fn new(method: Method, file: OwnedFd) -> Self {
        Self { method, file }
    }

    /// True if the kernel serves O_DIRECT from the page cache, as on btrfs with checksums or ext4
    /// with data=journal. The test writes 100 bytes at `offset`: real O_DIRECT refuses such an
    /// unaligned length.
    pub(crate) fn is_direct_io_buffered_by_test_write(
        &self,
        pages: &AlignedRandomBuffer,
        offset: u64,
    ) -> bool {
        self.method.is_direct()
            && rustix::io::pwrite(&self.file, pages.first_bytes(100), offset).is_ok()
    }

    pub(crate) fn write_unflushed(&self, pages: &[u8], offset: u64) -> Result<(), Errno> {
        match retry_interrupted(&mut false, || rustix::io::pwrite(&self.file, pages, offset))? {
            written if written == pages.len() => Ok(()),
            // A short write means no space for the rest.
            _ => Err(Errno::NOSPC),
        }
    }

    pub(crate) fn write_and_flush_timed(
        &self,
        pages: &[u8],
        offset: u64,
    ) -> Result<CommitTiming, Errno> {
        let mut interrupted = false;
        let begun = Instant::now();
        let written = retry_interrupted(&mut interrupted, || {
            rustix::io::pwrite(&self.file, pages, offset)
        })?;
        flush_file(self.method, &self.file, &mut interrupted)?;
        let micros = begun.elapsed().as_nanos() as f64 / 1e3;
        if written != pages.len() {
            // A short write means no space for the rest.
            return Err(Errno::NOSPC);
        }
        Ok(CommitTiming {
            micros,
            interrupted,
        })
    }

    /// Flushes the pages that unflushed commits left in the page cache, so that the next method
    /// does not pay for them.
    pub(crate) fn flush_cached_pages(&self) -> Result<(), Errno> {
        retry_interrupted(&mut false, || rustix::fs::fdatasync(&self.file))
    }
}

impl AsFd for CommitWriter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

pub fn retry_interrupted<T>(
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

pub fn flush_file(method: Method, file: &OwnedFd, interrupted: &mut bool) -> Result<(), Errno> {
    match method.sync_call() {
        SyncCall::NoCall => Ok(()),
        SyncCall::Fdatasync => retry_interrupted(interrupted, || rustix::fs::fdatasync(file)),
        SyncCall::Fsync => retry_interrupted(interrupted, || rustix::fs::fsync(file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::Rng;

    #[test]
    fn write_buffer_is_aligned_and_incompressible() {
        let pages = AlignedRandomBuffer::random(4 * PAGE_BYTES, &mut Rng::new(1));
        assert_eq!(pages.first_bytes(2 * PAGE_BYTES).len(), 2 * PAGE_BYTES);
        assert_eq!(
            pages.first_bytes(usize::MAX - PAGE_BYTES).len(),
            4 * PAGE_BYTES
        );
        assert_eq!(
            pages
                .first_bytes(PAGE_BYTES)
                .as_ptr()
                .align_offset(ALIGNMENT),
            0
        );
        let kinds: std::collections::BTreeSet<&[u8]> =
            pages.first_bytes(4 * PAGE_BYTES).chunks(4).collect();
        assert!(kinds.len() > PAGE_BYTES - 16, "noise does not compress");
    }

    #[test]
    fn write_cursor_wraps_within_its_part() {
        let mut cursor = CyclicWriteCursor::new(5 * PAGE_BYTES as u64, 10 * PAGE_BYTES as u64);
        let places: Vec<u64> = (0..4)
            .map(|_| cursor.next_write_offset(2 * PAGE_BYTES) / PAGE_BYTES as u64)
            .collect();
        assert_eq!(places, [5, 7, 5, 7]);
    }

    #[test]
    fn interrupted_calls_are_retried() {
        let mut answers = vec![Ok(7), Err(Errno::INTR), Err(Errno::INTR)];
        let mut interrupted = false;
        assert_eq!(
            retry_interrupted(&mut interrupted, || answers.pop().unwrap()),
            Ok(7)
        );
        assert!(interrupted);
        assert_eq!(
            retry_interrupted(&mut interrupted, || Err::<(), _>(Errno::IO)),
            Err(Errno::IO)
        );
    }
}
