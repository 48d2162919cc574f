//! Workloads next to the comparison of methods. Each module has a `prepare` that creates files and
//! returns load generators; a generator names its rows and runs one round of them.
//!
//! A round runs every generator once in random order and counts only if complete; the first is
//! warm-up. There is no early end on success: these figures are for information.

mod context;
mod interference;
mod files {
    //! Small files durably renamed, as programs replace files atomically: create, write 4 kB,
    //! fsync, rename, fsync of the directory. ext4's fast_commit is meant for this; a server's WAL
    //! does not use it. All threads share one directory; files of a pass are removed outside the
    //! measured time.

    use rustix::fs::OFlags;
    use rustix::io::Errno;

    use super::context::{LoadGenerator, OperationResult, WorkloadContext};
    use crate::measure::{Pass, Series};
    use crate::probes::commit::retry_interrupted;
    use crate::probes::control::Stop;

    const THREADS: [u32; 4] = [1, 2, 4, 8];

    /// Bytes of a file.
    const FILE_BYTES: usize = 4096;

    /// Most files of a pass.
    pub(in crate::probes) const MAX_FILES: u64 = 2_000;

    pub(super) fn prepare(_: &WorkloadContext<'_>) -> Vec<Box<dyn LoadGenerator>> {
        THREADS
            .into_iter()
            .map(|threads| Box::new(Files { threads }) as Box<dyn LoadGenerator>)
            .collect()
    }

    struct Files {
        threads: u32,
    }

    impl LoadGenerator for Files {
        fn rows(&self) -> Vec<Series> {
            let name = if self.threads == 1 {
                "1 thread".to_owned()
            } else {
                format!("{} threads", self.threads)
            };
            let row = Series {
                threads: self.threads,
                ..Series::new(name, FILE_BYTES as u64)
            };
            vec![if self.threads == 1 {
                row
            } else {
                row.compared_with(0)
            }]
        }

        fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
            let limit = MAX_FILES / u64::from(self.threads);
            let one = |thread: u32, turn: u64| {
                create_file(stage, thread, turn)
                    .map_err(|errno| stage.stop_error(errno, "creating a small file"))
            };
            let pass = stage.run_threads(
                "creating small files",
                self.threads,
                FILE_BYTES as u64,
                limit,
                &one,
            )?;
            self.remove_files(stage, limit)
                .map_err(|errno| stage.stop_error(errno, "removing a small file"))?;
            Ok(vec![pass])
        }
    }

    impl Files {
        /// Removes the files of a pass.
        fn remove_files(&self, stage: &WorkloadContext<'_>, limit: u64) -> Result<(), Errno> {
            for thread in 0..self.threads {
                for turn in 0..limit {
                    match stage.scratch.unlink(&file_name(thread, turn)) {
                        Err(Errno::NOENT) => break,
                        answer => answer?,
                    }
                }
            }
            stage.scratch.sync_directory()
        }
    }

    fn file_name(thread: u32, turn: u64) -> String {
        format!("file-{thread}-{turn}")
    }

    fn create_file(
        stage: &WorkloadContext<'_>,
        thread: u32,
        turn: u64,
    ) -> Result<OperationResult, Errno> {
        let (mut interrupted, name) = (false, file_name(thread, turn));
        let temporary = format!("{name}.new");
        let file = stage.scratch.create_file(&temporary, OFlags::empty())?;
        let written = retry_interrupted(&mut interrupted, || {
            rustix::io::pwrite(&file, stage.pages.bytes(FILE_BYTES), 0)
        })?;
        if written != FILE_BYTES {
            return Err(Errno::NOSPC);
        }
        retry_interrupted(&mut interrupted, || rustix::fs::fsync(&file))?;
        drop(file);
        stage.scratch.rename(&temporary, &name)?;
        stage.scratch.sync_directory()?;
        Ok(OperationResult {
            flush_calls: 2,
            interrupted,
        })
    }
}
mod unflushed {
    //! Writes without a flush, the lower bound of everything else: into the page cache, with an
    //! open per write, and with O_DIRECT. `pg_test_fsync` opened the file for each of its
    //! non-sync'ed writes up to version 14, so its releases match different rows.

