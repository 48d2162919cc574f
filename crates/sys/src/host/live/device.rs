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

/// Opens a block device for reading. The device opened is the one that was examined, even if
/// another one takes over its name meanwhile.
pub fn open_block_device(path: &Path, also: OFlag) -> Result<File, HostError> {
    try_open_block_device(path, also).map_err(|e| host_error(&e))
}

/// Whether a process holds the device exclusively (`O_EXCL`, open(2)). The check itself holds the
/// device for a moment, in which another process's attempt to hold it fails.
pub fn is_held_exclusively(path: &Path) -> Result<bool, HostError> {
    match try_open_block_device(path, OFlag::O_EXCL) {
        Ok(_) => Ok(false),
        Err(e) if e.raw_os_error() == Some(Errno::EBUSY as i32) => Ok(true),
        Err(e) => Err(host_error(&e)),
    }
}

fn try_open_block_device(path: &Path, also: OFlag) -> io::Result<File> {
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
