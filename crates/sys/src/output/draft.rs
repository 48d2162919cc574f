//! A document below an open directory: obstacles to it, its draft, and its final name.
//!
//! The draft is a new file with an unguessable name. An access control list inherited from the
//! directory is removed from it, because setting a requested mode would activate that list.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::existing::Existing;
use super::series;
use crate::text;
use crate::way::{CreationPolicy, FileEnd, Obstacle, Walker, random};

/// Why a document is not written.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Refused {
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

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
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

/// What tells a file from one that takes its place: device, inode, and the time of its last change,
/// as inodes are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity {
    place: (u64, u64),
    changed: (i64, u64),
}

impl From<&Stat> for FileIdentity {
    fn from(stat: &Stat) -> Self {
        Self {
            place: (stat.st_dev, stat.st_ino),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        }
    }
}

/// A place for a document.
pub(super) struct OutputLocation {
    walker: Walker,
    options: WriteOptions,
    /// Open for reading, so that its names can be synced.
    directory: OwnedFd,
    name: OsString,
    /// The identity of what has that name.
    found: Option<FileIdentity>,
    /// A warning about the place.
    pub notice: Option<String>,
}

impl OutputLocation {
    /// Finds the place, and checks that a file can be created there.
    pub fn find(
        walker: Walker,
        path: &std::path::Path,
        options: WriteOptions,
    ) -> Result<Self, Refused> {
        let FileEnd { end, name, there } = walker.file(path, options.missing)?;
        let notice = end.stranger.as_ref().map(|stranger| {
            let at = text::safe(stranger.at.as_os_str().as_encoded_bytes());
            format!(
                "{at} belongs to {}, who can replace what is written there",
                stranger.who
            )
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
        let found = there.as_ref().map(FileIdentity::from);
        let location = Self {
            walker,
            options,
            directory,
            name,
            found,
            notice,
        };
        location.judge(there.as_ref())?;
        drop(Draft::make(&location)?);
        Ok(location)
    }

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
        Err(Refused::For(format!(
            "it is {what}; name a regular file, or write to standard output"
        )))
    }

    /// In a sticky directory a file belongs to its owner; only root may replace another user's.
    fn judge_owner(&self, there: &Stat) -> Result<(), Refused> {
        let around = rustix::fs::fstat(&self.directory)?;
        let ours = [0, there.st_uid, around.st_uid].contains(&self.walker.uid);
        if around.st_mode & 0o1000 == 0 || ours {
            return Ok(());
        }
        Err(Refused::For(format!(
            "it belongs to uid {}; name another file",
            there.st_uid
        )))
    }
}

/// A file that is removed unless it gets its final name.
pub(super) struct Draft<'a> {
    location: &'a OutputLocation,
    file: File,
    /// Empty once the document has the name that its series gave it.
    name: String,
}

impl<'a> Draft<'a> {
    fn make(location: &'a OutputLocation) -> Result<Self, Refused> {
        let name = format!(".walwise-{:016x}{:016x}.tmp", random(), random());
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if location.options.mode.is_some() {
            0o600
        } else {
            0o666
        };
        let file =
            rustix::fs::openat(&location.directory, &name, flags, Mode::from_raw_mode(mode))?;
        let draft = Self {
            location,
            file: File::from(file),
            name,
        };
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
    pub fn name_it(mut self) -> Result<NamedDocument, Refused> {
        let OutputLocation {
            directory,
            name,
            options,
            ..
        } = self.location;
        if options.series {
            let name = self.number_it()?;
            // The document is there. What could not be removed is tried again beside the next one.
            let warning = series::prune(directory).err().map(|errno| {
                let why = text::error_words(&errno.into());
                format!("reports beyond the bounds of the series may stay: {why}")
            });
            rustix::fs::fsync(directory)?;
            return Ok(NamedDocument {
                series_name: Some(name),
                warning,
            });
        }
        let there = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        self.location.judge(there.as_ref())?;
        match options.existing {
            Existing::Continued
                if there.as_ref().map(FileIdentity::from) != self.location.found =>
            {
                return Err(Refused::For(
                    "another process wrote it meanwhile; try again".to_owned(),
                ));
            }
            Existing::Replaced | Existing::Continued => {
                rustix::fs::renameat(directory, &self.name, directory, name)?;
            }
            Existing::Kept => match rename_exclusively(directory, &self.name, name) {
                Err(Errno::EXIST) => return Err(Refused::Exists),
                done => done?,
            },
        }
        rustix::fs::fsync(directory)?;
        Ok(NamedDocument {
            series_name: None,
            warning: None,
        })
    }

    /// Names it as the next document of its series; returns the name.
    ///
    /// Whoever writes a number first takes a draft's name with it, which exists once, and then
    /// looks for documents of that number or later ones. While the draft has that name nobody else
    /// makes such a document, so that no two get one number.
    fn number_it(&mut self) -> Result<String, Refused> {
        let OutputLocation {
            directory, name, ..
        } = self.location;
        let date = name.to_string_lossy();
        let after = |number: u32| {
            let says = || {
                Refused::For(format!(
                    "no number follows {number}; move the kept reports elsewhere"
                ))
            };
            number.checked_add(1).ok_or_else(says)
        };
        let mut number = after(series::newest_number(directory)?)?;
        for _ in 0..MOST_TRIES {
            let draft = series::draft_name(number);
            match rename_exclusively(directory, &self.name, draft.as_ref()) {
                Err(Errno::EXIST) => number = after(number)?,
                taken => {
                    taken?;
                    self.name = draft;
                    let newest = series::newest_number(directory)?;
                    if newest < number {
                        let name = series::name(number, &date);
                        rename_exclusively(directory, &self.name, name.as_ref())?;
                        // Another's draft may have that name from now on.
                        self.name.clear();
                        return Ok(name);
                    }
                    number = after(newest)?;
                }
            }
        }
        Err(Refused::For(
            "others take every number of the series; try again later".to_owned(),
        ))
    }
}

/// A document that has its final name.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NamedDocument {
    /// The name that its series gave it; `None` where it has the one that was asked for.
    pub series_name: Option<String>,
    /// What was left undone beside it, display-safe.
    pub warning: Option<String>,
}

/// The largest number of numbers that one document tries.
const MOST_TRIES: usize = 10_000;

/// Renames within a directory; `EXIST` where the new name exists, however many try at once.
fn rename_exclusively(directory: &OwnedFd, from: &str, to: &OsStr) -> Result<(), Errno> {
    match rustix::fs::renameat_with(directory, from, directory, to, RenameFlags::NOREPLACE) {
        // Some file systems, such as NFS, only make links exclusively.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            rustix::fs::linkat(directory, from, directory, to, AtFlags::empty())?;
            rustix::fs::unlinkat(directory, from, AtFlags::empty())
        }
        done => done,
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // After the rename a random name does not exist.
        if !self.name.is_empty() {
            let _ = rustix::fs::unlinkat(&self.location.directory, &self.name, AtFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests;
