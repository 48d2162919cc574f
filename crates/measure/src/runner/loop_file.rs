//! The loop file of a trial. It has no name, so nothing can be left of it; it is fully written, so
//! no write allocates.

use std::cell::Cell;
use std::ops::Range;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{Advice, Mode, OFlags, SeekFrom};
use rustix::io::Errno;

use super::TAIL_BYTES;
use super::device::LoopDevice;
use super::loop_place::LoopPlace;
use super::quota::FreeSpace;
use super::zeros::write_zeros;

/// Bytes written between two flushes.
const FLUSH_BYTES: usize = 64 << 20;

/// A loop file with its device.
pub struct LoopFile {
    file: OwnedFd,
    device: LoopDevice,
    bytes: u64,
    /// Bytes written to holes.
    filled_bytes: Cell<u64>,
}

impl LoopFile {
    /// `place` is a temporary mount point; `tell` gets the bytes written so far. The error is a
    /// sentence.
    pub fn create(
        directory: &Path,
        bytes: u64,
        place: &Path,
        tell: &mut dyn FnMut(u64),
    ) -> Result<Self, String> {
        let file = create_file(directory, bytes, tell)?;
        let device = LoopDevice::attach(&file, bytes, place)?;
        Ok(Self {
            file,
            device,
            bytes,
            filled_bytes: Cell::new(0),
        })
    }

    /// Checks that the device is still ours and the host's file system has space to spare. The
    /// error is a sentence.
    pub fn check(&self) -> Result<(), String> {
        self.device.check(self.bytes)?;
        check_free_space(&self.file)
    }

    pub fn path(&self) -> &str {
        &self.device.path
    }

    pub fn filled_bytes(&self) -> u64 {
        self.filled_bytes.get()
    }

    /// Writes zeros to the file's holes: mkfs zeroes inode tables and journals, and a loop device
    /// does that by punching holes, which a disk does not have. The device must be unused. The
    /// error is a sentence.
    pub fn fill_holes(&self) -> Result<(), String> {
        let filled = rustix::fs::fsync(&self.device.descriptor).and_then(|()| {
            for hole in self.holes()? {
                self.filled_bytes
                    .set(self.filled_bytes.get() + (hole.end - hole.start));
                write_zeros(&self.file, hole)?;
            }
            rustix::fs::fdatasync(&self.file)?;
            // Our page cache must not get in the way of direct I/O.
            rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed)
        });
        filled.map_err(|e| format!("cannot fill the holes of the loop file: {e}"))
    }

    /// Bytes in holes or in unwritten extents, which the kernel reports alike (lseek(2)).
    pub fn hole_bytes(&self) -> Result<u64, String> {
        let holes = self
            .holes()
            .map_err(|e| format!("cannot look for holes in the loop file: {e}"))?;
        Ok(holes.iter().map(|hole| hole.end - hole.start).sum())
    }

    fn holes(&self) -> Result<Vec<Range<u64>>, Errno> {
        let (all, mut at, mut found) = (self.bytes + TAIL_BYTES, 0, Vec::new());
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

    /// Kernel name of the device.
    pub fn kernel_name(&self) -> &str {
        self.device.path.strip_prefix("/dev/").unwrap_or_default()
    }

    /// The file, opened again for direct I/O.
    pub fn open_direct(&self) -> Result<OwnedFd, Errno> {
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        rustix::fs::open(
            path,
            OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC,
            Mode::empty(),
        )
    }

    /// The device, opened again for direct I/O.
    pub fn open_device_direct(&self) -> Result<OwnedFd, Errno> {
        rustix::fs::open(
            self.device.path.as_str(),
            OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC,
            Mode::empty(),
        )
    }

    /// Size of the extent; the file's tail follows.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Checks that the host's file system keeps its reserve; the error is a sentence.
fn check_free_space(file: &OwnedFd) -> Result<(), String> {
    let found =
        rustix::fs::fstatvfs(file).map_err(|e| format!("cannot stat the loop file: {e}"))?;
    if FreeSpace::from_statvfs(&found).is_low() {
        let says =
            "free space ran low, as others write there too; the trial ended and freed its file";
        return Err(says.to_owned());
    }
    Ok(())
}

/// An unnamed file, written completely and flushed.
fn create_file(directory: &Path, bytes: u64, tell: &mut dyn FnMut(u64)) -> Result<OwnedFd, String> {
    let shown = crate::text::display_safe(directory.as_os_str().as_encoded_bytes());
    let cannot = |what: &str, e: Errno| format!("cannot {what} in {shown}: {e}");
    let place = LoopPlace::open(directory)?;
    if !place.free_space.fits(bytes) {
        return Err(format!("{shown} would be left with too little free space"));
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&place.directory, ".", flags, Mode::RUSR | Mode::WUSR).map_err(|e| match e {
        Errno::OPNOTSUPP | Errno::ISDIR => {
            format!(
                "the file system of {shown} cannot create unnamed files (O_TMPFILE); name a directory on ext4 or XFS"
            )
        }
        e => cannot("make a file", e),
    })?;
    let all = bytes + TAIL_BYTES;
    // Dirty pages of the whole file at once would stall everybody else.
    for start in (0..all).step_by(FLUSH_BYTES) {
        let part = start..all.min(start + FLUSH_BYTES as u64);
        let done = write_zeros(&file, part.clone()).and_then(|()| rustix::fs::fdatasync(&file));
        done.map_err(|e| cannot("write", e))?;
        check_free_space(&file)?;
        tell(part.end);
    }
    rustix::fs::fsync(&file).map_err(|e| cannot("write", e))?;
    Ok(file)
}
