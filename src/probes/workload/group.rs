//! Group commit: sessions that share flushes as PostgreSQL's do (`XLogFlush` in xlog.c). A session that finds nobody
//! flushing leads: one pwrite of all pages with records inserted so far, one fdatasync. Sessions that arrive meanwhile
//! wait, and then either find themselves flushed or one of them leads.
//!
//! `commit_delay` has its default, zero: a leader waits for nobody. A page that was flushed half full is written again
//! with the next records, as in the server.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use rustix::io::Errno;

use super::stage::{LoadGenerator, OperationResult, WorkloadContext};
use crate::measure::{Method, Pass, Series};
use crate::probes::commit::{PAGE, Writer};
use crate::probes::control::Stop;

/// Numbers of concurrent sessions.
const SESSIONS: [u32; 5] = [1, 2, 4, 8, 16];

/// The size of a small transaction's WAL record, in bytes.
const RECORD: u64 = 512;

pub(super) fn prepare(stage: &WorkloadContext<'_>) -> Result<Vec<Box<dyn LoadGenerator>>, Stop> {
    let wal = Wal {
        writer: Writer::new(Method::Fdatasync, stage.filled("group-wal")?),
        bytes: stage.file_bytes / PAGE as u64 * PAGE as u64,
        log: Mutex::default(),
        changed: Condvar::new(),
    };
    let wal = Arc::new(wal);
    let part = |sessions| Box::new(GroupCommit { sessions, wal: Arc::clone(&wal) }) as Box<dyn LoadGenerator>;
    Ok(SESSIONS.into_iter().map(part).collect())
}

struct GroupCommit {
    sessions: u32,
    wal: Arc<Wal>,
}

impl LoadGenerator for GroupCommit {
    fn rows(&self) -> Vec<Series> {
        let name =
            if self.sessions == 1 { "1 session".to_owned() } else { format!("{} sessions", self.sessions) };
        let row = Series { threads: self.sessions, ..Series::new(name, RECORD) };
        vec![if self.sessions == 1 { row } else { row.against(0) }]
    }

    fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
        // The leader counts the bytes, since it writes whole pages.
        let pass =
            stage.together("a group commit", self.sessions, 0, u64::MAX, &|_, _| self.wal.commit(stage));
        Ok(vec![pass?])
    }
}

/// The WAL that sessions share. Positions count bytes from its beginning and never decrease.
struct Wal {
    writer: Writer,
    bytes: u64,
    log: Mutex<LogPosition>,
    changed: Condvar,
}

#[derive(Default)]
struct LogPosition {
    inserted: u64,
    flushed: u64,
    /// Whether a session leads.
    busy: bool,
}

impl Wal {
    /// Inserts a record and returns when it is flushed.
    fn commit(&self, stage: &WorkloadContext<'_>) -> Result<OperationResult, Stop> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.inserted += RECORD;
        let wanted = log.inserted;
        while log.busy && log.flushed < wanted {
            log = self.changed.wait(log).unwrap_or_else(PoisonError::into_inner);
        }
        if log.flushed >= wanted {
            return Ok(OperationResult { flush_calls: 0, interrupted: false });
        }
        log.busy = true;
        let (from, to) = (log.flushed, log.inserted);
        drop(log);
        let done = self.flush(stage, from, to);
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.busy = false;
        if done.is_ok() {
            log.flushed = to;
        }
        // After an error another session leads and meets the error too, or the end of the probe.
        self.changed.notify_all();
        done
    }

    /// Writes the pages between two positions at once and flushes them.
    fn flush(&self, stage: &WorkloadContext<'_>, from: u64, to: u64) -> Result<OperationResult, Stop> {
        let page = PAGE as u64;
        let (start, end) = (from / page * page, to.next_multiple_of(page));
        stage.spend(end - start)?;
        let done = self.write(stage, start, end).map_err(|errno| stage.failed(errno, "a group commit"))?;
        Ok(done)
    }

    fn write(&self, stage: &WorkloadContext<'_>, start: u64, end: u64) -> Result<OperationResult, Errno> {
        let length = |bytes: u64| usize::try_from(bytes).unwrap_or(PAGE);
        let (at, bytes) = (start % self.bytes, end - start);
        // At the end of the segment the server starts the next one with another write.
        let first = bytes.min(self.bytes - at);
        if first < bytes {
            self.writer.write(stage.pages.bytes(length(first)), at)?;
            let rest = self.writer.commit(stage.pages.bytes(length(bytes - first)), 0)?;
            return Ok(OperationResult { flush_calls: 1, interrupted: rest.interrupted });
        }
        let done = self.writer.commit(stage.pages.bytes(length(bytes)), at)?;
        Ok(OperationResult { flush_calls: 1, interrupted: done.interrupted })
    }
}
