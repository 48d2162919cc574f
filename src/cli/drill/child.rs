//! The child that writes and reads for a drill, so that a signal ends the drill whatever the state of the disk.
//!
//! It does nothing before it is told to, and waits after every commit until that was printed. It is killed when the
//! drill ends, like a power cut would end it, and its files remain.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use clap::ValueEnum;

use crate::cli::CliError;
use crate::cli::args::{DrillMethod, DrillSegments, DrillWrite};
use crate::drill::{Head, StackFingerprint, Survived, survived};
use crate::errand::{self, Errand, PATIENCE, Signals, Silence, SocketChannel};
use crate::host::path_bytes;
use crate::probes::Control;
use crate::probes::drill::{self, DrillDirectory};
use crate::text::{error_words, safe};

/// The hidden argument that makes the program this child.
const ARGUMENT: &str = "__drill";

const WRITE: &str = "write";
const READ: &str = "read";

/// The child's messages: the directory is usable; it is not, and why; the drill failed, and why; the drill has begun; a
/// commit is durable (its number follows); a file was read; the result of reading. Ours: go on.
const READY: u8 = b'r';
const REFUSED: u8 = b'u';
const FAILED: u8 = b'e';
const BEGUN: u8 = b'h';
const COMMIT: u8 = b'a';
const BUSY: u8 = b'b';
const FOUND: u8 = b'f';
const GO: u8 = b'g';

/// The interval between checks for a signal.
const LOOK: Duration = Duration::from_millis(50);

/// The longest time of a commit, or of reading a file; a slower disk cannot be drilled.
const LONGEST: Duration = Duration::from_secs(120);

/// The time for the kernel to release the child.
const LETTING_GO: Duration = Duration::from_secs(1);

/// A writer that waits for its start signal.
pub(super) struct DrillWriter {
    errand: Option<Errand>,
    directory: String,
}

impl DrillWriter {
    /// Starts it; an error when nothing may be written in that directory.
    pub(super) fn start(args: &DrillWrite, head: &Head) -> Result<Self, CliError> {
        let directory = safe(path_bytes(&args.directory));
        let word =
            |value: Option<clap::builder::PossibleValue>| value.map(|value| value.get_name().to_owned());
        let method = word(args.method.to_possible_value()).unwrap_or_default();
        let segments = word(args.segments.to_possible_value()).unwrap_or_default();
        let head = head.to_string();
        let words =
            [WRITE.as_ref(), args.directory.as_os_str(), method.as_ref(), segments.as_ref(), head.as_ref()];
        let mut errand = send(&words)?;
        match errand.line.hear(Some(PATIENCE)) {
            Ok((READY, _)) => Ok(Self { errand: Some(errand), directory }),
            other => Err(ended(other, &directory, PATIENCE)),
        }
    }

    /// Writes until it is cancelled. `tell` is called when it has begun, and after every commit.
    pub(super) fn run(
        &mut self,
        control: &Control,
        tell: &mut dyn FnMut(Option<u64>) -> io::Result<()>,
    ) -> Result<(), CliError> {
        let Some(errand) = &mut self.errand else { return Ok(()) };
        let mut since = Instant::now();
        let mut go_on = true;
        while !control.is_cancelled() {
            if std::mem::take(&mut go_on) {
                // If the child has exited, the next read reports it.
                let _ = errand.line.say(GO, b"");
                since = Instant::now();
            }
            let number = match errand.line.hear(Some(LOOK)) {
                Ok((BEGUN, _)) => None,
                Ok((COMMIT, number)) => Some(u64::from_le_bytes(number.try_into().unwrap_or_default())),
                Err(Silence::Late) if since.elapsed() < LONGEST => continue,
                other => return Err(ended(other, &self.directory, LONGEST)),
            };
            tell(number).map_err(|error| anyhow!("the reader is gone: {}", error_words(&error)))?;
            go_on = true;
        }
        Ok(())
    }

    /// Ends the child.
    pub(super) fn end(&mut self) {
        if let Some(errand) = self.errand.take() {
            errand.end(LETTING_GO);
        }
    }
}

/// The surviving part of a directory's drill. Boot, stack and time are added by the caller.
pub(super) fn read(directory: &Path) -> Result<Survived, CliError> {
    let shown = safe(path_bytes(directory));
    let mut errand = send(&[READ.as_ref(), directory.as_os_str()])?;
    let mut text = Vec::new();
    let mut patience = PATIENCE;
    loop {
        match errand.line.hear(Some(patience)) {
            Ok((READY | BUSY, _)) => patience = LONGEST,
            Ok((FOUND, part)) if part.is_empty() => break,
            Ok((FOUND, part)) => text.extend(part),
            other => {
                let error = ended(other, &shown, patience);
                errand.kill();
                return Err(error);
            }
        }
    }
    errand.done();
    survived(&String::from_utf8_lossy(&text)).map_err(CliError::Usage)
}

