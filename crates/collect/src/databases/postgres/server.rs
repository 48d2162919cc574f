//! A running server's own settings, queried through its socket.
//!
//! Root queries as the server's user, whom initdb makes a superuser and `peer` authentication
//! accepts by default. Only a superuser sees which file sets a value, so the source may be the
//! server itself (PostgreSQL manual, *pg_settings*).
//!
//! If a database or role has its own value of a setting, walwise's session does not see the
//! server-wide value. That value is then taken from the files. A value for every role in every
//! database counts as server-wide.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::settings;
use crate::databases::SettingReading;
use crate::facts::catalog::postgres::{SynchronousCommit, SynchronousCommitOverride};
use crate::facts::{Choice, Reading, Source};
use crate::host::pg_settings_lines::{COMPRESSIONS, LOADED, OVERRIDE, OVERRIDES, SLOT, SLOTS};
use crate::host::{Host, Question, path_from_bytes};
use crate::text::{decode_display_safe, display_path, display_safe};
use crate::version::Version;

#[derive(Debug)]
pub struct SettingsReply {
    socket: String,
    rows: BTreeMap<String, PgSetting>,
    /// `None` if the server did not list the settings of databases and roles.
    overrides: Option<Vec<SettingOverride>>,
    pub has_truncated_overrides: bool,
    pub inactive_slot: Reading<Option<InactiveSlot>>,
}

/// The inactive replication slot that retains most WAL.
#[derive(Clone, Debug)]
pub struct InactiveSlot {
    pub name: String,
    pub status: String,
    /// Retained WAL in bytes.
    pub retained: u64,
    /// The most WAL that any slot retains, in bytes.
    pub most_retained: u64,
}

/// A row of pg_db_role_setting; an empty database or role means all.
#[derive(Debug)]
struct SettingOverride {
    database: String,
    role: String,
    name: String,
    value: Vec<u8>,
}

#[derive(Debug)]
struct PgSetting {
    value: Vec<u8>,
    origin: String,
    /// The line of a configuration file that sets the value, if the server shows it.
    line: Option<Source>,
}

const SYNCHRONOUS_COMMIT: &str = "synchronous_commit";

/// Values of `pg_settings.source` that apply only to the session that queries them.
const SESSION_SOURCES: [&str; 6] = [
    "database",
    "user",
    "database user",
    "client",
    "session",
    "interactive",
];

/// `None` if the server does not answer, so that the files are the only source.
pub fn query_settings(host: &dyn Host, socket: &Path) -> Option<SettingsReply> {
    let answer = host.ask(&Question::PgSettings(socket.to_owned())).ok()?;
    let fields = |line: &[u8]| -> ReplyLine {
        let line = String::from_utf8_lossy(line);
        line.split('\t').map(decode_display_safe).collect()
    };
    let lines: Vec<ReplyLine> = answer.split(|b| *b == b'\n').map(fields).collect();
    let of_kind = |kind: &'static str| {
        lines
            .iter()
            .filter(move |line| line.first().is_some_and(|first| first == kind.as_bytes()))
    };
    let rows: BTreeMap<_, _> = lines.iter().filter_map(parse_setting).collect();
    let overrides = rows.get(OVERRIDES);
    let socket = display_path(socket);
    let inactive_slot = match rows.get(SLOTS) {
        Some(row) => {
            let source = Source::Server {
                socket: socket.clone(),
            };
            let slot = of_kind(SLOT).next();
            Reading::known(row.value.as_slice(), source).and_then(|count| match (count, slot) {
                (b"0", None) => Ok(None),
                (b"1", Some(line)) => match parse_inactive_slot(line) {
                    None => {
                        Err("the amount of WAL retained by the slot is not a number".to_owned())
                    }
                    slot => Ok(slot),
                },
                _ => Err("the server's list of replication slots is malformed".to_owned()),
            })
        }
        None => Reading::uncollected("the server did not list its replication slots"),
    };
    let has_truncated_overrides = overrides.is_some_and(|row| row.value == b"more");
    let overrides = overrides.map(|_| of_kind(OVERRIDE).filter_map(parse_override).collect());
    (!rows.is_empty()).then_some(SettingsReply {
        socket,
        rows,
        overrides,
        has_truncated_overrides,
        inactive_slot,
    })
}

/// The fields of one line, with their escapes decoded.
type ReplyLine = Vec<Vec<u8>>;

fn parse_override(line: &ReplyLine) -> Option<SettingOverride> {
    let [_, database, role, name, value, ..] = line.as_slice() else {
        return None;
    };
    let [database, role, name] = [database, role, name].map(|field| display_safe(field));
    Some(SettingOverride {
        database,
        role,
        name,
        value: value.clone(),
    })
}

fn parse_inactive_slot(line: &ReplyLine) -> Option<InactiveSlot> {
    let [_, name, status, retained, most_retained, ..] = line.as_slice() else {
        return None;
    };
    // On a standby the number is negative if the slot is ahead of the WAL received.
    let bytes = |field: &[u8]| {
        Some(
            display_safe(field)
                .parse::<i64>()
                .ok()?
                .max(0)
                .unsigned_abs(),
        )
    };
    Some(InactiveSlot {
        name: display_safe(name),
        status: display_safe(status),
        retained: bytes(retained)?,
        most_retained: bytes(most_retained)?,
    })
}

