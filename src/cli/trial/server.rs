//! The temporary server of a trial, before it is asked for: its programs, and a user who is nobody's server yet.

use super::refuse;
use crate::cells::ServerOrder;
use crate::cli::args::{Trial, TrialServer};
use crate::cli::{CliError, host};
use crate::host::as_user::SystemUser;
use crate::host::{PostgresPrograms, Question, initdb_line, pgbench_line};
use crate::text;
use crate::trial::{ServerRecord, scale, server_settings};

/// A server that a trial would make.
pub(super) struct PlannedServer {
    /// What the inside is told.
    pub(super) order: ServerOrder,
    /// What the record keeps.
    pub(super) record: ServerRecord,
}

/// Plans it on an extent of so many bytes; the error says why there is none.
pub(super) fn plan(args: &Trial, bytes: u64) -> Result<PlannedServer, CliError> {
    match args.with {
        TrialServer::Postgres => {}
    }
    let programs = match PostgresPrograms::find() {
        Ok(programs) => programs,
        Err(miss) => {
            return refuse(format!(
                "transactions need PostgreSQL with initdb, pgbench and psql: {miss}; install postgresql, and postgresql-contrib where \
                 pgbench is there"
            ));
        }
    };
    let name = text::safe(args.user.as_bytes());
    let Some(user) = SystemUser::called(&args.user) else {
        return refuse(format!(
            "there is no user {name} in /etc/passwd to run the server: name another --user"
        ));
    };
    if user.uid == 0 || user.gid == 0 {
        return refuse(format!(
            "{name} is root, or in root's group, and root runs no server: name another --user"
        ));
    }
    if runs_a_server(user.uid)? {
        return refuse(format!(
            "{name} already runs a database server, and the trial's server would share its rights: name another \
             --user"
        ));
    }
    let version = match programs.version(user) {
        Ok(version) => version,
        Err(miss) => return refuse(format!("{name} cannot run PostgreSQL: {miss}")),
    };
    let most = args.clients.iter().copied().max().unwrap_or(1);
    let (settings, scale) = (server_settings(bytes, most), scale(bytes));
    let programs = programs.directory().to_owned();
    let record = ServerRecord {
        version,
        user: name,
        settings: settings.clone(),
        scale,
        initdb: initdb_line(),
        pgbench: pgbench_line(),
    };
    Ok(PlannedServer { order: ServerOrder { programs, user, settings, scale }, record })
}

/// Whether a process of a database server belongs to a user; an error where processes cannot be listed.
fn runs_a_server(uid: u32) -> Result<bool, CliError> {
    let found = host::open(None)?.ask(&Question::Servers);
    let found = found.map_err(|miss| CliError::Usage(format!("cannot tell who runs a server: {miss}")))?;
    Ok(is_among(&String::from_utf8_lossy(&found), uid))
}

/// Whether a list of servers, `pid ppid uid program` a line, has one of a user.
fn is_among(list: &str, uid: u32) -> bool {
    let uid = uid.to_string();
    let of = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        matches!(fields.as_slice(), [_, _, owner, _] if *owner == uid)
    };
    list.lines().any(of)
}

#[cfg(test)]
mod tests {
    use super::is_among;

    #[test]
    fn a_user_of_a_running_server_is_known() {
        let list = "10 1 101 postgres\n11 1 999 mariadbd\n12 1 - postgres\nmore 5 7\n";
        assert!(is_among(list, 101) && is_among(list, 999));
        assert!(!is_among(list, 10) && !is_among(list, 1) && !is_among(list, 7) && !is_among("", 0));
    }
}
