//! What each program of a temporary PostgreSQL may be told.

use super::{LoadScript, SERVER_HOME, SERVER_LOGS, ServerCommand, ServerProgram, ServerTask, command};

/// Its data directory.
const DATA: &str = "/tmp/log/data";

/// The arguments that make a data directory: for nobody but the socket's owner, with checksums.
const INITDB: [&str; 8] = [
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--data-checksums",
    "--no-sync",
    "-D",
    DATA,
];

/// How it is reached, and in which database.
const SOCKET: [&str; 7] = ["-h", SERVER_HOME, "-p", "5432", "-U", "postgres", "postgres"];

/// The settings that may be given to it.
const SETTINGS: [&str; 16] = [
    "autovacuum",
    "checkpoint_timeout",
    "dynamic_shared_memory_type",
    "fsync",
    "full_page_writes",
    "huge_pages",
    "listen_addresses",
    "max_connections",
    "max_wal_size",
    "min_wal_size",
    "shared_buffers",
    "synchronous_commit",
    "unix_socket_permissions",
    "wal_init_zero",
    "wal_recycle",
    "wal_sync_method",
];

/// The commands of a task, one after the other.
pub(super) fn commands(task: ServerTask) -> Vec<ServerCommand> {
    vec![match task {
        ServerTask::Make => make(),
        ServerTask::Greet | ServerTask::Checkpoint => {
            command(ServerProgram::Psql, &[&["-X", "-q", "-c", "CHECKPOINT"], &SOCKET[..]].concat())
        }
        ServerTask::Fill(scale) => {
            command(ServerProgram::Pgbench, &[&["-i", "-q", "-s", &scale.to_string()], &SOCKET[..]].concat())
        }
        ServerTask::Load { script, clients, threads, seconds, run, .. } => {
            let [clients, threads, seconds] = [clients, threads, seconds].map(|number| number.to_string());
            let script = match script {
                LoadScript::SimpleUpdate => "simple-update",
                LoadScript::TpcB => "tpcb-like",
                LoadScript::WriteOnly => return Vec::new(),
            };
            load(script, &clients, &threads, &seconds, &format!("{SERVER_LOGS}/{run}"))
        }
    }]
}

/// The command that makes a data directory.
pub(super) fn make() -> ServerCommand {
    command(ServerProgram::Initdb, &INITDB)
}

/// The command of a load.
pub(super) fn load(script: &str, clients: &str, threads: &str, seconds: &str, log: &str) -> ServerCommand {
    let own = ["-n", "-M", "prepared", "-b", script, "-c", clients, "-j", threads, "-T", seconds];
    command(ServerProgram::Pgbench, &[&own[..], &["-l", "--log-prefix", log], &SOCKET].concat())
}

/// The arguments that start it with these settings.
pub(super) fn start(settings: &[&str]) -> Vec<String> {
    let fixed = ["-D", DATA, "-k", SERVER_HOME, "-p", "5432"];
    let given = settings.iter().flat_map(|setting| ["-c", setting]);
    fixed.into_iter().chain(given).map(str::to_owned).collect()
}

/// Whether a setting may be given: no other address than none.
pub(super) fn allows(name: &str, value: &str) -> bool {
    SETTINGS.contains(&name) && (name != "listen_addresses" || value.is_empty())
}
