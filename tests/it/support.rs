//! Shared helpers: the program itself, and real file systems on loop devices that are removed with
//! their guard.

#![allow(dead_code, reason = "every test module uses its own share")]

pub mod advised;
pub use walwise_testkit::deadline;
pub mod fuse;
pub mod loops;
pub mod machine;
pub mod mariadb;
pub mod postgres;
pub mod programs;
pub mod pty;
pub mod recorded;
pub mod reports;
pub mod running;
pub mod strace;
pub mod untouched;

use std::path::Path;

use crate::support::deadline::CommandInTime as _;
pub use programs::{run, stderr, stdout, walwise};

/// Whether a directory holds no scratch directory of walwise's.
pub fn scratch_free(dir: &Path) -> bool {
    loops::scratch_dirs(dir).is_empty()
}

/// The names in a directory, in order, without the `lost+found` that mke2fs makes.
pub fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter(|name| name != "lost+found").collect();
    names.sort();
    names
}

/// `walwise check` as JSON, with its exit code.
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

/// The value of a fact in a report, when it is known.
pub fn fact<'r>(
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

/// Whether a fact of the host hangs on what is mounted, free or an array just now, which other
/// tests decide too: a tool that nothing in sight needs is not asked for its version.
pub fn hangs_on_others(fact: &str) -> bool {
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

/// The applying and the undecided findings.
pub fn findings(report: &serde_json::Value) -> impl Iterator<Item = &serde_json::Value> {
    ["findings", "undecided"]
        .into_iter()
        .flat_map(|list| report[list].as_array().unwrap())
}

/// The outcome of a rule on a subject: `applies`, `does-not-apply`, `undecided`; nothing when it
/// was not evaluated.
pub fn outcome<'r>(report: &'r serde_json::Value, rule: &str, subject: &str) -> Option<&'r str> {
    if let Some(finding) = findings(report).find(|f| f["rule"] == rule && f["subject"] == subject) {
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

/// The standing of a target's verdict.
pub fn verdict<'r>(report: &'r serde_json::Value, target: &Path) -> Option<&'r str> {
    let subject = format!("target {}", target.display());
    let verdicts = report["verdicts"].as_array()?;
    verdicts.iter().find(|v| v["target"] == subject.as_str())?["standing"].as_str()
}

/// The verdict's statement about a subject in a layer, as standing and sentence, each once over all
/// its ways.
pub fn evidence(
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
