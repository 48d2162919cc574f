//! `walwise probe --passive` on real servers under load. An injected delay of the server's
//! flushes dominates the wait of a commit, so the figures are roughly right even on a busy
//! host. `tests/passive` compares them precisely on an idle one.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use super::support::loops::mount_ext4;
use super::support::mariadb::Mariadb;
use super::support::postgres::Cluster;
use super::support::running::{RunningProgram, wait_for_condition};
use super::support::{run, stderr, stdout, walwise};
use crate::support::deadline::CommandInTime as _;

const DELAY_MS: f64 = 20.0;

/// Delays the flushes of a running server, of its threads and of the processes it starts.
fn inject_fsync_delay(pid: &str, trace: &Path) -> RunningProgram {
    let delay = format!("inject=fdatasync,fsync:delay_exit={}", DELAY_MS * 1e3);
    let mut command = Command::new("strace");
    command.args([
        "-f",
        "-qq",
        "-e",
        "signal=none",
        "-e",
        "trace=fdatasync,fsync",
        "-e",
    ]);
    let running = RunningProgram::start(command.arg(delay).arg("-o").arg(trace).args(["-p", pid]));
    let status = format!("/proc/{pid}/status");
    wait_for_condition("strace attaches", || {
        std::fs::read_to_string(&status)
            .is_ok_and(|text| !text.lines().any(|line| line == "TracerPid:\t0"))
    });
    running
}

fn run_passive_probe(directory: &Path, seconds: &str) -> Value {
    let output = walwise()
        .arg("probe")
        .arg(directory)
        .args(["--passive", "--format", "json", "--seconds", seconds])
        .output_in_time();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e} {}{}", stdout(&output), stderr(&output)))
}

fn commit_latency_ms(found: &Value) -> f64 {
    found["commit_us"]["value"]
        .as_f64()
        .unwrap_or_else(|| panic!("{found}"))
        / 1e3
}

fn postmaster_pid(cluster: &Cluster) -> String {
    let file = std::fs::read_to_string(cluster.data.join("postmaster.pid")).unwrap();
    file.lines().next().unwrap().to_owned()
}

/// Without `-n`, pgbench would vacuum its standard tables, which do not exist here.
fn pgbench_command(cluster: &Cluster, options: &[&str]) -> Command {
    let mut command = cluster.server_command("pgbench");
    command
        .args(["-n", "-h", &cluster.path_string(""), "-p", "5499"])
        .args(options);
    command
}

/// Starts pgbench with transactions of one INSERT; `reads` adds nine read-only transactions for
/// each of them.
fn start_pgbench(cluster: &Cluster, clients: u32, reads: bool, seconds: u32) -> RunningProgram {
    let own = cluster.temporary_directory();
    let write = own.join("write.sql");
    let read = own.join("read.sql");
    let update = "BEGIN;\nINSERT INTO load VALUES (1);\nCOMMIT;\n";
    std::fs::write(&write, update).unwrap();
    std::fs::write(&read, "SELECT count(*) FROM pg_class;\n").unwrap();
    let (clients, seconds) = (clients.to_string(), seconds.to_string());
    let mut command = pgbench_command(cluster, &["-r", "-c", &clients, "-j", "2", "-T", &seconds]);
    command.arg("-f").arg(format!("{}@1", write.display()));
    if reads {
        command.arg("-f").arg(format!("{}@9", read.display()));
    }
    RunningProgram::start(command.arg("postgres"))
}

/// The mean latency of COMMIT that pgbench reports, in ms.
fn pgbench_commit_ms(output: &str) -> f64 {
    let line = output.lines().find(|line| line.ends_with("COMMIT;"));
    let word = line.and_then(|line| line.split_whitespace().next());
    word.and_then(|word| word.parse().ok())
        .unwrap_or_else(|| panic!("{output}"))
}

#[test]
#[ignore = "needs root: loop devices and PostgreSQL 15"]
fn the_wait_of_a_commit_agrees_with_pgbench() {
    let mounted = mount_ext4(&[], "");
    let cluster = Cluster::new_below(&mounted.point, &mounted.point);
    cluster.append_to_file("postgresql.conf", "fsync = on\n");
    cluster.start();
    cluster.sql("CREATE TABLE load (v int)");
    let _delays = inject_fsync_delay(&postmaster_pid(&cluster), &mounted.point.join("trace"));
    for (clients, reads) in [(1, false), (8, false), (2, true), (8, true)] {
        let bench = start_pgbench(&cluster, clients, reads, 9);
        wait_for_condition("the load begins", || {
            cluster.sql("SELECT count(*) > 0 FROM load") == "t"
        });
        // The estimate is recorded before pgbench reports the true latency.
        let estimate = commit_latency_ms(&run_passive_probe(&cluster.data, "6"));
        let truth = pgbench_commit_ms(&stdout(&bench.wait_for_output()));
        let error = estimate / truth - 1.0;
        assert!(
            (-0.5..1.0).contains(&error),
            "{clients} clients, reads: {reads}: {estimate:.1} ms, pgbench {truth:.1} ms"
        );
        cluster.sql("TRUNCATE load");
    }
}

