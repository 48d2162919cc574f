//! Asks a running MySQL or MariaDB for its storage settings, over its Unix socket, as the invoking
//! user.
//!
//! It implements the minimum of the client/server protocol (MySQL's and MariaDB's manuals have a
//! chapter of that name): greeting, log in, two SHOW, end. No password is sent, and the server
//! cannot request the contents of a file (CLIENT_LOCAL_FILES is not offered). The socket itself
//! authenticates us (plugins unix_socket and auth_socket). The server speaks first, and may then
//! ask for another authentication method, to which the answer is empty too.

use std::os::unix::net::UnixStream;
use std::path::Path;

use super::conversation::{self, LARGEST, LARGEST_ANSWER, ProtocolAction, WireFrame};
use super::machine;
use crate::host::{Miss, MissKind};
use crate::servers::{self, Area};
use crate::text;

/// Counters of the redo log and the binary log, under the names that servers have for them; each
/// lacks some.
const COUNTERS: [&str; 7] = [
    "Uptime",
    "Innodb_os_log_written",
    "Innodb_checkpoint_age",
    "Innodb_redo_log_logical_size",
    "Innodb_log_waits",
    "Binlog_commits",
    "Binlog_group_commits",
];

/// Name and value, a line each.
pub fn settings(socket: &Path, server: Option<u32>) -> Result<Vec<u8>, Miss> {
    let user = machine::user_name(nix::unistd::geteuid().as_raw())?;
    conversation::with(socket, &mut MysqlClient::new(user.trim_ascii()), server)
}

/// The same over a connection that was made as `user`, to a server of the user `server`.
pub fn settings_over(stream: UnixStream, user: &[u8], server: u32) -> Result<Vec<u8>, Miss> {
    conversation::over(stream, &mut MysqlClient::new(user), Some(server))
}

/// CLIENT_MYSQL (no extensions of MariaDB's), CLIENT_PROTOCOL_41, CLIENT_TRANSACTIONS,
/// CLIENT_SECURE_CONNECTION and CLIENT_PLUGIN_AUTH.
const CAPABILITIES: u32 = 1 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 19;

/// utf8_general_ci, which every version knows.
const UTF8: u8 = 33;

/// The protocol version in the greeting.
const PROTOCOL: u8 = 10;

/// HandshakeResponse41: our user name, and an empty authentication.
fn log_in(user: &[u8]) -> Vec<u8> {
    let largest = u32::try_from(LARGEST).unwrap_or(u32::MAX);
    let fixed = [CAPABILITIES.to_le_bytes(), largest.to_le_bytes()].concat();
    [
        &fixed,
        &[UTF8][..],
        &[0; 23],
        user,
        b"\0",
        b"\0",
        b"mysql_native_password\0",
    ]
    .concat()
}

fn query() -> Vec<u8> {
    // As an option log_bin is a path prefix, as a variable a switch.
    let names = servers::leaving(Area::Mysql).keys().map(String::as_str);
    show("VARIABLES", names.chain(["log_bin_basename", "version"]))
}

fn counters_query() -> Vec<u8> {
    show("STATUS", COUNTERS)
}

/// COM_QUERY with a SHOW for these names.
fn show<'n>(what: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<u8> {
    let names: Vec<String> = names.into_iter().map(|name| format!("'{name}'")).collect();
    format!(
        "\x03SHOW GLOBAL {what} WHERE Variable_name IN ({})",
        names.join(", ")
    )
    .into_bytes()
}

/// A packet: length, number, body.
fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes();
    [&[a, b, c, number], body].concat()
}

/// The next expected message.
#[derive(Clone, Copy, Default)]
enum ProtocolState {
    #[default]
    Greeting,
    /// The result of the log-in; the number counts requests for another authentication.
    Welcome(u8),
    Columns,
    /// A column definition, and how many follow.
    Column(u8),
    Rows,
}

/// The bytes received so far.
#[derive(Default)]
struct MysqlClient {
    user: Vec<u8>,
    heard: Vec<u8>,
    expected: ProtocolState,
    /// Whether the settings have been said, and counters are asked for.
    counting: bool,
    answer: String,
}

impl conversation::Conversation for MysqlClient {
    fn opening(&self) -> Vec<u8> {
        Vec::new()
    }

    fn heard(&mut self) -> &mut Vec<u8> {
        &mut self.heard
    }

