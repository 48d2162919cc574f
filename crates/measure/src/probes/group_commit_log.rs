//! Group commit as in PostgreSQL (`XLogFlush` in xlog.c). A client that finds no other client
//! flushing becomes the leader. The leader flushes everything inserted so far, while other clients
//! wait.
//!
//! `commit_delay` is 0, its default.

use std::ops::Range;
use std::sync::{Condvar, Mutex, PoisonError};

use walwise_model::parallel::lock;

/// The end of a log that clients share.
#[derive(Default)]
pub struct GroupCommitLog {
    positions: Mutex<LogPositions>,
    changed: Condvar,
}

/// Byte offsets from the beginning of the log, which never decrease.
#[derive(Default)]
struct LogPositions {
    inserted: u64,
    flushed: u64,
    is_flushing: bool,
}

impl GroupCommitLog {
    /// Inserts a record of `bytes` bytes. The leader calls `flush` with the part of the log to
    /// flush; `None` if another client flushed the record.
    pub fn insert_and_await_flush<T, E>(
        &self,
        bytes: u64,
        flush: impl FnOnce(Range<u64>) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let mut log = lock(&self.positions);
        log.inserted += bytes;
        let wanted = log.inserted;
        while log.is_flushing && log.flushed < wanted {
            log = self
                .changed
                .wait(log)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if log.flushed >= wanted {
            return Ok(None);
        }
        log.is_flushing = true;
        let part = log.flushed..log.inserted;
        let end = part.end;
        drop(log);
        let done = flush(part);
        let mut log = lock(&self.positions);
        log.is_flushing = false;
        if done.is_ok() {
            log.flushed = end;
        }
        // If the flush failed, a waiting client becomes the leader and tries again.
        self.changed.notify_all();
        done.map(Some)
    }
}
