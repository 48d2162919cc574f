//! Probes that are confirmed, watched, cancelled, repeated, ended in every way, or left without
//! their helper processes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{directory_in_memory, open_and_start_probe, path_str, start_probe};
use crate::support::deadline::CommandInTime as _;
use crate::support::pty::Pty;
use crate::support::running::wait_for_condition;

/// Starts a probe that is certainly running: stopped by SIGSTOP while its scratch file exists. A
/// probe that ended first is started again.
fn start_frozen_probe(data: &Path) -> Pty {
    let stopped = |_| {
        let mut pty = open_and_start_probe(data);
        if pty.stop_and_detect_new_files() {
            return Some(pty);
        }
        pty.resume_program();
        pty.press("q");
        pty.assert_ends_clean(0);
        None
    };
    (0..50)
        .find_map(stopped)
        .expect("one of fifty was stopped in time")
}

#[test]
fn a_probe_is_confirmed_watched_cancelled_and_made_again() {
    let place = directory_in_memory();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("there before"), "kept").unwrap();
    let mut pty = start_frozen_probe(&data);
    pty.press("c");
    pty.resume_program();
    let screen = pty.wait_for_text("rounds in");
    assert!(screen.contains("partial results kept"), "{screen}");
    assert!(
        screen.contains("fdatasync"),
        "what was measured is kept:\n{screen}"
    );
    pty.assert_directories_untouched("once it says what was measured");
    start_probe(&mut pty);
    pty.wait_until("another measurement, this time whole", |screen| {
        let shown = screen.contents();
        shown.contains("rounds in") && !shown.contains("is kept")
    });
    pty.assert_directories_untouched("after the second");
    pty.press("q");
    pty.assert_ends_clean(0);
}

#[test]
fn probe_prints_progress_only_on_a_terminal() {
    let data = directory_in_memory();
    let probe = ["probe", path_str(&data), "--seconds", "1"];
    let mut pty = Pty::start_walwise(&probe);
    pty.assert_ends_clean(0);
    let written = pty.all_output();
    for said in [
        "writes at most",
        "measuring: round 1, at most ",
        " s left; so far, against fdatasync: ",
    ] {
        assert!(written.contains(said), "{said}:\n{written}");
    }
    let piped = Command::new(crate::support::programs::walwise_path())
        .args(probe)
        .stdin(Stdio::null())
        .output_in_time();
    let [out, complaint] =
        [piped.stdout, piped.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(piped.status.code(), Some(0), "{complaint}");
    assert!(
        complaint.contains("writes at most") && complaint.lines().count() == 1,
        "{complaint}"
    );
    assert!(out.contains("fdatasync") && !out.contains(" left"), "{out}");
}

#[test]
fn quitting_during_a_probe_removes_the_scratch_file() {
    for (leave, code) in [("q", 0), ("\x03", 130)] {
        let data = directory_in_memory();
        let mut pty = start_frozen_probe(data.path());
        pty.press(leave);
        pty.resume_program();
        pty.assert_ends_clean(code);
    }
}

#[test]
fn signal_during_a_probe_removes_the_scratch_file() {
    for (signal, code) in [
        (Signal::SIGTERM, 143),
        (Signal::SIGINT, 130),
        (Signal::SIGHUP, 129),
    ] {
        let data = directory_in_memory();
        let mut pty = start_frozen_probe(data.path());
        pty.signal(signal);
        pty.resume_program();
        pty.assert_ends_clean(code);
    }
}

#[test]
fn sigkill_during_a_probe_leaves_no_scratch_file() {
    let data = directory_in_memory();
    let mut pty = start_frozen_probe(data.path());
    pty.kill_and_check_cleanup();
}

fn child_pids_with_argument(of: u32, argument: &str) -> Vec<Pid> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap() {
        let entry = entry.unwrap().path();
        let stat = fs::read_to_string(entry.join("stat")).unwrap_or_default();
        let Some((_, rest)) = stat.rsplit_once(") ") else {
            continue;
        };
        let line = fs::read(entry.join("cmdline")).unwrap_or_default();
        let is_it = line
            .split(|byte| *byte == 0)
            .any(|word| word == argument.as_bytes());
        if is_it && rest.split(' ').nth(1) == Some(&of.to_string()) {
            found.push(Pid::from_raw(
                entry
                    .file_name()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .parse()
                    .unwrap(),
            ));
        }
    }
    found
}

/// The watcher only cleans up after a dead prober; without the watcher the prober still cleans up.
#[test]
fn a_watcher_that_is_killed_changes_nothing() {
    let data = directory_in_memory();
    let mut pty = start_frozen_probe(data.path());
    let watchers = child_pids_with_argument(pty.pid(), "__watch");
    let [watcher] = watchers[..] else {
        panic!("{watchers:?}")
    };
    kill(watcher, Signal::SIGKILL).unwrap();
    pty.resume_program();
    pty.wait_for_text("rounds in");
    pty.assert_directories_untouched("after the probe");
    pty.press("q");
    pty.assert_ends_clean(0);
}

#[test]
fn killed_readers_lose_only_their_own_answers() {
    let data = directory_in_memory();
    let mut pty = Pty::start_walwise(&[path_str(&data)]);
    pty.wait_for_text("Fix first");
    wait_for_condition("one is caught", || {
        // The host may have been read before a reader was killed.
        if !pty.has_text("reading") {
            pty.press("r");
        }
        let readers = child_pids_with_argument(pty.pid(), "__ask");
        readers
            .into_iter()
            .any(|reader| kill(reader, Signal::SIGKILL).is_ok())
    });
    pty.wait_for_text_gone("reading");
    pty.wait_for_text("Fix first");
    pty.press("r");
    pty.wait_for_text_gone("reading");
    pty.press("4");
    pty.wait_for_text("in order of application");
    pty.press("q");
    pty.assert_ends_clean(0);
}
