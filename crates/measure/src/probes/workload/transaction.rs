//! InnoDB's transactions as the server of a target flushes them: records in the redo log, in the
//! binary log, and in both, by one session and by sixteen that share flushes.
//!
//! A group flushes the redo log once for all that are prepared, then the binary log once
//! (MYSQL_BIN_LOG::ordered_commit of MySQL, trx_group_commit_leader of MariaDB). Without a binary
//! log it is the redo log alone. How the redo log is written is the server's ([`RedoShape`]); both
//! servers append to the binary log and call fdatasync.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::group::{CyclicLog, GroupCommit, RECORD, SharedLog};
use super::stage::{LoadGenerator, OperationResult, WorkloadContext};
use crate::measure::{Method, Pass, Series};
use crate::probes::commit::Writer;
use crate::probes::control::Stop;
use crate::probes::method::open_flags;
use crate::probes::redo::RedoShape;

/// Sessions that share flushes.
const SESSIONS: u32 = 16;

/// The size at which a binary log starts over, in bytes.
const BINLOG: u64 = 4 << 20;

/// The file of the redo log.
const REDO: &str = "transaction-redo";

pub(super) fn prepare(
    stage: &WorkloadContext<'_>,
    redo: &RedoShape,
) -> Result<Vec<Box<dyn LoadGenerator>>, Stop> {
    stage.filled(REDO)?;
    let mut parts: Vec<Box<dyn LoadGenerator>> = Vec::new();
    let mut add = |name: &str, sessions, logs: Logs, against: Option<usize>| {
        let row = Series {
            threads: sessions,
            against,
            ..Series::new(name, RECORD * logs.count())
        };
        let binlog = logs.binlog.clone();
        let log = Arc::new(SharedLog::new(move |stage, from, to| {
            logs.flush(stage, from, to)
        }));
        let most = BINLOG.min(stage.file_bytes) / 2 / RECORD / u64::from(sessions);
        parts.push(Box::new(TransactionLoad {
            commit: GroupCommit { row, log, most },
            binlog,
        }));
    };
    let both = |number| {
        Ok::<_, Stop>(Logs {
            redo: Some(cyclic(stage, redo)?),
            binlog: Some(Binlog::new(stage, number)?),
        })
    };
    let alone = || {
        Ok::<_, Stop>(Logs {
            redo: Some(cyclic(stage, redo)?),
            binlog: None,
        })
    };
    add("redo log", 1, alone()?, None);
    if redo.binlog {
        let binlog = Logs {
            redo: None,
            binlog: Some(Binlog::new(stage, 1)?),
        };
        add("binary log", 1, binlog, Some(0));
        add("redo log and binary log", 1, both(2)?, Some(0));
        add("16 sessions", SESSIONS, both(3)?, Some(2));
    } else {
        add("16 sessions", SESSIONS, alone()?, Some(0));
    }
    Ok(parts)
}

/// The redo log, opened as the server opens it; through the page cache where O_DIRECT is refused,
/// as servers do it.
fn cyclic(stage: &WorkloadContext<'_>, redo: &RedoShape) -> Result<CyclicLog, Stop> {
    let open = |method| {
        Ok::<_, Errno>(Writer::new(
            method,
            stage.scratch.open(REDO, open_flags(method))?,
        ))
    };
    let writer = match open(redo.method()) {
        Err(Errno::INVAL | Errno::OPNOTSUPP) if redo.method().is_direct() => {
            open(Method::Fdatasync)
        }
        opened => opened,
    };
    let writer = writer.map_err(|errno| stage.failed(errno, "opening the redo log"))?;
    Ok(CyclicLog::new(
        writer,
        stage.file_bytes,
        u64::from(redo.block_bytes),
    ))
}

/// The logs that a transaction is flushed in.
struct Logs {
    redo: Option<CyclicLog>,
    binlog: Option<Arc<Binlog>>,
}

impl Logs {
    fn count(&self) -> u64 {
        u64::from(self.redo.is_some()) + u64::from(self.binlog.is_some())
    }

    fn flush(
        &self,
        stage: &WorkloadContext<'_>,
        from: u64,
        to: u64,
    ) -> Result<OperationResult, Stop> {
        let mut all = OperationResult {
            flush_calls: 0,
            interrupted: false,
        };
        if let Some(redo) = &self.redo {
            let done = redo.append(stage, from, to)?;
            all.flush_calls += done.flush_calls;
            all.interrupted |= done.interrupted;
        }
        if let Some(binlog) = &self.binlog {
            stage.spend(to - from)?;
            let done = binlog.append(stage, to - from);
            all.interrupted |=
                done.map_err(|errno| stage.failed(errno, "appending to a binary log"))?;
            all.flush_calls += 1;
        }
        Ok(all)
    }
}

/// A binary log: each flush records a new size of the file.
struct Binlog {
    writer: Writer,
    /// The same file, to cut it.
    file: OwnedFd,
    at: AtomicU64,
}

impl Binlog {
    fn new(stage: &WorkloadContext<'_>, number: u32) -> Result<Arc<Self>, Stop> {
        let name = format!("transaction-binlog-{number}");
        let made = stage.scratch.make(&name, OFlags::empty());
        let both = made.and_then(|made| Ok((made, stage.scratch.open(&name, OFlags::empty())?)));
        let (made, file) = both.map_err(|errno| stage.failed(errno, "making a binary log"))?;
        let writer = Writer::new(Method::Fdatasync, made);
        Ok(Arc::new(Self {
            writer,
            file,
            at: AtomicU64::new(0),
        }))
    }

    /// Appends so many bytes and flushes them; only a leader does. Returns whether a signal
    /// interrupted that.
    fn append(&self, stage: &WorkloadContext<'_>, bytes: u64) -> Result<bool, Errno> {
        let record = stage
            .pages
            .bytes(usize::try_from(bytes).unwrap_or_default());
        let at = self.at.fetch_add(bytes, Ordering::Relaxed);
        Ok(self.writer.commit(record, at)?.interrupted)
    }

    /// Truncates a log that has grown long, durably; only between rounds.
    fn cut(&self) -> Result<(), Errno> {
        if self.at.load(Ordering::Relaxed) <= BINLOG / 2 {
            return Ok(());
        }
        self.at.store(0, Ordering::Relaxed);
        rustix::fs::ftruncate(&self.file, 0)?;
        rustix::fs::fsync(&self.file)
    }
}

/// Sessions, and the binary log that a round begins with.
struct TransactionLoad {
    commit: GroupCommit,
    binlog: Option<Arc<Binlog>>,
}

impl LoadGenerator for TransactionLoad {
    fn rows(&self) -> Vec<Series> {
        self.commit.rows()
    }

    fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
        let cut = self.binlog.as_ref().map_or(Ok(()), |binlog| binlog.cut());
        cut.map_err(|errno| stage.failed(errno, "cutting a binary log"))?;
        self.commit.round(stage)
    }
}
