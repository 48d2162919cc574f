//! The child side of a trial, which is process 1 of its PID namespace. The child makes the loop
//! file or locks the disk, then runs blocks until its parents close the channel.
//!
//! A disk is cleared at the end of a trial, unless the child is killed, or the disk is in use or
//! holds foreign data.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use rustix::fd::OwnedFd;
use rustix::fs::FileType;
use rustix::io::Errno;

use super::disk::{EraseTarget, LockedDisk};
use super::extent::Extent;
use super::loop_file::LoopFile;
use super::mounted_candidate::MountedCandidate;
use super::{
    LoadContext, MeasureRequest, Shutdown, TrialCounterReaders, TrialEvent, TrialJob, TrialPlace,
    TrialRequest, load, wait_until_device_idle,
};
use crate::probes::{AlignedBuffer, DiskCounterReader, PAGE_BYTES, Rng};
use crate::subprocess::Channel;
use crate::trial::{CellSubject, SEGMENT_BYTES, TrialBlock, TrialCell, TrialSample};

/// Mount point of candidates, in a private namespace. The directory exists everywhere and only root
/// can replace it, so no user can redirect the mount.
const MOUNT_POINT: &str = "/tmp";

/// Time after the time limit at which a child exits if its parents have not ended it.
const GRACE_AFTER_BUDGET: Duration = Duration::from_secs(20);
const MAX_BUDGET_SECONDS: f64 = 86_400.0;

/// Duration limit, in seconds without warm-up, of the commits to the raw extent and to the loop
/// file.
const BARE_COMMIT_SECONDS: f64 = 0.5;

/// Longest error message in the record, in characters, because the output of programs can be long.
const MAX_ERROR_CHARS: usize = 1_000;

/// Largest total size of holes in a loop file at which the loads still run. A mounted file system
/// may have zeroed a few disk blocks by punching holes.
const MAX_HOLE_BYTES: u64 = 1 << 20;

/// Runs the second child of a trial, from the first request until the parents are gone.
pub fn run_trial_child(mut channel: Channel) -> io::Result<()> {
    let end = Shutdown::default();
    let orders = spawn_request_forwarder(&end)?;
    let done = match orders.recv() {
        Ok(TrialRequest::Prepare(job)) => run_job(&job, &orders, &end, &mut channel),
        Ok(TrialRequest::Clear(disk)) => clear_leftover_disk(&disk, &end, &mut channel),
        Ok(TrialRequest::Measure(_)) | Err(_) => Ok(()),
    };
    if let Err(why) = done {
        let _ = channel.send(&TrialEvent::Failed(why));
    }
    // Waits until the parents end this process; its mounts and loop device end with it.
    while !end.is_over() && orders.recv().is_ok() {}
    Ok(())
}

/// Starts a thread that forwards requests, and that ends the process when the channel closes.
fn spawn_request_forwarder(end: &Shutdown) -> io::Result<Receiver<TrialRequest>> {
    let mut channel = Channel::from_stdout()?;
    let (give, take) = mpsc::channel();
    let end = end.clone();
    let listens = move || {
        while channel
            .recv(None)
            .is_ok_and(|order| give.send(order).is_ok())
        {}
        // Dropping the sender wakes the main thread if it waits for a request.
        drop(give);
        end.end_trial_and_exit_at_clear_deadline();
    };
    std::thread::Builder::new().spawn(listens)?;
    Ok(take)
}

/// Starts a thread that ends this process, and everything in its namespaces, [`GRACE_AFTER_BUDGET`]
/// after the time limit. Stopped parents do not close the channel, so the channel alone does not
/// suffice.
fn start_time_limit_watchdog(budget: f64, end: &Shutdown) -> Result<(), String> {
    let longest =
        Duration::from_secs_f64(budget.clamp(0.0, MAX_BUDGET_SECONDS)) + GRACE_AFTER_BUDGET;
    let end = end.clone();
    let wait = move || {
        std::thread::sleep(longest);
        end.end_trial_and_exit_at_clear_deadline();
    };
    std::thread::Builder::new()
        .spawn(wait)
        .map(drop)
        .map_err(|e| format!("cannot start a thread: {e}"))
}

