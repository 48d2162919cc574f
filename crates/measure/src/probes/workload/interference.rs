//! Measures commits alone, and next to a writer that appends to another file of the same file
//! system. An ordered journal makes a commit wait until the writer's new data blocks are on the
//! disk.
//!
//! The writer starts writeback every 256 kB, as PostgreSQL's checkpointer does
//! (`checkpoint_flush_after`).

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use rustix::fs::Advice;

use super::context::{Load, OperationOutcome, WorkloadContext};
use crate::measure::{Method, RoundSamples, RowSamples};
use crate::probes::commit_writer::{
    CommitWriter, CyclicWriteCursor, PAGE_BYTES, pwrite_all, run_beside_writer,
};
use crate::probes::{ProbeError, StopReason};

/// Bytes that the second writer appends between two pauses, which limit its rate to 32 MiB/s.
const CHUNK_BYTES: usize = 256 << 10;
const PAUSE: Duration = Duration::from_millis(8);

pub(super) fn interference_loads(stage: &WorkloadContext<'_>) -> Result<Vec<Load>, StopReason> {
    stage.create_zeroed_file("wal")?;
    let neighbour = Rc::new(stage.create_file("neighbour")?);
    let mut loads = Vec::new();
    for method in [Method::Fdatasync, Method::Fsync] {
        for neighbour in [None, Some(Rc::clone(&neighbour))] {
            let writer = stage.open_writer("wal", method, false)?;
            let page = PAGE_BYTES as u64;
            let mut cursor = CyclicWriteCursor::new(0, stage.file_bytes / page * page);
            let (place, against) = match neighbour {
                None => ("alone", None),
                Some(_) => ("next to a writer", Some(loads.len() - 1)),
            };
            let row = RowSamples {
                against,
                ..RowSamples::new(format!("{}, {place}", method.name()), page)
            };
            loads.push(Load::new(row, move |stage| {
                let mut measure = || measure_commits(stage, &writer, &mut cursor);
                match &neighbour {
                    None => measure(),
                    Some(neighbour) => measure_beside_writer(stage, neighbour, measure),
                }
            }));
        }
    }
    Ok(loads)
}

fn measure_commits(
    stage: &WorkloadContext<'_>,
    writer: &CommitWriter,
    cursor: &mut CyclicWriteCursor,
) -> Result<RoundSamples, StopReason> {
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

fn measure_beside_writer(
    stage: &WorkloadContext<'_>,
    neighbour: &OwnedFd,
    measure: impl FnOnce() -> Result<RoundSamples, StopReason>,
) -> Result<RoundSamples, StopReason> {
    let (noise, mut at) = (stage.pages.first_bytes(CHUNK_BYTES), 0);
    let mut append = || -> Result<(), StopReason> {
        stage.reserve_bytes(noise.len() as u64)?;
        pwrite_all(neighbour, noise, at)
            .map_err(stage.failure("writing the second writer's file"))?;
        at += noise.len() as u64;
        // With POSIX_FADV_DONTNEED, posix_fadvise(2) starts writeback of dirty pages; a failure does
        // no harm.
        let _ = rustix::fs::fadvise(neighbour, 0, None, Advice::DontNeed);
        Ok(())
    };
    // The first chunk is written before the first commit, so that no commit is measured without
    // a second writer.
    let both = append().and_then(|()| {
        let append_after_pause = || {
            thread::sleep(PAUSE);
            append()
        };
        run_beside_writer(append_after_pause, measure)
            .map_err(|_| ProbeError::new("starting a second writer failed").into())
    });
    rustix::fs::ftruncate(neighbour, 0)
        .and_then(|()| rustix::fs::fsync(neighbour))
        .map_err(stage.failure("truncating the second writer's file"))?;
    let (pass, written) = both?;
    let pass = pass?;
    written?;
    Ok(RoundSamples {
        flushes: None,
        ..pass
    })
}