    fn split(bytes: &[u8]) -> Result<Option<WireFrame<'_>>, Miss> {
        let Some((&[a, b, c, number], rest)) = bytes.split_first_chunk() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        if length > LARGEST {
            return Err(Miss::new(
                MissKind::Failed,
                "no MySQL or MariaDB answers there",
            ));
        }
        Ok(rest
            .split_at_checked(length)
            .map(|(body, behind)| (number, body, behind)))
    }

    fn message(&mut self, number: u8, body: &[u8]) -> Result<ProtocolAction, Miss> {
        let garbled = || Miss::new(MissKind::Failed, "the server's answer is garbled");
        let say = |body: &[u8]| Ok(ProtocolAction::Say(packet(number.wrapping_add(1), body)));
        let end = body.first() == Some(&0xfe) && body.len() < 9;
        match (self.expected, body) {
            // Whatever it counts or not, its settings are known.
            (_, [0xff, ..]) if self.counting => return Ok(self.done()),
            (_, [0xff, error @ ..]) => return Err(Miss::new(MissKind::Denied, complaint(error))),
            (ProtocolState::Greeting, [PROTOCOL, ..]) => {
                self.expected = ProtocolState::Welcome(0);
                return say(&log_in(&self.user));
            }
            (ProtocolState::Welcome(_), [0, ..]) => {
                self.expected = ProtocolState::Columns;
                return Ok(ProtocolAction::Say(packet(0, &query())));
            }
            // caching_sha2_password: that will do, the welcome follows.
            (ProtocolState::Welcome(_), [1, 3]) => {}
            (ProtocolState::Welcome(0), [0xfe, ..]) => {
                self.expected = ProtocolState::Welcome(1);
                return say(&[]);
            }
            (ProtocolState::Welcome(_), [1 | 0xfe, ..]) => {
                return Err(Miss::new(
                    MissKind::Denied,
                    "the server wants a password or the like",
                ));
            }
            (ProtocolState::Columns, [2]) => self.expected = ProtocolState::Column(2),
            (ProtocolState::Column(0), _) if end => self.expected = ProtocolState::Rows,
            (ProtocolState::Column(more), _) if more > 0 && !end => {
                self.expected = ProtocolState::Column(more - 1);
            }
            (ProtocolState::Rows, _) if end && self.counting => return Ok(self.done()),
            (ProtocolState::Rows, _) if end => {
                self.counting = true;
                self.expected = ProtocolState::Columns;
                return Ok(ProtocolAction::Say(packet(0, &counters_query())));
            }
            (ProtocolState::Rows, row) => {
                let (name, rest) = string(row).ok_or_else(garbled)?;
                let (value, _) = string(rest).ok_or_else(garbled)?;
                for part in [&text::safe(name), "\t", &text::safe(value), "\n"] {
                    self.answer.push_str(part);
                }
                if self.answer.len() > LARGEST_ANSWER {
                    return Err(garbled());
                }
            }
            (ProtocolState::Greeting, _) => {
                return Err(Miss::new(
                    MissKind::Failed,
                    "no MySQL or MariaDB answers there",
                ));
            }
            _ => return Err(garbled()),
        }
        Ok(ProtocolAction::Listen)
    }
}

impl MysqlClient {
    fn new(user: &[u8]) -> Self {
        Self {
            user: user.to_vec(),
            ..Self::default()
        }
    }

    fn done(&mut self) -> ProtocolAction {
        let answer = std::mem::take(&mut self.answer).into_bytes();
        ProtocolAction::Done {
            answer,
            farewell: packet(0, &[1]),
        }
    }
}

/// A string behind its length, and what follows it; NULL is empty. No setting is longer than 64
/// KiB.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    match bytes {
        [0xfb, rest @ ..] => Some((&[], rest)),
        [0xfc, a, b, rest @ ..] => rest.split_at_checked(usize::from(u16::from_le_bytes([*a, *b]))),
        [length @ ..0xfb, rest @ ..] => rest.split_at_checked(usize::from(*length)),
        _ => None,
    }
}

