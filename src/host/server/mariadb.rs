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

/// Its tables, and the rows of each.
const TABLES: [&str; 4] = ["sbtest1", "sbtest2", "sbtest3", "sbtest4"];
const ROWS: &str = "--table-size=10000";

/// How often all rows are changed before the first load. Each time writes 12 MB of redo, so that the log of 64 MiB is written once
/// from end to end, as that of a server which has run for a while. A new one is a file of unwritten extents, which each
/// commit would have to convert.
const PASSES: usize = 6;

/// The commands of a task, one after the other.
pub(super) fn commands(task: ServerTask) -> Vec<ServerCommand> {
    match task {
        ServerTask::Make => Vec::new(),
        ServerTask::Greet => vec![sql("DO 1")],
        // Waits for purge, writes all changed pages, and moves the checkpoint (MDEV-30000; in all builds from 10.11.8 on).
        ServerTask::Checkpoint => {
            vec![sql(&format!("{PURGED}SET GLOBAL innodb_log_checkpoint_now=ON"))]
        }
        ServerTask::Fill(_) => vec![sql("CREATE DATABASE sbtest"), sysbench(&["prepare"]), sql(&changes())],
        ServerTask::Load { clients, seconds, .. } => vec![load(&clients.to_string(), &seconds.to_string())],
    }
}

/// Waits until what earlier versions of rows took is free again.
const PURGED: &str = "SET GLOBAL innodb_max_purge_lag_wait=0; ";

/// The statements that change all rows.
fn changes() -> String {
    let pass = TABLES.map(|table| format!("UPDATE sbtest.{table} SET c=REVERSE(c); ")).concat();
    (pass + PURGED).repeat(PASSES)
}

/// The command of a load.
pub(super) fn load(clients: &str, seconds: &str) -> ServerCommand {
    let (threads, time) = (format!("--threads={clients}"), format!("--time={seconds}"));
    sysbench(&["--rand-type=uniform", "--histogram=on", &threads, &time, "run"])
}

fn sysbench(words: &[&str]) -> ServerCommand {
    let fixed = [
        "oltp_write_only",
        "--db-driver=mysql",
        "--mysql-socket=/tmp/log/socket",
        "--mysql-user=root",
        "--mysql-db=sbtest",
        "--tables=4",
        ROWS,
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
