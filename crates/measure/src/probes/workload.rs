//! Workloads beside the comparison of the methods to write WAL. Each is a small module with one
//! shape: `prepare` creates its files and returns its load generators, each of which names the rows
//! it fills and executes one round of them.
//!
//! A round executes every generator once in random order and counts only when it is complete; the
//! first is discarded as warm-up. There is no early end on success, because these figures are for
//! information, not for a choice.

mod entangle;
mod stage;
mod files {
    //! Small files made durable under a new name, as programs do that replace files atomically:
    //! create, write 4 kB, fsync, rename, fsync of the directory. The fast_commit of ext4 is meant
    //! for this pattern; a server's WAL does not use it.
    //!
    //! All threads work in one directory. The files of a pass are removed after it, outside of the
    //! measured time.

    use rustix::fs::OFlags;
    use rustix::io::Errno;

    use super::stage::{LoadGenerator, OperationResult, WorkloadContext};
    use crate::measure::{Pass, Series};
    use crate::probes::commit::again;
    use crate::probes::control::Stop;

    /// Numbers of concurrent threads.
    const THREADS: [u32; 4] = [1, 2, 4, 8];

    /// Size of a file, in bytes.
    const BYTES: usize = 4096;

    /// The largest number of files that a pass creates.
    pub(in crate::probes) const MOST: u64 = 2_000;

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
                ..Series::new(name, BYTES as u64)
            };
            vec![if self.threads == 1 {
                row
            } else {
                row.against(0)
            }]
        }

        fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
            let limit = MOST / u64::from(self.threads);
            let one = |thread: u32, turn: u64| {
                make(stage, thread, turn)
                    .map_err(|errno| stage.failed(errno, "making a small file"))
            };
            let pass = stage.together(
                "making small files",
                self.threads,
                BYTES as u64,
                limit,
                &one,
            )?;
            self.remove(stage, limit)
                .map_err(|errno| stage.failed(errno, "removing a small file"))?;
            Ok(vec![pass])
        }
    }

    impl Files {
        /// Removes the files of a pass.
        fn remove(&self, stage: &WorkloadContext<'_>, limit: u64) -> Result<(), Errno> {
            for thread in 0..self.threads {
                for turn in 0..limit {
                    match stage.scratch.unlink(&name(thread, turn)) {
                        Err(Errno::NOENT) => break,
                        answer => answer?,
                    }
                }
            }
            stage.scratch.sync_names()
        }
    }

    fn name(thread: u32, turn: u64) -> String {
        format!("file-{thread}-{turn}")
    }

    fn make(stage: &WorkloadContext<'_>, thread: u32, turn: u64) -> Result<OperationResult, Errno> {
        let (mut interrupted, name) = (false, name(thread, turn));
        let temporary = format!("{name}.new");
        let file = stage.scratch.make(&temporary, OFlags::empty())?;
        let written = again(&mut interrupted, || {
            rustix::io::pwrite(&file, stage.pages.bytes(BYTES), 0)
        })?;
        if written != BYTES {
            return Err(Errno::NOSPC);
        }
        again(&mut interrupted, || rustix::fs::fsync(&file))?;
        drop(file);
        stage.scratch.rename(&temporary, &name)?;
        stage.scratch.sync_names()?;
        Ok(OperationResult {
            flush_calls: 2,
            interrupted,
        })
    }
}
mod floor {
    //! Writes that are never flushed: the lower bound of everything else. Into the page cache, with
    //! the file opened for each write, and with O_DIRECT to the disk, where that bypasses the
    //! cache.
    //!
    //! `pg_test_fsync` opened the file for each of its non-sync'ed writes up to version 14 and no
    //! longer does, so its versions correspond to different rows here.

    use std::cell::Cell;

    use rustix::fs::OFlags;
    use rustix::io::Errno;

    use super::stage::{LoadGenerator, OperationResult, WorkloadContext};
    use crate::measure::{Method, Pass, Series};
    use crate::probes::commit::{Cursor, PAGE, Writer};
    use crate::probes::control::Stop;
    use crate::probes::method::open_flags;

    const FILE: &str = "floor";