/// The message of an error, behind its number and state.
fn complaint(error: &[u8]) -> String {
    let message = error.get(2..).unwrap_or_default();
    let message = if message.starts_with(b"#") {
        message.get(6..).unwrap_or_default()
    } else {
        message
    };
    if message.is_empty() {
        "the server refuses".to_owned()
    } else {
        text::safe(message)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::conversation::Conversation as _;
    use super::*;

    const GREETING: &[u8] = b"\x0a10.11.19-MariaDB\0\x01\0\0\0abcdefgh\0\xff\xff";
    const WELCOME: &[u8] = b"\0\0\0\x02\0\0\0";
    const END: &[u8] = b"\xfe\0\0\x02\0";

    fn row(name: &str, value: Option<&str>) -> Vec<u8> {
        let string = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
        [string(name), value.map_or(vec![0xfb], string)].concat()
    }

    fn packets(bodies: &[&[u8]]) -> Vec<u8> {
        (0..)
            .zip(bodies)
            .flat_map(|(n, body)| packet(n, body))
            .collect()
    }

    fn talk(said: &[u8]) -> Vec<ProtocolAction> {
        let mut ours = MysqlClient::new(b"root");
        let heard = said.iter().map(|byte| ours.hear(&[*byte]).unwrap());
        heard
            .filter(|next| *next != ProtocolAction::Listen)
            .collect()
    }

    #[test]
    fn a_conversation_in_single_bytes() {
        let rows = [
            row("sync_binlog", Some("1")),
            row("datadir", Some("/a\tb")),
            row("socket", None),
            row("Uptime", Some("7")),
        ];
        let said = packets(&[
            GREETING, b"", WELCOME, b"\x02", b"def", b"def", END, &rows[0], &rows[1], &rows[2],
            END, b"\x02", b"def", b"def", END, &rows[3], END,
        ]);
        // The second packet of a real conversation is ours.
        let said = said.split_at(GREETING.len() + 4);
        let steps = talk(&[said.0, &said.1[4..]].concat());
        let answer = b"sync_binlog\t1\ndatadir\t/a\\x09b\nsocket\t\nUptime\t7\n".to_vec();
        assert_eq!(
            steps,
            [
                ProtocolAction::Say(packet(1, &log_in(b"root"))),
                ProtocolAction::Say(packet(0, &query())),
                ProtocolAction::Say(packet(0, &counters_query())),
                ProtocolAction::Done {
                    answer,
                    farewell: packet(0, &[1])
                },
            ]
        );
    }

    #[test]
    fn a_server_that_counts_nothing_has_said_its_settings() {
        let said = packets(&[
            WELCOME,
            b"\x02",
            b"def",
            b"def",
            END,
            &row("port", Some("1")),
            END,
        ]);
        let mut ours = MysqlClient::new(b"root");
        ours.hear(&packet(0, GREETING)).unwrap();
        ours.hear(&said).unwrap();
        ours.hear(&[]).unwrap();
        let refusal = packet(1, b"\xff\x15\x04#42000no");
        let mut steps = vec![];
        for piece in [&refusal[..], &[], &[], &[]] {
            steps.push(ours.hear(piece).unwrap());
        }
        let answer = b"port\t1\n".to_vec();
        assert!(
            steps.contains(&ProtocolAction::Done {
                answer,
                farewell: packet(0, &[1])
            }),
            "{steps:?}"
        );
    }

    #[test]
    fn nothing_is_all_we_offer() {
        let switch = b"\xfecaching_sha2_password\0abcdefghabcdefghabcd\0";
        let mut ours = MysqlClient::new(b"root");
        ours.hear(&packet(0, GREETING)).unwrap();
        assert_eq!(
            ours.hear(&packet(2, switch)).unwrap(),
            ProtocolAction::Say(packet(3, &[]))
        );
        assert_eq!(
            ours.hear(&packet(4, b"\x01\x04")).unwrap_err().kind,
            MissKind::Denied
        );
        let mut ours = MysqlClient::new(b"root");
        ours.hear(&packet(0, GREETING)).unwrap();
        let miss = ours
            .hear(&packet(2, b"\xff\x15\x04#28000Access denied\x1b"))
            .unwrap_err();
        assert_eq!(miss, Miss::new(MissKind::Denied, "Access denied\\x1b"));
    }

    #[test]
    fn no_file_is_ever_sent() {
        let mut ours = MysqlClient::new(b"root");
        ours.hear(&packet(0, GREETING)).unwrap();
        ours.hear(&packet(2, WELCOME)).unwrap();
        assert!(ours.hear(&packet(1, b"\xfb/etc/shadow")).is_err());
        assert_eq!(CAPABILITIES & 1 << 7, 0, "CLIENT_LOCAL_FILES");
    }

    proptest! {
        /// Whatever a server says, we say nothing but these four things, and its answer is safe.
        #[test]
        fn garbage_does_no_harm(pieces in prop::collection::vec(
            prop_oneof![
                any::<Vec<u8>>(),
                prop::sample::select(vec![GREETING, WELCOME, END, b"\x02", b"def"]).prop_map(|body| packet(1, body)),
                (any::<u8>(), any::<Vec<u8>>()).prop_map(|(number, body)| packet(number, &body)),
                ("[ -~]{0,20}", "[ -~]{0,20}").prop_map(|(name, value)| packet(1, &row(&name, Some(&value)))),
            ], 0..12)
        ) {
            let mut ours = MysqlClient::new(b"root");
            for piece in pieces {
                match ours.hear(&piece) {
                    Ok(ProtocolAction::Say(words)) => {
                        let body = words.get(4..).unwrap_or_default();
                        let known = [vec![], log_in(b"root"), query(), counters_query()];
                        prop_assert!(known.iter().any(|one| one == body));
                    }
                    Ok(ProtocolAction::Done { answer, .. }) => {
                        let text = String::from_utf8(answer).unwrap();
                        prop_assert!(!text.chars().any(|c| text::is_treacherous(c) && !matches!(c, '\t' | '\n')));
                    }
                    Ok(ProtocolAction::Listen) => {}
                    Err(miss) => {
                        prop_assert!(!miss.detail.chars().any(text::is_treacherous));
                        break;
                    }
                }
            }
        }
    }
}