    use std::cell::Cell;

    use rustix::fs::OFlags;
    use rustix::io::Errno;

    use super::context::{LoadGenerator, OperationResult, WorkloadContext};
    use crate::measure::{Method, Pass, Series};
    use crate::probes::commit::{Cursor, PAGE_BYTES, Writer};
    use crate::probes::control::Stop;
    use crate::probes::method::open_flags;

    const FILE_NAME: &str = "floor";

    pub(super) fn prepare(
        stage: &WorkloadContext<'_>,
    ) -> Result<Vec<Box<dyn LoadGenerator>>, Stop> {
        stage.create_filled_file(FILE_NAME)?;
        let row = |name: &str| Series::new(name, PAGE_BYTES as u64);
        let open = |method| stage.scratch.open_file(FILE_NAME, open_flags(method));
        let failed = |errno| stage.stop_error(errno, "opening the scratch file");
        let part = |row, kind| -> Box<dyn LoadGenerator> {
            let pages = stage.file_bytes / PAGE_BYTES as u64;
            Box::new(UnflushedWrites {
                row,
                kind,
                cursor: Cursor::new(0, pages * PAGE_BYTES as u64),
            })
        };
        let kept = |method| open(method).map(|file| Writer::new(method, file));
        let mut parts = vec![
            part(
                row("write"),
                DescriptorMode::KeptOpen(kept(Method::Floor).map_err(failed)?),
            ),
            part(
                row("open, write, close").compared_with(0),
                DescriptorMode::Reopened,
            ),
        ];
        let refused = |why: &str| Series {
            error: Some(why.to_owned()),
            ..row("write, O_DIRECT")
        };
        parts.push(match kept(Method::FloorDirect) {
            Err(Errno::INVAL | Errno::OPNOTSUPP) => {
                part(refused("O_DIRECT is refused here"), DescriptorMode::Refused)
            }
            Err(errno) => return Err(failed(errno)),
            Ok(writer) if writer.is_buffered(stage.pages, 0) => part(
                refused("O_DIRECT is buffered here"),
                DescriptorMode::Refused,
            ),
            Ok(writer) => match writer.commit(stage.pages.bytes(PAGE_BYTES), 0) {
                Err(Errno::INVAL) => part(
                    refused("O_DIRECT writes of 8 kB are refused here"),
                    DescriptorMode::Refused,
                ),
                Err(errno) => return Err(failed(errno)),
                Ok(_) => part(
                    row("write, O_DIRECT").compared_with(0),
                    DescriptorMode::KeptOpen(writer),
                ),
            },
        });
        Ok(parts)
    }

    enum DescriptorMode {
        KeptOpen(Writer),
        Reopened,
        Refused,
    }

    struct UnflushedWrites {
        row: Series,
        kind: DescriptorMode,
        cursor: Cursor,
    }

    impl LoadGenerator for UnflushedWrites {
        fn rows(&self) -> Vec<Series> {
            vec![self.row.clone()]
        }

        fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
            let (page, cursor) = (stage.pages.bytes(PAGE_BYTES), Cell::new(self.cursor));
            let place = || {
                let mut next = cursor.get();
                let at = next.advance(PAGE_BYTES);
                cursor.set(next);
                at
            };
            let done = |done: crate::probes::commit::CommitTiming| OperationResult {
                flush_calls: 0,
                interrupted: done.interrupted,
            };
            let pass = match &self.kind {
                DescriptorMode::Refused => return Ok(vec![Pass::default()]),
                DescriptorMode::KeptOpen(writer) => {
                    stage.repeat("a write", PAGE_BYTES as u64, MAX_WRITES, || {
                        writer.commit(page, place()).map(done)
                    })?
                }
                DescriptorMode::Reopened => {
                    stage.repeat("a write", PAGE_BYTES as u64, MAX_WRITES, || {
                        let file = stage.scratch.open_file(FILE_NAME, OFlags::empty())?;
                        Writer::new(Method::Floor, file)
                            .commit(page, place())
                            .map(done)
                    })?
                }
            };
            self.cursor = cursor.get();
            // Others must not pay for it.
            let file = stage.scratch.open_file(FILE_NAME, OFlags::empty());
            let settled = file.and_then(|file| Writer::new(Method::Floor, file).flush_cached());
            settled.map_err(|errno| stage.stop_error(errno, "flushing the scratch file"))?;
            Ok(vec![pass])
        }
    }

    /// Most writes of a pass; they are cheap, so nothing else limits them.
    const MAX_WRITES: u64 = 200;
}
mod group_commit;
mod innodb;
mod pg_test_fsync;
mod segment;
mod transaction;

