//! Compares assumptions with reality: each row assumes a change, then makes the change for real,
//! and compares both. An assumption whose consequences are not modelled must be refused, with the
//! further assumptions that are needed.
//!
//! Both results are differences to one earlier report: `what_if` and `--baseline`.

mod mariadb;
mod postgres;
mod storage;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::running::wait_for_condition;
use crate::support::{
    check_json, known_fact_value, may_change_with_other_tests, stderr, stdout, walwise,
};

type DifferencesBySubject = BTreeMap<String, String>;

pub struct BaselineReport {
    directory: tempfile::TempDir,
    target: PathBuf,
    /// Parts of subject names; a subject whose name contains one belongs to this test.
    own: Vec<String>,
}

impl BaselineReport {
    pub fn save(target: &Path, own: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let report = wait_for_report_with_known_roles(target, || {
            check_json(&[target.to_str().unwrap(), "--no-probe"]).1
        });
        std::fs::write(directory.path().join("before.json"), report.to_string()).unwrap();
        Self {
            directory,
            target: target.to_owned(),
            own: own.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    pub fn difference_when_assumed(
        &self,
        assumed: &[String],
    ) -> Result<DifferencesBySubject, String> {
        let assume = assumed.iter().flat_map(|one| ["--assume", one]);
        let mut command = walwise();
        command
            .arg("check")
            .arg(&self.target)
            .args(["--no-probe", "-v", "--format", "json"])
            .args(assume);
        let mut refusal = None;
        let report = wait_for_report_with_known_roles(&self.target, || {
            let output = command.output_in_time();
            refusal = (output.status.code() == Some(2)).then(|| stderr(&output));
            serde_json::from_str(&stdout(&output)).unwrap_or_default()
        });
        match refusal {
            Some(said) => Err(said),
            None => Ok(self.differences_by_subject(&report["what_if"]["difference"])),
        }
    }

    pub fn current_difference(&self) -> DifferencesBySubject {
        let before = self.directory.path().join("before.json");
        let baseline = ["--baseline", before.to_str().unwrap()];
        let target = [self.target.to_str().unwrap(), "--no-probe"];
        let arguments = [&target[..], &baseline].concat();
        self.differences_by_subject(
            &wait_for_report_with_known_roles(&self.target, || check_json(&arguments).1)["baseline"],
        )
    }

    /// Returns the differences of the host and of the test's own subjects. Facts that always change
    /// or that parallel tests change are left out, such as shared disks and needed tools.
    fn differences_by_subject(&self, difference: &Value) -> DifferencesBySubject {
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
                && !may_change_with_other_tests(fact)
                && !NOT_COMPARED.contains(&fact)
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

/// Facts that are not compared: those from a server's counters, known once the server has run for a
/// while, and the places of settings, since an assumption writes the option file.
const NOT_COMPARED: [&str; 4] = [
    "mysql.set_options",
    "mysql.recovery_least",
    "mysql.redo_lasts",
    "mysql.redo_rate",
];

/// Repeats `look` until it returns no report, or one made while no other server of the host is
/// starting: a starting server could own any directory on the target.
fn wait_for_report_with_known_roles(target: &Path, mut look: impl FnMut() -> Value) -> Value {
    let subject = format!("target {}", target.display());
    let mut report = Value::Null;
    wait_for_condition("what servers have there is known", || {
        report = look();
        report.is_null() || known_fact_value(&report, &subject, "target.roles").is_some()
    });
    report
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOutcome {
    Equal,
    Refused,
}

pub fn compare_assumed_with_actual(
    row: &str,
    before: &BaselineReport,
    assumed: &[String],
    make: impl FnOnce(),
) -> RowOutcome {
    let supposed = before.difference_when_assumed(assumed);
    make();
    match supposed {
        Err(said) => {
            assert!(
                said.contains("assume ") || said.contains("not modelled"),
                "{row}: {said}"
            );
            RowOutcome::Refused
        }
        Ok(supposed) => {
            let real = before.current_difference();
            assert!(!real.is_empty(), "{row}: nothing changed");
            let only = |a: &DifferencesBySubject, b: &DifferencesBySubject| {
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
            RowOutcome::Equal
        }
    }
}
