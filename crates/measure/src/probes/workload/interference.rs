//! Commits alone, and next to a writer that appends to another file of the same file system: an
//! ordered journal writes the neighbour's new blocks before it commits. The writer starts writeback
//! every 256 kB, as PostgreSQL's checkpointer does (`checkpoint_flush_after`).

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::{Advice, OFlags};
use rustix::io::Errno;

use super::context::{LoadGenerator, OperationResult, WorkloadContext};
use crate::measure::{Method, Pass, Series};
use crate::probes::commit::{Cursor, PAGE_BYTES, Writer, retry_interrupted};
use crate::probes::control::Stop;
use crate::probes::error::{ErrorKind, ProbeError};

/// Bytes that the neighbour writes between two pauses: 32 MiB/s, far below a flood.
const CHUNK_BYTES: usize = 256 << 10;
const PAUSE: Duration = Duration::from_millis(8);

pub(super) fn prepare(stage: &WorkloadContext<'_>) -> Result<Vec<Box<dyn LoadGenerator>>, Stop> {
    stage.create_filled_file("wal")?;
    let failed = |errno| stage.stop_error(errno, "creating a scratch file");
    let neighbour = Rc::new(
        stage
            .scratch
            .create_file("neighbour", OFlags::empty())
            .map_err(failed)?,
    );
    let mut parts: Vec<Box<dyn LoadGenerator>> = Vec::new();
    for (i, method) in [Method::Fdatasync, Method::Fsync].into_iter().enumerate() {
        for beside in [false, true] {
            let file = stage
                .scratch
                .open_file("wal", OFlags::empty())
                .map_err(failed)?;
            parts.push(Box::new(Commits {
                writer: Writer::new(method, file),
                cursor: Cursor::new(0, stage.file_bytes / PAGE_BYTES as u64 * PAGE_BYTES as u64),
                neighbour: beside.then(|| Rc::clone(&neighbour)),
                row: {
                    let where_ = if beside { "beside a writer" } else { "alone" };
                    let row =
                        Series::new(format!("{}, {where_}", method.name()), PAGE_BYTES as u64);
                    if beside {
                        row.compared_with(2 * i)
                    } else {
                        row
                    }
                },
            }));
        }
    }
    Ok(parts)
}

struct Commits {
    row: Series,
    writer: Writer,
    cursor: Cursor,
    neighbour: Option<Rc<OwnedFd>>,
}

impl LoadGenerator for Commits {
    fn rows(&self) -> Vec<Series> {
        vec![self.row.clone()]
    }

    fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
        let Some(neighbour) = self.neighbour.clone() else {
            return Ok(vec![self.measure_commits(stage)?]);
        };
        let pass = self.measure_with_neighbour(stage, &neighbour);
        // What the neighbour wrote is removed before others are measured.
        let gone =
            rustix::fs::ftruncate(&*neighbour, 0).and_then(|()| rustix::fs::fsync(&*neighbour));
        gone.map_err(|errno| stage.stop_error(errno, "truncating the neighbour's file"))?;
        Ok(vec![Pass {
            flushes: None,
            ..pass?
        }])
    }
}

impl Commits {
    fn measure_commits(&mut self, stage: &WorkloadContext<'_>) -> Result<Pass, Stop> {
        let (writer, cursor) = (&self.writer, &mut self.cursor);
        stage.repeat("a commit", PAGE_BYTES as u64, u64::MAX, || {
            let done = writer.commit(stage.pages.bytes(PAGE_BYTES), cursor.advance(PAGE_BYTES))?;
            Ok(OperationResult {
                flush_calls: 1,
                interrupted: done.interrupted,
            })
        })
    }

    /// Commits while the neighbour writes.
    fn measure_with_neighbour(
        &mut self,
        stage: &WorkloadContext<'_>,
        neighbour: &OwnedFd,
    ) -> Result<Pass, Stop> {
        let ended = AtomicBool::new(false);
        let mut at = 0;
        let noise = stage.pages.bytes(CHUNK_BYTES);
        // The first chunk is written before any commit, so that no commit is alone.
        append_chunk(stage, neighbour, noise, &mut at)?;
        thread::scope(|scope| {
            let write = || {
                while !ended.load(Ordering::Relaxed) {
                    thread::sleep(PAUSE);
                    append_chunk(stage, neighbour, noise, &mut at)?;
                }
                Ok(())
            };
            let spawned = thread::Builder::new().spawn_scoped(scope, write);
            let failed = || ProbeError::new(ErrorKind::Other, "starting a second writer failed");
            let writer = spawned.map_err(|_| failed())?;
            let pass = self.measure_commits(stage);
            ended.store(true, Ordering::Relaxed);
            let written = writer.join().map_err(|_| failed())?;
            let pass = pass?;
            written.map(|()| pass)
        })
    }
}

/// Appends a chunk and starts its writeback without waiting.
fn append_chunk(
    stage: &WorkloadContext<'_>,
    file: &OwnedFd,
    noise: &[u8],
    at: &mut u64,
) -> Result<(), Stop> {
    stage.reserve_bytes(noise.len() as u64)?;
    let failed = |errno| stage.stop_error(errno, "writing next to commits");
    match retry_interrupted(&mut false, || rustix::io::pwrite(file, noise, *at)).map_err(failed)? {
        0 => return Err(failed(Errno::NOSPC)),
        written => *at += written as u64,
    }
    // posix_fadvise(2) starts writeback of pages that are no longer needed; its result is only
    // advisory.
    let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
    Ok(())
}
