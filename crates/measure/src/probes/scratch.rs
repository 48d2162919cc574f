//! The scratch directory: created in a place that is held open, and removed with all its files,
//! however the probe ends.
//!
//! Every name is looked up relative to an open directory, so that a directory swapped meanwhile
//! redirects nothing, and no link is followed. Files stay linked while they are used: some kernels
//! skip the log of unlinked files on btrfs, which makes them look much faster. The watcher is
//! started before the directory is created.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, FallocateFlags, IFlags, Mode, OFlags};
use rustix::io::Errno;

use super::commit::again;
use super::directory::{
    file_name, leftovers, lock, make_directory, new_name, now_at, remove_all, remove_held,
};
use super::error::{ErrorKind, ProbeError, shown};
use super::place::INHERITED;
use super::plan::ProbePlan;
use super::watcher::Watcher;
use crate::quote::Command;
use crate::text;

/// Gives a directory these of the inode flags that its files inherit. One that the file system
/// ignores is an error, since the figures would not be those of the target.
pub fn give_flags(directory: &OwnedFd, flags: IFlags) -> Result<(), Errno> {
    let inherited = flags & INHERITED;
    let others = rustix::fs::ioctl_getflags(directory)? - INHERITED;
    rustix::fs::ioctl_setflags(directory, others | inherited)?;
    let now = rustix::fs::ioctl_getflags(directory)? & INHERITED;
    if now == inherited {
        Ok(())
    } else {
        Err(Errno::OPNOTSUPP)
    }
}

/// The number of bytes written between two checks of the cancel flag.
const CHUNK: usize = 1 << 20;

/// A scratch directory. Dropping it removes it.
pub struct Scratch {
    place: OwnedFd,
    path: PathBuf,
    name: String,
    directory: OwnedFd,
    watcher: Option<Watcher>,
}

impl Scratch {
    /// Creates an empty scratch directory.
    pub fn create(plan: &ProbePlan) -> Result<Self, ProbeError> {
        let path = plan.directory.clone();
        let failed = |errno| ProbeError::from_errno(errno, "making the scratch directory", &path);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let place = rustix::fs::openat(CWD, &path, flags, Mode::empty()).map_err(failed)?;
        let found = rustix::fs::fstat(&place).map_err(failed)?;
        if (found.st_dev, found.st_ino) != plan.identity {
            let says = format!(
                "{} was replaced by another directory; probe again",
                shown(&path)
            );
            return Err(ProbeError::new(ErrorKind::Gone, says));
        }
        let name = new_name();
        let mut watcher = Watcher::start(&plan.program, &place)?;
        // If it is dropped without a farewell, as by an error from here on, the watcher cleans up.
        watcher.will_create(&name)?;
        let directory = make_directory(&place, &name).map_err(failed)?;
        watcher.created(rustix::fs::fstat(&directory).map_err(failed)?.st_ino);
        // Without a lock the next probe goes by the name.
        let _ = lock(&directory);
        if let Some(flags) = plan.flags {
            give_flags(&directory, flags).map_err(|errno| {
                ProbeError::from_errno(
                    errno,
                    "giving the scratch directory the flags of the target",
                    &path,
                )
            })?;
        }
        Ok(Self {
            place,
            path,
            name,
            directory,
            watcher: Some(watcher),
        })
    }

    /// A sentence about scratch directories beside it that were left by probes that were killed.
    /// Each probe removes its own and no other, so that nobody can make it remove something else.
    pub fn leftover(&self) -> Option<String> {
        let left = leftovers(&self.place);
        let (first, others) = left.split_first()?;
        let path = shown(&self.path.join(first));
        let more = match others.len() {
            0 => String::new(),
            more => format!("; {more} more are beside it"),
        };
        Some(match Command::new("rm -r ").value(&path) {
            Some(command) => {
                format!(
                    "An earlier probe was killed and left a scratch directory; `{command}` removes it{more}."
                )
            }
            None => {
                format!(
                    "An earlier probe was killed and left the scratch directory {path}{more}; remove it."
                )
            }
        })
    }

