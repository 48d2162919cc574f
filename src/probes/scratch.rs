//! The scratch directory: made in a place that is held open, and removed with all its files whatever happens.
//!
//! Every name is looked up relative to an open directory, so that one swapped meanwhile redirects nothing, and no link is
//! followed. Files stay linked while they are used: some kernels skip the log of unlinked files on btrfs, which makes them
//! look much faster. The surprise: the watcher exists before the directory does.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, Dir, FallocateFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::commit::again;
use super::error::{ErrorKind, ProbeError, shown};
use super::plan::Plan;
use super::watcher::Watcher;
use crate::text;

/// What the directory's name begins with.
pub const PREFIX: &str = ".walwise-probe-";

/// What the names of all files in it begin with. Nothing else is ever removed.
const FILE_PREFIX: &str = "walwise-";

/// How much is written between two looks at the cancel flag.
const CHUNK: usize = 1 << 20;

const LOOK: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A scratch directory. Dropping it removes it.
pub struct Scratch {
    place: OwnedFd,
    path: PathBuf,
    name: String,
    inode: u64,
    directory: OwnedFd,
    watcher: Option<Watcher>,
}

impl Scratch {
    /// Makes an empty scratch directory.
    pub fn create(plan: &Plan) -> Result<Self, ProbeError> {
        let path = plan.directory.clone();
        let failed = |errno| ProbeError::of(errno, "making the scratch directory", &path);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let place = rustix::fs::openat(CWD, &path, flags, Mode::empty()).map_err(failed)?;
        let found = rustix::fs::fstat(&place).map_err(failed)?;
        if (found.st_dev, found.st_ino) != plan.identity {
            let says = format!("{} was replaced by another directory; probe again", shown(&path));
            return Err(ProbeError::new(ErrorKind::Gone, says));
        }
        let name = format!("{PREFIX}{}-{:016x}", std::process::id(), random());
        let mut watcher = Watcher::start(&plan.program, &place, &name)?;
        // Like O_EXCL it fails when anything has the name, be it a link. Dropped without a last word, as by an error from
        // here on, the watcher does its work.
        rustix::fs::mkdirat(&place, &name, Mode::RWXU).map_err(failed)?;
        let directory = rustix::fs::openat(&place, &name, LOOK, Mode::empty()).map_err(failed)?;
        let inode = rustix::fs::fstat(&directory).map_err(failed)?.st_ino;
        watcher.created(inode);
        Ok(Self { place, path, name, inode, directory, watcher: Some(watcher) })
    }

    /// Makes a file in it, open with these flags; what it is for is its name.
    pub fn make(&self, what: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.directory, file_name(what), flags, Mode::RUSR | Mode::WUSR)
    }

    /// Opens a file once more, with these flags.
    pub fn open(&self, what: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.directory, file_name(what), flags, Mode::empty())
    }

    /// Gives a file another name.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), Errno> {
        rustix::fs::renameat(&self.directory, file_name(from), &self.directory, file_name(to))
    }

    /// Removes a file.
    pub fn unlink(&self, what: &str) -> Result<(), Errno> {
        rustix::fs::unlinkat(&self.directory, file_name(what), AtFlags::empty())
    }

    /// Makes names durable: fsync of the directory.
    pub fn sync_names(&self) -> Result<(), Errno> {
        again(&mut false, || rustix::fs::fsync(&self.directory))
    }

    /// An error when there is not so much room. What is free says nothing of quotas, which only a reservation meets, whoever's
    /// they are; it is given back at once. Where there are none to be had nothing is known, and nothing wrong; and a file
    /// system in memory is not asked, because there a reservation takes the memory.
    pub fn check_room(&self, bytes: u64) -> Result<(), ProbeError> {
        const ROOM: &str = "room";
        if self.is_in_memory() {
            return Ok(());
        }
        let file = self.make(ROOM, OFlags::empty());
        let reserved = file.and_then(|file| {
            again(&mut false, || rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 0, bytes))
        });
        let reserved = match reserved {
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
            reserved => reserved,
        };
        let doing = || format!("asking for {} of room, four times what a probe takes,", text::bytes(bytes));
        reserved.and_then(|()| self.unlink(ROOM)).map_err(|errno| self.failed(errno, &doing()))
    }

    /// Whether it lies on tmpfs or ramfs, by their magic numbers (linux/magic.h).
    fn is_in_memory(&self) -> bool {
        let magic = rustix::fs::fstatfs(&self.directory).map(|found| u64::try_from(found.f_type));
        matches!(magic, Ok(Ok(0x0102_1994 | 0x8584_58f6)))
    }

    /// Fills a file with zeros and flushes it, as the server does with a new WAL segment (`wal_init_zero`). Between chunks
    /// `go_on` may end it; then the answer is `false`.
    pub fn fill(&self, file: &OwnedFd, bytes: u64, go_on: &dyn Fn() -> bool) -> Result<bool, ProbeError> {
        zero(file, bytes, go_on).map_err(|errno| self.failed(errno, "writing the scratch file"))
    }

    /// An error if somebody removed a file: what is written now measures something else.
    pub fn check_linked(&self, file: &OwnedFd) -> Result<(), ProbeError> {
        let gone = |errno| self.failed(errno, "measuring");
        match rustix::fs::fstat(file).map_err(gone)?.st_nlink {
            0 => Err(gone(Errno::NOENT)),
            _ => Ok(()),
        }
    }

    /// The same for the directory, as where files come and go.
    pub fn check_there(&self) -> Result<(), ProbeError> {
        self.check_linked(&self.directory)
    }

    /// Removes all files.
    pub fn empty(&self) -> Result<(), ProbeError> {
        remove_all(&self.directory).map_err(|errno| self.failed(errno, "removing scratch files"))
    }

    /// What the system said while we were `doing` something here.
    pub fn failed(&self, errno: Errno, doing: &str) -> ProbeError {
        ProbeError::of(errno, doing, &self.path)
    }

    /// Removes it.
    pub fn remove(mut self) -> Result<(), ProbeError> {
        self.clear()
    }

    fn clear(&mut self) -> Result<(), ProbeError> {
        let Some(watcher) = self.watcher.take() else { return Ok(()) };
        let removed = remove(&self.place, &self.name, Some(self.inode));
        watcher.done();
        removed.map_err(|errno| {
            let mut error = self.failed(errno, "removing the scratch directory");
            let left = shown(&self.path.join(&self.name));
            error.message = format!("{}; it is still there: {left}", error.message);
            error
        })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody is left to hear of an error here.
        let _ = self.clear();
    }
}

