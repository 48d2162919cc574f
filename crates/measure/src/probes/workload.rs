//! Workloads that a probe measures in addition to the comparison of methods. Each submodule creates
//! the files of a workload and its loads.
//!
//! A round runs every load once, in random order. Incomplete rounds are discarded, and so is
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

    use rustix::io::Errno;

    use super::context::{Load, OperationOutcome, WorkloadContext};
    use crate::measure::RowSamples;
    use crate::probes::commit_writer::{pwrite_all, retry_interrupted};

    const THREAD_COUNTS: [u32; 4] = [1, 2, 4, 8];

    const FILE_BYTES: usize = 4096;

    pub(in crate::probes) const MAX_FILES: u64 = 2_000;

    pub(super) fn small_file_loads() -> Vec<Load> {
        THREAD_COUNTS.map(small_file_load).into()
    }

    fn small_file_load(threads: u32) -> Load {
        let name = match threads {
            1 => "1 thread".to_owned(),
            threads => format!("{threads} threads"),
        };
        let row = RowSamples {
            threads,
            against: (threads > 1).then_some(0),
            ..RowSamples::new(name, FILE_BYTES as u64)
        };
        Load::new(row, move |stage| {
            let limit = MAX_FILES / u64::from(threads);
            let pass = stage.run_operation_in_threads(
                "creating small files",
                threads,
                FILE_BYTES as u64,
                limit,
                &|thread, turn| {
                    create_durable_file(stage, thread, turn)
                        .map_err(stage.failure("creating a small file"))
                },
            )?;
            remove_files(stage, threads, limit).map_err(stage.failure("removing a small file"))?;
            Ok(pass)
        })
    }

    fn remove_files(stage: &WorkloadContext<'_>, threads: u32, limit: u64) -> Result<(), Errno> {
        for thread in 0..threads {
            for turn in 0..limit {
                match stage.scratch.unlink(&numbered_file_name(thread, turn)) {
                    Err(Errno::NOENT) => break,
                    answer => answer?,
                }
            }
        }
        stage.scratch.sync_directory()
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
        let file = stage.scratch.create_file(&temporary)?;
        pwrite_all(&file, stage.pages.first_bytes(FILE_BYTES), 0)?;
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
mod pg_test_fsync;
mod segment;
mod transaction;

use std::time::Duration;

use context::Load;

use super::server_log::ServerLog;
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
    (server, load): (&ServerLog, &CommitLoad),
    stage: &mut WorkloadContext<'_>,
    rng: &mut Rng,
    series: &mut Vec<RowSamples>,
    tell: &mut dyn FnMut(usize),
) -> Result<(), StopReason> {
    let mut loads = match workload {
        Workload::Segment => segment::segment_loads(stage)?,
        Workload::Group => transaction::group_commit_loads(stage)?,
        Workload::Innodb => transaction::innodb_loads(stage)?,
        Workload::Files => small_files::small_file_loads(),
        Workload::Entangle => interference::interference_loads(stage)?,
        Workload::PgTestFsync => pg_test_fsync::pg_test_fsync_loads(stage)?,
        Workload::Transaction => transaction::transaction_loads(stage, server)?,
        Workload::Commit => return commit_log::run_commit_workload(stage, load, series, tell),
    };
    // The tests of pg_test_fsync use all of the announced time, so the number of their rounds is
    // not limited.
    let (rounds, most) = match workload {
        Workload::PgTestFsync => (
            stage
                .rounds_that_fit_remaining_time(MAX_PASS, loads.len())
                .max(MIN_ROUNDS),
            usize::MAX,
        ),
        _ => (TARGET_ROUNDS, MAX_ROUNDS),
    };
    let fixed = loads.iter().map(|load| load.bytes_outside_operations).sum();
    stage.divide_budget(rounds, loads.len(), fixed);
    *series = loads.iter().flat_map(|load| load.rows.clone()).collect();
    tell(0);
    run_loads_once(&mut loads, stage, rng)?;
    for done in 1..=most {
        let passes = run_loads_once(&mut loads, stage, rng)?;
        for (row, pass) in series.iter_mut().zip(passes.into_iter().flatten()) {
            if row.error.is_none() {
                row.rounds.push(pass);
            }
        }
        tell(done);
    }
    Ok(())
}

/// The order is random; the samples are in the order of `loads`.
fn run_loads_once(
    loads: &mut [Load],
    stage: &WorkloadContext<'_>,
    rng: &mut Rng,
) -> Result<Vec<Vec<RoundSamples>>, StopReason> {
    let mut passes = vec![Vec::new(); loads.len()];
    for (load, slot) in rng.shuffled(loads.iter_mut().zip(&mut passes)) {
        *slot = (load.run_round)(stage)?;
        stage.scratch.check_directory_not_removed()?;
    }
    Ok(passes)
}