use std::time::Duration;

use super::control::Stop;
use super::redo::RedoLogConfig;
use super::schedule::Rng;
use crate::measure::{Pass, Series, Workload};

use context::LoadGenerator;

pub(super) use context::WorkloadContext;

/// The time is divided into this many rounds. If more fit, there is still a limit: cheap operations
/// must not fill a disk with writes.
const TARGET_ROUNDS: u32 = 20;
const MAX_ROUNDS: usize = 40;

/// Longest pass of a `pg_test_fsync` test: short enough for several rounds, long enough that the
/// previous test matters little. On btrfs the first dozen small writes still pay for another test's
/// extents.
const MAX_PASS: Duration = Duration::from_millis(400);
const MIN_ROUNDS: u32 = 5;

/// Runs a workload until time or bytes are used up, or it is cancelled. `redo` is how a server
/// writes its redo log; `series` receives the results so far.
pub(super) fn run(
    workload: Workload,
    redo: &RedoLogConfig,
    stage: &mut WorkloadContext<'_>,
    rng: &mut Rng,
    series: &mut Vec<Series>,
    tell: &mut dyn FnMut(usize),
) -> Result<(), Stop> {
    let mut generators = match workload {
        Workload::Segment => segment::prepare(stage)?,
        Workload::Group => group_commit::prepare(stage)?,
        Workload::Innodb => innodb::prepare(stage)?,
        Workload::Files => files::prepare(stage),
        Workload::Entangle => interference::prepare(stage)?,
        Workload::Floor => unflushed::prepare(stage)?,
        Workload::PgTestFsync => pg_test_fsync::prepare(stage)?,
        Workload::Transaction => transaction::prepare(stage, redo)?,
    };
    // The tests of pg_test_fsync take as long as announced.
    let (rounds, most) = match workload {
        Workload::PgTestFsync => (
            stage
                .remaining_rounds(MAX_PASS, generators.len())
                .max(MIN_ROUNDS),
            usize::MAX,
        ),
        _ => (TARGET_ROUNDS, MAX_ROUNDS),
    };
    let fixed = generators
        .iter()
        .map(|generator| generator.fixed_bytes(stage))
        .sum();
    stage.divide_budget(rounds, generators.len(), fixed);
    let rows: Vec<Vec<Series>> = generators
        .iter()
        .map(|generator| generator.rows())
        .collect();
    *series = rows.iter().flatten().cloned().collect();
    tell(0);
    round(&mut generators, stage, rng)?;
    for done in 1..=most {
        let passes = round(&mut generators, stage, rng)?;
        for (row, pass) in series.iter_mut().zip(passes.into_iter().flatten()) {
            if row.error.is_none() {
                row.rounds.push(pass);
            }
        }
        tell(done);
    }
    Ok(())
}

/// Passes of each generator, at its index.
fn round(
    generators: &mut [Box<dyn LoadGenerator>],
    stage: &WorkloadContext<'_>,
    rng: &mut Rng,
) -> Result<Vec<Vec<Pass>>, Stop> {
    let mut passes = vec![Vec::new(); generators.len()];
    for i in rng.permutation(generators.len()) {
        if let (Some(generator), Some(slot)) = (generators.get_mut(i), passes.get_mut(i)) {
            *slot = generator.round(stage)?;
            stage.scratch.check_exists()?;
        }
    }
    Ok(passes)
}
