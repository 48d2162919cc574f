//! The loop file of a trial. The file has no name, so a killed trial leaves no file. The file is
//! fully written, so no write allocates blocks.

use std::cell::Cell;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::slice;

use rustix::fs::{Advice, Mode, OFlags, SeekFrom};
use rustix::io::Errno;

use super::extent::{Extent, run_trial_tool};
use super::loop_device::LoopDevice;
use super::loop_file_directory::LoopFileDirectory;
use super::{FreeSpace, TAIL_BYTES, reopen, write_zeros};
use crate::host::TrialTool;
use crate::settings::NewFilesystem;

const BYTES_PER_FLUSH: usize = 64 << 20;

pub struct LoopFile {
    file: OwnedFd,
    device: LoopDevice,
    bytes: u64,
    filled_bytes: Cell<u64>,
}

impl LoopFile {
    /// Creates, fills and attaches a loop file in `directory`. `place` is a temporary mount point;
    /// `tell` gets the bytes written so far. The error is a complete sentence.
    pub fn create_and_attach(
        directory: &Path,
        bytes: u64,
        place: &Path,
        tell: &mut dyn FnMut(u64),
    ) -> Result<Self, String> {
        let file = create_zeroed_unnamed_file(directory, bytes, tell)?;
        let device = LoopDevice::attach(&file, bytes, place)?;
        Ok(Self {
            file,
            device,
            bytes,
            filled_bytes: Cell::new(0),
        })
    }

    fn find_holes(&self) -> Result<Vec<Range<u64>>, Errno> {
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
}

impl Extent for LoopFile {
    fn check_still_usable(&self) -> Result<(), String> {
        self.device.check_identity_and_modes(self.bytes)?;
        check_free_space(&self.file)
    }

    fn make_filesystem(
        &self,
        _: NewFilesystem,
        maker: TrialTool,
        options: &[String],
    ) -> Result<(), String> {
        run_trial_tool(
            maker,
            &[options, slice::from_ref(&self.device.path)].concat(),
        )?;
        self.fill_holes()
    }

    fn path_for_mount(&self) -> Result<String, String> {
        Ok(self.device.path.clone())
    }

    fn open_device_direct(&self) -> Result<OwnedFd, Errno> {
        rustix::fs::open(
            self.device.path.as_str(),
            OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC,
            Mode::empty(),
        )
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn preparation_or_clear_bytes(&self) -> u64 {
        self.bytes + TAIL_BYTES
    }

    fn device_name(&self) -> &str {
        self.device.path.strip_prefix("/dev/").unwrap_or_default()
    }

    /// mkfs zeroes inode tables and journals, which a loop device does by punching holes; a disk
    /// has no holes. The device must be unused.
    fn fill_holes(&self) -> Result<(), String> {
        let filled = rustix::fs::fsync(&self.device.descriptor).and_then(|()| {
            for hole in self.find_holes()? {
                self.filled_bytes
                    .set(self.filled_bytes.get() + (hole.end - hole.start));
                write_zeros(&self.file, hole)?;
            }
            rustix::fs::fdatasync(&self.file)?;
            // The cached zeros are dropped, because cached pages must not interfere with direct
            // I/O.
            rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed)
        });
        filled.map_err(|e| format!("cannot fill the holes in the loop file: {e}"))
    }

    fn bytes_written_to_holes(&self) -> u64 {
        self.filled_bytes.get()
    }

    /// Bytes in holes or in unwritten extents, which the kernel reports alike (lseek(2)).
    fn hole_bytes(&self) -> Result<u64, String> {
        let holes = self
            .find_holes()
            .map_err(|e| format!("cannot look for holes in the loop file: {e}"))?;
        Ok(holes.iter().map(|hole| hole.end - hole.start).sum())
    }

    fn open_backing_file_direct(&self) -> Option<Result<OwnedFd, Errno>> {
        Some(reopen(&self.file, OFlags::RDWR | OFlags::DIRECT))
    }
}

fn check_free_space(file: &OwnedFd) -> Result<(), String> {
    let found =
        rustix::fs::fstatvfs(file).map_err(|e| format!("cannot stat the loop file: {e}"))?;
    if FreeSpace::from_statvfs(&found).is_below_reserve() {
        let says = "free space ran low because other programs also wrote to this file system; the trial ended and deleted its file";
        return Err(says.to_owned());
    }
    Ok(())
}

fn create_zeroed_unnamed_file(
    directory: &Path,
    bytes: u64,
    tell: &mut dyn FnMut(u64),
) -> Result<OwnedFd, String> {
    let shown = crate::text::display_path(directory);
    let cannot = |what: &str, e: Errno| format!("cannot {what} in {shown}: {e}");
    let place = LoopFileDirectory::open_and_check(directory)?;
    if !place.free_space.leaves_enough_space(bytes) {
        return Err(format!(
            "{shown} would be left with too little free space; choose a smaller --size"
        ));
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&place.directory, ".", flags, Mode::RUSR | Mode::WUSR).map_err(|e| match e {
        Errno::OPNOTSUPP | Errno::ISDIR => {
            format!(
                "the file system of {shown} cannot create unnamed files (O_TMPFILE); specify a directory on ext4 or XFS"
            )
        }
        e => cannot("create a file", e),
    })?;
    let all = bytes + TAIL_BYTES;
    // The file is flushed part by part, because flushing all dirty pages at once would stall other
    // programs.
    for start in (0..all).step_by(BYTES_PER_FLUSH) {
        let part = start..all.min(start + BYTES_PER_FLUSH as u64);
        let done = write_zeros(&file, part.clone()).and_then(|()| rustix::fs::fdatasync(&file));
        done.map_err(|e| cannot("write", e))?;
        check_free_space(&file)?;
        tell(part.end);
    }
    rustix::fs::fsync(&file).map_err(|e| cannot("write", e))?;
    Ok(file)
}
