//! The cells of a trial: file systems made, mounted and measured on a loop file of walwise's own,
//! or on a disk that a person gave it by its serial number.
//!
//! All of it is done by two children. The first makes a private mount namespace and a process
//! namespace; the second is the first process in it, and everything in the namespace dies with it.
//! With a loop file it dies with its parents: the kernel then takes its mounts and its loop device,
//! and the loop file never had a name. With a disk it clears the extent first, within bounds, when
//! its parents are gone. What is to be measured, and what it means, is left to [`crate::trial`];
//! who may ask for it, to the command line.

mod room {
    //! The space that a trial may take: a fifth of the host's file system and 5 GiB stay free,
    //! whatever is asked for.

    use rustix::fs::StatVfs;

    use super::TAIL;

    /// Bytes that stay free.
    const LEAST_FREE: u64 = 5 << 30;

    /// A directory as the place of a loop file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct HostRoom {
        /// Bytes that users may still write.
        pub free: u64,
        /// Bytes of the file system.
        pub all: u64,
    }

    impl HostRoom {
        /// The room that the kernel reports.
        pub fn from_kernel(found: &StatVfs) -> Self {
            let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
            Self {
                free: bytes(found.f_bavail),
                all: bytes(found.f_blocks),
            }
        }

        /// Whether an extent of so many bytes leaves enough.
        pub fn has(self, bytes: u64) -> bool {
            let left = self.free.checked_sub(bytes + TAIL);
            left.is_some_and(|left| {
                !Self {
                    free: left,
                    all: self.all,
                }
                .is_low()
            })
        }

        /// Whether less is free than has to stay free.
        pub fn is_low(self) -> bool {
            self.free < LEAST_FREE || self.free < self.all / 5
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_fifth_and_five_gibibytes_stay_free() {
            let gib = 1u64 << 30;
            let has = |free, all, bytes| {
                HostRoom {
                    free: free * gib,
                    all: all * gib,
                }
                .has(bytes * gib)
            };
            assert!(
                has(40, 100, 19) && !has(40, 100, 20),
                "a fifth, and the tail counts"
            );
            assert!(has(8, 10, 2) && !has(8, 10, 3), "5 GiB");
            assert!(!has(1, 1000, 2));
            let low = |free, all| {
                HostRoom {
                    free: free * gib,
                    all: all * gib,
                }
                .is_low()
            };
            assert!(!low(20, 100) && low(19, 100) && !low(5, 10) && low(4, 10));
        }
    }
}
mod place;
mod zeros {
    //! Zeros, written to an open file or device.

    use std::ops::Range;
    use std::os::fd::OwnedFd;

    use rustix::io::Errno;

    /// Bytes of one write.
    const PIECE: usize = 1 << 20;

    /// Writes them; they are durable when the caller has flushed them.
    pub fn zero(file: &OwnedFd, part: Range<u64>) -> Result<(), Errno> {
        let piece = vec![0u8; PIECE];
        let mut at = part.start;
        while at < part.end {
            let length = usize::try_from(part.end - at).unwrap_or(PIECE).min(PIECE);
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
mod job {
    //! What the two sides of a trial tell each other.

    use serde::{Deserialize, Serialize};

    use super::disk::EraseOrder;
    use crate::subprocess::Bytes;
    use crate::trial::{CandidateRecord, TrialBlock, TrialLoad};

    /// What is to be done, before anything is made.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct TrialJob {
        pub place: TrialPlace,
        /// Bytes of the extent.
        pub bytes: u64,
        /// The seed of the trial's random numbers.
        pub seed: u64,
        /// The disks below, by kernel name.
        pub leaves: Vec<String>,
        /// The longest time in seconds. The inside ends by itself a little later, whatever becomes
        /// of whoever started it.
        pub budget: f64,
        /// The most bytes to write, the loop file among them.
        pub writes: u64,
    }

    /// What is to be measured.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct MeasureOrder {
        /// The candidates, the reference first.
        pub candidates: Vec<CandidateRecord>,
        pub loads: Vec<TrialLoad>,
        /// Seconds of each load in a cell.
        pub load_seconds: f64,
    }

    /// Where the extent of a trial is.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum TrialPlace {
        /// In a loop file in this directory.
        Directory(Bytes),
        /// At the beginning of this disk.
        Disk(EraseOrder),
    }

    impl TrialPlace {
        /// Whether it is a disk.
        pub fn is_disk(&self) -> bool {
            matches!(self, Self::Disk(_))
        }
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum News {
        /// So many bytes of the loop file are written, or of the disk are read.
        Prepared(u64),
        /// The extent is there, on the device of this path, and the candidates may be named.
        Ready(String),
        Cell {
            /// Its number in the block, from 1 on.
            nth: usize,
            /// Bytes that were written in the block before it.
            written: u64,
        },
        Block(TrialBlock),
        /// It cannot go on: a sentence.
        Failed(String),
        /// So many bytes of the disk are zeros again.
        Clearing(u64),
        /// The disk is as free as before.
        Cleared,
    }

