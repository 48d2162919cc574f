//! Tests `check --baseline` and `--save` from a shell: location and owner of saved reports,
//! refusals, and the exact changes reported on real file systems.

mod loops;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::recorded::recorded_host_file;
use crate::support::running::RunningProgram;
use crate::support::{sorted_file_names, stderr, stdout, walwise};

fn run_check(arguments: &[&str]) -> Output {
    walwise().arg("check").args(arguments).output_in_time()
}

fn assert_refused(arguments: &[&str]) -> String {
    let output = run_check(arguments);
    let complaint = stderr(&output);
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(2), ""),
        "{arguments:?}: {complaint}"
    );
    complaint
}

#[test]
fn invalid_baselines_are_refused_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        fs::write(dir.path().join(name), content).unwrap();
        dir.path().join(name).to_str().unwrap().to_owned()
    };
    let places = [
        ("/nonexistent".to_owned(), "No such file"),
        (dir.path().to_str().unwrap().to_owned(), "it is a directory"),
        (
            "/dev/zero".to_owned(),
            "it is a device; specify a regular file or a pipe",
        ),
        (file("empty", b""), "walwise check -v --format json"),
        (
            file("cut", b"{\"schema\": 3, \"facts\": ["),
            "walwise check -v --format json",
        ),
        (file("other", b"{}\n"), "walwise check -v --format json"),
        (
            file("later", b"{\"schema\": 7000}\n"),
            "walwise check --save",
        ),
        (
            file("escape", b"{\"schema\": \"\x1b[31m\"}\n"),
            "walwise check -v --format json",
        ),
    ];
    for (place, says) in places {
        let complaint = assert_refused(&["--no-probe", "--baseline", &place]);
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
        assert!(
            complaint.contains(&place) && complaint.contains(says),
            "{complaint}"
        );
        assert!(!complaint.contains('\x1b'), "{complaint}");
    }
    for format in ["script", "conf"] {
        assert_refused(&["--format", format, "--baseline", "/nonexistent"]);
    }
    assert_refused(&["--save", "--host", "/nonexistent"]);
}

#[test]
fn baseline_of_another_host_is_marked() {
    let dir = tempfile::tempdir().unwrap();
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts");
    let host = |name: &str| {
        hosts
            .join(name)
            .with_extension("host")
            .to_str()
            .unwrap()
            .to_owned()
    };
    let (one, baseline) = (
        fs::read_to_string(host("el9-ext4")).unwrap(),
        dir.path().join("baseline.json"),
    );
    let other = dir.path().join("other.host");
    let name = one
        .lines()
        .skip_while(|line| *line != "uname")
        .nth(2)
        .unwrap();
    fs::write(
        &other,
        one.replace(&format!("{name}\n"), "|somewhere-else\n"),
    )
    .unwrap();
    let baseline = baseline.to_str().unwrap();
    let output = run_check(&[
        "/data",
        "--host",
        &host("el9-ext4"),
        "-v",
        "--format",
        "json",
        "--output",
        baseline,
    ]);
    assert_eq!(stderr(&output), "");
    let output = run_check(&[
        "/data",
        "--host",
        other.to_str().unwrap(),
        "--baseline",
        baseline,
    ]);
    let text = stdout(&output);
    assert!(
        text.contains("ANOTHER HOST") && text.contains("somewhere-else"),
        "{text}"
    );
}

fn check_as_nobody(state: &Path, arguments: &[&str]) -> Output {
    let mut command = walwise();
    command
        .env_remove("HOME")
        .env("XDG_STATE_HOME", state)
        .uid(65534)
        .gid(65534);
    command
        .args(["check", "--no-probe"])
        .args(arguments)
        .output_in_time()
}

