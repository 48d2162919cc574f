//! The short report of recorded hosts: reviewed snapshots of ten situations, and properties that
//! hold for every host despite the limits on length.

use std::collections::BTreeSet;

use walwise_report::text::{self, TextOutputStyle};
use walwise_testkit::collapse_whitespace;

use super::host;
use crate::support::deadline::CommandInTime as _;
use crate::support::recorded::{SITUATIONS, recorded_host_documents, recorded_host_reports};
use crate::support::{report_findings, stdout, walwise};

fn check_report_text(name: &str, more: &[&str]) -> String {
    // A relative path, so that snapshots do not contain the checkout's location.
    let path = host(name);
    let path = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap();
    let output = walwise()
        .arg("check")
        .args(more)
        .args(["--host", path.to_str().unwrap()])
        .output_in_time();
    stdout(&output)
}

#[test]
fn short_reports_match_snapshots() {
    for (situation, name, target) in SITUATIONS {
        let text = check_report_text(name, target.as_slice());
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

#[test]
fn short_reports_contain_every_critical_finding() {
    let mut critical = 0;
    let texts = recorded_host_reports().iter().map(|(_, report)| {
        collapse_whitespace(&text::render_short(
            report,
            TextOutputStyle {
                colour: false,
                ascii: false,
            },
        ))
    });
    for ((name, report), text) in recorded_host_documents().iter().zip(texts) {
        for finding in report_findings(report).filter(|finding| finding["level"] == "critical") {
            let rule = finding["rule"].as_str().unwrap();
            assert!(text.contains(rule), "{name}: {rule}\n{text}");
            critical += 1;
        }
        for withheld in report["withheld"].as_array().unwrap() {
            for part in ["rule", "because"] {
                assert!(
                    text.contains(&collapse_whitespace(withheld[part].as_str().unwrap())),
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
            assert!(
                text.contains(&collapse_whitespace(says)),
                "{name}: {says}\n{text}"
            );
        }
    }
    assert!(critical > 100, "{critical}");
}

#[test]
fn full_and_short_reports_agree_on_critical() {
    for (_, name, target) in SITUATIONS {
        let text = collapse_whitespace(&check_report_text(name, target.as_slice()));
        let whole = check_report_text(name, &[target.as_slice(), &["-v"]].concat());
        // Steps and findings start with their level.
        let titles = whole
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("critical  "));
        let told = titles.filter(|title| !title.contains(" of ") && title.len() < 60);
        // Rules that only repeat the verdict are merged into the finding that causes it.
        let repeats = [
            "A power failure now may lose",
            "Evidence on flushes and write caches",
        ];
        for title in told.filter(|title| !repeats.iter().any(|one| title.contains(one))) {
            assert!(
                text.contains(&collapse_whitespace(title)),
                "{name}: {title}\n{text}"
            );
        }
    }
}

#[test]
fn only_option_prints_one_part_of_the_report() {
    let name = "loop-over-nobarrier";
    let whole = check_report_text(name, &["-v", "/data"]);
    for (part, wanted, other) in [
        ("plan", "Plan, in order of application", "Evidence"),
        ("evidence", "Evidence", "Plan, in order"),
        ("unknown", "Undecided", "Evidence"),
    ] {
        let text = check_report_text(name, &["--only", part, "/data"]);
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
