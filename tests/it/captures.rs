//! Replays captures with and without masks: the findings equal those of the live host, and a masked
//! capture contains no identity of the host.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::support::loops::{LoopDevice, mount_ext4, mount_xfs};
use super::support::postgres::Cluster;
use super::support::running::{becomes_true_in_time, wait_for_condition};
use super::support::{run, stderr, walwise};
use crate::support::deadline::{ChildInTime as _, CommandInTime as _};

const MASKING: [&[&str]; 2] = [&[], &["--no-mask"]];

fn stdout_of(mut command: Command, arguments: &[&str], target: &Path, input: &[u8]) -> Vec<u8> {
    let piped = command
        .args(arguments)
        .args((arguments[0] == "check" && !target.exists()).then_some("--new"))
        .arg(target)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = piped.spawn().unwrap().output_for_input(input);
    assert!(
        !output.stdout.is_empty(),
        "{arguments:?}: {}",
        stderr(&output)
    );
    output.stdout
}

fn capture(options: &[&str], target: &Path) -> String {
    capture_with_command(walwise(), options, target)
}

fn capture_with_command(command: Command, options: &[&str], target: &Path) -> String {
    String::from_utf8(stdout_of(
        command,
        &[&["capture"], options].concat(),
        target,
        b"",
    ))
    .unwrap()
}

fn comparable_findings(report: &Value, ours: &BTreeSet<String>) -> BTreeMap<String, Value> {
    let rows = crate::support::report_findings(report);
    let rows = rows.filter(|row| ours.contains(row["subject"].as_str().unwrap()));
    let kept = |row: &Value| {
        let advice: Vec<Value> = row["advice"]
            .as_array()
            .unwrap()
            .iter()
            .map(|advice| {
                json!([
                    advice["setting"],
                    advice["change"],
                    advice["current"]["value"],
                    advice["interrupts"],
                    advice["apply"],
                    advice["undo"]
                ])
            })
            .collect();
        json!([
            row["outcome"]["outcome"],
            row["level"],
            row["confidence"],
            row["title"],
            advice
        ])
    };
    let found = rows.map(|row| (format!("{} {}", row["rule"], row["subject"]), kept(row)));
    let not = report["rules"].as_array().unwrap().iter().flat_map(|rule| {
        let subjects = rule["does_not_apply"].as_array().unwrap().iter();
        let subjects = subjects.filter(|subject| ours.contains(subject.as_str().unwrap()));
        subjects.map(|subject| {
            (
                format!("{} {subject}", rule["rule"]),
                json!("does not apply"),
            )
        })
    });
    found.chain(not).collect()
}

fn own_subjects(report: &Value) -> BTreeSet<String> {
    let targets = report["targets"].as_array().unwrap().iter();
    let subjects = targets.flat_map(|target| target["subjects"].as_array().unwrap().clone());
    subjects
        .map(|subject| subject.as_str().unwrap().to_owned())
        .chain(["host".to_owned()])
        .collect()
}

fn assert_same_findings_live_and_in_capture(target: &Path) {
    assert_same_findings_with_command(&walwise, target);
}

fn assert_same_findings_with_command(there: &dyn Fn() -> Command, target: &Path) {
    for options in MASKING {
        let check = |command: Command, from: &[&str], input: &[u8]| -> Value {
            let arguments = [&["check", "--no-probe", "-v", "--format", "json"], from].concat();
            serde_json::from_slice(&stdout_of(command, &arguments, target, input)).unwrap()
        };
        let mut apart = String::new();
        // Servers of other tests start and stop between the two runs, so the comparison is
        // repeated. A wrong answer in the capture would differ every time.
        let alike = || {
            let captured = self::capture_with_command(there(), options, target);
            let live = check(there(), &[], b"");
            let replayed = check(walwise(), &["--host", "/dev/stdin"], captured.as_bytes());
            apart = report_difference(&live, &replayed);
            apart.is_empty()
        };
        assert!(
            becomes_true_in_time(alike),
            "{}, {options:?}: {apart}",
            target.display()
        );
    }
}

