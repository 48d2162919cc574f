//! The directory for a loop file: where nobody leads root elsewhere, on a disk of this machine,
//! with room to spare.
//!
//! It is asked twice: before anything is offered, and again by the process that makes the file.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, StatVfsMountFlags};

use super::room::HostRoom;
use crate::probes::database_around;
use crate::text;
use crate::way::{CreationPolicy, Walker};

/// Magic numbers of linux/magic.h and of XFS's own source.
const EXT: u64 = 0xef53;
const XFS: u64 = 0x5846_5342;
const BTRFS: u64 = 0x9123_683e;

/// The bits of group and others to write in a directory; the group's are the mask of an access
/// control list.
const OTHERS_WRITE: u32 = 0o022;

/// A directory, open, in which a loop file may be made.
#[derive(Debug)]
pub struct LoopPlace {
    pub directory: OwnedFd,
    pub room: HostRoom,
}

impl LoopPlace {
    /// Opens it; the error says why no loop file is made there.
    pub fn open(path: &Path) -> Result<Self, String> {
        let shown = text::safe(path.as_os_str().as_encoded_bytes());
        let kind = rustix::fs::lstat(path).map(|found| FileType::from_raw_mode(found.st_mode));
        match kind {
            Ok(FileType::Directory) => {}
            Ok(FileType::BlockDevice) => {
                return Err(format!(
                    "{shown} is a block device; name it as the kernel does, such as /dev/sdb"
                ));
            }
            Ok(FileType::Symlink) => {
                return Err(format!(
                    "{shown} is a link; name the directory where it leads"
                ));
            }
            Ok(_) => return Err(format!("{shown} is not a directory")),
            Err(e) => return Err(format!("cannot look at {shown}: {e}")),
        }
        let end = Walker::ourselves()
            .directory(path, CreationPolicy::Refused)
            .map_err(|e| e.to_string())?;
        if let Some(stranger) = &end.stranger {
            return Err(format!(
                "{} belongs to {}, who could replace the directory; name a directory that root owns on the same disk",
                text::safe(stranger.at.as_os_str().as_encoded_bytes()),
                stranger.who
            ));
        }
        let cannot = |e: rustix::io::Errno| format!("cannot look at {shown}: {e}");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory =
            rustix::fs::openat(&end.directory, ".", flags, Mode::empty()).map_err(cannot)?;
        // Whoever can make names in it can make the one that mount(8) takes the loop file for:
        // `#INODE (deleted)`.
        let found = rustix::fs::fstat(&directory).map_err(cannot)?;
        if found.st_uid != 0 || found.st_mode & OTHERS_WRITE != 0 {
            return Err(format!(
                "other users can write to {shown}; name a directory that only root can write to"
            ));
        }
        let kind = rustix::fs::fstatfs(&directory).map_err(cannot)?;
        if let Some(why) = unfit(u64::try_from(kind.f_type).unwrap_or(0) & 0xffff_ffff) {
            return Err(format!("{shown} {why}; name a directory on ext4 or XFS"));
        }
        let found = rustix::fs::fstatvfs(&directory).map_err(cannot)?;
        if found.f_flag.contains(StatVfsMountFlags::RDONLY) {
            return Err(format!(
                "{shown} is mounted read-only; name a directory that can be written"
            ));
        }
        let held = directory
            .try_clone()
            .map_err(|e| format!("cannot look at {shown}: {e}"))?;
        if let Some(database) = database_around(held, path.to_owned()) {
            return Err(format!(
                "{database} belongs to a database; name a directory beside it"
            ));
        }
        Ok(Self {
            directory,
            room: HostRoom::from_kernel(&found),
        })
    }
}

/// Why a file system of this kind is no place for a loop file; `None` for one that is.
fn unfit(magic: u64) -> Option<&'static str> {
    match magic {
        EXT | XFS => None,
        BTRFS => Some("is on btrfs, which flushes a file without a name differently"),
        _ => Some("is on a file system on which loop files were never compared with their disk"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tried_file_systems_of_this_machine_hold_loop_files() {
        assert_eq!((unfit(EXT), unfit(XFS)), (None, None));
        for magic in [BTRFS, 0x6969, 0x6573_5546, 0x0102_1994, 0x2fc1_2fc1, 0] {
            assert!(unfit(magic).is_some(), "{magic:x}");
        }
    }

    #[test]
    fn what_is_no_directory_is_refused_with_its_kind() {
        let own = tempfile::tempdir().unwrap();
        let (file, link) = (own.path().join("file"), own.path().join("link"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(own.path(), &link).unwrap();
        let refused = |path: &Path| LoopPlace::open(path).unwrap_err();
        assert!(refused(&file).ends_with("is not a directory"));
        assert!(refused(&link).contains("is a link; name the directory where it leads"));
        assert!(refused(&own.path().join("absent")).starts_with("cannot look at"));
        assert!(refused(Path::new("/proc")).contains("name a directory on ext4 or XFS"));
    }
}
