//! Files that the user named, read by a subprocess: walwise exits even if their file system hangs.
//!
//! What may be opened, and for how long a pipe may be silent, is decided by [`super::named_file`]
//! in the subprocess. One that says nothing for longer is left behind. The meaning of files is left
//! to the commands.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::named_file::{self, InputKinds, NamedFile};
use super::rule_directory;
use crate::subprocess::{Bytes, Channel, PATIENCE, RecvError, Role, Subprocess};

/// What the subprocess reads.
#[derive(Serialize, Deserialize)]
enum Request {
    /// A file of at most so many bytes.
    File(Bytes, InputKinds, u64),
    /// The names in a directory.
    Names(Bytes),
    /// The rules of this machine and those in a directory.
    Rules(Option<Bytes>),
    RuleFiles(Vec<Bytes>),
}

/// An error: its number and, where it is our own, its sentence. It comes instead of the word that
/// the file is open, or of a part, of which the last is empty.
#[derive(Serialize, Deserialize)]
struct ReadFailure(i32, String);

/// The largest part of a file that is sent at once, in bytes.
const PIECE: usize = 64 << 10;

/// The time for a message of the child, which itself gives up a pipe that is silent for
/// [`PATIENCE`].
const MESSAGE: Duration = PATIENCE.saturating_add(Duration::from_secs(1));

/// The longest time that is spent waiting for one child: what brings a byte now and then ends, too.
const LONGEST_READ: Duration = Duration::from_secs(60);

/// The bytes of a file or a pipe that somebody named, of at most so many.
pub(super) fn bytes(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, largest)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file or a pipe that somebody named, of at most so many bytes, open for reading.
pub(super) fn open(path: &Path, largest: u64) -> io::Result<impl Read + use<>> {
    ReplyStream::to(&Request::File(
        path.into(),
        InputKinds::FilesAndPipes,
        largest,
    ))
}

/// A regular file that walwise wrote earlier, of at most so many bytes, open for reading.
pub(super) fn open_regular(path: &Path, largest: u64) -> io::Result<impl Read + use<>> {
    ReplyStream::to(&Request::File(path.into(), InputKinds::Files, largest))
}

/// The names in a directory that are text.
pub(super) fn names(directory: &Path) -> io::Result<Vec<String>> {
    parse(&Request::Names(directory.into()))
}

/// The rules of this machine and those in a directory.
pub(super) fn rules(
    directory: Option<&Path>,
) -> io::Result<Result<rule_directory::RuleFiles, String>> {
    parse(&Request::Rules(directory.map(Bytes::from)))
}

/// Rule files, named one by one or by their directory.
pub(super) fn rule_files(paths: &[PathBuf]) -> io::Result<rule_directory::RuleFileSelection> {
    parse(&Request::RuleFiles(
        paths.iter().map(|path| path.as_path().into()).collect(),
    ))
}

fn parse<T: DeserializeOwned>(request: &Request) -> io::Result<T> {
    let mut whole = Vec::new();
    ReplyStream::to(request)?.read_to_end(&mut whole)?;
    serde_json::from_slice(&whole).map_err(io::Error::other)
}

/// A child's answer as it arrives.
struct ReplyStream {
    /// The child, until its answer is complete.
    child: Option<Subprocess>,
    /// The time that may still be waited for messages.
    patience: Duration,
    /// Bytes received but not yet read.
    received: VecDeque<u8>,
}

impl ReplyStream {
    /// The answer to this request; an error when there is none.
    fn to(request: &Request) -> io::Result<Self> {
        let child = Subprocess::spawn(Role::Read, request)?;
        let mut answer = Self {
            child: Some(child),
            patience: LONGEST_READ,
            received: VecDeque::new(),
        };
        answer.recv::<()>()?;
        Ok(answer)
    }

