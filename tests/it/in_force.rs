//! Compares the settings that walwise reports as in force, run by root, by the server's owner and
//! by another user. The tests change settings that affect durability in every possible place.
//!
//! The reported values equal the server's answer in a new session, and no two reports contradict
//! each other. Root's report contains everything that the owner's report contains.

mod mariadb;
mod postgres;

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::support::{evidence_statements, known_fact_value, stderr};
use crate::support::deadline::CommandInTime as _;

/// A uid without an account.
const STRANGER: u32 = 4242;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Viewer {
    Root,
    Owner,
    Stranger,
}

impl Viewer {
    const ALL: [Self; 3] = [Self::Root, Self::Owner, Self::Stranger];
}

struct ViewerReport {
    report: Value,
    subject: String,
}

impl ViewerReport {
    fn from_check(data: &Path, mut walwise: Command) -> Self {
        walwise
            .arg("check")
            .arg(data)
            .args(["--no-probe", "-v", "--format", "json"]);
        let output = walwise.output_in_time();
        let report = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
        Self {
            report,
            subject: format!("cluster {}", data.display()),
        }
    }

    fn known_value(&self, name: &str) -> Option<&Value> {
        known_fact_value(&self.report, &self.subject, name)
    }

    fn best_database_evidence(&self, data: &Path) -> &'static str {
        let all = evidence_statements(&self.report, data, "database", &self.subject);
        let says = |standing: &str| all.iter().any(|(found, _)| found == standing);
        // The report has no rows for a server that was not found.
        let best = if all.is_empty() {
            "unproven"
        } else {
            "durable"
        };
        ["at-risk", "contradictory", "unproven"]
            .into_iter()
            .find(|standing| says(standing))
            .unwrap_or(best)
    }

    fn verdict_exceptions(&self, data: &Path) -> String {
        let target = format!("target {}", data.display());
        let verdicts = self.report["verdicts"].as_array().unwrap();
        let found = verdicts
            .iter()
            .find(|verdict| verdict["target"] == target.as_str());
        found.unwrap_or_else(|| panic!("{target}: {}", self.report["verdicts"]))["exceptions"]
            .to_string()
    }
}

fn command_as_stranger(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .uid(STRANGER)
        .gid(STRANGER)
        .current_dir("/")
        .stdin(Stdio::null());
    command.env_clear().env("LC_ALL", "C.UTF-8");
    command
}

fn assert_views_agree(
    row: &str,
    data: &Path,
    sights: &BTreeMap<Viewer, ViewerReport>,
    shows: &BTreeMap<&str, Value>,
) {
    for (viewer, sight) in sights {
        for (name, shown) in shows {
            if let Some(known) = sight.known_value(name) {
                assert_eq!(known, shown, "{row}: {name} for {viewer:?}");
            }
        }
    }
    let [root, owner, stranger] = Viewer::ALL.map(|viewer| &sights[&viewer]);
    for name in shows.keys() {
        assert!(
            root.known_value(name).is_some() || owner.known_value(name).is_none(),
            "{row}: root lacks {name}"
        );
    }
    let [of_root, of_owner, of_stranger] =
        [root, owner, stranger].map(|sight| sight.best_database_evidence(data));
    assert!(
        of_owner == "unproven" || of_owner == of_root,
        "{row}: the owner sees {of_owner}, root {of_root}"
    );
    assert!(
        of_stranger == "unproven" || of_stranger == of_root,
        "{row}: the stranger sees {of_stranger}, root {of_root}"
    );
}
