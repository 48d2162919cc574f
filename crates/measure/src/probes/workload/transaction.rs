//! Commits of records to PostgreSQL's WAL, InnoDB's redo log and the binary log, by clients that
//! share flushes.
//!
//! A group flushes the redo log once, then the binary log once (MYSQL_BIN_LOG::ordered_commit of
//! MySQL, trx_group_commit_leader of MariaDB). Both servers append to the binary log and call
//! fdatasync. The binary log grows, so each flush commits the file system's journal.

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;

use super::context::{Load, OperationOutcome, WorkloadContext};
use crate::measure::{Method, RowSamples};
use crate::probes::StopReason;
use crate::probes::commit_writer::{CommitWriter, PAGE_BYTES};
use crate::probes::group_commit_log::GroupCommitLog;
use crate::probes::server_log::ServerLog;

/// Bytes of a small transaction's record.
const RECORD_BYTES: u64 = 512;

const GROUP_COMMIT_CLIENTS: u32 = 16;

/// Largest binary log in bytes. A round adds up to half of it; a log past half is truncated first.
const BINLOG_BYTES: u64 = 4 << 20;

const REDO_FILE: &str = "redo";

/// Clients that share the flushes of PostgreSQL's WAL. A page that was flushed half full is written
/// again with the next records.
pub(super) fn group_commit_loads(stage: &WorkloadContext<'_>) -> Result<Vec<Load>, StopReason> {
    let writer = CommitWriter::new(Method::Fdatasync, stage.create_zeroed_file("group-wal")?);
    let wal = (writer, PAGE_BYTES as u64);
    let logs = Rc::new(TransactionLogs::new(RECORD_BYTES, Some(wal), None));
    let load = |clients: u32| {
        let name = match clients {
            1 => "1 session".to_owned(),
            clients => format!("{clients} sessions"),
        };
        let row = RowSamples {
            threads: clients,
            against: (clients > 1).then_some(0),
            ..RowSamples::new(name, RECORD_BYTES)
        };
        TransactionLogs::load(&logs, row, u64::MAX)
    };
    Ok([1, 2, 4, 8, GROUP_COMMIT_CLIENTS].map(load).into())
}

/// Transactions with the system calls of the target's server. One more row has 16 clients that
/// share flushes.
pub(super) fn transaction_loads(
    stage: &WorkloadContext<'_>,
    server: &ServerLog,
) -> Result<Vec<Load>, StopReason> {
    stage.create_zeroed_file(REDO_FILE)?;
    let mut loads = Vec::new();
    let mut add = |name, clients, has_redo: bool, has_binlog: bool, against| {
        let redo_log = has_redo
            .then(|| stage.open_writer(REDO_FILE, server.first_method_or_fdatasync(), true))
            .transpose()?;
        let redo_log = redo_log.map(|writer| (writer, u64::from(server.log.page_bytes)));
        let bytes = RECORD_BYTES * (u64::from(has_redo) + u64::from(has_binlog));
        let row = RowSamples {
            threads: clients,
            against,
            ..RowSamples::new(name, bytes)
        };
        let nth = loads.len();
        loads.push(transaction_load(
            stage,
            nth,
            row,
            RECORD_BYTES,
            redo_log,
            has_binlog,
        )?);
        Ok::<_, StopReason>(())
    };
    add("redo log", 1, true, false, None)?;
    if server.binlog {
        add("binary log", 1, false, true, Some(0))?;
        add("redo log and binary log", 1, true, true, Some(0))?;
        add("16 sessions", GROUP_COMMIT_CLIENTS, true, true, Some(2))?;
    } else {
        add("16 sessions", GROUP_COMMIT_CLIENTS, true, false, Some(0))?;
    }
    Ok(loads)
}

/// Transactions with `innodb_flush_log_at_trx_commit=1` and `sync_binlog=1`, with records of two
/// sizes.
pub(super) fn innodb_loads(stage: &WorkloadContext<'_>) -> Result<Vec<Load>, StopReason> {
    stage.create_zeroed_file(REDO_FILE)?;
    let mut loads = Vec::new();
    for (name, redo, has_binlog) in [
        ("redo, fdatasync", Some(Method::Fdatasync), false),
        ("redo, O_DSYNC", Some(Method::OpenDatasync), false),
        ("binlog, fdatasync", None, true),
        ("both in turn", Some(Method::Fdatasync), true),
    ] {
        for (i, (bytes, size)) in [(512, "512 B"), (4096, "4 kB")].into_iter().enumerate() {
            let redo_log = redo
                .map(|method| stage.open_writer(REDO_FILE, method, false))
                .transpose()?;
            let redo_log = redo_log.map(|writer| (writer, bytes));
            let nth = loads.len();
            let row = RowSamples {
                // The references are the redo log with fdatasync for the two record sizes.
                against: (nth > i).then_some(i),
                ..RowSamples::new(format!("{name}, {size}"), bytes)
            };
            loads.push(transaction_load(
                stage, nth, row, bytes, redo_log, has_binlog,
            )?);
        }
    }
    Ok(loads)
}

