//! Real servers with files on several file systems are found without being named, with a verdict
//! for each directory.

use std::path::Path;

use serde_json::Value;

use super::support::loops::{mount_ext4, mount_file_system, mount_xfs};
use super::support::mariadb::Mariadb;
use super::support::postgres::Cluster;
use super::support::{
    check_json, known_fact_value, rule_outcome, stderr, stdout, verdict, walwise,
};
use crate::support::deadline::CommandInTime as _;

const SECRET: &str = "Zk7hunter2";

fn directory_roles(report: &Value, directory: &Path) -> Vec<String> {
    let subject = format!("target {}", directory.display());
    let targets = report["targets"].as_array().unwrap();
    let target = targets
        .iter()
        .find(|target| target["target"] == subject.as_str());
    let target = target.unwrap_or_else(|| panic!("{subject} is not among {}", report["targets"]));
    let roles = target["roles"].as_array().unwrap();
    roles
        .iter()
        .map(|role| role.as_str().unwrap().to_owned())
        .collect()
}

fn fact_source(report: &Value, subject: &str, name: &str) -> String {
    let rows = report["facts"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["subject"] == subject && row["fact"] == name)
        .unwrap();
    let source = &row["reading"]["source"];
    match source["line"].as_u64() {
        Some(line) => format!("{}:{line}", source["path"].as_str().unwrap()),
        None => source.to_string(),
    }
}

#[test]
#[ignore = "needs root: loop devices and PostgreSQL 15"]
fn a_running_postgres_is_found_with_its_wal_and_a_tablespace_on_other_file_systems() {
    let (data, wal, more) = (mount_ext4(&[], ""), mount_xfs(""), mount_ext4(&[], ""));
    let cluster = Cluster::new_below(&data.point, &wal.point);
    let space = more.create_subdirectory("space");
    cluster.chown_to_server(&space);
    cluster.append_to_file(
        "postgresql.conf",
        "wal_sync_method = open_datasync\nfsync = on\nfull_page_writes = off\n",
    );
    cluster.start();
    cluster.sql(&format!(
        "CREATE TABLESPACE more LOCATION '{}'",
        space.display()
    ));

    let (_, report) = check_json(&[]);
    let subject = format!("cluster {}", cluster.path_string("data"));
    assert_eq!(
        known_fact_value(&report, &subject, "pg.tablespaces").unwrap(),
        &serde_json::json!([space.to_str().unwrap()])
    );
    for (directory, role) in [
        (cluster.data.as_path(), "data"),
        (cluster.wal.as_path(), "wal"),
        (space.as_path(), "tablespace"),
    ] {
        assert_eq!(directory_roles(&report, directory), [role]);
        assert!(
            verdict(&report, directory).is_some(),
            "{}",
            report["verdicts"]
        );
    }
    // Pages can tear in the data directory, not in the log directory.
    for (directory, expect) in [
        (&cluster.data, "applies"),
        (&space, "applies"),
        (&cluster.wal, "does-not-apply"),
    ] {
        let target = format!("target {}", directory.display());
        assert_eq!(
            rule_outcome(&report, "pg.full-page-writes-off", &target),
            Some(expect),
            "{target}"
        );
    }
    assert_eq!(
        known_fact_value(&report, &subject, "cluster.kind").unwrap(),
        "postgres"
    );
    let set = fact_source(&report, &subject, "pg.wal_sync_method");
    assert!(
        set.starts_with(&format!("{}/postgresql.conf:", cluster.path_string("data"))),
        "{set}"
    );
    // A rule for another kind of server is not evaluated.
    assert_eq!(
        rule_outcome(&report, "mysql.flush-log-keep", &subject),
        None
    );
    assert_eq!(
        rule_outcome(&report, "pg.fsync-off", &subject),
        Some("does-not-apply")
    );
}