    fn recv<T: DeserializeOwned>(&mut self) -> io::Result<T> {
        let Some(child) = &mut self.child else {
            return Err(ErrorKind::NotConnected.into());
        };
        let begun = Instant::now();
        let reply: Result<T, ReadFailure> = child
            .channel
            .recv(Some(MESSAGE.min(self.patience)))
            .map_err(|error| match error {
                RecvError::Timeout => {
                    let says = if self.patience < MESSAGE {
                        format!(
                            "it is not complete after {} s; name a file that is",
                            LONGEST_READ.as_secs()
                        )
                    } else {
                        format!("no answer within {} s", PATIENCE.as_secs())
                    };
                    io::Error::new(ErrorKind::TimedOut, says)
                }
                RecvError::Closed => {
                    io::Error::other("the child that reads ended without an answer")
                }
            })?;
        self.patience = self.patience.saturating_sub(begun.elapsed());
        reply.map_err(ReadFailure::into)
    }
}

impl Read for ReplyStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.received.is_empty() && self.child.is_some() {
            let Bytes(part) = self.recv()?;
            if part.is_empty() {
                self.child.take().into_iter().for_each(Subprocess::wait);
            }
            self.received.extend(part);
        }
        self.received.read(buffer)
    }
}

impl Drop for ReplyStream {
    fn drop(&mut self) {
        self.child.take().into_iter().for_each(Subprocess::kill);
    }
}

/// Acts as the subprocess.
pub fn serve(mut channel: Channel) -> io::Result<()> {
    let request = channel.recv(None)?;
    channel.exit_when_closed()?;
    let answered = match request {
        Request::File(path, kinds, largest) => {
            NamedFile::open(&PathBuf::from(path), kinds, largest)
                .and_then(|file| relay(file, &mut channel))
        }
        Request::Names(path) => {
            list(&PathBuf::from(path)).and_then(|names| tell(&names, &mut channel))
        }
        Request::Rules(path) => {
            let directory = path.map(PathBuf::from);
            tell(
                &rule_directory::RuleFiles::in_directory(directory.as_deref()),
                &mut channel,
            )
        }
        Request::RuleFiles(paths) => {
            let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
            tell(&rule_directory::read_named(&paths), &mut channel)
        }
    };
    answered.or_else(|error| channel.send(&Err::<(), _>(ReadFailure::from(&error))))
}

impl From<&io::Error> for ReadFailure {
    fn from(error: &io::Error) -> Self {
        let own = match (error.raw_os_error(), error.kind()) {
            (Some(number), _) => return Self(number, String::new()),
            (None, ErrorKind::IsADirectory) => nix::libc::EISDIR,
            (None, ErrorKind::TimedOut) => nix::libc::ETIMEDOUT,
            (None, ErrorKind::FileTooLarge) => nix::libc::EFBIG,
            (None, _) => nix::libc::EIO,
        };
        Self(own, error.to_string())
    }
}

/// The sentence keeps its kind.
impl From<ReadFailure> for io::Error {
    fn from(ReadFailure(number, sentence): ReadFailure) -> Self {
        let error = Self::from_raw_os_error(number);
        if sentence.is_empty() {
            error
        } else {
            Self::new(error.kind(), sentence)
        }
    }
}

fn tell(answer: &impl Serialize, channel: &mut Channel) -> io::Result<()> {
    relay(serde_json::to_vec(answer)?.as_slice(), channel)
}

fn list(directory: &Path) -> io::Result<Vec<String>> {
    let name = |path: &PathBuf| path.file_name()?.to_str().map(str::to_owned);
    Ok(named_file::entries(directory)?
        .iter()
        .filter_map(name)
        .collect())
}

/// Sends that it is open, and its parts as they come.
fn relay(mut file: impl Read, channel: &mut Channel) -> io::Result<()> {
    channel.send(&Ok::<_, ReadFailure>(()))?;
    let mut piece = vec![0; PIECE];
    loop {
        let count = file.read(&mut piece)?;
        channel.send(&Ok::<_, ReadFailure>(Bytes(
            piece.get(..count).unwrap_or_default().to_vec(),
        )))?;
        if count == 0 {
            return Ok(());
        }
    }
}
