//! First writes into a WAL segment that is recycled (`wal_recycle`), zero-filled (`wal_init_zero`),
//! or has only its last byte written.
//!
//! fdatasync of a first write into a hole commits the file system's journal; fdatasync of an
//! overwrite need not.
//!
//! Creation is timed too, with the server's calls (`XLogFileInitInternal` in xlog.c,
//! `durable_rename` in fd.c).

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::context::{Load, OperationOutcome, WorkloadContext};
use crate::measure::{Method, RoundSamples, RowSamples};
use crate::probes::StopReason;
use crate::probes::commit_writer::{PAGE_BYTES, pwrite_all};
use crate::probes::file_calls::fsync;

/// Name of a new segment until it is complete and renamed to [`USED_NAME`].
const NEW_NAME: &str = "segment-new";
const USED_NAME: &str = "segment";
/// The recycled segment has one of these names and gets the other in the next round.
const RECYCLED_NAMES: [&str; 2] = ["segment-old", "segment-recycled"];

pub(super) fn segment_loads(stage: &WorkloadContext<'_>) -> Result<Vec<Load>, StopReason> {
    stage.create_zeroed_file(RECYCLED_NAMES[0])?;
    Ok(loads_of_segments(stage.file_bytes).into())
}

fn loads_of_segments(file_bytes: u64) -> [Load; 3] {
    [
        recycled_segment_load(),
        new_segment_load("filled with zeros", "filling with zeros", file_bytes),
        new_segment_load("not filled", "creating, not filled", 1),
    ]
}

fn recycled_segment_load() -> Load {
    let [mut from, mut to] = RECYCLED_NAMES;
    Load {
        rows: vec![
            RowSamples::new("recycled", PAGE_BYTES as u64),
            RowSamples::new("recycling", 0),
        ],
        bytes_outside_operations: 0,
        run_round: Box::new(move |stage| {
            let made = stage.time_single_operation(3, || durable_rename(stage, from, to))?;
            std::mem::swap(&mut from, &mut to);
            Ok(vec![measure_segment_commits(stage, from)?, made])
        }),
    }
}

/// The file gets `bytes` bytes of zeros; with 1, only its last byte is written.
fn new_segment_load(used: &str, made: &str, bytes: u64) -> Load {
    let is_filled = bytes > 1;
    Load {
        rows: vec![
            RowSamples::new(used, PAGE_BYTES as u64).with_ratio_to_row(0),
            RowSamples::new(made, u64::from(!is_filled)).with_ratio_to_row(1),
        ],
        bytes_outside_operations: bytes,
        run_round: Box::new(move |stage| {
            let made = stage.time_single_operation(4, || {
                let file = stage.create_file(NEW_NAME)?;
                if is_filled {
                    stage.fill_with_zeros(&file)?;
                } else {
                    // A server without `wal_init_zero` creates its segments in this way.
                    stage.reserve_bytes(1)?;
                    pwrite_all(&file, &[0], stage.file_bytes - 1)
                        .and_then(|()| fsync(&file))
                        .map_err(stage.failure("creating a segment"))?;
                }
                drop(file);
                durable_rename(stage, NEW_NAME, USED_NAME)
            })?;
            let used = measure_segment_commits(stage, USED_NAME)?;
            // The removal is flushed, so that no later commit has to write it to the journal.
            let removed = stage
                .scratch
                .unlink(USED_NAME)
                .and_then(|()| stage.scratch.sync_directory());
            removed.map_err(stage.failure("removing a segment"))?;
            Ok(vec![used, made])
        }),
    }
}

/// Makes the calls of PostgreSQL's `durable_rename`: fsync of the file under both names, and of the
/// directory.
fn durable_rename(stage: &WorkloadContext<'_>, from: &str, to: &str) -> Result<(), StopReason> {
    let flush = |name| fsync(stage.scratch.open_file(name, OFlags::empty())?);
    let renamed = flush(from)
        .and_then(|()| stage.scratch.rename(from, to))
        .and_then(|()| flush(to))
        .and_then(|()| stage.scratch.sync_directory());
    renamed.map_err(stage.failure("renaming a segment"))
}

fn measure_segment_commits(
    stage: &WorkloadContext<'_>,
    name: &str,
) -> Result<RoundSamples, StopReason> {
    let writer = stage.open_writer(name, Method::Fdatasync, false)?;
    let page = PAGE_BYTES as u64;
    let mut at = 0;
    stage.repeat_until_share_is_used(
        "a commit into a segment",
        page,
        stage.file_bytes / page,
        || {
            let done = writer.write_and_flush_timed(stage.pages.first_bytes(PAGE_BYTES), at)?;
            at += page;
            Ok::<_, Errno>(OperationOutcome {
                flush_calls: 1,
                interrupted: done.interrupted,
            })
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Workload, WorkloadResult};

    #[test]
    fn sentence_finds_every_row_of_the_loads() {
        let round = RoundSamples {
            times_us: vec![100.0],
            seconds: 1e-4,
            ..RoundSamples::default()
        };
        let rows = loads_of_segments(1 << 24)
            .into_iter()
            .flat_map(|load| load.rows);
        let rows: Vec<RowSamples> = rows
            .map(|row| RowSamples {
                rounds: vec![round.clone(); 8],
                ..row
            })
            .collect();
        let sentence = WorkloadResult::new(Workload::Segment, &rows, false).sentence;
        assert!(
            sentence.starts_with("A commit into a recycled segment takes 100 µs."),
            "{sentence}"
        );
    }
}
