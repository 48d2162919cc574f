//! Opens block devices, for reading only.
//!
//! The path is first opened with O_PATH, since opening a tape or a watchdog device already has an
//! effect.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::OFlag;

use super::files::host_error;
use crate::host::HostError;

/// Opens a block device for reading: exactly the one that was examined, whatever happens to its
/// name. Closing it writes nothing, since nothing was written through it.
pub fn open(path: &Path, also: OFlag) -> Result<File, HostError> {
    try_open(path, also).map_err(|e| host_error(&e))
}

/// Whether a process holds it exclusively (`O_EXCL`, open(2)); a process that tries to at this very
/// instant is refused.
pub fn is_held(path: &Path) -> Result<bool, HostError> {
    match try_open(path, OFlag::O_EXCL) {
        Ok(_) => Ok(false),
        Err(e) if e.raw_os_error() == Some(Errno::EBUSY as i32) => Ok(true),
        Err(e) => Err(host_error(&e)),
    }
}

fn try_open(path: &Path, also: OFlag) -> io::Result<File> {
    let by_name = |flags: OFlag, path: &Path| {
        OpenOptions::new()
            .read(true)
            .custom_flags(flags.bits())
            .open(path)
    };
    let place = by_name(OFlag::O_PATH | OFlag::O_CLOEXEC, path)?;
    if !place.metadata()?.file_type().is_block_device() {
        return Err(io::Error::other("is not a block device"));
    }
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC | also;
    by_name(
        flags,
        Path::new(&format!("/proc/self/fd/{}", place.as_raw_fd())),
    )
}
