//! Files that the user named, read by a child: walwise exits even if their file system hangs.
//!
//! What may be opened, and for how long a pipe may be silent, is decided by [`super::named_file`] in the child. A child
//! that says nothing for longer is left behind. The meaning of files is left to the commands.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::named_file::{self, InputKinds, NamedFile};
use super::rule_directory;
use crate::errand::{self, Errand, PATIENCE, Signals, Silence, SocketChannel};

/// The hidden argument that makes the program this child.
const ARGUMENT: &str = "__read";

/// The tasks of the child: read a file that was named, or one that walwise keeps, the names in a directory, the rules in
/// force, or named rule files.
const FILE: &str = "file";
const KEPT: &str = "kept";
const NAMES: &str = "names";
const RULES: &str = "rules";
const RULE_FILES: &str = "rule-files";

/// Its messages: it is open; a part of the answer; the end; an error's number and, where it is our own, its sentence.
const OPEN: u8 = b'o';
const PART: u8 = b'p';
const ALL: u8 = b'a';
const ERROR: u8 = b'e';

/// The largest part of a file that is sent at once, in bytes.
const PIECE: usize = 64 << 10;

/// The time for a message of the child, which itself gives up a pipe that is silent for [`PATIENCE`].
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
    ReplyStream::to(FILE, &[path.as_os_str(), OsStr::new(&largest.to_string())])
}

/// A regular file that walwise wrote earlier, of at most so many bytes, open for reading.
pub(super) fn open_regular(path: &Path, largest: u64) -> io::Result<impl Read + use<>> {
    ReplyStream::to(KEPT, &[path.as_os_str(), OsStr::new(&largest.to_string())])
}

/// The names in a directory that are text.
pub(super) fn names(directory: &Path) -> io::Result<Vec<String>> {
    parse(ReplyStream::to(NAMES, &[directory.as_os_str()])?)
}

/// The rules of this machine and those in a directory.
pub(super) fn rules(directory: Option<&Path>) -> io::Result<Result<rule_directory::RuleFiles, String>> {
    let words: Vec<&OsStr> = directory.into_iter().map(Path::as_os_str).collect();
    parse(ReplyStream::to(RULES, &words)?)
}

/// Rule files, named one by one or by their directory.
pub(super) fn rule_files(paths: &[PathBuf]) -> io::Result<rule_directory::RuleFileSelection> {
    let words: Vec<&OsStr> = paths.iter().map(|path| path.as_os_str()).collect();
    parse(ReplyStream::to(RULE_FILES, &words)?)
}

fn parse<T: DeserializeOwned>(mut answer: ReplyStream) -> io::Result<T> {
    let mut whole = Vec::new();
    answer.read_to_end(&mut whole)?;
    serde_json::from_slice(&whole).map_err(io::Error::other)
}

/// A child's answer as it arrives.
struct ReplyStream {
    /// The child, until its answer is complete.
    errand: Option<Errand>,
    /// The time that may still be waited for messages.
    patience: Duration,
    /// Bytes received but not yet read.
    come: VecDeque<u8>,
}

impl ReplyStream {
    /// The answer to this question; an error when there is none.
    fn to(what: &str, words: &[&OsStr]) -> io::Result<Self> {
        let words: Vec<&OsStr> = [OsStr::new(what)].into_iter().chain(words.iter().copied()).collect();
        let errand = Errand::send(ARGUMENT, &words, Signals::Shared)?;
        let mut answer = Self { errand: Some(errand), patience: LONGEST_READ, come: VecDeque::new() };
        while answer.hear()? != OPEN {}
        Ok(answer)
    }

    /// Receives one more message; returns its kind.
    fn hear(&mut self) -> io::Result<u8> {
        let Some(errand) = &mut self.errand else { return Ok(ALL) };
        let begun = Instant::now();
        let (kind, what) = match errand.line.hear(Some(MESSAGE.min(self.patience))) {
            Ok(message) => message,
            Err(Silence::Late) => {
                let says = if self.patience < MESSAGE {
                    format!("it is not complete after {} s; name a file that is", LONGEST_READ.as_secs())
                } else {
                    format!("no answer within {} s", PATIENCE.as_secs())
                };
                return Err(io::Error::new(ErrorKind::TimedOut, says));
            }
            Err(Silence::Ended) => {
                return Err(io::Error::other("the child that reads ended without an answer"));
            }
        };
        self.patience = self.patience.saturating_sub(begun.elapsed());
        match kind {
            PART => self.come.extend(what),
            ALL => self.errand.take().into_iter().for_each(Errand::done),
            ERROR => return Err(parse_error(&what)),
            _ => {}
        }
        Ok(kind)
    }
}

