//! Assumptions compared with reality: each row of a table assumes a change, then makes it for real,
//! and compares both machines. An assumption whose consequences are not modelled must have been
//! refused, with the further assumptions needed.
//!
//! Both sides are differences to one earlier report, made by the same code: that of `what_if` and
//! that of `--baseline`.

mod mariadb;
mod postgres;
mod storage;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::running::wait_for;
use crate::support::{check_json, fact, hangs_on_others, stderr, stdout, walwise};

/// The differences by subject: facts, findings and verdicts.
type Different = BTreeMap<String, String>;

/// The state that an assumption is compared with.
pub struct Before {
    directory: tempfile::TempDir,
    target: PathBuf,
    /// Parts of the names of what is the test's own.
    own: Vec<String>,
}

impl Before {
    /// The machine as it is, seen from this target; other tests change what is theirs meanwhile.
    pub fn of(target: &Path, own: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let report = undisturbed(target, || {
            check_json(&[target.to_str().unwrap(), "--no-probe"]).1
        });
        std::fs::write(directory.path().join("before.json"), report.to_string()).unwrap();
        Self {
            directory,
            target: target.to_owned(),
            own: own.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    /// The differences under assumptions.
    pub fn supposing(&self, assumed: &[String]) -> Result<Different, String> {
        let assume = assumed.iter().flat_map(|one| ["--assume", one]);
        let mut command = walwise();
        command
            .arg("check")
            .arg(&self.target)
            .args(["--no-probe", "-v", "--format", "json"])
            .args(assume);
        let mut refusal = None;
        let report = undisturbed(&self.target, || {
            let output = command.output_in_time();
            refusal = (output.status.code() == Some(2)).then(|| stderr(&output));
            serde_json::from_str(&stdout(&output)).unwrap_or_default()
        });
        match refusal {
            Some(said) => Err(said),
            None => Ok(self.different(&report["what_if"]["difference"])),
        }
    }

    /// The present differences.
    pub fn now(&self) -> Different {
        let before = self.directory.path().join("before.json");
        let baseline = ["--baseline", before.to_str().unwrap()];
        let target = [self.target.to_str().unwrap(), "--no-probe"];
        let arguments = [&target[..], &baseline].concat();
        self.different(&undisturbed(&self.target, || check_json(&arguments).1)["baseline"])
    }

    /// Everything of what is the test's own and of the host, but what moves by itself, such as free
    /// space, and what other tests decide: with whom a disk is shared, and which tools are in
    /// sight.
    fn different(&self, difference: &Value) -> Different {
        let own = |subject: &Value| {
            let subject = subject.as_str().unwrap();
            subject == "host" || self.own.iter().any(|name| subject.ends_with(name))
        };
        let list = |name: &str| {
            difference[name]
                .as_array()
                .unwrap_or_else(|| panic!("{name}: {difference}"))
                .iter()
        };
        let stays = |change: &&Value| {
            let fact = change["fact"].as_str().unwrap();
            own(&change["subject"])
                && change["nature"] != "drifting"
                && !fact.starts_with("target.shares_")
                && !hangs_on_others(fact)
                && !COUNTED.contains(&fact)
        };
        let facts = list("facts").filter(stays).map(|change| {
            let what = format!("{} of {}", change["fact"], change["subject"]);
            (what, change["now"]["value"].to_string())
        });
        let changed = |finding: &&Value| own(&finding["subject"]) && finding["class"] != "same";
        let findings = list("findings").filter(changed).map(|finding| {
            let now = [
                &finding["class"],
                &finding["now"]["level"],
                &finding["now"]["applies"],
            ];
            (
                format!("{} on {}", finding["rule"], finding["subject"]),
                format!("{now:?}"),
            )
        });
        let verdicts = list("verdicts").filter(|verdict| own(&verdict["target"]));
        let verdicts = verdicts.map(|verdict| {
            (
                format!("verdict of {}", verdict["target"]),
                verdict["now"].to_string(),
            )
        });
        facts.chain(findings).chain(verdicts).collect()
    }
}

/// Facts that a server's counters show once it has run for a while.
const COUNTED: [&str; 3] = [
    "mysql.recovery_least",
    "mysql.redo_lasts",
    "mysql.redo_rate",
];

/// A report in which is known what database servers have on the target: while one starts elsewhere,
/// it may be anything. No report at all is one, too.
fn undisturbed(target: &Path, mut look: impl FnMut() -> Value) -> Value {
    let subject = format!("target {}", target.display());
    let mut report = Value::Null;
    wait_for("what servers have there is known", || {
        report = look();
        report.is_null() || fact(&report, &subject, "target.roles").is_some()
    });
    report
}

/// The result of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// The assumption equals reality.
    Equal,
    /// The assumption was refused.
    Refused,
}

/// Checks a row: the assumption before the change, compared with the state after it.
pub fn hold(row: &str, before: &Before, assumed: &[String], make: impl FnOnce()) -> Came {
    let supposed = before.supposing(assumed);
    make();
    match supposed {
        Err(said) => {
            assert!(
                said.contains("assume ") || said.contains("not modelled"),
                "{row}: {said}"
            );
            Came::Refused
        }
        Ok(supposed) => {
            let real = before.now();
            assert!(!real.is_empty(), "{row}: nothing changed");
            let only = |a: &Different, b: &Different| {
                let rest = a.iter().filter(|(what, is)| b.get(*what) != Some(is));
                rest.map(|(what, is)| format!("\n    {what}: {is}"))
                    .collect::<Vec<_>>()
                    .concat()
            };
            assert!(
                supposed == real,
                "{row}: {assumed:?}\n  supposed only:{}\n  really only:{}",
                only(&supposed, &real),
                only(&real, &supposed)
            );
            Came::Equal
        }
    }
}