#[test]
#[ignore = "needs root: to become another user"]
fn user_baseline_is_private_and_found_again() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(dir.path(), Some(65534), Some(65534)).unwrap();
    let (state, target) = (dir.path().join("state"), dir.path().to_str().unwrap());
    let missing = check_as_nobody(&state, &[target, "--baseline"]);
    let complaint = stderr(&missing);
    assert_eq!(missing.status.code(), Some(2), "{complaint}");
    assert!(
        complaint.contains("no baseline is saved") && complaint.contains("--save"),
        "{complaint}"
    );
    assert!(!state.exists(), "nothing is made without being told to");
    let first = check_as_nobody(&state, &[target, "--save"]);
    let kept = state.join("walwise");
    let shelf = kept.join(sorted_file_names(&kept).pop().unwrap());
    let said = stderr(&first);
    let name = sorted_file_names(&shelf).pop().unwrap();
    assert!(said.contains(shelf.join(&name).to_str().unwrap()), "{said}");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(&kept), mode(&shelf), mode(&shelf.join(&name))),
        (0o700, 0o700, 0o600)
    );
    let report = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(shelf.join(name)).unwrap()).unwrap()
    };
    assert!(report(&name)["baseline"].is_null() && report(&name)["schema"].is_u64());

    // With `--baseline` and `--save` in one run, the saved report is the current one, stored beside
    // the first.
    let again = check_as_nobody(&state, &["--baseline", "last", target, "--save"]);
    assert!(
        stdout(&again).contains("Since the baseline of "),
        "{}",
        stdout(&again)
    );
    let both = sorted_file_names(&shelf);
    assert_eq!((both.len(), &both[0]), (2, &name));
    assert!(both[1].starts_with("000002-") && report(&both[1])["baseline"].is_null());
    check_as_nobody(&state, &["--save"]);
    assert_eq!(
        (sorted_file_names(&kept).len(), sorted_file_names(&shelf)),
        (2, both),
        "the whole host has reports of its own"
    );

    // walwise checks that the report can be saved before measuring anything for it.
    let nowhere = check_as_nobody(Path::new("/proc/1"), &[target, "--save"]);
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(stderr(&nowhere).contains("/proc/1/walwise") && stdout(&nowhere).is_empty());
}

#[test]
#[ignore = "needs root: a mount name space"]
fn root_saves_baselines_below_var_lib() {
    let dir = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str]| {
        let cover = "mount --make-rprivate / && mount --bind \"$0\" /var/lib && exec \"$@\"";
        let mut command = Command::new("unshare");
        command
            .args(["-m", "sh", "-c", cover])
            .arg(dir.path())
            .arg(crate::support::programs::walwise_path());
        // An XDG_STATE_HOME inherited through sudo must not count.
        command.env("XDG_STATE_HOME", dir.path().join("somebody"));
        command
            .args(["check", "--no-probe", "/etc"])
            .args(arguments)
            .output_in_time()
    };
    let output = check(&["--save"]);
    assert!(
        stderr(&output).contains("/var/lib/walwise/"),
        "{}",
        stderr(&output)
    );
    assert_eq!(sorted_file_names(dir.path()), ["walwise"]);
    let output = check(&["--baseline"]);
    assert!(
        stdout(&output).contains("Since the baseline of "),
        "{}",
        stdout(&output)
    );
}

/// Builds a command that saves reports in `directory`. Root saves reports in a system-wide
/// directory, which tests must not use, so `directory` is mounted there.
fn walwise_command_saving_in(directory: &Path) -> Command {
    let mut command = walwise();
    let enter = "mount --make-rprivate / && mount --bind \"$0\" /var/lib && exec \"$@\"";
    if nix::unistd::geteuid().is_root() {
        command = Command::new("unshare");
        command
            .args(["-m", "sh", "-c", enter])
            .arg(directory)
            .arg(crate::support::programs::walwise_path());
    }
    command.env("XDG_STATE_HOME", directory);
    command
}

#[test]
fn missing_last_baseline_is_no_error_when_saving() {
    let dir = tempfile::tempdir().unwrap();
    let check = || {
        let mut command = walwise_command_saving_in(dir.path());
        command.args([
            "check",
            "/etc",
            "--no-probe",
            "--save",
            "--baseline",
            "last",
            "--fail-on",
            "never",
        ]);
        let output = command.output_in_time();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        output
    };
    let first = check();
    assert!(
        stderr(&first).contains("no comparison: no baseline is saved in "),
        "{}",
        stderr(&first)
    );
    assert!(!stdout(&first).contains("Since the baseline of "));
    let second = check();
    assert!(
        !stderr(&second).contains("no comparison"),
        "{}",
        stderr(&second)
    );
    assert!(
        stdout(&second).contains("Since the baseline of "),
        "{}",
        stdout(&second)
    );
    let kept = dir.path().join("walwise");
    let shelf = kept.join(sorted_file_names(&kept).pop().unwrap());
    fs::write(
        shelf.join(sorted_file_names(&shelf).pop().unwrap()),
        "{\"schema\": 7000}",
    )
    .unwrap();
    assert!(stderr(&check()).contains("this report has schema 7000"));
    assert!(stdout(&check()).contains("Since the baseline of "));
    assert_eq!(sorted_file_names(&shelf).len(), 4);
}

