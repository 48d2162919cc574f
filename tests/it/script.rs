//! The script for a free disk, run by a shell on loop devices: without effect as delivered, and
//! with safety checks after the edit.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use walwise_judge::rules::{
    Advice, AdviceBasis, Change, Confidence, EffectScope, Finding, Level, Outcome, Risk,
};
use walwise_model::facts::catalog::{device, target};
use walwise_model::facts::{FactSet, Reading, Source, Subject};
use walwise_model::settings;
use walwise_report::script;

use crate::support::deadline::CommandInTime as _;
use crate::support::loops::{LoopDevice, MountPoint};
use crate::support::{reports, run, stderr};

pub fn script_for(disk: &LoopDevice, fstype: &str, mkfs: &[&str], mount: &str) -> String {
    let (block, place) = (Subject::device(disk.name()), Subject::target(&disk.device));
    let seen = || Source::from_system_call("test");
    let size = run("blockdev", &["--getsize64", &disk.device])
        .trim()
        .parse()
        .unwrap();
    let mut facts = FactSet::default();
    facts.insert_known(&block, &device::PATH, disk.device.clone(), seen());
    facts.insert_known(&block, &device::SIZE, size, seen());
    facts.insert_known(&block, &device::CONTENT, device::ContentState::Free, seen());
    facts.insert_known(&place, &target::KIND, target::TargetKind::Device, seen());
    facts.add_layer_below(&place, &block);
    facts.set_fact_link(&place, &block);
    let advice = |setting: &str, change| Advice {
        own: Vec::new(),
        setting: settings::find_by_name(setting).unwrap(),
        change,
        current: Reading::not_collected(),
        reach: EffectScope::WholeFilesystem,
        risk: Risk::NeedsNewFilesystem,
        rank: None,
        tradeoff: None,
        apply: Vec::new(),
        verify: Vec::new(),
        undo: Vec::new(),
    };
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let mut advised = vec![
        advice("filesystem", Change::Set(fstype.to_owned())),
        advice("mkfs.options", Change::Add(words(mkfs))),
        advice("mount.options", Change::Add(words(&[mount]))),
    ];
    if fstype == "btrfs" {
        advised.push(advice(
            "directory.attributes",
            Change::Add(words(&["nocow"])),
        ));
    }
    let finding = Finding {
        rule: "test.blank".to_owned(),
        subject: place,
        outcome: Outcome::Applies,
        level: Level::Advice,
        confidence: Confidence::Documented,
        basis: AdviceBasis::Documented,
        settings: Arc::default(),
        title: "a file system for a free disk".to_owned(),
        because: Arc::default(),
        refs: Arc::default(),
        advice: advised,
        held_back: Vec::new(),
        observed: std::collections::BTreeSet::new(),
        remedy: None,
        trace: None,
    };
    script::render(&reports::report_of_findings(&facts, vec![finding])).unwrap()
}

pub fn edit_script_to_run(script: &str, point: &Path) -> String {
    let mount_point = format!("MOUNTPOINT={}\n#", point.display());
    script
        .replace("I_HAVE_READ_THIS=no", "I_HAVE_READ_THIS=yes")
        .replace("I_COMPARED_THE_DISK=no", "I_COMPARED_THE_DISK=yes")
        .replace("MOUNTPOINT=  ", &mount_point)
}

pub fn edit_database_directory(script: &str, directory: &str, owner: &str) -> String {
    script
        .replace("DATABASE=  ", &format!("DATABASE={directory} #"))
        .replace("OWNER=postgres ", &format!("OWNER={owner} #"))
}

pub fn run_script(script: &str) -> Output {
    Command::new("/bin/sh")
        .arg("-c")
        .arg(script)
        .stdin(std::process::Stdio::null())
        .output_in_time()
}

fn assert_disk_blank(disk: &LoopDevice) {
    assert_eq!(
        run("wipefs", &["-n", &disk.device]),
        "",
        "something was written"
    );
}

