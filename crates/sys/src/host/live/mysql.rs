//! Queries storage settings of a running MySQL or MariaDB, over its Unix socket, as the current
//! user.
//!
//! This is a minimal client of the client/server protocol: greeting, login, two SHOW queries, quit.
//! No password is sent, because the socket authenticates the user (plugins unix_socket and
//! auth_socket). A request for another method gets an empty reply. The server cannot request a
//! file, because the client does not offer CLIENT_LOCAL_FILES.

use std::os::unix::net::UnixStream;
use std::path::Path;

use super::conversation::{
    MAX_MESSAGE_BYTES, ProtocolAction, ProtocolClient, QuerySequence, SettingsQueries, connect,
    malformed_answer_error, run_protocol,
};
use super::machine;
use crate::host::{HostError, HostResult};
use crate::servers::{self, ServerArea};
use crate::text;
use walwise_model::text::JoinText;

use ExpectedPacket::{Column, Columns, Greeting, Rows, Welcome};
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

pub fn query_settings(socket: &Path, server: u32) -> HostResult {
    query_settings_on_stream(&connect(socket)?, &machine::own_user_name()?, server)
}

/// Queries the settings over a connected socket, with `user` as login name. Fails unless the server
/// runs as the uid `server`.
pub fn query_settings_on_stream(stream: &UnixStream, user: &[u8], server: u32) -> HostResult {
    run_protocol(
        stream,
        &mut MysqlProtocolClient::new(user, settings_queries()),
        server,
    )
}

