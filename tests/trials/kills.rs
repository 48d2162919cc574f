//! Kills running trials. Ten seconds later, no process, loop device, mount or file may be left.
#![allow(dead_code, reason = "two test binaries use a part each")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::deadline::ChildInTime as _;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

#[derive(Clone, Copy, Debug)]
pub enum Victim {
    /// The `walwise trial` that the user started.
    Outer,
    /// The child that creates the namespaces.
    Between,
    /// The child that measures.
    Inside,
    All,
}

#[derive(Clone, Copy, Debug)]
pub enum KillMoment {
    /// As soon as children exist, while the loop file is written.
    Writing,
    /// As soon as the loop device exists.
    Device,
    /// Milliseconds after the loop device appears.
    After(u64),
}

const COMMITS: [&str; 6] = ["--size", "320", "--clients", "1", "--seconds", "0.1"];

pub fn kill_trial_and_check_leftovers(
    binary: &str,
    directory: &Path,
    moment: KillMoment,
    victim: Victim,
    signal: Signal,
) -> Result<(), String> {
    // A background shell or nohup makes children ignore signals, and a trial respects that.
    // `--default-signal` restores the defaults.
    let mut outer = Command::new("env")
        .args([
            "--default-signal",
            binary,
            "trial",
            "--yes",
            "--force",
            "--budget",
            "60s",
        ])
        .args(COMMITS)
        .arg(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|e| e.to_string())?;
    let family = wait_for_moment(&mut outer, directory, moment)?;
    let devices = loop_devices_below(directory);
    let seen = trial_mounts(directory, &devices)?;
    let inside = processes_with_argument(&family, "__trial-inside")
        .first()
        .and_then(|pid| pid_namespace(*pid));
    let victims: Vec<u32> = match victim {
        Victim::Outer => vec![outer.id()],
        Victim::Between => processes_with_argument(&family, "__trial-between"),
        Victim::Inside => processes_with_argument(&family, "__trial-inside"),
        Victim::All => family.clone(),
    };
    for pid in victims {
        let _ = kill(Pid::from_raw(pid.cast_signed()), signal);
    }
    let gone = || {
        let _ = outer.try_wait();
        let alive = family.iter().any(|pid| is_alive(*pid));
        !alive
            && processes_in_namespace(inside.as_deref()).is_empty()
            && loop_devices_below(directory).is_empty()
    };
    // Waits ten seconds, not counting time in which a process waits for a disk: no signal ends such
    // a process.
    let (begun, mut idle) = (Instant::now(), Instant::now());
    let gone = wait_until_or_impatient(gone, || {
        if family.iter().any(|pid| is_in_uninterruptible_sleep(*pid)) {
            idle = Instant::now();
        }
        idle.elapsed() < Duration::from_secs(10) && begun.elapsed() < Duration::from_secs(180)
    });
    let alive = family
        .into_iter()
        .filter(|pid| is_alive(*pid))
        .chain(processes_in_namespace(inside.as_deref()));
    let left = (
        loop_devices_below(directory),
        alive.map(describe_process).collect::<Vec<_>>(),
    );
    let files = fs::read_dir(directory).map_err(|e| e.to_string())?.count();
    // Another test may already use a loop device that this trial has released.
    let mounted = [
        seen,
        trial_mounts(directory, &loop_devices_below(directory))?,
    ]
    .concat();
    if gone && files == 0 && mounted.is_empty() {
        outer.wait_in_time();
        Ok(())
    } else {
        let _ = outer.kill();
        Err(format!(
            "{moment:?}, {victim:?}, {signal}: left {left:?}, {files} files, mounts {mounted:?}"
        ))
    }
}

/// Lists mounts in a directory or of a loop device in the host's mount namespace, where even a
/// running trial must not appear.
fn trial_mounts(directory: &Path, devices: &[String]) -> Result<Vec<String>, String> {
    let table = fs::read_to_string("/proc/self/mounts").map_err(|e| e.to_string())?;
    let is_ours = |line: &&str| {
        let mut fields = line.split(' ');
        let device = fields
            .next()
            .and_then(|source| source.strip_prefix("/dev/"));
        device.is_some_and(|device| devices.iter().any(|ours| ours == device))
            || fields
                .next()
                .is_some_and(|at| Path::new(at).starts_with(directory))
    };
    Ok(table.lines().filter(is_ours).map(str::to_owned).collect())
}

