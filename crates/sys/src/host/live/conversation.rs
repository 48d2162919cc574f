//! A conversation with a database server over its Unix socket: bytes in both directions until there
//! is an answer, within a deadline.
//!
//! The messages are left to the protocols in [`super::postgres`] and [`super::mysql`]. Nothing that
//! is sent is chosen by the server. Connecting itself can block indefinitely, so all of this runs
//! in the expendable child.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerCredentials;

use super::files;
use crate::host::{Miss, MissKind};

/// The time for the whole conversation.
const DEADLINE: Duration = Duration::from_secs(2);

/// The largest message or answer accepted, in bytes.
pub const LARGEST: usize = 1 << 20;

/// The largest answer that is passed on, in bytes: all settings, and as many overrides as are read,
/// with names of the longest kind.
pub const LARGEST_ANSWER: usize = 128 << 10;

#[derive(Debug, PartialEq, Eq)]
pub enum ProtocolAction {
    Listen,
    Say(Vec<u8>),
    /// There is an answer; send the farewell, since the server logs a lost connection.
    Done {
        answer: Vec<u8>,
        farewell: Vec<u8>,
    },
}

/// Our side of a conversation.
pub trait Conversation {
    /// The first message, which may be empty.
    fn opening(&self) -> Vec<u8>;

    /// Bytes received that do not make up a message yet.
    fn heard(&mut self) -> &mut Vec<u8>;

    /// The first message, when all of it is there: its kind or number, its body, and what follows
    /// it.
    fn split(bytes: &[u8]) -> Result<Option<WireFrame<'_>>, Miss>;

    fn message(&mut self, kind: u8, body: &[u8]) -> Result<ProtocolAction, Miss>;

    /// Handles bytes from the server, however they are split.
    fn hear(&mut self, bytes: &[u8]) -> Result<ProtocolAction, Miss> {
        self.heard().extend_from_slice(bytes);
        let heard = std::mem::take(self.heard());
        let mut rest = heard.as_slice();
        let mut next = ProtocolAction::Listen;
        while next == ProtocolAction::Listen
            && let Some((kind, body, behind)) = Self::split(rest)?
        {
            rest = behind;
            next = self.message(kind, body)?;
        }
        *self.heard() = rest.to_vec();
        Ok(next)
    }
}

/// Kind or number, body, and what follows.
pub type WireFrame<'a> = (u8, &'a [u8], &'a [u8]);

/// Talks to the server behind a socket; with `server`, the peer must be that user's.
pub fn with(
    socket: &Path,
    ours: &mut impl Conversation,
    server: Option<u32>,
) -> Result<Vec<u8>, Miss> {
    let stream = UnixStream::connect(socket).map_err(|e| match e.kind() {
        io::ErrorKind::ConnectionRefused => Miss::new(MissKind::Absent, "no server listens there"),
        _ => files::miss(&e),
    })?;
    over(stream, ours, server)
}

/// Talks over a connection. The peer's user is checked before any byte is exchanged, because the
/// socket that one user names can be another's.
pub fn over(
    stream: UnixStream,
    ours: &mut impl Conversation,
    server: Option<u32>,
) -> Result<Vec<u8>, Miss> {
    if let Some(uid) = server {
        let peer = getsockopt(&stream, PeerCredentials).map_err(|e| files::miss(&e.into()))?;
        if peer.uid() != uid {
            let says = format!(
                "a process of user {} listens there, and the server is one of user {uid}",
                peer.uid()
            );
            return Err(Miss::new(MissKind::Denied, says));
        }
    }
    hold(stream, ours, Instant::now() + DEADLINE)
}

fn hold(
    mut stream: UnixStream,
    ours: &mut impl Conversation,
    deadline: Instant,
) -> Result<Vec<u8>, Miss> {
    let late = || Miss::new(MissKind::TimedOut, "the server did not answer in time");
    let failed = |e: io::Error| match e.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => late(),
        _ => files::miss(&e),
    };
    stream.set_write_timeout(Some(DEADLINE)).map_err(failed)?;
    stream.write_all(&ours.opening()).map_err(failed)?;
    let mut piece = vec![0; 16 << 10];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(late());
        }
        stream.set_read_timeout(Some(left)).map_err(failed)?;
        let count = match stream.read(&mut piece) {
            Ok(0) => {
                return Err(Miss::new(
                    MissKind::Failed,
                    "the server ended the conversation",
                ));
            }
            Ok(count) => count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(failed(e)),
        };
        match ours.hear(piece.get(..count).unwrap_or_default())? {
            ProtocolAction::Listen => {}
            ProtocolAction::Say(words) => stream.write_all(&words).map_err(failed)?,
            ProtocolAction::Done { answer, farewell } => {
                // A courtesy: the server would log a lost connection otherwise.
                let _ = stream.write_all(&farewell);
                return Ok(answer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Mute(Vec<u8>);

    impl Conversation for Mute {
        fn opening(&self) -> Vec<u8> {
            Vec::new()
        }

        fn heard(&mut self) -> &mut Vec<u8> {
            &mut self.0
        }

        fn split(_: &[u8]) -> Result<Option<WireFrame<'_>>, Miss> {
            Ok(None)
        }

        fn message(&mut self, _: u8, _: &[u8]) -> Result<ProtocolAction, Miss> {
            Ok(ProtocolAction::Listen)
        }
    }

    #[test]
    fn a_silent_server_is_given_up() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let miss = hold(
            ours,
            &mut Mute::default(),
            Instant::now() + Duration::from_millis(20),
        )
        .unwrap_err();
        assert_eq!(miss.kind, MissKind::TimedOut);
    }

    #[test]
    fn a_server_that_hangs_up_is_no_answer() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        assert!(hold(ours, &mut Mute::default(), Instant::now() + DEADLINE).is_err());
    }
}
