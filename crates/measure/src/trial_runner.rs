//! Runs a trial: makes, mounts and measures file systems on a loop file, or on a disk that the user
//! named by serial number. [`crate::trial`] defines the loads and compares the results.
//!
//! Two child processes do the work. The first creates a mount namespace and a PID namespace. The
//! second is process 1 of the PID namespace; everything in the namespace ends with it.
//!
//! A loop file has no name, and at the end the kernel removes the file with its mounts and device.
//! A disk is cleared before the children end, within a time limit.

mod blank;
mod child_main;
mod disk;
mod extent;
mod load;
mod loop_device;
mod loop_file;
mod loop_file_directory;
mod mounted_candidate;

use std::ops::{ControlFlow, Range};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use std::{fs, io};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use rustix::fs::{CWD, Mode, OFlags, StatVfs};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::measure::median_and_p99;
use crate::probes::{
    AlignedBuffer, CommitWriter, CyclicWriteCursor, DiskCounterReader, PAGE_BYTES, create_file,
    pwrite_all,
};
use crate::subprocess::{Channel, MessageBytes, RecvError, Role, Subprocess};
use crate::trial::{CandidateRecord, TrialBlock, TrialLoad, TrialSample};
use walwise_model::parallel::lock;

pub use child_main::run_trial_child;
pub use disk::{EraseTarget, InspectedDisk, clear_refusal_by_facts, erase_refusal_by_facts};
pub use loop_device::{LoopDeviceIdentity, leftover_loop_devices};
pub use loop_file_directory::LoopFileDirectory;
pub use mounted_candidate::{mkfs_program, read_version_line};

/// Size of the tail of the loop file, after the extent. Commits to the tail measure the host's file
/// system.
pub const TAIL_BYTES: u64 = crate::trial::SEGMENT_BYTES;

const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Longest time without a message from the children while they clear a disk at the end. They
/// may first have to wait a minute for an mkfs.
const DISK_EXIT_TIMEOUT: Duration = Duration::from_secs(120);

pub fn create_namespaces_and_run_role(mut channel: Channel, inside: Role) -> io::Result<()> {
    create_namespaces()
        .and_then(|()| inside.run_to_exit())
        .map(drop)
        .or_else(|error| {
            let why = crate::text::io_error_message(&error);
            let why = format!(
                "cannot create namespaces: {why}; if this is a container, run walwise on its host"
            );
            channel.send(&TrialEvent::Failed(why))
        })
}

fn create_namespaces() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID)?;
    // With MS_SLAVE, mounts made here stay invisible outside, but unmounts outside take effect here
    // (mount_namespaces(7)). Otherwise a file system unmounted outside would stay in use until the
    // trial ends.
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)?;
    std::env::set_current_dir("/")
}

/// Dropping the handle ends the children; a disk is cleared first.
pub struct TrialHandle {
    child: Option<Subprocess>,
    clears: bool,
    cleared: bool,
}

impl TrialHandle {
    pub fn start_trial(job: &TrialJob) -> io::Result<Self> {
        Self::spawn_children(&TrialRequest::Prepare(job.clone()), job.place.is_disk())
    }

    pub fn start_disk_clear(disk: &EraseTarget) -> io::Result<Self> {
        Self::spawn_children(&TrialRequest::Clear(disk.clone()), true)
    }

    fn spawn_children(order: &TrialRequest, clears: bool) -> io::Result<Self> {
        let role = if clears {
            Role::DiskTrialNamespaces
        } else {
            Role::TrialNamespaces
        };
        Ok(Self {
            child: Some(Subprocess::spawn(role, order)?),
            clears,
            cleared: false,
        })
    }

    pub fn request_measurement(&mut self, order: MeasureRequest) -> io::Result<()> {
        let child = self.child.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        child.channel.send(&TrialRequest::Measure(order))
    }

