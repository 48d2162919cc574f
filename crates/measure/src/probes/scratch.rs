//! The scratch directory and its files. The parent directory stays open, and names are looked up
//! relative to open directories without following links, so a swapped directory redirects no write.
//!
//! Files keep their names while in use: on btrfs, some kernels skip the log tree for unlinked
//! files, which makes commits look faster.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, FallocateFlags, IFlags, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::ProbeError;
use super::commit_writer::write_zeros;
use super::file_calls;
use super::plan::ProbePlan;
use super::scratch_cleaner::ScratchCleaner;
use super::scratch_directory::{
    list_leftover_directory_names, lock_as_in_use, make_private_directory,
    new_scratch_directory_name, path_of_open_directory, remove_directory_even_if_renamed,
    remove_scratch_files, scratch_file_name,
};
use super::scratch_place::INHERITED_FLAGS;
use crate::escape::ShellCommand;
use crate::text;
use crate::text::display_path;

/// Sets the inode flags that new files inherit from the directory. A flag that the file system
/// ignores is an error, because commits there would differ from those of the target.
pub fn set_and_verify_inode_flags(directory: &OwnedFd, flags: IFlags) -> Result<(), Errno> {
    let inherited = flags & INHERITED_FLAGS;
    let others = rustix::fs::ioctl_getflags(directory)? - INHERITED_FLAGS;
    rustix::fs::ioctl_setflags(directory, others | inherited)?;
    let now = rustix::fs::ioctl_getflags(directory)? & INHERITED_FLAGS;
    if now == inherited {
        Ok(())
    } else {
        Err(Errno::OPNOTSUPP)
    }
}

/// The directory is removed when this value is dropped.
pub struct ScratchDirectory {
    place: OwnedFd,
    path: PathBuf,
    name: String,
    directory: OwnedFd,
    cleaner: Option<ScratchCleaner>,
}

impl ScratchDirectory {
    pub fn create(plan: &ProbePlan) -> Result<Self, ProbeError> {
        let path = plan.directory.clone();
        let failed = |errno| ProbeError::from_errno(errno, "creating the scratch directory", &path);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let place = rustix::fs::openat(CWD, &path, flags, Mode::empty()).map_err(failed)?;
        let found = rustix::fs::fstat(&place).map_err(failed)?;
        if (found.st_dev, found.st_ino) != plan.identity {
            let says = format!(
                "{} was replaced by another directory; probe again",
                display_path(&path)
            );
            return Err(ProbeError::new(says));
        }
        let name = new_scratch_directory_name();
        let mut cleaner = ScratchCleaner::start(&plan.request.program, &place)?;
        // The cleaner starts before the directory exists. If an error below drops the cleaner
        // without the message `Done`, the cleaner removes the directory.
        cleaner.send_directory_name(&name)?;
        let directory = make_private_directory(&place, &name).map_err(failed)?;
        cleaner.send_directory_inode(rustix::fs::fstat(&directory).map_err(failed)?.st_ino);
        // A failed lock is no error: without a lock, the next probe checks the process id in the
        // name.
        let _ = lock_as_in_use(&directory);
        if let Some(flags) = plan.flags {
            set_and_verify_inode_flags(&directory, flags).map_err(|errno| {
                ProbeError::from_errno(
                    errno,
                    "setting the target's inode flags on the scratch directory",
                    &path,
                )
            })?;
        }
        Ok(Self {
            place,
            path,
            name,
            directory,
            cleaner: Some(cleaner),
        })
    }

    /// A sentence about leftover directories of killed probes. A probe removes only its own
    /// directory, so that no other user can make it remove a different one.
    pub fn leftover_note(&self) -> Option<String> {
        let left = list_leftover_directory_names(&self.place);
        let (first, others) = left.split_first()?;
        let path = display_path(&self.path.join(first));
        let more = match others.len() {
            0 => String::new(),
            more => format!("; {more} more are in the same directory"),
        };
        Some(
            match ShellCommand::new("rm -r ").append_quoted_name(&path) {
                Some(command) => {
                    format!(
                        "An earlier probe was killed and left a scratch directory; `{command}` removes it{more}."
                    )
                }
                None => {
                    format!(
                        "An earlier probe was killed and left the scratch directory {path}; remove it{more}."
                    )
                }
            },
        )
    }

    pub fn create_file(&self, what: &str) -> Result<OwnedFd, Errno> {
        file_calls::create_file(&self.directory, scratch_file_name(what))
    }

    pub fn open_file(&self, what: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        file_calls::open_file(&self.directory, scratch_file_name(what), flags)
    }

