//! Queries storage settings of a running PostgreSQL, over its Unix socket, as the user of this
//! process, who owns the server.
//!
//! This is a minimal client of the frontend/backend protocol: startup, four simple queries,
//! terminate. The session is read-only from the first packet on and searches only pg_catalog. Only
//! peer authentication is supported: a password is never requested, looked up or sent. The answer
//! is not trusted. The queries for overrides, slots and counters come last, because a server may
//! refuse them after it has sent the settings.

use std::path::Path;

use super::conversation::{
    ProtocolAction, ProtocolClient, QuerySequence, SettingsQueries, connect,
    malformed_answer_error, run_protocol,
};
use super::machine;
use crate::host::pg_settings_lines::{
    COMPRESSIONS, LOADED, MAX_OVERRIDES, OVERRIDE, OVERRIDES, SLOT, SLOTS,
};
use crate::host::{HostError, HostResult, redact};
use crate::servers::{self, ServerArea};
use crate::text::{self, bytes};
use walwise_model::text::JoinText;

pub fn query_settings(socket: &Path, server: u32) -> HostResult {
    let user = machine::own_user_name()?;
    let mut client = PostgresProtocolClient::new(&user, "1500", settings_queries());
    run_protocol(&connect(socket)?, &mut client, server)
}

fn settings_queries() -> SettingsQueries {
    SettingsQueries {
        query: nth_settings_query,
        format_row: format_redacted_row,
        join_results,
        results: Vec::new(),
    }
}

fn nth_settings_query(number: usize, major: u64) -> Option<String> {
    match number {
        0 => Some(settings_query()),
        1 => Some(commit_overrides_query()),
        2 => slots_query(major),
        3 => counters_query(major),
        _ => None,
    }
}

/// Unless the server refused the query for overrides, a line states whether the answer has all
/// overrides or only the first ones.
fn join_results(results: &[Option<String>]) -> String {
    let result = |number: usize| results.get(number)?.as_deref();
    let mut answer = result(0).unwrap_or_default().to_owned();
    if let Some(overrides) = result(1) {
        let is_cut = overrides.lines().count() > MAX_OVERRIDES;
        answer.extend([OVERRIDES, "\t", if is_cut { "more" } else { "all" }, "\n"]);
        answer.extend(overrides.split_inclusive('\n').take(MAX_OVERRIDES));
    }
    if let Some(slots) = result(2) {
        let count = slots.lines().count().to_string();
        answer.extend([SLOTS, "\t", &count, "\n", slots]);
    }
    answer.extend(result(3));
    answer
}

/// The server cancels a statement that runs longer than `millis`.
fn startup_packet(user: &str, millis: &str) -> Vec<u8> {
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

/// Joins the queries for the counters that the release has, from `counters.txt`. `None` for a
/// release without counters.
fn counters_query(major: u64) -> Option<String> {
    let query = |line: &'static str| {
        let mut fields = line.splitn(3, ' ');
        let first: u64 = fields.next()?.parse().ok()?;
        let is_listed = match fields.next()? {
            "-" => major >= first,
            last => (first..=last.parse().ok()?).contains(&major),
        };
        fields.next().filter(|_| is_listed)
    };
    let lines = include_str!("postgres/counters.txt").lines();
    let queries: Vec<&str> = lines.filter_map(query).collect();
    (!queries.is_empty()).then(|| format!("{}\0", queries.join(" UNION ALL ")))
}

fn encode_message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &encode_message_length(body), body].concat()
}

fn encode_message_length(body: &[u8]) -> [u8; 4] {
    u32::try_from(body.len() + 4)
        .unwrap_or(u32::MAX)
        .to_be_bytes()
}

pub(super) struct PostgresProtocolClient<Q> {
    user: String,
    statement_timeout_ms: &'static str,
    authenticated: bool,
    /// Major release of the server; 0 until the server has reported its version.
    major: u64,
    queries: Q,
}

impl<Q: QuerySequence> PostgresProtocolClient<Q> {
    pub(super) fn new(user: &[u8], statement_timeout_ms: &'static str, queries: Q) -> Self {
        Self {
            user: String::from_utf8_lossy(user).into_owned(),
            statement_timeout_ms,
            authenticated: false,
            major: 0,
            queries,
        }
    }
}

impl<Q: QuerySequence> ProtocolClient for PostgresProtocolClient<Q> {
    const HEADER_BYTES: usize = 5;

    const WRONG_SERVER: &str = "the program that listens on this socket is not a PostgreSQL server";

    fn parse_header(header: &[u8]) -> Option<(u8, usize)> {
        let (kind, length) = header.split_first()?;
        let length = u32::from_be_bytes(length.try_into().ok()?) as usize;
        Some((*kind, length.checked_sub(4)?))
    }

    fn first_message(&self) -> Vec<u8> {
        startup_packet(&self.user, self.statement_timeout_ms)
    }

