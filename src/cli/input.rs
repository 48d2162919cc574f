//! Files that the user named, read by a child: walwise exits even if their file system hangs.
//!
//! Their meaning is left to the commands. A pipe or a terminal is read without a time limit, because somebody is at its
//! other end. Only a file on a file system has a deadline.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::rule_directory;
use crate::errand::{self, Errand, PATIENCE, Signals, Silence, SocketChannel};
use crate::rules::RuleFile;

/// The hidden argument that makes the program this child.
const ARGUMENT: &str = "__read";

/// The tasks of the child: read a file, the names in a directory, the rules in force, named rule files, or a pack.
const FILE: &str = "file";
const NAMES: &str = "names";
const RULES: &str = "rules";
const RULE_FILES: &str = "rule-files";
const PACK: &str = "pack";

/// Its messages: no deadline applies; it is open; a part of the answer; the end; the system's error number.
const WAITING: u8 = b'w';
const OPEN: u8 = b'o';
const PART: u8 = b'p';
const ALL: u8 = b'a';
const ERROR: u8 = b'e';

/// The largest part of a file that is sent at once, in bytes.
const PIECE: usize = 64 << 10;

/// The largest number of names that are listed of a directory.
const MOST_NAMES: usize = 100_000;

/// The bytes of a file, and one more than the limit when it is larger.
pub(super) fn bytes(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(largest + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file, open for reading.
pub(super) fn open(path: &Path) -> io::Result<impl Read + use<>> {
    ReplyStream::to(FILE, &[path.as_os_str()])
}

/// The names in a directory that are text, at most [`MOST_NAMES`].
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

/// The files of a pack: rules and tables.
pub(super) fn pack(directory: &Path) -> io::Result<Result<Vec<RuleFile>, String>> {
    parse(ReplyStream::to(PACK, &[directory.as_os_str()])?)
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
    patience: Option<Duration>,
    /// Bytes received but not yet read.
    come: VecDeque<u8>,
}

impl ReplyStream {
    /// The answer to this question; an error when there is none.
    fn to(what: &str, words: &[&OsStr]) -> io::Result<Self> {
        let words: Vec<&OsStr> = [OsStr::new(what)].into_iter().chain(words.iter().copied()).collect();
        let errand = Errand::send(ARGUMENT, &words, Signals::Shared)?;
        let mut answer = Self { errand: Some(errand), patience: Some(PATIENCE), come: VecDeque::new() };
        while answer.hear()? != OPEN {}
        Ok(answer)
    }

    /// Receives one more message; returns its kind.
    fn hear(&mut self) -> io::Result<u8> {
        let Some(errand) = &mut self.errand else { return Ok(ALL) };
        let (kind, what) = match errand.line.hear(self.patience) {
            Ok(message) => message,
            Err(Silence::Late) => {
                let says = format!("no answer within {} s", PATIENCE.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, says));
            }
            Err(Silence::Ended) => {
                return Err(io::Error::other("the child that reads ended without an answer"));
            }
        };
        match kind {
            WAITING => self.patience = None,
            PART => self.come.extend(what),
            ALL => self.errand.take().into_iter().for_each(Errand::done),
            ERROR => {
                let number = what.try_into().map(i32::from_le_bytes);
                return Err(number.map_or_else(|_| io::ErrorKind::Other.into(), io::Error::from_raw_os_error));
            }
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
        [what, path] if what == FILE => read(Path::new(path), line),
        [what, path] if what == NAMES => list(Path::new(path)).and_then(|names| tell(&names, line)),
        [what] if what == RULES => tell(&rule_directory::RuleFiles::in_directory(None), line),
        [what, directory] if what == RULES => {
            tell(&rule_directory::RuleFiles::in_directory(Some(Path::new(directory))), line)
        }
        [what, paths @ ..] if what == RULE_FILES => {
            tell(&rule_directory::read_named(&paths.iter().map(PathBuf::from).collect::<Vec<_>>()), line)
        }
        [what, directory] if what == PACK => tell(&rule_directory::read_pack(Path::new(directory)), line),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    };
    match answered {
        Ok(()) => line.say(ALL, b""),
        Err(error) => line.say(ERROR, &error.raw_os_error().unwrap_or(nix::libc::EIO).to_le_bytes()),
    }
}

fn tell(answer: &impl Serialize, line: &mut SocketChannel) -> io::Result<()> {
    line.say(OPEN, b"")?;
    line.say_all(PART, &serde_json::to_vec(answer)?)
}

fn list(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)?.take(MOST_NAMES) {
        names.extend(entry?.file_name().into_string());
    }
    Ok(names)
}

fn read(path: &Path, line: &mut SocketChannel) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::Error::from_raw_os_error(nix::libc::EISDIR));
    }
    if !metadata.is_file() {
        line.say(WAITING, b"")?;
    }
    let mut file = File::open(path)?;
    line.say(OPEN, b"")?;
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(()),
            count => line.say(PART, piece.get(..count).unwrap_or_default())?,
        }
    }
}
