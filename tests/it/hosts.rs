//! Recorded hosts (`tests/hosts/*.host`): the recorded answers give the same findings on every test
//! host. The first lines of each file name its origin.

use serde_json::Value;
use walwise_sys::host::capture_format;

use crate::support::deadline::CommandInTime as _;
use crate::support::recorded::{
    recorded_host_documents, recorded_host_file as host, recorded_host_files,
};
use crate::support::{check_json, rule_outcome, stdout, walwise};

mod census;
mod clouds;
mod durations;
mod garbled;
mod healthy;
mod kept;
mod lost_evidence;
mod needed_unknown_facts;
mod remedies;
mod reviewed;
mod seeds;
mod short;
mod states;
pub mod table;
mod torn_writes;
mod unknown_words;

fn check_recorded_host(name: &str) -> (i32, Value) {
    check_json(&["/data", "--host", host(name).to_str().unwrap()])
}

fn check_recorded_host_target(name: &str, target: &str) -> Value {
    check_json(&[target, "--host", host(name).to_str().unwrap()]).1
}

fn recorded_host_names() -> Vec<String> {
    recorded_host_files()
        .iter()
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

fn explain_rule_on_recorded_host(name: &str, rule: &str) -> String {
    let path = host(name);
    stdout(
        &walwise()
            .args(["explain", rule, "/data", "--host", path.to_str().unwrap()])
            .output_in_time(),
    )
}

#[test]
fn recorded_hosts_name_their_origin_and_parse_completely() {
    for (name, report) in recorded_host_documents() {
        let text = std::fs::read_to_string(host(name)).unwrap();
        let comment = text.lines().nth(1).unwrap_or_default();
        let kinds = ["# real:", "# adapted:", "# synthetic:"];
        assert!(
            kinds.iter().any(|kind| comment.starts_with(kind)),
            "{name}: {comment}"
        );
        let (_, problems) = capture_format::parse_capture(text.as_bytes()).unwrap();
        assert_eq!(problems, [""; 0], "{name}");
        let warnings: Vec<&str> = report["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|warning| warning.as_str().unwrap())
            .collect();
        // Expected warnings of a capture: a file system that does not answer, and a server in
        // another mount namespace.
        let expected = ["no answer within", "server is in another mount namespace"];
        let known = |warning: &&str| expected.iter().any(|words| warning.contains(words));
        assert!(warnings.iter().all(known), "{name}: {warnings:?}");
    }
}

#[test]
fn old_e2fsprogs_prevents_fast_commit_advice() {
    let (_, report) = check_recorded_host("alinux3-old-e2fsprogs");
    assert_eq!(
        rule_outcome(&report, "ext4.fast-commit-option", "target /data"),
        Some("does-not-apply")
    );
    assert_eq!(
        rule_outcome(&report, "ext4.fast-commit-tools-too-old", "target /data"),
        Some("applies")
    );
    let advice = report["plans"].to_string();
    assert!(!advice.contains("-O fast_commit"), "{advice}");
    let why = explain_rule_on_recorded_host("alinux3-old-e2fsprogs", "ext4.fast-commit-option");
    assert!(
        why.contains("e2fsprogs.version") && why.contains("1.45.6"),
        "the reason names the tool: {why}"
    );
}

#[test]
fn el8_xfs_nobarrier_in_fstab_is_critical_despite_kernel_4_18() {
    let (code, report) = check_recorded_host("el8-xfs-nobarrier");
    assert_eq!(
        rule_outcome(&report, "boot.refused-option", "boot /data"),
        Some("applies")
    );
    assert_eq!(
        rule_outcome(&report, "boot.refused-option", "boot /"),
        Some("does-not-apply")
    );
    assert_eq!(code, 3);
    let steps = report["plans"][0]["steps"].as_array().unwrap();
    let step = steps
        .iter()
        .find(|step| step["advice"]["setting"] == "boot.options")
        .unwrap();
    assert_eq!(
        (&step["level"], &step["result"]),
        (&"critical".into(), &"noatime".into())
    );
}

#[test]
fn el9_host_leaves_few_rules_undecided() {
    let (code, report) = check_recorded_host("el9-ext4");
    let (mut undecided, mut all) = (0, 0);
    for tally in report["rules"].as_array().unwrap() {
        let open = tally["undecided"].as_u64().unwrap();
        undecided += open;
        all += open + tally["applies"].as_u64().unwrap();
        all += tally["does_not_apply"].as_array().unwrap().len() as u64;
    }
    assert!(
        undecided * 5 < all,
        "more than a fifth of {all} is undecided"
    );
    assert_eq!(
        rule_outcome(&report, "boot.refused-option", "boot /data"),
        Some("does-not-apply")
    );
    assert_eq!(code, 0);
}

#[test]
fn text_report_matches_snapshot() {
    let path = host("el8-xfs-nobarrier");
    let path = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
    let output = walwise()
        .args(["check", "-v", "/data", "--host", path.to_str().unwrap()])
        .output_in_time();
    insta::with_settings!({filters => vec![(r"20\d\d-\d\d-\d\dT[\d:]+Z, \d+ rules \(pack [^)]*\)", "[when], [so many] rules")]}, {
        insta::assert_snapshot!(stdout(&output));
    });
}
