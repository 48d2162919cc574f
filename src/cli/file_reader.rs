//! A subprocess reads the files that the user named, so that walwise exits even if a file system
//! hangs.
//!
//! In the subprocess, [`super::input_file`] decides what may be opened and for how long a pipe may
//! be silent. A subprocess that does not answer within [`MESSAGE_TIMEOUT`] is killed.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::input_file::{self, AcceptedFileTypes, InputFile};
use super::selected_rule_files;
use crate::subprocess::{Channel, MessageBytes, RECV_TIMEOUT, RecvError, Role, Subprocess};

#[derive(Serialize, Deserialize)]
enum FileReaderRequest {
    /// Path, accepted kinds, and size limit in bytes.
    File(MessageBytes, AcceptedFileTypes, u64),
    Names(MessageBytes),
    /// The rules of this host, and those in the named directory, if any.
    Rules(Option<MessageBytes>),
    RuleFiles(Vec<MessageBytes>),
}

/// A read error: an errno, and a sentence for an error that walwise itself detects.
///
/// The child sends a failure instead of a chunk, or instead of the first reply, which reports that
/// the file is open. An empty chunk ends the file.
#[derive(Serialize, Deserialize)]
struct ReadFailure(i32, String);

const CHUNK_BYTES: usize = 64 << 10;

/// Time limit for one message. The child gives up on a silent pipe earlier, after [`RECV_TIMEOUT`].
const MESSAGE_TIMEOUT: Duration = RECV_TIMEOUT.saturating_add(Duration::from_secs(1));

/// Time limit for one child in total, which also ends a slow trickle of bytes.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// The contents of a file or pipe; fails beyond `largest` bytes.
pub(super) fn read_bytes(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file_or_pipe(path, largest)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A read beyond `largest` bytes fails.
pub(super) fn open_file_or_pipe(path: &Path, largest: u64) -> io::Result<impl Read + use<>> {
    ReaderReplyStream::open(&FileReaderRequest::File(
        path.into(),
        AcceptedFileTypes::FilesAndPipes,
        largest,
    ))
}

pub(super) fn open_regular_file(path: &Path, largest: u64) -> io::Result<impl Read + use<>> {
    ReaderReplyStream::open(&FileReaderRequest::File(
        path.into(),
        AcceptedFileTypes::Files,
        largest,
    ))
}

/// Names that are not UTF-8 are skipped.
pub(super) fn list_file_names(directory: &Path) -> io::Result<Vec<String>> {
    request_and_parse_json(&FileReaderRequest::Names(directory.into()))
}

pub(super) fn read_rule_directories(
    directory: Option<&Path>,
) -> io::Result<Result<selected_rule_files::LoadedRuleFiles, String>> {
    request_and_parse_json(&FileReaderRequest::Rules(directory.map(MessageBytes::from)))
}

pub(super) fn read_rule_files(
    paths: &[PathBuf],
) -> io::Result<selected_rule_files::SelectedRuleFilesResult> {
    request_and_parse_json(&FileReaderRequest::RuleFiles(
        paths.iter().map(|path| path.as_path().into()).collect(),
    ))
}

fn request_and_parse_json<T: DeserializeOwned>(request: &FileReaderRequest) -> io::Result<T> {
    let mut whole = Vec::new();
    ReaderReplyStream::open(request)?.read_to_end(&mut whole)?;
    serde_json::from_slice(&whole).map_err(io::Error::other)
}

struct ReaderReplyStream {
    /// The reading subprocess; `None` once the answer is complete.
    child: Option<Subprocess>,
    time_left: Duration,
    received: VecDeque<u8>,
}

impl ReaderReplyStream {
    fn open(request: &FileReaderRequest) -> io::Result<Self> {
        let child = Subprocess::spawn(Role::FileReader, request)?;
        let mut answer = Self {
            child: Some(child),
            time_left: READ_TIMEOUT,
            received: VecDeque::new(),
        };
        answer.recv_reply::<()>()?;
        Ok(answer)
    }

    fn recv_reply<T: DeserializeOwned>(&mut self) -> io::Result<T> {
        let Some(child) = &mut self.child else {
            return Err(ErrorKind::NotConnected.into());
        };
        let begun = Instant::now();
        let reply: Result<T, ReadFailure> = child
            .channel
            .recv(Some(MESSAGE_TIMEOUT.min(self.time_left)))
            .map_err(|error| match error {
                RecvError::Timeout => {
                    let says = if self.time_left < MESSAGE_TIMEOUT {
                        format!(
                            "the input did not end within {} s; specify a complete file",
                            READ_TIMEOUT.as_secs()
                        )
                    } else {
                        format!("no answer within {} s", RECV_TIMEOUT.as_secs())
                    };
                    io::Error::new(ErrorKind::TimedOut, says)
                }
                RecvError::Closed => {
                    io::Error::other("the process that reads the input ended unexpectedly")
                }
            })?;
        self.time_left = self.time_left.saturating_sub(begun.elapsed());
        reply.map_err(ReadFailure::into)
    }
}

impl Read for ReaderReplyStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.received.is_empty() && self.child.is_some() {
            let MessageBytes(part) = self.recv_reply()?;
            if part.is_empty() {
                self.child
                    .take()
                    .into_iter()
                    .for_each(Subprocess::close_channel_and_wait);
            }
            self.received.extend(part);
        }
        self.received.read(buffer)
    }
}

impl Drop for ReaderReplyStream {
    fn drop(&mut self) {
        self.child.take().into_iter().for_each(Subprocess::kill);
    }
}

pub fn run_file_reader(mut channel: Channel) -> io::Result<()> {
    let request = channel.recv(None)?;
    channel.exit_process_when_closed()?;
    let answered = match request {
        FileReaderRequest::File(path, kinds, largest) => {
            InputFile::open(&PathBuf::from(path), kinds, largest)
                .and_then(|file| send_file(file, &mut channel))
        }
        FileReaderRequest::Names(path) => list_utf8_file_names(&PathBuf::from(path))
            .and_then(|names| send_json(&names, &mut channel)),
        FileReaderRequest::Rules(path) => {
            let directory = path.map(PathBuf::from);
            send_json(
                &selected_rule_files::LoadedRuleFiles::read_with_system_rules(directory.as_deref()),
                &mut channel,
            )
        }
        FileReaderRequest::RuleFiles(paths) => {
            let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
            send_json(
                &selected_rule_files::read_named_and_system_rules(&paths),
                &mut channel,
            )
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

fn send_json(answer: &impl Serialize, channel: &mut Channel) -> io::Result<()> {
    send_file(serde_json::to_vec(answer)?.as_slice(), channel)
}

fn list_utf8_file_names(directory: &Path) -> io::Result<Vec<String>> {
    let name = |path: &PathBuf| path.file_name()?.to_str().map(str::to_owned);
    Ok(input_file::directory_entries(directory)?
        .iter()
        .filter_map(name)
        .collect())
}

fn send_file(mut file: impl Read, channel: &mut Channel) -> io::Result<()> {
    channel.send(&Ok::<_, ReadFailure>(()))?;
    let mut piece = vec![0; CHUNK_BYTES];
    loop {
        let count = file.read(&mut piece)?;
        channel.send(&Ok::<_, ReadFailure>(MessageBytes(
            piece.get(..count).unwrap_or_default().to_vec(),
        )))?;
        if count == 0 {
            return Ok(());
        }
    }
}