/// `check` shows the mean flush that the server itself has measured, and what slow flushes suggest.
#[test]
#[ignore = "needs root: PostgreSQL 15"]
fn a_check_shows_the_latency_in_production() {
    let cluster = Cluster::new();
    cluster.append_to_file("postgresql.conf", "fsync = on\ntrack_wal_io_timing = on\n");
    cluster.start();
    cluster.sql("CREATE TABLE load (v int)");
    let check = |format: &str| {
        let mut command = walwise();
        command.arg("check").arg(&cluster.data);
        stdout(
            &command
                .args(["-v", "--no-probe", "--format", format])
                .output_in_time(),
        )
    };
    assert!(!check("text").contains("in production"), "too few flushes");
    let directory = cluster.temporary_directory();
    let script = directory.join("load.sql");
    std::fs::write(&script, "INSERT INTO load VALUES (1);\n").unwrap();
    let delays = inject_fsync_delay(&postmaster_pid(&cluster), &directory.join("trace"));
    let mut command = pgbench_command(&cluster, &["-t", "200", "-f"]);
    assert!(
        command
            .arg(&script)
            .arg("postgres")
            .status_in_time()
            .success()
    );
    drop(delays);
    wait_for_condition("the server reports its counters", || {
        check("text").contains("in production")
    });
    assert!(check("text").contains("per flush (mean)"));
    let report: Value = serde_json::from_str(&check("json")).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let delay = findings
        .iter()
        .find(|finding| finding["rule"] == "pg.commit-delay");
    let set = delay.and_then(|finding| finding["advice"][0]["change"]["set"].as_str());
    let micros: f64 = set.unwrap().parse().unwrap();
    assert!(micros >= DELAY_MS * 1e3 / 2.0 * 0.9, "{delay:?}");
}

/// Commits that cannot be counted, because a transaction id does not stand for one commit, and
/// commits that do not wait.
#[test]
#[ignore = "needs root: PostgreSQL 15"]
fn uncounted_or_unwaiting_commits_lack_latency() {
    let cluster = Cluster::new();
    cluster.append_to_file("postgresql.conf", "fsync = on\n");
    cluster.start();
    cluster.sql("CREATE TABLE load (v int); CREATE ROLE app LOGIN");
    let script = cluster.temporary_directory().join("load.sql");
    let reason = |script_text: &str| -> Value {
        std::fs::write(&script, script_text).unwrap();
        let mut command = pgbench_command(&cluster, &["-c", "2", "-T", "10", "-f"]);
        let bench = RunningProgram::start(command.arg(&script).arg("postgres"));
        wait_for_condition("the load begins", || {
            cluster
                .sql("SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'pgbench'")
                == "t"
        });
        let found = run_passive_probe(&cluster.data, "5");
        drop(bench);
        assert_eq!(found["commit_us"], Value::Null, "{found}");
        found["limits"][0]["reason"].clone()
    };
    let reads = "SELECT count(*) FROM pg_class;\nSELECT 1;\nSELECT 2;\nSELECT 3;\nSELECT 4;\n";
    let insert = "INSERT INTO load VALUES (1);\n";
    assert_eq!(
        reason(&format!(
            "{reads}BEGIN;\nSAVEPOINT a;\n{insert}SAVEPOINT b;\n{insert}COMMIT;\n"
        )),
        "commit-count"
    );
    assert_eq!(
        reason(&format!("{reads}BEGIN;\n{insert}ROLLBACK;\n{insert}")),
        "commit-count"
    );
    let reset = "SELECT pg_stat_reset_shared('wal');\n";
    assert_eq!(reason(&format!("{insert}{reset}")), "commit-count");
    assert_eq!(reason("SELECT 1;\n"), "no-commits");
    cluster.sql("ALTER ROLE app SET synchronous_commit = off");
    assert_eq!(reason(insert), "asynchronous");
    cluster.sql("ALTER ROLE app RESET synchronous_commit");
    cluster.sql("ALTER SYSTEM SET commit_delay = 100");
    cluster.sql("SELECT pg_reload_conf()");
    assert_eq!(reason(insert), "commit-delay");
    cluster.sql("ALTER SYSTEM RESET commit_delay");
    cluster.sql("SELECT pg_reload_conf()");
    // The apply worker of a subscription does not wait for its commits by default.
    cluster.sql("CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p WITH (connect = false); ALTER SUBSCRIPTION s ENABLE");
    assert_eq!(reason(insert), "asynchronous");
}

