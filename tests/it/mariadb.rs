//! Runs the commands that walwise prints for MariaDB on a real server: a dynamic setting by SQL
//! statements, other settings by option file and restart. Measurements use the log writes of this
//! server.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::support::mariadb::Mariadb;
use super::support::{check_json, report_findings, run, stderr, stdout, walwise};
use crate::support::deadline::CommandInTime as _;

/// Server options that weaken one dynamic setting and one that needs a restart.
const LINES: &str = "[mysqld]\nlog-bin = bin\nsync_binlog = 0\ninnodb_flush_method = nosync\n";

fn start_relaxed_server(place: &Path) -> Mariadb {
    run("chmod", &["755", place.to_str().unwrap()]);
    let mut server = Mariadb::new_below(place, LINES);
    server.start();
    server
}

fn query_global_variables(server: &Mariadb) -> BTreeMap<String, String> {
    let shown = server.sql("SHOW GLOBAL VARIABLES").unwrap();
    let pair = |line: &str| {
        line.split_once('\t')
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    shown.lines().filter_map(pair).collect()
}

fn plan_step_advice<'r>(report: &'r Value, setting: &str) -> &'r Value {
    let mut steps = report["plans"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|plan| plan["steps"].as_array().unwrap());
    &steps
        .find(|step| step["advice"]["setting"] == setting)
        .unwrap_or_else(|| panic!("{setting}: {report}"))["advice"]
}

fn step_commands<'r>(advice: &'r Value, word: &str, printed: &str) -> Vec<&'r str> {
    let all: Vec<&str> = advice[word]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line.as_str().unwrap())
        .collect();
    for line in &all {
        assert!(printed.contains(line), "{line} is not in:\n{printed}");
    }
    assert!(!all.is_empty(), "{word}: {advice}");
    all
}

fn run_in_shell(lines: &[&str]) -> String {
    let output = Command::new("sh")
        .args(["-e", "-c", &lines.join("\n")])
        .output_in_time();
    assert!(output.status.success(), "{lines:?}: {}", stderr(&output));
    stdout(&output)
}

#[test]
#[ignore = "needs root and MariaDB 10.11"]
fn printed_commands_apply_verify_and_undo_settings() {
    let place = tempfile::tempdir().unwrap();
    let mut server = start_relaxed_server(place.path());
    let data = server.data.to_str().unwrap().to_owned();
    let (_, report) = check_json(&[&data, "--no-probe"]);
    let printed = stdout(
        &walwise()
            .args(["check", &data, "--no-probe", "-v"])
            .output_in_time(),
    );

    let before = query_global_variables(&server);
    let advice = plan_step_advice(&report, "mysql.sync_binlog");
    assert_eq!(advice["interrupts"], "none", "{advice}");
    let [apply, verify, undo] =
        ["apply", "verify", "undo"].map(|word| step_commands(advice, word, &printed));
    assert!(apply[0].starts_with("mariadb --socket="), "{apply:?}");
    run_in_shell(&apply);
    assert_eq!(run_in_shell(&verify).lines().last(), Some("1"));
    let changed = query_global_variables(&server);
    let moved: Vec<&String> = before
        .keys()
        .filter(|name| before.get(*name) != changed.get(*name))
        .collect();
    assert_eq!(moved, ["sync_binlog"]);
    run_in_shell(&undo);
    assert_eq!(run_in_shell(&verify).lines().last(), Some("0"));
    assert_eq!(query_global_variables(&server), before);

    let advice = plan_step_advice(&report, "mysql.innodb_flush_method");
    assert_eq!(advice["interrupts"], "restart", "{advice}");
    let verify = step_commands(advice, "verify", &printed);
    let conf = walwise()
        .args(["check", &data, "--no-probe", "--format", "conf"])
        .output_in_time();
    server.write_option_file("conf.d/zz-walwise.cnf", &stdout(&conf));
    let read = run(
        "my_print_defaults",
        &[
            &format!(
                "--defaults-file={}/my.cnf",
                server.temporary_directory().display()
            ),
            "mysqld",
        ],
    );
    assert!(
        read.ends_with("--innodb_flush_method=O_DIRECT\n")
            || read.contains("--innodb_flush_method=O_DIRECT\n")
    );
    assert_eq!(
        run_in_shell(&verify).lines().last(),
        Some("nosync"),
        "nothing is changed before the restart"
    );
    server.restart_without_ctime_gap();
    assert_eq!(run_in_shell(&verify).lines().last(), Some("O_DIRECT"));
    let after = query_global_variables(&server);
    assert_eq!(
        after["sync_binlog"], "1",
        "the file has what SET GLOBAL does not keep"
    );
    let log = server.log();
    let complaint = |line: &&str| {
        line.contains("[ERROR]")
            || line.contains("unknown variable")
            || line.contains("zz-walwise")
            || line.contains("ignored")
    };
    assert_eq!(log.lines().find(complaint), None);
    let (_, report) = check_json(&[&data, "--no-probe"]);
    let steps = report["plans"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|plan| plan["steps"].as_array().unwrap());
    let left = steps.filter(|step| {
        step["advice"]["setting"]
            .as_str()
            .is_some_and(|name| name.starts_with("mysql."))
    });
    let left: Vec<&Value> = left
        .filter(|step| {
            step["advice"]["change"] != serde_json::json!({"set": null, "add": [], "remove": []})
        })
        .collect();
    assert!(
        left.is_empty(),
        "nothing of the server is left to change: {left:?}"
    );
}

