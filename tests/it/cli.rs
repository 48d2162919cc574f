//! Runs the program from a shell: outputs, files left behind, and exit codes.

mod exit_codes;
mod hostile;

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::support::deadline::{ChildInTime as _, CommandInTime as _};
use crate::support::running::wait_for_condition;
use crate::support::{check_json, sorted_file_names, stderr, stdout, walwise};

fn run_walwise<A: AsRef<std::ffi::OsStr>>(arguments: &[A]) -> Output {
    walwise()
        .args(arguments)
        .stdin(Stdio::null())
        .output_in_time()
}

fn exit_code_and_output<A: AsRef<std::ffi::OsStr>>(
    arguments: &[A],
) -> (Option<i32>, String, String) {
    let output = run_walwise(arguments);
    (output.status.code(), stdout(&output), stderr(&output))
}

fn stdout_of_success(arguments: &[&str]) -> String {
    let (code, out, err) = exit_code_and_output(arguments);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{arguments:?}");
    out
}

fn assert_refused<A: AsRef<std::ffi::OsStr> + std::fmt::Debug>(
    code: i32,
    arguments: &[A],
) -> String {
    let (found, out, err) = exit_code_and_output(arguments);
    assert_eq!(
        (found, out.as_str()),
        (Some(code), ""),
        "{arguments:?}: {err}"
    );
    assert_eq!(err.lines().count(), 1, "{arguments:?}: one sentence: {err}");
    assert!(
        err.starts_with("walwise: ") && !err.contains("os error"),
        "{arguments:?}: {err}"
    );
    err
}

const COMMANDS: [&[&str]; 14] = [
    &[],
    &["check"],
    &["upgrade"],
    &["probe"],
    &["facts"],
    &["rules"],
    &["rules", "list"],
    &["rules", "show"],
    &["rules", "check"],
    &["explain"],
    &["capture"],
    &["generate"],
    &["generate", "completions"],
    &["generate", "schema"],
];

#[test]
fn every_command_has_help() {
    let own = |arguments: &[&str], more: &str| stdout_of_success(&[arguments, &[more]].concat());
    let whole = own(&[], "--help");
    for command in COMMANDS {
        let help = own(command, "--help");
        assert!(help.contains("Usage: walwise"), "{command:?}: {help}");
        if let [name] = command {
            assert!(
                whole.contains(&format!("\n  {name} ")),
                "{name} is missing in {whole}"
            );
        }
    }
    let version = own(&[], "--version");
    let lines: Vec<&str> = version.lines().collect();
    assert_eq!(lines[0], concat!("walwise ", env!("CARGO_PKG_VERSION")));
    assert!(lines[1].starts_with("commit "), "{version}");
    let capture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/hosts/ext4-nobarrier.host"
    );
    let (_, report) = check_json(&["--host", capture]);
    assert_eq!(
        lines[2],
        format!(
            "pack   {}",
            report["pack"]["shipped_sha256"].as_str().unwrap()
        )
    );
}

#[test]
fn usage_errors_are_reported_and_exit_with_2() {
    let wrong: [&[&str]; 10] = [
        &["--nonsense"],
        &["check", "/", "/"],
        &["check", "--format", "xml"],
        &["check", "--seconds", "-1"],
        &["check", "--probe-seconds", "nan"],
        &["check", "--fail-on", "everything"],
        &["probe"],
        &["rules", "show"],
        &["explain"],
        &["generate", "money"],
    ];
    for arguments in wrong {
        let (code, out, err) = exit_code_and_output(arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}: {err}");
        assert!(
            err.starts_with("error: ") && !err.contains("panicked"),
            "{arguments:?}: {err}"
        );
    }
    let unknown = assert_refused(2, &["explain", "barrier.ext4-of"]);
    assert!(
        unknown.contains("barrier.ext4-off"),
        "the nearest one is named: {unknown}"
    );
    assert_refused(2, &["rules", "show", "no.such-rule"]);
    assert_refused(2, &["probe", "/nonexistent"]);
    assert_refused(2, &["probe", "/dev/null"]);
    let escape = assert_refused(2, &["check", "--host", "/\u{1b}[31m\u{202e}"]);
    assert!(escape.contains("/\\x1b[31m\\u{202e}"), "{escape}");
}

