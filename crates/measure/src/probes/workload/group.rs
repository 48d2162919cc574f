//! Group commit: sessions that share flushes as PostgreSQL's do (`XLogFlush` in xlog.c). A session
//! that finds nobody flushing leads: one pwrite of all pages with records inserted so far, one
//! fdatasync. Sessions that arrive meanwhile wait, and then either find themselves flushed or one
//! of them leads.
//!
//! `commit_delay` has its default, zero: a leader waits for nobody. A page that was flushed half
//! full is written again with the next records, as in the server.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use rustix::io::Errno;

use super::stage::{LoadGenerator, OperationResult, WorkloadContext};
use crate::measure::{Method, Pass, Series};
use crate::probes::commit::{PAGE, Writer};
use crate::probes::control::Stop;

/// Numbers of concurrent sessions.
const SESSIONS: [u32; 5] = [1, 2, 4, 8, 16];

/// The size of a small transaction's record, in bytes.
pub(super) const RECORD: u64 = 512;

pub(super) fn prepare(stage: &WorkloadContext<'_>) -> Result<Vec<Box<dyn LoadGenerator>>, Stop> {
    let writer = Writer::new(Method::Fdatasync, stage.filled("group-wal")?);
    let wal = CyclicLog::new(writer, stage.file_bytes, PAGE as u64);
    let log = Arc::new(SharedLog::new(move |stage, from, to| {
        wal.append(stage, from, to)
    }));
    let part = |sessions| {
        let name = if sessions == 1 {
            "1 session".to_owned()
        } else {
            format!("{sessions} sessions")
        };
        let row = Series {
            threads: sessions,
            ..Series::new(name, RECORD)
        };
        let row = if sessions == 1 { row } else { row.against(0) };
        Box::new(GroupCommit {
            row,
            log: Arc::clone(&log),
            most: u64::MAX,
        }) as Box<dyn LoadGenerator>
    };
    Ok(SESSIONS.into_iter().map(part).collect())
}

/// Sessions that commit records to a log.
pub(super) struct GroupCommit {
    /// Its row, with the number of sessions as threads.
    pub(super) row: Series,
    pub(super) log: Arc<SharedLog>,
    /// The largest number of commits of a session in a round.
    pub(super) most: u64,
}

impl LoadGenerator for GroupCommit {
    fn rows(&self) -> Vec<Series> {
        vec![self.row.clone()]
    }

    fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
        // The leader counts the bytes, since it writes whole pages.
        let pass = stage.together("a group commit", self.row.threads, 0, self.most, &|_, _| {
            self.log.commit(stage)
        });
        Ok(vec![pass?])
    }
}

/// Writes and flushes what was inserted between two positions.
type LogFlush =
    dyn Fn(&WorkloadContext<'_>, u64, u64) -> Result<OperationResult, Stop> + Send + Sync;

/// The log that sessions share. Positions count bytes from its beginning and never decrease.
pub(super) struct SharedLog {
    flush: Box<LogFlush>,
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

impl SharedLog {
    /// A log that is flushed so.
    pub(super) fn new(
        flush: impl Fn(&WorkloadContext<'_>, u64, u64) -> Result<OperationResult, Stop>
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

    /// Inserts a record and returns when it is flushed.
    fn commit(&self, stage: &WorkloadContext<'_>) -> Result<OperationResult, Stop> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.inserted += RECORD;
        let wanted = log.inserted;
        while log.busy && log.flushed < wanted {
            log = self
                .changed
                .wait(log)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if log.flushed >= wanted {
            return Ok(OperationResult {
                flush_calls: 0,
                interrupted: false,
            });
        }
        log.busy = true;
        let (from, to) = (log.flushed, log.inserted);
        drop(log);
        let done = (self.flush)(stage, from, to);
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.busy = false;
        if done.is_ok() {
            log.flushed = to;
        }
        // After an error another session leads and meets the error too, or the end of the probe.
        self.changed.notify_all();
        done
    }
}

/// A log in a file of fixed size, in whole pages.
pub(super) struct CyclicLog {
    writer: Writer,
    bytes: u64,
    page: u64,
}

impl CyclicLog {
    /// A log in this file of so many bytes.
    pub(super) fn new(writer: Writer, file_bytes: u64, page: u64) -> Self {
        Self {
            writer,
            bytes: file_bytes / page * page,
            page,
        }
    }

    /// Writes the pages between two positions at once and flushes them.
    pub(super) fn append(
        &self,
        stage: &WorkloadContext<'_>,
        from: u64,
        to: u64,
    ) -> Result<OperationResult, Stop> {
        let (start, end) = (from / self.page * self.page, to.next_multiple_of(self.page));
        stage.spend(end - start)?;
        self.write(stage, start, end)
            .map_err(|errno| stage.failed(errno, "a group commit"))
    }

    fn write(
        &self,
        stage: &WorkloadContext<'_>,
        start: u64,
        end: u64,
    ) -> Result<OperationResult, Errno> {
        let length = |bytes: u64| usize::try_from(bytes).unwrap_or(PAGE);
        let (at, bytes) = (start % self.bytes, end - start);
        // At the end of the file the server goes on with another write.
        let first = bytes.min(self.bytes - at);
        let done = if first < bytes {
            self.writer.write(stage.pages.bytes(length(first)), at)?;
            self.writer
                .commit(stage.pages.bytes(length(bytes - first)), 0)?
        } else {
            self.writer.commit(stage.pages.bytes(length(bytes)), at)?
        };
        Ok(OperationResult {
            flush_calls: 1,
            interrupted: done.interrupted,
        })
    }
}
