//! Queries storage settings of a running MySQL or MariaDB, over its Unix socket, as the current
//! user.
//!
//! This is a minimal client of the client/server protocol: greeting, login, two SHOW queries, quit.
//! No password is sent, because the socket authenticates the user (plugins unix_socket and
//! auth_socket). A request for another method gets an empty reply. The server cannot request a
//! file, because the client does not offer CLIENT_LOCAL_FILES.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::machine;
use super::{
    DEADLINE, MAX_ANSWER_BYTES, MAX_MESSAGE_BYTES, ProtocolAction, ProtocolClient, WireFrame,
    connect_and_run_protocol, verify_peer_and_run_protocol,
};
use crate::host::{HostError, HostResult};
use crate::servers::{self, ServerArea};
use crate::text;

/// Status counters of the redo log and the binary log; no server has all of them.
const COUNTERS: [&str; 7] = [
    "Uptime",
    "Innodb_os_log_written",
    "Innodb_checkpoint_age",
    "Innodb_redo_log_logical_size",
    "Innodb_log_waits",
    "Binlog_commits",
    "Binlog_group_commits",
];

/// Row that counts the connected replicas; each has one thread with the command `Binlog Dump`.
const REPLICAS: &str = "Binlog_dump_threads";

pub fn query_settings(socket: &Path, server: Option<u32>) -> HostResult {
    let user = machine::user_name(nix::unistd::geteuid().as_raw())?;
    let mut client = MysqlClient::new(user.trim_ascii(), SettingsQuerySequence::default());
    connect_and_run_protocol(socket, &mut client, server)
}

/// Queries the settings over a connected socket, with `user` as login name. Fails unless the server
/// runs as the uid `server`.
pub fn query_settings_on_stream(stream: UnixStream, user: &[u8], server: u32) -> HostResult {
    let mut client = MysqlClient::new(user, SettingsQuerySequence::default());
    verify_peer_and_run_protocol(stream, &mut client, Some(server))
}

/// Capability flags of the client: CLIENT_MYSQL (that is, without MariaDB's extensions),
/// CLIENT_PROTOCOL_41, CLIENT_TRANSACTIONS, CLIENT_SECURE_CONNECTION and CLIENT_PLUGIN_AUTH.
const CAPABILITIES: u32 = 1 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 19;

/// Number of the collation utf8_general_ci, which every server version supports.
const UTF8: u8 = 33;

const COM_QUERY: u8 = 3;

/// Protocol version in the greeting of each supported server.
const PROTOCOL: u8 = 10;

fn handshake_response(user: &[u8]) -> Vec<u8> {
    let largest = u32::try_from(MAX_MESSAGE_BYTES).unwrap_or(u32::MAX);
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

fn variables_query() -> String {
    // As a variable, `log_bin` is a switch; `log_bin_basename` has the path prefix.
    let names = servers::settings_safe_to_read(ServerArea::Mysql)
        .keys()
        .map(String::as_str);
    show_global_query("VARIABLES", names.chain(["log_bin_basename", "version"]))
}

fn counters_query() -> String {
    show_global_query("STATUS", COUNTERS)
}

/// `Slaves_connected` exists in MariaDB only. Without the privilege PROCESS a user sees only its
/// own threads, so the query then has no result.
fn replica_count_query() -> String {
    format!(
        "SELECT '{REPLICAS}', COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%' \
         HAVING (SELECT COUNT(*) FROM information_schema.USER_PRIVILEGES \
         WHERE PRIVILEGE_TYPE = 'PROCESS' AND REPLACE(GRANTEE, '\\'', '') = CURRENT_USER()) > 0"
    )
}

fn show_global_query<'n>(what: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("'{name}'")).collect();
    format!(
        "SHOW GLOBAL {what} WHERE Variable_name IN ({})",
        names.join(", ")
    )
}

fn encode_packet(number: u8, body: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes();
    [&[a, b, c, number], body].concat()
}

#[derive(Clone, Copy, Default)]
enum ExpectedPacket {
    #[default]
    Greeting,
    /// The server's answer to the login is expected. The number counts the server's requests for
    /// another authentication method.
    Welcome(u8),
    Columns,
    /// Column definitions are expected; the number counts those that still follow.
    Column(u8),
    Rows,
}

/// Queries that a client sends one after another. Each result has two columns.
pub(super) trait QuerySequence {
    /// `None` after the last query.
    fn next_query(&mut self) -> Option<String>;

    fn receive_row(&mut self, name: &[u8], value: &[u8]) -> Result<(), HostError>;

    /// Returning an error ends the conversation.
    fn receive_query_error(&mut self, error: String) -> Result<(), HostError>;

    /// The complete results so far; `None` if they are no answer without the rest.
    fn take_usable_answer(&mut self) -> Option<Vec<u8>>;

