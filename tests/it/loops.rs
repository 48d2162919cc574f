//! walwise on real file systems: facts compared with system tools, verdicts, exit codes,
//! advised options that mount, and free disks with the script that formats and mounts them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::deadline::CommandInTime as _;
use crate::support::loops::{self, LoopDevice, MountedFileSystem, unmount};
use crate::support::{
    check_json, evidence_statements, known_fact_value, rule_outcome, run, stderr, stdout, verdict,
    walwise,
};

/// Runs `check` without a probe. Loop devices are on the host's own disk, which also affects the
/// verdict.
fn check_without_probe(point: &Path) -> (i32, Value) {
    check_json(&[point.to_str().unwrap(), "--no-probe"])
}

fn comma_separated_set(text: &str) -> BTreeSet<String> {
    text.trim()
        .split(',')
        .map(str::to_owned)
        .filter(|w| !w.is_empty())
        .collect()
}

fn string_list_set(value: Option<&Value>) -> BTreeSet<String> {
    let list = value.and_then(Value::as_array).expect("a known list");
    list.iter()
        .map(|v| v.as_str().unwrap().to_owned())
        .collect()
}

fn assert_agrees_with_findmnt(report: &Value, mounted: &MountedFileSystem) {
    let subject = format!("mount {}", mounted.path());
    for (column, name) in [
        ("FSTYPE", "mount.fstype"),
        ("SOURCE", "mount.source"),
        ("TARGET", "mount.point"),
    ] {
        let theirs = run("findmnt", &["-no", column, mounted.path()]);
        assert_eq!(
            known_fact_value(report, &subject, name).unwrap(),
            theirs.trim(),
            "{name}"
        );
    }
    for (column, name) in [
        ("VFS-OPTIONS", "mount.options"),
        ("FS-OPTIONS", "mount.super_options"),
    ] {
        let theirs = comma_separated_set(&run("findmnt", &["-no", column, mounted.path()]));
        assert_eq!(
            string_list_set(known_fact_value(report, &subject, name)),
            theirs,
            "{name}"
        );
    }
    let size: u64 = run("findmnt", &["-bno", "SIZE", mounted.path()])
        .trim()
        .parse()
        .unwrap();
    assert_eq!(
        known_fact_value(report, &subject, "mount.size")
            .unwrap()
            .as_u64(),
        Some(size)
    );
}

