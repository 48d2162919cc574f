//! The cost of a neighbour: commits alone, and commits beside a writer that appends to another file
//! of the same file system. The writer starts writeback every 256 kB, as PostgreSQL's checkpointer
//! does (`checkpoint_flush_after`).
//!
//! A journal with ordered data writes the neighbour's new blocks before it commits, and the disk
//! has its own queue. The writer is gentle: at most 32 MiB a second, and nothing once its part of a
//! round is over.

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::{Advice, OFlags};
use rustix::io::Errno;

use super::stage::{LoadGenerator, OperationResult, WorkloadContext};
use crate::measure::{Method, Pass, Series};
use crate::probes::commit::{Cursor, PAGE, Writer, again};
use crate::probes::control::Stop;
use crate::probes::error::{ErrorKind, ProbeError};

/// The bytes that the neighbour writes between two pauses: 32 MiB a second.
const CHUNK: usize = 256 << 10;
const PAUSE: Duration = Duration::from_millis(8);

pub(super) fn prepare(stage: &WorkloadContext<'_>) -> Result<Vec<Box<dyn LoadGenerator>>, Stop> {
    stage.filled("wal")?;
    let failed = |errno| stage.failed(errno, "making a scratch file");
    let neighbour = Rc::new(
        stage
            .scratch
            .make("neighbour", OFlags::empty())
            .map_err(failed)?,
    );
    let mut parts: Vec<Box<dyn LoadGenerator>> = Vec::new();
    for (i, method) in [Method::Fdatasync, Method::Fsync].into_iter().enumerate() {
        for beside in [false, true] {
            let file = stage.scratch.open("wal", OFlags::empty()).map_err(failed)?;
            parts.push(Box::new(Commits {
                writer: Writer::new(method, file),
                cursor: Cursor::new(0, stage.file_bytes / PAGE as u64 * PAGE as u64),
                neighbour: beside.then(|| Rc::clone(&neighbour)),
                row: {
                    let where_ = if beside { "beside a writer" } else { "alone" };
                    let row = Series::new(format!("{}, {where_}", method.name()), PAGE as u64);
                    if beside { row.against(2 * i) } else { row }
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
            return Ok(vec![self.commits(stage)?]);
        };
        let pass = self.beside(stage, &neighbour);
        // The neighbour's remains are removed before others are measured.
        let gone =
            rustix::fs::ftruncate(&*neighbour, 0).and_then(|()| rustix::fs::fsync(&*neighbour));
        gone.map_err(|errno| stage.failed(errno, "cutting the neighbour's file"))?;
        Ok(vec![Pass {
            flushes: None,
            ..pass?
        }])
    }
}

impl Commits {
    fn commits(&mut self, stage: &WorkloadContext<'_>) -> Result<Pass, Stop> {
        let (writer, cursor) = (&self.writer, &mut self.cursor);
        stage.repeat("a commit", PAGE as u64, u64::MAX, || {
            let done = writer.commit(stage.pages.bytes(PAGE), cursor.take(PAGE))?;
            Ok(OperationResult {
                flush_calls: 1,
                interrupted: done.interrupted,
            })
        })
    }

    /// Commits while the neighbour writes.
    fn beside(&mut self, stage: &WorkloadContext<'_>, neighbour: &OwnedFd) -> Result<Pass, Stop> {
        let ended = AtomicBool::new(false);
        let mut at = 0;
        let noise = stage.pages.bytes(CHUNK);
        // The first chunk before any commit, so that no commit is alone.
        append(stage, neighbour, noise, &mut at)?;
        thread::scope(|scope| {
            let write = || {
                while !ended.load(Ordering::Relaxed) {
                    thread::sleep(PAUSE);
                    append(stage, neighbour, noise, &mut at)?;
                }
                Ok(())
            };
            let spawned = thread::Builder::new().spawn_scoped(scope, write);
            let failed = || ProbeError::new(ErrorKind::Other, "starting a second writer failed");
            let writer = spawned.map_err(|_| failed())?;
            let pass = self.commits(stage);
            ended.store(true, Ordering::Relaxed);
            let written = writer.join().map_err(|_| failed())?;
            let pass = pass?;
            written.map(|()| pass)
        })
    }
}

/// Appends a chunk and starts its writeback without waiting.
fn append(
    stage: &WorkloadContext<'_>,
    file: &OwnedFd,
    noise: &[u8],
    at: &mut u64,
) -> Result<(), Stop> {
    stage.spend(noise.len() as u64)?;
    let failed = |errno| stage.failed(errno, "writing beside commits");
    match again(&mut false, || rustix::io::pwrite(file, noise, *at)).map_err(failed)? {
        0 => return Err(failed(Errno::NOSPC)),
        written => *at += written as u64,
    }
    // posix_fadvise(2): starts writeback of pages that are no longer wanted; its result is only
    // advisory.
    let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
    Ok(())
}
