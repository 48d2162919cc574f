//! First writes into a WAL segment: a recycled one (`wal_recycle`), a new one filled with zeros
//! (`wal_init_zero`), and a new one of which only the last byte was written. Creating the segment
//! is timed too, with the same calls as the server's (`XLogFileInitInternal` in xlog.c,
//! `durable_rename` in fd.c).
//!
//! fdatasync of a first write into a hole must commit the file system's journal; after an overwrite
//! it need not.

use std::os::fd::OwnedFd;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::stage::{LoadGenerator, OperationResult, WorkloadContext};
use crate::measure::{Method, Pass, Series};
use crate::probes::commit::{PAGE, Writer, again};
use crate::probes::control::Stop;

/// The names of a segment: while it is created, and when it is in use.
const NEW: &str = "segment-new";
const USED: &str = "segment";
/// The alternating names of the recycled segment.
const RECYCLED: [&str; 2] = ["segment-old", "segment-recycled"];

pub(super) fn prepare(stage: &WorkloadContext<'_>) -> Result<Vec<Box<dyn LoadGenerator>>, Stop> {
    stage.filled(RECYCLED[0])?;
    Ok(vec![
        Box::new(Recycled { turn: 0 }),
        Box::new(Fresh { zeros: true }),
        Box::new(Fresh { zeros: false }),
    ])
}

struct Recycled {
    turn: usize,
}

impl LoadGenerator for Recycled {
    fn rows(&self) -> Vec<Series> {
        vec![
            Series::new("recycled", PAGE as u64),
            Series::new("recycling", 0),
        ]
    }

    fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
        let [a, b] = RECYCLED;
        let (from, to) = if self.turn == 0 { (a, b) } else { (b, a) };
        let made = stage.once(3, || durable_rename(stage, from, to))?;
        self.turn = 1 - self.turn;
        Ok(vec![commits(stage, to)?, made])
    }
}

struct Fresh {
    zeros: bool,
}

impl LoadGenerator for Fresh {
    fn rows(&self) -> Vec<Series> {
        let (used, made) = if self.zeros {
            ("filled with zeros", "filling with zeros")
        } else {
            ("not filled", "making, not filled")
        };
        vec![
            Series::new(used, PAGE as u64).against(0),
            Series::new(made, u64::from(!self.zeros)).against(1),
        ]
    }

    fn fixed_bytes(&self, stage: &WorkloadContext<'_>) -> u64 {
        if self.zeros { stage.file_bytes } else { 1 }
    }

    fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
        let made = stage.once(4, || {
            let file = stage.scratch.make(NEW, OFlags::empty());
            let file = file.map_err(|errno| stage.failed(errno, "making a segment"))?;
            if self.zeros {
                stage.fill(&file)?;
            } else {
                last_byte(stage, &file)?;
            }
            drop(file);
            durable_rename(stage, NEW, USED)
        })?;
        let used = commits(stage, USED)?;
        // Removed durably, so that no later commit has to record it.
        let removed = stage
            .scratch
            .unlink(USED)
            .and_then(|()| stage.scratch.sync_names());
        removed.map_err(|errno| stage.failed(errno, "removing a segment"))?;
        Ok(vec![used, made])
    }
}

/// The server's write without `wal_init_zero`, and the flush.
fn last_byte(stage: &WorkloadContext<'_>, file: &OwnedFd) -> Result<(), Stop> {
    stage.spend(1)?;
    let written = again(&mut false, || {
        rustix::io::pwrite(file, &[0], stage.file_bytes - 1)
    });
    let flushed = written.and_then(|_| again(&mut false, || rustix::fs::fsync(file)));
    flushed.map_err(|errno| stage.failed(errno, "making a segment"))
}

/// As the server does: both names are flushed, and the directory.
fn durable_rename(stage: &WorkloadContext<'_>, from: &str, to: &str) -> Result<(), Stop> {
    let flush = |name| {
        let file = stage.scratch.open(name, OFlags::empty())?;
        again(&mut false, || rustix::fs::fsync(&file))
    };
    let renamed = flush(from)
        .and_then(|()| stage.scratch.rename(from, to))
        .and_then(|()| flush(to))
        .and_then(|()| stage.scratch.sync_names());
    renamed.map_err(|errno| stage.failed(errno, "renaming a segment"))
}

/// One-page commits from the beginning of a segment, at most one per page of it.
fn commits(stage: &WorkloadContext<'_>, name: &str) -> Result<Pass, Stop> {
    let file = stage.scratch.open(name, OFlags::empty());
    let file = file.map_err(|errno| stage.failed(errno, "opening a segment"))?;
    let writer = Writer::new(Method::Fdatasync, file);
    let page = PAGE as u64;
    let mut at = 0;
    stage.repeat(
        "a commit into a segment",
        page,
        stage.file_bytes / page,
        || {
            let done = writer.commit(stage.pages.bytes(PAGE), at)?;
            at += page;
            Ok::<_, Errno>(OperationResult {
                flush_calls: 1,
                interrupted: done.interrupted,
            })
        },
    )
}
