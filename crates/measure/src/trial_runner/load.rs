//! Runs the loads of a trial. Concurrent clients share flushes as in PostgreSQL (`XLogFlush` in
//! xlog.c): one client, the leader, writes and flushes everything inserted so far, while the others
//! wait.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::{
    LoadContext, run_file_creation_load, run_operation_in_client_threads, run_serial_commits,
};
use crate::measure::Method;
use crate::probes::{AlignedRandomBuffer, CommitWriter, PAGE_BYTES, Rng, open_flags};
use crate::trial::{LoadShape, SEGMENT_BYTES, TrialLoad, TrialSample};
use walwise_model::parallel::lock;

const MAX_PAGES_PER_WRITE: u64 = 16;

const NEIGHBOUR_BYTES: u64 = 32 << 20;

pub fn random_write_buffer(seed: u64) -> AlignedRandomBuffer {
    #[expect(clippy::cast_possible_truncation, reason = "a few pages")]
    AlignedRandomBuffer::random(
        PAGE_BYTES * MAX_PAGES_PER_WRITE as usize,
        &mut Rng::new(seed),
    )
}

pub fn run_load(
    load: TrialLoad,
    log: &Path,
    means: &LoadContext<'_>,
) -> Result<TrialSample, String> {
    let said = |e: Errno| format!("{}: {e}", load.name());
    match load.shape {
        LoadShape::Usual => run_group_commit_clients(
            load.clients,
            &open_or_create_segment(log, Method::Fdatasync).map_err(said)?,
            means,
        ),
        LoadShape::TwoPages => run_single_client_commits(
            &open_or_create_segment(log, Method::Fdatasync).map_err(said)?,
            2,
            SEGMENT_BYTES,
            means,
        ),
        LoadShape::OpenDatasync => run_single_client_commits(
            &open_or_create_segment(log, Method::OpenDatasync).map_err(said)?,
            1,
            SEGMENT_BYTES,
            means,
        ),
        LoadShape::Fsync => run_single_client_commits(
            &open_or_create_segment(log, Method::Fsync).map_err(said)?,
            1,
            SEGMENT_BYTES,
            means,
        ),
        LoadShape::OpenSync => run_single_client_commits(
            &open_or_create_segment(log, Method::OpenSync).map_err(said)?,
            1,
            SEGMENT_BYTES,
            means,
        ),
        LoadShape::Appends => {
            let file = create_file(&log.join("growing"), OFlags::empty()).map_err(said)?;
            // The limit is so large that the load ends before the offset wraps.
            let sample = run_single_client_commits(
                &CommitWriter::new(Method::Fdatasync, file),
                1,
                u64::MAX / 2,
                means,
            );
            rustix::fs::unlink(log.join("growing"))
                .map_err(said)
                .and(sample)
        }
        LoadShape::Files => run_file_creation_load(load.clients, log, means),
        LoadShape::Neighbour => run_commits_with_second_writer(
            &open_or_create_segment(log, Method::Fdatasync).map_err(said)?,
            log,
            means,
        ),
        LoadShape::WriteOnly => Err(format!("{}: only walwise 0.1 ran this load", load.name())),
    }
}

/// Makes one-page commits one after the other, from offset `at` of the raw extent or of the loop
/// file.
pub fn run_commits_without_filesystem(
    file: rustix::fd::OwnedFd,
    at: u64,
    means: &LoadContext<'_>,
) -> Result<TrialSample, String> {
    let writer = CommitWriter::new(Method::FdatasyncDirect, file);
    let mut offset = 0;
    run_serial_commits(means, || {
        let place = at + offset;
        offset = (offset + PAGE_BYTES as u64) % SEGMENT_BYTES;
        writer
            .write_and_flush_timed(means.pages.first_bytes(PAGE_BYTES), place)
            .map(|timing| timing.micros)
    })
}

