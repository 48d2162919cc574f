//! Commands of a user's rules: those that walwise understands appear everywhere, the others as the user's own and
//! nowhere else. And mistakes between two files, which the command in a report must show.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::{stderr, stdout, walwise};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn host() -> String {
    format!("{ROOT}/tests/hosts/el9-ext4.host")
}

fn rules() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(format!("{ROOT}/tests/rules/user/commands.toml"), dir.path().join("commands.toml")).unwrap();
    let path = dir.path().to_str().unwrap().to_owned();
    (dir, path)
}

fn check(format: &str, rules: &str) -> String {
    let mut command = walwise();
    command.args(["check", "--host", &host(), "--rules", rules, "--format", format]);
    if format == "text" {
        command.arg("-v");
    }
    let output = command.output_in_time();
    assert!(!output.stdout.is_empty(), "{}", stderr(&output));
    stdout(&output)
}

/// The lines with this in them.
fn with<'t>(text: &'t str, part: &str) -> Vec<&'t str> {
    text.lines().filter(|line| line.contains(part)).collect()
}

#[test]
fn what_is_not_understood_is_the_users_own_and_in_no_script() {
    let (_dir, rules) = rules();
    let understood = [
        "findmnt -no OPTIONS /",
        "mount -o remount,relatime /",
        "sysctl -w vm.dirty_background_bytes=67108864",
    ];
    let more = ["sysctl vm.dirty_background_bytes", "sysctl -w vm.dirty_background_bytes=0"];
    for format in ["text", "markdown", "json", "script"] {
        let report = check(format, &rules);
        for command in understood.iter().chain(&more) {
            assert!(report.contains(command), "{command} is not in the {format}:\n{report}");
        }
        let own = with(&report, "/opt/site/");
        match format {
            "script" => {
                assert!(own.is_empty(), "{own:?}");
                let left_out = with(&report, "is left out: walwise does not understand it");
                assert!(
                    left_out.len() >= 3 && left_out.iter().all(|line| line.starts_with('#')),
                    "{left_out:?}"
                );
            }
            "text" => {
                assert_eq!(with(&report, "yours    ").len(), 3, "{own:?}");
                let ours = |line: &&&str| {
                    ["apply    /opt", "verify   /opt", "undo     /opt"].iter().any(|o| line.contains(o))
                };
                assert_eq!(own.iter().filter(ours).count(), 0, "{own:?}");
            }
            "markdown" => assert!(
                !own.is_empty() && own.iter().all(|line| line.contains("your own command")),
                "{own:?}"
            ),
            _ => assert!(!own.is_empty(), "{report}"),
        }
    }
    let report: Value = serde_json::from_str(&check("json", &rules)).unwrap();
    let finding =
        report["findings"].as_array().unwrap().iter().find(|one| one["rule"] == "site.kernel").unwrap();
    let advice = &finding["advice"][0];
    assert_eq!(advice["apply"].as_array().unwrap().len(), 1);
    let own = &advice["own"][0];
    assert_eq!(
        (own["purpose"].as_str(), own["command"].as_str()),
        (Some("apply"), Some("/opt/site/tell-us"))
    );
    assert!(own["why"].as_str().unwrap().contains("/opt/site/tell-us"), "{own}");
    let show = walwise().args(["rules", "show", "site.kernel", "--rules", &rules]).output_in_time();
    let show = stdout(&show);
    for part in
        ["set to 67108864", "apply    sysctl -w", "verify   sysctl vm.", "undo     sysctl", "as your own"]
    {
        assert!(show.contains(part), "{part}: {show}");
    }
}

#[test]
fn the_author_is_told_what_is_not_understood_and_it_costs_nothing() {
    let output = walwise()
        .current_dir(ROOT)
        .args(["rules", "check", "tests/rules/user/commands.toml"])
        .output_in_time();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "2 rules, no mistakes\n");
    assert_eq!(
        stderr(&output).matches("note: shown as your own and in no script").count(),
        3,
        "{}",
        stderr(&output)
    );
    let tested = walwise()
        .current_dir(ROOT)
        .args(["rules", "test", "tests/rules/user/commands.toml"])
        .output_in_time();
    assert!(stdout(&tested).contains("all as expected"), "{}", stdout(&tested));
}

/// The command that a report names, run.
fn named(complaint: &str) -> (Option<i32>, String) {
    let command = complaint.split('`').nth(1).unwrap_or_else(|| panic!("no command: {complaint}"));
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("walwise"));
    let output = walwise().args(words).output_in_time();
    (output.status.code(), stderr(&output))
}

#[test]
fn what_a_report_says_of_two_files_the_command_that_it_names_shows() {
    let dir = tempfile::tempdir().unwrap();
    let good = fs::read_to_string(format!("{ROOT}/tests/rules/user/commands.toml")).unwrap();
    let files: [PathBuf; 2] = ["a.toml", "b.toml"].map(|name| dir.path().join(name));
    for file in &files {
        fs::write(file, &good).unwrap();
    }
    let output = walwise().args(["check", "--host", &host(), "--rules"]).arg(dir.path()).output_in_time();
    let complaint = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    let [a, b] = files.each_ref().map(|file| file.to_str().unwrap());
    assert!(complaint.contains(&format!("{b} has 2 mistakes (lines 4, 39, with {a}:4)")), "{complaint}");
    let (code, shown) = named(&complaint);
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("a second rule `site.noatime`") && shown.contains(&format!("{a}:4")), "{shown}");
    // A file of a built-in one's name is the user's.
    let builtin = dir.path().join("ext4.toml");
    fs::rename(&files[1], &builtin).unwrap();
    fs::remove_file(&files[0]).unwrap();
    fs::write(&builtin, good.replace("\"none\"", "\"data-loss-if-wrong\"")).unwrap();
    let output = walwise().args(["rules", "check"]).arg(&builtin).output_in_time();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("can lose data"), "{}", stderr(&output));
}

#[test]
fn a_file_that_is_no_text_is_named_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("latin.toml");
    fs::write(&file, b"# ok\n# \xfcber\n").unwrap();
    let output = walwise().args(["rules", "check"]).arg(&file).output_in_time();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("line 2 is not UTF-8; save the file as UTF-8"), "{}", stderr(&output));
}

#[test]
#[ignore = "needs root: an /etc of its own"]
fn a_file_is_checked_beside_the_rules_of_the_machine() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ours.toml");
    fs::copy(Path::new(ROOT).join("tests/rules/user/commands.toml"), &file).unwrap();
    let script = "mount -t tmpfs -o mode=755 none /etc && mkdir -p /etc/walwise/rules.d && \
                  cp \"$1\" /etc/walwise/rules.d/site.toml && chmod 644 /etc/walwise/rules.d/site.toml && \
                  cd / && exec \"$2\" rules check \"$1\"";
    let output = Command::new("unshare")
        .args(["-m", "sh", "-c", script, "sh", file.to_str().unwrap(), env!("CARGO_BIN_EXE_walwise")])
        .output_in_time();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let shown = stderr(&output);
    let theirs = "the other one is /etc/walwise/rules.d/site.toml:4";
    assert!(shown.contains("a second rule `site.noatime`") && shown.contains(theirs), "{shown}");
}
