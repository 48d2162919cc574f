//! Baselines of real file systems: every change between two runs is reported, and nothing else
//! about that file system.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::run_check;
use crate::support::loops::{self, MountedFileSystem};
use crate::support::running::wait_for_condition;
use crate::support::{check_json, stderr, stdout};

struct BaselinedMount {
    mounted: MountedFileSystem,
    report: tempfile::NamedTempFile,
}

impl BaselinedMount {
    fn with_saved_report(mounted: MountedFileSystem) -> Self {
        let kept = Self {
            mounted,
            report: tempfile::NamedTempFile::new().unwrap(),
        };
        kept.save_report();
        kept
    }

    fn save_report(&self) {
        let (point, file) = (self.mounted.path(), self.report_path());
        let output = run_check(&[
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

    fn report_path(&self) -> &str {
        self.report.path().to_str().unwrap()
    }

    /// Saves a report made while no server of another test starts or stops. While a server's
    /// directories are unknown, no file system counts as unused.
    fn save_settled_report(&self) {
        wait_for_condition("nothing changes by itself", || {
            self.save_report();
            let same = self.current_difference();
            self.changed_facts(&same).is_empty() && self.changed_findings(&same).is_empty()
        });
    }

    fn wait_until_changed_facts_are(&self, facts: &[&str]) -> Value {
        let mut difference = Value::Null;
        wait_for_condition(&format!("{facts:?} and nothing else are different"), || {
            difference = self.current_difference();
            self.changed_facts(&difference) == string_set(facts)
        });
        difference
    }

    fn current_difference(&self) -> Value {
        check_json(&[
            self.mounted.path(),
            "--no-probe",
            "--baseline",
            self.report_path(),
        ])
        .1["baseline"]
            .take()
    }

    fn is_about_this_mount(&self, row: &Value) -> bool {
        let (point, disk) = (self.mounted.path(), self.mounted.disk.name());
        let own = [
            format!("mount {point}"),
            format!("target {point}"),
            format!("device {disk}"),
        ];
        own.iter().any(|subject| row["subject"] == subject.as_str())
    }

    fn changed_facts(&self, difference: &Value) -> BTreeSet<String> {
        let rows = difference["facts"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| self.is_about_this_mount(row));
        let lasting = rows.filter(|row| {
            !["drifting", "concluded"]
                .map(Value::from)
                .contains(&row["nature"])
        });
        lasting
            .map(|row| row["fact"].as_str().unwrap().to_owned())
            .collect()
    }

    fn changed_findings(&self, difference: &Value) -> BTreeSet<(String, String)> {
        let rows = difference["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| self.is_about_this_mount(row));
        let other = rows.filter(|row| row["class"] != "same");
        let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        other
            .map(|row| (text(row, "rule"), text(row, "class")))
            .collect()
    }
}

fn string_set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[test]
#[ignore = "needs root: loop devices"]
fn only_actual_changes_are_reported() {
    let kept = BaselinedMount::with_saved_report(loops::mount_ext4(&[], "relatime"));
    kept.save_settled_report();

    kept.mounted.remount("nobarrier");
    let worse = kept.wait_until_changed_facts_are(&["mount.super_options", "ext4.options"]);
    assert!(
        kept.changed_findings(&worse)
            .contains(&("barrier.ext4-off".to_owned(), "new".to_owned())),
        "{worse:#}"
    );
    let text = stdout(&run_check(&[
        kept.mounted.path(),
        "--no-probe",
        "--baseline",
        kept.report_path(),
    ]));
    let place = format!(" {}: ", kept.mounted.path());
    let critical = |line: &str| line.trim_start().starts_with("critical ") && line.contains(&place);
    assert!(
        text.contains("Worse now") && text.lines().any(critical) && text.contains("nobarrier"),
        "{text}"
    );

    kept.save_settled_report();
    kept.mounted.remount("barrier=1,noatime");
    kept.mounted.disk.set_scheduler("mq-deadline");
    let better = kept.wait_until_changed_facts_are(&[
        "mount.super_options",
        "ext4.options",
        "mount.options",
        "device.scheduler",
    ]);
    let fixed = kept.changed_findings(&better);
    assert!(
        fixed.contains(&("barrier.ext4-off".to_owned(), "fixed".to_owned())),
        "{fixed:?}"
    );
    let text = stdout(&run_check(&[
        kept.mounted.path(),
        "--no-probe",
        "--baseline",
        kept.report_path(),
    ]));
    assert!(
        text.contains("Better now") && text.contains("device.scheduler of "),
        "{text}"
    );
}

/// A device whose kernel name changed is recognised by its identity: for a loop device, its backing
/// file.
#[test]
#[ignore = "needs root: loop devices"]
fn renamed_device_is_recognised_by_identity() {
    let kept = BaselinedMount::with_saved_report(loops::mount_ext4(&[], ""));
    let directory = kept.mounted.create_subdirectory("db");
    let file = tempfile::NamedTempFile::new().unwrap();
    let (directory, path) = (directory.to_str().unwrap(), file.path().to_str().unwrap());
    run_check(&[
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
    assert_eq!(
        kept.changed_facts(difference),
        string_set(&[]),
        "{difference:#}"
    );
}
