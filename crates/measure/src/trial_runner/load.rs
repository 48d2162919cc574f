//! Runs the loads of a trial. Concurrent clients share flushes as in PostgreSQL (`XLogFlush` in
//! xlog.c): one client, the leader, writes and flushes everything inserted so far, while the others
//! wait.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::CWD;
use rustix::io::Errno;

use super::{
    LoadContext, run_file_creation_load, run_operation_in_client_threads, run_serial_commits,
};
use crate::measure::Method;
use crate::probes::{
    AlignedBuffer, CommitWriter, CyclicWriteCursor, GroupCommitLog, PAGE_BYTES, Rng, create_file,
    open_file, open_flags, pwrite_all, run_beside_writer,
};
use crate::trial::{LoadShape, SEGMENT_BYTES, TrialLoad, TrialSample};

const MAX_PAGES_PER_WRITE: usize = 16;

const NEIGHBOUR_BYTES: u64 = 32 << 20;

pub fn random_content_buffer(seed: u64) -> AlignedBuffer {
    AlignedBuffer::random(PAGE_BYTES * MAX_PAGES_PER_WRITE, &mut Rng::new(seed))
}

pub fn run_load(
    load: TrialLoad,
    log: &Path,
    context: &LoadContext<'_>,
) -> Result<TrialSample, String> {
    let said = |e: Errno| format!("{}: {e}", load.name());
    let commit_to_segment = |method, pages| {
        let writer = open_or_create_segment(log, method).map_err(said)?;
        run_serial_commits(&writer, 0..SEGMENT_BYTES, pages, context)
    };
    match load.shape {
        LoadShape::Usual if load.clients > 1 => {
            let writer = open_or_create_segment(log, Method::Fdatasync).map_err(said)?;
            run_group_commit_clients(load.clients, &writer, context)
        }
        LoadShape::Usual => commit_to_segment(Method::Fdatasync, 1),
        LoadShape::TwoPages => commit_to_segment(Method::Fdatasync, 2),
        LoadShape::OpenDatasync => commit_to_segment(Method::OpenDatasync, 1),
        LoadShape::Fsync => commit_to_segment(Method::Fsync, 1),
        LoadShape::OpenSync => commit_to_segment(Method::OpenSync, 1),
        LoadShape::Appends => {
            let file = create_file(CWD, log.join("growing")).map_err(said)?;
            // The limit is so large that the load ends before the offset wraps.
            let writer = CommitWriter::new(Method::Fdatasync, file);
            let sample = run_serial_commits(&writer, 0..u64::MAX / 2, 1, context);
            rustix::fs::unlink(log.join("growing"))
                .map_err(said)
                .and(sample)
        }
        LoadShape::Files => run_file_creation_load(load.clients, log, context),
        LoadShape::Neighbour => {
            let writer = open_or_create_segment(log, Method::Fdatasync).map_err(said)?;
            run_commits_with_second_writer(&writer, log, context)
        }
        LoadShape::WriteOnly => Err(format!(
            "{}: this load exists only in walwise 0.1",
            load.name()
        )),
    }
}

/// Makes one-page commits one after the other, from offset `at` of the raw extent or of the loop
/// file.
pub fn run_commits_without_filesystem(
    file: OwnedFd,
    at: u64,
    context: &LoadContext<'_>,
) -> Result<TrialSample, String> {
    let writer = CommitWriter::new(Method::FdatasyncDirect, file);
    run_serial_commits(&writer, at..at + SEGMENT_BYTES, 1, context)
}

/// The segment is filled once per candidate, then overwritten.
fn open_or_create_segment(log: &Path, method: Method) -> Result<CommitWriter, Errno> {
    let path = log.join("segment");
    if rustix::fs::stat(&path).is_err() {
        let file = create_file(CWD, &path)?;
        let piece = vec![1u8; 1 << 20];
        for at in (0..SEGMENT_BYTES).step_by(1 << 20) {
            pwrite_all(&file, &piece, at)?;
        }
        rustix::fs::fsync(&file)?;
    }
    let file = open_file(CWD, &path, open_flags(method))?;
    Ok(CommitWriter::new(method, file))
}

fn run_group_commit_clients(
    clients: u32,
    writer: &CommitWriter,
    context: &LoadContext<'_>,
) -> Result<TrialSample, String> {
    let (log, calls, failed) = (
        GroupCommitLog::default(),
        AtomicU64::new(0),
        OnceLock::<Errno>::new(),
    );
    let flush = |part| {
        // The kernel may drop the pages of a failed flush, so that a repeated one succeeds.
        if let Some(errno) = failed.get() {
            return Err(*errno);
        }
        let done = writer.write_cyclically_and_flush(context.pages, SEGMENT_BYTES, part);
        calls.fetch_add(1, Ordering::Relaxed);
        done.map_err(|errno| *failed.get_or_init(|| errno))
    };
    run_operation_in_client_threads(
        "a group commit",
        clients,
        context,
        &|| Some(calls.load(Ordering::Relaxed)),
        &|_, _| {
            let done = log.insert_and_await_flush(PAGE_BYTES as u64, flush);
            done.map(drop)
        },
    )
}

fn run_commits_with_second_writer(
    writer: &CommitWriter,
    log: &Path,
    context: &LoadContext<'_>,
) -> Result<TrialSample, String> {
    let path = log.join("neighbour");
    let file = create_file(CWD, &path)
        .map_err(|e| format!("creating the second writer's file failed: {e}"))?;
    let bytes = context.pages.first_bytes(usize::MAX);
    let mut place = CyclicWriteCursor::new(0, NEIGHBOUR_BYTES);
    let write = || {
        pwrite_all(&file, bytes, place.next_write_offset(bytes.len()))?;
        // The pause limits the second writer to 128 KiB per 2 ms, about 60 MB/s into the page
        // cache.
        std::thread::sleep(Duration::from_millis(2));
        Ok::<_, Errno>(())
    };
    let both = run_beside_writer(write, || {
        run_serial_commits(writer, 0..SEGMENT_BYTES, 1, context)
    })
    .map_err(|e| format!("starting the second writer failed: {e}"));
    let removed = rustix::fs::unlink(&path)
        .map_err(|e| format!("removing the second writer's file failed: {e}"));
    // The second writer stops at an error, such as a full disk; the commits show it.
    removed.and_then(|()| both?.0)
}
