//! The child side of a trial: the first process of its namespace. It makes the loop file or locks
//! the disk, then runs cells while its parents listen. A disk is cleared however it ends, unless it
//! is killed.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use rustix::fd::OwnedFd;
use rustix::fs::FileType;
use rustix::io::Errno;

use super::disk::{EraseTarget, LockedDisk};
use super::extent::TrialExtent;
use super::load;
use super::loop_file::LoopFile;
use super::messages::{MeasureRequest, TrialEvent, TrialJob, TrialPlace, TrialRequest};
use super::quiesce::wait_until_quiet;
use super::shutdown::Shutdown;
use super::timing::{LoadContext, TrialCounters};
use super::volume::MountedCandidate;
use crate::probes::{DiskStats, PAGE_BYTES, Rng, WriteBuffer};
use crate::subprocess::Channel;
use crate::trial::{CellTarget, SEGMENT_BYTES, Sample, TrialBlock, TrialCell};

/// Mount point of candidates, in a namespace that nobody else sees: a directory that exists
/// everywhere and that only root can replace, so nobody redirects us.
const MOUNT_POINT: &str = "/tmp";

/// Time after the limit when a trial ends by itself.
const GRACE: Duration = Duration::from_secs(20);
const MAX_BUDGET_SECONDS: f64 = 86_400.0;

/// Most seconds of the bare extent, and of the host's file, in a block.
const BARE_SECONDS: f64 = 0.5;

/// Characters of a cell's error that are kept: programs can be verbose.
const MAX_ERROR_CHARS: usize = 1_000;

/// Hole bytes that a file system may leave before the loads begin: what it zeroed while mounted.
const MAX_HOLE_BYTES: u64 = 1 << 20;

/// Follows the parents' requests; ends with this process when they are gone.
pub fn run_child(mut channel: Channel) -> io::Result<()> {
    let end = Shutdown::default();
    let orders = receive_requests(&end)?;
    let done = match orders.recv() {
        Ok(TrialRequest::Prepare(job)) => run_job(&job, &orders, &end, &mut channel),
        Ok(TrialRequest::Clear(disk)) => clear_leftover(&disk, &end, &mut channel),
        Ok(TrialRequest::Measure(_)) | Err(_) => Ok(()),
    };
    if let Err(why) = done {
        let _ = channel.send(&TrialEvent::Failed(why));
    }
    // The parents end us, and with us everything that was made.
    while !end.is_over() && orders.recv().is_ok() {}
    Ok(())
}

/// Requests as they arrive. When the channel closes, this process ends, whatever it is doing.
fn receive_requests(end: &Shutdown) -> io::Result<Receiver<TrialRequest>> {
    let mut channel = Channel::to_parent()?;
    let (give, take) = mpsc::channel();
    let end = end.clone();
    let listens = move || {
        while channel
            .recv(None)
            .is_ok_and(|order| give.send(order).is_ok())
        {}
        // Wakes whoever waits for a request: there are no more.
        drop(give);
        end.exit_process();
    };
    std::thread::Builder::new().spawn(listens)?;
    Ok(take)
}

/// Ends this process, and so everything in its namespaces, some time after the limit: its parents
/// may be stopped and close nothing.
fn start_watchdog(budget: f64, end: &Shutdown) -> Result<(), String> {
    let longest = Duration::from_secs_f64(budget.clamp(0.0, MAX_BUDGET_SECONDS)) + GRACE;
    let end = end.clone();
    let wait = move || {
        std::thread::sleep(longest);
        end.exit_process();
    };
    std::thread::Builder::new()
        .spawn(wait)
        .map(drop)
        .map_err(|e| format!("cannot start a thread: {e}"))
}

/// The whole job; the error is a sentence.
fn run_job(
    job: &TrialJob,
    orders: &Receiver<TrialRequest>,
    end: &Shutdown,
    channel: &mut Channel,
) -> Result<(), String> {
    start_watchdog(job.budget, end)?;
    let place = rustix::fs::lstat(MOUNT_POINT).map(|found| FileType::from_raw_mode(found.st_mode));
    if place != Ok(FileType::Directory) {
        return Err(format!(
            "{MOUNT_POINT} is not a plain directory, but a trial mounts there; nothing was written"
        ));
    }
    let extent = match &job.place {
        TrialPlace::Directory(directory) => {
            let mut tell = |bytes| drop(channel.send(&TrialEvent::Prepared(bytes)));
            TrialExtent::Loop(LoopFile::create(
                &PathBuf::from(directory.clone()),
                job.bytes,
                Path::new(MOUNT_POINT),
                &mut tell,
            )?)
        }
        TrialPlace::Disk(order) => TrialExtent::Disk(acquire_disk(order, job, end, channel)?),
    };
    let done = run_blocks(job, &extent, orders, end, channel);
    let cleared = match &extent {
        TrialExtent::Loop(_) => Ok(()),
        TrialExtent::Disk(disk) => clear_disk(disk, channel),
    };
    match (done, cleared) {
        (Ok(()), cleared) => cleared,
        (Err(why), Ok(())) => Err(why),
        (Err(why), Err(also)) => Err(format!("{why}; {also}")),
    }
}