    fn handle_message(&mut self, kind: u8, body: &[u8]) -> Result<ProtocolAction, HostError> {
        match kind {
            b'R' => {
                check_authentication_ok(body)?;
                self.authenticated = true;
            }
            b'S' => self.major = server_major_from_parameter_status(body).unwrap_or(self.major),
            b'E' => {
                let error = HostError::denied(error_message(body));
                self.queries.receive_query_error(error)?;
            }
            b'D' => {
                let row = parse_data_row(body).ok_or_else(malformed_answer_error)?;
                self.queries.receive_row(&row)?;
            }
            b'Z' if !self.authenticated => return Err(malformed_answer_error()),
            b'Z' => {
                return Ok(match self.queries.next_query(self.major)? {
                    Some(query) => ProtocolAction::Send(encode_message(b'Q', query.as_bytes())),
                    None => ProtocolAction::Done {
                        answer: self.queries.take_answer(),
                        farewell: encode_message(b'X', b""),
                    },
                });
            }
            _ => {}
        }
        Ok(ProtocolAction::Recv)
    }

    fn queries(&mut self) -> &mut impl QuerySequence {
        &mut self.queries
    }
}

/// An error unless `body`, that of an Authentication message, is AuthenticationOk.
fn check_authentication_ok(body: &[u8]) -> Result<(), HostError> {
    match body.first_chunk().copied().map(u32::from_be_bytes) {
        Some(0) => Ok(()),
        Some(_) => Err(HostError::denied(
            "the server requires a password or another authentication method",
        )),
        None => Err(malformed_answer_error()),
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

fn parse_data_row(body: &[u8]) -> Option<Vec<&[u8]>> {
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

fn server_major_from_parameter_status(status: &[u8]) -> Option<u64> {
    let version = status.strip_prefix(b"server_version\0")?;
    let digits = version.split(|b| !b.is_ascii_digit()).next()?;
    bytes::parse(digits)
}

fn error_message(body: &[u8]) -> String {
    let message = body
        .split(|b| *b == 0)
        .find_map(|field| field.strip_prefix(b"M"));
    message.map_or_else(
        || "the server returned an error without a message".to_owned(),
        text::display_safe,
    )
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::super::conversation::tests::actions_after;
    use super::*;
    use crate::host::HostErrorKind;

    fn new_client() -> PostgresProtocolClient<SettingsQueries> {
        PostgresProtocolClient::new(b"postgres", "1500", settings_queries())
    }

    pub fn ready_again() -> Vec<u8> {
        encode_message(b'Z', b"I")
    }

    pub fn query_message(query: &str) -> Vec<u8> {
        encode_message(b'Q', query.as_bytes())
    }

    pub fn server_message(kind: u8, body: &[u8]) -> Vec<u8> {
        encode_message(kind, body)
    }

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
    fn session_completes() {
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
        let said = [ready_messages(), rows].concat();
        let steps = actions_after(&mut new_client(), &said).unwrap();
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

    /// Other releases have the counters under other names, or lack them.
    #[test]
    fn every_counter_has_one_query_in_recent_releases() {
        use crate::host::pg_settings_lines::counters::*;
        let all = [
            NOW,
            POSITION,
            REDO,
            CHECKPOINT,
            WAL_BYTES,
            WAL_RECORDS,
            WAL_IMAGES,
            BUFFERS_FULL,
            WAL_SYNCS,
            WAL_WRITES,
            WAL_SYNC_TIME,
            WAL_WRITE_TIME,
            WAL_SINCE,
            TIMED,
            REQUESTED,
            CHECKPOINTS_SINCE,
            ARCHIVE_FAILED,
            ARCHIVER_FAILING,
            ARCHIVED,
            STANDBYS,
            WAITING,
        ];
        for major in 14..20 {
            let query = counters_query(major).unwrap();
            let count = |name: &str| query.matches(&format!("SELECT '{name}', ")).count();
            assert!(all.into_iter().all(|name| count(name) == 1), "{major}");
            assert_eq!(query.split(" UNION ALL ").count(), all.len(), "{major}");
        }
        assert_eq!(counters_query(9), None);
    }

    #[test]
    fn password_requests_and_errors_are_denied() {
        let password = encode_message(b'R', &3u32.to_be_bytes());
        let refused = |said: &[u8]| actions_after(&mut new_client(), said).unwrap_err();
        assert_eq!(refused(&password).kind, HostErrorKind::Denied);
        let error = encode_message(b'E', b"SFATAL\0C28000\0Mrole \"x\x1b\" does not exist\0\0");
        assert_eq!(
            refused(&error),
            HostError::denied("role \"x\\x1b\" does not exist")
        );
        // Ready without authentication.
        assert!(refused(&ready_again()).detail.contains("malformed"));
        // A row before any query.
        let row = [encode_message(b'R', &[0; 4]), data_row(&[None])].concat();
        assert!(refused(&row).detail.contains("malformed"));
    }

    fn answer_with_overrides(overrides: usize, refused: bool) -> String {
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
        let actions = actions_after(&mut new_client(), &all.concat()).unwrap();
        match actions.last() {
            Some(ProtocolAction::Done { answer, .. }) => String::from_utf8(answer.clone()).unwrap(),
            other => panic!("{other:?}"),
        }
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
            match actions_after(&mut new_client(), &pieces.concat()) {
                Ok(actions) => for action in actions {
                    if let ProtocolAction::Done { answer, .. } = action {
                        let text = String::from_utf8(answer).unwrap();
                        prop_assert!(!text.chars().any(|c| text::is_display_unsafe(c) && !matches!(c, '\t' | '\n')));
                    }
                },
                Err(miss) => prop_assert!(!miss.detail.chars().any(text::is_display_unsafe)),
            }
        }
    }
}
