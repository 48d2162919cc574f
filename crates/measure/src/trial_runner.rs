//! The runner of a trial makes, mounts and measures file systems on its own loop file, or on a disk
//! that the user named by serial number. [`crate::trial`] plans the measurements and judges the
//! results.
//!
//! Two children do the work. The first makes a mount and a process namespace. The second is the
//! first process in the namespace; everything in the namespace ends with it.
//!
//! A loop file has no name, and at the end the kernel removes the file's mounts and device. A disk
//! is cleared before that, within a time limit.

mod free_space {
    //! Space of a trial: a fifth of the host's file system and 5 GiB stay free, whatever is
    //! requested.

    use rustix::fs::StatVfs;

    use super::TAIL_BYTES;

    const MIN_FREE_BYTES: u64 = 5 << 30;

    /// Space on the file system of a loop file, in bytes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FreeSpace {
        /// Bytes available to unprivileged users.
        pub free: u64,
        /// Size of the file system.
        pub total: u64,
    }

    impl FreeSpace {
        pub fn from_statvfs(found: &StatVfs) -> Self {
            let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
            Self {
                free: bytes(found.f_bavail),
                total: bytes(found.f_blocks),
            }
        }

        /// True if a loop file with an extent of `bytes` bytes, and with its tail, leaves enough
        /// free space.
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

        /// True if less than a fifth of the file system, or less than 5 GiB, is free.
        pub fn is_below_reserve(self) -> bool {
            self.free < MIN_FREE_BYTES || self.free < self.total / 5
        }
    }

    #[cfg(test)]
    mod tests {
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
                "a fifth, and the tail counts"
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
}
mod loop_place;
mod zeros {
    use std::ops::Range;
    use std::os::fd::OwnedFd;

    use rustix::io::Errno;

    const WRITE_BYTES: usize = 1 << 20;

