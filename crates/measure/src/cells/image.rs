//! The loop file of a trial.
//!
//! The file has no name, so nothing can be left of it, and it is written whole, so that no write
//! allocates.

use std::cell::Cell;
use std::ops::Range;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{Advice, Mode, OFlags, SeekFrom};
use rustix::io::Errno;

use super::TAIL;
use super::device::LoopDevice;
use super::place::LoopPlace;
use super::room::HostRoom;
use super::zeros::zero;

/// Bytes that are written before they are flushed.
const AT_ONCE: usize = 64 << 20;

/// A loop file with its device.
pub struct Image {
    file: OwnedFd,
    device: LoopDevice,
    bytes: u64,
    /// Bytes that were written to holes.
    filled: Cell<u64>,
}

impl Image {
    /// Makes one, using a place where something may be mounted; `tell` hears how many bytes are
    /// written. The error is a sentence.
    pub fn make(
        directory: &Path,
        bytes: u64,
        place: &Path,
        tell: &mut dyn FnMut(u64),
    ) -> Result<Self, String> {
        let file = written(directory, bytes, tell)?;
        let device = LoopDevice::attach(&file, bytes, place)?;
        Ok(Self {
            file,
            device,
            bytes,
            filled: Cell::new(0),
        })
    }

    /// Makes sure that the device is still ours, and that the host's file system has room to spare.
    /// The error is a sentence.
    pub fn check(&self) -> Result<(), String> {
        self.device.check(self.bytes)?;
        has_room(&self.file)
    }

    pub fn path(&self) -> &str {
        &self.device.path
    }

    /// Bytes that were written to holes up to now.
    pub fn filled(&self) -> u64 {
        self.filled.get()
    }

    /// Writes zeros where the file has holes: mkfs has the kernel zero inode tables and journals,
    /// and a loop device does that by punching holes, which a disk does not have. Nobody may be
    /// using the device. The error is a sentence.
    pub fn fill(&self) -> Result<(), String> {
        let filled = rustix::fs::fsync(&self.device.held).and_then(|()| {
            for hole in self.holes()? {
                self.filled.set(self.filled.get() + (hole.end - hole.start));
                zero(&self.file, hole)?;
            }
            rustix::fs::fdatasync(&self.file)?;
            // What we wrote through the page cache is not to be in the way of direct I/O.
            rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed)
        });
        filled.map_err(|e| format!("cannot fill the holes of the loop file: {e}"))
    }

    /// Bytes in holes, or in extents that were never written, which the kernel reports alike
    /// (lseek(2)).
    pub fn unwritten(&self) -> Result<u64, String> {
        let holes = self
            .holes()
            .map_err(|e| format!("cannot look for holes in the loop file: {e}"))?;
        Ok(holes.iter().map(|hole| hole.end - hole.start).sum())
    }

    fn holes(&self) -> Result<Vec<Range<u64>>, Errno> {
        let (all, mut at, mut found) = (self.bytes + TAIL, 0, Vec::new());
        while at < all {
            let start = rustix::fs::seek(&self.file, SeekFrom::Hole(at))?.min(all);
            at = match rustix::fs::seek(&self.file, SeekFrom::Data(start)) {
                Ok(data) => data.min(all),
                Err(Errno::NXIO) => all,
                Err(e) => return Err(e),
            };
            if start < at {
                found.push(start..at);
            }
        }
        Ok(found)
    }

    /// The device's name for the kernel.
    pub fn kernel_name(&self) -> &str {
        self.device.path.strip_prefix("/dev/").unwrap_or_default()
    }

    /// The file, opened again for direct I/O.
    pub fn direct(&self) -> Result<OwnedFd, Errno> {
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        rustix::fs::open(
            path,
            OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC,
            Mode::empty(),
        )
    }

    /// The device, opened again for direct I/O.
    pub fn direct_device(&self) -> Result<OwnedFd, Errno> {
        rustix::fs::open(
            self.device.path.as_str(),
            OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC,
            Mode::empty(),
        )
    }

    /// Bytes of the extent; the file's tail follows.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Makes sure that the host's file system keeps the room that it has to keep; the error is a
/// sentence.
fn has_room(file: &OwnedFd) -> Result<(), String> {
    let found =
        rustix::fs::fstatvfs(file).map_err(|e| format!("cannot look at the loop file: {e}"))?;
    if HostRoom::from_kernel(&found).is_low() {
        let says = "too little space was left free, as others write there too; the trial ended and freed its file";
        return Err(says.to_owned());
    }
    Ok(())
}

/// A file without a name, written whole and durable.
fn written(directory: &Path, bytes: u64, tell: &mut dyn FnMut(u64)) -> Result<OwnedFd, String> {
    let shown = crate::text::safe(directory.as_os_str().as_encoded_bytes());
    let cannot = |what: &str, e: Errno| format!("cannot {what} in {shown}: {e}");
    let place = LoopPlace::open(directory)?;
    if !place.room.has(bytes) {
        return Err(format!("{shown} would be left with too little free space"));
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&place.directory, ".", flags, Mode::RUSR | Mode::WUSR).map_err(|e| match e {
        Errno::OPNOTSUPP | Errno::ISDIR => {
            format!(
                "the file system of {shown} makes no files without a name; name a directory on ext4 or XFS"
            )
        }
        e => cannot("make a file", e),
    })?;
    let all = bytes + TAIL;
    // Dirty pages of the whole file at once would hold up everybody else.
    for start in (0..all).step_by(AT_ONCE) {
        let part = start..all.min(start + AT_ONCE as u64);
        let done = zero(&file, part.clone()).and_then(|()| rustix::fs::fdatasync(&file));
        done.map_err(|e| cannot("write", e))?;
        has_room(&file)?;
        tell(part.end);
    }
    rustix::fs::fsync(&file).map_err(|e| cannot("write", e))?;
    Ok(file)
}