fn report_difference(live: &Value, replayed: &Value) -> String {
    let ours = own_subjects(live);
    if ours != self::own_subjects(replayed) {
        return format!(
            "{ours:?} there, {:?} in the capture",
            self::own_subjects(replayed)
        );
    }
    let (live, replayed) = (
        comparable_findings(live, &ours),
        comparable_findings(replayed, &ours),
    );
    assert!(live.len() > 30, "{}", live.len());
    let all: BTreeSet<&String> = live.keys().chain(replayed.keys()).collect();
    let mut rows = all
        .into_iter()
        .filter(|what| live.get(*what) != replayed.get(*what));
    rows.next().map_or_else(String::new, |what| {
        format!(
            "{what}: {:?} there, {:?} in the capture",
            live.get(what),
            replayed.get(what)
        )
    })
}

#[test]
#[ignore = "needs root: a loop device"]
fn ext4_is_judged_alike_from_a_capture() {
    let disk = mount_ext4(&["-O", "fast_commit"], "data=writeback");
    for target in [
        disk.create_subdirectory("pg"),
        disk.point.join("new/pg"),
        disk.disk.device.clone().into(),
    ] {
        assert_same_findings_live_and_in_capture(&target);
    }
}

#[test]
#[ignore = "needs root: loop devices"]
fn btrfs_on_two_disks_is_judged_alike_from_a_capture() {
    let (first, second) = (LoopDevice::new(256), LoopDevice::new(256));
    run(
        "mkfs.btrfs",
        &[
            "-q",
            "-d",
            "raid1",
            "-m",
            "raid1",
            &first.device,
            &second.device,
        ],
    );
    let disk = first.mount("");
    assert_same_findings_live_and_in_capture(&disk.create_subdirectory("pg"));
    drop(disk);
    drop(second);
}

#[test]
#[ignore = "needs root: a loop device"]
fn a_blank_disk_is_judged_alike_from_a_capture() {
    let disk = LoopDevice::new(256);
    assert_same_findings_live_and_in_capture(Path::new(&disk.device));
}

#[test]
#[ignore = "needs root: loop devices and PostgreSQL 15"]
fn a_running_server_is_judged_alike_from_a_capture() {
    let (data, wal) = (mount_ext4(&[], ""), mount_xfs(""));
    let cluster = Cluster::new_below(&data.point, &wal.point);
    cluster.append_to_file(
        "postgresql.conf",
        "wal_sync_method = open_sync\nfull_page_writes = off\n",
    );
    cluster.start();
    assert_same_findings_live_and_in_capture(&cluster.data);
    // Only the server's owner gets an answer from the server, so root cannot find out whether a
    // changed file was loaded.
    assert_same_findings_with_command(&|| cluster.walwise_as_owner(), &cluster.data);
    cluster.append_to_file("postgresql.conf", "full_page_writes = on\n");
    assert_same_findings_live_and_in_capture(&cluster.data);
}

