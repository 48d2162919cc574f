//! A running server's own settings, queried through its socket as its owner.
//!
//! The host connects and asks; this module turns the answer into readings. Root asks as the
//! server's user, whom initdb makes a superuser and `peer` lets in, unless that was changed.
//! Settings of that session only (of a role or a database) are not the server's, and are left to
//! the files. Only a superuser is told the file of a setting, so the source may be the server
//! itself (PostgreSQL manual, *pg_settings*). A database's or role's setting hides the server's
//! value from our session; a setting of every role in every database is the server's value.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::settings;
use crate::facts::catalog::postgres::{CommitOverride, SynchronousCommit};
use crate::facts::{Choice, Reading, Source, Why};
use crate::host::pg_lines::{COMPRESSIONS, LOADED, OVERRIDE, OVERRIDES};
use crate::host::{Host, Question, path_bytes, path_of};
use crate::text::{raw, safe};
use crate::version::Version;

#[derive(Debug)]
pub struct SettingsReply {
    socket: String,
    rows: BTreeMap<String, PgSetting>,
    /// `None` where the server did not list them.
    overrides: Option<Vec<SettingOverride>>,
    /// Whether the server has more than it listed.
    more: bool,
}

/// A setting of a database or a role; an empty name stands for every one.
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
    file: Option<(String, u32)>,
}

/// The setting that decides durability and that every session may change for itself.
const SYNCHRONOUS_COMMIT: &str = "synchronous_commit";

/// Sources that apply to our session only (`pg_settings.source`).
const OWN: [&str; 6] = [
    "database",
    "user",
    "database user",
    "client",
    "session",
    "interactive",
];

/// Asks the server behind a socket; `None` when it does not answer, which only costs the better
/// source.
pub fn ask(host: &dyn Host, socket: &Path) -> Option<SettingsReply> {
    let answer = host.ask(&Question::PgSettings(socket.to_owned())).ok()?;
    let lines = || answer.split(|b| *b == b'\n');
    let rows: BTreeMap<_, _> = lines().filter_map(row).collect();
    let overrides = rows
        .get(OVERRIDES)
        .map(|_| lines().filter_map(override_of).collect());
    let more = rows.get(OVERRIDES).is_some_and(|row| row.value == b"more");
    (!rows.is_empty()).then(|| SettingsReply {
        socket: safe(path_bytes(socket)),
        rows,
        overrides,
        more,
    })
}

/// `(override)`, database, role, name, value.
fn override_of(line: &[u8]) -> Option<SettingOverride> {
    let line = String::from_utf8_lossy(line);
    let mut fields = line.split('\t').map(raw);
    fields.next().filter(|kind| kind == OVERRIDE.as_bytes())?;
    let mut text = || fields.next().map(|field| safe(&field));
    let (database, role, name) = (text()?, text()?, text()?);
    Some(SettingOverride {
        database,
        role,
        name,
        value: fields.next()?,
    })
}

impl SettingOverride {
    fn is_everybodys(&self) -> bool {
        self.database.is_empty() && self.role.is_empty()
    }

    fn whose(&self) -> String {
        match (self.database.as_str(), self.role.as_str()) {
            ("", role) => format!("role {}", quoted(role)),
            (database, "") => format!("database {}", quoted(database)),
            (database, role) => format!("role {} in database {}", quoted(role), quoted(database)),
        }
    }
}

/// A name as people tell where it ends: one with anything but letters, digits, `_`, `-`, `.` and
/// `$` as SQL quotes it.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
    if name.chars().all(plain) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// A line of the answer to [`Question::PgSettings`]; its fields are display-safe, and made so again
