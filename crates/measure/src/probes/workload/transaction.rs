//! Flushes records to the redo log, to the binary log and to both, with the system calls of the
//! target's server. One more row has 16 clients that share flushes.
//!
//! A group flushes the redo log once, then the binary log once (MYSQL_BIN_LOG::ordered_commit of
//! MySQL, trx_group_commit_leader of MariaDB). Both servers append to the binary log and call
//! fdatasync.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::context::{LoadGenerator, OperationOutcome, WorkloadContext};
use super::group_commit::{CyclicLog, GroupCommitLoad, GroupCommitLog, RECORD_BYTES};
use crate::measure::{Method, RoundSamples, RowSamples};
use crate::probes::commit_writer::CommitWriter;
use crate::probes::redo_log_config::RedoLogConfig;
use crate::probes::{StopReason, open_flags};

const GROUP_COMMIT_CLIENTS: u32 = 16;

/// Largest binary log in bytes. A round adds up to half of it; a log past half is truncated first.
const BINLOG_BYTES: u64 = 4 << 20;

const REDO_FILE: &str = "transaction-redo";

pub(super) fn create_load_generators(
    stage: &WorkloadContext<'_>,
    redo: &RedoLogConfig,
) -> Result<Vec<Box<dyn LoadGenerator>>, StopReason> {
    stage.create_zeroed_file(REDO_FILE)?;
    let mut parts: Vec<Box<dyn LoadGenerator>> = Vec::new();
    let mut add = |name: &str, sessions, logs: TransactionLogs, against: Option<usize>| {
        let row = RowSamples {
            threads: sessions,
            against,
            ..RowSamples::new(name, RECORD_BYTES * logs.log_count())
        };
        let binlog = logs.binlog.clone();
        let log = Arc::new(GroupCommitLog::new(move |stage, from, to| {
            logs.write_and_flush_redo_then_binlog(stage, from, to)
        }));
        let max_commits =
            BINLOG_BYTES.min(stage.file_bytes) / 2 / RECORD_BYTES / u64::from(sessions);
        parts.push(Box::new(TransactionLoad {
            commit: GroupCommitLoad {
                row,
                log,
                max_commits,
            },
            binlog,
        }));
    };
    let both = |number| {
        Ok::<_, StopReason>(TransactionLogs {
            redo: Some(open_redo_log(stage, redo)?),
            binlog: Some(Binlog::create(stage, number)?),
        })
    };
    let alone = || {
        Ok::<_, StopReason>(TransactionLogs {
            redo: Some(open_redo_log(stage, redo)?),
            binlog: None,
        })
    };
    add("redo log", 1, alone()?, None);
    if redo.binlog {
        let binlog = TransactionLogs {
            redo: None,
            binlog: Some(Binlog::create(stage, 1)?),
        };
        add("binary log", 1, binlog, Some(0));
        add("redo log and binary log", 1, both(2)?, Some(0));
        add("16 sessions", GROUP_COMMIT_CLIENTS, both(3)?, Some(2));
    } else {
        add("16 sessions", GROUP_COMMIT_CLIENTS, alone()?, Some(0));
    }
    Ok(parts)
}

/// Opens the redo log as the server does: without O_DIRECT if the file system refuses that flag.
fn open_redo_log(
    stage: &WorkloadContext<'_>,
    redo: &RedoLogConfig,
) -> Result<CyclicLog, StopReason> {
    let open = |method| {
        Ok::<_, Errno>(CommitWriter::new(
            method,
            stage.scratch.open_file(REDO_FILE, open_flags(method))?,
        ))
    };
    let writer = match open(redo.first_method_or_fdatasync()) {
        Err(Errno::INVAL | Errno::OPNOTSUPP) if redo.first_method_or_fdatasync().is_direct() => {
            open(Method::Fdatasync)
        }
        opened => opened,
    };
    let writer =
        writer.map_err(|errno| stage.stop_reason_from_errno(errno, "opening the redo log"))?;
    Ok(CyclicLog::new(
        writer,
        stage.file_bytes,
        u64::from(redo.block_bytes),
    ))
}

struct TransactionLogs {
    redo: Option<CyclicLog>,
    binlog: Option<Arc<Binlog>>,
}

impl TransactionLogs {
    fn log_count(&self) -> u64 {
        u64::from(self.redo.is_some()) + u64::from(self.binlog.is_some())
    }

    fn write_and_flush_redo_then_binlog(
        &self,
        stage: &WorkloadContext<'_>,
        from: u64,
        to: u64,
    ) -> Result<OperationOutcome, StopReason> {
        let mut all = OperationOutcome {
            flush_calls: 0,
            interrupted: false,
        };
        if let Some(redo) = &self.redo {
            let done = redo.write_and_flush(stage, from, to)?;
            all.flush_calls += done.flush_calls;
            all.interrupted |= done.interrupted;
        }
        if let Some(binlog) = &self.binlog {
            stage.reserve_bytes(to - from)?;
            let done = binlog.append_and_flush_interrupted(stage, to - from);
            all.interrupted |= done.map_err(|errno| {
                stage.stop_reason_from_errno(errno, "appending to a binary log")
            })?;
            all.flush_calls += 1;
        }
        Ok(all)
    }
}

struct Binlog {
    writer: CommitWriter,
    file: OwnedFd,
    offset: AtomicU64,
}

impl Binlog {
    fn create(stage: &WorkloadContext<'_>, number: u32) -> Result<Arc<Self>, StopReason> {
        let name = format!("transaction-binlog-{number}");
        let made = stage.scratch.create_file(&name, OFlags::empty());
        let both =
            made.and_then(|made| Ok((made, stage.scratch.open_file(&name, OFlags::empty())?)));
        let (made, file) =
            both.map_err(|errno| stage.stop_reason_from_errno(errno, "creating a binary log"))?;
        let writer = CommitWriter::new(Method::Fdatasync, made);
        Ok(Arc::new(Self {
            writer,
            file,
            offset: AtomicU64::new(0),
        }))
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

struct TransactionLoad {
    commit: GroupCommitLoad,
    binlog: Option<Arc<Binlog>>,
}

impl LoadGenerator for TransactionLoad {
    fn empty_rows(&self) -> Vec<RowSamples> {
        self.commit.empty_rows()
    }

    fn run_round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<RoundSamples>, StopReason> {
        let cut = self
            .binlog
            .as_ref()
            .map_or(Ok(()), |binlog| binlog.truncate_if_long());
        cut.map_err(|errno| stage.stop_reason_from_errno(errno, "truncating a binary log"))?;
        self.commit.run_round(stage)
    }
}
