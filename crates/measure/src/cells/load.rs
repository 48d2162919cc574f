//! One load on one candidate: sessions that commit to a log for a given time, and what that took.
//!
//! Sessions share flushes as PostgreSQL's do (`XLogFlush` in xlog.c): one that finds nobody
//! flushing leads and writes what all have inserted so far, others wait.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::files;
use super::timing::{LoadMeans, alone, together};
use crate::measure::Method;
use crate::probes::{PAGE, Pages, Rng, Writer, open_flags};
use crate::trial::{CommitShape, SEGMENT, Sample, TrialLoad};

/// Pages that a leader writes at once, at most.
const MOST_PAGES: u64 = 16;

/// Bytes of the file that a neighbour overwrites.
const NEIGHBOUR: u64 = 32 << 20;

/// Bytes to write, random.
pub fn pages(seed: u64) -> Pages {
    #[expect(clippy::cast_possible_truncation, reason = "a few pages")]
    Pages::noise(PAGE * MOST_PAGES as usize, &mut Rng::new(seed))
}

/// Runs a load in the directory of the log.
pub fn run(load: TrialLoad, log: &Path, means: &LoadMeans<'_>) -> Result<Sample, String> {
    let said = |e: Errno| format!("{}: {e}", load.name());
    match load.shape {
        CommitShape::Usual => shared(
            load.clients,
            &segment(log, Method::Fdatasync).map_err(said)?,
            means,
        ),
        CommitShape::TwoPages => single(
            &segment(log, Method::Fdatasync).map_err(said)?,
            2,
            SEGMENT,
            means,
        ),
        CommitShape::OpenDatasync => single(
            &segment(log, Method::OpenDatasync).map_err(said)?,
            1,
            SEGMENT,
            means,
        ),
        CommitShape::Fsync => single(
            &segment(log, Method::Fsync).map_err(said)?,
            1,
            SEGMENT,
            means,
        ),
        CommitShape::OpenSync => single(
            &segment(log, Method::OpenSync).map_err(said)?,
            1,
            SEGMENT,
            means,
        ),
        CommitShape::Appends => {
            let file = made(&log.join("growing"), OFlags::empty()).map_err(said)?;
            // It never wraps: a load ends long before.
            let sample = single(
                &Writer::new(Method::Fdatasync, file),
                1,
                u64::MAX / 2,
                means,
            );
            rustix::fs::unlink(log.join("growing"))
                .map_err(said)
                .and(sample)
        }
        CommitShape::Files => files::create(load.clients, log, means),
        CommitShape::Neighbour => {
            beside_a_writer(&segment(log, Method::Fdatasync).map_err(said)?, log, means)
        }
        CommitShape::WriteOnly => Err(format!("{}: only 0.1 ran them", load.name())),
    }
}

/// Commits of one page, one after the other, at a place of an open file or device: the floor, and
/// the host's file.
pub fn bare(file: rustix::fd::OwnedFd, at: u64, means: &LoadMeans<'_>) -> Result<Sample, String> {
    let writer = Writer::new(Method::FdatasyncDirect, file);
    let mut offset = 0;
    alone(means, || {
        let place = at + offset;
        offset = (offset + PAGE as u64) % SEGMENT;
        writer
            .commit(means.pages.bytes(PAGE), place)
            .map(|timing| timing.micros)
    })
}

/// The segment of the log, filled once in each candidate and overwritten from then on, opened for a
/// method.
fn segment(log: &Path, method: Method) -> Result<Writer, Errno> {
    let path = log.join("segment");
    if rustix::fs::stat(&path).is_err() {
        let file = made(&path, OFlags::empty())?;
        let piece = vec![1u8; 1 << 20];
        for at in (0..SEGMENT).step_by(1 << 20) {
            if rustix::io::pwrite(&file, &piece, at)? != piece.len() {
                return Err(Errno::NOSPC);
            }
        }
        rustix::fs::fsync(&file)?;
    }
    let file = rustix::fs::open(
        &path,
        OFlags::RDWR | OFlags::CLOEXEC | open_flags(method),
        Mode::empty(),
    )?;
    Ok(Writer::new(method, file))
}

fn made(path: &Path, flags: OFlags) -> Result<rustix::fd::OwnedFd, Errno> {
    let create = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    rustix::fs::open(path, create | flags, Mode::RUSR | Mode::WUSR)
}

