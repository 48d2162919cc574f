//! Baselines of real file systems: every change between two looks is reported, and nothing else
//! about that file system.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::checked;
use crate::support::loops::{self, Mounted};
use crate::support::running::wait_for;
use crate::support::{check_json, stderr, stdout};

/// A file system with a report that was kept of it.
struct Kept {
    mounted: Mounted,
    report: tempfile::NamedTempFile,
}

impl Kept {
    fn from_report(mounted: Mounted) -> Self {
        let kept = Self {
            mounted,
            report: tempfile::NamedTempFile::new().unwrap(),
        };
        kept.keep();
        kept
    }

    /// Keeps the report of now.
    fn keep(&self) {
        let (point, file) = (self.mounted.path(), self.path());
        let output = checked(&[
            point,
            "--no-probe",
            "-v",
            "--format",
            "json",
            "--output",
            file,
        ]);
        assert_eq!(stderr(&output), "");
    }

    fn path(&self) -> &str {
        self.report.path().to_str().unwrap()
    }

    /// Keeps the report of a moment in which no server of another test comes or goes: as long as it
    /// is not known where some server keeps its things, no file system is known to be unused.
    fn settle(&self) {
        wait_for("nothing changes by itself", || {
            self.keep();
            let same = self.difference();
            self.changed(&same).is_empty() && self.findings(&same).is_empty()
        });
    }

    /// The difference once exactly these facts have changed.
    fn differs_by(&self, facts: &[&str]) -> Value {
        let mut difference = Value::Null;
        wait_for(&format!("{facts:?} and nothing else are different"), || {
            difference = self.difference();
            self.changed(&difference) == set(facts)
        });
        difference
    }

    /// The present difference.
    fn difference(&self) -> Value {
        check_json(&[self.mounted.path(), "--no-probe", "--baseline", self.path()]).1["baseline"]
            .take()
    }

    /// Whether a row is about this file system; others come and go while tests run beside each
    /// other.
    fn concerns(&self, row: &Value) -> bool {
        let (point, disk) = (self.mounted.path(), self.mounted.disk.name());
        let own = [
            format!("mount {point}"),
            format!("target {point}"),
            format!("device {disk}"),
        ];
        own.iter().any(|subject| row["subject"] == subject.as_str())
    }

    /// The facts of this file system that were changed, without derived and drifting ones.
    fn changed(&self, difference: &Value) -> BTreeSet<String> {
        let rows = difference["facts"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| self.concerns(row));
        let lasting = rows.filter(|row| {
            !["drifting", "concluded"]
                .map(Value::from)
                .contains(&row["nature"])
        });
        lasting
            .map(|row| row["fact"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Rule and class of every finding about this file system that is not as it was.
    fn findings(&self, difference: &Value) -> BTreeSet<(String, String)> {
        let rows = difference["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| self.concerns(row));
        let other = rows.filter(|row| row["class"] != "same");
        let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        other
            .map(|row| (text(row, "rule"), text(row, "class")))
            .collect()
    }
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[test]
#[ignore = "needs root: loop devices"]
fn exactly_what_was_changed_is_named() {
    let kept = Kept::from_report(loops::ext4(&[], "relatime"));
    kept.settle();

    kept.mounted.remount("nobarrier");
    let worse = kept.differs_by(&["mount.super_options", "ext4.options"]);
    assert!(
        kept.findings(&worse)
            .contains(&("barrier.ext4-off".to_owned(), "new".to_owned())),
        "{worse:#}"
    );
    let text = stdout(&checked(&[
        kept.mounted.path(),
        "--no-probe",
        "--baseline",
        kept.path(),
    ]));
    let place = format!(" {}: ", kept.mounted.path());
    let critical = |line: &str| line.trim_start().starts_with("critical ") && line.contains(&place);
    assert!(
        text.contains("Worse now") && text.lines().any(critical) && text.contains("nobarrier"),
        "{text}"
    );

    kept.settle();
    kept.mounted.remount("barrier=1,noatime");
    kept.mounted.disk.schedule("mq-deadline");
    let better = kept.differs_by(&[
        "mount.super_options",
        "ext4.options",
        "mount.options",
        "device.scheduler",
    ]);
    let fixed = kept.findings(&better);
    assert!(
        fixed.contains(&("barrier.ext4-off".to_owned(), "fixed".to_owned())),
        "{fixed:?}"
    );
    let text = stdout(&checked(&[
        kept.mounted.path(),
        "--no-probe",
        "--baseline",
        kept.path(),
    ]));
    assert!(
        text.contains("Better now") && text.contains("device.scheduler of "),
        "{text}"
    );
}

/// A device that had another name then is known again by what it is: here by the file beneath it.
#[test]
#[ignore = "needs root: loop devices"]
fn what_the_kernel_calls_otherwise_now_is_the_same() {
    let kept = Kept::from_report(loops::ext4(&[], ""));
    let directory = kept.mounted.dir("db");
    let file = tempfile::NamedTempFile::new().unwrap();
    let (directory, path) = (directory.to_str().unwrap(), file.path().to_str().unwrap());
    checked(&[
        directory,
        "--no-probe",
        "-v",
        "--format",
        "json",
        "--output",
        path,
    ]);
    let old = kept.mounted.disk.name().to_owned();
    let document: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    // As if it had been another loop device then: what the kernel calls it is all that differs.
    let mut renamed = document.to_string();
    for before in ["device ", "/dev/"] {
        renamed = renamed.replace(&format!("{before}{old}\""), &format!("{before}loop4000\""));
    }
    fs::write(path, renamed).unwrap();
    let (_, report) = check_json(&[directory, "--no-probe", "--baseline", path]);
    let difference = &report["baseline"];
    let pairs = difference["renamed"].as_array().unwrap();
    let named = format!("device {old}");
    assert!(
        pairs
            .iter()
            .any(|pair| pair["before"] == "device loop4000" && pair["now"] == named.as_str()),
        "{pairs:?}"
    );
    assert_eq!(kept.changed(difference), set(&[]), "{difference:#}");
}
