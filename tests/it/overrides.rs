//! Verdicts over real stacks while a queue is set to `write through`: at the top, further down, and
//! on one of two members. Every override is reverted.
//!
//! Test disks are files on the host's own disk, which influences every verdict, so each verdict is
//! compared with the one before the override.

use std::path::Path;

use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::fuse::HungFuse;
use crate::support::loops::{self, LoopDevice};
use crate::support::{check_json, evidence_statements, run, stdout, verdict, walwise};

fn check_without_probe(point: &Path) -> (i32, Value) {
    check_json(&[point.to_str().unwrap(), "--no-probe"])
}

fn verdict_flush_paths(report: &Value, target: &Path) -> Vec<Vec<String>> {
    let subject = format!("target {}", target.display());
    let verdicts = report["verdicts"].as_array().unwrap();
    let found = verdicts
        .iter()
        .find(|v| v["target"] == subject.as_str())
        .unwrap();
    let hops = |way: &Value| {
        way["hops"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hop| hop.as_str().unwrap().to_owned())
            .collect()
    };
    found["paths"]
        .as_array()
        .unwrap()
        .iter()
        .map(hops)
        .collect()
}

fn kernel_view(report: &Value, target: &Path, device: &str) -> (String, String) {
    let mut all = evidence_statements(report, target, "kernel", &format!("device {device}"));
    assert_eq!(all.len(), 1, "{device}: {all:?}");
    all.pop_first().unwrap()
}

/// Whether the kernel drops flushes at a device; then also checks that `check` fails. The verdict
/// may be worse, because the host's own disk also affects it.
fn are_flushes_dropped_at(target: &Path, device: &str) -> bool {
    let (code, report) = check_without_probe(target);
    let (standing, says) = kernel_view(&report, target, device);
    let dropped = standing == "contradictory" && says.contains("flushes are dropped");
    if dropped {
        assert_eq!(code, 3, "{says}");
        assert!(
            ["contradictory", "at-risk"]
                .map(Some)
                .contains(&verdict(&report, target))
        );
    }
    dropped
}

fn backing_mount_and_disk() -> (String, String) {
    let point = run("findmnt", &["-no", "TARGET", "-T", "/tmp"])
        .trim()
        .to_owned();
    let source = run("findmnt", &["-no", "SOURCE", "-T", "/tmp"]);
    let disk = run("lsblk", &["-rsno", "NAME", source.trim()]);
    (point, disk.lines().last().unwrap().trim().to_owned())
}

#[test]
#[ignore = "needs root: loop devices"]
fn every_layer_of_a_loop_file_over_the_machines_own_disk_is_evidence() {
    let mounted = loops::mount_ext4(&[], "");
    let (point, disk) = backing_mount_and_disk();
    let (_, report) = check_without_probe(&mounted.point);
    let names = |name: &str| format!("device {name}");
    let ways = verdict_flush_paths(&report, &mounted.point);
    assert_eq!(ways.len(), 1, "{ways:?}");
    let (mount, file) = (
        format!("mount {}", mounted.path()),
        names(mounted.disk.name()),
    );
    let lower = format!("mount {point}");
    let mut at = ways[0].iter();
    for hop in [
        &format!("target {}", mounted.path()),
        &mount,
        &file,
        &lower,
        &names(&disk),
    ] {
        assert!(at.any(|found| found == hop), "{hop} in {ways:?}");
    }
    for file_system in [&mount, &lower] {
        let flushes = evidence_statements(&report, &mounted.point, "kernel", file_system);
        assert!(
            flushes
                .iter()
                .any(|(_, says)| says.contains("sends flushes")),
            "{flushes:?}"
        );
    }
    let name = mounted.disk.name();
    assert_eq!(
        kernel_view(&report, &mounted.point, name).1,
        format!("{name} passes flushes on")
    );
    assert!(
        kernel_view(&report, &mounted.point, &disk)
            .1
            .contains(&disk)
    );
    assert!(!evidence_statements(&report, &mounted.point, "device", &names(&disk)).is_empty());
    // A commit on the loop device is only as safe as one on the file system below.
    let (_, below) = check_without_probe(Path::new(&point));
    let rank = |report: &Value, point: &Path| {
        let order = ["at-risk", "contradictory", "unproven", "durable"];
        order
            .iter()
            .position(|word| Some(*word) == verdict(report, point))
            .unwrap()
    };
    assert!(rank(&report, &mounted.point) <= rank(&below, Path::new(&point)));
}