    /// Creates a file in it, opened with these flags; its name is derived from `what`.
    pub fn make(&self, what: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags
            | OFlags::RDWR
            | OFlags::CREATE
            | OFlags::EXCL
            | OFlags::NOFOLLOW
            | OFlags::CLOEXEC;
        rustix::fs::openat(
            &self.directory,
            file_name(what),
            flags,
            Mode::RUSR | Mode::WUSR,
        )
    }

    /// Opens a file again, with these flags.
    pub fn open(&self, what: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.directory, file_name(what), flags, Mode::empty())
    }

    pub fn rename(&self, from: &str, to: &str) -> Result<(), Errno> {
        rustix::fs::renameat(
            &self.directory,
            file_name(from),
            &self.directory,
            file_name(to),
        )
    }

    pub fn unlink(&self, what: &str) -> Result<(), Errno> {
        rustix::fs::unlinkat(&self.directory, file_name(what), AtFlags::empty())
    }

    /// Makes names durable: fsync of the directory.
    pub fn sync_names(&self) -> Result<(), Errno> {
        again(&mut false, || rustix::fs::fsync(&self.directory))
    }

    /// Checks that so many bytes can be written. Free space says nothing about quotas; only a
    /// reservation honours them, and it is released at once. If the file system has no
    /// reservations, the check passes. A file system in memory is not checked, because a
    /// reservation there takes the memory.
    pub fn check_room(&self, bytes: u64) -> Result<(), ProbeError> {
        const ROOM: &str = "room";
        if self.is_in_memory() {
            return Ok(());
        }
        let file = self.make(ROOM, OFlags::empty());
        let reserved = file.and_then(|file| {
            again(&mut false, || {
                rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 0, bytes)
            })
        });
        let reserved = match reserved {
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
            reserved => reserved,
        };
        let doing = || {
            format!(
                "asking for {} of room, four times what a probe takes,",
                text::bytes(bytes)
            )
        };
        reserved
            .and_then(|()| self.unlink(ROOM))
            .map_err(|errno| self.failed(errno, &doing()))
    }

    /// Whether it lies on tmpfs or ramfs, by their magic numbers (linux/magic.h).
    fn is_in_memory(&self) -> bool {
        let magic = rustix::fs::fstatfs(&self.directory).map(|found| u64::try_from(found.f_type));
        matches!(magic, Ok(Ok(0x0102_1994 | 0x8584_58f6)))
    }

    /// Fills a file with zeros and flushes it, as the server does with a new WAL segment
    /// (`wal_init_zero`). `go_on` is asked between chunks and may end it; the result is then
    /// `false`.
    pub fn fill(
        &self,
        file: &OwnedFd,
        bytes: u64,
        go_on: &dyn Fn() -> bool,
    ) -> Result<bool, ProbeError> {
        zero(file, bytes, go_on).map_err(|errno| self.failed(errno, "writing the scratch file"))
    }

    /// An error if a file was removed: further writes would measure something else.
    pub fn check_linked(&self, file: &OwnedFd) -> Result<(), ProbeError> {
        let gone = |errno| self.failed(errno, "measuring");
        match rustix::fs::fstat(file).map_err(gone)?.st_nlink {
            0 => Err(gone(Errno::NOENT)),
            _ => Ok(()),
        }
    }

    /// The same check for the directory, while its files come and go.
    pub fn check_there(&self) -> Result<(), ProbeError> {
        self.check_linked(&self.directory)
    }

    /// Removes all files.
    pub fn empty(&self) -> Result<(), ProbeError> {
        remove_all(&self.directory).map_err(|errno| self.failed(errno, "removing scratch files"))
    }

    /// The error of the system while we were `doing` something here.
    pub fn failed(&self, errno: Errno, doing: &str) -> ProbeError {
        ProbeError::from_errno(errno, doing, &self.path)
    }

    pub fn remove(mut self) -> Result<(), ProbeError> {
        self.clear()
    }

    fn clear(&mut self) -> Result<(), ProbeError> {
        let Some(watcher) = self.watcher.take() else {
            return Ok(());
        };
        let removed = remove_held(&self.place, &self.name, &self.directory);
        watcher.done();
        removed.map_err(|errno| {
            let mut error = self.failed(errno, "removing the scratch directory");
            let left =
                shown(&now_at(&self.directory).unwrap_or_else(|| self.path.join(&self.name)));
            error.message = format!("{}; it is still there: {left}", error.message);
            error
        })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody is left to receive an error.
        let _ = self.clear();
    }
}

