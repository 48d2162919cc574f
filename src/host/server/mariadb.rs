//! What each program of a temporary MariaDB may be told.
//!
//! The server starts on an empty directory and without the tables of its own, which a script of the shell would make: nobody
//! is to be asked for a password behind a socket that its user alone reaches, and there is no network. It reads no option
//! file, and neither do its clients.

use super::{ServerCommand, ServerProgram, ServerTask, command};

/// How it is started, before its settings.
const START: [&str; 7] = [
    "--no-defaults",
    "--datadir=/tmp/log",
    "--tmpdir=/tmp/log",
    "--socket=/tmp/log/socket",
    "--skip-networking",
    "--skip-grant-tables",
    "--skip-log-bin",
];

/// The settings that may be given to it.
const SETTINGS: [&str; 8] = [
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_log_file_size",
    "innodb_stats_persistent",
    "max_connections",
    "performance_schema",
];

/// Rows of each of its four tables for each unit of scale.
const ROWS: u64 = 2_000;

/// The commands of a task, one after the other.
pub(super) fn commands(task: ServerTask) -> Vec<ServerCommand> {
    match task {
        // The server makes its files itself.
        ServerTask::Make => Vec::new(),
        ServerTask::Greet => vec![sql("DO 1")],
        // InnoDB writes the changed pages of these tables to their place (MariaDB, *FLUSH TABLES FOR EXPORT*).
        ServerTask::Checkpoint => vec![sql(
            "FLUSH TABLES sbtest.sbtest1, sbtest.sbtest2, sbtest.sbtest3, sbtest.sbtest4 FOR EXPORT; UNLOCK TABLES",
        )],
        ServerTask::Fill(scale) => {
            vec![sql("CREATE DATABASE sbtest"), sysbench(&rows(scale), &["prepare"])]
        }
        ServerTask::Load { clients, seconds, scale, .. } => {
            vec![load(&rows(scale), &clients.to_string(), &seconds.to_string())]
        }
    }
}

/// The command of a load on tables of so many rows.
pub(super) fn load(rows: &str, clients: &str, seconds: &str) -> ServerCommand {
    let (threads, time) = (format!("--threads={clients}"), format!("--time={seconds}"));
    sysbench(rows, &["--rand-type=uniform", "--histogram=on", &threads, &time, "run"])
}

/// The rows of a table at a scale.
pub(super) fn rows(scale: u64) -> String {
    (ROWS * scale).to_string()
}

fn sysbench(rows: &str, words: &[&str]) -> ServerCommand {
    let size = format!("--table-size={rows}");
    let fixed = [
        "oltp_write_only",
        "--db-driver=mysql",
        "--mysql-socket=/tmp/log/socket",
        "--mysql-user=root",
        "--mysql-db=sbtest",
        "--tables=4",
        &size,
    ];
    command(ServerProgram::Sysbench, &[&fixed[..], words].concat())
}

fn sql(statement: &str) -> ServerCommand {
    let fixed = ["--no-defaults", "--socket=/tmp/log/socket", "--user=root", "-e", statement];
    command(ServerProgram::Mariadb, &fixed)
}

/// The command that makes its files when it is started.
pub(super) fn make() -> ServerCommand {
    command(ServerProgram::Mariadbd, &START)
}

/// The arguments that start it with these settings.
pub(super) fn start(settings: &[&str]) -> Vec<String> {
    let given = settings.iter().map(|setting| format!("--{setting}"));
    START.iter().map(|word| (*word).to_owned()).chain(given).collect()
}

/// Whether a setting may be given.
pub(super) fn allows(name: &str, value: &str) -> bool {
    SETTINGS.contains(&name) && !value.is_empty()
}
