//! Asks a running PostgreSQL for its storage settings, over its Unix socket, as the user of this
//! process, who owns the server.
//!
//! It implements the minimum of the frontend/backend protocol (the manual's chapter of that name):
//! start up, three simple queries, end. The session is read-only from its first packet on, and no
//! schema but the server's own is searched. Peer authentication is the only one supported: a
//! password is never requested, looked up or sent. The server's answer is as hostile as any file.
//! Settings of databases and roles exist in a catalog alone, and counters in views that differ
//! between releases. They are queried last, so that a server that refuses has already answered the
//! rest.

use std::path::Path;

use super::conversation::{self, LARGEST, LARGEST_ANSWER, ProtocolAction, WireFrame};
use super::machine;
use crate::host::pg_lines::{COMPRESSIONS, LOADED, MOST_OVERRIDES, OVERRIDE, OVERRIDES, counters};
use crate::host::{Miss, MissKind, redact};
use crate::servers::{self, Area};
use crate::text;

/// The answer to [`crate::host::Question::PgSettings`].
pub fn settings(socket: &Path, server: Option<u32>) -> Result<Vec<u8>, Miss> {
    let user = machine::user_name(nix::unistd::geteuid().as_raw())?;
    let user = String::from_utf8_lossy(user.trim_ascii()).into_owned();
    conversation::with(
        socket,
        &mut PostgresClient {
            user,
            ..PostgresClient::default()
        },
        server,
    )
}