    pub fn rename(&self, from: &str, to: &str) -> Result<(), Errno> {
        rustix::fs::renameat(
            &self.directory,
            scratch_file_name(from),
            &self.directory,
            scratch_file_name(to),
        )
    }

    pub fn unlink(&self, what: &str) -> Result<(), Errno> {
        rustix::fs::unlinkat(&self.directory, scratch_file_name(what), AtFlags::empty())
    }

    pub fn sync_directory(&self) -> Result<(), Errno> {
        file_calls::fsync(&self.directory)
    }

    /// Reserves `bytes` bytes and immediately releases them, to check that they can be written. The
    /// figure for free space does not include quotas.
    ///
    /// The check passes on a file system without fallocate(2). On tmpfs and ramfs it is skipped,
    /// because the reservation would use up memory.
    pub fn check_space_by_reservation(&self, bytes: u64) -> Result<(), ProbeError> {
        const SPACE_CHECK_FILE: &str = "room";
        if self.is_on_tmpfs_or_ramfs() {
            return Ok(());
        }
        let file = self.create_file(SPACE_CHECK_FILE);
        let reserved = file.and_then(|file| {
            retry_on_intr(|| rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 0, bytes))
        });
        let reserved = match reserved {
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
            reserved => reserved,
        };
        let doing = || {
            format!(
                "reserving {}, four times what a probe needs,",
                text::format_bytes(bytes)
            )
        };
        reserved
            .and_then(|()| self.unlink(SPACE_CHECK_FILE))
            .map_err(|errno| self.probe_error(errno, &doing()))
    }

    fn is_on_tmpfs_or_ramfs(&self) -> bool {
        let magic = file_calls::filesystem_magic(&self.directory);
        matches!(magic, Ok(0x0102_1994 | 0x8584_58f6))
    }

    /// Fills a file with zeros and flushes it, as a server does with a new WAL segment
    /// (`wal_init_zero`). `go_on` is called before each chunk and at the end; once it returns
    /// false, the result is false.
    pub fn fill_with_flushed_zeros(
        &self,
        file: &OwnedFd,
        bytes: u64,
        go_on: &dyn Fn() -> bool,
    ) -> Result<bool, ProbeError> {
        write_and_sync_zeros(file, bytes, go_on)
            .map_err(|errno| self.probe_error(errno, "writing the scratch file"))
    }

    /// Fails if `file`, which can be a scratch file or the scratch directory, was removed.
    pub fn check_file_not_removed(&self, file: &OwnedFd) -> Result<(), ProbeError> {
        let gone = |errno| self.probe_error(errno, "measuring");
        match rustix::fs::fstat(file).map_err(gone)?.st_nlink {
            0 => Err(gone(Errno::NOENT)),
            _ => Ok(()),
        }
    }

    /// Fails if the scratch directory was removed. Its files may be missing.
    pub fn check_directory_not_removed(&self) -> Result<(), ProbeError> {
        self.check_file_not_removed(&self.directory)
    }

    pub fn remove_files(&self) -> Result<(), ProbeError> {
        remove_scratch_files(&self.directory)
            .map_err(|errno| self.probe_error(errno, "removing scratch files"))
    }

    pub fn probe_error(&self, errno: Errno, doing: &str) -> ProbeError {
        ProbeError::from_errno(errno, doing, &self.path)
    }

    pub fn remove(mut self) -> Result<(), ProbeError> {
        self.remove_directory()
    }

    fn remove_directory(&mut self) -> Result<(), ProbeError> {
        let Some(cleaner) = self.cleaner.take() else {
            return Ok(());
        };
        let removed = remove_directory_even_if_renamed(&self.place, &self.name, &self.directory);
        cleaner.finish_without_cleaning();
        removed.map_err(|errno| {
            let mut error = self.probe_error(errno, "removing the scratch directory");
            let left = display_path(
                &path_of_open_directory(&self.directory)
                    .unwrap_or_else(|| self.path.join(&self.name)),
            );
            error.message = format!("{}; the directory is still there: {left}", error.message);
            error
        })
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        // No caller is left to receive an error.
        let _ = self.remove_directory();
    }
}

