//! Writes a document in an open directory: checks for obstacles, creates a draft, and renames it.
//!
//! The draft is a new file with an unguessable name. A requested mode would activate an access
//! control list inherited from the directory, so that list is removed first.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::{ExistingFilePolicy, OutputOptions, series};
use crate::safe_path::{PathError, ResolvedFile, TrustedUser, random_u64};
use crate::subprocess::RecvError;
use crate::text;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum WriteError {
    Exists,
    For(String),
}

impl From<PathError> for WriteError {
    fn from(obstacle: PathError) -> Self {
        Self::For(obstacle.to_string())
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::For(text::io_error_message(&error))
    }
}

impl From<RecvError> for WriteError {
    fn from(error: RecvError) -> Self {
        Self::For(error.to_string())
    }
}

impl From<Errno> for WriteError {
    fn from(errno: Errno) -> Self {
        io::Error::from(errno).into()
    }
}

/// Distinguishes a file from another one that replaced it. The time of the last status change is
/// included, because inodes are reused.
type FileIdentity = (u64, u64, i64, u64);

fn file_identity(stat: &Stat) -> FileIdentity {
    (stat.st_dev, stat.st_ino, stat.st_ctime, stat.st_ctime_nsec)
}

pub(super) struct OutputLocation {
    walker: TrustedUser,
    options: OutputOptions,
    /// The directory of the document. It is open for reading, because fsync(2) fails on a
    /// descriptor opened with `O_PATH`.
    directory: OwnedFd,
    name: OsString,
    existing_identity: Option<FileIdentity>,
    pub notice: Option<String>,
}

impl OutputLocation {
    pub fn resolve_and_check_writable(
        walker: TrustedUser,
        path: &std::path::Path,
        options: OutputOptions,
    ) -> Result<Self, WriteError> {
        let ResolvedFile {
            parent: end,
            name,
            existing: there,
        } = walker.resolve_file(path, options.missing)?;
        let notice = end.foreign_owner.as_ref().map(|stranger| {
            let at = text::display_safe(stranger.at.as_os_str().as_encoded_bytes());
            format!(
                "{at} belongs to {}, who can replace files in it",
                stranger.owner
            )
        });
        let relied_on = match options.existing {
            ExistingFilePolicy::Continued => true,
            ExistingFilePolicy::Kept | ExistingFilePolicy::Replaced => {
                options.executable || options.series
            }
        };
        if let (true, Some(notice)) = (relied_on, &notice) {
            return Err(WriteError::For(format!(
                "{notice}; for a file that will be run or read later, specify a directory owned by you or root"
            )));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(&end.directory, ".", flags, Mode::empty())?;
        let existing_identity = there.as_ref().map(file_identity);
        let location = Self {
            walker,
            options,
            directory,
            name,
            existing_identity,
            notice,
        };
        location.check_existing_file_replaceable(there.as_ref())?;
        drop(Draft::create(&location)?);
        Ok(location)
    }

    pub fn write_draft(&self, document: &[u8]) -> Result<Draft<'_>, WriteError> {
        let mut draft = Draft::create(self)?;
        draft.file.write_all(document)?;
        draft.file.sync_all()?;
        Ok(draft)
    }

    fn check_existing_file_replaceable(&self, there: Option<&Stat>) -> Result<(), WriteError> {
        let Some(there) = there else { return Ok(()) };
        let what = match FileType::from_raw_mode(there.st_mode) {
            FileType::RegularFile => {
                return match self.options.existing {
                    ExistingFilePolicy::Kept => Err(WriteError::Exists),
                    ExistingFilePolicy::Replaced => self.check_sticky_directory_owner(there),
                    ExistingFilePolicy::Continued if there.st_uid == self.walker.uid => Ok(()),
                    ExistingFilePolicy::Continued => Err(WriteError::For(format!(
                        "it belongs to uid {}, and walwise appends only to your own files; specify another file",
                        there.st_uid
                    ))),
                };
            }
            FileType::Directory => "a directory",
            FileType::Symlink => "a link that has just been created",
            _ => "a device, a pipe or a socket",
        };
        Err(WriteError::For(format!(
            "it is {what}; specify a regular file, or write to standard output"
        )))
    }

    /// Refuses to replace another user's file in a sticky directory. Only root, the owner of the
    /// file and the owner of the directory may do so.
    fn check_sticky_directory_owner(&self, there: &Stat) -> Result<(), WriteError> {
        let around = rustix::fs::fstat(&self.directory)?;
        let ours = [0, there.st_uid, around.st_uid].contains(&self.walker.uid);
        if around.st_mode & 0o1000 == 0 || ours {
            return Ok(());
        }
        Err(WriteError::For(format!(
            "it belongs to uid {}; specify another file",
            there.st_uid
        )))
    }
}

pub(super) struct Draft<'a> {
    location: &'a OutputLocation,
    file: File,
    /// Empty once the draft has been renamed to its name in the series.
    name: String,
}

