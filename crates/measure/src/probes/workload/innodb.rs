//! Flushes records of 512 bytes and 4 kB to InnoDB's redo log, to the binary log, and to both.
//! Transactions do so with `innodb_flush_log_at_trx_commit=1` and `sync_binlog=1`.
//!
//! The redo log is cyclic. The binary log grows, so each flush commits the file system's journal.

use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::context::{LoadGenerator, OperationOutcome, WorkloadContext};
use crate::measure::{Method, RoundSamples, RowSamples};
use crate::probes::commit_writer::CommitWriter;
use crate::probes::{StopReason, open_flags};

const RECORD_SIZES: [(usize, &str); 2] = [(512, "512 B"), (4096, "4 kB")];

/// Largest binary log in bytes. A round adds up to half of it; a log past half is truncated first.
const BINLOG_BYTES: u64 = 4 << 20;

pub(super) fn create_load_generators(
    stage: &WorkloadContext<'_>,
) -> Result<Vec<Box<dyn LoadGenerator>>, StopReason> {
    stage.create_zeroed_file("redo")?;
    let at = Rc::new(Cell::new(0));
    let redo = |method| -> Result<RedoOrBinlogFile, StopReason> {
        let file = stage.scratch.open_file("redo", open_flags(method));
        let file =
            file.map_err(|errno| stage.stop_reason_from_errno(errno, "opening the redo log"))?;
        let (writer, end) = (CommitWriter::new(method, file), stage.file_bytes);
        Ok(RedoOrBinlogFile {
            writer,
            end,
            offset: Rc::clone(&at),
            growing_file: None,
        })
    };
    let mut binlogs = 0;
    let mut binlog = || -> Result<RedoOrBinlogFile, StopReason> {
        binlogs += 1;
        let name = format!("binlog-{binlogs}");
        let file = stage.scratch.create_file(&name, OFlags::empty());
        let again =
            file.and_then(|file| Ok((file, stage.scratch.open_file(&name, OFlags::empty())?)));
        let (file, again) =
            again.map_err(|errno| stage.stop_reason_from_errno(errno, "creating a binary log"))?;
        let writer = CommitWriter::new(Method::Fdatasync, file);
        Ok(RedoOrBinlogFile {
            writer,
            end: BINLOG_BYTES.min(stage.file_bytes),
            offset: Rc::default(),
            growing_file: Some(again),
        })
    };
    let mut parts: Vec<Box<dyn LoadGenerator>> = Vec::new();
    let mut add = |name: &str, logs: [Vec<RedoOrBinlogFile>; 2], against: bool| {
        for (i, ((bytes, size), logs)) in RECORD_SIZES.into_iter().zip(logs).enumerate() {
            let row = RowSamples::new(format!("{name}, {size}"), bytes as u64);
            // The references, rows 0 and 1, are the redo log with fdatasync for the two record
            // sizes.
            let row = if against {
                row.with_ratio_to_row(i)
            } else {
                row
            };
            parts.push(Box::new(RedoBinlogLoad { row, bytes, logs }));
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

struct RedoOrBinlogFile {
    writer: CommitWriter,
    offset: Rc<Cell<u64>>,
    /// Size limit in bytes. The redo log wraps around here; a binary log of more than half this
    /// size is truncated before a round.
    end: u64,
    /// Second descriptor of a binary log, for truncation; `None` for the redo log.
    growing_file: Option<OwnedFd>,
}

impl RedoOrBinlogFile {
    /// True if a signal interrupted the commit.
    fn append_and_flush_interrupted(&self, record: &[u8]) -> Result<bool, Errno> {
        let at = self.offset.get();
        let done = self.writer.write_and_flush_timed(record, at)?;
        let next = at + record.len() as u64;
        // A binary log is truncated only between rounds.
        let next = if self.growing_file.is_none() && next + record.len() as u64 > self.end {
            0
        } else {
            next
        };
        self.offset.set(next);
        Ok(done.interrupted)
    }

    fn truncate_binlog_if_long(&self) -> Result<(), Errno> {
        match &self.growing_file {
            Some(file) if self.offset.get() > self.end / 2 => {
                self.offset.set(0);
                rustix::fs::ftruncate(file, 0)?;
                rustix::fs::fsync(file)
            }
            _ => Ok(()),
        }
    }
}

struct RedoBinlogLoad {
    row: RowSamples,
    bytes: usize,
    logs: Vec<RedoOrBinlogFile>,
}

impl LoadGenerator for RedoBinlogLoad {
    fn empty_rows(&self) -> Vec<RowSamples> {
        vec![self.row.clone()]
    }

    fn run_round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<RoundSamples>, StopReason> {
        let cut = self
            .logs
            .iter()
            .try_for_each(RedoOrBinlogFile::truncate_binlog_if_long);
        cut.map_err(|errno| stage.stop_reason_from_errno(errno, "truncating a binary log"))?;
        let record = stage.pages.first_bytes(self.bytes);
        let bytes = (self.bytes * self.logs.len()) as u64;
        let most = BINLOG_BYTES.min(stage.file_bytes) / 2 / self.bytes as u64;
        let pass = stage.repeat_until_share_is_used("a transaction", bytes, most, || {
            let mut interrupted = false;
            for log in &self.logs {
                interrupted |= log.append_and_flush_interrupted(record)?;
            }
            Ok(OperationOutcome {
                flush_calls: self.logs.len() as u64,
                interrupted,
            })
        });
        Ok(vec![pass?])
    }
}