#[test]
#[ignore = "needs root: loop devices"]
fn unedited_script_does_nothing() {
    let disk = LoopDevice::new(64);
    let script = script_for(&disk, "ext4", &["-m 1"], "noatime");
    let read_only = script.replace("I_HAVE_READ_THIS=no", "I_HAVE_READ_THIS=yes");
    let compared = read_only.replace("I_COMPARED_THE_DISK=no", "I_COMPARED_THE_DISK=yes");
    for (script, says) in [
        (&script, "I_HAVE_READ_THIS"),
        (&read_only, "set I_COMPARED_THE_DISK=yes"),
        (&compared, "set MOUNTPOINT"),
    ] {
        let output = run_script(script);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(says), "{}", stderr(&output));
        assert_disk_blank(&disk);
    }
    for bad in ["/", "relative", "/a b", "/etc", "/dev/null", "/$(id)"] {
        let output =
            run_script(&compared.replace("MOUNTPOINT=  ", &format!("MOUNTPOINT='{bad}'\n#")));
        assert_eq!(output.status.code(), Some(1), "{bad}");
        assert!(
            stderr(&output).contains("nothing was done"),
            "{bad}: {}",
            stderr(&output)
        );
    }
    assert_disk_blank(&disk);
}

#[test]
#[ignore = "needs root: loop devices"]
fn edited_script_creates_and_mounts_the_file_system() {
    let cases: [(&str, &[&str], &str, u64); 3] = [
        (
            "ext4",
            &["-m 1", "-O ^orphan_file", "-O ^metadata_csum_seed"],
            "noatime",
            64,
        ),
        ("xfs", &["-m reflink=0", "-m bigtime=1"], "noatime", 512),
        ("btrfs", &[], "noatime", 256),
    ];
    for (fstype, mkfs, mount, size) in cases {
        let disk = LoopDevice::new(size);
        let base = tempfile::tempdir().unwrap();
        let point = MountPoint(base.path().join("new/database"));
        let script = edit_script_to_run(&script_for(&disk, fstype, mkfs, mount), &point.0);
        let output = run_script(&edit_database_directory(&script, "15/main", "nobody"));
        assert!(output.status.success(), "{fstype}: {}", stderr(&output));
        let directory = point.0.join("15/main");
        let directory = directory.to_str().unwrap();
        assert_eq!(
            run("stat", &["-c", "%U %a", directory]).trim(),
            "nobody 700"
        );
        let shown = run(
            "findmnt",
            &["-no", "FSTYPE,SOURCE,OPTIONS", point.0.to_str().unwrap()],
        );
        assert!(
            shown.starts_with(fstype) && shown.contains(&disk.device) && shown.contains(mount),
            "{shown}"
        );
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            printed
                .lines()
                .any(|line| line.trim_start().starts_with("UUID=")),
            "{printed}"
        );
        if fstype == "btrfs" {
            let flags = run("lsattr", &["-d", directory]);
            assert!(
                flags
                    .split_whitespace()
                    .next()
                    .is_some_and(|flags| flags.contains('C')),
                "{flags}"
            );
        }
        if fstype == "ext4" {
            let features = run("dumpe2fs", &["-h", &disk.device]);
            assert!(!features.contains("orphan_file") && !features.contains("metadata_csum_seed"));
        }
        let again = run_script(&edit_script_to_run(
            &script_for(&disk, fstype, mkfs, mount),
            &base.path().join("other"),
        ));
        assert_eq!(again.status.code(), Some(1), "a mounted disk");
    }
}

