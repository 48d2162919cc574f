//! Asks a running PostgreSQL for its storage settings, over its Unix socket and as the invoking user.
//!
//! Just enough of the frontend/backend protocol (the manual's chapter of that name): start up, one simple query, end. The
//! session is read-only from its first packet on. Whatever the server demands beyond trusting us, we do not have: a
//! password is never asked for, looked up or sent. What the server says is as hostile as any file.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{files, machine};
use crate::host::{Miss, MissKind, redact};
use crate::text;

/// How long the server may take for everything together.
const DEADLINE: Duration = Duration::from_secs(2);

/// Longer messages and answers are refused.
const LARGEST: usize = 1 << 20;

/// Name, setting, unit, source, sourcefile and sourceline, a line each.
pub fn settings(socket: &Path) -> Result<Vec<u8>, Miss> {
    let user = machine::user_name(nix::unistd::geteuid().as_raw())?;
    let user = String::from_utf8_lossy(user.trim_ascii()).into_owned();
    let stream = UnixStream::connect(socket).map_err(|e| match e.kind() {
        io::ErrorKind::ConnectionRefused => Miss::new(MissKind::Absent, "no server listens there"),
        _ => files::miss(&e),
    })?;
    talk(stream, &user, Instant::now() + DEADLINE)
}

fn talk(mut stream: UnixStream, user: &str, deadline: Instant) -> Result<Vec<u8>, Miss> {
    let late = || Miss::new(MissKind::TimedOut, "the server did not answer in time");
    let failed = |e: io::Error| match e.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => late(),
        _ => files::miss(&e),
    };
    stream.set_write_timeout(Some(DEADLINE)).map_err(failed)?;
    stream.write_all(&startup(user)).map_err(failed)?;
    let mut conversation = Conversation::default();
    let mut piece = vec![0; 16 << 10];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(late());
        }
        stream.set_read_timeout(Some(left)).map_err(failed)?;
        let count = match stream.read(&mut piece) {
            Ok(0) => return Err(Miss::new(MissKind::Failed, "the server ended the conversation")),
            Ok(count) => count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(failed(e)),
        };
        match conversation.hear(piece.get(..count).unwrap_or_default())? {
            Next::Listen => {}
            Next::Ask => stream.write_all(&message(b'Q', query().as_bytes())).map_err(failed)?,
            Next::Done(answer) => {
                // A courtesy: the server would log a lost connection otherwise.
                let _ = stream.write_all(&message(b'X', b""));
                return Ok(answer);
            }
        }
    }
}

/// The first packet: protocol 3.0, who we are, and that we only read.
fn startup(user: &str) -> Vec<u8> {
    const VERSION: u32 = 3 << 16;
    let mut body = VERSION.to_be_bytes().to_vec();
    let parameters = [
        ("user", user),
        ("database", "postgres"),
        ("application_name", "walwise"),
        ("client_encoding", "UTF8"),
        ("default_transaction_read_only", "on"),
        ("statement_timeout", "1500"),
    ];
    for (name, value) in parameters {
        body.extend_from_slice(name.as_bytes());
        body.push(0);
        body.extend_from_slice(value.as_bytes());
        body.push(0);
    }
    body.push(0);
    [&length(&body)[..], &body].concat()
}

fn query() -> String {
    let names: Vec<String> =
        redact::POSTGRES_SETTINGS.iter().chain(&["server_version"]).map(|name| format!("'{name}'")).collect();
    format!(
        "SELECT name, setting, unit, source, sourcefile, sourceline FROM pg_catalog.pg_settings \
         WHERE name IN ({}) ORDER BY name\0",
        names.join(", ")
    )
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &length(body), body].concat()
}

/// The length of a packet, which counts itself.
fn length(body: &[u8]) -> [u8; 4] {
    u32::try_from(body.len() + 4).unwrap_or(u32::MAX).to_be_bytes()
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Listen,
    Ask,
    Done(Vec<u8>),
}

/// What was heard so far.
#[derive(Default)]
struct Conversation {
    heard: Vec<u8>,
    authenticated: bool,
    asked: bool,
    answer: String,
}

impl Conversation {
    /// Takes in what the server sent.
    fn hear(&mut self, bytes: &[u8]) -> Result<Next, Miss> {
        self.heard.extend_from_slice(bytes);
        let heard = std::mem::take(&mut self.heard);
        let mut rest = heard.as_slice();
        while let Some((kind, body, behind)) = split(rest)? {
            rest = behind;
            let next = self.message(kind, body)?;
            if next != Next::Listen {
                self.heard = rest.to_vec();
                return Ok(next);
            }
        }
        self.heard = rest.to_vec();
        Ok(Next::Listen)
    }

