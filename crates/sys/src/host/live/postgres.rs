//! Queries storage settings of a running PostgreSQL, over its Unix socket, as the user of this
//! process, who owns the server.
//!
//! This is a minimal client of the frontend/backend protocol: startup, four simple queries,
//! terminate. The session is read-only from the first packet on and searches only pg_catalog. Only
//! peer authentication is supported: a password is never requested, looked up or sent. The answer
//! is not trusted. The queries for overrides, slots and counters come last, because a server may
//! refuse them after it has sent the settings.

use std::path::Path;

use super::machine;
use super::{
    MAX_ANSWER_BYTES, MAX_MESSAGE_BYTES, ProtocolAction, ProtocolClient, WireFrame,
    connect_and_run_protocol,
};
use crate::host::pg_settings_lines::{
    COMPRESSIONS, LOADED, MAX_OVERRIDES, OVERRIDE, OVERRIDES, SLOT, SLOTS, counters,
};
use crate::host::{HostError, HostResult, redact};
use crate::servers::{self, ServerArea};
use crate::text;
use walwise_model::text::JoinText;

pub fn query_settings(socket: &Path, server: Option<u32>) -> HostResult {
    let user = machine::user_name(nix::unistd::geteuid().as_raw())?;
    let user = String::from_utf8_lossy(user.trim_ascii()).into_owned();
    connect_and_run_protocol(
        socket,
        &mut SettingsClient {
            user,
            ..SettingsClient::default()
        },
        server,
    )
}

/// The server cancels a statement that runs longer than `millis`.
pub(super) fn startup_packet(user: &str, millis: &str) -> Vec<u8> {
    const VERSION: u32 = 3 << 16;
    let mut body = VERSION.to_be_bytes().to_vec();
    let parameters = [
        ("user", user),
        ("database", "postgres"),
        ("application_name", "walwise"),
        ("client_encoding", "UTF8"),
        ("default_transaction_read_only", "on"),
        ("search_path", "pg_catalog"),
        ("statement_timeout", millis),
    ];
    for (name, value) in parameters {
        body.extend_from_slice(name.as_bytes());
        body.push(0);
        body.extend_from_slice(value.as_bytes());
        body.push(0);
    }
    body.push(0);
    [&encode_message_length(&body)[..], &body].concat()
}

/// The result also holds the time of the last configuration load (microseconds since 1970) and the
/// supported WAL compression methods.
fn settings_query() -> String {
    let names = servers::settings_safe_to_read(ServerArea::Pg)
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

/// Overrides of `synchronous_commit` for all roles and databases come first, then those that weaken
/// commits.
fn commit_overrides_query() -> String {
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
        MAX_OVERRIDES + 1
    )
}

/// The query for the inactive replication slot that retains most WAL, and for the most that any
/// slot retains. `None` before PostgreSQL 10, which renamed the WAL functions. A standby measures
/// from the last WAL that it has received. Slots that a standby synchronises have no consumer
/// there, so they do not count.
fn slots_query(major: u64) -> Option<String> {
    if major < 10 {
        return None;
    }
    // A lost slot retains nothing, but may still have a position.
    let (status, retains) = match major {
        13.. => ("wal_status", "wal_status IS DISTINCT FROM 'lost'"),
        _ => ("NULL", "true"),
    };
    let is_own = match major {
        17.. => "NOT (synced AND pg_is_in_recovery())",
        _ => "true",
    };
    let retained = "pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() \
         THEN GREATEST(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) \
         ELSE pg_current_wal_lsn() END, restart_lsn)";
    let slots =
        format!("FROM pg_catalog.pg_replication_slots WHERE {retains} AND restart_lsn IS NOT NULL");
    Some(format!(
        "SELECT '{SLOT}', slot_name::text, {status}, {retained}::text, (SELECT max({retained}) {slots})::text \
         {slots} AND NOT active AND {is_own} ORDER BY restart_lsn LIMIT 1\0"
    ))
}

const FLUSHES_BEFORE_18: [&str; 4] = [
    "wal_sync::text",
    "wal_write::text",
    "trunc(wal_sync_time * 1000)::bigint::text",
    "trunc(wal_write_time * 1000)::bigint::text",
];

