//! Settings of a running PostgreSQL: assumed, then set with ALTER SYSTEM and compared after a
//! restart, each on top of the previous ones.

use super::RowOutcome::{self, Equal, Refused};
use super::{BaselineReport, compare_assumed_with_actual};
use crate::support::postgres::Cluster;

/// Fact, assumed value, the statement that makes it true, and the expected outcome.
const ROWS: &[(&str, &str, &str, RowOutcome)] = &[
    ("pg.fsync", "on", "fsync = on", Equal),
    (
        "pg.full_page_writes",
        "off",
        "full_page_writes = off",
        Equal,
    ),
    (
        "pg.synchronous_commit",
        "off",
        "synchronous_commit = off",
        Equal,
    ),
    (
        "pg.synchronous_commit",
        "remote_write",
        "synchronous_commit = remote_write",
        Equal,
    ),
    (
        "pg.wal_sync_method",
        "open_datasync",
        "wal_sync_method = open_datasync",
        Equal,
    ),
    ("pg.wal_init_zero", "off", "wal_init_zero = off", Equal),
    ("pg.wal_recycle", "off", "wal_recycle = off", Equal),
    ("pg.max_wal_size", "2 GiB", "max_wal_size = '2GB'", Equal),
    (
        "pg.min_wal_size",
        "160 MiB",
        "min_wal_size = '160MB'",
        Equal,
    ),
    (
        "pg.checkpoint_timeout",
        "600000000",
        "checkpoint_timeout = '10min'",
        Equal,
    ),
    ("pg.commit_delay", "100", "commit_delay = 100", Equal),
    ("pg.data_sync_retry", "on", "data_sync_retry = on", Equal),
    (
        "pg.wal_compression",
        "pglz",
        "wal_compression = pglz",
        Equal,
    ),
    (
        "pg.checkpoint_completion_target",
        "0.5",
        "checkpoint_completion_target = 0.5",
        Equal,
    ),
    (
        "pg.checkpoint_flush_after",
        "0",
        "checkpoint_flush_after = 0",
        Equal,
    ),
    (
        "pg.recovery_init_sync_method",
        "syncfs",
        "recovery_init_sync_method = syncfs",
        Equal,
    ),
    ("pg.wal_room", "1", "max_wal_size = '4GB'", Refused),
];

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn assumed_postgres_settings_match_real_changes() {
    let cluster = Cluster::new();
    cluster.start();
    for (fact, value, set, expected) in ROWS {
        // Facts from counters appear after about a minute and do not follow from any row, so the
        // counters are reset before each row.
        for counters in ["wal", "bgwriter"] {
            cluster.sql(&format!("SELECT pg_stat_reset_shared('{counters}')"));
        }
        let before = BaselineReport::save(
            &cluster.data,
            &[&cluster.path_string("data"), &cluster.path_string("wal")],
        );
        let assumed = format!("{fact}@{}={value}", cluster.path_string("data"));
        let came = compare_assumed_with_actual(fact, &before, &[assumed], || {
            cluster.sql(&format!("ALTER SYSTEM SET {set}"));
            cluster.restart_without_ctime_gap();
        });
        assert_eq!(came, *expected, "{fact}");
    }
}
