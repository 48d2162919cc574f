//! Conversations with database servers over their Unix sockets.
//!
//! The client defines all messages to the server; no reply can cause any other message. Connecting
//! can block indefinitely, so the conversation runs in the expendable child.

use std::io::{self, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerCredentials;

use crate::host::{HostError, HostErrorKind, HostResult};

const DEADLINE: Duration = Duration::from_secs(2);

pub const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// The largest answer that a client may collect, in bytes. It has room for all settings and the
/// maximum number of overrides, with the longest names.
const MAX_ANSWER_BYTES: usize = 128 << 10;

#[derive(Debug, PartialEq, Eq)]
pub enum ProtocolAction {
    Recv,
    Send(Vec<u8>),
    /// The answer is complete. The client sends `farewell` before it disconnects; otherwise the
    /// server would log a lost connection.
    Done {
        answer: Vec<u8>,
        farewell: Vec<u8>,
    },
}

/// The client's side of a server's protocol.
pub trait ProtocolClient {
    /// Bytes that precede the body of each message.
    const HEADER_BYTES: usize;

    /// Reason to end the conversation after a malformed header.
    const WRONG_SERVER: &str;

    /// Kind or number of a message, and the length of its body. `None` if the header is malformed.
    fn parse_header(header: &[u8]) -> Option<(u8, usize)>;

    /// The client's first message; empty if the server sends first.
    fn first_message(&self) -> Vec<u8>;

    fn handle_message(&mut self, kind: u8, body: &[u8]) -> Result<ProtocolAction, HostError>;

    fn queries(&mut self) -> &mut impl QuerySequence;
}

/// Queries that a client sends one after another.
pub trait QuerySequence {
    /// `None` after the last query. `major` is the release of PostgreSQL.
    fn next_query(&mut self, major: u64) -> Result<Option<String>, HostError>;

    fn receive_row(&mut self, row: &[&[u8]]) -> Result<(), HostError>;

    /// Returning an error ends the conversation.
    fn receive_query_error(&mut self, error: HostError) -> Result<(), HostError> {
        Err(error)
    }

    fn take_answer(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Time limit for the conversation, without connecting.
    fn time_limit(&self) -> Duration {
        DEADLINE
    }
}

/// The queries for settings. The first one must succeed; later ones may be refused or late.
pub struct SettingsQueries {
    /// The query with this number, for this major release.
    pub query: fn(usize, u64) -> Option<String>,
    pub format_row: fn(&[&[u8]]) -> String,
    pub join_results: fn(&[Option<String>]) -> String,
    /// The result of each query that was sent; `None` if the server refused it.
    pub results: Vec<Option<String>>,
}

impl QuerySequence for SettingsQueries {
    fn next_query(&mut self, major: u64) -> Result<Option<String>, HostError> {
        let query = (self.query)(self.results.len(), major);
        self.results
            .extend(query.is_some().then(|| Some(String::new())));
        Ok(query)
    }

    fn receive_row(&mut self, row: &[&[u8]]) -> Result<(), HostError> {
        let result = self.results.last_mut().ok_or_else(malformed_answer_error)?;
        if let Some(result) = result {
            result.push_str(&(self.format_row)(row));
        }
        let size: usize = self.results.iter().flatten().map(String::len).sum();
        if size > MAX_ANSWER_BYTES {
            return Err(malformed_answer_error());
        }
        Ok(())
    }

    fn receive_query_error(&mut self, error: HostError) -> Result<(), HostError> {
        match self.results.as_mut_slice() {
            [_, .., last] => *last = None,
            _ => return Err(error),
        }
        Ok(())
    }

    fn take_answer(&mut self) -> Vec<u8> {
        (self.join_results)(&std::mem::take(&mut self.results)).into_bytes()
    }
}

pub fn malformed_answer_error() -> HostError {
    HostError::failed("the server's answer is malformed")
}

pub fn connect(socket: &Path) -> Result<UnixStream, HostError> {
    UnixStream::connect(socket).map_err(|e| match e.kind() {
        io::ErrorKind::ConnectionRefused => {
            HostError::new(HostErrorKind::Absent, "no server is listening there")
        }
        _ => e.into(),
    })
}

/// The peer's user id must be `server`. It is checked before any byte is exchanged, because the
/// socket that one user names can belong to another user.
pub fn run_protocol(
    stream: &UnixStream,
    ours: &mut impl ProtocolClient,
    server: u32,
) -> HostResult {
    let peer = getsockopt(stream, PeerCredentials)?;
    if peer.uid() != server {
        let says = format!(
            "a process of user {} listens there, but the server runs as user {server}",
            peer.uid()
        );
        return Err(HostError::denied(says));
    }
    let deadline = Instant::now() + ours.queries().time_limit();
    match exchange_messages(stream, ours, deadline) {
        Err(late) if late.kind == HostErrorKind::TimedOut => {
            ours.queries().receive_query_error(late)?;
            Ok(ours.queries().take_answer())
        }
        answer => answer,
    }
}

/// Reads until a deadline.
struct DeadlineReader<'s> {
    stream: &'s UnixStream,
    deadline: Instant,
}

impl Read for DeadlineReader<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(bytes)
    }
}

