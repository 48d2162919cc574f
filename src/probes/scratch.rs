//! The scratch file: made in a directory that is held open, filled, and removed whatever happens.
//!
//! Every name is looked up relative to the open directory, so that a directory swapped meanwhile redirects nothing, and
//! the file is removed only while the name still means our file. It stays linked: some kernels skip the log of unlinked
//! files on btrfs, which makes them look much faster. The surprise: the watcher exists before the file does.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use super::commit::again;
use super::error::{ErrorKind, ProbeError, shown};
use super::plan::Plan;
use super::watcher::Watcher;

/// What the file's name begins with.
pub const PREFIX: &str = ".walwise-probe-";

/// How much is written between two looks at the cancel flag.
const CHUNK: usize = 1 << 20;

/// A scratch file. Dropping it removes it.
pub struct Scratch {
    directory: OwnedFd,
    path: PathBuf,
    name: String,
    inode: (u64, u64),
    file: OwnedFd,
    watcher: Option<Watcher>,
}

impl Scratch {
    /// Makes an empty scratch file.
    pub fn create(plan: &Plan) -> Result<Self, ProbeError> {
        let path = plan.directory.clone();
        let failed = |errno| ProbeError::of(errno, "making the scratch file", &path);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(CWD, &path, flags, Mode::empty()).map_err(failed)?;
        let found = rustix::fs::fstat(&directory).map_err(failed)?;
        if (found.st_dev, found.st_ino) != plan.identity {
            let says = format!("{} was replaced by another directory; probe again", shown(&path));
            return Err(ProbeError::new(ErrorKind::Gone, says));
        }
        let name = format!("{PREFIX}{}-{:016x}", std::process::id(), random());
        let mut watcher = Watcher::start(&plan.program, &directory, &name)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&directory, &name, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        let stat = rustix::fs::fstat(&file).map_err(failed)?;
        watcher.created(stat.st_ino);
        let inode = (stat.st_dev, stat.st_ino);
        Ok(Self { directory, path, name, inode, file, watcher: Some(watcher) })
    }

    /// Fills it with zeros and flushes it, as the server does with a new WAL segment (`wal_init_zero`). Between chunks
    /// `go_on` may end it; then the answer is `false`.
    pub fn fill(&self, bytes: u64, go_on: &dyn Fn() -> bool) -> Result<bool, ProbeError> {
        let failed = |errno| ProbeError::of(errno, "writing the scratch file", &self.path);
        let zeros = vec![0; CHUNK];
        let mut at = 0;
        while at < bytes {
            if !go_on() {
                return Ok(false);
            }
            let length = usize::try_from(bytes - at).unwrap_or(CHUNK).min(CHUNK);
            let chunk = zeros.get(..length).unwrap_or_default();
            match again(&mut false, || rustix::io::pwrite(&self.file, chunk, at)).map_err(failed)? {
                0 => return Err(failed(Errno::NOSPC)),
                written => at += written as u64,
            }
        }
        again(&mut false, || rustix::fs::fsync(&self.file)).map_err(failed)?;
        Ok(go_on())
    }

    /// Opens it once more, with these flags.
    pub fn open(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&file)?;
        if (stat.st_dev, stat.st_ino) == self.inode { Ok(file) } else { Err(Errno::NOENT) }
    }

    /// An error if somebody removed the file: what is written now measures something else.
    pub fn check_linked(&self) -> Result<(), ProbeError> {
        let gone = |errno| ProbeError::of(errno, "measuring", &self.path);
        match rustix::fs::fstat(&self.file).map_err(gone)?.st_nlink {
            0 => Err(gone(Errno::NOENT)),
            _ => Ok(()),
        }
    }

    /// Removes it.
    pub fn remove(mut self) -> Result<(), ProbeError> {
        self.unlink()
    }

    fn unlink(&mut self) -> Result<(), ProbeError> {
        let Some(watcher) = self.watcher.take() else { return Ok(()) };
        let found = rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let removed = match found {
            Ok(stat) if (stat.st_dev, stat.st_ino) == self.inode => {
                rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty())
            }
            Ok(_) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno),
        };
        watcher.done();
        removed.map_err(|errno| {
            let mut error = ProbeError::of(errno, "removing the scratch file", &self.path);
            let left = shown(&self.path.join(&self.name));
            error.message = format!("{}; the file is still there: {left}", error.message);
            error
        })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody is left to hear of an error here.
        let _ = self.unlink();
    }
}

/// 64 bits that nobody can guess: the standard library keys its hash tables from the system's random source.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}
