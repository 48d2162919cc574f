//! Workloads in addition to the comparison of methods. Each module has a `prepare` function that
//! creates files and returns load generators. A generator names its rows and runs one round of
//! them.
//!
//! A round runs every generator once in random order and counts only if complete; the first round
//! is warm-up. The figures are for information, so no workload ends early on success.

mod context;
mod interference;
mod small_files {
    //! Small files durably renamed, as programs replace files atomically: create, write 4 kB,
    //! fsync, rename, fsync of the directory. ext4's fast_commit targets this pattern; a server's
    //! WAL does not use this pattern.
    //!
    //! All threads share one directory. The files of a pass are removed outside the measured time.

    use rustix::fs::OFlags;
    use rustix::io::Errno;

    use super::context::{LoadGenerator, OperationResult, WorkloadContext};
    use crate::measure::{RoundSamples, RowSamples};
    use crate::probes::cancellation::StopReason;
    use crate::probes::commit_writer::retry_interrupted;

    const THREADS: [u32; 4] = [1, 2, 4, 8];

    const FILE_BYTES: usize = 4096;

    /// Most files of a pass.
    pub(in crate::probes) const MAX_FILES: u64 = 2_000;

    pub(super) fn create_load_generators(_: &WorkloadContext<'_>) -> Vec<Box<dyn LoadGenerator>> {
        THREADS
            .into_iter()
            .map(|threads| Box::new(FileLoad { threads }) as Box<dyn LoadGenerator>)
            .collect()
    }

    struct FileLoad {
        threads: u32,
    }

    impl LoadGenerator for FileLoad {
        fn rows(&self) -> Vec<RowSamples> {
            let name = if self.threads == 1 {
                "1 thread".to_owned()
            } else {
                format!("{} threads", self.threads)
            };
            let row = RowSamples {
                threads: self.threads,
                ..RowSamples::new(name, FILE_BYTES as u64)
            };
            vec![if self.threads == 1 {
                row
            } else {
                row.compared_with(0)
            }]
        }

