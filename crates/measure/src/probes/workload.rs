//! Workloads that a probe measures in addition to the comparison of methods. Each submodule creates
//! the files of one workload and its load generators, each of which measures one or more result
//! rows.
//!
//! A round runs every generator once, in random order. Incomplete rounds are discarded, and so is
//! the first round, which is the warm-up.

mod commit_log;
mod context;
mod interference;
mod small_files {
    //! Creates small files as programs replace files atomically: create, write 4 kB, fsync, rename,
    //! fsync of the directory. The fast_commit feature of ext4 targets this pattern, which no
    //! server uses for its WAL.
    //!
    //! All threads share one directory. The files of a round are removed outside the measured time.

    use rustix::fs::OFlags;
    use rustix::io::Errno;

    use super::context::{LoadGenerator, OperationOutcome, WorkloadContext};
    use crate::measure::{RoundSamples, RowSamples};
    use crate::probes::StopReason;
    use crate::probes::commit_writer::retry_interrupted;

    const THREAD_COUNTS: [u32; 4] = [1, 2, 4, 8];

    const FILE_BYTES: usize = 4096;

    pub(in crate::probes) const MAX_FILES: u64 = 2_000;

    pub(super) fn create_load_generators(_: &WorkloadContext<'_>) -> Vec<Box<dyn LoadGenerator>> {
        THREAD_COUNTS
            .into_iter()
            .map(|threads| Box::new(SmallFilesLoad { threads }) as Box<dyn LoadGenerator>)
            .collect()
    }

    struct SmallFilesLoad {
        threads: u32,
    }

    impl LoadGenerator for SmallFilesLoad {
        fn empty_rows(&self) -> Vec<RowSamples> {
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
                row.with_ratio_to_row(0)
            }]
        }

        fn run_round(
            &mut self,
            stage: &WorkloadContext<'_>,
        ) -> Result<Vec<RoundSamples>, StopReason> {
            let limit = MAX_FILES / u64::from(self.threads);
            let one = |thread: u32, turn: u64| {
                create_durable_file(stage, thread, turn)
                    .map_err(|errno| stage.stop_reason_from_errno(errno, "creating a small file"))
            };
            let pass = stage.run_operation_in_threads(
                "creating small files",
                self.threads,
                FILE_BYTES as u64,
                limit,
                &one,
            )?;
            self.remove_files(stage, limit)
                .map_err(|errno| stage.stop_reason_from_errno(errno, "removing a small file"))?;
            Ok(vec![pass])
        }
    }

    impl SmallFilesLoad {
        fn remove_files(&self, stage: &WorkloadContext<'_>, limit: u64) -> Result<(), Errno> {
            for thread in 0..self.threads {
                for turn in 0..limit {
                    match stage.scratch.unlink(&numbered_file_name(thread, turn)) {
                        Err(Errno::NOENT) => break,
                        answer => answer?,
                    }
                }
            }
            stage.scratch.sync_directory()
        }
    }

    fn numbered_file_name(thread: u32, turn: u64) -> String {
        format!("file-{thread}-{turn}")
    }

    fn create_durable_file(
        stage: &WorkloadContext<'_>,
        thread: u32,
        turn: u64,
    ) -> Result<OperationOutcome, Errno> {
        let (mut interrupted, name) = (false, numbered_file_name(thread, turn));
        let temporary = format!("{name}.new");
        let file = stage.scratch.create_file(&temporary, OFlags::empty())?;
        let written = retry_interrupted(&mut interrupted, || {
            rustix::io::pwrite(&file, stage.pages.first_bytes(FILE_BYTES), 0)
        })?;
        if written != FILE_BYTES {
            return Err(Errno::NOSPC);
        }
        retry_interrupted(&mut interrupted, || rustix::fs::fsync(&file))?;
        drop(file);
        stage.scratch.rename(&temporary, &name)?;
        stage.scratch.sync_directory()?;
        Ok(OperationOutcome {
            flush_calls: 2,
            interrupted,
        })
    }
}
mod group_commit;
mod innodb;
mod pg_test_fsync;
mod segment;
mod transaction;

use std::time::Duration;

use context::LoadGenerator;

use super::redo_log_config::RedoLogConfig;
use super::{Rng, StopReason};
use crate::measure::{CommitLoad, RoundSamples, RowSamples, Workload};

pub(super) use context::WorkloadContext;

/// Number of rounds into which a workload's time is divided. Rounds of cheap operations end early;
/// [`MAX_ROUNDS`] limits their number, so that they do not fill a disk with writes.
const TARGET_ROUNDS: u32 = 20;
const MAX_ROUNDS: usize = 40;

/// Time limit of one `pg_test_fsync` test per round: short enough for several rounds, long enough
/// that the previous test has little influence. On btrfs, extents of the previous test still slow
/// the first dozen small writes.
const MAX_PASS: Duration = Duration::from_millis(400);
const MIN_ROUNDS: u32 = 5;

/// `series` receives the results, also those before an error.
pub(super) fn run_workload(
    workload: Workload,
    (redo, load): (&RedoLogConfig, &CommitLoad),
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
        Workload::PgTestFsync => pg_test_fsync::create_load_generators(stage)?,
        Workload::Transaction => transaction::create_load_generators(stage, redo)?,
        Workload::Commit => return commit_log::run_commit_workload(stage, load, series, tell),
    };
    // The tests of pg_test_fsync use all of the announced time, so the number of their rounds is
    // not limited.
    let (rounds, most) = match workload {
        Workload::PgTestFsync => (
            stage
                .rounds_that_fit_remaining_time(MAX_PASS, generators.len())
                .max(MIN_ROUNDS),
            usize::MAX,
        ),
        _ => (TARGET_ROUNDS, MAX_ROUNDS),
    };
    let fixed = generators
        .iter()
        .map(|generator| generator.bytes_outside_operations(stage))
        .sum();
    stage.divide_budget(rounds, generators.len(), fixed);
    let rows: Vec<Vec<RowSamples>> = generators
        .iter()
        .map(|generator| generator.empty_rows())
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

/// The order is random; the samples are in the order of `generators`.
fn run_generators_once(
    generators: &mut [Box<dyn LoadGenerator>],
    stage: &WorkloadContext<'_>,
    rng: &mut Rng,
) -> Result<Vec<Vec<RoundSamples>>, StopReason> {
    let mut passes = vec![Vec::new(); generators.len()];
    for i in rng.permutation(generators.len()) {
        if let (Some(generator), Some(slot)) = (generators.get_mut(i), passes.get_mut(i)) {
            *slot = generator.run_round(stage)?;
            stage.scratch.check_directory_not_removed()?;
        }
    }
    Ok(passes)
}
