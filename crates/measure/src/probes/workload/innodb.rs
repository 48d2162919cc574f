//! InnoDB's redo log and the binary log: records of 512 bytes and 4 kB appended and flushed, each
//! log by itself and both in turn, as one transaction does with `innodb_flush_log_at_trx_commit=1`
//! and `sync_binlog=1`.
//!
//! The redo log is a file of fixed size that is written cyclically. The binary log grows, so every
//! flush of it records a new size and commits the file system's journal.

use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::stage::{LoadGenerator, OperationResult, WorkloadContext};
use crate::measure::{Method, Pass, Series};
use crate::probes::commit::Writer;
use crate::probes::control::Stop;
use crate::probes::method::open_flags;

/// Sizes of records, with their names.
const SIZES: [(usize, &str); 2] = [(512, "512 B"), (4096, "4 kB")];

/// The size at which a binary log starts over, in bytes.
const BINLOG: u64 = 4 << 20;

pub(super) fn prepare(stage: &WorkloadContext<'_>) -> Result<Vec<Box<dyn LoadGenerator>>, Stop> {
    stage.filled("redo")?;
    let at = Rc::new(Cell::new(0));
    let redo = |method| -> Result<RedoLog, Stop> {
        let file = stage.scratch.open("redo", open_flags(method));
        let file = file.map_err(|errno| stage.failed(errno, "opening the redo log"))?;
        let (writer, end) = (Writer::new(method, file), stage.file_bytes);
        Ok(RedoLog {
            writer,
            end,
            at: Rc::clone(&at),
            grows: None,
        })
    };
    let mut binlogs = 0;
    let mut binlog = || -> Result<RedoLog, Stop> {
        binlogs += 1;
        let name = format!("binlog-{binlogs}");
        let file = stage.scratch.make(&name, OFlags::empty());
        let again = file.and_then(|file| Ok((file, stage.scratch.open(&name, OFlags::empty())?)));
        let (file, again) = again.map_err(|errno| stage.failed(errno, "making a binary log"))?;
        let writer = Writer::new(Method::Fdatasync, file);
        Ok(RedoLog {
            writer,
            end: BINLOG.min(stage.file_bytes),
            at: Rc::default(),
            grows: Some(again),
        })
    };
    let mut parts: Vec<Box<dyn LoadGenerator>> = Vec::new();
    let mut add = |name: &str, logs: [Vec<RedoLog>; 2], against: bool| {
        for (i, ((bytes, size), logs)) in SIZES.into_iter().zip(logs).enumerate() {
            let row = Series::new(format!("{name}, {size}"), bytes as u64);
            // The first two rows are those of the redo log.
            let row = if against { row.against(i) } else { row };
            parts.push(Box::new(Transaction { row, bytes, logs }));
        }
    };
    let (data, open) = (Method::Fdatasync, Method::OpenDatasync);
    add(
        "redo, fdatasync",
        [vec![redo(data)?], vec![redo(data)?]],
        false,
    );
    add(
        "redo, O_DSYNC",
        [vec![redo(open)?], vec![redo(open)?]],
        true,
    );
    add(
        "binlog, fdatasync",
        [vec![binlog()?], vec![binlog()?]],
        true,
    );
    let both = [vec![redo(data)?, binlog()?], vec![redo(data)?, binlog()?]];
    add("both in turn", both, true);
    Ok(parts)
}

/// A log that records are appended to.
struct RedoLog {
    writer: Writer,
    at: Rc<Cell<u64>>,
    /// The offset at which it starts over, in bytes.
    end: u64,
    /// The file of a log that grows; `None` for the redo log.
    grows: Option<OwnedFd>,
}

impl RedoLog {
    /// Appends a record and flushes it; returns whether a signal interrupted that.
    fn append(&self, record: &[u8]) -> Result<bool, Errno> {
        let at = self.at.get();
        let done = self.writer.commit(record, at)?;
        let next = at + record.len() as u64;
        // A log that grows is truncated only between passes.
        let next = if self.grows.is_none() && next + record.len() as u64 > self.end {
            0
        } else {
            next
        };
        self.at.set(next);
        Ok(done.interrupted)
    }

    /// Truncates a log that has grown long, durably.
    fn cut(&self) -> Result<(), Errno> {
        match &self.grows {
            Some(file) if self.at.get() > self.end / 2 => {
                self.at.set(0);
                rustix::fs::ftruncate(file, 0)?;
                rustix::fs::fsync(file)
            }
            _ => Ok(()),
        }
    }
}

struct Transaction {
    row: Series,
    bytes: usize,
    logs: Vec<RedoLog>,
}

impl LoadGenerator for Transaction {
    fn rows(&self) -> Vec<Series> {
        vec![self.row.clone()]
    }

    fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
        let cut = self.logs.iter().try_for_each(RedoLog::cut);
        cut.map_err(|errno| stage.failed(errno, "cutting a binary log"))?;
        let record = stage.pages.bytes(self.bytes);
        let bytes = (self.bytes * self.logs.len()) as u64;
        let most = BINLOG.min(stage.file_bytes) / 2 / self.bytes as u64;
        let pass = stage.repeat("a transaction", bytes, most, || {
            let mut interrupted = false;
            for log in &self.logs {
                interrupted |= log.append(record)?;
            }
            Ok(OperationResult {
                flush_calls: self.logs.len() as u64,
                interrupted,
            })
        });
        Ok(vec![pass?])
    }
}