pub(super) fn write_and_sync_zeros(
    file: &OwnedFd,
    bytes: u64,
    go_on: &dyn Fn() -> bool,
) -> Result<bool, Errno> {
    if !write_zeros(file, 0..bytes, go_on)? {
        return Ok(false);
    }
    file_calls::fsync(file)?;
    Ok(go_on())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;
    use crate::probes::scratch_directory::open_if_created_by_this_probe;

    #[test]
    fn only_own_unused_directories_are_leftovers() {
        let outside = tempfile::tempdir().unwrap();
        let place: OwnedFd = fs::File::open(outside.path()).unwrap().into();
        let ours = [new_scratch_directory_name(), new_scratch_directory_name()];
        let held = ours
            .each_ref()
            .map(|name| make_private_directory(&place, name).unwrap());
        for directory in &held {
            lock_as_in_use(directory).unwrap();
        }
        assert_eq!(
            list_leftover_directory_names(&place),
            Vec::<String>::new(),
            "in use"
        );
        let [used, left] = held;
        drop(left);
        let open = new_scratch_directory_name();
        fs::create_dir(outside.path().join(&open)).unwrap();
        fs::set_permissions(
            outside.path().join(&open),
            fs::Permissions::from_mode(0o755),
        )
        .unwrap();
        symlink(
            outside.path(),
            outside.path().join(new_scratch_directory_name()),
        )
        .unwrap();
        fs::write(outside.path().join(new_scratch_directory_name()), "x").unwrap();
        for name in [
            "",
            "1",
            "1-",
            "-0123456789abcdef",
            "0-0123456789abcdef",
            "1-0123456789abcdeF",
            "1-0123456789abcde\u{1b}",
            "+1-0123456789abcdef",
        ] {
            let path = outside.path().join(format!(".walwise-probe-{name}"));
            fs::create_dir(&path).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
        }
        assert_eq!(list_leftover_directory_names(&place), [ours[1].clone()]);
        drop(used);
    }

    #[test]
    fn only_own_scratch_directory_is_removed() {
        let outside = tempfile::tempdir().unwrap();
        let place = fs::File::open(outside.path()).unwrap();
        let ours = outside.path().join("ours");
        let make = || {
            fs::create_dir(&ours).unwrap();
            (0..300).for_each(|i| {
                fs::write(ours.join(scratch_file_name(&i.to_string())), "x").unwrap();
            });
        };
        let remove = |name: &str, inode| match open_if_created_by_this_probe(&place, name, inode)? {
            Some(directory) => remove_directory_even_if_renamed(&place, name, &directory),
            None => Ok(()),
        };
        make();
        let inode = fs::metadata(&ours).unwrap().ino();
        remove("ours", Some(inode + 1)).unwrap();
        assert_eq!(
            fs::read_dir(&ours).unwrap().count(),
            300,
            "another directory by the same name"
        );
        remove("ours", Some(inode)).unwrap();
        remove("ours", Some(inode)).unwrap();
        assert!(!ours.exists());

        make();
        fs::write(outside.path().join("theirs"), "x").unwrap();
        symlink(
            outside.path().join("theirs"),
            ours.join(scratch_file_name("link")),
        )
        .unwrap();
        fs::write(ours.join("stranger"), "x").unwrap();
        assert_eq!(remove("ours", None), Err(Errno::NOTEMPTY));
        assert_eq!(
            fs::read_dir(&ours).unwrap().count(),
            2,
            "neither the link nor the stranger's"
        );

        symlink(&ours, outside.path().join("link")).unwrap();
        remove("link", None).unwrap();
        assert_eq!(
            fs::read_dir(&ours).unwrap().count(),
            2,
            "no link is followed"
        );
    }

    /// The test plays the owner of the parent directory, who may rename or move the scratch
    /// directory, or put another one in its place.
    #[test]
    fn renamed_scratch_directory_is_removed() {
        let outside = tempfile::tempdir().unwrap();
        let place: OwnedFd = fs::File::open(outside.path()).unwrap().into();
        fs::create_dir(outside.path().join("deeper")).unwrap();
        for now in ["theirs", "deeper/theirs"] {
            let directory = make_private_directory(&place, "ours").unwrap();
            fs::write(
                outside.path().join("ours").join(scratch_file_name("x")),
                "x",
            )
            .unwrap();
            fs::rename(outside.path().join("ours"), outside.path().join(now)).unwrap();
            fs::create_dir(outside.path().join("ours")).unwrap();
            fs::write(
                outside.path().join("ours").join(scratch_file_name("x")),
                "x",
            )
            .unwrap();
            remove_directory_even_if_renamed(&place, "ours", &directory).unwrap();
            assert!(!outside.path().join(now).exists(), "{now}");
            assert!(
                outside
                    .path()
                    .join("ours")
                    .join(scratch_file_name("x"))
                    .exists(),
                "it belongs to another user"
            );
            fs::remove_dir_all(outside.path().join("ours")).unwrap();
        }
        let directory = make_private_directory(&place, "ours").unwrap();
        assert_eq!(
            make_private_directory(&place, "ours").unwrap_err(),
            Errno::EXIST
        );
        fs::remove_dir(outside.path().join("ours")).unwrap();
        remove_directory_even_if_renamed(&place, "ours", &directory).unwrap();
    }
}
