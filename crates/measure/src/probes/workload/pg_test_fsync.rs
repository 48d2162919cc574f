//! The tests of `pg_test_fsync`, call for call as version 15 makes them
//! (src/bin/pg_test_fsync/pg_test_fsync.c): always at the beginning of a file of 16 MiB, the open
//! methods with O_DIRECT, each 8 kB page in a write of its own.
//!
//! The order differs: rounds in turn instead of one test after the other, so that a drifting disk
//! favours none. A disk of 4 kB sectors refuses writes of 1 and 2 kB with O_DIRECT. Here that
//! affects their own rows only; the tool exits.

use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::stage::{LoadGenerator, OperationResult, WorkloadContext};
use crate::measure::{Method, PG_TESTS, Pass, PgTest, Series};
use crate::probes::commit::{PAGE, again, flush};
use crate::probes::control::Stop;
use crate::probes::method::open_flags;

const FILE: &str = "pg-test-fsync";

/// The number of writes between two readings of the clock where nothing is flushed: a reading costs
/// as much as a tenth of such a write.
const UNSYNCED: usize = 64;

pub(super) fn prepare(stage: &WorkloadContext<'_>) -> Result<Vec<Box<dyn LoadGenerator>>, Stop> {
    stage.filled(FILE)?;
    let part = |test: PgTest| -> Result<Box<dyn LoadGenerator>, Stop> {
        let opened = Opened::open(test, stage)
            .map_err(|errno| stage.failed(errno, "opening the scratch file"))?;
        Ok(Box::new(TestPart { test, opened }))
    };
    PG_TESTS.into_iter().map(part).collect()
}

/// The state of the file that a test needs.
enum Opened {
    Kept(OwnedFd),
    /// Opened for every operation.
    Anew,
    /// Refused: O_DIRECT, or writes of its size with it.
    Refused,
}

impl Opened {
    fn open(test: PgTest, stage: &WorkloadContext<'_>) -> Result<Self, Errno> {
        let Some(method) = test.method() else {
            return Ok(Self::Anew);
        };
        let file = match stage.scratch.open(FILE, open_flags(method)) {
            Err(Errno::INVAL | Errno::OPNOTSUPP) if method.is_direct() => return Ok(Self::Refused),
            file => file?,
        };
        match once(&file, test, method, stage) {
            Err(Errno::INVAL) if method.is_direct() => Ok(Self::Refused),
            done => done.map(|()| Self::Kept(file)),
        }
    }
}

struct TestPart {
    test: PgTest,
    opened: Opened,
}

impl LoadGenerator for TestPart {
    fn rows(&self) -> Vec<Series> {
        let row = Series::new(
            self.test.name(),
            (self.test.writes() * self.test.bytes()) as u64,
        );
        let refused =
            matches!(self.opened, Opened::Refused).then(|| "O_DIRECT is refused here".to_owned());
        vec![Series {
            error: refused,
            ..row
        }]
    }

    fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
        let bytes = (self.test.writes() * self.test.bytes()) as u64;
        let pass = match (self.test.method(), &self.opened) {
            (Some(_), Opened::Refused) => Pass::default(),
            (Some(method), Opened::Kept(file)) if method.is_floor() => unsynced(file, stage)?,
            (Some(method), Opened::Kept(file)) => {
                repeat(stage, bytes, || once(file, self.test, method, stage))?
            }
            _ => {
                let reopens = self.test == PgTest::WriteCloseFsync;
                repeat(stage, bytes, || other_descriptor(reopens, stage))?
            }
        };
        Ok(vec![pass])
    }
}

/// Repeats an operation. The first one is not counted, because it may pay for another test's
/// remains.
fn repeat(
    stage: &WorkloadContext<'_>,
    bytes: u64,
    mut operation: impl FnMut() -> Result<(), Errno>,
) -> Result<Pass, Stop> {
    stage.spend(bytes)?;
    operation().map_err(|errno| stage.failed(errno, "a write"))?;
    stage.repeat("a write", bytes, u64::MAX, || {
        operation().map(|()| OperationResult {
            flush_calls: 1,
            interrupted: false,
        })
    })
}

/// One operation on an open file: its writes one after the other from the beginning, then the
/// flush.
fn once(
    file: &OwnedFd,
    test: PgTest,
    method: Method,
    stage: &WorkloadContext<'_>,
) -> Result<(), Errno> {
    for nth in 0..test.writes() {
        write(
            file,
            stage.pages.bytes(test.bytes()),
            (nth * test.bytes()) as u64,
        )?;
    }
    flush(method, file, &mut false)
}

fn write(file: &OwnedFd, bytes: &[u8], offset: u64) -> Result<(), Errno> {
    let written = again(&mut false, || rustix::io::pwrite(file, bytes, offset))?;
    if written == bytes.len() {
        Ok(())
    } else {
        Err(Errno::NOSPC)
    }
}

/// Whether a flush through another descriptor counts: write, fsync, close, open, close; or write,
/// close, open, fsync, close.
fn other_descriptor(reopens: bool, stage: &WorkloadContext<'_>) -> Result<(), Errno> {
    let open = || stage.scratch.open(FILE, OFlags::empty());
    let sync = |file: &OwnedFd| again(&mut false, || rustix::fs::fsync(file));
    let file = open()?;
    write(&file, stage.pages.bytes(PAGE), 0)?;
    if !reopens {
        sync(&file)?;
    }
    drop(file);
    let file = open()?;
    if reopens { sync(&file) } else { Ok(()) }
}

/// Writes into one page of the page cache repeatedly. Only that page reaches the disk, now and
/// then, so they do not count against the budget of bytes.
fn unsynced(file: &OwnedFd, stage: &WorkloadContext<'_>) -> Result<Pass, Stop> {
    let page = stage.pages.bytes(PAGE);
    let mut pass = Pass::default();
    let begun = Instant::now();
    while pass.times_us.is_empty() || begun.elapsed() < stage.share() {
        stage.check()?;
        let start = Instant::now();
        for _ in 0..UNSYNCED {
            write(file, page, 0).map_err(|errno| stage.failed(errno, "a write"))?;
        }
        let each = start.elapsed().as_nanos() as f64 / 1e3 / UNSYNCED as f64;
        pass.times_us.extend([each; UNSYNCED]);
    }
    pass.seconds = begun.elapsed().as_secs_f64();
    Ok(pass)
}
