//! Formats that walwise promises to read forever (docs/USE.md): captures, reports and
//! rule files in `tests/kept`, of the release in the directory name. Never regenerate the files; a
//! new format adds a directory.

use std::path::{Path, PathBuf};

use crate::support::deadline::CommandInTime as _;
use crate::support::{check_json, stderr, walwise};

fn release_directories() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept");
    let mut releases: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    releases.sort();
    releases
}

#[test]
fn captures_reports_and_rules_of_former_releases_are_read() {
    let releases = release_directories();
    assert!(
        releases.iter().any(|release| release.ends_with("0.1")),
        "{releases:?}"
    );
    for release in releases {
        let file = |name: &str| release.join(name).to_str().unwrap().to_owned();
        let (capture, report) = (file("this.host"), file("this.json"));
        let before: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();

        let check = walwise()
            .args(["rules", "check", &file("rules.toml")])
            .output_in_time();
        assert_eq!(check.status.code(), Some(0), "{}", stderr(&check));

        let (code, now) = check_json(&["--host", &capture, "--baseline", &report]);
        assert!([0, 3, 4, 5].contains(&code), "{release:?}: {code}");
        assert_eq!(now["warnings"], before["warnings"], "{release:?}");
        assert_eq!(
            now["host"]["kernel"], before["host"]["kernel"],
            "{release:?}"
        );
        let verdicts = |report: &serde_json::Value| {
            let verdicts = report["verdicts"].as_array().unwrap();
            verdicts
                .iter()
                .map(|one| (one["target"].clone(), one["standing"].clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(verdicts(&now), verdicts(&before), "{release:?}");
        assert_eq!(
            now["baseline"]["before"]["when"], before["when"],
            "{release:?}"
        );
        assert_eq!(now["baseline"]["same_host"], true, "{release:?}");
    }
}