impl SettingOverride {
    fn applies_to_all_sessions(&self) -> bool {
        self.database.is_empty() && self.role.is_empty()
    }

    fn database_and_role_text(&self) -> String {
        match (self.database.as_str(), self.role.as_str()) {
            ("", role) => format!("role {}", quote_identifier(role)),
            (database, "") => format!("database {}", quote_identifier(database)),
            (database, role) => format!(
                "role {} in database {}",
                quote_identifier(role),
                quote_identifier(database)
            ),
        }
    }
}

fn quote_identifier(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
    if name.chars().all(plain) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// Parses one line of the answer to [`Question::PgSettings`]. The fields are made display-safe
/// again, because a capture may contain anything.
fn parse_setting(line: &ReplyLine) -> Option<(String, PgSetting)> {
    let [name, value, rest @ ..] = line.as_slice() else {
        return None;
    };
    let text = |at| rest.get(at).map(|field: &Vec<u8>| display_safe(field));
    let [unit, origin, file, number] = [0, 1, 2, 3].map(|at| text(at).unwrap_or_default());
    let value = value_in_kb(value, &unit).map_or_else(|| value.clone(), String::into_bytes);
    let number = number.parse().ok().filter(|_| !file.is_empty());
    let setting = PgSetting {
        value,
        origin,
        line: number.map(|number| Source::from_file_line(file, number)),
    };
    (!name.is_empty()).then(|| (display_safe(name), setting))
}

/// Converts a value to kB, because its unit depends on the server's release and build. `None` for
/// another unit or a malformed number.
fn value_in_kb(value: &[u8], unit: &str) -> Option<String> {
    let (times, kilobytes) = match (unit.strip_suffix("kB"), unit.strip_suffix("MB")) {
        (Some(times), _) => (times, 1),
        (None, Some(times)) => (times, 1024),
        (None, None) => return None,
    };
    let times: u64 = if times.is_empty() {
        1
    } else {
        times.parse().ok()?
    };
    let number: u64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    Some(format!(
        "{}kB",
        number.checked_mul(times)?.checked_mul(kilobytes)?
    ))
}

impl SettingsReply {
    fn source(&self) -> Source {
        Source::Server {
            socket: self.socket.clone(),
        }
    }

    pub fn socket_directory_and_port(&self) -> Option<(String, u64, Source)> {
        let (directory, port) = self.socket.rsplit_once("/.s.PGSQL.")?;
        Some((directory.to_owned(), port.parse().ok()?, self.source()))
    }

    /// The value that applies to all sessions; `None` if the server does not report one.
    pub fn setting_reading(&self, name: &str) -> Option<SettingReading> {
        let row = self.rows.get(name)?;
        if SESSION_SOURCES.contains(&row.origin.as_str()) {
            let mut all = self.overrides.iter().flatten();
            let everybodys = all.find(|one| one.applies_to_all_sessions() && one.name == name)?;
            return Some(Reading::known(everybodys.value.clone(), self.source()));
        }
        let source = row.line.clone().unwrap_or_else(|| self.source());
        Some(Reading::known(row.value.clone(), source))
    }

    pub fn config_load_time_us(&self) -> Option<u64> {
        String::from_utf8_lossy(&self.rows.get(LOADED)?.value)
            .parse()
            .ok()
    }

    /// The values that `wal_compression` accepts. Absent before PostgreSQL 15, where the setting is
    /// a switch.
    pub fn wal_compressions(&self) -> Reading<Vec<String>> {
        match self.rows.get(COMPRESSIONS) {
            Some(row) if !row.value.is_empty() => {
                let words = display_safe(&row.value);
                Reading::known(words.split(',').map(str::to_owned).collect(), self.source())
            }
            _ => Reading::absent("the server lists no values for wal_compression"),
        }
    }

    pub fn synchronous_commit_overrides(&self) -> Reading<Vec<SynchronousCommitOverride>> {
        let Some(all) = &self.overrides else {
            return Reading::denied(
                "the server did not report the settings of databases and roles",
            );
        };
        let own = all
            .iter()
            .filter(|one| one.name == SYNCHRONOUS_COMMIT && !one.applies_to_all_sessions());
        let read = |one: &SettingOverride| {
            let word = display_safe(one.value.trim_ascii()).to_ascii_lowercase();
            let word = settings::normalise_enum_value(SYNCHRONOUS_COMMIT, &word);
            Ok(SynchronousCommitOverride {
                owner: one.database_and_role_text(),
                value: SynchronousCommit::parse_word(&word)?,
            })
        };
        Reading::known((), self.source()).and_then(|()| own.map(read).collect())
    }

    pub fn version(&self) -> Option<Reading<Version>> {
        let version = Version::parse(&display_safe(&self.rows.get("server_version")?.value))?;
        Some(Reading::known(version, self.source()))
    }

    /// The data directory, which the server shows to superusers only.
    pub fn data_directory(&self) -> Option<PathBuf> {
        let value = &self.rows.get("data_directory")?.value;
        (!value.is_empty()).then(|| path_from_bytes(value.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::UnknownReason;
    use crate::testing::FakeHost;

    fn settings_reply(text: &[u8]) -> Option<SettingsReply> {
        let socket = Path::new("/run/.s.PGSQL.5432");
        query_settings(
            &FakeHost::default().with_answer(Question::PgSettings(socket.into()), text),
            socket,
        )
    }

    #[test]
    fn source_is_config_file_or_server() {
        let text = b"server_version\t15.20 (Debian 15.20-1)\t\tdefault\t\t\n\
            fsync\toff\t\tconfiguration file\t/pg/postgresql.conf\t12\n\
            wal_level\treplica\t\tdefault\t\t\n\
            synchronous_commit\toff\t\tuser\t\t\n";
        let answer = settings_reply(text).unwrap();
        let source = |name| {
            answer
                .setting_reading(name)
                .map(|reading| reading.source().unwrap().to_string())
        };
        assert_eq!(source("fsync").as_deref(), Some("/pg/postgresql.conf:12"));
        assert_eq!(
            source("wal_level").as_deref(),
            Some("the server at /run/.s.PGSQL.5432")
        );
        assert_eq!(
            source("synchronous_commit"),
            None,
            "that is our role's, not the server's"
        );
        assert_eq!(
            answer.version().unwrap().value().unwrap().numeric_part(),
            "15.20"
        );
    }

    #[test]
    fn sizes_are_converted_to_kb() {
        for (value, unit, expected) in [
            ("1024", "MB", "1048576kB"),
            ("64", "16MB", "1048576kB"),
            ("32", "8kB", "256kB"),
            ("100", "kB", "100kB"),
            ("-1", "kB", "-1"),
            ("300", "s", "300"),
            ("18446744073709551615", "16MB", "18446744073709551615"),
        ] {
            let answer =
                settings_reply(format!("max_wal_size\t{value}\t{unit}\tdefault\t\t\n").as_bytes())
                    .unwrap();
            let told = answer
                .setting_reading("max_wal_size")
                .and_then(|told| told.value().cloned());
            assert_eq!(told.as_deref(), Some(expected.as_bytes()), "{value} {unit}");
        }
    }

    #[test]
    fn database_and_role_overrides_are_separate() {
        let text = b"synchronous_commit\toff\t\tuser\t\t\n(loaded)\t1700000000123456\t\t\t\t\n(overrides)\tall\n\
            (override)\t\t\tsynchronous_commit\tlocal\n(override)\tapp\t\tsynchronous_commit\tFALSE\n\
            (override)\t\ta: on\tsynchronous_commit\ton\n(override)\tapp\tb\\x09\tsynchronous_commit\tremote_write\n";
        let answer = settings_reply(text).unwrap();
        assert_eq!(answer.config_load_time_us(), Some(1_700_000_000_123_456));
        assert_eq!(
            answer
                .setting_reading("synchronous_commit")
                .unwrap()
                .value()
                .unwrap(),
            b"local",
            "ALTER ROLE ALL"
        );
        let overrides = answer.synchronous_commit_overrides();
        let shown: Vec<String> = overrides
            .value()
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            shown,
            [
                "database app: off",
                "role \"a: on\": on",
                "role \"b\\x09\" in database app: remote_write"
            ]
        );
    }

    #[test]
    fn wal_compressions_are_those_listed_by_server() {
        let of = |text: &[u8]| settings_reply(text).unwrap().wal_compressions();
        let found = of(b"(wal_compression)\toff,pglz,lz4\t\t\t\t\n");
        assert_eq!(found.value().unwrap(), &["off", "pglz", "lz4"]);
        assert!(
            !of(b"(wal_compression)\t\t\t\t\t\n").is_known(),
            "a switch before 15"
        );
        assert!(!of(b"fsync\ton\t\tdefault\t\t\n").is_known());
    }

    #[test]
    fn missing_or_malformed_overrides_are_unknown() {
        let of = |text: &[u8]| settings_reply(text).unwrap().synchronous_commit_overrides();
        assert!(!of(b"fsync\ton\t\tdefault\t\t\n").is_known());
        assert_eq!(of(b"(overrides)\tall\n").value().map(Vec::len), Some(0));
        let odd = of(b"(overrides)\tall\n(override)\tapp\t\tsynchronous_commit\tquorum\n");
        assert!(matches!(
            odd,
            Reading::Unknown {
                why: UnknownReason::Malformed,
                ..
            }
        ));
    }

    #[test]
    fn empty_reply_is_none() {
        assert!(settings_reply(b"").is_none());
        assert!(query_settings(&FakeHost::default(), Path::new("/x")).is_none());
    }

    proptest! {
        #[test]
        fn arbitrary_replies_never_panic(text: Vec<u8>) {
            if let Some(answer) = settings_reply(&text) {
                answer.version();
                drop(answer.synchronous_commit_overrides());
                answer.data_directory();
            }
        }
    }
}