    fn time_limit(&self) -> Duration {
        DEADLINE
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SettingsQuery {
    Variables,
    Counters,
    Replicas,
}

#[derive(Default)]
struct SettingsQuerySequence {
    /// The query that was sent last; `None` before the first one.
    query: Option<SettingsQuery>,
    answer: String,
}

impl QuerySequence for SettingsQuerySequence {
    fn next_query(&mut self) -> Option<String> {
        self.query = Some(match self.query {
            None => SettingsQuery::Variables,
            Some(SettingsQuery::Variables) => SettingsQuery::Counters,
            Some(SettingsQuery::Counters) => SettingsQuery::Replicas,
            Some(SettingsQuery::Replicas) => return None,
        });
        self.query.map(|query| match query {
            SettingsQuery::Variables => variables_query(),
            SettingsQuery::Counters => counters_query(),
            SettingsQuery::Replicas => replica_count_query(),
        })
    }

    fn receive_row(&mut self, name: &[u8], value: &[u8]) -> Result<(), HostError> {
        for part in [
            &text::display_safe(name),
            "\t",
            &text::display_safe(value),
            "\n",
        ] {
            self.answer.push_str(part);
        }
        if self.answer.len() > MAX_ANSWER_BYTES {
            return Err(HostError::failed("the server's answer is malformed"));
        }
        Ok(())
    }

    /// Once the settings are complete, an error affects only its query.
    fn receive_query_error(&mut self, error: String) -> Result<(), HostError> {
        match self.query {
            None | Some(SettingsQuery::Variables) => Err(HostError::denied(error)),
            Some(SettingsQuery::Counters | SettingsQuery::Replicas) => Ok(()),
        }
    }

    fn take_usable_answer(&mut self) -> Option<Vec<u8>> {
        match self.query {
            None | Some(SettingsQuery::Variables) => None,
            Some(SettingsQuery::Counters | SettingsQuery::Replicas) => {
                Some(std::mem::take(&mut self.answer).into_bytes())
            }
        }
    }
}

pub(super) struct MysqlClient<Q> {
    user: Vec<u8>,
    received: Vec<u8>,
    state: ExpectedPacket,
    queries: Q,
}

impl<Q: QuerySequence> ProtocolClient for MysqlClient<Q> {
    fn first_message(&self) -> Vec<u8> {
        Vec::new()
    }

    fn recv_buffer(&mut self) -> &mut Vec<u8> {
        &mut self.received
    }

    fn split_frame(bytes: &[u8]) -> Result<Option<WireFrame<'_>>, HostError> {
        let Some((&[a, b, c, number], rest)) = bytes.split_first_chunk() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        if length > MAX_MESSAGE_BYTES {
            return Err(HostError::failed(
                "no MySQL or MariaDB server answers on this socket",
            ));
        }
        Ok(rest
            .split_at_checked(length)
            .map(|(body, behind)| (number, body, behind)))
    }

    fn partial_answer(&mut self) -> Option<Vec<u8>> {
        self.queries.take_usable_answer()
    }

    fn deadline(&self) -> Duration {
        self.queries.time_limit()
    }

    fn handle_message(&mut self, number: u8, body: &[u8]) -> Result<ProtocolAction, HostError> {
        let garbled = || HostError::failed("the server's answer is malformed");
        let say = |body: &[u8]| {
            Ok(ProtocolAction::Send(encode_packet(
                number.wrapping_add(1),
                body,
            )))
        };
        let end = body.first() == Some(&0xfe) && body.len() < 9;
        match (self.state, body) {
            (
                ExpectedPacket::Columns | ExpectedPacket::Column(_) | ExpectedPacket::Rows,
                [0xff, error @ ..],
            ) => {
                self.queries.receive_query_error(error_message(error))?;
                return Ok(self.next_query_action());
            }
            (ExpectedPacket::Greeting | ExpectedPacket::Welcome(_), [0xff, error @ ..]) => {
                return Err(HostError::denied(error_message(error)));
            }
            (ExpectedPacket::Greeting, [PROTOCOL, ..]) => {
                self.state = ExpectedPacket::Welcome(0);
                return say(&handshake_response(&self.user));
            }
            (ExpectedPacket::Welcome(_), [0, ..]) => {
                return Ok(self.next_query_action());
            }
            // On the fast path of caching_sha2_password, the next packet reports success.
            (ExpectedPacket::Welcome(_), [1, 3]) => {}
            (ExpectedPacket::Welcome(0), [0xfe, ..]) => {
                self.state = ExpectedPacket::Welcome(1);
                return say(&[]);
            }
            (ExpectedPacket::Welcome(_), [1 | 0xfe, ..]) => {
                return Err(HostError::denied(
                    "the server requires a password or another credential",
                ));
            }
            (ExpectedPacket::Columns, [2]) => self.state = ExpectedPacket::Column(2),
            (ExpectedPacket::Column(0), _) if end => self.state = ExpectedPacket::Rows,
            (ExpectedPacket::Column(more), _) if more > 0 && !end => {
                self.state = ExpectedPacket::Column(more - 1);
            }
            (ExpectedPacket::Rows, _) if end => return Ok(self.next_query_action()),
            (ExpectedPacket::Rows, row) => {
                let (name, rest) = split_length_encoded_string(row).ok_or_else(garbled)?;
                let (value, _) = split_length_encoded_string(rest).ok_or_else(garbled)?;
                self.queries.receive_row(name, value)?;
            }
            (ExpectedPacket::Greeting, _) => {
                return Err(HostError::failed(
                    "no MySQL or MariaDB server answers on this socket",
                ));
            }
            _ => return Err(garbled()),
        }
        Ok(ProtocolAction::Recv)
    }
}

impl<Q: QuerySequence> MysqlClient<Q> {
    pub(super) fn new(user: &[u8], queries: Q) -> Self {
        Self {
            user: user.to_vec(),
            received: Vec::new(),
            state: ExpectedPacket::default(),
            queries,
        }
    }