const FLUSHES_FROM_18: [&str; 4] = [
    "sum(fsyncs)::text",
    "sum(writes)::text",
    "trunc(sum(fsync_time) * 1000)::bigint::text",
    "trunc(sum(write_time) * 1000)::bigint::text",
];

/// `None` before PostgreSQL 10, which renamed the WAL functions. On a standby, the write position
/// in the result is NULL.
fn counters_query(major: u64) -> Option<String> {
    use counters::{
        ARCHIVE_FAILED, ARCHIVED, ARCHIVER_FAILING, BUFFERS_FULL, CHECKPOINT, CHECKPOINTS_SINCE,
        NOW, POSITION, REDO, REQUESTED, STANDBYS, TIMED, WAITING, WAL_BYTES, WAL_IMAGES,
        WAL_RECORDS, WAL_SINCE, WAL_SYNC_TIME, WAL_SYNCS, WAL_WRITE_TIME, WAL_WRITES,
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
        // A role without pg_read_all_stats sees NULL in `sync_state` and `wait_event`.
        format!(
            "SELECT '{STANDBYS}', CASE WHEN pg_has_role('pg_read_all_stats', 'USAGE') THEN count(*)::text END \
             FROM pg_catalog.pg_stat_replication WHERE sync_state <> 'async'"
        ),
        format!(
            "SELECT '{WAITING}', CASE WHEN pg_has_role('pg_read_all_stats', 'USAGE') THEN count(*)::text END \
             FROM pg_catalog.pg_stat_activity WHERE wait_event = 'SyncRep'"
        ),
    ];
    let mut of = |view: &str, columns: &[(&str, &str)]| {
        let one = |(name, column): &(&str, &str)| {
            format!("SELECT '{name}', {column} FROM pg_catalog.{view}")
        };
        parts.extend(columns.iter().map(one));
    };
    let archived = us("last_archived_time");
    let columns = [
        (ARCHIVE_FAILED, "failed_count::text"),
        (
            ARCHIVER_FAILING,
            "CASE WHEN last_failed_time IS NOT NULL \
             AND (last_archived_time IS NULL OR last_failed_time > last_archived_time) THEN 't' ELSE 'f' END",
        ),
        (ARCHIVED, archived.as_str()),
    ];
    of("pg_stat_archiver", &columns);
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
        let (view, columns) = if major >= 18 {
            ("pg_stat_io WHERE object = 'wal'", FLUSHES_FROM_18)
        } else {
            ("pg_stat_wal", FLUSHES_BEFORE_18)
        };
        let names = [WAL_SYNCS, WAL_WRITES, WAL_SYNC_TIME, WAL_WRITE_TIME];
        let columns: Vec<(&str, &str)> = names.into_iter().zip(columns).collect();
        of(view, &columns);
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

pub(super) fn encode_message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &encode_message_length(body), body].concat()
}

fn encode_message_length(body: &[u8]) -> [u8; 4] {
    u32::try_from(body.len() + 4)
        .unwrap_or(u32::MAX)
        .to_be_bytes()
}

#[derive(Default)]
struct SettingsClient {
    user: String,
    received: Vec<u8>,
    authenticated: bool,
    overrides_refused: bool,
    slots_refused: bool,
    /// Major release of the server; 0 until the server has reported its version.
    major: u64,
    stage: QueryStage,
    answer: String,
    overrides: Vec<String>,
    slots: String,
    counters: String,
    /// Size of all rows received so far, limited to [`MAX_ANSWER_BYTES`].
    row_bytes: usize,
}

#[derive(Default, PartialEq, Eq)]
enum QueryStage {
    #[default]
    Startup,
    Settings,
    Overrides,
    Slots,
    Counters,
}

impl ProtocolClient for SettingsClient {
    fn first_message(&self) -> Vec<u8> {
        startup_packet(&self.user, "1500")
    }

    fn recv_buffer(&mut self) -> &mut Vec<u8> {
        &mut self.received
    }