        fn run_round(
            &mut self,
            stage: &WorkloadContext<'_>,
        ) -> Result<Vec<RoundSamples>, StopReason> {
            let limit = MAX_FILES / u64::from(self.threads);
            let one = |thread: u32, turn: u64| {
                create_durable_file(stage, thread, turn)
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

    impl FileLoad {
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

    fn create_durable_file(
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
mod unflushed_writes {
    //! Writes without a flush, the lower bound of all other latencies: into the page cache, with an
    //! open for each write, and with O_DIRECT.
    //!
    //! `pg_test_fsync` up to version 14 opened the file for each non-sync'ed write, so releases of
    //! the tool match different rows.

    use std::cell::Cell;

    use rustix::fs::OFlags;
    use rustix::io::Errno;

    use super::context::{LoadGenerator, OperationResult, WorkloadContext};
    use crate::measure::{Method, RoundSamples, RowSamples};
    use crate::probes::cancellation::StopReason;
    use crate::probes::commit_writer::{CommitWriter, PAGE_BYTES, WriteCursor};
    use crate::probes::wal_methods::open_flags;

    const FILE_NAME: &str = "floor";

    pub(super) fn create_load_generators(
        stage: &WorkloadContext<'_>,
    ) -> Result<Vec<Box<dyn LoadGenerator>>, StopReason> {
        stage.create_filled_file(FILE_NAME)?;
        let row = |name: &str| RowSamples::new(name, PAGE_BYTES as u64);
        let open = |method| stage.scratch.open_file(FILE_NAME, open_flags(method));
        let failed = |errno| stage.stop_error(errno, "opening the scratch file");
        let part = |row, kind| -> Box<dyn LoadGenerator> {
            let pages = stage.file_bytes / PAGE_BYTES as u64;
            Box::new(UnflushedWrites {
                row,
                kind,
                cursor: WriteCursor::new(0, pages * PAGE_BYTES as u64),
            })
        };
        let kept = |method| open(method).map(|file| CommitWriter::new(method, file));
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
        let refused = |why: &str| RowSamples {
            error: Some(why.to_owned()),
            ..row("write, O_DIRECT")
        };
        parts.push(match kept(Method::FloorDirect) {
            Err(Errno::INVAL | Errno::OPNOTSUPP) => {
                part(refused("O_DIRECT is refused here"), DescriptorMode::Refused)
            }
            Err(errno) => return Err(failed(errno)),
            Ok(writer) if writer.is_direct_io_buffered(stage.pages, 0) => part(
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
        KeptOpen(CommitWriter),
        Reopened,
        Refused,
    }

    struct UnflushedWrites {
        row: RowSamples,
        kind: DescriptorMode,
        cursor: WriteCursor,
    }

    impl LoadGenerator for UnflushedWrites {
        fn rows(&self) -> Vec<RowSamples> {
            vec![self.row.clone()]
        }

        fn run_round(
            &mut self,
            stage: &WorkloadContext<'_>,
        ) -> Result<Vec<RoundSamples>, StopReason> {
            let (page, cursor) = (stage.pages.bytes(PAGE_BYTES), Cell::new(self.cursor));
            let place = || {
                let mut next = cursor.get();
                let at = next.advance(PAGE_BYTES);
                cursor.set(next);
                at
            };
            let done = |done: crate::probes::commit_writer::CommitTiming| OperationResult {
                flush_calls: 0,
                interrupted: done.interrupted,
            };
            let pass = match &self.kind {
                DescriptorMode::Refused => return Ok(vec![RoundSamples::default()]),
                DescriptorMode::KeptOpen(writer) => {
                    stage.repeat("a write", PAGE_BYTES as u64, MAX_WRITES, || {
                        writer.commit(page, place()).map(done)
                    })?
                }
                DescriptorMode::Reopened => {
                    stage.repeat("a write", PAGE_BYTES as u64, MAX_WRITES, || {
                        let file = stage.scratch.open_file(FILE_NAME, OFlags::empty())?;
                        CommitWriter::new(Method::Floor, file)
                            .commit(page, place())
                            .map(done)
                    })?
                }
            };
            self.cursor = cursor.get();
            // The flush happens here, so that the next load does not pay for the cached pages.
            let file = stage.scratch.open_file(FILE_NAME, OFlags::empty());
            let settled =
                file.and_then(|file| CommitWriter::new(Method::Floor, file).flush_cached());
            settled.map_err(|errno| stage.stop_error(errno, "flushing the scratch file"))?;
            Ok(vec![pass])
        }
    }

    /// Most writes of a pass: nothing else limits cheap writes.
    const MAX_WRITES: u64 = 200;
}
mod group_commit;
mod innodb;
mod pg_test_fsync;
mod segment;
mod transaction;

use std::time::Duration;

use super::cancellation::StopReason;
use super::redo_log_config::RedoLogConfig;
use super::schedule::Rng;
use crate::measure::{RoundSamples, RowSamples, Workload};

use context::LoadGenerator;

pub(super) use context::WorkloadContext;

/// The time is divided into this number of rounds. [`MAX_ROUNDS`] limits cheap operations, which
/// must not fill a disk with writes.
const TARGET_ROUNDS: u32 = 20;
const MAX_ROUNDS: usize = 40;

/// Longest pass of a `pg_test_fsync` test: short enough for several rounds, long enough that the
/// previous test matters little. On btrfs the first dozen small writes still pay for another test's
/// extents.
const MAX_PASS: Duration = Duration::from_millis(400);
const MIN_ROUNDS: u32 = 5;

/// Runs a workload until time or bytes are used up, or the probe is cancelled. `redo` describes the
/// server's redo log; `series` receives the results so far.
pub(super) fn run_workload(
    workload: Workload,
    redo: &RedoLogConfig,
    stage: &mut WorkloadContext<'_>,
    rng: &mut Rng,
    series: &mut Vec<RowSamples>,
    tell: &mut dyn FnMut(usize),
) -> Result<(), StopReason> {
    let mut generators = match workload {
        Workload::Segment => segment::create_load_generators(stage)?,
        Workload::Group => group_commit::create_load_generators(stage)?,
        Workload::Innodb => innodb::create_load_generators(stage)?,
        Workload::Files => small_files::create_load_generators(stage),
        Workload::Entangle => interference::create_load_generators(stage)?,
        Workload::Floor => unflushed_writes::create_load_generators(stage)?,
        Workload::PgTestFsync => pg_test_fsync::create_load_generators(stage)?,
        Workload::Transaction => transaction::create_load_generators(stage, redo)?,
    };
    // The tests of pg_test_fsync run for the whole announced time.
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
        .map(|generator| generator.extra_round_bytes(stage))
        .sum();
    stage.divide_budget(rounds, generators.len(), fixed);
    let rows: Vec<Vec<RowSamples>> = generators
        .iter()
        .map(|generator| generator.rows())
        .collect();
    *series = rows.iter().flatten().cloned().collect();
    tell(0);
    run_generators_once(&mut generators, stage, rng)?;
    for done in 1..=most {
        let passes = run_generators_once(&mut generators, stage, rng)?;
        for (row, pass) in series.iter_mut().zip(passes.into_iter().flatten()) {
            if row.error.is_none() {
                row.rounds.push(pass);
            }
        }
        tell(done);
    }
    Ok(())
}

/// Runs each generator once, in random order. Returns the passes at the index of the generator.
fn run_generators_once(
    generators: &mut [Box<dyn LoadGenerator>],
    stage: &WorkloadContext<'_>,
    rng: &mut Rng,
) -> Result<Vec<Vec<RoundSamples>>, StopReason> {
    let mut passes = vec![Vec::new(); generators.len()];
    for i in rng.permutation(generators.len()) {
        if let (Some(generator), Some(slot)) = (generators.get_mut(i), passes.get_mut(i)) {
            *slot = generator.run_round(stage)?;
            stage.scratch.check_exists()?;
        }
    }
    Ok(passes)
}