/// Locks the disk; the error is a sentence.
fn acquire_disk(
    order: &EraseTarget,
    job: &TrialJob,
    end: &Shutdown,
    channel: &mut Channel,
) -> Result<LockedDisk, String> {
    if !end.require_clear(job.bytes, 0.0) {
        return Err("the trial is over; nothing was written".to_owned());
    }
    let mut tell = |bytes| {
        let _ = channel.send(&TrialEvent::Prepared(bytes));
        if end.is_over() {
            Err(Errno::CANCELED)
        } else {
            Ok(())
        }
    };
    LockedDisk::acquire(order, job.bytes, &mut tell)
}

/// Longest time in seconds until a cell ends: every load with its warm-up.
fn max_cell_seconds(order: &MeasureRequest) -> f64 {
    2.0 * order.load_seconds * order.loads.len() as f64
}

/// Clears a disk and reports it; the error is a sentence.
fn clear_disk(disk: &LockedDisk, channel: &mut Channel) -> Result<(), String> {
    disk.clear(&mut |bytes| drop(channel.send(&TrialEvent::Clearing(bytes))))?;
    let _ = channel.send(&TrialEvent::Cleared);
    Ok(())
}

/// Clears what an earlier trial left; the error is a sentence.
fn clear_leftover(
    order: &EraseTarget,
    end: &Shutdown,
    channel: &mut Channel,
) -> Result<(), String> {
    let disk = LockedDisk::acquire_leftover(order)?;
    if !end.require_clear(disk.bytes(), 0.0) {
        return Err("the trial is over; nothing was written".to_owned());
    }
    clear_disk(&disk, channel)
}

/// Runs blocks until the trial is over; the error is a sentence.
fn run_blocks(
    job: &TrialJob,
    extent: &TrialExtent,
    orders: &Receiver<TrialRequest>,
    end: &Shutdown,
    channel: &mut Channel,
) -> Result<(), String> {
    if channel
        .send(&TrialEvent::Ready(extent.mount_source()?))
        .is_err()
    {
        return Ok(());
    }
    let meters = TrialCounters {
        own: extent.own_counters(),
        flush_disks: extent.flush_counters(),
        leaves: DiskStats::new(&job.leaves),
    };
    let mut rng = Rng::new(job.seed);
    let pages = load::write_buffer(rng.next_u64());
    let begun_with = meters.own.read().map_or(0, |counters| counters.written);
    let Ok(TrialRequest::Measure(order)) = orders.recv() else {
        return Ok(());
    };
    if job.place.is_disk() && !end.require_clear(job.bytes, max_cell_seconds(&order)) {
        return Ok(());
    }
    let arena = CellRunner {
        job,
        request: &order,
        extent,
        shutdown: end,
        counters: &meters,
        pages: &pages,
        file_bytes_written: Cell::new(0),
        initial_written: begun_with,
    };
    while let Some(block) = arena.run_block(&mut rng, channel)? {
        if channel.send(&TrialEvent::Block(block)).is_err() {
            break;
        }
    }
    Ok(())
}

struct CellRunner<'a> {
    job: &'a TrialJob,
    request: &'a MeasureRequest,
    extent: &'a TrialExtent,
    shutdown: &'a Shutdown,
    counters: &'a TrialCounters,
    pages: &'a WriteBuffer,
    /// Bytes written to the file, not through the device.
    file_bytes_written: Cell<u64>,
    /// The device's count at the start: counts of a loop device outlive its file.
    initial_written: u64,
}

