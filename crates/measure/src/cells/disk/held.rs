//! A disk that a person gave to a trial, held open and locked: proven free before anything is
//! written, known again before every cell, and cleared at the end.
//!
//! As long as the descriptor is open the kernel gives its number to no other disk, so neither a
//! disk that is taken out nor one that comes can stand in for it. mkfs and mount get the
//! descriptor, by its path in /proc. Programs make their file systems in the extent alone; mkfs.xfs
//! clears the device's last 128 KiB too, whatever size it is told, so the last MiB belongs to the
//! trial: it is read like the extent, and holds the mark.

use std::cell::{Cell, RefCell};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::fs::{FileType, FlockOperation, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::findings::{DevicePlace, again, is_claimed, open};
use super::foreign::{self, BEGINNING};
use super::free::by_findings;
use super::mark::{LAST, MARK, SUPERBLOCKS, TrialMark, TrialSeal, Uuid, superblocks, written};
use super::plate::KnownBy;
use crate::cells::blank::{Blankness, clear, first_byte};
use crate::way::random;

/// How long others may look at the device, as udev does when it appears, before it counts as used.
const PATIENCE: Duration = Duration::from_secs(5);

/// The disk that a person agreed to have erased, as it was then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EraseOrder {
    pub node: String,
    pub number: u64,
    /// What the kernel counts up with every new disk; empty before Linux 5.15.
    pub sequence: String,
    /// Where it begins on its disk, and how large it is, in bytes.
    pub extent: (u64, u64),
    pub known_by: KnownBy,
}

/// A device that was looked at, and nothing more.
#[derive(Debug)]
pub struct SpareDisk {
    /// What a person would agree to.
    pub order: EraseOrder,
    /// The mark that an earlier trial left on it.
    pub left: Option<TrialMark>,
    /// Why that may not be cleared.
    pub forbidden: Option<&'static str>,
    held: OwnedFd,
    place: DevicePlace,
}

impl SpareDisk {
    /// Looks at a device; the error is a sentence.
    pub fn look(path: &str) -> Result<Self, String> {
        let (held, place) = open(path)?;
        let known_by = place.known_by().map_err(|why| format!("{path} {why}"))?;
        let extent = place
            .extent()
            .map_err(|why| format!("{path} is of an unknown size: {why}"))?;
        let read =
            |at, length| read(&held, at, length).map_err(|e| format!("cannot read {path}: {e}"));
        let left = match extent.1.checked_sub(LAST) {
            Some(at) => TrialMark::decode(&read(at, MARK)?),
            None => None,
        };
        let forbidden = match &left {
            Some(mark) => mark.forbids(&known_by, extent.1, &superblocks(&read(0, SUPERBLOCKS)?)),
            None => None,
        };
        let (number, sequence) = (place.number, place.sequence());
        let order = EraseOrder {
            node: path.to_owned(),
            number,
            sequence,
            extent,
            known_by,
        };
        Ok(Self {
            order,
            left,
            forbidden,
            held,
            place,
        })
    }

