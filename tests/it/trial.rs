//! Trials: results on simulated disks, and real benchmarks on loop files.

use crate::support::deadline::{ChildInTime as _, CommandInTime as _};
#[path = "../trials/kills.rs"]
mod kills;
#[path = "../trials/simulated.rs"]
mod simulated;

use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use kills::{KillMoment, Victim};
use simulated::{NoiseModel, analyse_full_trial, simulate_trials};
use walwise_measure::trial::{ComparisonOutcome, TrialRecord, TrialState, trial_view};

use crate::support::loops::{
    LoopDevice, MountPoint, MountedFileSystem, mount_btrfs, mount_ext4, mount_file_system,
};
use crate::support::postgres::Cluster;
use crate::support::pty::Pty;

/// `tests/trials/run` simulates 1000 trials per disk.
const TRIALS: usize = 60;

#[test]
fn equal_candidates_hardly_ever_have_a_winner() {
    let mut winners = 0;
    for machine in NoiseModel::ALL {
        let found = simulate_trials(machine, &[0.0; 4], TRIALS, 33);
        winners += found.winners;
        assert!(
            found.outside * 20 <= found.intervals,
            "{machine:?}: {found:?}"
        );
        assert_eq!(found.missed, 0, "{machine:?}: each of them is the best");
    }
    assert!(winners * 20 <= TRIALS * NoiseModel::ALL.len(), "{winners}");
}

#[test]
fn possible_best_set_holds_a_near_best_candidate() {
    for machine in NoiseModel::ALL {
        let found = simulate_trials(machine, &[0.0, 0.03, -0.08, -0.15], TRIALS, 33);
        assert!(
            found.missed * 20 <= TRIALS && found.wrong * 20 <= TRIALS,
            "{machine:?}: {found:?}"
        );
    }
}

#[test]
fn a_planted_difference_is_found() {
    for (machine, at_least) in [(NoiseModel::Calm, 55), (NoiseModel::Drift, 50)] {
        let found = simulate_trials(machine, &[0.0, 0.0, 0.14, 0.0], TRIALS, 62);
        assert!(
            found.found >= at_least,
            "{machine:?}: {} of {TRIALS}",
            found.found
        );
    }
}

#[test]
fn a_trial_that_ends_early_says_so() {
    let contest = analyse_full_trial(NoiseModel::Throttling, 1, &[0.0, 0.0], 7);
    assert_eq!(contest.outcome(), ComparisonOutcome::TooFewBlocks);
    let contest = analyse_full_trial(NoiseModel::Neighbour, 1, &[0.0, 0.0], 13);
    assert!(
        contest.outcome().needs_more_blocks()
            && contest.blocks_needed().is_some_and(|blocks| blocks > 13)
    );
}

fn run_trial(directory: &Path, words: &[&str]) -> Output {
    Command::new(crate::support::programs::walwise_path())
        .arg("trial")
        .arg(directory)
        .args(words)
        .stdin(Stdio::null())
        .output_in_time()
}

fn mount_roomy_ext4() -> MountedFileSystem {
    mount_file_system(16 << 10, &["mkfs.ext4", "-q"], "noatime")
}

#[test]
fn unconfirmed_or_invalid_trials_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    assert_trial_refused(&directory.path().join("absent"), &["--yes"]);
    assert_trial_refused(
        directory.path(),
        &["--candidates", "ext4-nobarrier,xfs", "--force"],
    );
    assert_trial_refused(directory.path(), &["--force", "--size", "320"]);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
