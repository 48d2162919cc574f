//! An errand: potentially endless work, done by a process of our own binary that can be abandoned.
//!
//! A process that touches a file on a dead server can neither be interrupted nor exit. A child touches it instead, and
//! we wait for its messages until the deadline. The work itself is defined by the sender. An abandoned child learns of
//! it through its socket, and cleans up as soon as the kernel releases it; a child that writes is therefore not killed.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The time that walwise waits for a message of an errand that looks or reads.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The longest message in bytes; a longer text is sent in several.
const LONGEST: usize = 1 << 20;

/// The size of a message's header in bytes: its kind, and the length of its contents.
const HEADER: usize = 5;

/// One message: its kind and its contents.
pub type Message = (u8, Vec<u8>);

/// Why there is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// The other side is gone, or violates the protocol.
    Ended,
    Late,
}

/// The receivers of a terminal's signals, such as a hangup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signals {
    /// The child as well, since it leaves nothing behind.
    Shared,
    /// Only we: the child has to clean up when we are gone.
    Ours,
}

/// One end of the socket between the two.
pub struct SocketChannel {
    socket: UnixStream,
    /// Received bytes that are no complete message yet.
    come: Vec<u8>,
}

impl SocketChannel {
    fn new(socket: UnixStream) -> Self {
        Self { socket, come: Vec::new() }
    }

    /// The child's end, which is its standard output.
    pub fn home() -> io::Result<Self> {
        Ok(Self::new(UnixStream::from(io::stdout().as_fd().try_clone_to_owned()?)))
    }

    /// Ends this process when the other side is gone. For an errand that receives nothing.
    pub fn end_when_alone(&self) -> io::Result<()> {
        let mut socket = self.socket.try_clone()?;
        let wait = move || {
            let _ = socket.read(&mut [0]);
            std::process::exit(1);
        };
        std::thread::Builder::new().spawn(wait).map(|_| ())
    }

    /// Sends a message; an error when the other side is gone or does not take it in time.
    pub fn say(&mut self, kind: u8, what: &[u8]) -> io::Result<()> {
        let length = u32::try_from(what.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let header = [&[kind][..], &length.to_le_bytes()].concat();
        self.socket.write_all(&header)?;
        self.socket.write_all(what)
    }

    /// Sends a long text in as many messages of a kind as needed.
    pub fn say_all(&mut self, kind: u8, what: &[u8]) -> io::Result<()> {
        what.chunks(LONGEST).try_for_each(|part| self.say(kind, part))
    }

    /// The next message; without `patience` it blocks.
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

    /// A complete message among the received bytes.
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

pub struct Errand {
    child: Child,
    pub line: SocketChannel,
}

impl Errand {
    /// Starts our own program on an errand, with these arguments. It inherits our standard input, which it may have to
    /// read.
    pub fn send(argument: &str, words: &[&OsStr], signals: Signals) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        // A child that does not read must not block us.
        ours.set_write_timeout(Some(PATIENCE))?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(argument).args(words).env_clear().stderr(Stdio::null());
        if signals == Signals::Ours {
            command.process_group(0);
        }
        let child = command.stdout(Stdio::from(OwnedFd::from(theirs))).spawn()?;
        Ok(Self { child, line: SocketChannel::new(ours) })
    }

    /// Ends an errand that has reported its completion.
    pub fn done(mut self) {
        let _ = self.line.socket.shutdown(std::net::Shutdown::Both);
        let _ = self.child.wait();
    }

    /// Whether the child has ended, though others may still hold its end of the line.
    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Kills it, tells whoever else holds its end of the line, and waits at most this long for each further message until
    /// all are gone.
    pub fn end(mut self, patience: Duration) {
        let _ = self.child.kill();
        let _ = self.line.socket.shutdown(std::net::Shutdown::Write);
        while self.line.hear(Some(patience)).is_ok() {}
        let _ = self.child.try_wait();
    }

    /// Tells an errand that nobody orders anything any more, and hears what it still says until it ends; at most this long for
    /// each message.
    pub fn close(mut self, patience: Duration, mut hears: impl FnMut(Message)) {
        let _ = self.line.socket.shutdown(std::net::Shutdown::Write);
        while let Ok(message) = self.line.hear(Some(patience)) {
            hears(message);
        }
        let _ = self.child.kill();
        let _ = self.child.try_wait();
    }

    /// Kills an errand that leaves nothing behind, without waiting.
    pub fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.try_wait();
    }
}

/// The arguments of an errand, when this process was started for the one named `argument`; the program's name comes
/// first.
pub fn words(mut arguments: impl Iterator<Item = OsString>, argument: &str) -> Option<Vec<OsString>> {
    (arguments.nth(1)? == OsStr::new(argument)).then(|| arguments.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deadline::ThreadInTime as _;

    fn pair() -> (SocketChannel, SocketChannel) {
        let (one, other) = UnixStream::pair().unwrap();
        (SocketChannel::new(one), SocketChannel::new(other))
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
        said.join_in_time();
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
