use std::path::Path;

use rustix::io::Errno;
use thiserror::Error;

use crate::escape::ShellCommand;
use crate::host::path_bytes;
use crate::measure::Measurement;
use crate::text;

/// Reason to refuse a probe before anything is written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error(
        "{0} does not exist; create it, or name a directory on the same file system with --scratch DIR"
    )]
    Missing(String),
    #[error("{0} is not a directory; name the directory to measure")]
    NotADirectory(String),
    #[error(
        "{0} is not writable by this user; run walwise as its owner or as root, or name another directory on the same file system with --scratch DIR"
    )]
    Denied(String),
    #[error(
        "{0} is on a read-only file system; remount the file system read-write, then measure again"
    )]
    ReadOnly(String),
    #[error(
        "{database} belongs to a database, so walwise writes nothing there, and {why}; name a directory on the same file system with --scratch DIR"
    )]
    NoSiblingPlace {
        database: String,
        /// Why no directory next to the database can be used, as a clause.
        why: String,
    },
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
    #[error("{directory}: {why}; name a directory on a working file system")]
    Unresponsive { directory: String, why: String },
    #[error(
        "{directory} has {free} free, but a probe needs {needed}; free some space, name a directory on a similar file system with --scratch DIR, or use probe --force"
    )]
    Space {
        directory: String,
        free: String,
        needed: String,
    },
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
    NoSpace,
    IoError,
    ReadOnly,
    /// The scratch directory or one of its files was removed or replaced during the probe.
    Removed,
    /// The watcher process, which removes the scratch files if walwise is killed, did not start.
    Watcher,
    Other,
}

/// The error that ends a probe early. The probe's files are removed unless the message states
/// otherwise.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{message}")]
pub struct ProbeError {
    pub kind: ProbeErrorKind,
    pub message: String,
    /// Results of the rounds before the error; `None` before the first complete round.
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

    /// Makes the error for a failed system call. `doing` names the failed step, such as `a commit`.
    pub(super) fn from_errno(errno: Errno, doing: &str, directory: &Path) -> Self {
        let at = display_path(directory);
        let (kind, says) = match errno {
            Errno::NOSPC => (
                ProbeErrorKind::NoSpace,
                format!("{at} ran out of space; free some space and probe again"),
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
                format!("{at} became read-only, probably after a file system error; check dmesg"),
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
