//! The short report of recorded machines: reviewed snapshots of ten situations, and what holds for
//! every host, whatever the limits cut.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{host, names};
use crate::support::deadline::CommandInTime as _;
use crate::support::recorded::SITUATIONS;
use crate::support::{findings, stdout, walwise};

fn short(name: &str, more: &[&str]) -> String {
    // From the checkout, so that its place is in no snapshot.
    let path = host(name);
    let path = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
    let output = walwise()
        .arg("check")
        .args(more)
        .args(["--host", path.to_str().unwrap()])
        .output_in_time();
    stdout(&output)
}

/// Words with one blank between them, since they can be wrapped anywhere.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn ten_situations_in_short() {
    for (situation, name, target) in SITUATIONS {
        let text = short(name, target.as_slice());
        let most = if target.is_some() { 40 } else { 60 };
        assert!(
            text.lines().count() <= most,
            "{situation}: {} lines\n{text}",
            text.lines().count()
        );
        insta::with_settings!({
            omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "snapshots/short",
            filters => vec![(r" · \d+ rules", " · [so many] rules"), (r"^walwise [\d.]+", "walwise [version]")],
        }, {
            insta::assert_snapshot!(situation, text);
        });
    }
}

/// Whatever the whole report calls critical is in the short one too, for a target and for the whole
/// host; so are the advice that was withheld, what cannot be seen from here, and remarks about the
/// run.
#[test]
fn what_is_critical_stands_in_the_short_report_of_every_host() {
    let mut critical = 0;
    for name in names() {
        let text = flat(&short(&name, &[]));
        let report: Value =
            serde_json::from_str(&short(&name, &["-v", "--format", "json"])).unwrap();
        for finding in findings(&report).filter(|finding| finding["level"] == "critical") {
            let rule = finding["rule"].as_str().unwrap();
            assert!(text.contains(rule), "{name}: {rule}\n{text}");
            critical += 1;
        }
        for withheld in report["withheld"].as_array().unwrap() {
            for part in ["rule", "because"] {
                assert!(
                    text.contains(&flat(withheld[part].as_str().unwrap())),
                    "{name}: {withheld}\n{text}"
                );
            }
        }
        let limits: BTreeSet<&str> = report["verdicts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["limits"].as_str().unwrap())
            .collect();
        let warnings = report["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one.as_str().unwrap());
        for says in limits.into_iter().chain(warnings) {
            assert!(text.contains(&flat(says)), "{name}: {says}\n{text}");
        }
    }
    assert!(critical > 100, "{critical}");
}

/// The whole report names the same critical rules: nothing is critical only there.
#[test]
fn the_whole_report_and_the_short_one_call_the_same_critical() {
    for (_, name, target) in SITUATIONS {
        let text = flat(&short(name, target.as_slice()));
        let whole = short(name, &[target.as_slice(), &["-v"]].concat());
        // A step and a finding begin with their level.
        let titles = whole
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("critical  "));
        let told = titles.filter(|title| !title.contains(" of ") && title.len() < 60);
        // What only repeats the verdict joins its cause.
        let repeats = [
            "A power failure now may lose",
            "Evidence on flushes and write caches",
        ];
        for title in told.filter(|title| !repeats.iter().any(|one| title.contains(one))) {
            assert!(text.contains(&flat(title)), "{name}: {title}\n{text}");
        }
    }
}

/// Every part can be had alone, and is a part of the whole.
#[test]
fn a_part_of_the_report_alone() {
    let name = "loop-over-nobarrier";
    let whole = short(name, &["-v", "/data"]);
    for (part, wanted, other) in [
        ("plan", "Plan, in order of application", "Evidence"),
        ("evidence", "Evidence", "Plan, in order"),
        ("unknown", "Undecided", "Evidence"),
    ] {
        let text = short(name, &["--only", part, "/data"]);
        assert!(
            text.contains(wanted) && !text.contains(other),
            "{part}\n{text}"
        );
        let told = |line: &&str| !line.contains(" rules (pack");
        assert!(
            text.lines().filter(told).all(|line| whole.contains(line)),
            "{part}\n{text}"
        );
    }
    let refused = walwise()
        .args(["check", "--only", "plan", "--format", "json"])
        .output_in_time();
    assert_eq!(refused.status.code(), Some(2));
}
