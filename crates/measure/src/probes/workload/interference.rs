//! Measures commits alone, and next to a writer that appends to another file of the same file
//! system. An ordered journal makes a commit wait until the writer's new data blocks are on the
//! disk.
//!
//! The writer starts writeback every 256 kB, as PostgreSQL's checkpointer does
//! (`checkpoint_flush_after`).

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::{Advice, OFlags};
use rustix::io::Errno;

use super::context::{LoadGenerator, OperationOutcome, WorkloadContext};
use crate::measure::{Method, RoundSamples, RowSamples};
use crate::probes::commit_writer::{
    CommitWriter, CyclicWriteCursor, PAGE_BYTES, retry_interrupted,
};
use crate::probes::{ProbeError, ProbeErrorKind, StopReason};

/// Bytes that the second writer appends between two pauses, which limit its rate to 32 MiB/s.
const CHUNK_BYTES: usize = 256 << 10;
const PAUSE: Duration = Duration::from_millis(8);

pub(super) fn create_load_generators(
    stage: &WorkloadContext<'_>,
) -> Result<Vec<Box<dyn LoadGenerator>>, StopReason> {
    stage.create_zeroed_file("wal")?;
    let failed = |errno| stage.stop_reason_from_errno(errno, "creating a scratch file");
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
            parts.push(Box::new(NeighbourCommitLoad {
                writer: CommitWriter::new(method, file),
                cursor: CyclicWriteCursor::new(
                    0,
                    stage.file_bytes / PAGE_BYTES as u64 * PAGE_BYTES as u64,
                ),
                neighbour: beside.then(|| Rc::clone(&neighbour)),
                row: {
                    let where_ = if beside { "next to a writer" } else { "alone" };
                    let row =
                        RowSamples::new(format!("{}, {where_}", method.name()), PAGE_BYTES as u64);
                    if beside {
                        row.with_ratio_to_row(2 * i)
                    } else {
                        row
                    }
                },
            }));
        }
    }
    Ok(parts)
}

struct NeighbourCommitLoad {
    row: RowSamples,
    writer: CommitWriter,
    cursor: CyclicWriteCursor,
    neighbour: Option<Rc<OwnedFd>>,
}

impl LoadGenerator for NeighbourCommitLoad {
    fn empty_rows(&self) -> Vec<RowSamples> {
        vec![self.row.clone()]
    }

    fn run_round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<RoundSamples>, StopReason> {
        let Some(neighbour) = self.neighbour.clone() else {
            return Ok(vec![self.measure_commits_alone(stage)?]);
        };
        let pass = self.measure_commits_beside_writer(stage, &neighbour);
        let gone =
            rustix::fs::ftruncate(&*neighbour, 0).and_then(|()| rustix::fs::fsync(&*neighbour));
        gone.map_err(|errno| {
            stage.stop_reason_from_errno(errno, "truncating the second writer's file")
        })?;
        Ok(vec![RoundSamples {
            flushes: None,
            ..pass?
        }])
    }
}

impl NeighbourCommitLoad {
    fn measure_commits_alone(
        &mut self,
        stage: &WorkloadContext<'_>,
    ) -> Result<RoundSamples, StopReason> {
        let (writer, cursor) = (&self.writer, &mut self.cursor);
        stage.repeat_until_share_is_used("a commit", PAGE_BYTES as u64, u64::MAX, || {
            let done = writer.write_and_flush_timed(
                stage.pages.first_bytes(PAGE_BYTES),
                cursor.next_write_offset(PAGE_BYTES),
            )?;
            Ok(OperationOutcome {
                flush_calls: 1,
                interrupted: done.interrupted,
            })
        })
    }

    fn measure_commits_beside_writer(
        &mut self,
        stage: &WorkloadContext<'_>,
        neighbour: &OwnedFd,
    ) -> Result<RoundSamples, StopReason> {
        let ended = AtomicBool::new(false);
        let mut at = 0;
        let noise = stage.pages.first_bytes(CHUNK_BYTES);
        // The first chunk is written before the first commit, so that no commit is measured without
        // a second writer.
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
            let failed =
                || ProbeError::new(ProbeErrorKind::Other, "starting a second writer failed");
            let writer = spawned.map_err(|_| failed())?;
            let pass = self.measure_commits_alone(stage);
            ended.store(true, Ordering::Relaxed);
            let written = writer.join().map_err(|_| failed())?;
            let pass = pass?;
            written.map(|()| pass)
        })
    }
}

fn append_chunk(
    stage: &WorkloadContext<'_>,
    file: &OwnedFd,
    noise: &[u8],
    at: &mut u64,
) -> Result<(), StopReason> {
    stage.reserve_bytes(noise.len() as u64)?;
    let failed = |errno| stage.stop_reason_from_errno(errno, "writing next to commits");
    match retry_interrupted(&mut false, || rustix::io::pwrite(file, noise, *at)).map_err(failed)? {
        0 => return Err(failed(Errno::NOSPC)),
        written => *at += written as u64,
    }
    // With POSIX_FADV_DONTNEED, posix_fadvise(2) starts writeback of dirty pages; a failure does no
    // harm.
    let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
    Ok(())
}
