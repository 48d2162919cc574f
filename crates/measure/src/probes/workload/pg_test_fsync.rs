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

use super::context::{LoadGenerator, OperationOutcome, WorkloadContext};
use crate::measure::{Method, PG_TEST_FSYNC_CASES, PgTestFsyncCase, RoundSamples, RowSamples};
use crate::probes::commit_writer::{PAGE_BYTES, flush_file, retry_interrupted};
use crate::probes::{StopReason, open_flags};

const FILE_NAME: &str = "pg-test-fsync";

/// Writes between two clock readings in the test without flushes: one reading takes a tenth of the
/// time of one write.
const WRITES_PER_CLOCK_READ: usize = 64;

pub(super) fn create_load_generators(
    stage: &WorkloadContext<'_>,
) -> Result<Vec<Box<dyn LoadGenerator>>, StopReason> {
    stage.create_zeroed_file(FILE_NAME)?;
    let part = |test: PgTestFsyncCase| -> Result<Box<dyn LoadGenerator>, StopReason> {
        let opened = FileState::open_and_try_operation(test, stage)
            .map_err(|errno| stage.stop_reason_from_errno(errno, "opening the scratch file"))?;
        Ok(Box::new(PgTestFsyncLoad { test, opened }))
    };
    PG_TEST_FSYNC_CASES.into_iter().map(part).collect()
}

enum FileState {
    KeptOpen(OwnedFd),
    Reopened,
    /// The kernel refuses O_DIRECT, or O_DIRECT writes of the test's size.
    Refused,
}

impl FileState {
    fn open_and_try_operation(
        test: PgTestFsyncCase,
        stage: &WorkloadContext<'_>,
    ) -> Result<Self, Errno> {
        let Some(method) = test.method_under_test() else {
            return Ok(Self::Reopened);
        };
        let file = match stage.scratch.open_file(FILE_NAME, open_flags(method)) {
            Err(Errno::INVAL | Errno::OPNOTSUPP) if method.is_direct() => return Ok(Self::Refused),
            file => file?,
        };
        match run_operation(&file, test, method, stage) {
            Err(Errno::INVAL) if method.is_direct() => Ok(Self::Refused),
            done => done.map(|()| Self::KeptOpen(file)),
        }
    }
}

struct PgTestFsyncLoad {
    test: PgTestFsyncCase,
    opened: FileState,
}

impl LoadGenerator for PgTestFsyncLoad {
    fn empty_rows(&self) -> Vec<RowSamples> {
        let row = RowSamples::new(
            self.test.row_name(),
            (self.test.writes_per_operation() * self.test.bytes_per_write()) as u64,
        );
        let refused = matches!(self.opened, FileState::Refused)
            .then(|| "O_DIRECT is refused here".to_owned());
        vec![RowSamples {
            error: refused,
            ..row
        }]
    }

    fn run_round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<RoundSamples>, StopReason> {
        let bytes = (self.test.writes_per_operation() * self.test.bytes_per_write()) as u64;
        let pass = match (self.test.method_under_test(), &self.opened) {
            (Some(_), FileState::Refused) => RoundSamples::default(),
            (Some(method), FileState::KeptOpen(file)) if method.only_writes_page_cache() => {
                repeat_unsynced_writes(file, stage)?
            }
            (Some(method), FileState::KeptOpen(file)) => {
                repeat_after_warm_up(stage, bytes, || {
                    run_operation(file, self.test, method, stage)
                })?
            }
            _ => {
                let reopens = self.test == PgTestFsyncCase::WriteCloseFsync;
                repeat_after_warm_up(stage, bytes, || write_and_fsync_reopened(reopens, stage))?
            }
        };
        Ok(vec![pass])
    }
}

/// The first run is not counted, because it can include deferred work of another test.
fn repeat_after_warm_up(
    stage: &WorkloadContext<'_>,
    bytes: u64,
    mut operation: impl FnMut() -> Result<(), Errno>,
) -> Result<RoundSamples, StopReason> {
    stage.reserve_bytes(bytes)?;
    operation().map_err(|errno| stage.stop_reason_from_errno(errno, "a write"))?;
    stage.repeat_until_share_is_used("a write", bytes, u64::MAX, || {
        operation().map(|()| OperationOutcome {
            flush_calls: 1,
            interrupted: false,
        })
    })
}

fn run_operation(
    file: &OwnedFd,
    test: PgTestFsyncCase,
    method: Method,
    stage: &WorkloadContext<'_>,
) -> Result<(), Errno> {
    for nth in 0..test.writes_per_operation() {
        write_all_at(
            file,
            stage.pages.first_bytes(test.bytes_per_write()),
            (nth * test.bytes_per_write()) as u64,
        )?;
    }
    flush_file(method, file, &mut false)
}

fn write_all_at(file: &OwnedFd, bytes: &[u8], offset: u64) -> Result<(), Errno> {
    let written = retry_interrupted(&mut false, || rustix::io::pwrite(file, bytes, offset))?;
    if written == bytes.len() {
        Ok(())
    } else {
        Err(Errno::NOSPC)
    }
}

/// Calls open, write, fsync, close, open, close; with `reopens`, calls open, write, close, open,
/// fsync, close. `pg_test_fsync` makes the same calls.
fn write_and_fsync_reopened(reopens: bool, stage: &WorkloadContext<'_>) -> Result<(), Errno> {
    let open = || stage.scratch.open_file(FILE_NAME, OFlags::empty());
    let sync = |file: &OwnedFd| retry_interrupted(&mut false, || rustix::fs::fsync(file));
    let file = open()?;
    write_all_at(&file, stage.pages.first_bytes(PAGE_BYTES), 0)?;
    if !reopens {
        sync(&file)?;
    }
    drop(file);
    let file = open()?;
    if reopens { sync(&file) } else { Ok(()) }
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
    while pass.times_us.is_empty() || begun.elapsed() < stage.generator_time_limit() {
        stage.check_cancelled_and_time_limit()?;
        let start = Instant::now();
        for _ in 0..WRITES_PER_CLOCK_READ {
            write_all_at(file, page, 0)
                .map_err(|errno| stage.stop_reason_from_errno(errno, "a write"))?;
        }
        let each = start.elapsed().as_nanos() as f64 / 1e3 / WRITES_PER_CLOCK_READ as f64;
        pass.times_us.extend([each; WRITES_PER_CLOCK_READ]);
    }
    pass.seconds = begun.elapsed().as_secs_f64();
    Ok(pass)
}
