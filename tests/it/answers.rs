//! Checks the answers for every target of every recorded host, in JSON and in text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use walwise::session::Session;
use walwise_collect::Request;
use walwise_judge::rules::RuleSet;
use walwise_report::{Report, json as document, text};
use walwise_sys::host::RecordedHost;

use crate::hosts::table::recorded_target;
use crate::support::deadline::CommandInTime as _;
use crate::support::recorded::{recorded_host_file, recorded_host_files};
use crate::support::{stderr, stdout, walwise};

const POSTGRES: [&str; 6] = [
    "filesystem",
    "mkfs_options",
    "mount_options",
    "wal_sync_method",
    "max_wal_size",
    "commit_latency",
];
const MYSQL: [&str; 7] = [
    "filesystem",
    "mkfs_options",
    "mount_options",
    "innodb_flush_method",
    "innodb_flush_log_at_trx_commit",
    "innodb_redo_log_capacity",
    "commit_latency",
];

fn report_of_capture(capture: &str, target: Option<&str>) -> Report {
    let recording = RecordedHost::parse(capture.as_bytes()).unwrap();
    let request = Request {
        target: target.map(Into::into),
        ..Request::default()
    };
    let mut session =
        Session::collect_from_host(&recording, &request, RuleSet::builtin(), &mut |_, _| {});
    session.named_target = target.map(str::to_owned);
    session.build_report()
}

fn recommendation_json(report: &Report) -> Value {
    serde_json::from_str(&document::render_recommendation(report)).unwrap()
}

fn action_has_value(action: &str) -> bool {
    match action {
        "keep" | "change" | "create" => true,
        "no_advice" | "undecided" | "not_applicable" => false,
        other => panic!("no action: {other}"),
    }
}

fn is_value_kept_by_rule(whole: &Value, target: &Value, answer: &Value) -> bool {
    let nothing = json!({"set": null, "add": [], "remove": []});
    let plans = whole["plans"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|plan| plan["target"] == *target);
    let mut steps = plans.flat_map(|plan| plan["steps"].as_array().unwrap());
    steps.any(|step| {
        let title = step["title"].as_str().unwrap().trim_end_matches('.');
        step["advice"]["change"] == nothing
            && title == answer["reason"]
            && step["rules"] != json!([])
    })
}

/// Lists the commands that change something. For a free device the result is empty, because its
/// commands are in the script instead.
fn changing_commands<'w>(whole: &'w Value, target: &Value) -> Vec<(&'w Value, &'w Value)> {
    if target.as_str().unwrap().starts_with("target /dev/") {
        return Vec::new();
    }
    let nothing = json!({"set": null, "add": [], "remove": []});
    let plans = whole["plans"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|plan| plan["target"] == *target);
    let steps = plans.flat_map(|plan| plan["steps"].as_array().unwrap());
    let changes = steps.filter(|step| step["advice"]["change"] != nothing);
    let of_step = |step: &'w Value| {
        step["advice"]["apply"]
            .as_array()
            .unwrap()
            .iter()
            .map(|command| (&step["subject"], command))
    };
    changes.flat_map(of_step).collect()
}

