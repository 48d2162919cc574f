//! The answers about every target of every recorded host, in the recommendation that programs read.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::recorded::files;
use crate::support::{check_json, stdout, walwise};

/// The answers about a target with a PostgreSQL server or none, and with one of MySQL or MariaDB.
const POSTGRES: [&str; 6] =
    ["filesystem", "mkfs_options", "mount_options", "wal_sync_method", "max_wal_size", "commit_latency"];
const MYSQL: [&str; 7] = [
    "filesystem",
    "mkfs_options",
    "mount_options",
    "innodb_flush_method",
    "innodb_flush_log_at_trx_commit",
    "innodb_redo_log_capacity",
    "commit_latency",
];

fn recommendation(arguments: &[&str]) -> (usize, Value) {
    let text = stdout(
        &walwise().arg("check").args(arguments).args(["--no-probe", "--format", "json"]).output_in_time(),
    );
    (text.len(), serde_json::from_str(&text).unwrap())
}

/// Whether a value has this action by its shape: a value exactly where something is to be in force.
fn has_value(action: &str) -> bool {
    match action {
        "keep" | "change" | "create" => true,
        "no_advice" | "undecided" | "not_applicable" => false,
        other => panic!("no action: {other}"),
    }
}

#[test]
fn every_target_of_every_host_has_every_answer() {
    let (mut undecided, mut all) = (BTreeMap::<String, usize>::new(), 0);
    for file in files() {
        let host = file.to_str().unwrap();
        let (_, whole) = recommendation(&["--host", host]);
        let (_, report) = check_json(&["--no-probe", "--host", host]);
        for target in whole["targets"].as_array().unwrap() {
            let name = target["target"].as_str().unwrap().split_once(' ').unwrap().1;
            let (bytes, alone) = recommendation(&["--host", host, name]);
            assert!(bytes <= 8 << 10, "{host} {name}: {bytes} bytes");
            let target = &alone["targets"][0];
            let answers = target["answers"].as_object().unwrap();
            let applies =
                |name: &&str| answers[*name]["action"] != "not_applicable" || *name == "mkfs_options";
            let is_mysql = MYSQL.iter().all(&applies);
            assert!(is_mysql || POSTGRES.iter().all(applies), "{host} {name}: {answers:?}");
            for (topic, answer) in answers {
                let action = answer["action"].as_str().unwrap();
                assert_eq!(answer["value"].is_null(), !has_value(action), "{host} {name} {topic}: {answer}");
                assert!(!answer["reason"].as_str().unwrap().is_empty(), "{host} {name} {topic}");
                if action == "keep" {
                    assert!(is_kept_by_rule(&report, name, answer), "{host} {name} {topic}: {answer}");
                }
                if topic != "commit_latency" && action != "not_applicable" {
                    all += 1;
                    if action == "undecided" {
                        *undecided.entry(format!("{topic}: {}", answer["reason"])).or_default() += 1;
                    }
                }
            }
        }
    }
    let open: usize = undecided.values().sum();
    assert!(open * 10 <= all, "{open} of {all} are undecided: {undecided:#?}");
}

/// Whether the plan of a target has a step that keeps a setting, and a rule that says so in these words.
fn is_kept_by_rule(report: &Value, target: &str, answer: &Value) -> bool {
    let nothing = serde_json::json!({"set": null, "add": [], "remove": []});
    let plans = report["plans"].as_array().unwrap().iter();
    let mut steps = plans
        .filter(|plan| plan["target"] == format!("target {target}"))
        .flat_map(|plan| plan["steps"].as_array().unwrap());
    let applies =
        |rule: &Value| report["findings"].as_array().unwrap().iter().any(|finding| finding["rule"] == *rule);
    steps.any(|step| {
        step["advice"]["change"] == nothing
            && step["title"].as_str().unwrap().trim_end_matches('.') == answer["reason"]
            && step["rules"].as_array().unwrap().iter().all(applies)
    })
}

#[test]
fn a_report_about_one_target_fits_a_screen() {
    for file in files() {
        let host = file.to_str().unwrap();
        for target in recommendation(&["--host", host]).1["targets"].as_array().unwrap() {
            let name = target["target"].as_str().unwrap().split_once(' ').unwrap().1;
            let urgent = |fix: &Value| fix["level"] == "critical" || fix["level"] == "warning";
            let most = if target["fixes"].as_array().unwrap().iter().any(urgent) { 40 } else { 24 };
            let text =
                stdout(&walwise().args(["check", name, "--no-probe", "--host", host]).output_in_time());
            assert!(text.lines().count() <= most, "{host} {name}: {} lines\n{text}", text.lines().count());
        }
    }
}

#[test]
fn shared_and_user_space_file_systems_are_to_be_left() {
    let base = std::fs::read_to_string(crate::support::recorded::file("ext4-nobarrier")).unwrap();
    for fstype in [
        "fuse.s3fs",
        "fuse.mergerfs",
        "fuse.shfs",
        "virtiofs",
        "cifs",
        "ceph",
        "9p",
        "drvfs",
        "lxfs",
        "fakeowner",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let host = dir.path().join("host");
        std::fs::write(&host, base.replace(" - ext4 ", &format!(" - {fstype} "))).unwrap();
        let (_, found) = recommendation(&["/data", "--host", host.to_str().unwrap()]);
        let answer = &found["targets"][0]["answers"]["filesystem"];
        assert_eq!(answer["action"], "change", "{fstype}: {answer}");
    }
}

#[test]
fn a_recommendation_is_no_report() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("recommendation.json");
    let host = crate::support::recorded::file("el9-ext4");
    let host = host.to_str().unwrap();
    let (_, made) = recommendation(&["--host", host]);
    std::fs::write(&file, made.to_string()).unwrap();
    let file = file.to_str().unwrap();
    for refused in [&["show", file][..], &["check", "--host", host, "--baseline", file]] {
        let output = walwise().args(refused).output_in_time();
        let said = crate::support::stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("-v --format json") && said.contains("--save"), "{said}");
    }
}
