//! A commit as a server makes it: one pwrite of all pages at the next place in the segment, then
//! the flush. Every result is checked.
//!
//! A call that a signal interrupts is repeated, and the commit does not count.

use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use std::{io, thread};

use rustix::io::{Errno, retry_on_intr};

use crate::facts::catalog::postgres::WalSyncMethod;
use crate::measure::Method;

/// PostgreSQL's default for XLOG_BLCKSZ.
pub(crate) const PAGE_BYTES: usize = 8192;

/// Memory alignment for O_DIRECT in bytes, enough for disks with sectors of 4 kB.
const ALIGNMENT: usize = 4096;

/// Bytes to write or read, aligned for O_DIRECT.
pub struct AlignedBuffer {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl AlignedBuffer {
    pub(crate) fn zeroed(length: usize) -> Self {
        let memory = vec![0; length + ALIGNMENT];
        let start = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self {
            memory,
            start,
            length,
        }
    }

    /// Random bytes are incompressible.
    pub(crate) fn random(length: usize, rng: &mut super::Rng) -> Self {
        let mut buffer = Self::zeroed(length);
        for chunk in buffer.memory.chunks_mut(8) {
            let noise = rng.next_u64().to_ne_bytes();
            let noise = noise.get(..chunk.len()).unwrap_or_default();
            chunk.copy_from_slice(noise);
        }
        buffer
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let end = self.start + self.length;
        self.memory.get_mut(self.start..end).unwrap_or_default()
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
    pub(crate) method: Method,
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

    /// True if the kernel serves O_DIRECT of this file from the page cache, as on btrfs with
    /// checksums or ext4 with data=journal. The test writes 100 bytes at `offset`: real O_DIRECT refuses such an
    /// unaligned length.
    pub(crate) fn is_direct_io_buffered_by_test_write(
        &self,
        pages: &AlignedBuffer,
        offset: u64,
    ) -> bool {
        rustix::io::pwrite(&self.file, pages.first_bytes(100), offset).is_ok()
    }

    pub(crate) fn write_unflushed(&self, pages: &[u8], offset: u64) -> Result<(), Errno> {
        pwrite_all(&self.file, pages, offset)
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
        retry_on_intr(|| rustix::fs::fdatasync(&self.file))
    }

    /// Writes the bytes `range` of a log that is stored in a file of `file_bytes` bytes, from its
    /// beginning again after its end. The last write is flushed.
    pub(crate) fn write_cyclically_and_flush(
        &self,
        pages: &AlignedBuffer,
        file_bytes: u64,
        range: Range<u64>,
    ) -> Result<CommitTiming, Errno> {
        let mut at = range.start;
        loop {
            let offset = at % file_bytes;
            let length = (range.end - at).min(file_bytes - offset);
            let bytes = pages.first_bytes(usize::try_from(length).unwrap_or(usize::MAX));
            at += bytes.len() as u64;
            if at >= range.end {
                return self.write_and_flush_timed(bytes, offset);
            }
            self.write_unflushed(bytes, offset)?;
        }
    }
}

/// After a short write, the write of the rest reports the reason, such as an exhausted quota.
pub fn pwrite_all(file: impl AsFd, mut bytes: &[u8], mut offset: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let written = retry_on_intr(|| rustix::io::pwrite(&file, bytes, offset))?;
        bytes = bytes
            .get(written..)
            .filter(|_| written > 0)
            .ok_or(Errno::NOSPC)?;
        offset += written as u64;
    }
    Ok(())
}

/// The result of `measure`, and that of a second writer, which calls `write` in another thread until
/// `measure` returns or `write` fails. The error means that the thread did not start.
pub(crate) fn run_beside_writer<T, E: Send>(
    mut write: impl FnMut() -> Result<(), E> + Send,
    measure: impl FnOnce() -> T,
) -> io::Result<(T, Result<(), E>)> {
    let ended = AtomicBool::new(false);
    let repeat = || {
        while !ended.load(Ordering::Relaxed) {
            write()?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let writer = thread::Builder::new().spawn_scoped(scope, repeat)?;
        let measured = measure();
        ended.store(true, Ordering::Relaxed);
        let written = writer
            .join()
            .map_err(|_| io::Error::other("the second writer panicked"))?;
        Ok((measured, written))
    })
}

/// Bytes written between two checks of the cancel flag.
const CHUNK_BYTES: usize = 1 << 20;

/// Writes zeros without a flush. `go_on` is called before each chunk; once it returns false, the
/// result is false.
pub(crate) fn write_zeros(
    file: &OwnedFd,
    part: Range<u64>,
    go_on: &dyn Fn() -> bool,
) -> Result<bool, Errno> {
    let zeros = vec![0; CHUNK_BYTES];
    for at in part.clone().step_by(CHUNK_BYTES) {
        if !go_on() {
            return Ok(false);
        }
        let length = usize::try_from(part.end - at).unwrap_or(CHUNK_BYTES);
        let chunk = zeros.get(..length).unwrap_or(&zeros);
        pwrite_all(file, chunk, at)?;
    }
    Ok(true)
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
    match method.wal_sync_method() {
        Some(WalSyncMethod::Fdatasync) => {
            retry_interrupted(interrupted, || rustix::fs::fdatasync(file))
        }
        Some(WalSyncMethod::Fsync | WalSyncMethod::FsyncWritethrough) => {
            retry_interrupted(interrupted, || rustix::fs::fsync(file))
        }
        Some(WalSyncMethod::OpenDatasync | WalSyncMethod::OpenSync) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::Rng;

    #[test]
    fn write_buffer_is_aligned_and_incompressible() {
        let pages = AlignedBuffer::random(4 * PAGE_BYTES, &mut Rng::new(1));
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