fn send(words: &[&OsStr]) -> Result<Errand, CliError> {
    Errand::send(ARGUMENT, words, Signals::Ours).map_err(|error| {
        anyhow!("the child that does the drill did not start: {}", error_words(&error)).into()
    })
}

/// Why no further message arrives.
fn ended(heard: Result<errand::Message, Silence>, directory: &str, patience: Duration) -> CliError {
    match heard {
        Ok((REFUSED, why)) => CliError::Usage(String::from_utf8_lossy(&why).into_owned()),
        Ok((FAILED, why)) => anyhow!("{}", String::from_utf8_lossy(&why)).into(),
        Err(Silence::Late) => {
            anyhow!("{directory}: no answer within {} s; look at dmesg", patience.as_secs()).into()
        }
        Ok(_) | Err(Silence::Ended) => anyhow!("the child that does the drill ended without a word").into(),
    }
}

/// Acts as the child if the arguments (the program's name first) ask for it; `None` if they do not.
pub fn serve(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let words = errand::words(arguments, ARGUMENT)?;
    let Ok(mut line) = SocketChannel::home() else { return Some(ExitCode::FAILURE) };
    let served = match words.as_slice() {
        [what, directory] if what == READ => find(Path::new(directory), &mut line),
        [what, directory, method, segments, head] if what == WRITE => {
            written(Path::new(directory), [method, segments, head], &mut line)
        }
        _ => return Some(ExitCode::FAILURE),
    };
    // If the reader is gone, nobody needs the reason.
    let _ = match served {
        Ok(()) => Ok(()),
        Err(ChildFailure::Refused(why)) => line.say(REFUSED, why.as_bytes()),
        Err(ChildFailure::Failed(why)) => line.say(FAILED, why.as_bytes()),
    };
    Some(ExitCode::SUCCESS)
}

/// Why the child ended.
enum ChildFailure {
    Refused(String),
    Failed(String),
}

fn gone(error: &io::Error) -> ChildFailure {
    ChildFailure::Failed(error_words(error))
}

fn find(directory: &Path, line: &mut SocketChannel) -> Result<(), ChildFailure> {
    let parent = DrillDirectory::to_read(directory).map_err(ChildFailure::Refused)?;
    line.say(READY, b"").map_err(|error| gone(&error))?;
    let (head, pages) =
        drill::read(&parent, &mut || drop(line.say(BUSY, b""))).map_err(ChildFailure::Refused)?;
    let found = Survived {
        head,
        boot: String::new(),
        stack: StackFingerprint::default(),
        pages,
        when: String::new(),
    }
    .to_string();
    let said = line.say_all(FOUND, found.as_bytes()).and_then(|()| line.say(FOUND, b""));
    said.map_err(|error| gone(&error))
}

fn written(directory: &Path, words: [&OsString; 3], line: &mut SocketChannel) -> Result<(), ChildFailure> {
    let unknown = || ChildFailure::Refused("not a drill".to_owned());
    let [method, segments, head] = words.map(|word| word.to_str().unwrap_or_default());
    let method = DrillMethod::from_str(method, false).map_err(|_| unknown())?.method();
    let segments = DrillSegments::from_str(segments, false).map_err(|_| unknown())?.segments();
    let head = Head::parse(head).ok_or_else(unknown)?;
    let parent = DrillDirectory::to_write(directory).map_err(ChildFailure::Refused)?;
    line.say(READY, b"").map_err(|error| gone(&error))?;
    let go_on = |line: &mut SocketChannel| match line.hear(None) {
        Ok((GO, _)) => Ok(true),
        Ok(_) | Err(_) => Err(io::Error::from(io::ErrorKind::BrokenPipe)),
    };
    go_on(line).map_err(|error| gone(&error))?;
    let mut tell = |number: Option<u64>| {
        match number {
            None => line.say(BEGUN, b"")?,
            Some(number) => line.say(COMMIT, &number.to_le_bytes())?,
        }
        go_on(line)
    };
    drill::write(&parent, method, segments, &head, &mut tell)
        .map_err(|error| ChildFailure::Failed(error.to_string()))
}