#[test]
#[ignore = "needs root: loop devices"]
fn masks_hide_identities_and_preserve_relations() {
    let (first, second) = (LoopDevice::new(256), LoopDevice::new(256));
    run(
        "mkfs.btrfs",
        &[
            "-q",
            "-d",
            "raid1",
            "-m",
            "raid1",
            &first.device,
            &second.device,
        ],
    );
    let (btrfs, mount_ext4) = (first.mount(""), mount_ext4(&[], ""));
    let (masked, plain) = (
        capture(&[], &btrfs.point),
        capture(&["--no-mask"], &btrfs.point),
    );

    let id = |device: &str, tag: &str| {
        run("blkid", &["-p", "-s", tag, "-o", "value", device])
            .trim()
            .to_owned()
    };
    let uuid = id(&btrfs.disk.device, "UUID");
    let mut identities = BTreeSet::from([uuid.clone(), id(&mount_ext4.disk.device, "UUID")]);
    identities.extend([&btrfs.disk.device, &second.device].map(|device| id(device, "UUID_SUB")));
    for disk in std::fs::read_dir("/sys/block").unwrap().flatten() {
        identities.extend(std::fs::read_to_string(disk.path().join("serial")));
    }
    identities.extend(std::fs::read_to_string("/etc/machine-id"));
    let identities = identities
        .iter()
        .map(|id| id.trim())
        .filter(|id| !id.is_empty());
    assert!(
        identities.clone().any(|id| plain.contains(id)),
        "nothing to mask"
    );
    for identity in identities {
        assert!(!masked.contains(identity), "{identity} is in the capture");
    }
    let name = run("uname", &["-n"]);
    assert!(
        plain
            .lines()
            .any(|line| line == format!("|{}", name.trim())),
        "no host name to mask"
    );
    let is_word = |line: &str| {
        line.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
            .any(|word| word == name.trim())
    };
    let left: Vec<_> = masked
        .lines()
        .filter(|line| line.starts_with(['|', ':']) && is_word(line))
        .collect();
    assert!(left.is_empty(), "{left:?}");

    // Parallel tests mount and unmount file systems of their own.
    let named = |capture: &str| {
        let lists = capture
            .lines()
            .filter_map(|line| line.strip_prefix("list /sys/fs/btrfs/"));
        let ids = lists.filter_map(|list| list.strip_suffix("/devices"));
        let mut counts: Vec<usize> = ids.map(|id| capture.matches(id).count()).collect();
        counts.sort_unstable();
        counts
    };
    assert!(
        plain.contains(&format!("list /sys/fs/btrfs/{uuid}/devices")),
        "{plain}"
    );
    let mut both = (masked, plain);
    wait_for_condition("every place has the same mask", || {
        let is_alike = named(&both.0) == named(&both.1);
        if !is_alike {
            both = (
                capture(&[], &btrfs.point),
                capture(&["--no-mask"], &btrfs.point),
            );
        }
        is_alike
    });
    drop((btrfs, second, mount_ext4));
}

#[test]
#[ignore = "needs root: a loop device"]
fn a_masked_directory_is_found_by_its_own_path_and_by_its_mask() {
    let disk = mount_ext4(&[], "");
    let target = disk.create_subdirectory("home/alice.liddell/pg");
    let masked = capture(&[], &target);
    assert!(!masked.contains("liddell"), "{masked}");
    let here = disk.point.join("home");
    let mask = masked.lines().find_map(|line| {
        let user = line
            .strip_prefix("stat ")?
            .strip_prefix(here.to_str()?)?
            .strip_suffix("/pg")?;
        Some(here.join(user.trim_start_matches('/')).join("pg"))
    });
    let mask = mask.unwrap_or_else(|| panic!("{masked}"));
    for named in [&target, &mask] {
        let arguments = [
            "check",
            "--no-probe",
            "-v",
            "--format",
            "json",
            "--host",
            "/dev/stdin",
        ];
        let report: Value =
            serde_json::from_slice(&stdout_of(walwise(), &arguments, named, masked.as_bytes()))
                .unwrap();
        assert_eq!(
            report["targets"][0]["target"],
            format!("target {}", mask.display()),
            "{}",
            named.display()
        );
    }
}

#[test]
fn a_capture_without_a_target_answers_for_every_mount_point() {
    let capture = tempfile::NamedTempFile::new().unwrap();
    let made = walwise().args(["capture", "--no-mask"]).output_in_time();
    std::fs::write(capture.path(), &made.stdout).unwrap();
    let standing = |more: &[&str]| {
        let out = walwise()
            .args(["check", "/", "--no-probe", "-v", "--format", "json"])
            .args(more)
            .output_in_time();
        let report: Value = serde_json::from_slice(&out.stdout).unwrap();
        report["verdicts"][0]["standing"].clone()
    };
    let live = standing(&[]);
    assert!(live.is_string());
    assert_eq!(
        standing(&["--host", capture.path().to_str().unwrap()]),
        live,
        "{}",
        stderr(&made)
    );
}
