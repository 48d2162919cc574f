//! Shared helpers: the program itself, and real file systems on loop devices, which each guard
//! removes.

#![allow(dead_code, reason = "every test module uses its own share")]

pub mod advised;
pub use walwise_testkit::deadline;
pub mod fuse;
pub mod loops;
pub mod mariadb;
pub mod postgres;
pub mod programs;
pub mod pty;
pub mod recorded;
pub mod reports;
pub mod running;
pub mod strace;
pub mod test_host;
pub mod untouched;

use std::path::Path;

use crate::support::deadline::CommandInTime as _;
pub use programs::{run, stderr, stdout, walwise};

pub fn has_no_scratch_directory(dir: &Path) -> bool {
    loops::scratch_dirs(dir).is_empty()
}

pub fn sorted_file_names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter(|name| name != "lost+found").collect();
    names.sort();
    names
}

pub fn check_json(arguments: &[&str]) -> (i32, serde_json::Value) {
    let output = walwise()
        .args(["check", "-v"])
        .args(arguments)
        .args(["--format", "json"])
        .output_in_time();
    let code = output.status.code().expect("walwise ended by itself");
    match serde_json::from_slice(&output.stdout) {
        Ok(json) => (code, json),
        Err(e) => panic!(
            "no JSON ({e}), exit {code}: {}\n{}",
            stderr(&output),
            stdout(&output)
        ),
    }
}

pub fn known_fact_value<'r>(
    report: &'r serde_json::Value,
    subject: &str,
    name: &str,
) -> Option<&'r serde_json::Value> {
    let rows = report["facts"].as_array()?;
    let row = rows
        .iter()
        .find(|row| row["subject"] == subject && row["fact"] == name)?;
    row["reading"].get("value")
}

/// Whether a host fact depends on current mounts, free disks or arrays, which other tests change.
/// Versions of tools do, because they are read only if a device on the host needs the tool.
pub fn may_change_with_other_tests(fact: &str) -> bool {
    let tools = [
        "xfsprogs.",
        "btrfsprogs.",
        "mdadm.",
        "util_linux.",
        "mkfs.xfs_",
        "mkfs.btrfs_",
    ];
    tools.iter().any(|start| fact.starts_with(start))
}

pub fn report_findings(report: &serde_json::Value) -> impl Iterator<Item = &serde_json::Value> {
    ["findings", "undecided"]
        .into_iter()
        .flat_map(|list| report[list].as_array().unwrap())
}

/// Returns `applies`, `does-not-apply` or `undecided`; `None` if the rule was not evaluated.
pub fn rule_outcome<'r>(
    report: &'r serde_json::Value,
    rule: &str,
    subject: &str,
) -> Option<&'r str> {
    if let Some(finding) =
        report_findings(report).find(|f| f["rule"] == rule && f["subject"] == subject)
    {
        return finding["outcome"]["outcome"].as_str();
    }
    let tally = report["rules"]
        .as_array()?
        .iter()
        .find(|tally| tally["rule"] == rule)?;
    let none = tally["does_not_apply"]
        .as_array()?
        .iter()
        .any(|name| name == subject);
    none.then_some("does-not-apply")
}

pub fn verdict<'r>(report: &'r serde_json::Value, target: &Path) -> Option<&'r str> {
    let subject = format!("target {}", target.display());
    let verdicts = report["verdicts"].as_array()?;
    verdicts.iter().find(|v| v["target"] == subject.as_str())?["standing"].as_str()
}

/// Returns the kind and the sentence of each statement in the verdict. Duplicates from several
/// flush paths are removed.
pub fn evidence_statements(
    report: &serde_json::Value,
    target: &Path,
    layer: &str,
    subject: &str,
) -> std::collections::BTreeSet<(String, String)> {
    let of = format!("target {}", target.display());
    let found = report["verdicts"]
        .as_array()
        .unwrap()
        .iter()
        .find(|v| v["target"] == of.as_str())
        .unwrap();
    let all = found["paths"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|way| way["evidence"].as_array().unwrap());
    let about = all.filter(|one| one["layer"] == layer && one["subject"] == subject);
    let text = |one: &serde_json::Value, key: &str| one[key].as_str().unwrap().to_owned();
    about
        .map(|one| (text(one, "standing"), text(one, "text")))
        .collect()
}
