//! Messages over a socket: each is its length, and as much JSON.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bounds::MOUNT_TABLE;

/// The longest message in bytes: an answer with a mount table, of which every byte takes several.
const LONGEST: usize = 4 * MOUNT_TABLE;

/// Why there is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecvError {
    /// The other side is gone, or says what it should not.
    #[error("the other side is gone")]
    Closed,
    #[error("no message in time")]
    Timeout,
}

impl From<RecvError> for io::Error {
    fn from(error: RecvError) -> Self {
        Self::other(error)
    }
}

/// One end of the socket between a subprocess and us.
pub struct Channel {
    socket: UnixStream,
    /// Received bytes that are no complete message yet.
    received: Vec<u8>,
}

impl Channel {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self { socket, received: Vec::new() }
    }

    /// Both ends.
    #[cfg(test)]
    pub fn pair() -> (Self, Self) {
        let (one, other) = UnixStream::pair().unwrap();
        (Self::new(one), Self::new(other))
    }

    /// The end of a subprocess, which is its standard output.
    pub fn home() -> io::Result<Self> {
        Ok(Self::new(UnixStream::from(io::stdout().as_fd().try_clone_to_owned()?)))
    }

    pub(super) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket.shutdown(how)
    }

    /// Ends this process when the other side is gone. For one that receives nothing more.
    pub fn exit_when_closed(&self) -> io::Result<()> {
        let mut socket = self.socket.try_clone()?;
        let wait = move || {
            let _ = socket.read(&mut [0]);
            std::process::exit(1);
        };
        std::thread::Builder::new().spawn(wait).map(drop)
    }

    /// Sends a message; an error when the other side is gone or does not take it in time.
    pub fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.socket.write_all(&[&length.to_le_bytes()[..], &text].concat())
    }

    /// The next message; without a timeout it blocks.
    pub fn recv<T: DeserializeOwned>(&mut self, timeout: Option<Duration>) -> Result<T, RecvError> {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let mut piece = vec![0; 64 << 10];
        loop {
            if let Some(message) = self.complete()? {
                return Ok(message);
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(RecvError::Timeout);
            }
            self.socket.set_read_timeout(left).map_err(|_| RecvError::Closed)?;
            match self.socket.read(&mut piece) {
                Ok(0) => return Err(RecvError::Closed),
                Ok(count) => self.received.extend_from_slice(piece.get(..count).unwrap_or_default()),
                Err(e) if matches!(e.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                Err(_) => return Err(RecvError::Closed),
            }
        }
    }

    /// A complete message among the received bytes.
    fn complete<T: DeserializeOwned>(&mut self) -> Result<Option<T>, RecvError> {
        let Some((length, rest)) = self.received.split_first_chunk() else { return Ok(None) };
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > LONGEST {
            return Err(RecvError::Closed);
        }
        let Some(text) = rest.get(..length) else { return Ok(None) };
        let message = serde_json::from_slice(text).map_err(|_| RecvError::Closed)?;
        self.received.drain(..size_of::<u32>() + length);
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::deadline::ThreadInTime as _;
    use crate::subprocess::Bytes;

    proptest! {
        #[test]
        fn messages_arrive_as_they_were_sent(bytes: Vec<u8>, refusal: String) {
            let (mut one, mut other) = Channel::pair();
            let (bytes, refusal) = (Ok::<_, String>(Bytes(bytes)), Err::<Bytes, _>(refusal));
            one.send(&bytes).unwrap();
            one.send(&refusal).unwrap();
            prop_assert_eq!(other.recv(None), Ok(bytes));
            prop_assert_eq!(other.recv(None), Ok(refusal));
        }

        #[test]
        fn garbage_does_no_harm(bytes: Vec<u8>) {
            let (mut one, mut other) = Channel::pair();
            one.socket.write_all(&bytes).unwrap();
            drop(one);
            while other.recv::<Bytes>(None).is_ok() {}
        }
    }

    #[test]
    fn a_long_message_arrives_in_pieces() {
        let (mut one, mut other) = Channel::pair();
        let long = Bytes(vec![0xe9; 3 << 20]);
        let sent = long.clone();
        let sender = std::thread::spawn(move || one.send(&sent).unwrap());
        assert!(other.recv::<Bytes>(None).unwrap() == long);
        sender.join_in_time();
        assert_eq!(other.recv::<Bytes>(None), Err(RecvError::Closed));
    }

    #[test]
    fn waiting_ends_at_the_deadline_and_nonsense_at_once() {
        let (mut one, mut other) = Channel::pair();
        assert_eq!(other.recv::<()>(Some(Duration::from_millis(1))), Err(RecvError::Timeout));
        one.send(&"no number").unwrap();
        assert_eq!(other.recv::<u64>(None), Err(RecvError::Closed));
        let (mut one, mut other) = Channel::pair();
        one.socket.write_all(b"\xff\xff\xff\xff").unwrap();
        assert_eq!(other.recv::<()>(None), Err(RecvError::Closed));
        assert!(other.received.len() == 4, "nothing is made room for");
    }
}