    /// Next event; `Ok(None)` on timeout, an error if the children are gone.
    pub fn recv(&mut self, timeout: Duration) -> Result<Option<TrialEvent>, &'static str> {
        const GONE_ERROR: &str = "the measuring process ended unexpectedly";
        let child = self.child.as_mut().ok_or(GONE_ERROR)?;
        match child.channel.recv(Some(timeout)) {
            Ok(news) => {
                self.cleared |= news == TrialEvent::Cleared;
                Ok(Some(news))
            }
            // If the first child is killed early, the second may continue and keep the channel
            // open.
            Err(RecvError::Timeout) if child.has_exited() => Err(GONE_ERROR),
            Err(RecvError::Timeout) => Ok(None),
            Err(RecvError::Closed) => Err(GONE_ERROR),
        }
    }

    /// `tell` gets the progress of clearing a disk. Returns true if the disk was cleared, and
    /// always for a loop file.
    pub fn end_trial_and_return_cleared(mut self, tell: &mut dyn FnMut(TrialEvent)) -> bool {
        self.end_children(tell);
        self.cleared || !self.clears
    }

    fn end_children(&mut self, tell: &mut dyn FnMut(TrialEvent)) {
        let Some(child) = self.child.take() else {
            return;
        };
        if !self.clears {
            return child.kill_and_wait_for_closed_channel(EXIT_TIMEOUT);
        }
        child.drain_messages_and_kill(DISK_EXIT_TIMEOUT, |news| {
            self.cleared |= news == TrialEvent::Cleared;
            tell(news);
        });
    }
}

impl Drop for TrialHandle {
    fn drop(&mut self) {
        self.end_children(&mut |_| ());
    }
}

// The child's end: its parents are gone, or the time is up. A disk is cleared first, within a time
// limit.

/// Longest time that the current step may take, such as an mkfs or an unmount.
const MAX_STEP_TIME: Duration = Duration::from_secs(90);

/// Rate in bytes per second below which clearing gives up, as on a failing disk.
const MIN_CLEAR_RATE: u64 = 16 << 20;

#[derive(Clone, Copy, Debug, Default)]
struct ShutdownState {
    is_over: bool,
    /// Longest time that clearing a disk may take; `None` if no disk has to be cleared.
    clearing: Option<Duration>,
}

#[derive(Clone, Default)]
struct Shutdown(Arc<Mutex<ShutdownState>>);

impl Shutdown {
    /// Requires that `bytes` bytes of a disk are cleared at the end. Running loads may delay
    /// the clearing by `load_seconds`. Returns false if the trial is over: then nothing may be
    /// written.
    pub fn require_clear_unless_over(&self, bytes: u64, load_seconds: f64) -> bool {
        let mut duties = lock(&self.0);
        let loads = Duration::from_secs_f64(load_seconds.clamp(0.0, 86_400.0));
        // The factor is 2 because zeros are written and read back.
        duties.clearing =
            Some(MAX_STEP_TIME + loads + Duration::from_secs(2 * bytes / MIN_CLEAR_RATE));
        !duties.is_over
    }

    pub fn is_over(&self) -> bool {
        lock(&self.0).is_over
    }