fn run_job(
    job: &TrialJob,
    orders: &Receiver<TrialRequest>,
    end: &Shutdown,
    channel: &mut Channel,
) -> Result<(), String> {
    start_time_limit_watchdog(job.budget, end)?;
    let place = rustix::fs::lstat(MOUNT_POINT).map(|found| FileType::from_raw_mode(found.st_mode));
    if place != Ok(FileType::Directory) {
        return Err(format!(
            "{MOUNT_POINT} must be a directory, not a symbolic link, because a trial mounts its file system there; nothing was written"
        ));
    }
    let extent: Box<dyn Extent> = match &job.place {
        TrialPlace::Directory(directory) => {
            let mut tell = |bytes| drop(channel.send(&TrialEvent::Prepared(bytes)));
            Box::new(LoopFile::create_and_attach(
                &PathBuf::from(directory.clone()),
                job.bytes,
                Path::new(MOUNT_POINT),
                &mut tell,
            )?)
        }
        TrialPlace::Disk(order) => Box::new(acquire_disk(order, job, end, channel)?),
    };
    let done = run_blocks(job, &*extent, orders, end, channel);
    match (done, extent.clear(channel)) {
        (Ok(()), cleared) => cleared,
        (Err(why), Ok(())) => Err(why),
        (Err(why), Err(also)) => Err(format!("{why}; {also}")),
    }
}

