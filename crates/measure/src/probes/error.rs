//! Reasons that a probe is refused or ends early, each a sentence with a fix.

use std::path::Path;

use rustix::io::Errno;
use thiserror::Error;

use crate::escape::ShellCommand;
use crate::host::path_bytes;
use crate::measure::Measurement;
use crate::text;

/// A probe is refused before anything is written.
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
    /// The target is in the directory of a database, and no place next to that directory is usable.
    #[error(
        "{database} belongs to a database, where walwise writes nothing, and {why}; name a directory on the same file system with --scratch DIR"
    )]
    NoSiblingPlace {
        database: String,
        /// Reason that the parent directory is unusable, as a clause.
        why: String,
    },
    /// `--scratch` would measure something other than the target.
    #[error("--scratch {scratch} would not measure {target}: {why}")]
    DifferentFilesystem {
        scratch: String,
        target: String,
        /// Difference between the scratch directory and the target, as a clause.
        why: String,
    },
    /// A probe would load a remote server or a FUSE process, or might hang.
    #[error(
        "{directory} is on a {class} file system; walwise measures it only if --scratch DIR names it, or with probe --force"
    )]
    NetworkOrFuse {
        directory: String,
        class: &'static str,
    },
    #[error("{directory}: {why}; name a directory on a file system that responds")]
    Unresponsive {
        directory: String,
        /// Time that the probe waited, as a clause.
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
pub enum ProbeErrorKind {
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

/// The files of a probe that ended early are removed unless the message states otherwise.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{message}")]
pub struct ProbeError {
    pub kind: ProbeErrorKind,
    /// The failed step, its object, and the fix.
    pub message: String,
    /// Results so far; `None` without a complete round.
    pub partial: Option<Box<Measurement>>,
}

impl ProbeError {
    pub(super) fn new(kind: ProbeErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            partial: None,
        }
    }

    /// `doing` names the failed step, such as `a commit`.
    pub(super) fn from_errno(errno: Errno, doing: &str, directory: &Path) -> Self {
        let at = display_path(directory);
        let (kind, says) = match errno {
            Errno::NOSPC => (
                ProbeErrorKind::NoSpace,
                format!("{at} ran out of space; free some and probe again"),
            ),
            Errno::DQUOT => (
                ProbeErrorKind::NoSpace,
                format!("the disk quota at {at} is used up; raise it or probe as another user"),
            ),
            Errno::IO => (
                ProbeErrorKind::IoError,
                format!("the disk under {at} reported an I/O error; check dmesg first"),
            ),
            Errno::ROFS => (
                ProbeErrorKind::ReadOnly,
                format!("{at} became read-only, as file systems do after an error; check dmesg"),
            ),
            Errno::NOENT | Errno::STALE => (
                ProbeErrorKind::Removed,
                format!(
                    "{at}, or walwise's directory in it, was removed during the probe; probe again"
                ),
            ),
            Errno::ACCESS | Errno::PERM => {
                let look =
                    ShellCommand::or_placeholder(ShellCommand::new("lsattr -d ").append_value(&at));
                let says =
                    format!("{at} denies access; probe as its owner or as root, and check {look}");
                (ProbeErrorKind::Other, says)
            }
            errno => (ProbeErrorKind::Other, format!("{at}: {errno}")),
        };
        Self::new(kind, format!("{doing} failed: {says}"))
    }
}

pub(super) fn display_path(path: &Path) -> String {
    text::display_safe(path_bytes(path))
}
