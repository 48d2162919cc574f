//! The one function that opens what a user named for reading: a regular file or a pipe, bounded in
//! size and in silence.
//!
//! The object is held before it is opened, because opening a device has effects, such as rewinding
//! a tape. The child of [`super::input`] calls this, since a file system may hang. The meaning of
//! what is read is left to the commands.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::fs::{FileType, Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::subprocess::PATIENCE;
use crate::text;

/// The name of standard input.
const STDIN: &str = "-";

/// The directories of a process's own descriptors (proc_pid_fd(5)).
const DESCRIPTORS: [&str; 3] = ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"];

/// The largest number of names in a directory.
const MOST_NAMES: usize = 100_000;

/// What may be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum InputKinds {
    /// A regular file. For names that a directory or walwise chose.
    Files,
    /// Also a pipe, such as a shell's `<(...)`, and standard input by its name `-`.
    FilesAndPipes,
}

/// A regular file or a pipe, open for reading. A read fails beyond the bound, and when a pipe
/// brings nothing for [`PATIENCE`].
pub(super) struct NamedFile {
    file: File,
    /// The bound, in bytes.
    largest: u64,
    /// The number of bytes that may still come.
    left: u64,
}

impl NamedFile {
    /// Opens a file of at most `largest` bytes. The error of a wrong kind or size says what to name
    /// instead.
    pub fn open(path: &Path, kinds: InputKinds, largest: u64) -> io::Result<Self> {
        if kinds == InputKinds::FilesAndPipes && path == Path::new(STDIN) {
            let stdin = io::stdin().as_fd().try_clone_to_owned()?;
            judge(&stdin, kinds, largest)?;
            return Ok(Self {
                file: File::from(stdin),
                largest,
                left: largest,
            });
        }
        let held = rustix::fs::open(
            parent_descriptor(path).as_ref(),
            OFlags::PATH | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        judge(&held, kinds, largest)?;
        // A fifo without a writer opens at once.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::open(
            format!("/proc/self/fd/{}", held.as_raw_fd()),
            flags,
            Mode::empty(),
        )?;
        Ok(Self {
            file: File::from(file),
            largest,
            left: largest,
        })
    }

    /// Waits until a read does not block. A fifo that nobody has opened for writing yet is not at
    /// its end.
    fn wait(&self, deadline: Instant) -> io::Result<()> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let more = if self.left < self.largest {
                    " more"
                } else {
                    ""
                };
                let says = format!(
                    "nothing{more} came through this pipe within {} s; let its writer make a file, and name that",
                    PATIENCE.as_secs()
                );
                return Err(io::Error::new(ErrorKind::TimedOut, says));
            }
            let mut waiting = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
            // A part of a millisecond counts as one, or the last of them would be spent in a loop.
            let patience = u16::try_from(left.as_millis()).unwrap_or(u16::MAX).max(1);
            match poll(&mut waiting, PollTimeout::from(patience)) {
                Ok(0) | Err(nix::errno::Errno::EINTR) => {}
                Ok(_) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

impl Read for NamedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte more tells a larger file from one that ends at the bound.
        let room = usize::try_from(self.left.saturating_add(1))
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let buffer = buffer.get_mut(..room).unwrap_or_default();
        let deadline = Instant::now() + PATIENCE;
        let count = loop {
            self.wait(deadline)?;
            match self.file.read(buffer) {
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                read => break read?,
            }
        };
        self.left = self
            .left
            .checked_sub(count as u64)
            .ok_or_else(|| too_large(self.largest))?;
        Ok(count)
    }
}

/// The path of a descriptor, such as that of a shell's `<(...)`, as the path of our parent's: it
/// was left open for walwise, which passes none of them on.
fn parent_descriptor(path: &Path) -> Cow<'_, Path> {
    let number = |directory: &&str| {
        path.strip_prefix(directory)
            .ok()?
            .to_str()?
            .parse::<u32>()
            .ok()
    };
    match DESCRIPTORS.iter().find_map(number) {
        Some(number) => Cow::Owned(PathBuf::from(format!(
            "/proc/{}/fd/{number}",
            nix::unistd::getppid()
        ))),
        None => Cow::Borrowed(path),
    }
}

/// Refuses what is neither a regular file of this size nor, where that is allowed, a pipe.
fn judge(held: impl AsFd, kinds: InputKinds, largest: u64) -> io::Result<()> {
    let wanted = match kinds {
        InputKinds::Files => "name a regular file",
        InputKinds::FilesAndPipes => "name a regular file or a pipe",
    };
    let wrong =
        |kind: ErrorKind, what: &str| Err(io::Error::new(kind, format!("it is {what}; {wanted}")));
    let stat = rustix::fs::fstat(held)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if u64::try_from(stat.st_size).is_ok_and(|size| size > largest) => {
            Err(too_large(largest))
        }
        FileType::RegularFile => Ok(()),
        FileType::Fifo => match kinds {
            InputKinds::FilesAndPipes => Ok(()),
            InputKinds::Files => wrong(ErrorKind::InvalidInput, "no regular file"),
        },
        FileType::Directory => wrong(ErrorKind::IsADirectory, "a directory"),
        FileType::Socket => wrong(ErrorKind::InvalidInput, "a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => {
            wrong(ErrorKind::InvalidInput, "a device")
        }
        FileType::Symlink | FileType::Unknown => wrong(ErrorKind::InvalidInput, "no regular file"),
    }
}

fn too_large(largest: u64) -> io::Error {
    let says = format!(
        "it is larger than {}; name a smaller file",
        text::bytes(largest)
    );
    io::Error::new(ErrorKind::FileTooLarge, says)
}

/// The entries of a directory. The error of one with more than [`MOST_NAMES`] says so, because a
/// part of a list misleads.
pub(super) fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        if paths.len() == MOST_NAMES {
            return Err(io::Error::other(format!(
                "it holds more than {MOST_NAMES} names"
            )));
        }
        paths.push(entry?.path());
    }
    Ok(paths)
}

#[cfg(test)]
mod tests;