#[test]
#[ignore = "needs root: loop devices and MariaDB"]
fn a_running_mariadb_is_found_with_its_logs_on_other_file_systems_and_where_each_setting_is_set() {
    let (data, logs, binlogs) = (
        mount_ext4(&[], ""),
        mount_xfs(""),
        mount_file_system(256, &["mkfs.ext4", "-q"], ""),
    );
    let (redo, undo, binlog) = (
        logs.create_subdirectory("redo"),
        logs.create_subdirectory("undo"),
        binlogs.create_subdirectory("binlog"),
    );
    let lines = format!(
        "[mariadb-10.11]\ninnodb-log-group-home-dir = {}\ninnodb_undo_directory = {}\ninnodb_undo_tablespaces = 3\n\
         log-bin = {}/bin\n[mariadb]\nsync_binlog = 1 # each commit\ninnodb_flush_log_at_trx_commit = 2\n\
         report-password = {SECRET}\n[mysqldump]\npassword = {SECRET}\n",
        redo.display(),
        undo.display(),
        binlog.display()
    );
    for point in [&logs, &binlogs, &data] {
        // The server's user needs to traverse this directory.
        super::support::run("chmod", &["755", point.path()]);
    }
    for directory in [&redo, &undo, &binlog] {
        super::support::run("chown", &["mysql:mysql", directory.to_str().unwrap()]);
    }
    let mut server = Mariadb::new_below(&data.point, &lines);
    server.start();

    let (_, report) = check_json(&[]);
    let subject = format!("cluster {}", server.data.display());
    let storage = server.temporary_directory().join("conf.d/storage.cnf");
    for (name, value, line) in [
        ("mysql.redo_directory", redo.to_str().unwrap().into(), 2),
        ("mysql.undo_directory", undo.to_str().unwrap().into(), 3),
        ("mysql.binlog_directory", binlog.to_str().unwrap().into(), 5),
        ("mysql.sync_binlog", Value::from(1), 7),
        ("mysql.innodb_flush_log_at_trx_commit", Value::from(2), 8),
    ] {
        assert_eq!(
            known_fact_value(&report, &subject, name),
            Some(&value),
            "{name}: {}",
            report["warnings"]
        );
        assert_eq!(
            fact_source(&report, &subject, name),
            format!("{}:{line}", storage.display()),
            "{name}"
        );
        if let Some(variable) = name.strip_prefix("mysql.").filter(|_| value.is_u64()) {
            assert_eq!(
                server.sql(&format!("SELECT @@{variable}")).unwrap(),
                value.to_string(),
                "{name}"
            );
        }
    }
    assert_eq!(
        known_fact_value(&report, &subject, "mysql.innodb_flush_method").unwrap(),
        "O_DIRECT"
    );
    assert_eq!(
        server.sql("SELECT @@innodb_flush_method").unwrap(),
        "O_DIRECT"
    );
    assert_eq!(
        known_fact_value(&report, &subject, "cluster.kind").unwrap(),
        "mariadb"
    );
    assert_eq!(
        directory_roles(&report, &server.data),
        ["data", "doublewrite"]
    );
    assert_eq!(
        directory_roles(&report, &redo),
        ["redo", "undo"],
        "one verdict for one file system"
    );
    assert_eq!(directory_roles(&report, &binlog), ["binlog"]);
    for directory in [&server.data, &redo, &binlog] {
        assert_eq!(
            verdict(&report, directory),
            Some("at-risk"),
            "commits are flushed once a second"
        );
    }
    assert_eq!(
        rule_outcome(&report, "mysql.flush-log-relaxed", &subject),
        Some("applies")
    );
    assert_eq!(
        rule_outcome(&report, "mysql.sync-binlog-keep", &subject),
        Some("applies")
    );
    assert_eq!(
        rule_outcome(&report, "pg.fsync-off", &subject),
        None,
        "that is no question of MariaDB"
    );
    let text = stdout(
        &walwise()
            .args(["check", "-v", "--no-probe"])
            .output_in_time(),
    );
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let kept = format!(
        "Stored here redo at risk {} undo at risk {}",
        redo.display(),
        undo.display()
    );
    assert!(text.contains(&kept), "{text}");
    let targets = report["targets"].as_array().unwrap();
    let rows: Vec<&Value> = targets
        .iter()
        .flat_map(|target| target["directories"].as_array().unwrap())
        .collect();
    for (role, directory) in [
        ("data", &server.data),
        ("doublewrite", &server.data),
        ("redo", &redo),
        ("undo", &undo),
        ("binlog", &binlog),
    ] {
        let row = serde_json::json!({ "role": role, "path": directory, "verdict": "at-risk" });
        assert_eq!(
            rows.iter().filter(|found| ***found == row).count(),
            1,
            "{row}: {rows:?}"
        );
    }
    assert!(
        text.contains(&format!("now 2, set in {}:8", storage.display())),
        "{text}"
    );

    // The configuration also holds passwords, which no output may contain.
    for arguments in [&["capture", "--no-mask"][..], &["facts"]] {
        let output = walwise().args(arguments).output_in_time();
        let said = stdout(&output) + &stderr(&output);
        assert!(
            said.contains("innodb_log_group_home_dir") || said.contains("mysql.redo_directory"),
            "{said}"
        );
        assert!(!said.contains(SECRET), "{arguments:?}");
    }

    // A changed option file takes effect only after a restart, a value set by SET GLOBAL
    // immediately.
    server.write_option_file(
        "conf.d/storage.cnf",
        &lines.replace("commit = 2", "commit = 1"),
    );
    server.sql("SET GLOBAL sync_binlog = 7").unwrap();
    let (_, report) = check_json(&[]);
    for (name, value) in [
        ("mysql.innodb_flush_log_at_trx_commit", 2),
        ("mysql.sync_binlog", 7),
    ] {
        assert_eq!(
            known_fact_value(&report, &subject, name),
            Some(&Value::from(value)),
            "{}",
            report["warnings"]
        );
        let set = fact_source(&report, &subject, name);
        assert!(
            set.contains(&format!(
                "{}/socket",
                server.temporary_directory().display()
            )),
            "{set}"
        );
    }
    assert!(
        report["warnings"]
            .to_string()
            .contains("sync_binlog is 1 in"),
        "{}",
        report["warnings"]
    );

    // The dynamic settings are unknown without a login, but settings that need a restart stay
    // known.
    server
        .sql("ALTER USER root@localhost IDENTIFIED BY 'x'")
        .unwrap();
    let (_, report) = check_json(&[]);
    assert_eq!(
        known_fact_value(&report, &subject, "mysql.sync_binlog"),
        None
    );
    assert_eq!(
        known_fact_value(&report, &subject, "mysql.innodb_flush_log_at_trx_commit"),
        None
    );
    let log = server.log();
    assert!(!log.contains("Aborted connection"), "{log}");
}

#[test]
#[ignore = "needs root: loop devices, a mount namespace and MariaDB"]
fn a_mariadb_with_mounts_of_its_own_is_found_where_its_data_lies_here() {
    let data = mount_ext4(&[], "");
    super::support::run("chmod", &["755", data.path()]);
    let mut server = Mariadb::new_below(&data.point, "[mysqld]\nsync_binlog = 1\n");
    server.mount_data_elsewhere();
    server.start();
    let (_, report) = check_json(&[]);
    let subject = format!("cluster {}", server.data.display());
    let data = server.data.to_str().unwrap();
    assert_eq!(
        known_fact_value(&report, &subject, "mysql.data_directory").unwrap(),
        data,
        "{}",
        report["warnings"]
    );
    assert_eq!(
        known_fact_value(&report, &subject, "mysql.redo_directory").unwrap(),
        data
    );
    assert_eq!(
        known_fact_value(&report, &subject, "mysql.running").unwrap(),
        true
    );
    assert_eq!(
        known_fact_value(&report, &subject, "mysql.sync_binlog").unwrap(),
        1
    );
    assert!(
        verdict(&report, &server.data).is_some(),
        "{}",
        report["verdicts"]
    );
}
