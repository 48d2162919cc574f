//! Logs that fill their disk, and commits that wait for a standby, on real servers: each cause
//! and its remedy, and similar servers without the fault. `max_wal_size` is small, so that
//! little WAL suffices.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::Value;

use super::support::loops::{MountedFileSystem, mount_ext4, mount_file_system};
use super::support::mariadb::Mariadb;
use super::support::postgres::Cluster;
use super::support::{rule_outcome, walwise};
use crate::support::deadline::{ChildInTime as _, CommandInTime as _, wait_for_condition};

const CONF: &str = "fsync = on\nmax_wal_size = 32MB\nmin_wal_size = 32MB\nwal_keep_size = 0\n\
    max_wal_senders = 5\nfull_page_writes = on\n";
const RULES: [&str; 5] = [
    "pg.slot-keeps-wal",
    "pg.archiver-fails",
    "pg.wal-limit-exceeds-volume",
    "pg.commits-wait-for-standby",
    "pg.wal-room",
];

/// A server with its WAL on a file system of its own.
struct ServerWithWalMount {
    cluster: Cluster,
    _data: MountedFileSystem,
    _wal: MountedFileSystem,
}

impl ServerWithWalMount {
    fn start(conf: &str) -> Self {
        let data = mount_file_system(400, &["mkfs.ext4", "-q"], "noatime,errors=remount-ro");
        let wal = mount_file_system(600, &["mkfs.ext4", "-q"], "noatime,errors=remount-ro");
        let cluster = Cluster::new_below(data.path().as_ref(), wal.path().as_ref());
        cluster.append_to_file("postgresql.conf", CONF);
        cluster.append_to_file("postgresql.conf", conf);
        cluster.start();
        Self {
            cluster,
            _data: data,
            _wal: wal,
        }
    }

    /// Writes this many megabytes of WAL, then ends the segment.
    fn write_wal(&self, megabytes: u32) {
        self.cluster.sql(&format!(
            "SELECT count(pg_logical_emit_message(false, 'x', repeat('x', 1000000))) FROM generate_series(1, {megabytes})"
        ));
        self.cluster.sql("SELECT pg_switch_wal()");
    }

    fn collect_reports(&self) -> ServerReports {
        ServerReports::from_check(&self.cluster.data)
    }

    fn spawn_client(&self, program: &str, arguments: &[&str]) -> Child {
        let mut command = self.cluster.server_command(program);
        command
            .args(["-h", &self.cluster.path_string(""), "-p", "5499"])
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Starts a WAL receiver, and waits until it streams from the server.
    fn start_wal_receiver(&self, name: &str, arguments: &[&str]) -> Child {
        let directory = self.cluster.temporary_directory().join(name);
        std::fs::create_dir(&directory).unwrap();
        self.cluster.chown_to_server(&directory);
        let place = format!(
            "host={} port=5499 application_name={name}",
            self.cluster.path_string("")
        );
        let directory = directory.display().to_string();
        let mut command = self.cluster.server_command("pg_receivewal");
        command
            .args(["-D", &directory, "-d", &place])
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().unwrap();
        wait_for_condition("the consumer streams", || {
            self.cluster
                .sql(&format!("SELECT count(*) FROM pg_stat_replication WHERE application_name = '{name}' AND state = 'streaming'"))
                .trim()
                == "1"
        });
        child
    }
}

/// The JSON reports of `check` about one server, without and with `-v`.
struct ServerReports {
    short: Value,
    full: Value,
    cluster: String,
}

impl ServerReports {
    fn from_check(data: &Path) -> Self {
        let read = |more: &[&str]| {
            let mut command = walwise();
            command
                .arg("check")
                .arg(data)
                .args(["--no-probe", "--format", "json"])
                .args(more);
            serde_json::from_slice(&command.output_in_time().stdout).unwrap()
        };
        Self {
            short: read(&[]),
            full: read(&["-v"]),
            cluster: format!("cluster {}", data.display()),
        }
    }

    fn applying_rules(&self) -> Vec<&'static str> {
        let applies = |rule: &&str| self.outcome_of_rule(rule) == "applies";
        RULES.into_iter().filter(applies).collect()
    }