#[ignore = "needs root: loop devices"]
fn real_cells_flush_what_they_report_and_leave_nothing() {
    let (disk, candidates) = (mount_roomy_ext4(), "ext4,ext4-nobarrier,xfs,btrfs");
    let directory = disk.create_subdirectory("trial");
    // A few blocks exhaust the write limit.
    let words = [
        "--yes",
        "--force",
        "--size",
        "320",
        "--budget",
        "10m",
        "--writes",
        "2",
        "--clients",
        "1,4",
        "--seconds",
        "0.1",
    ];
    let words = [
        &words[..],
        &["--candidates", candidates, "--format", "json"],
    ]
    .concat();
    let mut output = run_trial(&directory, &words);
    // A loop device may keep a `write through` override from another test after its backing file is
    // gone. Creating and removing a device resets the override, so the trial is repeated.
    for _ in 0..5 {
        if !String::from_utf8_lossy(&output.stderr).contains("sends no flushes") {
            break;
        }
        drop(LoopDevice::new(1));
        output = run_trial(&directory, &words);
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let record = String::from_utf8(output.stdout).unwrap();
    let record = TrialRecord::parse(&record).unwrap_or_else(|e| panic!("{e}: {said}"));
    assert_eq!(output.status.code(), Some(0));
    assert!(!record.blocks.is_empty());
    for cell in record.blocks.iter().flat_map(|block| &block.cells) {
        assert_eq!(cell.error, None, "{:?}", cell.runner);
        assert!(!cell.samples.is_empty(), "{cell:?}");
    }
    // On a busy host a load of 0.1 s may complete no commit.
    let samples = record
        .blocks
        .iter()
        .flat_map(|block| &block.cells)
        .flat_map(|cell| &cell.samples);
    assert!(samples.map(|sample| sample.commits).sum::<u64>() > 100);
    assert_eq!(
        record.indices_of_ranked_candidates(),
        [0, 2, 3],
        "what sends no flushes is not ranked"
    );
    let told = trial_view(&record);
    assert!(
        told.to_text().contains("Too few blocks for a result")
            && told.to_markdown().contains("| candidate |")
    );
    assert_eq!(kills::loop_devices_below(&directory), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    assert_modified_records_are_rejected(&record);
}

fn assert_modified_records_are_rejected(record: &TrialRecord) {
    let again = |made: &TrialRecord| TrialRecord::parse(&serde_json::to_string(made).unwrap());
    assert!(again(record).is_ok());
    let mut twice = record.clone();
    twice.candidates.push(twice.candidates[0].clone());
    assert!(again(&twice).unwrap_err().contains("a candidate twice"));
    let mut long = record.clone();
    let cells = long.blocks[0].cells.clone();
    long.blocks[0].cells.extend(cells);
    assert!(again(&long).unwrap_err().contains("invalid blocks"));
    let mut never = record.clone();
    never.blocks[0].cells[0].samples[0].seconds = -1e308;
    assert!(again(&never).unwrap_err().contains("invalid blocks"));
    let mut large = record.clone();
    large.bytes = u64::MAX;
    for block in &mut large.blocks {
        block.written = u64::MAX;
        for sample in block.cells.iter_mut().flat_map(|cell| &mut cell.samples) {
            (sample.commits, sample.calls) = (u64::MAX, u64::MAX);
            (sample.flushes, sample.leaf_flushes) = (Some(u64::MAX), Some(u64::MAX));
        }
    }
    assert!(!trial_view(&again(&large).unwrap()).to_text().is_empty());
}

#[test]
#[ignore = "needs root: loop devices"]
fn real_trials_keep_their_record_when_nothing_can_be_printed() {
    let disk = mount_roomy_ext4();
    let (own, kept) = (
        disk.create_subdirectory("own"),
        tempfile::tempdir().unwrap(),
    );
    let file = kept.path().join("trial.json");
    let words = [
        "--size",
        "320",
        "--writes",
        "1",
        "--clients",
        "1",
        "--seconds",
        "0.1",
    ];
    let output = Command::new(crate::support::programs::walwise_path())
        .args([
            "trial",
            "--yes",
            "--force",
            "--candidates",
            "ext4,xfs",
            "--record",
        ])
        .arg(&file)
        .args(words)
        .arg(&own)
        .stdin(Stdio::null())
        .stdout(std::fs::File::create("/dev/full").unwrap())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .output_in_time();
    let why = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(1) && why.contains("standard output"),
        "{why}"
    );
    assert!(
        TrialRecord::parse(&std::fs::read_to_string(&file).unwrap()).is_ok(),
        "{why}"
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn real_trials_end_though_the_outer_process_is_stopped() {
    use nix::sys::signal::{Signal, kill};
    let disk = mount_roomy_ext4();
    let own = disk.create_subdirectory("own");
    let words = [
        "--size",
        "320",
        "--budget",
        "5s",
        "--clients",
        "1",
        "--candidates",
        "ext4,xfs",
    ];
    let mut outer = Command::new(crate::support::programs::walwise_path())
        .args(["trial", "--yes", "--force"])
        .args(words)
        .arg(&own)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let within = |what: &str, seconds: u64, is_so: &dyn Fn() -> bool| {
        let begun = std::time::Instant::now();
        while !is_so() {
            assert!(begun.elapsed().as_secs() < seconds, "{what}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    within("it begins", 60, &|| {
        !kills::loop_devices_below(&own).is_empty()
    });
    let pid = nix::unistd::Pid::from_raw(outer.id().try_into().unwrap());
    kill(pid, Signal::SIGSTOP).unwrap();
    within("it ends", 120, &|| {
        kills::loop_devices_below(&own).is_empty()
    });
    kill(pid, Signal::SIGKILL).unwrap();
    outer.wait_in_time();
}

fn assert_trial_refused(place: &Path, words: &[&str]) -> String {
    let output = run_trial(place, words);
    let why = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{}: {why}", place.display());
    assert!(
        !why.is_empty() && output.stdout.is_empty(),
        "{}: {why}",
        place.display()
    );
    why
}

#[test]
#[ignore = "needs root: loop devices"]
fn real_places_that_are_not_fit_are_refused_with_a_reason() {
    let disk = mount_roomy_ext4();
    let (own, sure) = (
        disk.create_subdirectory("own"),
        ["--yes", "--force", "--size", "320", "--budget", "1s"],
    );
    let why = assert_trial_refused(&own, &["--force", "--size", "320"]);
    for says in [
        "the trial writes a loop file of",
        "in total to",
        "at most 20 min",
        "of memory",
        "run the trial on a terminal to confirm",
    ] {
        assert!(why.contains(says), "{says}: {why}");
    }
    let unranked = ["--candidates", "ext4-nobarrier,xfs"];
    assert!(
        assert_trial_refused(&own, &[&sure[..], &unranked].concat())
            .contains("cannot be the first")
    );

    let theirs = disk.create_subdirectory("theirs");
    chown(&theirs, Some(65_534), None).unwrap();
    assert!(
        assert_trial_refused(&theirs, &sure)
            .contains("belongs to uid 65534, who could replace the directory")
    );
    let below = disk.create_subdirectory("theirs/below");
    assert!(assert_trial_refused(&below, &sure).contains("belongs to uid 65534"));
    // A deleted file is listed as `#INODE (deleted)`; another user could create that name and make
    // root's mount(8) use another file.
    let shared = disk.create_subdirectory("sticky");
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o1777)).unwrap();
    assert!(assert_trial_refused(&shared, &sure).contains("other users can write to"));
    let link = disk.point.join("link");
    symlink(&own, &link).unwrap();
    assert!(
        assert_trial_refused(&link, &sure)
            .contains("is a symbolic link; specify the directory it points to")
    );
    let database = disk.create_subdirectory("database");
    std::fs::write(database.join("PG_VERSION"), "15\n").unwrap();
    assert!(assert_trial_refused(&database, &sure).contains("belongs to a database"));
    // A loop device has no serial number, so the trial cannot identify the disk.
    for words in [
        &sure[..],
        &["--erase", "S1", "--force"],
        &["--erase", "S1", "--clear"],
    ] {
        let why = assert_trial_refused(Path::new(&disk.disk.device), words);
        assert!(
            why.contains("has neither a unique serial number nor a unique WWN"),
            "{why}"
        );
    }
    assert!(
        assert_trial_refused(&own, &["--erase", "S1", "--yes"])
            .contains("--erase and --clear apply only to a disk")
    );
    assert!(assert_trial_refused(&own, &["--clear"]).contains("requires a disk"));
    for node in ["/dev/null", "/dev/absent", "/dev/stdin"] {
        let why = assert_trial_refused(Path::new(node), &["--erase", "S1"]);
        assert!(
            ["is not a block device", "cannot open", "is a symbolic link"]
                .iter()
                .any(|says| why.contains(says)),
            "{why}"
        );
    }
    assert!(
        assert_trial_refused(Path::new("/proc"), &sure)
            .contains("specify a directory on ext4 or XFS")
    );

    let memory = MountPoint::mount_tmpfs(disk.create_subdirectory("memory"));
    assert!(assert_trial_refused(&memory.0, &sure).contains("is on a file system in memory"));
    let other = mount_btrfs("");
    assert!(
        assert_trial_refused(&other.create_subdirectory("trial"), &sure).contains("is on btrfs")
    );
    let small = mount_ext4(&[], "");
    assert!(
        assert_trial_refused(&small.create_subdirectory("trial"), &sure).contains("at least 5 GiB")
    );
    drop(memory);
    disk.remount("ro");
    assert!(assert_trial_refused(&own, &sure).contains("is mounted read-only"));
    assert_eq!(kills::loop_devices_below(&disk.point), Vec::<String>::new());
}

#[test]
#[ignore = "needs root: loop devices"]
fn real_trials_end_when_their_time_is_over() {
    let disk = mount_roomy_ext4();
    let own = disk.create_subdirectory("own");
    let output = run_trial(
        &own,
        &["--yes", "--force", "--size", "320", "--budget", "1s"],
    );
    let why = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(1) && output.stdout.is_empty(),
        "{why}"
    );
    assert!(why.contains("use a longer --budget"), "{why}");
    assert_eq!(kills::loop_devices_below(&own), Vec::<String>::new());
}

#[test]
#[ignore = "needs root: loop devices"]
fn real_trials_begin_only_when_yes_is_typed() {
    let disk = mount_roomy_ext4();
    let own = disk.create_subdirectory("own");
    let mut pty = Pty::start_walwise(&["trial", "--force", "--size", "320", own.to_str().unwrap()]);
    pty.wait_for_text("type yes to start");
    pty.press("y\r");
    pty.wait_for_text("nothing was written");
    pty.assert_ends_clean(2);
    assert_eq!(kills::loop_devices_below(&own), Vec::<String>::new());
}

fn start_trial_on_terminal(own: &Path, record: &Path) -> Pty {
    let words = [
        "--size",
        "320",
        "--clients",
        "1",
        "--seconds",
        "0.1",
        "--candidates",
        "ext4,xfs",
    ];
    let paths = [own, record].map(|path| path.to_str().unwrap());
    let mut pty = Pty::start_walwise(
        &[
            &["trial", "--force", "--record", paths[1], paths[0]],
            &words[..],
        ]
        .concat(),
    );
    pty.wait_for_text("type yes to start");
    pty.press("yes\r");
    let first = pty.wait_for_text("no comparison before block 10");
    assert!(first.contains("q stops"), "{first}");
    pty.wait_until("a block", |screen| {
        let shown = screen.contents();
        shown.contains("raw extent") && shown.contains("block 2, measurement")
    });
    pty
}

#[test]
#[ignore = "needs root: loop devices"]
fn real_trials_have_a_screen_and_q_reports_result_so_far() {
    let disk = mount_roomy_ext4();
    let (own, kept) = (
        disk.create_subdirectory("own"),
        tempfile::tempdir().unwrap(),
    );
    let file = kept.path().join("trial.json");
    let mut pty = start_trial_on_terminal(&own, &file);
    pty.press("q");
    pty.assert_ends_clean(0);
    assert!(
        pty.all_output().contains("stopped early"),
        "the report follows on the usual screen"
    );
    let record = TrialRecord::parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert!(record.ending == TrialState::Stopped && !record.blocks.is_empty());
    assert_eq!(kills::loop_devices_below(&own), Vec::<String>::new());
}

#[test]
#[ignore = "needs root: loop devices"]
fn real_trials_give_the_terminal_back_on_signals() {
    use nix::sys::signal::Signal;
    let disk = mount_roomy_ext4();
    let (own, kept) = (
        disk.create_subdirectory("own"),
        tempfile::tempdir().unwrap(),
    );
    let mut pty = start_trial_on_terminal(&own, &kept.path().join("key.json"));
    pty.press("\x03");
    pty.assert_ends_clean(130);
    let mut pty = start_trial_on_terminal(&own, &kept.path().join("term.json"));
    pty.resize(100, 30);
    pty.wait_until("the whole width", |screen| {
        screen
            .rows(0, 100)
            .nth(2)
            .is_some_and(|rule| rule.chars().count() == 100)
    });
    pty.signal(Signal::SIGTERM);
    pty.assert_ends_clean(143);
    assert!(pty.all_output().contains("stopped early"));
    assert_eq!(kills::loop_devices_below(&own), Vec::<String>::new());
}

#[test]
#[ignore = "needs root: loop devices"]
fn real_trials_report_missing_privileges() {
    let disk = mount_roomy_ext4();
    let own = disk.create_subdirectory("own");
    let walwise = [
        crate::support::programs::walwise_path(),
        "trial",
        "--yes",
        "--force",
        "--size",
        "320",
    ];
    let output = Command::new("setpriv")
        .args(["--bounding-set", "-sys_admin"])
        .args(walwise)
        .arg(&own)
        .stdin(Stdio::null())
        .output_in_time();
    let why = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(1) && why.contains("cannot create namespaces"),
        "{why}"
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn real_trials_beside_a_running_postgres_server_are_refused() {
    let disk = mount_roomy_ext4();
    let (home, own) = (
        disk.create_subdirectory("db"),
        disk.create_subdirectory("own"),
    );
    let cluster = Cluster::new_below(&home, &home);
    cluster.start();
    let why = assert_trial_refused(&own, &["--yes", "--size", "320"]);
    assert!(
        why.contains("to a database server and is on the same disk") && why.contains("--force"),
        "{why}"
    );
    assert_eq!(kills::loop_devices_below(&own), Vec::<String>::new());
}

#[test]
#[ignore = "needs root: loop devices"]
fn real_trials_leave_nothing_when_they_are_killed() {
    use nix::sys::signal::Signal::{SIGHUP, SIGINT, SIGKILL, SIGTERM};
    let kills = [
        (KillMoment::Writing, Victim::All, SIGKILL),
        // The inner process may not have requested its parent-death signal yet.
        (KillMoment::Writing, Victim::Between, SIGTERM),
        (KillMoment::Device, Victim::Outer, SIGKILL),
        (KillMoment::After(900), Victim::Outer, SIGTERM),
        (KillMoment::After(1_300), Victim::Between, SIGKILL),
        (KillMoment::After(500), Victim::Inside, SIGKILL),
        (KillMoment::After(1_700), Victim::Outer, SIGHUP),
        (KillMoment::After(2_100), Victim::All, SIGKILL),
        (KillMoment::Device, Victim::All, SIGKILL),
        (KillMoment::After(700), Victim::All, SIGINT),
    ];
    let disk = mount_roomy_ext4();
    for (nth, (moment, victim, signal)) in kills.into_iter().enumerate() {
        let directory = disk.create_subdirectory(&nth.to_string());
        let binary = crate::support::programs::walwise_path();
        let left =
            kills::kill_trial_and_check_leftovers(binary, &directory, moment, victim, signal);
        assert_eq!(left, Ok(()));
    }
}
