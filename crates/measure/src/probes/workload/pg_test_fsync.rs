//! Runs the tests of `pg_test_fsync`, call for call as in version 15
//! (src/bin/pg_test_fsync/pg_test_fsync.c). Tests take turns in rounds, so that a disk whose speed
//! drifts favours no test.
//!
//! A disk with sectors of 4 kB refuses O_DIRECT writes of 1 and 2 kB. `pg_test_fsync` exits then;
//! here, only the rows of these sizes are missing.

use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::context::{Load, OperationOutcome, WorkloadContext};
use crate::measure::{Method, PG_TEST_FSYNC_SECTIONS, PgTestFsyncTest, RoundSamples, RowSamples};
use crate::probes::commit_writer::{PAGE_BYTES, flush_file, pwrite_all};
use crate::probes::file_calls::fsync;
use crate::probes::{StopReason, open_flags};

const FILE_NAME: &str = "pg-test-fsync";

/// Writes between two clock readings in the test without flushes: one reading takes a tenth of the
/// time of one write.
const WRITES_PER_CLOCK_READ: usize = 64;

pub(super) fn pg_test_fsync_loads(stage: &WorkloadContext<'_>) -> Result<Vec<Load>, StopReason> {
    stage.create_zeroed_file(FILE_NAME)?;
    let mut loads = Vec::new();
    for section in PG_TEST_FSYNC_SECTIONS {
        for test in section.tests {
            loads.push(pg_test_fsync_load(
                section.workload_row_name(test),
                *test,
                stage,
            )?);
        }
    }
    Ok(loads)
}

fn pg_test_fsync_load(
    row_name: String,
    test: PgTestFsyncTest,
    stage: &WorkloadContext<'_>,
) -> Result<Load, StopReason> {
    let bytes = (test.writes_per_operation * test.bytes_per_write) as u64;
    let row = RowSamples::new(row_name, bytes);
    let Some(method) = test.method else {
        let reopens = test.label == PgTestFsyncTest::WRITE_CLOSE_FSYNC;
        return Ok(Load::new(row, move |stage| {
            repeat_after_warm_up(stage, bytes, || write_and_fsync_reopened(reopens, stage))
        }));
    };
    // The kernel may refuse O_DIRECT, or O_DIRECT writes of the test's size.
    let opened = stage
        .scratch
        .open_file(FILE_NAME, open_flags(method))
        .and_then(|file| run_operation(&file, test, method, stage).map(|()| file));
    match opened {
        Err(Errno::INVAL | Errno::OPNOTSUPP) if method.is_direct() => {
            let row = RowSamples {
                error: Some("the file system refuses O_DIRECT".to_owned()),
                ..row
            };
            Ok(Load::new(row, |_| Ok(RoundSamples::default())))
        }
        Err(errno) => Err(stage.failure("opening the scratch file")(errno)),
        Ok(file) => Ok(Load::new(row, move |stage| {
            if method == Method::Floor {
                repeat_unsynced_writes(&file, stage)
            } else {
                repeat_after_warm_up(stage, bytes, || run_operation(&file, test, method, stage))
            }
        })),
    }
}

/// The first run is not counted, because it can include deferred work of another test.
fn repeat_after_warm_up(
    stage: &WorkloadContext<'_>,
    bytes: u64,
    mut operation: impl FnMut() -> Result<(), Errno>,
) -> Result<RoundSamples, StopReason> {
    stage.reserve_bytes(bytes)?;
    operation().map_err(stage.failure("a write"))?;
    stage.repeat_until_share_is_used("a write", bytes, u64::MAX, || {
        operation().map(|()| OperationOutcome {
            flush_calls: 1,
            interrupted: false,
        })
    })
}

fn run_operation(
    file: &OwnedFd,
    test: PgTestFsyncTest,
    method: Method,
    stage: &WorkloadContext<'_>,
) -> Result<(), Errno> {
    for nth in 0..test.writes_per_operation {
        pwrite_all(
            file,
            stage.pages.first_bytes(test.bytes_per_write),
            (nth * test.bytes_per_write) as u64,
        )?;
    }
    flush_file(method, file, &mut false)
}

/// Calls open, write, fsync, close, open, close; with `reopens`, calls open, write, close, open,
/// fsync, close. `pg_test_fsync` makes the same calls.
fn write_and_fsync_reopened(reopens: bool, stage: &WorkloadContext<'_>) -> Result<(), Errno> {
    let open = || stage.scratch.open_file(FILE_NAME, OFlags::empty());
    let file = open()?;
    pwrite_all(&file, stage.pages.first_bytes(PAGE_BYTES), 0)?;
    if !reopens {
        fsync(&file)?;
    }
    drop(file);
    let file = open()?;
    if reopens { fsync(&file) } else { Ok(()) }
}

/// Writes repeatedly into one page of the page cache. The bytes do not count against the write
/// limit, because the kernel writes only that page to the disk, and only occasionally.
fn repeat_unsynced_writes(
    file: &OwnedFd,
    stage: &WorkloadContext<'_>,
) -> Result<RoundSamples, StopReason> {
    let page = stage.pages.first_bytes(PAGE_BYTES);
    let mut pass = RoundSamples::default();
    let begun = Instant::now();
    while pass.times_us.is_empty() || begun.elapsed() < stage.generator_time_limit {
        stage.check_cancelled_and_time_limit()?;
        let start = Instant::now();
        for _ in 0..WRITES_PER_CLOCK_READ {
            pwrite_all(file, page, 0).map_err(stage.failure("a write"))?;
        }
        let each = start.elapsed().as_nanos() as f64 / 1e3 / WRITES_PER_CLOCK_READ as f64;
        pass.times_us.extend([each; WRITES_PER_CLOCK_READ]);
    }
    pass.seconds = begun.elapsed().as_secs_f64();
    Ok(pass)
}
