//! Writes that are never flushed: the lower bound of everything else. Into the page cache, with the file opened for
//! each write, and with O_DIRECT to the disk, where that bypasses the cache.
//!
//! `pg_test_fsync` opened the file for each of its non-sync'ed writes up to version 14 and no longer does, so its
//! versions correspond to different rows here.

use std::cell::Cell;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::stage::{LoadGenerator, OperationResult, WorkloadContext};
use crate::measure::{Method, Pass, Series};
use crate::probes::commit::{Cursor, PAGE, Writer};
use crate::probes::control::Stop;
use crate::probes::method::open_flags;

const FILE: &str = "floor";

pub(super) fn prepare(stage: &WorkloadContext<'_>) -> Result<Vec<Box<dyn LoadGenerator>>, Stop> {
    stage.filled(FILE)?;
    let row = |name: &str| Series::new(name, PAGE as u64);
    let open = |method| stage.scratch.open(FILE, open_flags(method));
    let failed = |errno| stage.failed(errno, "opening the scratch file");
    let part = |row, kind| -> Box<dyn LoadGenerator> {
        let pages = stage.file_bytes / PAGE as u64;
        Box::new(Floor { row, kind, cursor: Cursor::new(0, pages * PAGE as u64) })
    };
    let kept = |method| open(method).map(|file| Writer::new(method, file));
    let mut parts = vec![
        part(row("write"), DescriptorMode::Kept(kept(Method::Floor).map_err(failed)?)),
        part(row("open, write, close").against(0), DescriptorMode::Opened),
    ];
    let refused = |why: &str| Series { error: Some(why.to_owned()), ..row("write, O_DIRECT") };
    parts.push(match kept(Method::FloorDirect) {
        Err(Errno::INVAL | Errno::OPNOTSUPP) => {
            part(refused("O_DIRECT is refused here"), DescriptorMode::Refused)
        }
        Err(errno) => return Err(failed(errno)),
        Ok(writer) if writer.is_buffered(stage.pages, 0) => {
            part(refused("O_DIRECT is buffered here"), DescriptorMode::Refused)
        }
        Ok(writer) => match writer.commit(stage.pages.bytes(PAGE), 0) {
            Err(Errno::INVAL) => {
                part(refused("O_DIRECT writes of 8 kB are refused here"), DescriptorMode::Refused)
            }
            Err(errno) => return Err(failed(errno)),
            Ok(_) => part(row("write, O_DIRECT").against(0), DescriptorMode::Kept(writer)),
        },
    });
    Ok(parts)
}

enum DescriptorMode {
    Kept(Writer),
    Opened,
    Refused,
}

struct Floor {
    row: Series,
    kind: DescriptorMode,
    cursor: Cursor,
}

impl LoadGenerator for Floor {
    fn rows(&self) -> Vec<Series> {
        vec![self.row.clone()]
    }

    fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
        let (page, cursor) = (stage.pages.bytes(PAGE), Cell::new(self.cursor));
        let place = || {
            let mut next = cursor.get();
            let at = next.take(PAGE);
            cursor.set(next);
            at
        };
        let done = |done: crate::probes::commit::CommitTiming| OperationResult {
            flush_calls: 0,
            interrupted: done.interrupted,
        };
        let pass = match &self.kind {
            DescriptorMode::Refused => return Ok(vec![Pass::default()]),
            DescriptorMode::Kept(writer) => {
                stage.repeat("a write", PAGE as u64, MOST, || writer.commit(page, place()).map(done))?
            }
            DescriptorMode::Opened => stage.repeat("a write", PAGE as u64, MOST, || {
                let file = stage.scratch.open(FILE, OFlags::empty())?;
                Writer::new(Method::Floor, file).commit(page, place()).map(done)
            })?,
        };
        self.cursor = cursor.get();
        // Others should not pay for it.
        let file = stage.scratch.open(FILE, OFlags::empty());
        let settled = file.and_then(|file| Writer::new(Method::Floor, file).settle());
        settled.map_err(|errno| stage.failed(errno, "flushing the scratch file"))?;
        Ok(vec![pass])
    }
}

/// The largest number of writes in a pass: they are cheap, so that only this limits them.
const MOST: u64 = 200;