impl<'a> Draft<'a> {
    fn create(location: &'a OutputLocation) -> Result<Self, WriteError> {
        let name = format!(".walwise-{:016x}{:016x}.tmp", random_u64(), random_u64());
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = location.options.access.mode_bits(location.walker.uid == 0);
        let first_mode = Mode::from_raw_mode(if mode.is_some() { 0o600 } else { 0o666 });
        let file = rustix::fs::openat(&location.directory, &name, flags, first_mode)?;
        let draft = Self {
            location,
            file: File::from(file),
            name,
        };
        if let Some(mode) = mode {
            match rustix::fs::fremovexattr(&draft.file, "system.posix_acl_access") {
                Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
                Err(errno) => return Err(errno.into()),
            }
            rustix::fs::fchmod(&draft.file, Mode::from_raw_mode(mode))?;
        }
        Ok(draft)
    }

    /// The rename to the final name is durable on return.
    pub fn publish(mut self) -> Result<PublishedDocument, WriteError> {
        let directory = &self.location.directory;
        let (series_name, warning) = if self.location.options.series {
            let name = self.publish_in_series()?;
            // The document is complete, so a failed removal is only a warning. The next document of
            // the series tries the removal again.
            let failure = series::remove_excess_documents(directory).err();
            let warning = failure.map(|errno| {
                let why = text::io_error_message(&errno.into());
                format!("old saved reports could not be removed: {why}")
            });
            (Some(name), warning)
        } else {
            self.publish_under_requested_name()?;
            (None, None)
        };
        rustix::fs::fsync(directory)?;
        Ok(PublishedDocument {
            series_name,
            warning,
        })
    }

    fn publish_under_requested_name(&self) -> Result<(), WriteError> {
        let OutputLocation {
            directory,
            name,
            options,
            ..
        } = self.location;
        let there = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        self.location
            .check_existing_file_replaceable(there.as_ref())?;
        match options.existing {
            ExistingFilePolicy::Continued
                if there.as_ref().map(file_identity) != self.location.existing_identity =>
            {
                Err(WriteError::For(
                    "another process changed the file in the meantime; try again".to_owned(),
                ))
            }
            ExistingFilePolicy::Replaced | ExistingFilePolicy::Continued => Ok(
                rustix::fs::renameat(directory, &self.name, directory, name)?,
            ),
            ExistingFilePolicy::Kept => match rename_noreplace(directory, &self.name, name) {
                Err(Errno::EXIST) => Err(WriteError::Exists),
                done => Ok(done?),
            },
        }
    }

    /// Renames the draft to the next number of its series; returns the new name.
    ///
    /// A writer claims a number by renaming its draft to a name with that number, which can exist
    /// only once. Then the writer looks for documents with that number or a later one. While the
    /// draft has that name, no other writer creates such a document, so no number is used twice.
    fn publish_in_series(&mut self) -> Result<String, WriteError> {
        let OutputLocation {
            directory, name, ..
        } = self.location;
        let date = name.to_string_lossy();
        let after = |number: u32| {
            let says = || {
                WriteError::For(format!(
                    "{number} is the last report number; move the saved reports elsewhere"
                ))
            };
            number.checked_add(1).ok_or_else(says)
        };
        let mut number = after(series::newest_document_number(directory)?)?;
        for _ in 0..MAX_TRIES {
            let draft = series::draft_name(number);
            match rename_noreplace(directory, &self.name, draft.as_ref()) {
                Err(Errno::EXIST) => number = after(number)?,
                taken => {
                    taken?;
                    self.name = draft;
                    let newest = series::newest_document_number(directory)?;
                    if newest < number {
                        let name = series::document_name(number, &date);
                        rename_noreplace(directory, &self.name, name.as_ref())?;
                        // Another process's draft may get the old name from now on, so `drop` must
                        // not remove a file of that name.
                        self.name.clear();
                        return Ok(name);
                    }
                    number = after(newest)?;
                }
            }
        }
        Err(WriteError::For(
            "other processes keep taking the next report number; try again later".to_owned(),
        ))
    }
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PublishedDocument {
    /// The name that the series assigned; `None` if the document has the requested name.
    pub series_name: Option<String>,
    /// A warning that older documents could not be removed; display-safe.
    pub warning: Option<String>,
}

const MAX_TRIES: usize = 10_000;

/// Fails with `EXIST` if the new name exists, even if several processes try at once.
fn rename_noreplace(directory: &OwnedFd, from: &str, to: &OsStr) -> Result<(), Errno> {
    match rustix::fs::renameat_with(directory, from, directory, to, RenameFlags::NOREPLACE) {
        // Some file systems, such as NFS, refuse an exclusive rename but create links exclusively.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            rustix::fs::linkat(directory, from, directory, to, AtFlags::empty())?;
            rustix::fs::unlinkat(directory, from, AtFlags::empty())
        }
        done => done,
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // After a successful rename, the draft's old name no longer exists.
        if !self.name.is_empty() {
            let _ = rustix::fs::unlinkat(&self.location.directory, &self.name, AtFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests;
