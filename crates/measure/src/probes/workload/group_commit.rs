//! Group commit as in PostgreSQL (`XLogFlush` in xlog.c). A client that finds no other client
//! flushing becomes the leader. The leader makes one pwrite of all pages inserted so far and one
//! fdatasync, while other clients wait.
//!
//! `commit_delay` is 0, its default. A page that was flushed half full is written again with the
//! next records.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use rustix::io::Errno;

use super::context::{LoadGenerator, OperationOutcome, WorkloadContext};
use crate::measure::{Method, RoundSamples, RowSamples};
use crate::probes::StopReason;
use crate::probes::commit_writer::{CommitWriter, PAGE_BYTES};
use walwise_model::parallel::lock;

const CLIENT_COUNTS: [u32; 5] = [1, 2, 4, 8, 16];

/// Bytes of a small transaction's record.
pub(super) const RECORD_BYTES: u64 = 512;

pub(super) fn create_load_generators(
    stage: &WorkloadContext<'_>,
) -> Result<Vec<Box<dyn LoadGenerator>>, StopReason> {
    let writer = CommitWriter::new(Method::Fdatasync, stage.create_zeroed_file("group-wal")?);
    let wal = CyclicLog::new(writer, stage.file_bytes, PAGE_BYTES as u64);
    let log = Arc::new(GroupCommitLog::new(move |stage, from, to| {
        wal.write_and_flush(stage, from, to)
    }));
    let part = |sessions| {
        let name = if sessions == 1 {
            "1 session".to_owned()
        } else {
            format!("{sessions} sessions")
        };
        let row = RowSamples {
            threads: sessions,
            ..RowSamples::new(name, RECORD_BYTES)
        };
        let row = if sessions == 1 {
            row
        } else {
            row.with_ratio_to_row(0)
        };
        Box::new(GroupCommitLoad {
            row,
            log: Arc::clone(&log),
            max_commits: u64::MAX,
        }) as Box<dyn LoadGenerator>
    };
    Ok(CLIENT_COUNTS.into_iter().map(part).collect())
}

pub(super) struct GroupCommitLoad {
    pub(super) row: RowSamples,
    pub(super) log: Arc<GroupCommitLog>,
    pub(super) max_commits: u64,
}

impl LoadGenerator for GroupCommitLoad {
    fn empty_rows(&self) -> Vec<RowSamples> {
        vec![self.row.clone()]
    }

    fn run_round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<RoundSamples>, StopReason> {
        // The number of bytes is 0, because the leader reserves the bytes of the pages that it
        // writes.
        let pass = stage.run_operation_in_threads(
            "a group commit",
            self.row.threads,
            0,
            self.max_commits,
            &|_, _| self.log.insert_and_await_flush(stage),
        );
        Ok(vec![pass?])
    }
}

type FlushRangeFn =
    dyn Fn(&WorkloadContext<'_>, u64, u64) -> Result<OperationOutcome, StopReason> + Send + Sync;

/// A log shared by clients. Positions are byte offsets from its beginning and never decrease.
pub(super) struct GroupCommitLog {
    flush: Box<FlushRangeFn>,
    log: Mutex<LogPositions>,
    changed: Condvar,
}

#[derive(Default)]
struct LogPositions {
    inserted: u64,
    flushed: u64,
    is_flushing: bool,
}

impl GroupCommitLog {
    pub(super) fn new(
        flush: impl Fn(&WorkloadContext<'_>, u64, u64) -> Result<OperationOutcome, StopReason>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            flush: Box::new(flush),
            log: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn insert_and_await_flush(
        &self,
        stage: &WorkloadContext<'_>,
    ) -> Result<OperationOutcome, StopReason> {
        let mut log = lock(&self.log);
        log.inserted += RECORD_BYTES;
        let wanted = log.inserted;
        while log.is_flushing && log.flushed < wanted {
            log = self
                .changed
                .wait(log)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if log.flushed >= wanted {
            return Ok(OperationOutcome {
                flush_calls: 0,
                interrupted: false,
            });
        }
        log.is_flushing = true;
        let (from, to) = (log.flushed, log.inserted);
        drop(log);
        let done = (self.flush)(stage, from, to);
        let mut log = lock(&self.log);
        log.is_flushing = false;
        if done.is_ok() {
            log.flushed = to;
        }
        // If the flush failed, a waiting client becomes the leader and tries again.
        self.changed.notify_all();
        done
    }
}

pub(super) struct CyclicLog {
    writer: CommitWriter,
    bytes: u64,
    page: u64,
}

impl CyclicLog {
    pub(super) fn new(writer: CommitWriter, file_bytes: u64, page: u64) -> Self {
        Self {
            writer,
            bytes: file_bytes / page * page,
            page,
        }
    }

    pub(super) fn write_and_flush(
        &self,
        stage: &WorkloadContext<'_>,
        from: u64,
        to: u64,
    ) -> Result<OperationOutcome, StopReason> {
        let (start, end) = (from / self.page * self.page, to.next_multiple_of(self.page));
        stage.reserve_bytes(end - start)?;
        self.write_wrapped_and_flush(stage, start, end)
            .map_err(|errno| stage.stop_reason_from_errno(errno, "a group commit"))
    }

    fn write_wrapped_and_flush(
        &self,
        stage: &WorkloadContext<'_>,
        start: u64,
        end: u64,
    ) -> Result<OperationOutcome, Errno> {
        let length = |bytes: u64| usize::try_from(bytes).unwrap_or(PAGE_BYTES);
        let (at, bytes) = (start % self.bytes, end - start);
        // A group that wraps around the end of the file takes two writes, as in a server.
        let first = bytes.min(self.bytes - at);
        let done = if first < bytes {
            self.writer
                .write_unflushed(stage.pages.first_bytes(length(first)), at)?;
            self.writer
                .write_and_flush_timed(stage.pages.first_bytes(length(bytes - first)), 0)?
        } else {
            self.writer
                .write_and_flush_timed(stage.pages.first_bytes(length(bytes)), at)?
        };
        Ok(OperationOutcome {
            flush_calls: 1,
            interrupted: done.interrupted,
        })
    }
}
