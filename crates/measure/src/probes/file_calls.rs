//! System calls on the files of probes, drills and trials. No call follows a link in the last part
//! of a path, so that no other user can redirect a write.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;

/// Creates a file for this user alone. Fails if the name exists, even as a link.
pub fn create_file(directory: impl AsFd, name: impl Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, Mode::RUSR | Mode::WUSR)
}

pub fn open_file(directory: impl AsFd, name: impl Arg, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, Mode::empty())
}

/// With the name `.`, opens a directory again for reading: an O_PATH descriptor allows neither ioctl
/// nor listing of names.
pub fn open_directory(around: impl AsFd, name: impl Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(around, name, flags, Mode::empty())
}

/// Calls fsync(2) again if a signal interrupts it.
pub fn fsync(file: impl AsFd) -> Result<(), Errno> {
    retry_on_intr(|| rustix::fs::fsync(&file))
}

/// The magic number of the file system, from linux/magic.h and the file systems' own sources.
pub fn filesystem_magic(file: impl AsFd) -> Result<u64, Errno> {
    #[expect(clippy::cast_sign_loss, reason = "a bit pattern")]
    let magic = rustix::fs::fstatfs(file)?.f_type as u64;
    Ok(magic & 0xffff_ffff)
}
