//! The temporary server of a trial, before it is asked for: its programs, and a user who runs nothing yet.

use super::refuse;
use crate::cells::ServerOrder;
use crate::cli::CliError;
use crate::cli::args::{Trial, TrialServer};
use crate::host::as_user::SystemUser;
use crate::host::{PostgresPrograms, initdb_line, pgbench_line};
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
    let process = user.process();
    let process = process
        .map_err(|miss| CliError::Usage(format!("cannot tell whether {name} runs programs: {miss}")))?;
    if let Some(process) = process {
        return refuse(format!(
            "{name} already runs {process}, which could reach into the trial's server: name a --user without running processes"
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
