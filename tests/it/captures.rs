//! A capture, masked or not, replayed: it yields the findings of the machine, and a masked one
//! contains no identity of the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::support::loops::{Loop, ext4, xfs};
use super::support::postgres::Cluster;
use super::support::running::{holds_in_time, wait_for};
use super::support::{run, stderr, walwise};
use crate::support::deadline::{ChildInTime as _, CommandInTime as _};

const MASKING: [&[&str]; 2] = [&[], &["--no-mask"]];

fn said(mut command: Command, arguments: &[&str], target: &Path, input: &[u8]) -> Vec<u8> {
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
    captured(walwise(), options, target)
}

fn captured(command: Command, options: &[&str], target: &Path) -> String {
    String::from_utf8(said(
        command,
        &[&["capture"], options].concat(),
        target,
        b"",
    ))
    .unwrap()
}

/// Findings by rule and subject, for subjects that other tests do not touch, without the parts that
/// masks change.
fn findings(report: &Value, ours: &BTreeSet<String>) -> BTreeMap<String, Value> {
    let rows = crate::support::findings(report);
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

/// Everything below a target, and the host.
fn ours(report: &Value) -> BTreeSet<String> {
    let targets = report["targets"].as_array().unwrap().iter();
    let subjects = targets.flat_map(|target| target["subjects"].as_array().unwrap().clone());
    subjects
        .map(|subject| subject.as_str().unwrap().to_owned())
        .chain(["host".to_owned()])
        .collect()
}

fn same_findings(target: &Path) {
    same_findings_by(&walwise, target);
}

/// Who looks at the machine is not who looks at the capture.
fn same_findings_by(there: &dyn Fn() -> Command, target: &Path) {
    for options in MASKING {
        let check = |command: Command, from: &[&str], input: &[u8]| -> Value {
            let arguments = [&["check", "--no-probe", "-v", "--format", "json"], from].concat();
            serde_json::from_slice(&said(command, &arguments, target, input)).unwrap()
        };
        let mut apart = String::new();
        // Servers of others come and go, and may do so between two looks: one that was seen by one
        // look alone makes a difference once, a capture that answers otherwise makes it always.
        let alike = || {
            let captured = self::captured(there(), options, target);
            let live = check(there(), &[], b"");
            let replayed = check(walwise(), &["--host", "/dev/stdin"], captured.as_bytes());
            apart = difference(&live, &replayed);
            apart.is_empty()
        };
        assert!(
            holds_in_time(alike),
            "{}, {options:?}: {apart}",
            target.display()
        );
    }
}

/// The difference between a report of the machine and one of its capture; empty where they agree.
fn difference(live: &Value, replayed: &Value) -> String {
    let ours = ours(live);
    if ours != self::ours(replayed) {
        return format!("{ours:?} there, {:?} in the capture", self::ours(replayed));
    }
    let (live, replayed) = (findings(live, &ours), findings(replayed, &ours));
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
    let disk = ext4(&["-O", "fast_commit"], "data=writeback");
    for target in [
        disk.dir("pg"),
        disk.point.join("new/pg"),
        disk.disk.device.clone().into(),
    ] {
        same_findings(&target);
    }
}

#[test]
#[ignore = "needs root: loop devices"]
fn btrfs_on_two_disks_is_judged_alike_from_a_capture() {
    let (first, second) = (Loop::new(256), Loop::new(256));
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
    same_findings(&disk.dir("pg"));
    drop(disk);
    drop(second);
}

#[test]
#[ignore = "needs root: a loop device"]
fn a_blank_disk_is_judged_alike_from_a_capture() {
    let disk = Loop::new(256);
    same_findings(Path::new(&disk.device));
}

#[test]
#[ignore = "needs root: loop devices and PostgreSQL 15"]
fn a_running_server_is_judged_alike_from_a_capture() {
    let (data, wal) = (ext4(&[], ""), xfs(""));
    let cluster = Cluster::beneath(&data.point, &wal.point);
    cluster.append(
        "postgresql.conf",
        "wal_sync_method = open_sync\nfull_page_writes = off\n",
    );
    cluster.start();
    same_findings(&cluster.data);
    // The server answers its owner, and nobody knows whether it has read what was changed since.
    same_findings_by(&|| cluster.walwise(), &cluster.data);
    cluster.append("postgresql.conf", "full_page_writes = on\n");
    same_findings(&cluster.data);
}

#[test]
#[ignore = "needs root: loop devices"]
fn no_identity_of_the_machine_is_in_a_masked_capture_and_what_belongs_together_still_does() {
    let (first, second) = (Loop::new(256), Loop::new(256));
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
    let (btrfs, ext4) = (first.mount(""), ext4(&[], ""));
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
    let mut identities = BTreeSet::from([uuid.clone(), id(&ext4.disk.device, "UUID")]);
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

    // How often each file system of btrfs is named, ours and those of other tests, which may come
    // and go meanwhile.
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
    wait_for("every place has the same mask", || {
        let is_alike = named(&both.0) == named(&both.1);
        if !is_alike {
            both = (
                capture(&[], &btrfs.point),
                capture(&["--no-mask"], &btrfs.point),
            );
        }
        is_alike
    });
    drop((btrfs, second, ext4));
}

#[test]
#[ignore = "needs root: a loop device"]
fn a_masked_directory_is_found_by_its_own_path_and_by_its_mask() {
    let disk = ext4(&[], "");
    let target = disk.dir("home/alice.liddell/pg");
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
            serde_json::from_slice(&said(walwise(), &arguments, named, masked.as_bytes())).unwrap();
        assert_eq!(
            report["targets"][0]["target"],
            format!("target {}", mask.display()),
            "{}",
            named.display()
        );
    }
}

/// The reader of a capture asks questions that its maker did not foresee.
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