#[test]
#[ignore = "exhaustive"]
fn every_target_of_every_host_has_every_answer() {
    let (mut undecided, mut all) = (BTreeMap::<String, usize>::new(), 0);
    for path in recorded_host_files() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let report = report_of_capture(&std::fs::read_to_string(&path).unwrap(), None);
        let whole: Value = serde_json::from_str(&document::render_report(&report)).unwrap();
        for target in recommendation_json(&report)["targets"].as_array().unwrap() {
            let answers = target["answers"].as_object().unwrap();
            let applies = |name: &&str| {
                answers[*name]["action"] != "not_applicable" || *name == "mkfs_options"
            };
            let is_whole = MYSQL.iter().all(&applies) || POSTGRES.iter().all(applies);
            let is_in_use = answers["filesystem"]["action"] == "not_applicable";
            assert!(is_whole || is_in_use, "{name}: {answers:?}");
            let fixes = target["fixes"].as_array().unwrap();
            for fix in fixes {
                let rules = fix["rules"].as_array().unwrap().iter();
                let names_verdict = rules
                    .filter_map(Value::as_str)
                    .any(|rule| rule.starts_with("verdict."));
                let is_of_boot = fix["subject"].as_str().unwrap().starts_with("boot ");
                assert!(!(names_verdict && is_of_boot), "{name}: {fix}");
            }
            for (subject, command) in changing_commands(&whole, &target["target"]) {
                let is_of_disk = subject.as_str().unwrap().starts_with("device ");
                let has = |fix: &Value| {
                    fix["commands"].as_array().unwrap().contains(command)
                        && (!is_of_disk || fix["subject"] == *subject)
                };
                assert!(
                    fixes.iter().any(has),
                    "{name}: no fix of {subject} has {command}: {fixes:?}"
                );
            }
            for (topic, answer) in answers {
                let action = answer["action"].as_str().unwrap();
                assert_eq!(
                    answer["value"].is_null(),
                    !action_has_value(action),
                    "{name} {topic}: {answer}"
                );
                assert!(
                    !answer["reason"].as_str().unwrap().is_empty(),
                    "{name} {topic}"
                );
                let is_kept =
                    action != "keep" || is_value_kept_by_rule(&whole, &target["target"], answer);
                assert!(is_kept, "{name} {topic}: {answer}");
                if topic != "commit_latency" && action != "not_applicable" {
                    all += 1;
                    if action == "undecided" {
                        *undecided
                            .entry(format!("{topic}: {}", answer["reason"]))
                            .or_default() += 1;
                    }
                }
            }
        }
    }
    let open: usize = undecided.values().sum();
    assert!(
        open * 10 <= all,
        "{open} of {all} are undecided: {undecided:#?}"
    );
}

#[test]
fn a_report_about_one_target_is_short() {
    let style = text::TextOutputStyle {
        colour: false,
        ascii: false,
    };
    for path in recorded_host_files() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let report = report_of_capture(
            &std::fs::read_to_string(&path).unwrap(),
            Some(recorded_target(name)),
        );
        let bytes = document::render_recommendation(&report).len();
        let targets = recommendation_json(&report)["targets"]
            .as_array()
            .unwrap()
            .len();
        assert!(
            bytes <= targets * (8 << 10),
            "{name}: {bytes} bytes for {targets} targets"
        );
        for (topic, answer) in recommendation_json(&report)["targets"][0]["answers"]
            .as_object()
            .unwrap()
        {
            let is_kept = answer["action"] == "keep";
            assert!(
                !is_kept || answer["apply"] == json!([]),
                "{name}: {topic}: {answer}"
            );
        }
        let urgent = |fix: &Value| fix["level"] == "critical" || fix["level"] == "warning";
        let is_urgent = recommendation_json(&report)["targets"][0]["fixes"]
            .as_array()
            .unwrap()
            .iter()
            .any(urgent);
        let text = text::render_short(&report, style);
        let lines = text.lines().count();
        assert!(
            lines <= targets * if is_urgent { 40 } else { 24 },
            "{name}: {lines} lines\n{text}"
        );
    }
}

#[test]
fn shared_and_fuse_file_systems_are_advised_against() {
    let capture = std::fs::read_to_string(recorded_host_file("ext4-nobarrier")).unwrap();
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
        "ecryptfs",
    ] {
        let capture = capture.replace(" - ext4 ", &format!(" - {fstype} "));
        let found = recommendation_json(&report_of_capture(&capture, Some("/data")));
        let answer = &found["targets"][0]["answers"]["filesystem"];
        assert_eq!(answer["action"], "change", "{fstype}: {answer}");
    }
}