#[test]
#[ignore = "needs root: loop devices"]
fn a_disk_that_changed_since_the_report_is_left_alone() {
    let base = tempfile::tempdir().unwrap();
    let refuses = |disk: &LoopDevice, script: &str, says: &str| {
        let output = run_script(&edit_script_to_run(script, &base.path().join("mnt")));
        assert_eq!(output.status.code(), Some(1), "{says}");
        assert!(
            stderr(&output).contains(says),
            "{says}: {}",
            stderr(&output)
        );
        assert!(!base.path().join("mnt").exists());
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        assert!(
            !mounts
                .lines()
                .any(|line| line.starts_with(&format!("{} ", disk.device)))
        );
    };
    let put = |disk: &LoopDevice, offset: u64, bytes: &[u8]| {
        let node = fs::OpenOptions::new()
            .write(true)
            .open(&disk.device)
            .unwrap();
        node.write_all_at(bytes, offset).unwrap();
        node.sync_all().unwrap();
    };
    let disk = LoopDevice::new(64);
    let script = script_for(&disk, "ext4", &["-m 1"], "noatime");
    refuses(
        &disk,
        &script.replace(&format!("SIZE={}", 64 << 20), "SIZE=12345"),
        "differs from the report: another disk?",
    );
    refuses(
        &disk,
        &script.replace("SERIAL=", "SERIAL=OTHER"),
        "serial number of",
    );
    let with = |value: &str| {
        let file = script.replace("IDENTITY_FILE= ", "IDENTITY_FILE=loop/autoclear ");
        file.replace("IDENTITY=''", &format!("IDENTITY='{value}'"))
    };
    refuses(&disk, &with("1"), "identity of");
    refuses(
        &disk,
        &with("0").replace("loop/autoclear", "loop/none"),
        "identity of",
    );
    refuses(
        &disk,
        &with("0").replace("SERIAL=", "SERIAL=OTHER"),
        "serial number of",
    );
    assert_disk_blank(&disk);

    let first = LoopDevice::new(64);
    put(&first, 700_000, b"data");
    refuses(
        &first,
        &script_for(&first, "ext4", &[], "noatime"),
        "in its first MiB",
    );

    let last = LoopDevice::new(64);
    put(&last, (64 << 20) - 10, b"data");
    refuses(
        &last,
        &script_for(&last, "ext4", &[], "noatime"),
        "in its last MiB",
    );

    let signed = LoopDevice::new(64);
    signed.mkfs(&["mkfs.ext4", "-q"]);
    refuses(
        &signed,
        &script_for(&signed, "ext4", &[], "noatime"),
        "no longer free",
    );

    let known = LoopDevice::new(64);
    let same = script_for(&known, "ext4", &[], "noatime")
        .replace("IDENTITY_FILE= ", "IDENTITY_FILE=loop/autoclear ");
    let output = run_script(&edit_script_to_run(
        &same.replace("IDENTITY=''", "IDENTITY='0'"),
        &base.path().join("known"),
    ));
    let _point = MountPoint(base.path().join("known"));
    assert!(
        output.status.success(),
        "the same identity: {}",
        stderr(&output)
    );

    // While a program keeps the device open, the cache keeps blocks of the old contents. A write
    // that bypassed the cache must still count as data.
    let stale = LoopDevice::new(64);
    let keeper = fs::File::open(&stale.device).unwrap();
    std::io::copy(&mut &keeper, &mut std::io::sink()).unwrap();
    let beneath = fs::OpenOptions::new()
        .write(true)
        .open(stale.image())
        .unwrap();
    beneath
        .write_all_at(&vec![b'x'; 1 << 20], 30 << 20)
        .unwrap();
    beneath.sync_all().unwrap();
    refuses(
        &stale,
        &script_for(&stale, "ext4", &[], "noatime"),
        "holds data",
    );
    drop(keeper);

    let ones = LoopDevice::new(64);
    put(&ones, 0, &vec![0xff; 1 << 20]);
    put(&ones, 63 << 20, &vec![0xff; 1 << 20]);
    let output = run_script(&edit_script_to_run(
        &script_for(&ones, "ext4", &[], "noatime"),
        &base.path().join("ones"),
    ));
    let _point = MountPoint(base.path().join("ones"));
    assert!(
        output.status.success(),
        "all ones is blank too: {}",
        stderr(&output)
    );
}