impl CellRunner<'_> {
    /// A block in a new random order; `None` if the trial ends before the block.
    fn run_block(
        &self,
        rng: &mut Rng,
        channel: &mut Channel,
    ) -> Result<Option<TrialBlock>, String> {
        let candidates = (0..self.request.candidates.len()).map(CellTarget::Candidate);
        let runners = candidates.chain([CellTarget::Twin, CellTarget::Floor]);
        let runners = runners
            .chain(self.extent.open_loop_file().map(|_| CellTarget::Host))
            .collect::<Vec<_>>();
        let order = rng.permutation(runners.len());
        // The same order for all candidates of a block favours none; a new one per block, so that
        // no method always runs first.
        let loads = rng.permutation(self.request.loads.len());
        let before = self.written_bytes();
        let mut cells = Vec::new();
        for (nth, runner) in order.iter().filter_map(|at| runners.get(*at)).enumerate() {
            if self.shutdown.is_over() {
                return Ok(None);
            }
            // After the end of the trial nobody receives it.
            let written = self.written_bytes().saturating_sub(before);
            let _ = channel.send(&TrialEvent::Cell {
                nth: nth + 1,
                written,
            });
            let all = self.extent.setup_bytes()
                + self.written_bytes().saturating_sub(self.initial_written);
            if all > self.job.writes {
                return Err("the trial reached its limit of --writes".to_owned());
            }
            self.extent.check()?;
            cells.push(self.run_cell(*runner, &loads));
        }
        Ok(Some(TrialBlock {
            cells,
            written: self.written_bytes().saturating_sub(before),
        }))
    }

    /// Bytes written so far to the device, and past it to the file.
    fn written_bytes(&self) -> u64 {
        let own = self
            .counters
            .own
            .read()
            .map_or(0, |counters| counters.written);
        own + self.extent.filled_bytes() + self.file_bytes_written.get()
    }

    fn run_cell(&self, runner: CellTarget, loads: &[usize]) -> TrialCell {
        let samples = match runner {
            CellTarget::Candidate(at) => self.run_candidate(at, loads),
            CellTarget::Twin => self.run_candidate(0, loads),
            CellTarget::Floor => self.run_bare(
                self.extent.open_direct(),
                self.extent.bytes().saturating_sub(SEGMENT_BYTES),
            ),
            CellTarget::Host => {
                let file = self.extent.open_loop_file().unwrap_or(Err(Errno::NODEV));
                let samples = self.run_bare(file, self.extent.bytes());
                let commits: u64 = samples.iter().flatten().map(|sample| sample.commits).sum();
                self.file_bytes_written
                    .set(self.file_bytes_written.get() + commits * PAGE_BYTES as u64);
                samples
            }
        };
        match samples {
            Ok(samples) => TrialCell {
                runner,
                samples,
                error: None,
            },
            Err(why) => {
                let why = why.chars().take(MAX_ERROR_CHARS).collect();
                TrialCell {
                    runner,
                    samples: Vec::new(),
                    error: Some(why),
                }
            }
        }
    }

    fn load_context(&self, seconds: f64) -> LoadContext<'_> {
        LoadContext {
            seconds,
            pages: self.pages,
            counters: self.counters,
        }
    }

    fn run_bare(&self, file: Result<OwnedFd, Errno>, at: u64) -> Result<Vec<Sample>, String> {
        let file = file.map_err(|e| format!("cannot open it: {e}"))?;
        self.extent.fill_holes()?;
        Ok(vec![load::bare_commits(
            file,
            at,
            &self.load_context(self.request.load_seconds.min(BARE_SECONDS)),
        )?])
    }

    /// Makes a candidate, waits until it is quiet, and runs all loads in this order.
    fn run_candidate(&self, at: usize, loads: &[usize]) -> Result<Vec<Sample>, String> {
        let candidate = self
            .request
            .candidates
            .get(at)
            .ok_or("there is no such candidate")?;
        let mounted =
            MountedCandidate::make_and_mount(candidate, self.extent, Path::new(MOUNT_POINT))?;
        mounted.sync()?;
        wait_until_quiet(&self.counters.own);
        let samples = match self.extent.hole_bytes()? {
            0..=MAX_HOLE_BYTES => self.run_loads(&mounted, loads),
            _ => Err("the loop file has holes, so figures would differ from a disk's".to_owned()),
        };
        mounted.unmount()?;
        samples
    }

    /// Runs all loads in this order; the samples are in the record's order.
    fn run_loads(
        &self,
        mounted: &MountedCandidate<'_>,
        order: &[usize],
    ) -> Result<Vec<Sample>, String> {
        let means = self.load_context(self.request.load_seconds);
        let run = |load| {
            self.check_running()
                .and_then(|()| load::run_load(load, &mounted.log, &means))
        };
        let loads = order
            .iter()
            .filter_map(|at| Some((*at, *self.request.loads.get(*at)?)));
        let mut done = loads
            .map(|(at, load)| Ok((at, run(load)?)))
            .collect::<Result<Vec<_>, String>>()?;
        done.sort_by_key(|(at, _)| *at);
        Ok(done.into_iter().map(|(_, sample)| sample).collect())
    }

    /// Fails once the trial is over: nobody waits for the other loads of a cell.
    fn check_running(&self) -> Result<(), String> {
        if self.shutdown.is_over() {
            Err("the trial is over".to_owned())
        } else {
            Ok(())
        }
    }
}