/// The first packet: protocol 3.0, our user, and read-only.
fn startup(user: &str) -> Vec<u8> {
    const VERSION: u32 = 3 << 16;
    let mut body = VERSION.to_be_bytes().to_vec();
    let parameters = [
        ("user", user),
        ("database", "postgres"),
        ("application_name", "walwise"),
        ("client_encoding", "UTF8"),
        ("default_transaction_read_only", "on"),
        ("search_path", "pg_catalog"),
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

/// The query for settings by name, for the last load of configuration files, in microseconds since
/// 1970, and for the ways to compress WAL that the server was built with.
fn settings_query() -> String {
    let names = servers::leaving(Area::Pg)
        .keys()
        .map(String::as_str)
        .chain(["server_version"]);
    let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    format!(
        "SELECT name, setting, unit, source, sourcefile, sourceline::text FROM pg_catalog.pg_settings \
         WHERE name IN ({}) \
         UNION ALL SELECT '{LOADED}', trunc(extract(epoch FROM pg_conf_load_time()) * 1000000)::bigint::text, \
         NULL, NULL, NULL, NULL \
         UNION ALL SELECT '{COMPRESSIONS}', array_to_string(enumvals, ','), NULL, NULL, NULL, NULL \
         FROM pg_catalog.pg_settings WHERE name = 'wal_compression' ORDER BY 1\0",
        names.join(", ")
    )
}

/// The query for settings of databases and roles: those that apply to everybody first, then those
/// that weaken commits.
fn overrides_query() -> String {
    format!(
        "SELECT '{OVERRIDE}', datname, rolname, name, value FROM (\
           SELECT d.datname, r.rolname, s.setdatabase, s.setrole, \
                  split_part(s.one, '=', 1) AS name, substr(s.one, strpos(s.one, '=') + 1) AS value \
           FROM (SELECT setdatabase, setrole, unnest(setconfig) AS one FROM pg_catalog.pg_db_role_setting) s \
           LEFT JOIN pg_catalog.pg_database d ON d.oid = s.setdatabase \
           LEFT JOIN pg_catalog.pg_roles r ON r.oid = s.setrole) all_of_them \
         WHERE name = 'synchronous_commit' AND (setdatabase = 0 OR datname IS NOT NULL) \
           AND (setrole = 0 OR rolname IS NOT NULL) \
         ORDER BY setdatabase <> 0 OR setrole <> 0, lower(value) NOT IN ('off', 'false', 'no', '0'), datname, rolname \
         LIMIT {}\0",
        MOST_OVERRIDES + 1
    )
}

/// The query for counters of WAL and checkpoints (10 and later); `None` for a release that has none
/// of them. A standby has no position of its own to write at.
fn counters_query(major: u64) -> Option<String> {
    use counters::{
        BUFFERS_FULL, CHECKPOINT, CHECKPOINTS_SINCE, NOW, POSITION, REDO, REQUESTED, TIMED,
        WAL_BYTES, WAL_IMAGES, WAL_RECORDS, WAL_SINCE,
    };
    if major < 10 {
        return None;
    }
    let us = |time: &str| format!("trunc(extract(epoch FROM {time}) * 1000000)::bigint::text");
    let mut parts = vec![
        format!("SELECT '{NOW}', {}", us("clock_timestamp()")),
        format!(
            "SELECT '{POSITION}', CASE WHEN pg_is_in_recovery() THEN NULL \
             ELSE pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text END"
        ),
        format!(
            "SELECT '{REDO}', pg_wal_lsn_diff(redo_lsn, '0/0')::text FROM pg_control_checkpoint()"
        ),
        format!(
            "SELECT '{CHECKPOINT}', {} FROM pg_control_checkpoint()",
            us("checkpoint_time")
        ),
    ];
    let mut of = |view: &str, columns: &[(&str, &str)]| {
        let one = |(name, column): &(&str, &str)| {
            format!("SELECT '{name}', {column} FROM pg_catalog.{view}")
        };
        parts.extend(columns.iter().map(one));
    };
    let since = us("stats_reset");
    if major >= 14 {
        let columns = [
            (WAL_BYTES, "wal_bytes::text"),
            (WAL_RECORDS, "wal_records::text"),
            (WAL_IMAGES, "wal_fpi::text"),
            (BUFFERS_FULL, "wal_buffers_full::text"),
            (WAL_SINCE, &since),
        ];
        of("pg_stat_wal", &columns);
    }
    let (view, timed, requested) = if major >= 17 {
        (
            "pg_stat_checkpointer",
            "num_timed::text",
            "num_requested::text",
        )
    } else {
        (
            "pg_stat_bgwriter",
            "checkpoints_timed::text",
            "checkpoints_req::text",
        )
    };
    of(
        view,
        &[
            (TIMED, timed),
            (REQUESTED, requested),
            (CHECKPOINTS_SINCE, &since),
        ],
    );
    Some(format!("{}\0", parts.join(" UNION ALL ")))
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &length(body), body].concat()
}

/// The length field of a packet, which counts itself.
fn length(body: &[u8]) -> [u8; 4] {
    u32::try_from(body.len() + 4)
        .unwrap_or(u32::MAX)
        .to_be_bytes()
}

/// The answers received so far.
#[derive(Default)]
struct PostgresClient {
    user: String,
    heard: Vec<u8>,
    authenticated: bool,
    refused: bool,
    /// The major release, once it has said so; 0 before.
    major: u64,
    asking: Asking,
    answer: String,
    overrides: Vec<String>,
    counters: String,
    /// Bytes of all of them.
    told: usize,
}

#[derive(Default, PartialEq, Eq)]
enum Asking {
    #[default]
    Nothing,
    Settings,
    Overrides,
    Counters,
}

impl conversation::Conversation for PostgresClient {
    fn opening(&self) -> Vec<u8> {
        startup(&self.user)
    }

    fn heard(&mut self) -> &mut Vec<u8> {
        &mut self.heard
    }

    fn split(bytes: &[u8]) -> Result<Option<WireFrame<'_>>, Miss> {
        let Some((kind, rest)) = bytes.split_first() else {
            return Ok(None);
        };
        let Some((length, rest)) = rest.split_first_chunk() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*length) as usize;
        match length.checked_sub(4).filter(|length| *length <= LARGEST) {
            Some(length) => Ok(rest
                .split_at_checked(length)
                .map(|(body, behind)| (*kind, body, behind))),
            None => Err(Miss::new(
                MissKind::Failed,
                "no PostgreSQL server answers there",
            )),
        }
    }

    fn message(&mut self, kind: u8, body: &[u8]) -> Result<ProtocolAction, Miss> {
        let garbled = || Miss::new(MissKind::Failed, "the server's answer is garbled");
        match kind {
            b'R' => match body.first_chunk().copied().map(u32::from_be_bytes) {
                Some(0) => self.authenticated = true,
                Some(_) => {
                    return Err(Miss::new(
                        MissKind::Denied,
                        "the server wants a password or the like",
                    ));
                }
                None => return Err(garbled()),
            },
            b'S' => self.major = major(body).unwrap_or(self.major),
            b'E' => match self.asking {
                Asking::Overrides => self.refused = true,
                Asking::Counters => self.counters.clear(),
                Asking::Nothing | Asking::Settings => {
                    return Err(Miss::new(MissKind::Denied, complaint(body)));
                }
            },
            b'D' => {
                let line = line(&row(body).ok_or_else(garbled)?);
                self.told += line.len();
                if self.told > LARGEST_ANSWER {
                    return Err(garbled());
                }
                match self.asking {
                    Asking::Settings => self.answer.push_str(&line),
                    Asking::Overrides if self.overrides.len() <= MOST_OVERRIDES => {
                        self.overrides.push(line);
                    }
                    Asking::Counters => self.counters.push_str(&line),
                    Asking::Overrides | Asking::Nothing => return Err(garbled()),
                }
            }
            b'Z' => match self.asking {
                Asking::Nothing if self.authenticated => {
                    self.asking = Asking::Settings;
                    return Ok(ProtocolAction::Say(message(
                        b'Q',
                        settings_query().as_bytes(),
                    )));
                }
                Asking::Nothing => return Err(garbled()),
                Asking::Settings => {
                    self.asking = Asking::Overrides;
                    return Ok(ProtocolAction::Say(message(
                        b'Q',
                        overrides_query().as_bytes(),
                    )));
                }
                Asking::Overrides if let Some(query) = counters_query(self.major) => {
                    self.asking = Asking::Counters;
                    return Ok(ProtocolAction::Say(message(b'Q', query.as_bytes())));
                }
                Asking::Overrides | Asking::Counters => {
                    return Ok(ProtocolAction::Done {
                        answer: self.said(),
                        farewell: message(b'X', b""),
                    });
                }
            },
            _ => {}
        }
        Ok(ProtocolAction::Listen)
    }
}