#[test]
fn db_option_selects_answers_for_a_planned_server() {
    let capture = "tests/hosts/lab-sata-cache-off.host";
    for (engine, applies) in [
        (None, &POSTGRES[..]),
        (Some("postgres"), &POSTGRES),
        (Some("mysql"), &MYSQL),
    ] {
        let mut command = walwise();
        command.args([
            "check",
            "/lab/sata-cache-off",
            "--host",
            capture,
            "--format",
            "json",
        ]);
        command.args(engine.into_iter().flat_map(|engine| ["--db", engine]));
        let found: Value = serde_json::from_slice(&command.output_in_time().stdout).unwrap();
        for (key, answer) in found["targets"][0]["answers"].as_object().unwrap() {
            let applies = applies.contains(&key.as_str()) && key != "mkfs_options";
            assert_eq!(
                answer["action"] != "not_applicable",
                applies,
                "{engine:?} {key}: {answer}"
            );
        }
    }
}

/// Each command in a report must run as printed. `explain` finds this rule only if the command line
/// names its directory.
const MINE: &str = r#"
[[rule]]
id = "mine.disk"
since = "1"
for = "target"
title = "Mine says so of {target.path}"
question = "Does mine say so?"
level = "warning"
confidence = "certain"
because = "It is mine."
refs = ["mine"]
when = { fact = "mount.class", is = "block" }
example = [
    { name = "a disk", facts = { "mount.class" = "block" }, expect = "applies" },
    { name = "memory", facts = { "mount.class" = "memory" }, expect = "does not apply" },
    { name = "unread", facts = { "mount.class" = "?denied" }, expect = "undecided" },
]
"#;

#[test]
fn commands_of_a_capture_run_as_printed() {
    let directory = tempfile::tempdir().unwrap();
    let rules = directory.path().join("rules");
    std::fs::create_dir(&rules).unwrap();
    std::fs::write(rules.join("mine.toml"), MINE).unwrap();
    let program = Path::new(crate::support::programs::walwise_path())
        .parent()
        .unwrap();
    let path_of_programs = format!("{}:/usr/bin:/bin", program.display());
    let (mut all, mut mine) = (0, 0);
    for path in recorded_host_files().iter().step_by(14) {
        let check = || {
            let mut command = walwise();
            command
                .args(["check", "--host"])
                .arg(path.canonicalize().unwrap())
                .arg("--rules")
                .arg(&rules);
            command
        };
        let text = [check(), {
            let mut whole = check();
            whole.arg("-v");
            whole
        }]
        .map(|mut command| stdout(&command.output_in_time()))
        .concat();
        let lines: BTreeSet<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("walwise "))
            .collect();
        for line in lines.into_iter().filter(|line| line.contains("--host")) {
            let mut shell = Command::new("sh");
            shell
                .args(["-c", line])
                .current_dir(directory.path())
                .env("PATH", &path_of_programs);
            let output = shell.stdin(Stdio::null()).output_in_time();
            assert_ne!(
                output.status.code(),
                Some(2),
                "{}: {line}: {}",
                path.display(),
                stderr(&output)
            );
            assert_ne!(output.status.code(), Some(127), "{line}");
            all += 1;
            mine += usize::from(line.contains("explain mine.disk"));
        }
        let bare = text
            .lines()
            .map(str::trim)
            .find(|line| line.starts_with("walwise check /") && !line.contains("--host"));
        assert_eq!(bare, None, "{}", path.display());
    }
    assert!(
        all > 10 && mine > 0,
        "only {all} were run, {mine} of them about a user's rule"
    );
}

#[test]
fn recommendation_json_is_refused_as_report() {
    let dir = tempfile::tempdir().unwrap();
    let made = dir.path().join("recommendation.json");
    let host = recorded_host_file("el9-ext4");
    let (made, host) = (made.to_str().unwrap(), host.to_str().unwrap());
    let output = walwise()
        .args([
            "check", "--host", host, "--format", "json", "--output", made,
        ])
        .output_in_time();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for refused in [
        &["show", made][..],
        &["check", "--host", host, "--baseline", made],
    ] {
        let output = walwise().args(refused).output_in_time();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains("-v --format json") && said.contains("--save"),
            "{said}"
        );
    }
}