    /// What the outside tells.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub enum Order {
        /// Make the loop file, or take the disk.
        Prepare(TrialJob),
        /// Clear what an earlier trial left on this disk.
        Clear(EraseOrder),
        /// Measure, block after block, until nobody listens.
        Measure(MeasureOrder),
    }
}
mod device;
mod extent;
mod image;
mod timing;
mod volume;
mod files {
    //! Files that are created, written and flushed one after the other, as fs_mark does it: what a
    //! journal pays for new names.

    use std::fs;
    use std::path::Path;
    use std::sync::{Mutex, PoisonError};

    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;

    use super::timing::{LoadMeans, together};
    use crate::trial::Sample;

    /// Bytes of a file.
    const FILE: usize = 16 << 10;

    /// Directories of each session.
    const DIRECTORIES: u64 = 16;

    /// Creates files by so many sessions for the time, and removes them.
    pub fn create(clients: u32, log: &Path, means: &LoadMeans<'_>) -> Result<Sample, String> {
        let top = log.join("files");
        let place = |client: u32, directory: u64| top.join(format!("{client}-{directory}"));
        for client in 0..clients {
            for directory in 0..DIRECTORIES {
                fs::create_dir_all(place(client, directory))
                    .map_err(|e| format!("a directory: {e}"))?;
            }
        }
        let failed = Mutex::new(None);
        let bytes = means.pages.bytes(FILE);
        let sample = together(clients, means, &|| None, &|client, nth| {
            let path = place(client, nth % DIRECTORIES).join(nth.to_string());
            let made = file(&path, bytes);
            if let Err(errno) = made {
                failed
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(errno);
            }
            made.is_ok()
        });
        fs::remove_dir_all(&top).map_err(|e| format!("new files: {e}"))?;
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(errno) => Err(format!("a new file: {errno}")),
            None => sample,
        }
    }

    fn file(path: &Path, bytes: &[u8]) -> Result<(), Errno> {
        let create = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, create, Mode::RUSR | Mode::WUSR)?;
        if rustix::io::pwrite(&file, bytes, 0)? != bytes.len() {
            return Err(Errno::NOSPC);
        }
        rustix::fs::fsync(&file)
    }
}
mod load;
mod settle {
    //! Waiting until a new file system is quiet: what it writes by itself after mkfs and mount is
    //! not the load's.

    use std::time::{Duration, Instant};

    use crate::probes::Disks;

    /// For how long nothing may be written.
    const QUIET: Duration = Duration::from_millis(150);

    const LONGEST: Duration = Duration::from_secs(3);

    /// Waits until nothing is written to our device any more, within bounds.
    pub fn settle(device: &Disks) {
        let begun = Instant::now();
        let (mut since, mut before) = (begun, device.read());
        while since.elapsed() < QUIET && begun.elapsed() < LONGEST {
            std::thread::sleep(Duration::from_millis(25));
            let now = device.read();
            if now != before {
                (since, before) = (Instant::now(), now);
            }
        }
    }
}
mod ending {
    //! How the inside of a trial ends when nobody listens any more or its time is over: at once, or
    //! after it has cleared what it wrote to a disk, within bounds.

    use std::process::exit;
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::Duration;

    /// How long what is being done may take to end: a program that makes a file system, an unmount.
    const LONGEST_STEP: Duration = Duration::from_secs(90);

    /// Bytes per second below which clearing is given up, as on a disk that fails.
    const SLOWEST: u64 = 16 << 20;

    /// What there is to do at the end.
    #[derive(Clone, Copy, Debug, Default)]
    struct Duties {
        is_over: bool,
        /// The longest time that the end may take; `None` where nothing has to be done.
        clearing: Option<Duration>,
    }

    /// The end of a trial, shared by the threads that may call it.
    #[derive(Clone, Default)]
    pub struct TrialEnd(Arc<Mutex<Duties>>);

    impl TrialEnd {
        /// From now on so many bytes of a disk are to be cleared at the end, during loads of so
        /// many seconds in all; false where it is over already, and nothing may be written.
        pub fn has_to_clear(&self, bytes: u64, load_seconds: f64) -> bool {
            let mut duties = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let loads = Duration::from_secs_f64(load_seconds.clamp(0.0, 86_400.0));
            // Written and read back.
            duties.clearing = Some(LONGEST_STEP + loads + Duration::from_secs(2 * bytes / SLOWEST));
            !duties.is_over
        }

        /// Whether it is over.
        pub fn has_come(&self) -> bool {
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .is_over
        }

