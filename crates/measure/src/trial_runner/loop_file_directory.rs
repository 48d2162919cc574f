//! Checks the directory of a loop file: it must be on ext4 or XFS, and only root may write to it.
//!
//! The check runs before a trial is offered, and again in the process that makes the file.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{FileType, StatVfsMountFlags};

use super::FreeSpace;
use crate::probes::{enclosing_database_path, filesystem_magic, open_directory};
use crate::safe_path::{MissingDirectoryPolicy, TrustedUser};
use crate::text;

const EXT_MAGIC: u64 = 0xef53;
const XFS_MAGIC: u64 = 0x5846_5342;
const BTRFS_MAGIC: u64 = 0x9123_683e;

/// Write permission of group and others; with an access control list, the group bits are the list's
/// mask.
const OTHERS_WRITE_MODE: u32 = 0o022;

#[derive(Debug)]
pub struct LoopFileDirectory {
    pub directory: OwnedFd,
    pub free_space: FreeSpace,
}

impl LoopFileDirectory {
    /// Opens and checks a directory. The error is a complete sentence with the reason why the
    /// directory cannot hold a loop file.
    pub fn open_and_check(path: &Path) -> Result<Self, String> {
        let shown = text::display_path(path);
        let kind = rustix::fs::lstat(path).map(|found| FileType::from_raw_mode(found.st_mode));
        match kind {
            Ok(FileType::Directory) => {}
            Ok(FileType::BlockDevice) => {
                return Err(format!(
                    "{shown} is a block device; specify the kernel's name for it, such as /dev/sdb"
                ));
            }
            Ok(FileType::Symlink) => {
                return Err(format!(
                    "{shown} is a symbolic link; specify the directory it points to"
                ));
            }
            Ok(_) => return Err(format!("{shown} is not a directory")),
            Err(e) => return Err(format!("cannot stat {shown}: {e}")),
        }
        let end = TrustedUser::current_user()
            .open_directory(path, MissingDirectoryPolicy::Refused)
            .map_err(|e| e.to_string())?;
        if let Some(stranger) = &end.foreign_owner {
            return Err(format!(
                "{} belongs to {}, who could replace the directory; specify a root-owned directory on the same disk",
                text::display_path(&stranger.at),
                stranger.owner
            ));
        }
        let cannot = |e: rustix::io::Errno| format!("cannot stat {shown}: {e}");
        let directory = open_directory(&end.directory, ".").map_err(cannot)?;
        // A user who can create names in the directory could create the name by which mount(8)
        // finds the loop file: `#INODE (deleted)`.
        let found = rustix::fs::fstat(&directory).map_err(cannot)?;
        if found.st_uid != 0 || found.st_mode & OTHERS_WRITE_MODE != 0 {
            return Err(format!(
                "other users can write to {shown}; specify a directory that only root can write to"
            ));
        }
        let magic = filesystem_magic(&directory).map_err(cannot)?;
        if let Some(why) = unfit_filesystem_reason(magic) {
            return Err(format!("{shown} {why}; specify a directory on ext4 or XFS"));
        }
        let found = rustix::fs::fstatvfs(&directory).map_err(cannot)?;
        if found.f_flag.contains(StatVfsMountFlags::RDONLY) {
            return Err(format!(
                "{shown} is mounted read-only; specify a writable directory"
            ));
        }
        let held = directory
            .try_clone()
            .map_err(|e| format!("cannot stat {shown}: {e}"))?;
        if let Some(database) = enclosing_database_path(held, path.to_owned()) {
            return Err(format!(
                "{database} belongs to a database; specify a directory next to it"
            ));
        }
        Ok(Self {
            directory,
            free_space: FreeSpace::from_statvfs(&found),
        })
    }
}

/// Reason why a file system is unsuitable for a loop file, as a phrase to put after the
/// directory; `None` if it is suitable.
fn unfit_filesystem_reason(magic: u64) -> Option<&'static str> {
    match magic {
        EXT_MAGIC | XFS_MAGIC => None,
        BTRFS_MAGIC => Some("is on btrfs, which flushes unnamed files differently"),
        _ => Some(
            "has a file system type for which walwise has never compared loop files with disks",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tested_file_systems_hold_loop_files() {
        assert_eq!(
            (
                unfit_filesystem_reason(EXT_MAGIC),
                unfit_filesystem_reason(XFS_MAGIC)
            ),
            (None, None)
        );
        for magic in [
            BTRFS_MAGIC,
            0x6969,
            0x6573_5546,
            0x0102_1994,
            0x2fc1_2fc1,
            0,
        ] {
            assert!(unfit_filesystem_reason(magic).is_some(), "{magic:x}");
        }
    }

    #[test]
    fn non_directory_is_refused_with_its_kind() {
        let own = tempfile::tempdir().unwrap();
        let (file, link) = (own.path().join("file"), own.path().join("link"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(own.path(), &link).unwrap();
        let refused = |path: &Path| LoopFileDirectory::open_and_check(path).unwrap_err();
        assert!(refused(&file).ends_with("is not a directory"));
        assert!(refused(&link).contains("is a symbolic link; specify the directory it points to"));
        assert!(refused(&own.path().join("absent")).starts_with("cannot stat"));
        assert!(refused(Path::new("/proc")).contains("specify a directory on ext4 or XFS"));
    }
}
