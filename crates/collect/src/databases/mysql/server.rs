//! A running server's own settings, queried through its socket as the invoking user; root keeps its
//! name there.
//!
//! The host connects and asks; this module turns the answer into values, and a missing answer into
//! the reason. Only a server that is likely to accept the connection is asked, because MariaDB logs
//! each refusal. Root is accepted without a password (unix_socket, auth_socket) by MariaDB's own
//! default since 10.4 and by Debian's and Ubuntu's packages of MySQL. MariaDB also accepts the
//! server's own user. The answer counts only if it names the same data directory and the socket
//! belongs to the server's user.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::edition::{Edition, ProductLine};
use super::options::within;
use super::process::MysqldProcess;
use super::settings;
use crate::databases::conf::Conf;
use crate::databases::servers::{self, our_uid};
use crate::facts::{Reading, Remedy, Source, Why};
use crate::host::{Host, Question, path_bytes, path_of};
use crate::refusal::refused;
use crate::text::{raw, safe};

/// Where packages put the socket when nothing sets it: Debian and SUSE, Red Hat, the makers' own
/// archives.
const USUAL: [&str; 3] = [
    "/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

#[derive(Debug)]
pub enum VariablesReply {
    /// Its settings, and the socket.
    Told(BTreeMap<String, Vec<u8>>, Source),
    /// Why it gave no answer, and the remedy.
    Silent(Why, String, Remedy),
}

/// Asks a server; `view` is the machine as the server sees it, and `seen` its data directory there.
pub fn ask(
    view: &dyn Host,
    edition: &Edition,
    server: &MysqldProcess,
    conf: &Conf,
    seen: &Path,
) -> VariablesReply {
    let silent = |why, detail: String, remedy| VariablesReply::Silent(why, detail, remedy);
    let uid = our_uid(view);
    let (root, own) = (uid == Some(0), uid == Some(server.uid));
    let lets_in = edition.known().is_some_and(|(line, version)| match line {
        ProductLine::Mariadb => (root || own) && settings::from(version, 10, 4),
        ProductLine::Mysql => root && settings::from(version, 8, 0),
    });
    if !lets_in {
        let whom = if root {
            "a server of this release may require a password"
        } else {
            "only root is let in without a password"
        };
        let remedy = if root {
            compare(seen)
        } else {
            Remedy::RunAsRoot
        };
        return silent(
            Why::NotCollected,
            format!("the server was not asked: {whom}"),
            remedy,
        );
    }
    let named = conf.hint("socket").map(|value| within(seen, value));
    let sockets: Vec<PathBuf> =
        named.map_or_else(|| USUAL.map(PathBuf::from).to_vec(), |socket| vec![socket]);
    let own = |path: &PathBuf| {
        view.stat(path)
            .is_ok_and(|stat| stat.uid == u64::from(server.uid))
    };
    let Some(socket) = sockets.into_iter().find(own) else {
        return silent(
            Why::Absent,
            "the server was not asked: its socket was not found".to_owned(),
            yourself(seen),
        );
    };
    let shown = safe(path_bytes(&socket));
    // A stopped server would answer once it continues, and log that the client is gone.
    if servers::is_stopped(view, server.pid) {
        return silent(
            Why::TimedOut,
            format!(
                "the server was not asked: process {} is stopped",
                server.pid
            ),
            yourself(seen),
        );
    }
    match view.ask(&Question::MysqlSettings(socket)) {
        Ok(answer) => {
            let rows: BTreeMap<String, Vec<u8>> =
                answer.split(|b| *b == b'\n').filter_map(row).collect();
            let directory = rows.get("datadir").map(|path| path_of(path.clone()));
            if directory.is_some_and(|path| view.real_path(&path).unwrap_or(path) == seen) {
                VariablesReply::Told(rows, Source::Server { socket: shown })
            } else {
                silent(
                    Why::Ambiguous,
                    format!("the server at {shown} is another one"),
                    yourself(seen),
                )
            }
        }
        Err(miss) => match refused::<()>(&miss, &format!("the server at {shown} does not say")) {
            Reading::Unknown { why, detail, .. } => silent(why, detail, yourself(seen)),
            Reading::Known { .. } => silent(Why::NotCollected, shown, yourself(seen)),
        },
    }
}

/// The remedy for a server of a release that is never asked.
fn compare(seen: &Path) -> Remedy {
    Remedy::Do(format!(
        "compare the report with SHOW GLOBAL VARIABLES of the server on {}",
        safe(path_bytes(seen))
    ))
}

/// The remedy where we cannot ask the server.
fn yourself(seen: &Path) -> Remedy {
    Remedy::Do(format!(
        "let root in through the socket of the server on {} (unix_socket, auth_socket), or compare its SHOW GLOBAL VARIABLES",
        safe(path_bytes(seen))
    ))
}

/// A line of the answer to [`Question::MysqlSettings`].
fn row(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let line = String::from_utf8_lossy(line);
    let (name, value) = line.split_once('\t')?;
    Some((name.to_owned(), raw(value)))
}

impl VariablesReply {
    /// The value in force; `None` where the server said nothing of it.
    pub fn get(&self, name: &str) -> Option<Reading<Vec<u8>>> {
        let Self::Told(rows, source) = self else {
            return None;
        };
        let value = rows.get(name).filter(|value| !value.is_empty())?;
        // As an option it is the beginning of a path, as a variable a switch.
        let value = match (name, value.as_slice()) {
            ("log_bin", b"ON") => b"1".to_vec(),
            ("log_bin", b"OFF") => b"0".to_vec(),
            _ => value.clone(),
        };
        Some(Reading::known(value, source.clone()))
    }
}
