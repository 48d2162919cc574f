//! A document below an open directory: obstacles to it, its draft, and its final name.
//!
//! The draft is a new file with an unguessable name. An access control list inherited from the directory is removed
//! from it, because setting a requested mode would activate that list.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::existing::Existing;
use super::series;
use crate::text;
use crate::way::{CreationPolicy, FileEnd, Obstacle, Walker, random};

/// Why a document is not written.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The file exists.
    Exists,
    /// Another reason, in words.
    For(String),
}

impl From<Obstacle> for Refused {
    fn from(obstacle: Obstacle) -> Self {
        Self::For(obstacle.to_string())
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::For(text::error_words(&error))
    }
}

impl From<Errno> for Refused {
    fn from(errno: Errno) -> Self {
        io::Error::from(errno).into()
    }
}

/// How to write it.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteOptions {
    /// What becomes of a file that exists.
    pub existing: Existing,
    /// Its mode; `None` leaves it to the umask.
    pub mode: Option<u32>,
    /// Whether it may be executed.
    pub runs: bool,
    /// Whether it continues a series.
    pub series: bool,
    /// The treatment of missing directories.
    pub missing: CreationPolicy,
}

/// A place for a document.
pub(super) struct OutputLocation {
    walker: Walker,
    options: WriteOptions,
    /// Open for reading, so that its names can be synced.
    directory: OwnedFd,
    name: OsString,
    /// A warning about the place.
    pub notice: Option<String>,
}

impl OutputLocation {
    /// Finds the place, and checks that a file can be created there.
    pub fn find(walker: Walker, path: &std::path::Path, options: WriteOptions) -> Result<Self, Refused> {
        let FileEnd { end, name, there } = walker.file(path, options.missing)?;
        let notice = end.stranger.as_ref().map(|stranger| {
            let at = text::safe(stranger.at.as_os_str().as_encoded_bytes());
            format!("{at} belongs to {}, who can replace what is written there", stranger.who)
        });
        let relied_on = match options.existing {
            Existing::Continued => true,
            Existing::Kept | Existing::Replaced => options.runs || options.series,
        };
        if let (true, Some(notice)) = (relied_on, &notice) {
            return Err(Refused::For(format!(
                "{notice}; what is run, read or continued later is not, so name a directory of your own or root's"
            )));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(&end.directory, ".", flags, Mode::empty())?;
        let location = Self { walker, options, directory, name, notice };
        location.judge(there.as_ref())?;
        drop(Draft::make(&location)?);
        Ok(location)
    }

    /// Writes the draft.
    pub fn write(&self, document: &[u8]) -> Result<Draft<'_>, Refused> {
        let mut draft = Draft::make(self)?;
        draft.file.write_all(document)?;
        draft.file.sync_all()?;
        Ok(draft)
    }

    /// Checks that an existing file may be replaced.
    fn judge(&self, there: Option<&Stat>) -> Result<(), Refused> {
        let Some(there) = there else { return Ok(()) };
        let what = match FileType::from_raw_mode(there.st_mode) {
            FileType::RegularFile => {
                return match self.options.existing {
                    Existing::Kept => Err(Refused::Exists),
                    Existing::Replaced => self.judge_owner(there),
                    Existing::Continued if there.st_uid == self.walker.uid => Ok(()),
                    Existing::Continued => Err(Refused::For(format!(
                        "it belongs to uid {}, whose word would be continued as yours; name another file",
                        there.st_uid
                    ))),
                };
            }
            FileType::Directory => "a directory",
            FileType::Symlink => "a link that was not there before",
            _ => "a device, a pipe or a socket",
        };
        Err(Refused::For(format!("it is {what}; name a regular file, or write to standard output")))
    }

    /// In a sticky directory a file belongs to its owner; only root may replace another user's.
    fn judge_owner(&self, there: &Stat) -> Result<(), Refused> {
        let around = rustix::fs::fstat(&self.directory)?;
        let ours = [0, there.st_uid, around.st_uid].contains(&self.walker.uid);
        if around.st_mode & 0o1000 == 0 || ours {
            return Ok(());
        }
        Err(Refused::For(format!("it belongs to uid {}; name another file", there.st_uid)))
    }
}

/// A file that is removed unless it gets its final name.
pub(super) struct Draft<'a> {
    location: &'a OutputLocation,
    file: File,
    name: String,
}

impl<'a> Draft<'a> {
    fn make(location: &'a OutputLocation) -> Result<Self, Refused> {
        let name = format!(".walwise-{:016x}{:016x}.tmp", random(), random());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if location.options.mode.is_some() { 0o600 } else { 0o666 };
        let file = rustix::fs::openat(&location.directory, &name, flags, Mode::from_raw_mode(mode))?;
        let draft = Self { location, file: File::from(file), name };
        if let Some(mode) = location.options.mode {
            match rustix::fs::fremovexattr(&draft.file, "system.posix_acl_access") {
                Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
                Err(errno) => return Err(errno.into()),
            }
            rustix::fs::fchmod(&draft.file, Mode::from_raw_mode(mode))?;
        }
        Ok(draft)
    }

    /// Renames it to its final name, and makes that durable.
    pub fn name_it(self) -> Result<(), Refused> {
        let OutputLocation { directory, name, options, .. } = self.location;
        let there = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        self.location.judge(there.as_ref())?;
        match options.existing {
            Existing::Replaced | Existing::Continued => {
                rustix::fs::renameat(directory, &self.name, directory, name)?;
            }
            Existing::Kept => {
                match rustix::fs::renameat_with(
                    directory,
                    &self.name,
                    directory,
                    name,
                    RenameFlags::NOREPLACE,
                ) {
                    // Some file systems cannot do it in one step; the check was made before.
                    Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                        rustix::fs::renameat(directory, &self.name, directory, name)?;
                    }
                    Err(Errno::EXIST) => return Err(Refused::Exists),
                    done => done?,
                }
            }
        }
        if options.series {
            // The document is there. What could not be removed is tried again beside the next one.
            let _ = series::prune(directory);
        }
        Ok(rustix::fs::fsync(directory)?)
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // After the rename the name does not exist.
        let _ = rustix::fs::unlinkat(&self.location.directory, &self.name, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests;
