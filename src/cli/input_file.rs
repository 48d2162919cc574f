//! Opens an input file in the child of [`super::file_reader`], because a file system may hang. The
//! path is first opened with `O_PATH` to check its file type, because opening a device can have
//! effects, such as rewinding a tape.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::fs::{FileType, Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::subprocess::RECV_TIMEOUT;
use crate::text;

const STDIN_NAME: &str = "-";

/// Directories of a process's own descriptors (proc_pid_fd(5)).
const DESCRIPTOR_DIRECTORIES: [&str; 3] = ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"];

const MAX_ENTRIES: usize = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum AcceptedFileTypes {
    /// Only regular files, for paths that the user did not type, such as entries of a rule
    /// directory.
    Files,
    /// Also a pipe, such as a shell's `<(...)`, and standard input as `-`.
    FilesAndPipes,
}

/// A regular file or pipe, open for reading. A read fails beyond the size limit, or after a pipe
/// has been silent for [`RECV_TIMEOUT`].
pub(super) struct InputFile {
    file: File,
    max_bytes: u64,
    bytes_left: u64,
}

impl InputFile {
    pub fn open(path: &Path, kinds: AcceptedFileTypes, largest: u64) -> io::Result<Self> {
        let is_stdin = kinds == AcceptedFileTypes::FilesAndPipes && path == Path::new(STDIN_NAME);
        let held = if is_stdin {
            io::stdin().as_fd().try_clone_to_owned()?
        } else {
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            rustix::fs::open(parent_descriptor_path(path).as_ref(), flags, Mode::empty())?
        };
        check_file_type_and_size(&held, kinds, largest)?;
        let file = if is_stdin {
            held
        } else {
            // Without `NONBLOCK`, opening a fifo would wait for a writer.
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            let path = format!("/proc/self/fd/{}", held.as_raw_fd());
            rustix::fs::open(path, flags, Mode::empty())?
        };
        Ok(Self {
            file: File::from(file),
            max_bytes: largest,
            bytes_left: largest,
        })
    }

    /// Waits until a read does not block, at most until `deadline`. This includes the wait for the
    /// first writer of a fifo.
    fn wait_until_readable(&self, deadline: Instant) -> io::Result<()> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let more = if self.bytes_left < self.max_bytes {
                    " more"
                } else {
                    ""
                };
                let says = format!(
                    "no{more} data arrived through this pipe within {} s; save the data to a file \
                     and specify that file",
                    RECV_TIMEOUT.as_secs()
                );
                return Err(io::Error::new(ErrorKind::TimedOut, says));
            }
            let mut waiting = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
            // The timeout is at least 1 ms: rounding the last fraction of a millisecond down to 0
            // would make a busy loop.
            let patience = u16::try_from(left.as_millis()).unwrap_or(u16::MAX).max(1);
            match poll(&mut waiting, PollTimeout::from(patience)) {
                Ok(0) | Err(nix::errno::Errno::EINTR) => {}
                Ok(_) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

impl Read for InputFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Reading one byte more than the limit distinguishes a larger file from one that ends at
        // the limit.
        let room = usize::try_from(self.bytes_left.saturating_add(1))
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let buffer = buffer.get_mut(..room).unwrap_or_default();
        let deadline = Instant::now() + RECV_TIMEOUT;
        let count = loop {
            self.wait_until_readable(deadline)?;
            match self.file.read(buffer) {
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                read => break read?,
            }
        };
        self.bytes_left = self
            .bytes_left
            .checked_sub(count as u64)
            .ok_or_else(|| too_large_error(self.max_bytes))?;
        Ok(count)
    }
}

/// Rewrites the path of a descriptor, as a shell passes it for `<(...)`, to the same descriptor of
/// the parent process. This process does not inherit the parent's descriptors.
fn parent_descriptor_path(path: &Path) -> Cow<'_, Path> {
    let number = |directory: &&str| {
        path.strip_prefix(directory)
            .ok()?
            .to_str()?
            .parse::<u32>()
            .ok()
    };
    match DESCRIPTOR_DIRECTORIES.iter().find_map(number) {
        Some(number) => Cow::Owned(PathBuf::from(format!(
            "/proc/{}/fd/{number}",
            nix::unistd::getppid()
        ))),
        None => Cow::Borrowed(path),
    }
}

fn check_file_type_and_size(
    held: impl AsFd,
    kinds: AcceptedFileTypes,
    largest: u64,
) -> io::Result<()> {
    let wanted = match kinds {
        AcceptedFileTypes::Files => "specify a regular file",
        AcceptedFileTypes::FilesAndPipes => "specify a regular file or a pipe",
    };
    let wrong =
        |kind: ErrorKind, what: &str| Err(io::Error::new(kind, format!("it is {what}; {wanted}")));
    let stat = rustix::fs::fstat(held)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if u64::try_from(stat.st_size).is_ok_and(|size| size > largest) => {
            Err(too_large_error(largest))
        }
        FileType::RegularFile => Ok(()),
        FileType::Fifo => match kinds {
            AcceptedFileTypes::FilesAndPipes => Ok(()),
            AcceptedFileTypes::Files => wrong(ErrorKind::InvalidInput, "not a regular file"),
        },
        FileType::Directory => wrong(ErrorKind::IsADirectory, "a directory"),
        FileType::Socket => wrong(ErrorKind::InvalidInput, "a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => {
            wrong(ErrorKind::InvalidInput, "a device")
        }
        FileType::Symlink | FileType::Unknown => {
            wrong(ErrorKind::InvalidInput, "of an unknown type")
        }
    }
}

fn too_large_error(largest: u64) -> io::Error {
    let says = format!(
        "it is larger than {}; specify a smaller file",
        text::format_bytes(largest)
    );
    io::Error::new(ErrorKind::FileTooLarge, says)
}

/// Fails above [`MAX_ENTRIES`] names, because a partial list misleads.
pub(super) fn directory_entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        if paths.len() == MAX_ENTRIES {
            return Err(io::Error::other(format!(
                "it has more than {MAX_ENTRIES} entries"
            )));
        }
        paths.push(entry?.path());
    }
    Ok(paths)
}

#[cfg(test)]
mod tests;
