//! The tests of `pg_test_fsync`, call for call as in version 15
//! (src/bin/pg_test_fsync/pg_test_fsync.c), but in rounds, so that a drifting disk favours none. A
//! disk of 4 kB sectors refuses O_DIRECT writes of 1 and 2 kB: that affects their own rows only;
//! the tool exits.

use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::context::{LoadGenerator, OperationResult, WorkloadContext};
use crate::measure::{Method, PG_TESTS, Pass, PgTest, Series};
use crate::probes::commit::{PAGE_BYTES, flush, retry_interrupted};
use crate::probes::control::Stop;
use crate::probes::method::open_flags;

const FILE_NAME: &str = "pg-test-fsync";

/// Writes between two clock readings without flushes: a reading costs a tenth of such a write.
const WRITES_PER_CLOCK_READ: usize = 64;

pub(super) fn prepare(stage: &WorkloadContext<'_>) -> Result<Vec<Box<dyn LoadGenerator>>, Stop> {
    stage.create_filled_file(FILE_NAME)?;
    let part = |test: PgTest| -> Result<Box<dyn LoadGenerator>, Stop> {
        let opened = FileState::open(test, stage)
            .map_err(|errno| stage.stop_error(errno, "opening the scratch file"))?;
        Ok(Box::new(TestPart { test, opened }))
    };
    PG_TESTS.into_iter().map(part).collect()
}

/// How a test has its file opened.
enum FileState {
    KeptOpen(OwnedFd),
    /// Opened for every operation.
    Reopened,
    /// O_DIRECT is refused, or writes of its size with it.
    Refused,
}

impl FileState {
    fn open(test: PgTest, stage: &WorkloadContext<'_>) -> Result<Self, Errno> {
        let Some(method) = test.method() else {
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

struct TestPart {
    test: PgTest,
    opened: FileState,
}

impl LoadGenerator for TestPart {
    fn rows(&self) -> Vec<Series> {
        let row = Series::new(
            self.test.name(),
            (self.test.writes_per_operation() * self.test.bytes_per_write()) as u64,
        );
        let refused = matches!(self.opened, FileState::Refused)
            .then(|| "O_DIRECT is refused here".to_owned());
        vec![Series {
            error: refused,
            ..row
        }]
    }

    fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
        let bytes = (self.test.writes_per_operation() * self.test.bytes_per_write()) as u64;
        let pass = match (self.test.method(), &self.opened) {
            (Some(_), FileState::Refused) => Pass::default(),
            (Some(method), FileState::KeptOpen(file)) if method.is_floor() => {
                unsynced_writes(file, stage)?
            }
            (Some(method), FileState::KeptOpen(file)) => repeat(stage, bytes, || {
                run_operation(file, self.test, method, stage)
            })?,
            _ => {
                let reopens = self.test == PgTest::WriteCloseFsync;
                repeat(stage, bytes, || other_descriptor(reopens, stage))?
            }
        };
        Ok(vec![pass])
    }
}

/// Repeats an operation. The first one does not count: it may pay for what another test left.
fn repeat(
    stage: &WorkloadContext<'_>,
    bytes: u64,
    mut operation: impl FnMut() -> Result<(), Errno>,
) -> Result<Pass, Stop> {
    stage.reserve_bytes(bytes)?;
    operation().map_err(|errno| stage.stop_error(errno, "a write"))?;
    stage.repeat("a write", bytes, u64::MAX, || {
        operation().map(|()| OperationResult {
            flush_calls: 1,
            interrupted: false,
        })
    })
}

/// One operation: its writes from the beginning of the file, then the flush.
fn run_operation(
    file: &OwnedFd,
    test: PgTest,
    method: Method,
    stage: &WorkloadContext<'_>,
) -> Result<(), Errno> {
    for nth in 0..test.writes_per_operation() {
        write_all(
            file,
            stage.pages.bytes(test.bytes_per_write()),
            (nth * test.bytes_per_write()) as u64,
        )?;
    }
    flush(method, file, &mut false)
}

fn write_all(file: &OwnedFd, bytes: &[u8], offset: u64) -> Result<(), Errno> {
    let written = retry_interrupted(&mut false, || rustix::io::pwrite(file, bytes, offset))?;
    if written == bytes.len() {
        Ok(())
    } else {
        Err(Errno::NOSPC)
    }
}

/// Flush through another descriptor: write, fsync, close, open, close; or write, close, open,
/// fsync, close.
fn other_descriptor(reopens: bool, stage: &WorkloadContext<'_>) -> Result<(), Errno> {
    let open = || stage.scratch.open_file(FILE_NAME, OFlags::empty());
    let sync = |file: &OwnedFd| retry_interrupted(&mut false, || rustix::fs::fsync(file));
    let file = open()?;
    write_all(&file, stage.pages.bytes(PAGE_BYTES), 0)?;
    if !reopens {
        sync(&file)?;
    }
    drop(file);
    let file = open()?;
    if reopens { sync(&file) } else { Ok(()) }
}

/// Writes repeatedly into one page of the page cache. Only that page reaches the disk now and then,
/// so these bytes do not count against the limit.
fn unsynced_writes(file: &OwnedFd, stage: &WorkloadContext<'_>) -> Result<Pass, Stop> {
    let page = stage.pages.bytes(PAGE_BYTES);
    let mut pass = Pass::default();
    let begun = Instant::now();
    while pass.times_us.is_empty() || begun.elapsed() < stage.share_time() {
        stage.check()?;
        let start = Instant::now();
        for _ in 0..WRITES_PER_CLOCK_READ {
            write_all(file, page, 0).map_err(|errno| stage.stop_error(errno, "a write"))?;
        }
        let each = start.elapsed().as_nanos() as f64 / 1e3 / WRITES_PER_CLOCK_READ as f64;
        pass.times_us.extend([each; WRITES_PER_CLOCK_READ]);
    }
    pass.seconds = begun.elapsed().as_secs_f64();
    Ok(pass)
}