fn assert_agrees_with_ext4_tools(report: &Value, mounted: &MountedFileSystem) {
    let subject = format!("mount {}", mounted.path());
    let tune2fs = run("tune2fs", &["-l", &mounted.disk.device]);
    let features = tune2fs
        .lines()
        .find_map(|l| l.strip_prefix("Filesystem features:"))
        .unwrap();
    let features: BTreeSet<String> = features.split_whitespace().map(str::to_owned).collect();
    assert_eq!(
        string_list_set(known_fact_value(report, &subject, "ext4.features")),
        features
    );
    assert_eq!(
        known_fact_value(report, &subject, "ext4.fast_commit")
            .unwrap()
            .as_bool(),
        Some(features.contains("fast_commit"))
    );
    let proc =
        fs::read_to_string(format!("/proc/fs/ext4/{}/options", mounted.disk.name())).unwrap();
    let options: BTreeSet<String> = proc.lines().map(str::to_owned).collect();
    assert_eq!(
        string_list_set(known_fact_value(report, &subject, "ext4.options")),
        options
    );
    let data = options.iter().find_map(|o| o.strip_prefix("data="));
    assert_eq!(
        known_fact_value(report, &subject, "ext4.data").and_then(Value::as_str),
        data
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn ext4_facts_are_what_its_tools_say() {
    for (mkfs, options) in [
        (&[][..], ""),
        (&["-O", "fast_commit"][..], ""),
        (&[][..], "nobarrier"),
        (&[][..], "data=journal,noatime"),
    ] {
        let mounted = loops::mount_ext4(mkfs, options);
        let (_, report) = check_without_probe(&mounted.point);
        assert_agrees_with_findmnt(&report, &mounted);
        assert_agrees_with_ext4_tools(&report, &mounted);
    }
}

#[test]
#[ignore = "needs root: loop devices"]
fn xfs_and_btrfs_facts_are_what_their_tools_say() {
    for mounted in [
        loops::mount_xfs(""),
        loops::mount_btrfs(""),
        loops::mount_btrfs("nodatacow"),
    ] {
        let (_, report) = check_without_probe(&mounted.point);
        assert_agrees_with_findmnt(&report, &mounted);
    }
    let mounted = loops::mount_xfs("");
    let (_, report) = check_without_probe(&mounted.point);
    let version = run("xfs_db", &["-r", "-c", "version", &mounted.disk.device]);
    let (_, theirs) = version.split_once(" = ").unwrap();
    let subject = format!("mount {}", mounted.path());
    assert_eq!(
        string_list_set(known_fact_value(&report, &subject, "xfs.features")),
        comma_separated_set(&theirs.to_lowercase())
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn nobarrier_is_at_risk_critical_and_exit_3() {
    for mounted in [
        loops::mount_ext4(&[], "nobarrier"),
        loops::mount_btrfs("nobarrier"),
    ] {
        let (code, report) = check_without_probe(&mounted.point);
        assert_eq!(verdict(&report, &mounted.point), Some("at-risk"));
        let target = format!("target {}", mounted.path());
        assert_eq!(
            rule_outcome(&report, "verdict.at-risk", &target),
            Some("applies")
        );
        assert_eq!(code, 3);
        let mount = format!("mount {}", mounted.path());
        let barrier = ["barrier.ext4-off", "barrier.btrfs-off"];
        assert!(
            barrier
                .iter()
                .any(|rule| rule_outcome(&report, rule, &mount) == Some("applies"))
        );
    }
}

#[test]
#[ignore = "needs root: loop devices"]
fn an_override_above_a_caching_disk_is_contradictory() {
    let mounted = loops::mount_ext4(&[], "");
    let queue = format!("/sys/block/{}/queue/write_cache", mounted.disk.name());
    assert_eq!(
        fs::read_to_string(&queue).unwrap().trim(),
        "write back",
        "what a loop device says by itself"
    );
    let device = format!("device {}", mounted.disk.name());
    // A worse verdict on the host's own disk would take precedence.
    let standing = |report| {
        evidence_statements(report, &mounted.point, "kernel", &device)
            .pop_first()
            .unwrap()
            .0
    };
    let (_, before) = check_without_probe(&mounted.point);
    assert_eq!(standing(&before), "durable");
    mounted.disk.set_write_cache("write through");
    let (code, report) = check_without_probe(&mounted.point);
    assert_eq!(standing(&report), "contradictory");
    assert!(
        ["contradictory", "at-risk"]
            .map(Some)
            .contains(&verdict(&report, &mounted.point))
    );
    assert_eq!(code, 3);
    assert_eq!(
        rule_outcome(&report, "cache.override-above-disk", &device),
        Some("applies")
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn the_stack_reaches_the_disk_beneath_the_loop_file() {
    let mounted = loops::mount_ext4(&[], "");
    let (_, report) = check_without_probe(&mounted.point);
    let layers = report["stacks"][0]["layers"].as_array().unwrap();
    let subjects: Vec<&str> = layers
        .iter()
        .map(|l| l["subject"].as_str().unwrap())
        .collect();
    let beneath = run("findmnt", &["-no", "TARGET", "-T", "/tmp"]);
    assert!(
        subjects.contains(&format!("device {}", mounted.disk.name()).as_str()),
        "{subjects:?}"
    );
    assert!(
        subjects.contains(&format!("mount {}", beneath.trim()).as_str()),
        "{subjects:?}"
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn every_advised_option_string_mounts() {
    let cases = [
        loops::mount_ext4(&[], ""),
        loops::mount_ext4(&[], "nobarrier,discard,nodiratime"),
        loops::mount_ext4(&[], "data=journal"),
        loops::mount_ext4(&[], "data=writeback,sync"),
        loops::mount_xfs("discard"),
        loops::mount_btrfs(""),
        loops::mount_btrfs("nodatacow"),
        loops::mount_btrfs("nobarrier,compress=zstd"),
    ];
    let mut advised = 0;
    for mounted in cases {
        let (_, report) = check_without_probe(&mounted.point);
        let steps = report["plans"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|p| p["steps"].as_array().unwrap());
        let strings: Vec<String> = steps
            .filter(|s| {
                s["advice"]["setting"] == "mount.options"
                    && s["advice"]["change"]
                        != serde_json::json!({"set": null, "add": [], "remove": []})
            })
            .filter_map(|s| s["result"].as_str().map(str::to_owned))
            .collect();
        let MountedFileSystem { .. } = &mounted;
        unmount(&mounted.point);
        for options in strings {
            advised += 1;
            mounted
                .disk
                .try_mount(&options)
                .unwrap_or_else(|e| panic!("{options}: {e}"));
        }
    }
    assert!(advised >= 8, "only {advised} option strings were advised");
}

#[test]
#[ignore = "needs root: loop devices"]
fn free_disk_ranks_file_systems_and_exits_0() {
    let disk = LoopDevice::new(512);
    let (code, report) = check_json(&[&disk.device, "--no-probe"]);
    assert_eq!(code, 0, "a free disk is no danger");
    let steps = report["plans"][0]["steps"].as_array().unwrap();
    let choice = steps
        .iter()
        .find(|step| step["advice"]["setting"] == "filesystem")
        .unwrap();
    assert_eq!(
        choice["advice"]["change"],
        serde_json::json!({"set": "ext4", "add": [], "remove": []})
    );
    let others: Vec<&str> = choice["alternatives"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| a["value"].as_str().unwrap())
        .collect();
    assert_eq!(others, ["xfs", "btrfs"]);
}

#[test]
#[ignore = "needs root: loop devices"]
fn the_script_for_a_free_disk_mounts_it_once_edited() {
    let disk = LoopDevice::new(512);
    let script = stdout(
        &walwise()
            .args(["check", &disk.device, "--format", "script"])
            .output_in_time(),
    );
    let dir = tempfile::tempdir().unwrap();
    let (file, point) = (dir.path().join("setup.sh"), dir.path().join("data"));
    let sh = |text: &str| {
        fs::write(&file, text).unwrap();
        Command::new("sh").arg(&file).output_in_time()
    };
    assert!(
        !sh(&script).status.success() && !point.exists(),
        "unedited it does nothing"
    );
    let edit = |line: &str| match line.split_once('=') {
        Some((asks @ ("I_HAVE_READ_THIS" | "I_COMPARED_THE_DISK"), _)) => format!("{asks}=yes\n"),
        Some(("MOUNTPOINT", _)) => format!("MOUNTPOINT={}\n", point.display()),
        _ => format!("{line}\n"),
    };
    let done = sh(&script.lines().map(edit).collect::<String>());
    assert!(
        done.status.success(),
        "{}{}\n{script}",
        stdout(&done),
        stderr(&done)
    );
    let mounted = MountedFileSystem { point, disk };
    let options = run("findmnt", &["-no", "FSTYPE,OPTIONS", mounted.path()]);
    assert!(options.starts_with("ext4"), "{options}");
    for option in ["noatime", "errors=remount-ro"] {
        assert!(options.contains(option), "{option}: {options}");
    }
}

#[test]
#[ignore = "needs root: loop devices"]
fn a_disk_says_what_it_holds_and_gets_no_script_unless_it_is_free() {
    let disk = LoopDevice::new(64);
    let content = |disk: &LoopDevice| {
        let (_, report) = check_json(&[&disk.device, "--no-probe"]);
        let script = walwise()
            .args(["check", &disk.device, "--no-probe", "--format", "script"])
            .output_in_time();
        let held = report["targets"][0]["content"]["holds"].as_array().cloned();
        let held: Vec<String> = held
            .into_iter()
            .flatten()
            .map(|word| word.as_str().unwrap().to_owned())
            .collect();
        let refused = script.status.code() == Some(2) && script.stdout.is_empty();
        assert_eq!(refused, !held.is_empty(), "{}", stderr(&script));
        held
    };
    assert!(content(&disk).is_empty());
    run("mkswap", &[&disk.device]);
    assert_eq!(content(&disk), ["swap"]);
    run("wipefs", &["-aq", &disk.device]);
    assert_eq!(content(&disk), ["unrecognised data"]);
    let sole = std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(nix::libc::O_EXCL)
        .open(&disk.device)
        .unwrap();
    assert_eq!(
        content(&disk),
        ["data that a program has open exclusively (O_EXCL)"]
    );
    drop(sole);
    run("mkswap", &[&disk.device]);
    run("swapon", &[&disk.device]);
    let swapped = content(&disk);
    run("swapoff", &[&disk.device]);
    assert_eq!(swapped, ["swap in use"]);
}

#[test]
#[ignore = "needs root: loop devices, and to become somebody else"]
fn a_disk_that_cannot_be_read_is_neither_free_nor_held() {
    let disk = LoopDevice::new(64);
    let unreadable = |command: &mut Command| {
        let out = command
            .args(["check", "-v", &disk.device, "--no-probe"])
            .output_in_time();
        assert!(
            stdout(&out).contains(&format!("UNREADABLE: {}", disk.device)),
            "{}",
            stdout(&out)
        );
        stdout(&out)
    };
    let stranger = unreadable(walwise().uid(65534).gid(65534));
    assert!(stranger.contains("run walwise as root"), "{stranger}");
    // Truncating the backing file makes the disk return I/O errors.
    fs::File::options()
        .write(true)
        .open(disk.image())
        .unwrap()
        .set_len(1 << 20)
        .unwrap();
    let broken = unreadable(&mut walwise());
    assert!(broken.contains("I/O error"), "{broken}");
    let script = walwise()
        .args(["check", &disk.device, "--format", "script"])
        .output_in_time();
    assert_eq!(
        (script.status.code(), stdout(&script).as_str()),
        (Some(2), ""),
        "{}",
        stderr(&script)
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn a_disk_beneath_a_loop_is_held_by_it() {
    let disk = LoopDevice::new(64);
    let upper = LoopDevice::from_image(Path::new(&disk.device));
    let told = |device: &str| {
        let (_, report) = check_json(&[device, "--no-probe"]);
        report["targets"][0]["content"].clone()
    };
    assert_eq!(
        told(&disk.device)["holds"],
        serde_json::json!([format!("a member of {}", upper.name())])
    );
    assert!(["free", "blank"].contains(&told(&upper.device)["is"].as_str().unwrap()));

    let (disk, place) = (LoopDevice::new(64), tempfile::tempdir().unwrap());
    let node = place.path().join("node");
    let number = fs::read_to_string(format!("/sys/block/{}/dev", disk.name())).unwrap();
    let (major, minor) = number.trim().split_once(':').unwrap();
    run("mknod", &[node.to_str().unwrap(), "b", major, minor]);
    let upper = LoopDevice::from_image(&node);
    assert_eq!(
        told(&disk.device)["holds"],
        serde_json::json!([format!("a member of {}", upper.name())])
    );

    // A symbolic link that replaces a deleted backing file must not lead to another disk.
    let (disk, image) = (LoopDevice::new(64), place.path().join("image"));
    fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
    let upper = LoopDevice::from_image(&image);
    fs::remove_file(&image).unwrap();
    std::os::unix::fs::symlink(&disk.device, &image).unwrap();
    assert!(
        ["free", "blank"].contains(&told(&disk.device)["is"].as_str().unwrap()),
        "{}",
        upper.name()
    );
}