    /// Why it may not be erased by what is found of it now; `None` where it may. Who only looks at
    /// it has a moment to end.
    pub fn refusal(&self, bytes: u64) -> Option<String> {
        let begun = Instant::now();
        loop {
            let (why, may_pass) = match self.place.look(&self.held) {
                Ok(found) => (by_findings(&found, bytes), found.may_pass()),
                Err(why) => (Some(why), false),
            };
            if why.is_none() || !may_pass || begun.elapsed() > PATIENCE {
                return why.map(|why| format!("{} {why}", self.order.node));
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

pub struct HeldDisk {
    held: OwnedFd,
    place: DevicePlace,
    order: EraseOrder,
    bytes: u64,
    seal: TrialSeal,
    /// How many file systems were made.
    nth: Cell<u16>,
    last: RefCell<Option<Uuid>>,
    /// Whether something was not as it should be after a write: nothing more is written then.
    is_doubtful: Cell<bool>,
}

impl HeldDisk {
    /// Takes a disk that is proven free: looked at anew, and what is to be written read whole.
    /// `tell` hears how far it is, and ends it with an error. The error is a sentence.
    pub fn take(
        order: &EraseOrder,
        bytes: u64,
        tell: &mut dyn FnMut(u64) -> Result<(), Errno>,
    ) -> Result<Self, String> {
        let disk = Self::hold(order, bytes, TrialSeal::of(random()))?;
        // Held while it is read and marked, so that nobody makes anything of it meanwhile.
        let claim = disk.claim()?;
        let end = order.extent.1;
        for part in [end - LAST..end, 0..bytes] {
            match first_byte(&disk.held, part, Blankness::ZerosOrOnes, tell) {
                Ok(None) => {}
                Ok(Some(at)) => {
                    return Err(format!(
                        "{} is not free: it holds data at byte {at}; nothing was written",
                        order.node
                    ));
                }
                Err(e) => {
                    return Err(format!(
                        "cannot read {}: {e}; nothing was written",
                        order.node
                    ));
                }
            }
        }
        disk.check_nobody_came()?;
        disk.mark(true)?;
        drop(claim);
        Ok(disk)
    }

    /// Takes a disk for what an earlier trial left on it; the error is a sentence.
    pub fn take_left(order: &EraseOrder) -> Result<Self, String> {
        let shown = SpareDisk::look(&order.node)?;
        let mark = shown
            .left
            .as_ref()
            .ok_or_else(|| format!("no trial left anything on {}", order.node))?;
        if let Some(why) = shown.forbidden {
            return Err(format!("what is on {} is not cleared: {why}", order.node));
        }
        let disk = Self::hold(order, mark.bytes, mark.seal)?;
        // Once more, now that it is locked.
        let again = disk.read(order.extent.1 - LAST, MARK)?;
        if TrialMark::decode(&again).as_ref() != Some(mark) {
            return Err(format!(
                "{} changed while it was looked at; nothing was written",
                order.node
            ));
        }
        disk.check_nobody_came()?;
        let blank = || {
            first_byte(
                &disk.held,
                0..SUPERBLOCKS as u64,
                Blankness::ZerosOrOnes,
                &mut |_| Ok(()),
            )
        };
        if superblocks(&disk.read(0, SUPERBLOCKS)?).is_empty() && blank() != Ok(None) {
            return Err(format!(
                "{} holds what no trial is known to have written, so it is not cleared: look at it, and clear it by hand",
                order.node
            ));
        }
        Ok(disk)
    }

    fn hold(order: &EraseOrder, bytes: u64, seal: TrialSeal) -> Result<Self, String> {
        let shown = SpareDisk::look(&order.node)?;
        if shown.order != *order {
            return Err(format!(
                "{} is another disk than before; nothing was written",
                order.node
            ));
        }
        if let Some(why) = shown.refusal(bytes) {
            return Err(format!("{why}; nothing was written"));
        }
        let SpareDisk {
            held, place, order, ..
        } = shown;
        // Only now for writing.
        let held =
            again(&held, OFlags::RDWR).map_err(|e| format!("cannot open {}: {e}", order.node))?;
        lock(&held, &order.node)?;
        let disk = Self {
            held,
            place,
            order,
            bytes,
            seal,
            nth: Cell::new(0),
            last: RefCell::new(None),
            is_doubtful: Cell::new(false),
        };
        disk.check_it_is_the_same()?;
        Ok(disk)
    }

    /// Makes sure that it is still the same disk, that nobody uses it, and that it holds only what
    /// this trial made. The error is a sentence.
    pub fn check(&self) -> Result<(), String> {
        if self.is_doubtful.get() {
            return Err(format!(
                "{} was not as it should be after a write, so nothing more is written to it",
                self.order.node
            ));
        }
        self.check_it_is_the_same()?;
        self.check_it_is_unused()?;
        self.check_nobody_came()?;
        let found = superblocks(&self.read(0, SUPERBLOCKS)?);
        let last = self.last.borrow();
        let has_last = last.as_ref().is_none_or(|last| found.contains(last));
        if has_last && found.iter().all(|uuid| self.seal.has(uuid)) {
            return Ok(());
        }
        Err(format!(
            "{} holds what this trial did not make, so nothing more is written to it",
            self.order.node
        ))
    }

    fn check_it_is_the_same(&self) -> Result<(), String> {
        let EraseOrder {
            node,
            number,
            sequence,
            extent,
            known_by,
        } = &self.order;
        let found =
            rustix::fs::fstat(&self.held).map_err(|e| format!("cannot look at {node}: {e}"))?;
        let is_it = FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice
            && found.st_rdev == *number;
        let place = DevicePlace::of(*number).map_err(|why| format!("{node}: {why}"))?;
        let same = place == self.place
            && place.sequence() == *sequence
            && place.extent().as_ref() == Ok(extent)
            && place.known_by().as_ref() == Ok(known_by);
        if is_it && same {
            Ok(())
        } else {
            Err(format!("{node} is no longer the disk of this trial"))
        }
    }

    /// Tries to claim it, and gives that up, as mkfs and mount claim it themselves.
    fn check_it_is_unused(&self) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            match is_claimed(&self.held) {
                Ok(false) => return Ok(()),
                // What was unmounted a moment ago may not be given up yet.
                Ok(true) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Ok(true) => return Err(format!("{} is in use by somebody else", self.order.node)),
                Err(e) => return Err(format!("cannot open {}: {e}", self.order.node)),
            }
        }
    }

    /// Makes sure that nobody divided it, stands on it, has it open or made something of it. The
    /// error is a sentence.
    fn check_nobody_came(&self) -> Result<(), String> {
        let EraseOrder { node, extent, .. } = &self.order;
        let begun = Instant::now();
        while let Some(who) = self
            .place
            .company()
            .map_err(|why| format!("{node} may be in use: {why}"))?
        {
            if begun.elapsed() > PATIENCE {
                return Err(format!("{node} {who}"));
            }
            // udev looks at what was closed after a write.
            std::thread::sleep(Duration::from_millis(50));
        }
        let length = BEGINNING.min(usize::try_from(extent.1).unwrap_or(BEGINNING));
        let last = self.read(extent.1 - LAST, usize::try_from(LAST).unwrap_or(MARK))?;
        let found = foreign::signatures(extent.1, self.read(0, length)?, last);
        if found.is_empty() {
            return Ok(());
        }
        Err(format!(
            "{node} holds what this trial did not make: {}",
            found.join(", ")
        ))
    }

    /// Claims it, until the claim is dropped; the error is a sentence.
    fn claim(&self) -> Result<OwnedFd, String> {
        self.check_it_is_unused()?;
        again(&self.held, OFlags::RDONLY | OFlags::EXCL)
            .map_err(|e| format!("cannot claim {}: {e}", self.order.node))
    }

    /// Says in the mark whether there may be no superblock.
    fn mark(&self, is_changing: bool) -> Result<(), String> {
        let disk = self.order.known_by.typed().to_owned();
        let mark = TrialMark {
            bytes: self.bytes,
            seal: self.seal,
            is_changing,
            disk,
        }
        .encode();
        let done = rustix::io::pwrite(&self.held, &mark, self.order.extent.1 - LAST)
            .and_then(|count| {
                if count == mark.len() {
                    Ok(())
                } else {
                    Err(Errno::IO)
                }
            })
            .and_then(|()| rustix::fs::fsync(&self.held));
        done.map_err(|e| format!("cannot mark {}: {e}", self.order.node))
    }

    /// Before a file system is made: the UUID that it is to have. The error is a sentence.
    pub fn begins_to_make(&self) -> Result<String, String> {
        self.check()?;
        self.mark(true)?;
        self.nth.set(
            self.nth
                .get()
                .checked_add(1)
                .ok_or("no more file systems can be made in one trial")?,
        );
        let uuid = self.seal.uuid(self.nth.get());
        self.last.replace(None);
        Ok(written(&uuid))
    }

    /// After it was made; the error is a sentence, and the end of the trial.
    pub fn has_made(&self) -> Result<(), String> {
        let done = self.knows_what_was_made();
        self.is_doubtful.set(done.is_err());
        done
    }

    fn knows_what_was_made(&self) -> Result<(), String> {
        let uuid = self.seal.uuid(self.nth.get());
        if !superblocks(&self.read(0, SUPERBLOCKS)?).contains(&uuid) {
            return Err(format!(
                "{} does not hold the file system that was just made",
                self.order.node
            ));
        }
        self.last.replace(Some(uuid));
        self.check()?;
        self.mark(false)
    }

    /// Clears the extent, reads it back, and clears the mark last of all. `tell` hears how far it
    /// is. The error is a sentence.
    pub fn clear(&self, tell: &mut dyn FnMut(u64)) -> Result<(), String> {
        // What was just written may be in doubt, and everything else is looked at all the same.
        self.is_doubtful.set(false);
        self.check()?;
        let claim = self.claim()?;
        self.mark(true)?;
        let told = |e: Errno| format!("cannot clear {}: {e}", self.order.node);
        clear(&self.held, 0..self.bytes, tell).map_err(told)?;
        let left = first_byte(&self.held, 0..self.bytes, Blankness::Zeros, &mut |_| Ok(()))
            .map_err(told)?;
        if let Some(at) = left {
            return Err(format!(
                "{} was cleared and still holds data at byte {at}",
                self.order.node
            ));
        }
        let end = self.order.extent.1;
        let done = clear(&self.held, end - LAST..end, &mut |_| ()).map_err(told);
        drop(claim);
        done
    }

    /// The path of the descriptor, as another process of ours takes it.
    pub fn path(&self) -> Result<String, String> {
        // In our process namespace we have another number than in that of /proc.
        let ourselves =
            std::fs::read_link("/proc/self").map_err(|e| format!("cannot read /proc/self: {e}"))?;
        Ok(format!(
            "/proc/{}/fd/{}",
            ourselves.display(),
            self.held.as_raw_fd()
        ))
    }

    /// The device, opened again for direct I/O, and claimed for as long.
    pub fn direct(&self) -> Result<OwnedFd, Errno> {
        again(&self.held, OFlags::RDWR | OFlags::DIRECT | OFlags::EXCL)
    }

    pub fn kernel_name(&self) -> &str {
        &self.place.name
    }

    /// The kernel name of the disk that it is or is a part of: flushes are counted there.
    pub fn disk_name(&self) -> String {
        self.place.disk_name()
    }

    /// Bytes of the extent.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read(&self, at: u64, length: usize) -> Result<Vec<u8>, String> {
        read(&self.held, at, length).map_err(|e| format!("cannot read {}: {e}", self.order.node))
    }
}

/// Bytes of a device; an error where there are not so many.
fn read(held: &OwnedFd, at: u64, length: usize) -> Result<Vec<u8>, Errno> {
    let mut bytes = vec![0; length];
    let mut done = 0;
    while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match rustix::io::pread(held, rest, at + done as u64) {
            Ok(0) => return Err(Errno::IO),
            Ok(count) => done += count,
            Err(Errno::INTR) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(bytes)
}

/// udev leaves a locked device alone, and nothing mounts it by itself
/// (systemd.io/BLOCK_DEVICE_LOCKING). It may be looking at it just now.
pub fn lock(held: &OwnedFd, named: &str) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        match rustix::fs::flock(held, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK | Errno::INTR) if begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                return Err(format!("{named} is locked by another process"));
            }
            Err(e) => return Err(format!("cannot lock {named}: {e}")),
        }
    }
}