/// here, since an archive may hold anything.
fn row(line: &[u8]) -> Option<(String, PgSetting)> {
    let line = String::from_utf8_lossy(line);
    let mut fields = line.split('\t').map(raw);
    let name = safe(&fields.next()?);
    let value = fields.next()?;
    let mut text = || fields.next().map(|field| safe(&field)).unwrap_or_default();
    let (unit, origin, file, number) = (text(), text(), text(), text());
    let value = counted(&value, &unit).map_or(value, String::into_bytes);
    let file = number
        .parse()
        .ok()
        .filter(|_| !file.is_empty())
        .map(|number| (file, number));
    (!name.is_empty()).then_some((
        name,
        PgSetting {
            value,
            origin,
            file,
        },
    ))
}

/// A size in the unit that the server names: what a number alone counts depends on its release and
/// on how it was built.
fn counted(value: &[u8], unit: &str) -> Option<String> {
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
    /// Directory and port of its socket, in the form that clients take.
    pub fn place(&self) -> Option<(String, u64, Source)> {
        let (directory, port) = self.socket.rsplit_once("/.s.PGSQL.")?;
        let source = Source::Server {
            socket: self.socket.clone(),
        };
        Some((directory.to_owned(), port.parse().ok()?, source))
    }

    /// A setting in force for all sessions; `None` when the server does not report it.
    pub fn get(&self, name: &str) -> Option<Reading<Vec<u8>>> {
        let row = self.rows.get(name)?;
        if OWN.contains(&row.origin.as_str()) {
            let mut all = self.overrides.iter().flatten();
            let everybodys = all.find(|one| one.is_everybodys() && one.name == name)?;
            let source = Source::Server {
                socket: self.socket.clone(),
            };
            return Some(Reading::known(everybodys.value.clone(), source));
        }
        let source = match &row.file {
            Some((file, line)) => Source::line(file, *line),
            None => Source::Server {
                socket: self.socket.clone(),
            },
        };
        Some(Reading::known(row.value.clone(), source))
    }

    /// When it last loaded its configuration files, in microseconds since 1970.
    pub fn loaded(&self) -> Option<u64> {
        String::from_utf8_lossy(&self.rows.get(LOADED)?.value)
            .parse()
            .ok()
    }

    /// The values of `wal_compression` that it was built with. Before 15 that is a switch, which
    /// has none.
    pub fn wal_compressions(&self) -> Reading<Vec<String>> {
        let words = self
            .rows
            .get(COMPRESSIONS)
            .map(|row| safe(&row.value))
            .filter(|words| !words.is_empty());
        let Some(words) = words else {
            return Reading::unknown(Why::Absent, "the server lists no values of wal_compression");
        };
        let source = Source::Server {
            socket: self.socket.clone(),
        };
        Reading::known(words.split(',').map(str::to_owned).collect(), source)
    }

    /// Values of `synchronous_commit` that databases and roles set.
    pub fn commit_overrides(&self) -> Reading<Vec<CommitOverride>> {
        let Some(all) = &self.overrides else {
            return Reading::unknown(
                Why::Denied,
                "the server did not say what databases and roles set",
            );
        };
        let Some(setting) = settings::named(SYNCHRONOUS_COMMIT) else {
            return Reading::not_collected();
        };
        let mut own = all
            .iter()
            .filter(|one| one.name == SYNCHRONOUS_COMMIT && !one.is_everybodys());
        let read = |one: &SettingOverride| {
            let value = SynchronousCommit::read(&setting.spelled(&one.value, None))?;
            Ok(CommitOverride {
                whose: one.whose(),
                value,
            })
        };
        let source = Source::Server {
            socket: self.socket.clone(),
        };
        Reading::known((), source).and_then(|()| own.by_ref().map(read).collect())
    }

    /// Whether the server has more of them than it listed.
    pub fn lacks_overrides(&self) -> bool {
        self.more
    }

    pub fn version(&self) -> Option<Reading<Version>> {
        let version = Version::parse(&safe(&self.rows.get("server_version")?.value))?;
        Some(Reading::known(
            version,
            Source::Server {
                socket: self.socket.clone(),
            },
        ))
    }

    /// Its data directory; only a superuser is told it.
    pub fn data_directory(&self) -> Option<PathBuf> {
        let value = &self.rows.get("data_directory")?.value;
        (!value.is_empty()).then(|| path_of(value.clone()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::Fake;

    fn answer(text: &[u8]) -> Option<SettingsReply> {
        let socket = Path::new("/run/.s.PGSQL.5432");
        ask(
            &Fake::default().answer(Question::PgSettings(socket.into()), text),
            socket,
        )
    }

    #[test]
    fn sources_are_the_file_where_told_and_else_the_server() {
        let text = b"server_version\t15.20 (Debian 15.20-1)\t\tdefault\t\t\n\
            fsync\toff\t\tconfiguration file\t/pg/postgresql.conf\t12\n\
            wal_level\treplica\t\tdefault\t\t\n\
            synchronous_commit\toff\t\tuser\t\t\n";
        let answer = answer(text).unwrap();
        let source = |name| {
            answer
                .get(name)
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
        assert_eq!(answer.version().unwrap().value().unwrap().base(), "15.20");
    }

    #[test]
    fn sizes_are_counted_in_the_unit_that_the_server_names() {
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
                answer(format!("max_wal_size\t{value}\t{unit}\tdefault\t\t\n").as_bytes()).unwrap();
            let told = answer
                .get("max_wal_size")
                .and_then(|told| told.value().cloned());
            assert_eq!(told.as_deref(), Some(expected.as_bytes()), "{value} {unit}");
        }
    }

    #[test]
    fn what_databases_and_roles_set_is_told_apart_from_what_everybody_has() {
        let text = b"synchronous_commit\toff\t\tuser\t\t\n(loaded)\t1700000000123456\t\t\t\t\n(overrides)\tall\n\
            (override)\t\t\tsynchronous_commit\tlocal\n(override)\tapp\t\tsynchronous_commit\tFALSE\n\
            (override)\t\ta: on\tsynchronous_commit\ton\n(override)\tapp\tb\\x09\tsynchronous_commit\tremote_write\n";
        let answer = answer(text).unwrap();
        assert_eq!(answer.loaded(), Some(1_700_000_000_123_456));
        assert_eq!(
            answer.get("synchronous_commit").unwrap().value().unwrap(),
            b"local",
            "ALTER ROLE ALL"
        );
        let overrides = answer.commit_overrides();
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
    fn what_wal_is_compressed_with_is_the_servers_word() {
        let of = |text: &[u8]| answer(text).unwrap().wal_compressions();
        let found = of(b"(wal_compression)\toff,pglz,lz4\t\t\t\t\n");
        assert_eq!(found.value().unwrap(), &["off", "pglz", "lz4"]);
        assert!(
            !of(b"(wal_compression)\t\t\t\t\t\n").is_known(),
            "a switch before 15"
        );
        assert!(!of(b"fsync\ton\t\tdefault\t\t\n").is_known());
    }

    #[test]
    fn overrides_that_were_not_told_or_make_no_sense_are_unknown() {
        let of = |text: &[u8]| answer(text).unwrap().commit_overrides();
        assert!(!of(b"fsync\ton\t\tdefault\t\t\n").is_known());
        assert_eq!(of(b"(overrides)\tall\n").value().map(Vec::len), Some(0));
        let odd = of(b"(overrides)\tall\n(override)\tapp\t\tsynchronous_commit\tquorum\n");
        assert!(matches!(
            odd,
            Reading::Unknown {
                why: Why::Malformed,
                ..
            }
        ));
    }

    #[test]
    fn no_answer_is_none() {
        assert!(answer(b"").is_none());
        assert!(ask(&Fake::default(), Path::new("/x")).is_none());
    }

    proptest! {
        #[test]
        fn hostile_servers_never_fail(text: Vec<u8>) {
            if let Some(answer) = answer(&text) {
                answer.version();
                drop(answer.commit_overrides());
                answer.data_directory();
            }
        }
    }
}