/// The load `nth`, with logs of its own. In a round, all clients together commit half of a binary log
/// at most, see [`BINLOG_BYTES`].
fn transaction_load(
    stage: &WorkloadContext<'_>,
    nth: usize,
    row: RowSamples,
    record_bytes: u64,
    redo_log: Option<(CommitWriter, u64)>,
    has_binlog: bool,
) -> Result<Load, StopReason> {
    let binlog = has_binlog.then(|| Binlog::create(stage, nth)).transpose()?;
    let logs = Rc::new(TransactionLogs::new(record_bytes, redo_log, binlog));
    let max_commits = BINLOG_BYTES.min(stage.file_bytes) / 2 / record_bytes;
    Ok(TransactionLogs::load(&logs, row, max_commits))
}

/// The logs that clients share; a group flushes the redo log before the binary log.
struct TransactionLogs {
    end: GroupCommitLog,
    record_bytes: u64,
    /// Writer of the redo log or WAL, and the size of its blocks.
    redo: Option<(CommitWriter, u64)>,
    binlog: Option<Binlog>,
}

impl TransactionLogs {
    fn new(record_bytes: u64, redo: Option<(CommitWriter, u64)>, binlog: Option<Binlog>) -> Self {
        Self {
            end: GroupCommitLog::default(),
            record_bytes,
            redo,
            binlog,
        }
    }

    /// Commits of as many clients as the row has threads.
    fn load(logs: &Rc<Self>, row: RowSamples, max_commits: u64) -> Load {
        let (logs, clients) = (Rc::clone(logs), row.threads);
        Load::new(row, move |stage| {
            let logs = &*logs;
            if let Some(binlog) = &logs.binlog {
                binlog
                    .truncate_if_long()
                    .map_err(stage.failure("truncating a binary log"))?;
            }
            // The number of bytes is 0, because the leader reserves the bytes that it writes.
            stage.run_operation_in_threads(
                "a group commit",
                clients,
                0,
                max_commits / u64::from(clients),
                &|_, _| {
                    let flush = |part| logs.write_and_flush(stage, part);
                    let done = logs.end.insert_and_await_flush(logs.record_bytes, flush);
                    Ok(done?.unwrap_or_default())
                },
            )
        })
    }

    fn write_and_flush(
        &self,
        stage: &WorkloadContext<'_>,
        part: Range<u64>,
    ) -> Result<OperationOutcome, StopReason> {
        let mut all = OperationOutcome::default();
        let mut add = |doing, done: Result<bool, Errno>| {
            all.interrupted |= done.map_err(stage.failure(doing))?;
            all.flush_calls += 1;
            Ok::<_, StopReason>(())
        };
        if let Some((writer, block)) = &self.redo {
            let blocks = part.start / block * block..part.end.next_multiple_of(*block);
            stage.reserve_bytes(blocks.end - blocks.start)?;
            // A group that wraps around the end of the file takes two writes, as in a server.
            let file_bytes = stage.file_bytes / block * block;
            let done = writer.write_cyclically_and_flush(stage.pages, file_bytes, blocks);
            add("a group commit", done.map(|done| done.interrupted))?;
        }
        if let Some(binlog) = &self.binlog {
            let bytes = part.end - part.start;
            stage.reserve_bytes(bytes)?;
            let done = binlog.append_and_flush_interrupted(stage, bytes);
            add("appending to a binary log", done)?;
        }
        Ok(all)
    }
}

struct Binlog {
    writer: CommitWriter,
    /// Second descriptor, for truncation.
    file: OwnedFd,
    offset: AtomicU64,
}

impl Binlog {
    fn create(stage: &WorkloadContext<'_>, number: usize) -> Result<Self, StopReason> {
        let name = format!("binlog-{number}");
        let file = stage.create_file(&name)?;
        Ok(Self {
            writer: stage.open_writer(&name, Method::Fdatasync, false)?,
            file,
            offset: AtomicU64::new(0),
        })
    }

    /// Appends `bytes` bytes to the binary log and flushes them. Only the leader of a group may
    /// call this. Returns true if a signal interrupted the commit.
    fn append_and_flush_interrupted(
        &self,
        stage: &WorkloadContext<'_>,
        bytes: u64,
    ) -> Result<bool, Errno> {
        let record = stage
            .pages
            .first_bytes(usize::try_from(bytes).unwrap_or_default());
        let at = self.offset.fetch_add(bytes, Ordering::Relaxed);
        Ok(self.writer.write_and_flush_timed(record, at)?.interrupted)
    }

    /// Must be called between rounds, while no client appends.
    fn truncate_if_long(&self) -> Result<(), Errno> {
        if self.offset.load(Ordering::Relaxed) <= BINLOG_BYTES / 2 {
            return Ok(());
        }
        self.offset.store(0, Ordering::Relaxed);
        rustix::fs::ftruncate(&self.file, 0)?;
        rustix::fs::fsync(&self.file)
    }
}