/// The segment is filled once per candidate, then overwritten.
fn open_or_create_segment(log: &Path, method: Method) -> Result<CommitWriter, Errno> {
    let path = log.join("segment");
    if rustix::fs::stat(&path).is_err() {
        let file = create_file(&path, OFlags::empty())?;
        let piece = vec![1u8; 1 << 20];
        for at in (0..SEGMENT_BYTES).step_by(1 << 20) {
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
    Ok(CommitWriter::new(method, file))
}

fn create_file(path: &Path, flags: OFlags) -> Result<rustix::fd::OwnedFd, Errno> {
    let create = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    rustix::fs::open(path, create | flags, Mode::RUSR | Mode::WUSR)
}

fn run_single_client_commits(
    writer: &CommitWriter,
    pages: usize,
    wrap: u64,
    means: &LoadContext<'_>,
) -> Result<TrialSample, String> {
    let (bytes, mut at) = (means.pages.first_bytes(pages * PAGE_BYTES), 0);
    run_serial_commits(means, || {
        if at + bytes.len() as u64 > wrap {
            at = 0;
        }
        let here = at;
        at += bytes.len() as u64;
        writer
            .write_and_flush_timed(bytes, here)
            .map(|timing| timing.micros)
    })
}

/// Positions are in pages from the beginning of the log, and never decrease.
#[derive(Default)]
struct GroupCommitState {
    inserted: u64,
    flushed: u64,
    is_flushing: bool,
    calls: u64,
    failed: Option<Errno>,
}

fn run_group_commit_clients(
    clients: u32,
    writer: &CommitWriter,
    means: &LoadContext<'_>,
) -> Result<TrialSample, String> {
    if clients <= 1 {
        return run_single_client_commits(writer, 1, SEGMENT_BYTES, means);
    }
    let (position, changed) = (Mutex::new(GroupCommitState::default()), Condvar::new());
    let calls = || Some(lock(&position).calls);
    let found = run_operation_in_client_threads(clients, means, &calls, &|_, _| {
        commit_page_in_group(&position, &changed, writer, means).is_ok()
    })?;
    let position = position
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    match position.failed {
        Some(errno) => Err(format!("a group commit failed: {errno}")),
        None => Ok(found),
    }
}

fn commit_page_in_group(
    position: &Mutex<GroupCommitState>,
    changed: &Condvar,
    writer: &CommitWriter,
    means: &LoadContext<'_>,
) -> Result<(), Errno> {
    let mut log = lock(position);
    log.inserted += 1;
    let wanted = log.inserted;
    loop {
        if let Some(errno) = log.failed {
            return Err(errno);
        }
        if log.flushed >= wanted {
            return Ok(());
        }
        if !log.is_flushing {
            break;
        }
        log = changed.wait(log).unwrap_or_else(PoisonError::into_inner);
    }
    log.is_flushing = true;
    let (from, to) = (log.flushed, log.inserted);
    drop(log);
    let done = write_and_flush_pages(writer, means.pages, from, to);
    let mut log = lock(position);
    (log.is_flushing, log.calls) = (false, log.calls + 1);
    match done {
        Ok(()) => log.flushed = to,
        Err(errno) => log.failed = Some(errno),
    }
    changed.notify_all();
    done
}

fn write_and_flush_pages(
    writer: &CommitWriter,
    pages: &AlignedRandomBuffer,
    from: u64,
    to: u64,
) -> Result<(), Errno> {
    let all = SEGMENT_BYTES / PAGE_BYTES as u64;
    let mut at = from;
    loop {
        let place = at % all;
        let count = (to - at).min(all - place).min(MAX_PAGES_PER_WRITE);
        let bytes = pages.first_bytes(usize::try_from(count).unwrap_or(1) * PAGE_BYTES);
        at += count;
        if at >= to {
            return writer
                .write_and_flush_timed(bytes, place * PAGE_BYTES as u64)
                .map(|_| ());
        }
        writer.write_unflushed(bytes, place * PAGE_BYTES as u64)?;
    }
}

fn run_commits_with_second_writer(
    writer: &CommitWriter,
    log: &Path,
    means: &LoadContext<'_>,
) -> Result<TrialSample, String> {
    let path = log.join("neighbour");
    let file = create_file(&path, OFlags::empty())
        .map_err(|e| format!("creating the second writer's file failed: {e}"))?;
    let over = AtomicBool::new(false);
    let write = || {
        let mut at = 0;
        while !over.load(Ordering::Relaxed)
            && rustix::io::pwrite(&file, means.pages.first_bytes(usize::MAX), at).is_ok()
        {
            at = (at + MAX_PAGES_PER_WRITE * PAGE_BYTES as u64) % NEIGHBOUR_BYTES;
            // The pause limits the second writer to 128 KiB per 2 ms, about 60 MB/s into the page
            // cache.
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    let sample = std::thread::scope(|scope| {
        let started = std::thread::Builder::new().spawn_scoped(scope, write);
        started.map_err(|e| format!("starting the second writer failed: {e}"))?;
        let sample = run_single_client_commits(writer, 1, SEGMENT_BYTES, means);
        over.store(true, Ordering::Relaxed);
        sample
    });
    rustix::fs::unlink(&path)
        .map_err(|e| format!("removing the second writer's file failed: {e}"))
        .and(sample)
}
