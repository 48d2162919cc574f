use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;

use super::attempts::{Attempts, race};
use super::ground::{Ground, damage};
use super::root::{self, Run};
use super::stranger::{Act, UID};
use super::support::running::{children, wait_for};
use crate::support::deadline::CommandInTime as _;

const PREFIX: &str = ".walwise-probe-";

fn probe(directory: &Path) -> std::process::Command {
    root::walwise([
        "probe".as_ref(),
        directory.as_os_str(),
        "--seconds".as_ref(),
        "1".as_ref(),
        "--force".as_ref(),
    ])
}

fn left(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
    {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() {
            found.extend(left(&path));
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
fn its_name_is_nobody_s_to_know() {
    let mut attempts = Attempts::at("the scratch directory's name in a command line");
    for turn in race() {
        let ground = Ground::new();
        let theirs = ground.theirs("theirs");
        let (place, told) = (
            ground.shared("open", 0o777),
            ground.theirs("told").join("name"),
        );
        let act = Act::Peek(PREFIX.to_owned(), place.clone(), told.clone());
        let doing = act.start(&ground, UID);
        let ended = root::end(&mut probe(&theirs));
        drop(doing);
        let mut gains: Vec<String> = ended.hang().into_iter().collect();
        if told.exists() {
            gains.push(format!(
                "its name is seen: {}",
                fs::read_to_string(&told).unwrap()
            ));
        }
        attempts.made(&format!("turn {turn}"), &gains);
        if turn == 1 && !super::attempts::long() {
            break;
        }
    }
    // A trace of every execve shows whatever an attacker could read at the right moment.
    let ground = Ground::new();
    let directory = ground.shared("own", 0o755);
    let arguments = [
        "probe",
        directory.to_str().unwrap(),
        "--seconds",
        "1",
        "--force",
    ];
    let (_, trace) = root::traced("execve", &arguments);
    let gains: Vec<String> = trace
        .into_iter()
        .filter(|line| line.contains(PREFIX))
        .collect();
    attempts.made("every program that is started", &gains);
    attempts.end();
}

/// The attacker moves the scratch directory away during a probe, and puts a link to root's
/// directory or nothing in its place. The attacker wants root's file to stay, or something of
/// root's removed.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn moved_away_it_is_cleared_or_said() {
    let mut attempts = Attempts::at("the scratch directory moved while it is used");
    for ends in ["by itself", "by TERM", "by KILL"] {
        let ground = Ground::new();
        let theirs = ground.theirs("theirs");
        let elsewhere = ground.theirs("elsewhere");
        // Cleaning up through the link would remove this file.
        ground.hide("walwise-precious", "");
        let vault = ground.watch();
        let mut run = Run::start(&mut probe(&theirs));
        // The test moves the directory as root, because the attacker's own process would rarely be
        // fast enough.
        let mut moved = false;
        while run.runs() && !moved {
            let found = left(&theirs).into_iter().find(|path| path.is_dir());
            let Some(path) = found.filter(|path| !left(path).is_empty()) else {
                continue;
            };
            moved = fs::rename(&path, elsewhere.join("stolen")).is_ok();
            super::ground::link(&ground.vault(), &path);
        }
        let watchers = children(run.pid());
        match ends {
            "by TERM" => drop(nix::sys::signal::kill(run.pid(), Signal::SIGTERM)),
            "by KILL" => drop(nix::sys::signal::kill(run.pid(), Signal::SIGKILL)),
            _ => {}
        }
        let ended = run.end(root::patience(), |_| ());
        // A killed probe leaves a watcher process, which cleans up.
        wait_for("the end of the watcher", || {
            watchers.iter().all(|pid| !is_alive(pid))
        });
        let mut gains = damage(&vault);
        gains.extend(ended.hang());
        let stays = left(&elsewhere).into_iter().any(|path| path.is_file());
        if stays && ends != "by KILL" && (ended.code == Some(0) || ended.err.is_empty()) {
            gains.push(format!(
                "root's file stays, and it ends with {:?}: {}",
                ended.code,
                ended.said()
            ));
        }
        attempts.made(&format!("{ends}, moved: {moved}"), &gains);
    }
    attempts.end();
}

fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[test]
#[ignore = "needs root"]
fn an_output_that_cannot_be_is_refused_before_it_measures() {
    let mut attempts = Attempts::at("an output that cannot be written");
    for output in [
        "/nowhere/report.json",
        "/dev",
        "/proc/report.json",
        "/dev/null/report",
        "the open directory",
    ] {
        let ground = Ground::new();
        let directory = ground.shared("own", 0o755);
        let open = ground.shared("open", 0o777).join("report.json");
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
        let (ended, trace) = root::traced("mkdir,mkdirat", &arguments);
        let mut gains: Vec<String> = trace
            .into_iter()
            .filter(|line| line.contains(PREFIX))
            .collect();
        gains.extend(ended.hang());
        if matches!(ended.code, Some(0 | 3..=5)) {
            gains.push(format!("it ends with {:?}", ended.code));
        }
        attempts.made(output, &gains);
    }
    attempts.end();
}

/// A probe and its watcher are killed in the attacker's directory, which contains directories with
/// similar names. The attacker wants the report to name other objects than root left, or to print
/// another command.
#[test]
#[ignore = "needs root: it attacks as another user"]
fn what_a_killed_probe_left_is_told_and_nothing_else() {
    let mut attempts = Attempts::at("directories called like what a killed probe left");
    for name in ["theirs", "it's; touch moved $(id)"] {
        let ground = Ground::new();
        let theirs = ground.theirs(name);
        let elsewhere = ground.theirs("elsewhere");
        let vault = ground.watch();
        let mut run = Run::start(&mut probe(&theirs));
        wait_for("the scratch directory", || {
            !run.runs() || left(&theirs).iter().any(|path| path.is_dir())
        });
        let watchers = children(run.pid());
        for pid in watchers
            .iter()
            .map(|pid| nix::unistd::Pid::from_raw(pid.parse().unwrap()))
            .chain([run.pid()])
        {
            let _ = nix::sys::signal::kill(pid, Signal::SIGKILL);
        }
        run.end(root::patience(), |_| ());
        let mut gains: Vec<String> = Vec::new();
        let ours: Vec<PathBuf> = left(&theirs)
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
            super::ground::give(&path);
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        }
        super::ground::link(
            &elsewhere,
            &theirs.join(format!("{PREFIX}1-0123456789abcde1")),
        );
        let measured = || {
            let ended = root::end(probe(&theirs).args(["--format", "json"]));
            let caveats = ended.json()["caveats"].clone();
            let of_left = |caveat: &&serde_json::Value| caveat["id"] == "leftover";
            let says = caveats
                .as_array()
                .unwrap()
                .iter()
                .find(of_left)
                .map(|caveat| caveat["text"].to_string());
            (says, ended.said())
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
        gains.extend(damage(&vault));
        attempts.made(name, &gains);
    }
    attempts.end();
}
