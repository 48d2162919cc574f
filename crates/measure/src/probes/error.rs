//! Why a probe is refused, or ended early: one sentence each, with a fix.

use std::path::Path;

use rustix::io::Errno;
use thiserror::Error;

use crate::escape::Command;
use crate::host::path_bytes;
use crate::measure::Measurement;
use crate::text;

/// Why walwise refuses to probe a directory; nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error(
        "{0} does not exist; create it, or name a directory on the same file system with --scratch DIR"
    )]
    Missing(String),
    #[error("{0} is not a directory; name the directory to measure")]
    NotADirectory(String),
    #[error(
        "{0} is not writable for this user; run walwise as its owner or as root, or name another directory on the same file system with --scratch DIR"
    )]
    Denied(String),
    #[error("{0} is on a read-only file system; it can be measured once it is writable")]
    ReadOnly(String),
    /// A database's directory without a usable place next to it.
    #[error(
        "{database} belongs to a database, where walwise writes nothing, and {why}; name a directory on the same file system with --scratch DIR"
    )]
    NoSiblingPlace {
        database: String,
        /// Why its parent is unusable.
        why: String,
    },
    /// `--scratch` would measure something other than the target.
    #[error("--scratch {scratch} would not measure {target}: {why}")]
    DifferentFilesystem {
        scratch: String,
        target: String,
        /// The difference between the two.
        why: String,
    },
    /// A file system whose server or process must not be loaded, or that may hang.
    #[error(
        "{directory} is on a {class} file system; walwise measures it only if --scratch DIR names it, or with probe --force"
    )]
    NetworkOrFuse {
        directory: String,
        class: &'static str,
    },
    /// The directory does not respond.
    #[error("{directory}: {why}; name a directory on a file system that responds")]
    Unresponsive {
        directory: String,
        /// How long the probe waited.
        why: String,
    },
    #[error(
        "{directory} has {free} free, a probe needs {needed}; free some space, name a directory on a similar file system with --scratch DIR, or use probe --force"
    )]
    Space {
        directory: String,
        free: String,
        needed: String,
    },
    /// Any other error of the kernel.
    #[error("{directory} cannot be probed: {error}")]
    System { directory: String, error: String },
}

impl Refusal {
    pub(super) fn from_errno(errno: Errno, directory: &Path) -> Self {
        let directory = display_path(directory);
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// No space or quota left.
    NoSpace,
    IoError,
    /// The file system became read-only.
    ReadOnly,
    /// The directory or a file was removed or replaced during the probe.
    Removed,
    /// The watcher, which removes the files if walwise is killed, did not start.
    Watcher,
    Other,
}

/// Why a probe ended early. Its files are removed unless the message says otherwise.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{message}")]
pub struct ProbeError {
    pub kind: ErrorKind,
    /// The failed step, its object, and the fix.
    pub message: String,
    /// Results so far; `None` without a complete round.
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

    /// A kernel error in a directory; `doing` names the step.
    pub(super) fn from_errno(errno: Errno, doing: &str, directory: &Path) -> Self {
        let at = display_path(directory);
        let (kind, says) = match errno {
            Errno::NOSPC => (
                ErrorKind::NoSpace,
                format!("{at} ran out of space; free some and probe again"),
            ),
            Errno::DQUOT => (
                ErrorKind::NoSpace,
                format!("the disk quota at {at} is used up; raise it or probe as another user"),
            ),
            Errno::IO => (
                ErrorKind::IoError,
                format!("the disk under {at} reported an I/O error; check dmesg first"),
            ),
            Errno::ROFS => (
                ErrorKind::ReadOnly,
                format!("{at} became read-only, as file systems do after an error; check dmesg"),
            ),
            Errno::NOENT | Errno::STALE => (
                ErrorKind::Removed,
                format!(
                    "{at}, or walwise's directory in it, was removed during the probe; probe again"
                ),
            ),
            Errno::ACCESS | Errno::PERM => {
                let look = Command::or_placeholder(Command::new("lsattr -d ").value(&at));
                let says =
                    format!("{at} denies access; probe as its owner or as root, and check {look}");
                (ErrorKind::Other, says)
            }
            errno => (ErrorKind::Other, format!("{at}: {errno}")),
        };
        Self::new(kind, format!("{doing} failed: {says}"))
    }
}

pub(super) fn display_path(path: &Path) -> String {
    text::display_safe(path_bytes(path))
}
