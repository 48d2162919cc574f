//! Opens block devices, for reading only.
//!
//! What is read of them belongs to who opens. The surprise: what is opened first is the path alone, since opening a tape or
//! a watchdog that was put there does something already.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::OFlag;

use super::files::miss;
use crate::host::Miss;

/// Opens a block device for reading, and nothing else: what is opened is what was looked at, whatever becomes of its name.
/// Closing it writes nothing, since nobody wrote through it.
pub fn open(path: &Path, also: OFlag) -> Result<File, Miss> {
    opened(path, also).map_err(|e| miss(&e))
}

/// Whether somebody has opened it for himself alone (`O_EXCL`, open(2)); whoever would in this very instant is refused.
pub fn is_held(path: &Path) -> Result<bool, Miss> {
    match opened(path, OFlag::O_EXCL) {
        Ok(_) => Ok(false),
        Err(e) if e.raw_os_error() == Some(Errno::EBUSY as i32) => Ok(true),
        Err(e) => Err(miss(&e)),
    }
}

fn opened(path: &Path, also: OFlag) -> io::Result<File> {
    let by_name =
        |flags: OFlag, path: &Path| OpenOptions::new().read(true).custom_flags(flags.bits()).open(path);
    let place = by_name(OFlag::O_PATH | OFlag::O_CLOEXEC, path)?;
    if !place.metadata()?.file_type().is_block_device() {
        return Err(io::Error::other("is no block device"));
    }
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC | also;
    by_name(flags, Path::new(&format!("/proc/self/fd/{}", place.as_raw_fd())))
}