#[test]
#[ignore = "needs root: loop devices"]
fn one_of_two_members_of_a_btrfs_is_enough_to_drop_flushes() {
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
    let fs = first.mount("");
    let names = [fs.disk.name(), second.name()];
    let (code, before) = check_without_probe(&fs.point);
    let ways = verdict_flush_paths(&before, &fs.point);
    assert_eq!(ways.len(), 2, "{ways:?}");
    for name in names {
        let device = format!("device {name}");
        assert_eq!(
            ways.iter().filter(|way| way.contains(&device)).count(),
            1,
            "{device} in {ways:?}"
        );
    }
    assert_eq!(
        names.map(|name| are_flushes_dropped_at(&fs.point, name)),
        [false, false]
    );
    second.set_write_cache("write through");
    assert_eq!(
        names.map(|name| are_flushes_dropped_at(&fs.point, name)),
        [false, true]
    );
    second.set_write_cache("write back");
    let (again, report) = check_without_probe(&fs.point);
    assert_eq!(
        (again, verdict(&report, &fs.point)),
        (code, verdict(&before, &fs.point))
    );
    drop(fs);
    drop(second);
}

#[test]
#[ignore = "needs root: loop devices"]
fn an_override_is_seen_at_the_top_and_further_down() {
    let lower = loops::mount_ext4(&[], "");
    let image = lower.point.join("image");
    std::fs::File::create(&image)
        .unwrap()
        .set_len(64 << 20)
        .unwrap();
    let upper = LoopDevice::from_image(&image);
    upper.mkfs(&["mkfs.ext4", "-q"]);
    let names = [upper.name().to_owned(), lower.disk.name().to_owned()];
    let fs = upper.mount("");
    let dropped = || [0, 1].map(|at| are_flushes_dropped_at(&fs.point, &names[at]));
    let (code, before) = check_without_probe(&fs.point);
    assert_eq!(dropped(), [false, false]);
    fs.disk.set_write_cache("write through");
    assert_eq!(dropped(), [true, false], "at the top");
    fs.disk.set_write_cache("write back");
    lower.disk.set_write_cache("write through");
    assert_eq!(dropped(), [false, true], "further down");
    lower.disk.set_write_cache("write back");
    let (again, report) = check_without_probe(&fs.point);
    assert_eq!(
        (again, verdict(&report, &fs.point)),
        (code, verdict(&before, &fs.point)),
        "taken back"
    );
    drop(fs);
    drop(lower);
}

#[test]
#[ignore = "needs root: loop devices"]
fn external_ext4_journal_is_a_separate_flush_path() {
    let (disk, journal) = (LoopDevice::new(64), LoopDevice::new(64));
    run("mke2fs", &["-q", "-O", "journal_dev", &journal.device]);
    run(
        "mkfs.ext4",
        &[
            "-q",
            "-J",
            &format!("device={}", journal.device),
            &disk.device,
        ],
    );
    let fs = disk.mount("");
    let (_, before) = check_without_probe(&fs.point);
    let name = format!("device {}", journal.name());
    let ways = verdict_flush_paths(&before, &fs.point);
    assert_eq!(
        (
            ways.len(),
            ways.iter().filter(|way| way.contains(&name)).count()
        ),
        (2, 1),
        "{ways:?}"
    );
    assert!(!are_flushes_dropped_at(&fs.point, journal.name()));
    journal.set_write_cache("write through");
    assert!(are_flushes_dropped_at(&fs.point, journal.name()));
    journal.set_write_cache("write back");
    drop(fs);
    drop(journal);
}

#[test]
#[ignore = "needs root: loop devices, mounts a FUSE file system"]
fn a_file_system_beside_the_target_that_never_answers_changes_nothing() {
    let mounted = loops::mount_ext4(&[], "");
    let (code, before) = check_without_probe(&mounted.point);
    let beside = mounted.create_subdirectory("beside");
    let held = HungFuse::mount(&beside);
    let output = walwise()
        .args([
            "check",
            mounted.path(),
            "--no-probe",
            "-v",
            "--format",
            "json",
        ])
        .output_in_time();
    let text = stdout(&output);
    assert!(!text.contains("no answer within"), "it was touched: {text}");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (output.status.code(), verdict(&report, &mounted.point)),
        (Some(code), verdict(&before, &mounted.point))
    );
    let on = format!("mount {}", beside.display());
    let class = crate::support::known_fact_value(&report, &on, "mount.class");
    assert_eq!(class.and_then(Value::as_str), Some("fuse"), "it is seen");
    drop(held);
}
