//! A running server's own settings, queried through its socket with the rights of the invoking
//! user, even if that is root.
//!
//! MariaDB logs each refused connection, so only a server that probably accepts the user is
//! queried. Servers accept root without a password (unix_socket, auth_socket) by default from
//! MariaDB 10.4 on, and in Debian's and Ubuntu's MySQL. MariaDB also accepts the server's own user.
//!
//! The answer counts only if it names the server's data directory and the socket belongs to the
//! server's user.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::options::resolve_path;
use super::process::MysqldProcess;
use super::product_version::{ProductLine, ProductVersion};
use super::settings;
use crate::databases::conf::Conf;
use crate::databases::servers::{self, own_uid};
use crate::error_readings::error_reading;
use crate::facts::{Reading, Remedy, Source, UnknownReason};
use crate::host::{Host, Question, path_bytes, path_from_bytes};
use crate::text::{decode_display_safe, display_safe};

/// Default sockets in packages of Debian and SUSE, of Red Hat, and of the upstream projects.
const STANDARD_SOCKETS: [&str; 3] = [
    "/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

#[derive(Debug)]
pub enum VariablesReply {
    Variables(BTreeMap<String, Vec<u8>>, Source),
    NoReply(UnknownReason, String, Remedy),
}

/// Queries a running server for its variables. `view` is the host in the server's mount namespace,
/// and `seen` is the data directory's path there.
pub fn query_variables(
    view: &dyn Host,
    edition: &ProductVersion,
    server: &MysqldProcess,
    conf: &Conf,
    seen: &Path,
) -> VariablesReply {
    let silent = |why, detail: String, remedy| VariablesReply::NoReply(why, detail, remedy);
    let uid = own_uid(view);
    let (root, own) = (uid == Some(0), uid == Some(server.uid));
    let lets_in = edition
        .product_and_version()
        .is_some_and(|(line, version)| match line {
            ProductLine::Mariadb => (root || own) && settings::is_series_or_later(version, 10, 4),
            ProductLine::Mysql => root && settings::is_series_or_later(version, 8, 0),
        });
    if !lets_in {
        let whom = if root {
            "this release may require a password"
        } else {
            "only root can connect without a password"
        };
        let remedy = if root {
            compare_variables_remedy(seen)
        } else {
            Remedy::RunAsRoot
        };
        return silent(
            UnknownReason::NotCollected,
            format!("the server was not queried: {whom}"),
            remedy,
        );
    }
    let named = conf
        .last_value("socket")
        .map(|value| resolve_path(seen, value));
    let sockets: Vec<PathBuf> = named.map_or_else(
        || STANDARD_SOCKETS.map(PathBuf::from).to_vec(),
        |socket| vec![socket],
    );
    let own = |path: &PathBuf| {
        view.stat(path)
            .is_ok_and(|stat| stat.uid == u64::from(server.uid))
    };
    let Some(socket) = sockets.into_iter().find(own) else {
        return silent(
            UnknownReason::Absent,
            "the server was not queried: no socket found".to_owned(),
            socket_access_remedy(seen),
        );
    };
    let shown = display_safe(path_bytes(&socket));
    // A stopped process (SIGSTOP) would answer only after it continues, and log an aborted
    // connection.
    if servers::is_process_stopped(view, server.pid) {
        return silent(
            UnknownReason::TimedOut,
            format!(
                "the server was not queried: process {} is stopped",
                server.pid
            ),
            socket_access_remedy(seen),
        );
    }
    match view.ask(&Question::MysqlSettings(socket)) {
        Ok(answer) => {
            let rows: BTreeMap<String, Vec<u8>> = answer
                .split(|b| *b == b'\n')
                .filter_map(parse_variable_row)
                .collect();
            let directory = rows
                .get("datadir")
                .map(|path| path_from_bytes(path.clone()));
            if directory.is_some_and(|path| view.real_path(&path).unwrap_or(path) == seen) {
                VariablesReply::Variables(rows, Source::Server { socket: shown })
            } else {
                silent(
                    UnknownReason::Ambiguous,
                    format!("the server at {shown} has a different data directory"),
                    socket_access_remedy(seen),
                )
            }
        }
        Err(miss) => {
            match error_reading::<()>(&miss, &format!("no answer from the server at {shown}")) {
                Reading::Unknown { why, detail, .. } => {
                    silent(why, detail, socket_access_remedy(seen))
                }
                Reading::Known { .. } => silent(
                    UnknownReason::NotCollected,
                    shown,
                    socket_access_remedy(seen),
                ),
            }
        }
    }
}

fn compare_variables_remedy(seen: &Path) -> Remedy {
    Remedy::Do(format!(
        "compare the report with SHOW GLOBAL VARIABLES of the server on {}",
        display_safe(path_bytes(seen))
    ))
}

fn socket_access_remedy(seen: &Path) -> Remedy {
    Remedy::Do(format!(
        "let root log in over the socket of the server on {} (unix_socket, auth_socket), or compare the report with SHOW GLOBAL VARIABLES of that server",
        display_safe(path_bytes(seen))
    ))
}

fn parse_variable_row(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let line = String::from_utf8_lossy(line);
    let (name, value) = line.split_once('\t')?;
    Some((name.to_owned(), decode_display_safe(value)))
}

impl VariablesReply {
    /// The reported value; `None` if it is empty or was not reported.
    pub fn get(&self, name: &str) -> Option<Reading<Vec<u8>>> {
        let Self::Variables(rows, source) = self else {
            return None;
        };
        let value = rows.get(name).filter(|value| !value.is_empty())?;
        // The option log_bin is a path prefix; the variable of that name is a switch.
        let value = match (name, value.as_slice()) {
            ("log_bin", b"ON") => b"1".to_vec(),
            ("log_bin", b"OFF") => Vec::new(),
            _ => value.clone(),
        };
        Some(Reading::known(value, source.clone()))
    }
}