    fn split_frame(bytes: &[u8]) -> Result<Option<WireFrame<'_>>, HostError> {
        split_first_message(bytes)
    }

    fn partial_answer(&mut self) -> Option<Vec<u8>> {
        match self.stage {
            QueryStage::Startup | QueryStage::Settings => return None,
            QueryStage::Overrides => {
                self.overrides_refused = true;
                self.slots_refused = true;
            }
            QueryStage::Slots => self.slots_refused = true,
            QueryStage::Counters => self.counters.clear(),
        }
        Some(self.take_answer())
    }

    fn handle_message(&mut self, kind: u8, body: &[u8]) -> Result<ProtocolAction, HostError> {
        let garbled = || HostError::failed("the server's answer is malformed");
        match kind {
            b'R' => {
                check_authentication_ok(body)?;
                self.authenticated = true;
            }
            b'S' => self.major = server_major_from_parameter_status(body).unwrap_or(self.major),
            b'E' => match self.stage {
                QueryStage::Overrides => self.overrides_refused = true,
                QueryStage::Slots => self.slots_refused = true,
                QueryStage::Counters => self.counters.clear(),
                QueryStage::Startup | QueryStage::Settings => {
                    return Err(HostError::denied(error_message(body)));
                }
            },
            b'D' => {
                let line = format_redacted_row(&parse_data_row(body).ok_or_else(garbled)?);
                self.row_bytes += line.len();
                if self.row_bytes > MAX_ANSWER_BYTES {
                    return Err(garbled());
                }
                match self.stage {
                    QueryStage::Settings => self.answer.push_str(&line),
                    QueryStage::Overrides if self.overrides.len() <= MAX_OVERRIDES => {
                        self.overrides.push(line);
                    }
                    QueryStage::Slots => self.slots.push_str(&line),
                    QueryStage::Counters => self.counters.push_str(&line),
                    QueryStage::Overrides | QueryStage::Startup => return Err(garbled()),
                }
            }
            b'Z' => match self.stage {
                QueryStage::Startup if self.authenticated => {
                    self.stage = QueryStage::Settings;
                    return Ok(ProtocolAction::Send(encode_message(
                        b'Q',
                        settings_query().as_bytes(),
                    )));
                }
                QueryStage::Startup => return Err(garbled()),
                QueryStage::Settings => {
                    self.stage = QueryStage::Overrides;
                    return Ok(ProtocolAction::Send(encode_message(
                        b'Q',
                        commit_overrides_query().as_bytes(),
                    )));
                }
                QueryStage::Overrides if let Some(query) = slots_query(self.major) => {
                    self.stage = QueryStage::Slots;
                    return Ok(ProtocolAction::Send(encode_message(b'Q', query.as_bytes())));
                }
                QueryStage::Slots if let Some(query) = counters_query(self.major) => {
                    self.stage = QueryStage::Counters;
                    return Ok(ProtocolAction::Send(encode_message(b'Q', query.as_bytes())));
                }
                QueryStage::Overrides | QueryStage::Slots | QueryStage::Counters => {
                    return Ok(ProtocolAction::Done {
                        answer: self.take_answer(),
                        farewell: encode_message(b'X', b""),
                    });
                }
            },
            _ => {}
        }
        Ok(ProtocolAction::Recv)
    }
}

impl SettingsClient {
    /// Unless the server refused the query for overrides, a line states whether the answer has all
    /// overrides or only the first ones.
    fn take_answer(&mut self) -> Vec<u8> {
        let mut answer = std::mem::take(&mut self.answer);
        if !self.overrides_refused {
            let extent = if self.overrides.len() > MAX_OVERRIDES {
                "more"
            } else {
                "all"
            };
            answer.extend([OVERRIDES, "\t", extent, "\n"]);
            let lines = self.overrides.iter().take(MAX_OVERRIDES);
            answer.extend(lines.map(String::as_str));
        }
        if self.major >= 10 && !self.slots_refused {
            let count = self.slots.lines().count().to_string();
            answer.extend([SLOTS, "\t", &count, "\n", &self.slots]);
        }
        answer.push_str(&self.counters);
        answer.into_bytes()
    }
}