    fn next_query_action(&mut self) -> ProtocolAction {
        if let Some(query) = self.queries.next_query() {
            self.state = ExpectedPacket::Columns;
            let command = [&[COM_QUERY], query.as_bytes()].concat();
            return ProtocolAction::Send(encode_packet(0, &command));
        }
        ProtocolAction::Done {
            answer: self.queries.take_usable_answer().unwrap_or_default(),
            farewell: encode_packet(0, &[1]),
        }
    }
}

/// Splits a length-encoded string from the bytes after it. NULL becomes empty. `None` for a string
/// of 64 KiB or more, because no setting is that long.
fn split_length_encoded_string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    match bytes {
        [0xfb, rest @ ..] => Some((&[], rest)),
        [0xfc, a, b, rest @ ..] => rest.split_at_checked(usize::from(u16::from_le_bytes([*a, *b]))),
        [length @ ..0xfb, rest @ ..] => rest.split_at_checked(usize::from(*length)),
        _ => None,
    }
}

fn error_message(error: &[u8]) -> String {
    let message = error.get(2..).unwrap_or_default();
    let message = if message.starts_with(b"#") {
        message.get(6..).unwrap_or_default()
    } else {
        message
    };
    if message.is_empty() {
        "the server refused".to_owned()
    } else {
        text::display_safe(message)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::ProtocolClient as _;
    use super::*;
    use crate::host::HostErrorKind;

    const GREETING: &[u8] = b"\x0a10.11.19-MariaDB\0\x01\0\0\0abcdefgh\0\xff\xff";
    const WELCOME: &[u8] = b"\0\0\0\x02\0\0\0";
    const END: &[u8] = b"\xfe\0\0\x02\0";

    fn new_client() -> MysqlClient<SettingsQuerySequence> {
        MysqlClient::new(b"root", SettingsQuerySequence::default())
    }

    fn query_packet(query: &str) -> Vec<u8> {
        encode_packet(0, &[&[COM_QUERY], query.as_bytes()].concat())
    }

    fn encode_row(name: &str, value: Option<&str>) -> Vec<u8> {
        let string = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
        [string(name), value.map_or(vec![0xfb], string)].concat()
    }

    fn packets(bodies: &[&[u8]]) -> Vec<u8> {
        (0..)
            .zip(bodies)
            .flat_map(|(n, body)| encode_packet(n, body))
            .collect()
    }

    fn client_actions_byte_by_byte(said: &[u8]) -> Vec<ProtocolAction> {
        let mut ours = new_client();
        let heard = said
            .iter()
            .map(|byte| ours.handle_received_bytes(&[*byte]).unwrap());
        heard.filter(|next| *next != ProtocolAction::Recv).collect()
    }

    #[test]
    fn session_fed_byte_by_byte_completes() {
        let rows = [
            encode_row("sync_binlog", Some("1")),
            encode_row("datadir", Some("/a\tb")),
            encode_row("socket", None),
            encode_row("Uptime", Some("7")),
            encode_row("Binlog_dump_threads", Some("2")),
        ];
        let said = packets(&[
            GREETING, b"", WELCOME, b"\x02", b"def", b"def", END, &rows[0], &rows[1], &rows[2],
            END, b"\x02", b"def", b"def", END, &rows[3], END, b"\x02", b"def", b"def", END,
            &rows[4], END,
        ]);
        // In a real conversation the client, not the server, sends the second packet, so it is
        // removed here.
        let said = said.split_at(GREETING.len() + 4);
        let steps = client_actions_byte_by_byte(&[said.0, &said.1[4..]].concat());
        let answer =
            b"sync_binlog\t1\ndatadir\t/a\\x09b\nsocket\t\nUptime\t7\nBinlog_dump_threads\t2\n"
                .to_vec();
        assert_eq!(
            steps,
            [
                ProtocolAction::Send(encode_packet(1, &handshake_response(b"root"))),
                ProtocolAction::Send(query_packet(&variables_query())),
                ProtocolAction::Send(query_packet(&counters_query())),
                ProtocolAction::Send(query_packet(&replica_count_query())),
                ProtocolAction::Done {
                    answer,
                    farewell: encode_packet(0, &[1])
                },
            ]
        );
    }

    #[test]
    fn refused_counter_queries_keep_the_settings() {
        let said = packets(&[
            WELCOME,
            b"\x02",
            b"def",
            b"def",
            END,
            &encode_row("port", Some("1")),
            END,
        ]);
        let mut ours = new_client();
        ours.handle_received_bytes(&encode_packet(0, GREETING))
            .unwrap();
        ours.handle_received_bytes(&said).unwrap();
        ours.handle_received_bytes(&[]).unwrap();
        let refusal = encode_packet(1, b"\xff\x15\x04#42000no");
        let mut steps = vec![];
        for piece in [&refusal[..], &[], &refusal[..], &[]] {
            steps.push(ours.handle_received_bytes(piece).unwrap());
        }
        let answer = b"port\t1\n".to_vec();
        assert!(
            steps.contains(&ProtocolAction::Done {
                answer,
                farewell: encode_packet(0, &[1])
            }),
            "{steps:?}"
        );
    }

    #[test]
    fn client_offers_no_password() {
        let switch = b"\xfecaching_sha2_password\0abcdefghabcdefghabcd\0";
        let mut ours = new_client();
        ours.handle_received_bytes(&encode_packet(0, GREETING))
            .unwrap();
        assert_eq!(
            ours.handle_received_bytes(&encode_packet(2, switch))
                .unwrap(),
            ProtocolAction::Send(encode_packet(3, &[]))
        );
        assert_eq!(
            ours.handle_received_bytes(&encode_packet(4, b"\x01\x04"))
                .unwrap_err()
                .kind,
            HostErrorKind::Denied
        );
        let mut ours = new_client();
        ours.handle_received_bytes(&encode_packet(0, GREETING))
            .unwrap();
        let miss = ours
            .handle_received_bytes(&encode_packet(2, b"\xff\x15\x04#28000Access denied\x1b"))
            .unwrap_err();
        assert_eq!(miss, HostError::denied("Access denied\\x1b"));
    }

    #[test]
    fn local_infile_request_is_rejected() {
        let mut ours = new_client();
        ours.handle_received_bytes(&encode_packet(0, GREETING))
            .unwrap();
        ours.handle_received_bytes(&encode_packet(2, WELCOME))
            .unwrap();
        assert!(
            ours.handle_received_bytes(&encode_packet(1, b"\xfb/etc/shadow"))
                .is_err()
        );
        assert_eq!(CAPABILITIES & 1 << 7, 0, "CLIENT_LOCAL_FILES");
    }

    proptest! {
        #[test]
        fn arbitrary_replies_trigger_only_known_messages(pieces in prop::collection::vec(
            prop_oneof![
                any::<Vec<u8>>(),
                prop::sample::select(vec![GREETING, WELCOME, END, b"\x02", b"def"]).prop_map(|body| encode_packet(1, body)),
                (any::<u8>(), any::<Vec<u8>>()).prop_map(|(number, body)| encode_packet(number, &body)),
                ("[ -~]{0,20}", "[ -~]{0,20}").prop_map(|(name, value)| encode_packet(1, &encode_row(&name, Some(&value)))),
            ], 0..12)
        ) {
            let mut ours = new_client();
            for piece in pieces {
                match ours.handle_received_bytes(&piece) {
                    Ok(ProtocolAction::Send(words)) => {
                        let body = words.get(4..).unwrap_or_default();
                        let queries = [variables_query(), counters_query(), replica_count_query()];
                        let is_query = queries.iter().any(|one| query_packet(one).get(4..) == Some(body));
                        prop_assert!(is_query || body.is_empty() || body == handshake_response(b"root"));
                    }
                    Ok(ProtocolAction::Done { answer, .. }) => {
                        let text = String::from_utf8(answer).unwrap();
                        prop_assert!(!text.chars().any(|c| text::is_display_unsafe(c) && !matches!(c, '\t' | '\n')));
                    }
                    Ok(ProtocolAction::Recv) => {}
                    Err(miss) => {
                        prop_assert!(!miss.detail.chars().any(text::is_display_unsafe));
                        break;
                    }
                }
            }
        }
    }
}
