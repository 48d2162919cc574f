//! What a running server says of its own settings, asked through its socket as its owner.
//!
//! The host connects and asks; here its answer becomes readings. Root asks as the server's user, who is a superuser of it
//! unless somebody took that from him: initdb makes him one, and `peer` lets him in. What holds only for that session (a
//! role's or a database's setting) is not the server's, and is left to the files. The surprise: only a superuser is told in
//! which file a setting stands, so the source may be the server itself (PostgreSQL manual, *pg_settings*).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::facts::{Reading, Source};
use crate::host::{Host, Question, path_bytes};
use crate::text::{raw, safe};
use crate::version::Version;

/// The answer of one server.
#[derive(Debug)]
pub struct Answer {
    socket: String,
    rows: BTreeMap<String, Row>,
}

#[derive(Debug)]
struct Row {
    value: Vec<u8>,
    origin: String,
    file: Option<(String, u32)>,
}

/// Origins that hold for our session only.
const OWN: [&str; 6] = ["database", "user", "database user", "client", "session", "interactive"];

/// Asks the server behind a socket; `None` when it does not answer, which costs nothing but the better source.
pub fn ask(host: &dyn Host, socket: &Path) -> Option<Answer> {
    let answer = host.ask(&Question::PgSettings(socket.to_owned())).ok()?;
    let rows: BTreeMap<_, _> = answer.split(|b| *b == b'\n').filter_map(row).collect();
    (!rows.is_empty()).then(|| Answer { socket: safe(path_bytes(socket)), rows })
}

/// A line of the answer to [`Question::PgSettings`]; its fields are display-safe, and made so again here, since an
/// archive may hold anything.
fn row(line: &[u8]) -> Option<(String, Row)> {
    let line = String::from_utf8_lossy(line);
    let mut fields = line.split('\t').map(raw);
    let name = safe(&fields.next()?);
    let value = fields.next()?;
    let mut text = || fields.next().map(|field| safe(&field)).unwrap_or_default();
    let (_unit, origin, file, number) = (text(), text(), text(), text());
    let file = number.parse().ok().filter(|_| !file.is_empty()).map(|number| (file, number));
    (!name.is_empty()).then_some((name, Row { value, origin, file }))
}

impl Answer {
    /// Directory and port of its socket, as clients want them.
    pub fn place(&self) -> Option<(String, u64, Source)> {
        let (directory, port) = self.socket.rsplit_once("/.s.PGSQL.")?;
        let source = Source::Server { socket: self.socket.clone() };
        Some((directory.to_owned(), port.parse().ok()?, source))
    }

    /// A setting in force for everybody; `None` when the server does not say.
    pub fn get(&self, name: &str) -> Option<Reading<Vec<u8>>> {
        let row = self.rows.get(name).filter(|row| !OWN.contains(&row.origin.as_str()))?;
        let source = match &row.file {
            Some((file, line)) => Source::line(file, *line),
            None => Source::Server { socket: self.socket.clone() },
        };
        Some(Reading::known(row.value.clone(), source))
    }

    /// The server's version.
    pub fn version(&self) -> Option<Reading<Version>> {
        let version = Version::parse(&safe(&self.rows.get("server_version")?.value))?;
        Some(Reading::known(version, Source::Server { socket: self.socket.clone() }))
    }

    /// Its data directory; only a superuser is told.
    pub fn data_directory(&self) -> Option<PathBuf> {
        let value = &self.rows.get("data_directory")?.value;
        (!value.is_empty()).then(|| crate::collect::path_of(value.clone()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::collect::testing::Fake;

    fn answer(text: &[u8]) -> Option<Answer> {
        let socket = Path::new("/run/.s.PGSQL.5432");
        ask(&Fake::default().answer(Question::PgSettings(socket.into()), text), socket)
    }

    #[test]
    fn sources_are_the_file_where_told_and_else_the_server() {
        let text = b"server_version\t15.20 (Debian 15.20-1)\t\tdefault\t\t\n\
            fsync\toff\t\tconfiguration file\t/pg/postgresql.conf\t12\n\
            wal_level\treplica\t\tdefault\t\t\n\
            synchronous_commit\toff\t\tuser\t\t\n";
        let answer = answer(text).unwrap();
        let source = |name| answer.get(name).map(|reading| reading.source().unwrap().to_string());
        assert_eq!(source("fsync").as_deref(), Some("/pg/postgresql.conf:12"));
        assert_eq!(source("wal_level").as_deref(), Some("the server at /run/.s.PGSQL.5432"));
        assert_eq!(source("synchronous_commit"), None, "that is our role's, not the server's");
        assert_eq!(answer.version().unwrap().value().unwrap().base(), "15.20");
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
                answer.data_directory();
            }
        }
    }
}
