//! Settings of a running MariaDB: assumed, then set for real and compared, each on top of the
//! previous ones.

use super::RowOutcome::{self, Equal, Refused};
use super::{BaselineReport, compare_assumed_with_actual};
use crate::support::mariadb::Mariadb;
use crate::support::run;

const LINES: &str = "[mysqld]\nlog-bin = bin\n";

/// Assumptions, the option lines that make them true after a restart, and the expected outcome.
const ROWS: &[(&[&str], &str, RowOutcome)] = &[
    // innodb_flush_log_at_trx_commit = 2 at the start makes the server open the log with buffering.
    (
        &["innodb_flush_log_at_trx_commit=0"],
        "innodb_flush_log_at_trx_commit = 0",
        Equal,
    ),
    (
        &[
            "innodb_flush_log_at_trx_commit=2",
            "innodb_log_file_buffering=on",
        ],
        "innodb_flush_log_at_trx_commit = 2",
        Equal,
    ),
    (
        &[
            "innodb_flush_log_at_trx_commit=1",
            "innodb_log_file_buffering=off",
        ],
        "innodb_flush_log_at_trx_commit = 1",
        Equal,
    ),
    (&["sync_binlog=1"], "sync_binlog = 1", Equal),
    (
        &["innodb_flush_neighbors=0"],
        "innodb_flush_neighbors = 0",
        Equal,
    ),
    (
        &["innodb_use_native_aio=off"],
        "innodb_use_native_aio = OFF",
        Equal,
    ),
    (
        &["innodb_checksum_algorithm=crc32"],
        "innodb_checksum_algorithm = crc32",
        Equal,
    ),
    (
        &["innodb_io_capacity=400", "innodb_io_capacity_max=2000"],
        "innodb_io_capacity = 400",
        Equal,
    ),
    (&["log_bin=off"], "skip-log-bin", Refused),
];

#[test]
#[ignore = "needs root and MariaDB 10.11"]
fn assumed_mariadb_settings_match_real_changes() {
    let place = tempfile::tempdir().unwrap();
    run("chmod", &["755", place.path().to_str().unwrap()]);
    let mut server = Mariadb::new_below(place.path(), LINES);
    server.start();
    let data = server.data.display().to_string();
    let mut lines = LINES.to_owned();
    for (assumed, line, expected) in ROWS {
        let before = BaselineReport::save(&server.data, &[&data]);
        let named = |one: &&str| {
            let (name, value) = one.split_once('=').unwrap();
            format!("mysql.{name}@{data}={value}")
        };
        let assumed: Vec<String> = assumed.iter().map(named).collect();
        let came = compare_assumed_with_actual(line, &before, &assumed, || {
            lines.push_str(line);
            lines.push('\n');
            server.write_option_file("conf.d/storage.cnf", &lines);
            server.restart_without_ctime_gap();
        });
        assert_eq!(came, *expected, "{assumed:?}");
    }
}
