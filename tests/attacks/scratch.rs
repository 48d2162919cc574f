use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;

use super::attack_directory::{AttackDirectory, root_only_directory_changes};
use super::attempts::{Attempts, race_turns};
use super::root::{self, RunningCommand};
use super::stranger::{AttackerAction, UID};
use super::support::running::{child_pids, wait_for_condition};
use crate::support::deadline::CommandInTime as _;

const PREFIX: &str = ".walwise-probe-";

fn probe_command(directory: &Path) -> std::process::Command {
    root::walwise_from_cron([
        "probe".as_ref(),
        directory.as_os_str(),
        "--seconds".as_ref(),
        "1".as_ref(),
        "--force".as_ref(),
    ])
}

fn leftover_scratch_paths(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
    {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() {
            found.extend(leftover_scratch_paths(&path));
        }
        if name.starts_with(PREFIX) || name.starts_with("walwise-") {
            found.push(path);
        }
    }
    found
}

/// The attacker searches all command lines for the name of the future scratch directory and creates
/// that directory first. The attacker wants the probe refused, or root's files in a directory of
/// the attacker's.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn scratch_name_appears_in_no_command_line() {
    let mut attempts = Attempts::for_attack("the scratch directory's name in a command line");
    for turn in race_turns() {
        let ground = AttackDirectory::new();
        let theirs = ground.create_attacker_directory("theirs");
        let (place, told) = (
            ground.create_directory("open", 0o777),
            ground.create_attacker_directory("told").join("name"),
        );
        let act = AttackerAction::Peek(PREFIX.to_owned(), place.clone(), told.clone());
        let doing = act.start_as_uid(&ground, UID);
        let ended = root::run_with_timeout(&mut probe_command(&theirs));
        drop(doing);
        let mut gains: Vec<String> = ended.hang_message().into_iter().collect();
        if told.exists() {
            gains.push(format!(
                "its name is seen: {}",
                fs::read_to_string(&told).unwrap()
            ));
        }
        attempts.record_attempt(&format!("turn {turn}"), &gains);
        if turn == 1 && !super::attempts::is_long_run() {
            break;
        }
    }
    // A trace of every execve shows whatever an attacker could read at the right moment.
    let ground = AttackDirectory::new();
    let directory = ground.create_directory("own", 0o755);
    let arguments = [
        "probe",
        directory.to_str().unwrap(),
        "--seconds",
        "1",
        "--force",
    ];
    let (_, trace) = root::run_traced("execve", &arguments);
    let gains: Vec<String> = trace
        .into_iter()
        .filter(|line| line.contains(PREFIX))
        .collect();
    attempts.record_attempt("every program that is started", &gains);
    attempts.write_tally_and_assert();
}

/// The attacker moves the scratch directory away during a probe, and puts a link to root's
/// directory or nothing in its place. The attacker wants root's file to stay, or something of
/// root's removed.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn moved_scratch_directory_is_removed_or_reported() {
    let mut attempts = Attempts::for_attack("the scratch directory moved while it is used");
    for ends in ["by itself", "by TERM", "by KILL"] {
        let ground = AttackDirectory::new();
        let theirs = ground.create_attacker_directory("theirs");
        let elsewhere = ground.create_attacker_directory("elsewhere");
        // Cleaning up through the link would remove this file.
        ground.create_root_only_file("walwise-precious", "");
        let vault = ground.snapshot_root_only_directory();
        let mut run = RunningCommand::start(&mut probe_command(&theirs));
        // The test moves the directory as root, because the attacker's own process would rarely be
        // fast enough.
        let mut moved = false;
        while run.is_running() && !moved {
            let found = leftover_scratch_paths(&theirs)
                .into_iter()
                .find(|path| path.is_dir());
            let Some(path) = found.filter(|path| !leftover_scratch_paths(path).is_empty()) else {
                continue;
            };
            moved = fs::rename(&path, elsewhere.join("stolen")).is_ok();
            super::attack_directory::create_attacker_symlink(&ground.root_only_directory(), &path);
        }
        let watchers = child_pids(run.pid());
        match ends {
            "by TERM" => drop(nix::sys::signal::kill(run.pid(), Signal::SIGTERM)),
            "by KILL" => drop(nix::sys::signal::kill(run.pid(), Signal::SIGKILL)),
            _ => {}
        }
        let ended = run.wait_with_timeout(root::time_limit_seconds(), |_| ());
        // A killed probe leaves a watcher process, which cleans up.
        wait_for_condition("the end of the watcher", || {
            watchers.iter().all(|pid| !is_alive(pid))
        });
        let mut gains = root_only_directory_changes(&vault);
        gains.extend(ended.hang_message());
        let stays = leftover_scratch_paths(&elsewhere)
            .into_iter()
            .any(|path| path.is_file());
        if stays && ends != "by KILL" && (ended.code == Some(0) || ended.err.is_empty()) {
            gains.push(format!(
                "root's file stays, and it ends with {:?}: {}",
                ended.code,
                ended.combined_output()
            ));
        }
        attempts.record_attempt(&format!("{ends}, moved: {moved}"), &gains);
    }
    attempts.write_tally_and_assert();
}

fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[test]
#[ignore = "needs root"]
fn unwritable_output_is_refused_before_the_probe() {
    let mut attempts = Attempts::for_attack("an output that cannot be written");
    for output in [
        "/nowhere/report.json",
        "/dev",
        "/proc/report.json",
        "/dev/null/report",
        "the open directory",
    ] {
        let ground = AttackDirectory::new();
        let directory = ground.create_directory("own", 0o755);
        let open = ground.create_directory("open", 0o777).join("report.json");
        let output = if output.starts_with('/') {
            output
        } else {
            open.to_str().unwrap()
        };
        let target = directory.to_str().unwrap();
        let arguments = [
            "check",
            target,
            "--probe-seconds",
            "1",
            "-v",
            "--format",
            "json",
            "--output",
            output,
        ];
        let (ended, trace) = root::run_traced("mkdir,mkdirat", &arguments);
        let mut gains: Vec<String> = trace
            .into_iter()
            .filter(|line| line.contains(PREFIX))
            .collect();
        gains.extend(ended.hang_message());
        if matches!(ended.code, Some(0 | 3..=5)) {
            gains.push(format!("it ends with {:?}", ended.code));
        }
        attempts.record_attempt(output, &gains);
    }
    attempts.write_tally_and_assert();
}

/// A probe and its watcher are killed in the attacker's directory, which contains directories with
/// similar names. The attacker wants the report to name other objects than root left, or to print
/// another command.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn only_leftovers_of_a_killed_probe_are_reported() {
    let mut attempts = Attempts::for_attack("directories called like what a killed probe left");
    for name in ["theirs", "it's; touch moved $(id)"] {
        let ground = AttackDirectory::new();
        let theirs = ground.create_attacker_directory(name);
        let elsewhere = ground.create_attacker_directory("elsewhere");
        let vault = ground.snapshot_root_only_directory();
        let mut run = RunningCommand::start(&mut probe_command(&theirs));
        wait_for_condition("the scratch directory", || {
            !run.is_running()
                || leftover_scratch_paths(&theirs)
                    .iter()
                    .any(|path| path.is_dir())
        });
        let watchers = child_pids(run.pid());
        for pid in watchers
            .iter()
            .map(|pid| nix::unistd::Pid::from_raw(pid.parse().unwrap()))
            .chain([run.pid()])
        {
            let _ = nix::sys::signal::kill(pid, Signal::SIGKILL);
        }
        run.wait_with_timeout(root::time_limit_seconds(), |_| ());
        let mut gains: Vec<String> = Vec::new();
        let ours: Vec<PathBuf> = leftover_scratch_paths(&theirs)
            .into_iter()
            .filter(|path| path.is_dir())
            .collect();
        if ours.len() != 1 {
            gains.push(format!("the kill leaves {ours:?}"));
        }
        for (name, mode) in [
            ("1-0123456789abcdef", 0o700),
            ("1-0123456789abcde0", 0o755),
            ("1-\u{1b}]0;x\u{7}", 0o700),
        ] {
            let path = theirs.join(format!("{PREFIX}{name}"));
            fs::create_dir(&path).unwrap();
            super::attack_directory::chown_to_attacker(&path);
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        }
        super::attack_directory::create_attacker_symlink(
            &elsewhere,
            &theirs.join(format!("{PREFIX}1-0123456789abcde1")),
        );
        let measured = || {
            let ended = root::run_with_timeout(probe_command(&theirs).args(["--format", "json"]));
            let caveats = ended.stdout_json()["caveats"].clone();
            let of_left = |caveat: &&serde_json::Value| caveat["id"] == "leftover";
            let says = caveats
                .as_array()
                .unwrap()
                .iter()
                .find(of_left)
                .map(|caveat| caveat["text"].to_string());
            (says, ended.combined_output())
        };
        let (says, said) = measured();
        let says = says.unwrap_or_default().replace("\\\\", "\\");
        let command = says.split('`').nth(1).unwrap_or_default().to_owned();
        if says.contains("0123456789abcde") || says.contains(" more") || says.contains('\u{1b}') {
            gains.push(format!("his are told: {says}"));
        }
        let done = std::process::Command::new("sh")
            .args(["-c", &command])
            .current_dir("/")
            .output_in_time();
        if command.is_empty() || !done.status.success() || ours.iter().any(|path| path.exists()) {
            gains.push(format!("the command `{command}` does not work: {said}"));
        }
        if let (Some(says), _) = measured() {
            gains.push(format!("told again: {says}"));
        }
        gains.extend(root_only_directory_changes(&vault));
        attempts.record_attempt(name, &gains);
    }
    attempts.write_tally_and_assert();
}