pub(super) fn split_first_message(bytes: &[u8]) -> Result<Option<WireFrame<'_>>, HostError> {
    let Some((kind, rest)) = bytes.split_first() else {
        return Ok(None);
    };
    let Some((length, rest)) = rest.split_first_chunk() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes(*length) as usize;
    match length
        .checked_sub(4)
        .filter(|length| *length <= MAX_MESSAGE_BYTES)
    {
        Some(length) => Ok(rest
            .split_at_checked(length)
            .map(|(body, behind)| (*kind, body, behind))),
        None => Err(HostError::failed(
            "no PostgreSQL server answers on this socket",
        )),
    }
}

/// An error unless `body`, that of an Authentication message, is AuthenticationOk.
pub(super) fn check_authentication_ok(body: &[u8]) -> Result<(), HostError> {
    match body.first_chunk().copied().map(u32::from_be_bytes) {
        Some(0) => Ok(()),
        Some(_) => Err(HostError::denied(
            "the server requires a password or another credential",
        )),
        None => Err(HostError::failed("the server's answer is malformed")),
    }
}

fn format_redacted_row(row: &[&[u8]]) -> String {
    let value = |name: &&[u8], value: &[u8]| {
        redact::postgres::redact_value(&String::from_utf8_lossy(name), value)
    };
    let fields = row
        .iter()
        .enumerate()
        .map(|(at, field)| match (at, row.first()) {
            (1, Some(name)) => text::display_safe(&value(name, field)),
            _ => text::display_safe(field),
        });
    format!("{}\n", fields.join_with("\t"))
}

