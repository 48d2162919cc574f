//! The temporary server of a trial, before it is asked for: its programs, and a user who runs nothing yet.

use super::refuse;
use crate::cells::ServerOrder;
use crate::cli::CliError;
use crate::cli::args::{Trial, TrialServer};
use crate::host::ServerPrograms;
use crate::host::as_user::SystemUser;
use crate::text;
use crate::trial::{Contender, ServerRecord, mariadb_settings, postgres_settings, scale};

/// A server that a trial would make.
pub(super) struct PlannedServer {
    /// What the inside is told.
    pub(super) order: ServerOrder,
    /// What the record keeps.
    pub(super) record: ServerRecord,
}

impl PlannedServer {
    /// Makes sure that its user still runs nothing; the error is a sentence.
    pub(super) fn is_alone(&self) -> Result<(), String> {
        is_alone(self.order.user, &self.record.user)
    }

    /// What it is set to on a candidate, beside its settings everywhere.
    pub(super) fn settings_on(&self, candidate: Contender) -> &'static [&'static str] {
        match self.order.programs {
            ServerPrograms::Postgres(_) => candidate.postgres_settings(),
            ServerPrograms::Mariadb => &[],
        }
    }
}

/// Plans it on an extent of so many bytes; the error says why there is none.
pub(super) fn plan(args: &Trial, bytes: u64) -> Result<PlannedServer, CliError> {
    let (found, needs) = match args.server() {
        TrialServer::Postgres => (
            ServerPrograms::postgres(),
            "PostgreSQL with initdb, pgbench and psql: install postgresql, and postgresql-contrib where that package has pgbench",
        ),
        TrialServer::Mariadb => {
            (ServerPrograms::mariadb(), "MariaDB and sysbench: install mariadb-server and sysbench")
        }
    };
    let programs = match found {
        Ok(programs) => programs,
        Err(miss) => return refuse(format!("{miss}; transactions need {needs}")),
    };
    let asked = args.user.as_deref().unwrap_or_else(|| args.server().usual_user());
    let name = text::safe(asked.as_bytes());
    let Some(user) = SystemUser::called(asked) else {
        return refuse(format!(
            "there is no user {name} in /etc/passwd to run the server: name another --user"
        ));
    };
    if user.uid == 0 || user.gid == 0 {
        return refuse(format!(
            "{name} is root, or in root's group, and root runs no server: name another --user"
        ));
    }
    if let Err(why) = is_alone(user, &name) {
        return refuse(why);
    }
    let version = match programs.version(user) {
        Ok(version) => version,
        Err(miss) => return refuse(format!("{name} cannot run {}: {miss}", programs.server().name())),
    };
    let most = args.clients.iter().copied().max().unwrap_or(1);
    let settings = match args.server() {
        TrialServer::Postgres => postgres_settings(bytes, most),
        TrialServer::Mariadb => mariadb_settings(most),
    };
    let scale = scale(bytes);
    let record = ServerRecord {
        version,
        user: name,
        settings: settings.clone(),
        scale: match args.server() {
            TrialServer::Postgres => Some(scale),
            TrialServer::Mariadb => None,
        },
        make: programs.make_line(),
        load: programs.load_line(),
    };
    Ok(PlannedServer { order: ServerOrder { programs, user, settings, scale }, record })
}

/// Makes sure that a user runs nothing; the error is a sentence.
fn is_alone(user: SystemUser, name: &str) -> Result<(), String> {
    match user.process() {
        Ok(None) => Ok(()),
        Ok(Some(process)) => Err(format!(
            "{name} already runs {process}, which could reach into the trial's server: name a --user without running processes"
        )),
        Err(miss) => Err(format!("cannot tell whether {name} runs programs: {miss}")),
    }
}
