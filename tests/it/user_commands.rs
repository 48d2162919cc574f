//! Commands in user rules: reports mark them as the user's own and never offer them to run. The
//! command printed in a report must also show mistakes between two rule files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::{stderr, stdout, walwise};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn recorded_host_path() -> String {
    format!("{ROOT}/tests/hosts/el9-ext4.host")
}

fn user_rules_directory() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(
        format!("{ROOT}/tests/rules/user/commands.toml"),
        dir.path().join("commands.toml"),
    )
    .unwrap();
    let path = dir.path().to_str().unwrap().to_owned();
    (dir, path)
}

fn check_output(format: &str, rules: &str) -> String {
    let mut command = walwise();
    command.args([
        "check",
        "--host",
        &recorded_host_path(),
        "--rules",
        rules,
        "--format",
        format,
    ]);
    if ["text", "json"].contains(&format) {
        command.arg("-v");
    }
    let output = command.output_in_time();
    assert!(!output.stdout.is_empty(), "{}", stderr(&output));
    stdout(&output)
}

fn lines_containing<'t>(text: &'t str, part: &str) -> Vec<&'t str> {
    text.lines().filter(|line| line.contains(part)).collect()
}

const OWN: [(&str, &str); 9] = [
    ("apply", "/opt/site/mount-it /data"),
    ("verify", "findmnt -no OPTIONS /data"),
    ("undo", "/opt/site/mount-it --undo /data"),
    ("undo", "mount -o remount,strictatime /data"),
    ("apply", "sysctl -w vm.dirty_background_bytes=67108864"),
    ("apply", "/opt/site/tell-us"),
    ("verify", "sysctl vm.dirty_background_bytes"),
    ("undo", "sysctl -w vm.dirty_background_bytes=0"),
    ("undo", "rm /var/lib/site/told"),
];

#[test]
fn user_commands_are_marked_and_never_offered_to_run() {
    let (_dir, rules) = user_rules_directory();
    for format in ["text", "markdown", "html"] {
        let report = check_output(format, &rules);
        assert!(
            lines_containing(&report, "your own command from ").len() >= OWN.len(),
            "{report}"
        );
        for (purpose, command) in OWN {
            let line = match format {
                "text" => format!("yours    {purpose}: {command}"),
                "markdown" => format!("- {purpose}: `{command}` — your own command from "),
                _ => format!("<code>{command}</code> — your own command from "),
            };
            assert!(
                report.contains(&line),
                "{line} is not in the {format}:\n{report}"
            );
            let ours = |line: &&str| {
                let line = line.trim_start();
                line.starts_with(command) || line.starts_with(&format!("{purpose:<9}{command}"))
            };
            assert_eq!(report.lines().find(ours), None, "{format}");
        }
    }
    for format in ["script", "fstab", "conf", "udev"] {
        let printed = check_output(format, &rules);
        for (_, command) in OWN {
            assert!(
                !printed.contains(command),
                "{command} is in the {format}:\n{printed}"
            );
        }
        let left_out = lines_containing(&printed, "is omitted, because walwise does not check it");
        assert_eq!(left_out.is_empty(), format != "script", "{printed}");
        assert!(
            left_out.iter().all(|line| line.starts_with('#')),
            "{left_out:?}"
        );
    }
    let report: Value = serde_json::from_str(&check_output("json", &rules)).unwrap();
    let mut own: Vec<(&str, &str)> = Vec::new();
    for finding in report["findings"].as_array().unwrap() {
        let of_user = finding["rule"].as_str().unwrap().starts_with("site.");
        for advice in finding["advice"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|_| of_user)
        {
            for purpose in ["apply", "verify", "undo"] {
                assert_eq!(advice[purpose].as_array().unwrap().len(), 0, "{advice}");
            }
            let commands = advice["own"].as_array().unwrap().iter();
            own.extend(commands.map(|one| {
                (
                    one["purpose"].as_str().unwrap(),
                    one["command"].as_str().unwrap(),
                )
            }));
        }
    }
    for one in OWN {
        assert!(own.contains(&one), "{one:?} is not in {own:?}");
    }
    let show = walwise()
        .args(["rules", "show", "site.kernel", "--rules", &rules])
        .output_in_time();
    let show = stdout(&show);
    for part in [
        "vm.dirty_background_bytes: 67108864",
        "apply     sysctl -w",
        "verify    sysctl vm.",
        "undo      sysctl",
        "your own command",
    ] {
        assert!(show.contains(part), "{part}: {show}");
    }
}

