//! An errand: work that may never end, done by a process of our own binary that can be left behind.
//!
//! Who touches a file on a dead server cannot be interrupted, nor can its process end; so a child touches it, and we wait
//! for its messages until the deadline. What the work is stands where it is sent from. The surprise: a child that is left
//! alone finds out by its socket, and cleans up by itself whenever the kernel lets go of it; so one that writes is not
//! killed.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long walwise waits for a sign of an errand that looks or reads.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The longest message; what is longer goes in several.
const LONGEST: usize = 1 << 20;

/// What a message begins with: its kind, and the length of what follows.
const HEADER: usize = 5;

/// One message: its kind and what it holds.
pub type Message = (u8, Vec<u8>);

/// Why there is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// The other side is gone, or talks nonsense.
    Ended,
    /// The deadline passed.
    Late,
}

/// Who hears what a terminal sends to us, such as the end of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signals {
    /// The child as well: it leaves nothing behind.
    Shared,
    /// We alone: it is to clean up when we are gone.
    Ours,
}

/// One end of the socket between the two.
pub struct Line {
    socket: UnixStream,
    /// What came and is no whole message yet.
    come: Vec<u8>,
}

impl Line {
    fn new(socket: UnixStream) -> Self {
        Self { socket, come: Vec::new() }
    }

    /// The child's end, which is its standard output.
    pub fn home() -> io::Result<Self> {
        Ok(Self::new(UnixStream::from(io::stdout().as_fd().try_clone_to_owned()?)))
    }

    /// Ends this process when nobody is at home any more. For an errand that hears nothing.
    pub fn end_when_alone(&self) -> io::Result<()> {
        let mut socket = self.socket.try_clone()?;
        std::thread::spawn(move || {
            let _ = socket.read(&mut [0]);
            std::process::exit(1);
        });
        Ok(())
    }

    /// Says something; an error when nobody is there or nobody takes it in time.
    pub fn say(&mut self, kind: u8, what: &[u8]) -> io::Result<()> {
        let length = u32::try_from(what.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let header = [&[kind][..], &length.to_le_bytes()].concat();
        self.socket.write_all(&header)?;
        self.socket.write_all(what)
    }

    /// Says something long: as many messages of a kind as it takes.
    pub fn say_all(&mut self, kind: u8, what: &[u8]) -> io::Result<()> {
        what.chunks(LONGEST).try_for_each(|part| self.say(kind, part))
    }

    /// The next message; without patience it is waited for as long as it takes.
    pub fn hear(&mut self, patience: Option<Duration>) -> Result<Message, Silence> {
        let deadline = patience.map(|patience| Instant::now() + patience);
        let mut piece = vec![0; 64 << 10];
        loop {
            if let Some(message) = self.whole()? {
                return Ok(message);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(Silence::Late);
            }
            self.socket.set_read_timeout(left).map_err(|_| Silence::Ended)?;
            match self.socket.read(&mut piece) {
                Ok(0) => return Err(Silence::Ended),
                Ok(count) => self.come.extend_from_slice(piece.get(..count).unwrap_or_default()),
                Err(e) if matches!(e.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                Err(_) => return Err(Silence::Ended),
            }
        }
    }

    /// A whole message of what came.
    fn whole(&mut self) -> Result<Option<Message>, Silence> {
        let Some(([kind, length @ ..], rest)) = self.come.split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > LONGEST {
            return Err(Silence::Ended);
        }
        let Some(what) = rest.get(..length) else { return Ok(None) };
        let message = (*kind, what.to_vec());
        self.come.drain(..HEADER + length);
        Ok(Some(message))
    }
}

/// An errand that is being done.
pub struct Errand {
    child: Child,
    /// Says and hears.
    pub line: Line,
}

impl Errand {
    /// Sends our own program on one, with these arguments. Its standard input is ours, for that may be what it reads.
    pub fn send(argument: &str, words: &[&OsStr], signals: Signals) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        // Nobody blocks on a child that takes nothing.
        ours.set_write_timeout(Some(PATIENCE))?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(argument).args(words).env_clear().stderr(Stdio::null());
        if signals == Signals::Ours {
            command.process_group(0);
        }
        let child = command.stdout(Stdio::from(OwnedFd::from(theirs))).spawn()?;
        Ok(Self { child, line: Line::new(ours) })
    }

    /// It is done, and said so: it ends at once.
    pub fn done(mut self) {
        let _ = self.line.socket.shutdown(std::net::Shutdown::Both);
        let _ = self.child.wait();
    }

    /// Ends it, and waits so long for the kernel to let go of it.
    pub fn end(mut self, patience: Duration) {
        let _ = self.child.kill();
        while self.line.hear(Some(patience)).is_ok() {}
        let _ = self.child.try_wait();
    }

    /// Ends it, for it leaves nothing behind. It is not waited for.
    pub fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.try_wait();
    }
}

/// The words of an errand, when this process was sent on the one with that argument; the program's name comes first.
pub fn words(mut arguments: impl Iterator<Item = OsString>, argument: &str) -> Option<Vec<OsString>> {
    (arguments.nth(1)? == OsStr::new(argument)).then(|| arguments.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Line, Line) {
        let (one, other) = UnixStream::pair().unwrap();
        (Line::new(one), Line::new(other))
    }

    #[test]
    fn messages_arrive_as_they_were_said() {
        let (mut one, mut other) = pair();
        let long = vec![7; 3 * LONGEST + 1];
        let sent = long.clone();
        let said = std::thread::spawn(move || {
            one.say(b'a', b"").unwrap();
            one.say_all(b'b', &sent).unwrap();
        });
        assert_eq!(other.hear(None), Ok((b'a', Vec::new())));
        let mut come = Vec::new();
        while let Ok((b'b', part)) = other.hear(None) {
            come.extend(part);
        }
        assert!(come == long, "{}", come.len());
        said.join().unwrap();
        assert_eq!(other.hear(None), Err(Silence::Ended));
    }

    #[test]
    fn silence_ends_at_the_deadline_and_nonsense_at_once() {
        let (mut one, mut other) = pair();
        assert_eq!(other.hear(Some(Duration::from_millis(1))), Err(Silence::Late));
        one.socket.write_all(b"a\xff\xff\xff\xff").unwrap();
        assert_eq!(other.hear(None), Err(Silence::Ended));
    }

    #[test]
    fn other_arguments_are_no_errand() {
        let all = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>().into_iter();
        assert_eq!(words(all(&["walwise", "__x", "a"]), "__x"), Some(vec![OsString::from("a")]));
        for other in [&["walwise", "check", "__x"][..], &["walwise"], &[]] {
            assert_eq!(words(all(other), "__x"), None);
        }
    }
}
