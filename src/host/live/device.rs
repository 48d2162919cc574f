//! Opens block devices, for reading only.
//!
//! What is read of them belongs to who opens. The surprise: what is opened first is the path alone, since opening a tape or
//! a watchdog that was put there does something already.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::OFlag;

use super::files::miss;
use crate::host::{Miss, MissKind};

/// Opens a block device for reading, and nothing else: what is opened is what was looked at, whatever becomes of its name.
/// Closing it writes nothing, since nobody wrote through it.
pub fn open(path: &Path, also: OFlag) -> Result<File, Miss> {
    let by_name = |flags: OFlag, path: &Path| {
        OpenOptions::new().read(true).custom_flags(flags.bits()).open(path).map_err(|e| miss(&e))
    };
    let place = by_name(OFlag::O_PATH | OFlag::O_CLOEXEC, path)?;
    if !place.metadata().map_err(|e| miss(&e))?.file_type().is_block_device() {
        return Err(Miss::new(MissKind::Failed, "is no block device"));
    }
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC | also;
    by_name(flags, Path::new(&format!("/proc/self/fd/{}", place.as_raw_fd())))
}