fn exchange_messages<C: ProtocolClient>(
    mut stream: &UnixStream,
    ours: &mut C,
    deadline: Instant,
) -> HostResult {
    let failed = |e: io::Error| match e.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            HostError::new(HostErrorKind::TimedOut, "the server did not answer in time")
        }
        io::ErrorKind::UnexpectedEof => HostError::failed("the server closed the connection"),
        _ => e.into(),
    };
    stream.set_write_timeout(Some(DEADLINE)).map_err(failed)?;
    stream.write_all(&ours.first_message()).map_err(failed)?;
    let mut reader = BufReader::new(DeadlineReader { stream, deadline });
    loop {
        let mut header = vec![0; C::HEADER_BYTES];
        reader.read_exact(&mut header).map_err(failed)?;
        let (kind, length) = C::parse_header(&header)
            .filter(|(_, length)| *length <= MAX_MESSAGE_BYTES)
            .ok_or_else(|| HostError::failed(C::WRONG_SERVER))?;
        let mut body = vec![0; length];
        reader.read_exact(&mut body).map_err(failed)?;
        match ours.handle_message(kind, &body)? {
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
pub mod tests {
    use super::*;
    use crate::deadline::ThreadInTime as _;
    use crate::host::live::mysql;

    /// What a client does after each complete message of `said`, except for waiting.
    pub fn actions_after<C: ProtocolClient>(
        ours: &mut C,
        mut said: &[u8],
    ) -> Result<Vec<ProtocolAction>, HostError> {
        let mut actions = Vec::new();
        while let Some((header, rest)) = said.split_at_checked(C::HEADER_BYTES) {
            let (kind, length) = C::parse_header(header)
                .filter(|(_, length)| *length <= MAX_MESSAGE_BYTES)
                .ok_or_else(|| HostError::failed(C::WRONG_SERVER))?;
            let Some((body, rest)) = rest.split_at_checked(length) else {
                break;
            };
            match ours.handle_message(kind, body)? {
                ProtocolAction::Recv => {}
                action => actions.push(action),
            }
            said = rest;
        }
        Ok(actions)
    }

    #[test]
    fn silent_server_times_out() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let deadline = Instant::now() + Duration::from_millis(20);
        let miss = exchange_messages(&ours, &mut mysql::tests::new_client(), deadline).unwrap_err();
        assert_eq!(miss.kind, HostErrorKind::TimedOut);
    }

    #[test]
    fn closed_connection_is_an_error() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        let deadline = Instant::now() + DEADLINE;
        let miss = exchange_messages(&ours, &mut mysql::tests::new_client(), deadline).unwrap_err();
        assert_eq!(miss.detail, "the server closed the connection");
    }

    /// A server may send its messages in any pieces.
    #[test]
    fn messages_that_arrive_byte_by_byte_are_read() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let refusal = b"\x0b\0\0\0\xff\x15\x04#28000no";
        let server = std::thread::spawn(move || {
            for byte in refusal {
                theirs.write_all(&[*byte]).unwrap();
            }
            theirs
        });
        let deadline = Instant::now() + DEADLINE;
        let miss = exchange_messages(&ours, &mut mysql::tests::new_client(), deadline).unwrap_err();
        assert_eq!(miss, HostError::denied("no"));
        drop(server.join_in_time());
    }

    #[test]
    fn a_late_query_loses_only_its_own_result() {
        let late = || HostError::new(HostErrorKind::TimedOut, "late");
        let mut queries = SettingsQueries {
            query: |number, _| (number < 3).then(|| number.to_string()),
            format_row: |row| String::from_utf8_lossy(row[0]).into_owned(),
            join_results: |results| format!("{results:?}"),
            results: Vec::new(),
        };
        assert!(queries.receive_row(&[b"early"]).is_err());
        assert!(queries.receive_query_error(late()).is_err());
        for row in [&b"a"[..], b"b"] {
            queries.next_query(0).unwrap();
            queries.receive_row(&[row]).unwrap();
        }
        queries.receive_query_error(late()).unwrap();
        queries.receive_row(&[b"after the refusal"]).unwrap();
        assert_eq!(queries.take_answer(), br#"[Some("a"), None]"#);
    }
}