fn expected_redo_method(variables: &BTreeMap<String, String>) -> &'static str {
    if variables["innodb_log_file_buffering"] == "ON" {
        "fdatasync"
    } else {
        "fdatasync_direct"
    }
}

#[test]
#[ignore = "needs root and MariaDB 10.11"]
fn mariadb_probe_measures_redo_and_binary_log() {
    let place = tempfile::tempdir().unwrap();
    let mut server = start_relaxed_server(place.path());
    server.write_option_file("conf.d/storage.cnf", "[mysqld]\nlog-bin = bin\n");
    server.restart_without_ctime_gap();
    let data = server.data.to_str().unwrap().to_owned();
    for buffering in ["OFF", "ON"] {
        server
            .sql(&format!(
                "SET GLOBAL innodb_log_file_buffering = {buffering}"
            ))
            .unwrap();
        let variables = query_global_variables(&server);
        let (_, report) = check_json(&[&data, "--seconds", "2"]);
        let probe = &report["probes"][0]["measurement"];
        let log = &probe["log"];
        assert_eq!(log["kind"], "redo", "{probe}");
        assert_eq!(
            log["page_bytes"].to_string(),
            variables["innodb_log_write_ahead_size"]
        );
        assert_eq!(log["in_force"], expected_redo_method(&variables), "{log}");
        let methods: Vec<&str> = probe["methods"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["method"].as_str().unwrap())
            .collect();
        assert_eq!(
            methods[0],
            expected_redo_method(&variables),
            "others are compared with what is in force"
        );
        assert!(
            !methods.contains(&"open_sync"),
            "no setting of this server opens its log so: {methods:?}"
        );
        let rows: Vec<&str> = probe["workloads"][0]["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["name"].as_str().unwrap())
            .collect();
        assert_eq!(
            rows,
            [
                "redo log",
                "binary log",
                "redo log and binary log",
                "16 sessions"
            ]
        );
        let sentence = probe["workloads"][0]["sentence"].as_str().unwrap();
        for word in ["redo log", "binary log", "sync_binlog = 1", "16 clients"] {
            assert!(sentence.contains(word), "{sentence}");
        }
        let target = format!("target {data}");
        let is_foreign = |finding: &&Value| {
            finding["rule"].as_str().unwrap().starts_with("pg.") && finding["subject"] == target
        };
        assert_eq!(report_findings(&report).find(is_foreign), None);
        let text = walwise()
            .args(["probe", &data, "--seconds", "2"])
            .output_in_time();
        let text = stdout(&text);
        let own = format!("innodb_log_file_buffering = {}", buffering.to_lowercase());
        let marked = |line: &&str| line.contains(&own) && line.ends_with("← in force");
        assert!(text.lines().any(|line| marked(&line)), "{text}");
    }
}