#[test]
fn the_author_is_warned_of_a_command_that_looks_as_if_it_destroys_data() {
    let output = walwise()
        .current_dir(ROOT)
        .args(["rules", "check", "tests/rules/user/commands.toml"])
        .output_in_time();
    let warned = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{warned}");
    assert_eq!(stdout(&output), "2 rules, no errors\n");
    assert_eq!(warned.matches("warning: ").count(), 1, "{warned}");
    assert!(
        warned.contains("warning: this command may destroy data: `rm`"),
        "{warned}"
    );
    let (_dir, rules) = user_rules_directory();
    let report: Value = serde_json::from_str(&check_output("json", &rules)).unwrap();
    assert!(
        !report["warnings"].to_string().contains("destroy data"),
        "{}",
        report["warnings"]
    );
}

fn run_suggested_command(complaint: &str) -> (Option<i32>, String) {
    let command = complaint
        .split('`')
        .nth(1)
        .unwrap_or_else(|| panic!("no command: {complaint}"));
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("walwise"));
    let output = walwise().args(words).output_in_time();
    (output.status.code(), stderr(&output))
}

#[test]
fn suggested_command_shows_conflict_of_two_rule_files() {
    let dir = tempfile::tempdir().unwrap();
    let good = fs::read_to_string(format!("{ROOT}/tests/rules/user/commands.toml")).unwrap();
    let files: [PathBuf; 2] = ["a.toml", "b.toml"].map(|name| dir.path().join(name));
    for file in &files {
        fs::write(file, &good).unwrap();
    }
    let output = walwise()
        .args(["check", "--host", &recorded_host_path(), "--rules"])
        .arg(dir.path())
        .output_in_time();
    let complaint = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    let [a, b] = files.each_ref().map(|file| file.to_str().unwrap());
    assert!(
        complaint.contains(&format!("{b} has 2 errors (lines 4, 39, with {a}:4)")),
        "{complaint}"
    );
    let (code, shown) = run_suggested_command(&complaint);
    assert_eq!(code, Some(2), "{shown}");
    assert!(
        shown.contains("a second rule `site.noatime`") && shown.contains(&format!("{a}:4")),
        "{shown}"
    );
    // A user file with the name of a built-in file still belongs to the user.
    let builtin = dir.path().join("ext4.toml");
    fs::rename(&files[1], &builtin).unwrap();
    fs::remove_file(&files[0]).unwrap();
    fs::write(&builtin, good.replace("\"none\"", "\"data-loss-if-wrong\"")).unwrap();
    let output = walwise()
        .args(["rules", "check"])
        .arg(&builtin)
        .output_in_time();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("can lose data"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn non_utf8_rule_file_is_reported_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("latin.toml");
    fs::write(&file, b"# ok\n# \xfcber\n").unwrap();
    let output = walwise()
        .args(["rules", "check"])
        .arg(&file)
        .output_in_time();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("line 2 is not UTF-8; save the file as UTF-8"),
        "{}",
        stderr(&output)
    );
}

#[test]
#[ignore = "needs root: an /etc of its own"]
fn rules_check_includes_the_rules_of_etc() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ours.toml");
    fs::copy(
        Path::new(ROOT).join("tests/rules/user/commands.toml"),
        &file,
    )
    .unwrap();
    let script = "mount -t tmpfs -o mode=755 none /etc && mkdir -p /etc/walwise/rules.d && \
                  cp \"$1\" /etc/walwise/rules.d/site.toml && chmod 644 /etc/walwise/rules.d/site.toml && \
                  cd / && exec \"$2\" rules check \"$1\"";
    let output = Command::new("unshare")
        .args([
            "-m",
            "sh",
            "-c",
            script,
            "sh",
            file.to_str().unwrap(),
            crate::support::programs::walwise_path(),
        ])
        .output_in_time();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    let shown = stderr(&output);
    let theirs = "the first is in /etc/walwise/rules.d/site.toml:4";
    assert!(
        shown.contains("a second rule `site.noatime`") && shown.contains(theirs),
        "{shown}"
    );
}