    pub fn end_trial_and_exit_at_clear_deadline(&self) {
        let longest = {
            let mut duties = lock(&self.0);
            duties.is_over = true;
            match duties.clearing {
                // Exiting is safe: a disk is written only after `require_clear_unless_over`, under
                // the same lock.
                None => exit(0),
                Some(longest) => longest,
            }
        };
        std::thread::sleep(longest);
        exit(1);
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialJob {
    pub place: TrialPlace,
    pub bytes: u64,
    pub seed: u64,
    /// Kernel names of the disks below the extent.
    pub leaves: Vec<String>,
    /// Time limit in seconds. The child exits shortly afterwards, even if its parents do not end
    /// it.
    pub budget: f64,
    /// Write limit in bytes, including the loop file.
    pub writes: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasureRequest {
    /// The reference is first.
    pub candidates: Vec<CandidateRecord>,
    pub loads: Vec<TrialLoad>,
    /// Duration of each load for one candidate in one block, in seconds.
    pub load_seconds: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TrialPlace {
    Directory(MessageBytes),
    Disk(EraseTarget),
}

impl TrialPlace {
    pub fn is_disk(&self) -> bool {
        matches!(self, Self::Disk(_))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TrialEvent {
    /// Bytes of the loop file written so far, or bytes of the disk read so far.
    Prepared(u64),
    /// The extent exists, on the device with this path; the parent may send candidates.
    Ready(String),
    Cell {
        /// Position of the cell in its block, from 1.
        nth: usize,
        /// Bytes written by earlier cells of the block.
        written: u64,
    },
    Block(TrialBlock),
    /// The trial cannot continue; the text is the reason.
    Failed(String),
    /// Bytes of the disk cleared so far.
    Clearing(u64),
    /// The extent was zeroed and read back.
    Cleared,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum TrialRequest {
    Prepare(TrialJob),
    Clear(EraseTarget),
    /// Measure block after block until the channel closes.
    Measure(MeasureRequest),
}

/// Repeats `attempt` until it breaks or the time limit is over; then returns its last answer.
fn retry<T>(limit: Duration, pause: Duration, mut attempt: impl FnMut() -> ControlFlow<T, T>) -> T {
    let begun = Instant::now();
    loop {
        match attempt() {
            ControlFlow::Continue(_) if begun.elapsed() < limit => std::thread::sleep(pause),
            ControlFlow::Continue(last) | ControlFlow::Break(last) => return last,
        }
    }
}

/// Path of an open file for other programs. /proc may belong to another PID namespace, in which this
/// process has another id.
fn proc_fd_path(held: &OwnedFd) -> Result<String, String> {
    let ourselves =
        fs::read_link("/proc/self").map_err(|e| format!("cannot read /proc/self: {e}"))?;
    let path = format!("/proc/{}/fd/{}", ourselves.display(), held.as_raw_fd());
    Ok(path)
}

/// Opens a device or file again through /proc/self/fd, so that no other can take its place.
fn reopen(held: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
    let path = format!("/proc/self/fd/{}", held.as_raw_fd());
    let flags = flags | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

/// The caller must flush the file.
fn write_zeros(file: &OwnedFd, part: Range<u64>) -> Result<(), Errno> {
    crate::probes::write_zeros(file, part, &|| true).map(drop)
}

// Space that a loop file leaves on the host's file system: a fifth of it, and at least 5 GiB,
// whatever size the user requests.

const MIN_FREE_BYTES: u64 = 5 << 30;

/// Space on the file system of a loop file, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeSpace {
    /// Bytes available to unprivileged users.
    pub free: u64,
    pub total: u64,
}

impl FreeSpace {
    pub(crate) fn from_statvfs(found: &StatVfs) -> Self {
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        Self {
            free: bytes(found.f_bavail),
            total: bytes(found.f_blocks),
        }
    }

    /// `bytes` is the size of the extent, without the tail of the loop file.
    pub fn leaves_enough_space(self, bytes: u64) -> bool {
        let left = self.free.checked_sub(bytes + TAIL_BYTES);
        left.is_some_and(|left| {
            !Self {
                free: left,
                total: self.total,
            }
            .is_below_reserve()
        })
    }

    pub(crate) fn is_below_reserve(self) -> bool {
        self.free < MIN_FREE_BYTES || self.free < self.total / 5
    }
}

// The wait until a new file system causes no more I/O: the writes after mkfs and mount must not
// count as part of the load.

const QUIET_TIME: Duration = Duration::from_millis(150);

const MAX_WAIT: Duration = Duration::from_secs(3);

/// Returns once the counters of `device` have not changed for [`QUIET_TIME`], after
/// [`MAX_WAIT`] at the latest.
fn wait_until_device_idle(device: &DiskCounterReader) {
    let begun = Instant::now();
    let (mut since, mut before) = (begun, device.read());
    while since.elapsed() < QUIET_TIME && begun.elapsed() < MAX_WAIT {
        std::thread::sleep(Duration::from_millis(25));
        let now = device.read();
        if now != before {
            (since, before) = (Instant::now(), now);
        }
    }
}

/// Duration of the warm-up, as a share of the load's duration.
const WARM_UP_SHARE: f64 = 0.2;

struct TrialCounterReaders {
    pub own: DiskCounterReader,
    /// The disk that counts the flushes of the trial's own device.
    pub flush_disks: DiskCounterReader,
    pub leaves: DiskCounterReader,
}

struct LoadContext<'a> {
    /// Duration of the load, without warm-up.
    pub seconds: f64,
    pub pages: &'a AlignedBuffer,
    pub counters: &'a TrialCounterReaders,
}

/// Repeats commits one after the other until the time of the load is up. The commits overwrite the
/// part `place` of the file cyclically.
fn run_serial_commits(
    writer: &CommitWriter,
    place: Range<u64>,
    pages: usize,
    context: &LoadContext<'_>,
) -> Result<TrialSample, String> {
    let bytes = context.pages.first_bytes(pages * PAGE_BYTES);
    let mut cursor = CyclicWriteCursor::new(place.start, place.end);
    let mut commit = || {
        let offset = cursor.next_write_offset(bytes.len());
        let done = writer.write_and_flush_timed(bytes, offset);
        done.map(|done| done.micros)
            .map_err(|e| format!("a commit failed: {e}"))
    };
    let warm = Instant::now();
    while warm.elapsed().as_secs_f64() < WARM_UP_SHARE * context.seconds {
        commit()?;
    }
    let (micros, sample) = timed_sample(context.counters, || {
        let begun = Instant::now();
        let mut micros = Vec::new();
        while begun.elapsed().as_secs_f64() < context.seconds {
            micros.push(commit()?);
        }
        Ok::<_, String>(micros)
    });
    let micros = micros?;
    Ok(with_latencies(sample, &micros, micros.len() as u64))
}

/// Runs the operation in one thread per client until the time of the load is up. `operation` gets
/// the number of the client and of the turn; `doing` names it in the error. `calls` returns the
/// flush requests so far; with `None`, each commit counts as one. The error is a complete sentence.
fn run_operation_in_client_threads(
    doing: &str,
    clients: u32,
    context: &LoadContext<'_>,
    calls: &(dyn Fn() -> Option<u64> + Sync),
    operation: &(dyn Fn(u32, u64) -> Result<(), Errno> + Sync),
) -> Result<TrialSample, String> {
    let (counts, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let failed = OnceLock::new();
    let session = |client: u32| {
        let (mut micros, mut nth) = (Vec::new(), 0);
        while !over.load(Ordering::Relaxed) {
            let begun = Instant::now();
            if let Err(errno) = operation(client, nth) {
                _ = failed.set(errno);
                break;
            }
            nth += 1;
            if counts.load(Ordering::Relaxed) {
                micros.push(begun.elapsed().as_nanos() as f64 / 1e3);
            }
        }
        micros
    };
    let sample = std::thread::scope(|scope| {
        let session = &session;
        let start =
            |client| std::thread::Builder::new().spawn_scoped(scope, move || session(client));
        let sessions: Vec<_> = (0..clients)
            .map(start)
            .collect::<Result<_, _>>()
            .map_err(|e| {
                over.store(true, Ordering::Relaxed);
                format!("starting a client thread failed: {e}")
            })?;
        std::thread::sleep(Duration::from_secs_f64(WARM_UP_SHARE * context.seconds));
        let (made, sample) = timed_sample(context.counters, || {
            let before = calls();
            counts.store(true, Ordering::Relaxed);
            std::thread::sleep(Duration::from_secs_f64(context.seconds));
            counts.store(false, Ordering::Relaxed);
            Some(calls()?.saturating_sub(before?))
        });
        over.store(true, Ordering::Relaxed);
        let all = sessions
            .into_iter()
            .flat_map(|session| session.join().unwrap_or_default());
        let micros: Vec<f64> = all.collect();
        let made = made.unwrap_or(micros.len() as u64);
        Ok(with_latencies(sample, &micros, made))
    });
    match failed.get() {
        Some(errno) => Err(format!("{doing} failed: {errno}")),
        None => sample,
    }
}

/// The result of `measured`, and a sample with its duration and the flushes that were counted.
fn timed_sample<T>(
    counters: &TrialCounterReaders,
    measured: impl FnOnce() -> T,
) -> (T, TrialSample) {
    let read = || {
        let own = counters.flush_disks.read_flush_count();
        (own, counters.leaves.read_flush_count())
    };
    let (before, begun) = (read(), Instant::now());
    let done = measured();
    let seconds = begun.elapsed().as_secs_f64();
    let after = read();
    let since = |before: Option<u64>, after: Option<u64>| Some(after?.saturating_sub(before?));
    let sample = TrialSample {
        seconds,
        flushes: since(before.0, after.0),
        leaf_flushes: since(before.1, after.1),
        ..TrialSample::default()
    };
    (done, sample)
}

/// `calls` is the number of flush requests.
fn with_latencies(sample: TrialSample, micros: &[f64], calls: u64) -> TrialSample {
    let (p50_us, p99_us) = median_and_p99(micros);
    TrialSample {
        commits: micros.len() as u64,
        p50_us,
        p99_us,
        calls,
        ..sample
    }
}

// The load of new files, which measures the cost of journalling new names. Files are created,
// written and flushed one after the other, as by fs_mark.

const FILE_BYTES: usize = 16 << 10;

const DIRECTORIES_PER_CLIENT: u64 = 16;

fn run_file_creation_load(
    clients: u32,
    log: &Path,
    context: &LoadContext<'_>,
) -> Result<TrialSample, String> {
    let top = log.join("files");
    let place = |client: u32, directory: u64| top.join(format!("{client}-{directory}"));
    for client in 0..clients {
        for directory in 0..DIRECTORIES_PER_CLIENT {
            fs::create_dir_all(place(client, directory))
                .map_err(|e| format!("creating a directory failed: {e}"))?;
        }
    }
    let bytes = context.pages.first_bytes(FILE_BYTES);
    let create = |client, nth: u64| {
        let path = place(client, nth % DIRECTORIES_PER_CLIENT).join(nth.to_string());
        create_flushed_file(&path, bytes)
    };
    let sample =
        run_operation_in_client_threads("creating a file", clients, context, &|| None, &create);
    fs::remove_dir_all(&top).map_err(|e| format!("removing the new files failed: {e}"))?;
    sample
}

fn create_flushed_file(path: &Path, bytes: &[u8]) -> Result<(), Errno> {
    let file = create_file(CWD, path)?;
    pwrite_all(&file, bytes, 0)?;
    rustix::fs::fsync(&file)
}

#[cfg(test)]
mod free_space_tests {
    use super::*;

    #[test]
    fn a_fifth_and_five_gibibytes_stay_free() {
        let gib = 1u64 << 30;
        let has = |free, all, bytes| {
            FreeSpace {
                free: free * gib,
                total: all * gib,
            }
            .leaves_enough_space(bytes * gib)
        };
        assert!(
            has(40, 100, 19) && !has(40, 100, 20),
            "one fifth, including the tail"
        );
        assert!(has(8, 10, 2) && !has(8, 10, 3), "5 GiB");
        assert!(!has(1, 1000, 2));
        let low = |free, all| {
            FreeSpace {
                free: free * gib,
                total: all * gib,
            }
            .is_below_reserve()
        };
        assert!(!low(20, 100) && low(19, 100) && !low(5, 10) && low(4, 10));
    }
}

#[cfg(test)]
mod shutdown_tests {
    use super::*;

    #[test]
    fn finished_trial_refuses_work_and_clearing_gets_time() {
        let end = Shutdown::default();
        assert!(!end.is_over() && end.require_clear_unless_over(2 << 30, 1.0));
        let longest = end.0.lock().unwrap().clearing.unwrap();
        assert!(
            longest > Duration::from_secs(2 * 128) && longest < Duration::from_secs(600),
            "{longest:?}"
        );
        end.0.lock().unwrap().is_over = true;
        assert!(end.is_over() && !end.require_clear_unless_over(1, 1.0));
    }
}
