//! Writes a finished document to a file, whole or not at all.
//!
//! The one place of this layer that touches the disk, and only where the user said. It does not choose names and does not
//! ask; standard output is the caller's business. The surprise: a symbolic link is followed to the file it names, because
//! replacing the link would replace `/dev/stdout` on a machine where walwise runs as root.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::text;

/// Why a document was not written. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The name stands for something that is no regular file.
    #[error("{} is {what}; name a regular file, or write to standard output", path.display())]
    Special {
        /// The name given.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// There is a file of that name, and it was not to be replaced.
    #[error("{} exists", path.display())]
    Exists {
        /// The name given.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot write {}: {}", path.display(), text::error_words(error))]
    Refused {
        /// The name given.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

/// Writes a file so that a reader sees the old content or the new, even after a crash: a temporary file in the same
/// directory, fsync, rename, fsync of the directory. An existing file keeps its permissions; a new one gets what the umask
/// leaves of 0666.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    write(path, bytes, None, Old::Replaced)
}

/// The same where nothing may be replaced: a file of that name is an error, also one that comes meanwhile.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    write(path, bytes, None, Old::Kept)
}

/// The same for a file that is its owner's alone, whatever the umask says and whatever was there.
pub fn write_privately(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    write(path, bytes, Some(Permissions::from_mode(0o600)), Old::Replaced)
}

/// What becomes of a file that has the name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Old {
    Replaced,
    Kept,
}

fn write(path: &Path, bytes: &[u8], mode: Option<Permissions>, kept: Old) -> Result<(), OutputError> {
    let refused = |error| OutputError::Refused { path: path.to_owned(), error };
    let special = |what| OutputError::Special { path: path.to_owned(), what };
    let (place, old) = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_owned(), None),
        Err(error) => return Err(refused(error)),
        Ok(_) => {
            let place = fs::canonicalize(path).map_err(refused)?;
            let metadata = fs::metadata(&place).map_err(refused)?;
            match metadata.file_type() {
                kind if kind.is_file() && kept == Old::Kept => {
                    return Err(OutputError::Exists { path: path.to_owned() });
                }
                kind if kind.is_file() => (place, Some(metadata.permissions())),
                kind if kind.is_dir() => return Err(special("a directory")),
                _ => return Err(special("a device, a pipe or a socket")),
            }
        }
    };
    let Some(name) = place.file_name() else { return Err(special("no file name")) };
    let directory = match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let (mut file, draft) = create_beside(directory, name, mode.is_some()).map_err(refused)?;
    if let Some(permissions) = mode.or(old) {
        file.set_permissions(permissions).map_err(refused)?;
    }
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(refused)?;
    match kept {
        Old::Replaced => fs::rename(&draft.0, &place).map_err(refused)?,
        Old::Kept => rename_new(&draft.0, &place).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OutputError::Exists { path: path.to_owned() },
            _ => refused(error),
        })?,
    }
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(refused)
}

/// A rename that replaces nothing. Some file systems cannot do that in one step; there it is looked before.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match fs::symlink_metadata(to) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
            Err(error) => Err(error),
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        },
        done => Ok(done?),
    }
}

/// A file that goes away unless it was renamed.
struct Draft(PathBuf);

impl Drop for Draft {
    fn drop(&mut self) {
        // After the rename there is nothing by that name.
        let _ = fs::remove_file(&self.0);
    }
}

fn create_beside(directory: &Path, name: &std::ffi::OsStr, private: bool) -> io::Result<(File, Draft)> {
    let mut last = None;
    let mode = if private { 0o600 } else { 0o666 };
    for attempt in 0..100 {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{attempt}.tmp"));
        let path = directory.join(hidden);
        match OpenOptions::new().write(true).create_new(true).mode(mode).open(&path) {
            Ok(file) => return Ok((file, Draft(path))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or_else(|| io::Error::other("no free name for a temporary file")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn replaces_whole_files_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.json");
        write_atomically(&path, b"one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(names(directory.path()), ["report.json"]);
    }

    #[test]
    fn what_is_to_be_new_replaces_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.json");
        write_new(&path, b"one").unwrap();
        assert!(matches!(write_new(&path, b"two"), Err(OutputError::Exists { .. })));
        // One that comes between looking and renaming.
        let draft = directory.path().join("draft");
        fs::write(&draft, "three").unwrap();
        assert_eq!(rename_new(&draft, &path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        fs::remove_file(&draft).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        symlink("report.json", directory.path().join("link")).unwrap();
        assert!(matches!(write_new(&directory.path().join("link"), b"two"), Err(OutputError::Exists { .. })));
        assert_eq!(names(directory.path()), ["link", "report.json"]);
    }

    #[test]
    fn a_private_file_is_its_owner_s_alone_whatever_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.json");
        for old in [None, Some(0o666), Some(0o400)] {
            if let Some(mode) = old {
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
            write_privately(&path, b"mine").unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{old:?}");
        }
        assert_eq!(names(directory.path()), ["report.json"]);
    }

    #[test]
    fn follows_links_to_files_and_refuses_everything_else() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("file"), "old").unwrap();
        symlink("file", at("link")).unwrap();
        write_atomically(&at("link"), b"new").unwrap();
        assert_eq!(fs::read(at("file")).unwrap(), b"new");
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());

        symlink("/dev/null", at("null")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        for refused in [at("null"), at("dangling"), at(""), at("no/such/directory")] {
            assert!(write_atomically(&refused, b"x").is_err(), "{}", refused.display());
        }
        assert_eq!(names(directory.path()), ["dangling", "file", "link", "null"]);
    }
}
