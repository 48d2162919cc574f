//! A conversation with a database server over its Unix socket, within a deadline.
//!
//! [`super::postgres`] and [`super::mysql`] define all messages to the server; no reply of the
//! server can cause any other message. Connecting can block indefinitely, so the conversation runs
//! in the expendable child.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerCredentials;

use super::files;
use crate::host::{HostError, HostErrorKind};

const DEADLINE: Duration = Duration::from_secs(2);

pub const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// The largest answer that a client may collect, in bytes. It has room for all settings and the
/// maximum number of overrides, with the longest names.
pub const MAX_ANSWER_BYTES: usize = 128 << 10;

#[derive(Debug, PartialEq, Eq)]
pub enum ProtocolAction {
    Recv,
    Send(Vec<u8>),
    /// The answer is complete. The client sends `farewell` before it disconnects, or the server
    /// would log a lost connection.
    Done {
        answer: Vec<u8>,
        farewell: Vec<u8>,
    },
}

pub trait ProtocolClient {
    /// Returns the first message to the server; empty if the server sends first.
    fn first_message(&self) -> Vec<u8>;

    /// Returns the buffer of received bytes that do not form a complete message yet.
    fn recv_buffer(&mut self) -> &mut Vec<u8>;

    /// Splits the first complete message from `bytes`; `None` if the message is incomplete.
    fn split_frame(bytes: &[u8]) -> Result<Option<WireFrame<'_>>, HostError>;

    fn handle_message(&mut self, kind: u8, body: &[u8]) -> Result<ProtocolAction, HostError>;

    /// Returns what the server has answered so far, if it has reported all settings and only later
    /// queries are missing.
    fn partial_answer(&mut self) -> Option<Vec<u8>> {
        None
    }

    fn handle_bytes(&mut self, bytes: &[u8]) -> Result<ProtocolAction, HostError> {
        self.recv_buffer().extend_from_slice(bytes);
        let heard = std::mem::take(self.recv_buffer());
        let mut rest = heard.as_slice();
        let mut next = ProtocolAction::Recv;
        while next == ProtocolAction::Recv
            && let Some((kind, body, behind)) = Self::split_frame(rest)?
        {
            rest = behind;
            next = self.handle_message(kind, body)?;
        }
        *self.recv_buffer() = rest.to_vec();
        Ok(next)
    }
}

/// Kind or number of a message, its body, and the received bytes after the message.
pub type WireFrame<'a> = (u8, &'a [u8], &'a [u8]);

/// Connects to a socket and runs the protocol. With `server`, the process that listens on the
/// socket must run as that user id.
pub fn connect_and_run(
    socket: &Path,
    ours: &mut impl ProtocolClient,
    server: Option<u32>,
) -> Result<Vec<u8>, HostError> {
    let stream = UnixStream::connect(socket).map_err(|e| match e.kind() {
        io::ErrorKind::ConnectionRefused => {
            HostError::new(HostErrorKind::Absent, "no server is listening there")
        }
        _ => files::host_error(&e),
    })?;
    run_protocol(stream, ours, server)
}

/// Runs the protocol over a connection. With `server`, the peer's user id is checked before any
/// byte is exchanged, because the socket that one user names can belong to another user.
pub fn run_protocol(
    stream: UnixStream,
    ours: &mut impl ProtocolClient,
    server: Option<u32>,
) -> Result<Vec<u8>, HostError> {
    if let Some(uid) = server {
        let peer =
            getsockopt(&stream, PeerCredentials).map_err(|e| files::host_error(&e.into()))?;
        if peer.uid() != uid {
            let says = format!(
                "a process of user {} listens there, but the server runs as user {uid}",
                peer.uid()
            );
            return Err(HostError::new(HostErrorKind::Denied, says));
        }
    }
    match exchange_messages(stream, ours, Instant::now() + DEADLINE) {
        Err(miss) if miss.kind == HostErrorKind::TimedOut => ours.partial_answer().ok_or(miss),
        answer => answer,
    }
}

fn exchange_messages(
    mut stream: UnixStream,
    ours: &mut impl ProtocolClient,
    deadline: Instant,
) -> Result<Vec<u8>, HostError> {
    let late = || HostError::new(HostErrorKind::TimedOut, "the server did not answer in time");
    let failed = |e: io::Error| match e.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => late(),
        _ => files::host_error(&e),
    };
    stream.set_write_timeout(Some(DEADLINE)).map_err(failed)?;
    stream.write_all(&ours.first_message()).map_err(failed)?;
    let mut piece = vec![0; 16 << 10];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(late());
        }
        stream.set_read_timeout(Some(left)).map_err(failed)?;
        let count = match stream.read(&mut piece) {
            Ok(0) => {
                return Err(HostError::new(
                    HostErrorKind::Failed,
                    "the server closed the connection",
                ));
            }
            Ok(count) => count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(failed(e)),
        };
        match ours.handle_bytes(piece.get(..count).unwrap_or_default())? {
            ProtocolAction::Recv => {}
            ProtocolAction::Send(words) => stream.write_all(&words).map_err(failed)?,
            ProtocolAction::Done { answer, farewell } => {
                // The answer is complete, so an error while sending the farewell is ignored.
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

    impl ProtocolClient for Mute {
        fn first_message(&self) -> Vec<u8> {
            Vec::new()
        }

        fn recv_buffer(&mut self) -> &mut Vec<u8> {
            &mut self.0
        }

        fn split_frame(_: &[u8]) -> Result<Option<WireFrame<'_>>, HostError> {
            Ok(None)
        }

        fn handle_message(&mut self, _: u8, _: &[u8]) -> Result<ProtocolAction, HostError> {
            Ok(ProtocolAction::Recv)
        }
    }

    #[test]
    fn a_silent_server_is_given_up() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let miss = exchange_messages(
            ours,
            &mut Mute::default(),
            Instant::now() + Duration::from_millis(20),
        )
        .unwrap_err();
        assert_eq!(miss.kind, HostErrorKind::TimedOut);
    }

    #[test]
    fn a_server_that_hangs_up_is_no_answer() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        assert!(exchange_messages(ours, &mut Mute::default(), Instant::now() + DEADLINE).is_err());
    }
}