impl PostgresClient {
    /// The whole answer. A line of its own says that all overrides were sent, since there may be
    /// none.
    fn said(&mut self) -> Vec<u8> {
        let mut answer = std::mem::take(&mut self.answer);
        if !self.refused {
            let told = if self.overrides.len() > MOST_OVERRIDES {
                "more"
            } else {
                "all"
            };
            let told = format!("{OVERRIDES}\t{told}\n");
            let lines = self
                .overrides
                .iter()
                .take(MOST_OVERRIDES)
                .map(String::as_str);
            answer.extend(std::iter::once(told.as_str()).chain(lines));
        }
        answer.push_str(&self.counters);
        answer.into_bytes()
    }
}

/// A row as a line; names of standbys are reduced to their shape.
fn line(row: &[&[u8]]) -> String {
    let value =
        |name: &&[u8], value: &[u8]| redact::postgres_value(&String::from_utf8_lossy(name), value);
    let fields = row
        .iter()
        .enumerate()
        .map(|(at, field)| match (at, row.first()) {
            (1, Some(name)) => text::safe(&value(name, field)),
            _ => text::safe(field),
        });
    format!("{}\n", fields.collect::<Vec<_>>().join("\t"))
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

/// The major release in a parameter's status, where that is `server_version`.
fn major(status: &[u8]) -> Option<u64> {
    let version = status.strip_prefix(b"server_version\0")?;
    let digits = version
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .copied()
        .collect();
    String::from_utf8(digits).ok()?.parse().ok()
}

/// The primary message of an error.
fn complaint(body: &[u8]) -> String {
    let message = body
        .split(|b| *b == 0)
        .find_map(|field| field.strip_prefix(b"M"));
    message.map_or_else(|| "the server refuses".to_owned(), text::safe)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::conversation::Conversation as _;
    use super::*;

    fn ready() -> Vec<u8> {
        [
            message(b'R', &[0; 4]),
            message(b'S', b"server_version\x0016\0"),
            message(b'Z', b"I"),
        ]
        .concat()
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
        let mut conversation = PostgresClient::default();
        let mut steps = Vec::new();
        let rows = [
            data(&[
                Some("fsync"),
                Some("on"),
                None,
                Some("file"),
                Some("/a\tb"),
                Some("3"),
            ]),
            data(&[
                Some("synchronous_standby_names"),
                Some("2 (berlin, \"Hans\", *)"),
                None,
            ]),
            message(b'C', b"SELECT 2\0"),
            message(b'Z', b"I"),
            data(&[
                Some("(override)"),
                Some("app"),
                None,
                Some("synchronous_commit"),
                Some("off"),
            ]),
            message(b'C', b"SELECT 1\0"),
            message(b'Z', b"I"),
            data(&[Some("(wal_position)"), Some("83886080")]),
            message(b'Z', b"I"),
        ]
        .concat();
        for byte in [ready(), rows].concat() {
            let next = conversation.hear(&[byte]).unwrap();
            if next != ProtocolAction::Listen {
                steps.push(next);
            }
        }
        let answer = b"fsync\ton\t\tfile\t/a\\x09b\t3\nsynchronous_standby_names\tFIRST 2 (_, _, _)\t\n(overrides)\tall\n\
            (override)\tapp\t\tsynchronous_commit\toff\n(wal_position)\t83886080\n"
            .to_vec();
        let say = |query: String| ProtocolAction::Say(message(b'Q', query.as_bytes()));
        let done = ProtocolAction::Done {
            answer,
            farewell: message(b'X', b""),
        };
        let counters = say(counters_query(16).unwrap());
        assert_eq!(
            steps,
            [
                say(settings_query()),
                say(overrides_query()),
                counters,
                done
            ]
        );
    }

    #[test]
    fn demands_and_errors_are_denials() {
        let password = message(b'R', &3u32.to_be_bytes());
        assert_eq!(
            PostgresClient::default().hear(&password).unwrap_err().kind,
            MissKind::Denied
        );
        let error = message(b'E', b"SFATAL\0C28000\0Mrole \"x\x1b\" does not exist\0\0");
        let miss = PostgresClient::default().hear(&error).unwrap_err();
        assert_eq!(
            miss,
            Miss::new(MissKind::Denied, "role \"x\\x1b\" does not exist")
        );
        assert!(
            PostgresClient::default()
                .hear(&message(b'Z', b"I"))
                .is_err(),
            "ready without having let us in"
        );
    }

    /// The answer when this many overrides are told and then the server refuses, or does not.
    fn told(overrides: usize, refused: bool) -> String {
        let mut conversation = PostgresClient::default();
        let one = data(&[
            Some("(override)"),
            None,
            Some("r"),
            Some("synchronous_commit"),
            Some("off"),
        ]);
        let end = if refused {
            message(b'E', b"SERROR\0Mno\0\0")
        } else {
            message(b'C', b"SELECT\0")
        };
        let ready_again = || message(b'Z', b"I");
        let all = [
            ready(),
            ready_again(),
            one.repeat(overrides),
            end.clone(),
            ready_again(),
            end,
            ready_again(),
        ];
        all.iter()
            .find_map(|bytes| match conversation.hear(bytes).unwrap() {
                ProtocolAction::Done { answer, .. } => Some(String::from_utf8(answer).unwrap()),
                ProtocolAction::Listen | ProtocolAction::Say(_) => None,
            })
            .unwrap()
    }

    #[test]
    fn overrides_that_were_not_all_told_are_not_called_all() {
        assert_eq!(told(0, false), "(overrides)\tall\n");
        assert_eq!(told(1, true), "", "the rest is said");
        assert!(told(MOST_OVERRIDES, false).starts_with("(overrides)\tall\n"));
        let more = told(MOST_OVERRIDES + 1, false);
        assert!(
            more.starts_with("(overrides)\tmore\n") && more.lines().count() == MOST_OVERRIDES + 1
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
            let mut conversation = PostgresClient::default();
            for piece in pieces {
                match conversation.hear(&piece) {
                    Ok(ProtocolAction::Done { answer, .. }) => {
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