/// The figure of a measurement that the server's end cuts short says so.
#[test]
#[ignore = "needs root: PostgreSQL 15"]
fn a_server_that_stops_ends_the_measurement_early() {
    let cluster = Cluster::new();
    cluster.start();
    let arguments = [
        "probe",
        &cluster.path_string("data"),
        "--passive",
        "--format",
        "json",
    ];
    let probe = RunningProgram::start_walwise(arguments);
    wait_for_condition("the counters are read twice", || {
        cluster.sql(
            "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE '%pg_stat_clear_snapshot%' \
             AND pid <> pg_backend_pid() AND query_start - backend_start > '9 s'",
        ) == "t"
    });
    cluster.stop();
    let output = probe.wait_for_output();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found["ended_early"].is_string(), "{found}");
}

/// The sampler takes no connection that an application needs, and reports why it disconnected.
#[test]
#[ignore = "needs root: PostgreSQL 15"]
fn sampler_disconnects_if_connections_run_out() {
    let cluster = Cluster::new();
    cluster.append_to_file(
        "postgresql.conf",
        "max_connections = 6\nsuperuser_reserved_connections = 3\n",
    );
    cluster.start();
    let mut command = pgbench_command(&cluster, &["-c", "3", "-T", "60", "-f"]);
    let script = cluster.temporary_directory().join("idle.sql");
    std::fs::write(&script, "SELECT pg_sleep(60);\n").unwrap();
    let _held = RunningProgram::start(command.arg(&script).arg("postgres"));
    wait_for_condition("the connections are taken", || {
        cluster.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgbench'")
            == "3"
    });
    let output = walwise()
        .arg("probe")
        .arg(&cluster.data)
        .args(["--passive", "--seconds", "5"])
        .output_in_time();
    assert!(!output.status.success() && stderr(&output).contains("no free connections"));
}

#[test]
#[ignore = "needs root: loop devices and MariaDB 10.11"]
fn the_wait_of_a_commit_of_mariadb_agrees_with_its_clients() {
    let mounted = mount_ext4(&[], "");
    run("chmod", &["755", mounted.point.to_str().unwrap()]);
    let mut server = Mariadb::new_below(&mounted.point, "");
    // The server sees its data under another path, in its own mount namespace.
    server.mount_data_elsewhere();
    server.start();
    server
        .sql("CREATE DATABASE b; CREATE TABLE b.t (v INT) ENGINE=InnoDB")
        .unwrap();
    let pid = server.server_pid().to_string();
    let _delays = inject_fsync_delay(&pid, &mounted.point.join("trace"));
    let mut command = Command::new("mariadb-slap");
    command
        .arg(format!(
            "--defaults-file={}/my.cnf",
            server.temporary_directory().display()
        ))
        .args([
            "-uroot",
            "--password=",
            "--concurrency=4",
            "--create-schema=b",
        ])
        .args([
            "--query=INSERT INTO t VALUES (1)",
            "--number-of-queries=100000",
            "--no-drop",
        ]);
    let load = RunningProgram::start(&mut command);
    let rows = || -> f64 {
        let count = server.sql("SELECT COUNT(*) FROM b.t").unwrap();
        count.parse().unwrap()
    };
    wait_for_condition("the load begins", || rows() > 20.0);
    let (before, begun) = (rows(), Instant::now());
    let found = run_passive_probe(&server.data, "5");
    let truth = (rows() - before) / begun.elapsed().as_secs_f64();
    drop(load);
    let per_second = found["commits_per_second"]["value"].as_f64().unwrap();
    assert!(
        (0.5..2.0).contains(&(per_second / truth)),
        "{per_second}/s, the table {truth}/s"
    );
    // The clients spend nearly all their time waiting for the delayed flush.
    let waiting = per_second * commit_latency_ms(&found) / 1e3;
    assert!(
        (2.0..4.1).contains(&waiting),
        "{waiting} of 4 clients wait: {found}"
    );
}