/// Fills a file as [`Scratch::fill`] says.
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

/// Removes a scratch directory and the files that were made in it, if it is ours: the inode that is known, or, when the
/// prober died before it could tell, a directory of ours with the name that only we know. What is not there, or is another
/// by now, is nothing to do.
pub(super) fn remove(place: impl AsFd, name: &str, inode: Option<u64>) -> Result<(), Errno> {
    let directory = match rustix::fs::openat(&place, name, LOOK, Mode::empty()) {
        Ok(directory) => directory,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
        Err(errno) => return Err(errno),
    };
    let (found, around) = (rustix::fs::fstat(&directory)?, rustix::fs::fstat(&place)?);
    let by_owner = || found.st_uid == nix::unistd::geteuid().as_raw();
    if found.st_dev != around.st_dev || !inode.map_or_else(by_owner, |inode| inode == found.st_ino) {
        return Ok(());
    }
    remove_all(&directory)?;
    match rustix::fs::unlinkat(&place, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOENT) => Ok(()),
        answer => answer,
    }
}

/// Removes all files of ours. Removing while listing may skip some, so again until a list holds none.
fn remove_all(directory: &OwnedFd) -> Result<(), Errno> {
    while remove_files(directory)? > 0 {}
    Ok(())
}

/// Removes the files of ours that a list of the directory holds; how many.
fn remove_files(directory: &OwnedFd) -> Result<usize, Errno> {
    let mut removed = 0;
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if !name.to_bytes().starts_with(FILE_PREFIX.as_bytes()) {
            continue;
        }
        match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                rustix::fs::unlinkat(directory, name, AtFlags::empty())?;
                removed += 1;
            }
            Ok(_) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(removed)
}

fn file_name(what: &str) -> String {
    format!("{FILE_PREFIX}{what}")
}

/// 64 bits that nobody can guess: the standard library keys its hash tables from the system's random source.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    #[test]
    fn only_what_was_made_here_is_removed() {
        let outside = tempfile::tempdir().unwrap();
        let place = fs::File::open(outside.path()).unwrap();
        let ours = outside.path().join("ours");
        let make = || {
            fs::create_dir(&ours).unwrap();
            (0..300).for_each(|i| fs::write(ours.join(file_name(&i.to_string())), "x").unwrap());
        };
        make();
        let inode = fs::metadata(&ours).unwrap().ino();
        remove(&place, "ours", Some(inode + 1)).unwrap();
        assert_eq!(fs::read_dir(&ours).unwrap().count(), 300, "another directory by the same name");
        remove(&place, "ours", Some(inode)).unwrap();
        remove(&place, "ours", Some(inode)).unwrap();
        assert!(!ours.exists());

        make();
        fs::write(outside.path().join("theirs"), "x").unwrap();
        symlink(outside.path().join("theirs"), ours.join(file_name("link"))).unwrap();
        fs::write(ours.join("stranger"), "x").unwrap();
        assert_eq!(remove(&place, "ours", None), Err(Errno::NOTEMPTY));
        assert_eq!(fs::read_dir(&ours).unwrap().count(), 2, "neither the link nor the stranger's");

        symlink(&ours, outside.path().join("link")).unwrap();
        remove(&place, "link", None).unwrap();
        assert_eq!(fs::read_dir(&ours).unwrap().count(), 2, "no link is followed");
    }
}