    /// The caller has to flush.
    pub fn write_zeros(file: &OwnedFd, part: Range<u64>) -> Result<(), Errno> {
        let piece = vec![0u8; WRITE_BYTES];
        let mut at = part.start;
        while at < part.end {
            let length = usize::try_from(part.end - at)
                .unwrap_or(WRITE_BYTES)
                .min(WRITE_BYTES);
            match rustix::io::pwrite(file, piece.get(..length).unwrap_or_default(), at) {
                Ok(0) => return Err(Errno::NOSPC),
                Ok(count) => at += count as u64,
                Err(Errno::INTR) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}
mod blank;
mod disk;
mod messages {
    use serde::{Deserialize, Serialize};

    use super::disk::EraseTarget;
    use crate::subprocess::Bytes;
    use crate::trial::{CandidateRecord, TrialBlock, TrialLoad};

    /// Parameters for the preparation of the extent.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct TrialJob {
        pub place: TrialPlace,
        /// Bytes of the extent.
        pub bytes: u64,
        pub seed: u64,
        /// Kernel names of the disks below the extent.
        pub leaves: Vec<String>,
        /// Time limit in seconds. The child ends a little later by itself, even if its parents do
        /// not end it.
        pub budget: f64,
        /// Write limit in bytes, including the loop file.
        pub writes: u64,
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct MeasureRequest {
        /// The reference is first.
        pub candidates: Vec<CandidateRecord>,
        pub loads: Vec<TrialLoad>,
        /// Seconds of each load in a cell.
        pub load_seconds: f64,
    }

    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum TrialPlace {
        /// A loop file in this directory.
        Directory(Bytes),
        /// The beginning of this disk.
        Disk(EraseTarget),
    }

    impl TrialPlace {
        pub fn is_disk(&self) -> bool {
            matches!(self, Self::Disk(_))
        }
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum TrialEvent {
        /// Bytes of the loop file written, or of the disk read.
        Prepared(u64),
        /// The extent exists, on the device with this path; the parent may send candidates.
        Ready(String),
        Cell {
            /// Number in the block, from 1.
            nth: usize,
            /// Bytes written in the block before this cell.
            written: u64,
        },
        Block(TrialBlock),
        /// The trial cannot go on; the text is a sentence.
        Failed(String),
        /// Bytes of the disk that are zero again.
        Clearing(u64),
        /// The disk is as free as before the trial.
        Cleared,
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum TrialRequest {
        /// Make the loop file, or lock the disk.
        Prepare(TrialJob),
        /// Clear what an earlier trial left on this disk.
        Clear(EraseTarget),
        /// Measure block after block until the channel closes.
        Measure(MeasureRequest),
    }
}
mod extent;
mod loop_device;
mod loop_file;
mod mounted_candidate;
mod timing;
mod file_load {
    //! Files created, written and flushed one after the other, as by fs_mark: the load shows the
    //! cost of new names in a journal.

    use std::fs;
    use std::path::Path;
    use std::sync::{Mutex, PoisonError};

    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;

    use super::timing::{LoadContext, run_sessions};
    use crate::trial::Sample;

    const FILE_BYTES: usize = 16 << 10;

    /// Directories per client.
    const DIRECTORIES: u64 = 16;

    /// Creates files from all clients for the time of the load, then removes them.
    pub fn run_file_load(
        clients: u32,
        log: &Path,
        means: &LoadContext<'_>,
    ) -> Result<Sample, String> {
        let top = log.join("files");
        let place = |client: u32, directory: u64| top.join(format!("{client}-{directory}"));
        for client in 0..clients {
            for directory in 0..DIRECTORIES {
                fs::create_dir_all(place(client, directory))
                    .map_err(|e| format!("creating a directory failed: {e}"))?;
            }
        }
        let failed = Mutex::new(None);
        let bytes = means.pages.bytes(FILE_BYTES);
        let sample = run_sessions(clients, means, &|| None, &|client, nth| {
            let path = place(client, nth % DIRECTORIES).join(nth.to_string());
            let made = create_flushed_file(&path, bytes);
            if let Err(errno) = made {
                failed
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(errno);
            }
            made.is_ok()
        });
        fs::remove_dir_all(&top).map_err(|e| format!("removing the new files failed: {e}"))?;
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(errno) => Err(format!("creating a file failed: {errno}")),
            None => sample,
        }
    }

    fn create_flushed_file(path: &Path, bytes: &[u8]) -> Result<(), Errno> {
        let create = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, create, Mode::RUSR | Mode::WUSR)?;
        if rustix::io::pwrite(&file, bytes, 0)? != bytes.len() {
            return Err(Errno::NOSPC);
        }
        rustix::fs::fsync(&file)
    }
}
mod load;
mod quiesce {
    //! Waits until a new file system is quiet, because writes that follow mkfs and mount do not
    //! belong to the load.

    use std::time::{Duration, Instant};

    use crate::probes::DiskCounterReader;

    /// Time without a write that counts as quiet.
    const QUIET: Duration = Duration::from_millis(150);

    const MAX_WAIT: Duration = Duration::from_secs(3);

    /// The wait ends after [`MAX_WAIT`] at the latest.
    pub fn wait_until_quiet(device: &DiskCounterReader) {
        let begun = Instant::now();
        let (mut since, mut before) = (begun, device.read());
        while since.elapsed() < QUIET && begun.elapsed() < MAX_WAIT {
            std::thread::sleep(Duration::from_millis(25));
            let now = device.read();
            if now != before {
                (since, before) = (Instant::now(), now);
            }
        }
    }
}
mod shutdown {
    //! The end of the child when its parents are gone or the time is up: immediately, or after
    //! clearing a disk, within a time limit.

    use std::process::exit;
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::Duration;

    /// Longest time that the current step may take, such as an mkfs or an unmount.
    const MAX_STEP: Duration = Duration::from_secs(90);

    /// Rate in bytes per second below which clearing gives up, as on a failing disk.
    const MIN_CLEAR_RATE: u64 = 16 << 20;

    #[derive(Clone, Copy, Debug, Default)]
    struct ShutdownState {
        is_over: bool,
        /// Longest time that clearing a disk may take; `None` if no disk has to be cleared.
        clearing: Option<Duration>,
    }

    /// The end of a trial, shared by the threads that may start it.
    #[derive(Clone, Default)]
    pub struct Shutdown(Arc<Mutex<ShutdownState>>);

    impl Shutdown {
        /// Requires that `bytes` bytes of a disk are cleared at the end, which may have to wait
        /// `load_seconds` for running loads. Returns false if the trial is over: then nothing may
        /// be written.
        pub fn require_clear_at_end(&self, bytes: u64, load_seconds: f64) -> bool {
            let mut duties = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let loads = Duration::from_secs_f64(load_seconds.clamp(0.0, 86_400.0));
            // The factor is 2 because zeros are written and read back.
            duties.clearing =
                Some(MAX_STEP + loads + Duration::from_secs(2 * bytes / MIN_CLEAR_RATE));
            !duties.is_over
        }

        pub fn is_over(&self) -> bool {
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .is_over
        }

        /// Ends the process at once, or after the time for clearing a disk.
        pub fn exit_process(&self) {
            let longest = {
                let mut duties = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                duties.is_over = true;
                match duties.clearing {
                    // Exiting is safe: every write begins under this lock, so none can start any
                    // more.
                    None => exit(0),
                    Some(longest) => longest,
                }
            };
            std::thread::sleep(longest);
            exit(1);
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_is_over_begins_nothing_and_what_must_clear_has_time_for_it() {
            let end = Shutdown::default();
            assert!(!end.is_over() && end.require_clear_at_end(2 << 30, 1.0));
            let longest = end.0.lock().unwrap().clearing.unwrap();
            assert!(
                longest > Duration::from_secs(2 * 128) && longest < Duration::from_secs(600),
                "{longest:?}"
            );
            end.0.lock().unwrap().is_over = true;
            assert!(end.is_over() && !end.require_clear_at_end(1, 1.0));
        }
    }
}
mod child;
mod parent {
    //! The parent side of a trial: the intermediate child, which makes the namespaces, and the
    //! handle of a running trial.

    use std::io;
    use std::time::Duration;

    use nix::mount::{MsFlags, mount};
    use nix::sched::{CloneFlags, unshare};

    use super::disk::EraseTarget;
    use super::messages::{MeasureRequest, TrialEvent, TrialJob, TrialRequest};
    use crate::subprocess::{Channel, RecvError, Role, Subprocess};

    /// Time that the kernel may take to end all processes.
    const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

    /// Longest silence of a trial on a disk at its end; an mkfs may take a minute.
    const DISK_EXIT_TIMEOUT: Duration = Duration::from_secs(120);

    /// Runs as the intermediate child: makes the namespaces, starts the first process in them, and
    /// ends after it.
    pub fn run_intermediate_child(mut channel: Channel, inside: Role) -> io::Result<()> {
        enter_namespaces()
            .and_then(|()| inside.run_nested())
            .map(drop)
            .or_else(|error| {
                let why = crate::text::error_message(&error);
                let why = format!(
                    "cannot create namespaces: {why}; in a container, run walwise on its host"
                );
                channel.send(&TrialEvent::Failed(why))
            })
    }

    fn enter_namespaces() -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID)?;
        // Mounts made here stay invisible outside. Unmounts outside must take effect here too, or
        // the file system would stay in use for the whole trial (mount_namespaces(7)).
        let none: Option<&str> = None;
        mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)?;
        std::env::set_current_dir("/")
    }

    /// Dropping the handle removes everything that the trial made.
    pub struct TrialHandle {
        child: Option<Subprocess>,
        clears: bool,
        cleared: bool,
    }

    impl TrialHandle {
        /// Starts the children, which make the loop file or lock the disk.
        pub fn start_preparation(job: &TrialJob) -> io::Result<Self> {
            Self::spawn(&TrialRequest::Prepare(job.clone()), job.place.is_disk())
        }

        /// Starts the children to clear what an earlier trial left on a disk.
        pub fn start_disk_clear(disk: &EraseTarget) -> io::Result<Self> {
            Self::spawn(&TrialRequest::Clear(disk.clone()), true)
        }

        fn spawn(order: &TrialRequest, clears: bool) -> io::Result<Self> {
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
            const GONE: &str = "the measuring process ended unexpectedly";
            let child = self.child.as_mut().ok_or(GONE)?;
            match child.channel.recv(Some(timeout)) {
                Ok(news) => {
                    self.cleared |= news == TrialEvent::Cleared;
                    Ok(Some(news))
                }
                // If the first child is killed early, the second may live on and keep the channel
                // open.
                Err(RecvError::Timeout) if child.has_exited() => Err(GONE),
                Err(RecvError::Timeout) => Ok(None),
                Err(RecvError::Closed) => Err(GONE),
            }
        }

        /// Ends the trial. `tell` gets the progress of clearing a disk. Returns true if the disk
        /// was cleared, and always for a loop file.
        pub fn close(mut self, tell: &mut dyn FnMut(TrialEvent)) -> bool {
            self.end_children(tell);
            self.cleared || !self.clears
        }

        fn end_children(&mut self, tell: &mut dyn FnMut(TrialEvent)) {
            let Some(child) = self.child.take() else {
                return;
            };
            if !self.clears {
                return child.kill_and_drain(EXIT_TIMEOUT);
            }
            child.drain(DISK_EXIT_TIMEOUT, |news| {
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
}

pub use child::run_child as inside;
pub use disk::{EraseTarget, InspectedDisk, clear_refusal_by_facts, erase_refusal_by_facts};
pub use loop_device::{AttachedLoop, leftover_loop_devices};
pub use loop_place::LoopPlace;
pub use messages::{MeasureRequest, TrialEvent, TrialJob, TrialPlace};
pub use mounted_candidate::{mkfs_program, program_version};
pub use parent::{TrialHandle, run_intermediate_child};

/// Size of the part after the extent in the loop file, which measures the host's own file system.
pub const TAIL_BYTES: u64 = crate::trial::SEGMENT_BYTES;