#[test]
fn a_mistyped_command_is_answered_with_the_right_one() {
    for (mistyped, meant) in [
        ("chekc", "check"),
        ("fact", "facts"),
        ("upgrad", "upgrade"),
        ("captrue", "capture"),
    ] {
        let said = assert_refused(2, &[mistyped]);
        assert!(said.contains(&format!("did you mean `{meant}`?")), "{said}");
    }
    assert!(assert_refused(2, &["xyzzyx"]).contains("--help"));
}

/// `facts` takes an argument that is a path as the target and every other one as a fact.
#[test]
fn facts_command_takes_a_path_as_target() {
    let room = tempfile::tempdir().unwrap();
    let path = room.path().to_str().unwrap();
    let told = || stdout_of_success(&["facts", "target.", path]);
    let first = told();
    assert!(
        first.contains(&format!("target {path}\n")) && first.contains("target.kind"),
        "{first}"
    );
    // Facts derived from servers change while tests run in parallel, so two matching runs are
    // enough.
    wait_for_condition("the same is told of --target", || {
        told() == stdout_of_success(&["facts", "target.", "--target", path])
    });
    assert!(assert_refused(2, &["facts", path, "/"]).contains("specify one directory or device"));
    assert!(assert_refused(2, &["facts", "nonsense"]).contains("no fact `nonsense`"));
}

#[test]
fn fail_on_never_exits_with_0() {
    let at_risk = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/hosts/ext4-nobarrier.host"
    );
    for command in [&["check", "--no-probe"][..], &["upgrade", "--os", "rhel10"]] {
        let with =
            |more: &[&str]| exit_code_and_output(&[command, &["--host", at_risk], more].concat()).0;
        assert_eq!(
            with(&["--fail-on", "never", "--fail-on-undecided"]),
            Some(0),
            "{command:?}"
        );
    }
    assert_eq!(
        exit_code_and_output(&["check", "--no-probe", "--host", at_risk]).0,
        Some(3)
    );
}

#[test]
fn closed_stdout_pipe_is_no_error() {
    for arguments in [
        &["facts"][..],
        &["facts", "--list"],
        &["check"],
        &["rules", "list"],
        &["--help"],
    ] {
        let mut child = walwise()
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Closes the pipe before the first byte is written, so that no buffer hides the error.
        drop(child.stdout.take());
        let output = child.output_in_time();
        assert_ne!(output.status.code(), None, "{arguments:?} was killed");
        assert_eq!(stderr(&output), "", "{arguments:?}");
    }
}

#[test]
fn unwritable_stdout_exits_with_1() {
    let full = || {
        Stdio::from(
            fs::OpenOptions::new()
                .write(true)
                .open("/dev/full")
                .unwrap(),
        )
    };
    for arguments in [
        &["facts"][..],
        &["check", "--format", "json"],
        &["generate", "schema"],
    ] {
        let command = &mut walwise();
        let child = command
            .args(arguments)
            .stdout(full())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = child.output_in_time();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(
            stderr(&output).contains("cannot write to standard output"),
            "{}",
            stderr(&output)
        );
        assert_eq!(stderr(&output).lines().count(), 1);
    }
}

#[test]
fn a_report_is_written_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for file in ["new", "new"] {
        let (_, out, err) =
            exit_code_and_output(&["check", "-v", "--format", "json", "--output", &at(file)]);
        assert_eq!((out.as_str(), err.as_str()), ("", ""));
        let _: Value = serde_json::from_slice(&fs::read(at(file)).unwrap()).unwrap();
    }
    fs::create_dir(at("directory")).unwrap();
    for place in [
        at("directory"),
        at("none/report"),
        at("new/report"),
        "/dev/full".to_owned(),
        at(""),
    ] {
        let complaint = assert_refused(1, &["check", "-v", "--format", "json", "--output", &place]);
        assert!(complaint.contains(&place), "{complaint}");
    }
    assert_eq!(sorted_file_names(dir.path()), ["directory", "new"]);
    assert_eq!(sorted_file_names(Path::new(&at("directory"))), [""; 0]);
}

