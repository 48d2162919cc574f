//! Why a probe did not start, or ended early: one sentence each, with a remedy.

use std::path::Path;

use rustix::io::Errno;
use thiserror::Error;

use crate::host::path_bytes;
use crate::measure::Measurement;
use crate::quote::Command;
use crate::text;

/// Why walwise refuses to probe there. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// There is no such directory.
    #[error(
        "{0} does not exist; create it, or name a directory on the same file system with --scratch DIR"
    )]
    Missing(String),
    /// It is a file or a device.
    #[error("{0} is not a directory; name the directory that is to be measured")]
    NotADirectory(String),
    /// It may not be entered or written.
    #[error(
        "{0} cannot be written by this user; run walwise as its owner or as root, or name another directory on the same file system with --scratch DIR"
    )]
    Denied(String),
    /// Mounted read-only.
    #[error(
        "{0} is on a file system that is mounted read-only; there is nothing to measure until it can be written"
    )]
    ReadOnly(String),
    /// A database's directory, without a usable place beside it.
    #[error(
        "{database} belongs to a database, where walwise writes nothing, and {why}; name a directory on the same file system with --scratch DIR"
    )]
    NoPlaceBeside {
        /// The database's directory.
        database: String,
        /// Why its parent is unusable.
        why: String,
    },
    /// The directory named with `--scratch` would be measured instead of the target.
    #[error("--scratch {scratch} would not measure {target}: {why}")]
    ElsewhereScratch {
        /// The directory that was named.
        scratch: String,
        /// The target to be measured.
        target: String,
        /// The difference between the two.
        why: String,
    },
    /// A file system whose server or process must not be loaded, or that may hang.
    #[error(
        "{directory} is on a {class} file system, which walwise measures only when --scratch DIR names it, or with probe --force"
    )]
    Class {
        directory: String,
        class: &'static str,
    },
    /// The directory to write in does not respond.
    #[error("{directory}: {why}; name a directory of a file system that works")]
    Silent {
        directory: String,
        /// How long the probe waited.
        why: String,
    },
    #[error(
        "{directory} has {free} free, and a probe needs {needed}; free some space, name a directory on a file system of the same kind with --scratch DIR, or let probe --force fill it further"
    )]
    Space {
        directory: String,
        free: String,
        needed: String,
    },
    /// Any other error of the system.
    #[error("{directory} cannot be probed: {error}")]
    System { directory: String, error: String },
}

impl Refusal {
    /// A refusal by the system at a directory.
    pub(super) fn from_errno(errno: Errno, directory: &Path) -> Self {
        let directory = shown(directory);
        match errno {
            Errno::NOENT => Self::Missing(directory),
            Errno::NOTDIR => Self::NotADirectory(directory),
            Errno::ACCESS | Errno::PERM => Self::Denied(directory),
            Errno::ROFS => Self::ReadOnly(directory),
            errno => Self::System {
                directory,
                error: errno.to_string(),
            },
        }
    }
}

/// The kinds of [`ProbeError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// No space or quota left.
    Full,
    Disk,
    /// The file system became read-only.
    ReadOnly,
    /// The directory or the file was removed or replaced during the probe.
    Gone,
    /// The watcher, which removes the file if we are killed, could not be started.
    Watcher,
    /// Anything else.
    Other,
}

/// Why a probe ended early. Its files are removed, unless the message says otherwise.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{message}")]
pub struct ProbeError {
    /// What kind of thing happened.
    pub kind: ErrorKind,
    /// The error, its object, and the remedy.
    pub message: String,
    /// The measurements so far; `None` if no round was completed.
    pub partial: Option<Box<Measurement>>,
}

impl ProbeError {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            partial: None,
        }
    }

    /// The error of the system while we were `doing` something in a directory.
    pub(super) fn from_errno(errno: Errno, doing: &str, directory: &Path) -> Self {
        let at = shown(directory);
        let (kind, says) = match errno {
            Errno::NOSPC => (
                ErrorKind::Full,
                format!("{at} ran out of space; free some and probe again"),
            ),
            Errno::DQUOT => (
                ErrorKind::Full,
                format!("the disk quota at {at} is used up; raise it or probe as another user"),
            ),
            Errno::IO => (
                ErrorKind::Disk,
                format!(
                    "the disk under {at} reported an I/O error; look at dmesg before anything else"
                ),
            ),
            Errno::ROFS => (
                ErrorKind::ReadOnly,
                format!("{at} became read-only, as file systems do after an error; look at dmesg"),
            ),
            Errno::NOENT | Errno::STALE => (
                ErrorKind::Gone,
                format!(
                    "{at} or what walwise wrote in it was removed; probe again when it is left alone"
                ),
            ),
            Errno::ACCESS | Errno::PERM => {
                let look = Command::or_why(Command::new("lsattr -d ").value(&at));
                let says = format!(
                    "{at} does not allow it; probe as its owner or as root, and see {look}"
                );
                (ErrorKind::Other, says)
            }
            errno => (ErrorKind::Other, format!("{at}: {errno}")),
        };
        Self::new(kind, format!("{doing} failed: {says}"))
    }
}

pub(super) fn shown(path: &Path) -> String {
    text::safe(path_bytes(path))
}