    fn outcome_of_rule(&self, rule: &str) -> &str {
        rule_outcome(&self.full, rule, &self.cluster).unwrap()
    }

    /// Rule and level of the first entry under "Fix first". Entries that restate the verdict are
    /// skipped, because the verdict depends on the disk below the loop device.
    fn first_fix(&self) -> (&str, &str) {
        let fixes = self.short["targets"][0]["fixes"].as_array().unwrap();
        let is_verdict = |fix: &&Value| fix["rules"][0].as_str().unwrap().starts_with("verdict.");
        let fix = fixes.iter().find(|fix| !is_verdict(fix)).unwrap();
        (
            fix["rules"][0].as_str().unwrap(),
            fix["level"].as_str().unwrap(),
        )
    }

    fn log_usage(&self) -> &str {
        self.short["targets"][0]["answers"]["max_wal_size"]["usage"]
            .as_str()
            .unwrap()
    }
}

fn kill_and_wait(mut child: Child) {
    child.kill().unwrap();
    child.wait_in_time();
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn a_slot_without_a_consumer_is_named_until_it_is_read() {
    let server = ServerWithWalMount::start("");
    server
        .cluster
        .sql("SELECT pg_create_physical_replication_slot('berlin', true)");
    server
        .cluster
        .sql("SELECT pg_create_physical_replication_slot('fresh')");
    let report = server.collect_reports();
    assert_eq!(report.applying_rules(), [""; 0], "a fresh standby");
    server.write_wal(8);
    let report = server.collect_reports();
    assert_eq!(
        report.applying_rules(),
        [""; 0],
        "a standby that is away for a moment"
    );

    server.write_wal(112);
    server.cluster.sql("CHECKPOINT");
    let report = server.collect_reports();
    assert_eq!(report.first_fix(), ("pg.slot-keeps-wal", "warning"));
    assert_eq!(report.applying_rules(), ["pg.slot-keeps-wal"]);
    assert!(
        report
            .log_usage()
            .contains("inactive replication slot berlin retains"),
        "{}",
        report.log_usage()
    );
    assert_eq!(
        report.outcome_of_rule("pg.slot-wal-cap"),
        "applies",
        "a limit is offered"
    );

    let consumer = server.start_wal_receiver("consumer", &["--slot", "berlin"]);
    let report = server.collect_reports();
    assert_eq!(report.applying_rules(), [""; 0], "a large slot that moves");
    kill_and_wait(consumer);
    server.cluster.stop();
    let report = server.collect_reports();
    assert_eq!(report.applying_rules(), [""; 0]);
    assert!(
        report.log_usage().ends_with(" used"),
        "files are counted without a server"
    );
    assert_eq!(
        report.outcome_of_rule("pg.slot-keeps-wal"),
        "undecided",
        "only a server knows its slots"
    );
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn an_archiver_that_fails_is_named_until_it_succeeds() {
    let server = ServerWithWalMount::start(
        "archive_mode = on\narchive_command = 'test -e go && test ! -f archive/%f && cp %p archive/%f'\n",
    );
    let archive = server.cluster.data.join("archive");
    std::fs::create_dir(&archive).unwrap();
    server.cluster.chown_to_server(&archive);
    let go = server.cluster.data.join("go");
    std::fs::write(&go, "").unwrap();
    server.write_wal(1);
    wait_for_condition("a segment is archived", || {
        server
            .cluster
            .sql("SELECT archived_count > 0 FROM pg_stat_archiver")
            .trim()
            == "t"
    });
    assert_eq!(
        server.collect_reports().applying_rules(),
        [""; 0],
        "it succeeds"
    );

    std::fs::remove_file(&go).unwrap();
    for _ in 0..5 {
        server.write_wal(1);
    }
    wait_for_condition("three failures", || {
        server
            .cluster
            .sql("SELECT failed_count >= 3 FROM pg_stat_archiver")
            .trim()
            == "t"
    });
    let report = server.collect_reports();
    assert_eq!(report.first_fix(), ("pg.archiver-fails", "warning"));
    assert_eq!(report.applying_rules(), ["pg.archiver-fails"]);
    assert!(
        report.log_usage().contains("waiting to be archived"),
        "{}",
        report.log_usage()
    );

    std::fs::write(&go, "").unwrap();
    // The archiver waits a minute after three failures; a reload wakes it.
    server.cluster.sql("SELECT pg_reload_conf()");
    wait_for_condition("the backlog is archived", || {
        server
            .cluster
            .sql("SELECT last_archived_time > last_failed_time FROM pg_stat_archiver")
            .trim()
            == "t"
    });
    assert_eq!(
        server.collect_reports().applying_rules(),
        [""; 0],
        "it succeeds again"
    );
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn causes_that_keep_no_wal_raise_no_findings() {
    let server = ServerWithWalMount::start(
        "archive_mode = on\narchive_command = 'false'\nsynchronous_standby_names = 'bonn'\n\
         synchronous_commit = local\n",
    );
    let standby = server.start_wal_receiver("bonn", &[]);
    for _ in 0..2 {
        server.write_wal(1);
    }
    let report = server.collect_reports();
    assert_eq!(report.applying_rules(), [""; 0], "a backlog of two");
    kill_and_wait(standby);
    let report = server.collect_reports();
    assert_eq!(
        report.applying_rules(),
        [""; 0],
        "commits wait for the local disk only"
    );
    for _ in 0..4 {
        server.write_wal(1);
    }
    server.cluster.stop();
    server
        .cluster
        .append_to_file("postgresql.conf", "archive_mode = off\n");
    server.cluster.start();
    let report = server.collect_reports();
    assert_eq!(
        report.applying_rules(),
        [""; 0],
        "marks of an archiver that is off"
    );
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn standby_reports_wal_usage_without_findings() {
    let server = ServerWithWalMount::start("synchronous_standby_names = 'bonn'\n");
    server.cluster.stop();
    server.cluster.append_to_file("standby.signal", "");
    server.cluster.start();
    assert_eq!(server.cluster.sql("SELECT pg_is_in_recovery()").trim(), "t");
    let report = server.collect_reports();
    assert_eq!(
        report.applying_rules(),
        [""; 0],
        "a standby commits nothing itself"
    );
    assert!(report.log_usage().ends_with(" used"));
    assert_eq!(
        report.outcome_of_rule("pg.slot-keeps-wal"),
        "does-not-apply",
        "its own slots are known"
    );
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn max_wal_size_above_the_volume_gets_a_fitting_value() {
    let server = ServerWithWalMount::start("max_wal_size = 4GB\n");
    let report = server.collect_reports();
    assert_eq!(
        report.first_fix(),
        ("pg.wal-limit-exceeds-volume", "critical")
    );
    assert_eq!(report.applying_rules(), ["pg.wal-limit-exceeds-volume"]);
    let fits = report.short["targets"][0]["answers"]["max_wal_size"]["value"]
        .as_str()
        .unwrap();
    assert_eq!(fits, "256MB");
    server
        .cluster
        .sql(&format!("ALTER SYSTEM SET max_wal_size = '{fits}'"));
    server.cluster.sql("SELECT pg_reload_conf()");
    wait_for_condition("the reload", || {
        server.cluster.sql("SHOW max_wal_size").trim() == fits
    });
    assert_eq!(server.collect_reports().applying_rules(), [""; 0]);
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn commits_that_wait_for_an_absent_standby_are_critical() {
    let server = ServerWithWalMount::start("");
    let standby = server.start_wal_receiver("bonn", &["--synchronous"]);
    server
        .cluster
        .sql("ALTER SYSTEM SET synchronous_standby_names = 'bonn'");
    server.cluster.sql("SELECT pg_reload_conf()");
    server.cluster.sql("CREATE TABLE t (x int)");
    assert_eq!(
        server.collect_reports().applying_rules(),
        [""; 0],
        "the standby is connected"
    );

    kill_and_wait(standby);
    let waits = server.spawn_client(
        "psql",
        &["-d", "postgres", "-c", "INSERT INTO t VALUES (1)"],
    );
    wait_for_condition("a session waits", || {
        server
            .cluster
            .sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
            .trim()
            == "1"
    });
    let report = server.collect_reports();
    assert_eq!(
        report.first_fix(),
        ("pg.commits-wait-for-standby", "critical")
    );
    assert_eq!(report.applying_rules(), ["pg.commits-wait-for-standby"]);

    std::fs::remove_dir_all(server.cluster.temporary_directory().join("bonn")).unwrap();
    let standby = server.start_wal_receiver("bonn", &["--synchronous"]);
    let mut waits = waits;
    assert!(waits.wait_in_time().success(), "the commit returns");
    assert_eq!(server.collect_reports().applying_rules(), [""; 0]);
    kill_and_wait(standby);
}

#[test]
#[ignore = "needs root and PostgreSQL 15"]
fn wal_usage_is_read_from_files_without_connection() {
    let server = ServerWithWalMount::start(
        "max_connections = 5\nsuperuser_reserved_connections = 0\nmax_worker_processes = 0\n",
    );
    server.write_wal(8);
    let sleepers: Vec<Child> = (0..5)
        .map(|_| server.spawn_client("psql", &["-d", "postgres", "-c", "SELECT pg_sleep(100)"]))
        .collect();
    wait_for_condition("every connection is taken", || {
        let mut psql = server.cluster.server_command("psql");
        psql.args([
            "-h",
            &server.cluster.path_string(""),
            "-p",
            "5499",
            "-d",
            "postgres",
            "-c",
            "",
        ]);
        !psql.output_in_time().status.success()
    });
    let report = server.collect_reports();
    assert!(report.log_usage().ends_with(" used"));
    assert_eq!(report.applying_rules(), [""; 0], "unknown is not a finding");
    sleepers.into_iter().for_each(kill_and_wait);
}

#[test]
#[ignore = "needs root and MariaDB 10.11"]
fn binary_logs_that_fill_the_disk_are_named_until_they_are_purged() {
    let data = mount_ext4(&[], "noatime,errors=remount-ro");
    let mut server = Mariadb::new_below(
        data.path().as_ref(),
        "[mysqld]\nlog_bin = log\nmax_binlog_size = 8M\nbinlog_format = ROW\nserver_id = 1\nsync_binlog = 1\n",
    );
    server.arguments.push("--innodb-fast-shutdown=2".to_owned());
    server.start();
    let directory = server.data.clone();
    let report = || ServerReports::from_check(&directory);
    let outcome = |report: &ServerReports| {
        report
            .outcome_of_rule("mysql.binary-logs-fill-disk")
            .to_owned()
    };
    assert_eq!(outcome(&report()), "does-not-apply");
    let tables = "CREATE DATABASE test; CREATE TABLE test.t (x LONGBLOB)";
    server.sql(tables).unwrap();
    let filler = fill_file_system_to(&data, 93);
    assert_eq!(
        outcome(&report()),
        "does-not-apply",
        "something else fills the disk"
    );
    drop(filler);
    for _ in 0..6 {
        server
            .sql("INSERT INTO test.t VALUES (REPEAT('x', 8000000)); DELETE FROM test.t")
            .unwrap();
    }
    assert_eq!(outcome(&report()), "does-not-apply", "there is room");
    let filler = fill_file_system_to(&data, 93);
    let full = report();
    assert_eq!(outcome(&full), "applies");
    assert_eq!(full.first_fix(), ("mysql.binary-logs-fill-disk", "warning"));
    server
        .sql("FLUSH BINARY LOGS; PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY")
        .unwrap();
    assert_eq!(outcome(&report()), "does-not-apply");
    drop(filler);
}

/// Fills a file system up to this percentage with a file, which is removed when dropped.
fn fill_file_system_to(mounted: &MountedFileSystem, percent: u64) -> tempfile::TempPath {
    let stat = nix::sys::statvfs::statvfs(mounted.path()).unwrap();
    let (all, free) = (stat.blocks(), stat.blocks_available());
    let keep = all * (100 - percent) / 100;
    let bytes = free.saturating_sub(keep) * stat.fragment_size();
    let file = tempfile::NamedTempFile::new_in(PathBuf::from(mounted.path())).unwrap();
    nix::fcntl::posix_fallocate(file.as_file(), 0, bytes.try_into().unwrap()).unwrap();
    file.into_temp_path()
}
