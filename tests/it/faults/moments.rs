//! Signals at two hundred moments of every kind of probe: it ends as the contract says, nothing is left, nobody stays.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;

use super::{ENDLESS, complaint, json, probers};
use crate::support::loops::ext4;
use crate::support::running::{Running, wait_for};
use crate::support::{names, walwise};

/// Numbers without a pattern, the same in every run.
struct Dice(u64);

impl Dice {
    /// Up to a limit.
    fn below(&mut self, limit: usize) -> usize {
        // Knuth's MMIX generator; the upper bits are the better ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// Everything that probes a directory.
fn commands(directory: &Path) -> Vec<Vec<&str>> {
    let with = |more: &[&'static str]| {
        [&["probe", directory.to_str().unwrap(), "--seconds", ENDLESS, "--format", "json"], more].concat()
    };
    let workloads = ["segment", "group", "innodb", "files", "entangle", "floor"];
    let workloads = workloads.map(|workload| with(&["--workload", workload]));
    probers(directory).into_iter().chain(workloads).chain([with(&["--pg-test-fsync"])]).collect()
}

/// Starts the program with a lock that everybody whom it starts has as well (flock(2): "duplicate file descriptors refer to
/// the same lock").
fn start(lock: &Path, arguments: &[&str]) -> Running {
    let mut command = Command::new("flock");
    command.arg("--no-fork").arg(lock).args(["env", "--default-signal"]).arg(walwise().get_program());
    Running::start(command.args(arguments))
}

/// Whether nobody has the lock.
fn is_free(lock: &Path) -> bool {
    Flock::lock(std::fs::File::open(lock).unwrap(), FlockArg::LockExclusiveNonblock).is_ok()
}

/// That it ended by a signal as it should.
fn ended(output: &Output, signal: Signal, arguments: &[&str]) {
    // Before it listens for signals it ends as every program does.
    let as_usual = output.status.signal() == Some(signal as i32);
    if as_usual || signal == Signal::SIGKILL {
        assert!(
            as_usual && output.stdout.is_empty() && output.stderr.is_empty(),
            "{arguments:?}: {output:?}"
        );
        return;
    }
    assert_eq!(output.status.code(), Some(128 + signal as i32), "{arguments:?}: {output:?}");
    assert!(complaint(output).contains("the scratch files are gone"), "{output:?}");
    if !output.stdout.is_empty() {
        assert!(arguments[0] == "probe" && json(output)["cancelled"] == true, "{arguments:?}: {output:?}");
    }
}

#[test]
#[ignore = "needs root: a loop device"]
fn no_moment_of_dying_leaves_anything_or_anybody() {
    let mounted = ext4(&[], "");
    let lock = tempfile::NamedTempFile::new().unwrap();
    let commands = commands(&mounted.point);
    let mut dice = Dice(4);
    let signals = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGKILL];
    for (turn, signal) in signals.into_iter().cycle().take(200).enumerate() {
        let arguments = &commands[dice.below(commands.len())];
        let mut running = start(lock.path(), arguments);
        // Two in three while the files are there, the others anywhere from the start on.
        if dice.below(3) > 0 {
            running.probing(&mounted.point);
        }
        let moment = Instant::now() + Duration::from_micros(dice.below(300_000) as u64);
        wait_for("the moment", || Instant::now() >= moment);
        running.signal(signal);
        let output = running.finish();
        ended(&output, signal, arguments);
        if signal != Signal::SIGKILL {
            assert_eq!(names(&mounted.point), [""; 0], "{turn} {signal} {arguments:?}");
        }
        wait_for("everybody is gone", || is_free(lock.path()));
        assert_eq!(names(&mounted.point), [""; 0], "{turn} {signal} {arguments:?}");
    }
}
