//! The drill with the real program: a writer killed during a commit, the surviving pages, and
//! the comparison.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::deadline::{ChildInTime as _, ChildStdoutLines, CommandInTime as _};
use crate::support::{run, sorted_file_names, stderr, stdout, walwise};

fn output_of_killed_writer(directory: &Path, arguments: &[&str]) -> String {
    let mut writer = walwise()
        .args(["drill", "write"])
        .arg(directory)
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = String::new();
    for line in ChildStdoutLines::from_child(&mut writer) {
        log = log + &line + "\n";
        if line == "ack 20" {
            break;
        }
    }
    assert!(log.ends_with("ack 20\n"), "{log}");
    writer.kill_in_time();
    log
}

fn run_drill(arguments: &[&str]) -> Output {
    walwise().arg("drill").args(arguments).output_in_time()
}

#[test]
fn drill_reports_damaged_commits_as_lost() {
    for arguments in [&[][..], &["--method", "open_sync", "--segments", "fresh"]] {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let [data, acks, rest] = ["data", "acks", "rest"].map(|name| directory.path().join(name));
        std::fs::create_dir(&data).unwrap();
        std::fs::write(&acks, output_of_killed_writer(&data, arguments)).unwrap();
        assert_eq!(sorted_file_names(&data), ["walwise-drill"]);
        let read = || run_drill(&["read", data.to_str().unwrap()]);
        let compared = |left: &Output| {
            std::fs::write(&rest, &left.stdout).unwrap();
            run_drill(&["check", acks.to_str().unwrap(), rest.to_str().unwrap()])
        };
        let whole = compared(&read());
        assert_eq!(
            whole.status.code(),
            Some(5),
            "no power was cut: {}{}",
            stdout(&whole),
            stderr(&whole)
        );
        assert!(
            stdout(&whole).contains("20 commits were acknowledged"),
            "{}",
            stdout(&whole)
        );
        let segment = data.join("walwise-drill/segment-00000000");
        let mut bytes = std::fs::read(&segment).unwrap();
        bytes[6 * 8192 + 7000] ^= 0x80;
        std::fs::write(&segment, bytes).unwrap();
        let damaged = compared(&read());
        assert_eq!(damaged.status.code(), Some(3));
        assert!(
            stdout(&damaged).contains("1 was LOST, although reported as durable: numbers 7."),
            "{}",
            stdout(&damaged)
        );
        let again = run_drill(&["write", data.to_str().unwrap()]);
        assert!(
            stderr(&again).contains("already exists"),
            "{}",
            stderr(&again)
        );
    }
}

#[test]
fn drill_record_counts_only_for_its_own_stack() {
    let directory = tempfile::tempdir_in("/var/tmp").unwrap();
    let [data, acks, rest, record] =
        ["data", "acks", "rest", "drills.json"].map(|name| directory.path().join(name));
    std::fs::create_dir(&data).unwrap();
    std::fs::write(&acks, output_of_killed_writer(&data, &[])).unwrap();
    let rest_of = || stdout(&run_drill(&["read", data.to_str().unwrap()]));
    std::fs::write(&rest, rest_of()).unwrap();
    let compared = || {
        let [acks, rest, record] = [&acks, &rest, &record].map(|path| path.to_str().unwrap());
        run_drill(&["check", acks, rest, "--record", record])
    };
    let without = compared();
    assert_eq!(without.status.code(), Some(2));
    assert!(
        stderr(&without).contains("the host did not reboot"),
        "{}",
        stderr(&without)
    );
    assert!(
        stdout(&without).contains("proves nothing"),
        "{}",
        stdout(&without)
    );
    assert!(!record.exists());
    std::fs::write(&rest, rest_of().replace("\nboot ", "\nboot 0")).unwrap();
    let first = compared();
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    assert!(
        stderr(&first).contains("recorded as the 1st drill of this stack"),
        "{}",
        stderr(&first)
    );
    let again = compared();
    assert_eq!(again.status.code(), Some(2));
    assert!(
        stderr(&again).contains("is already in the record"),
        "{}",
        stderr(&again)
    );

    let judged = || {
        let arguments = [
            "check",
            data.to_str().unwrap(),
            "--no-probe",
            "-v",
            "--drill",
            record.to_str().unwrap(),
        ];
        let said = stdout(&walwise().args(arguments).output_in_time());
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let said = judged();
    assert!(
        said.contains("acknowledged commits on this stack, none lost in 1 power cut"),
        "{said}"
    );
    let old = std::fs::read_to_string(&record).unwrap();
    std::fs::write(
        &record,
        old.replace("kernel.release=", "kernel.release=2.6."),
    )
    .unwrap();
    let said = judged();
    assert!(said.contains("kernel.release was 2.6."), "{said}");
    assert!(!said.contains("none lost"), "{said}");
}

#[test]
fn signal_ends_drill_writer_with_message() {
    for lines in [0, 1, 30] {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = walwise();
        writer
            .args(["drill", "write"])
            .arg(directory.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut writer = writer.spawn().unwrap();
        let mut log = ChildStdoutLines::from_child(&mut writer);
        let mut heard: Vec<String> = log.by_ref().take(lines).collect();
        kill(
            Pid::from_raw(writer.id().try_into().unwrap()),
            Signal::SIGTERM,
        )
        .unwrap();
        heard.extend(log);
        let output = writer.output_in_time();
        let told = output.status.code() == Some(128 + Signal::SIGTERM as i32);
        // Before its handler is installed, a signal kills the writer as usual.
        assert!(
            told || output.status.signal() == Some(Signal::SIGTERM as i32) && heard.is_empty(),
            "{output:?}"
        );
        assert!(
            !told || heard.last().is_some_and(|last| last == "stopped"),
            "{heard:?}"
        );
        assert!(lines == 0 || told, "{output:?}");
    }
}

#[test]
fn drill_refuses_a_database_directory() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("PG_VERSION"), "15\n").unwrap();
    let refused = run_drill(&["write", directory.path().to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("belongs to a database"),
        "{}",
        stderr(&refused)
    );
    assert_eq!(sorted_file_names(directory.path()), ["PG_VERSION"]);
}

#[test]
fn printed_drill_steps_match_the_command_syntax() {
    let walwise = crate::support::programs::walwise_path();
    let told = run(walwise, &["drill", "/srv/pg"]);
    let commands: Vec<&str> = told
        .lines()
        .filter_map(|line| line.split_once("walwise drill "))
        .map(|(_, rest)| rest)
        .collect();
    assert_eq!(commands.len(), 3, "{told}");
    for command in commands {
        let words = command
            .split(['|', '>'])
            .next()
            .unwrap()
            .split(" --")
            .next()
            .unwrap();
        let words: Vec<&str> = words.split_whitespace().collect();
        let output = run_drill(&[&words[..1], &["--help"][..]].concat());
        let arguments = stdout(&output)
            .lines()
            .find(|line| line.starts_with("Usage"))
            .unwrap()
            .matches('<')
            .count();
        assert_eq!(arguments, words.len() - 1, "{command}");
    }
}
