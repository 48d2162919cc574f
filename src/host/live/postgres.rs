//! Asks a running PostgreSQL for its storage settings, over its Unix socket, as who this process is: its owner.
//!
//! Just enough of the frontend/backend protocol (the manual's chapter of that name): start up, one simple query, end. The
//! session is read-only from its first packet on. Whatever the server demands beyond trusting us, we do not have: a
//! password is never asked for, looked up or sent. What the server says is as hostile as any file.

use std::path::Path;

use super::conversation::{self, LARGEST, Message, Next};
use super::machine;
use crate::host::{Miss, MissKind, redact};
use crate::text;

/// Name, setting, unit, source, sourcefile and sourceline, a line each.
pub fn settings(socket: &Path, server: Option<u32>) -> Result<Vec<u8>, Miss> {
    let user = machine::user_name(nix::unistd::geteuid().as_raw())?;
    let user = String::from_utf8_lossy(user.trim_ascii()).into_owned();
    conversation::with(socket, &mut Conversation { user, ..Conversation::default() }, server)
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

/// What was heard so far.
#[derive(Default)]
struct Conversation {
    user: String,
    heard: Vec<u8>,
    authenticated: bool,
    asked: bool,
    answer: String,
}

impl conversation::Conversation for Conversation {
    fn opening(&self) -> Vec<u8> {
        startup(&self.user)
    }

    fn heard(&mut self) -> &mut Vec<u8> {
        &mut self.heard
    }

    fn split(bytes: &[u8]) -> Result<Option<Message<'_>>, Miss> {
        let Some((kind, rest)) = bytes.split_first() else { return Ok(None) };
        let Some((length, rest)) = rest.split_first_chunk() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        match length.checked_sub(4).filter(|length| *length <= LARGEST) {
            Some(length) => Ok(rest.split_at_checked(length).map(|(body, behind)| (*kind, body, behind))),
            None => Err(Miss::new(MissKind::Failed, "no PostgreSQL server answers there")),
        }
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
            b'Z' if self.asked => {
                let answer = std::mem::take(&mut self.answer).into_bytes();
                return Ok(Next::Done { answer, farewell: message(b'X', b"") });
            }
            b'Z' if self.authenticated => {
                self.asked = true;
                return Ok(Next::Say(message(b'Q', query().as_bytes())));
            }
            b'Z' | b'D' => return Err(garbled()),
            _ => {}
        }
        Ok(Next::Listen)
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

    use super::conversation::Conversation as _;
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
        let answer = b"fsync\ton\t\tfile\t/a\\x09b\t3\n".to_vec();
        let ask = Next::Say(message(b'Q', query().as_bytes()));
        assert_eq!(steps, [ask, Next::Done { answer, farewell: message(b'X', b"") }]);
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
                    Ok(Next::Done { answer, .. }) => {
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
}