#[test]
fn simultaneous_saves_keep_all_reports() {
    let dir = tempfile::tempdir().unwrap();
    let start = |_: usize| {
        let mut command = walwise_command_saving_in(dir.path());
        command.args([
            "check",
            "/etc",
            "--no-probe",
            "--no-programs",
            "--save",
            "--fail-on",
            "never",
        ]);
        RunningProgram::start(&mut command)
    };
    let runs: Vec<RunningProgram> = (0..15).map(start).collect();
    let mut kept = BTreeSet::new();
    for run in runs {
        let output = run.wait_for_output();
        let said = stderr(&output);
        let (_, path) = said
            .trim()
            .split_once("baseline saved: ")
            .unwrap_or_else(|| panic!("{said}"));
        kept.insert(path.rsplit_once('/').unwrap().1.to_owned());
    }
    let state = dir.path().join("walwise");
    let shelf = state.join(sorted_file_names(&state).pop().unwrap());
    assert_eq!(
        sorted_file_names(&shelf),
        kept.into_iter().collect::<Vec<_>>()
    );
    let numbers: BTreeSet<String> = sorted_file_names(&shelf)
        .iter()
        .map(|name| name[..6].to_owned())
        .collect();
    // The numbers may have gaps, but no two reports share a number.
    assert_eq!(numbers.len(), 15, "{numbers:?}");
    for name in sorted_file_names(&shelf) {
        let report: Value = serde_json::from_slice(&fs::read(shelf.join(&name)).unwrap()).unwrap();
        assert!(report["schema"].is_u64(), "{name}");
    }
}

/// An unreadable list of saved reports must not count as an empty list.
#[test]
#[ignore = "needs root: to become another user"]
fn unlistable_saved_reports_cause_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(dir.path(), Some(65534), Some(65534)).unwrap();
    let state = dir.path().join("state");
    check_as_nobody(&state, &["--save"]);
    let kept = state.join("walwise");
    let shelf = kept.join(sorted_file_names(&kept).pop().unwrap());
    let allow =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for path in [&kept, &shelf] {
        allow(path, 0o300);
        let said = stderr(&check_as_nobody(&state, &["--format", "prometheus"]));
        let shown = path.display();
        assert!(
            said.contains(&format!(
                "an earlier commit latency may be missing: cannot read {shown}: Permission denied"
            )),
            "{said}"
        );
        allow(path, 0o700);
    }
    allow(&shelf, 0o300);
    let compared = check_as_nobody(&state, &["--baseline"]);
    let said = stderr(&compared);
    assert!(
        compared.status.code() == Some(2) && said.contains("Permission denied"),
        "{said}"
    );
    assert!(!said.contains("no baseline is saved"), "{said}");
    allow(&shelf, 0o700);
}

#[test]
fn a_report_of_one_target_is_compared_with_that_target_alone() {
    let host = recorded_host_file("real-loop-xfs");
    let host = host.to_str().unwrap();
    let place = tempfile::tempdir().unwrap();
    let all = place.path().join("all.json");
    let all = all.to_str().unwrap();
    run_check(&["--host", host, "-v", "--format", "json", "--output", all]);
    let text = stdout(&run_check(&[
        "/mnt/capture-btrfs",
        "--host",
        host,
        "--baseline",
        all,
    ]));
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("only targets in both"), "{text}");
    for other in [
        "/mnt/capture-xfs",
        "/mnt/capture-ext4",
        "/var/lib/postgresql",
    ] {
        assert!(!text.contains(other), "{other}:\n{text}");
    }
}