fn single(
    writer: &Writer,
    pages: usize,
    wrap: u64,
    means: &LoadMeans<'_>,
) -> Result<Sample, String> {
    let (bytes, mut at) = (means.pages.bytes(pages * PAGE), 0);
    alone(means, || {
        if at + bytes.len() as u64 > wrap {
            at = 0;
        }
        let here = at;
        at += bytes.len() as u64;
        writer.commit(bytes, here).map(|timing| timing.micros)
    })
}

/// Where sessions that share a log are, in pages from its beginning.
#[derive(Default)]
struct Position {
    inserted: u64,
    flushed: u64,
    busy: bool,
    calls: u64,
    failed: Option<Errno>,
}

/// Sessions that share flushes.
fn shared(clients: u32, writer: &Writer, means: &LoadMeans<'_>) -> Result<Sample, String> {
    if clients <= 1 {
        return single(writer, 1, SEGMENT, means);
    }
    let (position, changed) = (Mutex::new(Position::default()), Condvar::new());
    let calls = || {
        Some(
            position
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .calls,
        )
    };
    let found = together(clients, means, &calls, &|_, _| {
        group_commit(&position, &changed, writer, means).is_ok()
    })?;
    let position = position
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    match position.failed {
        Some(errno) => Err(format!("a group commit: {errno}")),
        None => Ok(found),
    }
}

/// Inserts a page and returns when it is flushed, by this session or another.
fn group_commit(
    position: &Mutex<Position>,
    changed: &Condvar,
    writer: &Writer,
    means: &LoadMeans<'_>,
) -> Result<(), Errno> {
    let mut log = position.lock().unwrap_or_else(PoisonError::into_inner);
    log.inserted += 1;
    let wanted = log.inserted;
    loop {
        if let Some(errno) = log.failed {
            return Err(errno);
        }
        if log.flushed >= wanted {
            return Ok(());
        }
        if !log.busy {
            break;
        }
        log = changed.wait(log).unwrap_or_else(PoisonError::into_inner);
    }
    log.busy = true;
    let (from, to) = (log.flushed, log.inserted);
    drop(log);
    let done = write_pages(writer, means.pages, from, to);
    let mut log = position.lock().unwrap_or_else(PoisonError::into_inner);
    (log.busy, log.calls) = (false, log.calls + 1);
    match done {
        Ok(()) => log.flushed = to,
        Err(errno) => log.failed = Some(errno),
    }
    changed.notify_all();
    done
}

/// Writes pages of the log at their places and flushes once.
fn write_pages(writer: &Writer, pages: &Pages, from: u64, to: u64) -> Result<(), Errno> {
    let all = SEGMENT / PAGE as u64;
    let mut at = from;
    loop {
        let place = at % all;
        let count = (to - at).min(all - place).min(MOST_PAGES);
        let bytes = pages.bytes(usize::try_from(count).unwrap_or(1) * PAGE);
        at += count;
        if at >= to {
            return writer.commit(bytes, place * PAGE as u64).map(|_| ());
        }
        writer.write(bytes, place * PAGE as u64)?;
    }
}

/// One session, while another file of the file system is written without a flush.
fn beside_a_writer(writer: &Writer, log: &Path, means: &LoadMeans<'_>) -> Result<Sample, String> {
    let path = log.join("neighbour");
    let file = made(&path, OFlags::empty()).map_err(|e| format!("a neighbour: {e}"))?;
    let over = AtomicBool::new(false);
    let write = || {
        let mut at = 0;
        while !over.load(Ordering::Relaxed)
            && rustix::io::pwrite(&file, means.pages.bytes(usize::MAX), at).is_ok()
        {
            at = (at + MOST_PAGES * PAGE as u64) % NEIGHBOUR;
            // About 30 MB/s: a busy table beside the log, not a flood.
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    let sample = std::thread::scope(|scope| {
        let started = std::thread::Builder::new().spawn_scoped(scope, write);
        started.map_err(|e| format!("a neighbour: {e}"))?;
        let sample = single(writer, 1, SEGMENT, means);
        over.store(true, Ordering::Relaxed);
        sample
    });
    rustix::fs::unlink(&path)
        .map_err(|e| format!("a neighbour: {e}"))
        .and(sample)
}
