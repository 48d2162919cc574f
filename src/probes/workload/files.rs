//! Small files made durable under a new name, as programs do that replace files atomically: create, write 4 kB, fsync,
//! rename, fsync of the directory. The fast_commit of ext4 is meant for this pattern; a server's WAL does not use it.
//!
//! All threads work in one directory. The files of a pass are removed after it, outside of the measured time.

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
    THREADS.into_iter().map(|threads| Box::new(Files { threads }) as Box<dyn LoadGenerator>).collect()
}

struct Files {
    threads: u32,
}

impl LoadGenerator for Files {
    fn rows(&self) -> Vec<Series> {
        let name =
            if self.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", self.threads) };
        let row = Series { threads: self.threads, ..Series::new(name, BYTES as u64) };
        vec![if self.threads == 1 { row } else { row.against(0) }]
    }

    fn round(&mut self, stage: &WorkloadContext<'_>) -> Result<Vec<Pass>, Stop> {
        let limit = MOST / u64::from(self.threads);
        let one = |thread: u32, turn: u64| {
            make(stage, thread, turn).map_err(|errno| stage.failed(errno, "making a small file"))
        };
        let pass = stage.together("making small files", self.threads, BYTES as u64, limit, &one)?;
        self.remove(stage, limit).map_err(|errno| stage.failed(errno, "removing a small file"))?;
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
    let written = again(&mut interrupted, || rustix::io::pwrite(&file, stage.pages.bytes(BYTES), 0))?;
    if written != BYTES {
        return Err(Errno::NOSPC);
    }
    again(&mut interrupted, || rustix::fs::fsync(&file))?;
    drop(file);
    stage.scratch.rename(&temporary, &name)?;
    stage.scratch.sync_names()?;
    Ok(OperationResult { flush_calls: 2, interrupted })
}