/// Fills a file as [`Scratch::fill`] does.
pub(super) fn zero(file: &OwnedFd, bytes: u64, go_on: &dyn Fn() -> bool) -> Result<bool, Errno> {
    let zeros = vec![0; CHUNK];
    let mut at = 0;
    while at < bytes {
        if !go_on() {
            return Ok(false);
        }
        let length = usize::try_from(bytes - at).unwrap_or(CHUNK).min(CHUNK);
        let chunk = zeros.get(..length).unwrap_or_default();
        match again(&mut false, || rustix::io::pwrite(file, chunk, at))? {
            0 => return Err(Errno::NOSPC),
            written => at += written as u64,
        }
    }
    again(&mut false, || rustix::fs::fsync(file))?;
    Ok(go_on())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;
    use crate::probes::directory::open_ours;

    /// What a killed probe left is told; what is in use, and what only looks like it, is not.
    #[test]
    fn only_our_own_that_nobody_uses_are_left() {
        let outside = tempfile::tempdir().unwrap();
        let place: OwnedFd = fs::File::open(outside.path()).unwrap().into();
        let ours = [new_name(), new_name()];
        let held = ours
            .each_ref()
            .map(|name| make_directory(&place, name).unwrap());
        for directory in &held {
            lock(directory).unwrap();
        }
        assert_eq!(leftovers(&place), Vec::<String>::new(), "in use");
        let [used, left] = held;
        drop(left);
        let open = new_name();
        fs::create_dir(outside.path().join(&open)).unwrap();
        fs::set_permissions(
            outside.path().join(&open),
            fs::Permissions::from_mode(0o755),
        )
        .unwrap();
        symlink(outside.path(), outside.path().join(new_name())).unwrap();
        fs::write(outside.path().join(new_name()), "x").unwrap();
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
        assert_eq!(leftovers(&place), [ours[1].clone()]);
        drop(used);
    }

    #[test]
    fn only_what_was_made_here_is_removed() {
        let outside = tempfile::tempdir().unwrap();
        let place = fs::File::open(outside.path()).unwrap();
        let ours = outside.path().join("ours");
        let make = || {
            fs::create_dir(&ours).unwrap();
            (0..300).for_each(|i| fs::write(ours.join(file_name(&i.to_string())), "x").unwrap());
        };
        let remove = |name: &str, inode| match open_ours(&place, name, inode)? {
            Some(directory) => remove_held(&place, name, &directory),
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
        symlink(outside.path().join("theirs"), ours.join(file_name("link"))).unwrap();
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

    /// The owner of the parent directory may rename it, move it, or put another in its place.
    #[test]
    fn what_was_renamed_meanwhile_is_found_and_removed() {
        let outside = tempfile::tempdir().unwrap();
        let place: OwnedFd = fs::File::open(outside.path()).unwrap().into();
        fs::create_dir(outside.path().join("deeper")).unwrap();
        for now in ["theirs", "deeper/theirs"] {
            let directory = make_directory(&place, "ours").unwrap();
            fs::write(outside.path().join("ours").join(file_name("x")), "x").unwrap();
            fs::rename(outside.path().join("ours"), outside.path().join(now)).unwrap();
            fs::create_dir(outside.path().join("ours")).unwrap();
            fs::write(outside.path().join("ours").join(file_name("x")), "x").unwrap();
            remove_held(&place, "ours", &directory).unwrap();
            assert!(!outside.path().join(now).exists(), "{now}");
            assert!(
                outside.path().join("ours").join(file_name("x")).exists(),
                "it is somebody else's"
            );
            fs::remove_dir_all(outside.path().join("ours")).unwrap();
        }
        let directory = make_directory(&place, "ours").unwrap();
        assert_eq!(make_directory(&place, "ours").unwrap_err(), Errno::EXIST);
        fs::remove_dir(outside.path().join("ours")).unwrap();
        remove_held(&place, "ours", &directory).unwrap();
    }
}