    fn message(&mut self, kind: u8, body: &[u8]) -> Result<Next, Miss> {
        let garbled = || Miss::new(MissKind::Failed, "the server's answer is garbled");
        match kind {
            b'R' => match body.first_chunk().copied().map(u32::from_be_bytes) {
                Some(0) => self.authenticated = true,
                Some(_) => {
                    return Err(Miss::new(MissKind::Denied, "the server wants a password or the like"));
                }
                None => return Err(garbled()),
            },
            b'E' => return Err(Miss::new(MissKind::Denied, complaint(body))),
            b'D' if self.asked => {
                let row = row(body).ok_or_else(garbled)?;
                let fields: Vec<String> = row.iter().map(|field| text::safe(field)).collect();
                self.answer.push_str(&fields.join("\t"));
                self.answer.push('\n');
                if self.answer.len() > LARGEST {
                    return Err(garbled());
                }
            }
            b'Z' if self.asked => return Ok(Next::Done(std::mem::take(&mut self.answer).into_bytes())),
            b'Z' if self.authenticated => {
                self.asked = true;
                return Ok(Next::Ask);
            }
            b'Z' | b'D' => return Err(garbled()),
            _ => {}
        }
        Ok(Next::Listen)
    }
}

/// Kind and body of a message, and what follows it.
type Message<'a> = (u8, &'a [u8], &'a [u8]);

/// The first message, once it is there as a whole.
fn split(bytes: &[u8]) -> Result<Option<Message<'_>>, Miss> {
    let Some((kind, rest)) = bytes.split_first() else { return Ok(None) };
    let Some((length, rest)) = rest.split_first_chunk() else { return Ok(None) };
    let length = u32::from_be_bytes(*length) as usize;
    match length.checked_sub(4).filter(|length| *length <= LARGEST) {
        Some(length) => Ok(rest.split_at_checked(length).map(|(body, behind)| (*kind, body, behind))),
        None => Err(Miss::new(MissKind::Failed, "no PostgreSQL server answers there")),
    }
}

/// The fields of a row; NULL is empty.
fn row(body: &[u8]) -> Option<Vec<&[u8]>> {
    let (count, mut rest) = body.split_first_chunk()?;
    let mut fields = Vec::new();
    for _ in 0..u16::from_be_bytes(*count) {
        let (length, behind) = rest.split_first_chunk()?;
        let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0);
        let (field, behind) = behind.split_at_checked(length)?;
        fields.push(field);
        rest = behind;
    }
    Some(fields)
}

/// The primary message of an error.
fn complaint(body: &[u8]) -> String {
    let message = body.split(|b| *b == 0).find_map(|field| field.strip_prefix(b"M"));
    message.map_or_else(|| "the server refuses".to_owned(), text::safe)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ready() -> Vec<u8> {
        [message(b'R', &[0; 4]), message(b'S', b"server_version\x0016\0"), message(b'Z', b"I")].concat()
    }

    fn data(fields: &[Option<&str>]) -> Vec<u8> {
        let mut body = u16::try_from(fields.len()).unwrap().to_be_bytes().to_vec();
        for field in fields {
            let length = field.map_or(-1, |f| i32::try_from(f.len()).unwrap());
            body.extend_from_slice(&length.to_be_bytes());
            body.extend_from_slice(field.unwrap_or_default().as_bytes());
        }
        message(b'D', &body)
    }

    #[test]
    fn a_conversation_in_single_bytes() {
        let mut conversation = Conversation::default();
        let mut steps = Vec::new();
        let rows = [
            data(&[Some("fsync"), Some("on"), None, Some("file"), Some("/a\tb"), Some("3")]),
            message(b'C', b"SELECT 1\0"),
            message(b'Z', b"I"),
        ]
        .concat();
        for byte in [ready(), rows].concat() {
            let next = conversation.hear(&[byte]).unwrap();
            if next != Next::Listen {
                steps.push(next);
            }
        }
        assert_eq!(steps, [Next::Ask, Next::Done(b"fsync\ton\t\tfile\t/a\\x09b\t3\n".to_vec())]);
    }

    #[test]
    fn demands_and_errors_are_denials() {
        let password = message(b'R', &3u32.to_be_bytes());
        assert_eq!(Conversation::default().hear(&password).unwrap_err().kind, MissKind::Denied);
        let error = message(b'E', b"SFATAL\0C28000\0Mrole \"x\x1b\" does not exist\0\0");
        let miss = Conversation::default().hear(&error).unwrap_err();
        assert_eq!(miss, Miss::new(MissKind::Denied, "role \"x\\x1b\" does not exist"));
        assert!(
            Conversation::default().hear(&message(b'Z', b"I")).is_err(),
            "ready without having let us in"
        );
    }

    proptest! {
        #[test]
        fn garbage_does_no_harm(pieces in prop::collection::vec(
            prop_oneof![
                any::<Vec<u8>>(),
                Just(ready()),
                (prop::sample::select(b"RSKZEDTCN".to_vec()), any::<Vec<u8>>()).prop_map(|(k, b)| message(k, &b)),
            ], 0..6)
        ) {
            let mut conversation = Conversation::default();
            for piece in pieces {
                match conversation.hear(&piece) {
                    Ok(Next::Done(answer)) => {
                        let text = String::from_utf8(answer).unwrap();
                        prop_assert!(!text.chars().any(|c| text::is_treacherous(c) && !matches!(c, '\t' | '\n')));
                    }
                    Ok(_) => {}
                    Err(miss) => {
                        prop_assert!(!miss.detail.chars().any(text::is_treacherous));
                        break;
                    }
                }
            }
        }
    }

    #[test]
    fn a_silent_server_is_given_up() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let miss = talk(ours, "me", Instant::now() + Duration::from_millis(20)).unwrap_err();
        assert_eq!(miss.kind, MissKind::TimedOut);
    }
}
