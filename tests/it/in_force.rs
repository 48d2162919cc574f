//! Settings reported as in force, seen by root, by the server's owner and by a stranger, for every
//! way to set those that decide durability. They equal the server's own answer in a new session, no
//! two of the three views contradict each other, and root knows everything that the owner knows.

mod mariadb;
mod postgres;

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::support::{evidence, fact, stderr};
use crate::support::deadline::CommandInTime as _;

/// A uid of no account.
const STRANGER: u32 = 4242;

/// The viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Viewer {
    Root,
    Owner,
    Stranger,
}

impl Viewer {
    const ALL: [Self; 3] = [Self::Root, Self::Owner, Self::Stranger];
}

/// The view of a viewer.
struct Sight {
    report: Value,
    subject: String,
}

impl Sight {
    /// The view of a data directory by a walwise that runs as some user.
    fn of(data: &Path, mut walwise: Command) -> Self {
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

    fn known(&self, name: &str) -> Option<&Value> {
        fact(&self.report, &self.subject, name)
    }

    /// The database's part of the verdict on a directory, independent of the disks below.
    fn allowed(&self, data: &Path) -> &'static str {
        let all = evidence(&self.report, data, "database", &self.subject);
        let says = |standing: &str| all.iter().any(|(found, _)| found == standing);
        // Of a server that was not found nothing is said.
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

    /// The sessions that its heading names.
    fn exceptions(&self, data: &Path) -> String {
        let target = format!("target {}", data.display());
        let verdicts = self.report["verdicts"].as_array().unwrap();
        let found = verdicts
            .iter()
            .find(|verdict| verdict["target"] == target.as_str());
        found.unwrap_or_else(|| panic!("{target}: {}", self.report["verdicts"]))["exceptions"]
            .to_string()
    }
}

/// A program as the stranger, who has no groups.
fn stranger(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .uid(STRANGER)
        .gid(STRANGER)
        .current_dir("/")
        .stdin(Stdio::null());
    command.env_clear().env("LC_ALL", "C.UTF-8");
    command
}

/// All views, no two of which contradict each other; `shows` is the server's answer, by the name of
/// the fact.
fn agree(row: &str, data: &Path, sights: &BTreeMap<Viewer, Sight>, shows: &BTreeMap<&str, Value>) {
    for (viewer, sight) in sights {
        for (name, shown) in shows {
            if let Some(known) = sight.known(name) {
                assert_eq!(known, shown, "{row}: {name} for {viewer:?}");
            }
        }
    }
    let [root, owner, stranger] = Viewer::ALL.map(|viewer| &sights[&viewer]);
    for name in shows.keys() {
        assert!(
            root.known(name).is_some() || owner.known(name).is_none(),
            "{row}: root lacks {name}"
        );
    }
    let [of_root, of_owner, of_stranger] = [root, owner, stranger].map(|sight| sight.allowed(data));
    assert!(
        of_owner == "unproven" || of_owner == of_root,
        "{row}: the owner sees {of_owner}, root {of_root}"
    );
    assert!(
        of_stranger == "unproven" || of_stranger == of_root,
        "{row}: the stranger sees {of_stranger}, root {of_root}"
    );
}