fn settings_queries() -> SettingsQueries {
    SettingsQueries {
        query: |number, _| match number {
            0 => Some(variables_query()),
            1 => Some(counters_query()),
            2 => Some(replica_count_query()),
            _ => None,
        },
        format_row: |row| {
            let fields = row.iter().map(|field| text::display_safe(field));
            format!("{}\n", fields.join_with("\t"))
        },
        join_results: |results| results.iter().flatten().map(String::as_str).collect(),
        results: Vec::new(),
    }
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

pub(super) struct MysqlProtocolClient<Q> {
    user: Vec<u8>,
    state: ExpectedPacket,
    queries: Q,
}

impl<Q: QuerySequence> ProtocolClient for MysqlProtocolClient<Q> {
    const HEADER_BYTES: usize = 4;

    const WRONG_SERVER: &str =
        "the program that listens on this socket is not a MySQL or MariaDB server";

    fn parse_header(header: &[u8]) -> Option<(u8, usize)> {
        let [a, b, c, number] = *header.first_chunk()?;
        Some((number, u32::from_le_bytes([a, b, c, 0]) as usize))
    }

    fn first_message(&self) -> Vec<u8> {
        Vec::new()
    }

    fn queries(&mut self) -> &mut impl QuerySequence {
        &mut self.queries
    }

    fn handle_message(&mut self, number: u8, body: &[u8]) -> Result<ProtocolAction, HostError> {
        let say = |body: &[u8]| {
            Ok(ProtocolAction::Send(encode_packet(
                number.wrapping_add(1),
                body,
            )))
        };
        let end = body.first() == Some(&0xfe) && body.len() < 9;
        match (self.state, body) {
            (Columns | Column(_) | Rows, [0xff, error @ ..]) => {
                let error = HostError::denied(error_message(error));
                self.queries.receive_query_error(error)?;
                return self.next_query_action();
            }
            (Greeting | Welcome(_), [0xff, error @ ..]) => {
                return Err(HostError::denied(error_message(error)));
            }
            (Greeting, [PROTOCOL, ..]) => {
                self.state = Welcome(0);
                return say(&handshake_response(&self.user));
            }
            (Welcome(_), [0, ..]) => return self.next_query_action(),
            // On the fast path of caching_sha2_password, the next packet reports success.
            (Welcome(_), [1, 3]) => {}
            (Welcome(0), [0xfe, ..]) => {
                self.state = Welcome(1);
                return say(&[]);
            }
            (Welcome(_), [1 | 0xfe, ..]) => {
                return Err(HostError::denied(
                    "the server requires a password or another authentication method",
                ));
            }
            (Columns, [2]) => self.state = Column(2),
            (Column(0), _) if end => self.state = Rows,
            (Column(more), _) if more > 0 && !end => {
                self.state = Column(more - 1);
            }
            (Rows, _) if end => return self.next_query_action(),
            (Rows, row) => {
                let (name, rest) =
                    split_length_encoded_string(row).ok_or_else(malformed_answer_error)?;
                let (value, _) =
                    split_length_encoded_string(rest).ok_or_else(malformed_answer_error)?;
                self.queries.receive_row(&[name, value])?;
            }
            (Greeting, _) => return Err(HostError::failed(Self::WRONG_SERVER)),
            _ => return Err(malformed_answer_error()),
        }
        Ok(ProtocolAction::Recv)
    }
}

impl<Q: QuerySequence> MysqlProtocolClient<Q> {
    pub(super) fn new(user: &[u8], queries: Q) -> Self {
        Self {
            user: user.to_vec(),
            state: ExpectedPacket::default(),
            queries,
        }
    }

    fn next_query_action(&mut self) -> Result<ProtocolAction, HostError> {
        self.state = Columns;
        Ok(match self.queries.next_query(0)? {
            Some(query) => {
                let command = [&[COM_QUERY], query.as_bytes()].concat();
                ProtocolAction::Send(encode_packet(0, &command))
            }
            None => ProtocolAction::Done {
                answer: self.queries.take_answer(),
                farewell: encode_packet(0, &[1]),
            },
        })
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
        "the server returned an error without a message".to_owned()
    } else {
        text::display_safe(message)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::super::conversation::tests::actions_after;
    use super::*;
    use crate::host::HostErrorKind;

    const GREETING: &[u8] = b"\x0a10.11.19-MariaDB\0\x01\0\0\0abcdefgh\0\xff\xff";
    const WELCOME: &[u8] = b"\0\0\0\x02\0\0\0";
    const END: &[u8] = b"\xfe\0\0\x02\0";

    pub fn new_client() -> MysqlProtocolClient<SettingsQueries> {
        MysqlProtocolClient::new(b"root", settings_queries())
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

    #[test]
    fn session_completes() {
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
        let steps = actions_after(&mut new_client(), &[said.0, &said.1[4..]].concat()).unwrap();
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
        let refusal = encode_packet(1, b"\xff\x15\x04#42000no");
        let said = [&encode_packet(0, GREETING), &said[..], &refusal, &refusal].concat();
        let steps = actions_after(&mut new_client(), &said).unwrap();
        let done = ProtocolAction::Done {
            answer: b"port\t1\n".to_vec(),
            farewell: encode_packet(0, &[1]),
        };
        assert_eq!(steps.last(), Some(&done));
    }

    #[test]
    fn client_offers_no_password() {
        let switch = b"\xfecaching_sha2_password\0abcdefghabcdefghabcd\0";
        let said = [encode_packet(0, GREETING), encode_packet(2, switch)].concat();
        let mut ours = new_client();
        assert_eq!(
            actions_after(&mut ours, &said).unwrap().last(),
            Some(&ProtocolAction::Send(encode_packet(3, &[])))
        );
        let more = encode_packet(4, b"\x01\x04");
        assert_eq!(
            actions_after(&mut ours, &more).unwrap_err().kind,
            HostErrorKind::Denied
        );
        let refusal = encode_packet(2, b"\xff\x15\x04#28000Access denied\x1b");
        let said = [encode_packet(0, GREETING), refusal].concat();
        assert_eq!(
            actions_after(&mut new_client(), &said).unwrap_err(),
            HostError::denied("Access denied\\x1b")
        );
    }

    #[test]
    fn local_infile_request_is_rejected() {
        let mut ours = new_client();
        let said = [encode_packet(0, GREETING), encode_packet(2, WELCOME)].concat();
        actions_after(&mut ours, &said).unwrap();
        assert!(actions_after(&mut ours, &encode_packet(1, b"\xfb/etc/shadow")).is_err());
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
                match actions_after(&mut ours, &piece) {
                    Ok(actions) => for action in actions {
                        match action {
                            ProtocolAction::Send(words) => {
                                let body = words.get(4..).unwrap_or_default();
                                let queries = [variables_query(), counters_query(), replica_count_query()];
                                let is_query = queries.iter().any(|one| query_packet(one).get(4..) == Some(body));
                                prop_assert!(is_query || body.is_empty() || body == handshake_response(b"root"));
                            }
                            ProtocolAction::Done { answer, .. } => {
                                let text = String::from_utf8(answer).unwrap();
                                prop_assert!(!text.chars().any(|c| text::is_display_unsafe(c) && !matches!(c, '\t' | '\n')));
                            }
                            ProtocolAction::Recv => {}
                        }
                    },
                    Err(miss) => {
                        prop_assert!(!miss.detail.chars().any(text::is_display_unsafe));
                        break;
                    }
                }
            }
        }
    }
}