        /// Ends this process: at once, or when there was time to clear a disk.
        pub fn come(&self) {
            let longest = {
                let mut duties = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                duties.is_over = true;
                match duties.clearing {
                    // Nothing can be written any more, as that is begun under the same lock.
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
            let end = TrialEnd::default();
            assert!(!end.has_come() && end.has_to_clear(2 << 30, 1.0));
            let longest = end.0.lock().unwrap().clearing.unwrap();
            assert!(
                longest > Duration::from_secs(2 * 128) && longest < Duration::from_secs(600),
                "{longest:?}"
            );
            end.0.lock().unwrap().is_over = true;
            assert!(end.has_come() && !end.has_to_clear(1, 1.0));
        }
    }
}
mod inside;
mod outside {
    //! The outside of a trial: the child between, which makes the namespaces, and the handle by
    //! which a trial is run.

    use std::io;
    use std::time::Duration;

    use nix::mount::{MsFlags, mount};
    use nix::sched::{CloneFlags, unshare};

    use super::disk::EraseOrder;
    use super::job::{MeasureOrder, News, Order, TrialJob};
    use crate::subprocess::{Channel, RecvError, Role, Subprocess};

    /// How long the kernel may take to end everything.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// How long a trial on a disk may be silent at its end: a program that makes a file system has
    /// a minute.
    const PATIENCE_FOR_DISKS: Duration = Duration::from_secs(120);

    /// Acts as the child between: makes the namespaces and starts the first process in them; ends
    /// after it.
    pub fn between(mut channel: Channel, inside: Role) -> io::Result<()> {
        enter()
            .and_then(|()| inside.run())
            .map(drop)
            .or_else(|error| {
                let why = crate::text::error_words(&error);
                let why = format!(
                    "cannot create namespaces: {why}; in a container, run walwise on its host"
                );
                channel.send(&News::Failed(why))
            })
    }

    fn enter() -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID)?;
        // Nothing that is mounted in here is seen outside. What is unmounted outside is unmounted
        // in here too, or it would stay in use for as long as the trial lasts
        // (mount_namespaces(7)).
        let none: Option<&str> = None;
        mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)?;
        std::env::set_current_dir("/")
    }

    /// A trial that is being run. When it is dropped, everything it made goes.
    pub struct Arena {
        child: Option<Subprocess>,
        clears: bool,
        cleared: bool,
    }

    impl Arena {
        /// Starts the children and orders the loop file, or has them take the disk.
        pub fn open(job: &TrialJob) -> io::Result<Self> {
            Self::start(&Order::Prepare(job.clone()), job.place.is_disk())
        }

        /// Starts the children to clear what an earlier trial left on a disk.
        pub fn clear(disk: &EraseOrder) -> io::Result<Self> {
            Self::start(&Order::Clear(disk.clone()), true)
        }

        fn start(order: &Order, clears: bool) -> io::Result<Self> {
            let role = if clears {
                Role::TrialBetweenDisk
            } else {
                Role::TrialBetween
            };
            Ok(Self {
                child: Some(Subprocess::spawn(role, order)?),
                clears,
                cleared: false,
            })
        }

        pub fn measure(&mut self, order: MeasureOrder) -> io::Result<()> {
            let child = self.child.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            child.channel.send(&Order::Measure(order))
        }

        /// What there is to tell within so long; `Ok(None)` for nothing yet, an error when the
        /// children are gone.
        pub fn recv(&mut self, timeout: Duration) -> Result<Option<News>, &'static str> {
            const GONE: &str = "the process that measures is gone";
            let child = self.child.as_mut().ok_or(GONE)?;
            match child.channel.recv(Some(timeout)) {
                Ok(news) => {
                    self.cleared |= news == News::Cleared;
                    Ok(Some(news))
                }
                // Killed before the inside could ask to die with it.
                Err(RecvError::Timeout) if child.has_ended() => Err(GONE),
                Err(RecvError::Timeout) => Ok(None),
                Err(RecvError::Closed) => Err(GONE),
            }
        }

        /// Ends it. On a disk it hears how the disk is cleared, and returns whether it was; on a
        /// loop file there is nothing to clear.
        pub fn close(mut self, tell: &mut dyn FnMut(News)) -> bool {
            self.end(tell);
            self.cleared || !self.clears
        }

        fn end(&mut self, tell: &mut dyn FnMut(News)) {
            let Some(child) = self.child.take() else {
                return;
            };
            if !self.clears {
                return child.end(PATIENCE);
            }
            child.close(PATIENCE_FOR_DISKS, |news| {
                self.cleared |= news == News::Cleared;
                tell(news);
            });
        }
    }

    impl Drop for Arena {
        fn drop(&mut self) {
            self.end(&mut |_| ());
        }
    }
}

pub use device::{AttachedLoop, leftovers};
pub use disk::{EraseOrder, SpareDisk, by_facts, by_facts_of_use};
pub use inside::run as inside;
pub use job::{MeasureOrder, News, TrialJob, TrialPlace};
pub use outside::{Arena, between};
pub use place::LoopPlace;
pub use volume::{maker, version};

/// Bytes behind the extent in the loop file: the host's own file system is measured there.
pub const TAIL: u64 = crate::trial::SEGMENT;