fn acquire_disk(
    order: &EraseTarget,
    job: &TrialJob,
    end: &Shutdown,
    channel: &mut Channel,
) -> Result<LockedDisk, String> {
    if !end.require_clear_unless_over(job.bytes, 0.0) {
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
    LockedDisk::lock_free_disk(order, job.bytes, &mut tell)
}

fn clear_leftover_disk(
    order: &EraseTarget,
    end: &Shutdown,
    channel: &mut Channel,
) -> Result<(), String> {
    let disk = LockedDisk::lock_disk_with_leftovers(order)?;
    if !end.require_clear_unless_over(disk.bytes(), 0.0) {
        return Err("the trial is over; nothing was written".to_owned());
    }
    disk.clear(channel)
}

fn run_blocks(
    job: &TrialJob,
    extent: &dyn Extent,
    orders: &Receiver<TrialRequest>,
    end: &Shutdown,
    channel: &mut Channel,
) -> Result<(), String> {
    if channel
        .send(&TrialEvent::Ready(extent.path_for_mount()?))
        .is_err()
    {
        return Ok(());
    }
    let meters = TrialCounterReaders {
        own: DiskCounterReader::new(&[extent.device_name().to_owned()]),
        flush_disks: DiskCounterReader::new(&[extent.flush_device_name()]),
        leaves: DiskCounterReader::new(&job.leaves),
    };
    let mut rng = Rng::new(job.seed);
    let pages = load::random_content_buffer(rng.next_u64());
    let initial_written = meters.own.read().map_or(0, |counters| counters.written);
    let Ok(TrialRequest::Measure(order)) = orders.recv() else {
        return Ok(());
    };
    // Longest time for one candidate in one block: all loads, doubled for the warm-up.
    let cell_seconds = 2.0 * order.load_seconds * order.loads.len() as f64;
    if job.place.is_disk() && !end.require_clear_unless_over(job.bytes, cell_seconds) {
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
        initial_written,
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
    extent: &'a dyn Extent,
    shutdown: &'a Shutdown,
    counters: &'a TrialCounterReaders,
    pages: &'a AlignedBuffer,
    /// Bytes written directly to the loop file, not through the loop device.
    file_bytes_written: Cell<u64>,
    /// Written bytes that the device had counted before the trial: the counters of a loop device
    /// outlive its file.
    initial_written: u64,
}

impl CellRunner<'_> {
    /// Measures every candidate and control once, in a new random order. `None` if the trial ends
    /// before the block does.
    fn run_block(
        &self,
        rng: &mut Rng,
        channel: &mut Channel,
    ) -> Result<Option<TrialBlock>, String> {
        let candidates = (0..self.request.candidates.len()).map(CellSubject::Candidate);
        let host = self.extent.open_backing_file_direct();
        let controls = [
            Some(CellSubject::Twin),
            Some(CellSubject::Floor),
            host.map(|_| CellSubject::Host),
        ];
        let runners = rng.shuffled(candidates.chain(controls.into_iter().flatten()));
        // All candidates of a trial's block have the same order of loads, which favours none. The
        // order is new in each block, so that no method always runs first.
        let loads = rng.shuffled(0..self.request.loads.len());
        let before = self.written_bytes();
        let mut cells = Vec::new();
        for (nth, runner) in runners.into_iter().enumerate() {
            if self.shutdown.is_over() {
                return Ok(None);
            }
            // A send error is ignored: once the trial is over, no parent receives the event.
            let written = self.written_bytes().saturating_sub(before);
            let _ = channel.send(&TrialEvent::Cell {
                nth: nth + 1,
                written,
            });
            let all = self.extent.preparation_or_clear_bytes()
                + self.written_bytes().saturating_sub(self.initial_written);
            if all > self.job.writes {
                return Err("the trial reached the limit set by --writes".to_owned());
            }
            self.extent.check_still_usable()?;
            cells.push(self.measure_candidate_or_control(runner, &loads));
        }
        Ok(Some(TrialBlock {
            cells,
            written: self.written_bytes().saturating_sub(before),
        }))
    }

    fn written_bytes(&self) -> u64 {
        let own = self
            .counters
            .own
            .read()
            .map_or(0, |counters| counters.written);
        own + self.extent.bytes_written_to_holes() + self.file_bytes_written.get()
    }

    fn measure_candidate_or_control(&self, runner: CellSubject, loads: &[usize]) -> TrialCell {
        let samples = match runner {
            CellSubject::Candidate(at) => self.make_mount_and_measure_candidate(at, loads),
            CellSubject::Twin => self.make_mount_and_measure_candidate(0, loads),
            CellSubject::Floor => self.measure_commits_without_filesystem(
                self.extent.open_device_direct(),
                self.extent.bytes().saturating_sub(SEGMENT_BYTES),
            ),
            CellSubject::Host => {
                let file = self
                    .extent
                    .open_backing_file_direct()
                    .unwrap_or(Err(Errno::NODEV));
                let samples = self.measure_commits_without_filesystem(file, self.extent.bytes());
                let commits: u64 = samples.iter().flatten().map(|sample| sample.commits).sum();
                self.file_bytes_written
                    .set(self.file_bytes_written.get() + commits * PAGE_BYTES as u64);
                samples
            }
        };
        let error = samples.as_ref().err();
        TrialCell {
            runner,
            error: error.map(|why| why.chars().take(MAX_ERROR_CHARS).collect()),
            samples: samples.unwrap_or_default(),
        }
    }

    fn load_context(&self, seconds: f64) -> LoadContext<'_> {
        LoadContext {
            seconds,
            pages: self.pages,
            counters: self.counters,
        }
    }

    fn measure_commits_without_filesystem(
        &self,
        file: Result<OwnedFd, Errno>,
        at: u64,
    ) -> Result<Vec<TrialSample>, String> {
        let file = file.map_err(|e| format!("cannot open the extent: {e}"))?;
        self.extent.fill_holes()?;
        Ok(vec![load::run_commits_without_filesystem(
            file,
            at,
            &self.load_context(self.request.load_seconds.min(BARE_COMMIT_SECONDS)),
        )?])
    }

    fn make_mount_and_measure_candidate(
        &self,
        at: usize,
        loads: &[usize],
    ) -> Result<Vec<TrialSample>, String> {
        let candidate = self
            .request
            .candidates
            .get(at)
            .ok_or("the candidate does not exist")?;
        let mounted =
            MountedCandidate::make_and_mount(candidate, self.extent, Path::new(MOUNT_POINT))?;
        mounted.sync_filesystem()?;
        wait_until_device_idle(&self.counters.own);
        let samples = match self.extent.hole_bytes()? {
            0..=MAX_HOLE_BYTES => self.run_loads(&mounted, loads),
            _ => Err("the loop file has holes, so figures would differ from a disk's".to_owned()),
        };
        mounted.unmount()?;
        samples
    }

    /// `order` lists indices of the record's loads. The samples are in the record's order.
    fn run_loads(
        &self,
        mounted: &MountedCandidate<'_>,
        order: &[usize],
    ) -> Result<Vec<TrialSample>, String> {
        let context = self.load_context(self.request.load_seconds);
        let run = |load| {
            // No process waits for the remaining loads of a trial that is over.
            if self.shutdown.is_over() {
                return Err("the trial is over".to_owned());
            }
            load::run_load(load, &mounted.log, &context)
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
}