#[test]
fn report_of_this_host_matches_the_schema() {
    let schema = stdout_of_success(&["generate", "schema"]);
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let report = run_walwise(&["check", "-v", "--format", "json"]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&report)
        .map(|e| e.to_string())
        .collect();
    assert_eq!(errors, [""; 0]);
}

#[test]
fn facts_can_be_listed_and_read() {
    let catalogue: Value =
        serde_json::from_str(&stdout_of_success(&["facts", "--list", "--format", "json"])).unwrap();
    let listed: Vec<&str> = catalogue
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["fact"].as_str().unwrap())
        .collect();
    let text = stdout_of_success(&["facts", "--list"]);
    for name in &listed {
        assert!(text.contains(&format!("{name} (")), "{name}");
    }
    let facts: Value =
        serde_json::from_str(&stdout_of_success(&["facts", "--format", "json"])).unwrap();
    for row in facts.as_array().unwrap() {
        assert!(
            listed.contains(&row["fact"].as_str().unwrap()),
            "{row} is in no catalogue"
        );
        let reading = &row["reading"];
        assert!(
            reading["source"].is_object() || reading["why"].is_string(),
            "{row} has no source and no reason"
        );
    }
    assert!(stdout_of_success(&["facts", "kernel.release"]).contains("kernel.release"));
}

#[test]
fn rules_can_be_listed_shown_and_checked() {
    let list = stdout_of_success(&["rules", "list"]);
    assert!(list.lines().count() > 50);
    for line in list.lines().take_while(|line| !line.is_empty()).step_by(20) {
        let id = line.split_whitespace().next().unwrap();
        let shown = stdout_of_success(&["rules", "show", id]);
        assert!(
            shown.starts_with(id) && shown.contains("Applies when") && shown.contains("Sources"),
            "{shown}"
        );
    }
    assert!(stdout_of_success(&["rules", "list", "--settings"]).contains("mount.options"));
    let good = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rules/user/good.toml");
    assert!(stdout_of_success(&["rules", "check", good]).contains("no errors"));
    let explained = stdout_of_success(&["explain", "verdict.at-risk"]);
    assert!(explained.contains("verdict.at-risk on "), "{explained}");
}

#[test]
fn all_rule_mistakes_are_reported_and_exit_with_2() {
    let bad = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rules/bad");
    let ten = format!("{bad}/ten-mistakes.toml");
    let (code, out, err) = exit_code_and_output(&["rules", "check", &ten]);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
    assert!(err.matches("ten-mistakes.toml:").count() >= 10, "{err}");
    let (_, whole, all) = exit_code_and_output(&["rules", "check", bad]);
    assert!(
        whole.is_empty() && all.contains("ten-mistakes.toml:") && all.contains("syntax.toml:"),
        "{all}"
    );
    assert_refused(2, &["check", "--rules", "/nonexistent"]);
    assert_refused(2, &["check", "--rules", "/dev/null"]);
    assert_refused(2, &["rules", "check", "/nonexistent"]);
    assert_refused(2, &["rules", "check", "/dev"]);
    assert_refused(2, &["rules", "check", "/dev/zero"]);
}

#[test]
fn invalid_captures_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        fs::write(dir.path().join(name), content).unwrap();
        dir.path().join(name).to_str().unwrap().to_owned()
    };
    let huge = file("huge", b"walwise host 1\n");
    fs::OpenOptions::new()
        .write(true)
        .open(&huge)
        .unwrap()
        .set_len(1 << 40)
        .unwrap();
    let places = [
        "/nonexistent".to_owned(),
        dir.path().to_str().unwrap().to_owned(),
        "/dev/zero".to_owned(),
        file("empty", b""),
        file("other", b"{}\n"),
        file("escape", b"walwise host \x1b[31m\n"),
        file("later", b"walwise host 2\n"),
        huge,
    ];
    for place in places {
        for command in [
            &["check"][..],
            &["facts"],
            &["explain", "verdict.at-risk"],
            &[],
        ] {
            let complaint = assert_refused(2, &[command, &["--host", &place]].concat());
            assert!(complaint.contains(&place), "{complaint}");
        }
    }
}