impl Read for ReplyStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.come.is_empty() && self.errand.is_some() {
            self.hear()?;
        }
        self.come.read(buffer)
    }
}

impl Drop for ReplyStream {
    fn drop(&mut self) {
        self.errand.take().into_iter().for_each(Errand::kill);
    }
}

/// Acts as the child if the arguments (the program's name first) ask for it; `None` if they do not.
pub fn serve(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let words = errand::words(arguments, ARGUMENT)?;
    let answered = SocketChannel::home().and_then(|mut line| {
        line.end_when_alone()?;
        answer(&words, &mut line)
    });
    Some(answered.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}

fn answer(words: &[OsString], line: &mut SocketChannel) -> io::Result<()> {
    let answered = match words {
        [what, path, largest] if what == FILE => read(path, InputKinds::FilesAndPipes, largest, line),
        [what, path, largest] if what == KEPT => read(path, InputKinds::Files, largest, line),
        [what, path] if what == NAMES => list(Path::new(path)).and_then(|names| tell(&names, line)),
        [what] if what == RULES => tell(&rule_directory::RuleFiles::in_directory(None), line),
        [what, directory] if what == RULES => {
            tell(&rule_directory::RuleFiles::in_directory(Some(Path::new(directory))), line)
        }
        [what, paths @ ..] if what == RULE_FILES => {
            tell(&rule_directory::read_named(&paths.iter().map(PathBuf::from).collect::<Vec<_>>()), line)
        }
        _ => Err(io::ErrorKind::InvalidInput.into()),
    };
    match answered {
        Ok(()) => line.say(ALL, b""),
        Err(error) => line.say(ERROR, &render_error(&error)),
    }
}

/// An error as a message: its number, and the sentence where it is our own.
fn render_error(error: &io::Error) -> Vec<u8> {
    let (number, sentence) = match (error.raw_os_error(), error.kind()) {
        (Some(number), _) => (number, String::new()),
        (None, ErrorKind::IsADirectory) => (nix::libc::EISDIR, error.to_string()),
        (None, ErrorKind::TimedOut) => (nix::libc::ETIMEDOUT, error.to_string()),
        (None, ErrorKind::FileTooLarge) => (nix::libc::EFBIG, error.to_string()),
        (None, _) => (nix::libc::EIO, error.to_string()),
    };
    [&number.to_le_bytes()[..], sentence.as_bytes()].concat()
}

/// The inverse; the sentence keeps its kind.
fn parse_error(message: &[u8]) -> io::Error {
    let Some((number, sentence)) = message.split_first_chunk() else { return ErrorKind::Other.into() };
    let error = io::Error::from_raw_os_error(i32::from_le_bytes(*number));
    if sentence.is_empty() {
        return error;
    }
    io::Error::new(error.kind(), String::from_utf8_lossy(sentence).into_owned())
}

fn tell(answer: &impl Serialize, line: &mut SocketChannel) -> io::Result<()> {
    line.say(OPEN, b"")?;
    line.say_all(PART, &serde_json::to_vec(answer)?)
}

fn list(directory: &Path) -> io::Result<Vec<String>> {
    let name = |path: &PathBuf| path.file_name()?.to_str().map(str::to_owned);
    Ok(named_file::entries(directory)?.iter().filter_map(name).collect())
}

fn read(path: &OsStr, kinds: InputKinds, largest: &OsStr, line: &mut SocketChannel) -> io::Result<()> {
    let largest = largest.to_str().and_then(|largest| largest.parse().ok());
    let mut file = NamedFile::open(Path::new(path), kinds, largest.ok_or(ErrorKind::InvalidInput)?)?;
    line.say(OPEN, b"")?;
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(()),
            count => line.say(PART, piece.get(..count).unwrap_or_default())?,
        }
    }
}