    pub(super) fn prepare(
        stage: &WorkloadContext<'_>,
    ) -> Result<Vec<Box<dyn LoadGenerator>>, Stop> {
        stage.filled(FILE)?;
        let row = |name: &str| Series::new(name, PAGE as u64);
        let open = |method| stage.scratch.open(FILE, open_flags(method));
        let failed = |errno| stage.failed(errno, "opening the scratch file");
        let part = |row, kind| -> Box<dyn LoadGenerator> {
            let pages = stage.file_bytes / PAGE as u64;
            Box::new(Floor {
                row,
                kind,
                cursor: Cursor::new(0, pages * PAGE as u64),
            })
        };
        let kept = |method| open(method).map(|file| Writer::new(method, file));
        let mut parts = vec![
            part(
                row("write"),
                DescriptorMode::Kept(kept(Method::Floor).map_err(failed)?),
            ),
            part(row("open, write, close").against(0), DescriptorMode::Opened),
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
            Ok(writer) => match writer.commit(stage.pages.bytes(PAGE), 0) {
                Err(Errno::INVAL) => part(
                    refused("O_DIRECT writes of 8 kB are refused here"),
                    DescriptorMode::Refused,
                ),
                Err(errno) => return Err(failed(errno)),
                Ok(_) => part(
                    row("write, O_DIRECT").against(0),
                    DescriptorMode::Kept(writer),
                ),
            },
        });
        Ok(parts)
    }

    enum DescriptorMode {
        Kept(Writer),
        Opened,
        Refused,
    }

    struct Floor {
        row: Series,
        kind: DescriptorMode,
        cursor: Cursor,
    }

    impl LoadGenerator for Floor {
        fn rows(&self) -> Vec<Series> {
            vec![self.row.clone()]
        }

        fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
            let (page, cursor) = (stage.pages.bytes(PAGE), Cell::new(self.cursor));
            let place = || {
                let mut next = cursor.get();
                let at = next.take(PAGE);
                cursor.set(next);
                at
            };
            let done = |done: crate::probes::commit::CommitTiming| OperationResult {
                flush_calls: 0,
                interrupted: done.interrupted,
            };
            let pass = match &self.kind {
                DescriptorMode::Refused => return Ok(vec![Pass::default()]),
                DescriptorMode::Kept(writer) => {
                    stage.repeat("a write", PAGE as u64, MOST, || {
                        writer.commit(page, place()).map(done)
                    })?
                }
                DescriptorMode::Opened => stage.repeat("a write", PAGE as u64, MOST, || {
                    let file = stage.scratch.open(FILE, OFlags::empty())?;
                    Writer::new(Method::Floor, file)
                        .commit(page, place())
                        .map(done)
                })?,
            };
            self.cursor = cursor.get();
            // Others should not pay for it.
            let file = stage.scratch.open(FILE, OFlags::empty());
            let settled = file.and_then(|file| Writer::new(Method::Floor, file).settle());
            settled.map_err(|errno| stage.failed(errno, "flushing the scratch file"))?;
            Ok(vec![pass])
        }
    }

    /// The largest number of writes in a pass: they are cheap, so that only this limits them.
    const MOST: u64 = 200;
}
mod group;
mod innodb;
mod pg_test_fsync;
mod segment;
mod transaction;

use std::time::Duration;

use super::control::Stop;
use super::redo::RedoShape;
use super::schedule::Rng;
use crate::measure::{Pass, Series, Workload};

use stage::LoadGenerator;

pub(super) use stage::WorkloadContext;

/// The number of rounds that the time is divided into, and the largest number where more would fit:
/// cheap operations must not fill a disk with writes.
const ROUNDS: u32 = 20;
const MOST_ROUNDS: usize = 40;

/// The longest pass of the tool's tests: short enough for several rounds in turn, and long enough
/// that the effects of the previous test weigh little. On btrfs the first dozen small writes still
/// pay for the extents of another test.
const LONGEST_PASS: Duration = Duration::from_millis(400);
const FEWEST_ROUNDS: u32 = 5;

/// Measures a workload until its time or bytes are used up or it is cancelled; `redo` is how a
/// server writes its redo log, and `series` receives the measurements so far.
pub(super) fn run(
    workload: Workload,
    redo: &RedoShape,
    stage: &mut WorkloadContext<'_>,
    rng: &mut Rng,
    series: &mut Vec<Series>,
    tell: &mut dyn FnMut(usize),
) -> Result<(), Stop> {
    let mut generators = match workload {
        Workload::Segment => segment::prepare(stage)?,
        Workload::Group => group::prepare(stage)?,
        Workload::Innodb => innodb::prepare(stage)?,
        Workload::Files => files::prepare(stage),
        Workload::Entangle => entangle::prepare(stage)?,
        Workload::Floor => floor::prepare(stage)?,
        Workload::PgTestFsync => pg_test_fsync::prepare(stage)?,
        Workload::Transaction => transaction::prepare(stage, redo)?,
    };
    // The tool's tests take as long as announced.
    let (rounds, most) = match workload {
        Workload::PgTestFsync => (
            stage
                .rounds_of_at_most(LONGEST_PASS, generators.len())
                .max(FEWEST_ROUNDS),
            usize::MAX,
        ),
        _ => (ROUNDS, MOST_ROUNDS),
    };
    let fixed = generators
        .iter()
        .map(|generator| generator.fixed_bytes(stage))
        .sum();
    stage.share_out(rounds, generators.len(), fixed);
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

/// The passes of each generator, at its index.
fn round(
    generators: &mut [Box<dyn LoadGenerator>],
    stage: &WorkloadContext<'_>,
    rng: &mut Rng,
) -> Result<Vec<Vec<Pass>>, Stop> {
    let mut passes = vec![Vec::new(); generators.len()];
    for i in rng.order(generators.len()) {
        if let (Some(generator), Some(slot)) = (generators.get_mut(i), passes.get_mut(i)) {
            *slot = generator.round(stage)?;
            stage.scratch.check_there()?;
        }
    }
    Ok(passes)
}