pub(super) fn parse_data_row(body: &[u8]) -> Option<Vec<&[u8]>> {
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

pub(super) fn server_major_from_parameter_status(status: &[u8]) -> Option<u64> {
    let version = status.strip_prefix(b"server_version\0")?;
    let digits = version
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .copied()
        .collect();
    String::from_utf8(digits).ok()?.parse().ok()
}

pub(super) fn error_message(body: &[u8]) -> String {
    let message = body
        .split(|b| *b == 0)
        .find_map(|field| field.strip_prefix(b"M"));
    message.map_or_else(|| "the server refused".to_owned(), text::display_safe)
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::ProtocolClient as _;
    use super::*;
    use crate::host::HostErrorKind;

    pub fn ready_messages() -> Vec<u8> {
        [
            encode_message(b'R', &[0; 4]),
            encode_message(b'S', b"server_version\x0016\0"),
            encode_message(b'Z', b"I"),
        ]
        .concat()
    }

    pub fn data_row(fields: &[Option<&str>]) -> Vec<u8> {
        let mut body = u16::try_from(fields.len()).unwrap().to_be_bytes().to_vec();
        for field in fields {
            let length = field.map_or(-1, |f| i32::try_from(f.len()).unwrap());
            body.extend_from_slice(&length.to_be_bytes());
            body.extend_from_slice(field.unwrap_or_default().as_bytes());
        }
        encode_message(b'D', &body)
    }

    #[test]
    fn session_fed_byte_by_byte_completes() {
        let mut conversation = SettingsClient::default();
        let mut steps = Vec::new();
        let rows = [
            data_row(&[
                Some("fsync"),
                Some("on"),
                None,
                Some("file"),
                Some("/a\tb"),
                Some("3"),
            ]),
            data_row(&[
                Some("synchronous_standby_names"),
                Some("2 (berlin, \"Hans\", *)"),
                None,
            ]),
            encode_message(b'C', b"SELECT 2\0"),
            encode_message(b'Z', b"I"),
            data_row(&[
                Some("(override)"),
                Some("app"),
                None,
                Some("synchronous_commit"),
                Some("off"),
            ]),
            encode_message(b'C', b"SELECT 1\0"),
            encode_message(b'Z', b"I"),
            data_row(&[
                Some("(slot)"),
                Some("s\t1"),
                Some("extended"),
                Some("4096"),
                Some("8192"),
            ]),
            encode_message(b'C', b"SELECT 1\0"),
            encode_message(b'Z', b"I"),
            data_row(&[Some("(wal_position)"), Some("83886080")]),
            encode_message(b'Z', b"I"),
        ]
        .concat();
        for byte in [ready_messages(), rows].concat() {
            let next = conversation.handle_received_bytes(&[byte]).unwrap();
            if next != ProtocolAction::Recv {
                steps.push(next);
            }
        }
        let answer = b"fsync\ton\t\tfile\t/a\\x09b\t3\nsynchronous_standby_names\tFIRST 2 (_, _, _)\t\n(overrides)\tall\n\
            (override)\tapp\t\tsynchronous_commit\toff\n(slots)\t1\n(slot)\ts\\x091\textended\t4096\t8192\n\
            (wal_position)\t83886080\n"
            .to_vec();
        let say = |query: String| ProtocolAction::Send(encode_message(b'Q', query.as_bytes()));
        let done = ProtocolAction::Done {
            answer,
            farewell: encode_message(b'X', b""),
        };
        let counters = say(counters_query(16).unwrap());
        assert_eq!(
            steps,
            [
                say(settings_query()),
                say(commit_overrides_query()),
                say(slots_query(16).unwrap()),
                counters,
                done
            ]
        );
    }

    #[test]
    fn password_requests_and_errors_are_denied() {
        let password = encode_message(b'R', &3u32.to_be_bytes());
        assert_eq!(
            SettingsClient::default()
                .handle_received_bytes(&password)
                .unwrap_err()
                .kind,
            HostErrorKind::Denied
        );
        let error = encode_message(b'E', b"SFATAL\0C28000\0Mrole \"x\x1b\" does not exist\0\0");
        let miss = SettingsClient::default()
            .handle_received_bytes(&error)
            .unwrap_err();
        assert_eq!(miss, HostError::denied("role \"x\\x1b\" does not exist"));
        assert!(
            SettingsClient::default()
                .handle_received_bytes(&encode_message(b'Z', b"I"))
                .is_err(),
            "ready without authentication"
        );
    }

    fn answer_with_overrides(overrides: usize, refused: bool) -> String {
        let mut conversation = SettingsClient::default();
        let one = data_row(&[
            Some("(override)"),
            None,
            Some("r"),
            Some("synchronous_commit"),
            Some("off"),
        ]);
        let end = if refused {
            encode_message(b'E', b"SERROR\0Mno\0\0")
        } else {
            encode_message(b'C', b"SELECT\0")
        };
        let ready_again = || encode_message(b'Z', b"I");
        let all = [
            ready_messages(),
            ready_again(),
            one.repeat(overrides),
            end.clone(),
            ready_again(),
            end.clone(),
            ready_again(),
            end,
            ready_again(),
        ];
        all.iter()
            .find_map(
                |bytes| match conversation.handle_received_bytes(bytes).unwrap() {
                    ProtocolAction::Done { answer, .. } => Some(String::from_utf8(answer).unwrap()),
                    ProtocolAction::Recv | ProtocolAction::Send(_) => None,
                },
            )
            .unwrap()
    }

    #[test]
    fn truncated_overrides_are_marked_more() {
        assert_eq!(
            answer_with_overrides(0, false),
            "(overrides)\tall\n(slots)\t0\n"
        );
        assert_eq!(
            answer_with_overrides(1, true),
            "",
            "the server refused the query"
        );
        assert!(answer_with_overrides(MAX_OVERRIDES, false).starts_with("(overrides)\tall\n"));
        let more = answer_with_overrides(MAX_OVERRIDES + 1, false);
        assert!(
            more.starts_with("(overrides)\tmore\n") && more.lines().count() == MAX_OVERRIDES + 2
        );
    }

    proptest! {
        #[test]
        fn arbitrary_replies_yield_display_safe_answers(pieces in prop::collection::vec(
            prop_oneof![
                any::<Vec<u8>>(),
                Just(ready_messages()),
                (prop::sample::select(b"RSKZEDTCN".to_vec()), any::<Vec<u8>>()).prop_map(|(k, b)| encode_message(k, &b)),
            ], 0..6)
        ) {
            let mut conversation = SettingsClient::default();
            for piece in pieces {
                match conversation.handle_received_bytes(&piece) {
                    Ok(ProtocolAction::Done { answer, .. }) => {
                        let text = String::from_utf8(answer).unwrap();
                        prop_assert!(!text.chars().any(|c| text::is_display_unsafe(c) && !matches!(c, '\t' | '\n')));
                    }
                    Ok(_) => {}
                    Err(miss) => {
                        prop_assert!(!miss.detail.chars().any(text::is_display_unsafe));
                        break;
                    }
                }
            }
        }
    }
}