fn processes_with_argument(family: &[u32], word: &str) -> Vec<u32> {
    let is = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(word.as_bytes())
    };
    family.iter().copied().filter(is).collect()
}

fn wait_for_moment(
    outer: &mut Child,
    directory: &Path,
    moment: KillMoment,
) -> Result<Vec<u32>, String> {
    let mut family = Vec::new();
    let ready = wait_until(Duration::from_secs(60), || {
        family = descendants(outer.id());
        match moment {
            KillMoment::Writing => !processes_with_argument(&family, "__trial-inside").is_empty(),
            KillMoment::Device | KillMoment::After(_) => !loop_devices_below(directory).is_empty(),
        }
    });
    if !ready {
        outer.kill_in_time();
        return Err(format!("{moment:?} never came"));
    }
    if let KillMoment::After(millis) = moment {
        let begun = Instant::now();
        wait_until(Duration::from_secs(60), || {
            begun.elapsed() >= Duration::from_millis(millis)
        });
    }
    Ok(descendants(outer.id()))
}

pub fn loop_devices_below(directory: &Path) -> Vec<String> {
    let of = |entry: fs::DirEntry| {
        let file = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
        Path::new(file.trim())
            .starts_with(directory)
            .then(|| entry.file_name().to_string_lossy().into_owned())
    };
    fs::read_dir("/sys/block")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(of)
        .collect()
}

fn pid_namespace(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/pid")).ok()
}

/// Lists all processes in another pid namespace, including processes started later; empty for the
/// test's own namespace.
fn processes_in_namespace(of: Option<&Path>) -> Vec<u32> {
    let Some(of) = of.filter(|of| pid_namespace(std::process::id()).as_deref() != Some(*of)) else {
        return Vec::new();
    };
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    let all = names.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok());
    all.filter(|pid| pid_namespace(*pid).as_deref() == Some(of) && is_alive(*pid))
        .collect()
}

fn descendants(of: u32) -> Vec<u32> {
    let parent = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?
            .1
            .split_whitespace()
            .nth(1)?
            .parse::<u32>()
            .ok()
    };
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    let all: Vec<(u32, u32)> = names
        .filter_map(|entry| entry.file_name().to_string_lossy().parse::<u32>().ok())
        .filter_map(|pid| Some((pid, parent(pid)?)))
        .collect();
    let (mut found, mut seen) = (vec![of], BTreeSet::from([of]));
    let mut at = 0;
    while let Some(above) = found.get(at).copied() {
        found.extend(
            all.iter()
                .filter(|(pid, parent)| *parent == above && seen.insert(*pid))
                .map(|(pid, _)| *pid),
        );
        at += 1;
    }
    found
}

/// Whether the process has not ended; a zombie has.
fn is_alive(pid: u32) -> bool {
    process_state(Path::new(&format!("/proc/{pid}")))
        .is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

fn describe_process(pid: u32) -> String {
    let of = |name: &str| {
        fs::read_to_string(format!("/proc/{pid}/{name}"))
            .unwrap_or_default()
            .replace('\0', " ")
    };
    let state = process_state(Path::new(&format!("/proc/{pid}")));
    format!(
        "{pid} {state:?} {:?} in {}",
        of("cmdline").trim(),
        of("wchan")
    )
}

/// Whether any thread of the process is in state `D` (proc_pid_stat(5)).
fn is_in_uninterruptible_sleep(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    threads
        .into_iter()
        .any(|thread| process_state(&thread.path()) == Some('D'))
}

fn process_state(of: &Path) -> Option<char> {
    let stat = fs::read_to_string(of.join("stat")).ok()?;
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

fn wait_until(patience: Duration, holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    wait_until_or_impatient(holds, || begun.elapsed() <= patience)
}

fn wait_until_or_impatient(
    mut holds: impl FnMut() -> bool,
    mut patient: impl FnMut() -> bool,
) -> bool {
    loop {
        if holds() {
            return true;
        }
        if !patient() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
