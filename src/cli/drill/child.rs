//! The child that writes and reads for a drill, so that a signal ends the drill whatever the state of the disk.
//!
//! It does nothing before it is told to, and waits after every commit until that was printed. It is killed when the
//! drill ends, like a power cut would end it, and its files remain.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use serde::{Deserialize, Serialize};

use crate::cli::CliError;
use crate::cli::args::DrillWrite;
use crate::drill::{Head, StackFingerprint, Survived, survived};
use crate::host::path_bytes;
use crate::measure::Method;
use crate::probes::Control;
use crate::probes::drill::{self, DrillDirectory, Segments};
use crate::subprocess::{Bytes, Channel, PATIENCE, RecvError, Role, Subprocess};
use crate::text::{error_words, safe};

/// What the child is to do in a directory.
#[derive(Serialize, Deserialize)]
enum Request {
    Write(Bytes, Method, Segments, Head),
    Read(Bytes),
}

/// Why the child ended.
#[derive(Serialize, Deserialize)]
enum DrillFailure {
    /// The directory is not usable.
    Refused(String),
    Failed(String),
}

/// The child's messages.
type Reply = Result<News, DrillFailure>;

#[derive(Serialize, Deserialize)]
enum News {
    /// The directory is usable.
    Ready,
    Begun,
    /// The commit of this number is durable.
    Commit(u64),
    /// A file was read.
    Busy,
    /// The result of reading.
    Found(String),
}

/// The interval between checks for a signal.
const LOOK: Duration = Duration::from_millis(50);

/// The longest time of a commit, or of reading a file; a slower disk cannot be drilled.
const LONGEST: Duration = Duration::from_secs(120);

/// The time for the kernel to release the child.
const LETTING_GO: Duration = Duration::from_secs(1);

/// A writer that waits for its start signal.
pub(super) struct DrillWriter {
    child: Option<Subprocess>,
    directory: String,
}

impl DrillWriter {
    /// Starts it; an error when nothing may be written in that directory.
    pub(super) fn start(args: &DrillWrite, head: &Head) -> Result<Self, CliError> {
        let directory = safe(path_bytes(&args.directory));
        let path = Bytes::from(args.directory.as_path());
        let request = Request::Write(path, args.method.method(), args.segments.segments(), head.clone());
        let mut child = spawn(&request)?;
        match child.channel.recv(Some(PATIENCE)) {
            Ok(Ok(News::Ready)) => Ok(Self { child: Some(child), directory }),
            other => Err(ended(other, &directory, PATIENCE)),
        }
    }

    /// Writes until it is cancelled. `tell` is called when it has begun, and after every commit.
    pub(super) fn run(
        &mut self,
        control: &Control,
        tell: &mut dyn FnMut(Option<u64>) -> io::Result<()>,
    ) -> Result<(), CliError> {
        let Some(child) = &mut self.child else { return Ok(()) };
        let mut since = Instant::now();
        let mut go_on = true;
        while !control.is_cancelled() {
            if std::mem::take(&mut go_on) {
                // If the child has exited, the next read reports it.
                let _ = child.channel.send(&());
                since = Instant::now();
            }
            let number = match child.channel.recv(Some(LOOK)) {
                Ok(Ok(News::Begun)) => None,
                Ok(Ok(News::Commit(number))) => Some(number),
                Err(RecvError::Timeout) if since.elapsed() < LONGEST => continue,
                other => return Err(ended(other, &self.directory, LONGEST)),
            };
            tell(number).map_err(|error| anyhow!("the reader is gone: {}", error_words(&error)))?;
            go_on = true;
        }
        Ok(())
    }

    /// Ends the child.
    pub(super) fn end(&mut self) {
        if let Some(child) = self.child.take() {
            child.end(LETTING_GO);
        }
    }
}

/// The surviving part of a directory's drill. Boot, stack and time are added by the caller.
pub(super) fn read(directory: &Path) -> Result<Survived, CliError> {
    let mut child = spawn(&Request::Read(directory.into()))?;
    let mut patience = PATIENCE;
    loop {
        match child.channel.recv(Some(patience)) {
            Ok(Ok(News::Ready | News::Busy)) => patience = LONGEST,
            Ok(Ok(News::Found(text))) => {
                child.wait();
                return survived(&text).map_err(CliError::Usage);
            }
            other => {
                child.kill();
                return Err(ended(other, &safe(path_bytes(directory)), patience));
            }
        }
    }
}

fn spawn(request: &Request) -> Result<Subprocess, CliError> {
    Subprocess::spawn(Role::Drill, request).map_err(|error| {
        anyhow!("the child that does the drill did not start: {}", error_words(&error)).into()
    })
}

/// Why no further message arrives.
fn ended(last: Result<Reply, RecvError>, directory: &str, patience: Duration) -> CliError {
    match last {
        Ok(Err(DrillFailure::Refused(why))) => CliError::Usage(why),
        Ok(Err(DrillFailure::Failed(why))) => anyhow!(why).into(),
        Err(RecvError::Timeout) => {
            anyhow!("{directory}: no answer within {} s; look at dmesg", patience.as_secs()).into()
        }
        Ok(Ok(_)) | Err(RecvError::Closed) => {
            anyhow!("the child that does the drill ended without a word").into()
        }
    }
}

/// Acts as the child.
pub fn serve(mut channel: Channel) -> io::Result<()> {
    let served = match channel.recv(None)? {
        Request::Read(directory) => find(&PathBuf::from(directory), &mut channel),
        Request::Write(directory, method, segments, head) => {
            write(&PathBuf::from(directory), method, segments, &head, &mut channel)
        }
    };
    served.or_else(|failure| channel.send(&Reply::Err(failure)))
}

fn tell(channel: &mut Channel, news: News) -> Result<(), DrillFailure> {
    channel.send(&Reply::Ok(news)).map_err(|error| DrillFailure::Failed(error_words(&error)))
}

fn find(directory: &Path, channel: &mut Channel) -> Result<(), DrillFailure> {
    let parent = DrillDirectory::to_read(directory).map_err(DrillFailure::Refused)?;
    tell(channel, News::Ready)?;
    let mut is_busy = || drop(tell(channel, News::Busy));
    let (head, pages) = drill::read(&parent, &mut is_busy).map_err(DrillFailure::Refused)?;
    let found = Survived {
        head,
        boot: String::new(),
        stack: StackFingerprint::default(),
        pages,
        when: String::new(),
    };
    tell(channel, News::Found(found.to_string()))
}

fn write(
    directory: &Path,
    method: Method,
    segments: Segments,
    head: &Head,
    channel: &mut Channel,
) -> Result<(), DrillFailure> {
    let parent = DrillDirectory::to_write(directory).map_err(DrillFailure::Refused)?;
    tell(channel, News::Ready)?;
    channel.recv::<()>(None).map_err(|error| DrillFailure::Failed(error.to_string()))?;
    let mut acknowledge = |number: Option<u64>| {
        channel.send(&Reply::Ok(number.map_or(News::Begun, News::Commit)))?;
        channel.recv::<()>(None)?;
        Ok(true)
    };
    drill::write(&parent, method, segments, head, &mut acknowledge)
        .map_err(|error| DrillFailure::Failed(error.to_string()))
}
